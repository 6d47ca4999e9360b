//! The pool of workers: whoever is free gets the next trial at once, and every result is recorded before anything else.
//!
//! One thread coordinates: it starts trials, records results, and decides when to ask. Another asks, since choosing may take
//! seconds and must not hold up a result. Each running trial has a thread that waits for its command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use manyhands_core::{Error as Refusal, TrialState};
use manyhands_store::{Claimed, Error as StoreError, Keeper, Reported, Session};

use crate::attempt::{Job, Outcome};
use crate::{Error, News, Plan, Result, Standing, Stop, Summary};

/// How often to look whether a stop is wished.
const TICK: Duration = Duration::from_millis(50);

/// How often to look at what other workers do.
const LOOK: Duration = Duration::from_secs(1);

/// How long to wait before trying again when a store cannot be written.
const PAUSE: Duration = Duration::from_secs(1);

/// How many failures in a row, with no success before them, end a run (or as many as there are workers).
const HOPELESS: usize = 3;

/// Runs trials until the study has as many as it is to have, or a stop is wished. `session` and `asker` are two sessions of
/// the same study.
pub fn run(session: Session, asker: Session, plan: Plan, stop: &Stop, tell: impl Fn(News)) -> Result<Summary> {
    let (plan, (messages, inbox)) = (Arc::new(plan), channel());
    let (requests, wanted) = channel();
    let asking = ask_when_wanted(asker, plan.clone(), wanted, messages.clone());
    let running = Vec::new();
    let (asked, summary, streak) = (false, Summary::default(), 0);
    let (looked, checked, error) = (None, Instant::now(), None);
    let mut pool =
        Pool { session, plan, stop, tell, messages, requests, running, asked, summary, streak, looked, checked, error };
    let result = pool.work(&inbox);
    // The asker ends when nobody can want anything any more.
    drop(pool);
    match asking.map(|thread| thread.join()) {
        Ok(_) => result,
        Err(error) => Err(Error::CannotStart { program: "a thread".to_string(), reason: error.to_string() }),
    }
}

fn trouble(error: &StoreError) -> News {
    let hint = error.hint().map_or(String::new(), |hint| format!(" ({hint})"));
    News::Trouble { what: format!("{error}; trying again{hint}") }
}

/// What threads tell the coordinator.
enum Message {
    Asked(std::result::Result<Vec<Claimed>, StoreError>),
    Ended { trial: usize, outcome: Outcome, took: Duration },
    News(News),
}

/// Chooses trials on a thread of its own.
fn ask_when_wanted(
    mut asker: Session,
    plan: Arc<Plan>,
    wanted: Receiver<usize>,
    messages: Sender<Message>,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name("asker".to_string()).spawn(move || {
        for count in wanted {
            let asked = asker.ask_for_worker(count, plan.trials, plan.term);
            if messages.send(Message::Asked(asked)).is_err() {
                return;
            }
        }
    })
}

struct Running {
    claimed: Claimed,
    /// Renews the lease while the trial runs.
    keeper: Keeper,
    /// Stops its command.
    called_off: Arc<AtomicBool>,
}

struct Pool<'a, F> {
    session: Session,
    plan: Arc<Plan>,
    stop: &'a Stop,
    tell: F,
    messages: Sender<Message>,
    requests: Sender<usize>,
    running: Vec<Running>,
    /// Whether an ask is under way.
    asked: bool,
    summary: Summary,
    /// Failures since the run began, or since the last success.
    streak: usize,
    /// When other workers' trials were last looked at.
    looked: Option<Instant>,
    /// When it was last looked at whether running trials have been called off.
    checked: Instant,
    /// What ends the run, once what runs has finished.
    error: Option<Error>,
}

