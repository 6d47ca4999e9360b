//! The three rules: how the next candidate is chosen, given everything observed and pending.
//!
//! Choosing reads the log's state and the seed, and nothing else. With one worker IGP-BUCB and GP-BTS are IGP-UCB and
//! GP-TS, by this same code.

use std::sync::Arc;

use manyhands_gp::{
    self as gp, GreedyInformation, Grid, Key, Posterior, Prior, Restricted, Sampler, Score, Surface, TIE, View,
    draw_on_grid,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Study, TrialState};
use crate::confidence::{a_priori_hallucination, initialization_variance, worst_case_hallucination};
use crate::event::Asked;
use crate::information::{closed_form, logarithm};
use crate::spec::{Domain, NO_CLOSED_FORM, NO_GREEDY_GAIN, ONLY_GP_BTS_ON_A_CUBE};
use crate::strategy::{Hallucination, Information, Initial, Rule};
use crate::{Error, Result, Spec};

/// The largest D_t, and so the longest coordinate, that is sampled.
const LARGEST_DISCRETIZATION: usize = 1 << 24;

/// What choosing works on.
#[derive(Debug, Clone)]
pub(super) enum Chooser {
    Finite(Box<Finite>),
    Discretized { lipschitz: f64 },
}

/// A finite domain with the candidates still to be had.
#[derive(Debug, Clone)]
pub(super) struct Finite {
    surface: Surface,
    sampler: Option<Sampler>,
    greedy: Option<GreedyInformation>,
    left: usize,
}

impl Finite {
    fn greedy(&mut self, prior: &Prior) -> Result<&mut GreedyInformation> {
        let greedy = match self.greedy.take() {
            Some(greedy) => greedy,
            None => GreedyInformation::new(prior.clone(), self.surface.restricted().clone())?,
        };
        Ok(self.greedy.insert(greedy))
    }
}

impl Chooser {
    pub fn new(spec: &Spec) -> Result<Self> {
        let kernel = spec.prior().kernel();
        let Some(domain) = spec.domain().finite() else {
            return Ok(Self::Discretized { lipschitz: kernel.lipschitz()? });
        };
        let restricted = Arc::new(Restricted::new(kernel.clone(), domain, spec.memory())?);
        let sampler = (spec.strategy().rule == Rule::GpBts).then(|| Sampler::new(restricted.clone())).transpose()?;
        let left = restricted.domain().len();
        Ok(Self::Finite(Box::new(Finite { surface: Surface::new(restricted), sampler, greedy: None, left })))
    }

    /// The restriction of the kernel to the domain, if the domain is finite.
    pub fn restricted(&self) -> Option<&Arc<Restricted>> {
        match self {
            Self::Finite(finite) => Some(finite.surface.restricted()),
            Self::Discretized { .. } => None,
        }
    }

    /// How many candidates are still to be had, if they can run out.
    pub fn left(&self) -> Option<usize> {
        match self {
            Self::Finite(finite) => Some(finite.left),
            Self::Discretized { .. } => None,
        }
    }

    /// Whether a logged choice could have been made.
    pub fn is_free(&self, spec: &Spec, asked: &Asked) -> bool {
        match self {
            Self::Finite(finite) => {
                let inside = asked.candidate < finite.surface.restricted().domain().len();
                inside && !finite.surface.is_excluded(asked.candidate)
            }
            Self::Discretized { .. } => {
                self.discretization(spec, asked.trial).is_ok_and(|grid| asked.candidate < grid.len())
            }
        }
    }

    /// Takes a candidate out of a pool without repeats, or puts it back.
    pub fn set_taken(&mut self, candidate: usize, taken: bool, repeats: bool) {
        if let (Self::Finite(finite), false) = (self, repeats) {
            finite.surface.set_excluded(candidate, taken);
            finite.left = if taken { finite.left - 1 } else { finite.left + 1 };
        }
    }

    pub fn point(&self, spec: &Spec, trial: usize, candidate: usize) -> Result<Vec<f64>> {
        match self {
            Self::Finite(finite) => Ok(finite.surface.restricted().domain().point(candidate)),
            Self::Discretized { .. } => Ok(self.discretization(spec, trial)?.point(candidate)),
        }
    }

    /// D_t of the appendix, t = trial + 1: B L r d t^2 evenly spaced points along every coordinate.
    fn discretization(&self, spec: &Spec, trial: usize) -> Result<Grid> {
        let (Self::Discretized { lipschitz }, &Domain::Discretized { side, dimension }) = (self, spec.domain()) else {
            return Err(Error::Incompatible { setting: "D_t", with: "this domain", reason: "it is finite" });
        };
        let t = trial + 1;
        let exact = spec.strategy().norm_bound * lipschitz * side * dimension as f64 * (t * t) as f64;
        let per_coordinate = exact.ceil().max(2.0) as usize;
        let size = u32::try_from(dimension)
            .ok()
            .and_then(|d| per_coordinate.checked_pow(d))
            .filter(|&size| size <= LARGEST_DISCRETIZATION);
        match size {
            Some(_) => Ok(Grid::even(&vec![(0.0, side, per_coordinate); dimension])?),
            None => Err(Error::DiscretizationTooLarge { t, per_coordinate, dimension }),
        }
    }
}

