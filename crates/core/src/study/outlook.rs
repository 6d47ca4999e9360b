//! What may still be gained, by the opinion of a model that was learned: how much higher than at the best point the functions
//! are that it holds possible.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | f_s | sampled function | a draw of the posterior, under hyperparameters drawn around the fit, given observed trials |
//! | c | widened | what the record asks for, half a standard error higher: f_s deviates from the mean by c times as much |
//! | max f_s - f_s(x*) | gain of a sample | over the domain, x* the best point |
//! | gain | | their 0.9 quantile |
//!
//! It is no bound: a model that has not seen the best part of the domain does not know of it. The record says how far it has
//! been right so far, and where that is too little, nothing is said.

use manyhands_gp::Points;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::Study;
use super::predict::representable;
use super::record::{PROBABILITY, TrackRecord};
use crate::chooser::{Contest, Context, SampledPeak, peaks_among};
use crate::tuning::{FEWEST_TRIALS, LEAST_RECORD, SAMPLED_FUNCTIONS};
use crate::{Error, Result, Trial, TrialState};

/// Contenders are the points of highest mean + this many sds.
const REACH: f64 = 3.0;

/// A quick look that finds more than this many times a limit makes a closer one needless.
const CLEARLY: f64 = 2.0;

/// Nothing is left to gain where the gain is less than this share of the distance between the best reading and the median.
const EXHAUSTED_SHARE: f64 = 1e-3;

/// What a learned model expects, in the user's units.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// for _ in 0..10 {
///     for s in study.ask(4)? {
///         study.tell(s.trial, -(s.point[0] - 0.3).powi(2))?;
///     }
/// }
/// let outlook = study.outlook()?;
/// assert!(outlook.gain.is_some_and(|gain| gain < 0.01) && outlook.record.held <= outlook.record.trials);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// In [`Outlook::probability`] of the sampled functions the best point cannot be improved by more than this; none where the
    /// model is not to be trusted with it.
    pub gain: Option<f64>,
    /// The share of the sampled functions.
    pub probability: f64,
    /// How far the model has been right.
    pub record: TrackRecord,
    /// What the sampled functions' deviations from the mean are widened by, from 1: what the record asks for, with its own
    /// uncertainty, and with the noise as it is known now.
    pub widened: f64,
    /// Why there is no gain.
    pub silence: Option<Silence>,
    /// Whether the gain is less than a thousandth of what separates the best reading from the median one.
    pub is_exhausted: bool,
}

/// Why a model does not say what may still be gained.
///
/// ```
/// use manyhands_core::study::Silence;
/// # use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// # let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// # let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// for s in study.ask(4)? {
///     study.tell(s.trial, -(s.point[0] - 0.3).powi(2))?;
/// }
/// assert_eq!(study.outlook()?.silence, Some(Silence::TooEarly { wanted: 20 }));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Silence {
    /// Fewer trials after the first design have a value than this.
    TooEarly {
        /// How many it takes.
        wanted: usize,
    },
    /// All values are equal, and nothing else determines how much they can vary.
    NoScale,
    /// The gain is beyond the largest numbers that can be stated.
    BeyondFloats,
    /// Its intervals held too seldom.
    PoorRecord {
        /// The share that must have held.
        wanted: f64,
    },
}

impl Study {
    /// What the model expects still to be gained over the best point.
    pub fn outlook(&mut self) -> Result<Outlook> {
        if self.is_unfitted() {
            return self.with_fit()?.outlook();
        }
        let (record, widened) = self.judged();
        let (gain, silence) = match self.silence(&record) {
            Some(silence) => (None, Some(silence)),
            None => match representable(self.gain(widened)?) {
                Some(gain) => (Some(gain), None),
                None => (None, Some(Silence::BeyondFloats)),
            },
        };
        let is_exhausted = gain.is_some_and(|gain| 0.5 * gain <= EXHAUSTED_SHARE * self.half_distance_to_median());
        Ok(Outlook { gain, probability: PROBABILITY, record, widened, silence, is_exhausted })
    }

    /// Half of how far the best reading is from the median one: the whole may not be finite.
    fn half_distance_to_median(&self) -> f64 {
        let sign = self.spec.direction().sign();
        let mut values: Vec<f64> =
            self.ledger.trials().iter().filter_map(|trial| Some(sign * trial.value()?)).collect();
        values.sort_by(f64::total_cmp);
        values.last().map_or(0.0, |best| 0.5 * best - 0.5 * values[values.len() / 2])
    }

