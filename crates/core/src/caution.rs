//! What a user should know of a study before its first suggestion.

use crate::{Hallucination, Rule, Spec};

/// Something that is allowed, and hardly ever wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caution {
    /// The rule that it is about.
    pub rule: Rule,
    /// What the matter is.
    pub what: &'static str,
    /// What to do.
    pub hint: &'static str,
}

const THEOREM_OF_LEARNED_MODEL: &str = "with a learned model the theorem's multiplier is mostly in the hundreds, so that its choices are nearly those of random search";

const REPEATS_PENDING: (&str, &str) = (
    "a pending point whose mean is better than the best one's is suggested again and again until its value arrives: a batch may be one \
     point",
    "use auto, or ask for one trial at a time and set max_pending = 1",
);

impl Spec {
    /// What the user should know before the first suggestion, if anything, where so many trials may be pending: that a theorem's
    /// multiplier is used although the model is learned, or that a rule will repeat pending points of a model with little noise.
    ///
    /// ```
    /// use manyhands_core::{Domain, Parameter, Rule, Space, Spec, Strategy};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let space = Domain::Space(Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?);
    /// let thompson = Strategy { rule: Rule::GpBts, ..Strategy::auto() };
    /// assert!(Spec::learned(space.clone(), thompson.clone())?.caution(None).is_some());
    /// let plain = Strategy { multiplier: Some(1.0), ..thompson };
    /// assert!(Spec::learned(space.clone(), plain)?.caution(None).is_none());
    /// let improvement = Spec::learned(space, Strategy { rule: Rule::GpEi, ..Strategy::auto() })?;
    /// assert!(improvement.caution(Some(5)).is_some() && improvement.caution(Some(1)).is_none());
    /// # Ok(()) }
    /// ```
    pub fn caution(&self, most_pending: Option<usize>) -> Option<Caution> {
        let rule = self.strategy().rule;
        let (what, hint) = match rule {
            _ if !self.learns() => return None,
            _ if self.is_as_wide_as_a_theorem() => (THEOREM_OF_LEARNED_MODEL, instead_of(rule)),
            Rule::GpEi | Rule::GpPi if most_pending != Some(1) && self.repeats() => REPEATS_PENDING,
            _ => return None,
        };
        Some(Caution { rule, what, hint })
    }

    /// Whether the multiplier is that of a theorem, xi included; without xi only that of GP-BUCB is large.
    fn is_as_wide_as_a_theorem(&self) -> bool {
        let strategy = self.strategy();
        let has_xi = !matches!(strategy.hallucination, Hallucination::Number(_) | Hallucination::Off);
        let is_of_theorem = strategy.multiplier.is_none() && strategy.reads("multiplier") && strategy.width == 1.0;
        is_of_theorem && (has_xi || strategy.rule == Rule::GpBucb)
    }
}

/// What to do where a rule's theorem is used with a learned model.
fn instead_of(rule: Rule) -> &'static str {
    match rule {
        Rule::GpBts => {
            "use auto; or set multiplier = 1.0, which is Thompson sampling that sees pending points; or give [model] and norm_bound, for \
             which the theorem is meant; or set width (0.01, say)"
        }
        Rule::GpBucbBayesian => "use auto; or gp-ucb, which has no hallucination factor; or set width (0.1, say)",
        _ => {
            "use auto; or give [model] and norm_bound, for which the theorem is meant; or set width (0.01, say) or multiplier"
        }
    }
}
