//! Choosing and certifying on spaces that are searched, with a given model: brute force is the oracle.

use crate::common::{dot, matern, rng, se, uniform};
use manyhands_core::gp::{Grid, Kernel, Prior};
use manyhands_core::{
    BoundKind, Direction, Domain, Error, Hallucination, Information, Initial, Parameter, Phase, Rule, Space, Spec,
    Strategy, Study, Suggestion, Value,
};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

const NOISE: f64 = 0.01;

fn cube(dimension: usize) -> Domain {
    let axis = |i| Parameter::float(&format!("x{i}"), 0.0, 1.0).unwrap();
    Domain::Space(Space::new((0..dimension).map(axis).collect(), vec![]).unwrap())
}

fn given(domain: Domain, kernel: Kernel, strategy: Strategy) -> manyhands_core::Result<Spec> {
    Spec::new(domain, Prior::new(kernel, 0.0, NOISE).unwrap(), strategy)
}

fn study(spec: &Spec) -> Study {
    Study::new(spec.clone()).unwrap()
}

/// Every point of an even grid over the unit cube.
fn dense(dimension: usize) -> Vec<Vec<f64>> {
    let grid = match dimension {
        1 => Grid::even(&[(0.0, 1.0, 2001)]).unwrap(),
        _ => Grid::even(&[(0.0, 1.0, 81), (0.0, 1.0, 81)]).unwrap(),
    };
    (0..grid.len()).map(|i| grid.point(i)).collect()
}

fn wavy(x: &[f64]) -> f64 {
    x.iter().map(|x| (5.0 * x).sin() - 0.4 * x).sum()
}

#[test]
fn a_choice_is_within_its_small_gap_of_brute_force() {
    for (dimension, kernel) in [(1, se(0.15)), (1, matern(0.15)), (2, se(0.3)), (2, matern(0.4))] {
        let grid = dense(dimension);
        for rule in [Rule::IgpBucb, Rule::GpBucb] {
            let mut live = study(&given(cube(dimension), kernel.clone(), Strategy::new(rule, 1.5)).unwrap());
            for _ in 0..3 {
                for s in live.ask(3).unwrap() {
                    live.tell(s.trial, wavy(&s.point)).unwrap();
                }
                let posterior = live.posterior().clone();
                let s = live.ask(1).unwrap().remove(0);
                let score = |x: &Vec<f64>| posterior.predict(x).map(|p| p.mean + s.choice.multiplier * p.sd).unwrap();
                let most = grid.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
                let gap = s.choice.gap.unwrap();
                assert!((score(&s.point) - s.choice.score).abs() <= 1e-9 * s.choice.score.abs(), "{rule}: {s:?}");
                assert!(
                    most <= s.choice.score + gap + 1e-9,
                    "{rule}, d = {dimension}: {most} above {} + {gap}",
                    s.choice.score
                );
                assert!(gap <= 1e-3 * s.choice.score.abs(), "{rule}, d = {dimension}: gap {gap} of {}", s.choice.score);
            }
        }
    }
}

/// Where lengthscales are short, climbs from the candidates miss the highest peak now and then: branch and bound finds it.
#[test]
fn a_better_point_that_the_proof_finds_is_chosen() {
    let grid = Grid::even(&[(0.0, 1.0, 101), (0.0, 1.0, 101)]).unwrap();
    let (kernel, noise) = (matern(0.1), 1e-4);
    for seed in 0..2 {
        let (f, norm) = draw(&kernel, 2, &mut rng(seed));
        let prior = Prior::new(kernel.clone(), 0.0, noise).unwrap();
        let spec = Spec::new(cube(2), prior, Strategy::new(Rule::IgpBucb, norm)).unwrap().with_seed(seed);
        let mut live = study(&spec);
        for _ in 0..9 {
            for s in live.ask(3).unwrap() {
                live.tell(s.trial, f(&s.point)).unwrap();
            }
            let posterior = live.posterior().clone();
            let s = live.ask(1).unwrap().remove(0);
            let score = |x: &[f64]| posterior.predict(x).map(|p| p.mean + s.choice.multiplier * p.sd).unwrap();
            let most = (0..grid.len()).map(|i| score(&grid.point(i))).fold(f64::NEG_INFINITY, f64::max);
            // The search stops at a gap of a thousandth of the score.
            let [gap, allowed] = [s.choice.gap.unwrap(), 1e-3 * s.choice.score];
            assert!((score(&s.point) - s.choice.score).abs() <= 1e-12 * s.choice.score);
            assert!(most - s.choice.score <= allowed, "seed {seed}: {most} on the grid, {} chosen", s.choice.score);
            assert!(gap <= 1.01 * allowed, "seed {seed}: gap {gap} of {}", s.choice.score);
            live.tell(s.trial, f(&s.point)).unwrap();
        }
    }
}

