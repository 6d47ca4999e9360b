//! What the posterior promises, against dense solves from scratch.

use crate::common::{Dense, EPS, Row, config, empirical, kernel, key, point, rng, uniform};
use manyhands_gp::{Error, Kernel, Points, Posterior, Prior};
use proptest::prelude::*;
use rand::RngExt;

const MEAN: f64 = 0.7;

fn prior(kernel: Kernel, noise: f64) -> Prior {
    Prior::new(kernel, MEAN, noise).unwrap()
}

/// A posterior and the oracle's copy of it, grown together.
struct Pair {
    posterior: Posterior,
    dense: Dense,
    ids: Vec<usize>,
    next: usize,
}

impl Pair {
    fn new(kernel: Kernel, dimension: usize, noise: f64) -> Self {
        let posterior = Posterior::new(prior(kernel.clone(), noise), dimension).unwrap();
        Self { posterior, dense: Dense { kernel, mean: MEAN, rows: vec![] }, ids: vec![], next: 0 }
    }

    fn push(&mut self, point: Vec<f64>, value: Option<f64>) {
        let key = key(self.next, self.next);
        match value {
            Some(value) => self.posterior.observe(key, &point, value).unwrap(),
            None => self.posterior.hallucinate(key, &point).unwrap(),
        }
        self.dense.rows.push(Row { point, noise: self.posterior.prior().noise(), value });
        self.ids.push(self.next);
        self.next += 1;
    }

    /// A random step: new points (repeats among them), values in any order, retractions, values amended or taken back.
    fn step(&mut self, rng: &mut impl Rng, dimension: usize) {
        let (observed, pending): (Vec<usize>, Vec<usize>) =
            (0..self.ids.len()).partition(|&i| self.dense.rows[i].value.is_some());
        let fresh = match rng.random_range(0..4) {
            0 if !self.ids.is_empty() => self.dense.rows[rng.random_range(0..self.ids.len())].point.clone(),
            _ => point(rng, dimension),
        };
        if !observed.is_empty() && rng.random_range(0..8) == 0 {
            let row = observed[rng.random_range(0..observed.len())];
            let (id, value) = (self.ids[row] as u64, rng.random_bool(0.5).then(|| uniform(rng, -2.0, 2.0)));
            let posterior = &mut self.posterior;
            if let Some(value) = value { posterior.amend(id, value) } else { posterior.withdraw(id) }.unwrap();
            self.dense.rows[row].value = value;
            return;
        }
        match (rng.random_range(0..10), pending.is_empty()) {
            (0..4, _) | (_, true) => self.push(fresh, None),
            (4..6, _) => self.push(fresh, Some(uniform(rng, -2.0, 2.0))),
            (6..9, _) => {
                let (row, value) = (pending[rng.random_range(0..pending.len())], uniform(rng, -2.0, 2.0));
                self.posterior.settle(self.ids[row] as u64, value).unwrap();
                self.dense.rows[row].value = Some(value);
            }
            _ => {
                let row = pending[rng.random_range(0..pending.len())];
                self.posterior.retract(self.ids.remove(row) as u64).unwrap();
                self.dense.rows.remove(row);
            }
        }
    }
}

fn check_against_oracle(posterior: &Posterior, dense: &Dense, points: &[Vec<f64>]) {
    for x in points {
        let found = posterior.predict(x).unwrap();
        dense.mean_at(x).check(found.mean, "mean");
        dense.variance_at(x, true).check(found.sd.powi(2), "variance");
        dense.variance_at(x, false).check(found.sd_observed.powi(2), "variance given the observed rows");
    }
    let joint = Points::from_rows(points).unwrap();
    let view = posterior.view();
    let (all, observed) = (view.covariance(&joint).unwrap(), view.observed_only().covariance(&joint).unwrap());
    for (i, x) in points.iter().enumerate() {
        for (j, y) in points.iter().enumerate() {
            dense.covariance_of(x, y, true).check(all[i * points.len() + j], "covariance");
            dense.covariance_of(x, y, false).check(observed[i * points.len() + j], "covariance, observed");
        }
    }
    dense.information(false).check(posterior.information(), "information");
    dense.information(true).check(posterior.information_of(posterior.keys().len()), "information of all rows");
    dense.log_marginal().check(posterior.log_marginal_likelihood(), "log marginal likelihood");
}

