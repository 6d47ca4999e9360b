//! The problems of `bench quality` are what they say: their optima are optima, their noise is in proportion.

use manyhands_core::{Direction, ParameterKind, Relation, Value};
use manyhands_lab::quality::problems::{BRANIN_SPREAD, HARTMANN6_SPREAD, all, further, named};
use manyhands_lab::quality::{RandomSearch, SpaceProblem};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn search(problem: &SpaceProblem, seed: u64) -> RandomSearch {
    RandomSearch::new(problem.space().clone(), ChaCha8Rng::seed_from_u64(seed)).unwrap()
}

/// How much better than the optimum a value is; negative if it is worse.
fn gain(problem: &SpaceProblem, value: f64) -> f64 {
    match problem.direction() {
        Direction::Maximize => value - problem.optimum().value,
        Direction::Minimize => problem.optimum().value - value,
    }
}

/// Rounding of a value whose terms are up to a hundred times its size: below 1e-12 of it, where regrets end.
fn rounding(problem: &SpaceProblem) -> f64 {
    4096.0 * f64::EPSILON * problem.optimum().value.abs().max(1.0)
}

/// One problem of every function: noise changes no truth.
fn noiseless() -> Vec<SpaceProblem> {
    let every = all().unwrap().into_iter().chain(further().unwrap());
    every.filter(|problem| problem.noise() == 0.0).collect()
}

#[test]
fn the_optimum_has_its_value() {
    for problem in all().unwrap().into_iter().chain(further().unwrap()) {
        let value = problem.value(&problem.optimum().point).unwrap();
        let error = problem.regret(value);
        assert!(error <= rounding(&problem), "{}: {value} is {error} from the optimum", problem.name());
    }
}

/// Moves a point a little in every number; categories and lists are left to the draws. Under an equality one number
/// takes back what another gets.
fn nudged(problem: &SpaceProblem, point: &[Value], size: f64, rng: &mut ChaCha8Rng) -> Vec<Value> {
    let mut next = point.to_vec();
    for (value, parameter) in next.iter_mut().zip(problem.space().parameters()) {
        if let (Value::Float(x), ParameterKind::Float { low, high, .. }) = (&mut *value, parameter.kind()) {
            *x = (*x + size * (high - low) * rng.random_range(-1.0..=1.0)).clamp(*low, *high);
        }
    }
    let equality = problem.space().constraints().iter().any(|constraint| constraint.relation == Relation::Equals);
    if equality {
        let last = next.len() - 1;
        let others: f64 = next[..last].iter().filter_map(Value::number).sum();
        next[last] = Value::Float(1.0 - others);
    }
    next
}

/// 20,000 random points, then descents by shrinking random steps from the best twenty and from the optimum itself.
#[test]
fn nothing_beats_the_optimum() {
    for problem in noiseless() {
        let (mut draws, mut rng) = (search(&problem, 1), ChaCha8Rng::seed_from_u64(2));
        let mut starts: Vec<(f64, Vec<Value>)> = (0..20_000)
            .map(|_| draws.draw().unwrap())
            .map(|point| (gain(&problem, problem.value(&point).unwrap()), point))
            .collect();
        starts.sort_by(|a, b| b.0.total_cmp(&a.0));
        starts.truncate(20);
        starts.push((0.0, problem.optimum().point.clone()));
        for (mut best, mut point) in starts {
            for step in 0..3_000 {
                let next = nudged(&problem, &point, 0.2 * 0.99f64.powi(step), &mut rng);
                let Ok(value) = problem.value(&next) else { continue };
                if gain(&problem, value) > best {
                    (best, point) = (gain(&problem, value), next);
                }
            }
            // A constraint holds within 1e-9; a value may be better by what that is worth.
            let allowed = if problem.space().constraints().is_empty() { rounding(&problem) } else { 1e-7 };
            assert!(best <= allowed, "{}: {point:?} is better than the optimum by {best}", problem.name());
        }
    }
}

/// Central differences of a small step h, whose error is of order h^2 f''' + eps |f|/h. Exempt are a cusp, a corner
/// and an optimum on the edge of a constraint; the next two tests look at the latter two.
#[test]
fn slopes_vanish_at_interior_optima() {
    for problem in noiseless() {
        if ["ackley5", "borehole", "branin-constrained"].contains(&problem.name()) {
            continue;
        }
        let best = &problem.optimum().point;
        for (i, parameter) in problem.space().parameters().iter().enumerate() {
            let ParameterKind::Float { low, high, .. } = parameter.kind() else { continue };
            let centre = best[i].number().unwrap();
            let step = 1e-5 * (high - low).min(centre.abs().max(1e-3));
            let at = |x: f64| {
                let mut point = best.clone();
                point[i] = Value::Float(x);
                // A mixture keeps its sum: the next share gives what this one takes.
                if problem.name() == "mixture" {
                    let next = (i + 1) % 3;
                    point[next] = Value::Float(best[next].number().unwrap() - (x - centre));
                }
                problem.value(&point).unwrap()
            };
            let slope = (at(centre + step) - at(centre - step)) / (2.0 * step);
            let curvature = ((at(centre + step) - 2.0 * at(centre) + at(centre - step)) / (step * step)).abs();
            let size = problem.optimum().value.abs().max(1.0);
            let allowed = 1e-4 * curvature * step.max(1e-8) + 64.0 * f64::EPSILON * size / step;
            assert!(slope.abs() <= allowed, "{}, x{}: slope {slope}, allowed {allowed}", problem.name(), i + 1);
        }
    }
}

