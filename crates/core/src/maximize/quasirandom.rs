//! Points spread evenly over a space: a Sobol sequence, scrambled by a random digital shift.

use std::sync::OnceLock;

use rand::{Rng, RngExt};
use sobol::Sobol;
use sobol::params::JoeKuoD6;

use crate::Space;

/// The direction numbers cover this many dimensions; above, points are plain random numbers.
const DIMENSIONS: usize = 100;

/// 2^52.
const STEPS: f64 = 4_503_599_627_370_496.0;

/// The scrambled sequence from its `first` point on, as coordinates of valid points that keep the constraints.
pub(crate) struct Quasirandom<'a, R> {
    space: &'a Space,
    sequence: Box<dyn Iterator<Item = Vec<f64>> + 'a>,
    shift: Vec<u64>,
    rng: R,
}

impl<'a, R: Rng> Quasirandom<'a, R> {
    /// The shift comes from `shifts`, the same for all points of one sequence; `rng` is the fallback where a point of the
    /// sequence is infeasible, and must differ between sequences that start at different points.
    pub fn new(space: &'a Space, first: usize, shifts: &mut impl Rng, rng: R) -> Self {
        let shift = shift(space.cube_dimension(), shifts);
        Self { space, sequence: sequence(space.cube_dimension(), first), shift, rng }
    }
}

impl<R: Rng> Iterator for Quasirandom<'_, R> {
    type Item = Vec<f64>;

    fn next(&mut self) -> Option<Vec<f64>> {
        let cube: Vec<f64> = match self.sequence.next() {
            Some(point) => point.iter().zip(&self.shift).map(|(u, shift)| shifted(*u, *shift)).collect(),
            None => self.shift.iter().map(|_| self.rng.random()).collect(),
        };
        let placed = self.space.from_cube(&cube);
        Some(if self.space.feasible(&placed) { placed } else { self.space.sample(&mut self.rng) })
    }
}

/// Points of the unit cube, spread evenly; plain random ones where there are more dimensions than direction numbers cover.
pub(crate) fn even_points(dimension: usize, count: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let (shift, mut sequence) = (shift(dimension, rng), sequence(dimension, 0));
    let point = |_| match sequence.next() {
        Some(point) => point.iter().zip(&shift).map(|(u, shift)| shifted(*u, *shift)).collect(),
        None => (0..dimension).map(|_| rng.random()).collect(),
    };
    (0..count).map(point).collect()
}

/// The sequence itself; empty where there are more dimensions than direction numbers cover.
fn sequence<'a>(dimension: usize, first: usize) -> Box<dyn Iterator<Item = Vec<f64>> + 'a> {
    static DIRECTIONS: OnceLock<JoeKuoD6> = OnceLock::new();
    if dimension > DIMENSIONS {
        return Box::new(std::iter::empty());
    }
    Box::new(Sobol::<f64>::new(dimension, DIRECTIONS.get_or_init(JoeKuoD6::minimal)).skip(first))
}

fn shift(dimension: usize, rng: &mut impl Rng) -> Vec<u64> {
    (0..dimension).map(|_| rng.random::<u64>() >> 12).collect()
}

/// u with its binary digits flipped where `shift` has ones.
fn shifted(u: f64, shift: u64) -> f64 {
    ((u * STEPS) as u64 ^ shift) as f64 / STEPS
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{Constraint, Parameter, Relation};

    fn sequence(space: &Space, first: usize, seed: u64) -> Quasirandom<'_, ChaCha8Rng> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Quasirandom::new(space, first, &mut rng.clone(), ChaCha8Rng::seed_from_u64(rng.random()))
    }

    #[test]
    fn every_eighth_of_an_axis_gets_its_share() {
        let parameters = (0..5).map(|i| Parameter::float(&format!("x{i}"), -1.0, 3.0).unwrap()).collect();
        let space = Space::new(parameters, vec![]).unwrap();
        for seed in 0..5 {
            let points: Vec<Vec<f64>> = sequence(&space, 0, seed).take(64).collect();
            for axis in 0..5 {
                let mut counts = [0; 8];
                points.iter().for_each(|point| counts[(point[axis] * 8.0) as usize] += 1);
                assert_eq!(counts, [8; 8], "seed {seed}, axis {axis}");
            }
        }
    }

    #[test]
    fn constraints_are_kept_and_many_dimensions_work() {
        let mixture = ["a", "b", "c"].map(|name| Parameter::float(name, 0.0, 1.0).unwrap()).to_vec();
        let terms = ["a", "b", "c"].map(|name| (name.to_string(), 1.0)).to_vec();
        let sum = Constraint { terms, relation: Relation::Equals, bound: 1.0 };
        let space = Space::new(mixture, vec![sum]).unwrap();
        for point in sequence(&space, 3, 1).take(50) {
            assert!((point.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
        let many = (0..150).map(|i| Parameter::float(&format!("x{i}"), 0.0, 1.0).unwrap()).collect();
        let space = Space::new(many, vec![]).unwrap();
        let points: Vec<Vec<f64>> = sequence(&space, 0, 1).take(3).collect();
        assert!(points[0] != points[1] && points.iter().flatten().all(|u| (0.0..=1.0).contains(u)));
    }
}
