//! The whole quality bench: the optimizer, random search and other programs on the selected problems and pools.

use std::path::PathBuf;

use super::{
    Optimizer, OptimizerComparison, OptimizerProgram, ProblemSet, Protocol, QualityReport, ResultsFiles, Selection,
};
use crate::Result;

/// What is compared, on which problems and how.
#[derive(Debug, Clone, Default)]
pub struct QualityRequest {
    /// The names of problems and pools; those of the set without a name.
    pub names: Vec<String>,
    /// What runs where nothing is named.
    pub set: ProblemSet,
    /// The folder of the pools' files; without one there are no pools.
    pub data: Option<PathBuf>,
    /// Further optimizers, on problems only.
    pub programs: Vec<OptimizerProgram>,
    /// How runs are made.
    pub protocol: Protocol,
    /// Files of runs on problems: those found are not made again, the others are appended to the first file. Other systems
    /// that the files have runs of are compared too.
    pub results: Vec<PathBuf>,
    /// Make no run: compare what is in the files.
    pub only_results: bool,
}

/// A request, checked and ready.
#[derive(Debug)]
pub struct QualityBench {
    selection: Selection,
    results: ResultsFiles,
    on_spaces: OptimizerComparison,
    on_pools: OptimizerComparison,
}

impl QualityBench {
    /// Checks a request and reads its files.
    pub fn new(request: QualityRequest) -> Result<Self> {
        let QualityRequest { names, set, data, programs, protocol, results, only_results } = request;
        protocol.check()?;
        let data = data.filter(|_| !only_results);
        let selection = Selection::new(&names, &set, data.as_deref())?;
        let results = if only_results { ResultsFiles::read(&results) } else { ResultsFiles::open(&results) }?;
        let optimizers = if only_results { vec![] } else { with_programs(programs) };
        let on_spaces = with_recorded(optimizers, results.systems());
        let on_pools = if only_results { vec![] } else { Optimizer::ON_POOLS.to_vec() };
        let threads = rayon::current_num_threads();
        let comparison = |optimizers| OptimizerComparison { optimizers, protocol, threads };
        Ok(Self { selection, results, on_spaces: comparison(on_spaces), on_pools: comparison(on_pools) })
    }

    /// The pools that are left out because their files are missing, in words.
    pub fn skipped(&self) -> &[String] {
        &self.selection.skipped
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.on_spaces.runs(self.selection.problems.len()) + self.on_pools.runs(self.selection.pools.len())
    }

    /// Runs on all threads; `tick` is called after each run.
    pub fn run(self, tick: &(dyn Fn() + Sync)) -> Result<QualityReport> {
        let problems = self.on_spaces.run_kept(&self.selection.problems, &self.results, tick)?;
        let pools = self.on_pools.run(&self.selection.pools, tick)?;
        Ok(QualityReport::new(self.on_spaces.protocol, self.selection, problems, pools))
    }
}

/// The optimizers on spaces whose runs are made.
fn with_programs(programs: Vec<OptimizerProgram>) -> Vec<Optimizer> {
    Optimizer::ON_SPACES.iter().cloned().chain(programs.into_iter().map(Optimizer::Program)).collect()
}

/// With the other systems of the files, after manyhands: it is what the others are compared with.
fn with_recorded(mut optimizers: Vec<Optimizer>, systems: &[String]) -> Vec<Optimizer> {
    let manyhands = Optimizer::Manyhands.name().to_string();
    for system in std::iter::once(&manyhands).chain(systems) {
        if optimizers.iter().all(|optimizer| optimizer.name() != system) {
            optimizers.push(Optimizer::Recorded(system.clone()));
        }
    }
    optimizers
}
