//! Inner products and triangular substitution, in one fixed order of operations.
//!
//! Everything a choice depends on goes through here. A product is summed in eight lanes, never fused, so its bits depend
//! neither on how many right-hand sides travel together nor on the width of the machine's vectors.

use pulp::Arch;

const LANES: usize = 8;

/// A lower triangular matrix in rows of a fixed stride.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub entries: &'a [f64],
    pub stride: usize,
}

impl Rows<'_> {
    #[inline(always)]
    fn row(&self, index: usize) -> &[f64] {
        &self.entries[index * self.stride..index * self.stride + index + 1]
    }
}

#[inline(always)]
fn sum(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

#[inline(always)]
fn dots<const N: usize>(a: &[f64], b: [&[f64]; N]) -> [f64; N] {
    let (blocks, rest) = a.as_chunks::<LANES>();
    let whole = blocks.len() * LANES;
    let columns = b.map(|column| column[..whole].as_chunks::<LANES>().0);
    let mut lanes = [[0.0; LANES]; N];
    for (i, block) in blocks.iter().enumerate() {
        for (lane, column) in lanes.iter_mut().zip(&columns) {
            let other = &column[i];
            for l in 0..LANES {
                lane[l] += block[l] * other[l];
            }
        }
    }
    let mut totals = lanes.map(sum);
    for (total, column) in totals.iter_mut().zip(&b) {
        for (x, y) in rest.iter().zip(&column[whole..]) {
            *total += x * y;
        }
    }
    totals
}

/// The inner product of two lists of equal length.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    Arch::new().dispatch(|| dots(a, [b])[0])
}

/// The sum of squares, added one after the other: a longer list only ever adds to it.
pub(crate) fn squares(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |total, v| total + v * v)
}

/// The 2-norm.
pub(crate) fn norm(values: &[f64]) -> f64 {
    squares(values).sqrt()
}

#[inline(always)]
fn forward<const N: usize>(rows: Rows<'_>, start: usize, columns: &mut [&mut [f64]; N]) {
    for i in start..columns[0].len() {
        let (pivot, row) = match rows.row(i).split_last() {
            Some(split) => split,
            None => return,
        };
        let explained = dots(row, columns.each_ref().map(|column| &column[..i]));
        for (column, explained) in columns.iter_mut().zip(explained) {
            column[i] = (column[i] - explained) / pivot;
        }
    }
}

/// Solves `L v = b` in place for entries `start..b.len()` of `b`; those before hold the solution already.
pub(crate) fn solve_lower(rows: Rows<'_>, start: usize, b: &mut [f64]) {
    Arch::new().dispatch(|| forward(rows, start, &mut [b]));
}

/// [`solve_lower`] for several right-hand sides of one length, each with the bits it would have alone.
pub(crate) fn solve_lower_many(rows: Rows<'_>, start: usize, columns: &mut [&mut [f64]]) {
    Arch::new().dispatch(|| {
        let (fours, rest) = columns.as_chunks_mut::<4>();
        for four in fours {
            forward(rows, start, &mut four.each_mut().map(|column| &mut **column));
        }
        for column in rest {
            forward(rows, start, &mut [column]);
        }
    });
}

/// Solves `L' u = b` in place, for the leading block of `b`'s length.
pub(crate) fn solve_upper(rows: Rows<'_>, b: &mut [f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for i in (0..b.len()).rev() {
                let (above, current) = b.split_at_mut(i);
                let row = rows.row(i);
                current[0] /= row[i];
                let factor = current[0];
                for (value, entry) in above.iter_mut().zip(row) {
                    *value -= factor * entry;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_product_has_the_same_bits_alone_and_in_company() {
        for n in [0, 1, 7, 8, 9, 31, 100] {
            let a: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
            let bs: Vec<Vec<f64>> = (0..4).map(|k| (0..n).map(|i| ((i * (k + 2)) as f64).cos()).collect()).collect();
            let together = dots(&a, [&bs[0], &bs[1], &bs[2], &bs[3]]);
            for k in 0..4 {
                assert_eq!(together[k].to_bits(), dot(&a, &bs[k]).to_bits());
                let plain: f64 = a.iter().zip(&bs[k]).map(|(x, y)| x * y).sum();
                assert!((together[k] - plain).abs() <= n as f64 * f64::EPSILON * n as f64);
            }
        }
    }
}
