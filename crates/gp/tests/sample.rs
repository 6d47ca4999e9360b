//! Samples have the posterior's mean and covariance, against the posterior's own numbers (tested against dense solves).

use std::sync::Arc;

use crate::common::{PLENTY, kernel, key, on_one_and_two_threads, rng, uniform};
use manyhands_gp::{Domain, Error, Grid, Kernel, Points, Posterior, Prior, Restricted, Sampler, draw_on_grid};
use rand::RngExt;

const DRAWS: usize = 6000;
const SCALE: f64 = 1.7;

/// Observed rows with a repeat, and pending ones of which one repeats an observed point.
fn posterior(kernel: Kernel, domain: &Domain, sites: [usize; 4]) -> Posterior {
    let mut posterior = Posterior::new(Prior::new(kernel, 0.8, 0.05).unwrap(), domain.dimension()).unwrap();
    let [a, b, c, d] = sites;
    for (id, (site, value)) in [(a, 1.5), (b, -0.3), (a, 1.1)].into_iter().enumerate() {
        posterior.observe(key(id, site), &domain.point(site), value).unwrap();
    }
    for (id, site) in [c, c, b, d].into_iter().enumerate() {
        posterior.hallucinate(key(10 + id, site), &domain.point(site)).unwrap();
    }
    posterior
}

/// Every entry of mean and covariance within five standard errors: the mean of n draws has variance v_i/n, the product
/// of two centred normal numbers has variance v_i v_j + c_ij^2.
fn check_moments(posterior: &Posterior, points: &Points, mut draw: impl FnMut() -> Vec<f64>) {
    let len = points.len();
    let means: Vec<f64> = points.iter().map(|x| posterior.predict(x).unwrap().mean).collect();
    let covariance = posterior.view().covariance(points).unwrap();
    let (mut sums, mut products) = (vec![0.0; len], vec![0.0; len * len]);
    for _ in 0..DRAWS {
        let centred: Vec<f64> = draw().iter().zip(&means).map(|(f, m)| f - m).collect();
        for i in 0..len {
            sums[i] += centred[i];
            (0..=i).for_each(|j| products[i * len + j] += centred[i] * centred[j]);
        }
    }
    let (n, square) = (DRAWS as f64, SCALE * SCALE);
    for i in 0..len {
        let variance = square * covariance[i * len + i];
        let error = (variance / n).sqrt();
        assert!((sums[i] / n).abs() <= 5.0 * error, "mean {i}: off by {}, error {error}", sums[i] / n);
        for j in 0..=i {
            let (expected, other) = (square * covariance[i * len + j], square * covariance[j * len + j]);
            let (found, error) = (products[i * len + j] / n, ((variance * other + expected * expected) / n).sqrt());
            assert!((found - expected).abs() <= 5.0 * error, "{i} {j}: {found}, expected {expected} +- {error}");
        }
    }
}

fn all(domain: &Domain) -> Points {
    domain.points_at(&(0..domain.len()).collect::<Vec<_>>())
}

fn check_sampler(kernel: Kernel, domain: Domain, seed: u64) {
    let len = domain.len();
    let posterior = posterior(kernel.clone(), &domain, [1, len / 2, len - 1, len / 3]);
    let points = all(&domain);
    let sampler = Sampler::new(Arc::new(Restricted::new(kernel, domain, PLENTY).unwrap())).unwrap();
    let rng = &mut rng(seed);
    check_moments(&posterior, &points, || sampler.draw(posterior.view(), SCALE, rng));
}

fn scattered(len: usize, dimension: usize) -> Domain {
    let rng = &mut rng(31);
    let mut rows: Vec<Vec<f64>> = (0..len).map(|_| crate::common::point(rng, dimension)).collect();
    // Two candidates at one place, so that the covariance is singular.
    rows[3] = rows[0].clone();
    Domain::Points(Points::from_rows(&rows).unwrap())
}

fn even(sizes: &[usize]) -> Grid {
    Grid::even(&sizes.iter().map(|&m| (0.0, 1.0, m)).collect::<Vec<_>>()).unwrap()
}

#[test]
fn dense_samples_have_the_posteriors_moments() {
    for (seed, which) in [0, 1, 4, 5].into_iter().enumerate() {
        let kernel = kernel(which, 2, 0.4).with_variance(1.9).unwrap();
        check_sampler(kernel, scattered(17, 2), seed as u64);
    }
    check_sampler(crate::common::empirical(&mut rng(8), 12), Domain::Points(Points::indices(12)), 9);
    let uneven = Grid::new(vec![vec![0.0, 0.1, 0.5, 1.0], vec![-1.0, 0.0, 0.2]]).unwrap();
    check_sampler(kernel(3, 2, 0.4), Domain::Grid(uneven), 10);
}

#[test]
fn per_axis_samples_have_the_posteriors_moments() {
    let kernel = |d| kernel(0, d, 0.3).with_variance(1.9).unwrap();
    check_sampler(kernel(1), Domain::Grid(even(&[15])), 20);
    check_sampler(kernel(2), Domain::Grid(even(&[5, 4])), 21);
    check_sampler(kernel(3), Domain::Grid(even(&[3, 2, 3])), 22);
    let uneven = Grid::new(vec![vec![0.0, 0.1, 0.5, 1.0], vec![-1.0, 0.0, 0.2]]).unwrap();
    check_sampler(kernel(2), Domain::Grid(uneven), 23);
}

#[test]
fn circulant_samples_have_the_posteriors_moments() {
    for (which, sizes) in [(1, &[15][..]), (3, &[5, 4]), (4, &[3, 2, 3]), (2, &[1, 9])] {
        let kernel = kernel(which, sizes.len(), 0.3).with_variance(1.9).unwrap();
        check_sampler(kernel, Domain::Grid(even(sizes)), 30);
    }
}

