//! Choosing over a domain: the searches that each of the three kinds of domain offers, so that no rule depends on the kind.

mod candidates;
mod contest;
mod continuous;
mod discretized;
mod finite;
mod listed;
mod point_score;
mod proof;
mod sampled_argmax;
#[cfg(test)]
mod tests;
mod within;

use std::collections::HashSet;
use std::fmt;

use manyhands_gp::{
    self as gp, Acquisition, Among, GreedyInformation, Key, LevelSet, Marginal, Points, Posterior, Prior, View,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(crate) use self::contest::{Contest, SampledPeak, peaks_among};
use self::continuous::Continuous;
use self::discretized::Discretized;
use self::finite::Finite;
pub(crate) use self::point_score::{PointScore, by_differences};
pub(crate) use self::sampled_argmax::SampledArgmax;
use crate::compatibility::{CUBE, NO_GREEDY_GAIN, ONLY_GP_BTS_ON_A_CUBE, refusal};
use crate::event::Asked;
use crate::{Choice, Domain, Result, Spec, Value};

/// What a pick may read: the spec, the posterior as the pick sees it, and the number of the trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub spec: &'a Spec,
    pub view: View<'a>,
    pub trial: usize,
}

/// The pick of largest standard deviation, whose score is that sd, with its variance.
#[derive(Debug, Clone)]
pub(crate) struct LargestSd {
    pub choice: Choice,
    pub variance: f64,
}

/// The candidate of largest variance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widest {
    pub candidate: usize,
    pub variance: f64,
}

/// The extremes of a band over the domain, in the model's units.
#[derive(Debug, Clone)]
pub(crate) struct Extremes {
    /// No point of the domain has a higher upper end.
    pub upper: f64,
    /// The highest lower end that was found.
    pub lower: f64,
    /// How far `upper` may be above the best possible bound, because the search was stopped early.
    pub gap: f64,
    /// Where `lower` is attained; no candidate on a space that is not finite.
    pub candidate: Option<usize>,
    pub point: Vec<f64>,
}

/// A domain as rules use it. Choices are in the model's units, of phase `Rule`, and with multiplier 0 unless the search is
/// given one; callers change that where it does not hold. Default bodies are those of the appendix's cube, from which only
/// gp-bts chooses.
pub(crate) trait Chooser: fmt::Debug + Send + Sync {
    /// A quasi-random pick of the first design; none where the domain has no such design.
    fn design(&mut self, _context: Context<'_>) -> Result<Option<Choice>> {
        Ok(None)
    }

