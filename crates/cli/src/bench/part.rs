//! Measurements in processes of their own: the peak memory of a process is that of one measurement.

use std::io::{Write, stdout};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::suggest::Case;
use super::{live, million, rows, sample, suggest};

/// A measurement that runs in its own process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Live { side: usize, rounds: usize },
    Rows { side: usize, rounds: usize },
    Million { side: usize, rounds: usize },
    Sample { side: usize, rounds: usize },
    Suggest(Case),
}

/// Runs a part in a process of its own, and reads what it prints.
pub fn spawn<T: DeserializeOwned>(part: Part) -> Result<T> {
    let executable = std::env::current_exe().context("cannot find the path of this program")?;
    let output = Command::new(executable)
        .args(["bench-part", &serde_json::to_string(&part)?])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start a process to measure in")?;
    if !output.status.success() {
        bail!("the process of {part:?} failed: {}", output.status);
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("cannot read the result of {part:?}"))
}

/// Runs a part here and prints its result as JSON.
pub fn run_part(text: &str) -> Result<()> {
    let part = serde_json::from_str(text).context("not a measurement")?;
    let json = match part {
        Part::Live { side, rounds } => serde_json::to_string(&live::run(side, rounds)?)?,
        Part::Rows { side, rounds } => serde_json::to_string(&rows::run(side, rounds)?)?,
        Part::Million { side, rounds } => serde_json::to_string(&million::run(side, rounds)?)?,
        Part::Sample { side, rounds } => serde_json::to_string(&sample::run(side, rounds)?)?,
        Part::Suggest(case) => serde_json::to_string(&suggest::measured(case)?)?,
    };
    writeln!(stdout(), "{json}").context("cannot write to standard output")
}
