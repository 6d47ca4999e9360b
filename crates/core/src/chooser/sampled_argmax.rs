//! Where samples are highest, with the points that stand for their slope and curvature there.

use manyhands_gp::{Points, SamplePath, SamplePaths};

use crate::maximize::{Maximum, Search};
use crate::space::Block;
use crate::tuning::STENCIL_STEP;
use crate::{Error, Result};

/// Where a sample is highest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SampledArgmax {
    pub point: Vec<f64>,
    /// For each coordinate along which the domain goes on in both directions, a point on each side at the same small distance.
    pub around: Vec<[Vec<f64>; 2]>,
}

/// Where sample paths are highest, climbed from the best of some candidates.
pub(super) fn argmaxes_of_paths(
    search: &Search<'_>,
    candidates: &Points,
    paths: &SamplePaths,
) -> Result<Vec<SampledArgmax>> {
    let values = candidates.iter().map(|x| paths.values(x)).collect::<manyhands_gp::Result<Vec<_>>>()?;
    let argmax = |(index, path): (usize, &SamplePath)| {
        let mut objective =
            |x: &[f64], gradient: &mut [f64]| path.value_and_gradient(x, gradient).unwrap_or(f64::NEG_INFINITY);
        let scores: Vec<f64> = values.iter().map(|values| values[index]).collect();
        let found = search.maximize(|i| candidates.get(i), &scores, &mut objective);
        let Maximum { point, .. } = found.ok_or(Error::Internal { what: "a sample path is finite nowhere" })?;
        Ok(SampledArgmax { around: around(search, &point), point })
    };
    paths.paths().iter().enumerate().map(argmax).collect()
}

/// The points on both sides of one, along each continuous coordinate in which both are in the space.
fn around(search: &Search<'_>, point: &[f64]) -> Vec<[Vec<f64>; 2]> {
    let beside = |block: &Block| {
        let j = block.coordinates().start;
        let step = STENCIL_STEP * search.lengthscales[j].min(1.0);
        let moved = |by: f64| {
            let mut other = point.to_vec();
            other[j] += by;
            ((0.0..=1.0).contains(&other[j]) && search.space.feasible(&other)).then_some(other)
        };
        Some([moved(step)?, moved(-step)?])
    };
    search.space.blocks().iter().filter(|block| block.is_continuous()).filter_map(beside).collect()
}
