//! The pool of workers: whoever is free gets the next trial at once, and every result is recorded before anything else.
//!
//! One thread coordinates: it starts trials, records results, and decides when to ask. Another asks, since choosing may take
//! seconds and must not hold up a result. Each running trial has a thread that waits for its command.

mod asker;
mod report;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use manyhands_core::{Error as Refusal, TrialState};
use manyhands_store::{Claimed, Error as StoreError, Keeper, Session, Survey};

use self::asker::{ask_when_wanted, internal};
use self::watch::Watch;
use crate::attempt::{Job, Outcome};
use crate::unreported::{Finished, Unreported};
use crate::{Before, Error, News, Plan, Result, Stop, Summary};

/// How often to look whether a stop is wished.
const TICK: Duration = Duration::from_millis(100);

/// How long to wait before trying again when a store cannot be written.
const PAUSE: Duration = Duration::from_secs(1);

/// How many failures in a row, with no success before them, end a run (or as many as there are workers).
const HOPELESS: usize = 3;

/// What others may need of a run while it goes: to stop it, and to save what it has not reported.
#[derive(Debug, Clone)]
pub struct Control {
    /// The wish to stop.
    pub stop: Stop,
    /// Outcomes that are not in the log yet.
    pub unreported: Unreported,
}

/// Runs trials until the study has as many as it is to have, or a stop is wished. `session` and `asker` are two sessions of
/// the same study. It never waits for the asker: that ends by itself.
pub fn run(session: Session, asker: Session, plan: Plan, control: &Control, tell: impl Fn(News)) -> Result<Summary> {
    let (plan, (messages, inbox)) = (Arc::new(plan), channel());
    let requests = ask_when_wanted(asker, plan.clone(), messages.clone())?;
    let (running, asked, summary, streak) = (Vec::new(), false, Summary::default(), 0);
    let (watch, idle, error, announced) = (Watch::new(&session, plan.term), None, None, (false, false));
    let mut pool = Pool {
        session,
        plan,
        control,
        tell,
        messages,
        requests,
        running,
        asked,
        summary,
        streak,
        watch,
        idle,
        error,
        announced,
    };
    let result = pool.report_left_over().and_then(|()| pool.take_away()).and_then(|()| pool.work(&inbox));
    pool.save_unreported(&result);
    result
}

fn trouble(error: &StoreError) -> News {
    let hint = error.hint().map_or(String::new(), |hint| format!(" ({hint})"));
    News::Trouble { what: format!("{error}; trying again{hint}") }
}

/// What threads tell the coordinator.
enum Message {
    Asked(std::result::Result<Vec<Claimed>, StoreError>),
    Ended {
        trial: usize,
        outcome: Outcome,
        took: Duration,
    },
    /// The asker is gone.
    Broken(Error),
    News(News),
}

struct Running {
    claimed: Claimed,
    /// The name of its report.
    origin: String,
    /// Renews the lease while the trial runs.
    keeper: Keeper,
    /// Stops its command.
    called_off: Arc<AtomicBool>,
}

struct Pool<'a, F> {
    session: Session,
    plan: Arc<Plan>,
    control: &'a Control,
    tell: F,
    messages: Sender<Message>,
    requests: Sender<usize>,
    running: Vec<Running>,
    /// Whether an ask is under way.
    asked: bool,
    summary: Summary,
    /// Failures since the run began, or since the last success.
    streak: usize,
    /// When to look at what others do.
    watch: Watch,
    /// Since when there has been nothing to run here, if that is so.
    idle: Option<Instant>,
    /// What ends the run, once what runs has finished.
    error: Option<Error>,
    /// The wish to stop that was told last: whether there is one, and whether it is urgent.
    announced: (bool, bool),
}