/// Everything that a refused call must leave as it was.
fn state(posterior: &Posterior) -> (Vec<manyhands_gp::Key>, Points, usize, Vec<Vec<f64>>, Vec<f64>) {
    let rows = (0..posterior.keys().len()).map(|i| posterior.factor().row(i).to_vec()).collect();
    let whitened = posterior.view().whitened().to_vec();
    (posterior.keys().to_vec(), posterior.points().clone(), posterior.observed(), rows, whitened)
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn a_grown_posterior_equals_a_dense_solve_from_scratch(
        seed: u64, which in 0usize..6, dimension in 1usize..4, steps in 1usize..40, exponent in -6i32..=0,
    ) {
        let rng = &mut rng(seed);
        let lengthscale = uniform(rng, 0.1, 1.0);
        let mut pair = Pair::new(kernel(which, dimension, lengthscale), dimension, 10f64.powi(exponent));
        (0..steps).for_each(|_| pair.step(rng, dimension));
        let mut points: Vec<Vec<f64>> = (0..3).map(|_| point(rng, dimension)).collect();
        points.extend(pair.dense.rows.first().map(|row| row.point.clone()));
        check_against_oracle(&pair.posterior, &pair.dense, &points);
    }

    #[test]
    fn a_posterior_over_a_covariance_matrix_equals_a_dense_solve(seed: u64, len in 1usize..12, steps in 1usize..30) {
        let rng = &mut rng(seed);
        let mut pair = Pair::new(empirical(rng, len), 1, 1e-3);
        for _ in 0..steps {
            let value = rng.random_bool(0.6).then(|| uniform(rng, -2.0, 2.0));
            pair.push(vec![rng.random_range(0..len) as f64], value);
        }
        let points: Vec<Vec<f64>> = (0..len).map(|i| vec![i as f64]).collect();
        check_against_oracle(&pair.posterior, &pair.dense, &points);
    }

    #[test]
    fn hallucinating_leaves_the_mean_bit_for_bit_and_never_widens(
        seed: u64, which in 0usize..6, dimension in 1usize..4, steps in 0usize..30, exponent in -10i32..=0,
    ) {
        let rng = &mut rng(seed);
        let mut pair = Pair::new(kernel(which, dimension, 0.4), dimension, 10f64.powi(exponent));
        (0..steps).for_each(|_| pair.step(rng, dimension));
        let points: Vec<Vec<f64>> = (0..5).map(|_| point(rng, dimension)).collect();
        for _ in 0..5 {
            let before: Vec<_> = points.iter().map(|x| pair.posterior.predict(x).unwrap()).collect();
            let (information, likelihood) = (pair.posterior.information(), pair.posterior.log_marginal_likelihood());
            let repeat = points[rng.random_range(0..points.len())].clone();
            pair.push(repeat, None);
            for (x, before) in points.iter().zip(before) {
                let after = pair.posterior.predict(x).unwrap();
                prop_assert_eq!(after.mean.to_bits(), before.mean.to_bits());
                prop_assert_eq!(after.sd_observed.to_bits(), before.sd_observed.to_bits());
                prop_assert!(after.sd <= before.sd);
                prop_assert!(after.sd <= after.sd_observed);
            }
            prop_assert_eq!(pair.posterior.information().to_bits(), information.to_bits());
            prop_assert_eq!(pair.posterior.log_marginal_likelihood().to_bits(), likelihood.to_bits());
        }
    }

    #[test]
    fn settling_order_does_not_matter_beyond_rounding(
        seed: u64, which in 0usize..6, dimension in 1usize..3, pending in 1usize..16, exponent in -6i32..=0,
    ) {
        let rng = &mut rng(seed);
        let mut pair = Pair::new(kernel(which, dimension, 0.4), dimension, 10f64.powi(exponent));
        (0..pending).for_each(|_| pair.push(point(rng, dimension), None));
        let values: Vec<f64> = (0..pending).map(|_| uniform(rng, -2.0, 2.0)).collect();
        let mut order: Vec<usize> = (0..pending).collect();
        (1..pending).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
        order.iter().for_each(|&i| pair.posterior.settle(i as u64, values[i]).unwrap());
        let ids: Vec<usize> = pair.posterior.keys().iter().map(|key| key.id as usize).collect();
        prop_assert_eq!(ids, order, "observed rows stand in the order they were settled in");
        pair.dense.rows.iter_mut().zip(values).for_each(|(row, value)| row.value = Some(value));
        check_against_oracle(&pair.posterior, &pair.dense, &[point(rng, dimension), point(rng, dimension)]);
    }

    #[test]
    fn rebuilding_equals_a_dense_solve_and_has_the_same_bits_twice(
        seed: u64, (from, to) in (0usize..6, 0usize..6), dimension in 1usize..4, steps in 0usize..80, exponent in -8i32..=0,
    ) {
        let rng = &mut rng(seed);
        let mut pair = Pair::new(kernel(from, dimension, 0.5), dimension, 0.1);
        (0..steps).for_each(|_| pair.step(rng, dimension));
        let (kernel, noise) = (kernel(to, dimension, uniform(rng, 0.1, 1.0)), 10f64.powi(exponent));
        let values: Vec<f64> = (0..pair.posterior.observed()).map(|_| uniform(rng, -2.0, 2.0)).collect();
        let rebuilt = pair.posterior.rebuilt(prior(kernel.clone(), noise), &values).unwrap();
        let again = pair.posterior.rebuilt(prior(kernel.clone(), noise), &values).unwrap();
        prop_assert_eq!(state(&rebuilt), state(&again));
        prop_assert_eq!(rebuilt.keys(), pair.posterior.keys());
        let mut together = again.clone();
        together.factor_at_once();
        prop_assert_eq!(state(&together), state(&rebuilt), "all rows at once, as rebuilding has them");
        let row = |i: usize| Row { point: rebuilt.points().get(i).to_vec(), noise, value: values.get(i).copied() };
        let dense = Dense { kernel, mean: MEAN, rows: (0..rebuilt.keys().len()).map(row).collect() };
        check_against_oracle(&rebuilt, &dense, &[point(rng, dimension), point(rng, dimension)]);
        dense.mean_norm().check(rebuilt.view().mean_norm().powi(2), "squared norm of the mean");
    }

    #[test]
    fn when_a_posterior_is_read_changes_no_bit(seed: u64, which in 0usize..6, from in 0usize..30, steps in 0usize..90) {
        let grow = |often: bool| {
            let rng = &mut rng(seed);
            let mut pair = Pair::new(kernel(which, 2, 0.4), 2, 1e-4);
            let walk = |pair: &mut Pair, steps: usize, rng: &mut _| (0..steps).for_each(|_| {
                pair.step(rng, 2);
                if often {
                    state(&pair.posterior);
                }
            });
            walk(&mut pair, from, rng);
            let values: Vec<f64> = (0..pair.posterior.observed()).map(|_| uniform(rng, -2.0, 2.0)).collect();
            pair.posterior = pair.posterior.rebuilt(prior(kernel(0, 2, 0.3), 1e-3), &values).unwrap();
            // Rows that were pending then are settled out of order, retracted, and followed by others.
            walk(&mut pair, steps, rng);
            state(&pair.posterior)
        };
        prop_assert_eq!(grow(true), grow(false));
    }

    #[test]
    fn predictions_made_together_have_the_bits_of_those_made_alone(seed: u64, which in 0usize..6, steps in 0usize..30) {
        let rng = &mut rng(seed);
        let mut pair = Pair::new(kernel(which, 2, 0.4), 2, 1e-4);
        (0..steps).for_each(|_| pair.step(rng, 2));
        let points: Vec<Vec<f64>> = (0..70).map(|_| point(rng, 2)).collect();
        let together = pair.posterior.predict_all(points.iter().map(Vec::as_slice)).unwrap();
        for (x, found) in points.iter().zip(&together) {
            prop_assert_eq!(*found, pair.posterior.predict(x).unwrap());
        }
    }

    #[test]
    fn predictions_from_nearby_rows_equal_those_of_a_posterior_of_them_alone(seed: u64, which in 0usize..6, steps in 1usize..40) {
        let rng = &mut rng(seed);
        let mut pair = Pair::new(kernel(which, 2, 0.4), 2, 1e-2);
        (0..steps).for_each(|_| pair.step(rng, 2));
        let x = point(rng, 2);
        let (all, observed) = (pair.posterior.predict(&x).unwrap(), pair.posterior.observed());
        let whole = pair.posterior.predict_nearby(&x, observed).unwrap();
        prop_assert!((whole.mean - all.mean).abs() < 1e-7 && (whole.sd - all.sd_observed).abs() < 1e-6);
        for most in 0..observed {
            let fewer = pair.posterior.predict_nearby(&x, most).unwrap();
            prop_assert!(fewer.sd >= all.sd_observed - 1e-6, "{} {}", fewer.sd, all.sd_observed);
        }
    }

    #[test]
    fn retracting_undoes_hallucinating(seed: u64, which in 0usize..6, steps in 0usize..30, later in 0usize..4) {
        let rng = &mut rng(seed);
        let mut pair = Pair::new(kernel(which, 2, 0.4), 2, 1e-4);
        (0..steps).for_each(|_| pair.step(rng, 2));
        let (before, id) = (state(&pair.posterior), pair.next as u64);
        pair.push(point(rng, 2), None);
        let mut alone = pair.posterior.clone();
        alone.retract(id).unwrap();
        prop_assert_eq!(state(&alone), before, "the last row leaves no trace");
        (0..later).for_each(|_| pair.push(point(rng, 2), None));
        pair.posterior.retract(id).unwrap();
        pair.dense.rows.remove(pair.dense.rows.len() - 1 - later);
        check_against_oracle(&pair.posterior, &pair.dense, &[point(rng, 2)]);
    }
}

