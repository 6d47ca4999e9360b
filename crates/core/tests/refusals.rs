//! What a study refuses: a typed error that names the value and what is allowed, and a study that is as it was.

use crate::common::{f, line, prior, se, spec, study};
use manyhands_core::event::Included;
use manyhands_core::gp::{self, Covariance, Grid, Kernel, Points, Prior};
use manyhands_core::{
    Domain, Error, Event, Hallucination, Information, Initial, Result, Rule, Spec, Strategy, Study, TrialState,
};

fn strategy() -> Strategy {
    Strategy { max_pending: Some(6), ..Strategy::new(Rule::IgpBucb, 1.5) }
}

/// A study with trials in every state: 0 observed, 1 failed, 2 cancelled, 3 and 4 pending; of 12 candidates 8 are left.
fn busy() -> Study {
    let spec = spec(line(12), se(0.2), strategy()).without_repeats().unwrap();
    let mut study = study(&spec);
    study.ask(5).unwrap();
    study.tell(0, f(study.point(0).unwrap())).unwrap();
    study.fail(1, "broke").unwrap();
    study.cancel(2).unwrap();
    study
}

/// The refusal's words hold `named` and the study is that of `busy`, in its log and in what it does next.
fn check_refusal<T: std::fmt::Debug>(named: &[&str], act: impl FnOnce(&mut Study) -> Result<T>) -> Error {
    let (mut study, mut untouched) = (busy(), busy());
    let error = act(&mut study).unwrap_err();
    let words = error.to_string();
    assert!(named.iter().all(|name| words.contains(name)), "{words:?} does not name {named:?}");
    assert_eq!(study.events(), untouched.events());
    assert_eq!(study.trials(), untouched.trials());
    assert_eq!(study.posterior().keys(), untouched.posterior().keys());
    assert_eq!(study.posterior().observed(), untouched.posterior().observed());
    assert_eq!(study.ask(3).unwrap(), untouched.ask(3).unwrap());
    assert_eq!(study.certificate(), untouched.certificate());
    error
}

#[test]
fn values_that_are_no_numbers_are_refused() {
    for (value, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let error = check_refusal(&["trial 3", "finite", name], |study| study.tell(3, value));
        assert!(matches!(error, Error::Value { trial: 3, .. }));
    }
}

#[test]
fn trials_that_are_not_there_are_refused() {
    let refused = Error::UnknownTrial { trial: 5, trials: 5 };
    assert_eq!(check_refusal(&["trial 5", "5 trials"], |study| study.tell(5, 1.0)), refused);
    assert_eq!(check_refusal(&["trial 5"], |study| study.fail(5, "broke")), refused);
    assert_eq!(check_refusal(&["trial 5"], |study| study.cancel(5)), refused);
    assert!(refused.hint().is_some());
}

#[test]
fn trials_that_are_over_are_refused() {
    let states = [(0, TrialState::Observed), (1, TrialState::Failed), (2, TrialState::Cancelled)];
    for (trial, state) in states {
        let (number, name) = (format!("trial {trial}"), state.to_string());
        let named = [number.as_str(), name.as_str(), "pending"];
        let refused = Error::NotPending { trial, state };
        assert_eq!(check_refusal(&named, |study| study.tell(trial, 1.0)), refused);
        assert_eq!(check_refusal(&named, |study| study.fail(trial, "broke")), refused);
        assert_eq!(check_refusal(&named, |study| study.cancel(trial)), refused);
    }
}

#[test]
fn asking_for_none_for_too_many_or_beyond_max_pending_is_refused() {
    assert_eq!(check_refusal(&["at least 1", "0"], |study| study.ask(0)), Error::AskedForNone);
    let refused = Error::TooManyPending { asked: 5, pending: 2, max_pending: 6 };
    assert_eq!(check_refusal(&["5", "2 pending", "max_pending = 6"], |study| study.ask(5)), refused);
    let error = check_refusal(&["10", "max_pending = 6"], |study| study.ask(10));
    assert!(error.hint().is_some());
    let unbounded = Strategy { max_pending: None, ..strategy() };
    let mut pool = study(&spec(line(12), se(0.2), unbounded).without_repeats().unwrap());
    pool.ask(5).unwrap();
    let before = pool.events().to_vec();
    assert_eq!(pool.ask(8).unwrap_err(), Error::PoolExhausted { asked: 8, left: 7 });
    assert_eq!(pool.events(), before);
    assert_eq!(pool.ask(7).unwrap().len(), 7);
}

