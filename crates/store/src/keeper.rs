//! Keeps a lease from lapsing while its holder works: a thread that renews it.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::store::{Fence, Store, StudyId};

/// Renews a lease until it is dropped.
#[derive(Debug)]
pub struct Keeper {
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Renews this lease at every third of its term.
    pub fn start(store: Arc<dyn Store>, study: StudyId, fence: Fence<'_>, term: Duration) -> Self {
        let (resource, token) = (fence.resource.to_string(), fence.token);
        let (stop, stopped) = channel::<()>();
        let renew = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(term / 3) {
                // A store that does not answer now may answer at the next third; until then the lease stands or lapses.
                if let Ok(false) = store.renew(study, Fence { resource: &resource, token }, term) {
                    // A newer one was granted: whatever the holder does now comes too late.
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("lease".to_string()).spawn(renew).ok();
        Self { stop: Some(stop), thread }
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
