//! The test problems are what the paper says they are.

use std::path::PathBuf;

use crate::studies::{dot, solve};
use manyhands_core::Domain;
use manyhands_gp::{Grid, Kernel, Points, Prior};
use manyhands_lab::experiment::{FiniteProblem, NumericTable};
use manyhands_lab::problems::{RkhsFunction, Sensors, cosines, field, light, rkhs_function, rosenbrock, temperature};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn kernels() -> [Kernel; 2] {
    [Kernel::squared_exponential(&[0.2]).unwrap(), Kernel::matern(2.5, &[0.2]).unwrap()]
}

#[test]
fn an_rkhs_function_is_scaled_to_one_on_a_hundred_points() {
    for (kernel, seed) in kernels().into_iter().flat_map(|kernel| (0..20).map(move |seed| (kernel.clone(), seed))) {
        let problem = rkhs_function(kernel, 0.025, &mut rng(seed)).unwrap();
        assert_eq!(problem.values().len(), 100);
        assert_eq!(problem.largest(), 1.0);
        assert_eq!(problem.prior().noise(), 0.025);
        let Domain::Grid(grid) = problem.domain() else { unreachable!("a grid") };
        assert_eq!((grid.axes()[0][0], grid.axes()[0][99]), (0.0, 1.0));
    }
}

/// 100 terms, each summed with a relative error of eps.
#[test]
fn an_rkhs_function_is_known_beyond_its_candidates() {
    for (kernel, seed) in kernels().into_iter().flat_map(|kernel| (0..5).map(move |seed| (kernel.clone(), seed))) {
        let problem = rkhs_function(kernel, 0.025, &mut rng(seed)).unwrap();
        let (function, Domain::Grid(grid)) = (problem.function().unwrap(), problem.domain()) else {
            unreachable!("a grid")
        };
        for (x, value) in grid.axes()[0].iter().zip(problem.values()) {
            assert!((function.value(*x) - value).abs() <= 1e-12, "seed {seed} at {x}");
        }
        assert!((function.norm() / problem.norm().unwrap() - 1.0).abs() <= 1e-9, "seed {seed}");
    }
}

/// |f''| <= ||f|| sup sqrt(d^4 k/dx^2 dy^2), which is sqrt(3)/l^2 for the squared exponential and 5/l^2 for Matern 5/2, so
/// that a grid of spacing h misses the maximum by at most 5 ||f||/l^2 h^2/8.
#[test]
fn the_maximum_over_the_interval_is_that_of_brute_force() {
    for (kernel, seed) in kernels().into_iter().flat_map(|kernel| (0..6).map(move |seed| (kernel.clone(), seed))) {
        let problem = rkhs_function(kernel, 0.025, &mut rng(seed)).unwrap();
        let (function, steps) = (problem.function().unwrap(), 20_000);
        let brute = (0..=steps).map(|i| function.value(f64::from(i) / f64::from(steps))).fold(f64::MIN, f64::max);
        let missed = 5.0 * problem.norm().unwrap() / 0.04 / f64::from(steps).powi(2) / 8.0;
        let found = function.maximum();
        assert!(found >= brute - 1e-12 && found <= brute + missed + 1e-12, "seed {seed}: {found}, brute force {brute}");
    }
    // At an end of the interval, and of a function that is smaller everywhere else by far.
    let kernel = Kernel::squared_exponential(&[0.2]).unwrap();
    let at_an_end = RkhsFunction::new(kernel, [(1.0, 2.0), (0.5, -1.0)]).unwrap();
    assert_eq!(at_an_end.maximum(), at_an_end.value(1.0));
}

