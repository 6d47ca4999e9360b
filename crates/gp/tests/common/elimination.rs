//! Dense systems by Gaussian elimination with partial pivoting: an oracle that shares nothing with the library.
#![allow(dead_code)]

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Solves `matrix x = b` for every b, and gives ln |det matrix|.
pub fn solve(mut matrix: Vec<Vec<f64>>, mut sides: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let n = matrix.len();
    let mut log_det = 0.0;
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| matrix[i][column].abs().total_cmp(&matrix[j][column].abs())).unwrap();
        matrix.swap(column, pivot);
        sides.iter_mut().for_each(|b| b.swap(column, pivot));
        log_det += matrix[column][column].abs().ln();
        let (above, below) = matrix.split_at_mut(column + 1);
        let top = &above[column];
        for (i, row) in below.iter_mut().enumerate() {
            let factor = row[column] / top[column];
            row[column..].iter_mut().zip(&top[column..]).for_each(|(r, t)| *r -= factor * t);
            sides.iter_mut().for_each(|b| b[column + 1 + i] -= factor * b[column]);
        }
    }
    for b in &mut sides {
        for i in (0..n).rev() {
            let known = dot(&matrix[i][i + 1..], &b[i + 1..]);
            b[i] = (b[i] - known) / matrix[i][i];
        }
    }
    (sides, log_det)
}
