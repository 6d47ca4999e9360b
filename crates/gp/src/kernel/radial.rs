//! Stationary kernels as functions of the distance alone: value, derivatives and spectral moments of the correlation.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | r | r | distance in lengthscales |
//! | rho(r) | value | the correlation, rho(0) = 1 |
//! | rho'/r | ratio | first derivative over r; finite at 0 for nu > 1 |
//! | (rho'' - rho'/r)/r^2 | bend | finite at 0 for nu > 2 |
//! | omega | | frequency along one axis: rho(r) = E cos(omega r), omega normal or Student-t with 2 nu degrees of freedom |
//! | E \|omega\|^q | moment | finite for q < 2 nu |

use libm::{lgamma, tgamma};

use super::matern::Matern;
use super::profile::{FAR, SQRT_3, SQRT_5};
use super::{Form, Kernel, bessel};

/// The correlation of a stationary kernel with variance 1, along the distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Radial {
    /// None: the squared exponential.
    matern: Option<Matern>,
}

/// A correlation at one distance, with what its first two derivatives in space are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steepness {
    /// rho(r).
    pub value: f64,
    /// rho'(r)/r; 0 where it is not finite.
    pub ratio: f64,
    /// (rho''(r) - rho'(r)/r)/r^2; 0 where it is not finite.
    pub bend: f64,
}

impl Kernel {
    /// The kernel along the distance, if that is all it depends on.
    pub(crate) fn radial(&self) -> Option<Radial> {
        match self.form {
            _ if self.additive.is_some() => None,
            Form::SquaredExponential => Some(Radial { matern: None }),
            Form::Matern(matern) => Some(Radial { matern: Some(matern) }),
            Form::Linear | Form::Empirical(_) => None,
        }
    }
}

impl Radial {
    /// nu; infinite for the squared exponential.
    pub fn smoothness(self) -> f64 {
        self.matern.map_or(f64::INFINITY, Matern::smoothness)
    }

    /// Whether values are within a few roundings of the exact ones; Bessel functions are good to 1e-12 of their size.
    pub fn has_closed_form(self) -> bool {
        !matches!(self.matern, Some(Matern::General { .. }))
    }

    /// rho(r), decreasing in r.
    pub fn value(self, r: f64) -> f64 {
        match self.matern {
            None => (-0.5 * r * r).exp(),
            Some(Matern::Half) => (-r).exp(),
            Some(Matern::ThreeHalves) => {
                let z = (SQRT_3 * r).min(FAR);
                (1.0 + z) * (-z).exp()
            }
            Some(Matern::FiveHalves) => {
                let z = (SQRT_5 * r).min(FAR);
                (1.0 + z + z * z / 3.0) * (-z).exp()
            }
            Some(Matern::General { smoothness, rate }) => bessel::correlation(smoothness, rate * r),
        }
    }

    /// The correlation and its derivatives at distance r >= 0.
    pub fn at(self, r: f64) -> Steepness {
        match self.matern {
            None => {
                let value = (-0.5 * r * r).exp();
                Steepness { value, ratio: -value, bend: value }
            }
            Some(Matern::FiveHalves) => {
                let z = (SQRT_5 * r).min(FAR);
                let decay = (-z).exp();
                let (value, third) = ((1.0 + z + z * z / 3.0) * decay, decay / 3.0);
                Steepness { value, ratio: -5.0 * third * (1.0 + z), bend: 25.0 * third }
            }
            Some(_) if r == 0.0 => self.at_zero(),
            Some(matern) => {
                let slopes = matern.slopes(r);
                Steepness { value: self.value(r), ratio: finite(slopes.ratio), bend: finite(slopes.excess / (r * r)) }
            }
        }
    }

    /// A bound of the `order`-th derivative of the kernel along any direction, at distances between `near` and `far`;
    /// infinite where there is no closed form or no such derivative.
    ///
    /// With x = alpha r the part of the way along the direction, |alpha| <= 1, and p = rho'/r, q = p'/r, the derivatives are
    /// p x, p + q x^2 and 3 q x + (q'/r) x^3. The exponential is largest at `near`; what multiplies it is bounded over alpha,
    /// then over r, case by case.
    pub fn steepest(self, order: usize, near: f64, far: f64) -> f64 {
        match self.matern {
            None => {
                // x, x^2 - 1, 3x - x^3: the last has its maximum 2 at x = 1.
                let factor = match order {
                    1 => far,
                    2 => (far * far - 1.0).max(1.0),
                    _ if far <= 1.0 => far * (3.0 - far * far),
                    _ => (far * (far * far - 3.0)).max(2.0),
                };
                (-0.5 * near * near).exp() * factor
            }
            Some(Matern::Half) if order == 1 => (-near).exp(),
            Some(Matern::ThreeHalves) if order <= 2 => {
                // 3 r alpha and 3 (z alpha^2 - 1).
                let factor = if order == 1 { far } else { (SQRT_3 * far - 1.0).max(1.0) };
                3.0 * (-SQRT_3 * near).exp() * factor
            }
            Some(Matern::FiveHalves) => {
                // (5/3) r (1 + z) alpha, (5/3) (z^2 alpha^2 - 1 - z), and (25/3) r (3 alpha - z alpha^3), whose bracket is
                // largest at alpha = 1 for z <= 1 and at 1/sqrt(z) after that, and least at alpha = 1.
                let (low, high) = (SQRT_5 * near, SQRT_5 * far);
                let bracket = if low < 1.0 { 3.0 - low } else { 2.0 / low.sqrt() };
                let factor = match order {
                    1 => far * (1.0 + high),
                    2 => (1.0 + high).max(high * high - 1.0 - high),
                    _ => 5.0 * far * bracket.max(high - 3.0),
                };
                5.0 / 3.0 * (-low).exp() * factor
            }
            _ => f64::INFINITY,
        }
    }

