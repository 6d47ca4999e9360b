//! Selections, their order, and metrics in every form that trials are listed in.
#![allow(clippy::unwrap_used)]

use manyhands_core::TrialState;
use manyhands_store::{Access, Location, Session, Source, TrialResult};
use serde_json::json;

use super::*;

const STUDY: &str = "name = \"s\"\ndirection = \"minimize\"\n[space]\nx = { float = [0.0, 1.0] }\n\
                     act = { choice = [\"b\", \"a\"] }\nvalue = { int = [1, 9] }\n";

/// Values 3, 1, 1 and -2.5 of trials 0 to 3; then one that failed, one that is pending, one cancelled.
fn session() -> Session {
    let source = Source::read(STUDY, |_| Err("it names no files".to_string())).unwrap();
    let mut session = Session::open_or_create(Location::Memory.open(Access::Create).unwrap(), source).unwrap();
    session.ask(7).unwrap();
    [3.0, 1.0, 1.0, -2.5].into_iter().enumerate().for_each(|(trial, value)| session.tell(trial, value).unwrap());
    session.fail(4, "spilled\nmore").unwrap();
    session.cancel(6).unwrap();
    session
}

fn sorted(session: &Session, name: &str, is_reversed: bool) -> Vec<usize> {
    let order = TrialOrder::Sorted { column: TrialColumns::of(session).find(name).unwrap(), is_reversed };
    TrialSelection { order, ..TrialSelection::default() }.numbers(session).unwrap()
}

#[test]
fn the_best_are_first_and_of_equal_ones_the_earlier() {
    let session = session();
    let top = |most, states: &[TrialState]| {
        TrialSelection { order: TrialOrder::Best, states: states.to_vec(), most: Some(most) }.numbers(&session).unwrap()
    };
    assert_eq!((top(2, &[]), top(9, &[TrialState::Observed])), (vec![3, 1], vec![3, 1, 2, 0]));
    assert_eq!(top(9, &[TrialState::Failed]), [0; 0]);
}

