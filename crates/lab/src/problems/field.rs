//! A synthetic sensor field, for users without the paper's sensor files; it does not imitate them.

use std::path::Path;

use manyhands_gp::{Factor, Kernel};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::Sensors;
use crate::{NumericTable, Result};

const SENSORS: usize = 50;
const TRAINING_ROWS: usize = 600;
const TEST_ROWS: usize = 300;
/// The variance of a sensor's own noise, beside a spatial variance of 1.
const OWN_VARIANCE: f64 = 0.01;

/// Fifty sensors scattered over a unit square. Each has a level and a share in a common daily cycle; on top lies a draw of
/// a Matern field (nu = 5/2, l = 0.3) and a little of the sensor's own, new in every row. 600 training rows, 300 test rows.
pub fn field(rng: &mut impl Rng) -> Result<Sensors> {
    let places: Vec<[f64; 2]> = (0..SENSORS).map(|_| [rng.random(), rng.random()]).collect();
    let kernel = Kernel::matern(2.5, &[0.3])?;
    let mut root = Factor::new();
    for (i, place) in places.iter().enumerate() {
        let covariances: Vec<f64> = places[..i].iter().map(|other| kernel.covariance(place, other)).collect();
        root.push(&covariances, kernel.variance_at(place), OWN_VARIANCE);
    }
    let mut normal = || -> f64 { StandardNormal.sample(&mut *rng) };
    let levels: Vec<f64> = (0..SENSORS).map(|_| 20.0 + 0.5 * normal()).collect();
    let shares: Vec<f64> = (0..SENSORS).map(|_| 1.0 + 0.3 * normal()).collect();
    let mut row = |number: usize| -> Vec<f64> {
        let cycle = (std::f64::consts::TAU * number as f64 / 288.0).sin();
        let white: Vec<f64> = (0..SENSORS).map(|_| normal()).collect();
        let spatial = |i: usize| root.row(i).iter().zip(&white).map(|(l, w)| l * w).sum::<f64>();
        (0..SENSORS).map(|i| levels[i] + shares[i] * cycle + spatial(i)).collect()
    };
    let rows: Vec<Vec<f64>> = (0..TRAINING_ROWS + TEST_ROWS).map(&mut row).collect();
    let columns = (1..=SENSORS).map(|i| format!("s{i:02}")).collect();
    let (training, test) = NumericTable::new(Path::new("the synthetic field"), columns, rows)?.split(TRAINING_ROWS);
    Sensors::new("field", &training, &test)
}
