//! The maximum of an acquisition over a box with mixed coordinates, by branch and bound: a point, and how much better any
//! other can be at most.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | a(x) | objective, score | mean + multiplier sd, or the variance; its value at a point |
//! | | upper | no point of the region has a higher score, rounding included |
//! | eps_t | gap | upper - score: what the point found may lose |
//! | | node | a cell that was bounded |
//! | | floor | no bound over cells that this file makes is lower, however small they are |
//!
//! Cells are taken in the order of their upper bounds and halved across the coordinate in which they are widest in
//! lengthscales. The work is done on one thread, in one order, and limited by a count: the same input has the same bits.
//!
//! **Rounding.** Bounds allow for what rounding can do to mean and variance (see `model`), which no splitting reduces. The
//! bound over a cell that shrinks to a point is the point's score with these allowances, so that the highest of them among the
//! points evaluated is a floor of all upper bounds. What is left of the gap below the floor is rounding: the search stops
//! once it can close little else, and does not start where rounding is most of the gap that is known without a search.

mod bound;
mod feasible;
mod jet;
mod model;
mod quadratic;
mod region;
mod remainder;

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use self::bound::CellBounds;
pub use self::feasible::FeasibleSet;
use self::model::{Around, Model};
use self::region::Cell;
pub use self::region::Region;
use crate::prior::check_size;
use crate::tuning::{PROOF_CLIMB_REACH, PROOF_CLIMB_STEPS, PROOF_CLIMBS, PROOF_ROUNDING_SHARE, PROOF_VACUOUS_SHARE};
use crate::{Error, Provable, Result, View};

/// When to stop: at this gap, after this many nodes, or where what is left is rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// The most cells that are bounded. With none, the bound is the one that holds everywhere. Climbing to better points
    /// takes up to 64 x 24 expansions more, usually a few dozen.
    pub nodes: usize,
    /// The gap at which to stop, in units of the score.
    pub tolerance: f64,
}

/// A point with its score, and a bound of all scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Certified {
    /// The best feasible point found.
    pub point: Vec<f64>,
    /// Its mean, from observed points.
    pub mean: f64,
    /// Its standard deviation given the rows of the view.
    pub sd: f64,
    /// Its score.
    pub score: f64,
    /// No feasible point has a higher score.
    pub upper: f64,
    /// How many cells were bounded.
    pub nodes: usize,
    /// Whether the allowances for rounding are at least half of the gap that is known without a search, and more than the
    /// tolerance. Then `upper` holds all the same, but no search could have made it much lower.
    pub is_vacuous: bool,
}

impl Certified {
    /// How much the best feasible point may be better than this one.
    pub fn gap(&self) -> f64 {
        self.upper - self.score
    }
}

/// Finds the maximum of an acquisition over a region or a part of it, with a proven upper bound, within a budget.
///
/// `starts` are points known to be good, made feasible if need be: the better they are, the more cells are
/// dismissed early. Refused for an empirical kernel, whose domain is finite.
///
/// ```
/// use manyhands_gp::{Budget, Kernel, Key, Posterior, Prior, Provable, Region, maximize};
/// # fn main() -> manyhands_gp::Result<()> {
/// let prior = Prior::new(Kernel::matern(2.5, &[0.2])?, 0.0, 0.01)?;
/// let mut posterior = Posterior::new(prior, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
/// let region = Region::new(&[0.0], &[1.0])?;
/// let budget = Budget { nodes: 1000, tolerance: 1e-6 };
/// let found = maximize(posterior.view(), Provable::ConfidenceBound(2.0), &region, budget, &[])?;
/// assert!(found.gap() <= 1e-6);
/// # Ok(()) }
/// ```
pub fn maximize(
    view: View<'_>,
    objective: Provable,
    feasible: &dyn FeasibleSet,
    budget: Budget,
    starts: &[Vec<f64>],
) -> Result<Certified> {
    let region = feasible.region();
    check(view, objective, region, budget)?;
    let model = Model::new(view, &region.corner())?;
    let whole = region.whole();
    let first = whole.nearest(region, &whole.centre());
    let mut search = BranchAndBound::new(&model, objective, feasible, budget, first);
    for start in starts {
        search.offer(region.nearest(start)?);
    }
    search.run(whole);
    Ok(search.result())
}

