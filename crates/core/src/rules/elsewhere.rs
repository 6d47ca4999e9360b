//! Summits of an upper bound that are not near the best point, for runs that have converged.

use manyhands_gp::{ConfidenceBound, Slopes, View};

use crate::Result;
use crate::chooser::PointScore;
use crate::maximize::lengthscales;

/// mean + width x sd, and minus infinity near the best point.
pub(super) struct Elsewhere<'a> {
    slopes: Slopes<'a>,
    upper: ConfidenceBound,
    best: &'a [f64],
    lengthscales: Vec<f64>,
    /// The least distance from the best point, in lengthscales, squared.
    least: f64,
    gradient: Vec<f64>,
}

impl<'a> Elsewhere<'a> {
    /// At least `distance` lengthscales from the point of the row `best`.
    pub fn new(view: View<'a>, best: usize, distance: f64, width: f64) -> Result<Self> {
        let best = view.posterior().points().get(best);
        Ok(Self {
            slopes: Slopes::new(view)?,
            upper: ConfidenceBound(width),
            best,
            lengthscales: lengthscales(view.prior(), best.len()),
            least: distance * distance,
            gradient: vec![0.0; best.len()],
        })
    }

    fn is_near(&self, point: &[f64]) -> bool {
        let scaled = |((a, b), lengthscale): ((&f64, &f64), &f64)| ((a - b) / lengthscale).powi(2);
        point.iter().zip(self.best).zip(&self.lengthscales).map(scaled).sum::<f64>() < self.least
    }

    fn evaluate(&mut self, point: &[f64]) -> f64 {
        let value = self.slopes.value(point, &self.upper, &mut self.gradient);
        if self.is_near(point) { f64::NEG_INFINITY } else { value }
    }
}

impl PointScore for Elsewhere<'_> {
    fn value(&mut self, point: &[f64]) -> Result<f64> {
        Ok(self.evaluate(point))
    }

    fn value_and_slopes(&mut self, point: &[f64], along: &[usize], slopes: &mut [f64]) -> Result<f64> {
        let value = self.evaluate(point);
        along.iter().for_each(|&j| slopes[j] = self.gradient[j]);
        Ok(value)
    }
}
