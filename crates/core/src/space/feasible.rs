//! Coordinates that satisfy the constraints: random ones, the nearest ones, and steps among them.

use manyhands_polytope::{Local, Solved, Stalled};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::mixed::{ConstrainedParameter, Mixed, Partial};
use super::{Constraint, Linear, Space, Value};
use crate::text::exact;
use crate::tuning::{
    CONSTRAINED_DRAWS, CONTINUOUS_OPTIONS, EXISTENCE_BUDGET, HIT_AND_RUN_STEPS, PROJECTION_ROUNDS, REJECTION_DRAWS,
    REPAIR_BUDGET, REPAIR_STEPS, VALUE_OPTIONS,
};
use crate::{Error, Result};

/// The feasible set of a space, as its constraints define it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Feasible {
    linear: Vec<Linear>,
    /// The first coordinate of each parameter.
    starts: Vec<usize>,
    mixed: Mixed,
    /// The coordinates of the constrained parameters at one point that keeps every constraint.
    anchor: Vec<f64>,
}

/// Why no feasible point is known.
enum NoPoint {
    /// None was found, with this much of the budget left.
    Tried { left: usize },
    /// A linear program reached its limit of pivots.
    Stalled(Stalled),
}

impl NoPoint {
    /// The error for the first constraint that fails, the `number`-th.
    fn refusal(&self, constraint: &Constraint, number: usize) -> Error {
        let constraint = constraint.clone();
        let reason = match (self, number) {
            (Self::Stalled(Stalled { pivots }), _) => return Error::Unsolved { constraint, pivots: *pivots },
            (Self::Tried { left: 0 }, _) => {
                format!("no values that keep it and the constraints before it were found in {EXISTENCE_BUDGET} tries")
            }
            (_, 1) => "no values that the parameters step through keep it".to_string(),
            _ => "no values keep it together with the constraints before it".to_string(),
        };
        Error::Infeasible { constraint, reason }
    }
}

impl Feasible {
    /// The constraints, checked; refuses those that cannot be kept.
    pub fn new(space: &Space) -> Result<Self> {
        let mut linear = Vec::new();
        for constraint in &space.constraints {
            linear.push(Linear::new(space, constraint)?);
        }
        for (constraint, row) in space.constraints.iter().zip(&linear) {
            let (least, most) = row.range(|index| space.axes[index].ends().unwrap_or_default());
            if row.excludes((least, most)) {
                return Err(Error::Infeasible {
                    constraint: constraint.clone(),
                    reason: format!(
                        "within the parameters' bounds the sum is from {} to {}",
                        exact(least),
                        exact(most)
                    ),
                });
            }
        }
        let starts = space.starts();
        let with = |count: usize| {
            let mixed = Mixed::new(&space.axes, &starts, &linear[..count]);
            let mut budget = EXISTENCE_BUDGET;
            match anchor(&mixed, &mut budget) {
                Ok(Some(anchor)) => Ok((mixed, anchor)),
                Ok(None) => Err(NoPoint::Tried { left: budget }),
                Err(stalled) => Err(NoPoint::Stalled(stalled)),
            }
        };
        let last = match with(linear.len()) {
            Ok((mixed, anchor)) => return Ok(Self { linear, starts, mixed, anchor }),
            Err(no_point) => (linear.len(), no_point),
        };
        let failing = (1..linear.len()).find_map(|count| with(count).err().map(|no_point| (count, no_point)));
        let (first, no_point) = failing.unwrap_or(last);
        Err(no_point.refusal(&space.constraints[first - 1], first))
    }

    /// The coordinates with the shares of the constrained parameters put in.
    fn place(&self, coordinates: &mut [f64], shares: &[f64]) {
        for (variable, share) in self.mixed.variables.iter().zip(shares) {
            coordinates[variable.coordinate] = variable.coordinate_at(*share);
        }
    }

    fn place_anchor(&self, coordinates: &mut [f64]) {
        for (variable, anchor) in self.mixed.variables.iter().zip(&self.anchor) {
            coordinates[variable.coordinate] = *anchor;
        }
    }

