//! How far the model has been right: the values that were told, beside the intervals predicted before.

use manyhands_gp::Warp;

use super::Study;
use super::predict::representable;
use crate::chooser::Place;
use crate::event::{Asked, Event};
use crate::tuning::{GAIN_ERRORS, widening};
use crate::{Choice, Phase, Result};

/// The probability of the intervals that a model predicts.
pub const PROBABILITY: f64 = 0.9;

/// An interval of [`PROBABILITY`] is mean +- this many sds: the 0.95 quantile of the standard normal distribution.
pub(super) const INTERVAL_SDS: f64 = 1.644_853_626_951_472_2;

/// Larger deviations count as this: no interval is widened by more.
const LARGEST_DEVIATION: f64 = 1e3;

/// How often the values of trials fell inside the intervals that were predicted when they were chosen.
///
/// Counted are the trials after the first design that were told and whose choice logged an interval.
///
/// ```
/// # use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// # let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// # let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// for s in study.ask(8)? {
///     study.tell(s.trial, -(s.point[0] - 0.3).powi(2))?;
/// }
/// assert_eq!(study.record().share(), None);
/// let next = study.ask(1)?.remove(0);
/// study.tell(next.trial, 100.0)?;
/// assert_eq!(study.record().share(), Some(0.0));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackRecord {
    /// Trials whose value fell inside its interval.
    pub held: usize,
    /// Trials with an interval and a value.
    pub trials: usize,
    /// What intervals are widened by, from 1: the root of what it takes for those of the past to have held as often as they
    /// should. Trials are chosen where the model is optimistic, and so more often wrong than elsewhere; the root has the
    /// best coverage at random points.
    pub widened: f64,
}

impl TrackRecord {
    /// The share of the intervals that held; none where there was none.
    pub fn share(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.held as f64 / self.trials as f64)
    }
}

impl Study {
    /// How far the model has been right.
    pub fn record(&self) -> TrackRecord {
        self.judged().0
    }

    /// The record, and what sampled functions are widened by, from 1.
    pub(super) fn judged(&self) -> (TrackRecord, f64) {
        let deviations = self.deviations();
        let held = deviations.iter().filter(|deviation| **deviation <= 1.0).count();
        let record = TrackRecord { held, trials: deviations.len(), widened: widening(&deviations, 0.0).sqrt() };
        (record, widening(&deviations, GAIN_ERRORS))
    }

    /// How far each value was from the middle of its interval, relative to half the interval's length, as the model measured
    /// them; in the order of the trials.
    fn deviations(&self) -> Vec<f64> {
        let (sign, mut warp) = (self.spec.direction().sign(), Warp::identity());
        let mut deviations = Vec::new();
        for event in self.ledger.events() {
            match event {
                Event::Fitted(fitted) => warp = fitted.warp,
                Event::Asked(Asked { trial, choice, .. }) if choice.phase != Phase::Design => {
                    let value = self.ledger.trials()[*trial].value();
                    if let (Some(interval), Some(value)) = (choice.interval, value) {
                        deviations.push(deviation(interval.map(|end| warp.forward(end)), warp.forward(sign * value)));
                    }
                }
                _ => {}
            }
        }
        deviations
    }

    /// A choice with its numbers in the units of the values, and with what is expected of its value.
    pub(super) fn with_expectation(&self, trial: usize, choice: Choice) -> Result<Choice> {
        let (mean, sd) = self.in_units(choice.mean, choice.sd);
        let choice = Choice { mean, sd, ..choice };
        if self.learner.is_some() && !self.learning.is_fitted() {
            return Ok(choice);
        }
        let place = Place { trial, candidate: choice.candidate, params: choice.params.clone() };
        let there = self.posterior.predict(&self.chooser.point(&place)?)?;
        let width = INTERVAL_SDS * there.sd_observed.hypot(self.posterior.prior().noise().sqrt());
        let ends = [there.mean - width, there.mean + width].map(|end| self.bound_in_units(end));
        let interval = ends.iter().all(|end| representable(*end).is_some()).then_some(ends);
        Ok(Choice { sd_observed: Some(self.in_units(there.mean, there.sd_observed).1), interval, ..choice })
    }
}

/// How far a value is from the middle of an interval, in half lengths.
fn deviation([lower, upper]: [f64; 2], value: f64) -> f64 {
    let deviation = (2.0 * value - lower - upper).abs() / (upper - lower);
    // An interval may be a single float, where values differ by no more than that.
    if deviation.is_nan() { 0.0 } else { deviation.min(LARGEST_DEVIATION) }
}
