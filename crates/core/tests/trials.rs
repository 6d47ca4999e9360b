//! What becomes of trials: failing, cancelling, pools that run out, initialization, and the discretized cube.

use crate::common::{NOISE, Oracle, RULES, candidates, config, f, line, matern, rng, se, spec, study};
use manyhands_core::gp::Points;
use manyhands_core::theory::initialization_variance;
use manyhands_core::{Domain, Error, Hallucination, Initial, Phase, Rule, Spec, Strategy, Study, TrialState};
use manyhands_gp::Key;
use proptest::prelude::*;
use rand::{Rng, RngExt};

fn strategy(rule: Rule) -> Strategy {
    Strategy::new(rule, 1.5)
}

/// The rule's favourite point fails every time; without the hallucination it would be proposed again and again.
#[test]
fn a_point_that_always_fails_is_not_proposed_for_ever() {
    for rule in RULES {
        let mut live = study(&spec(line(12), se(0.2), strategy(rule)).with_seed(2));
        let mut tried = [0usize; 12];
        for _ in 0..120 {
            let s = live.ask(1).unwrap().remove(0);
            tried[s.choice.candidate] += 1;
            live.fail(s.trial, "always").unwrap();
        }
        // Trying spreads over all candidates: none is left out, none takes more than a third.
        assert!(tried.iter().all(|&count| (1..40).contains(&count)), "{rule:?}: {tried:?}");
    }
}

#[test]
fn failed_trials_never_enter_mean_certificate_or_information() {
    for rule in RULES {
        let spec = spec(line(20), se(0.2), strategy(rule));
        let (mut with, mut told) = (study(&spec), vec![]);
        for round in 0..12 {
            let s = with.ask(1).unwrap().remove(0);
            if round % 3 == 1 {
                with.fail(s.trial, "broke").unwrap();
            } else {
                with.tell(s.trial, f(&s.point)).unwrap();
                told.push((s.point.clone(), f(&s.point)));
            }
        }
        let (rows, values): (Vec<_>, Vec<_>) = told.into_iter().unzip();
        let points = candidates(spec.domain());
        let oracle = Oracle::new(spec.prior(), &points, &rows, &values);
        assert_eq!(with.posterior().observed(), 8);
        assert_eq!(with.posterior().pending(), 4);
        // Eight rows with condition at most 1 + 8/noise.
        let tolerance = 64.0 * 8.0 * f64::EPSILON * (8.0 / NOISE) * 10.0;
        assert!((with.posterior().information() - oracle.information).abs() <= tolerance);
        let alpha = spec.assumptions().unwrap().band(oracle.information);
        for (p, (mean, variance)) in
            with.predict(&points).unwrap().iter().zip(oracle.means.iter().zip(&oracle.variances))
        {
            assert!((p.mean - mean).abs() <= tolerance && (p.sd * p.sd - variance).abs() <= tolerance);
            assert!((p.upper - p.lower - 2.0 * alpha * p.sd).abs() <= tolerance);
            assert!(p.sd_pending <= p.sd);
        }
        let best = with.best().unwrap();
        assert_eq!(with.trials()[best.trial].state(), TrialState::Observed);
    }
}

#[test]
fn a_failed_candidate_leaves_a_pool_without_repeats_and_a_cancelled_one_returns() {
    for rule in RULES {
        let spec = spec(line(6), se(0.2), strategy(rule)).without_repeats().unwrap();
        let mut live = study(&spec);
        let batch = live.ask(6).unwrap();
        let mut all: Vec<usize> = batch.iter().map(|s| s.choice.candidate).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5], "every candidate once");
        assert_eq!(live.ask(1), Err(Error::PoolExhausted { asked: 1, left: 0 }));
        live.fail(0, "broke").unwrap();
        live.tell(1, 0.3).unwrap();
        assert_eq!(live.ask(1), Err(Error::PoolExhausted { asked: 1, left: 0 }));
        live.cancel(2).unwrap();
        live.cancel(4).unwrap();
        assert_eq!(live.ask(3), Err(Error::PoolExhausted { asked: 3, left: 2 }));
        let mut again: Vec<usize> = live.ask(2).unwrap().iter().map(|s| s.choice.candidate).collect();
        let mut cancelled = [batch[2].choice.candidate, batch[4].choice.candidate];
        again.sort_unstable();
        cancelled.sort_unstable();
        assert_eq!(again, cancelled);
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
    }
}

