//! The posterior's Taylor polynomials at a point: of the mean, and of the section that the variance is the norm of.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | c | centre | where the expansion is made |
//! | t | step | from c, in lengthscales, along the moving coordinates only |
//! | D_a | | d^a/a!, for monomials t^a of degree up to 2: 1, then t_i, then t_i t_j in the order of `pairs` |
//! | D_a k_c | section | an element of the kernel's space; T(t) = sum_a t^a D_a k_c expands k_{c+t} |
//! | | mean | D_a mu(c) = <mu, D_a k_c> |
//! | C_ab | prior - explained | posterior inner product of D_a k_c and D_b k_c: D_a D_b k(c, c) - V_a' V_b |
//! | V_a | columns | L^{-1} (D_a k_c)(X) |
//! | U_a | duals | (K + lambda I)^{-1} (D_a k_c)(X) = L^{-T} V_a |
//!
//! sigma(x) is the norm of k_x in the posterior kernel, so that the norm of T(t) there, the root of t^a C_ab t^b, is within
//! rho_p of it: the posterior kernel is the prior one less a positive semi-definite one, hence its norm is smaller.

use super::model::{Model, Shape};
use super::quadratic::{Quadratic, pairs};
use crate::vector;

/// Mean and covariance of the section's derivatives at one point.
#[derive(Debug, Clone)]
pub(super) struct Jet {
    /// How many coordinates move.
    len: usize,
    order: usize,
    mean: Vec<f64>,
    /// D_a D_b k(c, c) and V_a' V_b, row-major, one row for each monomial.
    prior: Vec<f64>,
    explained: Vec<f64>,
    /// U_a, one after the other.
    duals: Vec<f64>,
    /// ||D_a k_c||_k in the prior.
    norms: Vec<f64>,
}

impl Jet {
    /// The expansion at `centre` along the coordinates `moving`.
    pub fn new(model: &Model<'_>, centre: &[f64], moving: &[usize]) -> Self {
        let order = model.order();
        let count = monomials(moving.len(), order);
        let rows = model.rows();
        let mut columns = vec![0.0; count * rows];
        let mut sections = vec![0.0; count];
        for (i, point) in model.points().enumerate() {
            section(model, centre, point, moving, &mut sections);
            (0..count).for_each(|a| columns[a * rows + i] = sections[a]);
        }
        let observed = model.weights.len();
        let prior_mean = model.view.prior().mean();
        let mean = (0..count)
            .map(|a| {
                vector::dot(&columns[a * rows..][..observed], &model.weights) + if a == 0 { prior_mean } else { 0.0 }
            })
            .collect();
        let prior = prior_covariance(model, centre, moving, count);
        let norms = (0..count).map(|a| prior[a * count + a].sqrt()).collect();
        let mut explained = vec![0.0; count * count];
        if rows > 0 {
            let factor = model.view.posterior().factor();
            let mut slices: Vec<&mut [f64]> = columns.chunks_exact_mut(rows).collect();
            factor.solve_lower_many(0, &mut slices);
            for (a, b) in pairs(count) {
                let product = vector::dot(&columns[a * rows..][..rows], &columns[b * rows..][..rows]);
                explained[a * count + b] = product;
                explained[b * count + a] = product;
            }
            columns.chunks_exact_mut(rows).for_each(|column| factor.solve_upper(column));
        }
        Self { len: moving.len(), order, mean, prior, explained, duals: columns, norms }
    }

    /// The highest order available.
    pub fn order(&self) -> usize {
        self.order
    }

    /// A bound of ||T(t)||_k in the prior over the box.
    pub fn size(&self, order: usize, half: &[f64]) -> f64 {
        let powers = self.powers(half);
        self.norms.iter().zip(powers).take(monomials(self.len, order)).map(|(norm, power)| norm * power).sum()
    }

    /// <mu, T(t)>, the mean's Taylor polynomial.
    pub fn mean(&self, order: usize) -> Quadratic {
        let mut out = Quadratic::zero(self.len);
        out.constant = self.mean[0];
        if order >= 1 {
            out.linear.copy_from_slice(&self.mean[1..=self.len]);
        }
        if order >= 2 {
            out.squares.copy_from_slice(&self.mean[1 + self.len..]);
        }
        out
    }

