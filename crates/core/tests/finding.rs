//! The default finds good points quickly, on boxes and in pools.
#![allow(clippy::unwrap_used)]

mod common;

use common::landscape::{auto, hills, square, study};
use common::{rng, uniform};
use manyhands_core::gp::Points;
use manyhands_core::{Domain, Kind};

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
                    assert_eq!(s.point, rows[s.candidate]);
                    found = found.max(f(&s.point));
                    live.tell(s.trial, f(&s.point)).unwrap();
                }
            }
            assert_eq!(found, most, "seed {seed}");
            assert_eq!(live.certificate().unwrap().kind, Kind::Model);
        }
    }
}
