//! Linear constraints on parameters, in their own units.

use std::fmt;

use super::{CubeAxis, Space};
use crate::text::{escaped, exact, quoted};
use crate::{Error, Result};

/// The relation of a linear constraint's sum to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The sum is at most the bound.
    AtMost,
    /// The sum is at least the bound.
    AtLeast,
    /// The sum is the bound.
    Equals,
}

/// A linear constraint on numeric parameters, in their own units: the sum of weight x parameter satisfies a bound, within
/// 1e-9 of the largest term that the parameters' bounds allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// Parameter names with their weights.
    pub terms: Vec<(String, f64)>,
    /// Which side.
    pub relation: Relation,
    /// The bound.
    pub bound: f64,
}

/// How far a sum may miss its bound, relative to the largest term that the parameters' bounds allow.
const TOLERANCE: f64 = 1e-9;

/// How far the sum of values that were measured, as in a mixture that was weighed, may miss the bound of a constraint: relative
/// to its largest term, or its bound if that is larger.
pub const MEASURED_TOLERANCE: f64 = 0.02;

/// Beyond this, and below its inverse, sums and quotients of terms could leave the range of numbers.
const LARGE: f64 = 1e100;

/// A constraint with its parameters found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Linear {
    /// Parameters, by position, with their weights.
    pub terms: Vec<(usize, f64)>,
    pub relation: Relation,
    pub bound: f64,
    tolerance: f64,
}

impl Linear {
    /// The constraint on the parameters of this space; refuses what is not linear or unknown.
    pub fn new(space: &Space, constraint: &Constraint) -> Result<Self> {
        let refuse = |reason: String| Error::Constraint { constraint: constraint.clone(), reason };
        if constraint.terms.iter().all(|(_, weight)| *weight == 0.0) {
            return Err(refuse("all its weights are 0".to_string()));
        }
        let numbers = constraint.terms.iter().map(|(_, weight)| *weight).chain([constraint.bound]);
        if let Some(number) = numbers.into_iter().find(|number| !(-LARGE..=LARGE).contains(number)) {
            return Err(refuse(format!("weights and bound must be finite and at most 1e100, got {number}")));
        }
        let mut linear =
            Self { terms: Vec::new(), relation: constraint.relation, bound: constraint.bound, tolerance: 0.0 };
        let mut largest = constraint.bound.abs();
        for (name, weight) in &constraint.terms {
            let index = space.position(name)?;
            let Some((low, high)) = space.axes[index].ends() else {
                return Err(refuse(format!("parameter {} is not a number", quoted(name))));
            };
            if linear.terms.iter().any(|(other, _)| *other == index) {
                return Err(refuse(format!("parameter {} is in it twice", quoted(name))));
            }
            let (most, span) = ((weight * low).abs().max((weight * high).abs()), weight.abs() * (high - low));
            if !(most.max(span) <= LARGE && (span == 0.0 || span >= 1.0 / LARGE)) {
                return Err(refuse(format!(
                    "its term of parameter {} is too large or too small for arithmetic",
                    quoted(name)
                )));
            }
            largest = largest.max(most);
            linear.terms.push((index, *weight));
        }
        linear.tolerance = TOLERANCE * largest;
        Ok(linear)
    }

    /// How far the numbers of the parameters, by position, are on the wrong side of the bound; 0 within the tolerance.
    pub fn violation(&self, number: impl Fn(usize) -> f64) -> f64 {
        let sum: f64 = self.terms.iter().map(|&(index, weight)| weight * number(index)).sum();
        let over = match self.relation {
            Relation::AtMost => sum - self.bound,
            Relation::AtLeast => self.bound - sum,
            Relation::Equals => (sum - self.bound).abs(),
        };
        if over <= self.tolerance { 0.0 } else { over }
    }

    /// Whether a violation is one that measured values may have.
    pub fn is_within_measurement(&self, violation: f64) -> bool {
        // A sum of decimal numbers that misses the bound by just as much is rounded.
        violation <= (MEASURED_TOLERANCE / TOLERANCE + 1.0) * self.tolerance
    }

    /// The smallest and largest sum of numbers between these ends, one pair for each parameter by position.
    pub fn range(&self, ends: impl Fn(usize) -> (f64, f64)) -> (f64, f64) {
        self.terms.iter().fold((0.0, 0.0), |(least, most), &(index, weight)| {
            let (low, high) = ends(index);
            (least + (weight * low).min(weight * high), most + (weight * low).max(weight * high))
        })
    }

    /// Whether no sum within this range is on the right side.
    pub fn excludes(&self, (least, most): (f64, f64)) -> bool {
        let above = self.relation != Relation::AtLeast && least > self.bound + self.tolerance;
        above || self.relation != Relation::AtMost && most < self.bound - self.tolerance
    }

    /// Whether no numbers between these ends have a [violation](Self::violation) of 0, rounding included.
    pub fn excludes_all(&self, ends: impl Fn(usize) -> (f64, f64)) -> bool {
        let (least, most) = self.range(ends);
        // Sums are right to a few roundings of their largest term, a millionth of the tolerance.
        self.excludes((least - self.tolerance, most + self.tolerance))
    }
}

impl CubeAxis {
    /// The smallest and largest value, if they are numbers.
    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        match self {
            Self::Fixed(value) => value.number().map(|number| (number, number)),
            Self::Line(interval) => Some((interval.low, interval.high)),
            Self::Ladder(ladder) => Some((ladder.value(0), ladder.value(ladder.len() - 1))),
            Self::Choice(_) => None,
        }
    }
}

impl fmt::Display for Constraint {
    /// As on paper: `a + 2 b - c <= 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, weight)) in self.terms.iter().enumerate() {
            let sign = match (index, *weight < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let factor = if weight.abs() == 1.0 { String::new() } else { format!("{} ", exact(weight.abs())) };
            write!(f, "{sign}{factor}{}", escaped(name))?;
        }
        let relation = match self.relation {
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
            Relation::Equals => "=",
        };
        write!(f, " {relation} {}", exact(self.bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constraint_reads_as_on_paper() {
        let terms = vec![("a".to_string(), 1.0), ("b".to_string(), 2.0), ("c".to_string(), -0.5)];
        let constraint = Constraint { terms, relation: Relation::AtMost, bound: 1.0 };
        assert_eq!(constraint.to_string(), "a + 2 b - 0.5 c <= 1");
    }
}
