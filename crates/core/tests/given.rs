//! What a study promises where some of its model is given and the rest is learned: the given is kept, in any units.

use crate::common::landscape::{auto, hills, square, study};
use crate::common::{rng, uniform};
use manyhands_core::event::Fitted;
use manyhands_core::gp::{self, Given, Grid, Kernel, Prior};
use manyhands_core::{
    Direction, Domain, Error, Event, Parameter, Rule, Space, Spec, Strategy, Study, Suggestion, Tuning,
};

fn matern() -> Kernel {
    Kernel::matern(2.5, &[1.0]).unwrap()
}

fn spec(given: &Given) -> Spec {
    Spec::learned_given(&matern(), given.clone(), square(), Strategy::auto()).unwrap()
}

fn full() -> Given {
    Given { lengthscales: Some(vec![0.2, 0.35]), noise: Some(3e-4), variance: Some(0.4), mean: Some(0.15) }
}

/// All that can be given.
fn all_given() -> Vec<Given> {
    let given = |mask: usize| Given {
        lengthscales: full().lengthscales.filter(|_| mask & 1 > 0),
        noise: full().noise.filter(|_| mask & 2 > 0),
        variance: full().variance.filter(|_| mask & 4 > 0),
        mean: full().mean.filter(|_| mask & 8 > 0),
    };
    (0..16).map(given).collect()
}

/// What is given of `scale f + shift`.
fn rescaled(given: &Given, scale: f64, shift: f64) -> Given {
    Given {
        lengthscales: given.lengthscales.clone(),
        noise: given.noise.map(|noise| scale * scale * noise),
        variance: given.variance.map(|variance| scale * scale * variance),
        mean: given.mean.map(|mean| scale * mean + shift),
    }
}

/// Tells `scale f + shift` at fixed points, then asks.
fn told(spec: &Spec, scale: f64, shift: f64) -> (Vec<Suggestion>, Study) {
    let mut live = study(spec);
    let rng = &mut rng(11);
    for _ in 0..14 {
        let x = [uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)];
        live.include(&[x[0].into(), x[1].into()], Some(scale * hills(&x) + shift)).unwrap();
    }
    (live.ask(3).unwrap(), live)
}

/// The fit has what is given, in the user's units up to rounding.
#[track_caller]
fn check_kept(given: &Given, Fitted { hyperparameters, warp, .. }: &Fitted, sign: f64) {
    let eps = f64::EPSILON;
    assert!(given.lengthscales.as_ref().is_none_or(|each| *each == hyperparameters.lengthscales));
    // Four products and quotients, there and back.
    let slope = warp.slope_at_best();
    let squared =
        |found: f64, given: Option<f64>| given.is_none_or(|v| (found / slope / slope - v).abs() <= 4.0 * eps * v);
    assert!(squared(hyperparameters.noise, given.noise), "{hyperparameters:?}");
    assert!(squared(hyperparameters.variance, given.variance), "{hyperparameters:?}");
    if let Some(mean) = given.mean {
        // Each step rounds a number that is at most as large as the anchor, the mean, or their distance.
        let size = mean.abs() + warp.inverse(0.0).abs() + (2.0 + hyperparameters.mean.abs()) / slope;
        assert!((sign * warp.inverse(hyperparameters.mean) - mean).abs() <= 16.0 * eps * size, "{hyperparameters:?}");
    }
    let linear = given.noise.is_some() || given.variance.is_some() || given.mean.is_some();
    assert!(!linear || warp.bend() == 0.0, "{warp:?}");
}

#[test]
fn every_fit_keeps_given_hyperparameters_and_the_log_restores_it() {
    for given in all_given() {
        for (direction, sign) in [(Direction::Maximize, 1.0), (Direction::Minimize, -1.0)] {
            let spec = spec(&given).with_direction(direction);
            let (_, mut live) = told(&spec, 1.0, 0.0);
            for s in live.ask(2).unwrap() {
                live.tell(s.trial, hills(&s.point)).unwrap();
            }
            live.ask(1).unwrap();
            let fits = live.events().iter().filter_map(|event| match event {
                Event::Fitted(fitted) => Some(fitted),
                _ => None,
            });
            assert_eq!(fits.clone().count(), 2);
            fits.for_each(|fitted| check_kept(&given, fitted, sign));
            assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
            let mut again = Study::replay(spec, live.events()).unwrap();
            assert_eq!(again.ask(2).unwrap(), live.ask(2).unwrap());
        }
    }
}

