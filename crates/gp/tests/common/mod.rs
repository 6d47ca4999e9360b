//! What the tests of promises share: a dense oracle, random problems and a fixed configuration of proptest.
//!
//! The oracle forms K + noise I and solves by Gaussian elimination with partial pivoting; it shares nothing with the
//! library but the kernel's values.

pub mod acquisitions;
mod elimination;
pub mod run;
mod seeded;

use manyhands_gp::{Covariance, Domain, Grid, Kernel, Key, Points};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use elimination::{dot, solve};
pub use seeded::config;

pub const EPS: f64 = f64::EPSILON;
pub const PLENTY: usize = 1 << 28;

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn key(id: usize, site: usize) -> Key {
    Key { id: id as u64, site }
}

pub fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// A Gaussian process from scratch: rows in any order, each with its own noise, a value or none.
#[derive(Debug, Clone)]
pub struct Dense {
    pub kernel: Kernel,
    pub mean: f64,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub struct Row {
    pub point: Vec<f64>,
    pub noise: f64,
    pub value: Option<f64>,
}

/// A number of the oracle, and how far rounding may take two backward stable computations of it apart.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    pub value: f64,
    pub tolerance: f64,
}

impl Number {
    #[track_caller]
    pub fn check(self, found: f64, what: &str) {
        let Self { value, tolerance } = self;
        assert!((found - value).abs() <= tolerance, "{what}: {found}, the oracle has {value} +- {tolerance:e}");
    }
}

impl Dense {
    fn chosen(&self, pending: bool) -> Vec<&Row> {
        self.rows.iter().filter(|row| pending || row.value.is_some()).collect()
    }

    fn gram(&self, rows: &[&Row]) -> Vec<Vec<f64>> {
        let k = |a: &Row, b: &Row| self.kernel.covariance(&a.point, &b.point);
        let mut gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| k(a, b)).collect()).collect();
        rows.iter().enumerate().for_each(|(i, row)| gram[i][i] += row.noise);
        gram
    }

    /// (K + noise I)^{-1} k(X, x) for each x.
    fn solved(&self, rows: &[&Row], points: &[Vec<f64>]) -> (Vec<Vec<f64>>, f64) {
        let column = |x: &Vec<f64>| rows.iter().map(|row| self.kernel.covariance(&row.point, x)).collect();
        solve(self.gram(rows), points.iter().map(column).collect())
    }

    /// A backward stable solve answers for a matrix off by n eps |K|, with |K| at most its trace: a bilinear form of two
    /// solutions u and w moves by n eps |K| |u| |w|. Sixteen times that, for two solves, their constants and the kernel.
    fn slip(&self, rows: &[&Row], u: &[f64], w: &[f64]) -> f64 {
        let trace: f64 = rows.iter().map(|row| self.kernel.variance_at(&row.point) + row.noise).sum();
        16.0 * (rows.len() as f64 + 1.0) * EPS * trace * norm(u) * norm(w)
    }

    fn values(&self) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.value).map(|value| value - self.mean).collect()
    }

    pub fn mean_at(&self, x: &[f64]) -> Number {
        let rows = self.chosen(false);
        let (weights, _) = solve(self.gram(&rows), vec![self.values()]);
        let (solved, _) = self.solved(&rows, &[x.to_vec()]);
        let column: Vec<f64> = rows.iter().map(|row| self.kernel.covariance(&row.point, x)).collect();
        let size: f64 = self.mean.abs() + column.iter().zip(&weights[0]).map(|(k, w)| (k * w).abs()).sum::<f64>();
        let rounding = 4.0 * (rows.len() as f64 + 2.0) * EPS * size;
        let value = self.mean + dot(&column, &weights[0]);
        Number { value, tolerance: rounding + self.slip(&rows, &solved[0], &weights[0]) }
    }

    /// The covariance of x and y given the observed rows, and the pending ones if `pending`.
    pub fn covariance_of(&self, x: &[f64], y: &[f64], pending: bool) -> Number {
        let rows = self.chosen(pending);
        let (solved, _) = self.solved(&rows, &[x.to_vec(), y.to_vec()]);
        let column: Vec<f64> = rows.iter().map(|row| self.kernel.covariance(&row.point, x)).collect();
        let k = self.kernel.variance_at(x).max(self.kernel.variance_at(y));
        let size: f64 = k + column.iter().zip(&solved[1]).map(|(k, w)| (k * w).abs()).sum::<f64>();
        let rounding = 8.0 * (rows.len() as f64 + 2.0) * EPS * size;
        let value = self.kernel.covariance(x, y) - dot(&column, &solved[1]);
        Number { value, tolerance: rounding + self.slip(&rows, &solved[0], &solved[1]) }
    }

    pub fn variance_at(&self, x: &[f64], pending: bool) -> Number {
        let Number { value, tolerance } = self.covariance_of(x, x, pending);
        Number { value: value.max(0.0), tolerance }
    }

    /// The trace of the inverse bounds how fast ln det moves; the noise bounds each of its terms.
    fn log_det(&self, pending: bool) -> Number {
        let rows = self.chosen(pending);
        let (_, value) = self.solved(&rows, &[]);
        let n = rows.len() as f64;
        let trace: f64 = rows.iter().map(|row| self.kernel.variance_at(&row.point) + row.noise).sum();
        let least = rows.iter().map(|row| row.noise).fold(f64::INFINITY, f64::min);
        Number { value, tolerance: 16.0 * (n + 1.0) * EPS * (trace / least * n + value.abs() + n) }
    }

    /// (1/2) ln det(I + K/noise), of the observed rows, or of all.
    pub fn information(&self, pending: bool) -> Number {
        let Number { value, tolerance } = self.log_det(pending);
        let noises: f64 = self.chosen(pending).iter().map(|row| row.noise.ln()).sum();
        Number { value: 0.5 * (value - noises), tolerance }
    }

    /// w' K w, the squared norm of mean - prior mean.
    pub fn mean_norm(&self) -> Number {
        let rows = self.chosen(false);
        let (weights, _) = solve(self.gram(&rows), vec![self.values()]);
        let w = &weights[0];
        let k = |a: &Row, b: &Row| self.kernel.covariance(&a.point, &b.point);
        let product: Vec<f64> = rows.iter().map(|a| rows.iter().zip(w).map(|(b, w)| k(a, b) * w).sum()).collect();
        Number { value: dot(w, &product).max(0.0), tolerance: 2.0 * self.slip(&rows, w, w) }
    }

    pub fn log_marginal(&self) -> Number {
        let rows = self.chosen(false);
        let values = self.values();
        let (weights, _) = solve(self.gram(&rows), vec![values.clone()]);
        let Number { value, tolerance } = self.log_det(false);
        let squares = dot(&values, &weights[0]);
        let constant = rows.len() as f64 * (2.0 * std::f64::consts::PI).ln();
        let slip = self.slip(&rows, &weights[0], &weights[0]);
        Number { value: -0.5 * (squares + value + constant), tolerance: tolerance + slip }
    }
}

