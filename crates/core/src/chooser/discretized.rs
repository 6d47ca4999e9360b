//! Choosing from the discretization D_t of the paper's appendix, which grows with the round: for samples only.

use manyhands_gp::{Grid, Marginal, Prior, draw_on_grid};

use super::{Chooser, Context, Place, generator, peak};
use crate::{Choice, Domain, Error, Result, Spec};

/// The largest D_t, and so the longest coordinate, that is sampled.
const LARGEST_DISCRETIZATION: usize = 1 << 24;

/// A cube, seen at round t through D_t.
#[derive(Debug, Clone)]
pub(super) struct Discretized {
    side: f64,
    dimension: usize,
    norm_bound: f64,
    lipschitz: f64,
}

impl Discretized {
    pub fn new(spec: &Spec, prior: &Prior) -> Result<Self> {
        let &Domain::Discretized { side, dimension } = spec.domain() else {
            return Err(Error::Internal { what: "D_t is wanted of a domain that is no cube" });
        };
        let (norm_bound, lipschitz) = (spec.assumptions()?.norm_bound, prior.kernel().lipschitz()?);
        Ok(Self { side, dimension, norm_bound, lipschitz })
    }

    /// D_t of the appendix, t = trial + 1: B L r d t^2 evenly spaced points along every coordinate.
    fn discretization(&self, trial: usize) -> Result<Grid> {
        let &Self { side, dimension, norm_bound, lipschitz } = self;
        let t = trial + 1;
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

impl Chooser for Discretized {
    fn argmax_of_sample(&mut self, context: Context<'_>, multiplier: f64) -> Result<Choice> {
        let Context { spec, view, trial } = context;
        let grid = self.discretization(trial)?;
        let sample = draw_on_grid(view, &grid, multiplier, spec.memory(), &mut generator(spec, trial))?;
        let (candidate, score) = peak(&sample, |_| true).ok_or(Error::Internal { what: "D_t is empty" })?;
        let Marginal { mean, sd, .. } = view.predict(&grid.point(candidate))?;
        Ok(Choice { candidate, mean, sd, multiplier, score, gap: Some(0.0), ..Choice::wide() })
    }

    /// At the farthest corner of the cube: the linear kernel's variance grows towards it.
    fn largest_variance(&self, prior: &Prior) -> f64 {
        prior.kernel().variance_at(&vec![self.side; self.dimension])
    }

    fn is_available(&self, trial: usize, candidate: usize) -> bool {
        self.discretization(trial).is_ok_and(|grid| candidate < grid.len())
    }

    fn point(&self, place: &Place) -> Result<Vec<f64>> {
        Ok(self.discretization(place.trial)?.point(place.candidate))
    }

    fn boxed_clone(&self) -> Box<dyn Chooser> {
        Box::new(self.clone())
    }
}