#[test]
fn trials_are_selected_by_state_and_stay_in_order() {
    let session = session();
    let of = |states: &[TrialState]| {
        TrialSelection { states: states.to_vec(), ..TrialSelection::default() }.numbers(&session).unwrap()
    };
    assert_eq!(of(&[]), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(of(&[TrialState::Cancelled, TrialState::Failed, TrialState::Pending]), [4, 5, 6]);
}

#[test]
fn a_column_sorts_by_what_it_holds_with_blanks_last_either_way() {
    let session = session();
    assert_eq!(sorted(&session, "value", false), [3, 1, 2, 0, 4, 5, 6]);
    assert_eq!(sorted(&session, "value", true), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(sorted(&session, "trial", true), [6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(sorted(&session, "state", false), [6, 4, 0, 1, 2, 3, 5]);
    assert_eq!(sorted(&session, "reason", false)[0], 4);
    // Trials that ended are in the order of their ends; the pending one has none.
    assert_eq!(sorted(&session, "told_at", false), [0, 1, 2, 3, 4, 6, 5]);
    for (name, index) in [("x", 0), ("act", 1), ("params.value", 2)] {
        let order = sorted(&session, name, false);
        let cell = |trial: &usize| session.params(*trial).unwrap()[index].1.clone();
        let keys: Vec<_> = order.iter().map(|trial| (cell(trial).number(), cell(trial).to_string(), *trial)).collect();
        assert!(keys.is_sorted_by(|first, second| first.partial_cmp(second).unwrap().is_lt()), "{name}: {keys:?}");
    }
}

#[test]
fn the_first_of_an_order_are_those_at_the_end_that_it_begins_with() {
    let session = session();
    let first = |is_reversed| {
        let order = TrialOrder::Sorted { column: TrialColumn::Value, is_reversed };
        TrialSelection { order, most: Some(2), states: vec![] }.numbers(&session).unwrap()
    };
    assert_eq!((first(false), first(true)), (vec![3, 1], vec![0, 1]));
}

#[test]
fn numbers_sort_as_numbers_before_texts() {
    let cells = [json!("b"), json!(10), json!(null), json!(9.5), json!("B10"), json!(-1e3), json!("B9")];
    let order = |is_reversed| {
        let mut cells = cells.to_vec();
        cells.sort_by(|first, second| selection::compare(first, second, is_reversed));
        Json::Array(cells)
    };
    assert_eq!(order(false), json!([-1e3, 9.5, 10, "B10", "B9", "b", null]));
    assert_eq!(order(true), json!(["b", "B9", "B10", 10, 9.5, -1e3, null]));
}

#[test]
fn an_unknown_column_is_refused_with_those_there_are() {
    let error = TrialColumns::of(&session()).find("vaule").unwrap_err();
    let columns = "trial, state, x, act, params.value, value, asked_at, told_at, reason, aim";
    assert_eq!(error.to_string(), format!("there is no column \"vaule\"; the columns are {columns}"));
    assert_eq!(error.hint().unwrap(), "did you mean \"value\"?");
}

/// The session with metrics of these trials, which are told again with the values that they have.
fn measured(mut session: Session, metrics: &[(usize, &[(&str, f64)])]) -> Session {
    for (trial, metrics) in metrics {
        let value = session.ledger().trial(*trial).unwrap().value().unwrap();
        let metrics = metrics.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        session.tell(*trial, TrialResult { value, metrics }).unwrap();
    }
    session
}

#[test]
fn metrics_have_columns_in_the_order_in_which_they_first_came() {
    let session = session();
    let session =
        measured(session, &[(1, &[("loss", 0.5), ("value", 7.0)]), (0, &[("value", 8.0), ("x", -1.5), ("mem", 2.0)])]);
    let names = ["trial", "state", "x", "act", "params.value", "value", "metrics.value", "metrics.x", "mem", "loss"];
    let columns = TrialColumns::of(&session);
    assert_eq!(columns.names()[..10], names);
    let rows = flat_rows(&session).unwrap();
    assert_eq!(rows[0].keys().collect::<Vec<_>>(), columns.names());
    let cells = |row: usize| ["metrics.value", "metrics.x", "mem", "loss"].map(|name| rows[row][name].clone());
    assert_eq!(cells(0), [json!(8), json!(-1.5), json!(2), json!(null)]);
    assert_eq!(cells(1), [json!(7), json!(null), json!(null), json!(0.5)]);
    assert_eq!(cells(2), [const { Json::Null }; 4]);
    let table = csv(&columns, &rows).unwrap();
    assert!(
        table.starts_with("trial,state,x,act,params.value,value,metrics.value,metrics.x,mem,loss,asked_at"),
        "{table}"
    );
    assert!(table.lines().nth(1).unwrap().contains(",3.0,8,-1.5,2,,"), "{table}");
    let list = json(&session, &TrialSelection::default()).unwrap();
    assert_eq!(list[0]["metrics"], json!({"value": 8, "x": -1.5, "mem": 2}));
    assert_eq!((&list[1]["metrics"], &list[2]["metrics"]), (&json!({"loss": 0.5, "value": 7}), &json!({})));
    assert_eq!(sorted(&session, "metrics.value", false)[..2], [1, 0]);
    assert_eq!(sorted(&session, "loss", true)[..2], [1, 0]);
}

#[test]
fn a_metric_is_written_as_an_integer_if_that_is_the_same_number() {
    for (value, written) in [(12.0, "12"), (-3.0, "-3"), (0.0, "0"), (-0.0, "-0.0"), (0.5, "0.5"), (1e300, "1e+300")] {
        assert_eq!(metric(value).to_string(), written);
    }
    let largest = 2_f64.powi(53);
    assert_eq!((metric(largest), metric(4.0 * largest)), (json!(1_u64 << 53), json!(4.0 * largest)));
}

#[test]
fn no_two_columns_share_a_name_whatever_metrics_are_called() {
    let names = ["metrics.x", "x", "params.value", "value", "metrics.value", "trial", "params"];
    let metrics: Vec<(&str, f64)> = names.iter().map(|name| (*name, 1.0)).collect();
    let session = measured(session(), &[(0, &metrics)]);
    let columns = TrialColumns::of(&session);
    let mut unique = columns.names();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), columns.names().len());
    assert_eq!(flat_rows(&session).unwrap()[0].len(), unique.len());
}

#[test]
fn a_table_for_people_shows_the_metrics_of_its_trials_and_names_what_it_leaves_out() {
    let many: Vec<(String, f64)> = (0..8).map(|index| (format!("m{index}"), f64::from(index))).collect();
    let many: Vec<(&str, f64)> = many.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let session = measured(session(), &[(0, &[("m7", 0.125)]), (1, &many), (3, &[("m0", 1.0)])]);
    let of = |states: &[TrialState], order, most| {
        let selection = TrialSelection { states: states.to_vec(), order, most };
        let header = text(&session, &selection)
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .split_whitespace()
            .skip(5)
            .map(str::to_string)
            .collect::<Vec<_>>();
        (header.join(" "), hidden_metrics_line(&session, &selection).unwrap())
    };
    let hidden = "--json and `manyhands export` have further metrics: m5, m6".to_string();
    assert_eq!(of(&[], TrialOrder::Number, None), ("value m7 m0 m1 m2 m3 m4 aim".into(), Some(hidden)));
    assert_eq!(of(&[], TrialOrder::Best, Some(1)), ("value m0 aim".into(), None));
    assert_eq!(of(&[TrialState::Failed], TrialOrder::Number, None), ("value aim".into(), None));
    let best = TrialSelection { order: TrialOrder::Best, most: Some(1), ..TrialSelection::default() };
    assert!(text(&session, &best).unwrap().ends_with(" -2.5   1  design"), "{}", text(&session, &best).unwrap());
}
