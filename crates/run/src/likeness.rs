//! Whether failures of different trials are the same failure: what belongs to one trial alone is left out of the comparison.
//!
//! A mistake in a command often quotes what the command was given: `unrecognized arguments: --decay 0.001`. So the trial's own
//! settings and its number are masked, as are clocks and addresses of memory. Other numbers are not: trainings that diverge in
//! different epochs differ.

use manyhands_core::Value;

use crate::failure::{Cause, Failure};

/// Stands for what belongs to one trial.
const MASK: &str = "#";

/// The failure of a command without what belongs to its trial. Equal ones are the same failure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FailureKind {
    /// None where the command ended with exit code 0: what is no value may differ.
    cause: Option<Cause>,
    last_line: String,
}

impl FailureKind {
    /// Of a trial with these settings.
    pub fn of(failure: &Failure, trial: usize, params: &[(&str, Value)]) -> Self {
        let cause = match &failure.cause {
            Cause::NoValue(_) => None,
            cause => Some(cause.clone()),
        };
        let own: Vec<f64> = params.iter().filter_map(|(_, value)| value.number()).chain([trial as f64]).collect();
        let text = |value: &Value| match value {
            Value::Text(text) => Some(text.clone()),
            Value::Bool(is_so) => Some(is_so.to_string()),
            Value::Int(_) | Value::Float(_) => None,
        };
        let texts = params.iter().filter_map(|(_, value)| text(value));
        let unnamed = texts.fold(failure.last_line().to_string(), |line, text| without_text(&line, &text));
        let words: Vec<String> = unnamed.split_whitespace().map(|word| without_numbers(word, &own)).collect();
        Self { cause, last_line: words.join(" ") }
    }
}

/// A line in which a text, where it stands for itself, is masked.
fn without_text(line: &str, text: &str) -> String {
    let (mut masked, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(place) = rest.find(text).filter(|_| !text.is_empty()) {
        let (before, after) = (&rest[..place], &rest[place + text.len()..]);
        let is_joined = before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
        masked = masked + before + if is_joined { text } else { MASK };
        rest = after;
    }
    masked + rest
}

/// A word in which the numbers of a trial are masked, with either sign; a clock or an address of memory is masked as a whole.
fn without_numbers(word: &str, own: &[f64]) -> String {
    let is_clock = |c: char| c.is_ascii_digit() || "-:.,/TZ+[]()".contains(c);
    let separators = word.matches([':', '-', '/']).count();
    if (separators >= 2 && word.chars().all(is_clock)) || word.contains("0x") {
        return MASK.to_string();
    }
    let (mut masked, mut rest) = (String::with_capacity(word.len()), word);
    while let Some(place) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = number_length(&rest[place..]);
        let (before, number, after) = (&rest[..place], &rest[place..place + length], &rest[place + length..]);
        let is_own = own.iter().any(|own| is_written_as(own.abs(), number));
        masked = masked + before + if is_own { MASK } else { number };
        rest = after;
    }
    masked + rest
}

/// Whether a text is this number, or this number rounded. A rounded one must have a fraction or an exponent: short integers
/// are counts.
fn is_written_as(own: f64, text: &str) -> bool {
    let Ok(number) = text.parse::<f64>() else { return false };
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let exponent = text.split_once(['e', 'E']).and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    let decimals = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
    let half_unit = 0.5 * 10f64.powi(exponent.unwrap_or(0) - decimals);
    let is_rounded = (decimals > 0 || exponent.is_some()) && (own - number).abs() <= half_unit * (1.0 + 1e-9);
    own == number || is_rounded
}

/// How long the number is that a text begins with: digits, perhaps a fraction and an exponent.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut length = digits(text);
    if let Some(fraction) = text[length..].strip_prefix('.') {
        length += if digits(fraction) > 0 { 1 + digits(fraction) } else { 0 };
    }
    if let Some(exponent) = text[length..].strip_prefix(['e', 'E']) {
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let sign = exponent.len() - unsigned.len();
        length += if digits(unsigned) > 0 { 1 + sign + digits(unsigned) } else { 0 };
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Unreadable;

    /// The kind of a failure with exit code 2 of a trial with a rate, a number of layers and an optimizer.
    fn kind(trial: usize, rate: f64, layers: i64, optimizer: &str, stderr: &str) -> FailureKind {
        let optimizer = Value::Text(optimizer.to_string());
        let params = [("lr", Value::Float(rate)), ("layers", Value::Int(layers)), ("opt", optimizer)];
        FailureKind::of(&Failure::new(Cause::ExitCode(2), stderr), trial, &params)
    }

    #[test]
    fn lines_that_differ_in_what_a_trial_was_given_are_alike() {
        for (one, other) in [
            ("error: unrecognized arguments: --decay 0.001", "error: unrecognized arguments: --decay 2.5e-07"),
            ("no folder /data/run-3-layers4/adam.ckpt", "no folder /data/run-14-layers8/sgd.ckpt"),
            ("bad value -0.001, 'adam'", "bad value -0.00000025, 'sgd'"),
            ("lr=0.00 is bad", "lr=2.5e-07 is bad"),
            ("2026-11-18 10:31:07,123 ERROR no key lr", "2026-11-18 10:31:09,005 ERROR no key lr"),
            ("<Model object at 0x7f3a> is not callable", "<Model object at 0x55d0> is not callable"),
        ] {
            assert_eq!(kind(3, 0.001, 4, "adam", one), kind(14, 2.5e-7, 8, "sgd", other), "{one}");
        }
    }

    #[test]
    fn lines_that_differ_in_other_numbers_are_not_alike() {
        for (one, other) in [
            ("diverged in epoch 18", "diverged in epoch 21"),
            ("loss is 1.5e+30", "loss is 3.2e+31"),
            ("sgdish failed", "adamish failed"),
            ("no key lr", "no key layers"),
        ] {
            assert_ne!(kind(3, 0.001, 4, "adam", one), kind(14, 2.5e-7, 8, "sgd", other), "{one}");
        }
    }

    #[test]
    fn failures_are_alike_if_the_command_ended_so_and_its_last_line_of_standard_error_is_the_same() {
        let of = |failure: Failure| FailureKind::of(&failure, 0, &[]);
        let exit = |code, stderr: &str| of(Failure::new(Cause::ExitCode(code), stderr));
        let no_value = |line: &str| of(Failure::new(Cause::NoValue(Unreadable::NotAValue(line.to_string())), ""));
        assert_eq!(exit(1, "at 10:31\nKeyError: 'lr'\n\n"), exit(1, "KeyError: 'lr'  "));
        assert_eq!((exit(1, ""), no_value("loss 1")), (exit(1, ""), no_value("loss 2")));
        for other in [exit(2, "a"), exit(1, "b"), exit(1, ""), of(Failure::new(Cause::Signal(1), "a")), no_value("a")] {
            assert_ne!(exit(1, "a"), other);
        }
    }
}
