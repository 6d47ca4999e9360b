//! The constrained parameters together, discrete and continuous, and the search for values that satisfy the constraints.
//!
//! Everything here is measured in *shares*: (value - low) / (high - low) in the parameter's own units, whatever its scale, so
//! that linear constraints stay linear. Discrete parameters, and those on a log scale, are *pinned* one after the other,
//! each within the range that a linear program leaves it; the others then move in the polytope that is left.

use manyhands_polytope::{LinearRow, Polytope, Solved};

use super::CubeAxis;
use super::constraint::{Linear, Relation};
use super::interval::Interval;
use super::ladder::Ladder;
use crate::tuning::MANY_RUNGS;

/// A parameter under a constraint that has more than one value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConstrainedParameter {
    /// Its coordinate.
    pub coordinate: usize,
    pub axis: CubeAxis,
    low: f64,
    width: f64,
}

impl ConstrainedParameter {
    pub fn value(&self, share: f64) -> f64 {
        self.low + share * self.width
    }

    pub fn share(&self, value: f64) -> f64 {
        (value - self.low) / self.width
    }

    /// The share at a coordinate.
    pub fn share_at(&self, coordinate: f64) -> f64 {
        match &self.axis {
            CubeAxis::Line(interval) => self.share(interval.value(interval.snap(coordinate))),
            CubeAxis::Ladder(ladder) => self.share(ladder.value(ladder.nearest(coordinate))),
            CubeAxis::Fixed(_) | CubeAxis::Choice(_) => 0.0,
        }
    }

    /// The valid coordinate nearest to a share.
    pub fn coordinate_at(&self, share: f64) -> f64 {
        match &self.axis {
            CubeAxis::Line(interval) if share >= 1.0 => interval.snap(1.0),
            CubeAxis::Line(interval) => interval.snap(interval.coordinate(self.value(share.max(0.0)))),
            CubeAxis::Ladder(ladder) => ladder.coordinate(ladder.nearest_value(self.value(share))),
            CubeAxis::Fixed(_) | CubeAxis::Choice(_) => 0.0,
        }
    }

    /// The coordinate of a share, valid or not.
    pub fn raw_coordinate(&self, share: f64) -> f64 {
        match &self.axis {
            CubeAxis::Line(interval) => interval.coordinate(self.value(share)),
            _ => self.coordinate_at(share),
        }
    }

    /// The change of the share for a unit change of the coordinate, at a share.
    pub fn stretch(&self, share: f64) -> f64 {
        self.interval().map_or(0.0, |interval| interval.slope(self.value(share)) / self.width)
    }

    /// How far the share may be from the one requested, because coordinates are multiples of a step.
    pub fn rounding(&self) -> f64 {
        self.interval().map_or(0.0, |interval| 4.0 * interval.quantum() * self.stretch(1.0))
    }

    /// The interval of a continuous parameter.
    pub fn interval(&self) -> Option<&Interval> {
        if let CubeAxis::Line(interval) = &self.axis { Some(interval) } else { None }
    }

    /// The ladder of a discrete parameter.
    pub fn ladder(&self) -> Option<&Ladder> {
        if let CubeAxis::Ladder(ladder) = &self.axis { Some(ladder) } else { None }
    }

    /// Whether it is fixed before the polytope of the others is sampled: it is discrete, or on a log scale.
    pub fn is_pinned(&self) -> bool {
        self.interval().is_none_or(Interval::is_log)
    }

    /// The rungs whose shares lie in a range, within rounding.
    pub fn rungs(&self, ladder: &Ladder, (low, high): (f64, f64)) -> std::ops::Range<usize> {
        let first = ladder.nearest_value(self.value(low));
        let last = ladder.nearest_value(self.value(high));
        let first = first + usize::from(self.share(ladder.value(first)) < low - 1e-9);
        let outside = self.share(ladder.value(last)) > high + 1e-9;
        first..(last + usize::from(!outside)).max(first)
    }
}

/// The constrained parameters and what the constraints leave of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mixed {
    pub variables: Vec<ConstrainedParameter>,
    polytope: Polytope,
}

/// Some variables pinned, the others in the polytope that is left.
#[derive(Debug, Clone)]
pub(super) struct Partial {
    pub polytope: Polytope,
    /// The variable of each column of the polytope.
    pub columns: Vec<usize>,
    /// One for each variable; those in `columns` are yet to be set.
    pub shares: Vec<f64>,
}

