//! Asking: one process chooses at a time, with no transaction open, and what it chose is logged in one short one.

use std::time::{Duration, Instant};

use manyhands_core::{Error as Refusal, Event, Suggestion, Trial, TrialState};

use super::{Claimed, Session};
use crate::error::KEY_LENGTH;
use crate::store::{Acquired, Append, Appended, Claim, Fence, NewEvent, trial_resource};
use crate::{Error, Keeper, Result, encode};

/// What is leased while trials are chosen.
const ASK: &str = "ask";

/// For how long, unless it is renewed.
const TERM: Duration = Duration::from_secs(30);

/// How long to wait for others who choose.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long to wait before looking whether the one who chooses is still alive.
const LOOK: Duration = Duration::from_secs(1);

/// What is wanted of an ask.
#[derive(Clone, Copy)]
struct Wish<'a> {
    /// How many trials, once it is this session's turn.
    count: &'a dyn Fn(&Session) -> Result<usize>,
    /// For how long they are claimed, if they are.
    term: Option<Duration>,
    /// What names the ask, so that it can be repeated.
    key: Option<&'a str>,
}

/// What came of an ask: trials, and their tokens where they were claimed.
#[derive(Default)]
struct Chosen {
    trials: Vec<usize>,
    tokens: Vec<u64>,
}

impl Session {
    /// Suggests `count` trials, each aware of what is pending and of the ones before it, and logs them.
    pub fn ask(&mut self, count: usize) -> Result<Vec<Suggestion>> {
        let count = |session: &Self| session.check_workers(count).map(|()| count);
        let chosen = self.ask_and(Wish { count: &count, term: None, key: None })?;
        self.suggested(&chosen.trials)
    }

    /// As [`Session::ask`], and the same suggestions again when it is repeated with the same key, as by a client whose
    /// connection broke.
    pub fn ask_with_key(&mut self, count: usize, key: &str) -> Result<Vec<Suggestion>> {
        if !(1..=KEY_LENGTH).contains(&key.chars().count()) || key.chars().any(char::is_control) {
            return Err(Error::BadKey { key: key.to_string() });
        }
        self.sync()?;
        if let Some(trials) = self.repeated(key, count)? {
            return self.suggested(&trials);
        }
        let wished = |session: &Self| match session.repeated(key, count)? {
            Some(_) => Ok(0),
            None => session.check_workers(count).map(|()| count),
        };
        let chosen = self.ask_and(Wish { count: &wished, term: None, key: Some(key) })?;
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
        let all = self.study()?.suggestions();
        Ok(all.into_iter().filter(|suggestion| trials.contains(&suggestion.trial)).collect())
    }

    /// As [`Session::ask`], for a worker of this process, who holds them for `term` and renews that. Fewer than `count`, or
    /// none, if more are not to be had: the study is to have `trials`, only so many may be pending, and a pool without
    /// repeats has only so many left; one that has none left is an error.
    pub fn ask_for_worker(&mut self, count: usize, trials: Option<usize>, term: Duration) -> Result<Vec<Claimed>> {
        let to_be_had = |session: &Self| {
            let to_come = trials.map_or(usize::MAX, |trials| trials.saturating_sub(session.begun()));
            let most = session.most_pending().unwrap_or(usize::MAX);
            Ok(count.min(to_come).min(most.saturating_sub(session.ledger().pending())))
        };
        let chosen = self.ask_and(Wish { count: &to_be_had, term: Some(term), key: None })?;
        Ok(chosen.trials.into_iter().zip(chosen.tokens).map(|(trial, token)| Claimed::restored(trial, token)).collect())
    }

    /// How many trials were suggested and not called off.
    pub fn begun(&self) -> usize {
        let counts = |trial: &&Trial| trial.choice().is_some() && trial.state() != TrialState::Cancelled;
        self.ledger().trials().iter().filter(counts).count()
    }

    fn ask_and(&mut self, wish: Wish<'_>) -> Result<Chosen> {
        loop {
            let fence = Fence { resource: ASK, token: self.wait_for_turn()? };
            let result = self.choose_and_log(wish, fence);
            if !matches!(result, Ok(Some(_))) {
                // A lease that cannot be given back lapses by itself; the first error is what matters.
                let released = self.store.release(self.id, fence);
                if result.is_ok() {
                    released?;
                }
            }
            // Otherwise someone else's turn has begun, or an evaluation from elsewhere has taken the number.
            if let Some(asked) = result? {
                return Ok(asked);
            }
        }
    }

    fn choose_and_log(&mut self, wish: Wish<'_>, fence: Fence<'_>) -> Result<Option<Chosen>> {
        let keeper = Keeper::start(self.store.clone(), self.id, fence, TERM);
        self.sync()?;
        let count = (wish.count)(self)?;
        let is_nothing_to_ask = count == 0 && (wish.term.is_some() || wish.key.is_some());
        let events = if is_nothing_to_ask { vec![] } else { self.propose(count, wish.term)? };
        let first = self.ledger().trials().len();
        let picks = events.iter().filter(|event| matches!(event, Event::Asked(_))).count();
        let trials: Vec<usize> = (first..first + picks).collect();
        let keyed = |event| Ok(NewEvent { key: wish.key.map(str::to_string), ..encode(event)? });
        let events: Vec<NewEvent> = events.iter().map(keyed).collect::<Result<_>>()?;
        let resources: Vec<String> = trials.iter().map(|trial| trial_resource(*trial)).collect();
        let claims: Vec<Claim<'_>> = match wish.term {
            Some(term) => resources.iter().map(|resource| self.claim(resource, term, None)).collect(),
            None => vec![],
        };
        // Renewing after the release would hold up the next one.
        drop(keeper);
        let (origin, releases) = (self.new_origin(), [fence]);
        let append =
            Append { origin: &origin, events: &events, fence: Some(fence), claims: &claims, releases: &releases };
        let appended = self.store.append(self.id, &append);
        if !matches!(appended, Ok(Appended::Stored(_))) {
            // It holds picks that are not in the log.
            self.study = None;
        }
        let stored = match appended? {
            Appended::Stored(tokens) => Some(Chosen { trials, tokens }),
            Appended::Fenced { .. } | Appended::Taken { .. } => None,
        };
        self.look_again();
        Ok(stored)
    }

    /// The events of an ask, knowing what the ledger knows. A worker gets what is left of a pool.
    fn propose(&mut self, count: usize, term: Option<Duration>) -> Result<Vec<Event>> {
        let study = self.model()?;
        match study.propose(count) {
            Err(Refusal::PoolExhausted { left, .. }) if term.is_some() && left > 0 => Ok(study.propose(left)?),
            proposed => Ok(proposed?),
        }
    }

    /// Waits until nobody else is choosing; the token of the turn.
    fn wait_for_turn(&self) -> Result<u64> {
        let (start, mut instead_of) = (Instant::now(), None);
        loop {
            let claim = self.claim(ASK, TERM, instead_of);
            let held = match self.store.acquire_in_turn(self.id, &claim, LOOK)? {
                Acquired::Granted(token) => return Ok(token),
                Acquired::Held(lease) => lease,
                // Only trials end.
                Acquired::Ended => return Err(Error::Deleted),
            };
            if start.elapsed() > PATIENCE {
                return Err(Error::Busy { holder: held.holder.to_string(), seconds: PATIENCE.as_secs() });
            }
            instead_of = held.is_of_the_dead().then_some(held.token);
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