    /// The polytope of the continuous parameters with the discrete ones fixed at their values, and the point in it.
    fn with_discrete_fixed(&self, coordinates: &[f64]) -> (Partial, Vec<f64>) {
        let mut partial = self.mixed.open();
        for position in self.mixed.positions(|variable| variable.interval().is_none()) {
            let variable = &self.mixed.variables[position];
            let share = variable.share_at(coordinates[variable.coordinate]);
            if let Some(column) = partial.columns.iter().position(|&open| open == position) {
                partial = partial.fix(column, share);
            }
        }
        let share = |&open: &usize| {
            let variable = &self.mixed.variables[open];
            variable.share_at(coordinates[variable.coordinate])
        };
        let shares = partial.columns.iter().map(share).collect();
        (partial, shares)
    }

    fn random_shares(&self, rng: &mut impl Rng) -> Solved<Vec<f64>> {
        let mut order = self.mixed.positions(ConstrainedParameter::is_pinned);
        order.shuffle(rng);
        order.sort_by_key(|&i| self.mixed.freedom(i));
        let mut options = |variable: &ConstrainedParameter, range| random_options(variable, range, rng);
        let pinned = self.mixed.pin(self.mixed.open(), &order, &mut options, &mut REPAIR_BUDGET.clone())?;
        let Some(partial) = pinned else { return Ok(None) };
        Ok(partial.polytope.sample(rng, HIT_AND_RUN_STEPS)?.map(|point| partial.complete(&point)))
    }

    /// Shares near the target, with the variables at `kept` (coordinates) left as they are.
    fn nearest_shares(&self, target: &[f64], kept: &[usize]) -> Solved<Vec<f64>> {
        let variables = &self.mixed.variables;
        let mut order = self.mixed.positions(ConstrainedParameter::is_pinned);
        order.sort_by_key(|&i| self.mixed.freedom(i));
        let mut partial = self.mixed.open();
        // From the last one on, as the columns after a fixed one move up.
        for (held, variable) in variables.iter().enumerate().rev().filter(|(_, v)| kept.contains(&v.coordinate)) {
            order.retain(|&i| i != held);
            partial = partial.fix(held, variable.share_at(target[variable.coordinate]));
        }
        let mut options =
            |variable: &ConstrainedParameter, range| near_options(variable, range, target[variable.coordinate]);
        let pinned = self.mixed.pin(partial, &order, &mut options, &mut REPAIR_BUDGET.clone())?;
        let Some(partial) = pinned else { return Ok(None) };
        let share = |&open: &usize| variables[open].share_at(target[variables[open].coordinate]);
        let nearest =
            partial.polytope.nearest(&partial.columns.iter().map(share).collect::<Vec<_>>(), PROJECTION_ROUNDS)?;
        Ok(nearest.map(|point| partial.complete(&point)))
    }
}

/// One feasible point, near the middle where possible.
fn anchor(mixed: &Mixed, budget: &mut usize) -> Solved<Vec<f64>> {
    let mut order = mixed.positions(|variable| variable.interval().is_none());
    order.sort_by_key(|&i| mixed.freedom(i));
    let mut options = |variable: &ConstrainedParameter, range: (f64, f64)| {
        near_options(variable, range, variable.coordinate_at((range.0 + range.1) / 2.0))
    };
    let Some(partial) = mixed.pin(mixed.open(), &order, &mut options, budget)? else { return Ok(None) };
    let Some((inside, _)) = partial.polytope.inside()? else { return Ok(None) };
    let shares = partial.complete(&inside);
    Ok(Some(mixed.variables.iter().zip(shares).map(|(variable, share)| variable.coordinate_at(share)).collect()))
}

