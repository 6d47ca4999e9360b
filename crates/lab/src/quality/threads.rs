//! Runs on several threads, each run on one: what an optimizer computes in parallel stays on the thread of its run, so
//! that the thread's processor time is the run's.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::ThreadPoolBuilder;

use crate::{Error, Result};

/// The results of `work` on every task, in the tasks' order, on so many threads. After a failure no further task begins.
pub fn on_threads<Task: Sync, Done: Send>(
    threads: usize,
    tasks: &[Task],
    work: impl Fn(&Task) -> Result<Done> + Sync,
) -> Result<Vec<Done>> {
    let (next, failed, done) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(Vec::new()));
    let worker = || {
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(i) else { return };
            let result = work(task);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((i, result));
        }
    };
    let refuse = |error: rayon::ThreadPoolBuildError| Error::Threads { threads, reason: error.to_string() };
    let pools = (0..threads.clamp(1, tasks.len().max(1))).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
    let pools = pools.collect::<std::result::Result<Vec<_>, _>>().map_err(refuse)?;
    std::thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| pool.install(worker));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}
