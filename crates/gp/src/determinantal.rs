//! Draws from a k-DPP: subsets of k items with probability proportional to det L_S (Kulesza and Taskar 2012, Algorithm 8).
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | L | | a positive semi-definite matrix, one row per item |
//! | lambda_i, v_i | eigenvalues, vectors | of L |
//! | e_j(i) | ln_sums | elementary symmetric polynomial of degree j of the first i eigenvalues, by its logarithm |
//!
//! Eigenvectors are drawn first: in all, k of them, the i-th with probability lambda_i e_(j-1)(i-1)/e_j(i) where j are still
//! wanted. Then items one by one, each with probability proportional to the squared length of its row in the span of the
//! vectors, which is reduced to the part that has no component at the item.

use faer::{Mat, MatRef};
use rand::{Rng, RngExt};

use crate::{Error, Result, dense, vector};

/// Distinct items in the order drawn: all of them where there are at most `count`. `matrix` is L, row-major.
///
/// ```
/// use manyhands_gp::draw_k_dpp;
/// use rand::SeedableRng;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// // The first two items are the same: det L_S is 0 for both of them together.
/// let matrix = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let drawn = draw_k_dpp(&matrix, 2, &mut rng)?;
/// assert!(drawn.contains(&2));
/// # Ok::<(), manyhands_gp::Error>(())
/// ```
#[doc(alias = "determinantal point process")]
pub fn draw_k_dpp(matrix: &[f64], count: usize, rng: &mut impl Rng) -> Result<Vec<usize>> {
    let len = matrix.len().isqrt();
    if matrix.len() != len * len {
        return Err(Error::WrongLength { what: "a square matrix", expected: len * len, found: matrix.len() });
    }
    let wanted = count.min(len);
    if wanted == 0 {
        return Ok(vec![]);
    }
    let (eigenvalues, vectors) = dense::eigenvectors(MatRef::from_row_major_slice(matrix, len, len))?;
    let logs: Vec<f64> = eigenvalues.iter().map(|value| value.max(0.0).ln()).collect();
    let span = draw_eigenvectors(&logs, wanted, rng);
    draw_items(Mat::from_fn(len, wanted, |i, j| vectors[(i, span[j])]), rng)
}

/// ln e_j(i) for all j up to `degree` (rows) and i up to the number of eigenvalues.
fn ln_sums(ln_eigenvalues: &[f64], degree: usize) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![f64::NEG_INFINITY; ln_eigenvalues.len() + 1]; degree + 1];
    sums[0].fill(0.0);
    for j in 1..=degree {
        for (i, ln_eigenvalue) in ln_eigenvalues.iter().enumerate() {
            sums[j][i + 1] = ln_of_sum(sums[j][i], ln_eigenvalue + sums[j - 1][i]);
        }
    }
    sums
}

/// ln(e^a + e^b).
fn ln_of_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The indices of `wanted` eigenvectors.
fn draw_eigenvectors(ln_eigenvalues: &[f64], wanted: usize, rng: &mut impl Rng) -> Vec<usize> {
    let sums = ln_sums(ln_eigenvalues, wanted);
    let (mut chosen, mut left) = (Vec::with_capacity(wanted), wanted);
    for i in (0..ln_eigenvalues.len()).rev() {
        if left == 0 {
            break;
        }
        // With as many left as are wanted all of them are taken: rounding must not lose one.
        let probability = (ln_eigenvalues[i] + sums[left - 1][i] - sums[left][i + 1]).exp();
        if left > i || rng.random::<f64>() < probability {
            chosen.push(i);
            left -= 1;
        }
    }
    chosen
}

/// As many items as the span has orthonormal vectors, its columns.
fn draw_items(mut span: Mat<f64>, rng: &mut impl Rng) -> Result<Vec<usize>> {
    let (len, count) = (span.nrows(), span.ncols());
    let mut items = Vec::with_capacity(count);
    for left in (1..=count).rev() {
        let mut weights: Vec<f64> = (0..len).map(|i| (0..left).map(|j| span[(i, j)].powi(2)).sum()).collect();
        // Rounding leaves something of an item that was drawn.
        items.iter().for_each(|&item: &usize| weights[item] = 0.0);
        let item = draw_weighted(&weights, rng).ok_or(Error::NoFactor { len })?;
        items.push(item);
        remove(&mut span, left, item);
    }
    Ok(items)
}

/// An index with probability proportional to its weight; none if all weights are 0.
fn draw_weighted(weights: &[f64], rng: &mut impl Rng) -> Option<usize> {
    let mut rest = rng.random::<f64>() * weights.iter().sum::<f64>();
    let found = weights.iter().position(|weight| {
        rest -= weight;
        *weight > 0.0 && rest < 0.0
    });
    // Where rounding has left a rest, the last one that can be drawn.
    found.or_else(|| weights.iter().rposition(|weight| *weight > 0.0))
}

