//! Choosing from the discretization D_t of the paper's appendix, which grows with the round: for samples only.

use manyhands_gp::{self as gp, Acquisition, Grid, LevelSet, Posterior, Prior, draw_on_grid};

use super::{Chooser, Context, EXHAUSTED, Extremes, Place, Widest, generator, peak};
use crate::compatibility::ONLY_GP_BTS_ON_A_CUBE;
use crate::{Choice, Domain, Error, Phase, Result, Spec};

/// The largest D_t, and so the longest coordinate, that is sampled.
const LARGEST_DISCRETIZATION: usize = 1 << 24;

/// A cube, seen at round t through D_t.
#[derive(Debug, Clone)]
pub(super) struct Discretized {
    lipschitz: f64,
}

impl Discretized {
    pub fn new(prior: &Prior) -> Result<Self> {
        Ok(Self { lipschitz: prior.kernel().lipschitz()? })
    }

    /// D_t of the appendix, t = trial + 1: B L r d t^2 evenly spaced points along every coordinate.
    fn discretization(&self, spec: &Spec, trial: usize) -> Result<Grid> {
        let &Domain::Discretized { side, dimension } = spec.domain() else {
            return Err(Error::Internal { what: "D_t is wanted of a domain that is no cube" });
        };
        let t = trial + 1;
        let norm_bound = spec.assumptions()?.norm_bound;
        let exact = norm_bound * self.lipschitz * side * dimension as f64 * (t * t) as f64;
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
    fn design(&mut self, _: Context<'_>) -> Result<Option<Choice>> {
        Ok(None)
    }

    fn widest(&mut self, _: Context<'_>) -> Result<Widest> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    fn argmax(&mut self, _: Context<'_>, _: &dyn Acquisition) -> Result<Choice> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    fn argmax_within(&mut self, _: Context<'_>, _: &dyn Acquisition, _: &LevelSet<'_>) -> Result<Option<Choice>> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    fn argmax_of_sample(&mut self, context: Context<'_>, multiplier: f64) -> Result<Choice> {
        let Context { spec, view, trial } = context;
        let grid = self.discretization(spec, trial)?;
        let sample = draw_on_grid(view, &grid, multiplier, spec.memory(), &mut generator(spec, trial))?;
        let (candidate, score) = peak(&sample, |_| true).ok_or(EXHAUSTED)?;
        let gp::Marginal { mean, sd, sd_observed } = view.posterior().predict(&grid.point(candidate))?;
        let sd = if view.keys().len() == view.observed() { sd_observed } else { sd };
        let (params, gap, phase) = (vec![], Some(0.0), Phase::Rule);
        Ok(Choice { candidate, params, mean, sd, multiplier, score, gap, phase })
    }

    fn best_new(&mut self, _: Context<'_>, _: &dyn Acquisition) -> Result<Option<Choice>> {
        Ok(None)
    }

    fn highest(&mut self, _: Context<'_>, _: f64) -> Result<f64> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    fn band(&mut self, _: Context<'_>, _: f64) -> Result<Extremes> {
        Err(Error::Incompatible {
            setting: "a certificate".into(),
            with: "a discretized cube",
            reason: "its candidates change from round to round; use a space",
        })
    }

    fn next_band_checkpoint(&self, _: usize) -> Option<usize> {
        None
    }

    fn is_known(&self, _: &Posterior, _: &Choice) -> Result<bool> {
        Ok(false)
    }

    fn log_size(&self) -> f64 {
        f64::INFINITY
    }

    fn largest_variance(&self, spec: &Spec, prior: &Prior) -> f64 {
        match spec.domain() {
            Domain::Discretized { side, dimension } => prior.kernel().variance_at(&vec![*side; *dimension]),
            domain => prior.kernel().variance_at(&vec![1.0; domain.dimension()]),
        }
    }

    fn is_available(&self, spec: &Spec, trial: usize, candidate: usize) -> bool {
        self.discretization(spec, trial).is_ok_and(|grid| candidate < grid.len())
    }

    fn point(&self, spec: &Spec, place: &Place) -> Result<Vec<f64>> {
        Ok(self.discretization(spec, place.trial)?.point(place.candidate))
    }

    fn boxed_clone(&self) -> Box<dyn Chooser> {
        Box::new(self.clone())
    }
}
