//! Searches over a finite domain with any acquisition, in a region, and the moments and covariances that rules build on:
//! all against brute force.

use crate::common::acquisitions::{
    Counted, Curved, ExpectedImprovement, ProbabilityOfImprovement, Steps, Unbounded, Undefined,
};
use crate::common::run::{Run, best_of, brute_force, budget, same};
use crate::common::{Dense, PLENTY, Row, Shape, config, domain, empirical, kernel, rng, uniform};
use manyhands_gp::{
    Acquisition, Among, ConfidenceBound, Domain, Error, Grid, LevelSet, Marginal, Maximizer, Points, StandardDeviation,
    Surface, Variance, View,
};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// A run on a domain of any shape, or on a covariance matrix.
fn random_run(rng: &mut impl Rng, which: usize, shape: usize, exponent: i32) -> Run {
    let budget = budget(rng, 0);
    if shape == 9 {
        let len = rng.random_range(1..60);
        return Run::new(empirical(rng, len), Domain::Points(Points::indices(len)), 10f64.powi(exponent), budget);
    }
    let shape = Shape::all(shape);
    let (lengthscale, domain) = (uniform(rng, 0.05, 1.5), domain(rng, shape));
    Run::new(kernel(which, shape.dimension(), lengthscale), domain, 10f64.powi(exponent), budget)
}

/// Mean and sds of every candidate, by the posterior's own prediction.
fn predictions(run: &Run) -> Vec<Marginal> {
    (0..run.len()).map(|i| run.posterior.predict(&run.restricted.domain().point(i)).unwrap()).collect()
}

fn bits(marginal: Marginal) -> [u64; 3] {
    [marginal.mean, marginal.sd, marginal.sd_observed].map(f64::to_bits)
}

fn within_by_brute_force(run: &Run, acquisition: &dyn Acquisition, region: &LevelSet<'_>) -> Option<Maximizer> {
    let inside = |at: &Marginal| region.acquisition.value(at.mean, at.sd_observed * at.sd_observed) >= region.threshold;
    let candidates = predictions(run).into_iter().enumerate();
    let eligible = candidates.filter(|(index, at)| !run.excluded[*index] && inside(at));
    best_of(eligible.map(|(index, at)| (index, (at.mean, at.sd))), acquisition)
}

/// The surface of a run with nothing excluded.
fn everyone(run: &Run) -> Surface {
    let mut surface = run.surface.clone();
    (0..run.len()).for_each(|index| surface.set_excluded(index, false));
    surface
}

fn argmax(run: &mut Run, acquisition: &dyn Acquisition) -> Option<Maximizer> {
    run.surface.argmax(run.posterior.view(), acquisition)
}

