//! Each optimizer over all problems that it ran on.

use super::compared::ComparedProblem;
use crate::ranking::Standing;
use crate::statistics::median;

/// A median counts as the first if it is this close to it, in log10 of the regret.
const CLOSE: f64 = 0.1;

/// An optimizer over all problems that it ran on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Overall {
    /// The optimizer's place in every problem's runs.
    pub optimizer: usize,
    /// Its name.
    pub name: String,
    /// The problems on which it has runs.
    pub problems: usize,
    /// The mean over these problems of its mean rank among the optimizers there.
    pub mean_rank: f64,
    /// The share of these problems on which its median is first or close to the first.
    pub first: f64,
    /// The median over these problems of the reference's lead; none for the reference itself.
    pub lead: Option<f64>,
    /// On how many problems it is better than the reference, worse, or neither; none for the reference itself.
    pub standings: Option<[usize; 3]>,
    /// The median over these problems of the median cost of a run.
    pub seconds: f64,
}

impl Overall {
    /// Of every optimizer that has runs, the best mean rank first.
    pub fn of(problems: &[&ComparedProblem]) -> Vec<Self> {
        let optimizers = problems.first().map_or(0, |problem| problem.runs.len());
        let mut all: Vec<Self> = (0..optimizers).filter_map(|optimizer| Self::of_one(problems, optimizer)).collect();
        all.sort_by(|a, b| a.mean_rank.total_cmp(&b.mean_rank));
        all
    }

    fn of_one(problems: &[&ComparedProblem], optimizer: usize) -> Option<Self> {
        let name = problems.first()?.runs.get(optimizer)?.optimizer.name().to_string();
        let on: Vec<&ComparedProblem> = problems.iter().copied().filter(|p| p.median(optimizer).is_some()).collect();
        if on.is_empty() {
            return None;
        }
        let ranks: Vec<f64> = on.iter().filter_map(|problem| problem.ranks[optimizer]).collect();
        let leads: Vec<f64> = on.iter().filter_map(|problem| problem.lead(optimizer)).collect();
        Some(Self {
            optimizer,
            name,
            problems: on.len(),
            mean_rank: ranks.iter().sum::<f64>() / ranks.len() as f64,
            first: on.iter().filter(|problem| is_first(problem, optimizer)).count() as f64 / on.len() as f64,
            lead: (!leads.is_empty()).then(|| median(&leads)),
            standings: standings(&on, optimizer),
            seconds: median(&on.iter().map(|problem| problem.runs[optimizer].seconds()).collect::<Vec<_>>()),
        })
    }
}

/// Whether the optimizer's median is the least or close to it.
fn is_first(problem: &ComparedProblem, optimizer: usize) -> bool {
    let least = (0..problem.runs.len()).filter_map(|other| problem.median(other)).fold(f64::INFINITY, f64::min);
    problem.median(optimizer).is_some_and(|median| median <= least + CLOSE)
}

fn standings(problems: &[&ComparedProblem], optimizer: usize) -> Option<[usize; 3]> {
    let tests = problems.iter().filter_map(|problem| problem.tests[optimizer].as_ref());
    let standings: Vec<Standing> = tests.map(|test| test.standing()).collect();
    let count = |wanted| standings.iter().filter(|standing| **standing == wanted).count();
    (!standings.is_empty()).then(|| [Standing::Better, Standing::Worse, Standing::Undecided].map(count))
}

#[cfg(test)]
mod tests {
    use super::super::compared::tests::{compared, runs};
    use super::*;

    fn constant(regret: f64) -> [(u64, Vec<f64>); 2] {
        [1, 2].map(|seed| (seed, vec![regret; 4]))
    }

    fn problem(regrets: &[Option<f64>]) -> ComparedProblem {
        let name = |place: usize| ["ours", "other", "third"][place].to_string();
        let of = |(place, regret): (usize, &Option<f64>)| {
            let curves = regret.map(constant).into_iter().flatten().collect::<Vec<_>>();
            let curves: Vec<(u64, &[f64])> = curves.iter().map(|(seed, curve)| (*seed, curve.as_slice())).collect();
            runs(&name(place), &curves)
        };
        compared(regrets.iter().enumerate().map(of).collect(), 1e-12)
    }

    /// By hand: ranks 1, 2, 3 on the first problem and 2, 1 without the third on the second, where the medians are close. The
    /// lead is 1/4 on the first problem, and infinite on the second.
    #[test]
    fn an_optimizer_counts_on_the_problems_that_it_ran_on() {
        let problems = [problem(&[Some(1e-3), Some(1e-2), Some(1e-1)]), problem(&[Some(1e-2), Some(0.9e-2), None])];
        let all = Overall::of(&problems.iter().collect::<Vec<_>>());
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["ours", "other", "third"]);
        let figures: Vec<(usize, f64, f64)> = all.iter().map(|one| (one.problems, one.mean_rank, one.first)).collect();
        assert_eq!(figures, [(2, 1.5, 1.0), (2, 1.5, 0.5), (1, 3.0, 0.0)]);
        assert_eq!(all.iter().map(|one| one.lead).collect::<Vec<_>>(), [None, Some(f64::INFINITY), Some(0.25)]);
        assert_eq!(all[1].standings, Some([0, 0, 2]), "two runs decide nothing");
        assert_eq!(all[2].seconds, 1.5, "runs of one and two seconds");
    }
}
