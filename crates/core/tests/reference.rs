//! Every number of the frozen reference that choosing computes.

use crate::common::{Mapping, asked, in_batches, play, with_delay};
use manyhands_core::gp::{Grid, Kernel, Points, Prior};
use manyhands_core::theory::{Assumptions, closed_form};
use manyhands_core::{Domain, Event, Hallucination, Information, Rule, Spec, Strategy, Study};
use serde_json::Value;

const NOISE: f64 = 0.025;
const TOLERANCE: f64 = 1e-8;

fn reference() -> Value {
    serde_json::from_str(include_str!("../../gp/tests/data/reference.json")).unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= TOLERANCE, "{what}: {found}, the reference has {expected}");
}

fn kernel(name: &str, lengthscale: f64) -> Kernel {
    match name {
        "se" => Kernel::squared_exponential(&[lengthscale]).unwrap(),
        _ => Kernel::matern(2.5, &[lengthscale]).unwrap(),
    }
}

fn f(x: f64) -> f64 {
    (3.0 * x).sin() + 0.5 * (9.0 * x).cos() - 0.3 * x
}

fn feedback(name: &str) -> Mapping {
    if name.contains("batch") { in_batches::<5> } else { with_delay::<5> }
}

fn grid100() -> Domain {
    Domain::Grid(Grid::even(&[(0.0, 1.0, 100)]).unwrap())
}

/// A study with the paper's experimental settings: greedy gamma, and xi as given.
fn study(domain: Domain, kernel: Kernel, rule: Rule, norm_bound: f64, hallucination: Hallucination) -> Study {
    let prior = Prior::new(kernel, 0.0, NOISE).unwrap();
    let strategy = Strategy {
        information: Information::Greedy,
        hallucination,
        max_pending: Some(5),
        ..Strategy::new(rule, norm_bound)
    };
    Study::new(Spec::new(domain, prior, strategy).unwrap()).unwrap()
}

#[test]
fn choices_of_igp_bucb_match_the_reference() {
    let reference = reference();
    let irregular: Vec<f64> = (0..40).map(|i| (i as f64 / 39.0).powf(1.3)).collect();
    let cases = reference["kernels"]["se"]["choices"].as_object().unwrap();
    assert_eq!(cases.len(), 4);
    for (name, expected) in cases {
        let norm_bound = expected["B"].as_f64().unwrap();
        let (domain, points, lengthscale) = if name.starts_with("grid100") {
            (grid100(), (0..100).map(|i| i as f64 / 99.0).collect::<Vec<_>>(), 0.2)
        } else {
            (Domain::Points(Points::from_flat(1, irregular.clone()).unwrap()), irregular.clone(), 0.5)
        };
        let largest = points.iter().map(|&x| f(x).abs()).fold(0.0, f64::max);
        close(largest, norm_bound, "B");
        let xi = Hallucination::Number(1.0);
        let mut study = study(domain, kernel("se", lengthscale), Rule::IgpBucb, norm_bound, xi);
        let run = play(&mut study, feedback(name), 20, |s| f(s.point[0]));
        let picks: Vec<usize> = run.iter().map(|s| s.choice.candidate).collect();
        assert_eq!(picks, indices(&expected["indices"]), "{name}");
        for (s, width) in run.iter().zip(floats(&expected["widths"])) {
            close(s.choice.multiplier, width, name);
        }
        let optimum = points.iter().map(|&x| f(x)).fold(f64::NEG_INFINITY, f64::max);
        let regret: f64 = run.iter().map(|s| optimum - f(s.point[0])).sum();
        close(regret, expected["regret_sum"].as_f64().unwrap(), "regret");
    }
}

#[test]
fn multipliers_match_the_reference() {
    let reference = reference();
    let rows = [
        ("beta_igp", Rule::IgpBucb, Hallucination::Number(1.0)),
        ("beta_igp_xi", Rule::IgpBucb, Hallucination::WorstCase),
        ("v_bts", Rule::GpBts, Hallucination::Number(1.0)),
        ("sqrtbeta_bucb", Rule::GpBucb, Hallucination::Number(1.0)),
    ];
    for name in ["se", "matern52"] {
        for setting in ["batch", "delay"] {
            let expected = &reference["kernels"][name]["widths_B1_5"][setting];
            let feedback = feedback(setting);
            let observed: Vec<usize> = (1..=10).map(feedback).collect();
            assert_eq!(observed, indices(&expected["S"]));
            for (entry, rule, xi) in rows {
                let mut study = study(grid100(), kernel(name, 0.2), rule, 1.5, xi);
                let run = play(&mut study, feedback, 10, |s| f(s.point[0]));
                for (s, width) in run.iter().zip(floats(&expected[entry])) {
                    close(s.choice.multiplier, width, &format!("{name} {setting} {entry} at t = {}", s.trial + 1));
                }
            }
        }
    }
}

