//! Inner products and triangular substitution, in one fixed order of operations.
//!
//! Everything a choice depends on goes through here. A product is summed in eight lanes, never fused, so its bits depend
//! neither on how many right-hand sides are processed together nor on the width of the machine's vectors.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

pub(crate) const LANES: usize = 8;
/// Rows of a factor that many columns are solved for together, and the part of their length that is read for all of them
/// before the next: both stay in the cache. The first is a multiple of [`LANES`].
const PANEL: usize = 16;
const REACH: usize = 512;

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

/// Adds the products of the whole blocks of `a` with those of each of `b` to their lanes.
#[inline(always)]
fn accumulate<const N: usize>(a: &[f64], b: [&[f64]; N], lanes: &mut [[f64; LANES]; N]) {
    let blocks = a.as_chunks::<LANES>().0;
    let mut others: [&[[f64; LANES]]; N] = [&[]; N];
    for n in 0..N {
        others[n] = &b[n].as_chunks::<LANES>().0[..blocks.len()];
    }
    // Two at a time, by name: sums that are indexed by a variable would not stay in registers.
    let mut n = 0;
    while n + 1 < N {
        let (mut first, mut second) = (lanes[n], lanes[n + 1]);
        for ((block, x), y) in blocks.iter().zip(others[n]).zip(others[n + 1]) {
            add_products(&mut first, block, x);
            add_products(&mut second, block, y);
        }
        (lanes[n], lanes[n + 1]) = (first, second);
        n += 2;
    }
    if n < N {
        let mut last = lanes[n];
        for (block, x) in blocks.iter().zip(others[n]) {
            add_products(&mut last, block, x);
        }
        lanes[n] = last;
    }
}

#[inline(always)]
fn add_products(sums: &mut [f64; LANES], a: &[f64; LANES], b: &[f64; LANES]) {
    for l in 0..LANES {
        sums[l] += a[l] * b[l];
    }
}

/// The inner products whose whole blocks are in the lanes already, and the rest here.
#[inline(always)]
fn totals<const N: usize>(lanes: &[[f64; LANES]; N], rest: &[f64], others: [&[f64]; N]) -> [f64; N] {
    let mut totals = [0.0; N];
    for n in 0..N {
        totals[n] = sum(lanes[n]);
        for (x, y) in rest.iter().zip(others[n]) {
            totals[n] += x * y;
        }
    }
    totals
}

#[inline(always)]
fn dots<const N: usize>(a: &[f64], b: [&[f64]; N]) -> [f64; N] {
    let whole = a.len() / LANES * LANES;
    let mut lanes = [[0.0; LANES]; N];
    accumulate(a, b, &mut lanes);
    let mut others: [&[f64]; N] = [&[]; N];
    for n in 0..N {
        others[n] = &b[n][whole..];
    }
    totals(&lanes, &a[whole..], others)
}

#[inline(always)]
fn forward<const N: usize>(rows: Rows<'_>, start: usize, columns: &mut [&mut [f64]; N]) {
    for i in start..columns[0].len() {
        let row = rows.row(i);
        let mut solved: [&[f64]; N] = [&[]; N];
        for n in 0..N {
            solved[n] = &columns[n][..i];
        }
        let explained = dots(&row[..i], solved);
        for n in 0..N {
            columns[n][i] = (columns[n][i] - explained[n]) / row[i];
        }
    }
}

/// The lanes of a panel's rows with N columns.
type Lanes<const N: usize> = [[[f64; LANES]; N]; PANEL];

/// Adds the part `reach` of the inner products of the panel's rows with some columns.
#[inline(always)]
fn reach<const N: usize>(
    rows: Rows<'_>,
    panel: Range<usize>,
    reach: Range<usize>,
    columns: &[&mut [f64]; N],
    lanes: &mut Lanes<N>,
) {
    let mut parts: [&[f64]; N] = [&[]; N];
    for n in 0..N {
        parts[n] = &columns[n][reach.start..reach.end];
    }
    for (lanes, i) in lanes.iter_mut().zip(panel) {
        accumulate(&rows.row(i)[reach.start..reach.end], parts, lanes);
    }
}

