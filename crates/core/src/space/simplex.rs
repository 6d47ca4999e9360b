//! Small linear programs over the unit cube, by the two-phase simplex method on a dense tableau.
//!
//! Written here because the programs have a handful of rows, every run must give the same bits, and the crates that solve
//! them bring a second linear-algebra library along. Bland's rule: no cycles.

/// weights . x against a bound.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub weights: Vec<f64>,
    pub bound: f64,
}

/// How far a program's solution may be from its rows, whose weights are of order 1.
const FEASIBLE: f64 = 1e-10;
const IMPROVES: f64 = 1e-11;
const PIVOT: f64 = 1e-10;

/// A point of the unit cube that maximizes objective . x with weights . x = bound on every plane and weights . x <= bound
/// in every halfspace; None if there is no such point.
pub(super) fn maximize(objective: &[f64], planes: &[Row], halfspaces: &[Row]) -> Option<Vec<f64>> {
    let mut tableau = Tableau::new(objective.len(), planes, halfspaces);
    let artificial = tableau.artificial..tableau.columns;
    let mut phase_one = vec![0.0; tableau.columns];
    phase_one[artificial].fill(-1.0);
    tableau.optimize(&phase_one, tableau.columns);
    if tableau.artificial_sum() > FEASIBLE {
        return None;
    }
    tableau.drive_out_artificials();
    let mut phase_two = vec![0.0; tableau.columns];
    phase_two[..objective.len()].copy_from_slice(objective);
    tableau.optimize(&phase_two, tableau.artificial);
    Some(tableau.point(objective.len()))
}

/// Rows in terms of the basis; the last entry of a row is the value of its basic variable.
struct Tableau {
    rows: Vec<Vec<f64>>,
    basis: Vec<usize>,
    /// The first artificial variable; before it the unknowns and the slacks.
    artificial: usize,
    columns: usize,
}

impl Tableau {
    fn new(dimension: usize, planes: &[Row], halfspaces: &[Row]) -> Self {
        let slacks = halfspaces.len() + dimension;
        let artificial = dimension + slacks;
        let needy = planes.len() + halfspaces.iter().filter(|row| row.bound < 0.0).count();
        let columns = artificial + needy;
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

    /// Pivots until no variable before `allowed` improves the objective.
    fn optimize(&mut self, objective: &[f64], allowed: usize) {
        for _ in 0..100 * (self.rows.len() + self.columns) {
            let gain = |j: usize| {
                let priced = self.rows.iter().zip(&self.basis).map(|(row, &basic)| objective[basic] * row[j]);
                objective[j] - priced.sum::<f64>()
            };
            let Some(entering) = (0..allowed).find(|&j| !self.basis.contains(&j) && gain(j) > IMPROVES) else { return };
            let Some(leaving) = self.leaving(entering) else { return };
            self.pivot(leaving, entering);
        }
    }

    /// The row that limits an entering variable first; among equals the one of the lowest variable.
    fn leaving(&self, entering: usize) -> Option<usize> {
        let ratio = |row: &Vec<f64>| row[self.columns].max(0.0) / row[entering];
        let limiting = (0..self.rows.len()).filter(|&i| self.rows[i][entering] > PIVOT);
        limiting.min_by(|&a, &b| {
            ratio(&self.rows[a]).total_cmp(&ratio(&self.rows[b])).then(self.basis[a].cmp(&self.basis[b]))
        })
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

    /// Artificial variables left in the basis are 0; a row without another variable to take their place says 0 = 0.
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

    fn row(weights: &[f64], bound: f64) -> Row {
        Row { weights: weights.to_vec(), bound }
    }

    #[test]
    fn a_program_has_the_optimum_found_by_hand() {
        let point = maximize(&[3.0, 2.0], &[], &[row(&[1.0, 1.0], 1.2), row(&[2.0, 1.0], 2.0)]).unwrap();
        assert!((point[0] - 0.8).abs() < 1e-12 && (point[1] - 0.4).abs() < 1e-12, "{point:?}");
        let point =
            maximize(&[0.0, 0.0, 1.0], &[row(&[1.0, 1.0, 1.0], 1.0)], &[row(&[-1.0, 0.0, 0.0], -0.25)]).unwrap();
        assert!((point[2] - 0.75).abs() < 1e-12, "{point:?}");
    }

    #[test]
    fn rows_that_exclude_each_other_have_no_solution() {
        assert_eq!(maximize(&[1.0], &[row(&[1.0], 0.5)], &[row(&[1.0], 0.4)]), None);
        assert_eq!(maximize(&[0.0, 0.0], &[row(&[1.0, 1.0], 2.5)], &[]), None);
        assert_eq!(maximize(&[], &[row(&[], 0.5)], &[]), None);
        assert_eq!(maximize(&[], &[row(&[], 0.0)], &[row(&[], 1.0)]), Some(vec![]));
    }

    #[test]
    fn repeated_planes_do_no_harm() {
        let planes = [row(&[1.0, 1.0], 1.0), row(&[1.0, 1.0], 1.0), row(&[0.5, 0.5], 0.5)];
        let point = maximize(&[1.0, 0.0], &planes, &[]).unwrap();
        assert!((point[0] - 1.0).abs() < 1e-12 && point[1].abs() < 1e-12);
    }
}