/// k observations of one point are one observation of their mean with noise / k.
///
/// What rounding may do: the factor answers for a matrix off by n eps |K| with |K| <= n. In the closed form the weights
/// of one point's rows are equal, u/k each, so their norm is |u|/sqrt(k) and a variance moves by at most n eps n |u|^2/k,
/// about 3 n eps |u|^2 whatever the noise. The mean's weights hold the values' scatter s around it as well, divided by
/// the noise: n eps n (|u|/sqrt(k)) (sqrt(n) s/noise). The scatter is taken as 3 sqrt(noise), as noise would have it.
#[test]
fn thousands_of_repeats_of_three_points_match_the_closed_form() {
    const ROWS: usize = 2000;
    let sites = [0.1f64, 0.35, 0.9];
    for noise in [1e-2f64, 1e-6, 1e-10] {
        let kernel = Kernel::squared_exponential(&[0.3]).unwrap();
        let mut posterior = Posterior::new(prior(kernel.clone(), noise), 1).unwrap();
        let scatter = 3.0 * noise.sqrt();
        let (mut counts, mut sums) = ([0usize; 3], [0.0; 3]);
        for i in 0..ROWS {
            let site = (i * i + i / 7) % 3;
            let value = (5.0 * sites[site]).sin() + scatter * (i as f64 * 0.7).sin();
            posterior.observe(key(i, site), &[sites[site]], value).unwrap();
            (counts[site], sums[site]) = (counts[site] + 1, sums[site] + value);
        }
        let rows = (0..3).map(|s| Row {
            point: vec![sites[s]],
            noise: noise / counts[s] as f64,
            value: Some(sums[s] / counts[s] as f64),
        });
        let dense = Dense { kernel, mean: MEAN, rows: rows.collect() };
        let n = ROWS as f64;
        for x in [0.1, 0.2, 0.35, 0.6, 0.9, 1.0] {
            let found = posterior.predict(&[x]).unwrap();
            let column: Vec<f64> = sites.iter().map(|&s| dense.kernel.covariance(&[s], &[x])).collect();
            let gram = |a: f64| sites.iter().map(|&b| dense.kernel.covariance(&[a], &[b])).collect();
            let u =
                crate::common::norm(&crate::common::solve(sites.iter().map(|&a| gram(a)).collect(), vec![column]).0[0]);
            let least = *counts.iter().min().unwrap() as f64;
            let (expected, variance) = (dense.mean_at(&[x]), dense.variance_at(&[x], false));
            let slip = n * EPS * n * u / least.sqrt();
            let mean_slip = slip * (n.sqrt() * scatter / noise + 10.0 / least.sqrt());
            crate::common::Number { tolerance: expected.tolerance + mean_slip, ..expected }.check(found.mean, "mean");
            let tolerance = variance.tolerance + 4.0 * slip * u / least.sqrt();
            crate::common::Number { tolerance, ..variance }.check(found.sd.powi(2), "variance");
            assert_eq!(found.sd, found.sd_observed);
        }
        // ln det: the three points' own part, and ln(noise) for every further row, which the information drops.
        let reduced = dense.information(false);
        let slip = n * EPS * (n + n * n / counts[0] as f64);
        crate::common::Number { tolerance: reduced.tolerance + slip, ..reduced }
            .check(posterior.information(), "information");
        assert!(posterior.log_marginal_likelihood().is_finite());
    }
}

