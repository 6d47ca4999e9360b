//! Studies that begin with the trials of another: what fits comes along, all at once.

use manyhands_core::{Study, Value};

use super::common::study::{GRID, LEARNED, POOL, outside, pool, session, source, source_with, value};
use super::common::{Place, places};
use super::tables::{again, entry, moved, of_trial};
use crate::{
    CopyPlan, CopyRefusal, Entry, Error, ExternalEvaluation, OnConflict, Result, Session, Source, Store, TrialEntry,
};

/// Eight trials: six observed, the first with metrics; one failed, one pending, then one cancelled.
fn lived(place: &Place, text: &str) -> Session {
    let mut session = session(place.open(), text);
    for suggestion in session.ask(6).unwrap() {
        session.tell(suggestion.trial, value(&suggestion)).unwrap();
    }
    session.ask(3).unwrap();
    let metrics = vec![("pH".to_string(), 7.0)];
    let more = Entry::Trial(TrialEntry { metrics, ..of_trial(0, session.ledger().trial(0).unwrap().value().map(Ok)) });
    session.record(&[more], OnConflict::Refuse).unwrap().unwrap();
    session.fail(6, "dry").unwrap();
    session.cancel(8).unwrap();
    session
}

/// Opens the store that a copy is made in.
fn opened(place: &Place) -> impl FnOnce() -> Result<Store> {
    let store = place.open().into();
    || Ok(store)
}

/// Of a copy that is refused no store is opened.
fn unopened() -> Result<Store> {
    Err(Error::Internal { what: "a store was opened" })
}

fn described(text: &str, name: &str, changes: &[(&str, &str)]) -> Source {
    let mut text = text.to_string();
    let first = text.lines().next().unwrap().to_string();
    text = text.replacen(&first, &format!("name = \"{name}\""), 1);
    for (before, after) in changes {
        assert!(text.contains(before), "{before}");
        text = text.replace(before, after);
    }
    source(&text)
}

fn plan(defaults: &[(&str, Value)]) -> CopyPlan {
    CopyPlan { defaults: defaults.iter().map(|(name, value)| (name.to_string(), value.clone())).collect() }
}

#[test]
fn a_wider_study_begins_with_all_that_has_ended() {
    for place in places() {
        for (text, change) in [(LEARNED, ("[-1.0, 2.0]", "[-4.0, 4.0]")), (GRID, ("points = 9", "points = 17"))] {
            let mut old = lived(&place, text);
            let before = old.ledger().events().to_vec();
            let name = format!("wider-{}", old.name());
            let copied = old.copy_to(opened(&place), described(text, &name, &[change]), &plan(&[])).unwrap();
            assert_eq!((copied.observed, copied.failed, copied.unfit.len(), &copied.pending[..]), (6, 1, 0, &[7][..]));
            assert_eq!(old.ledger().events(), before, "the old study stays as it is");
            let mut new = again(&place, &copied.session);
            assert_eq!(new.ledger().trials().len(), 7);
            for trial in 0..7 {
                let (from, to) = (old.ledger().trial(trial).unwrap(), new.ledger().trial(trial).unwrap());
                assert_eq!((from.value(), from.reason(), from.metrics()), (to.value(), to.reason(), to.metrics()));
                assert_eq!(old.times()[trial], new.times()[trial], "trial {trial}");
                let numbers = |session: &Session| -> Vec<String> {
                    session.params(trial).unwrap().iter().map(|(_, value)| value.short()).collect()
                };
                assert_eq!(numbers(&old), numbers(&new));
            }
            assert_eq!(new.begun(), 0, "what came along is not of its budget");
            new.ask(2).unwrap();
            Study::verify(new.spec(), new.ledger().events()).unwrap();
            let name_taken = old.copy_to(opened(&place), described(text, &name, &[]), &plan(&[]));
            assert!(name_taken.is_err());
        }
    }
}

#[test]
fn a_narrower_study_leaves_out_what_does_not_fit_and_says_which() {
    for place in places() {
        let mut old = lived(&place, LEARNED);
        let narrow = described(LEARNED, "narrow", &[("[-1.0, 2.0]", "[0.0, 1.0]")]);
        let is_inside = |trial: &usize| (0.0..=1.0).contains(&old.params(*trial).unwrap()[0].1.number().unwrap());
        let (inside, beyond): (Vec<usize>, Vec<usize>) = (0..7).partition(is_inside);
        assert!(!inside.is_empty() && !beyond.is_empty());
        let copied = old.copy_to(opened(&place), narrow, &plan(&[])).unwrap();
        assert_eq!(copied.unfit.iter().map(|(trial, _)| *trial).collect::<Vec<_>>(), beyond);
        assert_eq!(copied.observed + copied.failed, inside.len());
        let mut new = copied.session;
        new.ask(1).unwrap();
        Study::verify(new.spec(), new.ledger().events()).unwrap();
    }
}

