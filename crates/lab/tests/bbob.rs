//! The BBOB set is COCO's: frozen values of its functions, and what their definitions promise.

use manyhands_core::Value;
use manyhands_lab::quality::problems::{all, bbob, bbob_set, bbob_with_noise, named};
use manyhands_lab::quality::{
    FLOOR, Optimizer, ProblemSet, Protocol, QualityBench, QualityRequest, SeededRun, Selection, SpaceProblem,
    TestProblem,
};
use manyhands_lab::trust::Trace;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// `function,dimension,instance,f_opt,x_opt in thousandths,f(x_opt so rounded),f(p_0),f(p_1),f(p_2)` for instances 1, 2,
/// 7 and 123 in six dimensions; the first line says where the values are from.
const COCO: &str = include_str!("data/bbob.csv");

/// A row of [`COCO`].
struct Frozen {
    function: usize,
    dimension: usize,
    instance: u64,
    best_value: f64,
    rounded_best: Vec<f64>,
    values: Vec<f64>,
}

impl Frozen {
    fn parse(line: &str) -> Self {
        let cells: Vec<&str> = line.split(',').collect();
        Self {
            function: cells[0].parse().unwrap(),
            dimension: cells[1].parse().unwrap(),
            instance: cells[2].parse().unwrap(),
            best_value: cells[3].parse().unwrap(),
            rounded_best: cells[4].split(' ').map(|x| x.parse::<f64>().unwrap() / 1000.0).collect(),
            values: cells[5..].iter().map(|value| value.parse().unwrap()).collect(),
        }
    }

    /// Where the values were taken, by the same exact arithmetic as in `peers/bbob_reference.py`.
    fn points(&self) -> Vec<Vec<f64>> {
        let coordinate = |n: usize, j: usize| ((j + 1) * (j + 2 * n + 3) * 7919 % 1001) as f64 - 500.0;
        let point = |n| (0..self.dimension).map(|j| coordinate(n, j) / 100.0).collect();
        std::iter::once(self.rounded_best.clone()).chain((0..3).map(point)).collect()
    }
}

fn frozen() -> impl Iterator<Item = Frozen> {
    COCO.lines().filter(|line| !line.starts_with('#')).map(Frozen::parse)
}

fn values(point: &[f64]) -> Vec<Value> {
    point.iter().map(|x| Value::Float(*x)).collect()
}

fn at(problem: &SpaceProblem, point: &[f64]) -> f64 {
    problem.value(&values(point)).unwrap()
}

fn best_point(problem: &SpaceProblem) -> Vec<f64> {
    problem.optimum().point.iter().map(|value| value.number().unwrap()).collect()
}

/// Adding f_opt rounds; what is added is computed with fewer digits.
fn rounding(problem: &SpaceProblem) -> f64 {
    4096.0 * f64::EPSILON * problem.optimum().value.abs().max(1.0)
}

/// The functions in small dimensions, in two instances.
fn instances() -> Vec<SpaceProblem> {
    let drawn = |seed: u64| {
        bbob_set(&[2, 3, 10]).unwrap().into_iter().map(move |problem| problem.instance(seed).unwrap().into_owned())
    };
    drawn(1).chain(drawn(9)).collect()
}

fn random_point(dimension: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..dimension).map(|_| rng.random_range(-5.0..=5.0)).collect()
}

/// Transformed coordinates lose digits where x_opt is subtracted: near it, where they are about 5e-4, they are known to
/// 1e-15/5e-4 = 2e-12 of themselves, and f - f_opt to some tens of that, since no function is steeper than a sixth power
/// of them, or than the waves of f16. Adding f_opt rounds once in COCO and once here.
#[test]
fn values_are_those_of_coco() {
    let mut rows = 0;
    for row in frozen() {
        let problem = bbob(row.function, row.dimension).unwrap();
        let problem = problem.instance(row.instance).unwrap();
        for (point, expected) in row.points().iter().zip(&row.values) {
            let (value, excess) = (at(&problem, point), (expected - row.best_value).abs());
            let allowed = 1e-9 * excess + 4.0 * f64::EPSILON * (expected.abs() + row.best_value.abs());
            let error = (value - expected).abs();
            let (name, instance) = (problem.name(), row.instance);
            assert!(error <= allowed, "{name}, instance {instance}: {value}, not {expected}: {error} above {allowed}");
        }
        rows += 1;
    }
    assert_eq!(rows, 24 * 6 * 4);
}

