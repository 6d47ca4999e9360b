//! Appending one point against streaming the factor once.

use manyhands_gp::{Key, Posterior, Prior};
use manyhands_rooflines::sum_of_factor;
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
        let streamed = timed_wall(|| std::hint::black_box(sum_of_factor(std::hint::black_box(posterior.factor())))).1;
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
