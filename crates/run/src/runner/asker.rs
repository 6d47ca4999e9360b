//! Choosing trials on a thread of its own: it may take minutes, and results must not wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender, channel};

use manyhands_core::study::{StopReason, StopRule};
use manyhands_store::Session;

use super::Message;
use crate::{Error, Plan, Result};

/// What the thread is asked for.
pub(super) struct AskRequest {
    /// How many trials.
    pub count: usize,
    /// How many trials this process holds and does not run: they take no worker's place.
    pub held_back: usize,
}

/// A thread that chooses as many trials as it is asked for, unless the study has enough.
pub(super) struct AskerHandle {
    requests: Sender<AskRequest>,
    /// Whether an ask is under way.
    pub is_asking: bool,
    /// How many values this run had recorded when it began.
    pub told_before: usize,
}

impl AskerHandle {
    /// Starts the thread. It ends by itself when its requests can no longer come; trials that it has chosen when nobody
    /// receives them any more are released for others.
    pub fn start(mut session: Session, plan: Arc<Plan>, messages: Sender<Message>) -> Result<Self> {
        let (requests, wanted) = channel::<AskRequest>();
        let workers = session.workers();
        let work = move || {
            for AskRequest { count, held_back } in wanted {
                session.set_workers(workers.map(|workers| workers + held_back));
                let ask = || match stop_reason(&mut session, &plan) {
                    Ok(Some(reason)) => Message::Enough(reason),
                    Ok(None) => Message::Asked(session.ask_for_worker(count, plan.settings.trials, plan.term)),
                    Err(error) => Message::Asked(Err(error)),
                };
                let message = match catch_unwind(AssertUnwindSafe(ask)) {
                    Ok(message) => message,
                    // A panic may have left its session inconsistent.
                    Err(panic) => {
                        let _ = messages.send(Message::AskerPanicked(panic_error("choosing trials", panic.as_ref())));
                        return;
                    }
                };
                if let Err(SendError(Message::Asked(Ok(claims)))) = messages.send(message) {
                    // A release that fails is not reported: the leases lapse by themselves.
                    claims.iter().for_each(|claimed| drop(session.release(claimed)));
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("asker".to_string()).spawn(work);
        thread.map(|_| Self { requests, is_asking: false, told_before: 0 }).map_err(Error::no_thread("chooses trials"))
    }

    /// Asks for trials, when the run has recorded so many values.
    pub fn ask(&mut self, request: AskRequest, told: usize) {
        self.told_before = told;
        // The thread receives until this handle is dropped, unless it has panicked, which it reports itself.
        self.is_asking = self.requests.send(request).is_ok();
    }
}

/// Why the study has enough trials, if it has.
fn stop_reason(session: &mut Session, plan: &Plan) -> manyhands_store::Result<Option<StopReason>> {
    match plan.settings.stop {
        never if never == StopRule::default() => Ok(None),
        rule => Ok(session.study()?.stop_reason(&rule)?),
    }
}

/// A panic as an error.
pub(super) fn panic_error(doing: &str, panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let what = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_string());
    Error::Internal { doing: doing.to_string(), what }
}