/// Reduces the first `left` columns to an orthonormal basis, in the first `left - 1`, of their combinations that are 0 at `item`.
fn remove(span: &mut Mat<f64>, left: usize, item: usize) {
    // The column that is largest there is eliminated from the others.
    let size = |j: &usize| span[(item, *j)].abs();
    let largest = (0..left).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0);
    let removed = span.col_as_slice(largest).to_vec();
    let last = span.col_as_slice(left - 1).to_vec();
    span.col_as_slice_mut(largest).copy_from_slice(&last);
    for j in 0..left - 1 {
        let factor = span[(item, j)] / removed[item];
        subtract(span.col_as_slice_mut(j), factor, &removed);
    }
    // Gram and Schmidt, twice, which is enough for full precision (Giraud et al. 2005).
    for j in 0..left - 1 {
        for _ in 0..2 {
            for earlier in 0..j {
                let other = span.col_as_slice(earlier).to_vec();
                let shared = vector::dot(span.col_as_slice(j), &other);
                subtract(span.col_as_slice_mut(j), shared, &other);
            }
        }
        let length = vector::squares(span.col_as_slice(j)).sqrt();
        span.col_as_slice_mut(j).iter_mut().for_each(|value| *value /= length);
    }
}

fn subtract(from: &mut [f64], factor: f64, other: &[f64]) {
    from.iter_mut().zip(other).for_each(|(a, b)| *a -= factor * b);
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn kernel(n: usize, scale: f64) -> Vec<f64> {
        let entry = |i: usize, j: usize| {
            let apart = (i as f64 - j as f64) / 2.0;
            f64::from(i == j) + scale * (-0.5 * apart * apart).exp()
        };
        (0..n * n).map(|ij| entry(ij / n, ij % n)).collect()
    }

    fn determinant(matrix: &[f64], n: usize, items: &[usize]) -> f64 {
        Mat::from_fn(items.len(), items.len(), |i, j| matrix[items[i] * n + items[j]]).determinant()
    }

    #[test]
    fn elementary_symmetric_polynomials_are_those_by_hand() {
        let sums = ln_sums(&[2.0f64.ln(), 3.0f64.ln(), 5.0f64.ln()], 3);
        for (j, expected) in [(1, 10.0), (2, 31.0), (3, 30.0)] {
            assert!((sums[j][3].exp() / expected - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn subsets_come_as_often_as_their_determinants_say() {
        let (n, draws) = (6, 20_000);
        let matrix = kernel(n, 8.0);
        for count in [1, 2, 3] {
            let mut seen: HashMap<Vec<usize>, f64> = HashMap::new();
            let rng = &mut ChaCha8Rng::seed_from_u64(count as u64);
            for _ in 0..draws {
                let mut items = draw_k_dpp(&matrix, count, rng).unwrap();
                items.sort_unstable();
                *seen.entry(items).or_default() += 1.0;
            }
            let subsets: Vec<Vec<usize>> = (0u32..1 << n)
                .filter(|bits| bits.count_ones() as usize == count)
                .map(|bits| (0..n).filter(|i| bits >> i & 1 == 1).collect())
                .collect();
            let weights: Vec<f64> = subsets.iter().map(|items| determinant(&matrix, n, items)).collect();
            let total: f64 = weights.iter().sum();
            let deviation = |(items, weight): (&Vec<usize>, &f64)| {
                let expected = f64::from(draws) * weight / total;
                assert!(expected > 20.0, "{items:?}");
                (seen.get(items).copied().unwrap_or(0.0) - expected).powi(2) / expected
            };
            let chi_square: f64 = subsets.iter().zip(&weights).map(deviation).sum();
            // Above this with a probability below 1e-4, by the normal approximation of Wilson and Hilferty (3.72 sd).
            let freedom = (subsets.len() - 1) as f64;
            let limit = freedom * (1.0 - 2.0 / (9.0 * freedom) + 3.72 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
            assert!(chi_square < limit, "{count} of {n}: {chi_square} > {limit}");
        }
    }

    #[test]
    fn all_items_are_drawn_where_no_more_are_there_and_none_twice() {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        for (n, count) in [(1, 1), (4, 4), (4, 9), (40, 39), (40, 40)] {
            let mut items = draw_k_dpp(&kernel(n, 1e8), count, rng).unwrap();
            items.sort_unstable();
            items.dedup();
            assert_eq!(items.len(), count.min(n), "{count} of {n}");
        }
        assert_eq!(draw_k_dpp(&kernel(4, 1.0), 0, rng), Ok(vec![]));
        assert!(draw_k_dpp(&[1.0, 2.0], 1, rng).is_err());
    }
}
