//! An optimizer's performance in one run on a space: the regret of what it evaluated, and of what it recommends.
//!
//! | name | meaning |
//! |---|---|
//! | simple | simple regret: how far the best point evaluated so far, by its true value, is from the optimum |
//! | inference | inference regret: how far the point recommended at the end is from the optimum, by its true value |

use manyhands_core::{Direction, Value};

/// The regrets of one run; those below [`FLOOR`](super::FLOOR) count as that.
#[derive(Debug, Clone, PartialEq)]
pub struct SpacePerformance {
    /// The simple regret after each evaluation, in the order in which results arrive.
    pub simple: Vec<f64>,
    /// The inference regret at the end of the run.
    pub inference: f64,
}

impl SpacePerformance {
    /// The simple regret at the end of the run; infinite if nothing was evaluated.
    pub fn last(&self) -> f64 {
        self.simple.last().copied().unwrap_or(f64::INFINITY)
    }

    /// The simple regret after so many evaluations, from 1.
    pub fn after(&self, evaluations: usize) -> Option<f64> {
        self.simple.get(evaluations.checked_sub(1)?).copied()
    }

    /// After how many evaluations the simple regret was this or less for the first time.
    pub fn first_at_most(&self, regret: f64) -> Option<usize> {
        self.simple.iter().position(|simple| *simple <= regret).map(|place| place + 1)
    }
}

/// The proposal with the best observed value: what is recommended where an optimizer has no recommendation.
#[derive(Debug, Clone)]
pub(super) struct BestObserved {
    sign: f64,
    /// The proposal and its value, multiplied by the sign.
    best: Option<(Vec<Value>, f64)>,
}

impl BestObserved {
    /// Nothing observed yet.
    pub fn new(direction: Direction) -> Self {
        Self { sign: direction.sign(), best: None }
    }

    /// Of equal values the first one counts.
    pub fn observe(&mut self, point: &[Value], value: f64) {
        let merit = self.sign * value;
        if self.best.as_ref().is_none_or(|(_, best)| merit > *best) {
            self.best = Some((point.to_vec(), merit));
        }
    }

    /// The best one; none if nothing was observed.
    pub fn into_point(self) -> Option<Vec<Value>> {
        self.best.map(|(point, _)| point)
    }
}
