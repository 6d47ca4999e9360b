//! How far what a study says can be trusted: the best point, what may still be gained, intervals, and when to stop; each
//! beside the truth, on problems whose optimum is known.

mod bench;
mod report;
mod table;
mod trace;
mod tuned;

pub use bench::TrustBench;
pub use report::{StopFigures, TrustFigures, TrustReport};
pub use trace::{StopTrace, Trace, TrustCheck};
pub use tuned::{REPORTED, TUNED};
