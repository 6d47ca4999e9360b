//! Rules beside the paper's own: every choice on a finite domain is that of their formulas evaluated at every candidate.

mod pes;

use crate::common::{Oracle, candidates, f, line, matern, rng, scattered, se, spec, study, uniform};
use manyhands_core::gp::{Points, Prior};
use manyhands_core::{
    Choice, Direction, Domain, Parameter, Phase, Rule, Space, Spec, Strategy, Study, Suggestion, TrialState,
};
use proptest::prelude::*;
use rand::RngExt;

/// Dense moments and candidates have condition 1 + n/noise; both sides err by that many roundings.
const TOLERANCE: f64 = 1e-8;

/// The dense posterior of a study over its candidates: means, sd given observed points, sd given pending and failed ones too.
struct Dense {
    means: Vec<f64>,
    sd_observed: Vec<f64>,
    sd: Vec<f64>,
    /// The highest mean at an observed point; the prior mean before the first value.
    tau: f64,
}

impl Dense {
    fn of(study: &Study) -> Self {
        let sign = if study.spec().direction() == Direction::Minimize { -1.0 } else { 1.0 };
        let given = study.spec().prior();
        let prior = Prior::new(given.kernel().clone(), sign * given.mean(), given.noise()).unwrap();
        let (mut observed, mut values, mut hallucinated) = (vec![], vec![], vec![]);
        for trial in study.trials() {
            let point = study.point(trial.number()).unwrap().to_vec();
            match (trial.state(), trial.value()) {
                (TrialState::Cancelled, _) => {}
                (_, Some(value)) => {
                    observed.push(point);
                    values.push(sign * value);
                }
                _ => hallucinated.push(point),
            }
        }
        let all = candidates(study.spec().domain());
        let known = Oracle::new(&prior, &all, &observed, &values);
        let tau = Oracle::new(&prior, &observed, &observed, &values).means.into_iter().reduce(f64::max);
        let rows: Vec<Vec<f64>> = observed.into_iter().chain(hallucinated).collect();
        let sds = |variances: Vec<f64>| variances.into_iter().map(f64::sqrt).collect();
        let sd = sds(Oracle::new(&prior, &all, &rows, &[]).variances);
        Self { means: known.means, sd_observed: sds(known.variances), sd, tau: tau.unwrap_or(prior.mean()) }
    }
}

/// Workers whose trials fail or are cancelled now and then; `check` sees the study before every ask, and what was chosen.
fn walk(study: &mut Study, seed: u64, asks: usize, mut check: impl FnMut(&Study, &Suggestion)) {
    let rng = &mut rng(seed);
    let mut running: Vec<Suggestion> = vec![];
    for _ in 0..asks {
        let before = study.clone();
        let next = study.ask(1).unwrap().remove(0);
        check(&before, &next);
        running.push(next);
        while running.len() > rng.random_range(0..5) {
            let done = running.remove(rng.random_range(0..running.len()));
            match rng.random_range(0..12) {
                0 => study.fail(done.trial, "broke").unwrap(),
                1 => study.cancel(done.trial).unwrap(),
                _ => study.tell(done.trial, f(&done.point) + uniform(rng, -0.1, 0.1)).unwrap(),
            }
        }
    }
    Study::verify(study.spec(), study.events()).unwrap();
}

/// The choice has the highest of these values, up to rounding.
fn assert_best(values: &[f64], allowed: impl Fn(usize) -> bool, choice: &Choice, what: &str) {
    let best = (0..values.len()).filter(|&i| allowed(i)).map(|i| values[i]).fold(f64::NEG_INFINITY, f64::max);
    let found = values[choice.candidate];
    assert!(allowed(choice.candidate), "{what}: candidate {} may not be chosen", choice.candidate);
    assert!(found >= best - TOLERANCE * best.abs().max(1.0), "{what}: {found} at {}, best {best}", choice.candidate);
    assert!((found - choice.score).abs() <= TOLERANCE * found.abs().max(1.0), "{what}: score {}", choice.score);
}

fn of(rule: Rule) -> Strategy {
    Strategy { rule, ..Strategy::auto() }
}

/// ln E max(0, f - tau) by the textbook formula; only used where it does not underflow.
fn log_expected_improvement(mean: f64, sd: f64, tau: f64) -> f64 {
    let z = (mean - tau) / sd;
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let cumulative = 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    (sd * (density + z * cumulative)).ln()
}

