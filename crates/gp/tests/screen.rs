//! What a screen of candidates promises, against the posterior's own predictions one by one.

use crate::common::acquisitions::{Curved, ExpectedImprovement};
use crate::common::{EPS, config, empirical, kernel, key, on_one_and_two_threads, point, rng, uniform};
use manyhands_gp::{
    Acquisition, ConfidenceBound, Error, Kernel, Points, Posterior, Prior, Screen, Shortlist, Variance,
};
use proptest::prelude::*;
use rand::RngExt;

const NOISE: f64 = 1e-3;

fn posterior(kernel: Kernel, dimension: usize) -> Posterior {
    Posterior::new(Prior::new(kernel, 0.7, NOISE).unwrap(), dimension).unwrap()
}

/// Both sides solve triangular systems with the same factor, each backward stable: |v| moves by n eps cond(L) |v| with
/// cond(L)^2 <= n k/noise + 1 and |v|^2 <= k, and the mean by as much times |z|, |z|^2 <= |y|^2/noise.
fn check(screen: &Screen, posterior: &Posterior) {
    let n = posterior.keys().len() as f64 + 1.0;
    for (i, x) in screen.candidates().iter().enumerate() {
        let expected = posterior.predict(x).unwrap();
        let k = posterior.prior().kernel().variance_at(x).max(4.0);
        let slip = 8.0 * n * EPS * (n * k / NOISE + 1.0).sqrt() * k.sqrt();
        let (mean, variance) = (screen.means()[i], screen.variances()[i]);
        assert!((mean - expected.mean).abs() <= slip * (9.0 * n / NOISE).sqrt(), "{mean} {}", expected.mean);
        assert!(variance >= 0.0 && (variance - expected.sd.powi(2)).abs() <= slip * k.sqrt(), "{variance}");
    }
}

