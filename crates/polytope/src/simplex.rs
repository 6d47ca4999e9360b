//! Small linear programs over the unit cube, by the two-phase simplex method on a dense tableau.
//!
//! Written here because the programs have a handful of rows, every run must give the same bits, and the crates that solve
//! them bring a second linear-algebra library along.
//!
//! Bland's rule comes first: it cannot cycle, but may take exponentially many pivots. Where its share of them is used up,
//! the pivot of the largest gain is taken, and Bland's where all of them gain nothing. That cannot cycle either: every
//! other pivot raises the objective, and between two of those all are Bland's. Both statements are about exact numbers;
//! against rounding, and against programs that are hard for both rules, there is a limit, and reaching it is an error.

/// weights . x against a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearRow {
    /// One per coordinate.
    pub weights: Vec<f64>,
    /// What the sum is held to.
    pub bound: f64,
}

/// How far a program's solution may be from its rows, whose weights are of order 1.
const FEASIBLE: f64 = 1e-10;
const IMPROVES: f64 = 1e-11;
const PIVOT: f64 = 1e-10;

/// The pivots of each rule in each phase, for every row and column.
const PIVOTS_PER_ENTRY: usize = 100;

/// The limit of pivots was reached before an optimum was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a linear program has no solution after {pivots} pivots")]
pub struct Stalled {
    /// How many were made.
    pub pivots: usize,
}

/// The result of a linear program, or of a computation by several: None if no point satisfies all rows.
pub type Solved<T> = Result<Option<T>, Stalled>;

/// A point of the unit cube that maximizes objective . x with weights . x = bound on every plane and weights . x <= bound
/// in every halfspace; None if there is no such point.
pub(crate) fn maximize(objective: &[f64], planes: &[LinearRow], halfspaces: &[LinearRow]) -> Solved<Vec<f64>> {
    Program { objective, planes, halfspaces }.solve([PIVOTS_PER_ENTRY, PIVOTS_PER_ENTRY])
}

/// A linear program over the unit cube.
struct Program<'a> {
    objective: &'a [f64],
    planes: &'a [LinearRow],
    halfspaces: &'a [LinearRow],
}

impl Program<'_> {
    /// `limits` are for Bland's rule and for the largest gain.
    fn solve(&self, limits: [usize; 2]) -> Solved<Vec<f64>> {
        let mut tableau = Tableau::new(self.objective.len(), self.planes, self.halfspaces);
        let artificial = tableau.artificial..tableau.columns;
        let mut phase_one = vec![0.0; tableau.columns];
        phase_one[artificial].fill(-1.0);
        tableau.optimize(&phase_one, tableau.columns, limits)?;
        if tableau.artificial_sum() > FEASIBLE {
            return Ok(None);
        }
        tableau.drive_out_artificials();
        let mut phase_two = vec![0.0; tableau.columns];
        phase_two[..self.objective.len()].copy_from_slice(self.objective);
        tableau.optimize(&phase_two, tableau.artificial, limits)?;
        Ok(Some(tableau.point(self.objective.len())))
    }
}

/// Rows in terms of the basis; the last entry of a row is the value of its basic variable.
struct Tableau {
    rows: Vec<Vec<f64>>,
    basis: Vec<usize>,
    /// The first artificial variable; before it the unknowns and the slacks.
    artificial: usize,
    columns: usize,
}

/// A variable enters the basis for that of a row, and the objective gains.
struct Pivot {
    leaving: usize,
    entering: usize,
    gain: f64,
}

impl Tableau {
    fn new(dimension: usize, planes: &[LinearRow], halfspaces: &[LinearRow]) -> Self {
        let slacks = halfspaces.len() + dimension;
        let artificial = dimension + slacks;
        // An equality, and a halfspace that excludes 0, need an artificial variable for a first basis.
        let artificials = planes.len() + halfspaces.iter().filter(|row| row.bound < 0.0).count();
        let columns = artificial + artificials;
        let mut tableau = Self { rows: Vec::new(), basis: Vec::new(), artificial, columns };
        let mut next = artificial;
        let mut add = |row: &[f64], bound: f64, slack: Option<usize>| {
            let sign = if bound < 0.0 { -1.0 } else { 1.0 };
            let mut entries = vec![0.0; columns + 1];
            entries.iter_mut().zip(row).for_each(|(entry, weight)| *entry = sign * weight);
            entries[columns] = sign * bound;
            if let Some(slack) = slack {
                entries[slack] = sign;
            }
            let basic = match slack {
                Some(slack) if sign > 0.0 => slack,
                _ => {
                    next += 1;
                    next - 1
                }
            };
            entries[basic] = 1.0;
            tableau.rows.push(entries);
            tableau.basis.push(basic);
        };
        planes.iter().for_each(|row| add(&row.weights, row.bound, None));
        halfspaces.iter().enumerate().for_each(|(i, row)| add(&row.weights, row.bound, Some(dimension + i)));
        for j in 0..dimension {
            let mut unit = vec![0.0; dimension];
            unit[j] = 1.0;
            add(&unit, 1.0, Some(dimension + halfspaces.len() + j));
        }
        tableau
    }

