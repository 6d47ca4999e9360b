//! The value that a command prints: the last line of its standard output, a number or a JSON object with "value", whose
//! other numbers are kept as metrics.

use manyhands_core::text::{printable, quoted};
use manyhands_store::TrialResult;
use serde_json::Value as Json;

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

/// The most metrics of one trial.
const MOST_METRICS: usize = 1_000;

/// How many numbers that are not kept are named.
const NAMED: usize = 3;

/// The longest list whose numbers are metrics. A longer one is a curve.
const LONGEST_LIST: usize = 20;

/// The longest name of a metric, in characters.
const LONGEST_NAME: usize = 200;

/// What a command has printed as its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrintedValue {
    pub evaluation: TrialResult,
    /// The numbers that are not kept as metrics.
    pub dropped: DroppedNumbers,
}

/// Numbers that are not kept as metrics.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct DroppedNumbers {
    /// Because they are too many, or because of their names.
    pub unkept: NamedNumbers,
    /// Because they are not finite.
    pub not_finite: NamedNumbers,
}

/// Some numbers, the first of them by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct NamedNumbers {
    pub count: usize,
    pub names: Vec<String>,
}

impl NamedNumbers {
    fn add(&mut self, name: &str) {
        self.count += 1;
        if self.names.len() < NAMED {
            self.names.push(quoted(name));
        }
    }

    /// Their names, and how many there are beyond those; none if there are no numbers.
    fn list(&self) -> Option<String> {
        let (names, more) = (self.names.join(", "), self.count - self.names.len().min(self.count));
        match (self.count, more) {
            (0, _) => None,
            (_, 0) => Some(names),
            _ => Some(format!("{names} and {more} more")),
        }
    }
}

