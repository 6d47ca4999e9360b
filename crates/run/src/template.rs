//! Placeholders in the words of a command: `{lr}` is a value, `{lr:sh}` is the value quoted for a shell, `{{` and `}}` are
//! braces. A command is parsed once, when its study file is read.

use manyhands_core::Value;
use manyhands_core::file::{Checked, TomlNode};
use manyhands_core::text::{likely_name, one_line, quoted};

use crate::{Error, Result};

/// A placeholder that every study has, beside its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BuiltIn {
    Trial,
    Study,
    Folder,
}

const BUILT_IN: [(&str, BuiltIn); 3] =
    [("trial", BuiltIn::Trial), ("study", BuiltIn::Study), ("folder", BuiltIn::Folder)];

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueFormat {
    /// As it is.
    Plain,
    /// As one word of a POSIX shell.
    Shell,
}

/// The formats of placeholders: `{name:sh}`.
const FORMATS: [(&str, ValueFormat); 1] = [("sh", ValueFormat::Shell)];

/// A command with placeholders for the parameters of one study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandTemplate {
    words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    /// As it is in the study file.
    text: String,
    parts: Vec<WordPart>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WordPart {
    Literal(String),
    Parameter(String, ValueFormat),
    BuiltIn(BuiltIn, ValueFormat),
}

/// What the built-in placeholders of a trial stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placeholders<'a> {
    /// The study's name.
    pub study: &'a str,
    /// The trial's number.
    pub trial: usize,
    /// The study file's folder.
    pub folder: &'a str,
}

impl CommandTemplate {
    /// Parses the words of a command of a study with parameters of these names; refuses a placeholder that stands for
    /// nothing, or for two things.
    pub(crate) fn parse(words: &[TomlNode], names: &[&str]) -> Checked<Self> {
        let word = |node: &TomlNode| {
            let text = node.text("a word of command")?;
            let part = |piece: Piece<'_>| match piece {
                Piece::Literal(text) => Ok(WordPart::Literal(text.to_string())),
                Piece::Placeholder(text) => placeholder(node, text, names),
            };
            let parts = pieces_of(node)?.into_iter().map(part).collect::<Checked<_>>()?;
            Ok(Word { text: text.to_string(), parts })
        };
        words.iter().map(word).collect::<Checked<_>>().map(|words| Self { words })
    }

    /// The words as they are in the study file, the program first.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str())
    }

    /// The command of one trial, with the values of its parameters. No shell sees it unless it names one.
    pub(crate) fn fill(&self, named: &[(&str, &Value)], built_in: &Placeholders<'_>) -> Result<Vec<String>> {
        let parameter = |name: &str| {
            let found = named.iter().find(|(known, _)| *known == name).map(|(_, value)| argument(value));
            let what = || format!("trial {} has no parameter {}", built_in.trial, quoted(name));
            found.ok_or_else(|| Error::Internal { doing: "filling in the command".to_string(), what: what() })
        };
        let filled = |part: &WordPart| match part {
            WordPart::Literal(text) => Ok(text.clone()),
            WordPart::Parameter(name, format) => parameter(name).map(|value| format.apply(value)),
            WordPart::BuiltIn(BuiltIn::Trial, format) => Ok(format.apply(built_in.trial.to_string())),
            WordPart::BuiltIn(BuiltIn::Study, format) => Ok(format.apply(built_in.study.to_string())),
            WordPart::BuiltIn(BuiltIn::Folder, format) => Ok(format.apply(built_in.folder.to_string())),
        };
        self.words.iter().map(|word| word.parts.iter().map(filled).collect()).collect()
    }
}

impl ValueFormat {
    fn apply(self, value: String) -> String {
        match self {
            Self::Plain => value,
            Self::Shell => shell_word(&value),
        }
    }
}

/// Refuses a word with a brace that is neither doubled nor part of a placeholder.
pub(crate) fn check_braces(node: &TomlNode) -> Checked<()> {
    pieces_of(node).map(drop)
}

fn pieces_of(node: &TomlNode) -> Checked<Vec<Piece<'_>>> {
    let lone =
        |LoneBrace(brace)| node.fault(format!("a lone \"{brace}\" in command")).hint("write {{ and }} for braces");
    pieces(node.text("a word of command")?).map_err(lone)
}

/// What a placeholder stands for.
fn placeholder(node: &TomlNode, text: &str, names: &[&str]) -> Checked<WordPart> {
    let built_in = |name: &str| BUILT_IN.into_iter().find(|(known, _)| *known == name).map(|(_, what)| what);
    let is_known = |name: &str| names.contains(&name) || built_in(name).is_some();
    // A parameter's name may have a colon in it.
    let (name, format) = match text.rsplit_once(':') {
        Some((name, format)) if !names.contains(&text) && is_known(name) => {
            (name, format_of(node, text, name, format)?)
        }
        _ => (text, ValueFormat::Plain),
    };
    match (names.contains(&name), built_in(name)) {
        (true, None) => Ok(WordPart::Parameter(name.to_string(), format)),
        (false, Some(what)) => Ok(WordPart::BuiltIn(what, format)),
        (true, Some(_)) => {
            let message = format!("{{{name}}} is both a parameter of this study and a built-in placeholder");
            Err(node.fault(message).hint("give the parameter another name, or read it from MANYHANDS_PARAMS"))
        }
        (false, None) => {
            let known: Vec<&str> = names.iter().copied().chain(BUILT_IN.map(|(name, _)| name)).collect();
            let hint = match likely_name(known.iter().copied(), name) {
                Some(near) => format!("did you mean {{{near}}}?"),
                None => format!("known are {}; write {{{{ and }}}} for braces", one_line(&known.join(", "))),
            };
            Err(node.fault(format!("{{{}}} is not a parameter of this study", one_line(name))).hint(hint))
        }
    }
}

