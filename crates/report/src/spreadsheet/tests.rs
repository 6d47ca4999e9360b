//! Tables of every make are read as they were meant, or refused: never as other numbers.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

/// All cells, with the line of each row.
fn cells(text: &[u8]) -> Vec<(u64, Vec<String>)> {
    Spreadsheet::read(text).unwrap().rows.into_iter().map(|row| (row.line, row.cells)).collect()
}

fn refusal(text: &[u8]) -> (String, String) {
    let error = Spreadsheet::read(text).unwrap_err();
    (error.to_string(), error.hint.unwrap_or_default())
}

/// The numbers of a column named `value`, or the first refusal with its hint.
fn values(text: &str) -> Result<Vec<f64>, (String, String)> {
    let table = Spreadsheet::read(text.as_bytes()).unwrap();
    let value = table.column("value").unwrap();
    let read = || {
        let numbers = table.numbers_in(&[value])?;
        table
            .rows()
            .iter()
            .filter_map(|row| numbers.number(row, value).transpose())
            .collect::<Result<Vec<f64>, BadSpreadsheet>>()
    };
    read().map_err(|error| (error.to_string(), error.hint.unwrap_or_default()))
}

#[test]
fn the_header_says_what_separates_the_cells() {
    for text in ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "sep=;\na;b\n1;2\n", "\"sep=\t\"\r\na\tb\r\n1\t2"] {
        let table = Spreadsheet::read(text.as_bytes()).unwrap();
        assert_eq!(
            (table.header(), &table.rows()[0].cells[..]),
            (&["a".into(), "b".into()][..], &["1".into(), "2".into()][..])
        );
    }
    // Quotes hide what is between them, and a quote inside of a cell hides nothing.
    assert_eq!(Spreadsheet::read(b"\"a, mm\";b\n1;2\n").unwrap().header(), ["a, mm", "b"]);
    assert_eq!(Spreadsheet::read(b"pipe 5\",b\n1,2\n").unwrap().header(), ["pipe 5\"", "b"]);
    assert_eq!(Spreadsheet::read(b"sep=;\na, mm;b\n1;2\n").unwrap().header(), ["a, mm", "b"]);
    assert_eq!(Spreadsheet::read(b"value\n71,3\n").unwrap().rows()[0].cells, ["71,3"]);
    let (message, hint) = refusal(b"\na, mm;b\n1;2\n");
    assert_eq!(message, "line 2: the header has both a comma and a semicolon between its names");
    assert!(hint.contains("sep=;"), "{hint}");
    assert_eq!(refusal(b"sep=|\na|b\n").0, "line 1: sep= must be followed by a comma, a semicolon or a tab, got \"|\"");
}

#[test]
fn rows_know_their_lines_and_blank_ones_are_left_out() {
    let text = b"\n;;\n x ;y;;\n\n1;\"two\nlines\";;\r\n;;;\n\"\";\n  \n2\n";
    let expected = [(5, vec!["1".into(), "two\nlines".into()]), (10, vec!["2".into()])];
    assert_eq!(cells(text), expected);
    let returns = String::from_utf8(text.to_vec()).unwrap().replace("\r\n", "\n").replace('\n', "\r");
    assert_eq!(cells(returns.as_bytes()), expected);
    assert_eq!(cells(b";;\n,\nvalue\n1\n"), [(4, vec!["1".into()])]);
    // A table that does not begin in the first column.
    assert_eq!(cells(b",x,,y\n,1,,2\n"), [(2, vec!["1".into(), "2".into()])]);
}

#[test]
fn what_is_no_table_is_refused_with_its_place() {
    for empty in [&b""[..], b"\n\n", b";;\n", b"sep=;", b"\xef\xbb\xbf"] {
        assert!(refusal(empty).0.starts_with("it is empty; a header"), "{empty:?}");
    }
    let twice = "line 2: column 1 (A) and column 3 (C) are both named \"x\"";
    assert_eq!(refusal(b"\n x,y,x\n1,2,3\n").0, twice);
    let (message, hint) = refusal(b"trial,value\n\n0,71,3\n");
    assert_eq!(message, "line 3: column 3 (C) has no name in the header, and the cell \"3\"");
    assert!(hint.contains("quotes") && hint.contains("semicolons"), "{hint}");
    assert_eq!(
        refusal(b"trial,value,\n0,71,3\n").0,
        "line 2: column 3 (C) has no name in the header, and the cell \"3\""
    );
    let open = "line 3: a quote opens a cell of the row that begins here, and none closes it";
    assert_eq!(refusal(b"x;y\n1;2\n3;\"4\n5;6\n").0, open);
}

