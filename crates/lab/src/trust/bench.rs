//! The whole bench: runs on the problems of one half, on several threads.

use super::{REPORTED, TUNED, Trace, TrustReport};
use crate::Result;
use crate::quality::{Protocol, SpaceProblem, on_threads, problems};

/// Which problems and seeds; checked and ready.
///
/// ```no_run
/// use manyhands_lab::quality::Protocol;
/// use manyhands_lab::trust::TrustBench;
/// # fn main() -> manyhands_lab::Result<()> {
/// let protocol = Protocol { seeds: 5, ..Protocol::default() };
/// let bench = TrustBench::new(&["hartmann3".to_string()], false, protocol)?;
/// println!("{}", bench.run(&|| ())?.to_text());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct TrustBench {
    problems: Vec<SpaceProblem>,
    protocol: Protocol,
}

impl TrustBench {
    /// The problems of these names; without a name those that figures are reported from, or those that the constants were
    /// chosen on.
    pub fn new(names: &[String], is_tuned: bool, protocol: Protocol) -> Result<Self> {
        protocol.check()?;
        let half = if is_tuned { TUNED } else { REPORTED };
        let half: Vec<String> = half.iter().map(ToString::to_string).collect();
        Ok(Self { problems: problems::named(if names.is_empty() { &half } else { names })?, protocol })
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.problems.len() * self.protocol.seeds
    }

    /// Runs on all threads; `tick` is called after each run.
    pub fn run(self, tick: &(dyn Fn() + Sync)) -> Result<TrustReport> {
        let tasks: Vec<(&SpaceProblem, u64)> =
            self.problems.iter().flat_map(|problem| self.protocol.seeds().map(move |seed| (problem, seed))).collect();
        let traces = on_threads(rayon::current_num_threads(), &tasks, |(problem, seed)| {
            let trace = Trace::of(problem, *seed);
            tick();
            trace
        })?;
        let mut traces = traces.into_iter();
        let of_problem =
            |problem: &SpaceProblem| (problem.name().to_string(), traces.by_ref().take(self.protocol.seeds).collect());
        Ok(TrustReport { seeds: self.protocol.seeds, problems: self.problems.iter().map(of_problem).collect() })
    }
}
