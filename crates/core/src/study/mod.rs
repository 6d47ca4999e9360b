//! A study: the fold over its events, and what it returns. Asking proposes events, everything else appends one; the state
//! depends on the events alone.

mod batch;
mod best;
mod certificate;
mod choose;
mod elsewhere;
mod importance;
mod include;
mod initialization;
mod learning;
mod located;
mod outlook;
mod predict;
mod quantities;
mod queue;
mod record;
mod revise;
mod stop;
mod suggestion;
mod verify;

use std::sync::OnceLock;

use manyhands_gp::{Key, Posterior, Prior};

pub use self::batch::{Batch, PickWorth};
pub use self::best::{Best, BestBy, BestSoFar, Reading};
use self::certificate::Band;
pub use self::certificate::{BoundKind, Certificate};
pub use self::importance::{Importance, NoImportance, ParameterShare};
use self::learning::Learning;
pub use self::outlook::{Outlook, Silence};
pub use self::predict::{Prediction, representable};
pub use self::quantities::Quantities;
pub use self::record::{PROBABILITY, TrackRecord};
pub use self::stop::{StopReason, StopRule};
pub use self::suggestion::Suggestion;
pub use self::verify::{Tally, Verification};
use crate::chooser::{Chooser, Place, chooser};
use crate::event::{Asked, Event};
use crate::ledger::Ledger;
use crate::model::Learner;
use crate::trial::{Trial, TrialState};
pub use crate::tuning::OUTLOOK_VALUES;
use crate::tuning::{REFACTORED_EVERY, REFACTORED_FROM};
use crate::{Error, Phase, Result, Spec, Value};

/// The most suggestions that one ask gives.
const LARGEST_BATCH: usize = 1_000_000;

/// A study: the trials asked and told so far, the model of their values, and what to try next.
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
/// let certificate = study.certificate()?; // how far from the optimum its point can still be
/// assert!(certificate.regret_bound < 0.2);
/// println!("{certificate}");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Study {
    spec: Spec,
    ledger: Ledger,
    /// The coordinates of every trial, as the model sees them.
    points: Vec<Vec<f64>>,
    posterior: Posterior,
    /// Rows at the posterior's end that were proposed and are not in the log yet.
    tentative: usize,
    chooser: Box<dyn Chooser>,
    band: Band,
    /// None where the model is given.
    learner: Option<Learner>,
    learning: Learning,
    /// What was expected of trials that were made elsewhere than suggested; computed when it is first read.
    elsewhere: OnceLock<Vec<(usize, [f64; 2])>>,
}

/// The progress of an ask.
#[derive(Debug, Clone, Copy)]
struct Asking {
    /// How many picks it still wants.
    most: usize,
    /// How many of its picks so far are the rule's.
    by_rule: usize,
}

/// Whether a trial was picked by the rule.
fn is_by_rule(event: &Event) -> bool {
    matches!(event, Event::Asked(asked) if asked.choice.phase == Phase::Rule)
}

impl Study {
    /// A study with nothing asked yet.
    pub fn new(spec: Spec) -> Result<Self> {
        // The prior mean is in the user's units, as every value is.
        let mean = spec.direction().sign() * spec.prior().mean();
        let prior = Prior::new(spec.prior().kernel().clone(), mean, spec.prior().noise())?;
        let learner = Learner::new(&spec)?;
        let chooser = chooser(&spec, &prior)?;
        let posterior = Posterior::new(prior, spec.domain().dimension())?;
        let (ledger, band, learning) = (Ledger::default(), Band::default(), Learning::default());
        let elsewhere = OnceLock::new();
        Ok(Self { spec, ledger, points: vec![], posterior, tentative: 0, chooser, band, learner, learning, elsewhere })
    }

    /// The study with these events. Nothing is chosen again: logged choices are taken as they are.
    pub fn replay(spec: Spec, events: &[Event]) -> Result<Self> {
        let mut study = Self::new(spec)?;
        study.extend(events)?;
        Ok(study)
    }

    /// Appends events that happened elsewhere, in order. A fit that a later one of them replaces is never built, and the last
    /// one is built when it is first read. Events before one that is refused stay.
    pub fn extend(&mut self, events: &[Event]) -> Result<()> {
        let last_fit = events.iter().rposition(|event| matches!(event, Event::Fitted(_)));
        events.iter().enumerate().try_for_each(|(position, event)| match event {
            Event::Fitted(fitted) if Some(position) < last_fit => self.log_superseded_fit(fitted),
            _ => self.apply(event.clone()),
        })
    }