/// Solves the panel's entries of some columns, the products with what lies before `base` being in the lanes.
#[inline(always)]
fn finish<const N: usize>(
    rows: Rows<'_>,
    panel: Range<usize>,
    base: usize,
    columns: &mut [&mut [f64]; N],
    lanes: &mut Lanes<N>,
) {
    for (lanes, i) in lanes.iter_mut().zip(panel) {
        let (row, whole) = (rows.row(i), base + (i - base) / LANES * LANES);
        let (mut blocks, mut rest): ([&[f64]; N], [&[f64]; N]) = ([&[]; N], [&[]; N]);
        for n in 0..N {
            (blocks[n], rest[n]) = (&columns[n][base..whole], &columns[n][whole..i]);
        }
        accumulate(&row[base..whole], blocks, lanes);
        let explained = totals(lanes, &row[whole..i], rest);
        for n in 0..N {
            columns[n][i] = (columns[n][i] - explained[n]) / row[i];
        }
    }
}

/// [`forward`] for many columns: the factor is read once for all of them.
#[inline(always)]
fn forward_in_panels(rows: Rows<'_>, start: usize, columns: &mut [&mut [f64]]) {
    let len = columns.first().map_or(0, |column| column.len());
    let (fours, rest) = columns.as_chunks_mut::<4>();
    let mut by_four: Vec<Lanes<4>> = vec![[[[0.0; LANES]; 4]; PANEL]; fours.len()];
    let mut by_one: Vec<Lanes<1>> = vec![[[[0.0; LANES]; 1]; PANEL]; rest.len()];
    let mut from = start;
    while from < len {
        let base = from / PANEL * PANEL;
        let panel = from..(base + PANEL).min(len);
        by_four.iter_mut().for_each(|lanes| *lanes = [[[0.0; LANES]; 4]; PANEL]);
        by_one.iter_mut().for_each(|lanes| *lanes = [[[0.0; LANES]; 1]; PANEL]);
        for part in (0..base).step_by(REACH) {
            let part = part..(part + REACH).min(base);
            for (four, lanes) in fours.iter().zip(&mut by_four) {
                reach(rows, panel.clone(), part.clone(), four, lanes);
            }
            for (one, lanes) in rest.as_chunks::<1>().0.iter().zip(&mut by_one) {
                reach(rows, panel.clone(), part.clone(), one, lanes);
            }
        }
        for (four, lanes) in fours.iter_mut().zip(&mut by_four) {
            finish(rows, panel.clone(), base, four, lanes);
        }
        for (one, lanes) in rest.as_chunks_mut::<1>().0.iter_mut().zip(&mut by_one) {
            finish(rows, panel.clone(), base, one, lanes);
        }
        from = panel.end;
    }
}

/// The inner product of two lists of equal length.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    Arch::new().dispatch(Dot(a, b))
}

/// The sum of squares, added one after the other: a longer list only ever adds to it.
pub(crate) fn squares(values: &[f64]) -> f64 {
    add_squares(0.0, values)
}

/// The sum of squares of a list whose first part has the sum `total`.
pub(crate) fn add_squares(total: f64, values: &[f64]) -> f64 {
    values.iter().fold(total, |total, v| total + v * v)
}

/// The 2-norm.
pub(crate) fn norm(values: &[f64]) -> f64 {
    squares(values).sqrt()
}

/// Adds ((x - y_i) scale)^2 to every total.
pub(crate) fn add_squared_differences(x: f64, scale: f64, ys: &[f64], totals: &mut [f64]) {
    Arch::new().dispatch(SquaredDifferences { x, scale, ys, totals });
}

