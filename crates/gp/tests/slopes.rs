//! What the gradients of the posterior promise, against central differences and the posterior's own predictions.

use crate::common::acquisitions::{Curved, ExpectedImprovement, ProbabilityOfImprovement};
use crate::common::{EPS, config, empirical, key, point, rng, uniform};
use manyhands_gp::{
    Acquisition, ConfidenceBound, Error, Kernel, Posterior, Prior, Slopes, StandardDeviation, Variance,
};
use proptest::prelude::*;
use rand::RngExt;

const NOISE: f64 = 1e-2;

/// Kernels with two derivatives along any line, away from their points at least.
fn smooth(which: usize, dimension: usize) -> Kernel {
    let each: Vec<f64> = (0..dimension).map(|j| 0.5 + 0.2 * j as f64).collect();
    let kernel = match which {
        0 => Kernel::squared_exponential(&each),
        1 => Kernel::matern(1.5, &each),
        2 => Kernel::matern(2.5, &[0.6]),
        3 => Kernel::matern(3.1, &each),
        4 => Kernel::linear(&each),
        // The last two coordinates belong to one parameter.
        _ => {
            let parameters: Vec<usize> = (0..dimension).map(|j| j.min(dimension.max(2) - 2)).collect();
            Kernel::matern(2.5, &each).and_then(|kernel| kernel.partly_additive(&parameters))
        }
    };
    kernel.unwrap().with_variance(1.7).unwrap()
}

/// A posterior with observed, pending and repeated points.
fn posterior(rng: &mut impl Rng, kernel: Kernel, dimension: usize, rows: usize) -> Posterior {
    let mut posterior = Posterior::new(Prior::new(kernel, 0.3, NOISE).unwrap(), dimension).unwrap();
    for id in 0..rows {
        let fresh = point(rng, dimension);
        let x = if id % 4 == 3 { posterior.points().get(rng.random_range(0..id)).to_vec() } else { fresh };
        match id % 3 {
            0 => posterior.hallucinate(key(id, id), &x).unwrap(),
            _ => posterior.observe(key(id, id), &x, uniform(rng, -2.0, 2.0)).unwrap(),
        }
    }
    posterior
}

/// (f(x + h e_j) - f(x - h e_j))/2h for every j.
fn differences(x: &[f64], h: f64, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let moved = |j: usize, by: f64| {
        let mut y = x.to_vec();
        y[j] += by;
        f(&y)
    };
    (0..x.len()).map(|j| (moved(j, h) - moved(j, -h)) / (2.0 * h)).collect()
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn values_are_predictions_and_gradients_are_central_differences(
        seed: u64, which in 0usize..6, dimension in 1usize..5, rows in 0usize..40, multiplier in 0.0f64..5.0,
    ) {
        let rng = &mut rng(seed);
        let posterior = posterior(rng, smooth(which, dimension), dimension, rows);
        let mut slopes = Slopes::new(posterior.view()).unwrap();
        let x = point(rng, dimension);
        let (mut mean_gradient, mut variance_gradient) = (vec![0.0; dimension], vec![0.0; dimension]);
        let (mean, variance) = slopes.at(&x, &mut mean_gradient, &mut variance_gradient);
        let expected = posterior.predict(&x).unwrap();
        // Weights are at most |y|/noise each, and sums of n products are off by n eps of their absolute sum.
        let n = rows as f64 + 1.0;
        let slip = 64.0 * n * n * EPS * 4.0 / NOISE;
        prop_assert!((mean - expected.mean).abs() <= slip, "{} {}", mean, expected.mean);
        prop_assert!((variance - expected.sd.powi(2)).abs() <= slip, "{} {}", variance, expected.sd.powi(2));

        // Central differences are off by h^2/6 times the third derivative (for nu = 3/2, whose second derivative jumps
        // at the points, by h times the second), which the weights' sum scales, and by the slip over h.
        let h = 1e-5;
        let rough = if which == 1 { h } else { h * h };
        let weights: f64 = posterior.view().weights().iter().map(|w| w.abs()).sum();
        let allowed = 300.0 * rough * (1.0 + weights) + 1e-2 * slip / h;
        let of = |f: fn(manyhands_gp::Marginal) -> f64| differences(&x, h, |y| f(posterior.predict(y).unwrap()));
        for (found, expected) in mean_gradient.iter().zip(of(|at| at.mean)) {
            prop_assert!((found - expected).abs() <= allowed, "mean: {} {} +- {}", found, expected, allowed);
        }
        for (found, expected) in variance_gradient.iter().zip(of(|at| at.sd * at.sd)) {
            prop_assert!((found - expected).abs() <= allowed * 10.0, "variance: {} {} +- {}", found, expected, allowed);
        }

        let mut gradient = vec![0.0; dimension];
        let upper = slopes.value(&x, &ConfidenceBound(multiplier), &mut gradient);
        prop_assert_eq!(upper, mean + multiplier * variance.sqrt());
        for j in 0..dimension {
            let by_hand = mean_gradient[j] + multiplier * variance_gradient[j] / (2.0 * variance.sqrt());
            prop_assert_eq!(gradient[j], if variance > 0.0 { by_hand } else { mean_gradient[j] });
        }
    }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn gradients_of_any_acquisition_are_central_differences(
        seed: u64, which in 0usize..6, dimension in 1usize..4, rows in 0usize..12,
    ) {
        let rng = &mut rng(seed);
        let posterior = posterior(rng, smooth(which, dimension), dimension, rows);
        let (mut slopes, x) = (Slopes::new(posterior.view()).unwrap(), point(rng, dimension));
        let there = posterior.predict(&x).unwrap();
        // Next to a row the sd bends within less than a step of the differences.
        prop_assume!(there.sd > 0.05);
        let target = there.mean + uniform(rng, -1.0, 1.0);
        let acquisitions: [&dyn Acquisition; 6] = [
            &ConfidenceBound(-1.5),
            &Variance,
            &StandardDeviation,
            &ExpectedImprovement { target },
            &ProbabilityOfImprovement { target },
            &Curved { weight: 0.7, power: 1.5 },
        ];
        for (i, acquisition) in acquisitions.into_iter().enumerate() {
            let mut gradient = vec![0.0; dimension];
            let value = slopes.value(&x, acquisition, &mut gradient);
            let at = |y: &[f64]| {
                let there = posterior.predict(y).unwrap();
                acquisition.value(there.mean, there.sd * there.sd)
            };
            // Values have derivatives up to 1/sd times those of mean and sd.
            let scale = (1.0 + value.abs()) / there.sd.min(1.0).powi(2);
            prop_assert!((value - at(&x)).abs() <= 1e-8 * scale, "{}: {} {}", i, value, at(&x));
            for (found, expected) in gradient.iter().zip(differences(&x, 1e-5, at)) {
                let allowed = 1e-3 * (scale + expected.abs());
                prop_assert!((found - expected).abs() <= allowed, "{}: {} {}", i, found, expected);
            }
        }
    }
}

