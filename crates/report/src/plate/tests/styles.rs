//! Plates as any spreadsheet saves them: whatever its style, they say what was filled in.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// How a spreadsheet saves a table.
#[derive(Debug, Clone)]
struct Style {
    separator: char,
    decimal: char,
    bom: bool,
    crlf: bool,
    quotes: bool,
    shouting: bool,
    /// How many digits numbers of parameters are shown with.
    digits: usize,
    order: Vec<usize>,
    blank_rows: bool,
}

fn style(columns: usize) -> impl Strategy<Value = Style> {
    let marks = prop_oneof![Just((',', '.')), Just((';', '.')), Just((';', ',')), Just(('\t', '.')), Just(('\t', ','))];
    let order = Just((0..columns).collect::<Vec<_>>()).prop_shuffle();
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (marks, order, 4..=17usize, flags).prop_map(|((separator, decimal), order, digits, flags)| {
        let (bom, crlf, quotes, shouting, blank_rows) = flags;
        Style { separator, decimal, bom, crlf, quotes, shouting, digits, order, blank_rows }
    })
}

impl Style {
    fn save(&self, plate: &str, values: &[String]) -> Vec<u8> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(plate.as_bytes());
        let end = if self.crlf { "\r\n" } else { "\n" };
        let mut text = if self.bom { "\u{feff}".to_string() } else { String::new() };
        for (row, record) in reader.records().enumerate() {
            let record = record.unwrap();
            let last = record.len() - 1;
            let filled = |column: usize| match (row, column == last) {
                (0, _) => record[column].to_string(),
                (_, true) => values[row - 1].clone(),
                (_, false) => self.param(&record[column]),
            };
            let cells: Vec<String> = self.order.iter().map(|column| self.cell(&filled(*column))).collect();
            text += &format!("{}{end}", cells.join(&self.separator.to_string()));
            if self.blank_rows {
                text += &format!("{}{end}", self.separator.to_string().repeat(last));
            }
        }
        text.into_bytes()
    }

    /// A parameter as it is shown.
    fn param(&self, cell: &str) -> String {
        match cell.parse::<f64>() {
            Ok(number) if number.fract() != 0.0 => {
                // A column of a spreadsheet has so many decimals, also where they are zero.
                let decimals = self.digits as i32 - 1 - number.abs().log10().floor() as i32;
                format!("{number:.*}", decimals.max(0) as usize)
            }
            _ if self.shouting && (cell == "true" || cell == "false") => cell.to_uppercase(),
            _ => cell.to_string(),
        }
    }

    fn cell(&self, cell: &str) -> String {
        let is_number = cell.parse::<f64>().is_ok();
        let text = if is_number { cell.replace('.', &self.decimal.to_string()) } else { cell.to_string() };
        if self.quotes || text.contains(self.separator) { format!("\"{text}\"") } else { text }
    }
}

/// What is written into the column value, and what it says.
fn value() -> impl Strategy<Value = (String, Option<Result<f64, &'static str>>)> {
    prop_oneof![
        Just((String::new(), None)),
        Just(("failed".to_string(), Some(Err("failed")))),
        Just(("Failed: spilled, twice".to_string(), Some(Err("spilled, twice")))),
        (-1e6..1e6f64).prop_map(|value| (value.to_string(), Some(Ok(value)))),
        (-1000..1000i64).prop_map(|value| (value.to_string(), Some(Ok(value as f64)))),
        (-999..999i64).prop_map(|value| (format!("{:.1}", value as f64 / 10.0), Some(Ok(value as f64 / 10.0)))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_plate_that_was_filled_in_and_saved_in_any_style_says_the_values_and_no_other_setting(
        seed in 0u64..50, style in style(9), values in prop::collection::vec(value(), 6),
    ) {
        let mut session = named(&STUDY.replace("seed = 7", &format!("seed = {seed}")));
        let asked = session.ask(6).unwrap();
        let plate = csv(&session, &asked).unwrap();
        let cells: Vec<String> = values.iter().map(|(cell, _)| cell.clone()).collect();
        let saved = style.save(&plate, &cells);
        let text = String::from_utf8_lossy(&saved).into_owned();
        match read_as(&session, &saved, &ColumnMap::default()) {
            Ok(read) => {
                let expected: Vec<Entry> =
                    values.iter().enumerate().map(|(trial, (_, outcome))| told(trial, *outcome)).collect();
                prop_assert_eq!(read.entries, expected, "{}", text);
                prop_assert!(read.metrics.is_empty() && read.ignored.is_empty());
            }
            // A number that can be read in two ways is never guessed.
            Err(faults) => prop_assert!(faults.iter().all(|fault| fault.to_string().contains("can be read as")), "{faults:?} {text}"),
        }
    }
}
