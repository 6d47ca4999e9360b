//! Continuous sample paths, against the posterior's own moments, finite differences and the data.

use crate::common::{key, rng, uniform};
use manyhands_gp::{Error, Kernel, Points, Posterior, Prior, SamplePath, SamplePaths};

const SCALE: f64 = 1.3;

fn kernels() -> Vec<Kernel> {
    vec![
        Kernel::squared_exponential(&[0.4, 0.7]).unwrap().with_variance(2.0).unwrap(),
        Kernel::matern(0.5, &[0.6]).unwrap(),
        Kernel::matern(1.5, &[0.5, 0.3]).unwrap(),
        Kernel::matern(2.5, &[0.4]).unwrap().with_variance(0.5).unwrap(),
        Kernel::matern(3.2, &[0.4]).unwrap(),
        Kernel::linear(&[0.8, 1.2]).unwrap(),
        Kernel::matern(2.5, &[0.5, 0.7]).unwrap().partly_additive(&[0, 1]).unwrap().with_variance(1.5).unwrap(),
    ]
}

/// Observed rows with a repeat, and a pending one.
fn posterior(kernel: Kernel, noise: f64) -> Posterior {
    let mut posterior = Posterior::new(Prior::new(kernel, 0.3, noise).unwrap(), 2).unwrap();
    for (id, (x, value)) in [([0.2, 0.3], 1.1), ([0.7, 0.6], -0.4), ([0.2, 0.3], 0.9)].into_iter().enumerate() {
        posterior.observe(key(id, 0), &x, value).unwrap();
    }
    posterior.hallucinate(key(9, 0), &[0.5, 0.9]).unwrap();
    posterior
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    for kernel in kernels() {
        let posterior = posterior(kernel.clone(), 0.05);
        let rng = &mut rng(3);
        let path = SamplePath::draw(posterior.view(), SCALE, 200, rng).unwrap();
        for _ in 0..10 {
            let x = [uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)];
            let mut gradient = [0.0; 2];
            assert_eq!(path.value_and_gradient(&x, &mut gradient).unwrap(), path.value(&x).unwrap());
            for j in 0..2 {
                // The frequencies of nu = 1/2 have heavy tails: a wave of frequency omega errs by (omega h)^2/6 omega.
                let h = 1e-7;
                let (mut left, mut right) = (x, x);
                left[j] -= h;
                right[j] += h;
                let slope = (path.value(&right).unwrap() - path.value(&left).unwrap()) / (2.0 * h);
                let size = gradient[0].hypot(gradient[1]) + 10.0;
                assert!((slope - gradient[j]).abs() < 1e-6 * size, "{kernel:?}: {slope}, {}", gradient[j]);
            }
        }
    }
}

#[test]
fn many_paths_have_the_posteriors_mean_and_covariance() {
    let (draws, features) = (4000, 400);
    let points = Points::from_rows(&[vec![0.25, 0.35], vec![0.6, 0.2], vec![0.9, 0.95], vec![0.5, 0.8]]).unwrap();
    for kernel in kernels() {
        let posterior = posterior(kernel.clone(), 0.05);
        let rng = &mut rng(11);
        let len = points.len();
        let means: Vec<f64> = points.iter().map(|x| posterior.predict(x).unwrap().mean).collect();
        let exact = posterior.view().covariance(&points).unwrap();
        let (mut sums, mut products) = (vec![0.0; len], vec![0.0; len * len]);
        for _ in 0..draws {
            let path = SamplePath::draw(posterior.view(), SCALE, features, rng).unwrap();
            let centred: Vec<f64> = points.iter().zip(&means).map(|(x, m)| path.value(x).unwrap() - m).collect();
            for i in 0..len {
                sums[i] += centred[i];
                (0..len).for_each(|j| products[i * len + j] += centred[i] * centred[j]);
            }
        }
        // Every path has fresh frequencies, so that the features' covariance is right on average and only the draws'
        // scatter is left: five standard errors, of products of numbers a little more scattered than normal ones. What
        // one set of features has too much or too little adds v^2/features to the variance of a product.
        let (n, square) = (f64::from(draws), SCALE * SCALE);
        for i in 0..len {
            let variance = square * exact[i * len + i];
            assert!((sums[i] / n).abs() < 5.0 * (variance / n).sqrt(), "{kernel:?}, mean {i}");
            for j in 0..len {
                let (expected, other) = (square * exact[i * len + j], square * exact[j * len + j]);
                let extra = (square * kernel.variance()).powi(2) / features as f64;
                let error = ((variance * other + expected * expected + 4.0 * extra) / n).sqrt();
                let found = products[i * len + j] / n;
                assert!((found - expected).abs() < 5.0 * error, "{kernel:?} {i} {j}: {found}, {expected} +- {error}");
            }
        }
    }
}