#[test]
fn without_cells_there_is_still_a_suggestion_and_a_valid_bound() {
    let mut live = study(&given(cube(2), se(0.3), Strategy::new(Rule::IgpBucb, 1.5)).unwrap().with_nodes(0));
    for _ in 0..4 {
        let posterior = live.posterior().clone();
        let s = live.ask(1).unwrap().remove(0);
        let score = |x: &Vec<f64>| posterior.predict(x).map(|p| p.mean + s.choice.multiplier * p.sd).unwrap();
        let most = dense(2).iter().map(score).fold(f64::NEG_INFINITY, f64::max);
        assert!(most <= s.choice.score + s.choice.gap.unwrap() + 1e-9);
        live.tell(s.trial, wavy(&s.point)).unwrap();
        let certificate = live.certificate().unwrap();
        assert!(certificate.upper.is_finite() && certificate.upper >= certificate.lower);
    }
}

#[test]
fn the_initialization_scheme_takes_the_points_of_largest_variance() {
    for hallucination in [Hallucination::Realised, Hallucination::Off] {
        let strategy = Strategy { initial: Initial::Count(4), hallucination, ..Strategy::new(Rule::IgpBucb, 1.0) };
        let mut live = study(&given(cube(2), matern(0.3), strategy).unwrap());
        let batch = live.ask(6).unwrap();
        let phases: Vec<Phase> = batch.iter().map(|s| s.choice.phase).collect();
        assert_eq!(phases, [Phase::Initial, Phase::Initial, Phase::Initial, Phase::Initial, Phase::Rule, Phase::Rule]);
        for (i, a) in batch[..4].iter().enumerate() {
            let apart = |b: &[f64]| a.point.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(batch[..i].iter().all(|b| apart(&b.point) > 0.5), "{:?}", a.point);
            assert_eq!((a.choice.multiplier, a.choice.score), (0.0, a.choice.sd));
        }
        assert_eq!(Study::verify(live.spec(), live.events()).map(drop), Ok(()));
    }
}

#[test]
fn what_needs_every_candidate_is_refused_with_what_to_use_instead() {
    let base = || Strategy { max_pending: Some(4), ..Strategy::new(Rule::IgpBucb, 1.0) };
    let refused = [
        (Strategy { hallucination: Hallucination::Exact, ..base() }, "use \"realised\""),
        (Strategy { hallucination: Hallucination::WorstCase, ..base() }, "finite domain or a closed form"),
        (Strategy { information: Information::Greedy, ..base() }, "use \"realised\""),
        (Strategy { information: Information::GreedyUpper, ..base() }, "use \"realised\""),
        (Strategy { initial: Initial::Until(2.0), ..base() }, "use a number"),
        (Strategy { rule: Rule::GpBucbBayesian, ..base() }, "use gp-ucb with beta"),
        (Strategy { norm_bound: None, ..base() }, "norm"),
    ];
    for (strategy, told) in refused {
        let message = given(cube(2), se(0.2), strategy).unwrap_err().to_string();
        assert!(message.contains(told), "{message}");
    }
}

