//! Placeholders in the words of a command: `{lr}` is a value, `{lr:sh}` is it quoted for a shell, `{{` and `}}` are braces.

use crate::Value;
use crate::number::plain;

/// A part of a word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece<'a> {
    Literal(&'a str),
    Placeholder(&'a str),
}

/// The parts of a word; what is wrong with a brace otherwise.
pub(super) fn pieces(word: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some(brace) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(brace);
        pieces.push(Piece::Literal(before));
        if from.starts_with("{{") || from.starts_with("}}") {
            pieces.push(Piece::Literal(&from[..1]));
            rest = &from[2..];
        } else if let Some((name, after)) = from.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            pieces.push(Piece::Placeholder(name));
            rest = after;
        } else {
            return Err(format!("a lone \"{}\"", &from[..1]));
        }
    }
    pieces.push(Piece::Literal(rest));
    Ok(pieces)
}

/// The word with its placeholders filled; those without a value stay as they are.
pub(super) fn fill(word: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let Ok(pieces) = pieces(word) else { return word.to_string() };
    let filled = |piece: &Piece<'_>| match piece {
        Piece::Literal(text) => text.to_string(),
        Piece::Placeholder(name) => value(name).unwrap_or_else(|| format!("{{{name}}}")),
    };
    pieces.iter().map(filled).collect()
}

/// The formats of placeholders: `{name:sh}` is the value as one word of a POSIX shell.
pub(super) const FORMATS: [&str; 1] = ["sh"];

/// A text as one word of a POSIX shell, whatever is in it.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A value as a program reads it: words without quotes, numbers with all their digits.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Float(number) => plain(*number),
        Value::Int(integer) => integer.to_string(),
        Value::Bool(flag) => flag.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_doubled_braces_are_braces() {
        let value = |name: &str| (name == "lr").then(|| "1e-7".to_string());
        assert_eq!(fill("--lr={lr}", value), "--lr=1e-7");
        assert_eq!(fill("{{\"lr\": {lr}}}", value), "{\"lr\": 1e-7}");
        assert_eq!(fill("{{lr}} {lr}{lr} é", value), "{lr} 1e-71e-7 é");
        assert_eq!(pieces("a}b"), Err("a lone \"}\"".to_string()));
        assert_eq!(pieces("{lr"), Err("a lone \"{\"".to_string()));
    }

    #[test]
    fn a_quoted_text_is_one_word_of_a_shell() {
        assert_eq!(quoted("relu"), "'relu'");
        assert_eq!(quoted("it's; $(x)"), "'it'\\''s; $(x)'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_number_is_written_so_that_it_is_read_back() {
        for number in [1e-5, 1e-7, 0.1, 1.0, 3.0e20, -2.5e-300, 5e-324] {
            assert_eq!(written(&Value::Float(number)).parse(), Ok(number));
        }
        assert_eq!(written(&"relu".into()), "relu");
    }
}
