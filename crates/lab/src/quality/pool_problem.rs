//! A pool as a problem: real candidates with measured values, of which an evaluation draws one.

use std::ops::ControlFlow;

use manyhands_core::Direction;
use rand::RngExt;

use super::protocol::{Protocol, SeededRun};
use super::{ActiveOptimizer, Optimizer, PlayedRun, TestProblem};
use crate::stream::Purpose;
use crate::{Error, Result};

/// Which candidates count as best: so many of all, rounded up, and those as good as the last of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolGoal {
    /// One in a hundred.
    BestPercent,
    /// One in twenty.
    BestFivePercent,
}

impl PoolGoal {
    /// Both.
    pub const ALL: [Self; 2] = [Self::BestPercent, Self::BestFivePercent];

    /// The fraction of the candidates.
    fn share(self) -> f64 {
        match self {
            Self::BestPercent => 0.01,
            Self::BestFivePercent => 0.05,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::BestPercent => "best 1 %",
            Self::BestFivePercent => "best 5 %",
        }
    }
}

/// After how many evaluations the goals were reached in one run; none where that did not happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolPerformance {
    /// One of the best 1 % was evaluated.
    pub best_percent: Option<usize>,
    /// One of the best 5 % was evaluated.
    pub best_five_percent: Option<usize>,
}

impl PoolPerformance {
    /// After how many evaluations this goal was reached.
    pub fn reached(&self, goal: PoolGoal) -> Option<usize> {
        match goal {
            PoolGoal::BestPercent => self.best_percent,
            PoolGoal::BestFivePercent => self.best_five_percent,
        }
    }
}

/// Candidates with the measurements of each.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolProblem {
    name: String,
    direction: Direction,
    points: Vec<Vec<f64>>,
    measured: Vec<Vec<f64>>,
    /// Whether each candidate counts as best, for each goal.
    best: [Vec<bool>; 2],
}

impl PoolProblem {
    /// A pool of at least one candidate: the numbers that describe it, and one measurement or more.
    pub fn new(name: &str, direction: Direction, points: Vec<Vec<f64>>, measured: Vec<Vec<f64>>) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Problem { name: name.to_string(), reason });
        if points.is_empty() || points.len() != measured.len() {
            return refuse(format!("it has measurements of {} candidates for {} points", measured.len(), points.len()));
        }
        if let Some(candidate) = measured.iter().position(Vec::is_empty) {
            return refuse(format!("candidate {candidate} was never measured"));
        }
        let pool = Self { name: name.to_string(), direction, points, measured, best: [const { vec![] }; 2] };
        let best = PoolGoal::ALL.map(|goal| pool.best_candidates(goal));
        Ok(Self { best, ..pool })
    }

    /// The coordinates of each candidate.
    pub fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// Whether values are maximized or minimized.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The mean of a candidate's measurements, which ranks it.
    pub fn mean(&self, candidate: usize) -> f64 {
        let measured = &self.measured[candidate];
        measured.iter().sum::<f64>() / measured.len() as f64
    }

    /// The measurements of a candidate.
    pub(super) fn measured(&self, candidate: usize) -> &[f64] {
        &self.measured[candidate]
    }

    /// How many candidates count as best.
    pub fn best(&self, goal: PoolGoal) -> usize {
        self.best[goal as usize].iter().filter(|best| **best).count()
    }

    /// The expected number of evaluations in random order until one of the k best among N: (N + 1)/(k + 1).
    pub fn random_order(&self, goal: PoolGoal) -> f64 {
        (self.points.len() + 1) as f64 / (self.best(goal) + 1) as f64
    }

    fn best_candidates(&self, goal: PoolGoal) -> Vec<bool> {
        let sign = self.direction.sign();
        let merits: Vec<f64> = (0..self.points.len()).map(|candidate| sign * self.mean(candidate)).collect();
        let mut sorted = merits.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let count = (goal.share() * sorted.len() as f64).ceil() as usize;
        merits.iter().map(|merit| *merit >= sorted[count - 1]).collect()
    }

    /// One run of this optimizer, without repeats, which ends when one of the best 1 % was evaluated. An evaluation observes
    /// one of the candidate's measurements; the n-th suggestion of every optimizer has the same random draw.
    pub fn performance(
        &self,
        active: &mut dyn ActiveOptimizer<usize>,
        protocol: &Protocol,
        run: &SeededRun,
    ) -> Result<PoolPerformance> {
        let most = protocol.pool_evaluations.min(self.points.len());
        let mut rng = run.generator(Purpose::Noise);
        let draws: Vec<f64> = (0..most).map(|_| rng.random()).collect();
        let (mut seen, mut count) = (vec![false; self.points.len()], 0);
        let mut performance = PoolPerformance::default();
        let refuse = |reason| Err(Error::Suggestion { problem: self.name.clone(), reason });
        run.drive(active, protocol, most, |order, &candidate| {
            match seen.get_mut(candidate) {
                None => return refuse(format!("there is no candidate {candidate} among {}", self.points.len())),
                Some(true) => return refuse(format!("candidate {candidate} was evaluated before")),
                Some(seen) => *seen = true,
            }
            count += 1;
            if self.best[PoolGoal::BestFivePercent as usize][candidate] {
                performance.best_five_percent.get_or_insert(count);
            }
            if self.best[PoolGoal::BestPercent as usize][candidate] {
                performance.best_percent = Some(count);
                return Ok(ControlFlow::Break(()));
            }
            let measured = &self.measured[candidate];
            Ok(ControlFlow::Continue(measured[(draws[order] * measured.len() as f64) as usize]))
        })?;
        Ok(performance)
    }
}

impl TestProblem for PoolProblem {
    type Performance = PoolPerformance;

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, optimizer: &Optimizer, protocol: &Protocol, run: &SeededRun) -> Result<PlayedRun<PoolPerformance>> {
        let mut active = optimizer.start_on_pool(self, run)?;
        let performance = self.performance(active.as_mut(), protocol, run)?;
        Ok(PlayedRun { performance, seconds_elsewhere: active.seconds_elsewhere() })
    }
}
