//! An experiment: instances of a problem, each with the noise that every algorithm sees, and how rewards arrive. With what
//! the paper's experiments are made of, for those who run one themselves.

use std::sync::Arc;

use manyhands_core::{Domain, Spec, Strategy, Study};
use manyhands_gp::Grid;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

pub use crate::arm::{Arm, ArmRun, Diagnostic, NormBound, PlayedArm, play_arms};
pub use crate::arrival::{Arrival, ListedArrival};
pub use crate::diagnostics::{BoundedRegret, CertificateCheck, Coverage, RunBounds};
pub use crate::feedback::{Feedback, simulate};
pub use crate::finite_problem::FiniteProblem;
pub use crate::numeric_table::NumericTable;
pub use crate::observation::{Comparison, Finding, Verdict};
pub use crate::regret::Regret;
pub use crate::statistics::{Estimate, Quartiles};
use crate::stream::{ProblemFamily, Purpose, generator};
pub use crate::wilcoxon::SignedRank;
use crate::{Error, Result};

/// The points of [0, 1] that a rule may choose in place of a problem's candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitInterval {
    /// This many evenly spaced ones.
    Fixed(usize),
    /// D_t of the paper's appendix.
    Growing,
}

impl UnitInterval {
    fn domain(self) -> Result<Domain> {
        Ok(match self {
            Self::Fixed(points) => Domain::Grid(Grid::even(&[(0.0, 1.0, points)])?),
            Self::Growing => Domain::Discretized { side: 1.0, dimension: 1 },
        })
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
        let mut study = self.study(self.problem.domain().clone(), strategy)?;
        let (noise, values) = (self.noise(rounds), self.problem.values());
        simulate(&mut study, feedback, rounds, |s| values[s.choice.candidate] + noise[s.trial])?;
        Ok(study)
    }

    /// Runs a strategy on [0, 1] in place of the problem's candidates. Regret is that against the maximum over [0, 1].
    pub fn play_on_interval(
        &self,
        interval: UnitInterval,
        strategy: Strategy,
        (feedback, rounds): (&Feedback, usize),
    ) -> Result<Regret> {
        let function = self.problem.function().ok_or_else(|| Error::Problem {
            name: self.problem.name().to_string(),
            reason: "its values are known at its candidates alone".to_string(),
        })?;
        let mut study = self.study(interval.domain()?, strategy)?;
        let noise = self.noise(rounds);
        let run = simulate(&mut study, feedback, rounds, |s| function.value(s.point[0]) + noise[s.trial])?;
        Ok(Regret::new(function.maximum(), run.iter().map(|s| function.value(s.point[0]))))
    }

    fn study(&self, domain: Domain, strategy: Strategy) -> Result<Study> {
        let seed = self.generator(Purpose::Study).next_u64();
        Ok(Study::new(Spec::new(domain, self.problem.prior().clone(), strategy)?.with_seed(seed))?)
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

    /// The same functions with the same noise, seen by priors whose kernels are this many times as large.
    pub(crate) fn with_kernel_times(&self, factor: f64, title: String) -> Result<Self> {
        let instance = |instance: &Instance| {
            let problem = instance.problem().clone().with_kernel_times(factor)?;
            Ok(Instance { problem: Arc::new(problem), ..instance.clone() })
        };
        let instances = self.instances.iter().map(instance).collect::<Result<_>>()?;
        Ok(Self { title, arrival: self.arrival.clone(), instances })
    }
}
