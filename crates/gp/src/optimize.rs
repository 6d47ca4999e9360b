//! The maximum of a smooth function on a box, by L-BFGS-B (Byrd, Lu, Nocedal and Zhu 1995).

use std::cell::RefCell;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction, Executor, FirstOrderState, Gradient,
    Lbfgsb,
};

/// The highest point of a climb.
#[derive(Debug, Clone, PartialEq)]
pub struct Peak {
    /// Where it is.
    pub point: Vec<f64>,
    /// The function's value there.
    pub value: f64,
    /// How many times the function was evaluated.
    pub evaluations: usize,
}

/// Climbs from `start` on the box `bounds`, with at most `budget` evaluations (at least one). `f` returns its value and
/// sets its gradient. The climb ends where the function stops being finite; the best point evaluated is returned.
///
/// ```
/// let peak = manyhands_gp::climb(&[0.1], &[(0.0, 1.0)], 50, |x, gradient| {
///     gradient[0] = 2.0 * (0.7 - x[0]);
///     -(0.7 - x[0]) * (0.7 - x[0])
/// });
/// assert!((peak.point[0] - 0.7).abs() < 1e-6);
/// ```
pub fn climb(
    start: &[f64],
    bounds: &[(f64, f64)],
    budget: usize,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Peak {
    climb_until(start, bounds, ClimbEnd { budget, gain: 10.0 * f64::EPSILON }, &mut f)
}

/// When a climb is stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClimbEnd {
    /// The most evaluations, at least one.
    pub budget: usize,
    /// A step that gains less than this is the last, relative to the value where that exceeds 1.
    pub gain: f64,
}

/// As [`climb`], with a choice of when it ends.
pub(crate) fn climb_until(
    start: &[f64],
    bounds: &[(f64, f64)],
    ClimbEnd { budget, gain }: ClimbEnd,
    f: &mut Function<'_>,
) -> Peak {
    let inside: Vec<f64> = start.iter().zip(bounds).map(|(x, (low, high))| x.clamp(*low, *high)).collect();
    let best = Peak { point: inside.clone(), value: f64::NEG_INFINITY, evaluations: 0 };
    let objective = BoundedObjective {
        low: bounds.iter().map(|b| b.0).collect(),
        high: bounds.iter().map(|b| b.1).collect(),
        budget: budget.max(1),
        state: RefCell::new((f, best)),
    };
    // Running out of evaluations and leaving the finite numbers end the climb, as converging does: what counts is the
    // best point evaluated, which the objective keeps.
    let solver = Lbfgsb::new().with_relative_cost_reduction_tolerance(gain);
    let _ended = Executor::new(&objective, solver, FirstOrderState::new(inside)).max_iter(budget as u64).run();
    objective.state.into_inner().1
}

/// What is climbed. It is dynamic, so that the solver is compiled once and not for every function.
type Function<'a> = dyn FnMut(&[f64], &mut [f64]) -> f64 + 'a;

struct BoundedObjective<'a> {
    low: Vec<f64>,
    high: Vec<f64>,
    budget: usize,
    state: RefCell<(&'a mut Function<'a>, Peak)>,
}

/// Why a climb ended before it converged.
#[derive(Debug)]
struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the climb was stopped")
    }
}

impl std::error::Error for Stopped {}

impl BoundedObjective<'_> {
    fn evaluate(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Stopped> {
        let (f, best) = &mut *self.state.borrow_mut();
        if best.evaluations >= self.budget {
            return Err(Stopped);
        }
        best.evaluations += 1;
        let value = f(x, gradient);
        if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            return Err(Stopped);
        }
        if value > best.value {
            best.value = value;
            best.point.copy_from_slice(x);
        }
        gradient.iter_mut().for_each(|g| *g = -*g);
        Ok(-value)
    }
}

impl CostFunction for &BoundedObjective<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Stopped;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, Stopped> {
        self.evaluate(x, &mut vec![0.0; x.len()])
    }
}

impl Gradient for &BoundedObjective<'_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, Stopped> {
        self.cost_and_gradient(x).map(|(_, gradient)| gradient)
    }

    fn cost_and_gradient(&self, x: &Vec<f64>) -> Result<(f64, Vec<f64>), Stopped> {
        let mut gradient = vec![0.0; x.len()];
        let cost = self.evaluate(x, &mut gradient)?;
        Ok((cost, gradient))
    }
}

impl Constraints for &BoundedObjective<'_> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.low), Some(&self.high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valley(x: &[f64], gradient: &mut [f64]) -> f64 {
        let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
        gradient[0] = 2.0 * a + 400.0 * x[0] * b;
        gradient[1] = -200.0 * b;
        -(a * a + 100.0 * b * b)
    }

    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        let peak = climb(&[-1.2, 1.0], &[(-2.0, 2.0); 2], 200, valley);
        assert!((peak.point[0] - 1.0).abs() < 1e-5 && (peak.point[1] - 1.0).abs() < 1e-5, "{peak:?}");
        assert!(peak.evaluations < 80, "{peak:?}");
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let peak = climb(&[-1.2, 1.0], &[(-2.0, 0.5), (-2.0, 2.0)], 200, valley);
        assert!((peak.point[0] - 0.5).abs() < 1e-12 && (peak.point[1] - 0.25).abs() < 1e-6, "{peak:?}");
    }

    #[test]
    fn no_more_evaluations_are_made_than_allowed() {
        for budget in [1, 2, 7] {
            let mut count = 0;
            let peak = climb(&[-1.2, 1.0], &[(-2.0, 2.0); 2], budget, |x, gradient| {
                count += 1;
                valley(x, gradient)
            });
            assert_eq!((count, peak.evaluations), (budget, budget));
            assert!(peak.value > f64::NEG_INFINITY);
        }
    }

    #[test]
    fn a_function_without_numbers_ends_the_climb_where_it_began() {
        let peak = climb(&[0.5], &[(0.0, 1.0)], 50, |_, gradient| {
            gradient[0] = f64::NAN;
            f64::NAN
        });
        assert_eq!(peak.point, [0.5]);
        assert_eq!(peak.value, f64::NEG_INFINITY);
    }
}
