//! The posterior given that the maximum is at one place.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | x* | star | the place |
//! | x_j | | the different observed points |
//! | c_j | | f(x*) - f(x_j), not negative; and 2 f(x*) - f(x* + h) - f(x* - h), not negative |
//! | d_j | | f(x* + h) - f(x* - h), zero up to the third derivative |
//! | tau, nu | | the factors that stand for c_j >= 0; a value nu/tau of c_j with noise of variance 1/tau |
//! | L | factor | of the covariance of all d_j and c_j, plus that noise |
//! | m_1, V_11 | mean, variance | of f(x) after all this |
//! | m_2, V_22, V_12 | star | of f(x*), and their covariance |
//!
//! All constraints are linear in the values of f at finitely many points, so that they condition any point by its covariances
//! with those. The points x* + h and x* - h stand for the slope and the curvature at x* along one coordinate; none of them
//! are there on a finite domain.

use manyhands_gp::{Factor, Joint, PointSection, Sections, View};

use super::propagation::{Truncation, nonnegative};
use crate::Result;

/// A sum of weights times values of f at fixed points, by their index.
type Combination = Vec<(usize, f64)>;

/// The points whose values the constraints are made of.
#[derive(Clone, Copy)]
pub(super) struct FixedPoints<'a> {
    /// The fixed points.
    pub joint: &'a Joint,
    /// How many of them are observed; they come first.
    pub observed: usize,
    /// Whether the slope at a maximum is 0.
    pub has_slopes: bool,
    /// How far a variance of one point may be off by rounding.
    pub rounding: f64,
}

/// How far the variance of a fixed point may be off by rounding: an inner product with as many terms as there are rows.
pub(super) fn rounding(view: View<'_>, sections: &Sections<'_>) -> f64 {
    let kernel = view.prior().kernel();
    let largest = sections.points().iter().map(|point| kernel.variance_at(point)).fold(0.0, f64::max);
    4.0 * f64::EPSILON * (view.keys().len() + 1) as f64 * largest
}

/// The posterior given that the maximum is at x*, but for the constraint at a point that is asked for.
#[derive(Debug, Clone)]
pub(super) struct GivenMaximum {
    share: f64,
    star: usize,
    /// What is conditioned on: first the d_j, then those c_j whose factor is not flat.
    conditions: Vec<Combination>,
    factor: Factor,
    /// L^{-1} (value - mean) of the conditions.
    residuals: Vec<f64>,
    /// L^{-1} times the covariances of f(x*) with the conditions.
    star_column: Vec<f64>,
    star_mean: f64,
    star_variance: f64,
    rounding: f64,
}

impl GivenMaximum {
    /// For the fixed point `star`, after which come `pairs` pairs of points at the same distance on both sides, along one
    /// coordinate each; `share` is that of the samples that are highest there.
    pub fn new(fixed: FixedPoints<'_>, star: usize, pairs: usize, share: f64) -> Result<Self> {
        let FixedPoints { joint, observed, has_slopes, rounding } = fixed;
        let sides = |pair: usize| (star + 1 + 2 * pair, star + 2 + 2 * pair);
        let slope = |(above, below)| vec![(above, 1.0), (below, -1.0)];
        let curvature = |(above, below)| vec![(star, 2.0), (above, -1.0), (below, -1.0)];
        let slopes = (0..pairs).map(sides).filter(|_| has_slopes).map(slope);
        let others = (0..observed).map(|j| vec![(star, 1.0), (j, -1.0)]);
        let combinations: Vec<Combination> = slopes.chain(others).chain((0..pairs).map(sides).map(curvature)).collect();
        let equalities = if has_slopes { pairs } else { 0 };
        let mut vector = combined(joint, &combinations)?;
        let is_known = |vector: &Joint, i: usize| vector.covariance(i, i) <= allowance(&combinations[i], rounding);
        let mut given = Self {
            share,
            star,
            conditions: vec![],
            factor: Factor::new(),
            residuals: vec![],
            star_column: vec![],
            star_mean: joint.mean(star),
            star_variance: joint.covariance(star, star),
            rounding,
        };
        for i in 0..equalities {
            // A slope that is known already says nothing, and what is left of its variance is rounding.
            if !is_known(&vector, i) {
                given.condition(joint, &combinations[i], (0.0, 0.0));
                vector.fix(i, 0.0);
            }
        }
        // What is known within rounding is constrained already, and points that are equal are.
        let sites = nonnegative(&vector, |i| i < equalities || is_known(&vector, i));
        for (combination, site) in combinations.iter().zip(sites).filter(|(_, site)| site.precision > 0.0) {
            given.condition(joint, combination, (site.shift / site.precision, 1.0 / site.precision));
        }
        Ok(given)
    }

