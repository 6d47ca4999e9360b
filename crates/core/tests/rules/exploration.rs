//! GP-UCB-PE: which picks are first, which batch it is, and exploring the region where the maximum may be.

use super::dense::{Dense, Rounded, highest};
use super::states::{KINDS, ask, of, random_spec, visit};
use super::ucb::{check_upper_bound, in_place_of, random_width, ucb_width};
use crate::common::{f, line, matern, rng, se, spec, study, uniform};
use manyhands_core::gp::Prior;
use manyhands_core::{
    Domain, DppKind, Event, Initial, Parameter, Phase, Rule, Space, Spec, Strategy, Study, Suggestion, TrialState,
};
use rand::RngExt;

/// On a space: a pick on the region's edge is in it up to the rounding of two posteriors.
const EDGE: f64 = 1e-8;

/// The number of the batch that the next pick belongs to, and whether it is its first, from the log alone: each pick of the
/// rule counts the values that were known when it was made.
pub fn batch(study: &Study) -> (usize, bool) {
    let (mut observed, mut picks) = (0, vec![]);
    for event in study.events() {
        match event {
            Event::Asked(asked) if asked.choice.phase == Phase::Rule => picks.push((asked.trial, observed)),
            Event::Told { .. } => observed += 1,
            Event::Included(included) if included.value.is_some() => observed += 1,
            _ => {}
        }
    }
    assert_eq!(observed, study.count(TrialState::Observed));
    let is_pending = |trial: usize| study.trials()[trial].state() == TrialState::Pending;
    let is_first = !picks.iter().any(|&(trial, count)| count == observed && is_pending(trial));
    let mut counts: Vec<usize> = picks.into_iter().map(|(_, count)| count).chain([observed]).collect();
    counts.dedup();
    assert!(counts.is_sorted(), "nothing observed is lost here");
    (counts.len(), is_first)
}

/// By how much every candidate is inside of the region R: mean + 2 sqrt(beta_{t+1}) sd - max (mean - sqrt(beta_t) sd).
pub fn margins(spec: &Spec, dense: &Dense, t: usize) -> Vec<Rounded> {
    let ((width, _), (next, _)) = (ucb_width(spec, t), ucb_width(spec, t + 1));
    let end = |i: usize, multiplier: f64| {
        let ((mean, error), (sd, sd_error)) = (dense.means[i], dense.sds_observed[i]);
        (mean + multiplier * sd, error + multiplier.abs() * (sd_error + 64.0 * f64::EPSILON * sd))
    };
    let (floor, floor_error) = highest((0..dense.len()).map(|i| end(i, -width)));
    dense.scores(|i| {
        let (upper, error) = end(i, 2.0 * next);
        (upper - floor, error + floor_error)
    })
}

/// One pick of the rule against its definition; whether it was a first one.
pub fn check(before: &Study, s: &Suggestion) -> bool {
    let dense = Dense::of(before);
    let (t, is_first) = batch(before);
    if is_first {
        check_upper_bound(before, &dense, t, s);
        return true;
    }
    let margins = margins(before.spec(), &dense, t);
    let chooses = |inside: &dyn Fn(Rounded) -> bool| -> Vec<bool> {
        (0..dense.len()).map(|i| dense.allowed[i] && inside(margins[i])).collect()
    };
    let surely = chooses(&|(margin, error)| margin > error);
    let perhaps = chooses(&|(margin, error)| margin >= -error);
    let unclear = (0..dense.len()).filter(|&i| perhaps[i] && !surely[i]).count();
    assert!(unclear <= 2, "rounding decides whether {unclear} candidates are in the region");
    if perhaps.contains(&true) {
        let is_certain = surely.contains(&true);
        assert!(!is_certain || perhaps[s.choice.candidate], "trial {}: outside of the region", s.trial);
        dense.assert_highest(&dense.sds, &surely, s);
    } else {
        // Nothing of the region may be chosen: all that may.
        dense.assert_highest(&dense.sds, &dense.allowed, s);
    }
    dense.assert_numbers(before, &dense.sds, s);
    assert_eq!((s.choice.multiplier, s.choice.score), (0.0, s.choice.sd));
    false
}

