//! What a study is: domain, prior, strategy, assumptions, seed. Checked once, when it is made.

use std::sync::Arc;

use manyhands_gp::{self as gp, Given, Kernel, Prior, Priors};

use crate::compatibility::{BOX, CUBE, check_combination, refusal};
use crate::domain::can_be_sampled;
use crate::error::Key;
use crate::strategy::{NORM_BOUND, Strategy};
use crate::theory::Assumptions;
use crate::tuning::{DEFAULT_MEMORY, DEFAULT_NODES, FINITE_GRID_POINTS, FINITE_POINTS, learned_grid_points};
use crate::{Domain, Error, Result, Tuning};

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
    /// As it is written in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maximize => "maximize",
            Self::Minimize => "minimize",
        }
    }

    /// What the best of some values is called: "highest" or "lowest".
    pub fn superlative(self) -> &'static str {
        match self {
            Self::Maximize => "highest",
            Self::Minimize => "lowest",
        }
    }

    /// Whether the first of two values is strictly better than the second.
    pub fn is_better(self, first: f64, second: f64) -> bool {
        match self {
            Self::Maximize => first > second,
            Self::Minimize => first < second,
        }
    }

    /// Turns a value of the user's into one to be maximized, and back.
    pub fn sign(self) -> f64 {
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
    /// The given hyperparameters of a learned model; none where the model is given.
    given: Option<Given>,
    nodes: usize,
    tuning: Tuning,
    /// The candidates, if choices among them are exact.
    finite: Option<Arc<gp::Domain>>,
}

impl Spec {
    /// Checks that everything fits together.
    pub fn new(domain: Domain, prior: Prior, strategy: Strategy) -> Result<Self> {
        prior.kernel().check_dimension(domain.dimension())?;
        if let Some(points) = domain.points() {
            if points.is_empty() {
                return Err(gp::Error::Empty { what: "the domain" }.into());
            }
            points.iter().try_for_each(|point| prior.kernel().check_point(point))?;
        }
        if strategy.norm_bound.is_none() && strategy.rule.needs_norm_bound(&strategy) {
            return Err(Error::Needs { what: strategy.rule.into(), need: &NORM_BOUND });
        }
        Self::checked(domain, prior, strategy, None)
    }

    /// A study whose model is learned from the values that arrive: a Matern kernel of smoothness 5/2, which depends on all
    /// parameters together or is mostly a sum over them, whichever explains the values better.
    ///
    /// ```
    /// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let space = Space::new(vec![Parameter::log_float("lr", 1e-5, 1.0)?, Parameter::int("layers", 1, 8)?], vec![])?;
    /// let spec = Spec::learned(Domain::Space(space), Strategy::auto())?;
    /// # assert!(spec.learns());
    /// # Ok(()) }
    /// ```
    pub fn learned(domain: Domain, strategy: Strategy) -> Result<Self> {
        Self::learned_from(&Kernel::matern(2.5, &[1.0])?, domain, strategy)?.with_tuning(Tuning::default())
    }

    /// As [`Spec::learned`], with the family of this kernel, which must be squared exponential or Matern. It depends on all
    /// parameters together, unless [a tuning](Spec::with_tuning) has it compared with sums over them.
    pub fn learned_from(family: &Kernel, domain: Domain, strategy: Strategy) -> Result<Self> {
        Self::learned_given(family, Given::default(), domain, strategy)
    }

    /// As [`Spec::learned_from`], with some hyperparameters given: those are kept, and the rest is learned. Lengthscales are in
    /// the unit cube, the other numbers in the units of the values that will be told.
    ///
    /// ```
    /// use manyhands_core::gp::{Given, Kernel};
    /// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let space = Domain::Space(Space::new(vec![Parameter::float("dose", 0.0, 5.0)?], vec![])?);
    /// let given = Given { noise: Some(0.025), ..Given::default() };
    /// let spec = Spec::learned_given(&Kernel::matern(2.5, &[1.0])?, given, space, Strategy::auto())?;
    /// # assert!(spec.learns());
    /// # Ok(()) }
    /// ```
    #[doc(alias = "hyperparameter")]
    pub fn learned_given(family: &Kernel, given: Given, domain: Domain, strategy: Strategy) -> Result<Self> {
        if !family.is_stationary() {
            let setting = Key::KERNEL.shown_as("a learned model");
            return Err(refusal(setting, "this kernel", "only lengthscales of \"se\" and \"matern\" are learned"));
        }
        if matches!(domain, Domain::Discretized { .. }) {
            let reason = "D_t needs the norm bound of a given kernel; use a space";
            return Err(refusal("a learned model", CUBE, reason));
        }
        given.check(domain.parameters())?;
        let prior = prior_before_data(family, &given, &domain, &Priors::default())?;
        Self::checked(domain, prior, strategy, Some(given))
    }

    fn checked(domain: Domain, prior: Prior, strategy: Strategy, given: Option<Given>) -> Result<Self> {
        strategy.check()?;
        let (direction, memory, nodes) = (Direction::Maximize, DEFAULT_MEMORY, DEFAULT_NODES);
        let (seed, repeats) = (0, true);
        let tuning = Tuning { additive_margin: None, ..Tuning::default() };
        // Learning and sampling compute all candidates again.
        let finite = match (given.is_some(), strategy.rule) {
            (true, rule) if rule.climbs_on_large_grids() => domain.finite_recomputed(prior.kernel(), FINITE_POINTS),
            (true, _) => domain.finite_recomputed(prior.kernel(), learned_grid_points(domain.dimension())),
            (false, rule) if rule.samples() => domain.finite_recomputed(prior.kernel(), FINITE_GRID_POINTS),
            (false, _) => domain.finite(),
        };
        // Where samples over all points do not fit, a space is searched; a list of candidates cannot be.
        let is_sampled = |all: &gp::Domain| can_be_sampled(all, prior.kernel(), memory);
        let may_be_finite = |all: &gp::Domain| !strategy.rule.samples() || domain.space().is_none() || is_sampled(all);
        let finite = finite.filter(may_be_finite).map(Arc::new);
        let spec = Self { domain, prior, strategy, direction, seed, repeats, memory, given, nodes, tuning, finite };
        check_combination(&spec)?;
        Ok(spec)
    }

