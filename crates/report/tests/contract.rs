//! The fields of every JSON object that programs read: they may grow, and never change their names.
#![allow(clippy::unwrap_used)]

use manyhands_core::{TrialState, Value};
use manyhands_report as report;
use manyhands_report::status::Effort;
use manyhands_report::trials::{TrialColumns, TrialSelection};
use manyhands_run::Summary;
use manyhands_store::{Access, Location, Session, Source, Store};
use serde_json::Value as Json;

const STUDY: &str = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0], points = 5 }\nact = { choice = [\"a\", \"b\"] }\n\
                     [model]\nkernel = \"se\"\nlengthscale = 0.3\nnoise = 0.01\n[strategy]\nname = \"igp-bucb\"\nnorm_bound = 1.0\n";

/// A study with an observed, a failed and a pending trial.
fn session() -> (Store, Session) {
    let source = Source::read(STUDY, |_| Err("it names no files".to_string())).unwrap();
    let store = Location::Memory.open(Access::Create).unwrap();
    let mut session = Session::open_or_create(store.clone(), source).unwrap();
    session.ask(3).unwrap();
    session.tell(0, 0.5).unwrap();
    session.fail(1, "diverged").unwrap();
    (store, session)
}

fn fields(json: &Json) -> Vec<&str> {
    json.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn suggestions_have_their_fields() {
    let (_, mut session) = session();
    let suggestions = session.ask(1).unwrap();
    let list = report::ask::json(&session, &suggestions);
    let first = ["trial", "params", "candidate", "mean", "sd", "interval"];
    assert_eq!(fields(&list[0]), [&first[..], &["multiplier", "score", "gap", "phase", "aim", "state"]].concat());
    assert!(["interval", "phase", "aim"].iter().all(|name| !list[0][name].is_null()));
    assert_eq!((&list[0]["trial"], &list[0]["state"]), (&3.into(), &"pending".into()));
    assert_eq!(fields(&list[0]["params"]), ["x", "act"]);
}

#[test]
fn ends_have_their_fields() {
    let list = report::ends::json(&[(7, TrialState::Observed)]);
    assert_eq!(list.to_string(), r#"[{"trial":7,"state":"observed"}]"#);
}

#[test]
fn a_status_has_its_fields() {
    let (_, mut session) = session();
    let status = report::status::json(&mut session, Effort::Bounded).unwrap();
    let first = ["study", "direction", "observed", "pending", "failed", "cancelled", "late_results", "enqueued"];
    let then = ["running", "best", "information", "hallucination", "multiplier", "certificate", "outlook"];
    assert_eq!(fields(&status), [&first[..], &then].concat());
    let best =
        ["trial", "params", "value", "by", "mean", "sd", "lower", "upper", "measured", "reading", "regret_bound"];
    assert_eq!(fields(&status["best"]), best);
    assert_eq!((fields(&status["best"]["reading"]), &status["outlook"]), (vec!["trial", "value"], &Json::Null));
    let certificate = ["regret_bound", "upper", "lower", "params", "candidate", "delta", "kind", "gap"];
    assert_eq!(fields(&status["certificate"]), certificate);
    let ended = report::run::json(status, Summary { interrupted: true, ..Summary::default() }, None);
    assert_eq!((&ended["interrupted"], &ended["picture"], &ended["stopped"]), (&true.into(), &Json::Null, &Json::Null));
}

#[test]
fn a_learned_model_has_an_outlook_instead_of_a_certificate() {
    let text = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n";
    let source = Source::read(text, |_| Err("it names no files".to_string())).unwrap();
    let mut session = Session::open_or_create(Location::Memory.open(Access::Create).unwrap(), source).unwrap();
    let status = report::status::json(&mut session, Effort::Bounded).unwrap();
    assert_eq!((&status["outlook"], &status["certificate"]), (&Json::Null, &Json::Null));
    session.ask(1).unwrap();
    session.tell(0, 0.5).unwrap();
    let status = report::status::json(&mut session, Effort::Bounded).unwrap();
    let outlook = ["gain", "probability", "record", "held", "trials", "widened", "exhausted", "reason"];
    assert_eq!(fields(&status["outlook"]), outlook);
    assert_eq!((&status["certificate"], &status["best"]["regret_bound"]), (&Json::Null, &Json::Null));
}

#[test]
fn trials_have_their_fields_with_the_parameters_together_or_spread() {
    let (_, session) = session();
    let list = report::trials::json(&session, &TrialSelection::default()).unwrap();
    assert_eq!(
        fields(&list[1]),
        [
            "trial",
            "state",
            "params",
            "value",
            "metrics",
            "asked_at",
            "told_at",
            "reason",
            "aim",
            "amendments",
            "attempts",
            "requested"
        ]
    );
    assert_eq!((&list[1]["state"], &list[1]["reason"]), (&"failed".into(), &"diverged".into()));
    let rows = report::trials::flat_rows(&session).unwrap();
    let spread = ["trial", "state", "x", "act", "value", "asked_at", "told_at", "reason", "aim"];
    assert_eq!(rows[0].keys().collect::<Vec<_>>(), spread);
    let columns = TrialColumns::of(&session);
    let csv = report::trials::csv(&columns, &rows).unwrap();
    assert_eq!(csv.lines().next(), Some("trial,state,x,act,value,asked_at,told_at,reason,aim"));
    assert_eq!(report::trials::csv(&columns, &[]).unwrap().trim_end(), csv.lines().next().unwrap());
}

#[test]
fn predictions_have_their_fields() {
    let (_, mut session) = session();
    let point = vec![("x".to_string(), Value::Float(0.5)), ("act".to_string(), Value::Text("a".to_string()))];
    let predictions = session.study().unwrap().predict_named(&[point]).unwrap();
    let list = report::predict::json(&session, &predictions);
    assert_eq!(fields(&list[0]), ["mean", "sd", "sd_pending", "lower", "upper", "kind"]);
}

#[test]
fn studies_and_errors_have_their_fields() {
    let (store, _) = session();
    let studies = report::studies::list(&store).unwrap();
    let list = report::studies::json(&studies);
    assert_eq!(fields(&list[0]), ["study", "created_at", "observed", "pending", "failed"]);
    let error = Session::open(store, "other", "memory:").unwrap_err();
    let refusal = report::refusal::Refusal::from(&error);
    assert!(refusal.is_bad_input);
    assert_eq!(fields(&refusal.json()["error"]), ["code", "message", "hint"]);
}

#[test]
fn a_worker_has_its_fields() {
    let summary = Summary { told: 3, ..Summary::default() };
    let all = r#"{"told":3,"failed":0,"interrupted":false,"idle":false,"stopped":null}"#;
    assert_eq!(report::run::worker(summary).to_string(), all);
}

#[test]
fn bugs_and_limits_of_the_machine_are_not_the_fault_of_the_request() {
    use manyhands_core::{Error as StudyError, gp};
    let is_bad_input = |error: StudyError| report::refusal::Refusal::from(&error).is_bad_input;
    let no_room = gp::Error::NoRoomToFactor { points: 9, rank: 3, left: 0.1, budget: 64 };
    for error in [
        StudyError::Internal { what: "a sampler is missing" },
        StudyError::BadLog { sequence: 3, reason: "it has no trial".to_string() },
        StudyError::Numeric(no_room.clone()),
        StudyError::Numeric(gp::Error::AtPoint { index: 2, problem: Box::new(no_room) }),
        StudyError::Numeric(gp::Error::EigenvaluesNotFound { len: 9 }),
        StudyError::NothingObserved,
    ] {
        assert!(!is_bad_input(error.clone()), "{error}");
    }
    let not_positive = gp::Error::NotPositive { what: "noise".into(), value: -1.0 };
    assert!(is_bad_input(StudyError::Numeric(not_positive)) && is_bad_input(StudyError::AskedForNone));
}

#[test]
fn a_damaged_file_is_a_bad_file_wherever_the_damage_is_found() {
    use manyhands_store::Error as StoreError;
    let reason = "a page is missing".to_string();
    let damaged = StoreError::Damaged { path: "s.db".into(), reason: reason.clone() };
    let corrupt = StoreError::CorruptEvent { study: "demo".to_string(), sequence: 4, reason };
    assert!(damaged.is_bad_input() && corrupt.is_bad_input());
    assert!(!StoreError::Locked { store: "sqlite:s.db".to_string(), seconds: 9 }.is_bad_input());
}

#[test]
fn of_equal_values_the_first_is_the_best_so_far() {
    let (_, mut session) = session();
    session.tell(2, 0.5).unwrap();
    assert_eq!(session.study().unwrap().best().unwrap().trial, 0);
    assert_eq!(session.ledger().extreme(session.spec().direction()), Some((0, 0.5)));
}

#[test]
fn a_reading_is_called_lucky_only_where_it_is_better_than_the_estimate() {
    let (_, mut session) = session();
    let best = session.study().unwrap().best().unwrap();
    let with = |mean: f64, reading: f64| {
        let reading = manyhands_core::study::Reading { trial: 9, value: reading };
        report::best::text(
            &manyhands_core::Best { mean, value: 0.5, is_noisy: true, reading, ..best.clone() },
            session.spec(),
        )
    };
    assert!(with(0.4, 0.7).ends_with("best single reading: 0.7 (trial 9), partly luck"), "{}", with(0.4, 0.7));
    assert!(with(0.8, 0.7).ends_with("best single reading: 0.7 (trial 9)"), "{}", with(0.8, 0.7));
    assert!(!with(0.8, 0.5).contains("reading"), "a tie: {}", with(0.8, 0.5));
}