#[test]
fn gp_ei_chooses_the_highest_expected_improvement_of_all_candidates() {
    for (seed, domain, kernel) in
        [(1, line(60), se(0.2)), (2, scattered(&mut rng(5), 80, 2), matern(0.4)), (3, line(40), matern(0.1))]
    {
        for direction in [Direction::Maximize, Direction::Minimize] {
            let spec = spec(domain.clone(), kernel.clone(), of(Rule::GpEi)).with_direction(direction);
            walk(&mut study(&spec), seed, 25, |before, chosen| {
                let dense = Dense::of(before);
                let value = |i: usize| log_expected_improvement(dense.means[i], dense.sd[i], dense.tau);
                // The textbook formula has lost all digits below e^-25.
                let values: Vec<f64> = (0..dense.means.len()).map(|i| value(i).max(-25.0)).collect();
                assert_best(&values, |_| true, &chosen.choice, "gp-ei");
                assert_eq!((chosen.choice.multiplier, chosen.choice.gap), (0.0, Some(0.0)));
            });
        }
    }
}

#[test]
fn gp_ei_where_no_variance_is_left_takes_the_largest_sd() {
    // Independent candidates, all of them known; and a space over which the function is constant.
    let points: Vec<Vec<f64>> = (0..4).map(|i| vec![100.0 * f64::from(i)]).collect();
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap();
    let known = [(Domain::Points(Points::from_rows(&points).unwrap()), 1.0, 4), (Domain::Space(space), 1e9, 1)];
    for (domain, lengthscale, observed) in known {
        let prior = Prior::new(se(lengthscale), 0.0, 1e-20).unwrap();
        let mut study = study(&Spec::new(domain, prior, of(Rule::GpEi)).unwrap());
        for i in 0..observed {
            match study.spec().domain() {
                Domain::Space(_) => study.include(&[0.3.into()], Some(0.5)).unwrap(),
                _ => study.include_candidate(i, Some(0.5)).unwrap(),
            };
        }
        for suggestion in study.ask(3).unwrap() {
            assert_eq!((suggestion.choice.sd, suggestion.choice.score), (0.0, 0.0));
        }
        Study::verify(study.spec(), study.events()).unwrap();
    }
}

#[test]
fn gp_ei_without_values_takes_the_largest_sd() {
    let mut study = study(&spec(line(50), se(0.2), of(Rule::GpEi)));
    for _ in 0..6 {
        let before = Dense::of(&study);
        let chosen = study.ask(1).unwrap().remove(0);
        let largest = before.sd.iter().copied().fold(0.0, f64::max);
        assert!(before.sd[chosen.choice.candidate] >= largest - TOLERANCE);
    }
}

/// On a space: finds the maximum of a smooth function, with learned and given models.
#[test]
fn gp_ei_finds_the_optimum_on_a_space() {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap(), Parameter::int("n", 0, 3).unwrap()], vec![]);
    let domain = Domain::Space(space.unwrap());
    let value = |s: &Suggestion| -(s.point[0] - 0.62).powi(2) - 0.1 * (s.point[1] - 2.0 / 3.0).powi(2);
    let kernel = manyhands_core::gp::Kernel::matern(2.5, &[0.4, 0.8]).unwrap().with_variance(0.02).unwrap();
    let given = Spec::new(domain.clone(), Prior::new(kernel, 0.0, 1e-8).unwrap(), of(Rule::GpEi)).unwrap();
    for spec in [Spec::learned(domain, of(Rule::GpEi)).unwrap(), given] {
        let mut study = study(&spec);
        let mut best = f64::NEG_INFINITY;
        for _ in 0..8 {
            for s in study.ask(3).unwrap() {
                assert_eq!(s.choice.gap, None, "nothing is proven of expected improvement");
                best = best.max(value(&s));
                study.tell(s.trial, value(&s)).unwrap();
            }
        }
        assert!(best > -1e-4, "{best}, learned: {}", spec.learns());
        assert!(study.trials().iter().any(|trial| trial.phase() == Some(Phase::Rule)));
        Study::verify(study.spec(), study.events()).unwrap();
    }
}

/// beta_t of GP-UCB: 2 ln(|D| t^2 pi^2/(6 delta)) with delta 0.1.
fn beta(candidates: usize, t: usize) -> f64 {
    2.0 * (candidates as f64 * (t as f64 * std::f64::consts::PI).powi(2) / 0.6).ln()
}

/// What GP-UCB-PE counts, from outside: how many values each pick knew, and which picks are pending.
#[derive(Default)]
struct Batches {
    picks: Vec<(usize, usize)>,
}

impl Batches {
    /// The batch's number and whether the next pick is its first.
    fn next(&self, study: &Study) -> (usize, bool) {
        let now = study.count(TrialState::Observed);
        let mut counts: Vec<usize> = self.picks.iter().map(|(_, count)| *count).chain([now]).collect();
        counts.sort_unstable();
        counts.dedup();
        let is_pending = |trial: usize| study.trials()[trial].state() == TrialState::Pending;
        (counts.len(), !self.picks.iter().any(|&(trial, count)| count == now && is_pending(trial)))
    }
}