/// Shares of valid values in a range, at random on the parameter's scale.
fn random_options(variable: &ConstrainedParameter, range: (f64, f64), rng: &mut impl Rng) -> Vec<f64> {
    let (low, high) = (variable.raw_coordinate(range.0), variable.raw_coordinate(range.1));
    let Some(ladder) = variable.ladder() else {
        let draw = |_| low + (high - low) * rng.random::<f64>();
        return (0..CONTINUOUS_OPTIONS).map(draw).map(|c| variable.share_at(c).clamp(range.0, range.1)).collect();
    };
    let rungs = variable.rungs(ladder, range);
    let mut chosen: Vec<usize> = if rungs.len() <= VALUE_OPTIONS {
        rungs.collect()
    } else {
        (0..VALUE_OPTIONS).map(|_| ladder.nearest(low + (high - low) * rng.random::<f64>())).collect()
    };
    chosen.shuffle(rng);
    chosen.into_iter().map(|rung| variable.share(ladder.value(rung))).collect()
}

/// Shares of valid values in a range, those near a coordinate first.
fn near_options(variable: &ConstrainedParameter, range: (f64, f64), target: f64) -> Vec<f64> {
    let wanted = variable.share_at(target).clamp(range.0, range.1);
    let Some(ladder) = variable.ladder() else { return vec![wanted, (range.0 + range.1) / 2.0] };
    let rungs = variable.rungs(ladder, range);
    if rungs.is_empty() {
        return Vec::new();
    }
    let start = ladder.nearest(target).clamp(rungs.start, rungs.end - 1);
    let mut chosen = vec![start];
    for step in 1..rungs.len().min(REPAIR_STEPS) {
        chosen.extend(start.checked_sub(step).filter(|rung| rungs.contains(rung)));
        chosen.extend(Some(start + step).filter(|rung| rungs.contains(rung)));
    }
    chosen.into_iter().map(|rung| variable.share(ladder.value(rung))).collect()
}

impl Space {
    /// The first constraint that these values violate, and by how much, in its own units.
    pub(crate) fn violated(&self, params: &[Value]) -> Option<(&Constraint, f64)> {
        let linear = self.feasible.iter().flat_map(|feasible| &feasible.linear);
        let number = |index: usize| params[index].number().unwrap_or(f64::NAN);
        let violations = linear.map(|linear| linear.violation(number));
        self.constraints.iter().zip(violations).find(|(_, by)| *by != 0.0)
    }

    /// The nearest coordinates that keep every constraint, where these values miss their bounds by no more than measured ones
    /// may; none where they miss them by more, or where integers, levels or choices would have to change.
    pub(super) fn nearest_within_measurement(&self, params: &[Value], coordinates: &[f64]) -> Option<Vec<f64>> {
        let feasible = self.feasible.as_ref()?;
        let number = |index: usize| params[index].number().unwrap_or(f64::NAN);
        if !feasible.linear.iter().all(|linear| linear.is_within_measurement(linear.violation(number))) {
            return None;
        }
        let shares = feasible.nearest_shares(coordinates, &[]).ok().flatten()?;
        let mut nearest = coordinates.to_vec();
        feasible.place(&mut nearest, &shares);
        let is_same = self
            .parts(&nearest)
            .zip(self.parts(coordinates))
            .all(|((axis, own), (_, given))| matches!(axis, super::CubeAxis::Line(_)) || own == given);
        (is_same && self.feasible(&nearest)).then_some(nearest)
    }

    /// Whether these values keep every constraint.
    pub(crate) fn satisfies(&self, params: &[Value]) -> bool {
        self.violated(params).is_none()
    }

    /// Whether the valid values nearest to these coordinates keep every constraint.
    pub(crate) fn feasible(&self, coordinates: &[f64]) -> bool {
        self.feasible.as_ref().is_none_or(|feasible| {
            let number = |index: usize| self.axes[index].number(&coordinates[feasible.starts[index]..]);
            feasible.linear.iter().all(|linear| linear.violation(number) == 0.0)
        })
    }

    /// Whether no valid values with coordinates in this box keep every constraint; false also where that is not known.
    pub(crate) fn excludes(&self, low: &[f64], high: &[f64]) -> bool {
        self.feasible.as_ref().is_some_and(|feasible| {
            // Numbers grow with their coordinate, and no valid one in the box lies beyond the one nearest to an end.
            let ends = |index: usize| {
                let (axis, start) = (&self.axes[index], feasible.starts[index]);
                (axis.number(&low[start..]), axis.number(&high[start..]))
            };
            feasible.linear.iter().any(|linear| linear.excludes_all(ends))
        })
    }

