//! Settings in tables: as they were suggested, rounded, or what a trial was really made with.

use super::*;

/// A number as a parameter's cell is read.
fn reader_value(number: f64) -> Value {
    if number.fract() == 0.0 { Value::Int(number as i64) } else { Value::Float(number) }
}

#[test]
fn a_changed_setting_is_the_actual_one_and_a_rounded_one_is_as_recorded() {
    let session = session();
    let temp = number(&session, 0, "temp");
    let changed = |cell: &str| only(&session, &format!("trial;temp;value\n0;{cell};1,5\n")).params;
    for digits in 4..=17 {
        let cell = format!("{temp:.*e}", digits - 1);
        assert_eq!(changed(&cell.replace('.', ",")), [], "{cell}");
    }
    assert_eq!(changed(&temp.to_string().replace('.', ",")), []);
    assert_eq!(changed(""), []);
    for digits in 1..=3 {
        let rounded: f64 = format!("{temp:.*e}", digits - 1).parse().unwrap();
        let expected = [("temp".to_string(), reader_value(rounded))];
        assert_eq!(changed(&rounded.to_string().replace('.', ",")), expected, "{digits} digits are what was set");
    }
    assert_eq!(changed("71,3"), [("temp".to_string(), Value::Float(71.3))]);
    assert_eq!(changed("71"), [("temp".to_string(), Value::Int(71))]);
    // One unit of the last digit is not rounding.
    let next = format!("{:.4}", temp + 1e-4);
    assert_eq!(changed(&next.replace('.', ",")), [("temp".to_string(), Value::Float(next.parse().unwrap()))]);
}

#[test]
fn zeros_that_a_spreadsheet_does_not_save_are_digits_too() {
    let mut session = named("name = \"s\"\n[space]\nx = { float = [0.0, 90.0] }\n");
    for x in [0.006859645, 71.0021, 50.004] {
        session.enqueue(&[vec![("x".to_string(), Value::Float(x))]]).unwrap();
    }
    session.ask(3).unwrap();
    let changed = |trial: usize, cell: &str| only(&session, &format!("trial,x,value\n{trial},{cell},1\n")).params.len();
    assert_eq!([changed(0, "0.00686"), changed(1, "71"), changed(2, "50")], [0; 3], "0.006860, 71.00 and 50.00");
    assert_eq!([changed(0, "0.0069"), changed(1, "71.1"), changed(2, "50.01")], [1; 3]);
}

#[test]
fn cells_that_are_as_they_were_written_do_not_decide_what_a_comma_means() {
    let session = session();
    let (temp, conc) = (number(&session, 0, "temp"), number(&session, 0, "conc"));
    let read = only(&session, &format!("trial;temp;conc;value\n0;{temp};{conc};3,5\n"));
    assert_eq!((read.params, read.outcome), (vec![], Some(Ok(3.5))));
    let read = only(&session, &format!("trial;temp;conc;value\n0;71,3;{conc};3,5\n"));
    assert_eq!(read.params, [("temp".to_string(), Value::Float(71.3))]);
    // A point that is not ours is one of the table.
    let said = faults(&session, &format!("trial;temp;conc;value\n0;71.3;{conc};3,5\n"));
    assert!(said.len() == 1 && said[0].contains("decimal comma"), "{said:?}");
}

#[test]
fn few_digits_of_a_number_on_a_grid_are_that_number_and_another_one_on_it_is_not() {
    let mut session =
        named("name = \"s\"\n[space]\nx = { float = [0.0, 1.0], points = 100 }\ny = { float = [0.0, 1.0] }\n");
    let (x, y) = (Value::Float(46.0 / 99.0), Value::Float(0.5));
    session.enqueue(&[vec![("x".to_string(), x), ("y".to_string(), y)]]).unwrap();
    session.ask(1).unwrap();
    let changed = |cell: &str| only(&session, &format!("trial,x,value\n0,{cell},1.5\n")).params;
    for cell in ["0.46", "0.465", "0.5", "0.4646"] {
        assert_eq!(changed(cell), [], "{cell}");
    }
    assert_eq!(changed("0"), [("x".to_string(), Value::Int(0))]);
    assert_eq!(changed("0.47"), [("x".to_string(), Value::Float(0.47))], "it is refused when it is recorded");
}

