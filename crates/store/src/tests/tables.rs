//! Tables of results, and studies that begin with one: all of it or nothing.

use manyhands_core::{Error as Refusal, Study, TrialState, Value};

use super::common::study::{ALL, GRID, LEARNED, outside, session, source};
use super::common::{Place, places};
use crate::{Change, Entry, EntryFaults, Error, ExternalEvaluation, OnConflict, Recorded, Session, Store, TrialEntry};

pub type TableOutcome<'a> = Option<Result<f64, &'a str>>;

pub fn entry(trial: usize, outcome: TableOutcome<'_>) -> Entry {
    Entry::Trial(of_trial(trial, outcome))
}

pub fn of_trial(trial: usize, outcome: TableOutcome<'_>) -> TrialEntry {
    let outcome = outcome.map(|outcome| outcome.map_err(str::to_string));
    TrialEntry { trial, params: vec![], outcome, metrics: vec![] }
}

pub fn moved(trial: usize, outcome: TableOutcome<'_>, x: f64) -> Entry {
    Entry::Trial(TrialEntry { params: vec![("x".to_string(), Value::Float(x))], ..of_trial(trial, outcome) })
}

pub fn elsewhere(params: Vec<(String, Value)>, outcome: TableOutcome<'_>) -> Entry {
    let outcome = outcome.map(|outcome| outcome.map_err(str::to_string));
    Entry::External(ExternalEvaluation { params, outcome, metrics: vec![] })
}

/// Three trials, all pending.
pub fn begun(place: &Place, text: &str) -> Session {
    let mut session = session(place.open(), text);
    session.ask(3).unwrap();
    session
}

pub fn again(place: &Place, session: &Session) -> Session {
    Session::open(place.open().into(), session.name(), "it").unwrap()
}

pub fn changes(recorded: &[Recorded]) -> Vec<Change> {
    recorded.iter().map(|row| row.change).collect()
}

/// Refuses entries, and logs nothing.
#[track_caller]
pub fn refused(session: &mut Session, entries: &[Entry], on_conflict: OnConflict) -> EntryFaults {
    session.sync().unwrap();
    let before = session.ledger().events().to_vec();
    let faults = session.record(entries, on_conflict).unwrap().unwrap_err();
    session.sync().unwrap();
    assert_eq!(session.ledger().events(), before);
    faults
}

#[test]
fn a_table_is_recorded_completely_and_told_again_it_changes_nothing() {
    for place in places() {
        for text in ALL {
            let mut session = begun(&place, text);
            let metrics = vec![("pH".to_string(), 7.5)];
            let measured = Entry::Trial(TrialEntry { metrics, ..of_trial(0, Some(Ok(1.5))) });
            let other = elsewhere(free(&session, text), Some(Ok(0.5)));
            let table = [measured, entry(1, Some(Err("dry"))), entry(2, None), other];
            let first = session.record(&table, OnConflict::Refuse).unwrap().unwrap();
            assert_eq!(changes(&first), [Change::Recorded, Change::Recorded, Change::Nothing, Change::Recorded]);
            let states = [TrialState::Observed, TrialState::Failed, TrialState::Pending, TrialState::Observed];
            assert_eq!(first.iter().map(|row| row.state).collect::<Vec<_>>(), states);
            let mut second = again(&place, &session);
            let logged = second.ledger().events().len();
            for on_conflict in [OnConflict::Refuse, OnConflict::Amend] {
                let repeated = second.record(&table, on_conflict).unwrap().unwrap();
                assert_eq!(changes(&repeated), [Change::Nothing; 4]);
                assert_eq!(repeated.iter().map(|row| row.trial).collect::<Vec<_>>(), [0, 1, 2, 3]);
            }
            assert_eq!(second.ledger().events().len(), logged);
            assert_eq!(second.ledger().trial(0).unwrap().metrics(), [("pH".to_string(), 7.5)]);
            second.ask(1).unwrap();
            Study::verify(second.spec(), second.ledger().events()).unwrap();
        }
    }
}

