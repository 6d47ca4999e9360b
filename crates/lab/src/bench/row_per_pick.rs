//! The rival implementation: IGP-BUCB that keeps L^{-1} K(X, D), a row of |D| numbers per pick.
//!
//! | symbol | name | shape |
//! |---|---|---|
//! | V = L^{-1} K(X, D) | rows | n x \|D\| |
//! | l | the new row of L: V at the new point, no solve needed | n |
//! | z | whitened | L^{-1} y of the observed points |
//!
//! A new row is (k(x, D) - l' V)/pivot, one pass over all of V; variances fall by its squares, means rise by z times
//! it. Each pass goes by chunks of columns that fit the first-level cache, four rows of V at a time, on all threads.

use manyhands_core::Spec;
use manyhands_core::theory::Assumptions;
use manyhands_gp::{Grid, Kernel, Key, Posterior, TIE};
use rayon::prelude::*;

use super::black_box::{self, BATCH};
use super::cost::{peak_memory, timed_wall};
use super::live::LiveRun;
use super::{Monitor, Task};
use crate::{Error, Result};

/// Columns that one task works on, rounded to whole rows of the grid.
const CHUNK: usize = 2048;
const LANES: usize = 8;

/// Means and variances over a two-dimensional grid, with the rows they are made of.
struct RowPerPick {
    axes: [(Kernel, Vec<f64>); 2],
    noise: f64,
    rows: Vec<Vec<f64>>,
    /// The rows of L of the pending points, with their pivots.
    pending: Vec<(Vec<f64>, f64)>,
    whitened: Vec<f64>,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl RowPerPick {
    /// The prior, of variance 1.
    fn new(kernel: &Kernel, grid: &Grid, noise: f64) -> Result<Self> {
        let axis = |a: usize| match kernel.axis(a) {
            Some(kernel) => Ok((kernel, grid.axes()[a].clone())),
            None => {
                let reason = "it needs a product kernel".to_string();
                Err(Error::Measurement { what: "a row per pick".to_string(), reason })
            }
        };
        let (means, variances) = (vec![0.0; grid.len()], vec![1.0; grid.len()]);
        let axes = [axis(0)?, axis(1)?];
        Ok(Self { axes, noise, rows: vec![], pending: vec![], whitened: vec![], means, variances })
    }

    fn width(&self) -> usize {
        self.axes[1].1.len()
    }

    fn chunk(&self) -> usize {
        self.width() * (CHUNK / self.width()).max(1)
    }

    /// The lowest index whose score ties with the highest one.
    fn best(&self, multiplier: f64) -> usize {
        let chunk = self.chunk();
        let peaks: Vec<f64> = (self.means.par_chunks(chunk).zip(self.variances.par_chunks(chunk)))
            .map(|(means, variances)| highest(means, variances, multiplier))
            .collect();
        let highest = peaks.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let threshold = highest - TIE * highest.abs().max(1.0);
        let from = chunk * peaks.iter().position(|&peak| peak >= threshold).unwrap_or(0);
        let scores = self.means[from..].iter().zip(&self.variances[from..]);
        from + scores.map(|(m, v)| m + multiplier * v.sqrt()).position(|s| s >= threshold).unwrap_or(0)
    }

    /// Hallucinates a value at candidate `site`.
    fn append(&mut self, site: usize) {
        let (width, chunk) = (self.width(), self.chunk());
        let weights: Vec<f64> = self.rows.iter().map(|row| -row[site]).collect();
        let pivot = (self.noise + self.variances[site]).sqrt();
        let across = self.covariances(0, site / width);
        let along = self.covariances(1, site % width);
        let mut new = vec![0.0; self.means.len()];
        let rows = &self.rows;
        new.par_chunks_mut(chunk).zip(self.variances.par_chunks_mut(chunk)).enumerate().for_each(
            |(i, (new, variances))| {
                for (line, k) in new.chunks_mut(width).zip(&across[i * chunk / width..]) {
                    line.iter_mut().zip(&along).for_each(|(value, l)| *value = k * l);
                }
                accumulate(new, rows, i * chunk, &weights);
                for (value, variance) in new.iter_mut().zip(variances) {
                    *value /= pivot;
                    *variance = (*variance - *value * *value).max(0.0);
                }
            },
        );
        self.rows.push(new);
        self.pending.push((weights.into_iter().map(|w| -w).collect(), pivot));
    }

    /// Gives the pending points their values, oldest first.
    fn tell(&mut self, values: &[f64]) {
        let first = self.whitened.len();
        for (value, (row, pivot)) in values.iter().zip(self.pending.drain(..values.len())) {
            let explained: f64 = row.iter().zip(&self.whitened).map(|(l, z)| l * z).sum();
            self.whitened.push((value - explained) / pivot);
        }
        let (rows, chunk) = (&self.rows[first..first + values.len()], self.chunk());
        let new = &self.whitened[first..];
        let means = self.means.par_chunks_mut(chunk).enumerate();
        means.for_each(|(i, means)| accumulate(means, rows, i * chunk, new));
    }

    fn covariances(&self, axis: usize, position: usize) -> Vec<f64> {
        let (kernel, coordinates) = &self.axes[axis];
        coordinates.iter().map(|&c| kernel.covariance(&[coordinates[position]], &[c])).collect()
    }
}

/// Adds the weighted `rows` to `out`, which begins at column `from`; four at a time, so that `out` is read less often.
fn accumulate(out: &mut [f64], rows: &[Vec<f64>], from: usize, weights: &[f64]) {
    let columns = from..from + out.len();
    let (fours, rest) = rows.as_chunks::<4>();
    let (four_weights, rest_weights) = weights.as_chunks::<4>();
    for (rows, [a, b, c, d]) in fours.iter().zip(four_weights) {
        let [p, q, r, s] = rows.each_ref().map(|row| &row[columns.clone()]);
        for ((((out, p), q), r), s) in out.iter_mut().zip(p).zip(q).zip(r).zip(s) {
            *out += (a * p + b * q) + (c * r + d * s);
        }
    }
    for (row, weight) in rest.iter().zip(rest_weights) {
        out.iter_mut().zip(&row[columns.clone()]).for_each(|(out, v)| *out += weight * v);
    }
}

/// The highest mean + multiplier x sd, in lanes.
fn highest(means: &[f64], variances: &[f64], multiplier: f64) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let (blocks, rest) = means.as_chunks::<LANES>();
    let (variance_blocks, variance_rest) = variances.as_chunks::<LANES>();
    for (means, variances) in blocks.iter().zip(variance_blocks) {
        for l in 0..LANES {
            let score = means[l] + multiplier * variances[l].sqrt();
            lanes[l] = if score > lanes[l] { score } else { lanes[l] };
        }
    }
    let rest = rest.iter().zip(variance_rest).map(|(m, v)| m + multiplier * v.sqrt());
    lanes.into_iter().chain(rest).fold(f64::NEG_INFINITY, f64::max)
}

