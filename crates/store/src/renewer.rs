//! Renews a lease on a thread of its own while its holder works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::backend::Backend;
use crate::lease::Fence;
use crate::store::StudyId;
use crate::{Error, Result};

/// Renews a lease until it is dropped: [`Session::renew_until_dropped`](crate::Session::renew_until_dropped).
#[derive(Debug)]
pub struct LeaseRenewer {
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    is_lost: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LeaseRenewer {
    /// Renews this lease at every third of its term.
    pub(crate) fn start(store: Arc<dyn Backend>, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<Self> {
        let (resource, token) = (fence.resource.to_string(), fence.token);
        let ((stop, stopped), is_lost) = (channel::<()>(), Arc::new(AtomicBool::new(false)));
        let lost = is_lost.clone();
        let renew = move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(term / 3) {
                // A store that does not answer now may answer next time; at worst the lease lapses.
                if let Ok(false) = store.renew(study, Fence { resource: &resource, token }, term) {
                    lost.store(true, Ordering::Relaxed);
                    return;
                }
            }
        };
        let no_thread = |error: std::io::Error| Error::NoThread { task: "renews a lease", reason: error.to_string() };
        let thread = std::thread::Builder::new().name("lease".to_string()).spawn(renew).map_err(no_thread)?;
        Ok(Self { stop: Some(stop), is_lost, thread: Some(thread) })
    }

    /// Whether the lease is gone: its trial has ended, or someone else was given it.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }
}

impl Drop for LeaseRenewer {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // The thread ends by itself; its panic would not concern the holder.
            let _ = thread.join();
        }
    }
}
