//! What fitting promises where some hyperparameters are given: those are kept, and the rest is learned.

use manyhands_gp::{Error, Fit, Given, Hyperparameters, Kernel, KernelStructure, Points, Prior, Priors, Quantity};

use super::{awkward, draw, median, points, wide};
use crate::common::{dot, rng, solve};

/// All that can be given of what is true.
fn all_given(truth: &Hyperparameters) -> Vec<Given> {
    let given = |mask: usize| Given {
        lengthscales: (mask & 1 > 0).then(|| truth.lengthscales.clone()),
        noise: (mask & 2 > 0).then_some(truth.noise),
        variance: (mask & 4 > 0).then_some(truth.variance),
        mean: (mask & 8 > 0).then_some(truth.mean),
    };
    (0..16).map(given).collect()
}

/// With the values drawn under it.
fn known(seed: u64, n: usize) -> (Hyperparameters, Kernel, Points, Vec<f64>) {
    let truth = Hyperparameters {
        lengthscales: vec![0.2, 0.4],
        noise: 0.05,
        variance: 2.5,
        mean: 0.7,
        density: 0.0,
        structure: KernelStructure::Joint,
    };
    let family = Kernel::matern(2.5, &[1.0]).unwrap();
    let rng = &mut rng(seed);
    let points = points(rng, n, 2);
    let values = draw(rng, &truth.prior(&family, &[0, 1]).unwrap(), &points);
    (truth, family, points, values)
}

#[test]
fn what_is_given_is_kept_bit_for_bit_and_the_rest_is_learned() {
    let (truth, family, points, values) = known(7, 40);
    let free = Fit { family: &family, groups: &[0, 1], priors: wide(), given: Given::default(), evaluations: 60 };
    let cold = free.run(&points, &values, None).unwrap();
    for given in all_given(&truth) {
        let fit = Fit { given: given.clone(), ..free.clone() };
        for found in [fit.run(&points, &values, None), fit.run(&points, &values, Some(&cold)), Ok(fit.medians())] {
            let found = found.unwrap();
            let Given { lengthscales, noise, variance, mean } = &given;
            assert_eq!(found.lengthscales, *lengthscales.as_ref().unwrap_or(&found.lengthscales));
            assert_eq!(found.noise, noise.unwrap_or(found.noise));
            assert_eq!(found.variance, variance.unwrap_or(found.variance));
            assert_eq!(found.mean, mean.unwrap_or(found.mean));
            assert!(found.lengthscales.iter().chain([&found.noise, &found.variance]).all(|h| *h > 0.0), "{found:?}");
        }
        let start = Fit { evaluations: 1, ..fit.clone() }.run(&points, &values, None).unwrap();
        let found = fit.run(&points, &values, None).unwrap();
        let learned = given.noise.is_none() || given.variance.is_none() || given.lengthscales.is_none();
        assert!(if learned { found.density > start.density } else { found == start }, "{given:?}");
    }
}

/// ln of the values' normal density, by elimination.
fn log_likelihood(h: &Hyperparameters, family: &Kernel, points: &Points, values: &[f64]) -> f64 {
    let prior = h.prior(family, &[0, 0]).unwrap();
    let entry = |i: usize, j: usize| {
        prior.kernel().covariance(points.get(i), points.get(j)) + if i == j { prior.noise() } else { 0.0 }
    };
    let gram = (0..values.len()).map(|i| (0..values.len()).map(|j| entry(i, j)).collect()).collect();
    let centred: Vec<f64> = values.iter().map(|z| z - prior.mean()).collect();
    let (solved, log_det) = solve(gram, vec![centred.clone()]);
    -0.5 * (log_det + dot(&centred, &solved[0]))
}

