//! The promises of the comparisons of rules: all see the same, every one is in the tables, and tests are those of the runs.

use std::sync::Arc;

use crate::common::{data, small};
use manyhands_core::{BaseRule, DppKind, Rule, Spec, Strategy, Study};
use manyhands_lab::experiment::{Arm, Arrival, Feedback, Instance, SignedRank, play_arms, simulate};
use manyhands_lab::quality::{Protocol, RulesBench};
use manyhands_lab::{Algorithm, ComparedRule, Extra, Panel, ReproductionPlan, ReproductionRequest, Settings};
use serde_json::Value as Json;

fn instances(settings: &Settings) -> Vec<Instance> {
    Panel::A.experiment(settings, std::path::Path::new("")).unwrap().instances
}

/// The time-average regret at T of a method on the functions of panel a.
fn played(algorithm: Algorithm, arrival: Arrival, settings: Settings) -> Vec<f64> {
    let mut experiment = Panel::A.experiment(&settings, std::path::Path::new("")).unwrap();
    experiment.arrival = arrival;
    play_arms(vec![Arm::new(&Arc::new(experiment), algorithm, settings)], &|| ()).unwrap().remove(0).final_averages()
}

fn named(name: &str) -> Algorithm {
    Algorithm::Compared(*ComparedRule::ALL.iter().find(|rule| rule.name == name).unwrap())
}

#[test]
fn every_rule_sees_the_same_noise_in_the_same_round() {
    let settings = Settings { functions: 2, workers: 5, ..small() };
    for instance in instances(&settings) {
        let (noise, values) = (instance.noise(12), instance.problem().values());
        for (rule, feedback) in
            ComparedRule::ALL.iter().flat_map(|rule| [(rule, Feedback::Batch(5)), (rule, Feedback::Delay(5))])
        {
            let strategy = rule.strategy(&settings, instance.problem(), instance.problem().largest());
            let study = instance.play(strategy, &feedback, 12).unwrap();
            for (trial, noise) in study.trials().iter().zip(&noise) {
                assert_eq!(trial.value(), Some(values[trial.candidate()] + noise), "{}, {feedback:?}", rule.name);
            }
            assert_eq!(study.trials().len(), 12);
        }
    }
}

#[test]
fn rules_read_their_own_settings_and_those_of_the_paper_its_constants() {
    let settings = Settings { width: 0.5, delta: 0.2, workers: 7, ..small() };
    let instance = &instances(&settings)[0];
    let strategy = |rule: &ComparedRule| rule.strategy(&settings, instance.problem(), 3.0);
    for rule in ComparedRule::ALL {
        let found = strategy(rule);
        assert_eq!((found.rule, found.delta, found.max_pending), (rule.rule, 0.2, Some(7)), "{}", rule.name);
        let is_of_paper = ["igp-bucb", "gp-bts", "gp-bucb"].contains(&rule.name);
        assert_eq!(found.norm_bound, is_of_paper.then_some(3.0), "{}", rule.name);
    }
    let of = |name: &str| strategy(ComparedRule::ALL.iter().find(|rule| rule.name == name).unwrap());
    assert_eq!(of("igp-bucb"), settings.strategy(Rule::IgpBucb, instance.problem(), 3.0));
    assert_eq!((of("gp-ucb").width, of("gp-ei").width), (0.5, 1.0));
    assert_eq!((of("gp-bts (multiplier 1)").multiplier, of("gp-bts").multiplier), (Some(1.0), None));
    assert_eq!((of("dpp (sample)").dpp, of("local-penalization (gp-ei)").base), (DppKind::Sample, BaseRule::GpEi));
}

/// A batch is one ask: what is drawn jointly differs from single asks, all else does not.
#[test]
fn rounds_that_know_the_same_rewards_are_asked_for_together() {
    let instance = &instances(&small())[0];
    let new = |strategy: &Strategy| {
        let problem = instance.problem();
        Study::new(Spec::new(problem.domain().clone(), problem.prior().clone(), strategy.clone()).unwrap()).unwrap()
    };
    let by_hand = |strategy: &Strategy, asks: &[usize]| {
        let mut study = new(strategy);
        for _ in 0..3 {
            let asked: Vec<_> = asks.iter().flat_map(|&count| study.ask(count).unwrap()).collect();
            asked.iter().for_each(|s| study.tell(s.trial, instance.problem().values()[s.choice.candidate]).unwrap());
        }
        study.trials().iter().map(|trial| trial.candidate()).collect::<Vec<_>>()
    };
    let simulated = |strategy: &Strategy| {
        let mut study = new(strategy);
        let reward = |s: &manyhands_core::Suggestion| instance.problem().values()[s.choice.candidate];
        let run = simulate(&mut study, &Feedback::Batch(5), 15, reward).unwrap();
        run.iter().map(|s| s.choice.candidate).collect::<Vec<_>>()
    };
    let joint = Strategy { rule: Rule::Dpp, dpp: DppKind::Sample, ..Strategy::auto() };
    assert_eq!(simulated(&joint), by_hand(&joint, &[5]));
    assert_ne!(simulated(&joint), by_hand(&joint, &[1; 5]));
    for rule in [Rule::IgpBucb, Rule::GpBts, Rule::GpUcbPe] {
        let strategy = Strategy::new(rule, 1.0);
        assert_eq!(simulated(&strategy), by_hand(&strategy, &[5]), "{rule}");
        assert_eq!(simulated(&strategy), by_hand(&strategy, &[1; 5]), "{rule}");
    }
}

