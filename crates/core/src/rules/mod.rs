//! The rules: each is a file of formulas that names a search over the domain and the acquisition function to maximize. A new
//! rule is a file beside this one and a line in the table below.

mod arrivals;
mod asy_ts;
mod auto;
mod dpp;
mod elsewhere;
mod est;
mod gp_bts;
mod gp_bucb;
mod gp_ei;
mod gp_pi;
mod gp_ucb;
mod gp_ucb_pe;
mod igp_bucb;
mod local_penalization;
mod pes;
mod state;

pub(crate) use self::state::{Pick, RuleState, StudyState, assumptions};
use crate::{Choice, Error, Hallucination, Result, Strategy};

/// What the rules read whose multiplier is a theorem's.
const OF_THEOREMS: &[&str] =
    &["norm_bound", "noise_bound", "delta", "information", "hallucination", "width", "multiplier"];

/// The formulas of a rule.
pub(crate) trait Formulas: Sync {
    /// The multiplier of the next pick, before the strategy's `width`; 0 for a rule that has none.
    fn multiplier(&self, _state: &mut RuleState<'_>) -> Result<f64> {
        Ok(0.0)
    }

    /// The next pick, with this multiplier, the strategy's `width` included where it is read.
    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice>;

    /// The next picks of an ask that wants `most` more: at least one, several where they are drawn jointly.
    fn choose_jointly(&self, state: &mut RuleState<'_>, multiplier: f64, _most: usize) -> Result<Vec<Choice>> {
        Ok(vec![self.choose(state, multiplier)?])
    }

    /// Whether [`Formulas::choose_jointly`] may return several picks. Such picks depend on how many the ask wants.
    fn draws_jointly(&self, _strategy: &Strategy) -> bool {
        false
    }

    /// Whether it needs the bound B on the norm where the model is given.
    fn needs_norm_bound(&self) -> bool {
        false
    }

    /// Whether it draws samples over the whole domain.
    fn samples(&self) -> bool {
        false
    }

    /// Whether a learned model is searched by climbs on grids of more than 16,384 points, where other rules compute all of them.
    fn climbs_on_large_grids(&self) -> bool {
        false
    }

    /// The keys of `[strategy]` that it reads, beside those that come before a rule.
    fn reads(&self, strategy: &Strategy) -> &'static [&'static str];

    /// Refuses settings that it cannot choose with, on a domain with so many candidates, or none where it is not finite.
    fn check(&self, _strategy: &Strategy, _candidates: Option<usize>) -> Result<()> {
        Ok(())
    }
}

/// Declares the rules: description, name in the code, name in a study file, formulas.
macro_rules! rules {
    ($($(#[$description:meta])* $rule:ident $name:literal $formulas:expr;)*) => {
        /// The rule that chooses: which acquisition function is maximized. With one worker `IgpBucb` and `GpBts` are IGP-UCB
        /// and GP-TS.
        ///
        /// ```
        /// use manyhands_core::Rule;
        /// assert_eq!("gp-ei".parse(), Ok(Rule::GpEi));
        /// assert_eq!(Rule::GpBts.name(), "gp-bts");
        /// ```
        #[doc(alias = "acquisition function")]
        #[doc(alias = "strategy")]
        #[doc(alias = "UCB")]
        #[doc(alias = "upper confidence bound")]
        #[doc(alias = "Thompson sampling")]
        #[doc(alias = "expected improvement")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$description])* $rule,)*
        }

        impl Rule {
            /// All rules, with their names in a study file.
            pub(crate) const NAMES: &[(&str, Self)] = &[$(($name, Self::$rule)),*];

            fn formulas(self) -> &'static dyn Formulas {
                match self {
                    $(Self::$rule => &$formulas,)*
                }
            }
        }
    };
}

