//! What a study promises: its choices, its log, what becomes of trials, and what it certifies.

use crate::common::{
    NOISE, Oracle, RULES, argmax, asked, candidates, config, f, in_batches, line, matern, on_one_and_two_threads, play,
    rng, se, spec, study, uniform, with_delay,
};
use manyhands_core::event::Asked;
use manyhands_core::gp::{Grid, Prior};
use manyhands_core::{
    Certificate, Direction, Domain, Error, Event, Hallucination, Information, Initial, Rule, Spec, Strategy, Study,
    Suggestion, TrialState,
};
use proptest::prelude::*;
use rand::{Rng, RngExt};

fn strategy(rule: Rule) -> Strategy {
    Strategy::new(rule, 1.5)
}

/// A spec with something random about everything.
fn random_spec(rng: &mut impl Rng) -> Spec {
    let domain = match rng.random_range(0..3) {
        0 => line(rng.random_range(15..40)),
        1 => crate::common::scattered(rng, 30, 2),
        _ => Domain::Grid(Grid::even(&[(0.0, 1.0, 6), (0.0, 1.0, 5)]).unwrap()),
    };
    let kernel = if rng.random_bool(0.5) { se(0.3) } else { matern(0.4) };
    let strategy = Strategy {
        information: [Information::Realised, Information::Greedy, Information::GreedyUpper, Information::Log]
            [rng.random_range(0..4)],
        hallucination: [
            Hallucination::Realised,
            Hallucination::Exact,
            Hallucination::APriori,
            Hallucination::Number(1.0),
            Hallucination::Off,
        ][rng.random_range(0..5)],
        initial: [Initial::None, Initial::Count(4), Initial::Until(3.0)][rng.random_range(0..3)],
        max_pending: Some(8),
        ..strategy(RULES[rng.random_range(0..RULES.len())])
    };
    let spec = spec(domain, kernel, strategy).with_seed(rng.random());
    let spec = if rng.random_bool(0.5) { spec.with_direction(Direction::Minimize) } else { spec };
    if rng.random_bool(0.5) { spec.without_repeats().unwrap() } else { spec }
}

/// One random thing happens: an ask, or an outcome of any pending trial.
fn happen(study: &mut Study, rng: &mut impl Rng) {
    let pending: Vec<usize> = with_state(study, TrialState::Pending);
    let any = |rng: &mut _| pending[Rng::next_u32(rng) as usize % pending.len()];
    match rng.random_range(0..10) {
        0..5 if pending.len() < 6 => match study.ask(rng.random_range(1..3)) {
            Ok(_) | Err(Error::PoolExhausted { .. } | Error::TooManyPending { .. }) => {}
            Err(error) => unreachable!("{error}"),
        },
        _ if pending.is_empty() => {}
        0..8 => {
            let trial = any(rng);
            let value = f(study.point(trial).unwrap()) + uniform(rng, -0.1, 0.1);
            study.tell(trial, value).unwrap();
        }
        8 => study.fail(any(rng), "it broke").unwrap(),
        _ => study.cancel(any(rng)).unwrap(),
    }
}

fn with_state(study: &Study, state: TrialState) -> Vec<usize> {
    study.trials().iter().filter(|trial| trial.state() == state).map(|trial| trial.number()).collect()
}

/// The next suggestions, without disturbing the study; fewer or none where the pool or max_pending ends.
fn next(study: &Study, count: usize) -> Result<Vec<Suggestion>, Error> {
    study.clone().ask(count)
}

/// The multiplier of the next choice of the same log under another strategy.
fn next_multiplier(study: &Study, hallucination: Hallucination, information: Information) -> f64 {
    let spec = study.spec();
    let strategy = Strategy { hallucination, information, ..spec.strategy().clone() };
    let spec = Spec::new(spec.domain().clone(), spec.prior().clone(), strategy).unwrap();
    Study::replay(spec, study.events()).unwrap().ask(1).unwrap()[0].choice.multiplier
}