/// Checks one pick of GP-UCB-PE against its definition, evaluated at every candidate.
fn check_gp_ucb_pe(before: &Study, chosen: &Suggestion, (t, is_first): (usize, bool)) {
    let dense = Dense::of(before);
    let n = dense.means.len();
    let (width, wider) = (beta(n, t).sqrt(), 2.0 * beta(n, t + 1).sqrt());
    if is_first {
        let values: Vec<f64> = (0..n).map(|i| dense.means[i] + width * dense.sd[i]).collect();
        assert_best(&values, |_| true, &chosen.choice, "gp-ucb-pe, first");
        assert!((chosen.choice.multiplier - width).abs() < TOLERANCE * width);
        return;
    }
    let lower = (0..n).map(|i| dense.means[i] - width * dense.sd_observed[i]).fold(f64::NEG_INFINITY, f64::max);
    // A candidate on the region's edge may be taken for either side.
    let inside = |i: usize| dense.means[i] + wider * dense.sd_observed[i] - lower;
    assert!(inside(chosen.choice.candidate) >= -TOLERANCE, "outside the region");
    let values: Vec<f64> = (0..n).map(|i| if inside(i) > TOLERANCE { dense.sd[i] } else { 0.0 }).collect();
    assert_best(&values, |_| true, &chosen.choice, "gp-ucb-pe, exploring");
    assert_eq!(chosen.choice.multiplier, 0.0);
}

#[test]
fn gp_ucb_pe_explores_the_region_where_the_maximum_may_be() {
    for (seed, domain, kernel) in [(1, line(60), se(0.2)), (2, scattered(&mut rng(5), 80, 2), matern(0.4))] {
        let mut batches = Batches::default();
        let mut explored = 0;
        walk(&mut study(&spec(domain, kernel, of(Rule::GpUcbPe))), seed, 30, |before, chosen| {
            let next = batches.next(before);
            check_gp_ucb_pe(before, chosen, next);
            explored += usize::from(!next.1);
            batches.picks.push((chosen.trial, before.count(TrialState::Observed)));
        });
        assert!((5..25).contains(&explored), "{explored} of 30 picks explored");
    }
}

#[test]
fn a_batch_of_gp_ucb_pe_is_one_first_pick_and_explorations_however_it_is_asked_for() {
    let spec = spec(line(80), se(0.15), of(Rule::GpUcbPe));
    let (mut together, mut one_by_one) = (study(&spec), study(&spec));
    for round in 0..5 {
        let before = together.clone();
        let batch = together.ask(5).unwrap();
        let again: Vec<Suggestion> = (0..5).flat_map(|_| one_by_one.ask(1).unwrap()).collect();
        assert_eq!(batch, again);
        check_gp_ucb_pe(&before, &batch[0], (round + 1, true));
        assert!(batch[1..].iter().all(|s| s.choice.multiplier == 0.0 && s.choice.score == s.choice.sd));
        for s in batch {
            together.tell(s.trial, f(&s.point)).unwrap();
            one_by_one.tell(s.trial, f(&s.point)).unwrap();
        }
    }
    Study::verify(&spec, together.events()).unwrap();
}

#[test]
fn one_worker_of_gp_ucb_pe_is_gp_ucb() {
    let mut study = study(&spec(line(70), matern(0.2), of(Rule::GpUcbPe)));
    for t in 1..=15 {
        let before = study.clone();
        let s = study.ask(1).unwrap().remove(0);
        check_gp_ucb_pe(&before, &s, (t, true));
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
        assert!(there.mean + 4.0 * there.sd >= floor - TOLERANCE, "{there:?}, {floor}");
    }
    Study::verify(study.spec(), study.events()).unwrap();
}

proptest! {
    #![proptest_config(crate::common::config(24))]
    #[test]
    fn gp_ei_is_brute_force_for_any_values(seed in 0u64..1000, points in 5usize..40, scale in 0.01f64..100.0) {
        let mut study = study(&spec(line(points), se(0.15), of(Rule::GpEi)));
        let rng = &mut rng(seed);
        for _ in 0..8 {
            let dense = Dense::of(&study);
            let chosen = study.ask(1).unwrap().remove(0);
            let values: Vec<f64> = (0..points)
                .map(|i| log_expected_improvement(dense.means[i], dense.sd[i], dense.tau).max(-25.0))
                .collect();
            let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(values[chosen.choice.candidate] >= best - 1e-6 * best.abs().max(1.0));
            study.tell(chosen.trial, scale * uniform(rng, -1.0, 1.0)).unwrap();
        }
    }
}