proptest! {
    #![proptest_config(config(160))]

    #[test]
    fn the_argmax_of_any_acquisition_is_that_of_brute_force(
        seed: u64, which in 0usize..6, shape in 0usize..10, steps in 1usize..8, exponent in -6i32..=0,
    ) {
        let rng = &mut rng(seed);
        let mut run = random_run(rng, which, shape, exponent);
        for _ in 0..steps {
            (0..rng.random_range(1..5)).for_each(|_| run.step(rng));
            // From below all means to above all: the share of candidates above the target goes from all to none.
            let target = uniform(rng, -2.5, 2.5);
            let (weight, power) = (uniform(rng, 0.0, 3.0), uniform(rng, 0.3, 3.0));
            let acquisitions: [&dyn Acquisition; 7] = [
                &ExpectedImprovement { target },
                &ProbabilityOfImprovement { target },
                &Unbounded(ProbabilityOfImprovement { target }),
                &Curved { weight, power },
                &Steps,
                &Undefined { below: target },
                &StandardDeviation,
            ];
            for (i, acquisition) in acquisitions.into_iter().enumerate() {
                let found = argmax(&mut run, acquisition);
                let expected = brute_force(&run.restricted, run.posterior.view(), acquisition, &run.excluded);
                prop_assert!(same(found, expected), "{i}, {target}: {found:?}, brute force has {expected:?}");
            }
        }
    }

    #[test]
    fn the_argmax_within_a_region_is_that_of_brute_force(
        seed: u64, which in 0usize..6, shape in 0usize..10, steps in 1usize..8, exponent in -6i32..=0,
    ) {
        let rng = &mut rng(seed);
        let mut run = random_run(rng, which, shape, exponent);
        for _ in 0..steps {
            (0..rng.random_range(1..5)).for_each(|_| run.step(rng));
            // y*, the highest lower end of the band given observed rows, by a search between the others.
            let multiplier = uniform(rng, 0.0, 3.0);
            let lowest = ConfidenceBound(-multiplier);
            let found = everyone(&run).argmax(run.posterior.view().observed_only(), &lowest);
            let observed = predictions(&run).into_iter().enumerate();
            let expected = best_of(observed.map(|(index, at)| (index, (at.mean, at.sd_observed))), &lowest);
            prop_assert!(same(found, expected), "{found:?}, brute force has {expected:?}");
            let threshold = found.map_or(0.0, |best| best.score) + [0.0, 0.0, 0.5, -10.0, 10.0][rng.random_range(0..5)];
            let (twice, improvement) = (ConfidenceBound(2.0 * multiplier), ProbabilityOfImprovement { target: 0.5 });
            let regions = [
                LevelSet { acquisition: &twice, threshold },
                LevelSet { acquisition: &lowest, threshold },
                LevelSet { acquisition: &improvement, threshold: -1.0 },
            ];
            let acquisitions: [&dyn Acquisition; 4] = [&StandardDeviation, &Variance, &twice, &improvement];
            for (r, region) in regions.iter().enumerate() {
                for (i, acquisition) in acquisitions.into_iter().enumerate() {
                    let found = run.surface.argmax_within(run.posterior.view(), acquisition, region);
                    let expected = within_by_brute_force(&run, acquisition, region);
                    prop_assert!(same(found, expected), "{r} {i}: {found:?}, brute force has {expected:?}");
                }
            }
            let found = everyone(&run).argmax(run.posterior.view(), &twice);
            let expected = brute_force(&run.restricted, run.posterior.view(), &twice, &vec![false; run.len()]);
            prop_assert!(same(found, expected), "over all: {found:?}, brute force has {expected:?}");
            let found = argmax(&mut run, &twice);
            let expected = brute_force(&run.restricted, run.posterior.view(), &twice, &run.excluded);
            prop_assert!(same(found, expected), "after a region: {found:?}, brute force has {expected:?}");
        }
    }

    #[test]
    fn moments_of_all_that_can_matter_are_those_of_predictions(
        seed: u64, which in 0usize..6, shape in 0usize..10, steps in 1usize..8, exponent in -6i32..=0,
    ) {
        let rng = &mut rng(seed);
        let mut run = random_run(rng, which, shape, exponent);
        for _ in 0..steps {
            (0..rng.random_range(1..5)).for_each(|_| run.step(rng));
            let (least, width) = (uniform(rng, -2.0, 3.0), uniform(rng, 0.0, 10.0));
            let matters = |mean: f64, variance: f64| mean + width * variance.sqrt() >= least;
            let expected = predictions(&run);
            let view = run.posterior.view();
            for (given, among) in [(view, Among::All), (view, Among::Eligible), (view.observed_only(), Among::All)] {
                let found = run.surface.moments_where(given, among, matters);
                prop_assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0), "in the order of indices");
                for (index, at) in &found {
                    let there = expected[*index];
                    let sd = if given.keys().len() == view.keys().len() { there.sd } else { there.sd_observed };
                    prop_assert_eq!(bits(*at), bits(Marginal { sd, ..there }));
                    prop_assert!(among == Among::All || !run.excluded[*index]);
                }
                let sd = |at: &Marginal| if given.keys().len() == view.keys().len() { at.sd } else { at.sd_observed };
                for (index, at) in expected.iter().enumerate() {
                    let wanted = matters(at.mean, sd(at) * sd(at)) && (among == Among::All || !run.excluded[index]);
                    prop_assert!(!wanted || found.iter().any(|(i, _)| *i == index), "{} can matter", index);
                }
            }
        }
    }

    #[test]
    fn the_covariance_of_candidates_is_that_of_a_dense_solve(
        seed: u64, which in 0usize..6, shape in 0usize..9, rows in 0usize..20, exponent in -4i32..=0,
    ) {
        let rng = &mut rng(seed);
        let mut run = random_run(rng, which, shape, exponent);
        let noise = 10f64.powi(exponent);
        let mut dense = Dense { kernel: run.restricted.kernel().clone(), mean: crate::common::run::MEAN, rows: vec![] };
        for row in 0..rows {
            let (site, value) = (rng.random_range(0..run.len()), uniform(rng, -2.0, 2.0));
            let value = (row < rows / 2).then_some(value);
            match value {
                Some(value) => run.observe(site, value),
                None => run.hallucinate(site),
            }
            dense.rows.push(Row { point: run.restricted.domain().point(site), noise, value });
        }
        let candidates: Vec<usize> = (0..rng.random_range(0..6)).map(|_| rng.random_range(0..run.len())).collect();
        for (view, pending) in [(run.posterior.view(), true), (run.posterior.view().observed_only(), false)] {
            let covariance = run.surface.covariance(view, &candidates).unwrap();
            check_covariance(&run, &dense, &candidates, &covariance, pending);
        }
        let beyond = run.surface.covariance(run.posterior.view(), &[0, run.len()]).map(|_| ());
        prop_assert_eq!(beyond, Err(Error::NoSuchIndex { value: run.len() as f64, len: run.len() }));
    }
}

