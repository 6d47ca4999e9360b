//! Choosing from the discretization D_t of the paper's appendix, which grows with the round: for samples only.

use manyhands_gp::{Grid, Marginal, Prior, draw_on_grid};

use super::{Chooser, Context, Place, generator, peak};
use crate::theory::Discretization;
use crate::{Choice, Domain, Error, Result, Spec};

/// A cube, seen at round t through D_t.
#[derive(Debug, Clone)]
pub(super) struct Discretized(Discretization);

impl Discretized {
    pub fn new(spec: &Spec, prior: &Prior) -> Result<Self> {
        let &Domain::Discretized { side, dimension } = spec.domain() else {
            return Err(Error::Internal { what: "D_t is wanted of a domain that is no cube" });
        };
        let (norm_bound, lipschitz) = (spec.assumptions()?.norm_bound, prior.kernel().lipschitz()?);
        Ok(Self(Discretization { norm_bound, lipschitz, side, dimension, tolerance: 1.0 }))
    }

    /// D_t of the appendix, t = trial + 1.
    fn discretization(&self, trial: usize) -> Result<Grid> {
        let axis = (0.0, self.0.side, self.0.sampled_points(trial + 1)?);
        Ok(Grid::even(&vec![axis; self.0.dimension])?)
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
        prior.kernel().variance_at(&vec![self.0.side; self.0.dimension])
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