/// Rows by panel, arrival and M: 24 comparisons, in each every rule and random search; a test is that of the runs.
#[test]
fn the_table_has_every_method_in_every_comparison_and_its_tests_are_those_of_the_runs() {
    let settings = Settings { functions: 3, horizon: 6, ..small() };
    let request = ReproductionRequest {
        settings,
        panels: vec![],
        extras: vec![Extra::Rules],
        data: Some(data("rules-data")),
        arrival: None,
    };
    let plan = ReproductionPlan::new(&request).unwrap();
    let methods = ComparedRule::ALL.len() + 1;
    assert_eq!(plan.runs(), 24 * methods * 3);
    let reproduction = plan.run(&|| ()).unwrap();
    let rows = reproduction.summary()["extra"]["rules"]["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 24 * methods);
    let mut cells = Vec::new();
    for cell in rows.chunks(methods) {
        let names: Vec<&str> = cell.iter().map(|row| row["rule"].as_str().unwrap()).collect();
        let expected: Vec<&str> = ComparedRule::ALL.iter().map(|rule| rule.name).chain(["random"]).collect();
        assert_eq!(names, expected);
        let place = |row: &Json| (row["panel"].clone(), row["arrival"].clone(), row["workers"].clone());
        assert!(cell.iter().all(|row| place(row) == place(&cell[0]) && row["t"] == 6 && row["runs"] == 3));
        let ranks: f64 = cell.iter().map(|row| row["mean_rank"].as_f64().unwrap()).sum();
        assert!((ranks - (methods * (methods + 1)) as f64 / 2.0).abs() < 1e-9, "ranks are 1 to {methods}: {ranks}");
        cells.push(format!("{}{}{}", place(&cell[0]).0, place(&cell[0]).1, place(&cell[0]).2));
    }
    cells.sort();
    cells.dedup();
    assert_eq!(cells.len(), 24);
    let letters: String = rows.iter().map(|row| row["panel"].as_str().unwrap()).collect();
    assert!("abcdefgh".chars().all(|letter| letters.contains(letter)));

    let find = |name: &str| {
        rows.iter().find(|row| row["panel"] == "c" && row["workers"] == 20 && row["rule"] == name).unwrap()
    };
    let of = |name: &str| played(named(name), Arrival::Delay, Settings { workers: 20, ..settings });
    let (reference, other) = (of("igp-bucb"), of("gp-ei"));
    let differences: Vec<f64> = other.iter().zip(&reference).map(|(a, b)| a - b).collect();
    let test = SignedRank::test(&differences);
    assert_eq!(find("gp-ei")["p"], test.p_two_sided());
    assert_eq!(find("gp-ei")["wins"], differences.iter().filter(|d| **d < 0.0).count());
    assert!(find("gp-ei")["p_holm"].as_f64() >= find("gp-ei")["p"].as_f64());
    assert!(
        find("igp-bucb")["p"].is_null() && find("igp-bucb")["standing"].is_null(),
        "it is not tested against itself"
    );
    let mean = other.iter().sum::<f64>() / 3.0;
    assert!((find("gp-ei")["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
}

/// What is known of these rules on smooth functions: improvement beats the theorem's width, exploring batches cost regret
/// when a batch has one pick that exploits, and cost none when all picks are first ones.
#[test]
fn rules_differ_as_they_are_known_to() {
    let settings = Settings { functions: 12, horizon: 60, workers: 5, ..Settings::default() };
    let of = |name: &str, arrival: Arrival| played(named(name), arrival, settings);
    let mean = |regrets: &[f64]| regrets.iter().sum::<f64>() / regrets.len() as f64;
    let is_less = |a: &[f64], b: &[f64]| {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        SignedRank::test(&differences).p_less < 0.01
    };
    let [ei, igp, ucb, explored] = ["gp-ei", "igp-bucb", "gp-ucb", "gp-ucb-pe"].map(|name| of(name, Arrival::Batch));
    let random = played(Algorithm::Random, Arrival::Batch, settings);
    assert!(is_less(&ei, &igp) && is_less(&igp, &ucb) && is_less(&ucb, &explored) && is_less(&explored, &random));
    let delayed = of("gp-ucb-pe", Arrival::Delay);
    assert!(mean(&delayed) < 1.2 * mean(&ucb) && mean(&explored) > 2.0 * mean(&ucb));
}

fn learned(threads: usize, evaluations: usize) -> Json {
    let protocol = Protocol { seeds: 2, evaluations: Some(evaluations), ..Protocol::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let bench = RulesBench::new(&["forrester".to_string()], vec![], protocol).unwrap();
        bench.run(&|| ()).unwrap().to_json()
    })
}

/// Rules with learned models begin with one design, and are the same on any number of threads. With the design alone nothing
/// differs from `auto`.
#[test]
fn rules_with_learned_models_begin_with_the_same_design() {
    let rules = |report: &Json| report["problems"][0]["rules"].as_array().unwrap().clone();
    let regrets = |report: &Json| -> Vec<Json> {
        rules(report)
            .iter()
            .flat_map(|rule| rule["runs"].as_array().unwrap().clone())
            .map(|run| run["regret"].clone())
            .collect()
    };
    // A design has 4 + 2d points.
    let design = learned(1, 6);
    let (first, rest) = (&rules(&design)[0], &rules(&design)[1..]);
    assert_eq!((&first["rule"], &first["test"]), (&"auto".into(), &Json::Null));
    for rule in rest.iter().filter(|rule| rule["rule"] != "random") {
        assert_eq!((&rule["test"]["ties"], &rule["test"]["p_holm"]), (&2.into(), &1.0.into()), "{rule}");
        assert_eq!((&rule["median"], &rule["mean_rank"]), (&first["median"], &first["mean_rank"]), "{rule}");
    }
    let [one, two] = [1, 2].map(|threads| learned(threads, 12));
    assert_eq!(regrets(&one), regrets(&two));
    assert_ne!(regrets(&one), regrets(&design));
}