#[test]
fn fits_of_many_values_keep_what_is_given_too() {
    for given in [full(), Given { lengthscales: None, ..full() }, Given { noise: full().noise, ..Given::default() }] {
        let (mut live, rng) = (study(&spec(&given)), &mut rng(12));
        for count in [210, 20] {
            for _ in 0..count {
                let x = [uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)];
                live.include(&[x[0].into(), x[1].into()], Some(hills(&x) + uniform(rng, -0.03, 0.03))).unwrap();
            }
            live.ask(1).unwrap();
            check_kept(&given, live.fitted().unwrap(), 1.0);
        }
        assert_eq!(Study::verify(live.spec(), live.events()).map(drop), Ok(()));
    }
}

#[test]
fn nothing_given_is_what_is_learned_without_when_sums_over_parameters_are_tried_too() {
    let given = spec(&Given::default()).with_tuning(Tuning::default()).unwrap();
    assert_eq!(given, auto(square()));
    assert_eq!(told(&given, 1.0, 0.0).1.events(), told(&auto(square()), 1.0, 0.0).1.events());
    assert_eq!(spec(&Given::default()).tuning().additive_margin, None);
}

#[test]
fn the_units_of_values_and_of_what_is_given_do_not_matter() {
    let points = [vec![0.35, 0.5], vec![0.9, 0.9]];
    for given in all_given() {
        let (base, live) = told(&spec(&given), 1.0, 0.0);
        for (scale, shift) in [(1e6, -3e7), (1e-6, 2e-5), (1024.0, 0.0)] {
            let (same, scaled) = told(&spec(&rescaled(&given, scale, shift)), scale, shift);
            for (a, b) in base.iter().zip(&same) {
                // Shifts cost digits, which the climbs feel; powers of two cost none.
                let apart = a.point.iter().zip(&b.point).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart <= if shift == 0.0 { 0.0 } else { 1e-6 }, "{scale}: {apart} {given:?}");
            }
            for (a, b) in live.predict(&points).unwrap().iter().zip(scaled.predict(&points).unwrap()) {
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * scale;
                assert!(near(scale * a.mean + shift, b.mean) && near(scale * a.sd, b.sd), "{a:?} {b:?} {given:?}");
            }
        }
    }
}

#[test]
fn minimizing_is_maximizing_the_negative() {
    for given in all_given() {
        let (up, live) = told(&spec(&given), 1.0, 0.0);
        let negative = Given { mean: given.mean.map(|mean| -mean), ..given };
        let (down, mirrored) = told(&spec(&negative).with_direction(Direction::Minimize), -1.0, 0.0);
        for (a, b) in up.iter().zip(&down) {
            assert_eq!(
                (&a.choice.params, a.choice.mean, a.choice.sd, a.choice.score),
                (&b.choice.params, -b.choice.mean, b.choice.sd, b.choice.score)
            );
        }
        assert_eq!(live.assumptions().unwrap(), mirrored.assumptions().unwrap());
    }
}

/// The oracle is the same model, given.
#[test]
fn with_everything_given_nothing_is_learned() {
    let Given { lengthscales, noise, variance, mean } = full();
    let kernel = matern().with_lengthscales(&lengthscales.unwrap()).unwrap().with_variance(variance.unwrap()).unwrap();
    let prior = Prior::new(kernel, mean.unwrap(), noise.unwrap()).unwrap();
    for direction in [Direction::Maximize, Direction::Minimize] {
        let known = Spec::new(square(), prior.clone(), Strategy::new(Rule::IgpBucb, 1.0)).unwrap();
        let (known, spec) = (known.with_nodes(0).with_direction(direction), spec(&full()).with_direction(direction));
        let ((_, known), (_, live)) = (told(&known, 1.0, 0.0), told(&spec, 1.0, 0.0));
        let points = [vec![0.35, 0.5], vec![0.9, 0.9], vec![0.0, 1.0]];
        let (a, b) = (known.predict(&points).unwrap(), live.predict(&points).unwrap());
        for (a, b) in a.iter().zip(&b) {
            // Two backward stable solves, with a condition number of at most n variance/noise.
            let tolerance = 64.0 * 14.0 * 14.0 * f64::EPSILON * 0.4 / 3e-4;
            assert!((a.mean - b.mean).abs() <= tolerance && (a.sd - b.sd).abs() <= tolerance, "{a:?} {b:?}");
        }
        // R is the sd of the noise, in the units of the fit.
        let slope = live.fitted().map(|fitted| fitted.warp.slope_at_best()).unwrap();
        let bound = live.assumptions().unwrap().noise_bound / slope;
        assert!((bound - 3e-4f64.sqrt()).abs() <= 8.0 * f64::EPSILON * bound);
    }
}

