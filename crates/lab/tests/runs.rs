//! Runs are paired, exact, and functions of their settings alone.

use std::path::Path;
use std::sync::Arc;

use crate::common::small;
use crate::studies::{dot, solve};
use manyhands_core::{Hallucination, Information, Initial, Rule};
use manyhands_gp::{GreedyInformation, Prior, TIE};
use manyhands_lab::experiment::{
    Arm, BoundedRegret, Diagnostic, Experiment, Instance, NormBound, UnitInterval, play_arms,
};
use manyhands_lab::{Algorithm, Panel, Settings};

fn experiment(panel: Panel, settings: &Settings) -> Arc<Experiment> {
    Arc::new(panel.experiment(settings, Path::new("")).unwrap())
}

/// Mean, variance and information gain from scratch: means from the first rows, those with `values`; variances from all.
fn dense(instance: &Instance, rows: &[usize], values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let restricted = instance.problem().restricted().unwrap();
    let points: Vec<Vec<f64>> = (0..restricted.domain().len()).map(|i| restricted.domain().point(i)).collect();
    let prior: &Prior = instance.problem().prior();
    let k = |i: usize, j: usize| prior.kernel().covariance(&points[i], &points[j]);
    let solved = |rows: &[usize]| {
        let gram = |i: usize, j: usize| k(rows[i], rows[j]) + if i == j { prior.noise() } else { 0.0 };
        let gram = (0..rows.len()).map(|i| (0..rows.len()).map(|j| gram(i, j)).collect()).collect();
        let columns: Vec<Vec<f64>> = (0..points.len()).map(|x| rows.iter().map(|&row| k(row, x)).collect()).collect();
        (solve(gram, columns.clone()).0, columns)
    };
    let (observed, _) = solved(&rows[..values.len()]);
    let (all, columns) = solved(rows);
    let means = observed.iter().map(|column| dot(column, values)).collect();
    let variances = (0..points.len()).map(|x| k(x, x) - dot(&columns[x], &all[x])).collect();
    (means, variances)
}

/// IGP-BUCB in the paper's words: batches of M, xi = 1, gamma_S = ln S, B = 1, straight from the formulas.
#[test]
fn a_panels_run_is_the_papers_algorithm_by_brute_force() {
    let settings = Settings { horizon: 20, workers: 5, functions: 2, ..Settings::default() };
    let experiment = experiment(Panel::A, &settings);
    for instance in &experiment.instances {
        let measured = Arm::new(&experiment, Algorithm::Rule(Rule::IgpBucb), settings).play(instance).unwrap();
        let (noise, f) = (instance.noise(20), instance.problem().values());
        let (mut chosen, mut rewards): (Vec<usize>, Vec<f64>) = (vec![], vec![]);
        for t in 1..=20 {
            let known = 5 * ((t - 1) / 5);
            let (means, variances) = dense(instance, &chosen, &rewards[..known]);
            let gamma = (known.max(1) as f64).ln();
            let beta = 1.0 + (2.0 * (gamma + 10.0f64.ln())).sqrt();
            let score = |x: usize| means[x] + beta * variances[x].max(0.0).sqrt();
            let best = (0..100).map(score).fold(f64::NEG_INFINITY, f64::max);
            let choice = (0..100).find(|&x| score(x) >= best - TIE * best.abs().max(1.0)).unwrap();
            chosen.push(choice);
            rewards.push(f[choice] + noise[t - 1]);
        }
        let optimum = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let by_hand: Vec<f64> = chosen.iter().map(|&x| optimum - f[x]).collect();
        assert_eq!(measured.regret.instantaneous(), by_hand);
    }
}

#[test]
fn delays_and_batches_are_the_same_functions_with_the_same_noise() {
    let settings = small();
    let [batch, delay] = [Panel::A, Panel::C].map(|panel| experiment(panel, &settings));
    for (a, c) in batch.instances.iter().zip(&delay.instances) {
        assert_eq!(a.problem(), c.problem());
        assert_eq!(a.noise(12), c.noise(12));
    }
    let matern = experiment(Panel::B, &settings);
    assert_ne!(batch.instances[0].noise(12), matern.instances[0].noise(12));
    assert_ne!(batch.instances[0].noise(12), batch.instances[1].noise(12));
}

