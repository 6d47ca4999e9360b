//! How much of a function's variance over a domain is due to each parameter: Sobol's indices, by exchanging one parameter at a
//! time.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | A, B | base, partner | N points each, drawn independently and uniformly over the domain |
//! | A_i | exchanged | A with the values of parameter i from B |
//! | V | variance | of f over A and B |
//! | T_i | total | E[(f(A) - f(A_i))^2]/(2 V): the share of the variance that parameter i has a part in |
//! | S_i | alone | 1 - E[(f(B) - f(A_i))^2]/(2 V): the share that parameter i explains without the others |
//!
//! Both estimators are Jansen's (1999). "Uniformly" is by the parameters' own scales, each integer, level and category as
//! likely as the next. Columns of a pool vary independently here, each as often at a value as the rows have it.
//!
//! Under constraints parameters depend on each other. Then parameter i is drawn again from the values that the others allow
//! (Kucherenko et al. 2012); where they allow nothing else, as in a mixture, they move to the nearest setting that does. Such
//! indices add up to no fixed sum, and S_i is not defined.

use manyhands_gp::Points;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::maximize::even_points;
use crate::{Coordinates, Domain, Pool, Result, Space};

/// How often a value that the constraints allow is looked for at random before the other parameters have to move.
const SECTION_DRAWS: usize = 32;

/// Below this share of the scale's square a variance is rounding.
const FLAT: f64 = 1e-14;

/// The points of a sensitivity analysis: A, B and then A_i for each parameter, N of each.
#[derive(Debug, Clone)]
pub(crate) struct ExchangeDesign {
    /// The parameters that vary.
    pub names: Vec<String>,
    /// Whether they vary independently of each other.
    pub is_independent: bool,
    count: usize,
    blocks: Vec<Vec<Vec<f64>>>,
}

/// The indices of one parameter, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SobolIndex {
    pub alone: f64,
    pub total: f64,
}

impl ExchangeDesign {
    /// The same points for the same domain; none where it has no named parameters with coordinates.
    pub fn new(domain: &Domain, count: usize) -> Option<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        match domain {
            Domain::Space(space) => Some(Self::of_space(space, count, &mut rng)),
            Domain::Pool(pool) if pool.seen_as() != Coordinates::Indices => Some(Self::of_pool(pool, count, &mut rng)),
            _ => None,
        }
    }

    fn of_space(space: &Space, count: usize, rng: &mut ChaCha8Rng) -> Self {
        let parameters = space.cube_dimension();
        let cube = even_points(2 * parameters, count, rng);
        let mut place = |u: &[f64]| {
            let placed = space.from_cube(u);
            if space.feasible(&placed) { placed } else { space.sample(rng) }
        };
        let base: Vec<Vec<f64>> = cube.iter().map(|u| place(&u[..parameters])).collect();
        let partner: Vec<Vec<f64>> = cube.iter().map(|u| place(&u[parameters..])).collect();
        let exchanged = (0..parameters).map(|i| {
            let pairs = base.iter().zip(&partner);
            pairs.map(|(own, other)| exchanged_in_space(space, i, (own, other), rng)).collect()
        });
        let exchanged: Vec<Vec<Vec<f64>>> = exchanged.collect();
        let names = space.varying().map(|parameter| parameter.name().to_string()).collect();
        let is_independent = space.constraints().is_empty();
        Self { names, is_independent, count, blocks: [base, partner].into_iter().chain(exchanged).collect() }
    }

    fn of_pool(pool: &Pool, count: usize, rng: &mut ChaCha8Rng) -> Self {
        let rows = pool.points();
        let row = |u: f64| rows.get(((u * rows.len() as f64) as usize).min(rows.len() - 1));
        let place = |u: &[f64]| -> Vec<f64> { u.iter().enumerate().map(|(column, &u)| row(u)[column]).collect() };
        let varying: Vec<(usize, String)> = pool.coordinate_names().map(str::to_string).enumerate().collect();
        let varying: Vec<(usize, String)> =
            varying.into_iter().filter(|(column, _)| rows.iter().any(|x| x[*column] != rows.get(0)[*column])).collect();
        let cube = even_points(2 * rows.dimension(), count, rng);
        let base: Vec<Vec<f64>> = cube.iter().map(|u| place(&u[..rows.dimension()])).collect();
        let partner: Vec<Vec<f64>> = cube.iter().map(|u| place(&u[rows.dimension()..])).collect();
        let exchange = |&(column, _): &(usize, String)| {
            let with = |(own, other): (&Vec<f64>, &Vec<f64>)| {
                let mut point = own.clone();
                point[column] = other[column];
                point
            };
            base.iter().zip(&partner).map(with).collect()
        };
        let exchanged: Vec<Vec<Vec<f64>>> = varying.iter().map(exchange).collect();
        let names = varying.into_iter().map(|(_, name)| name).collect();
        Self { names, is_independent: true, count, blocks: [base, partner].into_iter().chain(exchanged).collect() }
    }

    /// The first `count` points of each kind, one kind after the other.
    pub fn points(&self, count: usize) -> Result<Points> {
        let dimension = self.blocks[0].first().map_or(1, Vec::len);
        let first = self.blocks.iter().flat_map(|block| &block[..count.min(self.count)]);
        Ok(Points::from_flat(dimension, first.flatten().copied().collect())?)
    }

    /// The indices of a function with these values at [`ExchangeDesign::points`]; none where it hardly varies, compared with
    /// `scale`.
    pub fn indices(&self, values: &[f64], scale: f64) -> Option<Vec<SobolIndex>> {
        let count = values.len() / self.blocks.len();
        let (plain, exchanged) = values.split_at(2 * count);
        let (base, partner) = plain.split_at(count);
        let mean = plain.iter().sum::<f64>() / plain.len() as f64;
        let variance = plain.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / plain.len() as f64;
        if variance.is_nan() || variance <= FLAT * scale * scale {
            return None;
        }
        let halved = |values: &[f64], others: &[f64]| {
            let squares = values.iter().zip(others).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            (squares / (2.0 * count as f64 * variance)).clamp(0.0, 1.0)
        };
        let index = |own: &[f64]| {
            let total = halved(base, own);
            // Sampling errors can put the part above the whole.
            SobolIndex { alone: (1.0 - halved(partner, own)).min(total), total }
        };
        Some(exchanged.chunks_exact(count).map(index).collect())
    }
}

