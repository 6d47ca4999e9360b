//! What a user should know of a study before its first suggestion.

use crate::{Rule, Spec};

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

const THEOREM_OF_LEARNED_MODEL: (&str, &str) = (
    "with a learned model the theorem's multiplier is a hundred and more, so that its choices are nearly those of random search",
    "use auto; or give [model] and norm_bound, for which the theorem is meant; or set width (0.01, say); or, for gp-bts, \
     multiplier = 1.0, which is Thompson sampling that sees pending points",
);

const REPEATS_PENDING: (&str, &str) = (
    "where the mean of a pending point is above the best one's, it is suggested again and again until its value arrives: a batch \
     may be one point",
    "use auto, or ask for one trial at a time and set max_pending = 1",
);

impl Spec {
    /// What the user should know before the first suggestion, if anything: that a theorem's multiplier is used although the model
    /// is learned, or that a rule will repeat pending points of a model without noise.
    ///
    /// ```
    /// use manyhands_core::{Domain, Parameter, Rule, Space, Spec, Strategy};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let space = Domain::Space(Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?);
    /// let thompson = Strategy { rule: Rule::GpBts, ..Strategy::auto() };
    /// assert!(Spec::learned(space.clone(), thompson.clone())?.caution().is_some());
    /// let plain = Strategy { multiplier: Some(1.0), ..thompson };
    /// assert!(Spec::learned(space, plain)?.caution().is_none());
    /// # Ok(()) }
    /// ```
    pub fn caution(&self) -> Option<Caution> {
        let strategy = self.strategy();
        let is_by_theorem = strategy.multiplier.is_none() && strategy.reads("multiplier") && strategy.width == 1.0;
        let repeats =
            matches!(strategy.rule, Rule::GpEi | Rule::GpPi) && strategy.max_pending != Some(1) && self.repeats();
        let (what, hint) = match (is_by_theorem, repeats) {
            _ if !self.learns() => return None,
            (true, _) => THEOREM_OF_LEARNED_MODEL,
            (false, true) => REPEATS_PENDING,
            (false, false) => return None,
        };
        Some(Caution { rule: strategy.rule, what, hint })
    }
}
