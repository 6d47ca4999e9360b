//! The rules that are compared where the model is given: one row for each, with the settings that it reads.

use manyhands_core::{Rule, Strategy};

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

impl ComparedRule {
    /// All of them; the first is what the others are tested against.
    pub const ALL: &[Self] = &[
        Self::of("igp-bucb", Rule::IgpBucb, ConstantsRead::Theorem),
        Self::of("gp-bts", Rule::GpBts, ConstantsRead::Theorem),
        Self::of("gp-bucb", Rule::GpBucb, ConstantsRead::Theorem),
        Self::of("gp-bucb-bayesian", Rule::GpBucbBayesian, ConstantsRead::Width),
        Self::of("gp-ei", Rule::GpEi, ConstantsRead::Nothing),
        Self::of("gp-ucb-pe", Rule::GpUcbPe, ConstantsRead::Width),
        Self::of("auto", Rule::Auto, ConstantsRead::Width),
    ];

    const fn of(name: &'static str, rule: Rule, reads: ConstantsRead) -> Self {
        Self { name, rule, reads }
    }

    /// Its strategy on a problem, with these constants as far as it reads them.
    pub fn strategy(&self, settings: &Settings, problem: &FiniteProblem, norm_bound: f64) -> Strategy {
        let plain = Strategy {
            rule: self.rule,
            delta: settings.delta,
            max_pending: Some(settings.workers),
            ..Strategy::auto()
        };
        match self.reads {
            ConstantsRead::Theorem => settings.strategy(self.rule, problem, norm_bound),
            ConstantsRead::Width => Strategy { width: settings.width, ..plain },
            ConstantsRead::Nothing => plain,
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
