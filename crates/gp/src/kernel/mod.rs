//! Kernels: prior covariances of a function's values.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | k(x, y) | covariance | prior covariance of f(x) and f(y) |
//! | l_j | lengthscales | one for all coordinates, or one each |
//! | 1 / l_j | scales | what differences are multiplied by |
//! | r | r | sqrt(sum_j ((x_j - y_j) / l_j)^2) |
//! | nu | smoothness | of the Matern family |

mod additive;
mod along_distance;
mod bessel;
mod derivatives;
mod differences;
mod distance;
mod empirical;
mod matern;
mod profile;
mod radial;

use std::ops::Range;
use std::sync::Arc;

use additive::{Additive, RadialPart};
pub(crate) use differences::Differences;
pub use empirical::{Clipped, Covariance};
use matern::Matern;
use profile::Profile;
pub(crate) use radial::Radial;

use rand::{Rng, RngExt};

use crate::{Error, Points, Quantity, Result};

/// Lengthscales keep to this range, so that neither their squares nor the reciprocals of these leave the floats.
pub(crate) const LENGTHSCALE_RANGE: Range<f64> = 1e-100..1e100;

/// The families of kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    /// exp(-r^2 / 2).
    SquaredExponential,
    /// 2^(1-nu) / Gamma(nu) z^nu K_nu(z), z = sqrt(2 nu) r.
    Matern {
        /// nu, above 0 and at most 50.
        smoothness: f64,
    },
    /// sum_j x_j y_j / l_j^2.
    Linear,
    /// A covariance matrix over a finite set; a point is the index of one of its members.
    Empirical,
}

/// Sets each entry of `out` to `value` of its point.
#[inline]
fn fill_each<'a>(out: &mut [f64], points: impl Iterator<Item = &'a [f64]>, value: impl Fn(&[f64]) -> f64) {
    out.iter_mut().zip(points).for_each(|(k, y)| *k = value(y));
}

/// How the covariance is evaluated.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    SquaredExponential,
    Matern(Matern),
    Linear,
    Empirical(Arc<Covariance>),
}

/// A positive semi-definite kernel; cheap to clone.
///
/// ```
/// use manyhands_gp::Kernel;
///
/// let kernel = Kernel::matern(2.5, &[0.2])?.with_variance(4.0)?;
/// assert_eq!(kernel.covariance(&[0.3], &[0.3]), 4.0);
/// assert!(kernel.covariance(&[0.3], &[0.5]) < 4.0);
/// # Ok::<(), manyhands_gp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    form: Form,
    variance: f64,
    lengthscales: Arc<[f64]>,
    scales: Arc<[f64]>,
    additive: Option<Additive>,
}

impl Kernel {
    /// exp(-r^2 / 2); one lengthscale for all coordinates, or one each.
    pub fn squared_exponential(lengthscales: &[f64]) -> Result<Self> {
        Self::scaled(Form::SquaredExponential, lengthscales)
    }

    /// The Matern kernel of smoothness nu, 0 < nu <= 50; one lengthscale for all coordinates, or one each.
    pub fn matern(smoothness: f64, lengthscales: &[f64]) -> Result<Self> {
        Self::scaled(Form::Matern(Matern::new(smoothness)?), lengthscales)
    }

    /// sum_j x_j y_j / l_j^2; one lengthscale for all coordinates, or one each.
    pub fn linear(lengthscales: &[f64]) -> Result<Self> {
        Self::scaled(Form::Linear, lengthscales)
    }

    /// A known covariance over a finite set, whose members are the one-dimensional points 0, 1, 2, ...
    pub fn empirical(covariance: Covariance) -> Self {
        let none: Arc<[f64]> = Arc::from([]);
        let form = Form::Empirical(Arc::new(covariance));
        Self { form, variance: 1.0, lengthscales: none.clone(), scales: none, additive: None }
    }

