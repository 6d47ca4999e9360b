//! What exists for comparisons: choosing without hallucination, and GP-BUCB's Bayesian width.

use crate::common::{NOISE, Oracle, argmax, candidates, f, line, matern, se, spec, study};
use manyhands_core::theory::Assumptions;
use manyhands_core::{Hallucination, Information, Rule, Strategy};

fn off(rule: Rule) -> Strategy {
    Strategy { hallucination: Hallucination::Off, information: Information::Log, ..Strategy::new(rule, 1.5) }
}

#[test]
fn without_hallucination_ucb_repeats_the_choice_of_the_observed_points() {
    let spec = spec(line(40), se(0.2), off(Rule::IgpBucb));
    let all = candidates(spec.domain());
    let (mut study, mut rows, mut values) = (study(&spec), vec![], vec![]);
    for _ in 0..6 {
        let oracle = Oracle::new(spec.prior(), &all, &rows, &values);
        let multiplier = spec.assumptions().unwrap().igp_bucb((rows.len().max(1) as f64).ln(), 1.0);
        let scores: Vec<f64> =
            oracle.means.iter().zip(&oracle.variances).map(|(mean, v)| mean + multiplier * v.sqrt()).collect();
        let batch = study.ask(3).unwrap();
        for suggestion in &batch {
            assert_eq!(suggestion.choice.candidate, argmax(&scores));
            // The oracle's elimination and the factor differ by rounding, at a condition number of 18/NOISE.
            assert!((suggestion.choice.sd - oracle.variances[suggestion.choice.candidate].sqrt()).abs() < 1e-9);
        }
        for suggestion in batch {
            values.push(f(&suggestion.point) + 0.01 * suggestion.trial as f64);
            study.tell(suggestion.trial, values[suggestion.trial]).unwrap();
            rows.push(suggestion.point);
        }
    }
}

/// The oracle is the same study with everything pending cancelled before each choice.
#[test]
fn without_hallucination_thompson_sampling_sees_only_what_was_observed() {
    for kernel in [se(0.2), matern(0.3)] {
        let ignoring = spec(line(40), kernel.clone(), off(Rule::GpBts)).with_seed(5);
        let strategy = Strategy { hallucination: Hallucination::Number(1.0), ..off(Rule::GpBts) };
        let alone = spec(line(40), kernel, strategy).with_seed(5);
        let (mut ignoring, mut alone) = (study(&ignoring), study(&alone));
        for study in [&mut ignoring, &mut alone] {
            let first = study.ask(1).unwrap().remove(0);
            study.tell(first.trial, f(&first.point)).unwrap();
        }
        let batch = ignoring.ask(8).unwrap();
        for suggestion in &batch {
            let expected = alone.ask(1).unwrap().remove(0);
            assert_eq!(*suggestion, expected);
            alone.cancel(expected.trial).unwrap();
        }
        assert!(batch.iter().any(|s| s.choice.candidate != batch[0].choice.candidate), "samples differ");
    }
}

#[test]
fn the_bayesian_rule_needs_no_norm_bound() {
    let strategy = |norm_bound| Strategy { norm_bound, ..Strategy::new(Rule::GpBucbBayesian, 1.5) };
    let [mut with, mut without] = [Some(1.5), None].map(|bound| study(&spec(line(40), se(0.2), strategy(bound))));
    for _ in 0..4 {
        let (asked, same) = (with.ask(3).unwrap(), without.ask(3).unwrap());
        assert_eq!(asked, same);
        for s in asked {
            with.tell(s.trial, f(&s.point)).unwrap();
            without.tell(s.trial, f(&s.point)).unwrap();
        }
    }
}

#[test]
fn the_bayesian_width_is_that_of_desautels_krause_and_burdick() {
    let spec = spec(line(40), se(0.2), Strategy { max_pending: Some(4), ..Strategy::new(Rule::GpBucbBayesian, 1.5) });
    let mut study = study(&spec);
    for s in study.ask(4).unwrap() {
        study.tell(s.trial, f(&s.point)).unwrap();
    }
    // |D| = 40, t = 5, pi^2/6 = 1.644934..., delta = 0.1, nothing pending.
    let by_hand = (2.0f64 * (40.0f64 * 25.0 * 1.644_934_066_848_226 / 0.1).ln()).sqrt();
    let suggestion = study.ask(1).unwrap().remove(0);
    assert!(
        (suggestion.choice.multiplier - by_hand).abs() < 1e-12,
        "{} against {by_hand}",
        suggestion.choice.multiplier
    );
    let assumptions = Assumptions { norm_bound: 9.0, noise_bound: 9.0, noise: NOISE, delta: 0.1 };
    let twice = assumptions.gp_bucb_bayesian(5, 40, 4.0);
    assert!((twice - 2.0 * by_hand).abs() < 1e-12, "xi enters by its root, B and R not at all");
}
