//! The lazy argmax over a finite domain is that of brute force, whatever the domain's structure and what happened before.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{
    Dense, EPS, PLENTY, Row, Shape, config, domain, empirical, kernel, key, on_one_and_two_threads, rng, uniform,
};
use manyhands_gp::{
    Choice, Domain, Error, Grid, Kernel, Points, Posterior, Prior, Restricted, Score, Surface, TIE, View,
};
use proptest::prelude::*;
use rand::{Rng, RngExt};

const MEAN: f64 = -0.4;

/// Brute force: the exact score of every candidate, from a surface that knows nothing yet, and the tie rule.
fn brute_force(restricted: &Arc<Restricted>, view: View<'_>, score: Score, excluded: &[bool]) -> Option<Choice> {
    let mut cold = Surface::new(restricted.clone());
    let choices: Vec<Choice> = (0..restricted.domain().len())
        .filter(|&index| !excluded[index])
        .map(|index| {
            let (mean, sd) = cold.moments(view, index);
            let score = match score {
                Score::Upper(multiplier) => mean + multiplier * sd,
                Score::Lower(multiplier) => mean - multiplier * sd,
                Score::Variance => sd * sd,
            };
            Choice { index, mean, sd, score }
        })
        .collect();
    let highest = choices.iter().map(|choice| choice.score).reduce(f64::max)?;
    choices.into_iter().find(|choice| choice.score >= highest - TIE * highest.abs().max(1.0))
}

/// The same candidate with the same bits, but for the variance, whose root brute force squares again.
fn same(found: Option<Choice>, expected: Option<Choice>) -> bool {
    match (found, expected) {
        (Some(a), Some(b)) => {
            let close = (a.score - b.score).abs() <= 4.0 * EPS * b.score.abs();
            a.index == b.index && a.mean.to_bits() == b.mean.to_bits() && a.sd.to_bits() == b.sd.to_bits() && close
        }
        (None, None) => true,
        _ => false,
    }
}

/// A study in miniature: a posterior whose rows are candidates of a domain, and a surface that follows it.
struct Run {
    restricted: Arc<Restricted>,
    posterior: Posterior,
    surface: Surface,
    excluded: Vec<bool>,
    pending: Vec<u64>,
    next: usize,
}

impl Run {
    fn new(kernel: Kernel, domain: Domain, noise: f64, budget: usize) -> Self {
        let len = domain.len();
        let posterior = Posterior::new(Prior::new(kernel.clone(), MEAN, noise).unwrap(), domain.dimension()).unwrap();
        let restricted = Arc::new(Restricted::new(kernel, domain, budget).unwrap());
        let surface = Surface::new(restricted.clone());
        Self { restricted, posterior, surface, excluded: vec![false; len], pending: vec![], next: 0 }
    }

    fn len(&self) -> usize {
        self.restricted.domain().len()
    }

    fn hallucinate(&mut self, site: usize) {
        let point = self.restricted.domain().point(site);
        self.posterior.hallucinate(key(self.next, site), &point).unwrap();
        self.pending.push(self.next as u64);
        self.next += 1;
    }

    fn observe(&mut self, site: usize, value: f64) {
        let point = self.restricted.domain().point(site);
        self.posterior.observe(key(self.next, site), &point, value).unwrap();
        self.next += 1;
    }

    fn step(&mut self, rng: &mut impl Rng) {
        let site = rng.random_range(0..self.len());
        match rng.random_range(0..12) {
            0..3 => self.hallucinate(site),
            3..5 => self.observe(site, uniform(rng, -2.0, 2.0)),
            5..8 if !self.pending.is_empty() => {
                let id = self.pending.remove(rng.random_range(0..self.pending.len()));
                self.posterior.settle(id, uniform(rng, -2.0, 2.0)).unwrap();
            }
            8..10 if !self.pending.is_empty() => {
                let id = self.pending.remove(rng.random_range(0..self.pending.len()));
                self.posterior.retract(id).unwrap();
            }
            10 => {
                self.excluded[site] = !self.excluded[site];
                self.surface.set_excluded(site, self.excluded[site]);
            }
            // A choice, as a study makes it: its candidate becomes pending.
            _ => {
                if let Some(choice) = self.surface.argmax(self.posterior.view(), Score::Upper(uniform(rng, 0.0, 3.0))) {
                    self.hallucinate(choice.index);
                }
            }
        }
    }

