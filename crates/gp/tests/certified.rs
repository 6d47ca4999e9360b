//! What certified maximization promises, against brute force over dense grids.

use crate::common::{config, key, on_one_and_two_threads, point, rng, uniform};
use manyhands_gp::{Budget, Certified, Error, FeasibleSet, Kernel, Posterior, Prior, Provable, Region, maximize};
use proptest::prelude::*;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

const SCORES: [Provable; 4] = [
    Provable::ConfidenceBound(2.0),
    Provable::ConfidenceBound(5.0),
    Provable::ConfidenceBound(-2.0),
    Provable::Variance,
];

fn kernel(which: usize, dimension: usize, lengthscale: f64) -> Kernel {
    let each: Vec<f64> = (0..dimension).map(|j| lengthscale * (1.0 + 0.5 * j as f64)).collect();
    match which % 7 {
        0 => Kernel::squared_exponential(&each),
        1 => Kernel::matern(0.5, &[lengthscale]),
        2 => Kernel::matern(1.5, &each),
        3 => Kernel::matern(2.5, &[lengthscale]),
        4 => Kernel::matern(1.2, &each),
        5 => Kernel::matern(3.1, &each),
        _ => Kernel::linear(&each),
    }
    .unwrap()
}

/// Values of a function drawn from the prior, observed with its noise at random points of the unit cube.
fn typical(kernel: Kernel, dimension: usize, noise: f64, observations: usize, seed: u64) -> Posterior {
    let rng = &mut rng(seed);
    let mut posterior = Posterior::new(Prior::new(kernel, 0.0, noise).unwrap(), dimension).unwrap();
    for id in 0..observations {
        let x = point(rng, dimension);
        let there = posterior.predict(&x).unwrap();
        let normal: f64 = StandardNormal.sample(rng);
        posterior.observe(key(id, 0), &x, there.mean + (there.sd * there.sd + noise).sqrt() * normal).unwrap();
    }
    posterior
}

fn cube(dimension: usize) -> Region {
    Region::new(&vec![0.0; dimension], &vec![1.0; dimension]).unwrap()
}

fn budget(nodes: usize, tolerance: f64) -> Budget {
    Budget { nodes, tolerance }
}

fn score_at(posterior: &Posterior, score: Provable, x: &[f64]) -> f64 {
    let there = posterior.predict(x).unwrap();
    match score {
        Provable::ConfidenceBound(multiplier) => there.mean + multiplier * there.sd,
        Provable::Variance => there.sd * there.sd,
    }
}

/// The points of a grid over the unit cube.
fn grid(dimension: usize) -> impl Iterator<Item = Vec<f64>> {
    let side = [401usize, 41, 15][dimension - 1];
    let coordinate = move |i: usize| i as f64 / (side - 1) as f64;
    (0..side.pow(dimension as u32))
        .map(move |index| (0..dimension).map(|j| coordinate(index / side.pow(j as u32) % side)).collect())
}

fn highest(posterior: &Posterior, score: Provable, points: impl Iterator<Item = Vec<f64>>) -> f64 {
    points.map(|x| score_at(posterior, score, &x)).fold(f64::NEG_INFINITY, f64::max)
}