#[test]
fn optima_are_those_of_coco() {
    for row in frozen() {
        let problem = bbob(row.function, row.dimension).unwrap();
        let problem = problem.instance(row.instance).unwrap();
        assert_eq!(problem.optimum().value, row.best_value, "{}, instance {}", problem.name(), row.instance);
        let best = best_point(&problem);
        // Half of a thousandth, and the rounding of x_opt where it is a multiple of that.
        assert!(best.iter().zip(&row.rounded_best).all(|(x, rounded)| (x - rounded).abs() <= 5e-4 + 1e-14));
    }
}

#[test]
fn the_optimum_has_its_value_and_no_point_is_lower() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for problem in instances() {
        let (best, lowest) = (best_point(&problem), problem.optimum().value);
        let error = (at(&problem, &best) - lowest).abs();
        assert!(error <= rounding(&problem), "{}: {error}", problem.name());
        let far = (0..300).map(|_| random_point(best.len(), &mut rng)).collect::<Vec<_>>();
        // From the width of the box down to 1e-12 of it.
        let near = (0..300).map(|i| {
            let size = 10f64.powf(1.0 - 0.04 * f64::from(i));
            best.iter().map(|x| (x + size * rng.random_range(-1.0..=1.0)).clamp(-5.0, 5.0)).collect()
        });
        for point in near.chain(far) {
            let value = at(&problem, &point);
            assert!(value >= lowest - rounding(&problem), "{}: {value} at {point:?}", problem.name());
        }
    }
}

#[test]
fn the_best_point_is_in_the_box_and_never_in_its_centre() {
    for problem in instances() {
        let best = best_point(&problem);
        assert!(best.iter().all(|x| x.abs() <= 5.0));
        let value = at(&problem, &vec![0.0; best.len()]);
        assert!(value > problem.optimum().value + 1e-3, "{}: {value} in the centre", problem.name());
    }
}

#[test]
fn instances_differ_and_the_first_is_the_problem_itself() {
    for problem in bbob_set(&[2, 5]).unwrap() {
        let point = vec![0.5; problem.dimension()];
        let values: Vec<f64> = (1..=5).map(|seed| at(&problem.instance(seed).unwrap(), &point)).collect();
        assert_eq!(values[0], at(&problem, &point));
        assert!((0..5).all(|i| values[..i].iter().all(|other| *other != values[i])), "{}: {values:?}", problem.name());
        assert!((1..=5).all(|seed| problem.instance(seed).unwrap().name() == problem.name()));
    }
    let branin = named(&["branin".to_string()]).unwrap().remove(0);
    assert_eq!(branin.instance(3).unwrap().optimum(), branin.optimum());
    assert!(!branin.is_drawn() && branin.floor() == FLOOR);
}

#[test]
fn corners_and_the_smallest_dimension_have_finite_values() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for problem in bbob_set(&[2, 7, 40]).unwrap() {
        let mut corner =
            || (0..problem.dimension()).map(|_| if rng.random() { 5.0 } else { -5.0 }).collect::<Vec<f64>>();
        assert!((0..20).all(|_| at(&problem, &corner()).is_finite()), "{}", problem.name());
        for all in [-5.0, 0.0, 5.0] {
            assert!(at(&problem, &vec![all; problem.dimension()]).is_finite(), "{}", problem.name());
        }
    }
}

#[test]
fn a_run_is_on_the_instance_of_its_seed() {
    let protocol = Protocol { evaluations: Some(30), ..Protocol::default() };
    for name in ["bbob-f15-d5", "bbob-f01-d2-noise-20"] {
        let problem = named(&[name.to_string()]).unwrap().remove(0);
        for seed in [1, 2, 77] {
            let run = SeededRun::new(name, seed);
            let performance = |instance: &SpaceProblem| {
                let mut active = Optimizer::Random.start(instance, &protocol, &run).unwrap();
                instance.performance(active.as_mut(), &protocol, &run).unwrap()
            };
            let made = problem.run(&Optimizer::Random, &protocol, &run).unwrap().performance;
            assert_eq!(made, performance(&problem.instance(seed).unwrap()));
            assert_eq!(made == performance(&problem), seed == 1);
        }
    }
}

/// A sphere is easy; judged by the optimum of another instance its regret would be above 1.
#[test]
fn a_trace_is_on_the_instance_of_its_seed_and_reports_name_no_optimum() {
    let sphere = bbob(1, 2).unwrap();
    let trace = Trace::of(&sphere, 2).unwrap();
    assert!(trace.checks.iter().all(|check| check.regret < 1e-2), "{:?}", trace.checks);
    assert_eq!(trace.floor, 1e-8);
    let protocol = Protocol { seeds: 1, evaluations: Some(5), ..Protocol::default() };
    let names = vec![sphere.name().to_string()];
    let bench = QualityBench::new(QualityRequest { names, protocol, ..QualityRequest::default() }).unwrap();
    let json = bench.run(&|| ()).unwrap().to_json();
    assert!(json["problems"][0]["optimum"].is_null() && json["problems"][0]["noise_sd"].is_null());
}

