//! A comparison: every optimizer runs on every problem or pool with every seed; performance in quartiles.

use super::clock::{CostClock, timed_cpu};
use super::protocol::{Protocol, SeededRun};
use super::threads::on_threads;
use super::{NotKept, Optimizer, PoolGoal, PoolPerformance, PoolProblem, RunKeeper, SpacePerformance};
use crate::statistics::Quartiles;
use crate::{Error, Result};

/// What optimizers run on: a problem or a pool of candidates.
pub trait TestProblem: Sync {
    /// The performance of an optimizer in one run.
    type Performance: Send;

    /// Its name.
    fn name(&self) -> &str;

    /// One run of one optimizer.
    fn run(&self, optimizer: &Optimizer, protocol: &Protocol, run: &SeededRun) -> Result<PlayedRun<Self::Performance>>;
}

/// What a run has come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayedRun<Performance> {
    /// The optimizer's performance.
    pub performance: Performance,
    /// The processor seconds of other processes.
    pub seconds_elsewhere: f64,
}

/// Which optimizers run, how, and on how many threads; performance does not depend on the number of threads.
#[derive(Debug, Clone)]
pub struct OptimizerComparison {
    /// The optimizers.
    pub optimizers: Vec<Optimizer>,
    /// The protocol of every run.
    pub protocol: Protocol,
    /// How many runs are made at the same time.
    pub threads: usize,
}

impl OptimizerComparison {
    /// The number of runs on so many problems.
    pub fn runs(&self, problems: usize) -> usize {
        problems * self.optimizers.len() * self.protocol.seeds
    }

    /// Refuses optimizers of the same name.
    fn check_names(&self) -> Result<()> {
        let names: Vec<&str> = self.optimizers.iter().map(Optimizer::name).collect();
        match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            Some((_, name)) => {
                let (allowed, value) = ("different from the other optimizers'".to_string(), (*name).to_string());
                Err(Error::Setting { setting: "an optimizer's name", allowed, value })
            }
            None => Ok(()),
        }
    }

    /// Makes every run: for each problem one entry per optimizer, in order. `tick` is called after each run.
    pub fn run<P: TestProblem>(
        &self,
        problems: &[P],
        tick: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<OptimizerRuns<P::Performance>>>> {
        self.run_kept(problems, &NotKept, tick)
    }

    /// Makes the runs that are not known, and keeps them. Those of recorded optimizers that are not known are left out.
    pub fn run_kept<P: TestProblem>(
        &self,
        problems: &[P],
        keeper: &dyn RunKeeper<P>,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<OptimizerRuns<P::Performance>>>> {
        self.protocol.check()?;
        self.check_names()?;
        let pairs =
            problems.iter().flat_map(|problem| self.optimizers.iter().map(move |optimizer| (problem, optimizer)));
        let tasks: Vec<(&P, &Optimizer, u64)> = pairs
            .flat_map(|(problem, optimizer)| self.protocol.seeds().map(move |seed| (problem, optimizer, seed)))
            .collect();
        let finished = on_threads(self.threads, &tasks, |(problem, optimizer, seed)| {
            let finished = match keeper.find(problem, optimizer, &self.protocol, *seed) {
                Some(found) => Ok(Some(found)),
                None if matches!(optimizer, Optimizer::Recorded(_)) => Ok(None),
                None => self.make(*problem, optimizer, keeper, *seed).map(Some),
            };
            tick();
            finished
        })?;
        let mut finished = finished.into_iter();
        let mut runs = |optimizer| {
            let finished = finished.by_ref().take(self.protocol.seeds).flatten().collect();
            OptimizerRuns { optimizer, finished }
        };
        Ok(problems.iter().map(|_| self.optimizers.iter().map(|optimizer| runs(optimizer.clone())).collect()).collect())
    }

    /// Makes one run and keeps it.
    fn make<P: TestProblem>(
        &self,
        problem: &P,
        optimizer: &Optimizer,
        keeper: &dyn RunKeeper<P>,
        seed: u64,
    ) -> Result<FinishedRun<P::Performance>> {
        let run = SeededRun::new(problem.name(), seed);
        let (played, seconds) = timed_cpu(|| problem.run(optimizer, &self.protocol, &run));
        let PlayedRun { performance, seconds_elsewhere } = played?;
        let elsewhere = if CostClock::here() == CostClock::Cpu { seconds_elsewhere } else { 0.0 };
        let finished = FinishedRun { seed, performance, seconds: seconds + elsewhere };
        keeper.keep(problem, optimizer, &self.protocol, finished)
    }
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun<Performance> {
    /// Its seed.
    pub seed: u64,
    /// The optimizer's performance.
    pub performance: Performance,
    /// Its cost: processor seconds on Linux, with those of a program that is compared; wall-clock seconds elsewhere.
    pub seconds: f64,
}

/// An optimizer's runs on one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct OptimizerRuns<Performance> {
    /// The optimizer.
    pub optimizer: Optimizer,
    /// One run per seed.
    pub finished: Vec<FinishedRun<Performance>>,
}

impl<Performance> OptimizerRuns<Performance> {
    /// The cost of all runs.
    pub fn total_seconds(&self) -> f64 {
        self.finished.iter().map(|run| run.seconds).sum()
    }

    /// The median cost of a run.
    pub fn seconds(&self) -> f64 {
        Quartiles::of(self.finished.iter().map(|run| run.seconds)).median
    }
}

impl OptimizerRuns<SpacePerformance> {
    /// log10 of the simple regret after so many evaluations, from 1.
    pub fn log10_regret(&self, evaluations: usize) -> Quartiles {
        let regrets = self.finished.iter().filter_map(|run| run.performance.after(evaluations));
        Quartiles::of(regrets.map(f64::log10))
    }

    /// log10 of the inference regret at the end.
    pub fn log10_inference(&self) -> Quartiles {
        Quartiles::of(self.finished.iter().map(|run| run.performance.inference.log10()))
    }
}

impl OptimizerRuns<PoolPerformance> {
    /// The evaluations until one of the best candidates was evaluated; infinite where none was.
    pub fn evaluations(&self, goal: PoolGoal) -> Quartiles {
        Quartiles::of(self.needed(goal))
    }

    /// The share of the runs that took more evaluations than random order is expected to take.
    pub fn slower_than_random(&self, pool: &PoolProblem, goal: PoolGoal) -> f64 {
        let expected = pool.random_order(goal);
        self.needed(goal).filter(|needed| *needed > expected).count() as f64 / self.finished.len() as f64
    }

    fn needed(&self, goal: PoolGoal) -> impl Iterator<Item = f64> {
        self.finished.iter().map(move |run| run.performance.reached(goal).map_or(f64::INFINITY, |count| count as f64))
    }
}