/// Over all moments of a log, the lowest upper bound of the optimum and the highest lower bound of a candidate.
fn running_extremes(live: &Study) -> (f64, f64) {
    let (spec, points) = (live.spec(), candidates(live.spec().domain()));
    let told = live.events().iter().filter_map(|event| match event {
        Event::Told { trial, value } => Some((live.point(*trial).unwrap().to_vec(), spec.direction().sign() * value)),
        _ => None,
    });
    let (rows, values): (Vec<Vec<f64>>, Vec<f64>) = told.unzip();
    let (mut upper, mut lower) = (f64::INFINITY, f64::NEG_INFINITY);
    for n in 0..=rows.len() {
        let then = Oracle::new(spec.prior(), &points, &rows[..n], &values[..n]);
        let alpha = spec.assumptions().unwrap().band(then.information);
        let band = |side: f64| then.means.iter().zip(&then.variances).map(move |(m, v)| m + side * alpha * v.sqrt());
        upper = upper.min(band(1.0).fold(f64::NEG_INFINITY, f64::max));
        lower = lower.max(band(-1.0).fold(f64::NEG_INFINITY, f64::max));
    }
    (upper, lower)
}

/// IGP-UCB as a page of textbook: dense solves, the whole domain, one at a time.
fn igp_ucb(spec: &Spec, rounds: usize) -> Vec<(usize, f64)> {
    let (prior, strategy) = (spec.prior(), spec.strategy());
    let points = candidates(spec.domain());
    let (mut rows, mut values, mut choices) = (vec![], vec![], vec![]);
    for _ in 0..rounds {
        let now = Oracle::new(prior, &points, &rows, &values);
        let log = (1.0 / strategy.delta).ln();
        let ratio = strategy.noise_bound.unwrap_or(prior.noise().sqrt()) / prior.noise().sqrt();
        let beta = strategy.norm_bound.unwrap() + ratio * (2.0 * (now.information + log)).sqrt();
        let scores: Vec<f64> = now.means.iter().zip(&now.variances).map(|(m, v)| m + beta * v.sqrt()).collect();
        let best = argmax(&scores);
        choices.push((best, beta));
        rows.push(points[best].clone());
        values.push(f(&points[best]));
    }
    choices
}

#[test]
fn one_worker_is_the_sequential_algorithm() {
    let rng = &mut rng(1);
    for domain in [line(40), crate::common::scattered(rng, 60, 2)] {
        for kernel in [se(0.2), matern(0.3)] {
            for noise_bound in [None, Some(0.4)] {
                let strategy = Strategy { noise_bound, max_pending: Some(1), ..strategy(Rule::IgpBucb) };
                let spec = spec(domain.clone(), kernel.clone(), strategy);
                let run = play(&mut study(&spec), in_batches::<1>, 25, |s| f(&s.point));
                for (t, (s, (candidate, beta))) in run.iter().zip(igp_ucb(&spec, 25)).enumerate() {
                    assert_eq!(s.choice.candidate, candidate, "round {t}");
                    // G is a sum of 25 logarithms of numbers with condition 1 + 25/noise.
                    assert!((s.choice.multiplier - beta).abs() <= 25.0 * 2500.0 * 64.0 * f64::EPSILON, "round {t}");
                }
            }
        }
    }
}