fn grow(posterior: &mut Posterior, rng: &mut impl Rng, mut point: impl FnMut(&mut dyn Rng) -> Vec<f64>) {
    let id = posterior.keys().iter().map(|key| key.id + 1).max().unwrap_or(0) as usize;
    let first_pending = posterior.keys().get(posterior.observed()).map(|key| key.id);
    match (rng.random_range(0..3), first_pending) {
        (0, Some(pending)) => posterior.settle(pending, uniform(rng, -2.0, 2.0)).unwrap(),
        (1, None) => posterior.observe(key(id, id), &point(rng), uniform(rng, -2.0, 2.0)).unwrap(),
        _ => posterior.hallucinate(key(id, id), &point(rng)).unwrap(),
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_screen_agrees_with_predictions_before_and_after_rows_are_appended(
        seed: u64, which in 0usize..6, dimension in 1usize..4, before in 0usize..60, after in 0usize..60, many in 1usize..40,
    ) {
        let rng = &mut rng(seed);
        let mut posterior = posterior(kernel(which, dimension, 0.4), dimension);
        (0..before).for_each(|_| grow(&mut posterior, rng, |mut rng| point(&mut rng, dimension)));
        let mut rows: Vec<Vec<f64>> = (0..many).map(|_| point(rng, dimension)).collect();
        rows.extend(posterior.points().iter().take(3).map(<[f64]>::to_vec));
        let mut screen = Screen::new(posterior.view(), Points::from_rows(&rows).unwrap()).unwrap();
        check(&screen, &posterior);
        for _ in 0..after {
            (0..rng.random_range(1..4)).for_each(|_| grow(&mut posterior, rng, |_| rows[0].clone()));
            screen.append(posterior.view());
            grow(&mut posterior, rng, |mut rng| point(&mut rng, dimension));
        }
        screen.append(posterior.view());
        check(&screen, &posterior);
        posterior.truncate(0);
        screen.append(posterior.view());
        check(&screen, &posterior);
    }

    #[test]
    fn a_screen_works_over_a_covariance_matrix(seed: u64, len in 1usize..12, steps in 0usize..20) {
        let rng = &mut rng(seed);
        let mut posterior = posterior(empirical(rng, len), 1);
        let mut screen = Screen::new(posterior.view(), Points::indices(len)).unwrap();
        for _ in 0..steps {
            let index = rng.random_range(0..len) as f64;
            grow(&mut posterior, rng, |_| vec![index]);
            screen.append(posterior.view());
        }
        check(&screen, &posterior);
        check(&Screen::new(posterior.view(), Points::indices(len)).unwrap(), &posterior);
    }
}

#[test]
fn threads_change_no_bit_of_a_screen() {
    let rng = &mut rng(7);
    let mut before = posterior(Kernel::matern(2.5, &[0.3]).unwrap(), 2);
    (0..90).for_each(|_| grow(&mut before, rng, |mut rng| point(&mut rng, 2)));
    let mut after = before.clone();
    after.hallucinate(key(999, 0), &[0.4, 0.6]).unwrap();
    let rows: Vec<Vec<f64>> = (0..700).map(|_| point(rng, 2)).collect();
    let candidates = Points::from_rows(&rows).unwrap();
    let [one, two] = on_one_and_two_threads(|| {
        let mut screen = Screen::new(before.view(), candidates.clone()).unwrap();
        screen.append(after.view());
        screen
    });
    assert_eq!((one.means(), one.variances()), (two.means(), two.variances()));
    check(&one, &after);
}

#[test]
fn a_screen_in_the_memory_of_another_has_the_bits_of_a_new_one() {
    let rng = &mut rng(8);
    let mut posterior = posterior(Kernel::matern(2.5, &[0.3]).unwrap(), 2);
    let mut points = |count: usize| Points::from_rows(&(0..count).map(|_| point(rng, 2)).collect::<Vec<_>>()).unwrap();
    let mut screen = Screen::new(posterior.view(), points(9)).unwrap();
    for (rows, candidates) in [(70, 300), (3, 40), (60, 500), (2, 20)] {
        for (i, x) in points(rows).iter().enumerate() {
            posterior.observe(key(posterior.keys().len(), i), x, x[0]).unwrap();
        }
        let candidates = points(candidates);
        screen = screen.renewed(posterior.view(), candidates.clone()).unwrap();
        let new = Screen::new(posterior.view(), candidates).unwrap();
        assert_eq!((screen.means(), screen.variances()), (new.means(), new.variances()));
    }
}

#[test]
fn candidates_that_the_posterior_cannot_predict_are_refused() {
    let flat = posterior(kernel(0, 2, 0.3), 2);
    let refused = Screen::new(flat.view(), Points::indices(3)).map(|_| ());
    assert_eq!(refused, Err(Error::WrongLength { what: "a candidate", expected: 2, found: 1 }));
    let matrix = posterior(empirical(&mut rng(3), 4), 1);
    let refused = Screen::new(matrix.view(), Points::indices(5)).map(|_| ());
    assert_eq!(refused, Err(Error::NoSuchIndex { value: 4.0, len: 4 }));
    let none = Screen::new(flat.view(), Points::new(2).unwrap()).unwrap();
    assert!(none.means().is_empty() && none.variances().is_empty());
}

/// Where rows are many, the best of the candidates is found without the exact scores of all.
fn check_highest(list: &mut Shortlist, posterior: &Posterior, acquisition: &dyn Acquisition) {
    let value = |x: &[f64]| {
        let there = posterior.predict(x).unwrap();
        acquisition.value(there.mean, there.sd * there.sd)
    };
    let expected: Vec<f64> = list.candidates().iter().map(value).collect();
    let best = expected.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let found = list.highest(posterior.view(), acquisition);
    let highest = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!((highest - best).abs() < 1e-5 * best.abs().max(1.0), "{highest} {best}");
    for (found, expected) in found.iter().zip(&expected).filter(|(found, _)| found.is_finite()) {
        assert!((found - expected).abs() < 1e-5 * expected.abs().max(1.0), "{found} {expected}");
    }
    for (found, expected) in list.all(posterior.view(), acquisition).iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-5 * expected.abs().max(1.0), "{found} {expected}");
    }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn a_short_list_finds_the_best_of_all_candidates_before_and_after_rows_are_appended(
        seed: u64, which in 0usize..6, before in 0usize..90, after in 0usize..4, multiplier in 0.0f64..4.0,
    ) {
        let rng = &mut rng(seed);
        let mut posterior = posterior(kernel(which, 2, 0.4), 2);
        (0..before).for_each(|_| grow(&mut posterior, rng, |mut rng| point(&mut rng, 2)));
        let rows: Vec<Vec<f64>> = (0..50).map(|_| point(rng, 2)).collect();
        let target = uniform(rng, -1.0, 2.0);
        let acquisitions: [&dyn Acquisition; 5] = [
            &ConfidenceBound(multiplier),
            &ConfidenceBound(-multiplier),
            &Variance,
            &ExpectedImprovement { target },
            &Curved { weight: multiplier, power: 1.5 },
        ];
        for acquisition in acquisitions {
            let mut list = Shortlist::new(posterior.view(), Points::from_rows(&rows).unwrap()).unwrap();
            check_highest(&mut list, &posterior, acquisition);
            for _ in 0..after {
                grow(&mut posterior, rng, |mut rng| point(&mut rng, 2));
                check_highest(&mut list, &posterior, acquisition);
            }
        }
    }
}

