//! Linear constraints on parameters, in their own units.

use std::fmt;

use crate::number::plain;

/// Which side of its bound a linear constraint keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The sum is at most the bound.
    AtMost,
    /// The sum is at least the bound.
    AtLeast,
    /// The sum is the bound.
    Equals,
}

/// A linear constraint on numeric parameters, in their own units: the sum of weight x parameter keeps to a bound, within
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
            let factor = if weight.abs() == 1.0 { String::new() } else { format!("{} ", plain(weight.abs())) };
            write!(f, "{sign}{factor}{name}")?;
        }
        let relation = match self.relation {
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
            Relation::Equals => "=",
        };
        write!(f, " {relation} {}", plain(self.bound))
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
