//! How far a kernel section is from its Taylor polynomial, in the norm of the kernel's space.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | k_x | section | k(x, .), an element of the kernel's space |
//! | p | order | of the Taylor polynomial: 0, 1 or 2 |
//! | T_p(t) | | sum over \|a\| <= p of t^a/a! d^a k_c, in lengthscales |
//! | e_p(y) | | e^(iy) - sum over j <= p of (iy)^j/j! |
//! | rho_p(r) | norm | \|\|k_{c+t} - T_p(t)\|\|_k for \|t\| = r, in units of the kernel's sd |
//! | omega | | frequency along one axis: the correlation is rho(r) = E cos(omega r) |
//!
//! **What it is.** Along the line through c and c + t everything happens in one variable, and the kernel being
//! stationary and radial, neither c nor the direction matters: rho_p(r)^2 = E |e_p(omega r)|^2, from the spectral
//! measure of the line. It is finite if E omega^(2p) is, that is, for p < nu.
//!
//! **It grows with r.** d/dy |e_1|^2 = 2y (1 - cos y) >= 0 and d/dy |e_2|^2 = y^2 (y - sin y) >= 0 for y >= 0 (expand and
//! differentiate); and rho_0^2 = 2 (1 - rho(r)) grows because rho falls. So the largest value over a cell is that at its
//! corners.
//!
//! **In closed form.** Taking expectations of these derivatives and integrating from 0 to r, with E omega^2 cos(omega r) =
//! -rho'' and E omega^3 sin(omega r) = rho''':
//! - rho_0^2 = 2 (1 - rho),
//! - rho_1^2 = E omega^2 r^2 + 2 r rho' + 2 (1 - rho),
//! - rho_2^2 = E omega^4 r^4/4 - r^2 rho'' + 2 r rho' + 2 (1 - rho).
//!
//! **Where these cancel.** |e_p(y)| is at most y^(p+1)/(p+1)!, and at most |e_{p-1}(y)| + y^p/p! <= 2 y^p/p!. Between the
//! two, |e_p(y)| <= (1/(p+1)!)^s (2/p!)^(1-s) y^(p+s) for every 0 <= s <= 1, so rho_p^2 <= C r^(2(p+s)) with
//! C = (...)^2 E |omega|^(2(p+s)), finite for p + s < nu. At nu = p + 1/2 the derivatives can be integrated: with z =
//! sqrt(2 nu) r and 1 - e^(-z) <= z they are at most 2, 4 z^2 and (4/3) z^4, so that rho_p^2 <= 2 z, (4/3) z^3, (4/15) z^5.

use crate::kernel::Radial;

/// The largest order used; each order needs two more derivatives of the kernel.
const HIGHEST: usize = 2;

/// The norms rho_p for every order p below the smoothness.
#[derive(Debug, Clone)]
pub(super) struct Remainder {
    radial: Radial,
    /// E omega^2 and E omega^4, where finite.
    second: f64,
    fourth: f64,
    /// For each order, (C, q) with rho_p^2 <= C r^q.
    powers: Vec<(f64, f64)>,
}

impl Remainder {
    pub fn new(radial: Radial) -> Self {
        let orders = (0..=HIGHEST).take_while(|&p| (p as f64) < radial.smoothness());
        let powers = orders.map(|p| power(radial, p)).collect();
        let moment = |q| radial.moment(q).unwrap_or(f64::INFINITY);
        Self { radial, second: moment(2.0), fourth: moment(4.0), powers }
    }

    /// The highest order whose remainder is finite.
    pub fn highest(&self) -> usize {
        self.powers.len().saturating_sub(1)
    }

    /// E omega^2, minus the second derivative of the correlation at 0.
    pub fn second(&self) -> f64 {
        self.second
    }

    /// E omega^4, the fourth derivative of the correlation at 0.
    pub fn fourth(&self) -> f64 {
        self.fourth
    }

