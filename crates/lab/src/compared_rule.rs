//! The rules that are compared where the model is given: one row for each, with the settings that it reads.

use manyhands_core::{BaseRule, DppKind, Rule, Strategy};

use crate::{FiniteProblem, Settings};

/// A rule with its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedRule {
    /// Its name in tables and legends: that of a study file, with what is set.
    pub name: &'static str,
    /// The rule.
    pub rule: Rule,
    /// Which constants of a reproduction it reads, besides delta and M.
    reads: ConstantsRead,
    /// What is set of it.
    set: RuleSetting,
}

/// Which constants of a reproduction a rule reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConstantsRead {
    /// The norm bound, gamma, xi and the width.
    Theorem,
    /// The width.
    Width,
    /// None.
    Nothing,
}

/// What is set of a rule, beside the constants.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RuleSetting {
    /// Nothing.
    Defaults,
    /// `multiplier`.
    Multiplier(f64),
    /// `dpp`.
    Dpp(DppKind),
    /// `base`.
    Base(BaseRule),
}

use ConstantsRead::{Nothing, Theorem, Width};
use RuleSetting::{Base, Defaults, Dpp, Multiplier};

impl ComparedRule {
    /// All of them; the first is what the others are tested against.
    pub const ALL: &[Self] = &[
        Self::of("igp-bucb", Rule::IgpBucb, Theorem, Defaults),
        Self::of("gp-bts", Rule::GpBts, Theorem, Defaults),
        Self::of("gp-bts (multiplier 1)", Rule::GpBts, Nothing, Multiplier(1.0)),
        Self::of("asy-ts", Rule::AsyTs, Nothing, Defaults),
        Self::of("gp-bucb", Rule::GpBucb, Theorem, Defaults),
        Self::of("gp-bucb-bayesian", Rule::GpBucbBayesian, Width, Defaults),
        Self::of("gp-ucb", Rule::GpUcb, Width, Defaults),
        Self::of("gp-ei", Rule::GpEi, Nothing, Defaults),
        Self::of("gp-pi", Rule::GpPi, Nothing, Defaults),
        Self::of("est", Rule::Est, Nothing, Defaults),
        Self::of("gp-ucb-pe", Rule::GpUcbPe, Width, Defaults),
        Self::of("dpp (sample)", Rule::Dpp, Width, Dpp(DppKind::Sample)),
        Self::of("local-penalization", Rule::LocalPenalization, Width, Defaults),
        Self::of("local-penalization (gp-ei)", Rule::LocalPenalization, Nothing, Base(BaseRule::GpEi)),
        Self::of("pes", Rule::Pes, Nothing, Defaults),
        Self::of("auto", Rule::Auto, Width, Defaults),
    ];

    const fn of(name: &'static str, rule: Rule, reads: ConstantsRead, set: RuleSetting) -> Self {
        Self { name, rule, reads, set }
    }

    /// Whether a choice takes time that grows with the cube of the number of candidates.
    pub(crate) fn is_slow(&self) -> bool {
        self.rule == Rule::Pes
    }

    /// Its strategy on a problem, with these constants as far as it reads them.
    pub fn strategy(&self, settings: &Settings, problem: &FiniteProblem, norm_bound: f64) -> Strategy {
        let (delta, max_pending) = (settings.delta, Some(settings.workers));
        let plain = Strategy { rule: self.rule, delta, max_pending, ..Strategy::auto() };
        let strategy = match self.reads {
            Theorem => settings.strategy(self.rule, problem, norm_bound),
            Width => Strategy { width: settings.width, ..plain },
            Nothing => plain,
        };
        match self.set {
            Defaults => strategy,
            Multiplier(multiplier) => Strategy { multiplier: Some(multiplier), ..strategy },
            Dpp(dpp) => Strategy { dpp, ..strategy },
            Base(base) => Strategy { base, ..strategy },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_row_and_names_differ() {
        for rule in Rule::all() {
            assert!(ComparedRule::ALL.iter().any(|row| row.rule == rule), "{rule} has no row");
        }
        for (i, row) in ComparedRule::ALL.iter().enumerate() {
            assert!(row.name.starts_with(row.rule.name()), "{}", row.name);
            assert!(ComparedRule::ALL[..i].iter().all(|other| other.name != row.name), "{} twice", row.name);
        }
    }
}