#[test]
fn on_the_edge_of_the_constraint_the_slope_points_out() {
    let problem = named(&["branin-constrained".to_string()]).unwrap().remove(0);
    let [x, y] = [0, 1].map(|i| problem.optimum().point[i].number().unwrap());
    let at = |x: f64, y: f64| problem.value(&[Value::Float(x), Value::Float(y)]).unwrap();
    let h = 1e-5;
    let along = (at(x + h, y - h) - at(x - h, y + h)) / (2.0 * h);
    assert!(along.abs() < 1e-6, "{along}");
    assert!(at(x - h, y - h) > at(x, y), "inwards it gets worse");
}

#[test]
fn in_the_corner_every_slope_points_out() {
    let problem = named(&["borehole".to_string()]).unwrap().remove(0);
    let best = &problem.optimum().point;
    for (i, parameter) in problem.space().parameters().iter().enumerate() {
        let ParameterKind::Float { low, high, .. } = parameter.kind() else { unreachable!() };
        let mut point = best.clone();
        point[i] = Value::Float(0.5 * (low + high));
        assert!(gain(&problem, problem.value(&point).unwrap()) < 0.0, "{}", parameter.name());
    }
}

/// The sample variance of 40,000 uniform draws against the frozen one, within five of its standard errors.
#[test]
fn spreads_are_those_of_uniform_inputs() {
    let training = all().unwrap().into_iter().find(|problem| problem.name() == "training-noise-20").unwrap();
    let spreads = [("branin", BRANIN_SPREAD), ("hartmann6", HARTMANN6_SPREAD), ("training", training.noise() / 0.2)];
    for (name, spread) in spreads {
        let problem = named(&[name.to_string()]).unwrap().remove(0);
        let mut draws = search(&problem, 3);
        let values: Vec<f64> = (0..40_000).map(|_| problem.value(&draws.draw().unwrap()).unwrap()).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let moment = |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
        let error = ((moment(4) - moment(2).powi(2)) / n).sqrt();
        assert!((moment(2) - spread * spread).abs() <= 5.0 * error, "{name}: {} for {spread}", moment(2).sqrt());
    }
}

#[test]
fn noise_is_a_part_of_the_spread() {
    let noise = |name: &str| named(&[name.to_string()]).unwrap()[0].noise();
    assert_eq!(noise("branin"), 0.0);
    assert!((noise("branin-noise-5") - 0.05 * BRANIN_SPREAD).abs() < 1e-15 * BRANIN_SPREAD);
    assert!((noise("hartmann6-noise-100") - HARTMANN6_SPREAD).abs() < 1e-15);
}

#[test]
fn names_are_unique_and_dimensions_go_from_one_to_ten() {
    let problems = all().unwrap();
    for (i, problem) in problems.iter().enumerate() {
        assert!(problems[..i].iter().all(|other| other.name() != problem.name()), "{}", problem.name());
    }
    assert_eq!(problems.iter().map(SpaceProblem::dimension).min(), Some(1));
    assert_eq!(problems.iter().map(SpaceProblem::dimension).max(), Some(10));
}

#[test]
fn one_wrong_category_costs_what_the_second_best_optimum_does() {
    let others = [("coupling", 1, "c3"), ("network", 3, "c1"), ("switches", 0, "c0")];
    for (name, position, category) in others {
        let problem = &named(&[name.to_string()]).unwrap()[0];
        let second = problem.second_best().unwrap();
        let mut point = problem.optimum().point.clone();
        point[position] = category.into();
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let mut least = problem.regret(problem.value(&point).unwrap());
        // The numbers that suit the other category are found by shrinking random steps.
        for step in 0..20_000 {
            let next = nudged(problem, &point, 0.3 * 0.999f64.powi(step), rng);
            let there = problem.regret(problem.value(&next).unwrap());
            if there < least {
                (point, least) = (next, there);
            }
        }
        assert!((least - second).abs() < 1e-6 * second, "{name}: {least} against {second}");
    }
}

#[test]
fn points_outside_of_a_space_are_refused_with_the_reason() {
    let refusal =
        |name: &str, point: Vec<Value>| named(&[name.to_string()]).unwrap()[0].value(&point).unwrap_err().to_string();
    assert!(refusal("branin", vec![0.0.into()]).contains("it has 1 values for 2 parameters"));
    assert!(refusal("branin", vec![0.0.into(), 16.0.into()]).contains("16 is not a value of parameter \"x2\""));
    let mixture = refusal("mixture", vec![0.2.into(), 0.5.into(), 0.4.into()]);
    assert!(mixture.contains("it breaks the constraint 1 a + 1 b + 1 c equal to 1"), "{mixture}");
    let training = refusal("training", vec![1e-3.into(), 0.5.into(), Value::Int(2), 64.0.into(), "sine".into()]);
    assert!(training.contains("\"sine\" is not a value of parameter \"activation\""), "{training}");
}
