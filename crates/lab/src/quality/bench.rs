//! The whole quality bench: the optimizer, random search and other programs on the selected problems and pools.

use std::path::Path;

use super::{Contender, PlayerProgram, Protocol, QualityReport, Selection, Tournament};
use crate::Result;

/// What is played, by whom and how; checked and ready.
#[derive(Debug, Clone)]
pub struct QualityBench {
    selection: Selection,
    on_spaces: Tournament,
    on_pools: Tournament,
}

impl QualityBench {
    /// The problems and pools of these names (all without a name), read from the folder `data` where they are pools. The
    /// programs play the problems too.
    pub fn new(
        names: &[String],
        data: Option<&Path>,
        programs: Vec<PlayerProgram>,
        protocol: Protocol,
    ) -> Result<Self> {
        protocol.check()?;
        let selection = Selection::new(names, data)?;
        let programs = programs.into_iter().map(Contender::Program);
        let on_spaces = Contender::ON_SPACES.iter().cloned().chain(programs).collect();
        let threads = rayon::current_num_threads();
        let tournament = |contenders| Tournament { contenders, protocol, threads };
        let on_pools = tournament(Contender::ON_POOLS.to_vec());
        Ok(Self { selection, on_spaces: tournament(on_spaces), on_pools })
    }

    /// The pools that are left out because their files are missing, in words.
    pub fn skipped(&self) -> &[String] {
        &self.selection.skipped
    }

    /// How many games there are.
    pub fn games(&self) -> usize {
        self.on_spaces.games(self.selection.problems.len()) + self.on_pools.games(self.selection.pools.len())
    }

    /// Plays on all threads; `tick` is called after each game.
    pub fn play(self, tick: &(dyn Fn() + Sync)) -> Result<QualityReport> {
        let problems = self.on_spaces.play(&self.selection.problems, tick)?;
        let pools = self.on_pools.play(&self.selection.pools, tick)?;
        Ok(QualityReport::new(self.on_spaces.protocol, self.selection, problems, pools))
    }
}