#[test]
fn points_of_the_wrong_length_or_with_no_number_are_refused() {
    check_refusal(&["1", "got 2"], |study| study.predict(&[vec![0.1], vec![0.1, 0.2]]));
    check_refusal(&["1", "got 0"], |study| study.predict(&[vec![]]));
    check_refusal(&["finite", "NaN"], |study| study.predict(&[vec![f64::NAN]]));
    // With a lengthscale for each coordinate too it is the point that is refused, not the kernel.
    let kernel = Kernel::squared_exponential(&[0.1, 0.2]).unwrap();
    let grid = Grid::even(&[(0.0, 1.0, 3), (0.0, 1.0, 3)]).unwrap();
    let planar = study(&spec(Domain::Grid(grid), kernel, strategy()));
    let error = planar.predict(&[vec![0.1]]).unwrap_err();
    assert_eq!(error, Error::Numeric(gp::Error::WrongLength { what: "a point", expected: 2, found: 1 }));
}

#[test]
fn an_event_out_of_order_is_refused() {
    check_refusal(&["event 9"], |study| {
        let mut events = study.clone().propose(2)?;
        study.apply(events.remove(1))
    });
    check_refusal(&["trial 9"], |study| study.apply(Event::Cancelled { trial: 9 }));
}

fn refused(strategy: Strategy) -> Error {
    Spec::new(line(12), prior(se(0.2)), strategy).unwrap_err()
}

fn check_setting(name: &str, values: &[f64], with: impl Fn(f64) -> Strategy) {
    for &value in values {
        let error = refused(with(value));
        let words = error.to_string();
        assert!(matches!(error, Error::Setting { setting, .. } if setting.name() == name), "{name} = {value}: {words}");
        assert!(words.contains(name) && words.contains(&format!("got {value}")), "{words}");
    }
}

#[test]
fn settings_outside_their_range_are_refused() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    check_setting("delta", &[0.0, -0.1, 1.5, nan, inf], |delta| Strategy { delta, ..strategy() });
    check_setting("norm_bound", &[0.0, -1.0, nan, inf], |bound| Strategy { norm_bound: Some(bound), ..strategy() });
    check_setting("noise_bound", &[-1.0, nan, inf], |bound| Strategy { noise_bound: Some(bound), ..strategy() });
    check_setting("width", &[0.0, -1.0, nan, inf], |width| Strategy { width, ..strategy() });
    check_setting("hallucination", &[0.5, nan, inf], |xi| Strategy {
        hallucination: Hallucination::Number(xi),
        ..strategy()
    });
    check_setting("initial.until", &[1.0, 0.5, nan, inf], |c| Strategy { initial: Initial::Until(c), ..strategy() });
    check_setting("max_pending", &[0.0], |m| Strategy { max_pending: Some(m as usize), ..strategy() });
    assert!(Spec::new(line(12), prior(se(0.2)), Strategy { delta: 1.0, ..strategy() }).is_ok());
}

#[test]
fn noise_and_lengthscales_outside_their_range_are_refused() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let words = Prior::new(se(0.2), 0.0, value).unwrap_err().to_string();
        assert_eq!(words, format!("noise must be positive and finite, got {value}"));
        let words = Kernel::matern(2.5, &[0.3, value]).unwrap_err().to_string();
        assert_eq!(words, format!("lengthscale must be positive and finite, got {value}"));
    }
}

