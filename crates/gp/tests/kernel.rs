//! What a kernel promises: its values, its symmetry, its derivatives and its refusals.

use manyhands_gp::{Covariance, Error, Family, Kernel, Points};
use proptest::prelude::*;
use serde_json::Value;

const SMOOTHNESSES: [f64; 6] = [0.5, 0.8, 1.5, 1.7, 2.5, 4.2];

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// Every differentiable family, with a shared lengthscale and with one per coordinate, in two dimensions.
fn smooth_kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for lengthscales in [&[0.6][..], &[0.4, 1.3]] {
        kernels.push(Kernel::squared_exponential(lengthscales).unwrap());
        kernels.push(Kernel::linear(lengthscales).unwrap());
        kernels.extend(SMOOTHNESSES.map(|smoothness| Kernel::matern(smoothness, lengthscales).unwrap()));
    }
    for family in
        [Kernel::squared_exponential(&[0.8, 1.3]), Kernel::matern(2.5, &[0.9]), Kernel::matern(4.2, &[0.8, 1.1])]
    {
        kernels
            .extend([[0, 1], [0, 0]].map(|parameters| family.clone().unwrap().partly_additive(&parameters).unwrap()));
    }
    kernels.into_iter().map(|kernel| kernel.with_variance(1.7).unwrap()).collect()
}

/// Pairs 0.38 to 5.1 lengthscales apart, one of them along an axis.
const PAIRS: [([f64; 2], [f64; 2]); 4] =
    [([0.3, -0.2], [0.5, 0.4]), ([1.1, 0.7], [0.2, 0.9]), ([0.4, 0.1], [0.4, 0.6]), ([-0.8, 0.3], [1.2, -0.5])];

/// A central difference of step h errs by h^2 / 6 of the third derivative plus the rounding of two values over 2 h.
///
/// With l >= 0.4, variance 1.7 and r >= 0.38, the third derivatives (fourth, where a gradient is differenced) stay
/// below 1e4; the values are rounded to 64 eps of their size, at most 10.
const STEP: f64 = 4e-6;
const TOLERANCE: f64 = STEP * STEP / 6.0 * 1e4 + 64.0 * f64::EPSILON * 10.0 / STEP;

fn difference(f: impl Fn(f64) -> f64) -> f64 {
    (f(STEP) - f(-STEP)) / (2.0 * STEP)
}

fn moved(point: [f64; 2], coordinate: usize, by: f64) -> [f64; 2] {
    let mut point = point;
    point[coordinate] += by;
    point
}

#[test]
fn kernel_matrices_equal_the_reference() {
    let reference = read(include_str!("data/reference.json"));
    for (name, kernel) in
        [("se", Kernel::squared_exponential(&[0.2]).unwrap()), ("matern52", Kernel::matern(2.5, &[0.2]).unwrap())]
    {
        for (dimension, inputs, matrix) in [(1, "points_1d", "K_1d"), (2, "points_2d", "K_2d")] {
            let points = Points::from_flat(dimension, numbers(&reference["inputs"][inputs])).unwrap();
            let expected = numbers(&reference["kernels"][name][matrix]);
            assert_eq!(expected.len(), points.len() * points.len());
            let mut row = vec![0.0; points.len()];
            for (x, expected) in points.iter().zip(expected.chunks_exact(points.len())) {
                kernel.fill(x, &points, 0..points.len(), &mut row);
                for (found, expected) in row.iter().zip(expected) {
                    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{name}: {found} against {expected}");
                }
            }
        }
    }
}

#[test]
fn matern_equals_forty_digit_arithmetic() {
    let file = read(include_str!("data/matern.json"));
    for row in file["rows"].as_array().unwrap() {
        let [smoothness, r, expected] = numbers(row)[..] else { panic!("a row has three numbers") };
        let found = Kernel::matern(smoothness, &[1.0]).unwrap().covariance(&[0.0], &[r]);
        assert!((found / expected - 1.0).abs() < 1e-12, "nu {smoothness}, r {r}: {found} against {expected}");
    }
}