/// f = sum_i a_i k(c_i, .) over ten random points, and its norm sqrt(a'Ka).
fn draw<R: Rng>(kernel: &Kernel, dimension: usize, rng: &mut R) -> (impl Fn(&[f64]) -> f64 + use<R>, f64) {
    let centres: Vec<Vec<f64>> = (0..10).map(|_| (0..dimension).map(|_| uniform(rng, 0.0, 1.0)).collect()).collect();
    let weights: Vec<f64> = centres.iter().map(|_| uniform(rng, -1.0, 1.0)).collect();
    let kernel = kernel.clone();
    let at = {
        let (centres, weights) = (centres.clone(), weights.clone());
        move |x: &[f64]| dot(&weights, &centres.iter().map(|c| kernel.covariance(c, x)).collect::<Vec<_>>())
    };
    let norm = dot(&weights, &centres.iter().map(|c| at(c)).collect::<Vec<_>>()).sqrt();
    (at, norm)
}

/// By theorem with probability 0.9; in all of these runs it held.
#[test]
fn certificates_hold_in_simulated_runs() {
    let (mut held, mut total) = (0, 0);
    for (dimension, kernel) in [(1, se(0.2)), (1, matern(0.2)), (2, se(0.4)), (2, matern(0.5))] {
        let grid = dense(dimension);
        for seed in 0..6 {
            let rng = &mut rng(100 + seed);
            let (f, norm) = draw(&kernel, dimension, rng);
            let most = grid.iter().map(|x| f(x)).fold(f64::NEG_INFINITY, f64::max);
            let direction = if seed % 2 == 0 { Direction::Maximize } else { Direction::Minimize };
            let sign = if seed % 2 == 0 { 1.0 } else { -1.0 };
            let spec = given(cube(dimension), kernel.clone(), Strategy::new(Rule::IgpBucb, norm)).unwrap();
            let mut live = study(&spec.with_direction(direction).with_seed(seed).with_nodes(500));
            let mut good = true;
            for _ in 0..4 {
                for s in live.ask(5).unwrap() {
                    let noise: f64 = StandardNormal.sample(rng);
                    live.tell(s.trial, sign * (f(&s.point) + NOISE.sqrt() * noise)).unwrap();
                }
                let certificate = live.certificate().unwrap();
                let (optimum, there) = if sign > 0.0 {
                    (certificate.upper, certificate.lower)
                } else {
                    (-certificate.lower, -certificate.upper)
                };
                assert_eq!((certificate.kind, certificate.candidate), (BoundKind::Theorem, None));
                assert!(certificate.gap >= 0.0 && certificate.upper >= certificate.lower);
                let value = f(&certificate.point);
                good &= most <= optimum && value >= there && most - value <= certificate.regret_bound;
                let best = live.best().unwrap();
                good &= most - f(&best.point) <= best.regret_bound.unwrap() + 1e-9;
            }
            held += usize::from(good);
            total += 1;
        }
    }
    assert!(held + 1 >= total, "{held} of {total}");
}

/// All values of a finite space, in order, the last parameter fastest.
fn product(columns: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let extend = |rows: Vec<Vec<Value>>, column: &Vec<Value>| {
        rows.iter().flat_map(|row| column.iter().map(move |v| [row.clone(), vec![v.clone()]].concat())).collect()
    };
    columns.iter().fold(vec![vec![]], extend)
}

