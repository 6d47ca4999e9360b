//! What dense matrix products cost here: the roofline of structured ones.

use manyhands_rooflines::Product;

use super::cost::timed_wall;
use crate::statistics::median;

const REPEATS: usize = 7;

/// The seconds of one (rows x inner) times (inner x columns) product on all threads; the median of several.
pub fn product_seconds(rows: usize, inner: usize, columns: usize) -> f64 {
    let mut product = Product::new(rows, inner, columns);
    product.multiply();
    median(&(0..REPEATS).map(|_| timed_wall(|| product.multiply()).1).collect::<Vec<_>>())
}
