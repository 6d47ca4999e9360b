//! What dense matrix products cost here: the roofline of structured ones.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::cost::timed_wall;
use crate::statistics::median;

const REPEATS: usize = 7;

/// The seconds of one (rows x inner) times (inner x columns) product on all threads; the median of several.
pub fn product_seconds(rows: usize, inner: usize, columns: usize) -> f64 {
    let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 101) as f64 / 101.0;
    let (left, right) = (Mat::from_fn(rows, inner, entry), Mat::from_fn(inner, columns, entry));
    let mut out = Mat::<f64>::zeros(rows, columns);
    let mut once =
        || timed_wall(|| matmul(out.as_mut(), Accum::Replace, left.as_ref(), right.as_ref(), 1.0, Par::rayon(0))).1;
    once();
    median(&(0..REPEATS).map(|_| once()).collect::<Vec<_>>())
}