/// Noise is N(0, lambda): mean and variance of 20,000 draws within five standard errors.
#[test]
fn noise_has_the_variance_the_algorithms_are_told() {
    let instance = &experiment(Panel::E, &small()).instances[0];
    let noise = instance.noise(20_000);
    let variance = instance.problem().prior().noise();
    let mean = noise.iter().sum::<f64>() / 20_000.0;
    assert!(mean.abs() < 5.0 * (variance / 20_000.0).sqrt(), "mean {mean}");
    let seen = noise.iter().map(|e| e * e).sum::<f64>() / 20_000.0;
    assert!((seen - variance).abs() < 5.0 * variance * (2.0f64 / 20_000.0).sqrt(), "variance {seen}");
}

/// Chi-squared of 100,000 uniform choices among 100: mean 99, standard deviation sqrt(198).
#[test]
fn random_search_is_uniform() {
    let instance = &experiment(Panel::A, &small()).instances[0];
    let mut counts = [0.0; 100];
    instance.search_at_random(100_000).iter().for_each(|&i| counts[i] += 1.0);
    let statistic: f64 = counts.iter().map(|count: &f64| (count - 1000.0).powi(2) / 1000.0).sum();
    assert!((statistic - 99.0).abs() < 5.0 * 198.0f64.sqrt(), "{statistic}");
}

#[test]
fn a_shorter_horizon_is_the_beginning_of_a_longer_one_and_fewer_functions_the_first_of_more() {
    let (short, long) = (small(), Settings { horizon: 20, functions: 5, ..small() });
    for algorithm in Algorithm::ALL {
        let regrets = |settings: Settings| {
            let arm = Arm::new(&experiment(Panel::B, &settings), algorithm, settings);
            play_arms(vec![arm], &|| ()).unwrap().remove(0).runs
        };
        for (a, b) in regrets(short).iter().zip(&regrets(long)) {
            assert_eq!(a.regret.instantaneous(), &b.regret.instantaneous()[..12], "{}", algorithm.name());
        }
    }
}

#[test]
fn threads_change_nothing() {
    let settings = Settings { information: Information::Greedy, ..small() };
    let arms: Vec<Arm> =
        Algorithm::ALL.iter().map(|who| Arm::new(&experiment(Panel::E, &settings), *who, settings)).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let played = pool.install(|| play_arms(arms.clone(), &|| ()).unwrap());
        played.into_iter().map(|one| one.runs).collect::<Vec<_>>()
    };
    assert_eq!(on(1), on(2));
}

/// The choosing band of every round, by brute force.
#[test]
fn coverage_is_that_of_dense_solves() {
    let settings = Settings { hallucination: Hallucination::Number(1.0), ..small() };
    let experiment = experiment(Panel::B, &settings);
    let arm = Arm::new(&experiment, Algorithm::Rule(Rule::IgpBucb), settings);
    let mut failures = 0;
    // A quarter of the width, so that the band fails and holds at many places.
    for (instance, width) in experiment.instances.iter().zip([0.25, 1.0, 4.0]) {
        let settings = Settings { width, ..settings };
        let arm = Arm { bound: NormBound::RkhsNorm, diagnostic: Diagnostic::Band, settings, ..arm.clone() };
        let seen = arm.play(instance).unwrap().coverage.unwrap();
        let strategy = settings.strategy(Rule::IgpBucb, instance.problem(), instance.problem().norm().unwrap());
        let study = instance.play(strategy, &experiment.arrival.feedback(3), 12).unwrap();
        let chosen: Vec<usize> = study.trials().iter().map(|trial| trial.candidate()).collect();
        let rewards: Vec<f64> = study.trials().iter().filter_map(|trial| trial.value()).collect();
        let (mut broken, mut inside) = (None, 0);
        for (t, suggestion) in (1..).zip(study.suggestions()) {
            let (means, variances) = dense(instance, &chosen[..t - 1], &rewards[..3 * ((t - 1) / 3)]);
            let holds = |x: &usize| {
                let off = (instance.problem().values()[*x] - means[*x]).abs();
                off <= suggestion.choice.multiplier * variances[*x].max(0.0).sqrt() + 1e-9
            };
            let held = (0..100).filter(holds).count();
            inside += held;
            if held < 100 && broken.is_none() {
                broken = Some(t);
            }
        }
        assert_eq!((seen.broken, seen.inside), (broken, inside as f64 / 1200.0), "width {width}");
        failures += usize::from(broken.is_some());
        assert_eq!(seen.held_up_to(12), broken.is_none());
    }
    assert!((1..3).contains(&failures), "the test should see bands fail and hold, {failures} failed");
}