/// Of one-dimensional kernels for each parameter, and one of all coordinates.
#[test]
fn a_partly_additive_kernel_is_a_tenth_joint_and_the_rest_a_sum_over_parameters() {
    let lengthscales = [0.4, 0.4, 1.3];
    for smoothness in [0.5, 1.5, 2.5, 3.1] {
        let family = |lengthscales: &[f64]| Kernel::matern(smoothness, lengthscales).unwrap();
        let kernel = family(&lengthscales).partly_additive(&[0, 0, 1]).unwrap().with_variance(1.7).unwrap();
        let shorter = 0.8 / 2f64.sqrt();
        let parts = [(0..3, family(&lengthscales)), (0..2, family(&[0.4 * shorter])), (2..3, family(&[1.3 * shorter]))];
        let points = Points::from_flat(3, (0..120).map(|i| (f64::from(i) * 0.618).fract()).collect()).unwrap();
        let mut row = vec![0.0; points.len()];
        for x in points.iter() {
            kernel.fill(x, &points, 0..points.len(), &mut row);
            for (y, found) in points.iter().zip(&row) {
                let [joint, first, second] =
                    [0, 1, 2].map(|i| parts[i].1.covariance(&x[parts[i].0.clone()], &y[parts[i].0.clone()]));
                let expected = 1.7 * (0.1 * joint + 0.45 * (first + second));
                assert!((found - expected).abs() < 64.0 * f64::EPSILON, "{smoothness}: {found} against {expected}");
                assert_eq!(kernel.covariance(y, x), *found, "symmetric, in any company");
            }
        }
    }
}

#[test]
fn sums_over_parameters_that_make_no_sense_are_refused() {
    let matern = Kernel::matern(2.5, &[0.3]).unwrap();
    let message = |parameters: &[usize]| matern.partly_additive(parameters).unwrap_err().to_string();
    assert_eq!(message(&[0, 2]), "every parameter must have a coordinate, got none for parameter 1 (from 0)");
    assert!(message(&[]).contains("empty"));
    assert!(Kernel::linear(&[0.3]).unwrap().partly_additive(&[0]).is_err());
    let kernel = matern.partly_additive(&[0, 1]).unwrap();
    assert!(kernel.check_dimension(2).is_ok() && kernel.check_dimension(3).is_err());
    assert!(kernel.with_lengthscales(&[0.5]).unwrap().is_partly_additive());
}

#[test]
fn matern_vanishes_far_away_and_is_one_at_zero() {
    for smoothness in [0.05, 0.5, 1.0, 1.5, 2.5, 7.0, 50.0] {
        let kernel = Kernel::matern(smoothness, &[1e-100]).unwrap();
        assert_eq!(kernel.covariance(&[-1e300], &[1e300]), 0.0);
        assert_eq!(kernel.covariance(&[0.3], &[0.3]), 1.0);
    }
}

#[test]
fn gradients_equal_central_differences() {
    for kernel in smooth_kernels() {
        for (x, y) in PAIRS {
            let mut gradient = [0.0; 2];
            kernel.gradient(&x, &y, &mut gradient).unwrap();
            for (j, found) in gradient.iter().enumerate() {
                let expected = difference(|h| kernel.covariance(&moved(x, j, h), &y));
                assert!((found - expected).abs() < TOLERANCE, "{kernel:?}: {found} against {expected}");
            }
        }
    }
}

#[test]
fn mixed_derivatives_equal_central_differences_of_gradients() {
    for kernel in smooth_kernels() {
        for (x, y) in PAIRS {
            let mut mixed = [0.0; 4];
            kernel.mixed_derivative(&x, &y, &mut mixed).unwrap();
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let expected = difference(|h| {
                    let mut gradient = [0.0; 2];
                    kernel.gradient(&x, &moved(y, j, h), &mut gradient).unwrap();
                    gradient[i]
                });
                let found = mixed[2 * i + j];
                assert!((found - expected).abs() < TOLERANCE, "{kernel:?}: {found} against {expected}");
            }
        }
    }
}

#[test]
fn derivatives_at_distance_zero_are_their_limits_or_refused() {
    for kernel in smooth_kernels().into_iter().filter(Kernel::is_stationary) {
        let (x, smoothness) = ([0.3, 0.7], smoothness(&kernel));
        let (mut gradient, mut mixed) = ([9.0; 2], [9.0; 4]);
        match kernel.gradient(&x, &x, &mut gradient) {
            Ok(()) => assert!(smoothness > 0.5 && gradient == [0.0; 2]),
            Err(error) => {
                assert!(smoothness <= 0.5, "{kernel:?}");
                let message = "gradient at distance 0e0 needs a Matern kernel of smoothness above 0.5, got 0.5";
                assert_eq!(error.to_string(), message);
            }
        }
        match kernel.mixed_derivative(&x, &x, &mut mixed) {
            Ok(()) => {
                assert!(smoothness > 1.0, "{kernel:?}");
                assert_eq!((mixed[1], mixed[2]), (0.0, 0.0));
                let largest = mixed[0].max(mixed[3]);
                assert!((kernel.lipschitz().unwrap().powi(2) / largest - 1.0).abs() < 1e-14);
            }
            Err(error) => {
                assert!(smoothness <= 1.0 && matches!(error, Error::NotDifferentiable { distance: 0.0, .. }));
                assert!(kernel.lipschitz().is_err());
            }
        }
    }
}