#[test]
fn a_cancelled_trial_leaves_no_trace_in_what_comes_next() {
    for rule in [Rule::IgpBucb, Rule::GpBucb] {
        let spec = spec(line(30), matern(0.2), strategy(rule));
        let mut live = study(&spec);
        for s in live.ask(3).unwrap() {
            live.tell(s.trial, f(&s.point)).unwrap();
        }
        let mut untouched = live.clone();
        let trial = live.ask(1).unwrap()[0].trial;
        live.cancel(trial).unwrap();
        let (a, b) = (live.ask(1).unwrap().remove(0), untouched.ask(1).unwrap().remove(0));
        assert_eq!((a.choice.candidate, a.choice.mean, a.choice.sd), (b.choice.candidate, b.choice.mean, b.choice.sd));
        if rule == Rule::IgpBucb {
            assert_eq!(a.choice.multiplier, b.choice.multiplier);
        }
    }
}

#[test]
fn max_pending_is_respected_and_settling_makes_room() {
    let mut live = study(&spec(line(30), se(0.2), Strategy { max_pending: Some(3), ..strategy(Rule::IgpBucb) }));
    assert_eq!(live.ask(4), Err(Error::TooManyPending { asked: 4, pending: 0, max_pending: 3 }));
    live.ask(2).unwrap();
    assert_eq!(live.ask(2), Err(Error::TooManyPending { asked: 2, pending: 2, max_pending: 3 }));
    live.ask(1).unwrap();
    live.tell(1, 0.1).unwrap();
    live.fail(0, "broke").unwrap();
    live.cancel(2).unwrap();
    assert_eq!(live.ask(3).unwrap().len(), 3);
}

#[test]
fn initialization_by_count_picks_the_largest_variance_so_often() {
    let initial = Initial::Count(5);
    let mut live =
        study(&spec(line(30), se(0.2), Strategy { initial, max_pending: Some(2), ..strategy(Rule::IgpBucb) }));
    let points = candidates(live.spec().domain());
    for t in 0..8 {
        let sd = |x: &Vec<f64>| live.posterior().predict(x).unwrap().sd;
        let largest = points.iter().map(sd).fold(0.0, f64::max);
        let s = live.ask(1).unwrap().remove(0);
        assert_eq!(s.choice.phase == Phase::Initial, t < 5);
        if t < 5 {
            assert_eq!((s.choice.multiplier, s.choice.score), (0.0, s.choice.sd));
            // Ties are broken within 1e-12 of the variance.
            assert!(s.choice.sd * s.choice.sd >= largest * largest - 2e-12);
        }
        // The picks ignore rewards: extreme ones change nothing.
        live.tell(s.trial, 100.0 * (t as f64).sin()).unwrap();
    }
}

/// The exact hallucination factor after hallucinating `count` candidates, from a dense solve.
fn exact_xi(live: &Study, points: &[Vec<f64>], hallucinated: &[usize]) -> f64 {
    let mut posterior = live.posterior().clone();
    for (i, &site) in hallucinated.iter().enumerate() {
        posterior.hallucinate(Key { id: 1_000_000 + i as u64, site }, &points[site]).unwrap();
    }
    let ratio = |x: &Vec<f64>| {
        let there = posterior.predict(x).unwrap();
        (there.sd_observed / there.sd).powi(2)
    };
    points.iter().map(ratio).fold(1.0, f64::max)
}