#[test]
fn certificates_are_the_studys_own_along_its_log() {
    let settings = small();
    let experiment = experiment(Panel::A, &settings);
    let arm = Arm::new(&experiment, Algorithm::Rule(Rule::GpBts), settings);
    let arm = Arm { bound: NormBound::RkhsNorm, diagnostic: Diagnostic::Certificate, ..arm };
    for instance in &experiment.instances {
        let certified = arm.play(instance).unwrap().certificates;
        assert_eq!(certified.iter().map(|one| one.observed).collect::<Vec<_>>(), [3, 6, 9, 12]);
        let strategy = settings.strategy(Rule::GpBts, instance.problem(), instance.problem().norm().unwrap());
        let mut study = instance.play(strategy, &experiment.arrival.feedback(3), 12).unwrap();
        let last = study.certificate().unwrap();
        let regret = instance.problem().optimum() - instance.problem().values()[last.candidate.unwrap()];
        assert_eq!(certified[3].bounded, Some(BoundedRegret { bound: last.regret_bound, regret }));
        assert!(
            certified.windows(2).all(|pair| pair[1].bounded.unwrap().bound <= pair[0].bounded.unwrap().bound),
            "bounds only fall"
        );
        assert!(certified.iter().all(|one| one.holds()));
    }
}

#[test]
fn initialization_ignores_rewards_and_its_regret_counts() {
    let settings = small();
    let experiment = experiment(Panel::A, &settings);
    let arm = Arm::new(&experiment, Algorithm::Rule(Rule::IgpBucb), settings);
    let arm = Arm { initial: Initial::Count(12), ..arm };
    let runs = play_arms(vec![arm], &|| ()).unwrap().remove(0).runs;
    for (run, instance) in runs.iter().zip(&experiment.instances) {
        // Every function is met at the same twelve points: greedy in variance, whatever the rewards.
        let (mut chosen, f) = (vec![], instance.problem().values());
        for _ in 0..12 {
            let (_, variances) = dense(instance, &chosen, &[]);
            let most = variances.iter().copied().fold(0.0, f64::max);
            chosen.push(variances.iter().position(|v| *v >= most - TIE).unwrap());
        }
        let expected: Vec<f64> = chosen.iter().map(|&x| instance.problem().optimum() - f[x]).collect();
        assert_eq!(run.regret.instantaneous(), expected);
    }
}

#[test]
fn a_norm_that_is_not_known_is_not_made_up() {
    let settings = small();
    let experiment = experiment(Panel::E, &settings);
    let arm = Arm { bound: NormBound::RkhsNorm, ..Arm::new(&experiment, Algorithm::Rule(Rule::IgpBucb), settings) };
    let told = arm.play(&experiment.instances[0]).unwrap_err().to_string();
    assert_eq!(told, "the problem \"Cosines\" cannot be used: its RKHS norm is not known");
}

/// The candidates of panel a are 100 evenly spaced points of [0, 1]: only what regret is measured against differs.
#[test]
fn a_grid_of_the_interval_is_the_problems_own_and_regret_is_that_to_the_maximum_of_the_interval() {
    let settings = small();
    let experiment = experiment(Panel::A, &settings);
    let own = Arm::new(&experiment, Algorithm::Rule(Rule::GpBts), settings);
    let on_interval = Arm { interval: Some(UnitInterval::Fixed(100)), ..own.clone() };
    for instance in &experiment.instances {
        let problem = instance.problem();
        let beyond = problem.function().unwrap().maximum() - problem.optimum();
        assert!(beyond >= -1e-12);
        let (own, on_interval) = (own.play(instance).unwrap().regret, on_interval.play(instance).unwrap().regret);
        for (own, on_interval) in own.instantaneous().iter().zip(on_interval.instantaneous()) {
            assert!((own + beyond - on_interval).abs() <= 1e-12, "{own} + {beyond}, {on_interval}");
        }
    }
}

