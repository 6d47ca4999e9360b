//! The lazy argmax over a finite domain is that of brute force, whatever the domain's structure and what happened before.

use crate::common::run::{MEAN, Run, brute_force, budget, same};
use crate::common::{
    Dense, EPS, PLENTY, Row, Shape, config, domain, empirical, kernel, on_one_and_two_threads, rng, uniform,
};
use manyhands_gp::{Acquisition, ConfidenceBound, Domain, Error, Grid, Kernel, Points, Restricted, Surface, Variance};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// The argmax of a surface that follows a run is that of brute force.
fn check(run: &mut Run, acquisition: &dyn Acquisition, past: Option<usize>) -> Result<(), TestCaseError> {
    let view = past.map_or(run.posterior.view(), |observed| run.posterior.past_view(observed));
    let found = run.surface.argmax(view, acquisition);
    let expected = brute_force(&run.restricted, view, acquisition, &run.excluded);
    let what = acquisition.as_provable();
    prop_assert!(same(found, expected), "{what:?}, {past:?}: {found:?}, brute force has {expected:?}");
    Ok(())
}

fn check_all(run: &mut Run, rng: &mut impl Rng) -> Result<(), TestCaseError> {
    let multiplier = [0.0, 0.3, 2.0, uniform(rng, 0.0, 20.0)][rng.random_range(0..4)];
    let (upper, lower) = (ConfidenceBound(multiplier), ConfidenceBound(-multiplier));
    check(run, &upper, None)?;
    check(run, &lower, None)?;
    check(run, &Variance, None)?;
    if rng.random_bool(0.2) {
        let observed = rng.random_range(0..=run.posterior.observed());
        check(run, &upper, Some(observed))?;
        check(run, &lower, Some(observed))?;
    }
    let mut cold = Surface::new(run.restricted.clone());
    (0..run.len()).for_each(|i| cold.set_excluded(i, run.excluded[i]));
    let warm = run.surface.argmax(run.posterior.view(), &upper);
    prop_assert_eq!(cold.argmax(run.posterior.view(), &upper), warm, "a cold surface");
    Ok(())
}

