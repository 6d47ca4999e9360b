//! Sampled functions against the best point: where each is highest, compared with its value there.

use manyhands_gp::{Points, View};
use rand_chacha::ChaCha8Rng;

use crate::Result;

/// The best point, the points that may be better, and how far samples deviate from the mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contest<'a> {
    pub best: &'a [f64],
    pub contenders: &'a Points,
    /// The factor on the samples' standard deviation.
    pub scale: f64,
}

/// A sampled function: its value at the best point, and the highest one that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SampledPeak {
    pub at_best: f64,
    pub highest: f64,
}

/// Functions drawn jointly at the contenders and the best point.
pub(crate) fn peaks_among(
    view: View<'_>,
    contest: Contest<'_>,
    count: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<SampledPeak>> {
    let mut points = contest.contenders.clone();
    points.push(contest.best)?;
    let draws = view.draw_jointly(&points, contest.scale, count, rng)?;
    let peak = |draw: &Vec<f64>| {
        let at_best = draw[draw.len() - 1];
        SampledPeak { at_best, highest: draw.iter().copied().fold(at_best, f64::max) }
    };
    Ok(draws.iter().map(peak).collect())
}