#[test]
fn encodings_of_spreadsheets_are_read_and_others_are_refused() {
    let text = "größe;value\r\n−1;2\r\n";
    let utf16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let marked = |mark: &[u8], rest: Vec<u8>| [mark, &rest].concat();
    for bytes in [
        text.as_bytes().to_vec(),
        marked(b"\xef\xbb\xbf", text.as_bytes().to_vec()),
        marked(b"\xff\xfe", utf16(u16::to_le_bytes)),
        marked(b"\xfe\xff", utf16(u16::to_be_bytes)),
    ] {
        assert_eq!(Spreadsheet::read(&bytes).unwrap().header(), ["größe", "value"]);
        assert_eq!(cells(&bytes), [(2, vec!["−1".into(), "2".into()])]);
    }
    assert_eq!(Spreadsheet::read(b"gr\xf6\xdfe \x80;value\n").unwrap().header(), ["größe €", "value"]);
    assert!(refusal(b"a;b\r\n1;gr\x81n\n").0.starts_with("line 2: has the byte 0x81, which is neither UTF-8"));
    assert!(refusal(b"a;b\n1;\0\n").0.starts_with("line 2: has a NUL character"));
    assert!(refusal(b"\xff\xfea").0.contains("is UTF-16, and it is not"));
    assert!(refusal(b"\xef\xbb\xbfa\xff").0.contains("is UTF-8, and it is not"));
    let (message, hint) = refusal(b"PK\x03\x04...");
    assert!(message.contains("is a workbook") && hint.contains("CSV"), "{message} {hint}");
}

#[test]
fn a_comma_is_what_the_other_numbers_say_it_is() {
    let read = |cells: &[&str]| values(&format!("trial\tvalue\n0\t{}\n", cells.join("\n0\t")));
    assert_eq!(
        read(&["71,3", "1,234", "1e-3", "+1", "−2,50", "5", ",5"]).unwrap(),
        [71.3, 1.234, 1e-3, 1.0, -2.5, 5.0, 0.5]
    );
    assert_eq!(read(&["0.5", "1.234", "1E-3", "-.5", "5."]).unwrap(), [0.5, 1.234, 1e-3, -0.5, 5.0]);
    assert_eq!(read(&["1.234,5", "1.234", "0,5", "1.234.567"]).unwrap(), [1234.5, 1234.0, 0.5, 1_234_567.0]);
    assert_eq!(read(&["1,234.5", "1,234", "0.5", "-1,234,567"]).unwrap(), [1234.5, 1234.0, 0.5, -1_234_567.0]);
    assert_eq!(read(&["1,234E+02", "1,234"]).unwrap(), [123.4, 1.234]);
    // Nobody writes thousands so.
    assert_eq!(read(&["0,123", "1234,567", "1,234"]).unwrap(), [0.123, 1234.567, 1.234]);
    // Where commas separate the cells, points are decimal points.
    assert_eq!(values("trial,value\n0,1.234\n").unwrap(), [1.234]);
    assert_eq!(values("trial,value\n0,\"71,3\"\n1,\"1,234\"\n").unwrap(), [71.3, 1.234]);
}

#[test]
fn a_number_that_can_be_read_in_two_ways_is_refused_with_both() {
    for (text, ways, hint) in [
        (
            "trial;value\n0;1,234\n",
            "\"1,234\" can be read as 1.234 and as 1234: no other number",
            "write 1,2340 if it has a decimal comma, and 1234",
        ),
        ("trial\tvalue\n0\t-12.345\n", "\"-12.345\" can be read as -12.345 and as -12345", "write -12.3450 if"),
        ("trial,value\n0,\"1,234\"\n", "\"1,234\" can be read as 1.234 and as 1234", "write 1,2340 if"),
        (
            "trial;value\n0;71.3\n1;1,234\n",
            "its comma is no decimal point, as \"71.3\" has (line 2, column \"value\")",
            "write 1.234 or 1234",
        ),
        ("trial;value\n0;71,3\n1;1.234\n", "its point is no decimal comma, as \"71,3\" has", "write 1,234 or 1234"),
        ("value\n1.234\n", "can be read as", "another number of decimals"),
    ] {
        let refused = values(text).unwrap_err();
        assert!(refused.0.contains(ways) && refused.1.contains(hint), "{text}: {refused:?}");
    }
    let mixed = values("trial;value\n0;71,3\n1;70.25\n").unwrap_err();
    let both = "line 3, column \"value\": \"70.25\" is of a table with decimal points, and \"71,3\" (line 2, column \"value\") of one with \
                decimal commas";
    assert_eq!((mixed.0.as_str(), mixed.1.as_str()), (both, "write all numbers of a table in one way"));
}