    fn check(&mut self, score: Score, past: Option<usize>) -> Result<(), TestCaseError> {
        let view = past.map_or(self.posterior.view(), |observed| self.posterior.past_view(observed));
        let found = self.surface.argmax(view, score);
        let expected = brute_force(&self.restricted, view, score, &self.excluded);
        prop_assert!(same(found, expected), "{score:?}, {past:?}: {found:?}, brute force has {expected:?}");
        Ok(())
    }

    fn check_all(&mut self, rng: &mut impl Rng) -> Result<(), TestCaseError> {
        let multiplier = [0.0, 0.3, 2.0, uniform(rng, 0.0, 20.0)][rng.random_range(0..4)];
        self.check(Score::Upper(multiplier), None)?;
        self.check(Score::Lower(multiplier), None)?;
        self.check(Score::Variance, None)?;
        if rng.random_bool(0.2) {
            let observed = rng.random_range(0..=self.posterior.observed());
            self.check(Score::Upper(multiplier), Some(observed))?;
            self.check(Score::Lower(multiplier), Some(observed))?;
        }
        let mut cold = Surface::new(self.restricted.clone());
        (0..self.len()).for_each(|i| cold.set_excluded(i, self.excluded[i]));
        let warm = self.surface.argmax(self.posterior.view(), Score::Upper(multiplier));
        prop_assert_eq!(cold.argmax(self.posterior.view(), Score::Upper(multiplier)), warm, "a cold surface");
        Ok(())
    }
}

fn run(rng: &mut impl Rng, mut run: Run, steps: usize) -> Result<(), TestCaseError> {
    for _ in 0..steps {
        (0..rng.random_range(1..5)).for_each(|_| run.step(rng));
        run.check_all(rng)?;
    }
    Ok(())
}

/// From no column at all to all of them; a grid's factors need some.
fn budget(rng: &mut impl Rng, least: usize) -> usize {
    [least, least + 200, least + 5_000, PLENTY][rng.random_range(0..4)]
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
        run(rng, whole, steps)?;
    }

    #[test]
    fn the_argmax_over_a_covariance_matrix_is_that_of_brute_force(seed: u64, len in 1usize..60, steps in 1usize..10) {
        let rng = &mut rng(seed);
        let (kernel, budget) = (empirical(rng, len), budget(rng, 0));
        let whole = Run::new(kernel, Domain::Points(Points::indices(len)), 1e-2, budget);
        run(rng, whole, steps)?;
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
            whole.check_all(rng)?;
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
        whole.check_all(rng)?;
        for id in std::mem::take(&mut whole.pending) {
            whole.posterior.retract(id).unwrap();
            whole.check_all(rng)?;
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
                common::Number { tolerance: expected.tolerance + product, ..expected }.check(*mean, "mean");
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
                for score in [Score::Upper(0.0), Score::Upper(0.5), Score::Lower(0.5)] {
                    let found = whole.surface.argmax(whole.posterior.view(), score);
                    let expected = brute_force(&whole.restricted, whole.posterior.view(), score, &whole.excluded);
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
                    let choice = whole.surface.argmax(whole.posterior.view(), Score::Upper(2.0)).unwrap();
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
    assert_eq!(whole.surface.argmax(whole.posterior.view(), Score::Variance), None);
    whole.surface.set_excluded(1, false);
    assert_eq!(whole.surface.argmax(whole.posterior.view(), Score::Upper(1.0)).map(|c| c.index), Some(1));
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
            for score in [Score::Variance, Score::Upper(3.0), Score::Lower(1.0), Score::Variance, Score::Upper(3.0)] {
                let found = whole.surface.argmax(whole.posterior.view(), score);
                let expected = brute_force(&whole.restricted, whole.posterior.view(), score, &whole.excluded);
                assert!(same(found, expected), "{seed}, noise {noise:e}: {found:?}, brute force has {expected:?}");
                let id = whole.pending.remove(rng.random_range(0..whole.pending.len()));
                whole.posterior.settle(id, MEAN).unwrap();
            }
        }
    }
}
