//! The maximum of an acquisition function over a space, with a bound that no point of it exceeds.

use manyhands_gp::{Budget, FeasibleSet, Provable, Region, maximize};

use super::Context;
use crate::maximize::Maximum;
use crate::tuning::PROOF_TOLERANCE;
use crate::{Result, Space};

/// The best point that a search has found, and a bound that no point of the space exceeds.
#[derive(Debug, Clone)]
pub(super) struct Proven {
    pub maximum: Maximum,
    pub upper: f64,
    is_vacuous: bool,
}

impl Proven {
    /// How much the best point of the space may be better; none where rounding makes most of it, so that it says nothing of
    /// the point.
    pub fn gap(&self) -> Option<f64> {
        (!self.is_vacuous).then_some(self.upper - self.maximum.score)
    }
}

/// A bound of all scores, and the best point known after proving it: `best` unless the search finds a better one.
pub(super) fn prove(space: &Space, context: Context<'_>, goal: Provable, best: Maximum) -> Result<Proven> {
    let Context { spec, view, .. } = context;
    let tolerance = PROOF_TOLERANCE * best.score.abs().max(1e-9);
    let budget = Budget { nodes: spec.nodes(), tolerance };
    let valid = ValidPoints { space, region: region(space)? };
    let found = maximize(view, goal, &valid, budget, &[best.point])?;
    let maximum = Maximum { point: found.point, score: found.score };
    Ok(Proven { maximum, upper: found.upper, is_vacuous: found.is_vacuous })
}

/// The coordinates of valid values that satisfy all constraints.
struct ValidPoints<'a> {
    space: &'a Space,
    region: Region,
}

impl FeasibleSet for ValidPoints<'_> {
    fn region(&self) -> &Region {
        &self.region
    }

    fn nearest_feasible(&self, point: Vec<f64>) -> Vec<f64> {
        self.space.repair(&point)
    }

    fn excludes(&self, low: &[f64], high: &[f64]) -> bool {
        self.space.excludes(low, high)
    }
}

/// The unit cube with the options of its discrete blocks.
fn region(space: &Space) -> Result<Region> {
    let dimension = space.dimension();
    let mut region = Region::new(&vec![0.0; dimension], &vec![1.0; dimension])?;
    for block in space.blocks() {
        if let Some(options) = block.options() {
            region = region.with_options(block.coordinates(), options.to_vec())?;
        }
    }
    Ok(region)
}
