//! Every number of the frozen reference that the numeric room answers for.

use std::sync::Arc;

use manyhands_gp::{Domain, GreedyInformation, Grid, Kernel, Key, Points, Posterior, Prior, Restricted};
use serde_json::Value;

const NOISE: f64 = 0.025;
const TOLERANCE: f64 = 1e-8;

fn reference() -> Value {
    serde_json::from_str(include_str!("data/reference.json")).unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}

fn kernel(name: &str, lengthscale: f64) -> Kernel {
    match name {
        "se" => Kernel::squared_exponential(&[lengthscale]).unwrap(),
        _ => Kernel::matern(2.5, &[lengthscale]).unwrap(),
    }
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= TOLERANCE, "{what}: {found}, the reference has {expected}");
}

fn key(id: usize) -> Key {
    Key { id: id as u64, site: id }
}

/// The reference's posterior: twelve observations and four pending points.
fn posterior(reference: &Value, name: &str) -> Posterior {
    let inputs = &reference["inputs"];
    let mut posterior = Posterior::new(Prior::new(kernel(name, 0.2), 0.0, NOISE).unwrap(), 1).unwrap();
    for (i, (x, y)) in floats(&inputs["train_x"]).into_iter().zip(floats(&inputs["train_y"])).enumerate() {
        posterior.observe(key(i), &[x], y).unwrap();
    }
    for (i, x) in floats(&inputs["pending_x"]).into_iter().enumerate() {
        posterior.hallucinate(key(100 + i), &[x]).unwrap();
    }
    posterior
}

#[test]
fn posterior_numbers_match_the_reference() {
    let reference = reference();
    for name in ["se", "matern52"] {
        let posterior = posterior(&reference, name);
        let expected = &reference["kernels"][name]["posterior"];
        let test = floats(&reference["inputs"]["test_x"]);
        let predicted: Vec<_> = test.iter().map(|&x| posterior.predict(&[x]).unwrap()).collect();
        for (i, p) in predicted.iter().enumerate() {
            close(p.mean, floats(&expected["mean"])[i], "mean");
            close(p.mean, floats(&expected["mean_hallucinated"])[i], "mean with hallucinations");
            close(p.sd_observed.powi(2), floats(&expected["var"])[i], "variance");
            close(p.sd.powi(2), floats(&expected["var_hallucinated"])[i], "variance with hallucinations");
            close(p.sd_observed / p.sd, floats(&expected["sd_ratio"])[i], "ratio of sds");
        }
        for (x, m) in floats(&reference["inputs"]["pending_x"]).iter().zip(floats(&expected["mean_at_pending"])) {
            close(posterior.predict(&[*x]).unwrap().mean, m, "mean at a pending point");
        }
        let points = Points::from_flat(1, test.clone()).unwrap();
        let covariance = posterior.view().observed_only().covariance(&points).unwrap();
        for (i, row) in expected["cov"].as_array().unwrap().iter().enumerate() {
            for (j, c) in floats(row).into_iter().enumerate() {
                close(covariance[i * test.len() + j], c, "covariance");
            }
        }
        close(posterior.information(), expected["info_gain"].as_f64().unwrap(), "information gain");
        close(
            posterior.log_marginal_likelihood(),
            expected["log_marginal"].as_f64().unwrap(),
            "log marginal likelihood",
        );
    }
}

#[test]
fn greedy_information_matches_the_reference() {
    let reference = reference();
    let irregular = Points::from_flat(1, (0..40).map(|i| (i as f64 / 39.0).powf(1.3)).collect()).unwrap();
    let grid = Grid::even(&[(0.0, 1.0, 100)]).unwrap();
    let domains =
        [("gamma_greedy_grid100", Domain::Grid(grid), 0.2), ("gamma_greedy_irregular", Domain::Points(irregular), 0.5)];
    for name in ["se", "matern52"] {
        for (entry, domain, lengthscale) in &domains {
            let expected = &reference["kernels"][name][*entry];
            let kernel = kernel(name, *lengthscale);
            let prior = Prior::new(kernel.clone(), 0.0, NOISE).unwrap();
            let restricted = Arc::new(Restricted::new(kernel, domain.clone(), 1 << 28).unwrap());
            let mut greedy = GreedyInformation::new(prior, restricted).unwrap();
            assert_eq!(greedy.picks(10).unwrap(), indices(&expected["indices"]), "{name} {entry}");
            for (t, gamma) in floats(&expected["gamma_1_to_10"]).into_iter().enumerate() {
                close(greedy.gain(t + 1).unwrap(), gamma, entry);
            }
        }
    }
}
