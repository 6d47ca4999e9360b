//! What fitting hyperparameters promises: to recover known ones, and to return usable ones whatever the data.

mod draw;
mod given;

use crate::common::{empirical, key, point, rng, uniform};
use manyhands_gp::{Error, Fit, Given, Hyperparameters, Kernel, Points, Posterior, Prior, Priors};
use rand::RngExt;
use rand_distr::StandardNormal;

fn points(rng: &mut impl rand::Rng, n: usize, dimension: usize) -> Points {
    Points::from_flat(dimension, (0..n).flat_map(|_| point(rng, dimension)).collect()).unwrap()
}

/// Values drawn under a prior, with noise: mean + L xi, where L L' = K + noise I.
fn draw(rng: &mut impl rand::Rng, prior: &Prior, points: &Points) -> Vec<f64> {
    let mut posterior = Posterior::new(prior.clone(), points.dimension()).unwrap();
    points.iter().enumerate().for_each(|(i, x)| posterior.hallucinate(key(i, i), x).unwrap());
    let normals: Vec<f64> = (0..points.len()).map(|_| rng.sample(StandardNormal)).collect();
    (0..points.len()).map(|i| prior.mean() + crate::common::dot(posterior.factor().row(i), &normals)).collect()
}

/// Priors that say next to nothing.
fn wide() -> Priors {
    Priors {
        lengthscale: (0.4, 3.0),
        noise_ratio: (1e-2, 6.0),
        variance: (1e-3, 1e-3),
        mean_spread: 100.0,
        ..Priors::default().stretched(2)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[track_caller]
fn check_usable(fit: &Fit, found: &Hyperparameters) {
    let Hyperparameters { lengthscales, noise, variance, mean, density, .. } = found;
    assert!(lengthscales.iter().chain([noise, variance]).all(|v| *v > 0.0 && v.is_finite()), "{found:?}");
    assert!(mean.is_finite() && density.is_finite(), "{found:?}");
    let (low, high) = fit.priors.noise_range;
    assert!((low * 0.999..=high * 1.001).contains(&(noise / variance)), "{found:?}");
    found.prior(fit.family, fit.groups).unwrap();
}

/// Fifteen data sets each: the median estimate is off by less than a quarter. A field whose lengthscales are a tenth of
/// the square has some fifty independent patches, so one estimate of the variance has a relative sd of about a fifth.
#[test]
fn known_hyperparameters_are_recovered_from_samples() {
    let truth = ([0.08, 0.15], 0.05, 2.5, 0.7);
    let (lengthscales, noise, variance, mean) = truth;
    let families = [
        Kernel::squared_exponential(&lengthscales),
        Kernel::matern(1.5, &lengthscales),
        Kernel::matern(2.5, &lengthscales),
    ];
    for kernel in families.map(|kernel| kernel.unwrap().with_variance(variance).unwrap()) {
        let prior = Prior::new(kernel.clone(), mean, noise).unwrap();
        let family = kernel.with_lengthscales(&[1.0]).unwrap();
        let fit = Fit { family: &family, groups: &[0, 1], priors: wide(), given: Given::default(), evaluations: 60 };
        let found: Vec<Hyperparameters> = (0..15)
            .map(|seed| {
                let rng = &mut rng(seed);
                let points = points(rng, 200, 2);
                fit.run(&points, &draw(rng, &prior, &points), None).unwrap()
            })
            .collect();
        let of = |f: &dyn Fn(&Hyperparameters) -> f64| median(found.iter().map(f).collect());
        for (name, estimate, expected) in [
            ("first lengthscale", of(&|h| h.lengthscales[0]), lengthscales[0]),
            ("second lengthscale", of(&|h| h.lengthscales[1]), lengthscales[1]),
            ("noise", of(&|h| h.noise), noise),
            ("variance", of(&|h| h.variance), variance),
        ] {
            assert!((estimate / expected - 1.0).abs() < 0.25, "{name} of {family:?}: {estimate}, was {expected}");
        }
        // The mean of a field is known up to its own sd over the square, about sqrt(variance * 2 pi * l1 * l2).
        let spread = (variance * 2.0 * std::f64::consts::PI * lengthscales[0] * lengthscales[1]).sqrt();
        assert!((of(&|h| h.mean) - mean).abs() < spread);
    }
}

#[test]
fn coordinates_of_one_group_share_their_lengthscale() {
    let rng = &mut rng(1);
    let kernel = Kernel::matern(2.5, &[0.2, 0.9, 0.2]).unwrap();
    let points = points(rng, 200, 3);
    let values = draw(rng, &Prior::new(kernel.clone(), 0.0, 1e-3).unwrap(), &points);
    let fit = Fit { family: &kernel, groups: &[1, 0, 1], priors: wide(), given: Given::default(), evaluations: 60 };
    let found = fit.run(&points, &values, None).unwrap();
    assert_eq!(found.lengthscales.len(), 2);
    let prior = found.prior(&kernel, fit.groups).unwrap();
    let each = prior.kernel().lengthscales();
    assert!(each[0] == each[2] && each[0] == found.lengthscales[1] && each[1] == found.lengthscales[0]);
    assert!((each[0] / 0.2 - 1.0).abs() < 0.5 && (each[1] / 0.9 - 1.0).abs() < 0.5, "{each:?}");
}

#[test]
fn data_without_noise_have_next_to_none_and_noise_alone_is_all_noise() {
    let rng = &mut rng(2);
    let family = Kernel::squared_exponential(&[1.0]).unwrap();
    let fit = Fit { family: &family, groups: &[0, 1], priors: wide(), given: Given::default(), evaluations: 80 };
    let points = points(rng, 60, 2);
    let exact: Vec<f64> = points.iter().map(|x| (3.0 * x[0]).sin() + x[1] * x[1]).collect();
    let found = fit.run(&points, &exact, None).unwrap();
    assert!(found.noise / found.variance <= 10.0 * fit.priors.noise_range.0, "{found:?}");
    let noise: Vec<f64> = points.iter().map(|_| rng.sample(StandardNormal)).collect();
    let found = Fit { priors: Priors::default().stretched(2), ..fit.clone() }.run(&points, &noise, None).unwrap();
    assert!(found.noise > 0.5 && found.noise > 0.5 * found.variance, "{found:?}");
}

/// Data on which a fit could stumble, as (points, values).
fn awkward() -> Vec<(Points, Vec<f64>)> {
    let rng = &mut rng(3);
    let spread = |n: usize| (0..n).map(|i| (i as f64 * 2.4).sin()).collect::<Vec<f64>>();
    let repeated = Points::from_flat(2, [0.3, 0.4].repeat(30)).unwrap();
    let twins = Points::from_flat(2, (0..20).flat_map(|i| [i as f64 / 20.0; 2]).collect()).unwrap();
    let wide = points(rng, 3, 30);
    let flat = points(rng, 12, 2);
    let close = Points::from_flat(1, (0..40).map(|i| 0.5 + 1e-9 * i as f64).collect()).unwrap();
    let huge = points(rng, 10, 1);
    vec![
        (Points::new(2).unwrap(), vec![]),
        (points(rng, 1, 3), vec![0.0]),
        (points(rng, 1, 3), vec![-100.0]),
        (points(rng, 2, 1), vec![1.0, -1.0]),
        (flat, vec![0.0; 12]),
        (repeated.clone(), spread(30)),
        (repeated, vec![0.7; 30]),
        (twins, spread(20)),
        (wide, spread(3)),
        (close, (0..40).map(|i| 100.0 * f64::from(i % 2)).collect()),
        (huge, (0..10).map(|i| if i == 3 { 1e40 } else { 0.0 }).collect()),
    ]
}

#[test]
fn awkward_data_give_usable_hyperparameters_no_worse_than_the_starts() {
    for (points, values) in awkward() {
        let groups: Vec<usize> = (0..points.dimension()).collect();
        for family in [Kernel::squared_exponential(&[1.0]).unwrap(), Kernel::matern(2.5, &[1.0]).unwrap()] {
            let priors = Priors::default().stretched(groups.len());
            let fit = Fit { family: &family, groups: &groups, priors, given: Given::default(), evaluations: 30 };
            let found = fit.run(&points, &values, None).unwrap();
            check_usable(&fit, &found);
            assert_eq!(found, fit.run(&points, &values, None).unwrap());
            // One evaluation is the start itself.
            let start = Fit { evaluations: 1, ..fit.clone() }.run(&points, &values, None).unwrap();
            assert!(found.density >= start.density, "{found:?} {start:?}");
            // Through the logarithm and back, parameters move by a rounding.
            let warm = fit.run(&points, &values, Some(&found)).unwrap();
            let slip = 1e-9 * (1.0 + found.density.abs());
            assert!(warm.density >= found.density - slip, "{found:?} {warm:?}");
        }
    }
}

#[test]
fn a_bad_warm_start_does_no_harm() {
    let rng = &mut rng(4);
    let family = Kernel::matern(2.5, &[1.0]).unwrap();
    let fit = Fit {
        family: &family,
        groups: &[0, 1],
        priors: Priors::default().stretched(2),
        given: Given::default(),
        evaluations: 60,
    };
    let points = points(rng, 25, 2);
    let values: Vec<f64> = points.iter().map(|x| (4.0 * x[0]).sin() + uniform(rng, -0.1, 0.1)).collect();
    let cold = fit.run(&points, &values, None).unwrap();
    for (lengthscale, noise) in [(f64::NAN, 1.0), (0.0, 1.0), (1e300, 1e300), (1e-300, 1e-300), (0.1, -1.0)] {
        let warm = Hyperparameters { lengthscales: vec![lengthscale; 2], noise, ..cold.clone() };
        let found = fit.run(&points, &values, Some(&warm)).unwrap();
        check_usable(&fit, &found);
        assert!((found.density - cold.density).abs() < 1e-2, "{found:?} {cold:?}");
    }
}

#[test]
fn refining_never_loses_and_few_more_values_need_no_other_start() {
    let rng = &mut rng(6);
    let kernel = Kernel::matern(2.5, &[0.3, 0.8]).unwrap();
    let points = points(rng, 80, 2);
    let values = draw(rng, &Prior::new(kernel.clone(), 0.0, 1e-2).unwrap(), &points);
    let fit = Fit {
        family: &kernel,
        groups: &[0, 1],
        priors: Priors::default().stretched(2),
        given: Given::default(),
        evaluations: 60,
    };
    let short = Fit { evaluations: 3, ..fit.clone() }.run(&points, &values, None).unwrap();
    assert!(fit.refine(&points, &values, &short).unwrap().density >= short.density);
    let before = fit.run(&points, &values[..75], None).unwrap();
    let (refined, anew) = (fit.refine(&points, &values, &before).unwrap(), fit.run(&points, &values, None).unwrap());
    // Climbs end where a step gains less than a millionth of the density.
    assert!((refined.density - anew.density).abs() < 1e-3 * anew.density.abs(), "{refined:?} {anew:?}");
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let family = Kernel::squared_exponential(&[1.0]).unwrap();
    let fit = Fit {
        family: &family,
        groups: &[0, 1],
        priors: Priors::default().stretched(2),
        given: Given::default(),
        evaluations: 5,
    };
    let points = points(&mut rng(5), 3, 2);
    let refused = |fit: &Fit, values: &[f64]| fit.run(&points, values, None).map(|_| ()).unwrap_err();
    let linear = Kernel::linear(&[1.0]).unwrap();
    let matrix = empirical(&mut rng(5), 3);
    let (linear, matrix) = (Fit { family: &linear, ..fit.clone() }, Fit { family: &matrix, ..fit.clone() });
    assert_eq!(refused(&linear, &[0.0]), Error::NotRadial { family: "linear" });
    assert_eq!(refused(&matrix, &[0.0]), Error::NotRadial { family: "empirical" });
    let few = Fit { groups: &[0], ..fit.clone() };
    assert_eq!(refused(&few, &[0.0]), Error::WrongLength { what: "groups", expected: 2, found: 1 });
    assert_eq!(refused(&fit, &[0.0; 4]), Error::WrongLength { what: "values", expected: 3, found: 4 });
    assert!(matches!(refused(&fit, &[f64::NAN]), Error::NotFinite { .. }));
    let mut warm = fit.run(&points, &[0.0; 3], None).unwrap();
    assert!(matches!(warm.prior(&family, &[0, 2]), Err(Error::WrongLength { expected: 3, found: 2, .. })));
    warm.lengthscales.push(1.0);
    assert!(matches!(fit.run(&points, &[0.0], Some(&warm)), Err(Error::WrongLength { .. })));
}