#[test]
fn what_is_no_number_is_refused_and_what_it_must_be_is_said() {
    for (cell, allowed) in [
        ("x", "a number"),
        ("1;5", "a number"),
        ("5 mg", "a number"),
        ("1.5,2", "a number"),
        ("1,23,456", "a number"),
        ("-", "a number"),
        ("0x1F", "a number"),
        ("#N/A", "a number"),
        ("NaN", "a finite number"),
        ("-inf", "a finite number"),
        ("Infinity", "a finite number"),
        ("1e999", "a finite number"),
        ("50 %", "a number without a percent sign"),
        ("1 234,5", "a number in one piece"),
        ("1\u{a0}234", "a number in one piece"),
        ("1'234.5", "a number in one piece"),
    ] {
        let refused = values(&format!("trial\tvalue\n0\t\"{cell}\"\n")).unwrap_err().0;
        assert_eq!(refused, format!("line 2, column \"value\": must be {allowed}, got {}", quoted(cell)));
    }
}

#[test]
fn integers_are_exact_and_fractions_are_no_integers() {
    let table =
        Spreadsheet::read("n;x\n9007199254740993;0,5\n−3;1\n2,0;1\n1e3;1\n;1\n2,5;1\n1e300;1\n".as_bytes()).unwrap();
    let numbers = table.numbers_in(&[0, 1]).unwrap();
    let read: Vec<_> =
        table.rows().iter().map(|row| numbers.integer(row, 0).map_err(|error| error.to_string())).collect();
    assert_eq!(read[..5], [Some(9_007_199_254_740_993), Some(-3), Some(2), Some(1000), None].map(Ok));
    assert_eq!(read[5], Err("line 7, column \"n\": must be an integer, got \"2,5\"".to_string()));
    assert_eq!(read[6], Err("line 8, column \"n\": must be an integer, got \"1e300\"".to_string()));
}

/// How a table is written.
#[derive(Debug, Clone)]
struct Writing {
    separator: char,
    is_stated: bool,
    mark: char,
    has_groups: bool,
    quotes_all: bool,
    encoding: &'static str,
    line_end: &'static str,
    blank: Vec<usize>,
    trailing: usize,
}

fn writing() -> impl Strategy<Value = Writing> {
    let cells = (select(vec![',', ';', '\t']), any::<bool>(), select(vec!['.', ',']), any::<bool>(), any::<bool>());
    let file = (select(vec!["utf8", "marked", "le", "be", "1252"]), select(vec!["\n", "\r\n", "\r"]));
    (cells, file, proptest::collection::vec(0..4_usize, 0..4), 0..3_usize).prop_map(|(cells, file, blank, trailing)| {
        let (separator, is_stated, mark, has_groups, quotes_all) = cells;
        let (encoding, line_end) = file;
        Writing { separator, is_stated, mark, has_groups, quotes_all, encoding, line_end, blank, trailing }
    })
}

impl Writing {
    /// A number; its thousands set apart if that is the way.
    fn number(&self, value: f64) -> String {
        let text = value.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
        let between = if self.mark == '.' { "," } else { "." };
        let mut shown = String::from(sign);
        for (index, digit) in digits.chars().enumerate() {
            if self.has_groups && index > 0 && (digits.len() - index).is_multiple_of(3) {
                shown += between;
            }
            shown.push(digit);
        }
        if fraction.is_empty() { shown } else { format!("{shown}{}{fraction}", self.mark) }
    }

    fn cell(&self, text: &str) -> String {
        if self.quotes_all || text.contains(self.separator) { format!("\"{text}\"") } else { text.to_string() }
    }

    fn line(&self, cells: impl Iterator<Item = String>) -> String {
        let separator = self.separator.to_string();
        cells.collect::<Vec<_>>().join(&separator) + &separator.repeat(self.trailing) + self.line_end
    }

