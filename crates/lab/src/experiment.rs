//! An experiment: instances of a problem, each with the noise that every algorithm sees, and how rewards arrive. With what
//! the paper's experiments are made of, for those who run one themselves.

use std::sync::Arc;

use manyhands_core::{Spec, Strategy, Study};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use crate::Result;
pub use crate::arm::{Arm, ArmRun, Diagnostic, NormBound, PlayedArm, play_arms};
pub use crate::diagnostics::{BoundedRegret, CertificateCheck, Coverage};
pub use crate::feedback::{Feedback, simulate};
pub use crate::finite_problem::FiniteProblem;
pub use crate::numeric_table::NumericTable;
pub use crate::observation::{Comparison, Finding, Verdict};
pub use crate::regret::Regret;
pub use crate::statistics::{Estimate, Quartiles};
use crate::stream::{ProblemFamily, Purpose, generator};
pub use crate::wilcoxon::SignedRank;

/// How rewards arrive when M rounds are in progress at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The paper's simple batch: M at a time.
    Batch,
    /// The paper's simple delay: each M rounds late.
    Delay,
}

impl Arrival {
    /// S(t) for M workers.
    pub fn feedback(self, workers: usize) -> Feedback {
        match self {
            Self::Batch => Feedback::Batch(workers),
            Self::Delay => Feedback::Delay(workers),
        }
    }

    /// Its name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Delay => "delay",
        }
    }
}

/// One function together with everything random about its runs: all algorithms see the same noise in the same round.
#[derive(Debug, Clone)]
pub struct Instance {
    problem: Arc<FiniteProblem>,
    family: ProblemFamily,
    index: usize,
    seed: u64,
}

impl Instance {
    /// The function, with its domain, prior and optimum.
    pub fn problem(&self) -> &FiniteProblem {
        &self.problem
    }

    /// The noise of the first rounds, N(0, lambda); more rounds have the same beginning.
    pub fn noise(&self, rounds: usize) -> Vec<f64> {
        let mut rng = self.generator(Purpose::Noise);
        let sd = self.problem.prior().noise().sqrt();
        (0..rounds).map(|_| sd * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect()
    }

    /// Runs a strategy for `rounds` rounds.
    pub fn play(&self, strategy: Strategy, feedback: &Feedback, rounds: usize) -> Result<Study> {
        let (domain, prior) = (self.problem.domain().clone(), self.problem.prior().clone());
        let seed = self.generator(Purpose::Study).next_u64();
        let mut study = Study::new(Spec::new(domain, prior, strategy)?.with_seed(seed))?;
        let noise = self.noise(rounds);
        let values = self.problem.values();
        simulate(&mut study, feedback, rounds, |s| values[s.choice.candidate] + noise[s.trial])?;
        Ok(study)
    }

    /// The candidates of uniform random search.
    pub fn search_at_random(&self, rounds: usize) -> Vec<usize> {
        let mut rng = self.generator(Purpose::Search);
        (0..rounds).map(|_| rng.random_range(0..self.problem.values().len())).collect()
    }

    /// The regret of choosing these candidates.
    pub fn regret(&self, candidates: impl IntoIterator<Item = usize>) -> Regret {
        let values = self.problem.values();
        Regret::new(self.problem.optimum(), candidates.into_iter().map(|i| values[i]))
    }

    fn generator(&self, purpose: Purpose) -> rand_chacha::ChaCha8Rng {
        generator(self.seed, purpose, self.family, self.index)
    }
}

/// Instances of one kind.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its heading.
    pub title: String,
    /// How rewards arrive.
    pub arrival: Arrival,
    /// The functions.
    pub instances: Vec<Instance>,
}

impl Experiment {
    pub(crate) fn new(
        title: impl Into<String>,
        arrival: Arrival,
        (family, seed): (ProblemFamily, u64),
        problems: impl IntoIterator<Item = Arc<FiniteProblem>>,
    ) -> Self {
        let instance = |(index, problem)| Instance { problem, family, index, seed };
        Self { title: title.into(), arrival, instances: problems.into_iter().enumerate().map(instance).collect() }
    }
}