    fn scaled(form: Form, lengthscales: &[f64]) -> Result<Self> {
        if lengthscales.is_empty() {
            return Err(Error::Empty { what: "lengthscales" });
        }
        for &value in lengthscales {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::NotPositive { what: Quantity::Lengthscale, value });
            }
            let Range { start: low, end: high } = LENGTHSCALE_RANGE;
            if !(low..=high).contains(&value) {
                return Err(Error::OutOfRange { what: Quantity::Lengthscale, low, high, value });
            }
        }
        let scales = lengthscales.iter().map(|l| 1.0 / l).collect();
        Ok(Self { form, variance: 1.0, lengthscales: lengthscales.into(), scales, additive: None })
    }

    /// The same kernel with this prior variance, a factor in front of it.
    pub fn with_variance(self, variance: f64) -> Result<Self> {
        if !(variance > 0.0 && variance.is_finite()) {
            return Err(Error::NotPositive { what: Quantity::Variance, value: variance });
        }
        Ok(Self { variance, ..self })
    }

    /// The same kernel with other lengthscales.
    pub fn with_lengthscales(&self, lengthscales: &[f64]) -> Result<Self> {
        let other = Self::scaled(self.form.clone(), lengthscales)?;
        Ok(Self { variance: self.variance, additive: self.additive.clone(), ..other })
    }

    /// The same family as a kernel that is mostly a sum over parameters: a tenth of the variance depends on all of them
    /// together, the rest on one at a time, with lengthscales that are 0.8/sqrt(parameters) as long. `parameters` has the
    /// parameter of every coordinate, from 0 on. Refused for kernels that do not depend on differences.
    ///
    /// ```
    /// use manyhands_gp::Kernel;
    ///
    /// let kernel = Kernel::matern(2.5, &[0.2])?.partly_additive(&[0, 1])?;
    /// // Points that share a coordinate have much in common, however far apart they are.
    /// let (near, far) = (kernel.covariance(&[0.0, 0.0], &[0.0, 9.0]), kernel.covariance(&[0.0, 0.0], &[9.0, 9.0]));
    /// assert!(near > 0.44 && far < 1e-9);
    /// # Ok::<(), manyhands_gp::Error>(())
    /// ```
    pub fn partly_additive(&self, parameters: &[usize]) -> Result<Self> {
        if !self.is_stationary() {
            let family = if matches!(self.form, Form::Linear) { "linear" } else { "empirical" };
            return Err(Error::NotRadial { family });
        }
        Ok(Self { additive: Some(Additive::new(parameters)?), ..self.clone() })
    }

    /// Whether it is mostly a sum over parameters.
    #[inline]
    pub fn is_partly_additive(&self) -> bool {
        self.additive.is_some()
    }

    /// What the lengthscales of its shortest part are divided by: 1 unless it is a sum over parameters.
    pub(crate) fn stretch(&self) -> f64 {
        self.additive.as_ref().map_or(1.0, Additive::stretch)
    }

    /// What the frequencies of a random wave are multiplied by, besides the reciprocal lengthscales: 1, or where the kernel is
    /// partly a sum over parameters, the stretch of one of its parts, drawn by their shares, and 0 for coordinates that it does
    /// not depend on.
    pub(crate) fn frequency_factors(&self, dimension: usize, rng: &mut impl Rng) -> Vec<f64> {
        let Some(additive) = &self.additive else { return vec![1.0; dimension] };
        let (mut left, mut drawn) = (rng.random::<f64>(), RadialPart::WHOLE);
        for part in additive.parts() {
            drawn = part;
            left -= part.share;
            if left < 0.0 {
                break;
            }
        }
        (0..dimension).map(|j| if drawn.contains(j) { drawn.stretch } else { 0.0 }).collect()
    }

    /// Its radial parts, whose sum it is.
    fn parts(&self) -> impl Iterator<Item = RadialPart<'_>> {
        let whole = self.additive.is_none().then_some(RadialPart::WHOLE);
        whole.into_iter().chain(self.additive.iter().flat_map(Additive::parts))
    }

    /// Which family it belongs to.
    #[inline]
    pub fn family(&self) -> Family {
        match &self.form {
            Form::SquaredExponential => Family::SquaredExponential,
            Form::Matern(matern) => Family::Matern { smoothness: matern.smoothness() },
            Form::Linear => Family::Linear,
            Form::Empirical(_) => Family::Empirical,
        }
    }

    /// The factor in front of the kernel.
    #[inline]
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// One lengthscale for all coordinates, or one each; none for an empirical kernel.
    #[inline]
    pub fn lengthscales(&self) -> &[f64] {
        &self.lengthscales
    }

    /// Whether the covariance depends on the difference of its points alone.
    #[inline]
    pub fn is_stationary(&self) -> bool {
        matches!(self.form, Form::SquaredExponential | Form::Matern(_))
    }

    /// Refuses a dimension that the lengthscales do not fit; an empirical kernel needs dimension 1.
    pub fn check_dimension(&self, dimension: usize) -> Result<()> {
        match &self.form {
            Form::Empirical(_) if dimension != 1 => {
                Err(Error::WrongLength { what: "a point of an empirical kernel", expected: 1, found: dimension })
            }
            Form::Empirical(_) => Ok(()),
            _ if self.additive.as_ref().is_some_and(|additive| additive.parameters().len() != dimension) => {
                let found = self.additive.as_ref().map_or(0, |additive| additive.parameters().len());
                Err(Error::WrongLength { what: "the parameters of coordinates", expected: dimension, found })
            }
            _ if self.lengthscales.len() == 1 || self.lengthscales.len() == dimension => Ok(()),
            _ => Err(Error::WrongLength { what: "lengthscales", expected: dimension, found: self.lengthscales.len() }),
        }
    }

    /// Refuses a point of the wrong dimension or, for an empirical kernel, one that is no index of the matrix.
    pub fn check_point(&self, point: &[f64]) -> Result<()> {
        self.check_dimension(point.len())?;
        match (&self.form, point) {
            (Form::Empirical(covariance), &[value]) if index(value).is_none_or(|i| i >= covariance.len()) => {
                Err(Error::NoSuchIndex { value, len: covariance.len() })
            }
            _ => Ok(()),
        }
    }

    /// k(x, y), symmetric bit for bit; NaN where an empirical kernel has no such index.
    pub fn covariance(&self, x: &[f64], y: &[f64]) -> f64 {
        let mut out = [0.0];
        self.fill_from(x, std::iter::once(y), &mut out);
        out[0]
    }

    /// k(x, x).
    #[inline]
    pub fn variance_at(&self, x: &[f64]) -> f64 {
        if self.is_stationary() { self.variance } else { self.covariance(x, x) }
    }

    /// Sets `out[i]` to the covariance of `x` and the point `rows.start + i`, for as many points as `rows` has.
    ///
    /// Panics, as a slice does, if `rows` goes past the last point.
    pub fn fill(&self, x: &[f64], points: &Points, rows: Range<usize>, out: &mut [f64]) {
        let dimension = points.dimension();
        let flat = &points.flat()[rows.start * dimension..rows.end * dimension];
        self.fill_from(x, flat.chunks_exact(dimension), out);
    }

    /// The one place where covariances are formed. The match on the family stands outside the loops.
    #[inline]
    fn fill_from<'a>(&self, x: &[f64], points: impl Iterator<Item = &'a [f64]>, out: &mut [f64]) {
        let (variance, scales) = (self.variance, &*self.scales);
        if let Some(additive) = &self.additive {
            additive.fill((x, scales), points, out, |squares| self.correlate(squares));
            return out.iter_mut().for_each(|correlation| *correlation *= variance);
        }
        let closed = |profile: Profile, points, out: &mut [f64]| {
            fill_each(out, points, |y| distance::squared(x, y, scales));
            profile.apply(variance, out);
        };
        match &self.form {
            Form::SquaredExponential => closed(Profile::SquaredExponential, points, out),
            Form::Matern(Matern::Half) => closed(Profile::Half, points, out),
            Form::Matern(Matern::ThreeHalves) => closed(Profile::ThreeHalves, points, out),
            Form::Matern(Matern::FiveHalves) => closed(Profile::FiveHalves, points, out),
            Form::Matern(Matern::General { smoothness, rate }) => {
                fill_each(out, points, |y| {
                    variance * bessel::correlation(*smoothness, rate * distance::plain(x, y, scales))
                });
            }
            Form::Linear => fill_each(out, points, |y| variance * distance::product(x, y, scales)),
            Form::Empirical(covariance) => {
                let row = x.first().and_then(|&i| covariance.row(index(i)?));
                fill_each(out, points, |y| variance * entry(row, y));
            }
        }
    }

    /// Turns squared distances into correlations; zeros where it does not depend on distances.
    fn correlate(&self, squares: &mut [f64]) {
        match &self.form {
            Form::SquaredExponential => Profile::SquaredExponential.apply(1.0, squares),
            Form::Matern(Matern::Half) => Profile::Half.apply(1.0, squares),
            Form::Matern(Matern::ThreeHalves) => Profile::ThreeHalves.apply(1.0, squares),
            Form::Matern(Matern::FiveHalves) => Profile::FiveHalves.apply(1.0, squares),
            Form::Matern(Matern::General { smoothness, rate }) => {
                squares.iter_mut().for_each(|square| *square = bessel::correlation(*smoothness, rate * square.sqrt()));
            }
            Form::Linear | Form::Empirical(_) => squares.fill(0.0),
        }
    }

    /// The one-dimensional factor of a coordinate, with variance 1; only the squared exponential is such a product.
    pub fn axis(&self, coordinate: usize) -> Option<Self> {
        let lengthscale = match &*self.lengthscales {
            [shared] => *shared,
            each => *each.get(coordinate)?,
        };
        match self.form {
            Form::SquaredExponential if self.additive.is_none() => Self::squared_exponential(&[lengthscale]).ok(),
            _ => None,
        }
    }
}

/// The index that a coordinate stands for.
fn index(value: f64) -> Option<usize> {
    let index = value as usize;
    (index as f64 == value).then_some(index)
}

fn entry(row: Option<&[f64]>, y: &[f64]) -> f64 {
    let found = row.zip(y.first()).and_then(|(row, &j)| row.get(index(j)?));
    found.copied().unwrap_or(f64::NAN)
}
