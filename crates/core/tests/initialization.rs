//! The initialization scheme until xi is bounded, where picks of it fail: the rule starts certified, and it always starts.

use crate::common::{NOISE, f, line, matern, rng, se, spec, study};
use manyhands_core::{Initial, Phase, Rule, Strategy, Study, TrialState};
use rand::RngExt;

/// Ten candidates.
fn scheme(lengthscale: f64, target: f64, workers: usize) -> Study {
    let strategy =
        Strategy { initial: Initial::Until(target), max_pending: Some(workers), ..Strategy::new(Rule::IgpBucb, 1.0) };
    study(&spec(line(10), se(lengthscale), strategy))
}

/// Asks one by one until the rule would choose, at most `most` times; how many picks the scheme made.
fn run(live: &mut Study, most: usize, mut fails: impl FnMut(&Study, usize) -> bool) -> Option<usize> {
    for _ in 0..most {
        let before = live.clone();
        let s = live.ask(1).unwrap().remove(0);
        if s.choice.phase == Phase::Rule {
            *live = before;
            return Some(s.trial);
        }
        if fails(live, s.trial) { live.fail(s.trial, "broke") } else { live.tell(s.trial, f(&s.point)) }.unwrap();
    }
    None
}

#[test]
fn a_failed_pick_is_made_again_and_the_rule_starts_with_the_factor_that_was_asked_for() {
    for (lengthscale, target, workers) in [(0.02, 2.0, 2), (0.02, 2.0, 4), (0.3, 2.0, 3), (0.3, 1.5, 5)] {
        for broken in [vec![0], vec![1, 4], vec![0, 1]] {
            let mut live = scheme(lengthscale, target, workers);
            let picks = run(&mut live, 200, |_, trial| broken.contains(&trial)).unwrap();
            assert_eq!(live.count(TrialState::Failed), broken.len());
            // Of one failed pick at an independent candidate it is 1 + 1/noise = 101.
            let xi = live.posterior().hallucination_factor().unwrap();
            assert!(xi <= target * target, "xi {xi} after {picks} picks, C^2 = {}", target * target);
            // Any M - 1 pending points on top of the failed ones.
            let batch = live.ask(workers - 1).unwrap();
            assert!(batch.iter().all(|s| s.choice.phase == Phase::Rule));
            let xi = live.posterior().hallucination_factor().unwrap();
            assert!(xi <= target * target * (1.0 + 1e-9), "xi {xi} with {} pending", workers - 1);
            assert_eq!(Study::verify(live.spec(), live.events()).map(drop), Ok(()));
        }
    }
}

#[test]
fn a_candidate_that_always_fails_costs_a_few_picks_and_then_the_rule_starts() {
    for lengthscale in [0.02, 0.3] {
        let without = run(&mut scheme(lengthscale, 2.0, 2), 200, |_, _| false).unwrap();
        let mut live = scheme(lengthscale, 2.0, 2);
        let picks = run(&mut live, 200, |live, trial| live.trials()[trial].candidate() == 0).unwrap();
        let failed = live.count(TrialState::Failed);
        assert!((1..=4).contains(&failed) && picks <= without + 2 * failed, "{failed} of {picks}, else {without}");
        assert_eq!(Study::verify(live.spec(), live.events()).map(drop), Ok(()));
    }
}

#[test]
fn the_rule_starts_whatever_fails() {
    for seed in 0..12 {
        let rng = &mut rng(seed);
        let [target, rate, lengthscale] =
            [[1.1, 1.5, 3.0], [0.3, 0.6, 1.0], [0.02, 0.2, 1.0]].map(|options| options[rng.random_range(0..3)]);
        let mut live = scheme(lengthscale, target, 3);
        let picks = run(&mut live, 2000, |_, _| rng.random_bool(rate));
        assert!(picks.is_some(), "C = {target}, {rate} fail, lengthscale {lengthscale}");
    }
}

/// Nothing failed, so that every decision is that of the variance alone; dense formulas are the oracle.
#[test]
fn without_failures_the_scheme_ends_at_the_variance_that_the_paper_asks_for() {
    let strategy = Strategy { initial: Initial::Until(2.0), max_pending: Some(4), ..Strategy::new(Rule::IgpBucb, 1.0) };
    let mut live = study(&spec(line(15), matern(0.3), strategy));
    let widest = |live: &Study| {
        let points = (0..15).map(|i| [f64::from(i) / 14.0]);
        points.map(|x| live.posterior().predict(&x).unwrap().sd.powi(2)).fold(0.0, f64::max)
    };
    let mut last = f64::INFINITY;
    while live.ask(1).unwrap()[0].choice.phase == Phase::Initial {
        let trial = live.trials().len() - 1;
        live.tell(trial, 0.5).unwrap();
        assert!(last > NOISE, "one pick too many");
        last = widest(&live);
    }
    // lambda (C^2 - 1)/(M - 1) = lambda.
    assert!(last <= NOISE);
}