rules! {
    /// The default where the model is learned: mean + width x sd with the pending points in the sd, cycling through several
    /// widths, one nearly greedy and the others wide. See `docs/default-strategy.md`.
    Auto "auto" auto::Auto;
    /// Improved GP-Batch UCB, the paper's Algorithm 1.
    IgpBucb "igp-bucb" igp_bucb::IgpBucb;
    /// GP-Batch Thompson sampling, the paper's Algorithm 2.
    GpBts "gp-bts" gp_bts::GpBts;
    /// GP-BUCB of Desautels, Krause and Burdick (2014), RKHS case: the paper's baseline.
    GpBucb "gp-bucb" gp_bucb::GpBucb;
    /// GP-BUCB of the same authors, Bayesian case on a finite domain: f is a draw of the prior. Reads neither the norm
    /// bound nor the information gain.
    GpBucbBayesian "gp-bucb-bayesian" gp_bucb::GpBucbBayesian;
    /// Expected improvement (Mockus 1975) over the highest mean at an observed point, with the pending points in the sd.
    GpEi "gp-ei" gp_ei::GpEi;
    /// GP-UCB-PE (Contal et al. 2013): the first pick of a batch by an upper bound, the others by pure exploration of the
    /// region where the maximum may be.
    GpUcbPe "gp-ucb-pe" gp_ucb_pe::GpUcbPe;
    /// GP-UCB (Srinivas et al. 2010, 2012), Bayesian case: mean + sqrt(beta_t) x sd with the pending points in the sd.
    GpUcb "gp-ucb" gp_ucb::GpUcb;
    /// Probability of improvement (Kushner 1964) over the highest mean at an observed point and a margin, with the pending
    /// points in the sd.
    GpPi "gp-pi" gp_pi::GpPi;
    /// EST (Wang, Zhou and Jegelka 2016): the point that most probably reaches an estimate of the maximum.
    Est "est" est::Est;
    /// Parallel Thompson sampling (Kandasamy et al. 2018): the argmax of a sample of the posterior given observed points
    /// alone.
    AsyTs "asy-ts" asy_ts::AsyTs;
    /// DPP batches (Kathuria, Deshpande and Kohli 2016): as GP-UCB-PE, or the exploring picks of an ask as one sample of a
    /// k-DPP.
    Dpp "dpp" dpp::Dpp;
    /// Local penalization (Gonzalez et al. 2016): an upper bound, or expected improvement, less a penalty around pending
    /// points.
    LocalPenalization "local-penalization" local_penalization::LocalPenalization;
    /// Predictive entropy search (Hernandez-Lobato et al. 2014): how much a value is expected to tell of where the maximum is.
    Pes "pes" pes::Pes;
}

impl Rule {
    /// All rules.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().map(|(_, rule)| *rule)
    }

    /// Its name in a study file.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, rule)| *rule == self).map_or("", |(name, _)| name)
    }

    /// The keys of `[strategy]` that it reads, beside those that come before a rule.
    pub(crate) fn reads(self, strategy: &Strategy) -> &'static [&'static str] {
        let reads = self.formulas().reads(strategy);
        // A multiplier that is fixed depends on nothing else: pending points count, or they do not.
        match strategy.multiplier {
            Some(_) if !reads.contains(&"multiplier") => reads,
            Some(_) if strategy.hallucination == Hallucination::Off => &["hallucination", "multiplier"],
            Some(_) => &["multiplier"],
            None => reads,
        }
    }

    /// The multiplier of the next pick: as the strategy fixes it, or the rule's times the strategy's `width`, if the rule reads
    /// that; refused where it is too large for a number.
    pub(crate) fn multiplier(self, state: &mut RuleState<'_>) -> Result<f64> {
        if let Some(multiplier) = state.strategy().multiplier {
            return Ok(multiplier);
        }
        let formula = self.formulas().multiplier(state)?;
        if state.strategy().reads("width") { state.widened(formula) } else { Ok(formula) }
    }

    /// The next picks of an ask that wants `most` more: at least one, several where the rule draws them jointly.
    pub(crate) fn choose(self, state: &mut RuleState<'_>, most: usize) -> Result<Vec<Choice>> {
        let multiplier = self.multiplier(state)?;
        counted(self.formulas().choose_jointly(state, multiplier, most)?, most)
    }

    /// Whether several picks may be drawn jointly: then they depend on how many an ask wants.
    pub(crate) fn draws_jointly(self, strategy: &Strategy) -> bool {
        self.formulas().draws_jointly(strategy)
    }

    /// Whether it needs the bound B on the norm where the model is given.
    pub(crate) fn needs_norm_bound(self, strategy: &Strategy) -> bool {
        strategy.multiplier.is_none() && self.formulas().needs_norm_bound()
    }

    /// Whether it draws samples over the whole domain.
    pub(crate) fn samples(self) -> bool {
        self.formulas().samples()
    }

    /// Whether a learned model is searched by climbs on grids of more than 16,384 points.
    pub(crate) fn climbs_on_large_grids(self) -> bool {
        self.formulas().climbs_on_large_grids()
    }

    /// Refuses settings that it cannot choose with, on a domain with so many candidates, or none where it is not finite.
    pub(crate) fn check(self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        self.formulas().check(strategy, candidates)
    }
}

/// Refuses picks that are none, with which an ask would never end, or more than were wanted.
fn counted(picks: Vec<Choice>, most: usize) -> Result<Vec<Choice>> {
    let is_right = (1..=most).contains(&picks.len());
    if is_right { Ok(picks) } else { Err(Error::Internal { what: "a rule made no pick, or more than were wanted" }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_makes_at_least_one_pick_and_no_more_than_are_wanted() {
        let pick = Choice::wide();
        for (made, wanted, is_right) in [(0, 1, false), (1, 1, true), (2, 1, false), (2, 3, true), (3, 3, true)] {
            let picks = counted(vec![pick.clone(); made], wanted);
            assert_eq!(picks.is_ok(), is_right, "{made} of {wanted}");
            assert!(is_right || matches!(picks, Err(Error::Internal { .. })));
        }
    }
}