#[test]
fn settings_that_need_max_pending_say_so() {
    let without = Strategy { max_pending: None, ..strategy() };
    for hallucination in [Hallucination::APriori, Hallucination::WorstCase] {
        let error = refused(Strategy { hallucination, ..without.clone() });
        assert!(error.code() == "needs-max-pending" && error.to_string().contains("max_pending"), "{error}");
        assert!(error.hint().is_some());
    }
    assert_eq!(refused(Strategy { initial: Initial::Until(2.0), ..without }).code(), "needs-max-pending");
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let kernel = Kernel::empirical(Covariance::new(2, vec![1.0, 0.2, 0.2, 1.0]).unwrap());
    let pool = Domain::Points(Points::indices(2));
    let closed = Strategy { information: Information::ClosedForm, ..strategy() };
    let error = Spec::new(pool.clone(), prior(kernel.clone()), closed).unwrap_err();
    assert!(matches!(error, Error::Incompatible { .. }) && error.to_string().contains("\"log\""), "{error}");
    assert!(matches!(Spec::new(line(2), prior(kernel.clone()), strategy()), Err(Error::Incompatible { .. })));
    let log = Strategy { information: Information::Log, ..strategy() };
    assert!(Spec::new(pool, prior(kernel.clone()), log).is_ok());
    let cube = || Domain::Discretized { side: 1.0, dimension: 1 };
    let bts = Strategy { rule: Rule::GpBts, ..strategy() };
    let on_cube = |strategy: Strategy| Spec::new(cube(), prior(se(0.2)), strategy);
    assert!(matches!(on_cube(strategy()), Err(Error::Incompatible { .. })));
    for information in [Information::Greedy, Information::GreedyUpper] {
        assert!(matches!(on_cube(Strategy { information, ..bts.clone() }), Err(Error::Incompatible { .. })));
    }
    let exact = Strategy { hallucination: Hallucination::Exact, ..bts.clone() };
    assert!(matches!(on_cube(exact), Err(Error::Incompatible { .. })));
    assert!(matches!(on_cube(Strategy { initial: Initial::Count(3), ..bts.clone() }), Err(Error::Incompatible { .. })));
    assert!(matches!(on_cube(bts.clone()).unwrap().without_repeats(), Err(Error::Incompatible { .. })));
    let rough = Kernel::matern(0.5, &[0.2]).unwrap();
    assert!(matches!(Spec::new(cube(), prior(rough), bts), Err(Error::Numeric(_))));
}

#[test]
fn domains_that_cannot_be_chosen_from_are_refused_when_the_spec_is_made() {
    let none = Domain::Points(Points::new(1).unwrap());
    let error = Spec::new(none, prior(se(0.2)), strategy()).unwrap_err();
    assert_eq!(error, Error::Numeric(gp::Error::Empty { what: "the domain" }));
    let kernel = Kernel::empirical(Covariance::new(2, vec![1.0, 0.2, 0.2, 1.0]).unwrap());
    let error = Spec::new(Domain::Points(Points::indices(3)), prior(kernel), strategy()).unwrap_err();
    assert_eq!(error, Error::Numeric(gp::Error::NoSuchIndex { value: 2.0, len: 2 }));
    let two = Kernel::squared_exponential(&[0.2, 0.3]).unwrap();
    assert!(matches!(Spec::new(line(5), prior(two), strategy()), Err(Error::Numeric(gp::Error::WrongLength { .. }))));
    for (side, dimension, setting) in [(0.0, 1, "side"), (f64::NAN, 1, "side"), (1.0, 0, "dimension")] {
        let cube = Domain::Discretized { side, dimension };
        let error = Spec::new(cube, prior(se(0.2)), Strategy { rule: Rule::GpBts, ..strategy() }).unwrap_err();
        assert!(matches!(error, Error::Setting { setting: found, .. } if found.name() == setting), "{error}");
    }
}

#[test]
fn nothing_observed_has_no_best_trial() {
    assert_eq!(study(&spec(line(5), se(0.2), strategy())).best(), Err(Error::NothingObserved));
}