/// A point of the space with another value of parameter `i`: the partner's, if the constraints allow it.
fn exchanged_in_space(space: &Space, i: usize, (own, other): (&[f64], &[f64]), rng: &mut ChaCha8Rng) -> Vec<f64> {
    let block = space.blocks()[i].coordinates();
    let with = |other: &[f64]| {
        let mut point = own.to_vec();
        point[block.clone()].copy_from_slice(&other[block.clone()]);
        point
    };
    let mut point = with(other);
    for _ in 0..SECTION_DRAWS {
        if space.feasible(&point) {
            return point;
        }
        let u: Vec<f64> = (0..space.cube_dimension()).map(|_| rng.random()).collect();
        point = with(&space.from_cube(&u));
    }
    space.repair_around(&with(other), &[i]).unwrap_or_else(|| own.to_vec())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::{Constraint, Parameter, Relation};

    fn floats(count: usize, low: f64, high: f64) -> Vec<Parameter> {
        (0..count).map(|i| Parameter::float(&format!("x{i}"), low, high).unwrap()).collect()
    }

    fn indices(space: Space, f: impl Fn(&[f64]) -> f64) -> Vec<SobolIndex> {
        let design = ExchangeDesign::new(&Domain::Space(space), 1024).unwrap();
        let values: Vec<f64> = design.points(1024).unwrap().iter().map(f).collect();
        design.indices(&values, 1.0).unwrap()
    }

    fn assert_near(found: &[SobolIndex], alone: &[f64], total: &[f64]) {
        for (i, index) in found.iter().enumerate() {
            assert!((index.alone - alone[i]).abs() < 0.02, "alone {i}: {index:?}, expected {}", alone[i]);
            assert!((index.total - total[i]).abs() < 0.02, "total {i}: {index:?}, expected {}", total[i]);
        }
    }

    #[test]
    fn the_indices_of_a_sum_are_the_shares_of_its_terms() {
        let space = Space::new(floats(4, 0.0, 1.0), vec![]).unwrap();
        let shares = [9.0, 4.0, 1.0, 0.0].map(|square| square / 14.0);
        assert_near(&indices(space, |x| 3.0 * x[0] - 2.0 * x[1] + x[2]), &shares, &shares);
    }

    #[test]
    fn the_indices_of_ishigamis_function_are_those_of_its_closed_form() {
        let space = Space::new(floats(3, -PI, PI), vec![]).unwrap();
        let f = |x: &[f64]| {
            let x: Vec<f64> = x.iter().map(|u| PI * (2.0 * u - 1.0)).collect();
            x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
        };
        let (a, b, both) =
            (7.0 * 7.0 / 8.0, 0.5 * (1.0 + 0.1 * PI.powi(4) / 5.0).powi(2), 0.01 * PI.powi(8) * 8.0 / 225.0);
        let all = a + b + both;
        assert_near(&indices(space, f), &[b / all, a / all, 0.0], &[(b + both) / all, a / all, both / all]);
    }

    #[test]
    fn categories_integers_and_logarithms_are_equally_likely_on_their_scales() {
        let act = Parameter::choice("act", &["a", "b"]).unwrap();
        let lr = Parameter::log_float("lr", 1e-4, 1.0).unwrap();
        let layers = Parameter::int("layers", 1, 3).unwrap();
        let space = Space::new(vec![act, lr, layers], vec![]).unwrap();
        // The variances of a fair coin, a uniform number and a fair die of three, whose coordinates are 0, 1/2 and 1.
        let (coin, line, die) = (0.25, 1.0 / 12.0, 1.0 / 6.0);
        let f = |x: &[f64]| f64::from(u8::from(x[0] > x[1])) + x[2] + x[3];
        let all = coin + line + die;
        let shares = [coin / all, line / all, die / all];
        assert_near(&indices(space, f), &shares, &shares);
    }

    #[test]
    fn under_a_constraint_every_point_keeps_it_and_an_inert_parameter_has_no_share() {
        let sum = |relation| Constraint {
            terms: vec![("x0".to_string(), 1.0), ("x1".to_string(), 1.0)],
            relation,
            bound: 1.0,
        };
        for relation in [Relation::AtMost, Relation::Equals] {
            let space = Space::new(floats(3, 0.0, 1.0), vec![sum(relation)]).unwrap();
            let design = ExchangeDesign::new(&Domain::Space(space.clone()), 256).unwrap();
            assert!(!design.is_independent);
            let points = design.points(256).unwrap();
            assert!(points.iter().all(|point| space.feasible(point)));
            let values: Vec<f64> = points.iter().map(|x| x[0] * x[0]).collect();
            let found = design.indices(&values, 1.0).unwrap();
            assert!(found[0].total > 0.3 && found[2].total == 0.0, "{relation:?}: {found:?}");
            // In a mixture of two the other one moves with it.
            assert_eq!(found[1].total > 0.0, relation == Relation::Equals, "{found:?}");
        }
    }

    #[test]
    fn columns_of_a_pool_are_as_likely_as_their_rows_are() {
        // temp is 0 in three of four rows: its variance is 3/16 that of a unit step.
        let rows: String =
            (0..64).map(|i| format!("{},{},5\n", u8::from(i % 4 == 0), f64::from(i / 4) / 15.0)).collect();
        let csv = format!("temp,conc,same\n{rows}");
        let pool = Pool::from_csv(csv.as_bytes(), None, Coordinates::Unit).unwrap();
        let design = ExchangeDesign::new(&Domain::Pool(pool.into()), 1024).unwrap();
        assert_eq!(design.names, ["temp", "conc"]);
        let values: Vec<f64> = design.points(1024).unwrap().iter().map(|x| x[0] + x[1]).collect();
        // Sixteen even steps from 0 to 1: (16^2 - 1)/(12 x 15^2).
        let (temp, conc) = (3.0 / 16.0, 255.0 / 2700.0);
        let shares = [temp / (temp + conc), conc / (temp + conc)];
        assert_near(&design.indices(&values, 1.0).unwrap(), &shares, &shares);
    }

    #[test]
    fn a_constant_function_has_no_indices() {
        let design = ExchangeDesign::new(&Domain::Space(Space::new(floats(2, 0.0, 1.0), vec![]).unwrap()), 64).unwrap();
        assert_eq!(design.indices(&[4.0; 256], 1.0), None);
        assert_eq!(design.indices(&[f64::NAN; 256], 1.0), None);
    }
}