/// The point's numbers are the posterior's own, and the bound is above them.
fn check_point(found: &Certified, posterior: &Posterior, score: Provable) {
    let there = posterior.predict(&found.point).unwrap();
    assert_eq!((found.mean, found.sd), (there.mean, there.sd));
    let expected = score_at(posterior, score, &found.point);
    assert!((found.score - expected).abs() <= 1e-15 * (1.0 + expected.abs()));
    assert!(found.gap() >= 0.0 && found.gap().is_finite());
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn no_point_of_a_dense_grid_beats_the_upper_bound(
        seed in any::<u64>(), which in 0usize..7, dimension in 1usize..4, rows in 0usize..12, lengthscale in 0.1f64..1.0
    ) {
        let rng = &mut rng(seed);
        let noise = 10f64.powf(uniform(rng, -5.0, -0.5));
        let prior = Prior::new(kernel(which, dimension, lengthscale), -0.3, noise).unwrap();
        let mut posterior = Posterior::new(prior, dimension).unwrap();
        for id in 0..rows {
            // Repeats among them, and every third row pending.
            let x = if id % 4 == 3 { posterior.points().get(0).to_vec() } else { point(rng, dimension) };
            match id % 3 {
                2 => posterior.hallucinate(key(id, 0), &x).unwrap(),
                _ => posterior.observe(key(id, 0), &x, uniform(rng, -2.0, 2.0)).unwrap(),
            }
        }
        for score in SCORES {
            let truth = highest(&posterior, score, grid(dimension));
            for nodes in [0, 1, 7, 150] {
                let found = maximize(posterior.view(), score, &cube(dimension), budget(nodes, 1e-6), &[]).unwrap();
                check_point(&found, &posterior, score);
                prop_assert!(truth <= found.upper, "{score:?}, {nodes} nodes: {truth} above {}", found.upper);
                prop_assert!(found.nodes <= nodes);
            }
        }
    }

    #[test]
    fn no_option_beats_the_upper_bound(seed in any::<u64>(), which in 0usize..7, kinds in 1usize..5) {
        // A number in [0, 1], a kind coded one-hot, and a level: one of three numbers.
        let rng = &mut rng(seed);
        let dimension = 2 + kinds;
        let one_hot: Vec<Vec<f64>> =
            (0..kinds).map(|i| (0..kinds).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
        let levels = [vec![0.0], vec![0.3], vec![1.0]];
        let region = cube(dimension)
            .with_options(1..1 + kinds, one_hot.clone())
            .unwrap()
            .with_options(1 + kinds..dimension, levels.to_vec())
            .unwrap();
        let all: Vec<Vec<f64>> = (0..=100)
            .flat_map(|i| one_hot.iter().flat_map(move |kind| levels_of(i, kind)))
            .collect();
        let prior = Prior::new(kernel(which, dimension, 0.5), 0.0, 0.01).unwrap();
        let mut posterior = Posterior::new(prior, dimension).unwrap();
        for id in 0..10 {
            let x = &all[rng.random_range(0..all.len())];
            posterior.observe(key(id, 0), x, uniform(rng, -1.0, 1.0)).unwrap();
        }
        for score in [Provable::ConfidenceBound(2.0), Provable::ConfidenceBound(-1.0)] {
            let truth = highest(&posterior, score, all.iter().cloned());
            for nodes in [0, 5, 300] {
                let found = maximize(posterior.view(), score, &region, budget(nodes, 1e-4), &[]).unwrap();
                check_point(&found, &posterior, score);
                prop_assert!(truth <= found.upper);
                prop_assert_eq!(region.nearest(&found.point).unwrap(), found.point);
            }
        }
    }
}

/// The points of the unit cube with a'x <= b, none of whose weights is negative.
struct Halfspace {
    cube: Region,
    weights: Vec<f64>,
    bound: f64,
}

impl Halfspace {
    fn sum(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.weights).map(|(x, w)| x * w).sum()
    }
}

impl FeasibleSet for Halfspace {
    fn region(&self) -> &Region {
        &self.cube
    }

    fn nearest_feasible(&self, point: Vec<f64>) -> Vec<f64> {
        // Towards the origin, a rounding further than needed.
        let share = (self.bound / self.sum(&point).max(1e-9)).min(1.0) * (1.0 - 4.0 * f64::EPSILON);
        if self.sum(&point) <= self.bound { point } else { point.iter().map(|x| share * x).collect() }
    }