    /// Suggests `count` trials, each taking into account what is pending and the ones before it, and logs them.
    #[doc(alias = "suggest")]
    pub fn ask(&mut self, count: usize) -> Result<Vec<Suggestion>> {
        let events = self.propose(count)?;
        let first = self.ledger.trials().len();
        for event in events {
            self.apply(event)?;
        }
        Ok(self.suggestions_from(first))
    }

    /// The events that [`Study::ask`] would log. They take effect when they are applied, in order; other events may be applied
    /// in between. Until then predictions treat them as pending.
    pub fn propose(&mut self, count: usize) -> Result<Vec<Event>> {
        self.discard_tentative();
        self.check_ask(count)?;
        let mut events = self.begin_ask()?;
        let mut asking = Asking { most: count, by_rule: 0 };
        while asking.most > 0 {
            let picks: Vec<Event> = self.propose_next(asking)?.into_iter().map(Event::Asked).collect();
            asking.most = asking.most.saturating_sub(picks.len());
            asking.by_rule += picks.iter().filter(|event| is_by_rule(event)).count();
            events.extend(picks);
        }
        Ok(events)
    }

    /// Starts an ask: with a fit if one is due, which takes effect when it is logged, as picks do.
    fn begin_ask(&mut self) -> Result<Vec<Event>> {
        let fitted = self.learn_if_due()?;
        self.chooser.begin_ask();
        Ok(fitted.map(Event::Fitted).into_iter().collect())
    }

    /// More picks of the current ask: one, or several that are drawn jointly.
    fn propose_next(&mut self, asking: Asking) -> Result<Vec<Asked>> {
        let (trial, seen) = (self.ledger.trials().len() + self.tentative, self.ledger.events().len());
        let picks = self.choose(trial, seen, asking).and_then(|picks| {
            for asked in &picks {
                self.hallucinate(&Place::from(asked))?;
                self.tentative += 1;
            }
            Ok(picks)
        });
        if picks.is_err() {
            self.discard_tentative();
        }
        picks
    }

    /// Appends an event to the log, if it can follow the events before it.
    pub fn apply(&mut self, event: Event) -> Result<()> {
        let event = self.located(event)?;
        self.ledger.check(&event)?;
        match &event {
            Event::Asked(asked) => self.model_asked(asked)?,
            Event::Fitted(fitted) => self.model_fitted(fitted)?,
            Event::Included(included) => self.model_included(included)?,
            Event::Told { trial, value } => self.model_told(*trial, *value)?,
            Event::Cancelled { trial } => self.model_cancelled(*trial)?,
            Event::Amended(_) | Event::Restored { .. } | Event::Reopened { .. } => self.model_revised(&event)?,
            Event::Enqueued(enqueued) => self.model_enqueued(enqueued)?,
            // What was proposed may depend on the queue.
            Event::Cleared => self.discard_tentative(),
            // A failed point stays hallucinated: otherwise the rule would propose it again and again.
            Event::Failed { .. } | Event::LateResult { .. } | Event::Measured { .. } => {}
        }
        self.ledger.record(event);
        self.elsewhere = OnceLock::new();
        Ok(())
    }

