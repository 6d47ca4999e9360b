//! The reader of `[run]` survives any input: a damaged study file is read or refused in place, and never panics.

#[path = "../../core/tests/common/mutation.rs"]
mod mutation;
#[path = "../../gp/tests/common/seeded.rs"]
mod seeded;

use manyhands_core::file::{Draft, FileError};
use manyhands_run::{RunDraft, RunSettings};
use mutation::{damaged_text, mutations};
use proptest::prelude::*;
use seeded::config;

const SPACE: &str = "name = \"s\"\n[space]\nlr = { float = [0.0, 1.0] }\n\"odd:sh\" = { int = [1, 8] }\n";

const RUN: &str = r#"[run]
command = ["sh", "-c", "./train --lr {lr:sh} --n={odd:sh} --out '{folder}/{{trial}}' {trial} {study}"]
workers = 5
trials = 100
timeout = "1h 30m"
retries = 1
own_folder = false
logs = "out"
env = { OMP_NUM_THREADS = "1", "K.1" = "" }
"#;

fn read(text: &str) -> Result<Option<RunSettings>, FileError> {
    let (draft, run) = Draft::parse_with(text, RunDraft::read)?;
    let study = draft.finish(&[])?;
    run.map(|run| run.finish(&study)).transpose()
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn a_damaged_run_table_is_read_or_refused_in_place(damage in mutations()) {
        let text = SPACE.to_string() + &damaged_text(RUN, &damage);
        match read(&text) {
            Err(error) => {
                let line = text.split('\n').nth(error.line - 1);
                prop_assert!(line.is_some(), "{} is after the end of {:?}", error, text);
                prop_assert!((1..=line.unwrap().chars().count() + 1).contains(&error.column), "{} in {:?}", error, text);
                prop_assert!(!error.message.trim().is_empty());
            }
            Ok(settings) => {
                let again = read(&format!("{text}\n# read again\n"));
                prop_assert_eq!(again.as_ref(), Ok(&settings));
                let Some(settings) = settings else { return Ok(()) };
                prop_assert!(settings.command.words().count() > 0);
                prop_assert!(settings.command.words().all(|word| !word.is_empty() && !word.contains('\0')));
                prop_assert!((1..=10_000).contains(&settings.workers));
            }
        }
    }
}