/// The sums of w_i (x - y_i) for each of two lists of weights.
pub(crate) fn weighted_differences(x: f64, ys: &[f64], weights: [&[f64]; 2]) -> [f64; 2] {
    Arch::new().dispatch(WeightedDifferences { x, ys, weights })
}

/// The sum of w_i (x - y_i)^2.
pub(crate) fn weighted_squares(x: f64, ys: &[f64], weights: &[f64]) -> f64 {
    Arch::new().dispatch(WeightedSquares { x, ys, weights })
}

/// Solves `L v = b` in place for entries `start..b.len()` of `b`; those before hold the solution already.
pub(crate) fn solve_lower(rows: Rows<'_>, start: usize, b: &mut [f64]) {
    Arch::new().dispatch(Forward { rows, start, columns: &mut [b] });
}

/// [`solve_lower`] for several right-hand sides of one length, each with the bits it would have alone.
pub(crate) fn solve_lower_many(rows: Rows<'_>, start: usize, columns: &mut [&mut [f64]]) {
    Arch::new().dispatch(Forward { rows, start, columns });
}

/// Solves `L' u = b` in place, for the leading block of `b`'s length.
pub(crate) fn solve_upper(rows: Rows<'_>, b: &mut [f64]) {
    Arch::new().dispatch(Backward(rows, b));
}

// The work itself: the body of each `with_simd` is compiled once for every kind of vector unit.

struct Dot<'a>(&'a [f64], &'a [f64]);

impl WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        dots(self.0, [self.1])[0]
    }
}

struct SquaredDifferences<'a> {
    x: f64,
    scale: f64,
    ys: &'a [f64],
    totals: &'a mut [f64],
}

impl WithSimd for SquaredDifferences<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (total, y) in self.totals.iter_mut().zip(self.ys) {
            let difference = (self.x - y) * self.scale;
            *total += difference * difference;
        }
    }
}

/// The sum of `term(y, w)` over two lists of equal length, in eight lanes.
#[inline(always)]
fn summed(ys: &[f64], weights: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let ((ys, rest), (weights, rest_weights)) = (ys.as_chunks::<LANES>(), weights.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (y, w) in ys.iter().zip(weights) {
        for l in 0..LANES {
            lanes[l] += term(y[l], w[l]);
        }
    }
    rest.iter().zip(rest_weights).fold(sum(lanes), |total, (y, w)| total + term(*y, *w))
}

struct WeightedDifferences<'a> {
    x: f64,
    ys: &'a [f64],
    weights: [&'a [f64]; 2],
}

impl WithSimd for WeightedDifferences<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 2] {
        let Self { x, ys, weights: [first, second] } = self;
        [summed(ys, first, |y, w| w * (x - y)), summed(ys, second, |y, w| w * (x - y))]
    }
}

struct WeightedSquares<'a> {
    x: f64,
    ys: &'a [f64],
    weights: &'a [f64],
}

impl WithSimd for WeightedSquares<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { x, ys, weights } = self;
        summed(ys, weights, |y, w| w * ((x - y) * (x - y)))
    }
}

struct Forward<'a, 'b> {
    rows: Rows<'a>,
    start: usize,
    columns: &'a mut [&'b mut [f64]],
}

impl WithSimd for Forward<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if self.columns.len() > 4 {
            return forward_in_panels(self.rows, self.start, self.columns);
        }
        let (fours, rest) = self.columns.as_chunks_mut::<4>();
        for [a, b, c, d] in fours {
            forward(self.rows, self.start, &mut [a, b, c, d]);
        }
        for column in rest {
            forward(self.rows, self.start, &mut [column]);
        }
    }
}

struct Backward<'a>(Rows<'a>, &'a mut [f64]);

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(rows, b) = self;
        for i in (0..b.len()).rev() {
            let (above, current) = b.split_at_mut(i);
            let row = rows.row(i);
            current[0] /= row[i];
            let factor = current[0];
            for (value, entry) in above.iter_mut().zip(row) {
                *value -= factor * entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_product_has_the_same_bits_alone_and_among_others() {
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
