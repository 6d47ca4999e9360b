//! How runs are made: the number of evaluations, in batches or asynchronously, and the seeds.

use std::ops::ControlFlow;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{ActiveOptimizer, SpaceProblem};
use crate::stream::{ProblemFamily, Purpose, generator};
use crate::{Error, Result};

/// How results arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// A batch is asked for, evaluated and told as a whole.
    Batches,
    /// As many workers as a batch is large. An evaluation takes a random time from 0.5 to 1.5; whenever one is done,
    /// its value is told and one new suggestion asked for.
    Asynchronous,
}

impl Schedule {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Batches, Self::Asynchronous];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batches => "batches",
            Self::Asynchronous => "asynchronous",
        }
    }
}

/// The rules that all runs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Evaluations of a problem, the first design included; none for the budget of each problem.
    pub evaluations: Option<usize>,
    /// The most evaluations of a pool's candidates.
    pub pool_evaluations: usize,
    /// Suggestions at a time, or workers.
    pub batch: usize,
    /// How results arrive.
    pub schedule: Schedule,
    /// Runs of each problem.
    pub seeds: usize,
    /// The seed of the first run; the others follow.
    pub first_seed: u64,
}

impl Default for Protocol {
    fn default() -> Self {
        let schedule = Schedule::Batches;
        Self { evaluations: None, pool_evaluations: 200, batch: 5, schedule, seeds: 20, first_seed: 1 }
    }
}

impl Protocol {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        let counts = [
            ("evaluations", self.evaluations.unwrap_or(1), 1000),
            ("pool evaluations", self.pool_evaluations, 1000),
            ("batch", self.batch, 20),
            ("seeds", self.seeds, 10_000),
        ];
        for (setting, value, most) in counts {
            if !(1..=most).contains(&value) {
                return Err(Error::Setting { setting, allowed: format!("from 1 to {most}"), value: value.to_string() });
            }
        }
        Ok(())
    }

    /// The seeds of the runs.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        (0..self.seeds as u64).map(|i| self.first_seed.wrapping_add(i))
    }

    /// The evaluations of a run on a problem.
    pub fn evaluations_on(&self, problem: &SpaceProblem) -> usize {
        self.evaluations.unwrap_or(problem.budget())
    }

    /// The evaluations after which regret is reported: every 20, and the last.
    pub fn milestones(evaluations: usize) -> Vec<usize> {
        (20..evaluations).step_by(20).chain([evaluations]).collect()
    }

    /// How results arrive, in words.
    pub(super) fn arrival(&self) -> String {
        match self.schedule {
            Schedule::Batches => format!("in batches of {}", self.batch),
            Schedule::Asynchronous => format!("by {} workers, results one by one", self.batch),
        }
    }
}

/// One run: a problem's or pool's name and a seed, which determine its random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededRun {
    name: String,
    seed: u64,
}

impl SeededRun {
    /// The run with this seed.
    pub fn new(name: &str, seed: u64) -> Self {
        Self { name: name.to_string(), seed }
    }

    /// Its seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Random numbers for one purpose, independent of the optimizer and of other runs.
    pub(crate) fn generator(&self, purpose: Purpose) -> ChaCha8Rng {
        generator(self.seed, purpose, ProblemFamily::Quality, fnv(&self.name))
    }

    /// Lets an optimizer make up to `evaluations` proposals. `evaluate` is given the proposal and its number, from 0 in the
    /// order of asking, and returns the observed value or ends the run.
    pub fn drive<Proposal>(
        &self,
        active: &mut dyn ActiveOptimizer<Proposal>,
        protocol: &Protocol,
        evaluations: usize,
        evaluate: impl FnMut(usize, &Proposal) -> Result<ControlFlow<(), f64>>,
    ) -> Result<()> {
        let run = RunInProgress { name: &self.name, active, asked: 0, evaluations, evaluate };
        match protocol.schedule {
            Schedule::Batches => run.in_batches(protocol.batch),
            Schedule::Asynchronous => run.one_by_one(protocol.batch, self.generator(Purpose::Duration)),
        }
    }
}

/// A run in progress.
struct RunInProgress<'a, Proposal, Evaluate> {
    name: &'a str,
    active: &'a mut dyn ActiveOptimizer<Proposal>,
    asked: usize,
    evaluations: usize,
    evaluate: Evaluate,
}

/// A suggestion that is being evaluated.
struct Pending<Proposal> {
    finish: f64,
    order: usize,
    trial: usize,
    proposal: Proposal,
}

impl<Proposal, Evaluate> RunInProgress<'_, Proposal, Evaluate>
where
    Evaluate: FnMut(usize, &Proposal) -> Result<ControlFlow<(), f64>>,
{
    /// Up to `count` suggestions, whose evaluation begins now; fewer at the end of the run.
    fn ask(&mut self, count: usize, mut finish: impl FnMut() -> f64) -> Result<Vec<Pending<Proposal>>> {
        let count = count.min(self.evaluations - self.asked);
        let suggestions = if count == 0 { vec![] } else { self.active.ask(count)? };
        if suggestions.len() != count {
            let reason = format!("{count} were asked for, {} came", suggestions.len());
            return Err(Error::Suggestion { problem: self.name.to_string(), reason });
        }
        let first = self.asked;
        self.asked += count;
        let begin = |(order, (trial, proposal))| Pending { finish: finish(), order, trial, proposal };
        Ok((first..).zip(suggestions).map(begin).collect())
    }

    fn in_batches(mut self, batch: usize) -> Result<()> {
        while self.asked < self.evaluations {
            let mut told = Vec::with_capacity(batch);
            for pending in self.ask(batch, || 0.0)? {
                match (self.evaluate)(pending.order, &pending.proposal)? {
                    ControlFlow::Continue(value) => told.push((pending.trial, value)),
                    ControlFlow::Break(()) => return Ok(()),
                }
            }
            told.into_iter().try_for_each(|(trial, value)| self.active.tell(trial, value))?;
        }
        Ok(())
    }

    fn one_by_one(mut self, workers: usize, mut rng: ChaCha8Rng) -> Result<()> {
        let mut pending = self.ask(workers, || rng.random_range(0.5..1.5))?;
        let earlier =
            |a: &Pending<Proposal>, b: &Pending<Proposal>| a.finish.total_cmp(&b.finish).then(a.order.cmp(&b.order));
        while let Some(next) = (0..pending.len()).min_by(|&i, &j| earlier(&pending[i], &pending[j])) {
            let done = pending.swap_remove(next);
            match (self.evaluate)(done.order, &done.proposal)? {
                ControlFlow::Continue(value) => self.active.tell(done.trial, value)?,
                ControlFlow::Break(()) => return Ok(()),
            }
            pending.extend(self.ask(1, || done.finish + rng.random_range(0.5..1.5))?);
        }
        Ok(())
    }
}

/// The 32-bit hash of Fowler, Noll and Vo (1a): a number for a name that does not depend on other names.
fn fnv(name: &str) -> usize {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    name.bytes().fold(2_166_136_261, hash) as usize
}
