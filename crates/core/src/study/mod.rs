//! A study: the fold over its events. Asking proposes events, everything else appends one; the state is what they add up to.

mod certificate;
mod choose;
mod trial;

use manyhands_gp::{Key, Posterior, Prior};

use self::certificate::Band;
pub use self::certificate::{Best, Certificate, Kind, Prediction};
use self::choose::Chooser;
pub use self::trial::{Suggestion, Trial, TrialState};
use crate::event::{Asked, Event};
use crate::{Error, Result, Spec};

/// The most suggestions that one ask gives.
const LARGEST_BATCH: usize = 1_000_000;

/// A study: what was asked and told so far, and what to try next.
///
/// ```
/// use manyhands_core::gp::{Grid, Kernel, Prior};
/// use manyhands_core::{Domain, Rule, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let f = |x: &[f64]| (3.0 * x[0]).sin() - x[0];
/// let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 100)])?);
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 1e-4)?;
/// let mut study = Study::new(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 2.0))?)?;
/// for _ in 0..6 {
///     let batch = study.ask(5)?; // five suggestions, each aware of the ones before it
///     for s in &batch {
///         study.tell(s.trial, f(&s.point))?;
///     }
/// }
/// let certificate = study.certificate()?; // how far from the optimum the best point can still be
/// assert!(certificate.regret_bound < 0.2);
/// println!("{certificate}");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Study {
    spec: Spec,
    events: Vec<Event>,
    trials: Vec<Trial>,
    posterior: Posterior,
    /// Rows at the posterior's end that were proposed and are not in the log yet.
    tentative: usize,
    chooser: Chooser,
    band: Band,
}

impl Study {
    /// A study with nothing asked yet.
    pub fn new(spec: Spec) -> Result<Self> {
        // The prior mean is in the user's units, as every value is.
        let mean = spec.direction().sign() * spec.prior().mean();
        let prior = Prior::new(spec.prior().kernel().clone(), mean, spec.prior().noise())?;
        let posterior = Posterior::new(prior, spec.domain().dimension())?;
        let chooser = Chooser::new(&spec)?;
        let band = Band::default();
        Ok(Self { spec, events: vec![], trials: vec![], posterior, tentative: 0, chooser, band })
    }

    /// The study that these events add up to. Nothing is chosen anew: a logged choice always wins.
    pub fn replay(spec: Spec, events: &[Event]) -> Result<Self> {
        let mut study = Self::new(spec)?;
        for event in events {
            study.apply(event.clone())?;
        }
        Ok(study)
    }

    /// Chooses every trial of the log anew, knowing what the log says it knew, and compares bit for bit.
    pub fn verify(spec: &Spec, events: &[Event]) -> Result<()> {
        let mut study = Self::new(spec.clone())?;
        let mut position = 0;
        while position < events.len() {
            let group = asked_together(&events[position..]);
            if let Some(&Event::Asked(Asked { seen, .. })) = group.first() {
                let chosen = if seen == position {
                    study.propose(group.len())?
                } else {
                    let known = events.get(..seen).ok_or_else(|| bad_log(position, "it knows later events"))?;
                    let mut then = Self::replay(spec.clone(), known)?;
                    // Trials of the same ask that were logged before something came in between.
                    let earlier = study.trials.len().saturating_sub(then.trials.len());
                    then.propose(earlier + group.len())?.split_off(earlier)
                };
                compare(group, &chosen)?;
            }
            for event in group {
                study.apply(event.clone())?;
            }
            position += group.len();
        }
        Ok(())
    }

    /// Suggests `count` trials, each aware of what is pending and of the ones before it, and logs them.
    pub fn ask(&mut self, count: usize) -> Result<Vec<Suggestion>> {
        let events = self.propose(count)?;
        let first = self.trials.len();
        for event in events {
            self.apply(event)?;
        }
        Ok(self.trials[first..].iter().map(|trial| trial.suggestion(self.spec.direction())).collect())
    }

    /// The events that [`Study::ask`] would log. They take effect when they are applied, one after the other; events
    /// applied before them are what came in between. Until then predictions see them as pending.
    pub fn propose(&mut self, count: usize) -> Result<Vec<Event>> {
        self.discard_tentative();
        self.check_ask(count)?;
        let seen = self.events.len();
        let mut events = Vec::new();
        for trial in self.trials.len()..self.trials.len() + count {
            match self.choose(trial, seen) {
                Ok(asked) => {
                    self.hallucinate(trial, asked.candidate)?;
                    self.tentative += 1;
                    events.push(Event::Asked(asked));
                }
                Err(error) => {
                    self.discard_tentative();
                    return Err(error);
                }
            }
        }
        Ok(events)
    }

    /// Appends an event to the log, if it can follow the events before it.
    pub fn apply(&mut self, event: Event) -> Result<()> {
        match &event {
            Event::Asked(asked) => self.apply_asked(asked)?,
            Event::Told { trial, value } => self.apply_told(*trial, *value)?,
            Event::Failed { trial, reason } => {
                self.pending_trial(*trial)?;
                // A failed point stays hallucinated: otherwise the rule would propose it for ever.
                self.trials[*trial].fail(reason);
            }
            Event::Cancelled { trial } => {
                let candidate = self.pending_trial(*trial)?.candidate();
                self.discard_tentative();
                self.posterior.retract(*trial as u64)?;
                self.chooser.set_taken(candidate, false, self.spec.repeats());
                self.trials[*trial].cancel();
            }
        }
        self.events.push(event);
        Ok(())
    }

