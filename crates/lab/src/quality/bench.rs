//! The whole quality bench: the optimizer, random search and other programs on the selected problems and pools.

use std::path::Path;

use super::{Optimizer, OptimizerComparison, OptimizerProgram, Protocol, QualityReport, Selection};
use crate::Result;

/// What is compared, on which problems and how; checked and ready.
#[derive(Debug, Clone)]
pub struct QualityBench {
    selection: Selection,
    on_spaces: OptimizerComparison,
    on_pools: OptimizerComparison,
}

impl QualityBench {
    /// The problems and pools of these names (all without a name), read from the folder `data` where they are pools. The
    /// programs run on the problems too.
    pub fn new(
        names: &[String],
        data: Option<&Path>,
        programs: Vec<OptimizerProgram>,
        protocol: Protocol,
    ) -> Result<Self> {
        protocol.check()?;
        let selection = Selection::new(names, data)?;
        let programs = programs.into_iter().map(Optimizer::Program);
        let on_spaces = Optimizer::ON_SPACES.iter().cloned().chain(programs).collect();
        let threads = rayon::current_num_threads();
        let comparison = |optimizers| OptimizerComparison { optimizers, protocol, threads };
        let on_pools = comparison(Optimizer::ON_POOLS.to_vec());
        Ok(Self { selection, on_spaces: comparison(on_spaces), on_pools })
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
        let problems = self.on_spaces.run(&self.selection.problems, tick)?;
        let pools = self.on_pools.run(&self.selection.pools, tick)?;
        Ok(QualityReport::new(self.on_spaces.protocol, self.selection, problems, pools))
    }
}