    /// Pivots until no variable before `allowed` improves the objective: by Bland's rule first, then by the largest gain.
    fn optimize(&mut self, objective: &[f64], allowed: usize, limits: [usize; 2]) -> Result<(), Stalled> {
        let [bland, pivots] = [limits[0], limits[0] + limits[1]].map(|p| p * (self.rows.len() + self.columns));
        for pivot in 0..=pivots {
            let next = if pivot < bland { self.first(objective, allowed) } else { self.largest(objective, allowed) };
            let Some(Pivot { leaving, entering, .. }) = next else { return Ok(()) };
            self.pivot(leaving, entering);
        }
        Err(Stalled { pivots })
    }

    /// The pivots that improve the objective, in the order of the variables that enter. A variable that no row limits is
    /// none: in a cube its gain is rounding.
    fn improving(&self, objective: &[f64], allowed: usize) -> impl Iterator<Item = Pivot> {
        let gain = move |j: usize| {
            let priced = self.rows.iter().zip(&self.basis).map(|(row, &basic)| objective[basic] * row[j]);
            objective[j] - priced.sum::<f64>()
        };
        let entering = (0..allowed).filter(|j| !self.basis.contains(j)).map(move |j| (j, gain(j)));
        entering.filter(|(_, gain)| *gain > IMPROVES).filter_map(|(entering, gain)| {
            let leaving = self.leaving(entering)?;
            Some(Pivot { leaving, entering, gain: gain * self.ratio(leaving, entering) })
        })
    }

    /// Bland's pivot.
    fn first(&self, objective: &[f64], allowed: usize) -> Option<Pivot> {
        self.improving(objective, allowed).next()
    }

    /// The pivot that raises the objective most; Bland's where none raises it.
    fn largest(&self, objective: &[f64], allowed: usize) -> Option<Pivot> {
        let larger = |best: Pivot, next: Pivot| if next.gain > best.gain { next } else { best };
        let largest = self.improving(objective, allowed).reduce(larger);
        largest.filter(|pivot| pivot.gain > IMPROVES).or_else(|| self.first(objective, allowed))
    }

    /// The row that limits an entering variable first; among equals the one of the lowest variable.
    fn leaving(&self, entering: usize) -> Option<usize> {
        let limiting = (0..self.rows.len()).filter(|&i| self.rows[i][entering] > PIVOT);
        limiting.min_by(|&a, &b| {
            let order = self.ratio(a, entering).total_cmp(&self.ratio(b, entering));
            order.then(self.basis[a].cmp(&self.basis[b]))
        })
    }

    /// How far an entering variable can go before it makes the variable of a row 0.
    fn ratio(&self, row: usize, entering: usize) -> f64 {
        self.rows[row][self.columns].max(0.0) / self.rows[row][entering]
    }

    fn pivot(&mut self, leaving: usize, entering: usize) {
        let scale = 1.0 / self.rows[leaving][entering];
        self.rows[leaving].iter_mut().for_each(|entry| *entry *= scale);
        let pivot = self.rows[leaving].clone();
        for (_, row) in self.rows.iter_mut().enumerate().filter(|(i, _)| *i != leaving) {
            let factor = row[entering];
            if factor != 0.0 {
                row.iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
                row[entering] = 0.0;
            }
        }
        self.basis[leaving] = entering;
    }

    fn artificial_sum(&self) -> f64 {
        let basic = self.rows.iter().zip(&self.basis).filter(|(_, basic)| **basic >= self.artificial);
        basic.map(|(row, _)| row[self.columns].abs()).sum()
    }

    /// Artificial variables left in the basis are 0; a row without another variable to take their place reads 0 = 0.
    fn drive_out_artificials(&mut self) {
        for i in 0..self.rows.len() {
            if self.basis[i] >= self.artificial
                && let Some(entering) = (0..self.artificial).find(|&j| self.rows[i][j].abs() > PIVOT)
            {
                self.pivot(i, entering);
            }
        }
    }

