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
/// Counted are the trials after the first design that were told and whose choice logged an interval. Where a trial was made
/// with another setting than the suggested one, the interval is what the same model predicts there.
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
    /// What intervals are widened by, from 1: the cube root of what it takes for those of the past to have held as often as they
    /// should. Trials are chosen where the model is optimistic, and so more often wrong than elsewhere; the cube root has a good
    /// coverage at random points.
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
    ///
    /// Early fits of a noisy study do not know of the noise, and the values of their trials are far outside. That says nothing
    /// of the function, so what samples are widened by counts intervals with the noise as it is known now.
    pub(super) fn judged(&self) -> (TrackRecord, f64) {
        let forecasts = self.forecasts();
        let (noise, warp) = (self.posterior.prior().noise(), self.learning.warp());
        let told: Vec<f64> = forecasts.iter().map(|forecast| forecast.deviation()).collect();
        let known: Vec<f64> = forecasts.iter().map(|forecast| forecast.deviation_with(noise, warp)).collect();
        let held = told.iter().filter(|deviation| **deviation <= 1.0).count();
        let record = TrackRecord { held, trials: told.len(), widened: widening(&told, 0.0).cbrt() };
        (record, widening(&known, GAIN_ERRORS))
    }

    /// What was expected of each trial that has a value, in the order of the trials.
    fn forecasts(&self) -> Vec<Forecast> {
        let sign = self.spec.direction().sign();
        let (mut warp, mut noise) = (Warp::identity(), self.posterior.prior().noise());
        let mut forecasts = Vec::new();
        for event in self.ledger.events() {
            match event {
                Event::Fitted(fitted) => (warp, noise) = (fitted.warp, fitted.hyperparameters.noise),
                Event::Asked(asked) if asked.choice.phase != Phase::Design => {
                    let value = self.ledger.trials()[asked.trial].value();
                    if let (Some(interval), Some(value)) = (self.interval_of(asked), value) {
                        forecasts.push(Forecast { interval, value: sign * value, warp, noise });
                    }
                }
                _ => {}
            }
        }
        forecasts
    }

    /// What was expected of the value of a trial, at the setting that it was made with.
    fn interval_of(&self, Asked { trial, choice, .. }: &Asked) -> Option<[f64; 2]> {
        if !self.ledger.trials()[*trial].is_moved() {
            return choice.interval;
        }
        self.expected_elsewhere().iter().find(|(moved, _)| moved == trial).map(|(_, interval)| *interval)
    }

    /// A choice with its numbers in the units of the values, and with what is expected of its value.
    pub(super) fn with_expectation(&self, trial: usize, choice: Choice) -> Result<Choice> {
        let (mean, sd) = self.in_units(choice.mean, choice.sd);
        let choice = Choice { mean, sd, ..choice };
        if !self.is_predicting() {
            return Ok(choice);
        }
        let place = Place { trial, candidate: choice.candidate, params: choice.params.clone() };
        let (sd_observed, interval) = self.expectation(&place)?;
        Ok(Choice { sd_observed: Some(sd_observed), interval, ..choice })
    }

    /// Whether the model is given, or has been fitted.
    pub(super) fn is_predicting(&self) -> bool {
        self.learner.is_none() || self.learning.is_fitted()
    }

    /// The sd of the function there and the interval of a value, given what was observed, in the units of the values.
    pub(super) fn expectation(&self, place: &Place) -> Result<(f64, Option<[f64; 2]>)> {
        let there = self.posterior.predict(&self.chooser.point(place)?)?;
        let width = INTERVAL_SDS * there.sd_observed.hypot(self.posterior.prior().noise().sqrt());
        let ends = [there.mean - width, there.mean + width].map(|end| self.bound_in_units(end));
        let interval = ends.iter().all(|end| representable(*end).is_some()).then_some(ends);
        Ok((self.in_units(there.mean, there.sd_observed).1, interval))
    }
}

/// What was expected of a trial, what came, and the fit that expected it.
struct Forecast {
    interval: [f64; 2],
    value: f64,
    warp: Warp,
    noise: f64,
}

impl Forecast {
    /// How far the value is from the middle of its interval, in half lengths, as the model measured them.
    fn deviation(&self) -> f64 {
        let [lower, upper] = self.interval.map(|end| self.warp.forward(end));
        let deviation = (2.0 * self.warp.forward(self.value) - lower - upper).abs() / (upper - lower);
        // An interval may be a single float, where values differ by no more than that.
        if deviation.is_nan() { 0.0 } else { deviation.min(LARGEST_DEVIATION) }
    }

    /// As [`Forecast::deviation`], from the interval that this noise would have given, if it is more than that of the fit. The
    /// noise is that of values under `warp`, to first order.
    fn deviation_with(&self, noise: f64, warp: Option<&Warp>) -> f64 {
        let [lower, upper] = self.interval.map(|end| self.warp.forward(end));
        let middle = self.warp.inverse(0.5 * (lower + upper));
        let log_slope = self.warp.log_slope(middle) - warp.map_or(0.0, |warp| warp.log_slope(middle));
        let missing = INTERVAL_SDS * (noise * (2.0 * log_slope).exp() - self.noise).max(0.0).sqrt();
        let half = 0.5 * (upper - lower);
        let share = half / half.hypot(missing);
        // A single float again.
        if share.is_nan() { self.deviation() } else { share * self.deviation() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An interval of a fit whose own sd is `own`, under an identity warp.
    fn forecast(own: f64, noise: f64, value: f64) -> Forecast {
        let half = INTERVAL_SDS * own.hypot(noise.sqrt());
        Forecast { interval: [1.0 - half, 1.0 + half], value, warp: Warp::identity(), noise }
    }

    #[test]
    fn noise_known_later_gives_the_interval_that_it_would_have_given_then() {
        let (own, noise) = (0.2, 0.09);
        let known = forecast(own, noise, 2.0).deviation();
        let unknown = forecast(own, 1e-6, 2.0);
        assert!((unknown.deviation_with(noise, None) - known).abs() < 1e-12 * known);
        assert!(unknown.deviation() > known);
    }

    #[test]
    fn noise_that_turned_out_smaller_changes_nothing() {
        let forecast = forecast(0.2, 0.09, 2.0);
        assert_eq!(forecast.deviation_with(0.01, None).to_bits(), forecast.deviation().to_bits());
    }

    #[test]
    fn noise_is_counted_in_the_units_of_the_fit_that_predicted() {
        // A later fit whose unit is ten times as long has a hundredth of the variance.
        let [anchor, unit, bend, shift, spread] = Warp::identity().numbers();
        let later = Warp::from_numbers([anchor, 10.0 * unit, bend, shift, spread]).unwrap();
        let forecast = forecast(0.2, 1e-6, 2.0);
        let (here, there) = (forecast.deviation_with(0.09, None), forecast.deviation_with(0.0009, Some(&later)));
        assert!((here - there).abs() < 1e-12 * here);
    }

    #[test]
    fn an_interval_of_a_single_float_deviates_by_nothing_or_by_the_most() {
        let single = |value: f64| Forecast { interval: [1.0, 1.0], value, warp: Warp::identity(), noise: 0.0 };
        assert_eq!((single(1.0).deviation(), single(1.0).deviation_with(0.0, None)), (0.0, 0.0));
        assert_eq!(
            (single(2.0).deviation(), single(2.0).deviation_with(0.0, None)),
            (LARGEST_DEVIATION, LARGEST_DEVIATION)
        );
    }
}
