//! What a study says of its parameters' importance, against functions whose indices are known.

use std::f64::consts::PI;

use manyhands_core::file::Draft;
use manyhands_core::gp::{Covariance, Kernel, Points, Prior};
use manyhands_core::study::{NoImportance, OUTLOOK_VALUES};
use manyhands_core::{Domain, Importance, Parameter, Rule, Space, Spec, Strategy, Study};

fn study(text: &str) -> Study {
    Study::new(Draft::parse(text).unwrap().finish(&[]).unwrap().spec).unwrap()
}

/// A study of `count` floats from 0 to 1 with the values of a function at that many points of a lattice.
fn told(count: usize, points: usize, f: impl Fn(&[f64]) -> f64) -> Study {
    let parameters = (0..count).map(|i| Parameter::float(&format!("x{i}"), 0.0, 1.0).unwrap()).collect();
    let space = Space::new(parameters, vec![]).unwrap();
    let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto()).unwrap()).unwrap();
    for i in 1..=points {
        let x: Vec<f64> = (0..count).map(|j| (i as f64 * [0.8192, 0.6711, 0.5498, 0.4504][j]).fract()).collect();
        study.include(&x.iter().map(|&u| u.into()).collect::<Vec<_>>(), Some(f(&x))).unwrap();
    }
    study
}

fn assert_shares(importance: &Importance, expected: &[f64], within: f64) {
    for (found, expected) in importance.shares.iter().zip(expected) {
        assert!((found.share - expected).abs() < within, "{found:?}, expected {expected}");
        assert!(found.low <= found.share && found.share <= found.high, "{found:?}");
        assert!((0.0..=1.0).contains(&found.low) && (0.0..=1.0).contains(&found.high), "{found:?}");
    }
}

#[test]
fn terms_of_a_sum_have_the_shares_of_their_variances_and_an_inert_parameter_none() {
    let study = told(4, 60, |x| 3.0 * x[0] - 2.0 * x[1] + x[2]);
    let importance = study.importance().unwrap();
    assert_shares(&importance, &[9.0, 4.0, 1.0, 0.0].map(|square| square / 14.0), 0.03);
    assert_eq!((importance.ranking(), importance.values), (vec![0, 1, 2, 3], 60));
    for found in &importance.shares {
        assert!(found.share - found.alone.unwrap() < 0.05, "a sum has no interactions: {found:?}");
    }
    assert!(importance.shares[3].high < 0.1, "{:?}", importance.shares[3]);
}

#[test]
fn ishigamis_function_has_the_shares_of_its_closed_form() {
    let f = |x: &[f64]| {
        let [a, b, c] = [0, 1, 2].map(|i| PI * (2.0 * x[i] - 1.0));
        a.sin() + 7.0 * b.sin().powi(2) + 0.1 * c.powi(4) * a.sin()
    };
    let importance = told(3, 250, f).importance().unwrap();
    assert_shares(&importance, &[0.5576, 0.4424, 0.2437], 0.05);
    // The third acts only through the first.
    assert!(importance.shares[2].alone.unwrap() < 0.06, "{:?}", importance.shares[2]);
}

#[test]
fn few_values_leave_wider_intervals_than_many() {
    let width = |points| {
        let importance = told(3, points, |x| (6.0 * x[0]).sin() + x[1] * x[2]).importance().unwrap();
        importance.shares.iter().map(|share| share.high - share.low).sum::<f64>()
    };
    assert!(width(8) > 2.0 * width(80), "{} and {}", width(8), width(80));
}

#[test]
fn importance_is_the_same_each_time_and_changes_no_choice() {
    let mut study = told(2, 15, |x| x[0] - x[1] * x[1]);
    let mut other = study.clone();
    assert_eq!(study.importance().unwrap(), study.importance().unwrap());
    assert_eq!(study.ask(3).unwrap(), other.ask(3).unwrap());
}

#[test]
fn values_that_span_magnitudes_and_an_extreme_one_have_shares() {
    let mut study = told(2, 40, |x| -(10f64).powf(6.0 * x[0] - 3.0 + 0.3 * x[1]));
    let importance = study.importance().unwrap();
    assert!(importance.shares[0].share > 0.9 && importance.shares[1].share < 0.2, "{importance:?}");
    study.include(&[0.5.into(), 0.5.into()], Some(-2e220)).unwrap();
    let importance = study.importance().unwrap();
    assert!(importance.shares.iter().all(|share| share.share.is_finite()), "{importance:?}");
}

#[test]
fn where_nothing_can_be_said_the_reason_is_given() {
    let silence = |study: &Study| study.importance().unwrap().silence;
    let mut flat = study("name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\ny = { float = [0.0, 1.0] }\n");
    assert_eq!(silence(&flat), Some(NoImportance::NoValues));
    for s in flat.ask(8).unwrap() {
        flat.tell(s.trial, 4.0).unwrap();
    }
    assert_eq!(silence(&flat), Some(NoImportance::Flat));
    let covariance = Covariance::new(3, vec![1.0, 0.5, 0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0]).unwrap();
    let prior = Prior::new(Kernel::empirical(covariance), 0.0, 0.01).unwrap();
    let spec = Spec::new(Domain::Points(Points::indices(3)), prior, Strategy::new(Rule::IgpBucb, 1.0)).unwrap();
    let mut indices = Study::new(spec).unwrap();
    let first = indices.ask(1).unwrap()[0].trial;
    indices.tell(first, 1.0).unwrap();
    assert_eq!(silence(&indices), Some(NoImportance::NoCoordinates));
    assert!(NoImportance::NoCoordinates.reason().contains("covariance"));
}

#[test]
fn under_constraints_there_is_no_share_of_a_parameter_alone() {
    let mut study = study(
        "name = \"mix\"\n[space]\na = { float = [0.0, 1.0] }\nb = { float = [0.0, 1.0] }\nc = { choice = [\"p\", \"q\"] }\n\
         [[constraint]]\nsum = { a = 1.0, b = 1.0 }\nat_most = 1.0\n",
    );
    for s in study.ask(20).unwrap() {
        let [a, b] = [0, 1].map(|i| s.params()[i].number().unwrap());
        study.tell(s.trial, a + 0.1 * b).unwrap();
    }
    let importance = study.importance().unwrap();
    assert!(importance.shares.iter().all(|share| share.alone.is_none()));
    assert_eq!(importance.ranking()[0], 0);
    assert!(importance.shares[2].share < 0.05, "{importance:?}");
}

#[test]
fn many_values_are_sketched_from_fewer() {
    let study = told(2, OUTLOOK_VALUES + 200, |x| 2.0 * x[0] + x[1]);
    let importance = study.importance().unwrap();
    assert_eq!(importance.values, OUTLOOK_VALUES);
    assert_shares(&importance, &[0.8, 0.2], 0.03);
    let mut asked = told(2, 20, |x| x[0]);
    assert!(asked.sketched().unwrap().is_some_and(|sketch| sketch.fitted().is_some()), "it is not fitted yet");
    asked.ask(1).unwrap();
    assert!(asked.sketched().unwrap().is_none());
}