    fn bytes(&self, header: &[String], rows: &[Vec<f64>]) -> Vec<u8> {
        let mut text = if self.is_stated { format!("sep={}{}", self.separator, self.line_end) } else { String::new() };
        let quoted = |name: &String| format!("\"{}\"", name.replace('\n', self.line_end).replace('"', "\"\""));
        text += &self.line(header.iter().map(quoted));
        for (index, row) in rows.iter().enumerate() {
            text += &self.line(row.iter().map(|value| self.cell(&self.number(*value))));
            for _ in self.blank.iter().filter(|place| **place == index) {
                text += &self.line(header.iter().map(|_| String::new()));
            }
        }
        match self.encoding {
            "utf8" => text.into_bytes(),
            "marked" => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            "le" => [vec![0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
            "be" => [vec![0xfe, 0xff], text.encode_utf16().flat_map(u16::to_be_bytes).collect()].concat(),
            _ => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect(),
        }
    }

    /// Whether every number must be read: one decides what the marks mean, and none has thousands.
    fn is_clear(&self, rows: &[Vec<f64>]) -> bool {
        let decides = |value: &f64| value.abs() < 1.0 && value.fract() != 0.0;
        !self.has_groups && (rows.iter().flatten().any(decides) || (self.separator, self.mark) == (',', '.'))
    }
}

/// Numbers of many lengths, among them those that look like thousands.
fn number() -> impl Strategy<Value = f64> {
    let digits = (-9_999_999..9_999_999_i64, 0..6_u32)
        .prop_map(|(digits, decimals)| format!("{digits}e-{decimals}").parse::<f64>().unwrap());
    prop_oneof![digits, (1000..999_999_i64).prop_map(|n| n as f64 / 1000.0), (0..99_999_i64).prop_map(|n| n as f64)]
}

#[test]
fn a_table_written_in_any_way_gives_its_numbers_or_is_refused() {
    let names = proptest::collection::vec("[a-zéö;,\" \n\t]{0,5}[a-z]", 3);
    let rows = proptest::collection::vec(proptest::collection::vec(number(), 3), 1..4);
    let mut read = [0, 0];
    let counts = std::cell::RefCell::new(&mut read);
    let claim = |(writing, names, rows): (Writing, Vec<String>, Vec<Vec<f64>>)| {
        // Commas that separate cells are taken for a sign of decimal points, which is wrong for these tables alone.
        prop_assume!(!(writing.separator == ',' && writing.mark == ',' && writing.has_groups));
        let header: Vec<String> = names.iter().enumerate().map(|(index, name)| format!("{name}{index}")).collect();
        let table = Spreadsheet::read(&writing.bytes(&header, &rows)).unwrap();
        let found = |name: &String| table.column(name.trim()).unwrap();
        let columns: Vec<usize> = header.iter().map(found).collect();
        prop_assert_eq!(table.rows().len(), rows.len());
        let numbers = table.numbers_in(&columns).unwrap();
        for (row, expected) in table.rows().iter().zip(&rows) {
            for (column, expected) in columns.iter().zip(expected) {
                let number = numbers.number(row, *column);
                counts.borrow_mut()[usize::from(number.is_ok())] += 1;
                match number {
                    Ok(number) => prop_assert_eq!(number, Some(*expected)),
                    Err(error) => {
                        prop_assert!(!writing.is_clear(&rows), "{error}");
                        prop_assert!(error.reason.contains("can be read as"), "{error}");
                    }
                }
            }
        }
        Ok(())
    };
    runner(4000).run(&(writing(), names, rows), claim).unwrap();
    assert!(read[1] > 10 * read[0] && read[0] > 100, "{read:?}");
}

#[test]
fn columns_are_found_in_any_order() {
    let rows = proptest::collection::vec(proptest::collection::vec(number(), 4), 1..4);
    let order = Just(vec![0, 1, 2, 3]).prop_shuffle();
    let claim = |(rows, order): (Vec<Vec<f64>>, Vec<usize>)| {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut text = line(order.iter().map(|index| format!("c{index}")).collect());
        for row in &rows {
            text += &line(order.iter().map(|index| row[*index].to_string()).collect());
        }
        let table = Spreadsheet::read(text.as_bytes()).unwrap();
        let columns: Vec<usize> = (0..4).map(|index| table.column(&format!("c{index}")).unwrap()).collect();
        let numbers = table.numbers_in(&columns).unwrap();
        for (row, expected) in table.rows().iter().zip(&rows) {
            let read: Vec<f64> = columns.iter().map(|column| numbers.number(row, *column).unwrap().unwrap()).collect();
            prop_assert_eq!(&read, expected);
        }
        Ok(())
    };
    runner(200).run(&(rows, order), claim).unwrap();
}

/// Reads all that there is to be read.
fn read_all(bytes: &[u8]) {
    let Ok(table) = Spreadsheet::read(bytes) else { return };
    let columns: Vec<usize> = (0..table.header().len()).collect();
    let Ok(numbers) = table.numbers_in(&columns) else { return };
    let mut line = 0;
    for row in table.rows() {
        assert!(row.line() > line);
        line = row.line();
        for column in columns.iter().chain(&[columns.len()]) {
            let number = numbers.number(row, *column);
            assert!(number.iter().flatten().all(|number| number.is_finite()));
            let _ = numbers.integer(row, *column);
        }
    }
}

#[test]
fn no_bytes_panic() {
    let claim = |(mark, bytes): (Vec<u8>, Vec<u8>)| {
        read_all(&[mark, bytes].concat());
        Ok(())
    };
    let mark = select(vec![vec![], vec![0xef, 0xbb, 0xbf], vec![0xff, 0xfe], vec![0xfe, 0xff]]);
    runner(2000).run(&(mark, any::<Vec<u8>>()), claim).unwrap();
    let claim = |text: String| {
        read_all(text.as_bytes());
        Ok(())
    };
    runner(8000).run(&"(sep=)?[0-9ae.,;\t\"\r\n +'%\u{2212}\u{a0}\u{feff}-]{0,60}", claim).unwrap();
}
