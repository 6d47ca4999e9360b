//! Logs that older engines made open, say what they said, and go on. The logs are as manyhands wrote them then.

use manyhands_core::event::ENGINE;
use manyhands_core::gp::Domain;
use manyhands_core::{Event, Study, TrialState, Value};

use super::common::study::value;
use crate::memory::Memory;
use crate::{Amendment, Change, Entry, ExternalEvaluation, OnConflict, Session, Store, StudyLog};

/// Engine 4 searched grids of more than 16,384 points where the model was learned or the rule sampled, and gave their points
/// no numbers.
const LEARNED: &str = include_str!("../../tests/fixtures/large-grid-learned-engine-4.log");
const GIVEN: &str = include_str!("../../tests/fixtures/large-grid-given-engine-4.log");

fn opened(log: &str) -> Session {
    Session::import(Store::new(Memory::new()), StudyLog::read(log).unwrap()).unwrap()
}

/// The point of a trial is that of its candidate, and has its parameters.
fn check_candidates(study: &Study) {
    let Some(Domain::Grid(grid)) = study.spec().finite() else { panic!("the grid is finite") };
    for trial in study.trials() {
        assert_eq!(grid.point(trial.candidate()), study.point(trial.number()).unwrap(), "trial {}", trial.number());
        let space = study.spec().domain().space().unwrap();
        assert_eq!(space.embed(trial.logged_params()).unwrap(), grid.point(trial.candidate()));
    }
}

fn go_on(session: &mut Session, older: usize) {
    let before = session.ledger().events().len();
    for _ in 0..2 {
        for suggestion in session.ask(3).unwrap() {
            session.tell(suggestion.trial, value(&suggestion)).unwrap();
        }
    }
    let study = session.study().unwrap();
    check_candidates(study);
    let found = Study::verify(study.spec(), study.events()).unwrap();
    assert_eq!((found.older.choices, found.checked.choices, found.newer.choices), (older, 6, 0));
    // The stored events are as they were.
    let engine = |event: &Event| match event {
        Event::Asked(asked) => Some(asked.engine),
        _ => None,
    };
    let stored: Vec<u32> = session.ledger().events()[..before].iter().filter_map(engine).collect();
    assert_eq!(stored, vec![4; older]);
    assert!(session.ledger().events()[before..].iter().filter_map(engine).all(|number| number == ENGINE));
    let found = Study::verify(session.spec(), session.ledger().events()).unwrap();
    assert_eq!((found.older.choices, found.checked.choices), (older, 6));
}

#[test]
fn a_learned_study_of_a_large_grid_from_before_its_points_were_numbered_goes_on() {
    let mut session = opened(LEARNED);
    let study = session.study().unwrap();
    assert_eq!(study.trials().len(), 18);
    check_candidates(study);
    let counts = [TrialState::Observed, TrialState::Pending, TrialState::Failed, TrialState::Cancelled];
    assert_eq!(counts.map(|state| study.count(state)), [14, 2, 1, 1]);
    // Included, and amended: at the grid's corners and edges, 150 times 140 points.
    assert_eq!([5, 6, 7].map(|trial| study.trials()[trial].candidate()), [0, 150 * 140 - 1, 139]);
    assert_eq!((study.trials()[16].is_moved(), study.trials()[16].value()), (true, Some(0.8)));
    let best = study.best().unwrap();
    assert_eq!(best.params, study.params(best.trial).unwrap());
    // What was enqueued then comes first now.
    assert_eq!(session.ask(1).unwrap()[0].choice.candidate, 0);
    session.tell(18, 2.5).unwrap();
    let params = vec![("x".to_string(), Value::Float(-1.0)), ("dose".to_string(), Value::Float(0.001))];
    session.amend(9, &Amendment { params, ..Amendment::default() }).unwrap();
    assert_eq!(session.study().unwrap().trials()[9].candidate(), 0);
    session.restore(9).unwrap();
    for suggestion in session.ask(2).unwrap() {
        session.tell(suggestion.trial, value(&suggestion)).unwrap();
    }
    check_candidates(session.study().unwrap());
    assert_eq!(Study::verify(session.spec(), session.ledger().events()).unwrap().older.choices, 16);
}

#[test]
fn a_sampled_study_of_a_large_grid_from_before_its_points_were_numbered_goes_on() {
    let mut session = opened(GIVEN);
    check_candidates(session.study().unwrap());
    let certificate = session.study().unwrap().certificate().unwrap();
    assert!(certificate.candidate.is_some() && certificate.gap == 0.0);
    go_on(&mut session, 11);
}

#[test]
fn an_evaluation_that_is_recorded_in_an_older_log_is_recognized() {
    let mut session = opened(LEARNED);
    let before = session.ledger().events().len();
    // Trial 5 was told as an evaluation made elsewhere.
    let params = vec![("x".to_string(), Value::Float(-1.0)), ("dose".to_string(), Value::Float(0.001))];
    let again = Entry::External(ExternalEvaluation::new(params, Some(2.5)));
    let recorded = session.record(&[again], OnConflict::Refuse).unwrap().unwrap();
    assert_eq!((recorded[0].trial, &recorded[0].change), (5, &Change::Nothing));
    assert_eq!(session.ledger().events().len(), before);
}