    fn silence(&self, record: &TrackRecord) -> Option<Silence> {
        if record.trials < FEWEST_TRIALS {
            return Some(Silence::TooEarly { wanted: FEWEST_TRIALS });
        }
        if !self.has_scale() {
            return Some(Silence::NoScale);
        }
        let is_poor = record.share().is_none_or(|share| share < LEAST_RECORD);
        is_poor.then_some(Silence::PoorRecord { wanted: LEAST_RECORD })
    }

    /// Whether values are known to vary: a learned model knows their scale only once two of them differ.
    fn has_scale(&self) -> bool {
        let mut values = self.ledger.trials().iter().filter_map(Trial::value);
        let first = values.next();
        !self.spec.learns() || values.any(|value| Some(value) != first)
    }

    /// The quantile of the gains of sampled functions that deviate from the mean by `widened` times the model's sd.
    fn gain(&mut self, widened: f64) -> Result<f64> {
        let (best, contenders, mut rng) = self.contenders(widened)?;
        let contest = Contest { best: &best, contenders: &contenders, scale: widened };
        let (observed, trial) = (self.posterior.observed(), self.ledger.trials().len());
        let (priors, values) = (self.drawn_priors(&mut rng)?, self.warped_values());
        let each = SAMPLED_FUNCTIONS / priors.len().max(1);
        let mut peaks = Vec::with_capacity(SAMPLED_FUNCTIONS);
        for prior in priors {
            let posterior = self.posterior.rebuilt(prior, &values)?;
            let context = Context { spec: &self.spec, view: posterior.past_view(observed), trial };
            peaks.extend(self.chooser.sampled_peaks(context, contest, each, &mut rng)?);
        }
        self.quantile(&peaks)
    }

    /// Whether an outlook would be silent, or its gain more than `limit`, as far as a quick look tells: functions are sampled under
    /// the fit alone, and only at the points where they may be highest. Then there is no need for the outlook itself.
    pub(super) fn is_clearly_above(&mut self, limit: f64) -> Result<bool> {
        let (record, widened) = self.judged();
        if self.silence(&record).is_some() {
            return Ok(true);
        }
        let (best, contenders, mut rng) = self.contenders(widened)?;
        let contest = Contest { best: &best, contenders: &contenders, scale: widened };
        let view = self.posterior.past_view(self.posterior.observed());
        let peaks = peaks_among(view, contest, SAMPLED_FUNCTIONS, &mut rng)?;
        Ok(self.quantile(&peaks)? > CLEARLY * limit)
    }

    /// The best point, the points where functions may be higher, and random numbers for them.
    fn contenders(&mut self, widened: f64) -> Result<(Vec<f64>, Points, ChaCha8Rng)> {
        let best = self.point(self.incumbent()?.trial)?.to_vec();
        let (observed, trial) = (self.posterior.observed(), self.ledger.trials().len());
        let context = Context { spec: &self.spec, view: self.posterior.past_view(observed), trial };
        // Without repeats a candidate that failed can never be the best point.
        let is_barred = |trial: &&Trial| !self.spec.repeats() && trial.state() == TrialState::Failed;
        let barred = self.ledger.trials().iter().filter(is_barred).map(Trial::candidate).collect();
        let contenders = self.chooser.contenders(context, REACH * widened, &barred)?;
        Ok((best, contenders, self.draws_of_log()))
    }

    /// The quantile of the gains of sampled functions, in units of the values.
    fn quantile(&self, peaks: &[SampledPeak]) -> Result<f64> {
        let gain = |peak: &SampledPeak| self.bound_in_units(peak.highest) - self.bound_in_units(peak.at_best);
        let mut gains: Vec<f64> = peaks.iter().map(gain).collect();
        gains.sort_by(f64::total_cmp);
        let rank = (PROBABILITY * gains.len() as f64).ceil() as usize;
        gains.get(rank.max(1) - 1).copied().ok_or(Error::Internal { what: "no function was sampled" })
    }

    /// Random numbers that belong to no trial, keyed by (seed, length of the log).
    pub(super) fn draws_of_log(&self) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.spec.seed());
        rng.set_stream((1 << 63) | self.ledger.events().len() as u64);
        rng
    }
}