fn check_covariance(run: &Run, dense: &Dense, candidates: &[usize], covariance: &[f64], pending: bool) {
    let points = run.restricted.domain().points_at(candidates);
    assert_eq!(covariance.len(), points.len() * points.len());
    for (i, x) in points.iter().enumerate() {
        for (j, y) in points.iter().enumerate() {
            let found = covariance[i * points.len() + j];
            dense.covariance_of(x, y, pending).check(found, "covariance");
            assert_eq!(found.to_bits(), covariance[j * points.len() + i].to_bits(), "symmetric");
        }
        assert!(covariance[i * points.len() + i] >= 0.0);
    }
}

/// A grid of 40,000 candidates with 60 observed and 4 pending rows.
fn large(which: usize, scattered: bool) -> Run {
    let rng = &mut rng(3);
    let grid = Grid::even(&[(0.0, 1.0, 200), (0.0, 1.0, 200)]).unwrap();
    let domain = match scattered {
        true => Domain::Points(Points::from_rows(&(0..4000).map(|i| grid.point(i * 10)).collect::<Vec<_>>()).unwrap()),
        false => Domain::Grid(grid),
    };
    let mut run = Run::new(kernel(which, 2, 0.3), domain, 1e-2, PLENTY);
    for _ in 0..60 {
        let site = rng.random_range(0..run.len());
        let x = run.restricted.domain().point(site);
        run.observe(site, (5.0 * x[0]).sin() + x[1]);
    }
    (0..4).for_each(|_| run.hallucinate(rng.random_range(0..run.len())));
    run
}

#[test]
fn few_candidates_of_a_large_grid_are_evaluated_exactly() {
    for which in [0, 3] {
        let mut run = large(which, false);
        let improvement = Counted::new(ExpectedImprovement { target: 1.2 });
        let found = argmax(&mut run, &improvement).unwrap();
        assert!(improvement.count() < 100, "{}", improvement.count());
        let probability = Counted::new(ProbabilityOfImprovement { target: 1.2 });
        argmax(&mut run, &probability).unwrap();
        assert!(probability.count() < 100, "{}", probability.count());

        let threshold = run.surface.argmax(run.posterior.view().observed_only(), &ConfidenceBound(-2.0)).unwrap().score;
        let upper = Counted::new(ConfidenceBound(4.0));
        let region = LevelSet { acquisition: &upper, threshold };
        let widest = run.surface.argmax_within(run.posterior.view(), &StandardDeviation, &region).unwrap();
        assert!(upper.count() < 100, "{}", upper.count());
        assert!(same(Some(widest), within_by_brute_force(&run, &StandardDeviation, &region)));
        assert_ne!(widest.index, found.index);

        let matters = |mean: f64, variance: f64| (2.0 - mean) / variance.sqrt() < 4.0;
        let moments = run.surface.moments_where(run.posterior.view(), Among::All, matters);
        assert!((1..run.len() / 2).contains(&moments.len()), "{}", moments.len());
    }
}

