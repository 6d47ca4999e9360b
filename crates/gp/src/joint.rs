//! Gaussian vectors that learn of one entry at a time, and posterior covariances of any point with some fixed ones.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | c, m, S | means, covariance | a Gaussian vector, its means and its covariance |
//! | tau, nu | precision, shift | what multiplies the density: exp(nu c_i - tau c_i^2/2) |
//! | v(x) | column | L^{-1} k(X, x), by which the covariance of x and y given the rows is k(x, y) - v(x)' v(y) |

use crate::posterior::remaining;
use crate::{Error, Points, Result, View, vector};

/// A Gaussian vector.
///
/// ```
/// use manyhands_gp::Joint;
/// # fn main() -> manyhands_gp::Result<()> {
/// let mut pair = Joint::new(vec![0.0, 0.0], vec![1.0, 0.8, 0.8, 1.0])?;
/// // A measurement 2 of the first entry, with noise of variance 1.
/// pair.multiply(0, 1.0, 2.0);
/// assert!((pair.mean(1) - 0.8).abs() < 1e-15 && (pair.covariance(1, 1) - 0.68).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    means: Vec<f64>,
    /// Row-major.
    covariance: Vec<f64>,
}

impl Joint {
    /// From means and a row-major covariance.
    pub fn new(means: Vec<f64>, covariance: Vec<f64>) -> Result<Self> {
        let (expected, found) = (means.len() * means.len(), covariance.len());
        if found == expected {
            Ok(Self { means, covariance })
        } else {
            Err(Error::WrongLength { what: "the covariance of a vector", expected, found })
        }
    }

    /// How many entries it has.
    #[inline]
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    /// The mean of an entry; panics, as a slice does, past the last.
    #[inline]
    pub fn mean(&self, index: usize) -> f64 {
        self.means[index]
    }

    /// The covariance of two entries; panics, as a slice does, past the last.
    #[inline]
    pub fn covariance(&self, one: usize, other: usize) -> f64 {
        self.covariance[one * self.means.len() + other]
    }

    /// Multiplies the density by exp(shift c - precision c^2/2), c being this entry, which is to learn of a value
    /// shift/precision with noise of variance 1/precision. A negative precision takes such a factor out again.
    pub fn multiply(&mut self, index: usize, precision: f64, shift: f64) {
        let (mean, variance) = (self.means[index], self.covariance(index, index));
        let scale = 1.0 + precision * variance;
        self.learn(index, precision / scale, (shift - precision * mean) / scale);
    }

    /// Fixes an entry of positive variance at a value.
    pub fn fix(&mut self, index: usize, value: f64) {
        let (mean, variance) = (self.means[index], self.covariance(index, index));
        self.learn(index, 1.0 / variance, (value - mean) / variance);
    }

    /// S - gain s s' and m + step s, s being the covariances with an entry.
    fn learn(&mut self, index: usize, gain: f64, step: f64) {
        let len = self.means.len();
        let column = self.covariance[index * len..(index + 1) * len].to_vec();
        for (row, own) in self.covariance.chunks_exact_mut(len).zip(&column) {
            let factor = gain * own;
            row.iter_mut().zip(&column).for_each(|(entry, other)| *entry -= factor * other);
        }
        self.means.iter_mut().zip(&column).for_each(|(mean, own)| *mean += step * own);
    }
}

/// A point as some fixed ones see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointSection<'a> {
    /// Its mean, from observed points.
    pub mean: f64,
    /// Its variance given the rows of the view.
    pub variance: f64,
    /// Its covariance with each of the fixed points, given the rows of the view.
    pub covariances: &'a [f64],
}

/// The posterior covariances of any point with some fixed ones, for which the factor was solved once.
///
/// ```
/// use manyhands_gp::{Kernel, Key, Points, Posterior, Prior, Sections};
/// # fn main() -> manyhands_gp::Result<()> {
/// let mut posterior = Posterior::new(Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
/// let pair = Points::from_flat(1, vec![0.4, 0.5])?;
/// let joint = posterior.view().covariance(&pair)?;
/// let mut sections = Sections::new(posterior.view(), pair)?;
/// assert!((sections.at(&[0.4])?.covariances[1] - joint[1]).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Sections<'a> {
    view: View<'a>,
    points: Points,
    /// v(a) of each fixed point, one after the other.
    columns: Vec<f64>,
    /// v(x) and the covariances of the last point.
    column: Vec<f64>,
    covariances: Vec<f64>,
}

impl<'a> Sections<'a> {
    /// For a view and fixed points.
    pub fn new(view: View<'a>, points: Points) -> Result<Self> {
        let (rows, len) = (view.keys().len(), points.len());
        let (column, covariances) = (vec![0.0; rows], vec![0.0; len]);
        let mut sections = Self { view, points, columns: Vec::with_capacity(rows * len), column, covariances };
        for index in 0..len {
            let point = sections.points.get(index).to_vec();
            sections.solve(&point)?;
            sections.columns.extend_from_slice(&sections.column);
        }
        Ok(sections)
    }

