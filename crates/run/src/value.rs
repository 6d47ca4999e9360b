//! The value that a command prints: the last line of its standard output, a number or a JSON object with "value".

use manyhands_core::text::printable;

use crate::output::{LINE_LIMIT, Printed};

/// Why a line is not a value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unreadable {
    /// There is no line.
    #[error("the command printed nothing; the last line of its standard output must be the value")]
    Nothing,
    /// The line is something else.
    #[error("the last line must be a number or a JSON object with \"value\", got {0}")]
    NotAValue(String),
    /// The line is too long to be kept completely.
    #[error("the last line must be at most {} MiB long to be read as a value, it begins with \"{begins}\"", LINE_LIMIT >> 20)]
    TooLong {
        /// Its beginning.
        begins: String,
    },
    /// The number is not finite.
    #[error("the value must be a finite number, got {0}")]
    NotFinite(String),
}

/// How many characters of a line are shown.
const SHOWN: usize = 80;

/// The value in the last line of a command's output.
pub(crate) fn value_of(printed: &Printed) -> Result<f64, Unreadable> {
    if printed.is_cut {
        Err(Unreadable::TooLong { begins: shown(&printed.last_line) })
    } else {
        read_value(&printed.last_line)
    }
}

/// The value in a line.
pub(crate) fn read_value(line: &str) -> Result<f64, Unreadable> {
    let line = line.trim();
    if line.is_empty() {
        return Err(Unreadable::Nothing);
    }
    if let Ok(value) = line.parse::<f64>() {
        return finite(value, line);
    }
    match serde_json::from_str::<serde_json::Value>(line) {
        Ok(serde_json::Value::Object(object)) => match object.get("value") {
            Some(serde_json::Value::Number(number)) => finite(number.as_f64().unwrap_or(f64::NAN), &number.to_string()),
            Some(other) => Err(Unreadable::NotAValue(format!("\"value\": {}", shown(&other.to_string())))),
            None => Err(Unreadable::NotAValue(format!("an object without \"value\": {}", shown(line)))),
        },
        // Of a text that is meant as an object, the parser says what is wrong with it.
        Err(error) if line.starts_with('{') => {
            Err(Unreadable::NotAValue(format!("\"{}\", which cannot be read as JSON: {error}", shown(line))))
        }
        _ => Err(Unreadable::NotAValue(format!("\"{}\"", shown(line)))),
    }
}

fn finite(value: f64, text: &str) -> Result<f64, Unreadable> {
    if value.is_finite() { Ok(value) } else { Err(Unreadable::NotFinite(shown(text))) }
}

fn shown(text: &str) -> String {
    let clean = printable(&text.chars().take(SHOWN).collect::<String>());
    if text.chars().count() > SHOWN { clean + "..." } else { clean }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// Property tests of so many cases, the same ones on every run.
    pub(crate) fn config(cases: u32) -> ProptestConfig {
        let rng_seed = RngSeed::Fixed(0x6d61_6e79);
        ProptestConfig { cases, failure_persistence: None, rng_seed, ..ProptestConfig::default() }
    }

    #[test]
    fn numbers_and_objects_with_a_value_are_read() {
        for (line, value) in [
            ("1.5", 1.5),
            ("  -3e-7\r", -3e-7),
            ("7", 7.0),
            ("{\"value\": 0.1, \"epochs\": 3}", 0.1),
            ("{\"value\":-2}", -2.0),
        ] {
            assert_eq!(read_value(line), Ok(value), "{line}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_what_it_was() {
        for (line, said) in [
            ("", "printed nothing"),
            ("loss: 3", "got \"loss: 3\""),
            ("nan", "finite number, got nan"),
            ("-inf", "finite number, got -inf"),
            ("1e999", "finite number, got 1e999"),
            ("{\"value\": \"3\"}", "got \"value\": \"3\""),
            ("{\"value\": null}", "got \"value\": null"),
            ("{\"loss\": 3}", "an object without \"value\""),
            ("[3]", "got \"[3]\""),
            ("{\"value\": 1e999}", "which cannot be read as JSON: number out of range"),
            ("{'value': 3}", "which cannot be read as JSON: key must be a string"),
            ("1.5 2.5", "got \"1.5 2.5\""),
        ] {
            let refusal = read_value(line).map_err(|error| error.to_string());
            assert!(refusal.as_ref().is_err_and(|text| text.contains(said)), "{line}: {refusal:?}");
        }
    }

    #[test]
    fn a_line_that_was_cut_is_no_value() {
        let printed = Printed { last_line: "3.000".to_string(), is_cut: true, ..Printed::default() };
        let refusal = value_of(&printed).map_err(|error| error.to_string());
        let said = "the last line must be at most 1 MiB long to be read as a value, it begins with \"3.000\"";
        assert_eq!(refusal, Err(said.to_string()));
        assert_eq!(value_of(&Printed { is_cut: false, ..printed }), Ok(3.0));
    }

    proptest! {
        #![proptest_config(config(1000))]

        #[test]
        fn any_line_is_a_finite_value_or_refused(line in "\\PC*|[-+.0-9eE]*|\\{\"value\":[ -~]*\\}") {
            if let Ok(value) = read_value(&line) {
                prop_assert!(value.is_finite());
            }
        }

        #[test]
        fn a_damaged_line_is_a_finite_value_that_is_read_again_or_refused(
            line in prop::sample::select(vec!["0.25", "-3e-7", "{\"value\": 0.1, \"epochs\": 3}", "{\"a\": [1, {}], \"value\":-2e5}"]),
            at in 0usize..32,
            removed in 0usize..6,
            added in prop::sample::select(vec!["", "\"", "{", "}", ",", "\\", "\n", "\u{0}", "é", "nan", "1e400", "-1e308", "0x7f"]),
        ) {
            let start = at % line.len();
            let end = (start + removed).min(line.len());
            let text = [&line[..start], added, &line[end..]].concat();
            match read_value(text.lines().last().unwrap_or_default()) {
                Ok(value) => {
                    prop_assert!(value.is_finite());
                    prop_assert_eq!(read_value(&format!("{value:?}")), Ok(value));
                }
                Err(unreadable) => {
                    let message = unreadable.to_string();
                    prop_assert!(!message.is_empty() && message.lines().count() == 1, "{}", message);
                }
            }
        }

        #[test]
        fn every_printed_number_is_read_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(read_value(&format!("{value:?}")), Ok(value));
            prop_assert_eq!(read_value(&format!("{{\"value\":{value:?}}}")), Ok(value));
        }
    }
}