impl Study {
    /// The choice of trial number `trial`, knowing all events up to `seen` and the tentative picks.
    pub(super) fn choose(&mut self, trial: usize, seen: usize) -> Result<Asked> {
        if let Some(asked) = self.choose_initial(trial, seen)? {
            return Ok(asked);
        }
        let multiplier = self.multiplier(trial)?;
        match self.spec.strategy().rule {
            Rule::IgpBucb | Rule::GpBucb | Rule::GpBucbBayesian => {
                let choice = self.argmax(Score::Upper(multiplier))?;
                let gp::Choice { index: candidate, mean, sd, score } = choice;
                Ok(Asked { trial, candidate, mean, sd, multiplier, score, initial: false, seen })
            }
            Rule::GpBts => self.choose_by_sample(trial, seen, multiplier),
        }
    }

    /// A pick of the initialization scheme, if it is not over: it is over for good once the rule has chosen.
    fn choose_initial(&mut self, trial: usize, seen: usize) -> Result<Option<Asked>> {
        if self.trials.iter().any(|trial| !trial.is_initial()) {
            return Ok(None);
        }
        let strategy = self.spec.strategy();
        let target = match (strategy.initial, strategy.max_pending) {
            (Initial::None, _) => return Ok(None),
            (Initial::Count(count), _) => {
                if trial - self.count(TrialState::Cancelled) >= count {
                    return Ok(None);
                }
                f64::NEG_INFINITY
            }
            (Initial::Until(target), workers) => {
                initialization_variance(target, workers.unwrap_or(1), self.spec.prior().noise())
            }
        };
        let choice = self.argmax(Score::Variance)?;
        let gp::Choice { index: candidate, mean, sd, score: variance } = choice;
        let asked = Asked { trial, candidate, mean, sd, multiplier: 0.0, score: sd, initial: true, seen };
        let over = variance <= target && (self.posterior.pending() == 0 || self.settled_variance()? <= target);
        Ok((!over).then_some(asked))
    }

    /// The largest variance of what may be pending, given what is not: xi is relative to the observed points, so a pick
    /// of the initialization scheme counts when it has arrived. Failed points count too, as they never will.
    fn settled_variance(&self) -> Result<f64> {
        let Chooser::Finite(finite) = &self.chooser else { return Ok(f64::INFINITY) };
        let failed = |key: &Key| self.trials.get(key.id as usize).is_some_and(|t| t.state() == TrialState::Failed);
        let hallucinated = &self.posterior.keys()[self.posterior.observed()..];
        let pending: Vec<Key> = hallucinated.iter().filter(|key| !failed(key)).copied().collect();
        let mut posterior = self.posterior.clone();
        pending.iter().try_for_each(|key| posterior.retract(key.id))?;
        let mut surface = Surface::new(finite.surface.restricted().clone());
        let taken = (0..surface.restricted().domain().len()).filter(|&i| finite.surface.is_excluded(i));
        taken.for_each(|i| surface.set_excluded(i, true));
        pending.iter().for_each(|key| surface.set_excluded(key.site, false));
        Ok(surface.argmax(posterior.view(), Score::Variance).map_or(0.0, |choice| choice.score))
    }

    fn argmax(&mut self, score: Score) -> Result<gp::Choice> {
        let view = match score {
            // The initialization scheme is about pending points and never ignores them.
            Score::Variance => self.posterior.view(),
            _ => choosing_view(&self.spec, &self.posterior),
        };
        match &mut self.chooser {
            Chooser::Finite(finite) => finite.surface.argmax(view, score),
            Chooser::Discretized { .. } => None,
        }
        .ok_or(Error::PoolExhausted { asked: 1, left: 0 })
    }

