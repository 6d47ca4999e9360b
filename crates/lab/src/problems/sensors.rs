//! Finding the sensor with the largest reading: the prior is the empirical covariance of training readings, the functions
//! are rows of test readings.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | m | grand mean | mean of all training readings, over rows and sensors |
//! | v | average variance | mean over sensors of the unbiased training variance |
//! | k | kernel | unbiased training covariance/v |
//! | f | function | (a test row - m)/sqrt(v) |
//! | lambda | noise | 0.05, that is 5 % of v |

use std::path::Path;

use manyhands_core::Domain;
use manyhands_gp::{Covariance, Kernel, Points, Prior};
use rand::Rng;
use rand::seq::index;

use crate::{Error, FiniteProblem, NumericTable, Result};

/// lambda = R^2 as a fraction of the average variance.
const NOISE: f64 = 0.05;

/// A covariance learned from training readings, and test rows to be maximized.
#[derive(Debug, Clone)]
pub struct Sensors {
    name: String,
    prior: Prior,
    functions: Vec<Vec<f64>>,
    average_variance: f64,
}

/// The temperatures of the Intel Berkeley lab: `intel_lab/intel_temp_1min.csv.gz` (or unpacked), the first two thirds of
/// its rows for training.
pub fn temperature(data: &Path) -> Result<Sensors> {
    let packed = data.join(TEMPERATURE);
    let table = NumericTable::read(
        if packed.exists() { packed } else { data.join(TEMPERATURE.trim_end_matches(".gz")) },
        "minute",
    )?;
    let (training, test) = table.split(2 * table.rows().len() / 3);
    Sensors::new("temperature", &training, &test)
}

/// The light of the CMU Intelligent Workplace: `cmu_light_sensor/light_train_lux.csv` and `light_test_lux.csv`.
pub fn light(data: &Path) -> Result<Sensors> {
    let [training, test] = LIGHT.map(|file| NumericTable::read(data.join(file), "row"));
    Sensors::new("light", &training?, &test?)
}

pub(crate) const TEMPERATURE: &str = "intel_lab/intel_temp_1min.csv.gz";
pub(crate) const LIGHT: [&str; 2] = ["cmu_light_sensor/light_train_lux.csv", "cmu_light_sensor/light_test_lux.csv"];

impl Sensors {
    /// Learns from training rows; test rows have the same columns.
    pub fn new(name: &str, training: &NumericTable, test: &NumericTable) -> Result<Self> {
        let refuse =
            |table: &NumericTable, reason: String| Err(Error::Table { path: table.path().to_path_buf(), reason });
        if let Some(column) = training.columns().iter().find(|column| !test.columns().contains(column)) {
            return refuse(test, format!("column \"{column}\" is missing, which the training readings have"));
        }
        if training.columns() != test.columns() {
            return refuse(test, "its columns are not those of the training readings, in the same order".to_string());
        }
        let (rows, sensors) = (training.rows().len(), training.columns().len());
        if rows < 2 || sensors < 2 {
            let reason = format!("it has {rows} training rows of {sensors} sensors, a covariance needs 2 of each");
            return refuse(training, reason);
        }
        if test.rows().is_empty() {
            return refuse(test, "it has no rows to maximize over".to_string());
        }
        let covariance = covariance(training.rows());
        let average_variance = (0..sensors).map(|i| covariance[i * sensors + i]).sum::<f64>() / sensors as f64;
        if average_variance <= 0.0 || !average_variance.is_finite() {
            return refuse(
                training,
                format!("its average variance must be positive and finite, got {average_variance}"),
            );
        }
        let grand_mean = training.rows().iter().flatten().sum::<f64>() / (rows * sensors) as f64;
        let scaled = covariance.iter().map(|entry| entry / average_variance).collect();
        let kernel = Kernel::empirical(Covariance::new(sensors, scaled)?);
        let prior = Prior::new(kernel, 0.0, NOISE)?;
        let standard = |reading: &f64| (reading - grand_mean) / average_variance.sqrt();
        let functions = test.rows().iter().map(|row| row.iter().map(standard).collect()).collect();
        Ok(Self { name: name.to_string(), prior, functions, average_variance })
    }

    /// v, in the readings' units squared.
    pub fn average_variance(&self) -> f64 {
        self.average_variance
    }

    /// How many test rows there are.
    pub fn test_rows(&self) -> usize {
        self.functions.len()
    }

    /// `count` test rows without repetition; fewer of the same seed are the first of more.
    pub fn draw(&self, count: usize, rng: &mut impl Rng) -> Result<Vec<FiniteProblem>> {
        if count > self.functions.len() {
            return Err(Error::Setting {
                setting: "functions",
                allowed: format!(
                    "at most {}, the number of test rows of the {} readings",
                    self.functions.len(),
                    self.name
                ),
                value: count.to_string(),
            });
        }
        // A whole permutation, so that its beginning does not depend on the count.
        let order = index::sample(rng, self.functions.len(), self.functions.len());
        order.iter().take(count).map(|row| self.problem(row)).collect()
    }

    fn problem(&self, row: usize) -> Result<FiniteProblem> {
        let values = self.functions[row].clone();
        let domain = Domain::Points(Points::indices(values.len()));
        FiniteProblem::new(format!("{} test row {row}", self.name), domain, self.prior.clone(), values)
    }
}

/// The unbiased covariance of the columns, row-major.
fn covariance(rows: &[Vec<f64>]) -> Vec<f64> {
    let (count, width) = (rows.len() as f64, rows[0].len());
    let means: Vec<f64> = (0..width).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / count).collect();
    let centred: Vec<Vec<f64>> = (0..width).map(|i| rows.iter().map(|row| row[i] - means[i]).collect()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    centred.iter().flat_map(|a| centred.iter().map(move |b| dot(a, b) / (count - 1.0))).collect()
}