#[test]
fn closed_forms_of_the_information_gain_match_the_reference() {
    let reference = reference();
    let closed = &reference["gamma_closed"];
    let (se, matern) = (kernel("se", 0.2), kernel("matern52", 0.2));
    for (i, t) in indices(&closed["t"]).into_iter().enumerate() {
        for d in [1, 2] {
            let expected = |entry: &str| floats(&closed[format!("{entry} d={d}").as_str()])[i];
            close(closed_form(&se, t, d).unwrap(), expected("se_d"), "squared exponential");
            // The order of Srinivas et al., (ln t)^(d+1), is that of one dimension more.
            close(closed_form(&se, t, d + 1).unwrap(), expected("se_d1"), "squared exponential, one more power");
            close(closed_form(&matern, t, d).unwrap(), expected("matern"), "Matern");
        }
    }
}

/// GP-BTS chooses by the law that four million independent draws found, within five standard errors of both.
#[test]
fn the_law_of_gp_bts_matches_the_reference() {
    const SEEDS: u64 = 40_000;
    let reference = reference();
    let law = &reference["bts_choice_law"];
    let (queries, rewards) = (indices(&law["queries"]), floats(&law["rewards"]));
    let scale = law["v"].as_f64().unwrap();
    let assumptions = Assumptions { norm_bound: 1.5, noise_bound: NOISE.sqrt(), noise: NOISE, delta: 0.1 };
    close(assumptions.gp_bts(law["gamma_S"].as_f64().unwrap(), 1.0), scale, "v");
    let log = [
        asked(0, queries[0]),
        asked(1, queries[1]),
        asked(2, queries[2]),
        Event::Told { trial: 0, value: rewards[0] },
        Event::Told { trial: 1, value: rewards[1] },
    ];
    let strategy = Strategy { hallucination: Hallucination::Number(1.0), ..Strategy::new(Rule::GpBts, 1.5) };
    let spec = |width: f64| {
        let domain = Domain::Points(Points::from_flat(1, floats(&law["domain"])).unwrap());
        let prior = Prior::new(kernel("se", 0.2), 0.0, NOISE).unwrap();
        Spec::new(domain, prior, Strategy { width, ..strategy.clone() }).unwrap()
    };
    // The reference fixes gamma_S = 1; here the realised gain stands, and `width` makes up the difference.
    let realised = Study::replay(spec(1.0), &log).unwrap().posterior().information();
    let spec = spec(scale / assumptions.gp_bts(realised, 1.0));
    let mut counts = [0usize; 5];
    for seed in 0..SEEDS {
        let mut study = Study::replay(spec.clone().with_seed(seed), &log).unwrap();
        let choice = study.ask(1).unwrap().remove(0).choice;
        close(choice.multiplier, scale, "v");
        close(choice.mean, floats(&law["mu"])[choice.candidate], "mean");
        close(choice.sd.powi(2), floats(&law["cov"][choice.candidate])[choice.candidate], "variance");
        counts[choice.candidate] += 1;
    }
    let errors = floats(&law["standard_error"]);
    for (i, p) in floats(&law["probabilities"]).into_iter().enumerate() {
        let found = counts[i] as f64 / SEEDS as f64;
        let error = (p * (1.0 - p) / SEEDS as f64 + errors[i].powi(2)).sqrt();
        assert!((found - p).abs() <= 5.0 * error, "candidate {i}: {found}, the reference has {p} +- {error}");
    }
}

/// The benchmark functions of the paper's experiments (Azimi et al. 2012) on their 31 x 31 grid.
#[test]
fn benchmark_functions_on_their_grid_match_the_reference() {
    use std::f64::consts::PI;
    let cosines = |x: &[f64]| {
        let term = |c: f64| (1.6 * c - 0.5).powi(2) - 0.3 * (3.0 * PI * (1.6 * c - 0.5)).cos();
        1.0 - term(x[0]) - term(x[1])
    };
    let rosenbrock = |x: &[f64]| 10.0 - 100.0 * (x[1] - x[0] * x[0]).powi(2) - (1.0 - x[0]).powi(2);
    let reference = reference();
    let grid = Grid::even(&[(0.0, 1.0, 31), (0.0, 1.0, 31)]).unwrap();
    for (name, f) in [("cosines", &cosines as &dyn Fn(&[f64]) -> f64), ("rosenbrock", &rosenbrock)] {
        let expected = &reference["benchmarks"][name];
        let number = |entry: &str| expected[entry].as_f64().unwrap();
        let values: Vec<f64> = (0..grid.len()).map(|i| f(&grid.point(i))).collect();
        let extreme = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).unwrap();
        close(extreme(f64::max), number("max"), "max");
        close(extreme(f64::min), number("min"), "min");
        close(extreme(|a, b| a.abs().max(b.abs())), number("maxabs"), "maxabs");
        close(values.iter().sum::<f64>() / values.len() as f64, number("mean"), "mean");
        let argmax = values.iter().position(|&v| v == extreme(f64::max)).unwrap();
        assert_eq!(argmax as u64, expected["argmax"].as_u64().unwrap());
        let points = reference["inputs"]["points_2d"].as_array().unwrap();
        for (point, value) in points.iter().zip(floats(&expected["at_points"])) {
            close(f(&floats(point)), value, "value at a point");
        }
    }
}
