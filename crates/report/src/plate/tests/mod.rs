//! Tables of results, in every style that people and spreadsheets have, read against a small study.
#![allow(clippy::unwrap_used, clippy::panic)]

mod exports;
mod settings;
mod styles;

use manyhands_core::TrialState;
use manyhands_store::{Access, Change, ExternalEvaluation, Location, OnConflict, Source, TrialEntry};

use super::*;

const STUDY: &str = r#"name = "dye"
seed = 7
[space]
temp = { float = [20.0, 90.0] }
conc = { float = [1e-4, 1e-1], scale = "log" }
cycles = { int = [1, 9] }
dose = { levels = [0.1, 0.3, 1.0] }
metal = { choice = ["Pd", "Pt"] }
stir = { choice = [true, false] }
value = { float = [0.0, 1.0] }
"#;

fn named(text: &str) -> Session {
    let source = Source::read(text, |_| Err("it names no files".to_string())).unwrap();
    Session::open_or_create(Location::Memory.open(Access::Create).unwrap(), source).unwrap()
}

/// Four trials, all pending.
fn session() -> Session {
    let mut session = named(STUDY);
    session.ask(4).unwrap();
    session
}

fn read_as(session: &Session, bytes: &[u8], map: &ColumnMap) -> Result<PlateEntries, Vec<BadSpreadsheet>> {
    let table = Spreadsheet::read(bytes).map_err(|fault| vec![fault])?;
    read(session.spec(), session.ledger(), &table, map)
}

fn entries(session: &Session, text: &str) -> Vec<Entry> {
    match read_as(session, text.as_bytes(), &ColumnMap::default()) {
        Ok(read) => read.entries,
        Err(faults) => panic!("{text}: {faults:?}"),
    }
}

#[test]
fn a_column_of_states_is_that_of_an_export_only_if_it_has_states() {
    let session = session();
    let solid = "trial,temp,value,state,aim\n0,50,3,solid,high\n1,51,,liquid,\n";
    let read = read_as(&session, solid.as_bytes(), &ColumnMap::default()).unwrap();
    assert_eq!(read.ignored, ["state", "aim"]);
    assert_eq!(read.entries.len(), 2);
    let faults = faults(&session, "trial,value,state\n0,3,failed\n1,2,observed\n2,7,Cancelled\n3,,pending\n");
    assert_eq!(faults.len(), 2);
    assert!(faults[0].starts_with("line 2: the column \"state\" says failed, and the value is \"3\""), "{faults:?}");
    assert!(faults[1].starts_with("line 4: the column \"state\" says cancelled"), "{faults:?}");
}

#[test]
fn the_points_of_a_plate_can_be_read_again() {
    let session = session();
    let suggestions: Vec<Suggestion> = vec![];
    let empty = csv(&session, &suggestions).unwrap();
    let header = empty.trim_end();
    let row = "7,60,0.01,3,0.3,Pd,true,0.5,1.25\n";
    let table = Spreadsheet::read(format!("{header}\n{row}").as_bytes()).unwrap();
    let points = points(session.spec().domain(), &table).unwrap();
    let names: Vec<&str> = points[0].named.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["temp", "conc", "cycles", "dose", "metal", "stir", "value"]);
    assert_eq!(points[0].named[6].1, Value::Float(0.5));
    let other = Spreadsheet::read(b"temp,comment\n60,x\n").unwrap();
    assert!(super::points(session.spec().domain(), &other).is_err());
}

fn faults(session: &Session, text: &str) -> Vec<String> {
    let faults = read_as(session, text.as_bytes(), &ColumnMap::default()).unwrap_err();
    faults.iter().map(|fault| format!("{fault}; {}", fault.hint.as_deref().unwrap_or(""))).collect()
}