/// An evaluation made elsewhere at a candidate that was not tried.
fn free(session: &Session, text: &str) -> Vec<(String, Value)> {
    let both = [outside(text, true), outside(text, false)];
    let is_free = |params: &Vec<(String, Value)>| {
        let included = session.spec().included(session.ledger(), params, None);
        included.is_ok_and(|included| session.ledger().trials().iter().all(|t| t.candidate() != included.candidate))
    };
    both.into_iter().find(is_free).unwrap()
}

#[test]
fn a_table_with_faults_names_each_of_them_and_records_nothing() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        session.tell(2, 1.0).unwrap();
        let beyond = vec![("x".to_string(), Value::Float(5.0))];
        let bad_metrics = TrialEntry { metrics: vec![(String::new(), 1.0)], ..of_trial(1, Some(Ok(1.0))) };
        let table = [
            entry(0, Some(Ok(1.5))),
            entry(7, Some(Ok(1.5))),
            entry(1, Some(Ok(f64::NAN))),
            entry(2, Some(Ok(2.0))),
            elsewhere(beyond, Some(Ok(1.0))),
            Entry::Trial(bad_metrics),
            moved(1, Some(Ok(1.0)), 2.5),
            elsewhere(outside(LEARNED, true), Some(Ok(1.0))),
        ];
        let faults = refused(&mut session, &table, OnConflict::Refuse);
        assert_eq!(faults.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(faults[0].1, Error::Study(Refusal::UnknownTrial { trial: 7, trials: 3 }));
        assert_eq!(faults[2].1, Error::OtherValue { trial: 2, before: 1.0, now: 2.0 });
        assert!(matches!(faults[4].1, Error::BadMetric { .. }));
        assert!(session.record(&[], OnConflict::Refuse).unwrap().unwrap().is_empty());
    }
}

#[test]
fn what_differs_from_the_record_is_refused_or_amends_it() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        session.tell(0, 999.0).unwrap();
        session.fail(1, "dry").unwrap();
        session.tell(2, 3.0).unwrap();
        let table = [entry(0, Some(Ok(9.99))), entry(1, Some(Ok(2.0))), entry(2, Some(Err("spilled")))];
        let faults = refused(&mut session, &table, OnConflict::Refuse);
        assert_eq!(faults[0], (0, Error::OtherValue { trial: 0, before: 999.0, now: 9.99 }));
        assert_eq!(faults[1], (1, Refusal::NotPending { trial: 1, state: TrialState::Failed }.into()));
        assert_eq!(faults[2], (2, Refusal::NotPending { trial: 2, state: TrialState::Observed }.into()));
        let settings = [moved(0, Some(Ok(999.0)), 1.5), moved(1, Some(Err("dry")), 1.5)];
        let faults = refused(&mut session, &settings, OnConflict::Refuse);
        for (trial, fault) in faults.iter().enumerate() {
            let recorded = session.params(trial).unwrap()[0].1.short();
            let differences = vec![format!("x = 1.5, and {recorded} as recorded")];
            assert_eq!(*fault, (trial, Error::OtherSetting { trial, differences }));
        }
        assert_eq!(faults.len(), 2);
        let amended = session.record(&table, OnConflict::Amend).unwrap().unwrap();
        assert_eq!(changes(&amended), [Change::Amended; 3]);
        let states: Vec<TrialState> = amended.iter().map(|row| row.state).collect();
        assert_eq!(states, [TrialState::Observed, TrialState::Observed, TrialState::Failed]);
        let mut session = again(&place, &session);
        assert_eq!(changes(&session.record(&table, OnConflict::Refuse).unwrap().unwrap()), [Change::Nothing; 3]);
        session.restore(0).unwrap();
        assert_eq!(session.ledger().trial(0).unwrap().value(), Some(999.0));
        session.ask(1).unwrap();
        Study::verify(session.spec(), session.ledger().events()).unwrap();
    }
}