    fn excludes(&self, low: &[f64], _: &[f64]) -> bool {
        self.sum(low) > self.bound
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn no_feasible_point_of_a_dense_grid_beats_the_upper_bound_over_feasible_cells(
        seed in any::<u64>(), which in 0usize..7, dimension in 1usize..4, bound in 0.2f64..1.5
    ) {
        let rng = &mut rng(seed);
        let weights = (0..dimension).map(|_| uniform(rng, 0.0, 2.0)).collect();
        let halfspace = Halfspace { cube: cube(dimension), weights, bound };
        let posterior = typical(kernel(which, dimension, 0.4), dimension, 0.01, 10, seed);
        for score in SCORES {
            let feasible = grid(dimension).filter(|x| halfspace.sum(x) <= bound);
            let truth = highest(&posterior, score, feasible);
            for nodes in [0, 1, 7, 150] {
                let found = maximize(posterior.view(), score, &halfspace, budget(nodes, 1e-6), &[]).unwrap();
                check_point(&found, &posterior, score);
                prop_assert!(halfspace.sum(&found.point) <= bound);
                prop_assert!(truth <= found.upper, "{score:?}, {nodes} nodes: {truth} above {}", found.upper);
            }
        }
    }
}

/// The oracle is the region without the condition, whose maximum is elsewhere.
#[test]
fn cells_without_a_feasible_point_do_not_widen_the_gap() {
    for seed in 0..5 {
        let posterior = typical(Kernel::matern(2.5, &[0.3]).unwrap(), 2, 0.01, 30, seed);
        let score = Provable::ConfidenceBound(2.0);
        let everywhere = maximize(posterior.view(), score, &cube(2), budget(2000, 1e-3), &[]).unwrap();
        let bound = 0.9 * (everywhere.point[0] + everywhere.point[1]);
        let halfspace = Halfspace { cube: cube(2), weights: vec![1.0; 2], bound };
        let found = maximize(posterior.view(), score, &halfspace, budget(2000, 1e-3), &[]).unwrap();
        assert!(found.gap() <= 1e-3 && found.score < everywhere.score, "seed {seed}: {found:?}, not {everywhere:?}");
    }
}

fn levels_of(step: usize, kind: &[f64]) -> impl Iterator<Item = Vec<f64>> {
    let kind = kind.to_vec();
    [0.0, 0.3, 1.0].into_iter().map(move |level| {
        let first = std::iter::once(step as f64 / 100.0);
        first.chain(kind.iter().copied()).chain(std::iter::once(level)).collect()
    })
}

/// Closes the gap to a thousandth of the largest score with fifty observations, for two noises, two multipliers and five
/// functions.
fn close_within(nodes: usize, kernel: &Kernel, dimension: usize) {
    let region = cube(dimension);
    for (noise, multiplier, seed) in [0.025, 1e-4]
        .into_iter()
        .flat_map(|noise| [2.0, 5.0].into_iter().flat_map(move |m| (0..5).map(move |s| (noise, m, s))))
    {
        let posterior = typical(kernel.clone(), dimension, noise, 50, seed);
        let score = Provable::ConfidenceBound(multiplier);
        let rough = maximize(posterior.view(), score, &region, budget(nodes, 0.1), &[]).unwrap();
        // The score found is below the largest one, so that this is the stricter tolerance.
        let tolerance = 1e-3 * rough.score;
        let found = maximize(posterior.view(), score, &region, budget(nodes, tolerance), &[]).unwrap();
        assert!(found.gap() <= tolerance, "{kernel:?}, noise {noise}, {score:?}, {seed}: gap {}", found.gap());
    }
}

#[test]
fn fifty_observations_in_the_plane_take_a_few_hundred_nodes() {
    for (kernel, limit) in [
        (Kernel::squared_exponential(&[0.2]), 300),
        (Kernel::squared_exponential(&[0.5]), 150),
        (Kernel::matern(2.5, &[0.2]), 900),
        (Kernel::matern(2.5, &[0.5]), 250),
        (Kernel::matern(1.5, &[0.2]), 3000),
    ] {
        close_within(limit, &kernel.unwrap(), 2);
    }
}

#[test]
fn one_dimension_takes_dozens_of_nodes_and_three_take_thousands() {
    close_within(50, &Kernel::squared_exponential(&[0.2]).unwrap(), 1);
    close_within(70, &Kernel::matern(2.5, &[0.2]).unwrap(), 1);
    close_within(1500, &Kernel::squared_exponential(&[0.3]).unwrap(), 3);
    close_within(4000, &Kernel::matern(2.5, &[0.3]).unwrap(), 3);
}

#[test]
fn more_nodes_never_widen_the_gap_and_six_dimensions_give_a_bound_at_any_time() {
    let posterior = typical(Kernel::matern(2.5, &[0.6]).unwrap(), 6, 0.01, 40, 3);
    let score = Provable::ConfidenceBound(3.0);
    let mut last = f64::INFINITY;
    for nodes in [0, 1, 10, 100, 400, 1600] {
        let found = maximize(posterior.view(), score, &cube(6), budget(nodes, 1e-3), &[]).unwrap();
        check_point(&found, &posterior, score);
        assert!(found.nodes <= nodes && found.upper <= last, "{nodes} nodes: {} after {last}", found.upper);
        last = found.upper;
    }
    let rng = &mut rng(9);
    assert!(highest(&posterior, score, (0..2000).map(|_| point(rng, 6))) <= last);
}

#[test]
fn without_observations_one_node_is_enough() {
    let posterior = typical(Kernel::matern(2.5, &[0.2]).unwrap(), 2, 0.01, 0, 0);
    let found = maximize(posterior.view(), Provable::ConfidenceBound(2.0), &cube(2), budget(1, 1e-9), &[]).unwrap();
    assert!(found.score == 2.0 && found.gap() <= 1e-9, "{found:?}");
}

#[test]
fn one_observation_is_closed_to_nine_digits() {
    for which in [0, 3, 5] {
        let mut posterior = Posterior::new(Prior::new(kernel(which, 2, 0.4), 0.0, 0.01).unwrap(), 2).unwrap();
        posterior.observe(key(0, 0), &[0.31, 0.47], 1.0).unwrap();
        // A lower band is highest where the one value is.
        let found =
            maximize(posterior.view(), Provable::ConfidenceBound(-0.5), &cube(2), budget(1000, 1e-9), &[]).unwrap();
        assert!(found.gap() <= 1e-9, "kernel {which}: {found:?}");
        assert!((found.point[0] - 0.31).hypot(found.point[1] - 0.47) < 1e-4, "kernel {which}: {found:?}");
        // An upper band is highest on an ellipse: every cell along it has to be looked at.
        let found =
            maximize(posterior.view(), Provable::ConfidenceBound(0.5), &cube(2), budget(5000, 1e-4), &[]).unwrap();
        assert!(found.gap() <= 1e-4, "kernel {which}: {found:?}");
    }
}

/// The allowances grow with n^2/lambda; the oracle is a dense grid.
#[test]
fn where_rounding_is_most_of_the_gap_the_search_ends_early_with_a_valid_bound() {
    let (score, limit) = (Provable::ConfidenceBound(20.0), 2000);
    for (noise, rows, is_vacuous) in [(1e-2, 300, false), (1e-10, 100, false), (1e-10, 300, true)] {
        let posterior = typical(Kernel::matern(2.5, &[0.3]).unwrap(), 2, noise, rows, 4);
        let best = highest(&posterior, score, grid(2));
        let found = maximize(posterior.view(), score, &cube(2), budget(limit, 1e-3 * best), &[]).unwrap();
        assert!(best <= found.upper, "{noise}, {rows}: {best} above {}", found.upper);
        assert_eq!(found.is_vacuous, is_vacuous, "{noise}, {rows}: {found:?}");
        assert!(found.nodes < limit, "{noise}, {rows}: {} nodes", found.nodes);
        // What is left at 100 rows is rounding alone: it is more than the tolerance, and more nodes were not asked for.
        assert_eq!(found.gap() <= 1e-3 * best, noise == 1e-2, "{noise}, {rows}: gap {}", found.gap());
    }
}

#[test]
fn a_finite_region_is_solved_to_rounding() {
    let posterior = typical(Kernel::matern(1.5, &[0.3]).unwrap(), 2, 0.01, 12, 5);
    let options: Vec<Vec<f64>> = grid(2).step_by(7).collect();
    // One of the options is there twice.
    let doubled: Vec<Vec<f64>> = options.iter().cloned().chain(options.first().cloned()).collect();
    let region = cube(2).with_options(0..2, doubled).unwrap();
    for score in SCORES {
        let truth = highest(&posterior, score, options.iter().cloned());
        let found = maximize(posterior.view(), score, &region, budget(4000, 0.0), &[]).unwrap();
        assert_eq!(found.score, truth, "{score:?}");
        assert!(found.gap() < 1e-9, "{score:?}: {found:?}");
    }
}

#[test]
fn a_start_is_moved_into_the_region_and_never_lost() {
    let posterior = typical(Kernel::squared_exponential(&[0.1]).unwrap(), 2, 0.01, 30, 6);
    let score = Provable::ConfidenceBound(2.0);
    let best = maximize(posterior.view(), score, &cube(2), budget(5000, 1e-6), &[]).unwrap();
    for nodes in [0, 1, 50] {
        let starts = [best.point.clone(), vec![0.5, 7.0]];
        let found = maximize(posterior.view(), score, &cube(2), budget(nodes, 1e-6), &starts).unwrap();
        assert!(found.score >= best.score && found.score >= score_at(&posterior, score, &[0.5, 1.0]));
        assert!(found.point.iter().all(|x| (0.0..=1.0).contains(x)));
    }
}

#[test]
fn a_past_view_is_bounded_by_its_own_rows() {
    let mut later = typical(Kernel::matern(2.5, &[0.3]).unwrap(), 2, 0.01, 8, 7);
    let earlier = later.clone();
    later.observe(key(100, 0), &[0.4, 0.4], 9.0).unwrap();
    let run = |posterior: &Posterior| {
        maximize(posterior.past_view(8), Provable::ConfidenceBound(2.0), &cube(2), budget(200, 1e-4), &[]).unwrap()
    };
    assert_eq!(run(&later), run(&earlier));
}

#[test]
fn the_result_has_the_same_bits_on_any_number_of_threads() {
    let posterior = typical(Kernel::matern(2.5, &[0.2]).unwrap(), 2, 0.025, 30, 8);
    let run = || maximize(posterior.view(), Provable::ConfidenceBound(3.0), &cube(2), budget(300, 1e-4), &[]).unwrap();
    let [one, two] = on_one_and_two_threads(run);
    assert_eq!(one, two);
    assert_eq!(one.upper.to_bits(), two.upper.to_bits());
}

#[test]
fn what_cannot_be_certified_is_refused() {
    let rng = &mut rng(1);
    let finite = Posterior::new(Prior::new(crate::common::empirical(rng, 5), 0.0, 0.1).unwrap(), 1).unwrap();
    let try_with = |posterior: &Posterior, score, region: &Region, tolerance, starts: &[Vec<f64>]| {
        maximize(posterior.view(), score, region, budget(10, tolerance), starts).unwrap_err()
    };
    let up = Provable::ConfidenceBound(2.0);
    assert!(matches!(try_with(&finite, up, &cube(1), 0.0, &[]), Error::NoDerivative { family: "empirical" }));
    let posterior = typical(Kernel::matern(2.5, &[0.2]).unwrap(), 2, 0.025, 3, 8);
    assert!(matches!(try_with(&posterior, up, &cube(3), 0.0, &[]), Error::WrongLength { .. }));
    assert!(matches!(try_with(&posterior, up, &cube(2), f64::NAN, &[]), Error::OutOfRange { .. }));
    assert!(matches!(
        try_with(&posterior, Provable::ConfidenceBound(f64::NAN), &cube(2), 0.0, &[]),
        Error::NotFinite { .. }
    ));
    assert!(matches!(try_with(&posterior, up, &cube(2), 0.0, &[vec![0.5]]), Error::WrongLength { .. }));
    assert!(matches!(Region::new(&[], &[]), Err(Error::Empty { .. })));
    assert!(matches!(Region::new(&[0.0], &[1.0, 2.0]), Err(Error::WrongLength { .. })));
    assert!(matches!(Region::new(&[0.0], &[f64::INFINITY]), Err(Error::NotFinite { .. })));
    assert!(matches!(Region::new(&[0.0, 2.0], &[1.0, 1.0]), Err(Error::EmptyInterval { coordinate: 1, .. })));
    assert!(matches!(cube(2).with_options(0..1, vec![]), Err(Error::Empty { .. })));
    assert!(matches!(cube(2).with_options(0..2, vec![vec![1.0]]), Err(Error::WrongLength { .. })));
    assert!(matches!(cube(2).with_options(1..3, vec![vec![1.0; 2]]), Err(Error::BlockMisplaced { .. })));
    let taken = cube(3).with_options(0..2, vec![vec![1.0; 2]]).unwrap();
    assert!(matches!(taken.with_options(1..3, vec![vec![1.0; 2]]), Err(Error::BlockMisplaced { .. })));
}