#[test]
fn regrets_end_at_the_last_target_of_the_benchmark() {
    struct Best(Vec<Value>);
    impl manyhands_lab::quality::ActiveOptimizer for Best {
        fn ask(&mut self, count: usize) -> manyhands_lab::Result<Vec<(usize, Vec<Value>)>> {
            Ok(vec![(0, self.0.clone()); count])
        }
        fn tell(&mut self, _: usize, _: f64) -> manyhands_lab::Result<()> {
            Ok(())
        }
    }
    let problem = bbob(3, 2).unwrap();
    let (protocol, run) = (Protocol { evaluations: Some(5), ..Protocol::default() }, SeededRun::new("best", 1));
    let performance = problem.performance(&mut Best(problem.optimum().point.clone()), &protocol, &run).unwrap();
    assert_eq!((performance.simple, performance.inference, problem.floor()), (vec![1e-8; 5], 1e-8, 1e-8));
}

/// The estimate from 1,024 points against 20,000 random draws. Of as many random draws, two standard errors would be
/// sqrt((kurtosis - 1)/1024), below 15 % for a kurtosis up to 20; f12, whose tails are far heavier, is left out.
#[test]
fn noise_is_a_part_of_every_instances_own_spread() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (function, dimension, seed) in [(1, 2, 1), (5, 10, 2), (8, 3, 3), (16, 2, 4), (21, 10, 1), (24, 5, 2)] {
        let noisy = bbob_with_noise(function, dimension, 5).unwrap();
        let noisy = noisy.instance(seed).unwrap();
        let values: Vec<f64> = (0..20_000).map(|_| at(&noisy, &random_point(dimension, &mut rng))).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        assert!((noisy.noise() / (0.05 * spread) - 1.0).abs() < 0.15, "{}: {}", noisy.name(), noisy.noise() / spread);
        assert_eq!(noisy.noise(), bbob_with_noise(function, dimension, 5).unwrap().instance(seed).unwrap().noise());
    }
    let noise = |seed| bbob_with_noise(9, 2, 20).unwrap().instance(seed).unwrap().noise();
    assert_ne!(noise(1), noise(2));
    assert_eq!(bbob(9, 2).unwrap().instance(2).unwrap().noise(), 0.0);
}

#[test]
fn the_set_is_found_by_name_and_is_not_among_the_usual_problems() {
    let names = ["bbob-f24-d40", "levy10", "bbob-f01-d2", "bbob-f07-d3-noise-100", "branin", "bbob-f01-d2"];
    let names = names.map(String::from);
    let found = |problems: Vec<SpaceProblem>| problems.iter().map(|p| p.name().to_string()).collect::<Vec<_>>();
    let expected = ["branin", "levy10", "bbob-f24-d40", "bbob-f01-d2", "bbob-f07-d3-noise-100"];
    assert_eq!(found(named(&names).unwrap()), expected);
    assert_eq!(found(Selection::new(&names, &ProblemSet::Tuning, None).unwrap().problems), expected);
    assert!(all().unwrap().iter().all(|problem| !problem.is_drawn()));
    let set = bbob_set(&[2, 3, 5, 10, 20, 40]).unwrap();
    assert_eq!(set.len(), 144);
    for problem in set.iter().filter(|problem| problem.dimension() < 10) {
        assert_eq!(named(&[problem.name().to_string()]).unwrap()[0].optimum(), problem.optimum());
    }
}

#[test]
fn unknown_names_are_answered_with_the_pattern_and_wrong_numbers_with_the_range() {
    for wrong in
        ["bbob-f25-d2", "bbob-f00-d2", "bbob-f1-d2", "bbob-f01-d4", "bbob-f01-d2-noise-7", "bbob", "bbob-f01-d2-"]
    {
        let error = Selection::new(&[wrong.to_string()], &ProblemSet::Tuning, None).unwrap_err().to_string();
        assert!(error.contains(&format!("\"{wrong}\"")) && error.contains("bbob-fNN-dD"), "{error}");
        assert!(error.contains("suzuki") && error.len() < 900, "{error}");
    }
    let refused = |problem: manyhands_lab::Result<SpaceProblem>| problem.unwrap_err().to_string();
    assert!(refused(bbob(25, 2)).contains("from 1 to 24, got 25"));
    assert!(refused(bbob(1, 1)).contains("at least 2, got 1"));
    for seed in [0, 200_001] {
        let error = bbob(1, 2).unwrap().instance(seed).unwrap_err().to_string();
        assert!(error.contains(&format!("from 1 to 200000, got {seed}")), "{error}");
    }
    assert!(bbob(24, 2).unwrap().instance(200_000).is_ok());
}