    /// GP-BTS: the argmax of a sample of GP(mu_S, v_t^2 k_{t-1}) on D_t.
    fn choose_by_sample(&mut self, trial: usize, seen: usize, multiplier: f64) -> Result<Asked> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.spec.seed());
        rng.set_stream(trial as u64);
        let view = choosing_view(&self.spec, &self.posterior);
        let exhausted = Error::PoolExhausted { asked: 1, left: 0 };
        match &mut self.chooser {
            Chooser::Finite(finite) => {
                let Finite { surface, sampler: Some(sampler), .. } = &mut **finite else { return Err(exhausted) };
                let sample = sampler.draw(view, multiplier, &mut rng);
                let (candidate, score) = peak(&sample, |i| !surface.is_excluded(i)).ok_or(exhausted)?;
                let (mean, sd) = surface.moments(view, candidate);
                Ok(Asked { trial, candidate, mean, sd, multiplier, score, initial: false, seen })
            }
            Chooser::Discretized { .. } => {
                let grid = self.chooser.discretization(&self.spec, trial)?;
                let sample = draw_on_grid(view, &grid, multiplier, self.spec.memory(), &mut rng)?;
                let (candidate, score) = peak(&sample, |_| true).ok_or(exhausted)?;
                let gp::Marginal { mean, sd, sd_observed } = self.posterior.predict(&grid.point(candidate))?;
                let sd = if view.keys().len() == view.observed() { sd_observed } else { sd };
                Ok(Asked { trial, candidate, mean, sd, multiplier, score, initial: false, seen })
            }
        }
    }

    /// beta_t, v_t or GP-BUCB's multiplier, times `width`.
    fn multiplier(&mut self, trial: usize) -> Result<f64> {
        let (strategy, assumptions) = (self.spec.strategy().clone(), self.spec.assumptions());
        let hallucination = self.hallucination()?;
        let t = trial + 1;
        let formula = match strategy.rule {
            Rule::IgpBucb => assumptions.igp_bucb(self.information(self.posterior.observed())?, hallucination),
            Rule::GpBts => assumptions.gp_bts(self.information(self.posterior.observed())?, hallucination),
            Rule::GpBucb => assumptions.gp_bucb(t, self.information(t)?, hallucination),
            Rule::GpBucbBayesian => {
                let candidates = self.chooser.restricted().ok_or(ONLY_GP_BTS_ON_A_CUBE)?.domain().len();
                assumptions.gp_bucb_bayesian(t, candidates, hallucination)
            }
        };
        let value = strategy.width * formula;
        if value.is_finite() { Ok(value) } else { Err(Error::MultiplierTooLarge { trial, value }) }
    }

    /// gamma of `points` points, or the realised gain in its place: of the observed rows, for GP-BUCB of all rows.
    fn information(&mut self, points: usize) -> Result<f64> {
        let rows = self.posterior.keys().len().min(points);
        match self.spec.strategy().information {
            Information::Realised => Ok(self.posterior.information_of(rows)),
            kind => self.maximum_information(kind, points),
        }
    }

    fn maximum_information(&mut self, kind: Information, points: usize) -> Result<f64> {
        let (kernel, dimension) = (self.spec.prior().kernel(), self.spec.domain().dimension());
        match (kind, &mut self.chooser) {
            (Information::Log, _) => Ok(logarithm(points)),
            (Information::ClosedForm, _) => closed_form(kernel, points, dimension).ok_or(NO_CLOSED_FORM),
            (Information::Greedy, Chooser::Finite(finite)) => Ok(finite.greedy(self.spec.prior())?.gain(points)?),
            (_, Chooser::Finite(finite)) => Ok(finite.greedy(self.spec.prior())?.upper(points)?),
            (_, Chooser::Discretized { .. }) => Err(NO_GREEDY_GAIN),
        }
    }

    /// xi, as the strategy says.
    fn hallucination(&mut self) -> Result<f64> {
        let noise = self.spec.prior().noise();
        // Failed points stay hallucinated beside the M - 1 pending ones.
        let workers = self.spec.strategy().max_pending.unwrap_or(1) + self.count(TrialState::Failed);
        match self.spec.strategy().hallucination {
            Hallucination::Number(xi) => Ok(xi),
            Hallucination::Off => Ok(1.0),
            Hallucination::Realised => Ok(self.posterior.hallucination_factor()?),
            Hallucination::Exact => match &mut self.chooser {
                Chooser::Finite(finite) => Ok(finite.surface.hallucination_factor(self.posterior.view())),
                Chooser::Discretized { .. } => Ok(self.posterior.hallucination_factor()?),
            },
            Hallucination::APriori => Ok(a_priori_hallucination(workers, self.largest_variance(), noise)),
            Hallucination::WorstCase => {
                // The realised gain says nothing of gamma_{M-1}; a certified bound does.
                let kind = match self.spec.strategy().information {
                    Information::Realised => Information::GreedyUpper,
                    kind => kind,
                };
                Ok(worst_case_hallucination(self.maximum_information(kind, workers - 1)?))
            }
        }
    }

    /// max k(x,x) over the domain.
    pub fn largest_variance(&self) -> f64 {
        match (self.chooser.restricted(), self.spec.domain()) {
            (Some(restricted), _) => restricted.largest_variance(),
            (None, Domain::Discretized { side, dimension }) => {
                self.spec.prior().kernel().variance_at(&vec![*side; *dimension])
            }
            (None, _) => self.spec.prior().kernel().variance(),
        }
    }
}

/// What a rule sees: pending points are hallucinated unless the spec says to ignore them.
fn choosing_view<'a>(spec: &Spec, posterior: &'a Posterior) -> View<'a> {
    match spec.strategy().hallucination {
        Hallucination::Off => posterior.past_view(posterior.observed()),
        _ => posterior.view(),
    }
}

/// The highest value that may be chosen, the lowest index among ties.
fn peak(values: &[f64], allowed: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
    let highest = values.iter().enumerate().filter(|(i, _)| allowed(*i)).map(|(_, v)| *v).reduce(f64::max)?;
    let threshold = highest - TIE * highest.abs().max(1.0);
    let index = (0..values.len()).find(|&i| values[i] >= threshold && allowed(i))?;
    Some((index, values[index]))
}