#[test]
fn the_prior_before_the_first_value_has_what_is_given_and_needs_no_units() {
    let median = auto(square()).prior().clone();
    for given in all_given() {
        for spec in [spec(&given), spec(&given).with_tuning(Tuning::default()).unwrap()] {
            let (kernel, noise) = (spec.prior().kernel(), spec.prior().noise());
            let expected = given.lengthscales.as_deref().unwrap_or(median.kernel().lengthscales());
            assert_eq!(kernel.lengthscales(), expected);
            let both = given.noise.is_some() && given.variance.is_some();
            assert_eq!(noise, if both { 3e-4 / 0.4 } else { median.noise() });
            assert_eq!((kernel.variance(), spec.prior().mean()), (1.0, 0.0));
            assert_eq!(spec.given(), Some(&given));
            let spec = spec.with_tuning(Tuning::default()).unwrap();
            assert_eq!(spec == auto(square()), given == Given::default(), "what is given is part of what a study is");
        }
    }
    let tuning = Tuning { bends: vec![4.0], ..Tuning::default() };
    let spec = spec(&Given { noise: Some(1e-9), ..Given::default() }).with_tuning(tuning).unwrap();
    assert_eq!(told(&spec, 1.0, 0.0).1.fitted().unwrap().warp.bend(), 0.0);
}

#[test]
fn lengthscales_are_relative_to_what_coordinates_reach_and_shared_by_a_choice() {
    let given = Given { lengthscales: Some(vec![0.5, 0.25]), ..Given::default() };
    let grid = Domain::Grid(Grid::even(&[(0.0, 10.0, 5), (1.0, 3.0, 4)]).unwrap());
    let spec = Spec::learned_given(&matern(), given.clone(), grid, Strategy::auto()).unwrap();
    assert_eq!(spec.prior().kernel().lengthscales(), [5.0, 0.5]);
    let mut live = study(&spec);
    for s in live.ask(9).unwrap() {
        live.tell(s.trial, s.point[0].sin()).unwrap();
    }
    live.ask(1).unwrap();
    assert_eq!(live.posterior().prior().kernel().lengthscales(), [5.0, 0.5]);
    let parameters =
        vec![Parameter::choice("kind", &["p", "q", "r"]).unwrap(), Parameter::float("x", 0.0, 9.0).unwrap()];
    let space = Domain::Space(Space::new(parameters, vec![]).unwrap());
    let spec = Spec::learned_given(&matern(), given, space, Strategy::auto()).unwrap();
    assert_eq!(spec.prior().kernel().lengthscales(), [0.5, 0.5, 0.5, 0.25]);
}

#[test]
fn numbers_far_from_the_values_do_no_harm() {
    for (noise, variance, mean) in [(1e-100, 1e100, 1e100), (1e100, 1e-100, -1e100), (1e-90, 1e-90, 1e-90)] {
        for scale in [1.0, 1e60, 1e-60, 0.0] {
            for mask in all_given() {
                let given = Given {
                    noise: mask.noise.map(|_| noise),
                    variance: mask.variance.map(|_| variance),
                    mean: mask.mean.map(|_| mean),
                    ..mask
                };
                let (batch, mut live) = told(&spec(&given), scale, 0.0);
                assert!(
                    batch.iter().all(|s| s.choice.mean.is_finite() && s.choice.sd.is_finite()),
                    "{given:?} {scale}"
                );
                let best = live.best().unwrap();
                assert!(best.mean.is_finite() && best.lower <= best.upper, "{best:?}");
            }
        }
    }
}

#[test]
fn numbers_that_cannot_be_given_are_refused() {
    let refused = |given: Given| Spec::learned_given(&matern(), given, square(), Strategy::auto()).unwrap_err();
    let (scales, none) =
        (|each: &[f64]| Given { lengthscales: Some(each.to_vec()), ..Given::default() }, Given::default());
    let wrong = gp::Error::WrongLength { what: "lengthscales", expected: 2, found: 3 };
    assert_eq!(refused(scales(&[0.1; 3])), Error::Numeric(wrong));
    for given in [
        scales(&[0.1, 0.0]),
        scales(&[f64::NAN, 0.1]),
        Given { noise: Some(0.0), ..none.clone() },
        Given { noise: Some(f64::INFINITY), ..none.clone() },
        Given { variance: Some(-1.0), ..none.clone() },
        Given { mean: Some(f64::NAN), ..none.clone() },
    ] {
        let Error::Numeric(error) = refused(given) else { unreachable!() };
        assert!(matches!(error, gp::Error::NotPositive { .. } | gp::Error::NotFinite { .. }), "{error}");
    }
    let linear = Kernel::linear(&[1.0]).unwrap();
    assert!(Spec::learned_given(&linear, none, square(), Strategy::auto()).is_err());
}
