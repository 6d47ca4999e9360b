//! Reading the Cholesky factor once: the least that appending a row to it can cost.

use manyhands_gp::Factor;

const LANES: usize = 32;

/// The sum of all entries, in enough lanes to be limited by memory and not by the latency of additions.
pub fn sum_of_factor(factor: &Factor) -> f64 {
    let mut lanes = [0.0; LANES];
    let mut total = 0.0;
    for row in 0..factor.len() {
        let (blocks, rest) = factor.row(row).as_chunks::<LANES>();
        for block in blocks {
            for (lane, value) in lanes.iter_mut().zip(block) {
                *lane += value;
            }
        }
        total += rest.iter().sum::<f64>();
    }
    lanes.iter().sum::<f64>() + total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_read() {
        let mut factor = Factor::new();
        // Without covariances the factor is diagonal, with the entries 1, 2, ... 100.
        for i in 0..100 {
            factor.push(&vec![0.0; i], ((i + 1) * (i + 1)) as f64, 0.0);
        }
        assert_eq!(sum_of_factor(&factor), 5050.0);
    }
}