impl Mixed {
    /// The constraints over the axes, whose first coordinates are given.
    pub fn new(axes: &[CubeAxis], starts: &[usize], constraints: &[Linear]) -> Self {
        let used = |index: &usize| constraints.iter().any(|c| c.terms.iter().any(|(term, _)| term == index));
        let indices: Vec<usize> = (0..axes.len()).filter(|i| axes[*i].dimension() > 0).filter(used).collect();
        let variable = |&index: &usize| {
            let (low, high) = axes[index].ends().unwrap_or_default();
            ConstrainedParameter { coordinate: starts[index], axis: axes[index].clone(), low, width: high - low }
        };
        let variables: Vec<ConstrainedParameter> = indices.iter().map(variable).collect();
        let mut polytope = Polytope { dimension: variables.len(), planes: Vec::new(), halfspaces: Vec::new() };
        for constraint in constraints {
            let row = row(constraint, axes, &indices);
            match constraint.relation {
                Relation::Equals => polytope.planes.push(row),
                Relation::AtMost | Relation::AtLeast => polytope.halfspaces.push(row),
            }
        }
        Self { variables, polytope }
    }

    /// Whether there is an equality: random draws would never satisfy it.
    pub fn has_planes(&self) -> bool {
        !self.polytope.planes.is_empty()
    }

    /// Nothing pinned.
    pub fn open(&self) -> Partial {
        let count = self.variables.len();
        Partial { polytope: self.polytope.clone(), columns: (0..count).collect(), shares: vec![0.0; count] }
    }

    /// The variables that satisfy a condition, by position.
    pub fn positions(&self, condition: impl Fn(&ConstrainedParameter) -> bool) -> Vec<usize> {
        (0..self.variables.len()).filter(|&i| condition(&self.variables[i])).collect()
    }

    /// How easily a variable adapts to the others, so that those with less freedom are pinned first: it is continuous, it is
    /// in no equality, it has many values.
    pub fn freedom(&self, position: usize) -> (bool, bool, bool) {
        let ladder = self.variables[position].ladder();
        let unbound = self.polytope.planes.iter().all(|plane| plane.weights[position] == 0.0);
        (ladder.is_none(), unbound, ladder.is_some_and(|ladder| ladder.len() > MANY_RUNGS))
    }

    /// Pins the variables in `order`, each to the first share among its `options` for which the rest is feasible: depth-first
    /// search. Gives up when `budget` shares have been tried.
    pub fn pin(
        &self,
        partial: Partial,
        order: &[usize],
        options: &mut impl FnMut(&ConstrainedParameter, (f64, f64)) -> Vec<f64>,
        budget: &mut usize,
    ) -> Solved<Partial> {
        let Some((&next, rest)) = order.split_first() else {
            // Only its existence matters here.
            return Ok(partial.polytope.inside()?.map(|_| partial));
        };
        let Some(column) = partial.columns.iter().position(|&variable| variable == next) else { return Ok(None) };
        let Some(range) = partial.polytope.range(column)? else { return Ok(None) };
        for share in options(&self.variables[next], range) {
            let Some(left) = budget.checked_sub(1) else { return Ok(None) };
            *budget = left;
            let found = self.pin(partial.fix(column, share), rest, options, budget)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl Partial {
    /// The variable of a column pinned to a share.
    pub fn fix(&self, column: usize, share: f64) -> Self {
        let mut fixed = Self {
            polytope: self.polytope.fix(column, share),
            columns: self.columns.clone(),
            shares: self.shares.clone(),
        };
        fixed.shares[fixed.columns.remove(column)] = share;
        fixed
    }

    /// The shares of all variables, the open ones from a point of the polytope.
    pub fn complete(&self, point: &[f64]) -> Vec<f64> {
        let mut shares = self.shares.clone();
        self.columns.iter().zip(point).for_each(|(&variable, x)| shares[variable] = *x);
        shares
    }
}

/// A constraint in shares, its largest weight 1; halfspaces as "at most".
fn row(constraint: &Linear, axes: &[CubeAxis], indices: &[usize]) -> LinearRow {
    let mut row = LinearRow { weights: vec![0.0; indices.len()], bound: constraint.bound };
    for &(index, weight) in &constraint.terms {
        let (low, high) = axes[index].ends().unwrap_or_default();
        row.bound -= weight * low;
        if let Some(column) = indices.iter().position(|&i| i == index) {
            row.weights[column] = weight * (high - low);
        }
    }
    let largest = row.weights.iter().fold(0.0f64, |largest, weight| largest.max(weight.abs()));
    let sign = if constraint.relation == Relation::AtLeast { -1.0 } else { 1.0 };
    let scale = if largest > 0.0 { sign / largest } else { sign };
    row.weights.iter_mut().for_each(|weight| *weight *= scale);
    row.bound *= scale;
    row
}