/// With noise below the rounding of K the blocked factorization fails; the rows' own routine does not.
#[test]
fn rebuilding_equals_appending_whatever_the_noise_and_the_repeats() {
    let rng = &mut rng(11);
    for noise in [1e-1, 1e-6, 1e-12, 1e-15] {
        let kernel = Kernel::matern(2.5, &[0.4]).unwrap();
        let mut pair = Pair::new(kernel.clone(), 2, noise);
        let sites: Vec<Vec<f64>> = (0..40).map(|_| point(rng, 2)).collect();
        (0..200).for_each(|i| pair.push(sites[i * i % 40].clone(), (i < 150).then_some(MEAN + sites[i * i % 40][0])));
        let values: Vec<f64> = pair.dense.rows.iter().filter_map(|row| row.value).collect();
        let rebuilt = pair.posterior.rebuilt(prior(kernel, noise), &values).unwrap();
        let n = values.len() as f64;
        for i in 0..rebuilt.keys().len() {
            assert!(rebuilt.factor().pivot(i) >= (0.5 * noise).sqrt());
            for j in 0..=i {
                let product = |p: &Posterior| crate::common::dot(&p.factor().row(i)[..=j], p.factor().row(j));
                let difference = product(&rebuilt) - product(&pair.posterior);
                assert!(difference.abs() <= 8.0 * n * EPS * (1.0 + noise), "{difference:e} at {i}, {j}");
            }
        }
        for x in &sites {
            let (found, expected) = (rebuilt.predict(x).unwrap(), pair.posterior.predict(x).unwrap());
            assert!((found.mean - expected.mean).abs() <= 1e-3 && (found.sd - expected.sd).abs() <= 1e-6);
        }
    }
}

