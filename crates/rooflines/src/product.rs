//! A dense matrix product by all threads: the roofline of structured products.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

/// Fewer multiplications than these are done by one thread.
const SHARED_FROM: usize = 1 << 20;

/// Two matrices and their product, by blocks of rows.
#[derive(Debug, Clone)]
pub struct Product {
    /// The rows of the left matrix, and those of the product: one block per thread.
    blocks: Vec<(Mat<f64>, Mat<f64>)>,
    right: Mat<f64>,
}

impl Product {
    /// A (rows x inner) and an (inner x columns) matrix.
    pub fn new(rows: usize, inner: usize, columns: usize) -> Self {
        let is_shared = rows * inner * columns >= SHARED_FROM;
        let most = if is_shared { rows.div_ceil(rayon::current_num_threads()) } else { rows };
        let block = |first: usize| {
            let count = most.min(rows - first);
            (Mat::from_fn(count, inner, |i, j| entry(first + i, j)), Mat::zeros(count, columns))
        };
        let blocks = (0..rows).step_by(most.max(1)).map(block).collect();
        Self { blocks, right: Mat::from_fn(inner, columns, entry) }
    }

    /// Multiplies them.
    pub fn multiply(&mut self) {
        let right = self.right.as_ref();
        let multiply = |(left, out): &mut (Mat<f64>, Mat<f64>)| {
            matmul(out.as_mut(), Accum::Replace, left.as_ref(), right, 1.0, Par::Seq);
        };
        match &mut self.blocks[..] {
            [only] => multiply(only),
            several => several.par_iter_mut().for_each(multiply),
        }
    }
}

fn entry(i: usize, j: usize) -> f64 {
    ((i * 31 + j * 17) % 101) as f64 / 101.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_are_the_rows_of_the_product() {
        for (rows, inner, columns) in [(3, 4, 5), (131, 90, 101), (1, 1, 1)] {
            let mut product = Product::new(rows, inner, columns);
            product.multiply();
            let found: Vec<Vec<f64>> = product
                .blocks
                .iter()
                .flat_map(|(_, out)| (0..out.nrows()).map(|i| (0..columns).map(|j| out[(i, j)]).collect()))
                .collect();
            assert_eq!(found.len(), rows);
            for (i, row) in found.iter().enumerate() {
                for (j, value) in row.iter().enumerate() {
                    let expected: f64 = (0..inner).map(|k| entry(i, k) * entry(k, j)).sum();
                    // No term exceeds 1, so no partial sum exceeds their number.
                    assert!((value - expected).abs() <= 2.0 * f64::EPSILON * (inner * inner) as f64);
                }
            }
        }
    }
}
