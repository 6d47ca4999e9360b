//! Upper bounds of an objective over a cell.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | a, m | mean_weight, multiplier | the objective is a mu(x) + m sigma(x), a being 0 or 1 and m of any sign |
//! | c, h | centre, half | the cell's middle and half-widths, these in lengthscales |
//! | A(t) | mean | Taylor polynomial of mu at c |
//! | S(t) | variance | squared posterior norm of the section's Taylor polynomial; see `jet` |
//! | rho_p | remainder | prior norm of what the section's Taylor polynomial leaves out; see `remainder` |
//!
//! **Expanded bound.** mu(c+t) - A(t) = <mu, k_{c+t} - T_p(t)> is at most ||mu||_k rho_p in size, and sigma(c+t) is within
//! rho_p of sqrt(S(t)). What is left is the maximum of A + m sqrt(S) over the box. The root is replaced by a line in S that
//! lies on the right side of it:
//! - m > 0: sqrt(S) <= (s + S/s)/2 for every s > 0. With s = sigma(c) the slope of the objective at c is exact,
//!   so that the excess over the maximum is of second order in h; other s serve where sigma(c) is small.
//! - m < 0: sqrt(S) is concave, so above its chord: sqrt(S) >= (S + sqrt(l u))/(sqrt(l) + sqrt(u)) for l <= S <= u.
//!
//! Two pairs of S and remainder serve. The first is that of the norms above. The second starts from sigma^2 = v - q(x), q(x) =
//! k_x(X)' (K + lambda I)^{-1} k_x(X) being what the rows explain: with e = k_x - T_p and u(t) = (K + lambda I)^{-1} T_p(X),
//! q(x) = q_T(t) + 2 u(t)' e(X) + e(X)' (K + lambda I)^{-1} e(X), where u' e is at most sqrt(q_T) rho_p (Cauchy and Schwarz)
//! and at most sum_i |u_i| |e(x_i)|, and the last term at most rho_p^2 and at most |e(X)|^2/lambda. The |e(x_i)| are bounded
//! row by row, which also gives |<mu, e>| <= sum_i |w_i| |e(x_i)|: far less than by norms for rough kernels, far more where
//! weights are large and alternate.
//!
//! Either way a quadratic polynomial is to be bounded over a box; see `quadratic`. At order 0 this is the Lipschitz bound in
//! the kernel's metric.
//!
//! **Coarse bound**, for large cells. mu = prior mean + sum_i w_i k(x, x_i), and each k(x, x_i) lies between its values at
//! the farthest and the nearest point of the cell. sigma^2 is at most what one row leaves: v - k(x, x_i)^2/(v + lambda).

use super::jet::Jet;
use super::model::{Around, Model, ROUNDING, Shape};
use super::quadratic::{BoxMaximum, Quadratic};
use crate::{Provable, vector};

/// An objective as a combination of mean and sd; the variance by its root.
#[derive(Debug, Clone, Copy)]
struct Goal {
    mean_weight: f64,
    multiplier: f64,
}

impl Goal {
    fn new(objective: Provable) -> Self {
        match objective {
            Provable::ConfidenceBound(multiplier) => Self { mean_weight: 1.0, multiplier },
            Provable::Variance => Self { mean_weight: 0.0, multiplier: 1.0 },
        }
    }
}

/// Bounds of mean and sd by themselves.
#[derive(Debug, Clone, Copy)]
struct Ranges {
    mean: f64,
    least_sd: f64,
    most_sd: f64,
}

impl Ranges {
    fn score(self, goal: Goal) -> f64 {
        let sd = if goal.multiplier >= 0.0 { self.most_sd } else { self.least_sd };
        // 0 x infinity must not appear where a bound is infinite.
        let mean = if goal.mean_weight == 0.0 { 0.0 } else { self.mean };
        mean + goal.multiplier * sd
    }
}

/// Bounds an objective over cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellBounds<'a> {
    model: &'a Model<'a>,
    objective: Provable,
    goal: Goal,
}

impl<'a> CellBounds<'a> {
    pub fn new(model: &'a Model<'a>, objective: Provable) -> Self {
        Self { model, objective, goal: Goal::new(objective) }
    }