/// Every regret is that of one of the B L t^2 points of D_t, found by going through all of them.
#[test]
fn gp_bts_on_the_growing_discretization_chooses_from_it() {
    let settings = Settings { information: Information::Realised, ..small() };
    let experiment = experiment(Panel::A, &settings);
    let arm = Arm::new(&experiment, Algorithm::Rule(Rule::GpBts), settings);
    let arm = Arm { bound: NormBound::RkhsNorm, interval: Some(UnitInterval::Growing), ..arm };
    for instance in &experiment.instances {
        let (problem, run) = (instance.problem(), arm.play(instance).unwrap());
        let (function, best) = (problem.function().unwrap(), problem.function().unwrap().maximum());
        for (t, regret) in (1..).zip(run.regret.instantaneous()) {
            // L = 1/l = 5 for the squared exponential.
            let points = (problem.norm().unwrap() * 5.0 * f64::from(t * t)).ceil() as usize;
            let regrets = (0..points).map(|i| best - function.value(i as f64 / (points - 1) as f64));
            let nearest = regrets.map(|one| (one - regret).abs()).fold(f64::INFINITY, f64::min);
            assert!(*regret >= -1e-12 && nearest <= 1e-12, "t = {t}: {regret} is no regret of {points} points");
        }
    }
    let sensors = Arm {
        interval: Some(UnitInterval::Growing),
        ..Arm::new(&self::experiment(Panel::E, &settings), arm.algorithm, settings)
    };
    let refused = sensors.play(&sensors.experiment.instances[0]).unwrap_err().to_string();
    assert!(refused.contains("known at its candidates alone"), "{refused}");
}

/// Theorem 1 from its formula with the quantities of the run, and the realised form from the suggestions.
#[test]
fn bounds_along_a_run_are_the_formulas_and_hold() {
    let (information, hallucination) = (Information::Realised, Hallucination::Realised);
    let settings = Settings { information, hallucination, ..small() };
    let experiment = experiment(Panel::B, &settings);
    for (rule, instance) in
        [Rule::IgpBucb, Rule::GpBts].iter().flat_map(|r| experiment.instances.iter().map(move |i| (*r, i)))
    {
        let arm = Arm::new(&experiment, Algorithm::Rule(rule), settings);
        let arm = Arm { bound: NormBound::RkhsNorm, diagnostic: Diagnostic::Bounds, ..arm };
        let (problem, run) = (instance.problem(), arm.play(instance).unwrap());
        let (bounds, regret, b) = (run.bounds.unwrap(), run.regret.cumulative(), problem.norm().unwrap());
        let mut greedy = GreedyInformation::new(problem.prior().clone(), problem.restricted().unwrap()).unwrap();
        let study = instance.play(settings.strategy(rule, problem, b), &experiment.arrival.feedback(3), 12).unwrap();
        let mut sum = 0.0;
        for (t, suggestion) in (1..).zip(study.suggestions()) {
            let gamma = greedy.upper(t).unwrap();
            assert_eq!(bounds.trivial[t - 1], 2.0 * b * t as f64);
            assert!(regret[t - 1] <= bounds.theorem[t - 1].min(bounds.trivial[t - 1]) + 1e-12, "{rule} at {t}");
            if rule == Rule::GpBts {
                assert_eq!(bounds.realised, None);
                continue;
            }
            // lambda = R^2 = 0.025, M = 3, k(x,x) = 1, delta = 0.1.
            let beta = (1.0 + 2.0 / 0.025f64).sqrt() * (b + (2.0 * (gamma + 10f64.ln())).sqrt());
            let theorem = 2.0 * beta * (1.05 * t as f64 * gamma).sqrt();
            assert!(
                (bounds.theorem[t - 1] / theorem - 1.0).abs() <= 1e-13,
                "{} at {t}, by hand {theorem}",
                bounds.theorem[t - 1]
            );
            sum += 2.0 * suggestion.choice.multiplier * suggestion.choice.sd;
            let realised = bounds.realised.as_ref().unwrap()[t - 1];
            assert!((realised / sum - 1.0).abs() <= 1e-13 && realised <= theorem, "{realised} at {t}, by hand {sum}");
            assert!(regret[t - 1] <= realised + 1e-12, "{} at {t}, at most {realised}", regret[t - 1]);
        }
    }
    let arm = Arm { diagnostic: Diagnostic::Bounds, ..Arm::new(&experiment, Algorithm::Rule(Rule::GpBucb), settings) };
    let refused = arm.play(&experiment.instances[0]).unwrap_err().to_string();
    assert!(refused.contains("igp-bucb and gp-bts, not that of gp-bucb"), "{refused}");
}
