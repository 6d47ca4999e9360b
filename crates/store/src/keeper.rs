//! Keeps a lease from lapsing while its holder works: a thread that renews it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::store::{Fence, Store, StudyId};

/// Renews a lease until it is dropped.
#[derive(Debug)]
pub struct Keeper {
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    is_lost: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Renews this lease at every third of its term.
    pub fn start(store: Arc<dyn Store>, study: StudyId, fence: Fence<'_>, term: Duration) -> Self {
        let (resource, token) = (fence.resource.to_string(), fence.token);
        let ((stop, stopped), is_lost) = (channel::<()>(), Arc::new(AtomicBool::new(false)));
        let lost = is_lost.clone();
        let renew = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(term / 3) {
                // A store that does not answer now may answer at the next third; until then the lease stands or lapses.
                if let Ok(false) = store.renew(study, Fence { resource: &resource, token }, term) {
                    lost.store(true, Ordering::Relaxed);
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("lease".to_string()).spawn(renew).ok();
        Self { stop: Some(stop), is_lost, thread }
    }

    /// Whether the lease is gone: its trial has ended, or someone else was given it.
    pub fn has_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It ends by itself; a panic there has nothing to tell here.
            let _ = thread.join();
        }
    }
}
