//! Choosing trials on a thread of its own: it may take minutes, and nobody has to wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender, channel};

use manyhands_store::Session;

use super::Message;
use crate::{Error, Plan, Result};

/// Chooses as many trials as it is sent, and answers. It ends by itself when nobody can want anything any more; what it
/// has chosen when nobody listens any more is released for others.
pub(super) fn ask_when_wanted(mut asker: Session, plan: Arc<Plan>, messages: Sender<Message>) -> Result<Sender<usize>> {
    let (requests, wanted) = channel();
    let work = move || {
        for count in wanted {
            let ask = || asker.ask_for_worker(count, plan.trials, plan.term);
            let message = match catch_unwind(AssertUnwindSafe(ask)) {
                Ok(asked) => Message::Asked(asked),
                // Its session is not to be used any more.
                Err(panic) => {
                    let _ = messages.send(Message::Broken(internal("choosing trials", panic.as_ref())));
                    return;
                }
            };
            if let Err(SendError(Message::Asked(Ok(claims)))) = messages.send(message) {
                // Nobody is left to be told of a failure; the leases lapse by themselves.
                claims.iter().for_each(|claimed| drop(asker.release(claimed)));
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("asker".to_string()).spawn(work);
    let cannot = |error: std::io::Error| Error::CannotStart { program: "a thread".into(), reason: error.to_string() };
    thread.map(|_| requests).map_err(cannot)
}

/// A panic as an error.
pub(super) fn internal(doing: &str, panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let what = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_string());
    Error::Internal { doing: doing.to_string(), what }
}