    fn point(&self, dimension: usize) -> Vec<f64> {
        let mut point = vec![0.0; dimension];
        for (row, &basic) in self.rows.iter().zip(&self.basis) {
            if basic < dimension {
                point[basic] = row[self.columns].clamp(0.0, 1.0);
            }
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Bland's rule alone, the largest gain alone, and what is used.
    const RULES: [[usize; 2]; 3] = [[PIVOTS_PER_ENTRY, 0], [0, PIVOTS_PER_ENTRY], [PIVOTS_PER_ENTRY, PIVOTS_PER_ENTRY]];

    fn row(weights: &[f64], bound: f64) -> LinearRow {
        LinearRow { weights: weights.to_vec(), bound }
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn a_program_has_the_optimum_found_by_hand() {
        let point = maximize(&[3.0, 2.0], &[], &[row(&[1.0, 1.0], 1.2), row(&[2.0, 1.0], 2.0)]).unwrap().unwrap();
        assert!((point[0] - 0.8).abs() < 1e-12 && (point[1] - 0.4).abs() < 1e-12, "{point:?}");
        let halfspaces = [row(&[-1.0, 0.0, 0.0], -0.25)];
        let point = maximize(&[0.0, 0.0, 1.0], &[row(&[1.0, 1.0, 1.0], 1.0)], &halfspaces).unwrap().unwrap();
        assert!((point[2] - 0.75).abs() < 1e-12, "{point:?}");
    }

    #[test]
    fn rows_that_exclude_each_other_have_no_solution() {
        assert_eq!(maximize(&[1.0], &[row(&[1.0], 0.5)], &[row(&[1.0], 0.4)]), Ok(None));
        assert_eq!(maximize(&[0.0, 0.0], &[row(&[1.0, 1.0], 2.5)], &[]), Ok(None));
        assert_eq!(maximize(&[], &[row(&[], 0.5)], &[]), Ok(None));
        assert_eq!(maximize(&[], &[row(&[], 0.0)], &[row(&[], 1.0)]), Ok(Some(vec![])));
    }

    #[test]
    fn repeated_planes_do_no_harm() {
        let planes = [row(&[1.0, 1.0], 1.0), row(&[1.0, 1.0], 1.0), row(&[0.5, 0.5], 0.5)];
        let point = maximize(&[1.0, 0.0], &planes, &[]).unwrap().unwrap();
        assert!((point[0] - 1.0).abs() < 1e-12 && point[1].abs() < 1e-12);
    }

    /// Beale (1955) and Marshall and Suurballe (1969): the rule of the steepest gain cycles.
    #[test]
    fn programs_on_which_other_rules_cycle_are_solved() {
        let beale = [row(&[0.25, -60.0, -0.04, 9.0], 0.0), row(&[0.5, -90.0, -0.02, 3.0], 0.0)];
        let marshall = [row(&[0.5, -5.5, -2.5, 9.0], 0.0), row(&[0.5, -1.5, -0.5, 1.0], 0.0)];
        let cases = [(beale, [0.75, -150.0, 0.02, -6.0], 0.05), (marshall, [10.0, -57.0, -9.0, -24.0], 1.0)];
        for (halfspaces, objective, optimum) in &cases {
            for limits in RULES {
                let program = Program { objective, planes: &[], halfspaces };
                let point = program.solve(limits).unwrap().unwrap();
                assert!((dot(objective, &point) - optimum).abs() < 1e-9, "{limits:?}: {point:?}");
            }
        }
    }

    /// The cube of Klee and Minty (1972) as Avis and Chvatal (1978) have it: x_j + 2 sum_{i<j} shrink^(j-i) x_i <= 1,
    /// sum_j shrink^(n-j) x_j to be largest. It is 1 at (0, .., 0, 1); Bland's rule takes Fibonacci(n) pivots to find that.
    #[test]
    fn cubes_on_which_bland_runs_out_of_pivots_are_solved() {
        for (n, reversed) in [2, 3, 5, 8, 12, 18, 25].into_iter().flat_map(|n| [(n, false), (n, true)]) {
            let shrink = |power: usize| 0.45f64.powi(power as i32);
            let order = |mut weights: Vec<f64>| {
                if reversed {
                    weights.reverse();
                }
                weights
            };
            let entry = |i: usize, j: usize| if i == j { 1.0 } else { 2.0 * shrink(j.abs_diff(i)) * f64::from(i < j) };
            let halfspaces: Vec<LinearRow> =
                (0..n).map(|j| row(&order((0..n).map(|i| entry(i, j)).collect()), 1.0)).collect();
            let objective = order((0..n).map(|j| shrink(n - 1 - j)).collect());
            let program = Program { objective: &objective, planes: &[], halfspaces: &halfspaces };
            assert_eq!(program.solve(RULES[0]).is_err(), n == 25 && !reversed, "{n}");
            for limits in &RULES[1..] {
                let point = program.solve(*limits).unwrap().unwrap();
                assert!((dot(&objective, &point) - 1.0).abs() < 1e-9, "{n}: {point:?}");
            }
        }
    }

    #[test]
    fn a_search_that_is_cut_short_is_an_error_and_no_answer() {
        let halfspaces = [row(&[1.0, 1.0, 1.0], 2.5), row(&[1.0, -1.0, 0.5], 0.2)];
        let program = Program { objective: &[1.0, 1.0, 1.0], planes: &[], halfspaces: &halfspaces };
        assert_eq!(program.solve([0, 0]), Err(Stalled { pivots: 0 }));
        let infeasible = Program { objective: &[1.0], planes: &[row(&[1.0], 0.5)], halfspaces: &[row(&[1.0], 0.4)] };
        assert_eq!(infeasible.solve([0, 0]), Err(Stalled { pivots: 0 }));
    }

    /// The solution of a square system by elimination; None where it is singular.
    fn crossing(mut rows: Vec<LinearRow>) -> Option<Vec<f64>> {
        let n = rows.len();
        for k in 0..n {
            let pivot = (k..n).max_by(|&a, &b| rows[a].weights[k].abs().total_cmp(&rows[b].weights[k].abs()))?;
            rows.swap(k, pivot);
            if rows[k].weights[k].abs() < 1e-9 {
                return None;
            }
            for i in (0..n).filter(|&i| i != k) {
                let factor = rows[i].weights[k] / rows[k].weights[k];
                let (weights, bound) = (rows[k].weights.clone(), rows[k].bound);
                rows[i].weights.iter_mut().zip(&weights).for_each(|(entry, pivot)| *entry -= factor * pivot);
                rows[i].bound -= factor * bound;
            }
        }
        Some((0..n).map(|k| rows[k].bound / rows[k].weights[k]).collect())
    }

    fn subsets(of: usize, size: usize) -> Vec<Vec<usize>> {
        (0u32..1 << of)
            .filter(|set| set.count_ones() as usize == size)
            .map(|set| (0..of).filter(|i| set >> i & 1 == 1).collect())
            .collect()
    }

    /// The highest value at a vertex, by looking at all of them.
    fn by_vertices(objective: &[f64], planes: &[LinearRow], halfspaces: &[LinearRow]) -> Option<f64> {
        let n = objective.len();
        let unit = |j: usize, sign: f64| (0..n).map(|i| if i == j { sign } else { 0.0 }).collect::<Vec<_>>();
        let sides = (0..n).flat_map(|j| [row(&unit(j, -1.0), 0.0), row(&unit(j, 1.0), 1.0)]);
        let faces: Vec<LinearRow> = halfspaces.iter().cloned().chain(sides).collect();
        let all: Vec<LinearRow> = planes.iter().cloned().chain(faces.clone()).collect();
        let vertices =
            subsets(all.len(), n).into_iter().filter_map(|set| crossing(set.iter().map(|&i| all[i].clone()).collect()));
        let kept = vertices.filter(|x| {
            planes.iter().all(|plane| (dot(&plane.weights, x) - plane.bound).abs() < 1e-7)
                && faces.iter().all(|face| dot(&face.weights, x) < face.bound + 1e-7)
        });
        kept.map(|x| dot(objective, &x)).reduce(f64::max)
    }

    /// Weights in steps of a quarter, so that vertices lie on more faces than they need and rows repeat each other.
    fn random_row(n: usize, rng: &mut impl Rng) -> LinearRow {
        let mut quarter = |from: i32, to: i32| f64::from(rng.random_range(from..=to)) / 4.0;
        LinearRow { weights: (0..n).map(|_| quarter(-4, 4)).collect(), bound: quarter(-2, 6) }
    }

    #[test]
    fn random_programs_have_the_optimum_of_all_their_vertices() {
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        let mut feasible = 0;
        for _ in 0..1500 {
            let n = rng.random_range(1..=4);
            let planes: Vec<LinearRow> = (0..rng.random_range(0..2)).map(|_| random_row(n, rng)).collect();
            let halfspaces: Vec<LinearRow> = (0..rng.random_range(0..4)).map(|_| random_row(n, rng)).collect();
            let objective = random_row(n, rng).weights;
            let optimum = by_vertices(&objective, &planes, &halfspaces);
            for limits in RULES {
                let program = Program { objective: &objective, planes: &planes, halfspaces: &halfspaces };
                let found = program.solve(limits).unwrap().map(|point| dot(&objective, &point));
                let close = match (found, optimum) {
                    (Some(found), Some(optimum)) => (found - optimum).abs() < 1e-9,
                    (found, optimum) => found.is_none() && optimum.is_none(),
                };
                assert!(close, "{found:?} against {optimum:?}: {objective:?}, {planes:?}, {halfspaces:?}");
            }
            feasible += usize::from(optimum.is_some());
        }
        assert!((200..1400).contains(&feasible), "{feasible}");
    }
}