    /// Records the value of a trial.
    #[doc(alias = "observe")]
    pub fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        self.apply(Event::Told { trial, value })
    }

    /// Records that a trial failed and gives no value.
    pub fn fail(&mut self, trial: usize, reason: impl Into<String>) -> Result<()> {
        self.apply(Event::Failed { trial, reason: reason.into() })
    }

    /// Cancels a trial that did not run; its point may be chosen again.
    pub fn cancel(&mut self, trial: usize) -> Result<()> {
        self.apply(Event::Cancelled { trial })
    }

    /// What the study is.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The log, and the state of every trial.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The log. Event i has sequence number i + 1.
    pub fn events(&self) -> &[Event] {
        self.ledger.events()
    }

    /// All trials in order of their numbers.
    pub fn trials(&self) -> &[Trial] {
        self.ledger.trials()
    }

    /// The coordinates of a trial, as the model sees them.
    pub fn point(&self, trial: usize) -> Result<&[f64]> {
        self.ledger.trial(trial).map(|_| self.points[trial].as_slice())
    }

    /// The values of a trial's parameters or columns, in the order of [`Domain::names`](crate::Domain::names); none where
    /// there are no names.
    pub fn params(&self, trial: usize) -> Result<Vec<Value>> {
        self.ledger.trial(trial).map(|trial| self.user_params(trial))
    }

    fn user_params(&self, trial: &Trial) -> Vec<Value> {
        self.spec.domain().logged_params(trial.candidate(), trial.logged_params())
    }

    /// All trials that were suggested, in order, each as it was suggested.
    pub fn suggestions(&self) -> Vec<Suggestion> {
        self.suggestions_from(0)
    }

    fn suggestions_from(&self, first: usize) -> Vec<Suggestion> {
        let suggestion = |trial: &Trial| {
            let choice = trial.choice()?.in_user_units(self.spec.direction(), self.user_params(trial));
            Some(Suggestion { trial: trial.number(), point: self.points[trial.number()].clone(), choice })
        };
        self.ledger.trials()[first..].iter().filter_map(suggestion).collect()
    }

    /// How many trials are in this state.
    pub fn count(&self, state: TrialState) -> usize {
        self.ledger.count(state)
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
        let pending = self.ledger.pending();
        if let Some(max_pending) = self.spec.strategy().max_pending
            && pending.saturating_add(count) > max_pending
        {
            return Err(Error::TooManyPending { asked: count, pending, max_pending });
        }
        match self.chooser.left() {
            // Tentative picks of this ask are taken already, and are part of `count`.
            Some(left) if count > left + self.tentative => Err(Error::PoolExhausted { asked: count, left }),
            _ => Ok(()),
        }
    }

    fn model_asked(&mut self, asked: &Asked) -> Result<()> {
        let Asked { trial, choice, .. } = asked;
        let place = Place::from(asked);
        let row = self.posterior.keys().len() - self.tentative;
        let expected = Key { id: *trial as u64, site: choice.candidate };
        let same_point = |point: &Vec<f64>| self.posterior.points().get(row) == point.as_slice();
        let is_proposed = self.posterior.keys().get(row) == Some(&expected) && !self.learning.is_tentative();
        let proposed = if is_proposed { self.chooser.point(&place).ok().filter(same_point) } else { None };
        let point = match proposed {
            Some(point) => {
                self.tentative -= 1;
                point
            }
            None => {
                self.discard_tentative();
                if !self.chooser.is_available(*trial, choice.candidate) {
                    return Err(self.ledger.bad_log(&format!("candidate {} is not available", choice.candidate)));
                }
                self.hallucinate(&place)?
            }
        };
        self.points.push(point);
        Ok(())
    }

    fn model_told(&mut self, trial: usize, value: f64) -> Result<()> {
        self.spec.check_value(trial, value)?;
        self.discard_tentative();
        let value_in_model_units = self.warp_value(value);
        self.posterior.settle(trial as u64, value_in_model_units)?;
        self.refactor_if_due();
        Ok(())
    }

    fn model_cancelled(&mut self, trial: usize) -> Result<()> {
        let candidate = self.ledger.trial(trial)?.candidate();
        self.discard_tentative();
        self.posterior.retract(trial as u64)?;
        self.chooser.set_taken(candidate, false);
        Ok(())
    }

    /// On a space, all rows are factored at once from time to time, at fixed counts of values. A process that has just
    /// started then appends only the few rows since, and gets the same bits as one that kept running. Finite domains are
    /// exempt: they keep columns that were solved with the factor as it is.
    fn refactor_if_due(&mut self) {
        let observed = self.posterior.observed();
        let is_due = observed >= REFACTORED_FROM && observed.is_multiple_of(REFACTORED_EVERY);
        if is_due && self.chooser.refactors_rows() {
            self.posterior.factor_at_once();
        }
    }

    /// Adds a pending row; returns its coordinates.
    fn hallucinate(&mut self, place: &Place) -> Result<Vec<f64>> {
        let point = self.chooser.point(place)?;
        self.posterior.hallucinate(Key { id: place.trial as u64, site: place.candidate }, &point)?;
        self.chooser.set_taken(place.candidate, true);
        Ok(point)
    }

    /// Discards what was proposed and not logged: picks, and the fit they were made with.
    fn discard_tentative(&mut self) {
        let picks = std::mem::take(&mut self.tentative);
        self.discard_picks(picks);
        self.discard_fit();
    }

    fn discard_picks(&mut self, picks: usize) {
        let rows = self.posterior.keys().len() - picks;
        let candidates: Vec<usize> = self.posterior.keys()[rows..].iter().map(|key| key.site).collect();
        self.posterior.truncate(rows);
        for candidate in candidates {
            self.chooser.set_taken(candidate, false);
        }
    }
}