    /// ||T(t)||^2 in the posterior.
    pub fn variance(&self, order: usize, half: &[f64]) -> Quadratic {
        let covariance: Vec<f64> = self.prior.iter().zip(&self.explained).map(|(k, e)| k - e).collect();
        self.form(&covariance, order, half)
    }

    /// What the rows explain of ||T(t)||^2: prior less posterior.
    pub fn explained(&self, order: usize, half: &[f64]) -> Quadratic {
        self.form(&self.explained, order, half)
    }

    /// Bounds of |u_i(t)| over the box, u(t) = (K + lambda I)^{-1} T(t)(X) = sum_a t^a U_a, one for each row.
    pub fn dual_sizes(&self, order: usize, half: &[f64]) -> Vec<f64> {
        let rows = self.duals.len() / self.norms.len();
        let mut out = vec![0.0; rows];
        let powers = self.powers(half);
        for (a, power) in powers.iter().enumerate().take(monomials(self.len, order)) {
            let dual = &self.duals[a * rows..][..rows];
            out.iter_mut().zip(dual).for_each(|(slot, u)| *slot += power * u.abs());
        }
        out
    }

    /// t^a M_ab t^b: a quadratic polynomial, and a bound of the terms of degree 3 and 4 over the box.
    fn form(&self, matrix: &[f64], order: usize, half: &[f64]) -> Quadratic {
        let (len, all) = (self.len, self.norms.len());
        let entry = |a: usize, b: usize| matrix[a * all + b];
        let mut out = Quadratic::zero(len);
        out.constant = entry(0, 0);
        if order == 0 {
            return out;
        }
        for i in 0..len {
            out.linear[i] = 2.0 * entry(0, 1 + i);
        }
        for (slot, (i, j)) in out.squares.iter_mut().zip(pairs(len)) {
            *slot = if i == j { 1.0 } else { 2.0 } * entry(1 + i, 1 + j);
        }
        if order == 1 {
            return out;
        }
        let powers = self.powers(half);
        for (pair, slot) in out.squares.iter_mut().enumerate() {
            *slot += 2.0 * entry(0, 1 + len + pair);
        }
        for a in 1 + len..all {
            for b in 1..=a {
                let twice = if a == b { 1.0 } else { 2.0 };
                out.rest += twice * entry(a, b).abs() * powers[a] * powers[b];
            }
        }
        out
    }

    /// h^a for every monomial.
    fn powers(&self, half: &[f64]) -> Vec<f64> {
        let linear = half.iter().copied();
        let squares = pairs(self.len).map(|(i, j)| half[i] * half[j]);
        std::iter::once(1.0).chain(linear).chain(squares).take(self.norms.len()).collect()
    }
}

/// How many monomials of degree up to `order` there are.
fn monomials(len: usize, order: usize) -> usize {
    match order {
        0 => 1,
        1 => 1 + len,
        _ => 1 + len + len * (len + 1) / 2,
    }
}

/// Sets `out` to D_a k_c at a point, a row's: with e the step from it to c in lengthscales,
/// D_i = v (rho'/r) e_i, D_ii = v ((rho'/r) + bend e_i^2)/2, D_ij = v bend e_i e_j.
fn section(model: &Model<'_>, centre: &[f64], point: &[f64], moving: &[usize], out: &mut [f64]) {
    let v = model.variance();
    let step = |j: usize| (centre[j] - point[j]) * model.scales[j];
    let (linear, squares) = out[1..].split_at_mut_checked(moving.len()).unwrap_or_default();
    match &model.shape {
        Shape::Linear => {
            let product: f64 =
                (0..centre.len()).map(|j| centre[j] * point[j] * model.scales[j] * model.scales[j]).sum();
            linear.iter_mut().zip(moving).for_each(|(slot, &j)| *slot = v * point[j] * model.scales[j]);
            out[0] = v * product;
        }
        Shape::Radial(radial, _) => {
            let r = (0..centre.len()).map(|j| step(j) * step(j)).sum::<f64>().sqrt();
            let at = radial.at(r);
            linear.iter_mut().zip(moving).for_each(|(slot, &j)| *slot = v * at.ratio * step(j));
            for (slot, (i, j)) in squares.iter_mut().zip(pairs(moving.len())) {
                let bent = at.bend * step(moving[i]) * step(moving[j]);
                *slot = v * if i == j { 0.5 * (at.ratio + bent) } else { bent };
            }
            out[0] = v * at.value;
        }
    }
}