#[test]
fn one_worker_of_gp_bts_is_asking_and_telling_one_by_one() {
    let spec = spec(line(40), se(0.2), Strategy { max_pending: Some(1), ..strategy(Rule::GpBts) }).with_seed(3);
    let run = play(&mut study(&spec), in_batches::<1>, 20, |s| f(&s.point));
    let mut by_hand = study(&spec);
    for s in &run {
        assert_eq!(by_hand.ask(1).unwrap(), std::slice::from_ref(s));
        assert!(matches!(by_hand.ask(1), Err(Error::TooManyPending { .. })));
        by_hand.tell(s.trial, f(&s.point)).unwrap();
    }
    // A sampled choice is no accident of the seed's first number: another seed goes another way.
    let other = play(&mut study(&spec.clone().with_seed(4)), in_batches::<1>, 20, |s| f(&s.point));
    assert_ne!(
        other.iter().map(|s| s.choice.candidate).collect::<Vec<_>>(),
        run.iter().map(|s| s.choice.candidate).collect::<Vec<_>>()
    );
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn asking_for_five_is_asking_five_times(seed: u64, steps in 0usize..20) {
        let rng = &mut rng(seed);
        let mut study = study(&random_spec(rng));
        (0..steps).for_each(|_| happen(&mut study, rng));
        for trial in with_state(&study, TrialState::Pending) {
            study.tell(trial, f(study.point(trial).unwrap())).unwrap();
        }
        let mut one_by_one = study.clone();
        match study.ask(5) {
            Ok(five) => {
                let ones: Vec<Suggestion> = (0..5).flat_map(|_| one_by_one.ask(1).unwrap()).collect();
                prop_assert_eq!(five, ones);
            }
            Err(error) => assert!(matches!(error, Error::PoolExhausted { asked: 5, left: 0..5 }), "{error}"),
        }
    }

    #[test]
    fn replaying_the_log_gives_the_same_suggestions_and_verify_agrees(seed: u64, steps in 1usize..40) {
        let rng = &mut rng(seed);
        let spec = random_spec(rng);
        let mut live = study(&spec);
        for _ in 0..steps {
            happen(&mut live, rng);
            // Proposals that are not applied, and reads of the state, change nothing.
            if rng.random_bool(0.2) {
                let _ = live.propose(2);
            }
            if rng.random_bool(0.1) {
                live.certificate().unwrap();
            }
        }
        let mut replayed = Study::replay(spec.clone(), live.events()).unwrap();
        prop_assert_eq!(replayed.events(), live.events());
        prop_assert_eq!(replayed.trials(), live.trials());
        prop_assert_eq!(next(&replayed, 1), next(&live, 1));
        prop_assert_eq!(replayed.certificate(), live.certificate());
        prop_assert_eq!(replayed.best(), live.best());
        prop_assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
        (0..5).for_each(|_| happen(&mut replayed, rng));
        prop_assert_eq!(Study::verify(&spec, replayed.events()).map(drop), Ok(()));
    }

    #[test]
    fn verify_accepts_choices_logged_after_events_they_had_not_seen(seed: u64, steps in 1usize..20, count in 1usize..3) {
        let rng = &mut rng(seed);
        let spec = random_spec(rng);
        let mut live = study(&spec);
        (0..steps).for_each(|_| happen(&mut live, rng));
        let Ok(proposed) = live.clone().propose(count) else { return Ok(()) };
        let mut meanwhile = live.events().len();
        for trial in with_state(&live, TrialState::Pending) {
            match trial % 2 {
                0 => live.tell(trial, uniform(rng, -1.0, 1.0)).unwrap(),
                _ => live.fail(trial, "late").unwrap(),
            }
        }
        meanwhile = live.events().len() - meanwhile;
        proposed.into_iter().for_each(|event| live.apply(event).unwrap());
        if let Some(Event::Asked(Asked { seen, .. })) = live.events().last() {
            prop_assert_eq!(*seen + meanwhile + count, live.events().len());
        }
        (0..5).for_each(|_| happen(&mut live, rng));
        prop_assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
        let replayed = Study::replay(spec, live.events()).unwrap();
        prop_assert_eq!(next(&replayed, 1), next(&live, 1));
    }

    #[test]
    fn sup_of_the_sd_ratio_is_at_most_realised_xi_at_most_a_priori_at_most_worst_case(
        seed: u64, steps in 1usize..30, workers in 1usize..8,
    ) {
        let rng = &mut rng(seed);
        let kernel = if rng.random_bool(0.5) { se(0.3) } else { matern(0.4) };
        let strategy = Strategy { max_pending: Some(workers), ..strategy(Rule::IgpBucb) };
        let spec = spec(line(30), kernel, strategy);
        let mut live = study(&spec);
        for _ in 0..steps {
            if live.count(TrialState::Pending) < workers { live.ask(1).unwrap(); } else { happen(&mut live, rng); }
        }
        // As the next choice sees it: M - 1 others at most are pending, and whatever has failed.
        for trial in with_state(&live, TrialState::Pending).into_iter().skip(workers - 1) {
            live.cancel(trial).unwrap();
        }
        let ratio = |x: &Vec<f64>| {
            let there = live.posterior().predict(x).unwrap();
            (there.sd_observed / there.sd).powi(2)
        };
        let sup = candidates(spec.domain()).iter().map(ratio).fold(1.0, f64::max);
        let realised = live.posterior().hallucination_factor().unwrap();
        let xi = |hallucination, information| {
            let multiplier = |hallucination| next_multiplier(&live, hallucination, information);
            (multiplier(hallucination) / multiplier(Hallucination::Number(1.0))).powi(2)
        };
        let slack = 1.0 + 1e-9;
        prop_assert!(sup <= realised * slack, "sup {sup}, realised {realised}");
        let found = xi(Hallucination::Realised, Information::Realised);
        prop_assert!((found / realised - 1.0).abs() <= 1e-9, "the multiplier holds {found}, the posterior {realised}");
        let exact = xi(Hallucination::Exact, Information::Realised);
        prop_assert!((exact / sup - 1.0).abs() <= 1e-6, "exact {exact}, brute force {sup}");
        let a_priori = xi(Hallucination::APriori, Information::Realised);
        prop_assert!(realised <= a_priori * slack, "realised {realised}, a-priori {a_priori}");
        let worst = xi(Hallucination::WorstCase, Information::GreedyUpper);
        prop_assert!(a_priori <= worst * slack, "a-priori {a_priori}, worst case {worst}");
    }

    #[test]
    fn the_certificates_running_extremes_are_those_of_brute_force_over_the_log(
        seed: u64, steps in 0usize..60, minimize: bool, early: bool,
    ) {
        let rng = &mut rng(seed);
        let spec = spec(line(25), if rng.random_bool(0.5) { se(0.2) } else { matern(0.3) }, strategy(Rule::IgpBucb));
        let spec = if minimize { spec.with_direction(Direction::Minimize) } else { spec };
        let mut live = study(&spec);
        for _ in 0..steps {
            happen(&mut live, rng);
            if early && rng.random_bool(0.3) {
                live.certificate().unwrap();
            }
        }
        let (upper, lower) = running_extremes(&live);
        let Certificate { regret_bound, upper: high, lower: low, candidate, .. } = live.certificate().unwrap();
        let (expected_high, expected_low) = if minimize { (-lower, -upper) } else { (upper, lower) };
        // An sd near 0 is the root of a variance known to 60 eps/noise: 1e-6 at worst, times a band of 10.
        let tolerance = 1e-5;
        prop_assert!((high - expected_high).abs() <= tolerance, "{high}, {expected_high}");
        prop_assert!((low - expected_low).abs() <= tolerance, "{low}, {expected_low}");
        prop_assert!((regret_bound - (upper - lower)).abs() <= tolerance);
        prop_assert!(candidate.unwrap() < 25);
        if live.count(TrialState::Observed) > 0 {
            let best = live.best().unwrap();
            prop_assert!(best.regret_bound.unwrap() >= regret_bound - tolerance, "no trial has a better bound than the certificate");
        }
    }

    #[test]
    fn minimizing_mirrors_maximizing(seed: u64, steps in 1usize..30, mean in -2.0f64..2.0) {
        let rng = &mut rng(seed);
        let random = random_spec(rng);
        let with_mean = |mean: f64, direction| {
            let prior = Prior::new(random.prior().kernel().clone(), mean, NOISE).unwrap();
            let spec = Spec::new(random.domain().clone(), prior, random.strategy().clone()).unwrap();
            study(&spec.with_direction(direction).with_seed(9))
        };
        let (mut up, mut down) = (with_mean(mean, Direction::Maximize), with_mean(-mean, Direction::Minimize));
        for _ in 0..steps {
            let before = up.events().len();
            happen(&mut up, rng);
            for event in up.events()[before..].iter().cloned() {
                match event {
                    Event::Asked(_) => { down.ask(1).unwrap(); }
                    Event::Told { trial, value } => down.tell(trial, -value).unwrap(),
                    other => down.apply(other).unwrap(),
                }
            }
        }
        for (a, b) in up.suggestions().iter().zip(down.suggestions()) {
            prop_assert_eq!((a.choice.candidate, a.choice.mean, a.choice.sd, a.choice.score), (b.choice.candidate, -b.choice.mean, b.choice.sd, b.choice.score));
        }
        let (a, b) = (up.certificate().unwrap(), down.certificate().unwrap());
        prop_assert_eq!((a.regret_bound, a.upper, a.lower, a.candidate), (b.regret_bound, -b.lower, -b.upper, b.candidate));
        let far = candidates(random.domain());
        for (a, b) in up.predict(&far).unwrap().iter().zip(down.predict(&far).unwrap()) {
            prop_assert_eq!((a.mean, a.sd, a.lower, a.upper), (-b.mean, b.sd, -b.upper, -b.lower));
        }
    }
}