fn check(view: View<'_>, objective: Provable, region: &Region, budget: Budget) -> Result<()> {
    let (dimension, found) = (view.posterior().points().dimension(), region.dimension());
    if found != dimension {
        return Err(Error::WrongLength { what: "a region", expected: dimension, found });
    }
    if let Provable::ConfidenceBound(multiplier) = objective {
        check_size("the multiplier", multiplier)?;
    }
    if budget.tolerance.is_nan() || budget.tolerance < 0.0 {
        return Err(Error::OutOfRange { what: "tolerance".into(), low: 0.0, high: f64::MAX, value: budget.tolerance });
    }
    Ok(())
}

/// A cell that waits to be halved.
#[derive(Debug)]
struct Node {
    upper: f64,
    /// The order of making, which decides among equals.
    number: usize,
    cell: Cell,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.upper.total_cmp(&other.upper).then(other.number.cmp(&self.number))
    }
}

/// The best point so far.
#[derive(Debug, Clone)]
struct Incumbent {
    point: Vec<f64>,
    mean: f64,
    variance: f64,
    score: f64,
}

struct BranchAndBound<'a> {
    model: &'a Model<'a>,
    bounds: CellBounds<'a>,
    objective: Provable,
    feasible: &'a dyn FeasibleSet,
    budget: Budget,
    best: Incumbent,
    /// The bound that holds everywhere, known without a search.
    everywhere: f64,
    /// No upper bound of cells can fall below this.
    floor: f64,
    waiting: BinaryHeap<Node>,
    /// The highest bound of a cell that is not split any more.
    settled: f64,
    nodes: usize,
    climbs: usize,
}

impl<'a> BranchAndBound<'a> {
    fn new(
        model: &'a Model<'a>,
        objective: Provable,
        feasible: &'a dyn FeasibleSet,
        budget: Budget,
        first: Vec<f64>,
    ) -> Self {
        let best = evaluate(model, objective, feasible.nearest_feasible(first));
        let bounds = CellBounds::new(model, objective);
        let floor = bounds.at_point(&best.point, best.mean, best.variance);
        Self {
            model,
            bounds,
            objective,
            feasible,
            budget,
            best,
            everywhere: bounds.everywhere(),
            floor,
            waiting: BinaryHeap::new(),
            settled: f64::NEG_INFINITY,
            nodes: 0,
            climbs: 0,
        }
    }

    fn run(&mut self, whole: Cell) {
        if self.budget.nodes == 0 || self.is_vacuous() {
            self.settled = self.everywhere;
            return;
        }
        self.climb();
        self.visit(whole, self.everywhere);
        while let Some(node) = self.waiting.pop() {
            if self.is_closed(node.upper) || self.nodes + 2 > self.budget.nodes {
                self.settled = self.settled.max(node.upper);
                return;
            }
            match node.cell.split(self.feasible.region(), self.widest_coordinate(&node.cell)) {
                Some(halves) => halves.into_iter().for_each(|half| self.visit(half, node.upper)),
                None => self.settled = self.settled.max(node.upper),
            }
        }
    }

    /// What rounding leaves of the gap, whatever the search does.
    fn rounding(&self) -> f64 {
        self.floor - self.best.score
    }

    /// Whether a gap up to this bound is within the tolerance, or splitting more cells could close little of it.
    fn is_closed(&self, upper: f64) -> bool {
        let open = (0.5 * self.budget.tolerance).max(PROOF_ROUNDING_SHARE * self.rounding());
        upper - self.best.score <= self.budget.tolerance || upper - self.floor <= open || self.is_vacuous()
    }

    /// Whether rounding leaves most of the gap that is known without a search.
    fn is_vacuous(&self) -> bool {
        let known = self.everywhere - self.best.score;
        self.rounding() > self.budget.tolerance && self.rounding() >= PROOF_VACUOUS_SHARE * known
    }