    /// Random coordinates of valid values that keep every constraint: uniform on each parameter's scale where there are no
    /// constraints or rejection sampling succeeds; else nearly uniform.
    ///
    /// ```
    /// use manyhands_core::{Constraint, Parameter, Relation, Space};
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    ///
    /// let parts = ["water", "salt", "sugar"];
    /// let parameters = parts.map(|name| Parameter::float(name, 0.0, 1.0)).into_iter().collect::<Result<_, _>>()?;
    /// let terms = parts.map(|name| (name.to_string(), 1.0)).to_vec();
    /// let mixture = Space::new(parameters, vec![Constraint { terms, relation: Relation::Equals, bound: 1.0 }])?;
    ///
    /// let params = mixture.params(&mixture.sample(&mut ChaCha8Rng::seed_from_u64(7)));
    /// let sum: f64 = params.iter().filter_map(|value| value.number()).sum();
    /// assert!((sum - 1.0).abs() < 1e-12);
    /// # Ok::<(), manyhands_core::Error>(())
    /// ```
    pub fn sample(&self, rng: &mut impl Rng) -> Vec<f64> {
        let draw = |rng: &mut _| {
            let u: Vec<f64> = (0..self.cube_dimension()).map(|_| RngExt::random(rng)).collect();
            self.from_cube(&u)
        };
        let mut coordinates = draw(rng);
        let Some(feasible) = &self.feasible else { return coordinates };
        if !feasible.mixed.has_planes() {
            for _ in 0..REJECTION_DRAWS {
                if self.feasible(&coordinates) {
                    return coordinates;
                }
                coordinates = draw(rng);
            }
        }
        for _ in 0..CONSTRAINED_DRAWS {
            // A search that was given up is not an error here: the anchor below is feasible in any case.
            if let Ok(Some(shares)) = feasible.random_shares(rng) {
                feasible.place(&mut coordinates, &shares);
                if self.feasible(&coordinates) {
                    return coordinates;
                }
            }
        }
        feasible.place_anchor(&mut coordinates);
        coordinates
    }

    /// Coordinates of valid values that keep every constraint, near to the given ones: those themselves if they do.
    pub(crate) fn repair(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut snapped = self.snap(coordinates);
        let Some(feasible) = self.feasible.as_ref().filter(|_| !self.feasible(&snapped)) else { return snapped };
        let target = snapped.clone();
        if let Ok(Some(shares)) = feasible.nearest_shares(&target, &[]) {
            feasible.place(&mut snapped, &shares);
        }
        if !self.feasible(&snapped) {
            feasible.place_anchor(&mut snapped);
        }
        snapped
    }

    /// Like [`repair`](Self::repair), but the parameter of block `kept` stays as it is; None if the others cannot
    /// compensate for it. For exchange moves: set a block to one of its [neighbours](super::Block::neighbours), then repair around it.
    pub(crate) fn repair_around(&self, coordinates: &[f64], kept: &[usize]) -> Option<Vec<f64>> {
        let mut snapped = self.snap(coordinates);
        let Some(feasible) = self.feasible.as_ref().filter(|_| !self.feasible(&snapped)) else { return Some(snapped) };
        let kept: Vec<usize> = kept.iter().map(|&block| self.blocks[block].coordinates().start).collect();
        // A search that was given up counts as no solution: the exchange is skipped.
        let shares = feasible.nearest_shares(&snapped, &kept).ok().flatten()?;
        feasible.place(&mut snapped, &shares);
        self.feasible(&snapped).then_some(snapped)
    }

