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

const THEOREM_OF_LEARNED_MODEL: &str = "its multiplier is a theorem's for a known model; with a learned one it is mostly so large (tens to hundreds) that its choices are \
     nearly those of random search";

/// A width up to this was set to make the theorem's multiplier smaller, and does.
const NARROW: f64 = 0.1;

const REPEATS_PENDING: (&str, &str) = (
    "a pending point whose mean is better than that of every tried point is suggested again and again until its value arrives: a batch may be one \
     point",
    "use auto, or local-penalization with base = \"gp-ei\"; or ask for one trial at a time and set max_pending = 1",
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
            _ if self.is_as_wide_as_a_theorem(most_pending) => (THEOREM_OF_LEARNED_MODEL, instead_of(rule)),
            Rule::GpEi | Rule::GpPi if most_pending != Some(1) && self.repeats() => REPEATS_PENDING,
            _ => return None,
        };
        Some(Caution { rule, what, hint })
    }

    /// Whether the multiplier is that of a theorem; that of GP-BUCB's Bayesian case is large by xi alone.
    fn is_as_wide_as_a_theorem(&self, most_pending: Option<usize>) -> bool {
        let strategy = self.strategy();
        let has_xi =
            most_pending != Some(1) && !matches!(strategy.hallucination, Hallucination::Number(_) | Hallucination::Off);
        let is_of_theorem = strategy.multiplier.is_none() && strategy.reads("multiplier") && strategy.width > NARROW;
        is_of_theorem && (has_xi || strategy.rule != Rule::GpBucbBayesian)
    }
}

/// What to do where a rule's theorem is used with a learned model.
fn instead_of(rule: Rule) -> &'static str {
    match rule {
        Rule::GpBts => {
            "use auto; or set multiplier = 1.0, which is Thompson sampling that sees pending points; or give all of [model], without fit, \
             and norm_bound, for which the theorem is meant; or set width (0.01, say)"
        }
        Rule::GpBucbBayesian => "use auto; or gp-ucb, which has no hallucination factor; or set width (0.1, say)",
        _ => {
            "use auto; or give all of [model], without fit, and norm_bound, for which the theorem is meant; or set width (0.01, say) or \
             multiplier"
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::{Domain, Hallucination, Parameter, Rule, Space, Spec, Strategy};

    /// Whether a rule is warned of with a learned model on twenty levels, where so many trials may be pending.
    fn is_warned_of(strategy: Strategy, most_pending: Option<usize>) -> bool {
        let space = Space::new(vec![Parameter::int("n", 1, 20).unwrap()], vec![]).unwrap();
        Spec::learned(Domain::Space(space), strategy).unwrap().caution(most_pending).is_some()
    }

    #[test]
    fn a_theorems_multiplier_is_warned_of_unless_it_was_made_small() {
        let of = |rule| Strategy { rule, ..Strategy::auto() };
        for rule in [Rule::IgpBucb, Rule::GpBts, Rule::GpBucb] {
            for hallucination in [Hallucination::Realised, Hallucination::Number(1.0), Hallucination::Off] {
                assert!(is_warned_of(Strategy { hallucination, ..of(rule) }, Some(1)), "{rule}");
            }
            for (width, expected) in [(10.0, true), (0.9, true), (0.1, false), (0.01, false)] {
                assert_eq!(is_warned_of(Strategy { width, ..of(rule) }, None), expected, "{rule} {width}");
            }
            assert!(!is_warned_of(Strategy { multiplier: Some(1.0), ..of(rule) }, None));
        }
        // By its xi alone.
        let bayesian = of(Rule::GpBucbBayesian);
        assert!(is_warned_of(bayesian.clone(), None) && !is_warned_of(bayesian.clone(), Some(1)));
        assert!(!is_warned_of(Strategy { hallucination: Hallucination::Number(1.0), ..bayesian }, None));
        for rule in
            Rule::all().filter(|rule| !["igp-bucb", "gp-bts", "gp-bucb", "gp-bucb-bayesian"].contains(&rule.name()))
        {
            assert!(!is_warned_of(of(rule), Some(1)), "{rule}");
        }
    }
}
