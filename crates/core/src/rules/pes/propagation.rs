//! Expectation propagation for a Gaussian vector whose entries are known not to be negative (Minka 2001; for a maximum at x*,
//! Hernandez-Lobato et al. 2014, appendix A).
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | tau_j, nu_j | precision, shift | the factor exp(nu c - tau c^2/2) that stands for c_j >= 0 |
//! | m, s | mean, variance | of the cavity: an entry without its own factor |
//! | a | a | m/sqrt(s) |
//! | b | hazard | phi(a)/Phi(a) |
//! | b (b + a) | removed | the share of a variance that truncation at 0 removes, from 0 to 1 |

use std::f64::consts::{PI, SQRT_2};

use manyhands_gp::Joint;

use crate::normal::{cumulative, density, scaled_erfc};

/// The most visits to every factor.
const SWEEPS: usize = 200;

/// The sweep after which no factor moved by more than this is the last.
const CONVERGED: f64 = 1e-10;

/// A factor that would move by less than this share of the largest move of the last sweep waits for a later sweep: a product
/// with all entries is then spent on the moves that count.
const POSTPONED: f64 = 1e-3;

/// After so many sweeps the vector is computed again from its factors, so that roundings do not add up.
const RENEWED: usize = 8;

/// Below this a, 1 - b (b + a) has lost more digits than its series.
const FAR: f64 = -50.0;

/// The Gaussian factor that stands for one entry's not being negative.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Site {
    pub precision: f64,
    pub shift: f64,
}

/// The factors of all entries; those of entries that are left out, as their variance is within rounding, are flat.
pub(super) fn nonnegative(joint: &Joint, left_out: impl Fn(usize) -> bool) -> Vec<Site> {
    let mut sites = vec![Site::default(); joint.len()];
    let entries: Vec<usize> = (0..joint.len()).filter(|&j| !left_out(j)).collect();
    let (mut given, mut moved) = (joint.clone(), 1.0);
    for sweep in 1..=SWEEPS {
        let postponed = POSTPONED * moved;
        moved = entries.iter().fold(0.0, |most: f64, &j| most.max(visit(&mut given, &mut sites[j], j, postponed)));
        if moved <= CONVERGED {
            break;
        }
        if sweep % RENEWED == 0 {
            given = joint.clone();
            sites.iter().enumerate().filter(|(_, site)| site.precision > 0.0).for_each(|(j, site)| {
                given.multiply(j, site.precision, site.shift);
            });
        }
    }
    sites
}

/// Matches a factor to the moments of its cavity, unless it would move by at most `postponed`; by how much it would move,
/// relative to the precision and the mean of its entry.
fn visit(given: &mut Joint, site: &mut Site, j: usize, postponed: f64) -> f64 {
    let (mean, variance) = (given.mean(j), given.covariance(j, j));
    let cavity = 1.0 - site.precision * variance;
    // Rounding can leave nothing of the cavity of an entry that its own factor determines.
    if variance <= 0.0 || cavity <= 0.0 {
        return 0.0;
    }
    let next = matched((mean - variance * site.shift) / cavity, variance / cavity);
    let (precision, shift) = (next.precision - site.precision, next.shift - site.shift);
    let sd = variance.sqrt();
    let moved = (precision.abs() * variance).max(shift.abs() * sd / (1.0 + next.shift.abs() * sd));
    if moved > postponed {
        given.multiply(j, precision, shift);
        *site = next;
    }
    moved
}

/// The factor with which a Gaussian has the moments that it has when truncated at 0: mean m + b sqrt(s) and variance
/// s (1 - b (b + a)). Its precision is never negative.
fn matched(mean: f64, variance: f64) -> Site {
    let sd = variance.sqrt();
    let a = mean / sd;
    let Truncation { hazard, removed, left } = Truncation::at(a);
    let shift = if a < 0.0 { (a + hazard) / left - a } else { (hazard + a * removed) / left };
    Site { precision: removed / left / variance, shift: shift / sd }
}

/// A standard normal variable that is known to be above -a.
#[derive(Debug, Clone, Copy)]
pub(super) struct Truncation {
    /// b.
    pub hazard: f64,
    /// b (b + a).
    pub removed: f64,
    /// 1 - b (b + a), the variance.
    pub left: f64,
}

impl Truncation {
    pub fn at(a: f64) -> Self {
        // phi/Phi, where neither can underflow alone.
        let hazard = if a < 0.0 { (2.0 / PI).sqrt() / scaled_erfc(-a / SQRT_2) } else { density(a) / cumulative(a) };
        if a < FAR {
            // The asymptotic series of the variance of a normal tail in u = 1/a^2.
            let u = 1.0 / (a * a);
            let left = u * (1.0 - u * (6.0 - u * (50.0 - u * (518.0 - u * 6354.0))));
            return Self { hazard, removed: 1.0 - left, left };
        }
        let removed = hazard * (hazard + a);
        Self { hazard, removed, left: 1.0 - removed }
    }
}
