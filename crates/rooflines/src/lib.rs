//! What the benches of the lab time themselves: reading memory, dense matrix products, a plain implementation of IGP-BUCB.
//!
//! A crate of its own because a release build optimizes it, and not the lab: a slow roofline would flatter what is compared
//! with it.
//!
//! ```
//! use manyhands_gp::{Grid, Kernel};
//! use manyhands_rooflines::RowPerPick;
//! let grid = Grid::even(&[(0.0, 1.0, 20), (0.0, 1.0, 20)])?;
//! let kernel = Kernel::squared_exponential(&[0.2])?;
//! let mut rows = RowPerPick::new(&kernel, &grid, 0.025).ok_or("a product kernel on two axes")?;
//! let first = rows.argmax_upper(2.0);
//! rows.append(first);
//! rows.tell(&[1.0]);
//! assert_ne!(rows.argmax_upper(2.0), first); // the variance there has fallen
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod product;
mod row_per_pick;
mod stream;

use manyhands_gp::{Sampler, View};
use rand_chacha::ChaCha8Rng;

pub use product::Product;
pub use row_per_pick::RowPerPick;
pub use stream::sum_of_factor;

/// A sample of the posterior as the engine draws it. Drawing is generic, so it is compiled, and optimized, where it is called.
pub fn draw(sampler: &Sampler, view: View<'_>, rng: &mut ChaCha8Rng) -> Vec<f64> {
    sampler.draw(view, 1.0, rng)
}
