//! The paper's three observations, put to the test: paired comparisons at the last round, and a verdict on each.

use manyhands_core::Rule;

use crate::statistics::Estimate;
use crate::{Algorithm, Panel, SignedRank};

/// The level of the tests.
const LEVEL: f64 = 0.05;
/// Means closer than this, relatively, are comparable whatever the test says.
const COMPARABLE: f64 = 0.1;

/// Two algorithms on the same instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The one whose regret should be smaller.
    pub first: Algorithm,
    /// The other one.
    pub second: Algorithm,
    /// How many pairs.
    pub pairs: usize,
    /// In how many the first had less regret.
    pub wins: usize,
    /// In how many both had the same.
    pub ties: usize,
    /// First minus second.
    pub difference: Estimate,
    /// The mean of the first over the mean of the second.
    pub ratio: f64,
    /// The paired test on the differences.
    pub test: SignedRank,
}

impl Comparison {
    /// Of the time-average regrets of two algorithms, pair by pair.
    pub fn new((first, a): (Algorithm, &[f64]), (second, b): (Algorithm, &[f64])) -> Self {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        Self {
            first,
            second,
            pairs: differences.len(),
            wins: differences.iter().filter(|d| **d < 0.0).count(),
            ties: differences.iter().filter(|d| **d == 0.0).count(),
            difference: Estimate::of(&differences),
            ratio: Estimate::of(a).mean / Estimate::of(b).mean,
            test: SignedRank::test(&differences),
        }
    }

    /// Whether the first is better: a smaller mean, and a one-sided test at 5 %.
    fn is_better(&self) -> Verdict {
        if self.difference.mean >= 0.0 {
            Verdict::Fails
        } else if self.test.p_less < LEVEL {
            Verdict::Holds
        } else {
            Verdict::Undecided
        }
    }

    /// Whether the first is comparable to the second, if not better: within 10 % of its mean, or not worse by a
    /// one-sided test at 5 %.
    fn is_comparable(&self) -> Verdict {
        let worse = self.ratio > 1.0 + COMPARABLE && self.test.p_greater < LEVEL;
        if worse { Verdict::Fails } else { Verdict::Holds }
    }
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// The means agree with it, the test does not reach its level.
    Undecided,
    /// None of its panels was run.
    Untested,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "does not hold",
            Self::Undecided => "not decided",
            Self::Untested => "not tested",
        }
    }

    fn of_all(verdicts: impl Iterator<Item = Self> + Clone) -> Self {
        let any = |wanted: Self| verdicts.clone().any(|verdict| verdict == wanted);
        match () {
            () if any(Self::Fails) => Self::Fails,
            () if any(Self::Undecided) => Self::Undecided,
            () if any(Self::Holds) => Self::Holds,
            () => Self::Untested,
        }
    }
}

/// A claim on one panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The panel.
    pub panel: Panel,
    /// The comparison that decides it.
    pub comparison: Comparison,
    /// What became of the claim there.
    pub verdict: Verdict,
}

/// One of the paper's observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// 1, 2 or 3.
    pub number: usize,
    /// In the paper's words.
    pub claim: &'static str,
    /// What was found, panel by panel.
    pub findings: Vec<Finding>,
}

impl Observation {
    /// The verdict over all panels that were run: it holds if it holds in each.
    pub fn verdict(&self) -> Verdict {
        Verdict::of_all(self.findings.iter().map(|finding| finding.verdict))
    }

    /// The paper's observations, given each panel's algorithms with the time-average regrets of their runs.
    pub fn all(regrets: impl Fn(Panel, Algorithm) -> Option<Vec<f64>>) -> Vec<Self> {
        let [igp, bts, bucb] = [Rule::IgpBucb, Rule::GpBts, Rule::GpBucb].map(Algorithm::Rule);
        let compare = |panel, first, second| {
            Some(Comparison::new((first, &regrets(panel, first)?), (second, &regrets(panel, second)?)))
        };
        let findings = |panels: &[Panel], first, second, judge: fn(&Comparison) -> Verdict| {
            let find = |&panel| {
                let comparison = compare(panel, first, second)?;
                Some(Finding { panel, verdict: judge(&comparison), comparison })
            };
            panels.iter().filter_map(find).collect()
        };
        let (synthetic, sensors) = Panel::PAPER.split_at(6);
        vec![
            Self {
                number: 1,
                claim: "IGP-BUCB outperforms GP-BUCB in all experiments",
                findings: findings(&Panel::PAPER, igp, bucb, Comparison::is_better),
            },
            Self {
                number: 2,
                claim: "for synthetic benchmarks, IGP-BUCB performs better than GP-BTS",
                findings: findings(synthetic, igp, bts, Comparison::is_better),
            },
            Self {
                number: 3,
                claim: "for sensor data, GP-BTS fares comparably, if not better, with IGP-BUCB",
                findings: findings(sensors, bts, igp, Comparison::is_comparable),
            },
        ]
    }
}