#[test]
fn a_table_that_says_only_that_a_trial_failed_agrees_with_every_reason_and_another_reason_amends() {
    for place in places() {
        let mut session = begun(&place, GRID);
        session.fail(0, "dry").unwrap();
        let said = [entry(0, Some(Err("failed")))];
        assert_eq!(changes(&session.record(&said, OnConflict::Amend).unwrap().unwrap()), [Change::Nothing]);
        let other = [entry(0, Some(Err("spilled")))];
        assert_eq!(changes(&session.record(&other, OnConflict::Refuse).unwrap().unwrap()), [Change::Nothing]);
        assert_eq!(changes(&session.record(&other, OnConflict::Amend).unwrap().unwrap()), [Change::Amended]);
        assert_eq!(session.ledger().trial(0).unwrap().reason(), Some("spilled"));
    }
}

#[test]
fn a_cancelled_trial_has_no_result_in_any_table() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        session.cancel(1).unwrap();
        for on_conflict in [OnConflict::Refuse, OnConflict::Amend] {
            let faults = refused(&mut session, &[entry(0, Some(Ok(1.0))), entry(1, Some(Ok(1.0)))], on_conflict);
            assert_eq!(faults.len(), 1, "{faults:?}");
        }
        assert_eq!(
            changes(&session.record(&[entry(1, None)], OnConflict::Refuse).unwrap().unwrap()),
            [Change::Nothing]
        );
    }
}

#[test]
fn the_failure_of_an_earlier_attempt_is_not_told_again() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        let plate = [entry(0, Some(Err("vial cracked"))), entry(1, Some(Ok(1.0)))];
        session.record(&plate, OnConflict::Refuse).unwrap().unwrap();
        session.reopen(0).unwrap();
        for on_conflict in [OnConflict::Refuse, OnConflict::Amend] {
            let recorded = session.record(&plate, on_conflict).unwrap().unwrap();
            assert_eq!(changes(&recorded), [Change::OfEarlierAttempt, Change::Nothing]);
            assert_eq!(session.trial(0).unwrap().state(), TrialState::Pending);
        }
        session.tell(0, 10.1).unwrap();
        session.record(&plate, OnConflict::Amend).unwrap().unwrap();
        assert_eq!(session.trial(0).unwrap().value(), Some(10.1));
        let another = [entry(0, Some(Err("contaminated")))];
        session.record(&another, OnConflict::Amend).unwrap().unwrap();
        assert_eq!(again(&place, &session).trial(0).unwrap().reason(), Some("contaminated"));
    }
}

#[test]
fn what_was_measured_before_the_value_is_kept() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        let pure = |purity, outcome| {
            Entry::Trial(TrialEntry { metrics: vec![("purity".to_string(), purity)], ..of_trial(1, outcome) })
        };
        let record =
            |session: &mut Session, entry| changes(&session.record(&[entry], OnConflict::Refuse).unwrap().unwrap());
        assert_eq!(record(&mut session, pure(95.0, None)), [Change::Measured]);
        assert_eq!(record(&mut session, pure(95.0, None)), [Change::Nothing]);
        session.tell(1, 5.0).unwrap();
        let trial = again(&place, &session).trial(1).unwrap().clone();
        assert_eq!((trial.value(), trial.metrics()), (Some(5.0), &[("purity".to_string(), 95.0)][..]));
        let faults = refused(&mut session, &[pure(96.0, None)], OnConflict::Refuse);
        assert!(matches!(&faults[..], [(0, Error::OtherMetric { .. })]), "{faults:?}");
        session.cancel(2).unwrap();
        let cancelled = TrialEntry { metrics: vec![("purity".to_string(), 1.0)], ..of_trial(2, None) };
        assert_eq!(record(&mut session, Entry::Trial(cancelled)), [Change::Nothing]);
    }
}

