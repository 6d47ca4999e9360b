//! Several optimizers on one problem: their ranks, paired tests against the first one, and its lead.
//!
//! | name | meaning |
//! |---|---|
//! | reference | the first optimizer, which the others are tested against |
//! | loss | log10 of the simple regret at the end of a run, not below the floor |
//! | lead | the evaluations after which the reference has another's final median, over all evaluations; median over runs |

use std::collections::BTreeMap;

use super::{OptimizerRuns, Protocol, SpacePerformance, SpaceProblem};
use crate::ranking::{PairedTest, mean_ranks, paired_tests};
use crate::statistics::median;

/// One problem with the runs of all optimizers, the reference first.
#[derive(Debug, Clone)]
pub(super) struct ComparedProblem {
    /// The problem.
    pub problem: SpaceProblem,
    /// The evaluations of each run.
    pub evaluations: usize,
    /// One entry per optimizer; some may have fewer runs than others, or none.
    pub runs: Vec<OptimizerRuns<SpacePerformance>>,
    /// The loss of each run of each optimizer, by its seed.
    pub losses: Vec<BTreeMap<u64, f64>>,
    /// The mean rank of each, over the runs that all have that have any; none without runs.
    pub ranks: Vec<Option<f64>>,
    /// The test of each on the runs that it shares with the reference; none for the reference itself and without such runs.
    pub tests: Vec<Option<PairedTest>>,
}

impl ComparedProblem {
    /// Regrets below the floor count as that.
    pub fn new(
        problem: SpaceProblem,
        protocol: &Protocol,
        runs: Vec<OptimizerRuns<SpacePerformance>>,
        floor: f64,
    ) -> Self {
        let losses: Vec<BTreeMap<u64, f64>> = runs.iter().map(|runs| losses(runs, floor)).collect();
        let tests = paired_tests(&differences(&losses));
        let (evaluations, ranks) = (protocol.evaluations_on(&problem), ranks(&losses));
        Self { problem, evaluations, runs, losses, ranks, tests }
    }

    /// For each optimizer but the reference its losses minus the reference's, for every seed that both have.
    pub fn differences(&self) -> Vec<Option<Vec<f64>>> {
        differences(&self.losses)
    }

    /// The median of log10 of an optimizer's simple regret at the end; none without runs.
    pub fn median(&self, optimizer: usize) -> Option<f64> {
        let median = self.runs[optimizer].log10_regret(self.evaluations).median;
        (!median.is_nan()).then_some(median)
    }

    /// Which of an optimizer's runs are stuck, where that is known.
    pub fn stuck(&self, optimizer: usize) -> Option<Vec<bool>> {
        self.runs[optimizer].finished.iter().map(|run| self.problem.is_stuck(run.performance.last())).collect()
    }

    /// The share of an optimizer's runs that are stuck, where that is known.
    pub fn share_stuck(&self, optimizer: usize) -> Option<f64> {
        share(&self.stuck(optimizer)?)
    }

    /// The cost of all runs of an optimizer, over that of all runs of the reference.
    pub fn cost_ratio(&self, optimizer: usize) -> f64 {
        self.runs[optimizer].total_seconds() / self.runs[0].total_seconds()
    }

    /// The lead of the reference over another optimizer; infinite where most of its runs do not get there.
    pub fn lead(&self, other: usize) -> Option<f64> {
        let target = 10f64.powf(self.median(other)?) * (1.0 + 1e-12);
        let needed = |performance: &SpacePerformance| match performance.first_at_most(target) {
            Some(evaluations) => evaluations as f64 / self.evaluations as f64,
            None => f64::INFINITY,
        };
        let reference = self.runs.first().filter(|_| other > 0)?;
        let needed: Vec<f64> = reference.finished.iter().map(|run| needed(&run.performance)).collect();
        (!needed.is_empty()).then(|| median(&needed))
    }
}

/// The share of what is true; none of nothing.
pub(super) fn share(are: &[bool]) -> Option<f64> {
    (!are.is_empty()).then(|| are.iter().filter(|is| **is).count() as f64 / are.len() as f64)
}

/// The loss of each run by its seed.
fn losses(runs: &OptimizerRuns<SpacePerformance>, floor: f64) -> BTreeMap<u64, f64> {
    runs.finished.iter().map(|run| (run.seed, run.performance.last().max(floor).log10())).collect()
}

/// For each optimizer but the first its loss minus the first one's, for every seed that both have.
fn differences(losses: &[BTreeMap<u64, f64>]) -> Vec<Option<Vec<f64>>> {
    let Some((reference, others)) = losses.split_first() else { return vec![] };
    let of = |other: &BTreeMap<u64, f64>| {
        let pairs = other.iter().filter_map(|(seed, loss)| Some(loss - reference.get(seed)?));
        Some(pairs.collect::<Vec<f64>>()).filter(|pairs| !pairs.is_empty())
    };
    std::iter::once(None).chain(others.iter().map(of)).collect()
}