/// What the only row of a table says of a trial.
fn only(session: &Session, text: &str) -> TrialEntry {
    match entries(session, text).as_slice() {
        [Entry::Trial(entry)] => entry.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

fn told(trial: usize, outcome: Option<Result<f64, &str>>) -> Entry {
    let outcome = outcome.map(|outcome| outcome.map_err(str::to_string));
    Entry::Trial(TrialEntry { trial, params: vec![], outcome, metrics: vec![] })
}

fn number(session: &Session, trial: usize, name: &str) -> f64 {
    let params = session.params(trial).unwrap();
    params.iter().find(|(own, _)| *own == name).unwrap().1.number().unwrap()
}

#[test]
fn a_table_is_read_whatever_its_order_separator_marks_and_blank_rows() {
    let session = session();
    let expected = [told(2, Some(Ok(71.25))), told(0, Some(Ok(-0.5))), told(1, None)];
    for text in [
        "trial,value\n2,71.25\n0,-0.5\n1,\n",
        "value;trial\r\n71,25;2\r\n;;\r\n-0,5;0\r\n;1\r\n\r\n",
        "\u{feff}value,trial\n71.25,2\n,\n\"-0.5\",0\n,1\n",
        "\u{feff}value;trial\n71,25;2\n-0,5;0\n;1\n",
        "trial\tvalue\n2\t71,25\n0\t-0,5\n1\t\n",
        "sep=;\ntrial;value\n2;71,25\n0;-0,5\n1;\n",
        "trial,value\n2.0,7.125E+01\n0,\"-0.50\"\n1, \n",
    ] {
        assert_eq!(entries(&session, text), expected, "{text:?}");
    }
    let read = read_as(&session, b"value;trial\n\n71,25;2\n;\n-0,5;0\n;1\n", &ColumnMap::default()).unwrap();
    assert_eq!(read.lines, [3, 5, 6]);
}

#[test]
fn a_trial_that_gives_no_value_is_failed_in_any_spelling_and_says_why() {
    let session = session();
    for (cell, why) in [
        ("failed", "failed"),
        ("Failed: no crystals", "no crystals"),
        ("FAIL", "failed"),
        ("failed - spilled", "spilled"),
        ("failed (spilled)", "spilled"),
        ("failed (spilled (twice))", "spilled (twice)"),
        ("Failure; see page 3", "see page 3"),
        ("failed spilled", "spilled"),
    ] {
        let text = format!("trial,value\n0,{cell}\n");
        assert_eq!(entries(&session, &text), [told(0, Some(Err(why)))], "{cell}");
    }
    let reasons = "trial,value,reason\n0,failed,no crystals\n1,failed: dry,no crystals\n2,1.5,late\n3,,later\n";
    let expected =
        [told(0, Some(Err("no crystals"))), told(1, Some(Err("dry"))), told(2, Some(Ok(1.5))), told(3, None)];
    assert_eq!(entries(&session, reasons), expected);
    for cell in ["failing", "n/a", "-", "?", "NaN", "inf", "50 %", "#DIV/0!", "unfailed"] {
        let said = faults(&session, &format!("trial,value\n0,{cell}\n"));
        assert!(said.len() == 1 && said[0].contains("line 2") && said[0].contains(cell), "{said:?}");
    }
}

#[test]
fn cells_that_cannot_be_read_and_settings_that_do_not_fit_are_reported_together_by_line() {
    let session = session();
    let said = faults(&session, "trial,value,temp\n0,1.5,950\n1,low,\n2,1,\n3,1,-4\n");
    let starts = [
        "line 2: parameter \"temp\" must be",
        "line 3, column \"value\": must be",
        "line 5: parameter \"temp\" must be",
    ];
    assert_eq!(said.len(), starts.len(), "{said:?}");
    said.iter().zip(starts).for_each(|(fault, start)| assert!(fault.starts_with(start), "{fault}"));
}

#[test]
fn every_fault_of_a_table_is_reported_with_its_line() {
    let session = session();
    let said = faults(&session, "trial,value,temp\n0,1.5,\n1,low,\n9,1,\n-1,1,\n1.5,1,\n2,1,warm\n");
    let lines: Vec<bool> = (3..8).zip(&said).map(|(line, fault)| fault.contains(&format!("line {line}"))).collect();
    assert_eq!(lines, [true; 5], "{said:?}");
    for empty in ["", "\n\n", "trial\n0\n", "trial,Value\n0,1\n"] {
        assert_eq!(faults(&session, empty).len(), 1, "{empty:?}");
    }
}

#[test]
fn parameters_of_every_kind_are_read_as_the_study_has_them() {
    let session = session();
    let header = "trial;cycles;dose;metal;stir;params.value;temp;value";
    let recorded: Vec<String> = ["cycles", "dose", "metal", "stir", "value", "temp"]
        .iter()
        .map(|name| session.params(0).unwrap().iter().find(|(own, _)| own == name).unwrap().1.clone())
        .map(|value| cell(&value).replace('.', ","))
        .collect();
    assert_eq!(only(&session, &format!("{header}\n0;{};1,5\n", recorded.join(";"))).params, []);
    let shouted = recorded.join(";").replace("true", "TRUE").replace("false", "FALSE");
    assert!(shouted.contains("TRUE") || shouted.contains("FALSE"));
    assert_eq!(only(&session, &format!("{header}\n0;{shouted};1,5\n")).params, []);
    // What the trial does not have: each is another setting.
    let other = |now: &Value| -> (String, Value) {
        match now {
            Value::Text(word) => (if word == "Pd" { "Pt" } else { "Pd" }.to_string(), Value::Text(String::new())),
            Value::Bool(on) => ((!on).to_string().to_uppercase(), Value::Bool(!on)),
            Value::Int(count) => ((count % 9 + 1).to_string(), Value::Int(count % 9 + 1)),
            Value::Float(_) => ("0,25".to_string(), Value::Float(0.25)),
        }
    };
    for (name, now) in session.params(0).unwrap().iter().filter(|(name, _)| !["temp", "conc", "dose"].contains(name)) {
        let (text, value) = other(now);
        let value = if let Value::Text(_) = value { Value::Text(text.clone()) } else { value };
        let column = column_name(name);
        let found = only(&session, &format!("trial;{column};value\n0;{text};1,5\n"));
        assert_eq!((found.params, found.outcome), (vec![(name.to_string(), value)], Some(Ok(1.5))), "{name}");
    }
    let level = if number(&session, 0, "dose") == 0.3 { "0,1" } else { "0,3" };
    let dose = only(&session, &format!("trial;dose;value\n0;{level};1,5\n")).params;
    assert_eq!(dose, [("dose".to_string(), Value::Float(level.replace(',', ".").parse().unwrap()))]);
}

#[test]
fn a_setting_outside_of_the_space_is_refused_when_it_is_recorded() {
    let mut session = session();
    for wrong in ["temp,value\n0,95,1", "cycles,value\n0,2.5,1", "metal,value\n0,Au,1", "dose,value\n0,0.2,1"] {
        let entries = entries(&session, &format!("trial,{wrong}\n"));
        let said = session.record(&entries, OnConflict::Refuse).unwrap().unwrap_err();
        assert_eq!(said.len(), 1, "{wrong}");
    }
    assert_eq!(session.ledger().pending(), 4);
}

#[test]
fn further_columns_of_numbers_are_metrics_and_texts_are_not_read() {
    let session = session();
    let text = "trial;value;pH;Bemerkung;metrics.value;yield %;blank\n0;1,5;7,25;klar;3;88;\n1;;6;;4;;\n";
    let read = read_as(&session, text.as_bytes(), &ColumnMap::default()).unwrap();
    let metrics = |pairs: &[(&str, f64)]| -> Vec<(String, f64)> {
        pairs.iter().map(|(name, number)| (name.to_string(), *number)).collect()
    };
    let expected = [
        TrialEntry {
            trial: 0,
            params: vec![],
            outcome: Some(Ok(1.5)),
            metrics: metrics(&[("pH", 7.25), ("value", 3.0), ("yield %", 88.0)]),
        },
        TrialEntry { trial: 1, params: vec![], outcome: None, metrics: metrics(&[("pH", 6.0), ("value", 4.0)]) },
    ];
    assert_eq!(read.entries, expected.map(Entry::Trial));
    assert_eq!(
        (read.metrics.join("|"), read.ignored.join("|")),
        ("pH|metrics.value|yield %".into(), "Bemerkung|blank".into())
    );
}

#[test]
fn a_row_without_a_trial_is_an_evaluation_made_elsewhere() {
    let session = session();
    let header = "trial,temp,conc,cycles,dose,metal,stir,params.value,value,pH";
    let text =
        format!("{header}\n,50,0.01,3,0.3,Pt,TRUE,0.5,1.25,7\n0,,,,,,,,2,\n,50,0.01,3,0.3,Pt,TRUE,0.5,failed,\n");
    let params: Vec<(String, Value)> = [
        ("temp", Value::Int(50)),
        ("conc", Value::Float(0.01)),
        ("cycles", Value::Int(3)),
        ("dose", Value::Float(0.3)),
        ("metal", Value::Text("Pt".to_string())),
        ("stir", Value::Bool(true)),
        ("value", Value::Float(0.5)),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into();
    let outside = |outcome, metrics| {
        Entry::External(ExternalEvaluation { params: params.clone(), outcome: Some(outcome), metrics })
    };
    let expected = [
        outside(Ok(1.25), vec![("pH".to_string(), 7.0)]),
        told(0, Some(Ok(2.0))),
        outside(Err("failed".to_string()), vec![]),
    ];
    assert_eq!(entries(&session, &text), expected);
    let mut fresh = named(STUDY);
    let recorded = fresh.record(&[expected[0].clone(), expected[2].clone()], OnConflict::Refuse).unwrap().unwrap();
    assert_eq!(recorded.iter().map(|row| row.state).collect::<Vec<_>>(), [TrialState::Observed, TrialState::Failed]);
}

#[test]
fn a_misspelled_parameter_is_refused_and_not_kept_as_a_metric() {
    let session = session();
    for title in ["Temp", "TEMP", " temp ", "temp (C)", "Temp (C)", "Temp [°C]", "temp / K", "temp, C", "temp:"] {
        let text = format!("trial;\"{title}\";value\n0;71,3;1\n");
        let read = read_as(&session, text.as_bytes(), &ColumnMap::default());
        if title.trim() == "temp" {
            assert!(read.is_ok());
            continue;
        }
        let said = read.unwrap_err();
        assert!(
            said.len() == 1 && said[0].to_string().contains("probably the parameter \"temp\""),
            "{title}: {said:?}"
        );
        assert!(said[0].hint.as_ref().unwrap().contains("rename"), "{said:?}");
    }
    // Where the parameter has its column, another one of a similar name is a metric; and so is one that only begins so.
    let both = "trial;temp;Temp (C);temperament;value\n0;;71,3;2;1\n";
    assert_eq!(only(&session, both).metrics.len(), 2);
    assert_eq!(only(&session, "trial;temperament;attempt;value\n0;7;8;1\n").metrics.len(), 2);
}

#[test]
fn columns_that_are_called_otherwise_are_named_by_the_user() {
    let session = named("name = \"s\"\n[space]\nx = { float = [0.0, 9.0] }\n");
    let map = |pairs: &[(&str, &str)]| ColumnMap {
        names: pairs.iter().map(|(name, column)| (name.to_string(), column.to_string())).collect(),
        is_external: true,
    };
    let text = b"trial,T (C),Yield,value\n77,2.5,0.5,9\n";
    let read = read_as(&session, text, &map(&[("x", "T (C)"), ("value", "Yield")])).unwrap();
    let outside = ExternalEvaluation {
        params: vec![("x".to_string(), Value::Float(2.5))],
        outcome: Some(Ok(0.5)),
        metrics: vec![("value".to_string(), 9.0)],
    };
    assert_eq!(read.entries, [Entry::External(outside)], "the number of a trial of another study says nothing");
    for wrong in [&[("y", "T (C)")][..], &[("x", "T")], &[("value", "Yields")]] {
        assert_eq!(read_as(&session, text, &map(wrong)).unwrap_err().len(), 1, "{wrong:?}");
    }
}

#[test]
fn a_plate_of_candidates_is_written_and_read_with_their_names() {
    let text = "name = \"pool\"\n[candidates]\nfile = \"pool.csv\"\nrepeats = false\n";
    let pool = "code,temp,conc\n007,20,1\n\"a;b\",30,2.5\n\"say \"\"x\"\"\",40,5\n";
    let source = Source::read(text, |_| Ok(pool.as_bytes().to_vec())).unwrap();
    let mut session = Session::open_or_create(Location::Memory.open(Access::Create).unwrap(), source).unwrap();
    let plate = {
        let asked = session.ask(3).unwrap();
        csv(&session, &asked).unwrap()
    };
    let filled: Vec<String> =
        plate.lines().enumerate().map(|(row, line)| format!("{line}{}", ["", "1.5", "failed", "2"][row])).collect();
    let expected = [told(0, Some(Ok(1.5))), told(1, Some(Err("failed"))), told(2, Some(Ok(2.0)))];
    assert_eq!(entries(&session, &filled.join("\n")), expected);
}

#[test]
fn a_note_among_the_numbers_of_a_metric_is_named_and_the_numbers_are_kept() {
    let session = session();
    let text = "trial;value;pH;note\n0;1,5;9,5;x\n1;2;n.d.;7\n2;3;7,2;y\n";
    let read = read_as(&session, text.as_bytes(), &ColumnMap::default()).unwrap();
    assert_eq!((read.metrics, read.ignored), (vec!["pH".to_string()], vec!["note".to_string()]));
    assert_eq!(read.unread.iter().map(ToString::to_string).collect::<Vec<_>>(), ["line 3, column \"pH\""]);
    let metrics = |entry: &Entry| match entry {
        Entry::Trial(entry) => entry.metrics.clone(),
        Entry::External(_) => panic!("a trial"),
    };
    let kept: Vec<Vec<(String, f64)>> = read.entries.iter().map(metrics).collect();
    assert_eq!(kept, [vec![("pH".to_string(), 9.5)], vec![], vec![("pH".to_string(), 7.2)]]);
}

#[test]
fn columns_that_are_named_twice_or_lack_a_parameter_are_refused() {
    let session = named("name = \"s\"\n[space]\ntemp = { float = [0.0, 9.0] }\nconc = { float = [0.0, 9.0] }\n");
    let map = |names: &[(&str, &str)]| {
        let names = names.iter().map(|(name, column)| (name.to_string(), column.to_string())).collect();
        ColumnMap { names, is_external: true }
    };
    let refusal = |map: &ColumnMap, text: &str| read_as(&session, text.as_bytes(), map).unwrap_err()[0].to_string();
    let table = "T,conc,value\n1,2,3\n";
    assert!(refusal(&map(&[("temp", "T"), ("temp", "conc")]), table).contains("exclude each other"));
    assert!(refusal(&map(&[("temp", "T"), ("conc", "T")]), table).contains("exclude each other"));
    assert!(refusal(&map(&[]), table).contains("there is no column \"temp\""));
    assert!(refusal(&map(&[]), "temp,conc,Value\n1,2,3\n").contains("and one named \"Value\""));
    assert_eq!(read_as(&session, table.as_bytes(), &map(&[("temp", "T")])).unwrap().entries.len(), 1);
}
