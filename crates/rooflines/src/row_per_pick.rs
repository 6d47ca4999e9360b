//! The plain implementation: IGP-BUCB that keeps L^{-1} K(X, D), a row of |D| numbers per pick.
//!
//! | symbol | name | shape |
//! |---|---|---|
//! | V = L^{-1} K(X, D) | rows | n x \|D\| |
//! | l | the new row of L: V at the new point, no solve needed | n |
//! | z | whitened | L^{-1} y of the observed points |
//!
//! A new row is (k(x, D) - l' V)/pivot, one pass over all of V; variances fall by its squares, means rise by z times
//! it. Each pass goes by chunks of columns that fit the first-level cache, four rows of V at a time, on all threads.

use manyhands_gp::{Grid, Kernel, TIE};
use rayon::prelude::*;

/// Columns that one task works on, rounded to whole rows of the grid.
const CHUNK: usize = 2048;
const LANES: usize = 8;

/// Means and variances over a two-dimensional grid, with the rows they are made of.
#[derive(Debug, Clone)]
pub struct RowPerPick {
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
    /// The prior, of mean 0 and variance 1; none unless the kernel is a product over the two axes of the grid.
    pub fn new(kernel: &Kernel, grid: &Grid, noise: f64) -> Option<Self> {
        let [first, second] = grid.axes() else { return None };
        let axes = [(kernel.axis(0)?, first.clone()), (kernel.axis(1)?, second.clone())];
        let (means, variances) = (vec![0.0; grid.len()], vec![1.0; grid.len()]);
        Some(Self { axes, noise, rows: vec![], pending: vec![], whitened: vec![], means, variances })
    }

    fn width(&self) -> usize {
        self.axes[1].1.len()
    }

    fn chunk(&self) -> usize {
        self.width() * (CHUNK / self.width()).max(1)
    }

    /// The lowest index whose mean + multiplier x sd ties with the highest one.
    pub fn argmax_upper(&self, multiplier: f64) -> usize {
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
    ///
    /// # Panics
    ///
    /// If there is no such candidate.
    pub fn append(&mut self, site: usize) {
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
    ///
    /// # Panics
    ///
    /// If fewer points are pending than values are given.
    pub fn tell(&mut self, values: &[f64]) {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use manyhands_gp::{Key, Posterior, Prior};

    use super::*;

    const NOISE: f64 = 0.025;

    #[test]
    fn its_surfaces_are_the_posterior() {
        let kernel = Kernel::squared_exponential(&[0.2, 0.25]).unwrap();
        let grid = Grid::even(&[(0.0, 1.0, 7), (0.0, 1.0, 7)]).unwrap();
        let mut rows = RowPerPick::new(&kernel, &grid, NOISE).unwrap();
        let mut posterior = Posterior::new(Prior::new(kernel, 0.0, NOISE).unwrap(), 2).unwrap();
        let sites = [3, 17, 3, 40, 22, 48];
        for (id, &site) in sites.iter().enumerate() {
            rows.append(site);
            posterior.hallucinate(Key { id: id as u64, site }, &grid.point(site)).unwrap();
        }
        let values = [0.3, -0.7, 0.4, 1.2];
        rows.tell(&values);
        values.iter().enumerate().for_each(|(id, &value)| posterior.settle(id as u64, value).unwrap());
        // |L^{-1}| <= 1/sqrt(noise) and |y| < 2.
        let tolerance = 64.0 * sites.len() as f64 * f64::EPSILON * 2.0 / NOISE;
        for i in 0..grid.len() {
            let expected = posterior.predict(&grid.point(i)).unwrap();
            assert!((rows.means[i] - expected.mean).abs() <= tolerance);
            assert!((rows.variances[i] - expected.sd.powi(2)).abs() <= tolerance);
        }
    }
}
