//! The learned model of a study: when it is fitted, how a fit takes effect, and what values mean under it.

use std::mem::replace;

use manyhands_gp::{Posterior, Prior, Warp};
use rand_chacha::ChaCha8Rng;

use super::Study;
use crate::chooser::{Chooser, chooser};
use crate::event::{ENGINE, Event, Fitted};
use crate::rules::assumptions;
use crate::theory::Assumptions;
use crate::tuning::{HYPERPARAMETER_DRAWS, SURPRISE};
use crate::{Error, Result};

/// Only studies whose model is learned fit it.
const NO_LEARNER: Error = Error::Internal { what: "a model that is given was to be fitted" };

/// Warped values are clamped to this range until the next fit standardizes them.
const LARGEST_WARPED: f64 = 1e6;

/// The current fit, and what it replaced if it is not logged yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Learning {
    fitted: Option<Fitted>,
    /// How many values the fit was based on.
    known: usize,
    surprised: bool,
    /// Whether values that it was based on have been amended since.
    pub is_outdated: bool,
    before: Option<Box<ReplacedModel>>,
}

#[derive(Debug, Clone)]
struct ReplacedModel {
    learning: Learning,
    posterior: Posterior,
    chooser: Box<dyn Chooser>,
}

impl Learning {
    /// Whether the current fit is only proposed.
    pub fn is_tentative(&self) -> bool {
        self.before.is_some()
    }

    /// Whether there is a fit.
    pub fn is_fitted(&self) -> bool {
        self.fitted.is_some()
    }

    /// How values are warped; none where the model is given, or nothing was fitted yet.
    pub fn warp(&self) -> Option<&Warp> {
        self.fitted.as_ref().map(|fitted| &fitted.warp)
    }
}

impl Study {
    /// The current fit, where the model is learned and there is one.
    #[doc(alias = "hyperparameters")]
    pub fn fitted(&self) -> Option<&Fitted> {
        self.learning.fitted.as_ref()
    }

    /// A new fit, if one is due; it takes effect at once, and is undone if it is not logged.
    pub(super) fn learn_if_due(&mut self) -> Result<Option<Fitted>> {
        let Some(learner) = &self.learner else { return Ok(None) };
        let observed = self.posterior.observed();
        let last = self.learning.fitted.as_ref().map(|_| self.learning.known);
        let changed = last != Some(observed);
        let is_outdated = self.learning.is_outdated && observed > 0;
        if !(learner.is_due(observed, last) || (self.learning.surprised && changed) || is_outdated) {
            return Ok(None);
        }
        let fitted = self.learn()?;
        let before = self.install(&fitted)?;
        self.learning.before = Some(Box::new(before));
        Ok(Some(fitted))
    }

    /// A fit of all values so far.
    fn learn(&self) -> Result<Fitted> {
        let learner = self.learner.as_ref().ok_or(NO_LEARNER)?;
        let mut points = self.posterior.points().clone();
        points.truncate(self.posterior.observed());
        let last = self.learning.fitted.as_ref().map(|fitted| (&fitted.warp, &fitted.hyperparameters));
        let (warp, hyperparameters) = learner.learn(&points, &self.values(), last)?;
        Ok(Fitted { hyperparameters, warp, seen: self.ledger.events().len(), engine: ENGINE })
    }

    pub(super) fn model_fitted(&mut self, fitted: &Fitted) -> Result<()> {
        self.check_fitted(fitted)?;
        if self.learning.is_tentative() && self.learning.fitted.as_ref() == Some(fitted) {
            self.learning.before = None;
            return Ok(());
        }
        self.discard_tentative();
        self.install(fitted).map(drop)
    }

    /// Logs a fit that a later one replaces before anything is read from it: it is checked and not built.
    pub(super) fn log_superseded_fit(&mut self, fitted: &Fitted) -> Result<()> {
        let event = Event::Fitted(fitted.clone());
        self.ledger.check(&event)?;
        self.check_fitted(fitted)?;
        self.discard_tentative();
        self.ledger.record(event);
        Ok(())
    }

    /// Refuses a fit that cannot follow the log.
    fn check_fitted(&self, fitted: &Fitted) -> Result<()> {
        let Some(learner) = &self.learner else {
            return Err(self.ledger.bad_log("a model was fitted where it is given"));
        };
        let (found, expected) = (fitted.hyperparameters.lengthscales.len(), learner.parameters());
        if found != expected {
            return Err(self.ledger.bad_log(&format!("a fit has {found} lengthscales for {expected} parameters")));
        }
        learner.prior(&fitted.hyperparameters).map(drop)
    }