    /// The pick of largest standard deviation.
    fn largest_sd(&mut self, _context: Context<'_>) -> Result<LargestSd> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The argmax of an acquisition function, with a gap where that is proven; none if its value is finite nowhere.
    fn argmax(&mut self, _context: Context<'_>, _acquisition: &dyn Acquisition) -> Result<Option<Choice>> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// As [`Chooser::argmax`], inside a region defined by the observed points alone; none also if no point of it may be
    /// chosen.
    fn argmax_within(
        &mut self,
        _context: Context<'_>,
        _acquisition: &dyn Acquisition,
        _region: &LevelSet<'_>,
    ) -> Result<Option<Choice>> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The argmax of a score of points; none if it is finite nowhere.
    ///
    /// On a finite domain every candidate that may be chosen is scored, in the order of their indices. On a space the
    /// candidates of the ask are, and the best of them are climbed from.
    fn argmax_by_point(&mut self, _context: Context<'_>, _score: &mut dyn PointScore) -> Result<Option<Choice>> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The highest value of a score of points over the whole domain, taken candidates included; on a space, the highest that a
    /// search finds.
    fn highest_by_point(&mut self, _context: Context<'_>, _score: &mut dyn PointScore) -> Result<f64> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The argmax of a sample of GP(mean, multiplier^2 k).
    fn argmax_of_sample(&mut self, context: Context<'_>, multiplier: f64) -> Result<Choice>;

    /// Where each of some samples of GP(mean, k) is highest, among all points of the domain, those included that may not be
    /// chosen.
    fn argmaxes_of_samples(&mut self, _context: Context<'_>, _count: usize) -> Result<Vec<SampledArgmax>> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The best point that no row has, if there is one.
    fn best_new(&mut self, _context: Context<'_>, _acquisition: &dyn Acquisition) -> Result<Option<Choice>> {
        Ok(None)
    }

    /// The highest value of mean + multiplier x sd over the whole domain, taken candidates included.
    fn highest(&mut self, _context: Context<'_>, _multiplier: f64) -> Result<f64> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The exact moments of the listed points that can matter, by index: those for which `can_matter` holds of upper bounds of
    /// their mean and variance, and which are not left out by `among`. `can_matter` must not turn false as either grows.
    ///
    /// Listed are the candidates of a finite domain; on a space a set of quasi-random points that is fixed by the seed, and
    /// the view's observed points after them.
    fn moments(
        &mut self,
        _context: Context<'_>,
        _among: Among,
        _can_matter: &dyn Fn(f64, f64) -> bool,
    ) -> Result<Vec<(usize, Marginal)>> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The joint covariance of some listed points given the view's rows, row-major; listed as by [`Chooser::moments`].
    fn covariance(&self, _context: Context<'_>, _listed: &[usize]) -> Result<Vec<f64>> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// The choice of a listed point with this score; listed as by [`Chooser::moments`].
    fn choice_of(&mut self, _context: Context<'_>, _listed: usize, _score: f64) -> Result<Choice> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// Whether [`Chooser::band`] can be computed.
    fn has_band(&self) -> bool {
        self.next_band_checkpoint(0).is_some()
    }

    /// The extremes of the band mean +- multiplier x sd over the whole domain.
    fn band(&mut self, _context: Context<'_>, _multiplier: f64) -> Result<Extremes> {
        Err(refusal("a certificate", CUBE, "its candidates change from round to round; use a space"))
    }

    /// The number of values at which the running extremes of a band are computed next, after `observed`; none where bands
    /// have no extremes.
    fn next_band_checkpoint(&self, _observed: usize) -> Option<usize> {
        None
    }

    /// The points where a function may be highest: those of highest mean + multiplier x sd, without the `barred` candidates of a
    /// finite domain.
    fn contenders(&mut self, _context: Context<'_>, _multiplier: f64, _barred: &HashSet<usize>) -> Result<Points> {
        Err(ONLY_GP_BTS_ON_A_CUBE)
    }

    /// Functions sampled from the posterior of the context, each where it is highest.
    fn sampled_peaks(
        &mut self,
        context: Context<'_>,
        contest: Contest<'_>,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<SampledPeak>> {
        peaks_among(context.view, contest, count, rng)
    }

    /// The argmax of an acquisition function under another posterior, among the points that are allowed, with its sd there; none
    /// on domains that are not searched, and where no point is allowed.
    fn argmax_under(
        &mut self,
        _context: Context<'_>,
        _other: &Posterior,
        _acquisition: &dyn Acquisition,
        _allowed: &dyn Fn(&[f64]) -> bool,
    ) -> Result<Option<(Choice, f64)>> {
        Ok(None)
    }

    /// The point of a row again, with the score 0; none where it may not be chosen twice.
    fn again(&mut self, _context: Context<'_>, _row: usize) -> Result<Option<Choice>> {
        Ok(None)
    }

    /// Whether a chosen point is that of a row.
    fn is_known(&self, _posterior: &Posterior, _choice: &Choice) -> Result<bool> {
        Ok(false)
    }

    /// The sd given observed points alone at a chosen point. None on finite domains: what `auto` does with
    /// it was settled on spaces, and reading it there too would change choices.
    fn observed_sd(&self, _posterior: &Posterior, _choice: &Choice) -> Result<Option<f64>> {
        Ok(None)
    }

    /// A new ask begins.
    fn begin_ask(&mut self) {}

    /// The candidates, if they are finitely many.
    fn candidates(&self) -> Option<&gp::Domain> {
        None
    }

    /// How many candidates may still be chosen, if they can run out.
    fn left(&self) -> Option<usize> {
        None
    }

    /// max k(x,x) over the domain.
    fn largest_variance(&self, prior: &Prior) -> f64;

    /// The prior variance that thresholds of `auto` are relative to.
    fn variance_scale(&self, prior: &Prior) -> f64 {
        prior.kernel().variance()
    }

    /// The largest variance of the points that may be chosen or are `pending`, given the rows of a view of any posterior;
    /// infinite where that is not known.
    fn largest_variance_given(&self, _view: View<'_>, _pending: &[Key]) -> Widest {
        Widest { candidate: 0, variance: f64::INFINITY }
    }

    /// sup of sigma_S^2/sigma_{t-1}^2 over the domain; none where it cannot be computed.
    fn exact_hallucination(&mut self, _view: View<'_>) -> Option<f64> {
        None
    }

    /// The greedy maximum information gain over the candidates.
    fn greedy_gain(&mut self, _prior: &Prior) -> Result<&mut GreedyInformation> {
        Err(NO_GREEDY_GAIN)
    }

    /// Whether all rows are factored at once from time to time, instead of only being appended one by one.
    fn refactors_rows(&self) -> bool {
        false
    }

    /// Whether a candidate of the log can be chosen; on a space that is searched, every valid point can.
    fn is_available(&self, trial: usize, candidate: usize) -> bool;

    /// Takes a candidate out of a domain without repeats, or puts it back.
    fn set_taken(&mut self, _candidate: usize, _taken: bool) {}

    /// The coordinates of a place.
    fn point(&self, place: &Place) -> Result<Vec<f64>>;

    /// A copy.
    fn boxed_clone(&self) -> Box<dyn Chooser>;
}

impl Clone for Box<dyn Chooser> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// The chooser of the spec's domain, under this prior.
pub(crate) fn chooser(spec: &Spec, prior: &Prior) -> Result<Box<dyn Chooser>> {
    Ok(match (spec.finite(), spec.domain()) {
        (Some(domain), _) => Box::new(Finite::new(spec, domain.clone(), prior)?),
        (None, Domain::Space(space)) => Box::new(Continuous::new(space.clone())),
        (None, _) => Box::new(Discretized::new(spec, prior)?),
    })
}

/// What identifies the point of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub trial: usize,
    pub candidate: usize,
    pub params: Vec<Value>,
}

impl From<&Asked> for Place {
    fn from(asked: &Asked) -> Self {
        let (candidate, params) = (asked.choice.candidate, asked.choice.params.clone());
        Self { trial: asked.trial, candidate, params }
    }
}

/// Random numbers of one trial, from a counter-based generator keyed by (seed, trial).
pub(crate) fn generator(spec: &Spec, trial: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(spec.seed());
    rng.set_stream(trial as u64);
    rng
}

/// A score, with minus infinity in the place of NaN.
fn without_nan(score: f64) -> f64 {
    if score.is_nan() { f64::NEG_INFINITY } else { score }
}

/// The highest value that may be chosen, the lowest index among ties.
fn peak(values: &[f64], allowed: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
    let highest = values.iter().enumerate().filter(|(i, _)| allowed(*i)).map(|(_, v)| *v).reduce(f64::max)?;
    let threshold = highest - gp::TIE * highest.abs().max(1.0);
    let index = (0..values.len()).find(|&i| values[i] >= threshold && allowed(i))?;
    Some((index, values[index]))
}
