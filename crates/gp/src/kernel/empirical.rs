//! A covariance matrix over a finite set, checked once so that a kernel may trust it.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | n | len | how many rows the matrix has |
//! | e_i, u_i | eigenvalues, eigenvectors | of the symmetrized matrix, ascending |
//! | eps | f64::EPSILON | |

use faer::MatRef;

use crate::{Error, Result, dense};

/// How far mirrored entries may differ, as a fraction of the largest absolute entry.
const ASYMMETRY: f64 = 1e-9;

/// How negative an eigenvalue may be, as a fraction of the largest diagonal entry.
const NEGATIVITY: f64 = 1e-6;

/// What was done to a covariance matrix that was not quite positive semi-definite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clipped {
    /// How many negative eigenvalues were set to 0.
    pub count: usize,
    /// The most negative of them.
    pub lowest: f64,
}

/// A symmetric positive semi-definite matrix.
///
/// ```
/// use manyhands_gp::{Covariance, Kernel};
/// let kernel = Kernel::empirical(Covariance::new(2, vec![2.0, 0.5, 0.5, 1.0])?);
/// assert_eq!(kernel.covariance(&[0.0], &[1.0]), 0.5); // points are indices
/// # Ok::<(), manyhands_gp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    entries: Vec<f64>,
    len: usize,
    clipped: Option<Clipped>,
}

impl Covariance {
    /// A covariance matrix of `len` rows from its entries, row by row.
    ///
    /// Rounding is forgiven: mirrored entries may differ by 1e-9 of the largest entry and are averaged, and eigenvalues
    /// down to -1e-6 of the largest diagonal entry are set to 0, which [`Covariance::clipped`] reports.
    pub fn new(len: usize, mut entries: Vec<f64>) -> Result<Self> {
        if len == 0 {
            return Err(Error::Empty { what: "a covariance matrix" });
        }
        let expected = len.saturating_mul(len);
        if entries.len() != expected {
            return Err(Error::WrongLength { what: "a covariance matrix", expected, found: entries.len() });
        }
        if let Some(&value) = entries.iter().find(|value| !value.is_finite()) {
            return Err(Error::NotFinite { what: "a covariance".into(), value });
        }
        symmetrize(len, &mut entries)?;
        let largest = largest_diagonal(len, &entries)?;
        let clipped = clip(len, &mut entries, NEGATIVITY * largest)?;
        Ok(Self { entries, len, clipped })
    }

    /// How many rows the matrix has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true: a covariance matrix has at least one row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry of row `i` and column `j`; panics, as a slice does, if there is no such row.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.len..(i + 1) * self.len][j]
    }

    /// What was clipped, if the matrix given was not positive semi-definite.
    pub fn clipped(&self) -> Option<Clipped> {
        self.clipped
    }

    /// All entries of row `i`.
    pub(super) fn row(&self, i: usize) -> Option<&[f64]> {
        self.entries.chunks_exact(self.len).nth(i)
    }
}

/// Replaces mirrored entries by their mean, or refuses them.
fn symmetrize(len: usize, entries: &mut [f64]) -> Result<()> {
    let limit = ASYMMETRY * entries.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for row in 0..len {
        for column in 0..row {
            let (value, mirrored) = (entries[row * len + column], entries[column * len + row]);
            if (value - mirrored).abs() > limit {
                return Err(Error::Asymmetric { row, column, value, mirrored, limit });
            }
            // Halved before adding: the sum of two large entries may overflow.
            let mean = 0.5 * value + 0.5 * mirrored;
            entries[row * len + column] = mean;
            entries[column * len + row] = mean;
        }
    }
    Ok(())
}

/// The largest variance, or a refusal if one is negative or all are 0.
fn largest_diagonal(len: usize, entries: &[f64]) -> Result<f64> {
    let mut largest = 0.0;
    for (index, &value) in entries.iter().step_by(len + 1).enumerate() {
        if value < 0.0 {
            return Err(Error::NegativeVariance { index, value });
        }
        largest = f64::max(largest, value);
    }
    if largest == 0.0 { Err(Error::NoVariance { len }) } else { Ok(largest) }
}

/// Sets slightly negative eigenvalues to 0; refuses those below `-limit`.
fn clip(len: usize, entries: &mut [f64], limit: f64) -> Result<Option<Clipped>> {
    let eigenvalues = dense::eigenvalues(MatRef::from_row_major_slice(entries, len, len))?;
    let lowest = eigenvalues[0];
    if lowest < -limit {
        return Err(Error::Indefinite { eigenvalue: lowest, limit: -limit });
    }
    let largest = eigenvalues[len - 1].max(-lowest);
    let rounding = len as f64 * f64::EPSILON * largest;
    let count = eigenvalues.iter().filter(|&&value| value < -rounding).count();
    if count == 0 {
        return Ok(None);
    }
    let (eigenvalues, vectors) = dense::eigenvectors(MatRef::from_row_major_slice(entries, len, len))?;
    // Taking e_i u_i u_i' away is rebuilding the matrix without e_i, and leaves the rest as exact as it was.
    for (&value, vector) in eigenvalues.iter().zip(vectors.col_iter()).take(count) {
        for row in 0..len {
            for column in 0..=row {
                let entry = entries[row * len + column] - value * (vector[row] * vector[column]);
                entries[row * len + column] = entry;
                entries[column * len + row] = entry;
            }
        }
    }
    Ok(Some(Clipped { count, lowest }))
}