    /// With this seed for all that is random; 0 unless set.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// To be maximized or minimized; maximized unless set.
    pub fn with_direction(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// Each candidate at most once. Only for finite domains.
    pub fn without_repeats(self) -> Result<Self> {
        if let Domain::Discretized { .. } = self.domain {
            return Err(Error::Incompatible {
                setting: Key::REPEATS.shown_as("repeats = false"),
                with: CUBE,
                reason: "its candidates change from round to round",
            });
        }
        if !self.is_finite() {
            return Err(Error::Incompatible {
                setting: Key::REPEATS.shown_as("repeats = false"),
                with: BOX,
                reason: "it has no list of candidates; without noise \"auto\" does not suggest a point twice there anyway",
            });
        }
        Ok(Self { repeats: false, ..self })
    }

    /// With this many bytes for each of the caches and factors; 256 MiB unless set. Choices do not depend on it, but samples
    /// on an even grid whose lengthscales are too long for exact ones do.
    pub fn with_memory(self, memory: usize) -> Self {
        Self { memory, ..self }
    }

    /// With at most this many cells for every search that proves its result (choices of a given model on a space, and
    /// certificates there); 2,000 unless set. With 0 nothing is searched and the bounds are those of the prior.
    pub fn with_nodes(self, nodes: usize) -> Self {
        Self { nodes, ..self }
    }

    /// With other constants for learning and for `auto`. Only where the model is learned.
    pub fn with_tuning(self, tuning: Tuning) -> Result<Self> {
        let Some(given) = &self.given else {
            return Err(Error::Incompatible {
                setting: "a tuning".into(),
                with: "a given model",
                reason: "it says how a model is learned",
            });
        };
        tuning.check()?;
        let prior = prior_before_data(self.prior.kernel(), given, &self.domain, &tuning.priors)?;
        Ok(Self { prior, tuning, ..self })
    }

    /// What may be chosen.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Kernel, prior mean and noise; where the model is learned, those of standardized values before the first fit.
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

    /// The candidates, if choices among them are exact: as [`Domain::finite`], but where the model is learned or the rule
    /// samples, both of which compute all of them again, a grid of more than 16,384 points is finite only where its structure
    /// makes that cheap. It does on evenly spaced grids, and for the squared exponential on all. With a learned model the
    /// largest is 131,072 points (65,536 with four parameters, 32,768 with five), and for `auto` 16,384. For rules that sample, a
    /// space without that structure has at most 4,096.
    pub fn finite(&self) -> Option<&gp::Domain> {
        self.finite.as_deref()
    }

    /// Whether choices are exact, among [`Spec::finite`] candidates.
    pub fn is_finite(&self) -> bool {
        self.finite.is_some()
    }

    /// Whether the model is learned.
    pub fn learns(&self) -> bool {
        self.given.is_some()
    }

    /// The given hyperparameters, where the rest is learned; none where the whole model is given.
    pub fn given(&self) -> Option<&Given> {
        self.given.as_ref()
    }

    /// The most cells of a search that proves its result.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How a model is learned, and how widely `auto` explores.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Refuses a value that this study cannot accept; every other one can be told to a pending trial.
    pub fn check_value(&self, trial: usize, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Err(Error::Value { trial, value });
        }
        // A learned model standardizes values of any size.
        let is_taken = self.learns() || self.prior.check_value(value).is_ok();
        if is_taken { Ok(()) } else { Err(Error::ValueTooLarge { trial, value }) }
    }

    /// Whether bounds are theorems: the model and the norm bound are given.
    pub fn states_theorems(&self) -> bool {
        !self.learns() && self.strategy.norm_bound.is_some()
    }

    /// B, R, lambda and delta as they are given; refused where B is not.
    pub fn assumptions(&self) -> Result<Assumptions> {
        let norm_bound =
            self.strategy.norm_bound.ok_or(Error::Needs { what: Key::RULE.shown_as("a band"), need: &NORM_BOUND })?;
        Ok(self.strategy.assumptions(norm_bound, self.prior.noise()))
    }
}

/// The prior of standardized values before the first fit: given hyperparameters that do not depend on the values' units,
/// and for the rest the medians of their priors.
fn prior_before_data(family: &Kernel, given: &Given, domain: &Domain, priors: &Priors) -> Result<Prior> {
    let priors = priors.stretched(domain.parameters());
    let scale = |group: usize| given.lengthscales.as_ref().map_or(priors.lengthscale.0, |each| each[group]);
    let lengthscales: Vec<f64> =
        domain.extents().iter().zip(domain.groups()).map(|(extent, group)| extent * scale(group)).collect();
    let ratio = given.noise_ratio().unwrap_or(priors.noise_ratio.0);
    Ok(Prior::new(family.with_lengthscales(&lengthscales)?.with_variance(1.0)?, 0.0, ratio)?)
}
