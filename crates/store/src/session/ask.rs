//! Asking: one process chooses at a time, with no transaction open; the choice is logged in one short transaction.

use std::time::{Duration, Instant};

use manyhands_core::{Error as Refusal, Event, Phase, Suggestion, Trial, TrialState};

use super::{Claimed, Session};
use crate::codec::encode;
use crate::error::KEY_LENGTH;
use crate::lease::{Acquired, Claim, Fence, trial_resource};
use crate::record::{Append, Appended, NewEvent};
use crate::{Error, LeaseRenewer, Result};

/// The resource that is leased while trials are chosen.
const ASK: &str = "ask";

/// The term of that lease.
const TERM: Duration = Duration::from_secs(30);

/// How long to wait for other processes that choose.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often to check that the process that chooses is still alive.
const POLL: Duration = Duration::from_secs(1);

/// What is asked for.
#[derive(Clone, Copy)]
struct Request<'a> {
    /// How many trials, decided once it is this session's turn.
    count: &'a dyn Fn(&Session) -> Result<usize>,
    /// The term of their leases, if a worker claims them.
    term: Option<Duration>,
    /// The key under which the ask can be repeated.
    key: Option<&'a str>,
}

/// The result of an ask: trials, and the tokens of their leases where they were claimed.
#[derive(Default)]
struct Chosen {
    trials: Vec<usize>,
    tokens: Vec<u64>,
}

impl Session {
    /// Suggests `count` trials, each aware of what is pending and of the ones before it, and logs them.
    pub fn ask(&mut self, count: usize) -> Result<Vec<Suggestion>> {
        let count = |session: &Self| session.check_workers(count).map(|()| count);
        let chosen = self.ask_in_turn(Request { count: &count, term: None, key: None })?;
        self.suggested(&chosen.trials)
    }

    /// As [`Session::ask`], and the same suggestions again when it is repeated with the same key, as by a client whose
    /// connection broke.
    pub fn ask_with_key(&mut self, count: usize, key: &str) -> Result<Vec<Suggestion>> {
        if !(1..=KEY_LENGTH).contains(&key.chars().count()) || key.chars().any(char::is_control) {
            return Err(Error::BadKey { key: key.to_string() });
        }
        if let Some(trials) = self.repeated(key, count)? {
            return self.suggested(&trials);
        }
        let needed = |session: &Self| match session.repeated(key, count)? {
            Some(_) => Ok(0),
            None => session.check_workers(count).map(|()| count),
        };
        let chosen = self.ask_in_turn(Request { count: &needed, term: None, key: Some(key) })?;
        let trials = self.repeated(key, count)?.unwrap_or(chosen.trials);
        self.suggested(&trials)
    }

    /// The trials that were asked for with this key, if there are any.
    fn repeated(&self, key: &str, asked: usize) -> Result<Option<Vec<usize>>> {
        match self.history.keyed(key).map(<[usize]>::to_vec) {
            Some(trials) if trials.len() != asked => {
                Err(Error::KeyUsed { key: key.to_string(), before: trials.len(), asked })
            }
            trials => Ok(trials),
        }
    }

    fn suggested(&mut self, trials: &[usize]) -> Result<Vec<Suggestion>> {
        let all = self.model()?.suggestions();
        Ok(all.into_iter().filter(|suggestion| trials.contains(&suggestion.trial)).collect())
    }

    /// As [`Session::ask`], for a worker of this process, which gets a lease of `term` on each trial and renews it. Fewer
    /// than `count` trials, or none, where the study is to have only `trials`, where only so many may be pending or with
    /// workers, or where a pool without repeats has fewer candidates left; an error where that has none left.
    pub fn ask_for_worker(&mut self, count: usize, trials: Option<usize>, term: Duration) -> Result<Vec<Claimed>> {
        let available = |session: &Self| {
            let to_come = trials.map_or(usize::MAX, |trials| trials.saturating_sub(session.begun()));
            Ok(count.min(to_come).min(session.places()?))
        };
        let chosen = self.ask_in_turn(Request { count: &available, term: Some(term), key: None })?;
        Ok(chosen
            .trials
            .into_iter()
            .zip(chosen.tokens)
            .map(|(trial, token)| Claimed::restored(trial, 0, token))
            .collect())
    }

    /// How many trials were suggested and not cancelled.
    pub fn begun(&self) -> usize {
        let counts = |trial: &&Trial| trial.choice().is_some() && trial.state() != TrialState::Cancelled;
        self.ledger().trials().iter().filter(counts).count()
    }