    /// Bounds a cell, tries a point of it, and queues it unless no point of it can be better than the best.
    fn visit(&mut self, cell: Cell, parent: f64) {
        if cell.is_excluded(self.feasible) {
            return;
        }
        self.nodes += 1;
        let number = self.nodes;
        let (centre, half) = (cell.centre(), self.half_widths(&cell));
        let around = Around { centre: &centre, half: &half };
        let moving = moving(&half);
        let peak = self.bounds.over(around, &moving, self.best.score);
        let upper = peak.upper.min(parent);
        if upper <= self.best.score {
            return;
        }
        self.waiting.push(Node { upper, number, cell: cell.clone() });
        let before = self.best.score;
        self.offer(cell.nearest(self.feasible.region(), &self.moved(&centre, &moving, &peak.step)));
        if self.best.score - before > self.budget.tolerance && self.climbs < PROOF_CLIMBS {
            self.climb();
        }
    }

    /// Climbs from the best point by the maxima of its expansions in boxes that shrink where they fail.
    fn climb(&mut self) {
        if self.model.order() == 0 {
            return;
        }
        self.climbs += 1;
        let region = self.feasible.region();
        let mut reach = PROOF_CLIMB_REACH;
        for _ in 0..PROOF_CLIMB_STEPS {
            let centre = self.best.point.clone();
            let scales = &self.model.scales;
            let cell = Cell::around(region, &centre, |j| reach / scales[j]);
            let half = self.half_widths(&cell);
            let moving = moving(&half);
            let peak = self.bounds.over(Around { centre: &centre, half: &half }, &moving, f64::NEG_INFINITY);
            let before = self.best.score;
            self.offer(region.whole().nearest(region, &self.moved(&centre, &moving, &peak.step)));
            if self.best.score <= before {
                reach *= 0.25;
            }
        }
    }

    /// Keeps the feasible point next to a point of the region if it is better than the best.
    fn offer(&mut self, point: Vec<f64>) {
        let found = evaluate(self.model, self.objective, self.feasible.nearest_feasible(point));
        self.floor = self.floor.max(self.bounds.at_point(&found.point, found.mean, found.variance));
        if found.score > self.best.score {
            self.best = found;
        }
    }

    /// A point plus a step in lengthscales along the moving coordinates.
    fn moved(&self, point: &[f64], moving: &[usize], step: &[f64]) -> Vec<f64> {
        let mut out = point.to_vec();
        moving.iter().zip(step).for_each(|(&j, t)| out[j] += t / self.model.scales[j]);
        out
    }

    fn half_widths(&self, cell: &Cell) -> Vec<f64> {
        // Rounded up: the product, the reciprocal lengthscale and the differences err by a rounding each.
        let inflate = 1.0 + 8.0 * f64::EPSILON;
        self.model.scales.iter().enumerate().map(|(j, scale)| cell.half_width(j) * scale * inflate).collect()
    }

    /// The coordinate across which the cell is widest in lengthscales, the first of equals.
    fn widest_coordinate(&self, cell: &Cell) -> usize {
        let half = self.half_widths(cell);
        (0..half.len()).reduce(|best, j| if half[j] > half[best] { j } else { best }).unwrap_or(0)
    }

    fn result(self) -> Certified {
        let is_vacuous = self.is_vacuous();
        let Incumbent { point, mean, variance, score } = self.best;
        let waiting = self.waiting.peek().map_or(f64::NEG_INFINITY, |node| node.upper);
        let upper = self.settled.max(waiting).max(score);
        Certified { point, mean, sd: variance.sqrt(), score, upper, nodes: self.nodes, is_vacuous }
    }
}

fn evaluate(model: &Model<'_>, objective: Provable, point: Vec<f64>) -> Incumbent {
    let (mean, variance) = model.moments(&point);
    Incumbent { point, mean, variance, score: objective.value(mean, variance) }
}

/// The coordinates along which a cell has any width.
fn moving(half: &[f64]) -> Vec<usize> {
    (0..half.len()).filter(|&j| half[j] > 0.0).collect()
}