#[test]
fn gp_ucb_pe_takes_the_highest_bound_first_and_then_explores_its_region_in_random_states() {
    let (mut first, mut others, mut outside) = (0, 0, 0);
    for seed in 0..56 {
        let rng = &mut rng(100 + seed);
        let strategy = random_width(Rule::GpUcbPe, rng);
        let spec = random_spec(rng, KINDS[seed as usize % 4], strategy);
        visit(&spec, rng, |before, s| {
            let is_first = check(before, s);
            first += usize::from(is_first);
            others += usize::from(!is_first);
            let dense = Dense::of(before);
            let margins = margins(before.spec(), &dense, batch(before).0);
            outside += usize::from(!is_first && margins.iter().any(|(margin, error)| *margin < -error));
        });
    }
    assert!(first > 100 && others > 100 && outside > 60, "{first} first, {others} others, {outside} with less than D");
}

#[test]
fn dpp_of_the_largest_determinant_is_gp_ucb_pe() {
    for seed in 0..12 {
        let rng = &mut rng(150 + seed);
        let strategy = random_width(Rule::GpUcbPe, rng);
        let other = Strategy { rule: Rule::Dpp, dpp: DppKind::Max, ..strategy.clone() };
        let spec = random_spec(rng, KINDS[seed as usize % 4], strategy);
        visit(&spec, rng, |before, s| assert_eq!(&in_place_of(before, other.clone()).ask(1).unwrap()[0], s));
    }
}

/// Workers as in `states`, with results and runs from elsewhere in between.
fn walk_with_others(study: &mut Study, seed: u64, asks: usize) -> usize {
    let rng = &mut rng(seed);
    let (mut running, mut explored) = (vec![], 0);
    for _ in 0..asks {
        let s =
            ask(study, 1, &mut |before, s| explored += usize::from(s.choice.phase == Phase::Rule && !check(before, s)));
        running.push(s[0].trial);
        match rng.random_range(0..6) {
            0 => drop(study.include_candidate(rng.random_range(0..30), Some(uniform(rng, -1.0, 1.0)))),
            1 => running.push(study.include_candidate(rng.random_range(0..30), None).unwrap()),
            _ => {}
        }
        while running.len() > rng.random_range(0..6) {
            let trial = running.remove(rng.random_range(0..running.len()));
            match rng.random_range(0..6) {
                0 => study.fail(trial, "broke").unwrap(),
                1 => study.cancel(trial).unwrap(),
                _ => {
                    let value = f(study.point(trial).unwrap()) + uniform(rng, -0.1, 0.1);
                    study.tell(trial, value).unwrap();
                }
            }
        }
    }
    Study::verify(study.spec(), study.events()).unwrap();
    explored
}

#[test]
fn gp_ucb_pe_and_dpp_count_batches_of_their_own_picks_whatever_fails_or_comes_from_elsewhere() {
    for (seed, initial) in [(1, Initial::None), (2, Initial::Count(4)), (3, Initial::None), (4, Initial::Count(7))] {
        for rule in [Rule::GpUcbPe, Rule::Dpp] {
            let strategy = Strategy { initial, ..of(rule) };
            let explored = walk_with_others(&mut study(&spec(line(60), matern(0.2), strategy)), seed, 40);
            assert!((5..35).contains(&explored), "{explored} of 40 picks explored");
        }
    }
}

#[test]
fn a_batch_of_gp_ucb_pe_is_one_first_pick_and_explorations_however_it_is_asked_for() {
    let spec = spec(line(80), se(0.15), of(Rule::GpUcbPe));
    let (mut together, mut one_by_one) = (study(&spec), study(&spec));
    for round in 0..5 {
        let batch =
            ask(&mut together, 5, &mut |before, s| assert_eq!(check(before, s), before.trials().len() % 5 == 0));
        assert_eq!(super::exploration::batch(&together).0, round + 1);
        let again: Vec<Suggestion> = (0..5).flat_map(|_| one_by_one.ask(1).unwrap()).collect();
        assert_eq!(batch, again);
        for s in batch {
            together.tell(s.trial, f(&s.point)).unwrap();
            one_by_one.tell(s.trial, f(&s.point)).unwrap();
        }
    }
    Study::verify(&spec, together.events()).unwrap();
}