#[test]
fn samples_on_a_grid_that_does_not_hold_the_rows_have_the_posteriors_moments() {
    let grid = even(&[4, 5]);
    for (seed, which) in [0, 3, 5].into_iter().enumerate() {
        let posterior = posterior(kernel(which, 2, 0.4).with_variance(1.9).unwrap(), &scattered(12, 2), [1, 4, 7, 9]);
        let rng = &mut rng(40 + seed as u64);
        let points = all(&Domain::Grid(grid.clone()));
        check_moments(&posterior, &points, || draw_on_grid(posterior.view(), &grid, SCALE, PLENTY, rng).unwrap());
    }
}

#[test]
fn a_sample_of_the_past_knows_the_observations_of_then_alone() {
    let domain = Domain::Grid(even(&[9]));
    let kernel = kernel(0, 1, 0.3);
    let posterior = posterior(kernel.clone(), &domain, [1, 4, 8, 6]);
    let mut past = Posterior::new(posterior.prior().clone(), 1).unwrap();
    past.observe(key(0, 1), &domain.point(1), 1.5).unwrap();
    let sampler = Sampler::new(Arc::new(Restricted::new(kernel, domain, PLENTY).unwrap())).unwrap();
    let draw = |posterior: &Posterior| sampler.draw(posterior.past_view(1), SCALE, &mut rng(1));
    assert_eq!(draw(&posterior), draw(&past));
}

#[test]
fn one_and_two_threads_draw_the_same_bits() {
    let line = Domain::Grid(even(&[70_000]));
    let plane = Domain::Grid(even(&[300, 250]));
    for (which, domain) in [(0, &line), (0, &plane), (3, &line), (3, &plane), (3, &scattered(400, 2))] {
        let kernel = kernel(which, domain.dimension(), 0.3);
        let mut posterior = Posterior::new(Prior::new(kernel.clone(), 0.0, 0.05).unwrap(), domain.dimension()).unwrap();
        let sites = &mut rng(3);
        for id in 0..40 {
            let site = sites.random_range(0..domain.len());
            posterior.observe(key(id, site), &domain.point(site), uniform(sites, -1.0, 1.0)).unwrap();
        }
        let bits = on_one_and_two_threads(|| {
            let restricted = Restricted::new(kernel.clone(), domain.clone(), PLENTY).unwrap();
            let sampler = Sampler::new(Arc::new(restricted)).unwrap();
            let sample = sampler.draw(posterior.view(), SCALE, &mut rng(5));
            sample.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        });
        assert!(bits[0] == bits[1], "kernel {which}, {} candidates", domain.len());
    }
}

#[test]
fn a_domain_too_large_for_a_dense_draw_is_refused() {
    let restricted = |len, budget| {
        let flat = (0..len).map(|i| i as f64).collect();
        Arc::new(
            Restricted::new(kernel(3, 1, 0.3), Domain::Points(Points::from_flat(1, flat).unwrap()), budget).unwrap(),
        )
    };
    let needed = 1000 * 1000 * 16;
    assert!(Sampler::new(restricted(1000, needed)).is_ok());
    let refused = Sampler::new(restricted(1000, needed - 1)).map(|_| ()).unwrap_err();
    assert_eq!(refused, Error::NoRoomToSample { points: 1000, bytes: needed, budget: needed - 1 });
    let posterior = Posterior::new(Prior::new(kernel(3, 1, 0.3), 0.0, 0.1).unwrap(), 1).unwrap();
    let drawn = draw_on_grid(posterior.view(), &even(&[500]), 1.0, 500 * 8 * 10, &mut rng(0));
    assert!(matches!(drawn, Err(Error::NoRoomToFactor { points: 500, rank: 10, .. })));
}

/// The sample moments of 20,000 joint draws: means within five standard errors, covariances within five of theirs.
#[test]
fn joint_draws_have_the_mean_and_the_covariance() {
    let mut posterior =
        Posterior::new(Prior::new(Kernel::matern(2.5, &[0.3]).unwrap(), 0.2, 0.01).unwrap(), 1).unwrap();
    for (i, (x, y)) in [(0.1, 1.0), (0.5, -0.4), (0.6, 0.3)].into_iter().enumerate() {
        posterior.observe(key(i, i), &[x], y).unwrap();
    }
    let points = Points::from_flat(1, vec![0.0, 0.3, 0.55, 0.56, 1.0]).unwrap();
    let (view, n, count) = (posterior.view(), points.len(), 20_000);
    let covariance = view.covariance(&points).unwrap();
    for scale in [1.0, 2.5] {
        let draws = view.draw_jointly(&points, scale, count, &mut rng(8)).unwrap();
        let means: Vec<f64> = (0..n).map(|i| draws.iter().map(|draw| draw[i]).sum::<f64>() / count as f64).collect();
        for i in 0..n {
            let expected = view.predict(points.get(i)).unwrap();
            assert!((means[i] - expected.mean).abs() <= 5.0 * scale * expected.sd / (count as f64).sqrt());
            for j in 0..n {
                let product = |draw: &Vec<f64>| (draw[i] - means[i]) * (draw[j] - means[j]);
                let found = draws.iter().map(product).sum::<f64>() / count as f64;
                let [own, other, between] =
                    [(i, i), (j, j), (i, j)].map(|(a, b)| scale * scale * covariance[a * n + b]);
                let error = ((own * other + between * between) / count as f64).sqrt();
                assert!((found - between).abs() <= 5.0 * error, "{found} {between} {error}");
            }
        }
    }
}