/// D_a D_b k(c, c) in the prior, row-major.
///
/// For v (1 - m_2 |e|^2/2 + m_4 |e|^4/24 - ...) with e the difference of the two points and m_q = E omega^q, the entry is
/// (-1)^|b| times the coefficient of e^(a+b) times (a+b)!/(a! b!). What is not listed below is 0.
fn prior_covariance(model: &Model<'_>, centre: &[f64], moving: &[usize], count: usize) -> Vec<f64> {
    let (v, len) = (model.variance(), moving.len());
    let mut out = vec![0.0; count * count];
    let mut set = |a: usize, b: usize, value: f64| {
        if a < count && b < count {
            out[a * count + b] = v * value;
            out[b * count + a] = v * value;
        }
    };
    match &model.shape {
        Shape::Linear => {
            let scaled: Vec<f64> = centre.iter().zip(&model.scales).map(|(c, s)| c * s).collect();
            set(0, 0, vector::squares(&scaled));
            for (i, &j) in moving.iter().enumerate() {
                set(0, 1 + i, scaled[j]);
                set(1 + i, 1 + i, 1.0);
            }
        }
        Shape::Radial(_, remainder) => {
            let (second, fourth) = (remainder.second(), remainder.fourth());
            set(0, 0, 1.0);
            (0..len).for_each(|i| set(1 + i, 1 + i, second));
            let places: Vec<(usize, usize)> = pairs(len).collect();
            for (a, &(i, j)) in places.iter().enumerate() {
                let mixed = i != j;
                set(1 + len + a, 1 + len + a, if mixed { fourth / 3.0 } else { 0.25 * fourth });
                if !mixed {
                    set(0, 1 + len + a, -0.5 * second);
                    let others = places.iter().enumerate().filter(|(b, (k, l))| *b > a && k == l);
                    others.for_each(|(b, _)| set(1 + len + a, 1 + len + b, fourth / 12.0));
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::model::Around;
    use super::*;
    use crate::{Kernel, Key, Posterior, Prior};

    const CENTRE: [f64; 3] = [0.3, -0.4, 0.2];
    const MOVING: [usize; 3] = [0, 1, 2];

    fn kernels() -> Vec<Kernel> {
        let each = [0.5, 0.8, 1.1];
        let mut all = vec![Kernel::squared_exponential(&each).unwrap(), Kernel::linear(&each).unwrap()];
        all.extend([0.5, 1.5, 2.5, 1.3, 2.7, 4.0].map(|nu| Kernel::matern(nu, &each).unwrap()));
        all.into_iter().map(|kernel| kernel.with_variance(1.7).unwrap()).collect()
    }

    fn posterior(kernel: Kernel) -> Posterior {
        let mut posterior = Posterior::new(Prior::new(kernel, 0.2, 0.05).unwrap(), 3).unwrap();
        for (id, x) in [[0.1, 0.2, 0.3], [0.5, -0.6, 0.0], [0.3, -0.4, 0.2], [2.0, 0.0, 1.0]].into_iter().enumerate() {
            posterior.observe(Key { id: id as u64, site: 0 }, &x, x[0] - x[2]).unwrap();
        }
        posterior
    }

    /// Steps of many lengths and directions, in lengthscales.
    fn steps() -> impl Iterator<Item = [f64; 3]> {
        (1..60).map(|i| {
            let i = f64::from(i);
            [(1.3 * i).sin(), (2.1 * i).sin(), (0.7 * i).cos()].map(|u| u * 0.025 * i)
        })
    }

    fn monomials_at(step: [f64; 3], count: usize) -> Vec<f64> {
        let squares = pairs(3).map(|(i, j)| step[i] * step[j]);
        std::iter::once(1.0).chain(step).chain(squares).take(count).collect()
    }

    fn moved(model: &Model<'_>, step: [f64; 3]) -> Vec<f64> {
        (0..3).map(|j| CENTRE[j] + step[j] / model.scales[j]).collect()
    }

    #[test]
    fn the_expansions_distance_from_the_section_is_the_closed_form() {
        // ||k_x - T||^2 = k(x, x) - 2 T(x) + ||T||^2, from the sections and the prior covariance alone.
        for kernel in kernels() {
            let posterior = posterior(kernel.clone());
            let model = Model::new(posterior.view(), &[3.0; 3]).unwrap();
            for step in steps() {
                let x = moved(&model, step);
                let radius = vector::norm(&step);
                for order in 0..=model.order() {
                    let count = monomials(3, order);
                    let (powers, mut there) = (monomials_at(step, count), vec![0.0; count]);
                    section(&model, &CENTRE, &x, &MOVING, &mut there);
                    let gram = prior_covariance(&model, &CENTRE, &MOVING, count);
                    let norm: f64 =
                        (0..count).map(|a| powers[a] * vector::dot(&gram[a * count..][..count], &powers)).sum();
                    let square = kernel.variance_at(&x) - 2.0 * vector::dot(&powers, &there) + norm;
                    let bound = model.remainder(order, radius).powi(2);
                    // Thirty operations on numbers up to ||T||^2; Bessel functions are good to 1e-12.
                    let slack = 1e-10 * (1.0 + norm);
                    assert!(square <= bound + slack, "{kernel:?}, order {order}: {square} above {bound}");
                    let sharp = radius > 0.3 && kernel.is_stationary();
                    assert!(!sharp || square >= bound - slack, "{kernel:?}, order {order}: {square} below {bound}");
                }
            }
        }
    }

    #[test]
    fn no_row_is_left_with_more_than_its_remainder() {
        for kernel in kernels() {
            let posterior = posterior(kernel.clone());
            let model = Model::new(posterior.view(), &[3.0; 3]).unwrap();
            for step in steps() {
                let (x, half) = (moved(&model, step), step.map(f64::abs));
                let reach = model.reach(Around { centre: &CENTRE, half: &half });
                for order in 0..=model.order() {
                    let mut there = vec![0.0; monomials(3, order)];
                    let bounds = model.row_remainders(order, vector::norm(&half), &reach);
                    for (row, bound) in model.points().zip(bounds) {
                        section(&model, &CENTRE, row, &MOVING, &mut there);
                        let expanded = vector::dot(&monomials_at(step, there.len()), &there);
                        let off = (kernel.covariance(&x, row) - expanded).abs();
                        assert!(off <= bound + 1e-14, "{kernel:?}, order {order}, {row:?}: {off} above {bound}");
                    }
                }
            }
        }
    }

    #[test]
    fn polynomials_are_the_forms_within_their_rest() {
        for kernel in kernels() {
            let posterior = posterior(kernel.clone());
            let model = Model::new(posterior.view(), &[3.0; 3]).unwrap();
            let jet = Jet::new(&model, &CENTRE, &MOVING);
            for step in steps() {
                let half = step.map(f64::abs);
                for order in 0..=jet.order() {
                    let (count, all) = (monomials(3, order), jet.norms.len());
                    let powers = monomials_at(step, count);
                    let sum = |matrix: &[f64]| -> f64 {
                        (0..count).map(|a| powers[a] * vector::dot(&matrix[a * all..][..count], &powers)).sum()
                    };
                    let (prior, explained) = (sum(&jet.prior), sum(&jet.explained));
                    for (form, exact) in
                        [(jet.explained(order, &half), explained), (jet.variance(order, &half), prior - explained)]
                    {
                        let off = (form.at(&step) - exact).abs();
                        assert!(off <= form.rest + 1e-12 * (1.0 + prior), "{kernel:?}, order {order}: {off}");
                    }
                    assert!(
                        (jet.mean(order).at(&step) - vector::dot(&jet.mean[..count], &powers)).abs()
                            < 1e-12 * (1.0 + prior)
                    );
                }
            }
        }
    }
}
