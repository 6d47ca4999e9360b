//! What is nowhere in the code, or only where it belongs.

use std::fs;
use std::path::Path;

use super::source::{Source, root, sources};

const GP: &str = "crates/gp/src";
const CORE: &str = "crates/core/src";
const STORES: [&str; 3] = ["crates/store/src/sqlite", "crates/store/src/postgres", "crates/store/src/memory.rs"];

/// The files that have what they should not; none, or the test fails with their names.
fn assert_nowhere(what: &str, is_found: impl Fn(&Source) -> bool) {
    let found: Vec<&str> = sources().iter().filter(|source| is_found(source)).map(|source| &*source.path).collect();
    assert!(found.is_empty(), "{what}: {found:#?}");
}

#[test]
fn numbers_and_decisions_do_no_input_or_output_and_start_no_thread() {
    for module in ["fs", "io", "net", "process", "thread", "env", "path", "os"] {
        assert_nowhere(module, |source| source.is_in(&[GP, CORE]) && source.uses_std(module));
    }
    for name in ["println", "eprintln", "print", "eprint", "dbg"] {
        assert_nowhere(name, |source| source.is_in(&[GP, CORE]) && source.code.contains(&format!("{name}!")));
    }
}

#[test]
fn numbers_and_decisions_have_no_clock() {
    for word in ["Instant", "SystemTime", "Duration", "UNIX_EPOCH"] {
        assert_nowhere(word, |source| source.is_in(&[GP, CORE]) && (source.has_word(word) || source.uses_std("time")));
    }
}

#[test]
fn the_numbers_know_no_trial_and_no_study() {
    for word in ["Trial", "Study", "Event", "Parameter", "Strategy", "Rule"] {
        assert_nowhere(word, |source| source.is_in(&[GP]) && source.has_word(word));
    }
}

#[test]
fn a_reproduction_reads_no_clock() {
    let timed = ["crates/lab/src/bench/cost.rs", "crates/lab/src/quality/clock.rs"];
    for word in ["Instant", "SystemTime"] {
        assert_nowhere(word, |source| {
            source.is_in(&["crates/lab/src"]) && source.has_word(word) && !source.is_in(&timed)
        });
    }
}

#[test]
fn reports_and_pictures_neither_print_nor_read() {
    let rooms = ["crates/report/src", "crates/plots/src"];
    for module in ["fs", "io", "net", "process", "thread", "env"] {
        assert_nowhere(module, |source| source.is_in(&rooms) && source.uses_std(module));
    }
    for word in ["println", "eprintln", "Instant", "SystemTime"] {
        assert_nowhere(word, |source| source.is_in(&rooms) && source.has_word(word));
    }
}

#[test]
fn processes_are_started_by_run_and_by_one_module_of_the_lab() {
    let is_named = |line: &str| line.contains("process::") && line.contains("Command");
    let starts = |source: &Source| source.code.lines().any(is_named);
    assert_nowhere("process::Command", |source| {
        starts(source) && !source.is_in(&["crates/run/src", "crates/lab/src/process.rs"])
    });
    assert!(sources().iter().any(|source| source.path == "crates/run/src/group.rs" && starts(source)));
}

#[test]
fn no_shell_is_started_but_the_guard_of_a_process_group() {
    let is_shell = |text: &String| ["/bin/sh", "bash", "/bin/bash", "-c"].contains(&text.as_str());
    assert_nowhere("a shell", |source| {
        source.texts.iter().any(is_shell) && !source.is_in(&["crates/run/src/group.rs"])
    });
}

#[test]
fn databases_are_opened_by_their_stores_alone() {
    let homes = [
        ("rusqlite", "crates/store/src/sqlite"),
        ("manyhands_postgres", "crates/store/src/postgres"),
        ("tokio", "crates/postgres/src"),
        ("tokio_postgres", "crates/postgres/src"),
    ];
    for (word, home) in homes {
        assert_nowhere(word, |source| source.has_word(word) && !source.is_in(&[home]));
    }
}

#[test]
fn transactions_stay_with_the_databases_and_nothing_is_chosen_there() {
    let homes = [STORES[0], STORES[1], "crates/postgres/src"];
    assert_nowhere("Transaction", |source| source.has_word("Transaction") && !source.is_in(&homes));
    for word in ["Study", "Session", "Ledger", "Spec"] {
        let is_database = |source: &Source| source.is_in(&STORES) || source.is_in(&homes);
        assert_nowhere(word, |source| is_database(source) && source.has_word(word));
    }
}

#[test]
fn stores_never_read_the_body_of_an_event() {
    for word in ["Event", "decode", "from_json", "serde_json"] {
        assert_nowhere(word, |source| source.is_in(&STORES) && source.has_word(word));
    }
}

#[test]
fn no_statement_changes_or_removes_an_event() {
    let changes = ["UPDATE events", "UPDATE manyhands_events", "DELETE FROM events", "DELETE FROM manyhands_events"];
    let is_change = |text: &String| changes.iter().any(|change| text.contains(change));
    assert_nowhere("a change of an event", |source| source.texts.iter().any(is_change));
}

#[test]
fn leases_never_enter_the_fold_of_a_study() {
    for word in ["Lease", "Holder", "Fence", "Store"] {
        assert_nowhere(word, |source| source.is_in(&[GP, CORE]) && source.has_word(word));
    }
}

#[test]
fn no_formula_is_in_the_command_line_or_the_reports() {
    for function in ["sqrt", "ln", "exp", "powi", "powf", "log10", "log2", "tanh"] {
        let call = format!(".{function}(");
        assert_nowhere(&call, |source| {
            source.is_in(&["crates/cli/src", "crates/report/src"]) && source.code.contains(&call)
        });
    }
    for word in ["gp", "manyhands_gp"] {
        assert_nowhere(word, |source| source.is_in(&["crates/cli/src", "crates/report/src"]) && source.has_word(word));
    }
}

#[test]
fn nothing_unwraps_panics_or_is_unsafe_outside_of_tests() {
    for call in [".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "unreachable!(", "unsafe "] {
        assert_nowhere(call, |source| source.code.contains(call));
    }
}

#[test]
fn no_file_names_a_path_of_the_machine_it_was_written_on() {
    let folders = ["home", "root", "work", "Users"].map(|folder| format!("/{folder}/"));
    let mut found = Vec::new();
    let mut look = |path: &Path, text: &str| {
        for (number, line) in text.lines().enumerate() {
            let named =
                |folder: &String| line.match_indices(folder.as_str()).any(|(place, _)| starts_a_path(line, place));
            if folders.iter().any(named) {
                found.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    };
    every_text(&root(), &mut look);
    assert!(found.is_empty(), "{found:#?}");
}

fn starts_a_path(line: &str, place: usize) -> bool {
    !line[..place].ends_with(|c: char| c.is_alphanumeric() || "._-{}~".contains(c))
}

fn every_text(folder: &Path, look: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        // Of a linked worktree `.git` is a file.
        if name == ".git" {
            continue;
        }
        if path.is_dir() {
            if !["target", "reproduction"].contains(&name) {
                every_text(&path, look);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            look(&path, &text);
        }
    }
}
