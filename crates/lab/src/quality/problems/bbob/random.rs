//! The random numbers of COCO's instances, equal bit for bit: uniform, Gaussian, best points, best values, rotations.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | s | `state` | the state of the generator, from 1 to 2^31 - 2 |
//! | 16807, 2^31 - 1 | [`MULTIPLIER`], [`MODULUS`] | s becomes 16807 s mod (2^31 - 1) (Park and Miller 1988) |
//! | 127773, 2836 | [`QUOTIENT`], [`REMAINDER`] | of the modulus by the multiplier (Schrage 1979) |
//! | x_opt, f_opt | | the best point and the best value |
//! | R | [`Rotation`] | an orthogonal matrix |
//!
//! The functions' definitions (INRIA RR-6829) leave seeds and roundings open; they are those of COCO
//! (github.com/numbbo/coco).

use std::f64::consts::TAU;

const MULTIPLIER: i64 = 16_807;
const MODULUS: i64 = 2_147_483_647;
const QUOTIENT: i64 = 127_773;
const REMAINDER: i64 = 2_836;

/// The numbers that are shuffled (Bays and Durham 1976).
const TABLE: usize = 32;
/// Steps before the first number, of which the last 32 fill the table.
const WARM_UP: usize = 40;
/// A number is divided by this for its place in the table.
const PER_PLACE: i64 = 67_108_865;
/// What a number that is 0 becomes, since logarithms are taken.
const TINY: f64 = 1e-99;

fn next(state: i64) -> i64 {
    let next = MULTIPLIER * (state % QUOTIENT) - REMAINDER * (state / QUOTIENT);
    if next < 0 { next + MODULUS } else { next }
}

/// `count` numbers between 0 and 1; the seed is from 1 to 2^31 - 2.
pub fn uniform(count: usize, seed: i64) -> Vec<f64> {
    let (mut state, mut table) = (seed, [0; TABLE]);
    for step in (0..WARM_UP).rev() {
        state = next(state);
        if step < TABLE {
            table[step] = state;
        }
    }
    let mut drawn = table[0];
    let draw = |_| {
        state = next(state);
        drawn = std::mem::replace(&mut table[(drawn / PER_PLACE) as usize], state);
        if drawn == 0 { TINY } else { drawn as f64 / MODULUS as f64 }
    };
    (0..count).map(draw).collect()
}

/// `count` standard Gaussian numbers (Box and Muller 1958): sqrt(-2 ln u) cos(2 pi v).
pub fn gaussian(count: usize, seed: i64) -> Vec<f64> {
    let numbers = uniform(2 * count, seed);
    let (radii, angles) = numbers.split_at(count);
    let of = |(u, v): (&f64, &f64)| (-2.0 * u.ln()).sqrt() * (TAU * v).cos();
    radii.iter().zip(angles).map(of).map(|g| if g == 0.0 { TINY } else { g }).collect()
}

/// A best point in [-4, 4]^d, in steps of 0.0008, without a coordinate 0.
pub fn best_point(dimension: usize, seed: i64) -> Vec<f64> {
    let place = |u: f64| 8.0 * (1e4 * u).floor() / 1e4 - 4.0;
    uniform(dimension, seed).into_iter().map(place).map(|x| if x == 0.0 { -1e-5 } else { x }).collect()
}

/// A best value: the ratio of two Gaussian numbers times 100, with two decimals, from -1000 to 1000.
pub fn best_value(seed: i64) -> f64 {
    let ratio = 100.0 * 100.0 * gaussian(1, seed)[0] / gaussian(1, seed + 1)[0];
    ((ratio + 0.5).floor() / 100.0).clamp(-1000.0, 1000.0)
}

/// An orthogonal matrix.
#[derive(Debug, Clone)]
pub struct Rotation {
    columns: Vec<Vec<f64>>,
}

impl Rotation {
    /// Gaussian columns, made orthonormal one after the other (Gram and Schmidt).
    pub fn new(dimension: usize, seed: i64) -> Self {
        let numbers = gaussian(dimension * dimension, seed);
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(dimension);
        for drawn in numbers.chunks(dimension) {
            let mut column = drawn.to_vec();
            for other in &columns {
                let along = dot(&column, other);
                column.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
            let length = dot(&column, &column).sqrt();
            column.iter_mut().for_each(|x| *x /= length);
            columns.push(column);
        }
        Self { columns }
    }

    /// R x.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; x.len()];
        for (column, x) in self.columns.iter().zip(x) {
            product.iter_mut().zip(column).for_each(|(sum, entry)| *sum += entry * x);
        }
        product
    }

    /// R^T x.
    pub fn transposed_times(&self, x: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|column| dot(column, x)).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Park and Miller (1988): from 1, the 10,000th number of the sequence is 1043618065.
    #[test]
    fn the_generator_is_the_minimal_standard() {
        assert_eq!((0..10_000).fold(1, |state, _| next(state)), 1_043_618_065);
    }

    #[test]
    fn rotations_are_orthogonal() {
        for dimension in [2, 5, 40] {
            let rotation = Rotation::new(dimension, 70_007);
            let x = gaussian(dimension, 3);
            let back = rotation.transposed_times(&rotation.times(&x));
            let error = x.iter().zip(&back).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            // Columns are orthogonal up to eps times the condition of what was drawn (Bjorck 1967), here below 10^4.
            assert!(error < 1e4 * dimension as f64 * f64::EPSILON, "{dimension}: {error}");
        }
    }
}