fn format_of(node: &TomlNode, placeholder: &str, name: &str, format: &str) -> Checked<ValueFormat> {
    let found = FORMATS.into_iter().find(|(known, _)| *known == format).map(|(_, format)| format);
    found.ok_or_else(|| {
        let message = format!("{} in {{{}}} is not a format of a placeholder", quoted(format), one_line(placeholder));
        let hint =
            format!("write {{{name}:sh}} for the value quoted for a shell, or {{{name}}} for the value as it is");
        node.fault(message).hint(hint)
    })
}

/// A part of a word, as it is written.
#[derive(Debug, Clone, PartialEq)]
enum Piece<'a> {
    Literal(&'a str),
    Placeholder(&'a str),
}

/// A brace that neither opens nor closes a placeholder, and is not doubled.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LoneBrace(char);

/// The parts of a word.
fn pieces(word: &str) -> std::result::Result<Vec<Piece<'_>>, LoneBrace> {
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
    #![allow(clippy::unwrap_used)]
    use manyhands_core::file::Draft;

    use super::*;
    use crate::RunSettings;

    /// The command of trial 7 of a study with this space, with these values.
    fn filled(space: &str, command: &str, named: &[(&str, Value)]) -> Vec<String> {
        let text = format!("name = \"s\"\n[space]\n{space}\n[run]\ncommand = [{command}]\n");
        let settings = RunSettings::of(&Draft::parse(&text).unwrap().finish(&[]).unwrap()).unwrap().unwrap();
        let named: Vec<(&str, &Value)> = named.iter().map(|(name, value)| (*name, value)).collect();
        settings.command.fill(&named, &Placeholders { study: "s", trial: 7, folder: "/here" }).unwrap()
    }

    const LR: &str = "lr = { float = [0.0, 1.0] }";

    #[test]
    fn placeholders_are_filled_and_doubled_braces_are_braces() {
        let fill = |word: &str| filled(LR, &format!("'{word}'"), &[("lr", Value::Float(1e-7))]).remove(0);
        assert_eq!(fill("--lr={lr}"), "--lr=1e-7");
        assert_eq!(fill("{{\"lr\": {lr}}}"), "{\"lr\": 1e-7}");
        assert_eq!(fill("{{lr}} {lr}{lr} é"), "{lr} 1e-71e-7 é");
        assert_eq!(fill("{study}-{trial}-{folder}"), "s-7-/here");
        assert_eq!(pieces("a}b"), Err(LoneBrace('}')));
        assert_eq!(pieces("{lr"), Err(LoneBrace('{')));
    }

    #[test]
    fn the_columns_of_a_pool_are_placeholders() {
        let text = "name = \"plate\"\n[candidates]\nfile = \"pool.csv\"\n[run]\ncommand = [\"lab\", \"{well}\", \"{trial}\"]\n";
        let finish = |text: &str| {
            let pool = b"well,temp,conc\nA1,20,0.5\nA2,60,0.1\nB1,40,0.1\n".to_vec();
            RunSettings::of(&Draft::parse(text).unwrap().finish(&[pool]).unwrap())
        };
        let (well, built_in) = (Value::from("A 1; rm"), Placeholders { study: "plate", trial: 4, folder: "/here" });
        let command = finish(text).unwrap().unwrap().command;
        assert_eq!(command.fill(&[("well", &well)], &built_in).unwrap(), ["lab", "A 1; rm", "4"]);
        let error = finish(&text.replace("{well}", "{wel}")).unwrap_err();
        assert_eq!(error.to_string(), "5:19: {wel} is not a parameter of this study");
    }

    #[test]
    fn a_trial_without_a_parameter_of_the_command_is_a_bug_and_not_an_empty_word() {
        let text = format!("name = \"s\"\n[space]\n{LR}\n[run]\ncommand = [\"{{lr}}\"]\n");
        let settings = RunSettings::of(&Draft::parse(&text).unwrap().finish(&[]).unwrap()).unwrap().unwrap();
        let filled = settings.command.fill(&[], &Placeholders { study: "s", trial: 7, folder: "" });
        assert!(matches!(filled, Err(Error::Internal { .. })), "{filled:?}");
    }

    #[test]
    fn a_quoted_placeholder_is_one_word_of_a_shell_whatever_the_value() {
        let nasty = "it's \"a\" $(touch x) `y` ; \\ & {x} * é";
        let space = "act = { choice = ['b', 'c'] }\n\"odd:sh\" = { int = [1, 2] }";
        let command = "\"sh\", \"-c\", \"printf %s {act:sh}; printf ' %s' {trial:sh} {odd:sh}\"";
        let arguments = filled(space, command, &[("act", nasty.into()), ("odd:sh", Value::Int(2))]);
        assert!(arguments[2].ends_with("' %s' '7' 2"), "{arguments:?}");
        let output = std::process::Command::new(&arguments[0]).args(&arguments[1..]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{nasty} 7 2"));
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
