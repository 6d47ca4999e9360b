//! PES, predictive entropy search (Hernandez-Lobato, Hoffman and Ghahramani 2014): how much the value at a point is expected
//! to tell of where the maximum is.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | x* | star | where a sample of the posterior is highest |
//! | v(x) | | the variance of f(x) given observed, pending and failed points |
//! | v(x given x*) | variance_given | the same given that the maximum is at x*, by expectation propagation |
//! | lambda | noise | the variance of the noise |
//!
//! The score is ln(v(x) + lambda)/2 less the average over samples of ln(v(x given x*) + lambda)/2 (the paper's equations (4)
//! and (10)): the information, in nats, of a value at x about x*. Means are from observed points; everything else is one
//! Gaussian, given pending and failed points too, and x* are maxima of exact draws of it on a finite domain, and of climbed
//! sample paths elsewhere. The paper has no batch form; seeing pending points in this way is the hallucination of GP-BUCB.

mod given_maximum;
mod propagation;
#[cfg(test)]
mod tests;

use manyhands_gp::{PointSection, Sections, View};

use self::given_maximum::{FixedPoints, GivenMaximum, rounding};
use super::{Formulas, RuleState};
use crate::chooser::{PointScore, SampledArgmax, by_differences};
use crate::compatibility::at_most;
use crate::maximize::lengthscales;
use crate::tuning::{ENTROPY_CANDIDATES, ENTROPY_SAMPLES};
use crate::{Choice, Result, Strategy};

pub(super) struct Pes;

impl Formulas for Pes {
    fn choose(&self, state: &mut RuleState<'_>, _: f64) -> Result<Choice> {
        let maxima = distinct(state.argmaxes_of_samples(ENTROPY_SAMPLES)?);
        let mut score = EntropyReduction::new(state.with_pending().view, &maxima)?;
        state.argmax_by_point(&mut score)
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        &[]
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        at_most(ENTROPY_CANDIDATES, candidates, strategy.rule)
    }
}

/// The different maxima in the order in which they came, each with how many samples have it.
fn distinct(all: Vec<SampledArgmax>) -> Vec<(SampledArgmax, usize)> {
    let mut maxima: Vec<(SampledArgmax, usize)> = vec![];
    for maximum in all {
        match maxima.iter_mut().find(|(known, _)| known.point == maximum.point) {
            Some((_, count)) => *count += 1,
            None => maxima.push((maximum, 1)),
        }
    }
    maxima
}

/// The expected reduction of the entropy of a value by knowing x*, which is that of the entropy of x* by the value.
struct EntropyReduction<'a> {
    view: View<'a>,
    /// As the different observed points, the maxima, and the points around these see it.
    sections: Sections<'a>,
    /// How many of those points are observed ones; they come first.
    observed: usize,
    maxima: Vec<GivenMaximum>,
    noise: f64,
}

impl<'a> EntropyReduction<'a> {
    fn new(view: View<'a>, maxima: &[(SampledArgmax, usize)]) -> Result<Self> {
        let mut points = view.distinct_observed()?;
        let (observed, mut places) = (points.len(), vec![]);
        for (maximum, _) in maxima {
            places.push(points.len());
            let around = maximum.around.iter().flatten().map(Vec::as_slice);
            std::iter::once(&*maximum.point).chain(around).try_for_each(|point| points.push(point))?;
        }
        let sections = Sections::new(view, points)?;
        let joint = sections.joint();
        let fixed =
            FixedPoints { joint: &joint, observed, has_slopes: has_slopes(view), rounding: rounding(view, &sections) };
        let samples: usize = maxima.iter().map(|(_, count)| count).sum();
        let given = |(&place, (maximum, count)): (&usize, &(SampledArgmax, usize))| {
            GivenMaximum::new(fixed, place, maximum.around.len(), *count as f64 / samples as f64)
        };
        let maxima = places.iter().zip(maxima).map(given).collect::<Result<_>>()?;
        Ok(Self { view, sections, observed, maxima, noise: view.prior().noise() })
    }
}

impl PointScore for EntropyReduction<'_> {
    fn value(&mut self, point: &[f64]) -> Result<f64> {
        let constrained = (0..self.observed).any(|index| self.sections.points().get(index) == point);
        let stars: Vec<bool> =
            self.maxima.iter().map(|given| self.sections.points().get(given.star()) == point).collect();
        let PointSection { mean, variance, covariances } = self.sections.at(point)?;
        let entropy = |variance: f64| 0.5 * (variance + self.noise).ln();
        let mut expected = 0.0;
        for (given, is_star) in self.maxima.iter().zip(stars) {
            let pair = given.with_star(PointSection { mean, variance, covariances });
            // There the maximum has been conditioned on already.
            let left = if constrained || is_star { pair.variance } else { pair.variance_below_star() };
            expected += given.share() * entropy(left);
        }
        Ok(entropy(variance) - expected)
    }

    /// By central differences: the derivative would need those of the covariances with all fixed points.
    fn value_and_slopes(&mut self, point: &[f64], along: &[usize], slopes: &mut [f64]) -> Result<f64> {
        let view = self.view;
        let lengthscales = lengthscales(view.prior(), point.len());
        by_differences(self, (point, along), |j| lengthscales[j].min(1.0), slopes)
    }
}

/// Whether samples have a slope that is 0 at a maximum, and central differences next to it are close to that: with Matern kernels
/// of smoothness nu these differ from the slope by the step to the power nu - 1, in sd.
fn has_slopes(view: View<'_>) -> bool {
    use manyhands_gp::Family;
    match view.prior().kernel().family() {
        Family::Matern { smoothness } => smoothness >= 1.5,
        Family::SquaredExponential | Family::Linear => true,
        Family::Empirical => false,
    }
}
