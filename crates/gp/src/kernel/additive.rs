//! Kernels that are partly a sum over the parameters: most of the variance belongs to functions of one parameter alone.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | G | parameters | how many there are; a parameter may have several coordinates |
//! | r, r_g | | distance over all coordinates, and over those of parameter g alone, in lengthscales |
//! | rho | correlation | of a stationary family |
//! | a | joint share | the share of the variance that depends on all parameters together |
//! | kappa | stretch | sqrt(G)/0.8: functions of one parameter have lengthscales that are shorter by this factor |
//!
//! k(x, y) = s^2 (a rho(r) + (1 - a)/G sum_g rho(kappa r_g)). With independent coordinates r^2 is about G r_g^2, so that rho(r)
//! and rho(kappa r_g) fall at about the same distance. Sums over parameters: Duvenaud, Nickisch and Rasmussen (2011).

use std::sync::Arc;

use crate::tuning::{ADDITIVE_LENGTH, JOINT_SHARE};
use crate::{Error, Result};

/// How many points are evaluated together.
const CHUNK: usize = 32;

/// How the coordinates belong to parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Additive {
    /// For every coordinate, its parameter.
    parameters: Arc<[usize]>,
    count: usize,
}

/// A radial part of a kernel: a share of the variance, at distances over some coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct RadialPart<'a> {
    pub share: f64,
    /// What distances are multiplied by.
    pub stretch: f64,
    /// The parameter that it depends on, with the parameters of all coordinates; none if it depends on all.
    only: Option<(usize, &'a [usize])>,
}

impl RadialPart<'_> {
    /// The part that is all of a kernel.
    pub const WHOLE: Self = Self { share: 1.0, stretch: 1.0, only: None };

    /// Whether it depends on a coordinate.
    pub fn contains(&self, coordinate: usize) -> bool {
        self.only.is_none_or(|(parameter, parameters)| parameters[coordinate] == parameter)
    }
}

impl Additive {
    /// Refuses a list that is empty or leaves out a parameter below its largest.
    pub fn new(parameters: &[usize]) -> Result<Self> {
        let count = parameters.iter().max().ok_or(Error::Empty { what: "the parameters of coordinates" })? + 1;
        match (0..count).find(|parameter| !parameters.contains(parameter)) {
            Some(missing) => Err(Error::NoCoordinate { parameter: missing }),
            None => Ok(Self { parameters: parameters.into(), count }),
        }
    }

    /// For every coordinate, its parameter.
    pub fn parameters(&self) -> &[usize] {
        &self.parameters
    }

    /// G.
    pub fn count(&self) -> usize {
        self.count
    }

    /// kappa.
    pub fn stretch(&self) -> f64 {
        (self.count as f64).sqrt() / ADDITIVE_LENGTH
    }

    /// What each parameter's part is multiplied by, (1 - a)/G.
    pub fn share(&self) -> f64 {
        (1.0 - JOINT_SHARE) / self.count as f64
    }

    /// The joint part, then that of each parameter.
    pub fn parts(&self) -> impl Iterator<Item = RadialPart<'_>> {
        let joint = RadialPart { share: JOINT_SHARE, ..RadialPart::WHOLE };
        let (share, stretch) = (self.share(), self.stretch());
        std::iter::once(joint).chain((0..self.count).map(move |parameter| RadialPart {
            share,
            stretch,
            only: Some((parameter, &self.parameters)),
        }))
    }

    /// Sets each entry of `out` to the correlation of `x` and its point. `correlate` turns squared distances into
    /// correlations.
    pub fn fill<'a>(
        &self,
        (x, scales): (&[f64], &[f64]),
        mut points: impl Iterator<Item = &'a [f64]>,
        out: &mut [f64],
        correlate: impl Fn(&mut [f64]),
    ) {
        let (width, square) = (self.count + 1, self.stretch() * self.stretch());
        let mut squares = vec![0.0; width * CHUNK.min(out.len())];
        for out in out.chunks_mut(CHUNK) {
            let squares = &mut squares[..width * out.len()];
            for (squares, y) in squares.chunks_exact_mut(width).zip(points.by_ref()) {
                self.fill_squares(x, y, scales, squares);
                squares[1..].iter_mut().for_each(|s| *s *= square);
            }
            correlate(squares);
            for (value, correlations) in out.iter_mut().zip(squares.chunks_exact(width)) {
                *value = JOINT_SHARE * correlations[0] + self.share() * correlations[1..].iter().sum::<f64>();
            }
        }
    }

    /// The squared distance over all coordinates, then over those of each parameter.
    fn fill_squares(&self, x: &[f64], y: &[f64], scales: &[f64], squares: &mut [f64]) {
        squares.fill(0.0);
        for (j, (a, b)) in x.iter().zip(y).enumerate() {
            let difference = (a - b) * if scales.len() == 1 { scales[0] } else { scales[j] };
            squares[1 + self.parameters[j]] += difference * difference;
        }
        squares[0] = squares[1..].iter().sum();
    }
}