#[test]
fn a_finite_space_is_chosen_from_exactly_like_the_grid_of_its_coordinates() {
    let parameters = vec![
        Parameter::int("n", 0, 4).unwrap(),
        Parameter::even("x", -1.0, 2.0, 6).unwrap(),
        Parameter::levels("l", &[1.0, 2.0, 4.0]).unwrap(),
    ];
    let space = Space::new(parameters, vec![]).unwrap();
    let columns: [Vec<Value>; 3] = [
        (0..5).map(Value::Int).collect(),
        (0..6).map(|i| Value::Float(-1.0 + 3.0 * f64::from(i) / 5.0)).collect(),
        [1.0, 2.0, 4.0].map(Value::Float).to_vec(),
    ];
    let rows = product(&columns);
    // The coordinate of a value of parameter j, the other parameters at their first values.
    let coordinate = |j: usize, value: &Value| {
        let mut row = rows[0].clone();
        row[j] = value.clone();
        space.embed(&row).unwrap()[j]
    };
    let axes = (0..3).map(|j| columns[j].iter().map(|value| coordinate(j, value)).collect());
    let grid = Domain::Grid(Grid::new(axes.collect()).unwrap());
    let is_near = |(a, b): (&Value, &Value)| (a.number().unwrap() - b.number().unwrap()).abs() < 1e-12;
    for rule in [Rule::IgpBucb, Rule::GpBucb, Rule::GpBts] {
        let strategy = Strategy::new(rule, 1.5);
        let mut on_space = study(&given(Domain::Space(space.clone()), matern(0.3), strategy.clone()).unwrap());
        let mut on_grid = study(&given(grid.clone(), matern(0.3), strategy).unwrap());
        for _ in 0..4 {
            for (a, b) in on_space.ask(4).unwrap().iter().zip(on_grid.ask(4).unwrap()) {
                let chosen = |s: &Suggestion| (s.choice.candidate, s.choice.mean, s.choice.sd, s.choice.score);
                assert_eq!((chosen(a), &a.point), (chosen(&b), &b.point));
                assert_eq!(a.choice.gap, Some(0.0));
                assert!(a.choice.params.iter().zip(&rows[a.choice.candidate]).all(is_near));
                on_space.tell(a.trial, wavy(&a.point)).unwrap();
                on_grid.tell(a.trial, wavy(&a.point)).unwrap();
            }
        }
        let (a, b) = (on_space.certificate().unwrap(), on_grid.certificate().unwrap());
        assert_eq!((a.upper, a.lower, a.candidate, a.gap), (b.upper, b.lower, b.candidate, 0.0));
    }
}

#[test]
fn bounds_of_a_learned_model_are_marked_as_model_on_finite_domains() {
    let space = Space::new(vec![Parameter::int("n", 0, 30).unwrap()], vec![]).unwrap();
    for direction in [Direction::Maximize, Direction::Minimize] {
        let spec = Spec::learned(Domain::Space(space.clone()), Strategy::auto()).unwrap().with_direction(direction);
        let mut live = study(&spec);
        for s in live.ask(8).unwrap() {
            live.tell(s.trial, wavy(&s.point)).unwrap();
        }
        let there = live.predict(&[vec![0.5]]).unwrap()[0];
        assert_eq!((there.kind, live.certificate()), (BoundKind::Model, Err(Error::NoTheorem)));
        assert!(there.upper >= there.mean && there.mean >= there.lower);
    }
}

#[test]
fn adaptive_batches_stop_at_the_limit_of_xi() {
    let learned = || Spec::learned(cube(2), Strategy::auto()).unwrap();
    let theorem = || given(cube(1), se(0.2), Strategy::new(Rule::IgpBucb, 1.0)).unwrap();
    for spec in [learned(), theorem()] {
        let mut live = study(&spec);
        for s in live.ask(9).unwrap() {
            live.tell(s.trial, wavy(&s.point)).unwrap();
        }
        for limit in [1.0, 1.5, 4.0, 1e12] {
            let batch = live.ask_adaptive(6, limit).unwrap();
            assert!((1..=6).contains(&batch.suggestions.len()) && batch.worths.len() == batch.suggestions.len());
            assert!(batch.worths[1..].iter().all(|worth| worth.hallucination <= limit));
            let next = batch.next.unwrap();
            assert!(batch.suggestions.len() == 6 || next.hallucination > limit);
            for worth in batch.worths.iter().chain([&next]) {
                let numbers = [worth.hallucination, worth.information, worth.improvement];
                assert!(numbers.iter().all(|n| n.is_finite() && *n >= 0.0) && worth.hallucination >= 1.0, "{worth:?}");
            }
            let xi = live.posterior().hallucination_factor().unwrap();
            assert_eq!(xi, batch.worths.last().unwrap().hallucination);
            for s in batch.suggestions {
                live.tell(s.trial, wavy(&s.point)).unwrap();
            }
        }
        assert_eq!(live.ask_adaptive(1, 1e6).unwrap().suggestions.len(), 1);
        assert_eq!(live.ask_adaptive(3, f64::INFINITY).unwrap().suggestions.len(), 3);
        let events = live.events().len();
        for limit in [0.5, f64::NAN, -1.0] {
            assert!(matches!(live.ask_adaptive(2, limit), Err(Error::Setting { .. })));
        }
        assert_eq!(live.events().len(), events);
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
    }
}