impl DroppedNumbers {
    /// What to say of them; nothing if there are none.
    pub fn text(&self) -> Option<String> {
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let not_finite = self
            .not_finite
            .list()
            .map(|names| format!("{names} {} no finite number and not kept as a metric", are(self.not_finite.count)));
        let unkept = self.unkept.list().map(|names| {
            format!(
                "{names} {} not kept as a metric: at most {MOST_METRICS} are, each with a name of its own of 1 to \
                 {LONGEST_NAME} characters without control characters, and lists of at most {LONGEST_LIST}",
                are(self.unkept.count)
            )
        });
        let all: Vec<String> = not_finite.into_iter().chain(unkept).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// The value in the last line of a command's output.
pub(crate) fn value_of(printed: &Printed) -> Result<PrintedValue, Unreadable> {
    if printed.is_cut {
        Err(Unreadable::TooLong { begins: shown(&printed.last_line) })
    } else {
        read_value(&printed.last_line)
    }
}

/// The value in a line.
pub(crate) fn read_value(line: &str) -> Result<PrintedValue, Unreadable> {
    let line = line.trim();
    if line.is_empty() {
        return Err(Unreadable::Nothing);
    }
    if let Ok(value) = line.parse::<f64>() {
        return finite(value, line)
            .map(|value| PrintedValue { evaluation: value.into(), dropped: DroppedNumbers::default() });
    }
    match read_json(line) {
        Ok(Json::Object(object)) => match object.get("value") {
            Some(Json::Number(number)) => {
                let value = finite(number.as_f64().unwrap_or(f64::NAN), &number.to_string())?;
                let mut metrics = MetricReader::default();
                metrics.read("", object.iter().filter(|(name, _)| *name != "value"));
                let MetricReader { metrics, dropped } = metrics;
                Ok(PrintedValue { evaluation: TrialResult { value, metrics }, dropped })
            }
            Some(other) => Err(match word_of(other) {
                Some(word) => Unreadable::NotFinite(word.to_string()),
                None => Unreadable::NotAValue(format!("\"value\": {}", shown(&other.to_string()))),
            }),
            None => Err(Unreadable::NotAValue(format!("an object without \"value\": {}", shown(line)))),
        },
        // Of a text that is meant as an object, the parser says what is wrong with it.
        Err(error) if line.starts_with('{') => {
            Err(Unreadable::NotAValue(format!("\"{}\", which cannot be read as JSON: {error}", shown(line))))
        }
        _ => Err(Unreadable::NotAValue(format!("\"{}\"", shown(line)))),
    }
}

/// Begins the text that stands for a number that is not finite. No program prints it in a text of its own.
const MARK: char = '\u{0}';

/// Reads JSON in which numbers that are not finite may stand, as Python writes them (NaN, Infinity; nan, inf): they become
/// marked texts, so that one such metric does not cost the value.
fn read_json(line: &str) -> serde_json::Result<Json> {
    serde_json::from_str(line).or_else(|error| serde_json::from_str(&quoted_words(line)).map_err(|_| error))
}

/// The word that a script wrote for a number that is not finite, if this is one.
fn word_of(value: &Json) -> Option<&str> {
    value.as_str()?.strip_prefix(MARK)
}

/// A text of JSON in which the words outside of its strings that stand for numbers that are not finite are marked texts.
fn quoted_words(line: &str) -> String {
    const WORDS: [&str; 8] = ["-Infinity", "Infinity", "-NaN", "NaN", "-nan", "nan", "-inf", "inf"];
    let (mut text, mut rest, mut is_inside) = (String::with_capacity(line.len() + 16), line, false);
    while let Some(next) = rest.chars().next() {
        let word = WORDS.into_iter().find(|word| !is_inside && rest.starts_with(word));
        let length = match (word, next) {
            (Some(word), _) => {
                text.push_str(&format!("\"\\u0000{word}\""));
                rest = &rest[word.len()..];
                continue;
            }
            // What is escaped does not end a string.
            (None, '\\') => next.len_utf8() + rest.chars().nth(1).map_or(0, char::len_utf8),
            _ => next.len_utf8(),
        };
        is_inside ^= next == '"';
        let (done, left) = rest.split_at(length);
        text.push_str(done);
        rest = left;
    }
    text
}

/// Collects the numbers of an object.
#[derive(Default)]
struct MetricReader {
    metrics: Vec<(String, f64)>,
    dropped: DroppedNumbers,
}

impl MetricReader {
    /// Reads the members of an object that has this name. Those of an object in it have both names, with a dot between
    /// them, and those of a short list their places, from 0; what is nothing of these is no metric.
    fn read<'a>(&mut self, of: &str, members: impl Iterator<Item = (&'a String, &'a Json)>) {
        for (name, member) in members {
            let is_nameable = of.len() + name.len() <= 4 * LONGEST_NAME;
            let name = || if of.is_empty() { name.clone() } else { format!("{of}.{name}") };
            match member {
                Json::Number(number) if is_nameable => self.keep(name(), number.as_f64()),
                Json::Object(object) if is_nameable => self.read(&name(), object.iter()),
                Json::Array(list) if is_nameable && list.len() <= LONGEST_LIST => {
                    let places: Vec<String> = (0..list.len()).map(|place| place.to_string()).collect();
                    self.read(&name(), places.iter().zip(list));
                }
                member if has_numbers(member) => self.dropped.unkept.add(&name()),
                other if word_of(other).is_some() => self.dropped.not_finite.add(&name()),
                _ => {}
            }
        }
    }

    fn keep(&mut self, name: String, number: Option<f64>) {
        let is_name = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
        let has_room = self.metrics.len() < MOST_METRICS;
        match number {
            Some(number) if is_name && has_room && self.metrics.iter().all(|(known, _)| *known != name) => {
                self.metrics.push((name, number));
            }
            _ => self.dropped.unkept.add(&name),
        }
    }
}

/// Whether there are numbers in it.
fn has_numbers(value: &Json) -> bool {
    match value {
        Json::Number(_) => true,
        Json::Object(object) => object.values().any(has_numbers),
        Json::Array(list) => list.iter().any(has_numbers),
        _ => false,
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

    fn read_number(line: &str) -> Result<f64, Unreadable> {
        read_value(line).map(|read| read.evaluation.value)
    }

    fn metrics(line: &str) -> (Vec<(String, f64)>, usize) {
        let read = read_value(line).map(|read| (read.evaluation.metrics, read.dropped.unkept.count));
        read.unwrap_or_default()
    }

    #[test]
    fn every_other_number_of_an_object_is_a_metric_in_its_order() {
        let line = r#"{"epochs":3,"value":1,"time":{"train":3.5,"eval":{"cpu":-1e-3},"list":[1]},"done":true,"x":null,"n":"4"}"#;
        let named =
            |all: &[(&str, f64)]| all.iter().map(|(name, number)| (name.to_string(), *number)).collect::<Vec<_>>();
        let kept = named(&[("epochs", 3.0), ("time.train", 3.5), ("time.eval.cpu", -1e-3), ("time.list.0", 1.0)]);
        assert_eq!(metrics(line), (kept, 0));
        assert_eq!(metrics("0.5"), (vec![], 0));
        assert_eq!(metrics(r#"{"value":2,"t":{"value":3}}"#), (named(&[("t.value", 3.0)]), 0));
        let lists = r#"{"value":2,"recall":[0.5,null,[0.25,{"a":7}]]}"#;
        assert_eq!(metrics(lists), (named(&[("recall.0", 0.5), ("recall.2.0", 0.25), ("recall.2.1.a", 7.0)]), 0));
    }

    #[test]
    fn a_long_list_is_no_row_of_metrics_and_is_named() {
        let list = |length: usize| {
            let numbers: Vec<String> = (0..length).map(|place| place.to_string()).collect();
            format!("{{\"value\":1,\"losses\":[{}]}}", numbers.join(","))
        };
        assert_eq!(metrics(&list(LONGEST_LIST)).0[19], ("losses.19".to_string(), 19.0));
        assert_eq!(metrics(&list(LONGEST_LIST + 1)), (vec![], 1));
        let said = read_value(&list(LONGEST_LIST + 1)).ok().and_then(|read| read.dropped.text()).unwrap_or_default();
        assert!(said.starts_with("\"losses\" is not kept"), "{said}");
    }

    #[test]
    fn what_cannot_be_kept_as_a_metric_is_counted_and_the_rest_is_kept() {
        let many: Vec<String> = (0..1_003).map(|i| format!("\"m{i}\":{i}")).collect();
        let (kept, dropped) = metrics(&format!("{{\"value\":1,{}}}", many.join(",")));
        assert_eq!((kept.len(), kept[999].clone(), dropped), (1_000, ("m999".to_string(), 999.0), 3));
        let long = "x".repeat(201);
        let line = format!(r#"{{"value":1,"":1,"a\nb":2,"{long}":3,"{long}":{{"c":4,"d":{{"e":5}}}},"ok":6}}"#);
        assert_eq!(metrics(&line), (vec![("ok".to_string(), 6.0)], 4), "the later of two equal keys counts");
        assert_eq!(metrics(r#"{"value":1,"a.b":1,"a":{"b":2}}"#), (vec![("a.b".to_string(), 1.0)], 1));
        let deep = format!("{}1{}", format!("{{\"{}\":", "k".repeat(7_000)).repeat(100), "}".repeat(100));
        assert_eq!(metrics(&format!("{{\"value\":1,\"deep\":{deep}}}")), (vec![], 1));
    }

    #[test]
    fn numbers_that_are_not_kept_are_named() {
        let said = |line: &str| read_value(line).ok().and_then(|read| read.dropped.text()).unwrap_or_default();
        assert_eq!(said(r#"{"value":1,"a":2,"b":"NaN"}"#), "");
        assert_eq!(said(r#"{"value":1,"loss":NaN}"#), "\"loss\" is no finite number and not kept as a metric");
        let many = r#"{"value":1,"a":NaN,"b":{"c":inf,"d":2,"e":-Infinity},"f":nan}"#;
        assert_eq!(said(many), "\"a\", \"b.c\", \"b.e\" and 1 more are no finite number and not kept as a metric");
        let twice = said(r#"{"value":1,"a.b":1,"a":{"b":2}}"#);
        assert!(twice.starts_with("\"a.b\" is not kept as a metric: at most 1000 are"), "{twice}");
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
            assert_eq!(read_number(line), Ok(value), "{line}");
        }
    }

    #[test]
    fn a_metric_that_is_not_finite_does_not_cost_the_value() {
        let line =
            r#"{"value": 0.5, "loss": NaN, "a": [Infinity], "b": {"c": -Infinity, "d": 2}, "e\"NaN": 3, "f": "NaN"}"#;
        let found = read_value(line).map(|printed| printed.evaluation);
        let metrics = vec![("b.d".to_string(), 2.0), ("e\"NaN".to_string(), 3.0)];
        assert_eq!(found, Ok(TrialResult { value: 0.5, metrics }));
    }

    #[test]
    fn a_value_that_is_not_finite_is_the_same_failure_alone_and_in_an_object() {
        for word in ["NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf"] {
            let refused = Err(Unreadable::NotFinite(word.to_string()));
            assert_eq!(read_number(word), refused);
            assert_eq!(read_number(&format!("{{\"loss\": NaN, \"value\": {word}}}")), refused);
        }
        let text = Unreadable::NotAValue("\"value\": \"NaN\"".to_string());
        assert_eq!(
            read_number("{\"value\": \"NaN\"}"),
            Err(text.clone()),
            "a text is none, also beside a number that is"
        );
        assert_eq!(read_number("{\"value\": \"NaN\", \"loss\": NaN}"), Err(text));
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
        let whole = value_of(&Printed { is_cut: false, ..printed }).map(|read| read.evaluation);
        assert_eq!(whole, Ok(3.0.into()));
    }

    proptest! {
        #![proptest_config(config(1000))]

        #[test]
        fn any_line_is_a_finite_value_or_refused(line in "\\PC*|[-+.0-9eE]*|\\{\"value\":[ -~]*\\}") {
            if let Ok(value) = read_number(&line) {
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
            match read_number(text.lines().last().unwrap_or_default()) {
                Ok(value) => {
                    prop_assert!(value.is_finite());
                    prop_assert_eq!(read_number(&format!("{value:?}")), Ok(value));
                }
                Err(unreadable) => {
                    let message = unreadable.to_string();
                    prop_assert!(!message.is_empty() && message.lines().count() == 1, "{}", message);
                }
            }
        }

        #[test]
        fn every_printed_number_is_read_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(read_number(&format!("{value:?}")), Ok(value));
            prop_assert_eq!(read_number(&format!("{{\"value\":{value:?}}}")), Ok(value));
        }
    }
}