#[test]
fn a_past_view_has_the_slopes_of_the_posterior_it_was() {
    let rng = &mut rng(3);
    let now = posterior(rng, smooth(2, 2), 2, 20);
    let mut then = Posterior::new(now.prior().clone(), 2).unwrap();
    let values: Vec<f64> = (0..5).map(|i| i as f64 * 0.3).collect();
    let now = now.rebuilt(now.prior().clone(), &vec![0.5; now.observed()]).unwrap();
    (0..5).for_each(|i| then.observe(key(i, i), now.points().get(i), 0.5).unwrap());
    let (mut one, mut other) = (Slopes::new(now.past_view(5)).unwrap(), Slopes::new(then.view()).unwrap());
    let bound = ConfidenceBound(2.0);
    for x in values {
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        let (found, expected) = (one.value(&[x, 0.4], &bound, &mut a), other.value(&[x, 0.4], &bound, &mut b));
        assert!((found - expected).abs() <= 1e-12 && (a[0] - b[0]).abs() <= 1e-10 && (a[1] - b[1]).abs() <= 1e-10);
    }
}

#[test]
fn slopes_are_finite_at_the_points_themselves_even_where_there_are_none() {
    let rng = &mut rng(4);
    for kernel in [Kernel::matern(0.5, &[0.3]).unwrap(), Kernel::matern(0.8, &[0.3]).unwrap(), smooth(4, 2)] {
        let posterior = posterior(rng, kernel, 2, 9);
        let mut slopes = Slopes::new(posterior.view()).unwrap();
        for x in posterior.points().iter().chain([&[0.0, 0.0][..]]) {
            let mut gradient = [f64::NAN; 2];
            assert!(
                slopes.value(x, &ConfidenceBound(2.0), &mut gradient).is_finite()
                    && gradient.iter().all(|g| g.is_finite())
            );
        }
    }
}

#[test]
fn a_covariance_matrix_has_no_slopes() {
    let posterior = Posterior::new(Prior::new(empirical(&mut rng(3), 4), 0.0, 0.1).unwrap(), 1).unwrap();
    assert_eq!(Slopes::new(posterior.view()).map(|_| ()), Err(Error::NoDerivative { family: "empirical" }));
}