#[test]
fn adaptive_batches_respect_max_pending() {
    let strategy = Strategy { max_pending: Some(3), ..Strategy::new(Rule::IgpBucb, 1.0) };
    let mut live = study(&given(cube(2), se(0.2), strategy).unwrap().with_nodes(50));
    live.ask(1).unwrap();
    let batch = live.ask_adaptive(10, 1e12).unwrap();
    assert_eq!((batch.suggestions.len(), batch.next), (2, None));
    assert!(matches!(live.ask_adaptive(1, 1e12), Err(Error::TooManyPending { .. })));
}

/// Exact samples of that many points would not fit into memory, and a model that changes would recompute all of them.
#[test]
fn a_large_countable_space_is_searched_where_the_model_is_learned_or_sampled() {
    let count = |name| Parameter::log_int(name, 1, 500).unwrap();
    let space = Space::new(vec![count("a"), count("b")], vec![]).unwrap();
    let domain = || Domain::Space(space.clone());
    let specs = [
        Spec::learned(domain(), Strategy::auto()).unwrap(),
        Spec::learned(domain(), Strategy::new(Rule::GpBts, 1.0)).unwrap(),
        given(domain(), matern(0.3), Strategy::new(Rule::GpBts, 1.0)).unwrap(),
    ];
    for spec in specs {
        assert!(spec.finite().is_none() && spec.domain().finite().is_some());
        let mut live = study(&spec);
        for _ in 0..3 {
            for s in live.ask(4).unwrap() {
                assert!(
                    s.choice.params.iter().all(|value| matches!(value, Value::Int(1..=500))),
                    "{:?}",
                    s.choice.params
                );
                assert_eq!(space.embed(&s.choice.params).unwrap(), s.point);
                live.tell(s.trial, wavy(&s.point)).unwrap();
            }
        }
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
    }
    let exact = given(domain(), matern(0.3), Strategy::new(Rule::IgpBucb, 1.0)).unwrap();
    assert!(exact.finite().is_some());
}

#[test]
fn a_batch_of_at_most_none_is_refused_as_asking_for_none_is() {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap();
    let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto()).unwrap()).unwrap();
    assert_eq!(study.ask_adaptive(0, 2.0), Err(Error::AskedForNone));
    assert!(study.events().is_empty());
}

#[test]
fn a_given_model_without_a_norm_bound_has_an_opinion_and_no_theorem() {
    let mut free = study(&given(cube(2), matern(0.3), Strategy::auto()).unwrap());
    for s in free.ask(6).unwrap() {
        free.tell(s.trial, wavy(&s.point)).unwrap();
    }
    for there in free.predict(&[vec![0.2, 0.9], vec![0.5, 0.5]]).unwrap() {
        // The 0.95 quantile of the standard normal distribution.
        let width = 1.644_853_626_951_472_2 * there.sd;
        assert_eq!(there.kind, BoundKind::Model);
        assert!((there.upper - there.mean - width).abs() <= 1e-12 && (there.mean - there.lower - width).abs() <= 1e-12);
    }
    assert_eq!(free.certificate(), Err(Error::NoTheorem));
    assert_eq!(free.best().unwrap().regret_bound, None);
}

#[test]
fn ignoring_pending_points_works_where_rows_are_many() {
    // Picks of `auto` alternate between views with and without pending points once the search has converged.
    let strategy = Strategy { hallucination: Hallucination::Off, ..Strategy::auto() };
    let prior = Prior::new(se(0.5), 0.0, 1e-9).unwrap();
    let mut live = study(&Spec::new(cube(1), prior, strategy).unwrap().with_nodes(0));
    let rng = &mut rng(3);
    for _ in 0..1001 {
        let x = uniform(rng, 0.0, 1.0);
        live.include(&[x.into()], Some(wavy(&[x]))).unwrap();
    }
    let asked = live.ask(4).unwrap();
    assert!(asked.iter().all(|suggestion| suggestion.choice.sd < 1e-4), "{asked:?}");
}