#[test]
fn a_new_parameter_needs_the_value_that_it_had() {
    for place in places() {
        let mut old = lived(&place, LEARNED);
        let extended =
            || described(LEARNED, "extended", &[("[strategy]", "drop = { float = [0.0, 0.5] }\n[strategy]")]);
        let mut copy = |plan: &CopyPlan| old.copy_to(opened(&place), extended(), plan);
        assert_eq!(copy(&plan(&[])).unwrap_err(), Error::Copy(CopyRefusal::NewParameter { name: "drop".to_string() }));
        for (name, is_known) in [("x", true), ("dorp", false)] {
            let wrong = plan(&[("drop", Value::Float(0.0)), (name, Value::Float(0.5))]);
            assert_eq!(
                copy(&wrong).unwrap_err(),
                Error::Copy(CopyRefusal::NotANewParameter { name: name.to_string(), is_known })
            );
        }
        let copied = copy(&plan(&[("drop", Value::Float(0.25))])).unwrap();
        assert_eq!((copied.observed, copied.failed), (6, 1));
        let mut new = copied.session;
        let params = new.params(0).unwrap();
        assert_eq!(params.iter().find(|(name, _)| *name == "drop").unwrap().1, Value::Float(0.25));
        new.ask(1).unwrap();
        Study::verify(new.spec(), new.ledger().events()).unwrap();
        // One that has a single value needs no default.
        let constant = described(LEARNED, "constant", &[("[strategy]", "k = { constant = 3 }\n[strategy]")]);
        assert_eq!(old.copy_to(opened(&place), constant, &plan(&[])).unwrap().observed, 6);
    }
}

#[test]
fn a_default_that_does_not_fit_is_refused_and_makes_no_study() {
    for place in places() {
        let mut old = lived(&place, LEARNED);
        let extended = described(LEARNED, "extended", &[("[strategy]", "drop = { float = [0.0, 0.5] }\n[strategy]")]);
        let copied = old.copy_to(opened(&place), extended, &plan(&[("drop", Value::Float(0.75))]));
        assert!(copied.is_err(), "no trial can come along");
        assert!(Session::open(place.open().into(), "extended", "it").is_err());
    }
}

#[test]
fn a_parameter_that_is_lost_must_have_had_one_value() {
    for place in places() {
        let mut old = lived(&place, LEARNED);
        let without = || described(LEARNED, "without", &[("layers = { int = [1, 6] }\n", "")]);
        let lost = old.copy_to(opened(&place), without(), &plan(&[])).unwrap_err();
        assert!(
            matches!(&lost, Error::Copy(CopyRefusal::LostParameter { name, values }) if name == "layers" && *values > 1),
            "{lost}"
        );
        let mut fixed = session(place.open(), &LEARNED.replace("learned", "fixed"));
        for value in [1.0, 2.0] {
            fixed.include(&ExternalEvaluation::new(outside(LEARNED, value > 1.0), Some(value))).unwrap();
        }
        assert_eq!(fixed.copy_to(opened(&place), without(), &plan(&[])).unwrap().observed, 2);
    }
}

#[test]
fn a_longer_list_of_candidates_keeps_those_that_were_tried() {
    for place in places() {
        let mut old = lived(&place, POOL);
        // Other candidates first: those of the old study have other indices.
        let longer = pool().replacen("temp,conc\n", "temp,conc\n99.5,3\n98.5,4\n", 1);
        let text = POOL.replace("\"pool\"", "\"longer\"");
        let copied = old.copy_to(opened(&place), source_with(&text, &longer), &plan(&[])).unwrap();
        assert_eq!((copied.observed, copied.failed), (6, 1));
        let mut new = copied.session;
        for trial in 0..7 {
            assert_eq!(old.params(trial).unwrap(), new.params(trial).unwrap());
        }
        new.ask(2).unwrap();
        Study::verify(new.spec(), new.ledger().events()).unwrap();
        let shorter: String = pool().lines().take(3).map(|line| format!("{line}\n")).collect();
        let text = POOL.replace("\"pool\"", "\"shorter\"");
        let copied = old.copy_to(opened(&place), source_with(&text, &shorter), &plan(&[])).unwrap();
        assert_eq!(copied.observed + copied.failed + copied.unfit.len(), 7);
        assert!(!copied.unfit.is_empty());
    }
}

#[test]
fn a_copy_has_the_amended_record_and_an_evaluation_told_late_has_its_time() {
    for place in places() {
        let mut old = lived(&place, LEARNED);
        old.record(&[moved(0, Some(Ok(9.5)), 1.75), entry(1, Some(Err("spilled")))], OnConflict::Amend)
            .unwrap()
            .unwrap();
        let copied = old.copy_to(opened(&place), described(LEARNED, "copy", &[]), &plan(&[])).unwrap();
        assert_eq!((copied.observed, copied.failed), (5, 2));
        let new = copied.session;
        assert_eq!(
            (new.params(0).unwrap()[0].1.clone(), new.ledger().trial(0).unwrap().value()),
            (Value::Float(1.75), Some(9.5))
        );
        assert_eq!(new.ledger().trial(1).unwrap().reason(), Some("spilled"));
        assert!(!new.ledger().trial(0).unwrap().is_moved(), "it was requested nowhere else");
        assert_ne!(new.times()[0].told_at, Some(new.times()[0].asked_at));
    }
}

#[test]
fn a_copy_that_nothing_would_come_along_to_makes_no_study() {
    for place in places() {
        let mut old = lived(&place, LEARNED);
        let elsewhere = described(LEARNED, "elsewhere", &[("[-1.0, 2.0]", "[7.0, 9.0]")]);
        let refused = old.copy_to(unopened, elsewhere, &plan(&[])).unwrap_err();
        assert!(matches!(refused, Error::Copy(CopyRefusal::NothingFits { trials: 7, trial: 0, .. })), "{refused}");
        let added = described(LEARNED, "added", &[("[strategy]", "k = { int = [1, 3] }\n[strategy]")]);
        let twice = plan(&[("k", Value::Int(1)), ("k", Value::Int(2))]);
        let refused = old.copy_to(unopened, added, &twice).unwrap_err();
        assert!(refused.to_string().contains("named twice"), "{refused}");
        assert_eq!(old.store().studies().unwrap().len(), 1);
    }
}
