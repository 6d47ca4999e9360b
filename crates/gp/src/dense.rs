//! Products and factorizations of whole matrices, on one thread, so that no bit depends on how many there are.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::{llt, llt_pivoting::factor as pivoted};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};

use crate::{Error, Result};

/// The result of a computation by faer, after which the upper halves of the vector registers are zero again. Its kernels leave
/// them as they are; on recent Intel processors each exp and each logarithm then takes twenty times as long.
fn with_clean_registers<T>(compute: impl FnOnce() -> T) -> T {
    let result = compute();
    #[cfg(target_arch = "x86_64")]
    if let Some(avx) = pulp::core_arch::x86::Avx::try_new() {
        avx._mm256_zeroupper();
    }
    result
}

/// out = factor a b, added to what is there or in its place.
pub(crate) fn multiply(out: MatMut<'_, f64>, sum: Accum, a: MatRef<'_, f64>, b: MatRef<'_, f64>, factor: f64) {
    with_clean_registers(|| matmul(out, sum, a, b, factor, Par::Seq));
}

/// The sides become L^{-1} times the sides.
pub(crate) fn solve_lower(lower: MatRef<'_, f64>, sides: MatMut<'_, f64>) {
    with_clean_registers(|| solve_lower_triangular_in_place(lower, sides, Par::Seq));
}

/// Puts the Cholesky factor of a matrix, of which the lower triangle is read, in its place; none if it is not positive definite.
pub(crate) fn cholesky(matrix: MatMut<'_, f64>) -> Option<()> {
    let (regularization, spec) = Default::default();
    let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(matrix.nrows(), Par::Seq, spec));
    let stack = MemStack::new(&mut memory);
    with_clean_registers(|| llt::factor::cholesky_in_place(matrix, regularization, Par::Seq, stack, spec)).ok()?;
    Some(())
}

/// What [`inverse_by_cholesky`] of n rows computes in.
pub(crate) fn inverse_memory(n: usize) -> MemBuffer {
    MemBuffer::new(llt::inverse::inverse_scratch::<f64>(n, Par::Seq))
}

/// The lower triangle of the inverse of a matrix, from its Cholesky factor.
pub(crate) fn inverse_by_cholesky(out: MatMut<'_, f64>, factor: MatRef<'_, f64>, memory: &mut MemBuffer) {
    with_clean_registers(|| llt::inverse::inverse(out, factor, Par::Seq, MemStack::new(memory)));
}

/// The sides become the inverse of a matrix times the sides, from its Cholesky factor.
pub(crate) fn solve_by_cholesky(factor: MatRef<'_, f64>, sides: MatMut<'_, f64>) {
    with_clean_registers(|| llt::solve::solve_in_place(factor, sides, Par::Seq, MemStack::new(&mut [])));
}

/// The eigenvalues in ascending order.
pub(crate) fn eigenvalues(matrix: MatRef<'_, f64>) -> Result<Vec<f64>> {
    eigen(matrix, ComputeEigenvectors::No).map(|(values, _)| values)
}

/// The eigenvalues in ascending order, and their eigenvectors as columns.
pub(crate) fn eigenvectors(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    eigen(matrix, ComputeEigenvectors::Yes)
}

fn eigen(matrix: MatRef<'_, f64>, wanted: ComputeEigenvectors) -> Result<(Vec<f64>, Mat<f64>)> {
    let len = matrix.nrows();
    let mut memory = MemBuffer::new(self_adjoint_evd_scratch::<f64>(len, wanted, Par::Seq, Spec::default()));
    let mut values = Diag::zeros(len);
    let mut vectors = Mat::zeros(len, if matches!(wanted, ComputeEigenvectors::Yes) { len } else { 0 });
    let out = matches!(wanted, ComputeEigenvectors::Yes).then(|| vectors.as_mut());
    let stack = MemStack::new(&mut memory);
    with_clean_registers(|| self_adjoint_evd(matrix, values.as_mut(), out, Par::Seq, stack, Spec::default()))
        .map_err(|_| Error::EigenvaluesNotFound { len })?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// F with F F' = the matrix up to n eps of its largest entry, and as many columns as its numerical rank.
///
/// Cholesky with pivoting: a matrix that is only semi-definite, or not quite, needs no jitter.
pub(crate) fn pivoted_factor(mut matrix: Mat<f64>) -> Result<Mat<f64>> {
    let len = matrix.nrows();
    let (mut order, mut inverse) = (vec![0usize; len], vec![0usize; len]);
    let scratch = pivoted::cholesky_in_place_scratch::<usize, f64>(len, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (info, _) = with_clean_registers(|| {
        pivoted::cholesky_in_place(matrix.as_mut(), &mut order, &mut inverse, Par::Seq, stack, Spec::default())
    })
    .map_err(|_| Error::NoFactor { len })?;
    Ok(Mat::from_fn(len, info.rank, |i, j| if j <= inverse[i] { matrix[(inverse[i], j)] } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pivoted_factor_rebuilds_singular_matrices() {
        let n = 60;
        let kernel = |i: usize, j: usize| (-0.5 * (i as f64 / 10.0 - j as f64 / 10.0).powi(2)).exp();
        let smooth = Mat::from_fn(n, n, kernel);
        let repeated = Mat::from_fn(n, n, |i, j| kernel(i / 3, j / 3));
        let outer = Mat::from_fn(n, n, |i, j| (i * j) as f64);
        for matrix in [smooth, repeated, outer] {
            let factor = pivoted_factor(matrix.clone()).unwrap();
            let largest = matrix.diagonal().column_vector().iter().copied().fold(0.0, f64::max);
            for i in 0..n {
                for j in 0..n {
                    let product: f64 = (0..factor.ncols()).map(|c| factor[(i, c)] * factor[(j, c)]).sum();
                    let error = (product - matrix[(i, j)]).abs();
                    assert!(error <= 4.0 * n as f64 * f64::EPSILON * largest, "{error} at {i}, {j}");
                }
            }
            assert!(factor.ncols() < n);
        }
    }

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        let matrix = Mat::from_fn(20, 20, |i, j| 1.0 / (1.0 + i as f64 + j as f64));
        let (values, vectors) = eigenvectors(matrix.as_ref()).unwrap();
        assert_eq!(values.len(), 20);
        for (one, other) in values.iter().zip(eigenvalues(matrix.as_ref()).unwrap()) {
            assert!((one - other).abs() <= 20.0 * f64::EPSILON * values[19]);
        }
        for i in 0..20 {
            for j in 0..20 {
                let sum: f64 = (0..20).map(|e| values[e] * vectors[(i, e)] * vectors[(j, e)]).sum();
                assert!((sum - matrix[(i, j)]).abs() <= 64.0 * 20.0 * f64::EPSILON * values[19]);
            }
        }
    }
}