/// Mean ranks over the seeds that all optimizers with runs have.
fn ranks(losses: &[BTreeMap<u64, f64>]) -> Vec<Option<f64>> {
    let present: Vec<&BTreeMap<u64, f64>> = losses.iter().filter(|losses| !losses.is_empty()).collect();
    let seeds: Vec<u64> = match present.split_first() {
        Some((first, others)) => {
            first.keys().copied().filter(|seed| others.iter().all(|other| other.contains_key(seed))).collect()
        }
        None => vec![],
    };
    let shared: Vec<Vec<f64>> =
        present.iter().map(|losses| seeds.iter().filter_map(|seed| losses.get(seed).copied()).collect()).collect();
    let mut ranks = mean_ranks(&shared).into_iter();
    losses
        .iter()
        .map(|losses| if losses.is_empty() { None } else { ranks.next() })
        .map(|r| r.filter(|r| !r.is_nan()))
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{FinishedRun, Optimizer, OptimizerProgram, problems};
    use super::*;

    /// Runs of a program with these simple regrets, by seed.
    pub fn runs(name: &str, curves: &[(u64, &[f64])]) -> OptimizerRuns<SpacePerformance> {
        let program = OptimizerProgram { name: name.to_string(), version: String::new(), command: vec![] };
        let run = |&(seed, simple): &(u64, &[f64])| {
            let performance = SpacePerformance { simple: simple.to_vec(), inference: simple[simple.len() - 1] };
            FinishedRun { seed, performance, seconds: seed as f64 }
        };
        OptimizerRuns { optimizer: Optimizer::Program(program), finished: curves.iter().map(run).collect() }
    }

    /// These runs on hartmann6, whose second-best optimum has a regret of 0.119, four evaluations each.
    pub fn compared(runs: Vec<OptimizerRuns<SpacePerformance>>, floor: f64) -> ComparedProblem {
        let problem = problems::named(&["hartmann6".to_string()]).unwrap().remove(0);
        ComparedProblem::new(problem, &Protocol { evaluations: Some(4), ..Protocol::default() }, runs, floor)
    }

    const OURS: [(u64, &[f64]); 3] =
        [(1, &[1.0, 1.0, 0.1, 0.1]), (2, &[1.0, 0.1, 0.1, 0.01]), (3, &[1.0, 1.0, 1.0, 1e-3])];
    const OTHER: [(u64, &[f64]); 3] = [(1, &[0.1; 4]), (2, &[0.1; 4]), (3, &[1e-4; 4])];

    /// By hand: the pairs are a tie, a loss and a win; the third program has the second seed alone, where the ranks are 1, 2.5
    /// and 2.5.
    #[test]
    fn runs_are_paired_by_their_seeds() {
        let all = vec![runs("ours", &OURS), runs("other", &OTHER), runs("few", &OTHER[1..2]), runs("none", &[])];
        let compared = compared(all, 1e-12);
        let counts = |optimizer: usize| {
            compared.tests[optimizer].as_ref().map(|test: &PairedTest| [test.wins, test.losses(), test.ties])
        };
        assert_eq!([0, 1, 2, 3].map(counts), [None, Some([1, 1, 1]), Some([0, 1, 0]), None]);
        assert_eq!(compared.ranks, [Some(1.0), Some(2.5), Some(2.5), None]);
    }

    /// The other's median is 0.1, which takes 3, 2 and 4 of the 4 evaluations.
    #[test]
    fn the_lead_is_the_median_over_the_evaluations() {
        let never: [(u64, &[f64]); 1] = [(1, &[1e-5; 4])];
        let all = vec![runs("ours", &OURS), runs("other", &OTHER), runs("better", &never), runs("none", &[])];
        let compared = compared(all, 1e-12);
        assert_eq!([0, 1, 2, 3].map(|other| compared.lead(other)), [None, Some(0.75), Some(f64::INFINITY), None]);
    }

    /// A third of the runs ends with 0.1, which is more than half of 0.119.
    #[test]
    fn stuck_runs_are_counted_by_the_last_simple_regret() {
        let compared = compared(vec![runs("ours", &OURS), runs("none", &[])], 1e-12);
        assert_eq!((compared.share_stuck(0), compared.share_stuck(1)), (Some(1.0 / 3.0), None));
    }

    #[test]
    fn below_the_floor_all_is_a_tie() {
        let compared = compared(vec![runs("ours", &OURS), runs("other", &OTHER)], 0.1);
        assert_eq!(compared.tests[1].as_ref().unwrap().ties, 3);
        assert_eq!(compared.ranks, [Some(1.5), Some(1.5)]);
    }
}
