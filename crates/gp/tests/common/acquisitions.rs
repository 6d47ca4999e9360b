//! Acquisitions that the library does not have: those of rules to come, and awkward ones.

use std::sync::atomic::{AtomicUsize, Ordering};

use manyhands_gp::Acquisition;

fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

fn distribution(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// E max(0, f - target), which underflows to ties at 0 far below the target.
pub struct ExpectedImprovement {
    pub target: f64,
}

impl Acquisition for ExpectedImprovement {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        let sd = variance.sqrt();
        if sd == 0.0 {
            return f64::NEG_INFINITY;
        }
        let z = (mean - self.target) / sd;
        (sd * (density(z) + z * distribution(z))).max(0.0)
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        let z = (mean - self.target) / variance.sqrt();
        (distribution(z), density(z))
    }

    fn grows_with_variance(&self) -> bool {
        true
    }
}

/// (mean - target)/sd, which grows with the sd only below the target.
pub struct ProbabilityOfImprovement {
    pub target: f64,
}

impl Acquisition for ProbabilityOfImprovement {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        if variance > 0.0 { (mean - self.target) / variance.sqrt() } else { f64::NEG_INFINITY }
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        (1.0 / variance.sqrt(), (self.target - mean) / variance)
    }

    fn grows_with_variance(&self) -> bool {
        false
    }

    fn bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        match mean <= self.target {
            true => self.value(mean, most),
            false if least > 0.0 => self.value(mean, least),
            false => f64::INFINITY,
        }
    }
}

/// [`ProbabilityOfImprovement`] without a bound: every candidate has to be evaluated.
pub struct Unbounded(pub ProbabilityOfImprovement);

impl Acquisition for Unbounded {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        self.0.value(mean, variance)
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        self.0.slopes(mean, variance)
    }

    fn grows_with_variance(&self) -> bool {
        false
    }
}

/// Any growing function of mean and sd.
pub struct Curved {
    pub weight: f64,
    pub power: f64,
}

impl Acquisition for Curved {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        mean.atan() + self.weight * variance.sqrt().powf(self.power)
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        let by_sd = self.weight * self.power * variance.sqrt().powf(self.power - 1.0);
        (1.0 / (1.0 + mean * mean), by_sd)
    }

    fn grows_with_variance(&self) -> bool {
        true
    }
}

/// Whole steps of mean and sd: hardly a candidate without a tie.
pub struct Steps;

impl Acquisition for Steps {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        (2.0 * mean).floor() + (4.0 * variance.sqrt()).floor()
    }

    fn slopes(&self, _: f64, _: f64) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn grows_with_variance(&self) -> bool {
        true
    }
}

/// The sd, but no number (which counts as minus infinity) below a mean.
pub struct Undefined {
    pub below: f64,
}

impl Acquisition for Undefined {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        if mean < self.below { f64::NAN } else { variance.sqrt() }
    }

    fn slopes(&self, _: f64, _: f64) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn grows_with_variance(&self) -> bool {
        true
    }
}

/// Another acquisition, whose exact evaluations are counted.
pub struct Counted<A> {
    pub inner: A,
    pub evaluations: AtomicUsize,
}

impl<A> Counted<A> {
    pub fn new(inner: A) -> Self {
        Self { inner, evaluations: AtomicUsize::new(0) }
    }

    pub fn count(&self) -> usize {
        self.evaluations.load(Ordering::Relaxed)
    }
}

impl<A: Acquisition> Acquisition for Counted<A> {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        self.inner.value(mean, variance)
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        self.inner.slopes(mean, variance)
    }

    fn grows_with_variance(&self) -> bool {
        self.inner.grows_with_variance()
    }

    fn bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        self.inner.bound(mean, least, most)
    }
}