#[test]
fn a_plate_that_is_not_filled_in_takes_nothing_back() {
    let mut session = session();
    let suggested = format!("trial,temp,value\n0,{},\n", number(&session, 0, "temp"));
    let moved = [Entry::Trial(TrialEntry {
        params: vec![("temp".to_string(), Value::Float(71.3))],
        ..only(&session, "trial,value\n0,\n")
    })];
    session.record(&moved, OnConflict::Refuse).unwrap().unwrap();
    assert_eq!(only(&session, &suggested).params, []);
    // With a value the table says where that was measured.
    let filled = suggested.replace(",\n", ",1.5\n");
    assert_eq!(only(&session, &filled).params.len(), 1);
}

#[test]
fn a_table_whose_trials_were_all_made_far_from_their_suggestions_is_noticed() {
    let session = session();
    let at = |trial: usize, shift: f64| {
        let temp = number(&session, trial, "temp");
        let shift = if temp > 55.0 { -shift } else { shift };
        format!("{trial},{},1\n", temp + shift)
    };
    let is_noticed = |rows: &[String]| {
        let text = format!("trial,temp,value\n{}", rows.concat());
        read_as(&session, text.as_bytes(), &ColumnMap::default()).unwrap().is_all_elsewhere
    };
    assert!(is_noticed(&[at(0, 20.0), at(1, 20.0)]));
    assert!(!is_noticed(&[at(0, 2.0), at(1, 3.0)]), "settings that came out a little differently");
    assert!(!is_noticed(&[at(0, 20.0), at(1, 2.0)]) && !is_noticed(&[at(0, 20.0)]));
}

#[test]
fn categories_that_spreadsheets_write_otherwise_are_the_suggested_ones() {
    let mut session = named("name = \"s\"\n[space]\na = { choice = [\"0.5\", \"1.0\", \"2.50\", \" b\", \"b\"] }\n");
    let points = ["0.5", "1.0", "2.50", " b", "b"].map(|name| vec![("a".to_string(), Value::from(name))]);
    session.enqueue(&points).unwrap();
    session.ask(5).unwrap();
    let written = "trial;a;value\n0;0,5;1,5\n1;1;2,5\n2;2,5;3\n3;b;4\n4;b;5\n";
    for entry in entries(&session, written) {
        let Entry::Trial(entry) = entry else { panic!("{entry:?}") };
        assert_eq!(entry.params, [], "{entry:?}");
    }
    assert_eq!(only(&session, "trial,a,value\n0,2.5,1\n").params, [("a".to_string(), "2.50".into())]);
}

#[test]
fn spreadsheets_round_half_up_what_is_half_in_decimal() {
    // 1.0005 is stored as 1.00049999..., and every spreadsheet shows 1.001.
    let mut session = named("name = \"s\"\n[space]\nx = { float = [0.0, 3.0] }\n");
    for half in [1.0005, 2.0015, 1.00045, 0.010125] {
        session.enqueue(&[vec![("x".to_string(), Value::Float(half))]]).unwrap();
        let trial = session.ask(1).unwrap()[0].trial;
        let digits = half.to_string().trim_start_matches(['0', '.']).replace('.', "").len() - 1;
        let unit = 10f64.powi(half.log10().floor() as i32 - digits as i32 + 1);
        let (down, up) = ((half / unit).floor() * unit, (half / unit).ceil() * unit);
        for cell in [down, up].map(|number| format!("{number:.*e}", digits - 1)) {
            assert_eq!(only(&session, &format!("trial,x,value\n{trial},{cell},1\n")).params, [], "{half} as {cell}");
        }
    }
}

#[test]
fn a_number_of_a_grid_that_is_written_with_fewer_digits_is_the_suggested_one() {
    // 0.57 of 100 is 56.99999999999999.
    let even = |name: &str| format!("{name} = {{ float = [0.0, 100.0], points = 101 }}\n");
    let space: String = ["a", "b", "c"].map(even).concat();
    let text = "[[constraint]]\nsum = { a = 1.0, b = 1.0, c = 1.0 }\nequals = 100.0\n";
    let mut session = named(&format!("name = \"s\"\n[space]\n{space}{text}"));
    let point =
        |b: f64| [("a", 5.0), ("b", b), ("c", 38.0)].map(|(name, x)| (name.to_string(), Value::Float(x))).to_vec();
    session.enqueue(&[point(57.0), point(56.99999999999999)]).unwrap();
    session.ask(2).unwrap();
    assert_eq!(session.params(0).unwrap(), session.params(1).unwrap());
    let read = read_as(&session, b"trial,a,b,c,value\n0,5,57,38,2.5\n", &ColumnMap::default()).unwrap();
    session.record(&read.entries, OnConflict::Refuse).unwrap().unwrap();
    assert_eq!((session.trial(0).unwrap().value(), session.trial(0).unwrap().amendments()), (Some(2.5), 0));
}