/// The same run as [`super::live::run`] by the rival method. Its multipliers come from a separate posterior, whose time is
/// not counted.
pub fn run(side: usize, rounds: usize, monitor: &dyn Monitor) -> Result<LiveRun> {
    let task = monitor.begin(&format!("a row per pick, {side} x {side}"), rounds);
    compete(&black_box::spec(side)?, &black_box::grid(side)?, rounds, task.as_ref())
}

fn compete(spec: &Spec, grid: &Grid, rounds: usize, task: &dyn Task) -> Result<LiveRun> {
    let mut rows = RowPerPick::new(spec.prior().kernel(), grid, spec.prior().noise())?;
    let mut posterior = Posterior::new(spec.prior().clone(), 2)?;
    let (mut picks, mut seconds) = (Vec::new(), Vec::new());
    while picks.len() < rounds {
        let (first, mut clock) = (picks.len(), 0.0);
        for trial in first..rounds.min(first + BATCH) {
            let multiplier = multiplier(&spec.assumptions()?, &posterior)?;
            let (site, choosing) = timed_wall(|| rows.best(multiplier));
            clock += choosing + timed_wall(|| rows.append(site)).1;
            posterior.hallucinate(Key { id: trial as u64, site }, &grid.point(site))?;
            picks.push(site);
        }
        let told = picks[first..].iter().zip(first..);
        let values: Vec<f64> = told.map(|(&site, trial)| black_box::value(trial, &grid.point(site))).collect();
        clock += timed_wall(|| rows.tell(&values)).1;
        values.iter().zip(first..).try_for_each(|(&value, trial)| posterior.settle(trial as u64, value))?;
        seconds.push(clock);
        task.advance(values.len());
    }
    Ok(LiveRun { picks, seconds, peak: peak_memory() })
}

fn multiplier(assumptions: &Assumptions, posterior: &Posterior) -> Result<f64> {
    Ok(assumptions.igp_bucb(posterior.information(), posterior.hallucination_factor()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::Silent;
    use super::super::live::run_study;
    use super::*;

    #[test]
    fn the_rival_makes_the_same_picks() {
        let (spec, grid) = (black_box::spec(20).unwrap(), black_box::grid(20).unwrap());
        let theirs = compete(&spec, &grid, 63, &Silent).unwrap();
        let (ours, _) = run_study(20, 63, &Silent).unwrap();
        assert_eq!(theirs.picks.len(), 63);
        assert_eq!(theirs.picks, ours.picks);
    }

    #[test]
    fn its_surfaces_are_the_posterior() {
        let (spec, grid) = (black_box::spec(7).unwrap(), black_box::grid(7).unwrap());
        let mut rows = RowPerPick::new(spec.prior().kernel(), &grid, black_box::NOISE).unwrap();
        let mut posterior = Posterior::new(spec.prior().clone(), 2).unwrap();
        let sites = [3, 17, 3, 40, 22, 48];
        for (id, &site) in sites.iter().enumerate() {
            rows.append(site);
            posterior.hallucinate(Key { id: id as u64, site }, &grid.point(site)).unwrap();
        }
        let values = [0.3, -0.7, 0.4, 1.2];
        rows.tell(&values);
        values.iter().enumerate().for_each(|(id, &value)| posterior.settle(id as u64, value).unwrap());
        // |L^{-1}| <= 1/sqrt(noise) and |y| < 2.
        let tolerance = 64.0 * sites.len() as f64 * f64::EPSILON * 2.0 / black_box::NOISE;
        for i in 0..grid.len() {
            let expected = posterior.predict(&grid.point(i)).unwrap();
            assert!((rows.means[i] - expected.mean).abs() <= tolerance);
            assert!((rows.variances[i] - expected.sd.powi(2)).abs() <= tolerance);
        }
    }
}
