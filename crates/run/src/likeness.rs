//! Whether failures of different trials are the same failure: what belongs to one trial alone is left out of the comparison.
//!
//! A mistake in a command often quotes what the command was given: `unrecognized arguments: --decay 0.001`. So two lines are
//! the same if they differ only where each of them has one of its own trial's settings, or its number, and in times, addresses
//! of memory and temporary folders. Other numbers must be the same: trainings that diverge in different epochs differ.

use manyhands_core::Value;

use crate::failure::{Cause, Failure};

/// The failure of a command, with what of it belongs to its trial.
#[derive(Debug, Clone)]
pub(crate) struct FailureKind {
    /// None where the command ended with exit code 0: what is no value may differ.
    cause: Option<Cause>,
    last_line: Vec<LinePart>,
}

/// A part of a line: a number, a word, or a single character.
#[derive(Debug, Clone)]
struct LinePart {
    text: String,
    /// Whether it is one of the trial's settings, or says when or where something was.
    is_own: bool,
}

impl FailureKind {
    /// Of a trial with these settings.
    pub fn of(failure: &Failure, trial: usize, params: &[(&str, Value)]) -> Self {
        let cause = match &failure.cause {
            Cause::NoValue(_) => None,
            cause => Some(cause.clone()),
        };
        let numbers: Vec<f64> = params.iter().filter_map(|(_, value)| value.number()).chain([trial as f64]).collect();
        let mut last_line = Vec::new();
        for word in failure.last_line().split_whitespace() {
            match is_of_the_moment(word) {
                true => last_line.push(LinePart { text: word.to_string(), is_own: true }),
                false => last_line.extend(parts(word, &numbers)),
            }
            // Words are apart, however many spaces there are.
            last_line.push(LinePart { text: " ".to_string(), is_own: false });
        }
        mark_times(&mut last_line);
        let text = |value: &Value| match value {
            Value::Text(text) => Some(text.clone()),
            Value::Bool(is_so) => Some(is_so.to_string()),
            Value::Int(_) | Value::Float(_) => None,
        };
        params.iter().filter_map(|(_, value)| text(value)).for_each(|text| join(&mut last_line, &text));
        Self { cause, last_line }
    }

    /// Whether it is the same failure as that of another trial.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&LinePart, &LinePart)| (one.is_own && other.is_own) || one.text == other.text;
        self.cause == other.cause
            && self.last_line.len() == other.last_line.len()
            && self.last_line.iter().zip(&other.last_line).all(is_same)
    }
}

/// Joins the parts that are together one of the trial's texts.
fn join(line: &mut Vec<LinePart>, text: &str) {
    let pieces: Vec<String> = parts(text, &[]).map(|part| part.text).collect();
    let is_here = |line: &[LinePart], place: usize| {
        let here = line.get(place..place + pieces.len());
        !pieces.is_empty() && here.is_some_and(|here| here.iter().zip(&pieces).all(|(part, piece)| part.text == *piece))
    };
    let mut place = 0;
    while place < line.len() {
        if is_here(line, place) {
            line.splice(place..place + pieces.len(), [LinePart { text: text.to_string(), is_own: true }]);
        }
        place += 1;
    }
}

/// The parts of a text; the numbers among them that are the trial's, with either sign, are its own.
fn parts<'a>(text: &'a str, own: &'a [f64]) -> impl Iterator<Item = LinePart> + 'a {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let length = if first.is_ascii_digit() { number_length(rest) } else { letters.max(first.len_utf8()) };
        let (text, after) = rest.split_at(length);
        rest = after;
        let is_own = first.is_ascii_digit() && own.iter().any(|own| is_written_as(own.abs(), text));
        Some(LinePart { text: text.to_string(), is_own })
    })
}

/// Whether a word is a clock, an address of memory or in a temporary folder.
fn is_of_the_moment(word: &str) -> bool {
    let is_clock = |c: char| c.is_ascii_digit() || "-:.,/TZ+[]()".contains(c);
    let separators = word.matches([':', '-', '/']).count();
    (separators >= 2 && word.chars().all(is_clock)) || word.contains("0x") || word.contains("/tmp/tmp")
}

