//! The pool of workers: a free worker gets the next trial at once, and every result is recorded before anything else.
//!
//! One thread coordinates: it starts trials, records results, and decides when to ask. Another asks, since choosing may take
//! seconds and must not hold up a result. Each running trial has a thread that waits for its command.

mod asker;
mod first_failures;
mod report;
mod start;
mod watch;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use manyhands_core::study::StopReason;
use manyhands_core::{Error as Refusal, TrialState};
use manyhands_store::{Claimed, Error as StoreError, LeaseRenewer, Session};

use self::asker::{AskRequest, AskerHandle};
use self::first_failures::FirstFailures;
use self::start::WantedTrial;
use self::watch::Watch;
use crate::attempt::Outcome;
use crate::unreported::Unreported;
use crate::{Error, News, Plan, Result, StartReason, Stop, Summary};

/// How often to check whether a stop was requested.
const TICK: Duration = Duration::from_millis(100);

/// How long to wait before trying again when a store cannot be written.
const PAUSE: Duration = Duration::from_secs(1);

/// How many failures in a row, with no success before them, end a run; as many as there are workers, if those are more.
const FAILURES_TO_GIVE_UP: usize = 3;

/// Access to a run from other threads: to stop it, and to save what it has not reported.
#[derive(Debug, Clone)]
pub struct Control {
    /// The request to stop.
    pub stop: Stop,
    /// Outcomes that are not in the log yet.
    pub unreported: Unreported,
}

/// Runs trials until the study has as many as planned, or a stop is requested. Trials are chosen by another session of the
/// same study, on a thread that it never waits for.
pub fn run(session: Session, plan: Plan, control: &Control, notify: impl Fn(News)) -> Result<Summary> {
    let (plan, (messages, inbox)) = (Arc::new(plan), channel());
    let asker = AskerHandle::start(session.another_session(), plan.clone(), messages.clone())?;
    let watch = Watch::new(&session, plan.term);
    let trials = RunningTrials { running: vec![], wanted: VecDeque::new(), messages };
    let (first_failures, progress) = (FirstFailures::default(), RunProgress::default());
    let mut workers = WorkerPool { session, plan, control, notify, asker, trials, first_failures, watch, progress };
    let result = workers
        .report_left_over()
        .and_then(|()| workers.want_requested())
        .and_then(|()| workers.run_until_done(&inbox));
    workers.save_unreported(&result);
    result
}

fn retry_news(error: &StoreError) -> News {
    let hint = error.hint().map_or(String::new(), |hint| format!(" ({hint})"));
    News::Warning { what: format!("{error}; trying again{hint}") }
}

/// What threads send to the coordinator.
enum Message {
    Asked(std::result::Result<Vec<Claimed>, StoreError>),
    /// The study has enough trials; none was chosen.
    Enough(StopReason),
    Ended {
        trial: usize,
        outcome: Outcome,
        took: Duration,
    },
    /// The asker has ended.
    AskerPanicked(Error),
    News(News),
}

struct Running {
    claimed: Claimed,
    /// How it came to be started.
    reason: StartReason,
    /// The name of its report.
    origin: String,
    /// Which of the workers it has, from 0.
    slot: usize,
    /// Renews the lease while the trial runs.
    renewer: LeaseRenewer,
    /// Stops its command.
    called_off: Arc<AtomicBool>,
}

/// The trials that run here, and those that are to run here before any other.
struct RunningTrials {
    running: Vec<Running>,
    wanted: VecDeque<WantedTrial>,
    /// Where their threads send what became of them.
    messages: Sender<Message>,
}

/// How far the run is.
#[derive(Default)]
struct RunProgress {
    summary: Summary,
    /// Failures since the run began, or since the last success.
    failures_in_a_row: usize,
    /// Since when there has been nothing to run here, if that is so.
    idle_since: Option<Instant>,
    /// What ends the run, once the running trials have finished.
    error: Option<Error>,
    /// What was said of numbers that are not kept.
    not_kept: BTreeSet<String>,
    /// The stop that was announced last: whether one was requested, and whether it is urgent.
    announced: (bool, bool),
}

struct WorkerPool<'a, F> {
    session: Session,
    plan: Arc<Plan>,
    control: &'a Control,
    /// Takes the news of the run.
    notify: F,
    asker: AskerHandle,
    trials: RunningTrials,
    first_failures: FirstFailures,
    /// When to check what other processes do.
    watch: Watch,
    progress: RunProgress,
}