/// Infinite for the squared exponential.
fn smoothness(kernel: &Kernel) -> f64 {
    if let Family::Matern { smoothness } = kernel.family() { smoothness } else { f64::INFINITY }
}

#[test]
fn derivatives_next_to_the_diagonal_approach_their_limits() {
    // For nu < 2 the mixed derivative nears its limit like r^(2 nu - 2) times
    // 2 nu (2 nu - 1) |Gamma(1 - nu)| / Gamma(1 + nu) (nu/2)^nu, 10.4 at nu = 1.5 and 17.1 at nu = 1.7;
    // for nu > 2 like r^2 times 3/2 nu^2 / ((nu - 1) (nu - 2)), at most 12.5 here.
    for smoothness in [1.5, 1.7, 2.5, 4.2, 30.0] {
        let kernel = Kernel::matern(smoothness, &[1.0]).unwrap();
        for r in [1e-250f64, 1e-20, 1e-9] {
            let (mut near, mut limit) = ([0.0], [0.0]);
            kernel.mixed_derivative(&[0.0], &[r], &mut near).unwrap();
            kernel.mixed_derivative(&[0.0], &[0.0], &mut limit).unwrap();
            let tolerance = 18.0 * r.powf((2.0 * smoothness - 2.0).min(2.0)) + 1e-13;
            assert!((near[0] - limit[0]).abs() < tolerance, "nu {smoothness}, r {r}: {} to {}", near[0], limit[0]);
        }
    }
}

#[test]
fn derivatives_too_large_for_a_float_are_refused() {
    let kernel = Kernel::matern(0.1, &[1.0]).unwrap();
    let refused = kernel.mixed_derivative(&[0.0], &[1e-250], &mut [0.0]);
    assert!(matches!(refused, Err(Error::NotDifferentiable { above: 1.0, .. })), "{refused:?}");
}

#[test]
fn the_lipschitz_constant_bounds_the_kernel_metric() {
    let lengthscales = [0.4, 1.3];
    let kernels = [
        (Kernel::squared_exponential(&lengthscales).unwrap(), 1.0),
        (Kernel::matern(1.5, &lengthscales).unwrap(), 3.0),
        (Kernel::matern(4.2, &lengthscales).unwrap(), 4.2 / 3.2),
        (Kernel::linear(&lengthscales).unwrap(), 1.0),
    ];
    for (kernel, factor) in kernels {
        let lipschitz = kernel.with_variance(2.0).unwrap().lipschitz().unwrap();
        assert!((lipschitz * lipschitz / (2.0 * factor / 0.16) - 1.0).abs() < 1e-14);
    }
    let kernel = Kernel::matern(1.5, &lengthscales).unwrap();
    for (x, y) in PAIRS {
        let metric = kernel.variance_at(&x) - 2.0 * kernel.covariance(&x, &y) + kernel.variance_at(&y);
        let length = (x[0] - y[0]).hypot(x[1] - y[1]);
        assert!(metric.sqrt() <= kernel.lipschitz().unwrap() * length);
    }
}

#[test]
fn a_squared_exponential_is_the_product_of_its_axes() {
    let kernel = Kernel::squared_exponential(&[0.4, 1.3]).unwrap().with_variance(1.7).unwrap();
    for (x, y) in PAIRS {
        let product: f64 = (0..2).map(|j| kernel.axis(j).unwrap().covariance(&x[j..=j], &y[j..=j])).product();
        let found = kernel.covariance(&x, &y);
        assert!((found - 1.7 * product).abs() <= 64.0 * f64::EPSILON * found);
    }
    assert_eq!(kernel.axis(2), None);
    assert_eq!(Kernel::squared_exponential(&[0.4]).unwrap().axis(5), Kernel::squared_exponential(&[0.4]).ok());
    assert_eq!(Kernel::matern(2.5, &[0.4]).unwrap().axis(0), None);
    assert_eq!(Kernel::linear(&[0.4]).unwrap().axis(0), None);
    assert_eq!(Kernel::empirical(Covariance::new(1, vec![1.0]).unwrap()).axis(0), None);
}

