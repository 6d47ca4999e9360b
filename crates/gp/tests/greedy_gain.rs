//! Greedy information gain against the maximum over all multisets.

use std::sync::Arc;

use crate::common::{Dense, EPS, PLENTY, Row, Shape, config, empirical, kernel, rng, uniform};
use manyhands_gp::{Domain, GreedyInformation, Kernel, Points, Prior, Restricted};
use proptest::prelude::*;
use rand::RngExt;

/// gamma_t by trying every multiset of t candidates, each by its determinant.
fn maximum(kernel: &Kernel, domain: &Domain, noise: f64, t: usize) -> f64 {
    let mut best = 0.0f64;
    let mut sites = vec![0; t];
    loop {
        let row = |&site: &usize| Row { point: domain.point(site), noise, value: None };
        let dense = Dense { kernel: kernel.clone(), mean: 0.0, rows: sites.iter().map(row).collect() };
        best = best.max(dense.information(true).value);
        // The next multiset: the last entry that can grow, and those behind it no smaller.
        let Some(i) = (0..t).rev().find(|&i| sites[i] + 1 < domain.len()) else { return best };
        let next = sites[i] + 1;
        sites[i..].fill(next);
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn greedy_is_at_most_the_maximum_over_all_multisets_and_that_at_most_both_upper_bounds(
        seed: u64, which in 0usize..7, len in 1usize..6, exponent in -3i32..=0, lengthscale in 0.1f64..1.0,
    ) {
        let rng = &mut rng(seed);
        let (kernel, domain) = if which == 6 {
            (empirical(rng, len), Domain::Points(Points::indices(len)))
        } else {
            let shape = Shape::all(rng.random_range(0..6));
            let whole = crate::common::domain(rng, shape);
            let few: Vec<Vec<f64>> = (0..len.min(whole.len())).map(|i| whole.point(i)).collect();
            (kernel(which, shape.dimension(), lengthscale), Domain::Points(Points::from_rows(&few).unwrap()))
        };
        let noise = 10f64.powi(exponent) * uniform(rng, 0.5, 2.0);
        let prior = Prior::new(kernel.clone(), 0.0, noise).unwrap();
        let restricted = Arc::new(Restricted::new(kernel.clone(), domain.clone(), PLENTY).unwrap());
        let mut greedy = GreedyInformation::new(prior, restricted).unwrap();
        prop_assert_eq!(greedy.gain(0).unwrap(), 0.0);
        for t in 1..=5 {
            let gamma = maximum(&kernel, &domain, noise, t);
            // ln det of a matrix with condition at most 1 + t k/noise, k <= 4.
            let rounding = 64.0 * t as f64 * EPS * (1.0 + 4.0 * t as f64 / noise);
            let gain = greedy.gain(t).unwrap();
            let picked = greedy.picks(t).unwrap().iter().map(|&site| Row { point: domain.point(site), noise, value: None });
            let dense = Dense { kernel: kernel.clone(), mean: 0.0, rows: picked.collect() };
            dense.information(true).check(gain, "the gain of the greedy picks");
            prop_assert!(gain <= gamma + rounding, "greedy {gain}, maximum {gamma}");
            if t == 1 {
                prop_assert!(gain >= gamma - rounding, "the first pick is the best: {gain}, {gamma}");
            }
            let (submodular, remainder) = (greedy.submodular_upper(t).unwrap(), greedy.remainder_upper(t).unwrap());
            prop_assert!(gamma <= submodular + rounding, "maximum {gamma}, upper bound {submodular}");
            prop_assert!(gamma <= remainder + rounding, "maximum {gamma}, upper bound {remainder}");
            prop_assert_eq!(greedy.upper(t).unwrap(), submodular.min(remainder));
        }
    }
}