    /// The fixed points.
    #[inline]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// A point as the fixed ones see it.
    pub fn at(&mut self, point: &[f64]) -> Result<PointSection<'_>> {
        self.solve(point)?;
        let (kernel, len) = (self.view.prior().kernel(), self.points.len());
        kernel.fill(point, &self.points, 0..len, &mut self.covariances);
        for (index, covariance) in self.covariances.iter_mut().enumerate() {
            *covariance -= vector::dot(fixed(&self.columns, self.column.len(), index), &self.column);
        }
        Ok(PointSection {
            mean: self.mean(&self.column),
            variance: self.variance(point),
            covariances: &self.covariances,
        })
    }

    /// The fixed points jointly.
    pub fn joint(&self) -> Joint {
        let (kernel, len, rows) = (self.view.prior().kernel(), self.points.len(), self.column.len());
        let column = |index: usize| fixed(&self.columns, rows, index);
        let mut covariance = vec![0.0; len * len];
        for (i, row) in covariance.chunks_exact_mut(len.max(1)).enumerate() {
            kernel.fill(self.points.get(i), &self.points, 0..len, row);
            for (j, entry) in row.iter_mut().enumerate() {
                *entry -= vector::dot(column(i), column(j));
            }
            // Rounding can push it below zero next to an observed point.
            row[i] = row[i].max(0.0);
        }
        Joint { means: (0..len).map(|index| self.mean(column(index))).collect(), covariance }
    }

    /// Sets the column to v(x).
    fn solve(&mut self, point: &[f64]) -> Result<()> {
        let posterior = self.view.posterior();
        posterior.check(point)?;
        self.view.prior().kernel().fill(point, posterior.points(), 0..self.column.len(), &mut self.column);
        posterior.factor().solve_lower(0, &mut self.column);
        Ok(())
    }

    fn mean(&self, column: &[f64]) -> f64 {
        self.view.prior().mean() + vector::dot(&column[..self.view.observed()], self.view.whitened())
    }

    fn variance(&self, point: &[f64]) -> f64 {
        remaining(self.view.prior().kernel().variance_at(point), vector::squares(&self.column))
    }
}

/// One of several columns of a length, which may be 0.
fn fixed(columns: &[f64], rows: usize, index: usize) -> &[f64] {
    &columns[index * rows..(index + 1) * rows]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elimination::solve;
    use crate::{Kernel, Key, Posterior, Prior};

    fn posterior(kernel: Kernel) -> Posterior {
        let mut posterior = Posterior::new(Prior::new(kernel, 0.3, 0.01).unwrap(), 1).unwrap();
        for (id, x) in [0.1, 0.35, 0.4, 0.9].into_iter().enumerate() {
            posterior.observe(Key { id: id as u64, site: id }, &[x], (5.0 * x).sin()).unwrap();
        }
        posterior.hallucinate(Key { id: 4, site: 4 }, &[0.6]).unwrap();
        posterior
    }

    #[test]
    fn sections_are_those_of_the_joint_covariance_and_of_predictions() {
        for kernel in [Kernel::squared_exponential(&[0.2]).unwrap(), Kernel::matern(0.5, &[0.7]).unwrap()] {
            let posterior = posterior(kernel);
            for view in [posterior.view(), posterior.view().observed_only(), posterior.past_view(0)] {
                let points = Points::from_flat(1, vec![0.35, 0.5, 0.77]).unwrap();
                let mut all = points.clone();
                all.push(&[0.62]).unwrap();
                let (covariance, marginals) = (view.covariance(&all).unwrap(), view.predict_all(all.iter()).unwrap());
                let mut sections = Sections::new(view, points).unwrap();
                let joint = sections.joint();
                let section = sections.at(&[0.62]).unwrap();
                let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-13, "{a}, {b}");
                close(section.mean, marginals[3].mean);
                close(section.variance, covariance[15]);
                for i in 0..3 {
                    close(section.covariances[i], covariance[4 * i + 3]);
                    close(joint.mean(i), marginals[i].mean);
                    (0..3).for_each(|j| close(joint.covariance(i, j), covariance[4 * i + j]));
                }
            }
        }
    }

    #[test]
    fn learning_entry_by_entry_is_the_dense_product_of_densities() {
        let covariance = [[2.0, 0.5, -0.3], [0.5, 1.0, 0.4], [-0.3, 0.4, 1.5]];
        let means = [0.1, -0.2, 0.3];
        let (precisions, shifts) = ([3.0, 0.0, 0.7], [1.0, 0.0, -2.0]);
        let mut joint = Joint::new(means.to_vec(), covariance.concat()).unwrap();
        joint.multiply(1, 5.0, 4.0);
        joint.multiply(0, precisions[0], shifts[0]);
        joint.multiply(2, precisions[2], shifts[2]);
        joint.multiply(1, -5.0, -4.0);
        // S' = (S^-1 + T)^-1 = (I + S T)^-1 S, and m' = (I + S T)^-1 (m + S nu).
        let system = (0..3).map(|i| (0..3).map(|j| f64::from(i == j) + covariance[i][j] * precisions[j]).collect());
        let mut sides: Vec<Vec<f64>> = (0..3).map(|j| (0..3).map(|i| covariance[i][j]).collect()).collect();
        sides.push((0..3).map(|i| means[i] + (0..3).map(|j| covariance[i][j] * shifts[j]).sum::<f64>()).collect());
        let (solved, _) = solve(system.collect(), sides);
        for i in 0..3 {
            (0..3).for_each(|j| assert!((joint.covariance(i, j) - solved[j][i]).abs() < 1e-14));
            assert!((joint.mean(i) - solved[3][i]).abs() < 1e-14);
        }
    }

    #[test]
    fn a_fixed_entry_has_its_value_and_no_variance() {
        let mut joint = Joint::new(vec![0.0, 1.0], vec![4.0, 2.0, 2.0, 3.0]).unwrap();
        joint.fix(0, 2.0);
        let known = [joint.mean(0), joint.mean(1), joint.covariance(0, 0), joint.covariance(1, 1)];
        assert_eq!(known, [2.0, 2.0, 0.0, 2.0]);
        assert!(Joint::new(vec![0.0], vec![]).is_err());
    }
}
