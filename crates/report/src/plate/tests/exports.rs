//! Exports as tables: told to their own study, to an empty one, and to another.

use super::*;
use crate::trials;

/// A study with trials of every kind: observed, with metrics, with another setting, failed, pending, cancelled, from elsewhere.
fn lived() -> Session {
    let mut session = named(STUDY);
    session.ask(6).unwrap();
    let text = "trial;value;temp;pH\n0;0,1;;7,5\n1;-2,5e-7;71,3;\n2;failed: \"no, crystals\";;\n3;12;;\n";
    let entries = entries(&session, text);
    session.record(&entries, OnConflict::Refuse).unwrap().unwrap();
    session.cancel(4).unwrap();
    let outside = "temp,conc,cycles,dose,metal,stir,params.value,value\n50,0.01,3,0.3,Pt,TRUE,0.5,1.25\n";
    let outside = self::entries(&session, outside);
    session.record(&outside, OnConflict::Refuse).unwrap().unwrap();
    session
}

/// An export as CSV, and one as lines of JSON read back as CSV.
fn exports(session: &Session) -> [String; 2] {
    let rows = trials::flat_rows(session).unwrap();
    let csv = trials::csv(&trials::TrialColumns::of(session), &rows).unwrap();
    let lines = trials::json_lines(session).unwrap();
    assert!(trials::is_exported_line(lines.lines().next().unwrap().as_bytes()));
    [csv, trials::csv_of_json_lines(lines.as_bytes()).unwrap()]
}

/// Trials that have ended: their parameters, ends and metrics.
fn ended(session: &Session) -> Vec<String> {
    let trials = session.ledger().trials().iter();
    let ended = trials.filter(|trial| trial.value().is_some() || trial.reason().is_some());
    let text = |trial: &manyhands_core::Trial| {
        format!("{:?} {:?} {:?} {:?}", trial.logged_params(), trial.value(), trial.reason(), trial.metrics())
    };
    ended.map(text).collect()
}

#[test]
fn an_export_told_to_its_own_study_changes_nothing() {
    let mut session = lived();
    for text in exports(&session) {
        let before = session.ledger().events().len();
        let entries = entries(&session, &text);
        assert_eq!(entries.len(), 5, "pending and cancelled trials say nothing");
        let recorded = session.record(&entries, OnConflict::Refuse).unwrap().unwrap();
        assert!(recorded.iter().all(|row| row.change == Change::Nothing), "{recorded:?}");
        assert_eq!(session.ledger().events().len(), before);
    }
}

#[test]
fn an_export_told_to_an_empty_study_brings_all_that_has_ended_and_twice_brings_nothing_more() {
    let session = lived();
    for text in exports(&session) {
        let mut empty = named(STUDY);
        let read = entries(&empty, &text);
        empty.record(&read, OnConflict::Refuse).unwrap().unwrap();
        assert_eq!(ended(&empty), ended(&session));
        let external = ColumnMap { is_external: true, ..ColumnMap::default() };
        let again = read_as(&empty, text.as_bytes(), &external).unwrap().entries;
        empty.record(&again, OnConflict::Refuse).unwrap().unwrap();
        assert_eq!(ended(&empty), ended(&session));
    }
}

#[test]
fn an_export_of_another_study_with_the_same_numbers_is_refused() {
    let mut other = named(&STUDY.replace("seed = 7", "seed = 8"));
    other.ask(6).unwrap();
    for text in exports(&lived()) {
        let said = faults(&other, &text);
        assert!(said.iter().any(|fault| fault.contains("was made otherwise")), "{said:?}");
        assert!(said[0].contains("import STUDY --csv FILE"), "{said:?}");
        let external = ColumnMap { is_external: true, ..ColumnMap::default() };
        assert_eq!(read_as(&other, text.as_bytes(), &external).unwrap().entries.len(), 5);
    }
}

#[test]
fn a_value_that_was_filled_into_an_export_is_recorded() {
    let mut session = lived();
    let [csv, _] = exports(&session);
    let row = csv.lines().find(|line| line.contains("pending")).unwrap();
    let number = row.split(',').next().unwrap();
    let text = format!("trial,state,value\n{number},pending,2.5\n4,cancelled,\n");
    let read = entries(&session, &text);
    assert_eq!(read, [told(number.parse().unwrap(), Some(Ok(2.5)))]);
    session.record(&read, OnConflict::Refuse).unwrap().unwrap();
    let cancelled = faults(&session, "trial,state,value\n4,cancelled,2.5\n");
    assert!(cancelled[0].contains("says cancelled, and the value is \"2.5\""), "{cancelled:?}");
    let without_state = entries(&session, "trial,value\n4,2.5\n");
    assert_eq!(session.record(&without_state, OnConflict::Refuse).unwrap().unwrap_err().len(), 1);
}