fn follow(rng: &mut impl Rng, mut run: Run, steps: usize) -> Result<(), TestCaseError> {
    for _ in 0..steps {
        (0..rng.random_range(1..5)).for_each(|_| run.step(rng));
        check_all(&mut run, rng)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(160))]

    #[test]
    fn the_argmax_is_that_of_brute_force(
        seed: u64, which in 0usize..6, shape in 0usize..9, steps in 1usize..10, exponent in -6i32..=0,
    ) {
        let rng = &mut rng(seed);
        let shape = Shape::all(shape);
        let lengthscale = uniform(rng, 0.05, 1.5);
        let domain = domain(rng, shape);
        let budget = budget(rng, 0);
        let whole = Run::new(kernel(which, shape.dimension(), lengthscale), domain, 10f64.powi(exponent), budget);
        follow(rng, whole, steps)?;
    }

    #[test]
    fn the_argmax_over_a_covariance_matrix_is_that_of_brute_force(seed: u64, len in 1usize..60, steps in 1usize..10) {
        let rng = &mut rng(seed);
        let (kernel, budget) = (empirical(rng, len), budget(rng, 0));
        let whole = Run::new(kernel, Domain::Points(Points::indices(len)), 1e-2, budget);
        follow(rng, whole, steps)?;
    }

    /// A grid's mirror images tie, and next to repeats little noise amplifies rounding: what bounds must survive.
    #[test]
    fn ties_and_tiny_noise_do_not_fool_the_bounds(
        seed: u64, which in 0usize..6, scattered: bool, reach in 0usize..5, steps in 1usize..10, exponent in -12i32..=-6,
    ) {
        let rng = &mut rng(seed);
        let grid = Grid::even(&[(-1.0, 1.0, 9), (-1.0, 1.0, 7)]).unwrap();
        let domain = if scattered {
            Domain::Points(Points::from_rows(&(0..63).map(|i| grid.point(i)).collect::<Vec<_>>()).unwrap())
        } else {
            Domain::Grid(grid)
        };
        let budget = budget(rng, 0);
        let mut whole = Run::new(kernel(which, 2, 1.0), domain, 10f64.powi(exponent), budget);
        for _ in 0..steps {
            for _ in 0..rng.random_range(1..5) {
                // In mirrored pairs, so that the surface stays symmetric and its peaks come in twos.
                // Few columns from the middle: what lies outside is extrapolated, with large weights.
                let site = rng.random_range(4 - reach..=4) * 7 + rng.random_range(0..7);
                let mirrored = (8 - site / 7) * 7 + site % 7;
                whole.hallucinate(site);
                whole.hallucinate(mirrored);
            }
            while whole.pending.len() > 3 {
                let id = whole.pending.remove(rng.random_range(0..whole.pending.len()));
                whole.posterior.settle(id, MEAN).unwrap();
            }
            check_all(&mut whole, rng)?;
        }
    }

    #[test]
    fn a_cold_start_with_many_rows_is_that_of_brute_force(seed: u64, which in 0usize..6, rows in 49usize..120) {
        let rng = &mut rng(seed);
        let domain = domain(rng, Shape::Scattered(2));
        let mut whole = Run::new(kernel(which, 2, 0.4), domain, 1e-3, PLENTY);
        for _ in 0..rows {
            let (site, value) = (rng.random_range(0..whole.len()), uniform(rng, -1.0, 1.0));
            if rng.random_bool(0.9) { whole.observe(site, value) } else { whole.hallucinate(site) }
        }
        check_all(&mut whole, rng)?;
        for id in std::mem::take(&mut whole.pending) {
            whole.posterior.retract(id).unwrap();
            check_all(&mut whole, rng)?;
        }
    }

    #[test]
    fn means_equal_the_dense_sum_and_moments_equal_predict(
        seed: u64, which in 0usize..6, shape in 0usize..9, rows in 0usize..25, exponent in -4i32..=0,
    ) {
        let rng = &mut rng(seed);
        let shape = Shape::all(shape);
        let noise = 10f64.powi(exponent);
        let domain = domain(rng, shape);
        let mut whole = Run::new(kernel(which, shape.dimension(), 0.3), domain, noise, PLENTY);
        let mut dense = Dense { kernel: whole.restricted.kernel().clone(), mean: MEAN, rows: vec![] };
        for _ in 0..rows {
            let (site, value) = (rng.random_range(0..whole.len()), uniform(rng, -2.0, 2.0));
            whole.observe(site, value);
            dense.rows.push(Row { point: whole.restricted.domain().point(site), noise, value: Some(value) });
        }
        whole.hallucinate(0);
        let view = whole.posterior.view();
        let means = whole.surface.means(view).to_vec();
        let weights: f64 = view.weights().iter().map(|w| w.abs()).sum();
        for (i, mean) in means.iter().enumerate() {
            let point = whole.restricted.domain().point(i);
            let (exact, there) = (whole.surface.moments(view, i), whole.posterior.predict(&point).unwrap());
            prop_assert_eq!(exact, (there.mean, there.sd), "the same column, the same bits");
            if i % 7 == 0 {
                let expected = dense.mean_at(&point);
                // A transform spreads rounding of the largest weights over the grid: 36 eps log2 N sqrt N each.
                let size = weights * whole.restricted.largest_variance();
                let product = 36.0 * EPS * 14.0 * (8.0 * means.len() as f64).sqrt() * size;
                crate::common::Number { tolerance: expected.tolerance + product, ..expected }.check(*mean, "mean");
            }
        }
    }
}

/// A coordinate far from the origin is rounded to eps times itself, which an FFT over ideal steps does not see.
#[test]
fn a_grid_far_from_the_origin_gives_the_choice_of_brute_force() {
    for offset in [0.0, 1e3, 1e6] {
        for (which, lengthscale) in [(1, 0.02), (3, 0.02), (1, 0.3), (0, 0.02)] {
            let rng = &mut rng(11);
            let grid = Grid::even(&[(offset, offset + 1.0, 101)]).unwrap();
            let mut whole = Run::new(kernel(which, 1, lengthscale), Domain::Grid(grid), 1e-4, PLENTY);
            for _ in 0..20 {
                // Equal values at mirrored sites: the ties that a wrong mean would break.
                let (site, value) = (rng.random_range(0..101), uniform(rng, -1.0, 1.0));
                whole.observe(site, value);
                whole.observe(100 - site, value);
                for acquisition in [0.0, 0.5, -0.5].map(ConfidenceBound) {
                    let view = whole.posterior.view();
                    let found = whole.surface.argmax(view, &acquisition);
                    let expected = brute_force(&whole.restricted, view, &acquisition, &whole.excluded);
                    assert!(same(found, expected), "{offset} {which}: {found:?}, brute force has {expected:?}");
                }
            }
        }
    }
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let grids = [Grid::even(&[(0.0, 1.0, 150), (0.0, 1.0, 140)]).unwrap(), Grid::even(&[(0.0, 1.0, 20_000)]).unwrap()];
    let domains: Vec<Domain> = {
        let rng = &mut rng(2);
        let flat = (0..40_000).map(|_| uniform(rng, 0.0, 1.0)).collect();
        let scattered = Domain::Points(Points::from_flat(2, flat).unwrap());
        grids.into_iter().map(Domain::Grid).chain([scattered]).collect()
    };
    for domain in domains {
        for which in [0, 3] {
            let choices = on_one_and_two_threads(|| {
                let rng = &mut rng(7);
                let mut whole = Run::new(kernel(which, domain.dimension(), 0.2), domain.clone(), 1e-3, 1 << 22);
                (0..60).for_each(|_| whole.observe(rng.random_range(0..whole.len()), uniform(rng, -1.0, 1.0)));
                let mut bits = Vec::new();
                for _ in 0..6 {
                    let choice = whole.surface.argmax(whole.posterior.view(), &ConfidenceBound(2.0)).unwrap();
                    bits.push((choice.index, choice.mean.to_bits(), choice.sd.to_bits(), choice.score.to_bits()));
                    whole.hallucinate(choice.index);
                }
                let means: Vec<u64> = whole.surface.means(whole.posterior.view()).iter().map(|m| m.to_bits()).collect();
                (bits, means)
            });
            assert_eq!(choices[0], choices[1]);
        }
    }
}