#[test]
fn one_and_two_threads_make_the_same_log() {
    for rule in RULES {
        for kernel in [se(0.2), matern(0.2)] {
            let grid = Grid::even(&[(0.0, 1.0, 140), (0.0, 1.0, 130)]).unwrap();
            let strategy = Strategy { hallucination: Hallucination::Realised, ..strategy(rule) };
            let spec = spec(Domain::Grid(grid), kernel, strategy).with_seed(5);
            let logs = on_one_and_two_threads(|| {
                let mut live = study(&spec);
                play(&mut live, with_delay::<4>, 12, |s| f(&s.point));
                (live.events().to_vec(), live.certificate().unwrap())
            });
            assert_eq!(logs[0], logs[1]);
        }
    }
}

#[test]
fn verify_catches_a_log_that_was_tampered_with() {
    for rule in RULES {
        let spec = spec(line(30), se(0.2), strategy(rule));
        let mut live = study(&spec);
        play(&mut live, in_batches::<3>, 9, |s| f(&s.point));
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
        let tampered = |change: &dyn Fn(&mut Asked)| {
            let mut events = live.events().to_vec();
            let position = events.iter().position(|e| matches!(e, Event::Asked(a) if a.trial == 4)).unwrap();
            if let Event::Asked(asked) = &mut events[position] {
                change(asked);
            }
            Study::verify(&spec, &events)
        };
        let changes: [&dyn Fn(&mut Asked); 5] = [
            &|a| a.choice.candidate = (a.choice.candidate + 1) % 30,
            &|a| a.choice.mean = a.choice.mean.next_up(),
            &|a| a.choice.sd = a.choice.sd.next_down(),
            &|a| a.choice.multiplier *= 2.0,
            &|a| a.choice.score += 1.0,
        ];
        for change in changes {
            assert!(matches!(tampered(change), Err(Error::NotReproduced { .. })), "{rule:?}");
        }
        assert!(matches!(tampered(&|a| a.trial = 7), Err(Error::NotReproduced { .. } | Error::BadLog { .. })));
        assert!(matches!(tampered(&|a| a.seen = 1000), Err(Error::BadLog { .. })));
        assert!(matches!(
            tampered(&|a| a.choice.candidate = 30),
            Err(Error::NotReproduced { .. } | Error::BadLog { .. })
        ));
    }
}

#[test]
fn a_log_that_cannot_be_is_refused() {
    let spec = spec(line(10), se(0.2), strategy(Rule::IgpBucb)).without_repeats().unwrap();
    let refused = |events: &[Event]| Study::replay(spec.clone(), events).map(|_| ()).unwrap_err();
    assert!(matches!(refused(&[asked(1, 0)]), Error::BadLog { sequence: 1, .. }));
    assert!(matches!(refused(&[asked(0, 10)]), Error::BadLog { sequence: 1, .. }));
    assert!(matches!(refused(&[asked(0, 3), asked(1, 3)]), Error::BadLog { sequence: 2, .. }));
    assert!(matches!(refused(&[Event::Told { trial: 0, value: 1.0 }]), Error::UnknownTrial { trial: 0, trials: 0 }));
}
