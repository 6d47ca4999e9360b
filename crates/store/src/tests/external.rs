//! Evaluations made elsewhere as rows of tables: recorded once, and also while they are under way.

use manyhands_core::{Error as Refusal, Study, Value};

use super::common::places;
use super::common::study::{ALL, GRID, LEARNED, POOL, outside, session};
use super::tables::{begun, changes, elsewhere, of_trial, refused};
use crate::{Amendment, Change, Entry, Error, ExternalEvaluation, OnConflict, TrialEntry};

#[test]
fn a_result_for_a_setting_that_has_another_one_is_added_and_named() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        let named = outside(LEARNED, true);
        let row = |value| [elsewhere(named.clone(), Some(Ok(value)))];
        let first = session.record(&row(43.4), OnConflict::Refuse).unwrap().unwrap();
        assert_eq!((first[0].trial, first[0].beside), (3, None));
        let same = session.record(&row(43.4), OnConflict::Refuse).unwrap().unwrap();
        assert_eq!((same[0].trial, same[0].change, same[0].beside), (3, Change::Nothing, None));
        let other = session.record(&row(44.4), OnConflict::Refuse).unwrap().unwrap();
        assert_eq!((other[0].trial, other[0].change, other[0].beside), (4, Change::Recorded, Some(3)));
    }
}

#[test]
fn evaluations_made_elsewhere_are_skipped_as_often_as_the_study_has_them() {
    for place in places() {
        for text in [LEARNED, GRID] {
            let mut session = session(place.open(), text);
            let (one, other) = (outside(text, true), outside(text, false));
            let row = |value: f64| elsewhere(one.clone(), Some(Ok(value)));
            let table = [row(1.0), row(1.0), row(2.0), elsewhere(one.clone(), Some(Err("dry")))];
            session.record(&table, OnConflict::Refuse).unwrap().unwrap();
            assert_eq!(session.ledger().trials().len(), 4, "repeated measurements are measurements");
            let longer = [row(2.0), row(1.0), row(1.0), row(1.0), elsewhere(other.clone(), Some(Ok(1.0)))];
            let recorded = session.record(&longer, OnConflict::Refuse).unwrap().unwrap();
            assert_eq!(recorded.iter().map(|row| row.trial).collect::<Vec<_>>(), [2, 0, 1, 4, 5]);
            let expected = [Change::Nothing, Change::Nothing, Change::Nothing, Change::Recorded, Change::Recorded];
            assert_eq!(changes(&recorded), expected);
            let failed = [elsewhere(one.clone(), Some(Err("again"))), elsewhere(other, Some(Err("dry")))];
            let recorded = session.record(&failed, OnConflict::Refuse).unwrap().unwrap();
            assert_eq!(changes(&recorded), [Change::Nothing, Change::Recorded]);
        }
        let mut session = session(place.open(), POOL);
        let rows = [elsewhere(outside(POOL, true), Some(Ok(1.0)))];
        session.record(&rows, OnConflict::Refuse).unwrap().unwrap();
        assert_eq!(changes(&session.record(&rows, OnConflict::Refuse).unwrap().unwrap()), [Change::Nothing]);
        let other = [elsewhere(outside(POOL, true), Some(Ok(2.0)))];
        let faults = refused(&mut session, &other, OnConflict::Refuse);
        assert!(matches!(faults[0].1, Error::Study(Refusal::CandidateTaken { .. })), "{faults:?}");
    }
}

#[test]
fn an_evaluation_under_way_elsewhere_is_included_once_and_ends_when_its_row_has_a_value() {
    for place in places() {
        for text in ALL {
            let mut session = session(place.open(), text);
            let under_way = [elsewhere(outside(text, true), None)];
            session.record(&under_way, OnConflict::Refuse).unwrap().unwrap();
            let recorded = session.record(&under_way, OnConflict::Refuse).unwrap().unwrap();
            assert_eq!((changes(&recorded), session.ledger().trials().len()), (vec![Change::Nothing], 1));
            let metrics = vec![("pH".to_string(), 7.0)];
            let outside = ExternalEvaluation { params: outside(text, true), outcome: Some(Ok(1.5)), metrics };
            let recorded = session.record(&[Entry::External(outside)], OnConflict::Refuse).unwrap().unwrap();
            assert_eq!((recorded[0].trial, recorded[0].change), (0, Change::Recorded));
            let trial = session.ledger().trial(0).unwrap();
            assert_eq!((trial.value(), trial.metrics().len(), session.ledger().trials().len()), (Some(1.5), 1, 1));
        }
    }
}

const MIXTURE: &str = r#"name = "mixture"
[space]
a = { float = [0.0, 1.0] }
b = { float = [0.0, 1.0] }
c = { float = [0.0, 1.0] }
[[constraint]]
sum = { a = 1.0, b = 1.0, c = 1.0 }
equals = 1.0
"#;

fn mixture(parts: [f64; 3]) -> Vec<(String, Value)> {
    ["a", "b", "c"].iter().zip(parts).map(|(name, part)| (name.to_string(), Value::Float(part))).collect()
}

#[test]
fn a_weighed_mixture_may_miss_its_sum_by_a_little_and_not_by_much() {
    for place in places() {
        let mut session = begun(&place, MIXTURE);
        let near = elsewhere(mixture([0.333, 0.333, 0.333]), Some(Ok(1.0)));
        session.record(&[near], OnConflict::Refuse).unwrap().unwrap();
        for wrong in [[0.3, 0.3, 0.3], [0.5, 0.3, 0.3]] {
            let far = elsewhere(mixture(wrong), Some(Ok(1.0)));
            assert_eq!(refused(&mut session, &[far], OnConflict::Refuse).len(), 1, "{wrong:?}");
        }
        let weighed = |parts| Entry::Trial(TrialEntry { params: mixture(parts), ..of_trial(0, Some(Ok(1.0))) });
        assert_eq!(refused(&mut session, &[weighed([0.3, 0.3, 0.3])], OnConflict::Refuse).len(), 1);
        session.record(&[weighed([0.333, 0.333, 0.333])], OnConflict::Refuse).unwrap().unwrap();
        assert!(session.enqueue(&[mixture([0.333, 0.333, 0.333])]).is_err(), "what is to be made can be exact");
        session.ask(1).unwrap();
        Study::verify(session.spec(), session.ledger().events()).unwrap();
    }
}

#[test]
fn an_earlier_result_that_was_amended_is_not_imported_again() {
    for place in places() {
        for text in [LEARNED, GRID] {
            let mut session = session(place.open(), text);
            let table = [elsewhere(outside(text, true), Some(Ok(999.0)))];
            session.record(&table, OnConflict::Refuse).unwrap().unwrap();
            let amendment = Amendment { outcome: Some(Ok(9.99)), params: vec![] };
            session.amend(0, &amendment).unwrap();
            let grown = [table[0].clone(), elsewhere(outside(text, false), Some(Ok(2.0)))];
            let recorded = session.record(&grown, OnConflict::Refuse).unwrap().unwrap();
            assert_eq!(changes(&recorded), [Change::Nothing, Change::Recorded]);
            let values: Vec<Option<f64>> = session.ledger().trials().iter().map(|trial| trial.value()).collect();
            assert_eq!(values, [Some(9.99), Some(2.0)]);
        }
    }
}
