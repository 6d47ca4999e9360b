//! Text for messages: text of unknown origin made safe to print on a terminal, numbers in few digits, likely spellings.
//! The other crates of the workspace use it, so that all messages look alike.

mod names;
mod number;

pub use self::names::likely_name;
pub(crate) use self::names::names_instead;
pub use self::number::{are_one_number, exact, short, significant};

/// The text with every character that could control a terminal or reorder what it shows written as an escape such as
/// `\u{1b}`: control characters (C0, DEL, C1) other than newline and tab, line and paragraph separators, and Unicode's
/// controls of the writing direction.
///
/// ```
/// # use manyhands_core::text::printable;
/// assert_eq!(printable("loss\t\u{1b}[31mnan\u{202e}\n"), "loss\t\\u{1b}[31mnan\\u{202e}\n");
/// ```
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_terminal_control(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

/// How many characters of a text are quoted in a message.
const QUOTED: usize = 120;

/// The text in quotes as messages show it: on one line, with control characters as escapes, and only the beginning of a
/// long one.
///
/// ```
/// # use manyhands_core::text::quoted;
/// assert_eq!(quoted("a\tb\n"), r#""a\tb\n""#);
/// assert_eq!(quoted(&"x".repeat(90_000)).len(), 125);
/// ```
pub fn quoted(text: &str) -> String {
    let beginning: String = text.chars().take(QUOTED).collect();
    let rest = if beginning.len() < text.len() { "..." } else { "" };
    format!("\"{}{rest}\"", escaped(&beginning))
}

/// The text on one line, with control characters as escapes.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = format!("{text:?}");
    quoted[1..quoted.len() - 1].to_string()
}

/// The text without quotes as messages show it: on one line, with control characters as escapes, and only the beginning
/// of a long one.
///
/// ```
/// # use manyhands_core::text::one_line;
/// assert_eq!(one_line("a\tb\n"), r"a\tb\n");
/// ```
pub fn one_line(text: &str) -> String {
    beginning(&escaped(text))
}

/// The beginning of a text that is already safe to print.
pub(crate) fn beginning(text: &str) -> String {
    let beginning: String = text.chars().take(QUOTED).collect();
    if beginning.len() < text.len() { beginning + "..." } else { beginning }
}

/// A number of things, by the noun for one of them.
///
/// ```
/// # use manyhands_core::text::counted;
/// assert_eq!([counted(1, "trial"), counted(2, "trial")], ["1 trial", "2 trials"]);
/// ```
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// How many numbers of trials a message lists.
const LISTED: usize = 10;

/// Trials by their numbers, with the end of a long list left out.
///
/// ```
/// # use manyhands_core::text::trials;
/// assert_eq!([trials(&[7]), trials(&[0, 1, 4])], ["trial 7", "trials 0, 1 and 4"]);
/// assert_eq!(trials(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), "trials 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more");
/// ```
pub fn trials(numbers: &[usize]) -> String {
    let shown: Vec<String> = numbers.iter().take(LISTED).map(ToString::to_string).collect();
    match (numbers.len().saturating_sub(LISTED), shown.split_last()) {
        (0, Some((only, []))) => format!("trial {only}"),
        (0, Some((last, before))) => format!("trials {} and {last}", before.join(", ")),
        (more, _) => format!("trials {} and {more} more", shown.join(", ")),
    }
}

fn is_terminal_control(c: char) -> bool {
    let is_control = c.is_control() && c != '\n' && c != '\t';
    is_control || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_controls_a_terminal_is_shown_as_an_escape() {
        for (text, shown) in [
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("a\rb\u{8}", "a\\u{d}b\\u{8}"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
            ("\u{2066}x\u{2069}\u{200f}\u{61c}", "\\u{2066}x\\u{2069}\\u{200f}\\u{61c}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        for text in ["", "exit code 3;\n\tat line 7", "Größe = 0.5 µm", "\u{5d0}\u{5d1}", "損失 1.5", "👩\u{200d}🔬"]
        {
            assert_eq!(printable(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_terminal_control_is_left_and_cleaning_twice_changes_nothing(text in any::<String>()) {
            let shown = printable(&text);
            prop_assert!(!shown.chars().any(is_terminal_control));
            prop_assert_eq!(printable(&shown), shown);
        }
    }
}