    /// An upper bound of rho_p at every distance up to r: the closed form or the power of r, whichever is less.
    pub fn norm(&self, order: usize, r: f64) -> f64 {
        let at = self.radial.at(r);
        let square = r * r;
        let (left, slope) = (2.0 * (1.0 - at.value), square * at.ratio);
        let (exact, size) = match order {
            0 => (left, 2.0),
            1 => (self.second * square + 2.0 * slope + left, self.second * square - 2.0 * slope + 2.0),
            _ => {
                let (straight, bent) = (0.25 * self.fourth * square * square, at.bend * square * square);
                (straight - bent + slope + left, straight + bent - slope + 2.0)
            }
        };
        // A dozen operations on values with a few roundings each, or with Bessel functions good to 1e-12.
        let relative = if self.radial.has_closed_form() { 32.0 * f64::EPSILON } else { 2e-11 };
        let (factor, exponent) = self.powers[order];
        let power = factor * r.powf(exponent) * (1.0 + 1e-13);
        (exact + relative * size).min(power).sqrt() * (1.0 + 4.0 * f64::EPSILON)
    }
}

/// (C, q) with rho_p(r)^2 <= C r^q; see the top of this file.
fn power(radial: Radial, order: usize) -> (f64, f64) {
    let (nu, p) = (radial.smoothness(), order as f64);
    if nu == p + 0.5 {
        let factor = [2.0, 4.0 / 3.0, 4.0 / 15.0][order];
        return (factor * (2.0 * nu).powf(nu), 2.0 * nu);
    }
    // The closer p + s comes to nu, the better the exponent and the worse the factor.
    let s = if nu > p + 1.25 { 1.0 } else { 0.5 * (nu - p).min(1.0) };
    let ends = [(1.0f64, 2.0f64), (0.5, 2.0), (1.0 / 6.0, 1.0)][order];
    let between = ends.0.powf(s) * ends.1.powf(1.0 - s);
    let exponent = 2.0 * (p + s);
    (between * between * radial.moment(exponent).unwrap_or(f64::INFINITY), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    fn remainders() -> Vec<(Kernel, Remainder)> {
        let mut kernels = vec![Kernel::squared_exponential(&[1.0]).unwrap()];
        kernels.extend(
            [0.5, 0.8, 1.0, 1.2, 1.5, 1.9, 2.1, 2.5, 2.9, 3.5, 20.0].map(|nu| Kernel::matern(nu, &[1.0]).unwrap()),
        );
        kernels.into_iter().map(|k| (k.clone(), Remainder::new(k.radial().unwrap()))).collect()
    }

    /// E |e_p(omega r)|^2 by the midpoint rule over the spectral density, cut where it is below 1e-12 for the squared
    /// exponential.
    #[test]
    fn the_closed_form_is_the_spectral_integral() {
        let (_, remainder) = &remainders()[0];
        for order in 0..=2 {
            for r in [0.3, 1.0, 2.0] {
                let steps = 40_000;
                let width = 20.0 / f64::from(steps);
                let total: f64 = (0..steps)
                    .map(|i| {
                        let omega: f64 = -10.0 + width * (f64::from(i) + 0.5);
                        let y = omega * r;
                        let real = y.cos() - 1.0 + if order == 2 { 0.5 * y * y } else { 0.0 };
                        let imaginary = y.sin() - if order >= 1 { y } else { 0.0 };
                        let density = (-0.5 * omega * omega).exp() / (2.0 * std::f64::consts::PI).sqrt();
                        width * density * (real * real + imaginary * imaginary)
                    })
                    .sum();
                let found = remainder.norm(order, r);
                assert!((found / total.sqrt() - 1.0).abs() < 1e-7, "order {order}, r {r}: {found}, {}", total.sqrt());
            }
        }
    }

    #[test]
    fn remainders_grow_and_the_power_law_is_above_the_closed_form() {
        for (kernel, remainder) in remainders() {
            for order in 0..=remainder.highest() {
                let (factor, exponent) = remainder.powers[order];
                assert!(factor.is_finite() && exponent > 2.0 * order as f64);
                let mut last = 0.0;
                for step in 1..200 {
                    let r = 0.02 * f64::from(step);
                    let norm = remainder.norm(order, r);
                    // Slack of the closed form may undo growth by its own size.
                    assert!(norm >= last - 1e-6, "{kernel:?}, order {order}, r {r}");
                    let free = Remainder { powers: vec![(f64::INFINITY, 0.0); 3], ..remainder.clone() };
                    let closed = free.norm(order, r);
                    assert!(factor * r.powf(exponent) >= closed * closed - 1e-9, "{kernel:?}, order {order}, r {r}");
                    last = norm;
                }
            }
        }
    }
}