#[test]
fn numbers_too_large_to_compute_with_are_refused_on_input() {
    check_refusal(&["the value of trial 3", "1e100", "1e308"], |study| study.tell(3, 1e308));
    let error = check_refusal(&["at most 1000000", &usize::MAX.to_string()], |study| study.ask(usize::MAX));
    assert_eq!(error, Error::AskedForTooMany { asked: usize::MAX, limit: 1_000_000 });
    assert!(Prior::new(se(0.2), -1e308, 0.1).unwrap_err().to_string().contains("prior mean"));
    assert!(Prior::new(se(0.2), 0.0, 1e-300).unwrap_err().to_string().contains("noise"));
    assert!(matches!(Grid::even(&[(0.0, 1.0, 1 << 40)]), Err(gp::Error::TooLarge { .. })));
    assert!(Grid::even(&[(-1e308, 1e308, 5)]).unwrap_err().to_string().contains("axis"));
    let cube = Domain::Discretized { side: 1.0, dimension: 1 << 40 };
    assert!(Spec::new(cube, prior(se(0.2)), Strategy::new(Rule::GpBts, 1.0)).is_err());
    let far = Domain::Points(Points::from_flat(1, vec![1e200, -1e200]).unwrap());
    let steep = spec(far, Kernel::linear(&[1.0]).unwrap(), Strategy::new(Rule::IgpBucb, 1.0));
    assert!(Study::new(steep).unwrap_err().to_string().contains("largest prior variance"));
}

#[test]
fn a_multiplier_beyond_all_numbers_is_refused_and_changes_nothing() {
    let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 500)]).unwrap());
    let tight = Prior::new(se(0.002), 0.0, 1e-6).unwrap();
    let strategy = Strategy {
        hallucination: Hallucination::WorstCase,
        max_pending: Some(200),
        ..Strategy::new(Rule::IgpBucb, 1.0)
    };
    let mut study = study(&Spec::new(domain, tight, strategy).unwrap());
    let error = study.ask(1).unwrap_err();
    assert!(matches!(error, Error::MultiplierTooLarge { trial: 0, .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("realised")));
    assert!(study.events().is_empty() && study.posterior().keys().is_empty());
}

/// A function whose norm is far above the stated bound: sooner or later its bounds cross.
#[test]
fn data_that_contradict_the_assumptions_give_no_certificate() {
    let smooth = Prior::new(se(0.5), 0.0, 1e-4).unwrap();
    let mut study = study(&Spec::new(line(30), smooth, Strategy::new(Rule::IgpBucb, 1.0)).unwrap());
    for _ in 0..6 {
        for s in study.ask(5).unwrap() {
            study.tell(s.trial, (12.0 * s.point[0]).sin() + 2.0).unwrap();
        }
    }
    let error = study.certificate().unwrap_err();
    assert!(matches!(error, Error::Contradiction { upper, lower } if upper < lower), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("norm_bound")));
    assert_eq!(study.best().unwrap().regret_bound, None);
}

#[test]
fn logs_with_numbers_that_are_not_finite_are_refused() {
    let live = busy();
    for tamper in [0, 1, 2, 3] {
        let mut events = live.events().to_vec();
        if let Event::Asked(asked) = &mut events[1] {
            *[&mut asked.choice.mean, &mut asked.choice.sd, &mut asked.choice.multiplier, &mut asked.choice.score]
                [tamper] = f64::NAN;
        }
        let error = Study::replay(live.spec().clone(), &events).unwrap_err();
        assert!(matches!(&error, Error::BadLog { sequence: 2, reason } if reason.contains("NaN")), "{error}");
    }
}

#[test]
fn a_wrong_point_in_a_list_is_named() {
    let error = Points::from_rows(&[vec![0.0, 1.0], vec![0.0]]).unwrap_err().to_string();
    assert!(error.contains("point 1") && error.contains("2 entries, got 1"), "{error}");
}

#[test]
fn included_candidates_that_are_taken_or_not_there_are_refused() {
    let (taken, free) = {
        let study = busy();
        let is_free = |i: &usize| study.trials().iter().all(|trial| trial.candidate() != *i);
        (study.trials()[3].candidate(), (0..12).find(is_free).unwrap())
    };
    let error = check_refusal(&[&format!("candidate {taken}")], |study| study.include_candidate(taken, Some(1.0)));
    assert_eq!(error, Error::CandidateTaken { candidate: taken, trial: 3 });
    assert_eq!(busy().include_candidate(free, Some(1.0)), Ok(5));
    // In a log such a candidate is damage.
    for candidate in [taken, 12, usize::MAX] {
        let included = Included { trial: 5, candidate, params: vec![], value: Some(1.0) };
        let error = check_refusal(&["available"], |study| study.apply(Event::Included(included)));
        assert!(matches!(error, Error::BadLog { sequence: 9, .. }), "{error}");
    }
}
