//! Placeholders in the words of a command: `{lr}` is a value, `{lr:sh}` is the value quoted for a shell, `{{` and `}}` are
//! braces.

use manyhands_core::Value;
use manyhands_core::file::{Checked, TomlEntry, TomlNode};
use manyhands_core::text::{likely_name, one_line, quoted};

use crate::RunSettings;

/// Placeholders that every study has, beside its parameters.
const OWN: [&str; 3] = ["trial", "study", "folder"];

/// The formats of placeholders: `{name:sh}` is the value as one word of a POSIX shell.
const FORMATS: [&str; 1] = ["sh"];

/// What the placeholders stand for that every study has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholders<'a> {
    /// The study's name.
    pub study: &'a str,
    /// The trial's number.
    pub trial: usize,
    /// The study file's folder.
    pub folder: &'a str,
}

impl RunSettings {
    /// The command of one trial. A placeholder is the value of a parameter, or one of `others`: `{trial}`, `{study}` and
    /// `{folder}`; a parameter of such a name has precedence. `{name:sh}` is the value quoted for a POSIX shell, for words
    /// that a shell reads. No shell sees the command unless it names one.
    pub fn arguments(&self, named: &[(&str, &Value)], others: &Placeholders<'_>) -> Vec<String> {
        let value = |name: &str| match named.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Some(argument(value)),
            None if name == "trial" => Some(others.trial.to_string()),
            None if name == "study" => Some(others.study.to_string()),
            None if name == "folder" => Some(others.folder.to_string()),
            None => None,
        };
        let formatted = |text: &str| match text.rsplit_once(':') {
            // A parameter's name may have a colon in it.
            Some((name, "sh")) if value(text).is_none() => value(name).map(|value| shell_word(&value)),
            _ => value(text),
        };
        self.command.iter().map(|word| fill(word, formatted)).collect()
    }
}

/// Refuses placeholders of a command that stand for nothing in a study with parameters of these names.
pub(crate) fn check_placeholders(command: &TomlEntry, names: &[&str]) -> Checked<()> {
    for node in command.node().list("command", "words")? {
        let lone =
            |LoneBrace(brace)| node.fault(format!("a lone \"{brace}\" in command")).hint("write {{ and }} for braces");
        for piece in pieces(node.text("a word of command")?).map_err(lone)? {
            if let Piece::Placeholder(name) = piece {
                check_placeholder(node, name, names)?;
            }
        }
    }
    Ok(())
}

fn check_placeholder(node: &TomlNode, placeholder: &str, names: &[&str]) -> Checked<()> {
    let (name, format) = match placeholder.rsplit_once(':') {
        Some((name, format)) if !names.contains(&placeholder) && (names.contains(&name) || OWN.contains(&name)) => {
            (name, Some(format))
        }
        _ => (placeholder, None),
    };
    if let Some(format) = format.filter(|format| !FORMATS.contains(format)) {
        let message = format!("{} in {{{}}} is no format of a placeholder", quoted(format), one_line(placeholder));
        return Err(node.fault(message).hint(format!(
            "write {{{name}:sh}} for the value quoted for a shell, or {{{name}}} for the value as it is"
        )));
    }
    if OWN.contains(&name) && names.contains(&name) {
        let message = format!("{{{name}}} is a parameter of this study and has a meaning of its own");
        return Err(node.fault(message).hint("give the parameter another name, or read it from MANYHANDS_PARAMS"));
    }
    let known: Vec<&str> = names.iter().copied().chain(OWN).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let hint = match likely_name(known.iter().copied(), name) {
        Some(near) => format!("did you mean {{{near}}}?"),
        None => format!("known are {}; write {{{{ and }}}} for braces", one_line(&known.join(", "))),
    };
    Err(node.fault(format!("{{{}}} is no parameter of this study", one_line(name))).hint(hint))
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq)]
enum Piece<'a> {
    Literal(&'a str),
    Placeholder(&'a str),
}

/// A brace that neither opens nor closes a placeholder, and is not doubled.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LoneBrace(char);

/// The parts of a word.
fn pieces(word: &str) -> Result<Vec<Piece<'_>>, LoneBrace> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some(place) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(place);
        pieces.push(Piece::Literal(before));
        if from.starts_with("{{") || from.starts_with("}}") {
            pieces.push(Piece::Literal(&from[..1]));
            rest = &from[2..];
        } else if let Some((name, after)) = from.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            pieces.push(Piece::Placeholder(name));
            rest = after;
        } else {
            return Err(LoneBrace(if from.starts_with('{') { '{' } else { '}' }));
        }
    }
    pieces.push(Piece::Literal(rest));
    Ok(pieces)
}

/// The word with its placeholders filled; those without a value stay as they are.
fn fill(word: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let Ok(pieces) = pieces(word) else { return word.to_string() };
    let filled = |piece: &Piece<'_>| match piece {
        Piece::Literal(text) => text.to_string(),
        Piece::Placeholder(name) => value(name).unwrap_or_else(|| format!("{{{name}}}")),
    };
    pieces.iter().map(filled).collect()
}

/// A text as one word of a POSIX shell, regardless of its characters.
fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A value as a program reads it: words without quotes, numbers with all their digits.
fn argument(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        number_or_flag => number_or_flag.to_string(),
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
        assert_eq!(pieces("a}b"), Err(LoneBrace('}')));
        assert_eq!(pieces("{lr"), Err(LoneBrace('{')));
    }

    #[test]
    fn a_quoted_text_is_one_word_of_a_shell() {
        assert_eq!(shell_word("relu"), "'relu'");
        assert_eq!(shell_word("it's; $(x)"), "'it'\\''s; $(x)'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn a_number_is_written_so_that_it_is_read_back() {
        for number in [1e-5, 1e-7, 0.1, 1.0, 3.0e20, -2.5e-300, 5e-324] {
            assert_eq!(argument(&Value::Float(number)).parse(), Ok(number));
        }
        assert_eq!(argument(&"relu".into()), "relu");
    }
}