/// Where `f` is highest: the best of many steps, then ever smaller ones around it.
fn search((mut low, mut high): (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..9 {
        let step = (high - low) / 40.0;
        let at = |i: i32| low + step * f64::from(i);
        let best = (0..=40).map(at).max_by(|a, b| f(*a).total_cmp(&f(*b))).unwrap();
        (low, high) = (best - 2.0 * step, best + 2.0 * step);
    }
    0.5 * (low + high)
}

/// The one number that is free: from hyperparameters, and to them with its log prior.
struct Alone<F, G> {
    range: (f64, f64),
    of: F,
    with: G,
}

/// What is found has the density that a search along the free number finds, up to the gain at which climbs end.
#[track_caller]
fn check_alone<F, G>(fit: &Fit, (points, values): (&Points, &[f64]), alone: Alone<F, G>)
where
    F: Fn(&Hyperparameters) -> f64,
    G: Fn(f64) -> (Hyperparameters, f64),
{
    let density = |x: f64| {
        let (hyperparameters, log_prior) = (alone.with)(x);
        log_likelihood(&hyperparameters, fit.family, points, values) + log_prior
    };
    let found = fit.run(points, values, None).unwrap();
    let (highest, reached) = (density(search(alone.range, density)), density((alone.of)(&found)));
    assert!((reached - highest).abs() <= 1e-5 * (1.0 + highest.abs()), "{reached} {highest}: {found:?}");
}

#[test]
fn with_one_number_free_the_fit_is_what_a_search_along_it_finds() {
    let (mut truth, family, points, values) = known(8, 25);
    truth.lengthscales = vec![0.25];
    let (priors, all) = (Priors::default().stretched(2), all_given(&truth).pop().unwrap());
    let normal = |x: f64, (median, sd): (f64, f64)| -0.5 * ((x - median.ln()) / sd).powi(2);
    let fit = |given| Fit { family: &family, groups: &[0, 0], priors: priors.clone(), given, evaluations: 60 };
    let (data, truth) = ((&points, values.as_slice()), || truth.clone());
    let with = |x: f64| (Hyperparameters { lengthscales: vec![x.exp()], ..truth() }, normal(x, priors.lengthscale));
    let alone = Alone { range: (-5.0, 3.0), of: |h: &Hyperparameters| h.lengthscales[0].ln(), with };
    check_alone(&fit(Given { lengthscales: None, ..all.clone() }), data, alone);
    let with =
        |x: f64| (Hyperparameters { noise: x.exp() * truth().variance, ..truth() }, normal(x, priors.noise_ratio));
    let alone = Alone { range: (-15.0, 3.0), of: |h: &Hyperparameters| (h.noise / h.variance).ln(), with };
    check_alone(&fit(Given { noise: None, ..all.clone() }), data, alone);
    let (shape, scale) = priors.variance;
    let with = |x: f64| (Hyperparameters { variance: x.exp(), ..truth() }, -0.5 * (shape * x + scale * (-x).exp()));
    let alone = Alone { range: (-8.0, 8.0), of: |h: &Hyperparameters| h.variance.ln(), with };
    check_alone(&fit(Given { variance: None, ..all.clone() }), data, alone);
    let square = |x: f64| (x / priors.mean_spread).powi(2) / truth().variance;
    let with = |x: f64| (Hyperparameters { mean: x, ..truth() }, -0.5 * square(x));
    let alone = Alone { range: (-9.0, 9.0), of: |h: &Hyperparameters| h.mean, with };
    check_alone(&fit(Given { mean: None, ..all }), data, alone);
}

/// As where all is learned, with less to learn: fifteen data sets, and the median is off by less than a quarter. That is
/// nearly four sds of a median of fifteen estimates with a relative sd of a fifth (0.2 sqrt(pi/2)/sqrt(15) = 0.065).
#[test]
fn what_is_not_given_is_recovered_from_samples() {
    let (lengthscales, noise, variance, mean) = ([0.08, 0.15], 0.05, 2.5, 0.7);
    let kernel = Kernel::matern(2.5, &lengthscales).unwrap().with_variance(variance).unwrap();
    let prior = Prior::new(kernel.clone(), mean, noise).unwrap();
    let only = Given { noise: Some(noise), ..Given::default() };
    for given in [only.clone(), Given { mean: Some(mean), ..only.clone() }, Given { variance: Some(variance), ..only }]
    {
        let fit = Fit { family: &kernel, groups: &[0, 1], priors: wide(), given, evaluations: 60 };
        let found = (0..15).map(|seed| {
            let rng = &mut rng(seed);
            let points = points(rng, 200, 2);
            fit.run(&points, &draw(rng, &prior, &points), None).unwrap()
        });
        let found: Vec<Hyperparameters> = found.collect();
        let of = |f: &dyn Fn(&Hyperparameters) -> f64| median(found.iter().map(f).collect());
        for (estimate, expected) in [
            (of(&|h| h.lengthscales[0]), lengthscales[0]),
            (of(&|h| h.lengthscales[1]), lengthscales[1]),
            (of(&|h| h.variance), variance),
        ] {
            assert!((estimate / expected - 1.0).abs() < 0.25, "{estimate}, was {expected}, given {:?}", fit.given);
        }
        assert!(found.iter().all(|h| h.noise == noise));
    }
}

#[test]
fn awkward_data_give_usable_hyperparameters_whatever_is_given() {
    let family = Kernel::squared_exponential(&[1.0]).unwrap();
    for (points, values) in awkward() {
        let groups: Vec<usize> = (0..points.dimension()).collect();
        for (noise, variance, mean) in [(1e-30, 1.0, 0.0), (1e-9, 1e9, -1e3), (1e30, 1e-30, 1e20), (1.0, 1.0, 1e-20)] {
            let lengthscales = vec![0.3; groups.len()];
            for given in all_given(&Hyperparameters {
                lengthscales,
                noise,
                variance,
                mean,
                density: 0.0,
                structure: KernelStructure::Joint,
            }) {
                let priors = Priors::default().stretched(groups.len());
                let fit = Fit { family: &family, groups: &groups, priors, given, evaluations: 10 };
                let Hyperparameters { lengthscales, noise, variance, mean, .. } =
                    fit.run(&points, &values, None).unwrap();
                let positive = |v: &f64| *v > 0.0 && v.is_finite();
                assert!(lengthscales.iter().chain([&noise, &variance]).all(positive) && mean.is_finite(), "{fit:?}");
            }
        }
    }
}

#[test]
fn numbers_that_cannot_be_given_are_refused() {
    let wrong = |given: Given| given.check(2).unwrap_err();
    let (scales, none) =
        (|each: &[f64]| Given { lengthscales: Some(each.to_vec()), ..Given::default() }, Given::default());
    assert_eq!(wrong(scales(&[0.1])), Error::WrongLength { what: "lengthscales", expected: 2, found: 1 });
    for value in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(wrong(scales(&[0.1, value])), Error::NotPositive { what: Quantity::Lengthscale, value });
        assert_eq!(
            wrong(Given { noise: Some(value), ..none.clone() }),
            Error::NotPositive { what: Quantity::Noise, value }
        );
        assert_eq!(
            wrong(Given { variance: Some(value), ..none.clone() }),
            Error::NotPositive { what: Quantity::Variance, value }
        );
    }
    assert!(matches!(wrong(scales(&[f64::NAN, 0.1])), Error::NotPositive { .. }));
    assert!(matches!(wrong(scales(&[1e-200, 0.1])), Error::OutOfRange { .. }));
    assert!(matches!(wrong(Given { noise: Some(1e-200), ..none.clone() }), Error::OutOfRange { .. }));
    assert!(matches!(wrong(Given { variance: Some(1e200), ..none.clone() }), Error::OutOfRange { .. }));
    assert!(matches!(wrong(Given { mean: Some(f64::NAN), ..none.clone() }), Error::NotFinite { .. }));
    assert!(matches!(wrong(Given { mean: Some(1e200), ..none }), Error::OutOfRange { .. }));
    let family = Kernel::squared_exponential(&[1.0]).unwrap();
    let fit = Fit { family: &family, groups: &[0, 1], priors: wide(), given: scales(&[0.1]), evaluations: 5 };
    assert!(matches!(fit.run(&points(&mut rng(5), 3, 2), &[0.0], None), Err(Error::WrongLength { .. })));
}
