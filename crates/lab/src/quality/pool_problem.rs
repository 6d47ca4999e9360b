//! A pool as a problem: real candidates with measured values, of which an evaluation draws one.

use std::ops::ControlFlow;

use manyhands_core::Direction;
use rand::RngExt;

use super::protocol::{Protocol, SeededRun};
use super::{ActiveOptimizer, Optimizer, PlayedRun, TestProblem};
use crate::stream::Purpose;
use crate::{Error, Result};

/// The fraction of the candidates that counts as best.
const BEST: f64 = 0.01;

/// Candidates with the measurements of each.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolProblem {
    name: String,
    direction: Direction,
    points: Vec<Vec<f64>>,
    measured: Vec<Vec<f64>>,
    best: Vec<bool>,
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
        let pool = Self { name: name.to_string(), direction, points, measured, best: vec![] };
        let best = pool.best_candidates();
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

    /// How many candidates count as best: 1 % of them, rounded up, and those as good as the last of these.
    pub fn best(&self) -> usize {
        self.best.iter().filter(|best| **best).count()
    }

    /// The expected number of evaluations in random order until one of the k best among N: (N + 1)/(k + 1).
    pub fn random_order(&self) -> f64 {
        (self.points.len() + 1) as f64 / (self.best() + 1) as f64
    }

    fn best_candidates(&self) -> Vec<bool> {
        let sign = self.direction.sign();
        let merits: Vec<f64> = (0..self.points.len()).map(|candidate| sign * self.mean(candidate)).collect();
        let mut sorted = merits.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let count = (BEST * sorted.len() as f64).ceil() as usize;
        merits.iter().map(|merit| *merit >= sorted[count - 1]).collect()
    }

    /// One run of this optimizer, without repeats: the number of evaluations until one of the best candidates was
    /// evaluated, if that happened. An evaluation observes one of the candidate's measurements; the n-th suggestion
    /// of every optimizer has the same random draw.
    pub fn evaluations_needed(
        &self,
        active: &mut dyn ActiveOptimizer<usize>,
        protocol: &Protocol,
        run: &SeededRun,
    ) -> Result<Option<usize>> {
        let most = protocol.pool_evaluations.min(self.points.len());
        let mut rng = run.generator(Purpose::Noise);
        let draws: Vec<f64> = (0..most).map(|_| rng.random()).collect();
        let (mut seen, mut count, mut reached) = (vec![false; self.points.len()], 0, None);
        let refuse = |reason| Err(Error::Suggestion { problem: self.name.clone(), reason });
        run.drive(active, protocol, most, |order, &candidate| {
            match seen.get_mut(candidate) {
                None => return refuse(format!("there is no candidate {candidate} among {}", self.points.len())),
                Some(true) => return refuse(format!("candidate {candidate} was evaluated before")),
                Some(seen) => *seen = true,
            }
            count += 1;
            if self.best[candidate] {
                reached = Some(count);
                return Ok(ControlFlow::Break(()));
            }
            let measured = &self.measured[candidate];
            Ok(ControlFlow::Continue(measured[(draws[order] * measured.len() as f64) as usize]))
        })?;
        Ok(reached)
    }
}

impl TestProblem for PoolProblem {
    /// The evaluations until one of the best candidates was evaluated, if one was.
    type Performance = Option<usize>;

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, optimizer: &Optimizer, protocol: &Protocol, run: &SeededRun) -> Result<PlayedRun<Option<usize>>> {
        let mut active = optimizer.start_on_pool(self, run)?;
        let performance = self.evaluations_needed(active.as_mut(), protocol, run)?;
        Ok(PlayedRun { performance, seconds_elsewhere: active.seconds_elsewhere() })
    }
}