    /// rho = 1 - E omega^2 r^2/2 + E omega^4 r^4/24 - ... next to 0, as far as the moments exist.
    fn at_zero(self) -> Steepness {
        let (second, fourth) = (self.moment(2.0).unwrap_or(0.0), self.moment(4.0).unwrap_or(0.0));
        Steepness { value: 1.0, ratio: -second, bend: fourth / 3.0 }
    }

    /// E |omega|^q = (2 nu)^(q/2) Gamma((q+1)/2) Gamma(nu - q/2) / (sqrt(pi) Gamma(nu)), none where it is infinite;
    /// 2^(q/2) Gamma((q+1)/2) / sqrt(pi) for the squared exponential.
    pub fn moment(self, q: f64) -> Option<f64> {
        let normal = 2f64.powf(0.5 * q) * tgamma(0.5 * (q + 1.0)) / std::f64::consts::PI.sqrt();
        let nu = self.smoothness();
        if nu.is_infinite() {
            return Some(normal);
        }
        (q < 2.0 * nu).then(|| normal * (0.5 * q * nu.ln() + lgamma(nu - 0.5 * q) - lgamma(nu)).exp())
    }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels() -> Vec<Kernel> {
        let mut all = vec![Kernel::squared_exponential(&[1.0]).unwrap()];
        all.extend([0.5, 0.8, 1.5, 1.7, 2.5, 2.2, 3.5, 7.0].map(|nu| Kernel::matern(nu, &[1.0]).unwrap()));
        all
    }

    #[test]
    fn values_are_those_of_the_kernel_and_derivatives_those_of_finite_differences() {
        for kernel in kernels() {
            let radial = kernel.radial().unwrap();
            for r in [0.05, 0.3, 1.0, 2.5] {
                let at = radial.at(r);
                assert!((at.value - kernel.covariance(&[r], &[0.0])).abs() < 1e-12);
                assert_eq!(at.value, radial.value(r));
                // The errors of the differences are h^2/6 rho''' and h^2/12 rho'''', and 1e-12/h and 1e-12/h^2.
                let h = 1e-3 * r;
                let (below, above) = (radial.value(r - h), radial.value(r + h));
                let first = (above - below) / (2.0 * h);
                let second = (above - 2.0 * at.value + below) / (h * h);
                assert!((first - at.ratio * r).abs() < 1e-5, "{kernel:?} at {r}");
                assert!((second - (at.ratio + at.bend * r * r)).abs() < 1e-4 / r, "{kernel:?} at {r}");
            }
        }
    }

    #[test]
    fn no_directional_derivative_exceeds_the_steepest() {
        for kernel in kernels() {
            let radial = kernel.radial().unwrap();
            for (near, far) in [(0.0, 0.1), (0.2, 0.3), (0.0, 3.0), (0.9, 1.1), (1.0, 1.05), (2.0, 6.0)] {
                for step in 0..400 {
                    let r: f64 = near + (far - near) * f64::from(step / 20).max(0.1) / 20.0;
                    let x = r * f64::from(step % 20) / 19.0;
                    let at = radial.at(r);
                    // q'/r by a central difference, whose error is far below the margin for rounding.
                    let slope = (radial.at(r * 1.0001).bend - radial.at(r * 0.9999).bend) / (0.0002 * r * r);
                    let found = [at.ratio * x, at.ratio + at.bend * x * x, 3.0 * at.bend * x + slope * x.powi(3)];
                    for order in 1..=3 {
                        let bound = radial.steepest(order, near, far);
                        assert!(found[order - 1].abs() <= bound * (1.0 + 1e-5), "{kernel:?}, {order}, r {r}, x {x}");
                    }
                }
            }
        }
    }

    #[test]
    fn moments_are_the_derivatives_at_zero() {
        for kernel in kernels() {
            let radial = kernel.radial().unwrap();
            let (zero, near) = (radial.at(0.0), radial.at(1e-6));
            assert!((radial.moment(0.0).unwrap() - 1.0).abs() < 1e-14);
            if let Some(second) = radial.moment(2.0).filter(|_| radial.smoothness() > 1.4) {
                assert!((zero.ratio + second).abs() < 1e-14 * second);
                assert!((near.ratio / zero.ratio - 1.0).abs() < 1e-5, "{kernel:?}");
            }
            if let Some(fourth) = radial.moment(4.0).filter(|_| radial.smoothness() > 2.4) {
                assert!((zero.bend - fourth / 3.0).abs() < 1e-14 * fourth);
                assert!((near.bend / zero.bend - 1.0).abs() < 1e-5, "{kernel:?}");
            }
        }
    }
}