    /// The same study with a fit of all values so far, for predictions before the next ask fits them.
    pub(super) fn with_fit(&self) -> Result<Self> {
        let mut study = self.clone();
        study.discard_tentative();
        let fitted = study.learn()?;
        study.install(&fitted)?;
        Ok(study)
    }

    /// Whether there are values and no fit of them: none was made yet, or values have been amended since.
    pub(super) fn is_unfitted(&self) -> bool {
        let is_fitted = self.learning.is_fitted() && !self.learning.is_outdated;
        self.learner.is_some() && !is_fitted && self.posterior.observed() > 0
    }

    /// The observed values in the model's units.
    pub(super) fn warped_values(&self) -> Vec<f64> {
        let warp = self.learning.warp();
        self.values().iter().map(|&value| warp.map_or(value, |warp| bounded(warp.forward(value)))).collect()
    }

    /// Priors drawn around the fit; the prior itself where nothing is learned.
    pub(super) fn drawn_priors(&self, rng: &mut ChaCha8Rng) -> Result<Vec<Prior>> {
        let (Some(learner), Some(fitted)) = (&self.learner, &self.learning.fitted) else {
            return Ok(vec![self.posterior.prior().clone()]);
        };
        let mut points = self.posterior.points().clone();
        points.truncate(self.posterior.observed());
        let fit = (&fitted.warp, &fitted.hyperparameters);
        learner.draw(&points, &self.values(), fit, HYPERPARAMETER_DRAWS, rng)
    }

    /// Makes a fit the current one; returns what it replaced.
    fn install(&mut self, fitted: &Fitted) -> Result<ReplacedModel> {
        let learner = self.learner.as_ref().ok_or(NO_LEARNER)?;
        let prior = learner.prior(&fitted.hyperparameters)?;
        let values: Vec<f64> = self.values().iter().map(|&value| bounded(fitted.warp.forward(value))).collect();
        let posterior = self.posterior.rebuilt(prior, &values)?;
        let mut chooser = chooser(&self.spec, posterior.prior())?;
        for key in posterior.keys() {
            chooser.set_taken(key.site, true);
        }
        self.band = Default::default();
        // Values may have been logged, or amended, between the computation of a fit and its event.
        let since = self.ledger.events().get(fitted.seen..).unwrap_or_default();
        let known = values.len().saturating_sub(since.iter().filter(|event| event.brings_a_value()).count());
        let surprised = values[known..].iter().any(|warped| warped.abs() > SURPRISE);
        let is_outdated = since.iter().any(Event::revises);
        let learning = Learning { fitted: Some(fitted.clone()), known, surprised, is_outdated, before: None };
        Ok(ReplacedModel {
            learning: replace(&mut self.learning, learning),
            posterior: replace(&mut self.posterior, posterior),
            chooser: replace(&mut self.chooser, chooser),
        })
    }

    pub(super) fn discard_fit(&mut self) {
        if let Some(before) = self.learning.before.take() {
            let ReplacedModel { learning, posterior, chooser } = *before;
            (self.learning, self.posterior, self.chooser) = (learning, posterior, chooser);
            self.band = Default::default();
        }
    }

    /// The values of the observed rows, in the rows' order, larger is better.
    fn values(&self) -> Vec<f64> {
        self.ledger.values_of(&self.posterior.keys()[..self.posterior.observed()], self.spec.direction())
    }

    /// A user's value in the model's units; one that the fit did not expect is remembered, so that another fit is due.
    pub(super) fn warp_value(&mut self, value: f64) -> f64 {
        let value = self.spec.direction().sign() * value;
        match (&self.learner, self.learning.warp()) {
            (None, _) => value,
            // The first fit reads the value itself; until then the row only needs a placeholder.
            (Some(_), None) => 0.0,
            (Some(_), Some(warp)) => {
                let warped = warp.forward(value);
                self.learning.surprised |= warped.is_nan() || warped.abs() > SURPRISE;
                bounded(warped)
            }
        }
    }

    /// Mean and sd of the model in units of the maximized function.
    pub(super) fn in_units(&self, mean: f64, sd: f64) -> (f64, f64) {
        self.learning.warp().map_or((mean, sd), |warp| warp.moments(mean, sd))
    }

    /// A bound of the model in units of the maximized function.
    pub(super) fn bound_in_units(&self, bound: f64) -> f64 {
        self.learning.warp().map_or(bound, |warp| warp.inverse(bound))
    }

    /// B, R, lambda and delta at present. Where B is not given it is estimated as max(1, norm of the posterior mean).
    pub fn assumptions(&self) -> Result<Assumptions> {
        assumptions(&self.spec, &self.posterior, self.learning.warp())
    }
}

fn bounded(warped: f64) -> f64 {
    if warped.is_nan() { 0.0 } else { warped.clamp(-LARGEST_WARPED, LARGEST_WARPED) }
}