    /// Which fixed point x* is.
    pub fn star(&self) -> usize {
        self.star
    }

    /// The share of the samples that are highest at x*.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// A point and x*, jointly.
    pub fn with_star(&self, point: PointSection<'_>) -> Pair {
        let column = self.column(|index| point.covariances[index]);
        Pair {
            mean: point.mean + dot(&column, &self.residuals),
            // Rounding can push it below zero.
            variance: (point.variance - dot(&column, &column)).max(0.0),
            covariance: point.covariances[self.star] - dot(&column, &self.star_column),
            star_mean: self.star_mean,
            star_variance: self.star_variance,
            rounding: 4.0 * self.rounding,
        }
    }

    /// Adds a condition: that a combination has a value with noise of some variance.
    fn condition(&mut self, joint: &Joint, combination: &Combination, (value, noise): (f64, f64)) {
        let covariances = self.conditions.iter().map(|other| covariance(joint, other, combination)).collect::<Vec<_>>();
        self.factor.push(&covariances, covariance(joint, combination, combination), noise);
        self.conditions.push(combination.clone());
        let last = self.conditions.len() - 1;
        let row = self.factor.row(last);
        let mean: f64 = combination.iter().map(|(index, weight)| weight * joint.mean(*index)).sum();
        let residual = (value - mean - dot(&row[..last], &self.residuals)) / row[last];
        let with_star: f64 =
            combination.iter().map(|(index, weight)| weight * joint.covariance(self.star, *index)).sum();
        let star = (with_star - dot(&row[..last], &self.star_column)) / row[last];
        self.residuals.push(residual);
        self.star_column.push(star);
        self.star_mean += star * residual;
        self.star_variance = (self.star_variance - star * star).max(0.0);
    }

    /// L^{-1} times the covariances of a point with the conditions, from those with the fixed points.
    fn column(&self, with_fixed: impl Fn(usize) -> f64) -> Vec<f64> {
        let covariance = |combination: &Combination| -> f64 {
            combination.iter().map(|(index, weight)| weight * with_fixed(*index)).sum()
        };
        let mut column: Vec<f64> = self.conditions.iter().map(covariance).collect();
        self.factor.solve_lower(0, &mut column);
        column
    }
}

/// Two values, at a point and at x*.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    mean: f64,
    pub variance: f64,
    covariance: f64,
    star_mean: f64,
    star_variance: f64,
    /// Below this the variance of their difference is rounding.
    rounding: f64,
}

impl Pair {
    /// The variance at the point given also that its value is not above that at x*:
    /// V_11 - b (b + a) (V_11 - V_12)^2/r with r = V_11 + V_22 - 2 V_12 and a = (m_2 - m_1)/sqrt r.
    pub fn variance_below_star(&self) -> f64 {
        let difference = self.variance + self.star_variance - 2.0 * self.covariance;
        if difference <= self.rounding {
            return self.variance;
        }
        let a = (self.star_mean - self.mean) / difference.sqrt();
        let explained = (self.variance - self.covariance).powi(2) / difference;
        (self.variance - Truncation::at(a).removed * explained).max(0.0)
    }
}

/// Combinations of the entries of a vector, jointly.
fn combined(joint: &Joint, combinations: &[Combination]) -> Result<Joint> {
    let mean = |combination: &Combination| combination.iter().map(|(index, weight)| weight * joint.mean(*index)).sum();
    let means = combinations.iter().map(mean).collect();
    let row = |one| combinations.iter().map(move |other| covariance(joint, one, other));
    Ok(Joint::new(means, combinations.iter().flat_map(row).collect())?)
}

fn covariance(joint: &Joint, one: &Combination, other: &Combination) -> f64 {
    let with = |index: usize| other.iter().map(|(j, weight)| weight * joint.covariance(index, *j)).sum::<f64>();
    one.iter().map(|(i, weight)| weight * with(*i)).sum()
}

/// How far the variance of a combination may be off by rounding, that of one point being off by `rounding`.
fn allowance(combination: &Combination, rounding: f64) -> f64 {
    combination.iter().map(|(_, weight)| weight.abs()).sum::<f64>().powi(2) * rounding
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