#[test]
fn a_surface_with_every_candidate_left_out_chooses_none() {
    let mut whole = Run::new(kernel(0, 1, 0.3), Domain::Points(Points::indices(3)), 0.1, PLENTY);
    (0..3).for_each(|i| whole.surface.set_excluded(i, true));
    assert_eq!(whole.surface.argmax(whole.posterior.view(), &Variance), None);
    whole.surface.set_excluded(1, false);
    assert_eq!(whole.surface.argmax(whole.posterior.view(), &ConfidenceBound(1.0)).map(|c| c.index), Some(1));
}

#[test]
fn domains_that_do_not_fit_their_kernel_are_refused() {
    let matrix = empirical(&mut rng(1), 3);
    let refused = |kernel: &Kernel, domain| Restricted::new(kernel.clone(), domain, PLENTY).map(|_| ()).unwrap_err();
    let none = Domain::Points(Points::new(1).unwrap());
    assert_eq!(refused(&matrix, none), Error::Empty { what: "the domain" });
    assert_eq!(refused(&matrix, Domain::Points(Points::indices(4))), Error::NoSuchIndex { value: 3.0, len: 3 });
    let between = Domain::Grid(Grid::new(vec![vec![0.0, 0.5]]).unwrap());
    assert_eq!(refused(&matrix, between), Error::NoSuchIndex { value: 0.5, len: 3 });
    let three = Kernel::squared_exponential(&[0.1, 0.2, 0.3]).unwrap();
    assert!(matches!(refused(&three, Domain::Points(Points::indices(4))), Error::WrongLength { .. }));
}

/// Bounds made in one order of the rows meet exact values made in another; where points are extrapolated from a tight
/// cluster under little noise, the two differ by much more than the rounding of a variance. Mirrored rows keep the two
/// ends of the domain tied, so that the difference decides.
#[test]
fn settling_out_of_order_under_tiny_noise_gives_the_choice_of_brute_force() {
    for seed in 0..100 {
        let rng = &mut rng(seed);
        let noise = 10f64.powi(-rng.random_range(6..13));
        let side: Vec<f64> = (0..40).map(|i| 0.02 * (i as f64 + 0.5)).collect();
        let flat: Vec<f64> = side.iter().rev().map(|x| -x).chain(side.iter().copied()).collect();
        let domain = match seed % 4 {
            0 => Domain::Grid(Grid::new(vec![flat]).unwrap()),
            _ => Domain::Points(Points::from_flat(1, flat).unwrap()),
        };
        let budget = if seed % 8 == 0 { 80 * 8 * 80 } else { PLENTY };
        let mut whole = Run::new(kernel(0, 1, 0.5), domain, noise, budget);
        for _ in 0..6 {
            for _ in 0..3 {
                let offset = rng.random_range(0..12);
                whole.hallucinate(40 + offset);
                whole.hallucinate(39 - offset);
            }
            let (upper, lower) = (ConfidenceBound(3.0), ConfidenceBound(-1.0));
            let acquisitions: [&dyn Acquisition; 5] = [&Variance, &upper, &lower, &Variance, &upper];
            for acquisition in acquisitions {
                let view = whole.posterior.view();
                let found = whole.surface.argmax(view, acquisition);
                let expected = brute_force(&whole.restricted, view, acquisition, &whole.excluded);
                assert!(same(found, expected), "{seed}, noise {noise:e}: {found:?}, brute force has {expected:?}");
                let id = whole.pending.remove(rng.random_range(0..whole.pending.len()));
                whole.posterior.settle(id, MEAN).unwrap();
            }
        }
    }
}