/// Bounds of the variance given observed rows fall as candidates are evaluated, wherever pending rows come and go.
#[test]
fn few_candidates_of_a_scattered_region_are_evaluated_exactly() {
    let mut run = large(3, true);
    let upper = Counted::new(ConfidenceBound(1.0));
    let region = LevelSet { acquisition: &upper, threshold: 1.2 };
    for _ in 0..6 {
        let found = run.surface.argmax_within(run.posterior.view(), &StandardDeviation, &region).unwrap();
        let expected = within_by_brute_force(&run, &StandardDeviation, &region);
        assert!(same(Some(found), expected), "{found:?}, brute force has {expected:?}");
        run.hallucinate(found.index);
    }
    // Brute force evaluates all of them each time.
    let evaluated = upper.count() - 6 * run.len();
    assert!(evaluated < 600, "{evaluated}");
}

#[test]
fn a_region_without_an_eligible_candidate_gives_none() {
    let mut run = large(0, true);
    let upper = ConfidenceBound(2.0);
    let all =
        run.surface.argmax_within(run.posterior.view(), &Variance, &LevelSet { acquisition: &upper, threshold: -9.0 });
    assert!(same(all, argmax(&mut run, &Variance)));
    let nowhere = LevelSet { acquisition: &upper, threshold: 1e3 };
    assert_eq!(run.surface.argmax_within(run.posterior.view(), &Variance, &nowhere), None);
    let highest = argmax(&mut run, &upper).unwrap();
    let top = LevelSet { acquisition: &ConfidenceBound(2.0), threshold: highest.score };
    run.surface.set_excluded(highest.index, true);
    // The region is that of observed rows, where the pending ones lift a few candidates to the highest's level.
    let found = run.surface.argmax_within(run.posterior.view(), &Variance, &top);
    assert!(found.is_none_or(|found| found.index != highest.index));
}

#[test]
fn candidates_of_value_minus_infinity_are_chosen_only_if_all_are() {
    let points = Points::from_flat(1, vec![0.0, 0.4, 0.8]).unwrap();
    let mut run = Run::new(kernel(0, 1, 0.1), Domain::Points(points), 0.1, PLENTY);
    run.observe(2, 1.0);
    let best = argmax(&mut run, &Undefined { below: 0.0 }).unwrap();
    assert_eq!(best.index, 2, "the only one with a mean above 0");
    run.surface.set_excluded(2, true);
    let tied = argmax(&mut run, &Undefined { below: 0.0 }).unwrap();
    assert_eq!((tied.index, tied.score), (0, f64::NEG_INFINITY), "the first of equals");
}

/// The multiplier's sign is all that tells the ends of a band apart, and the sd has the maximum of the variance.
#[test]
fn built_in_acquisitions_have_the_values_that_their_names_say() {
    let (mean, variance) = (0.3, 0.49);
    let sd = f64::sqrt(variance);
    for multiplier in [0.0, 1.7, 1e-9] {
        let (upper, lower) = (ConfidenceBound(multiplier), ConfidenceBound(-multiplier));
        assert_eq!(upper.value(mean, variance).to_bits(), (mean + multiplier * sd).to_bits());
        assert_eq!(lower.value(mean, variance).to_bits(), (mean - multiplier * sd).to_bits());
        assert_eq!(upper.bound(mean, 0.1, variance), upper.value(mean, variance));
        assert_eq!(lower.bound(mean, 0.1, variance), lower.value(mean, 0.1));
    }
    assert_eq!((Variance.value(mean, variance), StandardDeviation.value(mean, variance)), (variance, sd));
    let mut run = large(0, false);
    let (by_variance, by_sd) = (argmax(&mut run, &Variance).unwrap(), argmax(&mut run, &StandardDeviation).unwrap());
    assert_eq!((by_variance.index, by_variance.sd), (by_sd.index, by_sd.score));
}

/// A view given observed rows alone is the posterior that has seen nothing else.
#[test]
fn an_observed_only_view_forgets_the_pending_rows() {
    let run = large(3, true);
    let view: View<'_> = run.posterior.view().observed_only();
    assert_eq!((view.keys().len(), view.observed()), (60, 60));
    let mut surface = Surface::new(run.restricted.clone());
    let there = run.posterior.predict(&run.restricted.domain().point(7)).unwrap();
    assert_eq!(surface.moments(view, 7), (there.mean, there.sd_observed));
}
