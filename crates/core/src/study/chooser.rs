//! What choosing works on: a finite domain, a discretized cube, or a space that is searched.

use std::sync::Arc;

use manyhands_gp::{GreedyInformation, Grid, Prior, Restricted, Sampler, Surface};

use super::continuous::Continuous;
use crate::event::Asked;
use crate::strategy::Rule;
use crate::{Domain, Error, Result, Spec, Value};

/// The largest D_t, and so the longest coordinate, that is sampled.
const LARGEST_DISCRETIZATION: usize = 1 << 24;

/// What choosing works on.
#[derive(Debug, Clone)]
pub(super) enum Chooser {
    Finite(Box<Finite>),
    Discretized { lipschitz: f64 },
    Continuous(Box<Continuous>),
}

/// A finite domain with the candidates still to be had.
#[derive(Debug, Clone)]
pub(super) struct Finite {
    pub surface: Surface,
    pub sampler: Option<Sampler>,
    greedy: Option<GreedyInformation>,
    left: usize,
}

impl Finite {
    pub fn greedy(&mut self, prior: &Prior) -> Result<&mut GreedyInformation> {
        let greedy = match self.greedy.take() {
            Some(greedy) => greedy,
            None => GreedyInformation::new(prior.clone(), self.surface.restricted().clone())?,
        };
        Ok(self.greedy.insert(greedy))
    }
}

impl Chooser {
    /// Over the spec's domain, under this prior.
    pub fn new(spec: &Spec, prior: &Prior) -> Result<Self> {
        let kernel = prior.kernel();
        let domain = match (spec.finite(), spec.domain()) {
            (Some(domain), _) => domain,
            (None, Domain::Space(space)) => return Ok(Self::Continuous(Box::new(Continuous::new(space.clone())))),
            (None, _) => return Ok(Self::Discretized { lipschitz: kernel.lipschitz()? }),
        };
        let restricted = Arc::new(Restricted::new(kernel.clone(), domain, spec.memory())?);
        let sampler = (spec.strategy().rule == Rule::GpBts).then(|| Sampler::new(restricted.clone())).transpose()?;
        let left = restricted.domain().len();
        Ok(Self::Finite(Box::new(Finite { surface: Surface::new(restricted), sampler, greedy: None, left })))
    }

    /// The restriction of the kernel to the domain, if the domain is finite.
    pub fn restricted(&self) -> Option<&Arc<Restricted>> {
        match self {
            Self::Finite(finite) => Some(finite.surface.restricted()),
            Self::Discretized { .. } | Self::Continuous(_) => None,
        }
    }

    /// How many candidates are still to be had, if they can run out.
    pub fn left(&self) -> Option<usize> {
        match self {
            Self::Finite(finite) => Some(finite.left),
            Self::Discretized { .. } | Self::Continuous(_) => None,
        }
    }

    /// Whether a logged candidate can be chosen; on a space that is searched, every valid point can.
    pub fn is_free(&self, spec: &Spec, trial: usize, candidate: usize) -> bool {
        match self {
            Self::Finite(finite) => {
                let inside = candidate < finite.surface.restricted().domain().len();
                inside && !finite.surface.is_excluded(candidate)
            }
            Self::Discretized { .. } => self.discretization(spec, trial).is_ok_and(|grid| candidate < grid.len()),
            Self::Continuous(_) => candidate == trial,
        }
    }

    /// Takes a candidate out of a pool without repeats, or puts it back.
    pub fn set_taken(&mut self, candidate: usize, taken: bool, repeats: bool) {
        if let (Self::Finite(finite), false) = (self, repeats) {
            finite.surface.set_excluded(candidate, taken);
            finite.left = if taken { finite.left - 1 } else { finite.left + 1 };
        }
    }

    /// The coordinates of a candidate; on a space that is searched, those of its parameters.
    pub fn point(&self, spec: &Spec, place: &Place) -> Result<Vec<f64>> {
        match (self, spec.domain()) {
            (Self::Finite(finite), _) => Ok(finite.surface.restricted().domain().point(place.candidate)),
            (Self::Continuous(_), Domain::Space(space)) => space.embed(&place.params),
            _ => Ok(self.discretization(spec, place.trial)?.point(place.candidate)),
        }
    }

    /// D_t of the appendix, t = trial + 1: B L r d t^2 evenly spaced points along every coordinate.
    pub fn discretization(&self, spec: &Spec, trial: usize) -> Result<Grid> {
        let (Self::Discretized { lipschitz }, &Domain::Discretized { side, dimension }) = (self, spec.domain()) else {
            return Err(Error::Incompatible { setting: "D_t".into(), with: "this domain", reason: "it is finite" });
        };
        let t = trial + 1;
        let norm_bound = spec.assumptions()?.norm_bound;
        let exact = norm_bound * lipschitz * side * dimension as f64 * (t * t) as f64;
        let per_coordinate = exact.ceil().max(2.0) as usize;
        let size = u32::try_from(dimension)
            .ok()
            .and_then(|d| per_coordinate.checked_pow(d))
            .filter(|&size| size <= LARGEST_DISCRETIZATION);
        match size {
            Some(_) => Ok(Grid::even(&vec![(0.0, side, per_coordinate); dimension])?),
            None => Err(Error::DiscretizationTooLarge { t, per_coordinate, dimension }),
        }
    }
}

/// Where a trial is: all that tells a point.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub trial: usize,
    pub candidate: usize,
    pub params: Vec<Value>,
}

impl Place {
    /// With the values that a user sees: of a pool the log holds the candidate alone.
    pub fn shown(self, domain: &Domain) -> Self {
        match domain {
            Domain::Pool(pool) => Self { params: pool.params(self.candidate).to_vec(), ..self },
            _ => self,
        }
    }
}

impl From<&Asked> for Place {
    fn from(asked: &Asked) -> Self {
        Self { trial: asked.trial, candidate: asked.candidate, params: asked.params.clone() }
    }
}