/// Ends all pending trials, or one of them; some fail where `failing`.
fn settle(live: &mut Study, rng: &mut impl Rng, all: bool, failing: bool) {
    let pending = live.trials().iter().filter(|trial| trial.state() == TrialState::Pending);
    let pending: Vec<usize> = pending.map(|trial| trial.number()).collect();
    let ended = if all { pending } else { vec![pending[rng.random_range(0..pending.len())]] };
    for trial in ended {
        let value = f(live.point(trial).unwrap());
        if failing && rng.random_bool(0.2) { live.fail(trial, "broke") } else { live.tell(trial, value) }.unwrap();
    }
}

proptest! {
    #![proptest_config(config(64))]

    /// From the first choice of the rule on, sqrt(xi) <= C for that choice and for any batch of M - 1 hallucinations.
    #[test]
    fn initialization_until_c_certifies_that_sqrt_xi_is_at_most_c(
        seed: u64, workers in 2usize..6, target in 1.5f64..4.0, batched: bool, repeats: bool, failing: bool,
    ) {
        let rng = &mut rng(seed);
        let kernel = if rng.random_bool(0.5) { se(0.3) } else { matern(0.5) };
        let strategy = Strategy { initial: Initial::Until(target), max_pending: Some(workers), ..strategy(Rule::IgpBucb) };
        let spec = spec(line(20), kernel, strategy);
        let spec = if repeats { spec } else { spec.without_repeats().unwrap() };
        let points = candidates(spec.domain());
        let mut live = study(&spec);
        let (mut ruled, mut failed) = (0, 0);
        for _ in 0..150 {
            let pending = live.count(TrialState::Pending);
            if pending == workers || (!batched && pending > 0 && rng.random_bool(0.5)) {
                settle(&mut live, rng, batched, failing);
                continue;
            }
            let before = live.clone();
            let Ok(asked) = live.ask(1) else { break };
            if asked[0].choice.phase == Phase::Initial {
                continue;
            }
            ruled += 1;
            failed = if ruled == 1 { before.count(TrialState::Failed) } else { failed };
            // Failures of the rule's own picks are not the scheme's. Three failures may be too many for C, and in a pool without
            // repeats one, as nothing is tried again there.
            let is_certified = before.count(TrialState::Failed) == failed && failed < if repeats { 3 } else { 1 };
            let xi = exact_xi(&before, &points, &[]);
            prop_assert!(!is_certified || xi.sqrt() <= target * (1.0 + 1e-9), "sqrt xi {} at the choice of the rule, C = {target}", xi.sqrt());
            if is_certified && before.count(TrialState::Pending) == 0 {
                let bound = initialization_variance(target, workers, NOISE);
                let free = |i: &usize| repeats || before.trials().iter().all(|t| t.candidate() != *i);
                let left: Vec<usize> = (0..points.len()).filter(free).collect();
                let variance = |&i: &usize| before.posterior().predict(&points[i]).unwrap().sd_observed.powi(2);
                prop_assert!(left.iter().map(variance).fold(0.0, f64::max) <= bound * (1.0 + 1e-9));
                for _ in 0..3 {
                    let batch: Vec<usize> = (1..workers).map(|_| left[rng.random_range(0..left.len())]).collect();
                    prop_assert!(exact_xi(&before, &points, &batch).sqrt() <= target * (1.0 + 1e-9));
                }
            }
        }
        prop_assert!(ruled > 0 || !repeats, "the rule starts at last");
    }

}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn gp_bts_on_the_discretized_cube_stays_in_it_and_replays(seed: u64, dimension in 1usize..3, rounds in 1usize..9) {
        let rng = &mut rng(seed);
        let kernel = if rng.random_bool(0.5) { se(0.8) } else { matern(0.9) };
        let domain = Domain::Discretized { side: 0.7, dimension };
        let rounds = if dimension == 1 { 2 * rounds } else { rounds.min(4) };
        let spec = spec(domain, kernel.clone(), Strategy { norm_bound: Some(0.5), ..strategy(Rule::GpBts) }).with_seed(seed);
        let mut live = study(&spec);
        let lipschitz = kernel.lipschitz().unwrap();
        for _ in 0..rounds {
            let s = live.ask(1).unwrap().remove(0);
            prop_assert!(s.point.len() == dimension && s.point.iter().all(|x| (0.0..=0.7).contains(x)));
            // D_t has B L r d t^2 points along a coordinate, evenly spaced and with both ends.
            let t = (s.trial + 1) as f64;
            let per_coordinate = (0.5 * lipschitz * 0.7 * dimension as f64 * t * t).ceil().max(2.0);
            for x in &s.point {
                let steps = x / 0.7 * (per_coordinate - 1.0);
                prop_assert!((steps - steps.round()).abs() <= 1e-9 * per_coordinate);
            }
            if s.trial > 1 && rng.random_bool(0.7) {
                live.tell(s.trial, f(&s.point)).unwrap();
            } else if rng.random_bool(0.3) {
                live.cancel(s.trial).unwrap();
            }
        }
        prop_assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
        let mut replayed = Study::replay(spec, live.events()).unwrap();
        prop_assert_eq!(replayed.trials(), live.trials());
        prop_assert_eq!(replayed.ask(2), live.ask(2));
        let refused = live.certificate();
        assert!(matches!(refused, Err(Error::Incompatible { .. })));
        prop_assert!(live.count(TrialState::Observed) == 0 || live.best().unwrap().regret_bound.is_none());
    }
}

