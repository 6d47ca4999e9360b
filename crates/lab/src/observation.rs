//! The paper's three observations, tested: paired comparisons at the last round, and a verdict on each.

use manyhands_core::Rule;

use crate::statistics::Estimate;
use crate::{Algorithm, Panel, SignedRank};

/// The level of the tests.
const LEVEL: f64 = 0.05;
/// Means closer than this, relatively, are comparable.
const COMPARABLE: f64 = 0.1;

/// Two algorithms on the same instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The algorithm whose regret should be smaller.
    pub first: Algorithm,
    /// The other algorithm.
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
    /// Compares the time-average regrets of two algorithms, pair by pair.
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

    /// Whether the first is better: a smaller mean, and a one-sided test at 5 %. A larger mean with a significant test the
    /// other way refutes it.
    fn is_better(&self) -> Verdict {
        if self.difference.mean < 0.0 && self.test.p_less < LEVEL {
            Verdict::Holds
        } else if self.difference.mean > 0.0 && self.test.p_greater < LEVEL {
            Verdict::Fails
        } else {
            Verdict::Undecided
        }
    }

    /// Whether the first is comparable to the second, if not better: a mean within 10 % of the other's, or below it.
    /// Where it is higher, a one-sided test at 5 % decides.
    fn is_comparable(&self) -> Verdict {
        if self.ratio <= 1.0 + COMPARABLE {
            Verdict::Holds
        } else if self.test.p_greater < LEVEL {
            Verdict::Fails
        } else {
            Verdict::Undecided
        }
    }
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// The test does not reach its level.
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
    /// Whether the claim holds there.
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
    /// The panels of the claim that were not run.
    pub not_run: Vec<Panel>,
}

impl Observation {
    /// The verdict over the panels that were run: it holds if it holds in each.
    pub fn verdict(&self) -> Verdict {
        Verdict::of_all(self.findings.iter().map(|finding| finding.verdict))
    }

    /// The verdict in words, with the panels that were not run.
    pub fn judgement(&self) -> String {
        let names: Vec<&str> = self.not_run.iter().map(|panel| panel.name()).collect();
        let verdict = self.verdict().name();
        if names.is_empty() { verdict.to_string() } else { format!("{verdict} (not run: {})", names.join(", ")) }
    }

    /// The paper's observations, given each panel's algorithms with the time-average regrets of their runs.
    pub fn all(regrets: impl Fn(Panel, Algorithm) -> Option<Vec<f64>>) -> Vec<Self> {
        let [igp, bts, bucb] = [Rule::IgpBucb, Rule::GpBts, Rule::GpBucb].map(Algorithm::Rule);
        let (synthetic, sensors) = Panel::PAPER.split_at(6);
        let better =
            |number, claim, panels, sides| PaperClaim { number, claim, panels, sides, judge: Comparison::is_better };
        let claims = [
            better(1, "IGP-BUCB outperforms GP-BUCB in all experiments", &Panel::PAPER[..], [igp, bucb]),
            better(2, "for synthetic benchmarks, IGP-BUCB performs better than GP-BTS", synthetic, [igp, bts]),
            PaperClaim {
                number: 3,
                claim: "for sensor data, GP-BTS fares comparably, if not better, with IGP-BUCB",
                panels: sensors,
                sides: [bts, igp],
                judge: Comparison::is_comparable,
            },
        ];
        claims.iter().map(|claim| claim.test(&regrets)).collect()
    }
}

/// A statement of the paper about two algorithms on some panels.
struct PaperClaim<'a> {
    number: usize,
    claim: &'static str,
    panels: &'a [Panel],
    sides: [Algorithm; 2],
    judge: fn(&Comparison) -> Verdict,
}

impl PaperClaim<'_> {
    fn test(&self, regrets: impl Fn(Panel, Algorithm) -> Option<Vec<f64>>) -> Observation {
        let [first, second] = self.sides;
        let (mut findings, mut not_run) = (Vec::new(), Vec::new());
        for &panel in self.panels {
            let (Some(a), Some(b)) = (regrets(panel, first), regrets(panel, second)) else {
                not_run.push(panel);
                continue;
            };
            let comparison = Comparison::new((first, &a), (second, &b));
            findings.push(Finding { panel, verdict: (self.judge)(&comparison), comparison });
        }
        Observation { number: self.number, claim: self.claim, findings, not_run }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(a: &[f64], b: &[f64]) -> Comparison {
        Comparison::new((Algorithm::ALL[0], a), (Algorithm::ALL[1], b))
    }

    #[test]
    fn better_takes_a_lower_mean_and_enough_pairs() {
        let low: Vec<f64> = (1..=6).map(f64::from).collect();
        let high: Vec<f64> = low.iter().map(|x| x + 0.5).collect();
        assert_eq!(compare(&low, &high).is_better(), Verdict::Holds, "6 of 6, p = 1/64");
        assert_eq!(compare(&high, &low).is_better(), Verdict::Fails);
        assert_eq!(compare(&low, &low).is_better(), Verdict::Undecided, "nothing differs");
        assert_eq!(compare(&high[..4], &low[..4]).is_better(), Verdict::Undecided, "0 of 4, p = 1/16");
        assert_eq!(compare(&low[..4], &high[..4]).is_better(), Verdict::Undecided, "4 of 4, p = 1/16");
    }

    #[test]
    fn comparable_takes_a_mean_within_a_tenth_and_chance_decides_beyond() {
        let base: Vec<f64> = (10..16).map(f64::from).collect();
        let times = |factor: f64| base.iter().map(|x| factor * x).collect::<Vec<f64>>();
        assert_eq!(compare(&times(0.5), &base).is_comparable(), Verdict::Holds, "better");
        assert_eq!(compare(&times(1.09), &base).is_comparable(), Verdict::Holds, "worse in every pair, by 9 %");
        assert_eq!(compare(&times(1.2), &base).is_comparable(), Verdict::Fails, "6 of 6 by 20 %");
        assert_eq!(compare(&times(1.2)[..4], &base[..4]).is_comparable(), Verdict::Undecided, "4 pairs cannot tell");
    }

    #[test]
    fn a_claim_holds_if_it_holds_on_every_panel_run() {
        use Verdict::{Fails, Holds, Undecided, Untested};
        for (verdicts, whole) in [
            (&[Holds, Holds][..], Holds),
            (&[Holds, Undecided], Undecided),
            (&[Undecided, Fails, Holds], Fails),
            (&[], Untested),
        ] {
            assert_eq!(Verdict::of_all(verdicts.iter().copied()), whole);
        }
    }

    #[test]
    fn panels_that_were_not_run_are_named() {
        let regrets =
            |panel, who| (panel == Panel::B).then(|| vec![if who == Algorithm::ALL[0] { 1.0 } else { 2.0 }; 6]);
        let observations = Observation::all(regrets);
        assert_eq!(observations[0].verdict(), Verdict::Holds);
        let names: String = observations[0].not_run.iter().map(|panel| panel.name()).collect();
        assert_eq!(names, "acdefgh");
        assert_eq!((observations[2].verdict(), observations[2].not_run.len()), (Verdict::Untested, 2));
    }
}