#[test]
fn paths_that_share_waves_have_the_posteriors_moments_and_do_not_depend_on_each_other() {
    let (sets, count, features) = (800, 4, 200);
    let pair = Points::from_rows(&[vec![0.25, 0.35], vec![0.6, 0.2]]).unwrap();
    for kernel in kernels() {
        let posterior = posterior(kernel.clone(), 0.05);
        let rng = &mut rng(12);
        let means: Vec<f64> = pair.iter().map(|x| posterior.predict(x).unwrap().mean).collect();
        let exact = posterior.view().covariance(&pair).unwrap();
        let (mut sum, mut product, mut across) = (0.0, 0.0, 0.0);
        for _ in 0..sets {
            let paths = SamplePaths::draw(posterior.view(), features, count, rng).unwrap();
            let values: Vec<Vec<f64>> = pair.iter().map(|x| paths.values(x).unwrap()).collect();
            for (k, path) in paths.paths().iter().enumerate() {
                let own: Vec<f64> = pair.iter().map(|x| path.value(x).unwrap()).collect();
                assert_eq!([values[0][k], values[1][k]], *own);
                sum += own[0] - means[0];
                product += (own[0] - means[0]) * (own[1] - means[1]);
                across += (own[0] - means[0]) * (values[1][(k + 1) % count] - means[1]);
            }
        }
        // As above; the features of a set have the same excess in all of its paths.
        let (n, both) = (f64::from(sets) * count as f64, exact[0] * exact[3]);
        let extra = count as f64 * 4.0 * kernel.variance().powi(2) / features as f64;
        assert!((sum / n).abs() < 5.0 * (exact[0] / n).sqrt(), "{kernel:?}: {}", sum / n);
        let error = ((both + exact[1] * exact[1] + extra) / n).sqrt();
        assert!((product / n - exact[1]).abs() < 5.0 * error, "{kernel:?}: {}, {}", product / n, exact[1]);
        assert!((across / n).abs() < 5.0 * ((both + extra) / n).sqrt(), "{kernel:?}: {}", across / n);
    }
    let (posterior, rng) = (posterior(kernels()[0].clone(), 0.05), &mut rng(1));
    assert!(matches!(SamplePaths::draw(posterior.view(), 0, 3, rng), Err(Error::Empty { .. })));
    assert_eq!(SamplePaths::draw(posterior.view(), 9, 0, rng).unwrap().values(&[0.1, 0.2]).unwrap(), Vec::<f64>::new());
}

#[test]
fn with_tiny_noise_a_path_passes_through_the_data() {
    for kernel in kernels().into_iter().take(5) {
        let noise = 1e-8;
        let mut posterior = Posterior::new(Prior::new(kernel.clone(), 0.3, noise).unwrap(), 2).unwrap();
        let data = [([0.2, 0.3], 1.1), ([0.7, 0.6], -0.4), ([0.1, 0.9], 0.9)];
        for (id, (x, value)) in data.into_iter().enumerate() {
            posterior.observe(key(id, 0), &x, value).unwrap();
        }
        let path = SamplePath::draw(posterior.view(), SCALE, 100, &mut rng(2)).unwrap();
        for (x, value) in data {
            // The path's sd there is at most scale x sqrt(noise), its mean within noise x |w| of the value.
            let off = (path.value(&x).unwrap() - value).abs();
            assert!(off < 6.0 * SCALE * noise.sqrt(), "{kernel:?}: off by {off:e}");
        }
    }
}

#[test]
fn the_linear_kernels_paths_are_lines() {
    let posterior = posterior(Kernel::linear(&[0.8, 1.2]).unwrap(), 0.05);
    let path = SamplePath::draw(posterior.view(), SCALE, 1, &mut rng(4)).unwrap();
    let at = |x: f64, y: f64| path.value(&[x, y]).unwrap();
    let bent = at(0.2, 0.4) + at(0.8, 1.0) - 2.0 * at(0.5, 0.7);
    assert!(bent.abs() < 1e-13);
}

#[test]
fn a_past_view_draws_from_its_own_rows() {
    let mut later = posterior(kernels().remove(0), 0.05);
    let draw = |posterior: &Posterior| SamplePath::draw(posterior.past_view(3), SCALE, 50, &mut rng(8)).unwrap();
    let before = draw(&later).value(&[0.4, 0.4]).unwrap();
    later.settle(9, 5.0).unwrap();
    assert_eq!(draw(&later).value(&[0.4, 0.4]).unwrap(), before);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let rng = &mut rng(1);
    let empirical = crate::common::empirical(rng, 5);
    let finite = Posterior::new(Prior::new(empirical, 0.0, 0.1).unwrap(), 1).unwrap();
    assert!(matches!(SamplePath::draw(finite.view(), 1.0, 10, rng), Err(Error::NoDerivative { .. })));
    let posterior = posterior(kernels().remove(0), 0.05);
    assert!(matches!(SamplePath::draw(posterior.view(), 1.0, 0, rng), Err(Error::Empty { .. })));
    assert!(matches!(SamplePath::draw(posterior.view(), f64::NAN, 10, rng), Err(Error::NotFinite { .. })));
    let path = SamplePath::draw(posterior.view(), 1.0, 10, rng).unwrap();
    assert!(matches!(path.value(&[0.5]), Err(Error::WrongLength { .. })));
    assert!(matches!(path.value_and_gradient(&[0.5, 0.5], &mut [0.0]), Err(Error::WrongLength { .. })));
}