#[test]
fn two_rows_of_one_trial_agree_or_are_refused() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        let faults = refused(&mut session, &[entry(0, Some(Ok(1.0))), entry(0, Some(Ok(2.0)))], OnConflict::Refuse);
        assert_eq!(faults, [(1, Error::SaidTwice { trial: 0 })]);
        let faults = refused(&mut session, &[entry(0, Some(Ok(1.0))), entry(0, Some(Err("dry")))], OnConflict::Refuse);
        assert_eq!(faults[0].0, 1);
        session.tell(1, 5.0).unwrap();
        let twice = [entry(1, Some(Ok(6.0))), entry(1, Some(Ok(7.0)))];
        let faults = refused(&mut session, &twice, OnConflict::Amend);
        assert_eq!(faults, [(1, Error::SaidTwice { trial: 1 })], "which of them is right is not said");
        let same = [entry(0, Some(Ok(1.0))), entry(0, None), entry(0, Some(Ok(1.0)))];
        let recorded = session.record(&same, OnConflict::Refuse).unwrap().unwrap();
        assert_eq!(changes(&recorded), [Change::Recorded, Change::Nothing, Change::Nothing]);
    }
}

#[test]
fn a_row_moves_a_pending_trial_to_the_setting_that_it_was_made_with() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        let recorded = session.record(&[moved(0, Some(Ok(1.0)), 1.75)], OnConflict::Refuse).unwrap().unwrap();
        assert_eq!(changes(&recorded), [Change::Recorded]);
        let session = again(&place, &session);
        assert_eq!(session.params(0).unwrap()[0].1, Value::Float(1.75));
        assert!(session.ledger().trial(0).unwrap().is_moved());
    }
}

#[test]
fn a_study_is_created_with_a_table_or_not_at_all() {
    for place in places() {
        let create = |entries: &[Entry]| {
            Session::create_with(|| Ok::<Store, Error>(place.open().into()), source(LEARNED), entries).unwrap()
        };
        let good = elsewhere(outside(LEARNED, true), Some(Ok(1.0)));
        let faults = create(&[good.clone(), entry(0, Some(Ok(1.0))), entry(3, Some(Ok(1.0)))]).unwrap_err();
        assert_eq!(faults.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [1, 2]);
        assert!(Session::open(place.open().into(), "learned", "it").is_err());
        let no_store = || -> Result<Store, Error> { panic!("a table that is refused opens no store") };
        assert!(Session::create_with(no_store, source(LEARNED), &[entry(0, None)]).unwrap().is_err());
        let failed = elsewhere(outside(LEARNED, false), Some(Err("dry")));
        let (mut session, recorded) = create(&[good.clone(), failed, good]).unwrap();
        assert_eq!(changes(&recorded), [Change::Recorded; 3]);
        assert_eq!(session.ledger().count(TrialState::Observed), 2);
        session.ask(2).unwrap();
        Study::verify(session.spec(), again(&place, &session).ledger().events()).unwrap();
        let twice = Session::create_with(|| Ok::<Store, Error>(place.open().into()), source(LEARNED), &[]);
        assert!(twice.is_err(), "the study exists");
    }
}

#[test]
fn a_metric_with_another_number_is_refused_or_amended() {
    for place in places() {
        let mut session = begun(&place, GRID);
        let with =
            |ph: f64| Entry::Trial(TrialEntry { metrics: vec![("pH".to_string(), ph)], ..of_trial(0, Some(Ok(1.5))) });
        session.record(&[with(6.0)], OnConflict::Refuse).unwrap().unwrap();
        let faults = refused(&mut session, &[with(9.0)], OnConflict::Refuse);
        assert_eq!(faults, [(0, Error::OtherMetric { trial: 0, name: "pH".to_string(), before: 6.0, now: 9.0 })]);
        let amended = session.record(&[with(9.0)], OnConflict::Amend).unwrap().unwrap();
        assert_eq!(changes(&amended), [Change::Measured]);
        assert_eq!(session.ledger().trial(0).unwrap().metrics(), [("pH".to_string(), 9.0)]);
    }
}

#[test]
fn a_setting_that_was_changed_is_recorded_before_the_value_comes() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        let recorded = session.record(&[moved(1, None, 1.5)], OnConflict::Refuse).unwrap().unwrap();
        assert_eq!((recorded[0].change, recorded[0].state), (Change::Amended, TrialState::Pending));
        assert_eq!(session.params(1).unwrap()[0].1, Value::Float(1.5));
        let repeated = session.record(&[moved(1, None, 1.5)], OnConflict::Refuse).unwrap().unwrap();
        assert_eq!(repeated[0].change, Change::Nothing);
    }
}
