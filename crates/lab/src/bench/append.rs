//! Appending one point against streaming the factor once.

use manyhands_gp::{Factor, Key, Posterior, Prior};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::cost::timed_wall;
use super::report::{Limit, Measurement, Unit};
use super::{Setup, black_box};
use crate::Result;
use crate::statistics::median;

/// Appended points that are timed.
const REPEATS: usize = 40;
const ROWS: usize = 2000;
const LANES: usize = 32;

/// Times appends and streams in turn, so that both find the caches in the same state.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let task = setup.monitor.begin("append", REPEATS);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut posterior = Posterior::new(Prior::new(black_box::kernel()?, 0.0, black_box::NOISE)?, 2)?;
    let mut append = |posterior: &mut Posterior, row: usize| {
        let point = [rng.random::<f64>(), rng.random::<f64>()];
        // Rows enter the factor when it is read, so the read belongs to the append.
        timed_wall(|| {
            posterior.hallucinate(Key { id: row as u64, site: row }, &point).map(|()| posterior.factor().len())
        })
    };
    for row in 0..ROWS {
        append(&mut posterior, row).0?;
    }
    let (mut appends, mut streams) = (Vec::new(), Vec::new());
    for repeat in 0..=REPEATS {
        let (result, appended) = append(&mut posterior, ROWS);
        result?;
        posterior.truncate(ROWS);
        let streamed = timed_wall(|| std::hint::black_box(stream(std::hint::black_box(posterior.factor())))).1;
        // The first append may reallocate the factor; later ones do not.
        if repeat > 0 {
            appends.push(appended);
            streams.push(streamed);
            task.advance(1);
        }
    }
    let row =
        Measurement::new("append", format!("append one point, n = {ROWS}"), Unit::Seconds, Some(median(&appends)));
    Ok(vec![row.against("read the factor once", Some(median(&streams))).limited(Limit::RatioAtMost(2.5))])
}

/// The sum of all entries, in enough lanes to be limited by memory and not by the latency of additions.
fn stream(factor: &Factor) -> f64 {
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
    fn the_stream_reads_every_entry() {
        let mut factor = Factor::new();
        // Without covariances the factor is diagonal, with the entries 1, 2, ... 100.
        for i in 0..100 {
            factor.push(&vec![0.0; i], ((i + 1) * (i + 1)) as f64, 0.0);
        }
        assert_eq!(stream(&factor), 5050.0);
    }
}