    /// How many more trials workers may have. `max_pending` counts every pending trial; where the number of workers is the
    /// bound, only those that workers hold count, and not those that were asked for by hand.
    fn places(&self) -> Result<usize> {
        match (self.spec().strategy().max_pending, self.workers) {
            (Some(most), _) => Ok(most.saturating_sub(self.ledger().pending())),
            (None, Some(workers)) => {
                let held = self.pending_leases()?.iter().filter(|(_, lease)| !lease.is_released()).count();
                Ok(workers.saturating_sub(held))
            }
            (None, None) => Ok(usize::MAX),
        }
    }

    fn ask_in_turn(&mut self, request: Request<'_>) -> Result<Chosen> {
        loop {
            let fence = Fence { resource: ASK, token: self.wait_for_turn()? };
            let result = self.choose_and_log(request, fence);
            if !matches!(result, Ok(Some(_))) {
                // A lease that cannot be released lapses by itself; the first error is what matters.
                let released = self.handle.backend().release(self.handle.id, fence);
                if result.is_ok() {
                    released?;
                }
            }
            // Otherwise the lease has passed to another process, or an evaluation from elsewhere has taken the number.
            if let Some(asked) = result? {
                return Ok(asked);
            }
        }
    }

    fn choose_and_log(&mut self, request: Request<'_>, fence: Fence<'_>) -> Result<Option<Chosen>> {
        let renewer = LeaseRenewer::start(self.handle.backend().clone(), self.handle.id, fence, TERM)?;
        self.sync()?;
        let count = (request.count)(self)?;
        let is_nothing_to_ask = count == 0 && (request.term.is_some() || request.key.is_some());
        let events = if is_nothing_to_ask { vec![] } else { self.propose(count, request.term)? };
        let first = self.ledger().trials().len();
        let picks = events.iter().filter(|event| matches!(event, Event::Asked(_))).count();
        let trials: Vec<usize> = (first..first + picks).collect();
        let keyed = |event| Ok(NewEvent { key: request.key.map(str::to_string), ..encode(event, 0)? });
        // A queue that was changed meanwhile may not have what was taken from it.
        let is_queued = |event: &Event| matches!(event, Event::Asked(asked) if asked.choice.phase == Phase::Queued);
        let after = events.iter().any(is_queued).then_some(self.ledger().events().len());
        let events: Vec<NewEvent> = events.iter().map(keyed).collect::<Result<_>>()?;
        let resources: Vec<String> = trials.iter().map(|trial| trial_resource(*trial)).collect();
        let holder = self.holder.clone();
        let claims: Vec<Claim<'_>> = match request.term {
            Some(term) => {
                resources.iter().map(|resource| Claim { resource, holder: &holder, term, instead_of: None }).collect()
            }
            None => vec![],
        };
        // Renewing after the release would delay the next process.
        drop(renewer);
        let (origin, releases) = (self.new_origin(), [fence]);
        let append = Append {
            origin: &origin,
            events: &events,
            fence: Some(fence),
            after,
            claims: &claims,
            releases: &releases,
        };
        let appended = self.append(&append);
        if !matches!(appended, Ok(Appended::Stored { .. })) {
            // The model holds picks that are not in the log.
            self.study = None;
        }
        match appended? {
            Appended::Stored { tokens, .. } => Ok(Some(Chosen { trials, tokens })),
            Appended::Fenced { .. } | Appended::Taken { .. } | Appended::Outdated => Ok(None),
        }
    }

    /// The events of an ask, given the log as of the last read. A worker gets what is left of a pool.
    fn propose(&mut self, count: usize, term: Option<Duration>) -> Result<Vec<Event>> {
        let study = self.model()?;
        match study.propose(count) {
            Err(Refusal::PoolExhausted { left, .. }) if term.is_some() && left > 0 => Ok(study.propose(left)?),
            proposed => Ok(proposed?),
        }
    }

    /// Waits until no other process is choosing; the token of the lease.
    fn wait_for_turn(&self) -> Result<u64> {
        let (start, mut instead_of) = (Instant::now(), None);
        loop {
            let claim = self.claim(ASK, TERM, instead_of);
            let held = match self.handle.backend().acquire_in_turn(self.handle.id, &claim, POLL)? {
                Acquired::Granted(token) => return Ok(token),
                Acquired::Held(lease) => lease,
                Acquired::Ended => return Err(Error::Internal { what: "a store says that choosing trials has ended" }),
            };
            if start.elapsed() > PATIENCE {
                return Err(Error::Busy { holder: held.holder.to_string(), seconds: PATIENCE.as_secs() });
            }
            instead_of = held.is_orphaned().then_some(held.token);
        }
    }

    /// `max_pending` is the study's own; without it the number of workers is the bound.
    fn check_workers(&self, asked: usize) -> Result<()> {
        let pending = self.ledger().pending();
        match self.workers {
            Some(workers)
                if self.spec().strategy().max_pending.is_none() && pending.saturating_add(asked) > workers =>
            {
                Err(Error::TooManyPending { asked, pending, workers })
            }
            _ => Ok(()),
        }
    }
}