/// Marks dates and times within words: three numbers with the same mark between them, as 21-04-16; a date of eight digits and
/// what follows it, as 20261118-210416; seconds since 1970. Counts of steps are none of these.
fn mark_times(line: &mut [LinePart]) {
    for start in 0..line.len() {
        let texts: Vec<String> = line[start..].iter().take(5).map(|part| part.text.clone()).collect();
        let text = |i: usize| texts.get(i).map_or("", String::as_str);
        let is_number = |i: usize| text(i).starts_with(|c: char| c.is_ascii_digit());
        let is_clock = [0, 2, 4].into_iter().all(is_number) && ["-", ":"].contains(&text(1)) && text(1) == text(3);
        let own: &[usize] = if is_clock {
            &[0, 2, 4]
        } else if is_date(text(0)) && is_integer(text(2), 4..=6) {
            &[0, 2]
        } else if is_date(text(0)) || is_integer(text(0), 10..=19) {
            &[0]
        } else {
            &[]
        };
        own.iter().for_each(|i| line[start + i].is_own = true);
    }
}

/// Whether a text is an integer of so many digits.
fn is_integer(text: &str, digits: std::ops::RangeInclusive<usize>) -> bool {
    digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a day of this century, as 20261118.
fn is_date(text: &str) -> bool {
    let between = |place: usize, range: std::ops::RangeInclusive<u8>| {
        text.get(place..place + 2).and_then(|digits| digits.parse().ok()).is_some_and(|number| range.contains(&number))
    };
    is_integer(text, 8..=8) && between(0, 20..=20) && between(4, 1..=12) && between(6, 1..=31)
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

    fn is_alike(one: &str, other: &str) -> bool {
        kind(3, 0.001, 4, "adam", one).is_like(&kind(14, 2.5e-7, 8, "sgd", other))
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
            ("no file runs/Nov18_21-04-01_host/a.pt", "no file runs/Nov18_21-04-09_host/a.pt"),
            ("no file outputs/2026-11-18/21-04-05/a", "no file outputs/2026-11-18/21-05-17/a"),
            ("no file run_20261118-210416/a", "no file run_20261118-210502/a"),
            ("no file wandb/run-20261118_210314", "no file wandb/run-20261118_210502"),
            ("no file /runs/1795035863/a", "no file /runs/1795035869/a"),
            ("cannot open '/tmp/tmp7rg3opk_/x'", "cannot open '/tmp/tmpq2_9dab1/x'"),
        ] {
            assert!(is_alike(one, other), "{one}");
        }
    }

    #[test]
    fn equal_lines_are_alike_whatever_settings_they_happen_to_name() {
        for line in [
            "[Errno 3] No such file or directory: 'adam.csv'",
            "train() takes 4 positional arguments but 14 were given",
            "CUDA error: invalid device ordinal 8",
            "sgd is not adam",
        ] {
            assert!(is_alike(line, line), "{line}");
        }
        assert!(is_alike("[Errno 3] no file run-3.csv", "[Errno 3] no file run-14.csv"));
    }

    #[test]
    fn a_text_of_several_words_is_a_trials_own() {
        let line = |text: &str| kind(0, 0.5, 2, text, &format!("unknown optimizer: '{text}' (epoch 7)"));
        assert!(line("adam w-2.5").is_like(&line("sgd")));
        assert!(!line("adam").is_like(&kind(0, 0.5, 2, "sgd", "unknown optimizer: 'lion' (epoch 7)")));
    }

    #[test]
    fn lines_that_differ_in_other_numbers_are_not_alike() {
        for (one, other) in [
            ("diverged in epoch 18", "diverged in epoch 21"),
            ("loss is 1.5e+30", "loss is 3.2e+31"),
            ("sgdish failed", "adamish failed"),
            ("no key lr", "no key layers"),
            ("no key lr", "no key lr or layers"),
            ("diverged in epoch 3", "diverged in epoch 21"),
            ("diverged at step 150000", "diverged at step 170000"),
            ("loss is nan after 20000000 samples", "loss is nan after 20450000 samples"),
        ] {
            assert!(!is_alike(one, other), "{one}");
        }
    }

    #[test]
    fn failures_are_alike_if_the_command_ended_so_and_its_last_line_of_standard_error_is_the_same() {
        let of = |failure: Failure| FailureKind::of(&failure, 0, &[]);
        let exit = |code, stderr: &str| of(Failure::new(Cause::ExitCode(code), stderr));
        let no_value = |line: &str| of(Failure::new(Cause::NoValue(Unreadable::NotAValue(line.to_string())), ""));
        assert!(exit(1, "at 10:31\nKeyError: 'lr'\n\n").is_like(&exit(1, "KeyError:  'lr'  ")));
        assert!(exit(1, "").is_like(&exit(1, "")) && no_value("loss 1").is_like(&no_value("loss 2")));
        for other in [exit(2, "a"), exit(1, "b"), exit(1, ""), of(Failure::new(Cause::Signal(1), "a")), no_value("a")] {
            assert!(!exit(1, "a").is_like(&other));
        }
    }
}