/// f = sum_i a_i k(c_i, .) = sum_i (a_i/4) 4 k(c_i, .).
#[test]
fn under_a_kernel_four_times_as_large_a_function_has_half_the_norm() {
    let terms = [(0.1, 1.0), (0.35, -0.7), (0.8, 0.4)];
    for kernel in kernels() {
        let function = RkhsFunction::new(kernel.clone(), terms).unwrap();
        let prior = Prior::new(kernel.clone(), 0.0, 0.025).unwrap();
        let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 3)]).unwrap());
        let values = [0.0, 0.5, 1.0].map(|x| function.value(x)).to_vec();
        let problem = FiniteProblem::new("three terms", domain, prior, values.clone()).unwrap();
        let larger = problem.with_norm(function.norm()).with_kernel_times(4.0).unwrap();
        let quarter = terms.map(|(c, a)| (c, a / 4.0));
        let again = RkhsFunction::new(kernel.with_variance(4.0).unwrap(), quarter).unwrap();
        assert!((again.value(0.3) - function.value(0.3)).abs() <= 1e-14);
        assert!((larger.norm().unwrap() / again.norm() - 1.0).abs() <= 1e-12);
        assert_eq!((larger.prior().kernel().variance(), larger.prior().noise()), (4.0, 0.025));
        assert_eq!(larger.values(), values);
    }
}

/// The function of least norm through some of its values is an independent lower bound of the norm, and with enough
/// values it is all but the function itself.
#[test]
fn the_norm_of_an_rkhs_function_is_that_of_its_interpolation() {
    let kernel = Kernel::matern(2.5, &[0.2]).unwrap();
    for seed in 0..10 {
        let problem = rkhs_function(kernel.clone(), 0.025, &mut rng(seed)).unwrap();
        let Domain::Grid(grid) = problem.domain() else { unreachable!("a grid") };
        let sites: Vec<usize> = (0..100).step_by(3).collect();
        let values: Vec<f64> = sites.iter().map(|&i| problem.values()[i]).collect();
        let k = |i: usize, j: usize| kernel.covariance(&grid.point(i), &grid.point(j));
        let gram = sites.iter().map(|&i| sites.iter().map(|&j| k(i, j)).collect()).collect();
        let (solved, _) = solve(gram, vec![values.clone()]);
        let interpolated = dot(&values, &solved[0]).sqrt();
        let norm = problem.norm().unwrap();
        assert!(interpolated <= norm * (1.0 + 1e-6), "seed {seed}: {interpolated} above {norm}");
        assert!(interpolated >= 0.95 * norm, "seed {seed}: {interpolated} far below {norm}");
        assert!(norm >= 1.0, "|f(x)| <= norm sqrt(k(x, x)) and max |f| = 1");
    }
}

#[test]
fn the_benchmarks_are_those_of_the_reference() {
    let text = include_str!("../../gp/tests/data/reference.json");
    let reference: serde_json::Value = serde_json::from_str(text).unwrap();
    for (name, problem) in [("cosines", cosines(0.025).unwrap()), ("rosenbrock", rosenbrock(0.025).unwrap())] {
        let expected = &reference["benchmarks"][name];
        let number = |key: &str| expected[key].as_f64().unwrap();
        assert_eq!(problem.values().len(), 961);
        assert!((problem.optimum() - number("max")).abs() < 1e-8, "{name}: {}", problem.optimum());
        let lowest = problem.optimum() - problem.range();
        assert!((lowest - number("min")).abs() < 1e-8, "{name}: {lowest}");
        assert!((problem.largest() - number("maxabs")).abs() < 1e-8);
        let mean = problem.values().iter().sum::<f64>() / 961.0;
        assert!((mean - number("mean")).abs() < 1e-8, "{name}: {mean}");
        let best = problem.values().iter().position(|value| *value == problem.optimum()).unwrap();
        assert_eq!(best as u64, expected["argmax"].as_u64().unwrap());
        assert_eq!(problem.prior().kernel().lengthscales(), [0.1f64.sqrt()]);
    }
}

fn table(rows: &[[f64; 2]]) -> NumericTable {
    NumericTable::new("t", vec!["a".into(), "b".into()], rows.iter().map(|row| row.to_vec()).collect()).unwrap()
}

