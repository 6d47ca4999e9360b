//! What warping values promises: a monotone map with its inverse, whatever the values' size.

use crate::common::{EPS, config};
use manyhands_gp::Warp;
use proptest::prelude::*;

/// Values of either sign from 1e-300 to 1e300, and 0.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (-300.0f64..300.0, any::<bool>()).prop_map(|(e, minus)| 10f64.powf(e) * if minus { -1.0 } else { 1.0 }),
        8 => -10.0f64..10.0,
        1 => Just(0.0),
    ]
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![prop::collection::vec(value(), 1..30), prop::collection::vec(-10.0f64..10.0, 1..30)]
}

fn bend() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.01f64..10.0]
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn warped_values_have_mean_zero_and_variance_one(values in values(), bend in bend()) {
        let warp = Warp::standardizing(&values, bend);
        let warped: Vec<f64> = values.iter().map(|y| warp.forward(*y)).collect();
        prop_assert!(warped.iter().all(|z| z.is_finite()), "{warped:?}");
        let n = values.len() as f64;
        let mean = warped.iter().sum::<f64>() / n;
        let variance = warped.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n;
        // Sums of n terms of size up to sqrt(n) round by n^2 eps; what is subtracted may be sqrt(n) spreads away.
        let tolerance = 8.0 * n * n * EPS;
        prop_assert!(mean.abs() <= tolerance, "{mean}");
        let constant = warped.iter().all(|z| *z == 0.0);
        prop_assert!(constant || (variance - 1.0).abs() <= tolerance, "{variance}");
        prop_assert!(constant == values.iter().all(|y| *y == values[0]));
    }

    #[test]
    fn the_inverse_brings_values_back(values in values(), bend in bend()) {
        let warp = Warp::standardizing(&values, bend);
        let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for &y in &values {
            let (z, back) = (warp.forward(y), warp.inverse(warp.forward(y)));
            // A unit in the last place of z, and of the shift that is added to it, is so much of a value.
            let unit = (-warp.log_slope(y)).exp();
            let shift = warp.forward(best).abs();
            let tolerance = 16.0 * EPS * (y.abs() + best.abs() + unit * (z.abs() + shift));
            prop_assert!((back - y).abs() <= tolerance, "{y} came back as {back}");
        }
    }

    #[test]
    fn larger_values_stay_larger(values in values(), mut ys in prop::collection::vec(value(), 2..20), bend in bend()) {
        let warp = Warp::standardizing(&values, bend);
        ys.extend(&values);
        ys.sort_by(f64::total_cmp);
        let warped: Vec<f64> = ys.iter().map(|y| warp.forward(*y)).collect();
        prop_assert!(warped.is_sorted(), "{warped:?}");
    }

    #[test]
    fn the_slope_is_that_of_central_differences(
        values in prop::collection::vec(-10.0f64..10.0, 2..30), y in -20.0f64..20.0, bend in bend(),
    ) {
        let warp = Warp::standardizing(&values, bend);
        let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let h = 1e-5;
        // The second derivative jumps at the best value.
        prop_assume!((y - best).abs() > 2.0 * h);
        let slope = warp.log_slope(y).exp();
        let difference = (warp.forward(y + h) - warp.forward(y - h)) / (2.0 * h);
        // The third derivative is 2 (bend/unit)^2 slope^3 of the bent value, all below those at the best value.
        let steepest = warp.log_slope(best).exp();
        let curve = bend * steepest.max(slope) * 10.0 + 1.0;
        let tolerance = slope * h * h * curve * curve + 64.0 * EPS * (warp.forward(y).abs() + steepest * 40.0) / h;
        prop_assert!((slope - difference).abs() <= tolerance, "{slope} {difference} {tolerance}");
    }
}

#[test]
fn values_that_do_not_vary_become_zero() {
    for values in [&[][..], &[0.0], &[3.0], &[-1e300], &[1e-300; 4], &[7.0; 9]] {
        let warp = Warp::standardizing(values, 2.0);
        for &y in values {
            assert_eq!((warp.forward(y), warp.inverse(0.0)), (0.0, y));
        }
        assert!(warp.forward(1.0).is_finite() && warp.log_slope(1.0).is_finite());
    }
}

#[test]
fn the_identity_leaves_values_as_they_are() {
    let warp = Warp::identity();
    for y in [-1e300, -2.5, 0.0, 1e-300, 7.0] {
        assert_eq!((warp.forward(y), warp.inverse(y), warp.log_slope(y)), (y, y, 0.0));
    }
}

#[test]
fn the_whole_range_of_floats_is_warped_to_finite_numbers() {
    let values = [f64::MAX, f64::MIN, 0.0, -1e-300, f64::MIN_POSITIVE];
    for bend in [0.0, 1.0] {
        let warp = Warp::standardizing(&values, bend);
        let warped = values.map(|y| warp.forward(y));
        assert!(warped.iter().all(|z| z.is_finite() && z.abs() <= 3.0), "{warped:?}");
    }
}

#[test]
fn bending_compresses_the_lower_tail() {
    let values = [1.0, 0.9, 0.8, 0.7, -1e6];
    let (plain, bent) = (Warp::standardizing(&values, 0.0), Warp::standardizing(&values, 1.0));
    let gap = |warp: &Warp| warp.forward(1.0) - warp.forward(0.7);
    assert!(gap(&bent) > 1e4 * gap(&plain));
    assert_eq!(bent.bend(), 1.0);
}

/// Values that crowd around the optimum must not make the map forget those that lie farther away.
#[test]
fn the_unit_shrinks_no_further_than_a_hundredth_of_what_the_first_values_make_it() {
    let early: Vec<f64> = (1..=20).map(|i| -f64::from(i)).chain([0.0]).collect();
    let crowded: Vec<f64> = early.iter().copied().chain((0..200).map(|i| -1e-12 * f64::from(i))).collect();
    let warp = Warp::standardizing(&crowded, 1.0);
    // The first 20 are -1, ..., -20 and the best is 0, so that the early median is 11 and the unit 0.11.
    let slope = |value: f64| warp.log_slope(value).exp();
    let ratio = slope(-0.11) / slope(0.0);
    assert!((ratio - 0.5).abs() < 1e-9, "at v = -1 a bend of 1 halves the slope: {ratio}");
}