    /// What holds everywhere: |mu - prior mean| <= ||mu||_k sqrt(v), and no sd exceeds the prior's. Both at once is
    /// impossible: mu - prior mean = v_O' z and sigma^2 <= k(x, x) - v_O' v_O, so that (mu - prior mean) + m sigma is at
    /// most sqrt(z'z + m^2) sqrt(v), by Cauchy and Schwarz.
    pub fn everywhere(&self) -> f64 {
        let apart = self.prior_ranges().score(self.goal);
        let (model, Goal { mean_weight, multiplier }) = (self.model, self.goal);
        let size = vector::squares(model.view.whitened()) * mean_weight + multiplier * multiplier;
        let slack = model.mean_slack + multiplier.abs() * model.variance_slack.sqrt();
        let together = mean_weight * model.view.prior().mean() + (size * model.largest).sqrt() + slack;
        self.finish(apart.min(together))
    }

    /// A bound over a cell, and a promising step in lengthscales along the `moving` coordinates, those with positive
    /// half-width. Where the coarse bound is at most `enough` no more work is done.
    pub fn over(&self, cell: Around<'_>, moving: &[usize], enough: f64) -> BoxMaximum {
        let reach = self.model.reach(cell);
        let mut ranges = self.coarse_ranges(&reach);
        let mut best = BoxMaximum { upper: f64::INFINITY, step: vec![0.0; moving.len()] };
        let coarse = self.finish(ranges.score(self.goal));
        if coarse <= enough {
            return BoxMaximum { upper: coarse, ..best };
        }
        let half: Vec<f64> = moving.iter().map(|&j| cell.half[j]).collect();
        let jet = Jet::new(self.model, cell.centre, moving);
        for order in (0..=jet.order()).rev() {
            let expansion = Expansion::new(self.model, &jet, order, &half, &reach);
            ranges = expansion.tighten(ranges);
            let peak = expansion.joint(self.goal);
            // Lower orders give worse steps.
            let step = if order == jet.order() { peak.step } else { best.step };
            best = BoxMaximum { upper: best.upper.min(peak.upper), step };
        }
        BoxMaximum { upper: self.finish(best.upper.min(ranges.score(self.goal))), step: best.step }
    }

    /// What the bound over a cell comes down to as the cell shrinks to this point: its score with all allowances for
    /// rounding, which grow with n^2/lambda.
    pub fn at_point(&self, point: &[f64], mean: f64, variance: f64) -> f64 {
        let (model, prior) = (self.model, self.prior_ranges());
        let share = model.view.prior().kernel().variance_at(point) / model.largest.max(f64::MIN_POSITIVE);
        let slack = model.variance_slack * share;
        let ranges = Ranges {
            mean: (mean + model.mean_slack * share.sqrt()).min(prior.mean),
            least_sd: (variance - slack).max(0.0).sqrt(),
            most_sd: (variance + slack).sqrt().min(prior.most_sd),
        };
        self.finish(ranges.score(self.goal))
    }

    fn prior_ranges(&self) -> Ranges {
        let model = self.model;
        let sd = model.largest.sqrt();
        let mean = model.view.prior().mean() + model.norm * sd + model.mean_slack;
        Ranges { mean, least_sd: 0.0, most_sd: sd }
    }

    /// The coarse bounds of this file's top: n evaluations of the kernel at two distances.
    fn coarse_ranges(&self, reach: &[(f64, f64)]) -> Ranges {
        let (model, prior) = (self.model, self.prior_ranges());
        let Shape::Radial(radial, _) = &model.shape else { return prior };
        let v = model.variance();
        let (mut mean, mut nearest) = (model.view.prior().mean() + model.mean_slack, 0f64);
        for (i, &(near, far)) in reach.iter().enumerate() {
            let least = v * radial.value(far);
            nearest = nearest.max(least);
            if let Some(&weight) = model.weights.get(i) {
                mean += weight * if weight > 0.0 { v * radial.value(near) } else { least };
            }
        }
        let variance = v - nearest * nearest / (v + model.view.prior().noise()) + model.variance_slack;
        Ranges { mean: mean.min(prior.mean), least_sd: 0.0, most_sd: variance.sqrt().min(prior.most_sd) }
    }

    /// Allows for the roundings of the bound itself.
    fn finish(&self, bound: f64) -> f64 {
        let (model, goal) = (self.model, self.goal);
        let sd = model.largest.sqrt();
        let size = model.view.prior().mean().abs() + (model.norm + goal.multiplier.abs()) * sd;
        let bound = bound + ROUNDING * (bound.abs() + size);
        if self.objective == Provable::Variance { bound.max(0.0).powi(2) } else { bound }
    }
}

