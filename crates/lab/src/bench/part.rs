//! Measurements in processes of their own: the peak memory of a process is that of one measurement.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::suggest::Case;
use super::{Monitor, live, million, row_per_pick, sample, suggest};
use crate::{Binary, Error, Result};

/// The hidden verb of the binary that calls [`run_part`].
const VERB: &str = "bench-part";

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

impl Part {
    /// Measures in a process of the binary, and reads the result that it prints.
    pub fn measure_in<T: DeserializeOwned>(self, binary: &Binary) -> Result<T> {
        let output = binary.read(&[VERB, &encoded(&self)?])?;
        serde_json::from_slice(&output).map_err(|error| failed(&format!("{self:?}"), &error))
    }
}

/// Measures one part, given and returned as JSON: what the hidden verb `bench-part` of the binary does.
pub fn run_part(text: &str, monitor: &dyn Monitor) -> Result<String> {
    match serde_json::from_str(text).map_err(|error| failed(text, &error))? {
        Part::Live { side, rounds } => encoded(&live::run(side, rounds, monitor)?),
        Part::Rows { side, rounds } => encoded(&row_per_pick::run(side, rounds, monitor)?),
        Part::Million { side, rounds } => encoded(&million::run(side, rounds, monitor)?),
        Part::Sample { side, rounds } => encoded(&sample::run(side, rounds, monitor)?),
        Part::Suggest(case) => encoded(&suggest::batch_costs(case)?),
    }
}

fn encoded(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| failed("a part", &error))
}

fn failed(what: &str, error: &serde_json::Error) -> Error {
    Error::Measurement { what: what.to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::Silent;
    use super::*;

    #[test]
    fn what_is_no_part_is_refused() {
        let told = run_part("{\"live\":1}", &Silent).map_err(|error| error.to_string());
        assert!(told.is_err_and(|told| told.starts_with("cannot measure {\"live\":1}: ")));
    }
}