    /// A trial's value arrived.
    pub fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        self.apply(Event::Told { trial, value })
    }

    /// A trial failed and gives no value.
    pub fn fail(&mut self, trial: usize, reason: impl Into<String>) -> Result<()> {
        self.apply(Event::Failed { trial, reason: reason.into() })
    }

    /// A trial was called off before it ran; its point is free again.
    pub fn cancel(&mut self, trial: usize) -> Result<()> {
        self.apply(Event::Cancelled { trial })
    }

    /// What the study is.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The log. Event i has sequence number i + 1.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// All trials in order of their numbers.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// All trials as they were suggested, in order: the run that the functions of [`regret`](crate::regret) look at.
    pub fn suggestions(&self) -> Vec<Suggestion> {
        self.trials.iter().map(|trial| trial.suggestion(self.spec.direction())).collect()
    }

    /// How many trials are in this state.
    pub fn count(&self, state: TrialState) -> usize {
        self.trials.iter().filter(|trial| trial.state() == state).count()
    }

    /// The Gaussian process, over the maximized function (the negated one when minimizing).
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    fn check_ask(&self, count: usize) -> Result<()> {
        if count == 0 {
            return Err(Error::AskedForNone);
        }
        if count > LARGEST_BATCH {
            return Err(Error::AskedForTooMany { asked: count, limit: LARGEST_BATCH });
        }
        let pending = self.count(TrialState::Pending);
        if let Some(max_pending) = self.spec.strategy().max_pending
            && pending.saturating_add(count) > max_pending
        {
            return Err(Error::TooManyPending { asked: count, pending, max_pending });
        }
        match self.chooser.left() {
            Some(left) if !self.spec.repeats() && count > left => Err(Error::PoolExhausted { asked: count, left }),
            _ => Ok(()),
        }
    }

    fn apply_asked(&mut self, asked: &Asked) -> Result<()> {
        let sequence = self.events.len();
        if asked.trial != self.trials.len() {
            return Err(bad_log(sequence, &format!("trial {} is asked, {} is next", asked.trial, self.trials.len())));
        }
        if asked.seen > sequence {
            return Err(bad_log(sequence, "it knows later events"));
        }
        if let Some(number) = [asked.mean, asked.sd, asked.multiplier, asked.score].iter().find(|n| !n.is_finite()) {
            return Err(bad_log(sequence, &format!("it holds the number {number}, which is not finite")));
        }
        let row = self.posterior.keys().len() - self.tentative;
        let expected = Key { id: asked.trial as u64, site: asked.candidate };
        if self.posterior.keys().get(row) == Some(&expected) {
            self.tentative -= 1;
        } else {
            self.discard_tentative();
            if !self.chooser.is_free(&self.spec, asked) {
                return Err(bad_log(sequence, &format!("candidate {} is not to be had", asked.candidate)));
            }
            self.hallucinate(asked.trial, asked.candidate)?;
        }
        let point = self.chooser.point(&self.spec, asked.trial, asked.candidate)?;
        self.trials.push(Trial::new(asked.clone(), point));
        Ok(())
    }

    fn apply_told(&mut self, trial: usize, value: f64) -> Result<()> {
        self.pending_trial(trial)?;
        if !value.is_finite() {
            return Err(Error::Value { trial, value });
        }
        self.discard_tentative();
        self.posterior.settle(trial as u64, self.spec.direction().sign() * value)?;
        self.trials[trial].observe(value);
        Ok(())
    }

    fn pending_trial(&self, number: usize) -> Result<&Trial> {
        let unknown = Error::UnknownTrial { trial: number, trials: self.trials.len() };
        let trial = self.trials.get(number).ok_or(unknown)?;
        match trial.state() {
            TrialState::Pending => Ok(trial),
            state => Err(Error::NotPending { trial: number, state }),
        }
    }

    fn hallucinate(&mut self, trial: usize, candidate: usize) -> Result<()> {
        let point = self.chooser.point(&self.spec, trial, candidate)?;
        self.posterior.hallucinate(Key { id: trial as u64, site: candidate }, &point)?;
        self.chooser.set_taken(candidate, true, self.spec.repeats());
        Ok(())
    }

    fn discard_tentative(&mut self) {
        let rows = self.posterior.keys().len() - std::mem::take(&mut self.tentative);
        let candidates: Vec<usize> = self.posterior.keys()[rows..].iter().map(|key| key.site).collect();
        self.posterior.truncate(rows);
        for candidate in candidates {
            self.chooser.set_taken(candidate, false, self.spec.repeats());
        }
    }
}

fn bad_log(position: usize, reason: &str) -> Error {
    Error::BadLog { sequence: position + 1, reason: reason.to_string() }
}

/// The leading events that were made by one ask; any other event stands alone.
fn asked_together(events: &[Event]) -> &[Event] {
    let together = |event: &Event| match (event, &events[0]) {
        (Event::Asked(asked), Event::Asked(first)) => asked.seen == first.seen,
        _ => false,
    };
    &events[..events.iter().take_while(|event| together(event)).count().max(1)]
}

fn compare(logged: &[Event], chosen: &[Event]) -> Result<()> {
    for pair in logged.iter().zip(chosen) {
        if let (Event::Asked(logged), Event::Asked(chosen)) = pair
            && logged != chosen
        {
            let show =
                |a: &Asked| format!("{} (mean {}, sd {}, multiplier {})", a.candidate, a.mean, a.sd, a.multiplier);
            return Err(Error::NotReproduced { trial: logged.trial, logged: show(logged), chosen: show(chosen) });
        }
    }
    Ok(())
}