/// The variance over a box: the squared sd is within the polynomial's `rest` of it, once the sd has been moved by
/// `sd_remainder` at most.
struct Spread {
    variance: Quadratic,
    sd_remainder: f64,
}

/// One order's polynomials over one box, with what they leave out.
struct Expansion<'a> {
    half: &'a [f64],
    mean: Quadratic,
    mean_remainder: f64,
    spreads: Vec<Spread>,
}

impl<'a> Expansion<'a> {
    fn new(model: &Model<'_>, jet: &Jet, order: usize, half: &'a [f64], reach: &[(f64, f64)]) -> Self {
        let radius = half.iter().map(|h| h * h).sum::<f64>().sqrt() * (1.0 + ROUNDING);
        let remainder = model.remainder(order, radius);
        let by_row = model.row_remainders(order, radius, reach);
        // Rounding of bilinear forms goes with the norms of both sections, here of T and of what it leaves out.
        let size = (jet.size(order, half) + remainder) / model.largest.sqrt().max(f64::MIN_POSITIVE);
        let slack = model.variance_slack * size * size;
        let local: f64 = by_row.iter().zip(&model.weights).map(|(e, w)| e * w.abs()).sum();
        let mean_remainder = (model.norm * remainder).min(local * (1.0 + ROUNDING)) + model.mean_slack * size;
        let mut variance = jet.variance(order, half);
        variance.rest += slack;
        let mut spreads = vec![Spread { variance, sd_remainder: remainder }];
        if let Shape::Radial(..) = model.shape {
            let explained = jet.explained(order, half);
            let root = (explained.peak(half).upper.max(0.0) + slack).sqrt();
            let duals = jet.dual_sizes(order, half);
            let local: f64 = by_row.iter().zip(duals).map(|(e, u)| e * u).sum();
            let squares: f64 = by_row.iter().map(|e| e * e).sum::<f64>() / model.view.prior().noise();
            let first = 2.0 * (root * remainder).min(local * (1.0 + ROUNDING));
            let second = squares.min(remainder * remainder);
            let mut variance = Quadratic::zero(half.len()).plus(-1.0, &explained);
            variance.constant += model.variance();
            variance.rest += first + second + slack;
            spreads.push(Spread { variance, sd_remainder: 0.0 });
        }
        Self { half, mean: jet.mean(order), mean_remainder, spreads }
    }

    /// Bounds of mean and sd by themselves, where they improve on those given.
    fn tighten(&self, ranges: Ranges) -> Ranges {
        let mean = ranges.mean.min(self.mean.peak(self.half).upper + self.mean_remainder);
        self.spreads.iter().fold(Ranges { mean, ..ranges }, |ranges, spread| {
            let (least, most) = spread.range(self.half);
            Ranges {
                least_sd: ranges.least_sd.max(least - spread.sd_remainder),
                most_sd: ranges.most_sd.min(most + spread.sd_remainder),
                ..ranges
            }
        })
    }

    /// The bound of mean and sd together.
    fn joint(&self, goal: Goal) -> BoxMaximum {
        let Goal { mean_weight, multiplier } = goal;
        let mean = Quadratic::zero(self.half.len()).plus(mean_weight, &self.mean);
        let remainder = if mean_weight == 0.0 { 0.0 } else { self.mean_remainder };
        let peaks = self.spreads.iter().map(|spread| {
            let mut peak = match multiplier >= 0.0 {
                true => spread.above(&mean, multiplier, self.half),
                false => spread.below(&mean, -multiplier, self.half),
            };
            peak.upper += remainder + multiplier.abs() * spread.sd_remainder;
            peak
        });
        peaks.fold(BoxMaximum { upper: f64::INFINITY, step: vec![0.0; self.half.len()] }, lower)
    }
}

impl Spread {
    /// The roots of the least and the largest variance over the box.
    fn range(&self, half: &[f64]) -> (f64, f64) {
        let most = self.variance.peak(half).upper.max(0.0).sqrt();
        (self.variance.floor(half).max(0.0).sqrt().min(most), most)
    }