#[test]
fn rebuilding_refuses_what_appending_would() {
    let mut posterior = Posterior::new(prior(kernel(0, 2, 0.3), 0.1), 2).unwrap();
    let empty = posterior.rebuilt(prior(kernel(2, 2, 0.3), 0.2), &[]).unwrap();
    assert_eq!((empty.keys().len(), empty.view().mean_norm()), (0, 0.0));
    posterior.observe(key(0, 0), &[0.1, 0.2], 1.0).unwrap();
    posterior.hallucinate(key(1, 1), &[0.5, 0.2]).unwrap();
    let other = || prior(kernel(2, 2, 0.3), 0.2);
    let refused = posterior.rebuilt(other(), &[1.0, 2.0]).map(|_| ());
    assert_eq!(refused, Err(Error::WrongLength { what: "values", expected: 1, found: 2 }));
    assert!(matches!(posterior.rebuilt(other(), &[f64::NAN]), Err(Error::NotFinite { .. })));
    assert!(matches!(posterior.rebuilt(prior(kernel(0, 3, 0.3), 0.1), &[1.0]), Err(Error::WrongLength { .. })));
    let mut rebuilt = posterior.rebuilt(other(), &[1.0]).unwrap();
    rebuilt.settle(1, 0.5).unwrap();
    rebuilt.observe(key(2, 2), &[0.9, 0.9], 0.1).unwrap();
    assert_eq!(rebuilt.observed(), 3);
}

