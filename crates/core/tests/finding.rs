//! The default finds good points quickly, on boxes and in pools.

use crate::common::landscape::{auto, hills, square, study};
use crate::common::{rng, uniform};
use manyhands_core::Domain;
use manyhands_core::gp::Points;

#[test]
fn the_default_finds_the_maximum_of_a_smooth_function() {
    for seed in 0..5 {
        let mut live = study(&auto(square()).with_seed(seed));
        let mut best = 0.0f64;
        for _ in 0..40 {
            let s = live.ask(1).unwrap().remove(0);
            best = best.max(hills(&s.point));
            live.tell(s.trial, hills(&s.point)).unwrap();
        }
        // The lower hill adds less than 1e-3 to the maximum 1.
        assert!(best > 0.999, "seed {seed}: {best}");
    }
}

#[test]
fn the_best_of_a_pool_is_found_quickly_whatever_its_columns() {
    for seed in 0..2 {
        let rng = &mut rng(seed);
        let mut rows: Vec<Vec<f64>> =
            (0..480).map(|_| vec![uniform(rng, 0.0, 1e5), uniform(rng, -1e-3, 1e-3), 7.0]).collect();
        rows.extend(rows.clone().into_iter().take(20));
        let f = |x: &[f64]| -(x[0] / 1e5 - 0.3).powi(2) - (x[1] * 1e3 - 0.2).powi(2);
        let most = rows.iter().map(|x| f(x)).fold(f64::NEG_INFINITY, f64::max);
        let domain = Domain::Points(Points::from_rows(&rows).unwrap());
        for spec in [auto(domain.clone()), auto(domain).without_repeats().unwrap()] {
            let mut live = study(&spec.with_seed(seed));
            let mut found = f64::NEG_INFINITY;
            for _ in 0..10 {
                for s in live.ask(4).unwrap() {
                    assert_eq!(s.point, rows[s.choice.candidate]);
                    found = found.max(f(&s.point));
                    live.tell(s.trial, f(&s.point)).unwrap();
                }
            }
            assert_eq!(found, most, "seed {seed}");
            assert_eq!(live.best().unwrap().value, most);
        }
    }
}

fn bowl(x: &[f64]) -> f64 {
    -(x[0] - 0.3).powi(2) - (x[1] - 0.6).powi(2)
}

/// Where the optimum is found to many digits, the model keeps what it knew of the rest, and trials go there.
#[test]
fn a_converged_run_still_knows_and_explores_the_rest() {
    let mut live = study(&auto(square()).with_seed(1));
    let mut points = Vec::new();
    for _ in 0..16 {
        for s in live.ask(5).unwrap() {
            live.tell(s.trial, bowl(&s.point)).unwrap();
            points.push(s.point);
        }
    }
    assert!(points.iter().any(|x| bowl(x) > -1e-8));
    let far = points[40..].iter().filter(|x| bowl(x) < -0.01).count();
    assert!(far >= 10, "{far} of the last 40 were farther than 0.1");
    let rng = &mut rng(2);
    let at: Vec<Vec<f64>> = (0..200).map(|_| vec![uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)]).collect();
    for (x, there) in at.iter().zip(live.predict(&at).unwrap()) {
        // The function's range over the square is 0.85.
        assert!((there.mean - bowl(x)).abs() < 0.4, "{} for {} at {x:?}", there.mean, bowl(x));
    }
}

#[test]
fn a_large_batch_has_one_greedy_pick_and_no_copies_of_it() {
    for seed in 0..4 {
        let mut live = study(&auto(square()).with_seed(seed));
        for s in live.ask(20).unwrap() {
            live.tell(s.trial, hills(&s.point)).unwrap();
        }
        let batch = live.ask(20).unwrap();
        assert_eq!(batch.iter().filter(|s| s.choice.multiplier < 1.0).count(), 1, "one greedy pick, the others wide");
    }
}

#[test]
fn the_first_design_is_not_held_to_the_hallucination_factor() {
    let mut live = study(&auto(square()));
    let batch = live.ask_adaptive(6, 1.0).unwrap();
    assert_eq!(batch.suggestions.len(), 6);
    for s in &batch.suggestions {
        live.tell(s.trial, hills(&s.point)).unwrap();
    }
}