impl<F: Fn(News)> Pool<'_, F> {
    fn work(&mut self, inbox: &Receiver<Message>) -> Result<Summary> {
        let mut said = (false, false);
        loop {
            let wished = (self.stop.is_wished(), self.stop.is_urgent());
            if wished != said {
                said = wished;
                (self.tell)(News::Stopping { running: self.running.len(), urgent: wished.1 });
            }
            self.call_off()?;
            self.fill()?;
            if self.running.is_empty() && !self.asked && self.is_over()? {
                break;
            }
            match inbox.recv_timeout(TICK) {
                Ok(message) => self.hear(message)?,
                // The pool itself holds a sender.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => {
                let is_done = self.is_complete() && self.session.ledger().pending() == 0;
                self.summary.interrupted = self.stop.is_wished() && !is_done;
                Ok(self.summary)
            }
        }
    }

    /// Stops the commands of trials that have been called off. Looked at once in a while. Those that someone else has told or
    /// failed run to their end: their results are kept as evidence.
    fn call_off(&mut self) -> Result<()> {
        if self.running.is_empty() || self.checked.elapsed() < LOOK {
            return Ok(());
        }
        self.checked = Instant::now();
        self.patiently(|session, _| session.sync())?;
        let is_cancelled = |running: &&Running| {
            self.session.ledger().trial(running.claimed.trial).is_ok_and(|trial| trial.state == TrialState::Cancelled)
        };
        self.running.iter().filter(is_cancelled).for_each(|running| running.called_off.store(true, Ordering::Relaxed));
        Ok(())
    }

    fn is_ending(&self) -> bool {
        self.stop.is_wished() || self.error.is_some()
    }

    /// Gives every free worker a trial: one that was left behind, or a new one.
    fn fill(&mut self) -> Result<()> {
        if self.is_ending() || self.asked {
            return Ok(());
        }
        let mut free = self.plan.workers.saturating_sub(self.running.len());
        if free > 0 && self.is_time_to_look() {
            while free > 0
                && let Some(claimed) = self.take_over()?
            {
                self.start(claimed, true)?;
                free -= 1;
            }
        }
        let is_batch_over = !self.plan.sync || self.running.is_empty();
        if free == 0 || !is_batch_over || self.summary.exhausted {
            return Ok(());
        }
        let count = free.min(self.room());
        if count > 0 {
            // The asker lives as long as the pool.
            self.asked = self.requests.send(count).is_ok();
        }
        Ok(())
    }

    /// A trial that a worker elsewhere has left behind.
    fn take_over(&mut self) -> Result<Option<Claimed>> {
        let own: Vec<usize> = self.running.iter().map(|running| running.claimed.trial).collect();
        Ok(self.patiently(|session, term| session.take_over(term, &own))?.flatten())
    }

    /// How many more trials may be asked for, as far as is known here.
    fn room(&self) -> usize {
        let to_come = self.plan.trials.map_or(usize::MAX, |trials| trials.saturating_sub(self.session.begun()));
        let most = self.session.most_pending().unwrap_or(usize::MAX);
        to_come.min(most.saturating_sub(self.session.ledger().pending()))
    }

    /// Whether nothing more is to be asked for; what was asked for may still be pending.
    fn is_complete(&self) -> bool {
        self.summary.exhausted || self.plan.trials.is_some_and(|trials| self.session.begun() >= trials)
    }

    /// Others' trials are looked at once in a while; at first at once.
    fn is_time_to_look(&mut self) -> bool {
        let due = self.looked.is_none_or(|last| last.elapsed() >= LOOK.min(self.plan.term / 2));
        if due {
            self.looked = Some(Instant::now());
        }
        due
    }

    /// Whether there is nothing left to do or to wait for, with nothing running here.
    fn is_over(&mut self) -> Result<bool> {
        if self.is_ending() {
            return Ok(true);
        }
        if !self.is_complete() && self.room() > 0 {
            return Ok(false);
        }
        // Counted before what has been left behind is taken: a lease that lapses in between is in one or the other.
        let others = self.patiently(|session, _| session.held_by_others())?.unwrap_or(0);
        // A worker elsewhere may have died a moment ago.
        if let Some(claimed) = self.take_over()? {
            self.start(claimed, true)?;
            return Ok(false);
        }
        if others == 0 && self.is_complete() {
            return Ok(true);
        }
        // Trials elsewhere, or asked for by hand, may free a place at any time.
        let (pending, most) = (self.session.ledger().pending(), self.session.most_pending());
        (self.tell)(News::Waiting { pending, elsewhere: others.min(pending), most });
        sleep(TICK);
        Ok(false)
    }

    fn hear(&mut self, message: Message) -> Result<()> {
        match message {
            Message::News(news) => (self.tell)(news),
            Message::Asked(Ok(claims)) => {
                self.asked = false;
                for claimed in claims {
                    self.start(claimed, false)?;
                }
            }
            Message::Asked(Err(error)) => self.hear_refusal(error),
            Message::Ended { trial, outcome, took } => self.end(trial, outcome, took)?,
        }
        Ok(())
    }

    fn hear_refusal(&mut self, error: StoreError) {
        self.asked = false;
        match error {
            StoreError::Study(Refusal::PoolExhausted { left: 0, .. }) => self.summary.exhausted = true,
            error if error.is_passing() => {
                (self.tell)(trouble(&error));
                sleep(PAUSE);
            }
            error => self.error = Some(error.into()),
        }
    }

    fn start(&mut self, claimed: Claimed, taken_over: bool) -> Result<()> {
        self.patiently(|session, _| session.sync())?;
        let trial = claimed.trial;
        let params = self.session.params(trial)?;
        let params: Vec<_> = params.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        (self.tell)(News::Started { trial, params: params.clone(), taken_over });
        let called_off = Arc::new(AtomicBool::new(false));
        let job = Job { study: self.session.name().to_string(), trial, params, called_off: called_off.clone() };
        let (plan, stop, messages) = (self.plan.clone(), self.stop.clone(), self.messages.clone());
        let keeper = self.session.keep(&claimed, plan.term);
        let work = move || {
            let start = Instant::now();
            // The coordinator listens until everything has ended.
            let tell = |news| drop(messages.send(Message::News(news)));
            let outcome = job.run(&plan, &stop, &tell);
            let _ = messages.send(Message::Ended { trial, outcome, took: start.elapsed() });
        };
        match std::thread::Builder::new().name(format!("trial {trial}")).spawn(work) {
            Ok(_) => self.running.push(Running { claimed, keeper, called_off }),
            Err(error) => {
                drop(keeper);
                self.session.let_go(&claimed)?;
                self.error = Some(Error::CannotStart { program: "a thread".to_string(), reason: error.to_string() });
            }
        }
        Ok(())
    }

    fn end(&mut self, trial: usize, outcome: Outcome, took: Duration) -> Result<()> {
        let Some(place) = self.running.iter().position(|running| running.claimed.trial == trial) else { return Ok(()) };
        let Running { claimed, keeper, called_off } = self.running.remove(place);
        match outcome {
            Outcome::Value(value) => self.record(&claimed, Ok(value), took)?,
            Outcome::Failed(reason) => self.record(&claimed, Err(reason), took)?,
            Outcome::Stopped if called_off.load(Ordering::Relaxed) => (self.tell)(News::CalledOff { trial }),
            Outcome::Stopped => {
                drop(keeper);
                self.session.let_go(&claimed)?;
                (self.tell)(News::Stopped { trial });
            }
            Outcome::Impossible(error) => {
                drop(keeper);
                self.session.let_go(&claimed)?;
                self.error = Some(error);
            }
        }
        Ok(())
    }

    /// Puts a result into the log, however long that takes: it may have cost hours.
    fn record(&mut self, claimed: &Claimed, outcome: std::result::Result<f64, String>, took: Duration) -> Result<()> {
        let trial = claimed.trial;
        let reported = match self.patiently(|session, _| session.report(claimed, outcome.clone())) {
            Ok(Some(reported)) => reported,
            // Stopped while the store could not be written: the trial stays pending.
            Ok(None) => {
                (self.tell)(News::Stopped { trial });
                return Ok(());
            }
            // A number that the model cannot take.
            Err(Error::Session(StoreError::Study(refusal))) if outcome.is_ok() => {
                return self.record(claimed, Err(refusal.to_string()), took);
            }
            Err(error) => return Err(error),
        };
        match (reported, outcome) {
            (Reported::TooLate, _) => (self.tell)(News::TooLate { trial }),
            (Reported::Recorded, Ok(value)) => {
                self.summary.told += 1;
                self.streak = 0;
                let standing = Standing::of(&self.session);
                (self.tell)(News::Told { trial, value, took, standing });
            }
            (Reported::Recorded, Err(reason)) => {
                self.summary.failed += 1;
                self.streak += 1;
                let standing = Standing::of(&self.session);
                (self.tell)(News::Failed { trial, reason: reason.clone(), took, standing });
                let hopeless = self.summary.told == 0 && self.streak >= HOPELESS.max(self.plan.workers);
                if hopeless && !self.plan.keep_going {
                    let logs = self.plan.folder.join(&self.plan.settings.logs).join(self.session.name());
                    self.error = Some(Error::AllFail { failed: self.streak, reason, logs });
                }
            }
        }
        Ok(())
    }

    /// Does something with the session, again and again while the store is only away or full; none if an urgent stop came
    /// first.
    fn patiently<T>(
        &mut self,
        work: impl Fn(&mut Session, Duration) -> std::result::Result<T, StoreError>,
    ) -> Result<Option<T>> {
        loop {
            match work(&mut self.session, self.plan.term) {
                Ok(result) => return Ok(Some(result)),
                Err(error) if error.is_passing() && !self.stop.is_urgent() => {
                    (self.tell)(trouble(&error));
                    sleep(PAUSE);
                }
                Err(error) if error.is_passing() => {
                    (self.tell)(News::Trouble { what: error.to_string() });
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