#[test]
fn bad_lengthscales_are_refused() {
    type Constructor = fn(&[f64]) -> manyhands_gp::Result<Kernel>;
    let constructors: [Constructor; 3] =
        [Kernel::squared_exponential, Kernel::linear, |lengthscales| Kernel::matern(2.5, lengthscales)];
    for constructor in constructors {
        assert_eq!(constructor(&[]), Err(Error::Empty { what: "lengthscales" }));
        for bad in [0.0, -0.3, f64::NAN, f64::INFINITY] {
            let error = constructor(&[0.2, bad]).unwrap_err();
            assert_eq!(error.to_string(), format!("lengthscale must be positive and finite, got {bad}"));
        }
        let error = constructor(&[1e-200]).unwrap_err();
        assert_eq!(error.to_string(), "lengthscale must be between 1e-100 and 1e100, got 1e-200");
        assert!(constructor(&[0.2]).unwrap().with_variance(-1.0).is_err());
        assert!(constructor(&[0.2]).unwrap().with_variance(f64::NAN).is_err());
        assert!(constructor(&[0.2, 0.3]).unwrap().check_dimension(3).is_err());
        assert!(constructor(&[0.2]).unwrap().check_dimension(3).is_ok());
    }
}

#[test]
fn bad_smoothness_is_refused() {
    for bad in [0.0, -1.0, 50.1, f64::NAN] {
        let error = Kernel::matern(bad, &[0.2]).unwrap_err();
        assert_eq!(error.to_string(), format!("smoothness must be above 0 and at most 50, got {bad}"));
    }
    assert!(Kernel::matern(50.0, &[0.2]).is_ok());
}

#[test]
fn wrong_lengths_are_refused_by_derivatives() {
    let kernel = Kernel::squared_exponential(&[0.2]).unwrap();
    assert!(kernel.gradient(&[0.0, 1.0], &[0.0, 1.0], &mut [0.0]).is_err());
    assert!(kernel.gradient(&[0.0, 1.0], &[0.0], &mut [0.0; 2]).is_err());
    assert!(kernel.mixed_derivative(&[0.0, 1.0], &[0.0, 1.0], &mut [0.0; 2]).is_err());
}

fn any_kernel() -> impl Strategy<Value = Kernel> {
    let lengthscales = prop_oneof![prop::collection::vec(0.05..3.0, 1), prop::collection::vec(0.05..3.0, 3)];
    let smoothness = prop_oneof![Just(0.5), Just(1.5), Just(2.5), 0.01..50.0];
    (0..3, smoothness, lengthscales, 0.1..10.0).prop_map(|(family, smoothness, lengthscales, variance)| {
        let kernel = match family {
            0 => Kernel::squared_exponential(&lengthscales),
            1 => Kernel::matern(smoothness, &lengthscales),
            _ => Kernel::linear(&lengthscales),
        };
        kernel.and_then(|kernel| kernel.with_variance(variance)).unwrap()
    })
}

proptest! {
    #![proptest_config(crate::common::config(256))]

    #[test]
    fn filling_equals_single_pairs_and_is_symmetric_bit_for_bit(
        kernel in any_kernel(),
        coordinates in prop::collection::vec(-5.0..5.0, 12),
        x in prop::collection::vec(-5.0..5.0, 3),
    ) {
        let points = Points::from_flat(3, coordinates).unwrap();
        let mut out = [0.0; 3];
        kernel.fill(&x, &points, 1..4, &mut out);
        for (i, found) in out.iter().enumerate() {
            let y = points.get(i + 1);
            prop_assert_eq!(found.to_bits(), kernel.covariance(&x, y).to_bits());
            prop_assert_eq!(found.to_bits(), kernel.covariance(y, &x).to_bits());
        }
        prop_assert_eq!(kernel.variance_at(&x).to_bits(), kernel.covariance(&x, &x).to_bits());
    }

    #[test]
    fn stationary_covariances_stay_within_the_variance(
        kernel in any_kernel(),
        direction in prop::collection::vec(-5.0..5.0, 3),
        decade in -30..1,
    ) {
        let x: Vec<f64> = direction.iter().map(|c| c * 10f64.powi(decade)).collect();
        let value = kernel.covariance(&x, &[0.0; 3]);
        prop_assert!(!kernel.is_stationary() || (0.0..=kernel.variance()).contains(&value));
    }
}