impl<F: Fn(News)> Pool<'_, F> {
    fn work(&mut self, inbox: &Receiver<Message>) -> Result<Summary> {
        loop {
            let is_urgent = self.announce_stop();
            // Then there is no time for the store, nor for a choice that is under way.
            if !is_urgent {
                self.call_off()?;
                self.fill()?;
            }
            let is_asking = self.asked && !is_urgent;
            if self.running.is_empty() && !is_asking && self.is_over()? {
                break;
            }
            match inbox.recv_timeout(TICK) {
                Ok(message) => {
                    // What ends because of it is told after it.
                    self.announce_stop();
                    self.hear(message)?;
                }
                // The pool itself holds a sender.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => {
                let is_done = self.is_complete() && self.session.ledger().pending() == 0;
                self.summary.interrupted = self.stop().is_wished() && !is_done;
                Ok(self.summary)
            }
        }
    }

    /// Tells of a wish to stop, once; whether it is urgent.
    fn announce_stop(&mut self) -> bool {
        let wished = (self.stop().is_wished(), self.stop().is_urgent());
        if wished != self.announced {
            self.announced = wished;
            (self.tell)(News::Stopping { running: self.running.len(), urgent: wished.1 });
        }
        wished.1
    }

    /// Stops the commands of trials that have been cancelled, or given to another worker. Those that someone else has told
    /// or failed run to their end: their results are kept as evidence.
    fn call_off(&mut self) -> Result<()> {
        // Before the look at the log: a lease that is gone because its trial has ended is then known to be.
        let lost = |running: &Running| running.keeper.has_lost().then_some(running.claimed.trial);
        let lost: Vec<usize> = self.running.iter().filter_map(lost).collect();
        if self.running.is_empty() || !self.watch.is_time_for_cancellations(!lost.is_empty()) {
            return Ok(());
        }
        if self.patiently(|session, _| session.sync())?.is_none() {
            return Ok(());
        }
        for Running { claimed, called_off, .. } in &self.running {
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
        self.stop().is_wished() || self.error.is_some()
    }

    /// Gives every free worker a trial: one that was left behind, or a new one.
    fn fill(&mut self) -> Result<()> {
        if self.is_ending() || self.asked {
            return Ok(());
        }
        let mut free = self.plan.workers.saturating_sub(self.running.len());
        if free > 0 && self.watch.is_time_to_take_over() {
            free -= self.take_over(free)?;
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

    /// Looks at what others hold, and starts what workers elsewhere have left behind; how many trials that are.
    fn take_over(&mut self, most: usize) -> Result<usize> {
        let pulse = self.session.pulse();
        let Some(Survey { taken, silent, elsewhere }) = self.patiently(|session, term| session.survey(most, term))?
        else {
            return Ok(0);
        };
        self.watch.note(pulse, elsewhere, &self.session);
        let count = taken.len();
        for claimed in taken {
            let before = if silent.contains(&claimed.trial) { Before::Silent } else { Before::LeftUnfinished };
            self.start(claimed, before)?;
        }
        Ok(count)
    }

    /// Starts the trials that the user wants taken away from their workers.
    fn take_away(&mut self) -> Result<()> {
        for trial in self.plan.take.clone() {
            if let Some(claimed) = self.patiently(|session, term| session.take(trial, term))? {
                self.start(claimed, Before::TakenAway)?;
            }
        }
        Ok(())
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

    /// Whether there is nothing left to do or to wait for, with nothing running here.
    fn is_over(&mut self) -> Result<bool> {
        if self.is_ending() {
            return Ok(true);
        }
        if !self.is_complete() && self.room() > 0 {
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
        (self.tell)(News::Waiting { pending, elsewhere: self.watch.elsewhere().min(pending), most });
        sleep(TICK);
        Ok(false)
    }

    /// Whether there has been nothing to run here for as long as the plan allows.
    fn is_leaving(&mut self, pending: usize) -> bool {
        let idle = self.idle.get_or_insert_with(Instant::now).elapsed();
        self.summary.idle = self.plan.leave_when_idle.is_some_and(|most| idle >= most);
        if self.summary.idle {
            (self.tell)(News::Leaving { idle, pending });
        }
        self.summary.idle
    }

    fn hear(&mut self, message: Message) -> Result<()> {
        match message {
            Message::News(news) => (self.tell)(news),
            Message::Asked(Ok(claims)) => {
                self.asked = false;
                for claimed in claims {
                    self.start(claimed, Before::Nothing)?;
                }
            }
            Message::Asked(Err(error)) => self.hear_refusal(error),
            Message::Broken(error) => {
                self.asked = false;
                self.error = Some(error);
            }
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

    /// Starts a trial; one that comes after a wish to stop is released instead, for the next run.
    fn start(&mut self, claimed: Claimed, before: Before) -> Result<()> {
        let synced = if self.is_ending() { None } else { self.patiently(|session, _| session.sync())? };
        if synced.is_none() || self.is_ending() {
            self.release(&claimed);
            return Ok(());
        }
        self.idle = None;
        self.watch.begin();
        let trial = claimed.trial;
        let params = self.session.params(trial)?;
        let params: Vec<_> = params.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        (self.tell)(News::Started { trial, params: params.clone(), before });
        let called_off = Arc::new(AtomicBool::new(false));
        let job = Job { study: self.session.name().to_string(), trial, params, called_off: called_off.clone() };
        let (plan, messages) = (self.plan.clone(), self.messages.clone());
        let Control { stop, unreported } = self.control.clone();
        let keeper = self.session.keep(&claimed, plan.term);
        let (origin, token) = (self.session.new_origin(), claimed.token);
        let name = origin.clone();
        let work = move || {
            let start = Instant::now();
            // The coordinator listens until everything has ended.
            let tell = |news| drop(messages.send(Message::News(news)));
            let outcome = catch_unwind(AssertUnwindSafe(|| job.run(&plan, &stop, &tell)))
                .unwrap_or_else(|panic| Outcome::Impossible(internal("running a trial", panic.as_ref())));
            // Before anything else: from here on it is written beside the logs if it cannot be recorded.
            if let Some(outcome) = outcome.found() {
                unreported.add(Finished { trial, token, origin: name, outcome });
            }
            let _ = messages.send(Message::Ended { trial, outcome, took: start.elapsed() });
        };
        match std::thread::Builder::new().name(format!("trial {trial}")).spawn(work) {
            Ok(_) => self.running.push(Running { claimed, origin, keeper, called_off }),
            Err(error) => {
                drop(keeper);
                self.release(&claimed);
                self.error = Some(Error::CannotStart { program: "a thread".to_string(), reason: error.to_string() });
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
                Err(error) if error.is_passing() && !self.stop().is_urgent() => {
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