impl<F: Fn(News)> WorkerPool<'_, F> {
    fn run_until_done(&mut self, inbox: &Receiver<Message>) -> Result<Summary> {
        loop {
            let is_urgent = self.announce_stop();
            // An urgent stop leaves no time for the store, nor for a choice that is under way.
            if !is_urgent {
                self.judge_first_failures()?;
                self.stop_cancelled()?;
                self.assign_free_workers()?;
            }
            let is_asking = self.asker.is_asking && !is_urgent;
            if self.trials.running.is_empty() && !is_asking && self.is_over()? {
                break;
            }
            match inbox.recv_timeout(TICK) {
                Ok(message) => {
                    // The stop is announced before the trials that end because of it.
                    self.announce_stop();
                    self.handle_message(message)?;
                }
                // It cannot be disconnected: the pool itself holds a sender.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        self.settle_first_failures()?;
        match self.progress.error.take() {
            Some(error) => Err(error),
            None => {
                let is_done = self.is_complete() && self.session.ledger().pending() == 0;
                self.progress.summary.interrupted = self.stop().is_requested() && !is_done;
                Ok(self.progress.summary)
            }
        }
    }

    /// Announces a requested stop, once; whether it is urgent.
    fn announce_stop(&mut self) -> bool {
        let requested = (self.stop().is_requested(), self.stop().is_urgent());
        if requested != self.progress.announced {
            self.progress.announced = requested;
            (self.notify)(News::Stopping { running: self.trials.running.len(), urgent: requested.1 });
        }
        requested.1
    }

    /// Stops the commands of trials that have been cancelled, or given to another worker. Those that someone else has told
    /// or failed run to their end: their results are stored as late results.
    fn stop_cancelled(&mut self) -> Result<()> {
        // Before the log is read: the log then says whether a lease is gone because its trial has ended.
        let lost = |running: &Running| running.renewer.is_lost().then_some(running.claimed.trial);
        let lost: Vec<usize> = self.trials.running.iter().filter_map(lost).collect();
        if self.trials.running.is_empty() || !self.watch.is_time_for_cancellations(!lost.is_empty()) {
            return Ok(());
        }
        if self.with_retries(|session, _| session.sync())?.is_none() {
            return Ok(());
        }
        for Running { claimed, called_off, .. } in &self.trials.running {
            let is_off = match self.session.trial(claimed.trial)?.state() {
                TrialState::Cancelled => true,
                TrialState::Pending => lost.contains(&claimed.trial),
                _ => false,
            };
            called_off.fetch_or(is_off, Ordering::Relaxed);
        }
        Ok(())
    }

    fn stop(&self) -> &Stop {
        &self.control.stop
    }

    fn is_ending(&self) -> bool {
        self.stop().is_requested() || self.progress.error.is_some()
    }

    /// Whether a trial that comes now is left to others: the run ends, or its command seems not to work.
    fn starts_nothing(&self) -> bool {
        self.is_ending() || self.first_failures.is_mistake()
    }

    /// Gives every free worker a trial: one that was left behind, or a new one.
    fn assign_free_workers(&mut self) -> Result<()> {
        if self.starts_nothing() || self.asker.is_asking {
            return Ok(());
        }
        let mut free = self.free_workers();
        if free > 0 && self.watch.is_time_to_take_over() {
            free -= self.take_over(free)?;
        }
        free -= self.start_wanted(free)?;
        let is_batch_over = !self.plan.sync || self.trials.running.is_empty();
        if free == 0 || !is_batch_over || self.is_complete() {
            return Ok(());
        }
        let count = free.min(self.free_places());
        if count > 0 {
            let request = AskRequest { count, held_back: self.first_failures.len() };
            self.asker.ask(request, self.progress.summary.told);
        }
        Ok(())
    }

    fn free_workers(&self) -> usize {
        self.plan.settings.workers.saturating_sub(self.trials.running.len())
    }

    /// How many more trials may be asked for, as far as this process knows.
    fn free_places(&self) -> usize {
        let to_come =
            self.plan.settings.trials.map_or(usize::MAX, |trials| trials.saturating_sub(self.session.begun()));
        let places = match (self.session.spec().strategy().max_pending, self.session.most_pending()) {
            (Some(most), _) => most.saturating_sub(self.session.ledger().pending()),
            // The number of workers bounds what workers hold; trials asked for by hand take none of their places.
            (None, Some(workers)) => {
                workers.saturating_sub(self.trials.running.len() + self.watch.elsewhere(&self.session))
            }
            (None, None) => usize::MAX,
        };
        to_come.min(places)
    }

    /// Whether nothing more is to be asked for; what was asked for may still be pending.
    fn is_complete(&self) -> bool {
        let Summary { exhausted, enough, .. } = self.progress.summary;
        exhausted || enough.is_some() || self.plan.settings.trials.is_some_and(|trials| self.session.begun() >= trials)
    }

    /// Whether there is nothing left to do or to wait for, given that nothing runs here.
    fn is_over(&mut self) -> Result<bool> {
        if self.is_ending() {
            return Ok(true);
        }
        if !self.is_complete() && self.free_places() > 0 {
            return Ok(false);
        }
        if self.watch.is_time_to_look(&self.session) && self.take_over(1)? > 0 {
            return Ok(false);
        }
        if self.watch.has_seen_nobody() && self.is_complete() {
            return Ok(true);
        }
        // Trials elsewhere, or asked for by hand, may free a place at any time.
        let (pending, most) = (self.session.ledger().pending(), self.session.most_pending());
        if self.is_leaving(pending) {
            return Ok(true);
        }
        let (elsewhere, by_hand) = (self.watch.elsewhere(&self.session), self.watch.by_hand(&self.session));
        (self.notify)(News::Waiting { pending, elsewhere, by_hand, most });
        sleep(TICK);
        Ok(false)
    }

    /// Whether there has been nothing to run here for as long as the plan allows.
    fn is_leaving(&mut self, pending: usize) -> bool {
        let idle = self.progress.idle_since.get_or_insert_with(Instant::now).elapsed();
        self.progress.summary.idle = self.plan.leave_when_idle.is_some_and(|most| idle >= most);
        if self.progress.summary.idle {
            (self.notify)(News::Leaving { idle, pending });
        }
        self.progress.summary.idle
    }

    fn handle_message(&mut self, message: Message) -> Result<()> {
        match message {
            Message::News(News::NotKept { what, .. }) if self.progress.not_kept.contains(&what) => {}
            Message::News(news) => {
                if let News::NotKept { what, .. } = &news {
                    self.progress.not_kept.insert(what.clone());
                }
                (self.notify)(news);
            }
            Message::Asked(Ok(claims)) => {
                self.asker.is_asking = false;
                if claims.is_empty() && !self.is_ending() {
                    // Others got there first, or have left something behind: that is read before anything is asked for again.
                    self.take_over(self.free_workers())?;
                }
                for claimed in claims {
                    self.start(claimed, StartReason::New)?;
                }
            }
            Message::Asked(Err(error)) => self.handle_ask_error(error),
            // A value that came meanwhile may be the better point: it is asked for again.
            Message::Enough(_) if self.progress.summary.told > self.asker.told_before => self.asker.is_asking = false,
            Message::Enough(reason) => {
                self.asker.is_asking = false;
                self.progress.summary.enough = Some(reason);
                (self.notify)(News::Enough { reason, running: self.trials.running.len() });
            }
            Message::AskerPanicked(error) => {
                self.asker.is_asking = false;
                self.progress.error = Some(error);
            }
            Message::Ended { trial, outcome, took } => self.end(trial, outcome, took)?,
        }
        Ok(())
    }

    fn handle_ask_error(&mut self, error: StoreError) {
        self.asker.is_asking = false;
        match error {
            StoreError::Study(Refusal::PoolExhausted { left: 0, .. }) => self.progress.summary.exhausted = true,
            error if error.is_temporary() => {
                (self.notify)(retry_news(&error));
                sleep(PAUSE);
            }
            error => self.progress.error = Some(error.into()),
        }
    }

    /// Does something with the session, and retries while the store is unavailable or full; none if an urgent stop came
    /// first.
    fn with_retries<T>(
        &mut self,
        work: impl Fn(&mut Session, Duration) -> std::result::Result<T, StoreError>,
    ) -> Result<Option<T>> {
        loop {
            match work(&mut self.session, self.plan.term) {
                Ok(result) => return Ok(Some(result)),
                Err(error) if error.is_temporary() && !self.stop().is_urgent() => {
                    (self.notify)(retry_news(&error));
                    sleep(PAUSE);
                }
                Err(error) if error.is_temporary() => {
                    (self.notify)(News::Warning { what: error.to_string() });
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
