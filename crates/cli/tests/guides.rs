//! The guides docs/lab.md and docs/training.md: their commands run in order, and print what the pages say.
//!
//! A page is a list of fenced blocks. A block `sh` is run by `sh -e`; it must succeed. A block `text` is the whole output of
//! what ran last: `...` stands for any text within a line and, on a line of its own, for any number of lines. Every other
//! block needs a comment before it, which a rendered page does not show:
//!
//! | comment | meaning |
//! |---|---|
//! | `<!-- file: NAME -->` | the next block is written to the file NAME |
//! | `<!-- fails -->` | the next block must end with an error |
//! | `<!-- not run: WHY -->` | the next block is only shown |
//! | `<!-- sh: WHAT`, commands, `-->` | the commands do what the reader does by hand |

use std::path::Path;
use std::process::{Command, Stdio};

/// What a page says that happens, in order.
#[derive(Debug, PartialEq)]
enum Step {
    Write { file: String, text: String },
    Run { script: String, succeeds: bool },
    Expect(String),
}

/// What a comment says of the next block.
enum Marker {
    File(String),
    Fails,
    NotRun,
}

/// The lines up to the one that ends with `end`, without it.
fn take_until<'a>(lines: &mut impl Iterator<Item = &'a str>, end: &str) -> String {
    let mut taken = String::new();
    for line in lines {
        if line == end {
            return taken;
        }
        taken.push_str(line);
        taken.push('\n');
    }
    panic!("there is no \"{end}\" after \"{taken}\"");
}

fn steps_of(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut marker = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text = take_until(&mut lines, "```");
            match (marker.take(), language) {
                (Some(Marker::File(file)), _) => steps.push(Step::Write { file, text }),
                (Some(Marker::NotRun), _) => {}
                (Some(Marker::Fails), "sh") => steps.push(Step::Run { script: text, succeeds: false }),
                (None, "sh") => steps.push(Step::Run { script: text, succeeds: true }),
                (None, "text") => steps.push(Step::Expect(text)),
                _ => panic!("a comment must say what this block `{language}` is for:\n{text}"),
            }
        } else if line.starts_with("<!-- sh: ") {
            steps.push(Step::Run { script: take_until(&mut lines, "-->"), succeeds: true });
        } else if let Some(comment) = line.strip_prefix("<!-- ") {
            let comment = comment.strip_suffix(" -->").unwrap_or_else(|| panic!("a comment of one line: {line}"));
            marker = Some(match comment.split_once(": ") {
                Some(("file", name)) => Marker::File(name.to_string()),
                Some(("not run", _)) => Marker::NotRun,
                None if comment == "fails" => Marker::Fails,
                _ => panic!("not a comment that this test knows: {line}"),
            });
        }
    }
    assert!(marker.is_none(), "the last comment has no block");
    steps
}

/// Runs commands in a folder, with the program on the path: whether they succeed, and what they print.
fn run(script: &str, folder: &Path) -> (bool, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_manyhands")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", &format!("exec 2>&1\n{script}")]).current_dir(folder).env("PATH", path);
    for variable in ["MANYHANDS_STORE", "MANYHANDS_STORE_FILE"] {
        command.env_remove(variable);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn follow(page: &str) {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)).unwrap();
    let (mut ran, mut printed) = (String::new(), String::new());
    for step in steps_of(&text) {
        match step {
            Step::Write { file, text } => std::fs::write(folder.path().join(file), text).unwrap(),
            Step::Run { script, succeeds } => {
                let (success, output) = run(&script, folder.path());
                assert_eq!(success, succeeds, "{page}: whether it succeeds:\n{script}\nIt printed:\n{output}");
                (ran, printed) = (script, output);
            }
            Step::Expect(expected) => {
                let [wanted, got] = [&expected, &printed].map(|text| text.lines().collect::<Vec<_>>());
                assert!(
                    lines_match(&wanted, &got),
                    "{page}: \n{ran}\nThe page has:\n{expected}\nIt printed:\n{printed}"
                );
            }
        }
    }
}

fn lines_match(expected: &[&str], printed: &[&str]) -> bool {
    match (expected, printed) {
        ([], _) => printed.is_empty(),
        (["...", rest @ ..], _) => (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..])),
        ([line, rest @ ..], [first, others @ ..]) => {
            line_matches(&spaced(line), &spaced(first)) && lines_match(rest, others)
        }
        (_, []) => false,
    }
}

/// With one space in place of several: the widths of columns depend on rows that a page may leave out.
fn spaced(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line_matches(expected: &str, printed: &str) -> bool {
    let Some((start, rest)) = expected.split_once("...") else { return expected == printed };
    let tails = |text: &str| text.char_indices().map(|(at, _)| at).chain([text.len()]).collect::<Vec<_>>();
    printed.strip_prefix(start).is_some_and(|tail| tails(tail).into_iter().any(|at| line_matches(rest, &tail[at..])))
}

#[test]
fn a_day_in_the_lab_goes_as_its_page_says() {
    follow("lab.md");
}

#[test]
fn an_afternoon_of_training_goes_as_its_page_says() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: the page about training in Python (there is no python3)");
        return;
    }
    follow("training.md");
}

#[test]
fn a_page_is_a_list_of_files_commands_and_outputs() {
    let page = "Text.\n<!-- file: a.toml -->\n```toml\nx = 1\n```\n```sh\nls\n```\n```text\na.toml\n```\n\
                <!-- fails -->\n```sh\nfalse\n```\n<!-- not run: no GPU here -->\n```sh\ntrain\n```\n<!-- sh: fill in\ntouch b\n-->\n";
    let run = |script: &str, succeeds| Step::Run { script: script.to_string(), succeeds };
    let expected = [
        Step::Write { file: "a.toml".to_string(), text: "x = 1\n".to_string() },
        run("ls\n", true),
        Step::Expect("a.toml\n".to_string()),
        run("false\n", false),
        run("touch b\n", true),
    ];
    assert_eq!(steps_of(page), expected);
}

#[test]
fn an_output_must_be_complete_but_for_what_dots_stand_for() {
    let printed = ["trial 0: 1.5 in 0.2 s", "trial 1: 1.7 in 0.1 s", "best:  1.5"];
    for (expected, matches) in [
        (&["trial 0: 1.5 in ... s", "...", "best: 1.5"][..], true),
        (&["...", "best: ..."], true),
        (&["..."], true),
        (&["trial 0: 1.5 in ... s", "best: 1.5"], false),
        (&["trial 0: 1.5 in ... s", "..."], true),
        (&["...", "trial 1: 1.7 in ... s"], false),
        (&["trial 0: ...6 in ... s", "..."], false),
        (&[], false),
    ] {
        assert_eq!(lines_match(expected, &printed), matches, "{expected:?}");
    }
}