#[test]
fn a_discretization_too_large_is_refused_and_named() {
    let cube = Domain::Discretized { side: 1.0, dimension: 3 };
    let mut live = study(&spec(cube, se(0.001), strategy(Rule::GpBts)));
    let refused = live.ask(1).unwrap_err();
    assert!(matches!(refused, Error::DiscretizationTooLarge { t: 1, dimension: 3, .. }), "{refused}");
    assert!(live.events().is_empty());
}

/// The choices do not depend on how much memory they may take.
#[test]
fn memory_changes_no_choice() {
    let run = |memory: usize| -> Vec<usize> {
        let rng = &mut rng(4);
        let domain = crate::common::scattered(rng, 200, 2);
        let spec =
            spec(domain, matern(0.3), Strategy { hallucination: Hallucination::Realised, ..strategy(Rule::IgpBucb) });
        let mut live = study(&spec.with_memory(memory));
        let mut picks = vec![];
        for _ in 0..10 {
            for s in live.ask(4).unwrap() {
                picks.push(s.choice.candidate);
                live.tell(s.trial, f(&s.point)).unwrap();
            }
        }
        picks
    };
    assert_eq!(run(0), run(1 << 28));
    assert_eq!(run(4000), run(1 << 28));
}

#[test]
fn a_study_over_a_covariance_matrix_tries_its_indices() {
    let entries = (0..25).map(|i| if i / 5 == i % 5 { 1.0 } else { 0.4 }).collect();
    let kernel = manyhands_core::gp::Kernel::empirical(manyhands_core::gp::Covariance::new(5, entries).unwrap());
    for rule in RULES {
        let spec: Spec =
            spec(Domain::Points(Points::indices(5)), kernel.clone(), strategy(rule)).without_repeats().unwrap();
        let mut live = study(&spec);
        let mut found: Vec<f64> = live.ask(5).unwrap().iter().map(|s| s.point[0]).collect();
        found.sort_by(f64::total_cmp);
        assert_eq!(found, [0.0, 1.0, 2.0, 3.0, 4.0]);
    }
}

/// What one ask proposed may be logged with other events in between; each choice still knows those before it.
#[test]
fn a_proposal_logged_in_pieces_verifies() {
    for rule in RULES {
        let spec = spec(line(30), se(0.2), Strategy::new(rule, 1.5));
        let mut study = study(&spec);
        study.ask(1).unwrap();
        let mut proposed = study.propose(3).unwrap().into_iter();
        study.apply(proposed.next().unwrap()).unwrap();
        study.tell(0, 0.7).unwrap();
        proposed.for_each(|event| study.apply(event).unwrap());
        study.tell(2, -0.1).unwrap();
        study.ask(2).unwrap();
        Study::verify(&spec, study.events()).unwrap();
    }
}
