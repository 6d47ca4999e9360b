//! What a study is: domain, prior, strategy, assumptions, seed. Checked once, valid ever after.

use manyhands_gp::{self as gp, Family, Grid, Points, Prior};

use crate::confidence::Assumptions;
use crate::strategy::{Hallucination, Information, Initial, Rule, Strategy, require};
use crate::{Error, Result};

/// What may be chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// A finite list of points, or the indices of a covariance matrix ([`Points::indices`]).
    Points(Points),
    /// A full grid.
    Grid(Grid),
    /// The cube [0, side]^dimension, seen at round t through the discretization D_t of the paper's appendix: B L r d t^2
    /// evenly spaced points along every coordinate. For GP-BTS.
    Discretized {
        /// r.
        side: f64,
        /// d.
        dimension: usize,
    },
}

impl Domain {
    /// How many coordinates a point has.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Points(points) => points.dimension(),
            Self::Grid(grid) => grid.axes().len(),
            Self::Discretized { dimension, .. } => *dimension,
        }
    }

    /// As the numbers' room knows it, if it is finite.
    pub fn finite(&self) -> Option<gp::Domain> {
        match self {
            Self::Points(points) => Some(gp::Domain::Points(points.clone())),
            Self::Grid(grid) => Some(gp::Domain::Grid(grid.clone())),
            Self::Discretized { .. } => None,
        }
    }
}

/// Whether the black box is to be maximized or minimized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Larger values are better.
    #[default]
    Maximize,
    /// Smaller values are better.
    Minimize,
}

impl Direction {
    /// Turns a value of the user's into one to be maximized, and back.
    pub(crate) fn sign(self) -> f64 {
        match self {
            Self::Maximize => 1.0,
            Self::Minimize => -1.0,
        }
    }
}

/// A valid description of a study.
///
/// ```
/// use manyhands_core::gp::{Grid, Kernel, Prior};
/// use manyhands_core::{Domain, Rule, Spec, Strategy};
/// # fn main() -> manyhands_core::Result<()> {
/// let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 100)])?);
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.025)?;
/// let spec = Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 1.0))?.with_seed(7);
/// # assert_eq!(spec.seed(), 7);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    domain: Domain,
    prior: Prior,
    strategy: Strategy,
    direction: Direction,
    seed: u64,
    repeats: bool,
    memory: usize,
}

impl Spec {
    /// Checks that everything fits together.
    pub fn new(domain: Domain, prior: Prior, strategy: Strategy) -> Result<Self> {
        prior.kernel().check_dimension(domain.dimension())?;
        if let Domain::Points(points) = &domain {
            if points.is_empty() {
                return Err(gp::Error::Empty { what: "the domain" }.into());
            }
            points.iter().try_for_each(|point| prior.kernel().check_point(point))?;
        }
        strategy.check()?;
        check_combination(&domain, &prior, &strategy)?;
        Ok(Self { domain, prior, strategy, direction: Direction::Maximize, seed: 0, repeats: true, memory: 256 << 20 })
    }

    /// With this seed for all that is random; 0 unless set.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// To be maximized or minimized; maximized unless set.
    pub fn with_direction(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// Each candidate at most once. Not for a discretized cube, whose candidates change from round to round.
    pub fn without_repeats(self) -> Result<Self> {
        if let Domain::Discretized { .. } = self.domain {
            return Err(Error::Incompatible {
                setting: "repeats = false",
                with: CUBE,
                reason: "its candidates change from round to round",
            });
        }
        Ok(Self { repeats: false, ..self })
    }

    /// With this many bytes for each of the caches and factors; 256 MiB unless set. Choices do not depend on it.
    pub fn with_memory(self, memory: usize) -> Self {
        Self { memory, ..self }
    }

    /// What may be chosen.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Kernel, prior mean and noise.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// How to choose.
    pub fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// Maximize or minimize.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether a candidate may be tried again.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Bytes for each of the caches and factors.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// B, R, lambda and delta.
    pub fn assumptions(&self) -> Assumptions {
        let noise = self.prior.noise();
        Assumptions {
            norm_bound: self.strategy.norm_bound,
            noise_bound: self.strategy.noise_bound.unwrap_or(noise.sqrt()),
            noise,
            delta: self.strategy.delta,
        }
    }
}

/// Lemma 2 does not know the kernel.
pub(crate) const NO_CLOSED_FORM: Error = Error::Incompatible {
    setting: "information = \"closed-form\"",
    with: "an empirical kernel",
    reason: "Lemma 2 has no order for it; use \"log\"",
};

const CUBE: &str = "a discretized cube";

/// The appendix's discretization is for samples.
pub(crate) const ONLY_GP_BTS_ON_A_CUBE: Error = Error::Incompatible {
    setting: "this rule",
    with: CUBE,
    reason: "only gp-bts chooses from the appendix's discretization",
};

/// Greedy information gain looks at every candidate.
pub(crate) const NO_GREEDY_GAIN: Error = Error::Incompatible {
    setting: "greedy information",
    with: CUBE,
    reason: "greedy gain needs a finite domain; use \"realised\"",
};

fn check_combination(domain: &Domain, prior: &Prior, strategy: &Strategy) -> Result<()> {
    let refuse = |setting, with, reason| Err(Error::Incompatible { setting, with, reason });
    let empirical = prior.kernel().family() == Family::Empirical;
    if empirical && strategy.information == Information::ClosedForm {
        return Err(NO_CLOSED_FORM);
    }
    if empirical && !matches!(domain, Domain::Points(_)) {
        return refuse("an empirical kernel", "this domain", "its candidates are the indices of the covariance matrix");
    }
    let &Domain::Discretized { side, dimension } = domain else { return Ok(()) };
    require(side > 0.0 && side <= 1e100, "side", "positive and at most 1e100", side)?;
    require((1..=1000).contains(&dimension), "dimension", "from 1 to 1000", dimension as f64)?;
    prior.kernel().lipschitz()?;
    if strategy.rule != Rule::GpBts {
        return Err(ONLY_GP_BTS_ON_A_CUBE);
    }
    if strategy.initial != Initial::None {
        return refuse("initial", CUBE, "the largest variance is not known over a cube; use a grid");
    }
    if matches!(strategy.information, Information::Greedy | Information::GreedyUpper) {
        return Err(NO_GREEDY_GAIN);
    }
    match strategy.hallucination {
        Hallucination::Exact => {
            refuse("hallucination = \"exact\"", CUBE, "it looks at every candidate; use \"realised\"")
        }
        Hallucination::WorstCase if strategy.information == Information::Realised => {
            refuse("hallucination = \"worst-case\"", CUBE, "gamma_{M-1} needs a finite domain or a closed form")
        }
        _ => Ok(()),
    }
}