/// A kernel of every family but the empirical, for points of this dimension.
pub fn kernel(which: usize, dimension: usize, lengthscale: f64) -> Kernel {
    let each: Vec<f64> = (0..dimension).map(|j| lengthscale * (1.0 + 0.3 * j as f64)).collect();
    match which % 6 {
        0 => Kernel::squared_exponential(&each),
        1 => Kernel::matern(0.5, &[lengthscale]),
        2 => Kernel::matern(1.5, &each),
        3 => Kernel::matern(2.5, &[lengthscale]),
        4 => Kernel::matern(1.3, &each),
        _ => Kernel::linear(&each),
    }
    .unwrap()
}

pub fn uniform(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low..high)
}

pub fn point(rng: &mut impl Rng, dimension: usize) -> Vec<f64> {
    (0..dimension).map(|_| uniform(rng, 0.0, 1.0)).collect()
}

/// A covariance over `len` things: A A' for a random A of fewer columns, so it is singular.
pub fn empirical(rng: &mut impl Rng, len: usize) -> Kernel {
    let rank = len.div_ceil(2);
    let factor: Vec<Vec<f64>> = (0..len).map(|_| (0..rank).map(|_| uniform(rng, -1.0, 1.0)).collect()).collect();
    let entries = factor.iter().flat_map(|a| factor.iter().map(move |b| dot(a, b) / rank as f64)).collect();
    Kernel::empirical(Covariance::new(len, entries).unwrap())
}

/// Scattered points, an even grid (with the ties of its symmetry) or an uneven one.
pub fn domain(rng: &mut impl Rng, shape: Shape) -> Domain {
    let dimension = shape.dimension();
    let axis = |points: usize, rng: &mut _| -> Vec<f64> {
        let mut x = uniform(rng, -0.2, 0.2);
        (0..points).map(|_| (x, x += uniform(rng, 0.02, 0.2)).0).collect()
    };
    match shape {
        Shape::Scattered(_) => {
            let len = rng.random_range(1..150);
            let rows: Vec<Vec<f64>> = (0..len).map(|_| point(rng, dimension)).collect();
            Domain::Points(Points::from_rows(&rows).unwrap())
        }
        Shape::Even(_) => {
            let sizes: Vec<(f64, f64, usize)> = (0..dimension).map(|_| (0.0, 1.0, side(rng, dimension))).collect();
            Domain::Grid(Grid::even(&sizes).unwrap())
        }
        Shape::Uneven(_) => {
            let axes = (0..dimension).map(|_| side(rng, dimension)).collect::<Vec<_>>();
            Domain::Grid(Grid::new(axes.into_iter().map(|points| axis(points, rng)).collect()).unwrap())
        }
    }
}

fn side(rng: &mut impl Rng, dimension: usize) -> usize {
    rng.random_range(1..[150, 13, 6][dimension - 1])
}

#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Scattered(usize),
    Even(usize),
    Uneven(usize),
}

impl Shape {
    pub fn all(which: usize) -> Self {
        let dimension = which / 3 % 3 + 1;
        [Self::Scattered(dimension), Self::Even(dimension), Self::Uneven(dimension)][which % 3]
    }

    pub fn dimension(self) -> usize {
        let (Self::Scattered(d) | Self::Even(d) | Self::Uneven(d)) = self;
        d
    }
}

/// What `work` gives on one thread and on two.
pub fn on_one_and_two_threads<T: Send>(work: impl Fn() -> T + Sync) -> [T; 2] {
    [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work))
}