#[test]
fn an_amended_value_begins_no_batch_and_five_asks_stay_one() {
    let spec = spec(line(80), se(0.15), of(Rule::GpUcbPe));
    let revisions: [fn(&mut Study); 4] = [
        |study| study.amend(2, Err("contaminated".to_string())).unwrap(),
        |study| study.amend(5, Ok(0.7)).unwrap(),
        |study| {
            study.amend(2, Err("contaminated".to_string())).unwrap();
            study.restore(2).unwrap();
        },
        |study| {
            study.amend(2, Err("contaminated".to_string())).unwrap();
            study.reopen(2).unwrap();
            study.tell(2, 0.1).unwrap();
        },
    ];
    for (revision, revise) in revisions.into_iter().enumerate() {
        let mut study = study(&spec);
        for s in study.ask(6).unwrap() {
            if s.trial < 5 { study.tell(s.trial, f(&s.point)).unwrap() } else { study.fail(s.trial, "broke").unwrap() }
        }
        let asked = study.ask(2).unwrap();
        assert!(asked[0].choice.multiplier > 0.0 && asked[1].choice.multiplier == 0.0);
        revise(&mut study);
        // Only the last of the revisions brings a result.
        let begins = revision == 3;
        let mut together = study.clone();
        let one_by_one: Vec<Suggestion> = (0..5).flat_map(|_| study.ask(1).unwrap()).collect();
        assert_eq!(together.ask(5).unwrap(), one_by_one);
        for (i, s) in one_by_one.iter().enumerate() {
            assert_eq!(s.choice.multiplier > 0.0, begins && i == 0, "revision {revision}, pick {i}");
        }
        study.tell(one_by_one[4].trial, 0.3).unwrap();
        assert!(study.ask(1).unwrap()[0].choice.multiplier > 0.0);
        Study::verify(&spec, study.events()).unwrap();
    }
}

#[test]
fn one_worker_of_gp_ucb_pe_is_gp_ucb() {
    let mut study = study(&spec(line(70), matern(0.2), of(Rule::GpUcbPe)));
    for t in 1..=15 {
        let s = ask(&mut study, 1, &mut |before, s| check_upper_bound(before, &Dense::of(before), t, s)).remove(0);
        study.tell(s.trial, f(&s.point)).unwrap();
    }
}

#[test]
fn gp_ucb_pe_on_a_space_needs_beta_and_stays_in_its_region() {
    let parameters = ["x", "y"].map(|name| Parameter::float(name, 0.0, 1.0).unwrap()).to_vec();
    let domain = Domain::Space(Space::new(parameters, vec![]).unwrap());
    let prior = Prior::new(matern(0.3), 0.0, 1e-4).unwrap();
    let refused = Spec::new(domain.clone(), prior.clone(), of(Rule::GpUcbPe)).unwrap_err();
    assert!(refused.to_string().contains("gp-ucb-pe needs beta") && refused.hint().unwrap().contains("points"));
    let strategy = Strategy { beta: Some(4.0), ..of(Rule::GpUcbPe) };
    let mut study = Study::new(Spec::new(domain, prior, strategy).unwrap()).unwrap();
    for _ in 0..4 {
        let batch = study.ask(4).unwrap();
        assert_eq!(batch[0].choice.multiplier, 2.0);
        // Every pick is distinct: exploring sees the picks before it.
        for (i, s) in batch.iter().enumerate() {
            assert!(batch[..i].iter().all(|other| other.point != s.point));
        }
        for s in batch {
            study.tell(s.trial, f(&s.point)).unwrap();
        }
    }
    // Inside the region: mean + 2 sqrt(beta) sd reaches the best mean - sqrt(beta) sd that any tried point has.
    let before = study.clone();
    let tried: Vec<Vec<f64>> = (0..16).map(|trial| before.point(trial).unwrap().to_vec()).collect();
    let floor = before.predict(&tried).unwrap().iter().map(|p| p.mean - 2.0 * p.sd).fold(f64::NEG_INFINITY, f64::max);
    for s in &study.ask(4).unwrap()[1..] {
        let there = before.predict(std::slice::from_ref(&s.point)).unwrap()[0];
        assert!(there.mean + 4.0 * there.sd >= floor - EDGE, "{there:?}, {floor}");
    }
    Study::verify(study.spec(), study.events()).unwrap();
}