    /// The maximum of mean + m sqrt(S), by sqrt(S) <= (s + S/s)/2 at three values of s.
    fn above(&self, mean: &Quadratic, multiplier: f64, half: &[f64]) -> BoxMaximum {
        let (_, most) = self.range(half);
        if most == 0.0 || multiplier == 0.0 {
            return mean.peak(half);
        }
        let at = |s: f64| {
            let s = s.clamp(1e-3 * most, most);
            let mut peak = mean.plus(0.5 * multiplier / s, &self.variance).peak(half);
            peak.upper += 0.5 * multiplier * s;
            peak
        };
        let first = at(self.variance.constant.max(0.0).sqrt());
        let second = at(self.variance.at(&first.step).max(0.0).sqrt());
        lower(lower(first, second), at(most))
    }

    /// The maximum of mean - m sqrt(S), by the chord of the root.
    fn below(&self, mean: &Quadratic, multiplier: f64, half: &[f64]) -> BoxMaximum {
        let (least, most) = self.range(half);
        if most == 0.0 {
            return mean.peak(half);
        }
        let mut peak = mean.plus(-multiplier / (least + most), &self.variance).peak(half);
        peak.upper -= multiplier * least * most / (least + most);
        peak
    }
}

/// The one with the lower bound, the first of equals.
fn lower(a: BoxMaximum, b: BoxMaximum) -> BoxMaximum {
    if b.upper < a.upper { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Key, Posterior, Prior};
    use proptest::prelude::*;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn kernel(which: usize, dimension: usize, lengthscale: f64) -> Kernel {
        let each: Vec<f64> = (0..dimension).map(|j| lengthscale * (1.0 + 0.4 * j as f64)).collect();
        let smoothness = [0.3, 0.5, 1.0, 1.3, 1.5, 2.2, 2.5, 3.7];
        match which {
            0 => Kernel::squared_exponential(&each),
            1 => Kernel::linear(&each),
            _ => Kernel::matern(smoothness[(which - 2) % smoothness.len()], &each),
        }
        .unwrap()
    }

    fn uniform(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
        rng.random_range(low..high)
    }

    /// Observed rows, some repeated, and pending ones.
    fn posterior(rng: &mut impl Rng, kernel: Kernel, dimension: usize, rows: usize) -> Posterior {
        let noise = 10f64.powf(uniform(rng, -6.0, 0.0));
        let kernel = kernel.with_variance(uniform(rng, 0.3, 3.0)).unwrap();
        let mut posterior = Posterior::new(Prior::new(kernel, 0.4, noise).unwrap(), dimension).unwrap();
        let mut last = vec![0.5; dimension];
        for id in 0..rows {
            if !rng.random_bool(0.2) {
                last = (0..dimension).map(|_| uniform(rng, 0.0, 1.0)).collect();
            }
            let key = Key { id: id as u64, site: 0 };
            match rng.random_bool(0.7) {
                true => posterior.observe(key, &last, uniform(rng, -2.0, 2.0)).unwrap(),
                false => posterior.hallucinate(key, &last).unwrap(),
            }
        }
        posterior
    }

    /// A corner of the box, or any of its points.
    fn inside(rng: &mut impl Rng, centre: &[f64], widths: &[f64]) -> Vec<f64> {
        let corner = rng.random_bool(0.3);
        let mut share = || if corner { if rng.random_bool(0.5) { 1.0 } else { -1.0 } } else { uniform(rng, -1.0, 1.0) };
        centre.iter().zip(widths).map(|(c, h)| c + h * share()).collect()
    }

    fn objectives() -> [Provable; 6] {
        let [a, b, c] = [0.0, 1.7, 6.0];
        [
            Provable::ConfidenceBound(a),
            Provable::ConfidenceBound(b),
            Provable::ConfidenceBound(c),
            Provable::ConfidenceBound(-b),
            Provable::ConfidenceBound(-c),
            Provable::Variance,
        ]
    }

    proptest! {
        #![proptest_config(crate::seeded::config(600))]

        #[test]
        fn no_point_of_a_cell_beats_any_of_its_bounds(
            seed in any::<u64>(), which in 0usize..10, dimension in 1usize..4, rows in 0usize..14, width in -4.0f64..0.5
        ) {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let lengthscale = uniform(rng, 0.1, 1.0);
            let posterior = posterior(rng, kernel(which, dimension, lengthscale), dimension, rows);
            let model = Model::new(posterior.view(), &vec![4.0; dimension]).unwrap();
            let centre: Vec<f64> = (0..dimension).map(|_| uniform(rng, -0.1, 1.1)).collect();
            let widths: Vec<f64> = (0..dimension)
                .map(|_| if rng.random_bool(0.15) { 0.0 } else { 10f64.powf(width) * uniform(rng, 0.2, 1.0) })
                .collect();
            let half: Vec<f64> = widths.iter().zip(&model.scales).map(|(h, s)| h * s * (1.0 + 1e-15)).collect();
            let moving: Vec<usize> = (0..dimension).filter(|&j| half[j] > 0.0).collect();
            let moved: Vec<f64> = moving.iter().map(|&j| half[j]).collect();
            let cell = Around { centre: &centre, half: &half };
            let points: Vec<(f64, f64)> =
                (0..60).map(|_| model.moments(&inside(rng, &centre, &widths))).collect();
            let (jet, reach) = (Jet::new(&model, &centre, &moving), model.reach(cell));
            for objective in objectives() {
                let bounds = CellBounds::new(&model, objective);
                let highest = points.iter().map(|&(m, v)| objective.value(m, v)).fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(highest <= bounds.everywhere());
                prop_assert!(highest <= bounds.over(cell, &moving, f64::INFINITY).upper);
                prop_assert!(highest <= bounds.over(cell, &moving, f64::NEG_INFINITY).upper);
                for order in 0..=jet.order() {
                    let expansion = Expansion::new(&model, &jet, order, &moved, &reach);
                    let joint = bounds.finish(expansion.joint(bounds.goal).upper);
                    prop_assert!(highest <= joint, "order {}: {} above {}", order, highest, joint);
                    let apart = bounds.finish(expansion.tighten(bounds.prior_ranges()).score(bounds.goal));
                    prop_assert!(highest <= apart, "order {}: {} above {}", order, highest, apart);
                }
            }
        }
    }

    /// The excess of the bound over the largest value on a grid, for cells of falling size about one point.
    fn excesses(kernel: Kernel, objective: Provable, order: usize) -> Vec<f64> {
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        let mut posterior = Posterior::new(Prior::new(kernel, 0.0, 0.025).unwrap(), 2).unwrap();
        for id in 0..20 {
            let x = [uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)];
            posterior.observe(Key { id, site: 0 }, &x, (7.0 * x[0]).sin() + x[1]).unwrap();
        }
        let model = Model::new(posterior.view(), &[1.0; 2]).unwrap();
        let bounds = CellBounds::new(&model, objective);
        let centre = [0.41, 0.57];
        let jet = Jet::new(&model, &centre, &[0, 1]);
        let excess = |width: f64| {
            let half = [width * model.scales[0], width * model.scales[1]];
            let side = |i: i32| width * f64::from(i) / 20.0;
            let values = (-20..=20).flat_map(|i| (-20..=20).map(move |j| (i, j))).map(|(i, j)| {
                let (mean, variance) = model.moments(&[centre[0] + side(i), centre[1] + side(j)]);
                objective.value(mean, variance)
            });
            let highest = values.fold(f64::NEG_INFINITY, f64::max);
            let reach = model.reach(Around { centre: &centre, half: &half });
            Expansion::new(&model, &jet, order, &half, &reach).joint(bounds.goal).upper - highest
        };
        [0.04, 0.02, 0.01, 0.005].map(excess).to_vec()
    }

    #[test]
    fn halving_a_cell_divides_the_excess_by_the_power_that_the_order_promises() {
        let cases = [
            (Kernel::squared_exponential(&[0.2]), 0, 2.0),
            (Kernel::squared_exponential(&[0.2]), 1, 4.0),
            (Kernel::squared_exponential(&[0.2]), 2, 4.0),
            (Kernel::matern(2.5, &[0.2]), 1, 4.0),
            (Kernel::matern(2.5, &[0.2]), 2, 4.0),
            (Kernel::matern(1.5, &[0.2]), 1, 2f64.powf(1.5)),
            (Kernel::matern(0.5, &[0.2]), 0, 2f64.sqrt()),
        ];
        for (kernel, order, expected) in cases {
            let kernel = kernel.unwrap();
            for objective in [2.0, 5.0, -2.0].map(Provable::ConfidenceBound) {
                // Terms of the next order are a tenth of the leading one or less at these sizes.
                for pair in excesses(kernel.clone(), objective, order).windows(2) {
                    let ratio = pair[0] / pair[1];
                    assert!(
                        ratio > 0.85 * expected,
                        "{kernel:?}, order {order}, {objective:?}: {ratio}, not {expected}"
                    );
                }
            }
        }
    }
}