#[test]
fn bad_input_is_refused_by_type_and_changes_nothing() {
    let rng = &mut rng(5);
    let mut pair = Pair::new(Kernel::squared_exponential(&[0.3]).unwrap(), 2, 1e-3);
    pair.push(point(rng, 2), Some(1.0));
    (0..3).for_each(|_| pair.push(point(rng, 2), None));
    let posterior = &mut pair.posterior;
    let (before, fresh) = (state(posterior), key(9, 9));
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(posterior.settle(2, value), Err(Error::NotFinite { .. })));
        assert!(matches!(posterior.observe(fresh, &[0.1, 0.2], value), Err(Error::NotFinite { .. })));
        assert!(matches!(posterior.hallucinate(fresh, &[0.1, value]), Err(Error::NotFinite { .. })));
        assert!(matches!(posterior.predict(&[value, 0.1]), Err(Error::NotFinite { .. })));
        assert!(matches!(Prior::new(kernel(0, 1, 0.3), value, 0.1), Err(Error::NotFinite { .. })));
    }
    for short in [&[][..], &[0.1], &[0.1, 0.2, 0.3]] {
        let refused = Err(Error::WrongLength { what: "a point", expected: 2, found: short.len() });
        assert_eq!(posterior.hallucinate(fresh, short), refused);
        assert_eq!(posterior.observe(fresh, short, 1.0), refused);
        assert_eq!(posterior.predict(short).map(|_| ()), refused);
    }
    assert!(matches!(posterior.view().covariance(&Points::indices(2)), Err(Error::WrongLength { .. })));
    assert_eq!(posterior.settle(77, 1.0), Err(Error::NoSuchRow { id: 77 }));
    assert_eq!(posterior.retract(77), Err(Error::NoSuchRow { id: 77 }));
    assert_eq!(posterior.settle(0, 1.0), Err(Error::RowObserved { id: 0 }));
    assert_eq!(posterior.retract(0), Err(Error::RowObserved { id: 0 }));
    assert!(
        posterior.amend(7, 1.0).is_err() && posterior.amend(0, f64::NAN).is_err() && posterior.amend(2, 1.0).is_err()
    );
    assert_eq!(posterior.hallucinate(key(2, 5), &[0.1, 0.2]), Err(Error::RowExists { id: 2 }));
    assert_eq!(posterior.observe(key(0, 5), &[0.1, 0.2], 1.0), Err(Error::RowExists { id: 0 }));
    assert_eq!(state(posterior), before);
    for noise in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Prior::new(kernel(0, 1, 0.3), 0.0, noise), Err(Error::NotPositive { .. })));
    }
}

#[test]
fn an_index_outside_the_covariance_matrix_is_refused_and_changes_nothing() {
    let mut posterior = Posterior::new(prior(empirical(&mut rng(3), 4), 0.1), 1).unwrap();
    posterior.observe(key(0, 1), &[1.0], 1.0).unwrap();
    let before = state(&posterior);
    for value in [4.0, 0.5, -1.0] {
        let refused = Err(Error::NoSuchIndex { value, len: 4 });
        assert_eq!(posterior.hallucinate(key(1, 0), &[value]), refused);
        assert_eq!(posterior.observe(key(1, 0), &[value], 0.3), refused);
        assert_eq!(posterior.predict(&[value]).map(|_| ()), refused);
        let points = Points::from_flat(1, vec![0.0, value]).unwrap();
        assert_eq!(posterior.view().covariance(&points).map(|_| ()), refused);
    }
    assert_eq!(state(&posterior), before);
}
