//! Who plays: suggestions out, values in.

use manyhands_core::Value;

use crate::Result;

/// What the bench plays on a space of parameters.
pub trait Player {
    /// So many suggestions, each with the number of its trial.
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Vec<Value>)>>;

    /// The value that was observed in a trial.
    fn tell(&mut self, trial: usize, value: f64) -> Result<()>;
}