#[test]
fn a_short_list_follows_a_view_that_loses_rows() {
    let rng = &mut rng(11);
    let mut posterior = posterior(Kernel::matern(2.5, &[0.3]).unwrap(), 2);
    for i in 0..60 {
        let x = point(rng, 2);
        posterior.observe(key(i, i), &x, (6.0 * x[0]).sin() + x[1]).unwrap();
    }
    (60..64).for_each(|i| posterior.hallucinate(key(i, i), &point(rng, 2)).unwrap());
    let rows: Vec<Vec<f64>> = (0..50).map(|_| point(rng, 2)).collect();
    let new = |view| Shortlist::new(view, Points::from_rows(&rows).unwrap()).unwrap();
    let (all, observed) = (posterior.view(), posterior.view().observed_only());
    let mut list = new(all);
    for view in [all, observed, all, observed] {
        let best = |list: &mut Shortlist| {
            let values = list.highest(view, &ConfidenceBound(2.0));
            (0..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
        };
        assert_eq!(best(&mut list), best(&mut new(view)));
        for (found, expected) in list.all(view, &Variance).iter().zip(new(view).all(view, &Variance)) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}

#[test]
fn most_candidates_of_a_short_list_are_never_solved_and_threads_change_no_bit() {
    let scores = || {
        let rng = &mut rng(7);
        let mut posterior = posterior(Kernel::matern(2.5, &[0.3]).unwrap(), 2);
        for i in 0..400 {
            let x = point(rng, 2);
            posterior.observe(key(i, i), &x, (6.0 * x[0]).sin() + x[1]).unwrap();
        }
        let rows: Vec<Vec<f64>> = (0..300).map(|_| point(rng, 2)).collect();
        let mut list = Shortlist::new(posterior.view(), Points::from_rows(&rows).unwrap()).unwrap();
        list.highest(posterior.view(), &ConfidenceBound(2.0))
    };
    let [one, two] = on_one_and_two_threads(scores);
    assert_eq!(one, two);
    let solved = one.iter().filter(|score| score.is_finite()).count();
    assert!((1..60).contains(&solved), "{solved}");
}

#[test]
fn rows_nearby_dismiss_candidates_of_a_long_list_and_never_the_best() {
    for noise in [1e-6, 0.3] {
        let rng = &mut rng(9);
        let prior = Prior::new(Kernel::matern(2.5, &[0.2]).unwrap(), 0.0, noise).unwrap();
        let mut posterior = Posterior::new(prior, 3).unwrap();
        for i in 0..2050 {
            let x = point(rng, 3);
            posterior.observe(key(i, i), &x, (6.0 * x[0]).sin() + x[1] * x[2]).unwrap();
        }
        posterior.factor_at_once();
        let rows: Vec<Vec<f64>> = (0..200).map(|_| point(rng, 3)).collect();
        let mut list = Shortlist::new(posterior.view(), Points::from_rows(&rows).unwrap()).unwrap();
        let solved =
            list.highest(posterior.view(), &ConfidenceBound(2.0)).iter().filter(|score| score.is_finite()).count();
        assert!(solved < 20, "{solved}");
        check_highest(&mut list, &posterior, &Variance);
        posterior.hallucinate(key(5000, 0), &rows[0]).unwrap();
        check_highest(&mut list, &posterior, &ConfidenceBound(2.0));
    }
}