    /// The steepest way uphill from feasible coordinates, given the gradient there: the projection of the gradient onto the
    /// directions that leave no bound and no constraint, with the discrete parameters fixed. Zero at a local optimum.
    pub(crate) fn uphill(&self, coordinates: &[f64], gradient: &[f64]) -> Vec<f64> {
        let mut direction = vec![0.0; coordinates.len()];
        for block in self.blocks.iter().filter(|block| block.is_continuous()) {
            let c = block.coordinates().start;
            let outward = coordinates[c] <= 0.0 && gradient[c] < 0.0 || coordinates[c] >= 1.0 && gradient[c] > 0.0;
            direction[c] = if outward { 0.0 } else { gradient[c] };
        }
        let Some(feasible) = &self.feasible else { return direction };
        let (partial, shares) = feasible.with_discrete_fixed(coordinates);
        let variables: Vec<&ConstrainedParameter> =
            partial.columns.iter().map(|&open| &feasible.mixed.variables[open]).collect();
        let own: Vec<f64> = variables.iter().map(|variable| gradient[variable.coordinate]).collect();
        let stretch: Vec<f64> =
            variables.iter().zip(&shares).map(|(variable, share)| variable.stretch(*share)).collect();
        let touching = variables.iter().fold(1e-9, |most: f64, variable| most.max(variable.rounding()));
        let way = partial.polytope.ascent(&shares, &own, Local { stretch, touching });
        variables.iter().zip(way).for_each(|(variable, d)| direction[variable.coordinate] = d);
        direction
    }

    /// How far [`step`](Self::step) can go from feasible coordinates along a direction, as a multiple of it; 0 along nothing.
    pub(crate) fn segment(&self, coordinates: &[f64], direction: &[f64]) -> f64 {
        let free = self.blocks.iter().filter(|block| block.is_continuous()).map(|block| block.coordinates().start);
        let stop = |c: usize| match direction[c] {
            d if d > 0.0 => (1.0 - coordinates[c]) / d,
            d if d < 0.0 => coordinates[c] / -d,
            _ => f64::INFINITY,
        };
        let mut length = f64::INFINITY;
        let under = |c: &usize| self.feasible.iter().any(|f| f.mixed.variables.iter().any(|v| v.coordinate == *c));
        for c in free.filter(|c| !under(c)) {
            length = length.min(stop(c).max(0.0));
        }
        if let Some(feasible) = &self.feasible {
            let (partial, shares, speed) = self.speed(feasible, coordinates, direction);
            length = length.min(partial.polytope.reach(&shares, &speed));
        }
        if length.is_finite() { length } else { 0.0 }
    }

    /// The point `length` times a direction away from feasible coordinates, or as far as [`segment`](Self::segment) allows:
    /// valid values that keep every constraint. Discrete parameters stay; a log-scaled parameter under a constraint moves
    /// linearly in its own units, so that linear constraints stay linear along the way.
    pub(crate) fn step(&self, coordinates: &[f64], direction: &[f64], length: f64) -> Vec<f64> {
        let length = length.min(self.segment(coordinates, direction));
        let mut moved = coordinates.to_vec();
        for block in self.blocks.iter().filter(|block| block.is_continuous()) {
            let c = block.coordinates().start;
            moved[c] += length * direction[c];
        }
        let Some(feasible) = &self.feasible else { return self.snap(&moved) };
        let (partial, shares, speed) = self.speed(feasible, coordinates, direction);
        let point = shares.iter().zip(&speed).map(|(share, speed)| share + length * speed).collect();
        let shares = partial.complete(&partial.polytope.settle(point));
        feasible.place(&mut moved, &shares);
        let moved = self.snap(&moved);
        if self.feasible(&moved) { moved } else { self.snap(coordinates) }
    }

    /// The continuous parameters under constraints, their shares, and how fast those change along a direction.
    fn speed(&self, feasible: &Feasible, coordinates: &[f64], direction: &[f64]) -> (Partial, Vec<f64>, Vec<f64>) {
        let (partial, shares) = feasible.with_discrete_fixed(coordinates);
        let speed = |(&open, share): (&usize, &f64)| {
            let variable = &feasible.mixed.variables[open];
            variable.stretch(*share) * direction[variable.coordinate]
        };
        let speed = partial.columns.iter().zip(&shares).map(speed).collect();
        (partial, shares, speed)
    }
}