/// Readings 1, 2, 6 and 3, 5, 1: means 3 and 3, variances 7 and 4, covariance -4, average variance 5.5, grand mean 3.
#[test]
fn sensors_by_hand() {
    let sensors = Sensors::new("hand", &table(&[[1., 3.], [2., 5.], [6., 1.]]), &table(&[[3., 14.]])).unwrap();
    assert!((sensors.average_variance() - 5.5).abs() < 1e-14);
    let problem = sensors.draw(1, &mut rng(1)).unwrap().remove(0);
    let k = |i: usize, j: usize| problem.prior().kernel().covariance(&[i as f64], &[j as f64]);
    for (i, j, covariance) in [(0, 0, 7.0), (1, 1, 4.0), (0, 1, -4.0), (1, 0, -4.0)] {
        assert!((k(i, j) - covariance / 5.5).abs() < 1e-14, "k({i}, {j}) = {}", k(i, j));
    }
    assert_eq!(problem.prior().noise(), 0.05);
    assert!((problem.values()[0] - 0.0).abs() < 1e-14);
    assert!((problem.values()[1] - 11.0 / 5.5f64.sqrt()).abs() < 1e-14);
}

#[test]
fn test_rows_are_drawn_once_and_fewer_are_the_first_of_more() {
    let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i), f64::from(i * i % 7)]).collect();
    let sensors = Sensors::new("rows", &table(&rows), &table(&rows)).unwrap();
    let names = |count, seed| -> Vec<String> {
        sensors.draw(count, &mut rng(seed)).unwrap().iter().map(|problem| problem.name().to_string()).collect()
    };
    let (few, many) = (names(5, 3), names(40, 3));
    assert_eq!(few, many[..5]);
    assert_ne!(few, names(5, 4));
    let mut sorted = many.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), 40, "no row twice");
    let told = sensors.draw(41, &mut rng(3)).unwrap_err().to_string();
    assert_eq!(told, "functions must be at most 40, the number of test rows of the rows readings, got 41");
}

#[test]
fn the_synthetic_field_has_the_size_and_spread_it_says() {
    let field = field(&mut rng(1)).unwrap();
    assert_eq!(field.test_rows(), 300);
    // A spatial variance of 1, half of a share of about 1 from the cycle, and 0.01: within the spread of the shares.
    assert!((1.2..2.0).contains(&field.average_variance()), "{}", field.average_variance());
    assert_eq!(field.draw(25, &mut rng(1)).unwrap()[0].values().len(), 50);
}

#[test]
fn what_is_no_problem_is_refused() {
    let prior = || Prior::new(Kernel::squared_exponential(&[0.2]).unwrap(), 0.0, 0.1).unwrap();
    let grid = || Domain::Grid(Grid::even(&[(0.0, 1.0, 3)]).unwrap());
    let refusal = |domain, values| FiniteProblem::new("p", domain, prior(), values).unwrap_err().to_string();
    assert!(refusal(grid(), vec![1.0]).contains("1 values for 3 candidates"));
    assert!(refusal(grid(), vec![1.0, f64::NAN, 0.0]).contains("finite, got NaN"));
    assert!(refusal(grid(), vec![0.0; 3]).contains("0 everywhere"));
    assert!(refusal(Domain::Discretized { side: 1.0, dimension: 1 }, vec![]).contains("finite"));
    let points = Domain::Points(Points::from_rows(&[vec![0.5], vec![0.7]]).unwrap());
    let problem = FiniteProblem::new("p", points, prior(), vec![-1.0, -3.0]).unwrap();
    assert_eq!((problem.optimum(), problem.range(), problem.largest()), (-1.0, 2.0, 3.0));
}

/// The numbers published with the sensor files, where the files are at hand.
#[test]
fn the_sensor_files_are_the_papers() {
    let Some(data) = std::env::var_os("MANYHANDS_DATA").map(PathBuf::from) else {
        eprintln!("skipped: MANYHANDS_DATA names no folder with the sensor files");
        return;
    };
    let light = light(&data).unwrap();
    assert!((light.average_variance() - 8496.0634).abs() < 1e-3, "{}", light.average_variance());
    assert_eq!(light.test_rows(), 192);
    let temperature = temperature(&data).unwrap();
    assert_eq!(temperature.test_rows(), 2400);
    assert_eq!(temperature.draw(1, &mut rng(1)).unwrap()[0].values().len(), 52);
    let all = NumericTable::read(data.join("intel_lab/intel_temp_1min.csv.gz"), "minute").unwrap();
    let whole = Sensors::new("all", &all, &all).unwrap();
    assert!((whole.average_variance() - 10.6510).abs() < 1e-3, "{}", whole.average_variance());
}
