//! The rules: how the next point is chosen, given everything observed and pending.
//!
//! Choosing reads the log's state and the seed, and nothing else. With one worker IGP-BUCB and GP-BTS are IGP-UCB and
//! GP-TS, by this same code.

use manyhands_gp::{
    self as gp, Acquisition, ConfidenceBound, Key, Posterior, Provable, Surface, TIE, Variance, View, draw_on_grid,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::chooser::{Chooser, Finite};
use super::{Study, TrialState};
use crate::confidence::{a_priori_hallucination, initialization_variance, worst_case_hallucination};
use crate::event::{Asked, ENGINE, Phase};
use crate::information::{closed_form, logarithm};
use crate::spec::{NO_BAYESIAN_ON_A_BOX, NO_CLOSED_FORM, NO_GREEDY_GAIN};
use crate::strategy::{Hallucination, Information, Initial, Rule};
use crate::{Domain, Error, Result, Spec, Value};

/// How many candidates of a finite domain a pick of the first design is the most distant of.
const DESIGN_CANDIDATES: usize = 32;

/// Trying a point again pays where its variance is above this part of the prior's: only noise can keep it up there.
const REPEAT_PAYS: f64 = 1e-4;

/// A wide pick whose sd is below this part of the prior's teaches nothing: what it looks at has converged, and the trial is
/// better spent where the model knows least.
const TEACHES: f64 = 1e-4;

/// A greedy pick is wide instead where pending points leave less than this part of its variance: they will tell.
const LEFT_OPEN: f64 = 0.1;

/// A choice in the model's own units.
#[derive(Debug, Clone)]
pub(super) struct Pick {
    pub candidate: usize,
    pub params: Vec<Value>,
    pub mean: f64,
    pub sd: f64,
    pub multiplier: f64,
    pub score: f64,
    pub gap: Option<f64>,
    pub phase: Phase,
}

impl Pick {
    /// The rule's choice among finitely many, which is exact.
    fn exact(choice: gp::Maximizer, multiplier: f64) -> Self {
        let gp::Maximizer { index: candidate, mean, sd, score } = choice;
        Self { candidate, params: vec![], mean, sd, multiplier, score, gap: Some(0.0), phase: Phase::Rule }
    }
}

impl Study {
    /// The choice of trial number `trial`, knowing all events up to `seen` and the tentative picks.
    pub(super) fn choose(&mut self, trial: usize, seen: usize) -> Result<Asked> {
        let pick = match self.choose_design(trial)? {
            Some(pick) => pick,
            None => match self.choose_initial(trial)? {
                Some(pick) => pick,
                None => self.choose_by_rule(trial)?,
            },
        };
        let params = match (&self.chooser, self.spec.domain()) {
            (Chooser::Finite(finite), Domain::Space(space)) => {
                space.params(&finite.surface.restricted().domain().point(pick.candidate))
            }
            _ => pick.params,
        };
        let (mean, sd) = self.in_units(pick.mean, pick.sd);
        let Pick { candidate, multiplier, score, gap, phase, .. } = pick;
        Ok(Asked { trial, candidate, params, mean, sd, multiplier, score, gap, phase, seen, engine: ENGINE })
    }

    fn choose_by_rule(&mut self, trial: usize) -> Result<Pick> {
        let multiplier = self.multiplier(trial)?;
        match self.spec.strategy().rule {
            Rule::IgpBucb | Rule::GpBucb | Rule::GpBucbBayesian => self.choose_upper(trial, multiplier),
            Rule::GpBts => self.choose_by_sample(trial, multiplier),
            Rule::Auto => self.choose_without_waste(trial, multiplier),
        }
    }

    /// The argmax of mean + multiplier x sd.
    fn choose_upper(&mut self, trial: usize, multiplier: f64) -> Result<Pick> {
        if let Chooser::Continuous(continuous) = &mut self.chooser {
            let view = choosing_view(&self.spec, &self.posterior);
            return continuous.choose(&self.spec, view, trial, multiplier);
        }
        Ok(Pick::exact(self.argmax(&ConfidenceBound(multiplier))?, multiplier))
    }

    /// The argmax, unless it is a point at hand, or as good as pending, that another look would teach nothing about: then a
    /// wider one, or where the model knows least, and at last the best that is not at hand. If there is none, the first.
    fn choose_without_waste(&mut self, trial: usize, multiplier: f64) -> Result<Pick> {
        let wide = self.spec.tuning().widest() * self.spec.strategy().width;
        let first = self.choose_upper(trial, multiplier)?;
        if multiplier < wide && !self.is_waste(&first)? && !self.is_covered(&first)? {
            return Ok(first);
        }
        let wider = if multiplier < wide { self.choose_upper(trial, wide)? } else { first.clone() };
        if wider.sd < TEACHES * self.prior_variance().sqrt() {
            return self.choose_widest(trial).map(|pick| Pick { score: pick.sd, ..pick });
        }
        if !self.is_waste(&wider)? {
            return Ok(wider);
        }
        Ok(self.choose_new(trial, wide)?.unwrap_or(first))
    }

    /// Whether a point is at hand already and a repeat would not pay.
    fn is_waste(&self, pick: &Pick) -> Result<bool> {
        let known = match &self.chooser {
            Chooser::Finite(_) => self.posterior.keys().iter().any(|key| key.site == pick.candidate),
            Chooser::Continuous(continuous) => {
                continuous.is_known(&self.posterior, &continuous.space().embed(&pick.params)?)
            }
            Chooser::Discretized { .. } => false,
        };
        Ok(known && pick.sd * pick.sd <= REPEAT_PAYS * self.prior_variance())
    }

    /// Whether what is pending will tell nearly all that the point would.
    fn is_covered(&self, pick: &Pick) -> Result<bool> {
        let Chooser::Continuous(continuous) = &self.chooser else { return Ok(false) };
        let there = self.posterior.predict(&continuous.space().embed(&pick.params)?)?;
        Ok(pick.sd * pick.sd < LEFT_OPEN * there.sd_observed * there.sd_observed)
    }

    /// The largest variance that the model has anywhere before any value.
    fn prior_variance(&self) -> f64 {
        match &self.chooser {
            Chooser::Finite(finite) => finite.surface.restricted().largest_variance(),
            _ => self.posterior.prior().kernel().variance(),
        }
    }

    /// The point that the model knows least of.
    fn choose_widest(&mut self, trial: usize) -> Result<Pick> {
        if let Chooser::Continuous(continuous) = &mut self.chooser {
            return continuous.widest(&self.spec, self.posterior.view(), trial);
        }
        Ok(Pick::exact(self.argmax(&Variance)?, 0.0))
    }

    /// The best point that is not at hand, if there is one.
    fn choose_new(&mut self, trial: usize, multiplier: f64) -> Result<Option<Pick>> {
        let view = choosing_view(&self.spec, &self.posterior);
        match &mut self.chooser {
            Chooser::Finite(finite) => {
                let surface = &mut finite.surface;
                let mut known: Vec<usize> = view.posterior().keys().iter().map(|key| key.site).collect();
                known.sort_unstable();
                known.dedup();
                known.retain(|&site| !surface.is_excluded(site));
                known.iter().for_each(|&site| surface.set_excluded(site, true));
                let choice = surface.argmax(view, &ConfidenceBound(multiplier));
                known.iter().for_each(|&site| surface.set_excluded(site, false));
                Ok(choice.map(|choice| Pick::exact(choice, multiplier)))
            }
            Chooser::Continuous(continuous) => continuous.choose_new(&self.spec, view, trial, multiplier),
            Chooser::Discretized { .. } => Ok(None),
        }
    }

    /// A quasi-random pick, while a model that is learned has little to learn from, or where the strategy asks for some.
    fn choose_design(&mut self, trial: usize) -> Result<Option<Pick>> {
        let by_dimension = self.learner.as_ref().map_or(0, |learner| learner.design());
        let wanted = self.spec.strategy().design.unwrap_or(by_dimension);
        let placed = trial - self.count(TrialState::Cancelled);
        if placed >= wanted && (self.learner.is_none() || self.posterior.observed() > 0) {
            return Ok(None);
        }
        let view = self.posterior.view();
        let mut rng = self.generator(trial);
        match &mut self.chooser {
            Chooser::Continuous(continuous) => continuous.design(&self.spec, view, trial).map(Some),
            Chooser::Finite(finite) => {
                let len = finite.surface.restricted().domain().len();
                let free = |rng: &mut ChaCha8Rng| {
                    let first = (rng.next_u64() % len as u64) as usize;
                    (0..len).map(|step| (first + step) % len).find(|&i| !finite.surface.is_excluded(i))
                };
                let candidates: Vec<usize> = (0..DESIGN_CANDIDATES).filter_map(|_| free(&mut rng)).collect();
                let mut best: Option<Pick> = None;
                for candidate in candidates {
                    let (mean, sd) = finite.surface.moments(view, candidate);
                    if best.as_ref().is_none_or(|b| sd > b.sd) {
                        let params = vec![];
                        let phase = Phase::Design;
                        best = Some(Pick { candidate, params, mean, sd, multiplier: 0.0, score: sd, gap: None, phase });
                    }
                }
                best.map(Some).ok_or(Error::PoolExhausted { asked: 1, left: 0 })
            }
            Chooser::Discretized { .. } => Ok(None),
        }
    }

    /// A pick of the initialization scheme, if it is not over: it is over for good once the rule has chosen.
    fn choose_initial(&mut self, trial: usize) -> Result<Option<Pick>> {
        if self.trials.iter().any(|trial| trial.phase() == Some(Phase::Rule)) {
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
                initialization_variance(target, workers.unwrap_or(1), self.posterior.prior().noise())
            }
        };
        let pick = self.choose_widest(trial)?;
        let (pick, variance) = (Pick { score: pick.sd, phase: Phase::Initial, ..pick }, pick.score);
        if matches!(self.chooser, Chooser::Continuous(_)) {
            return Ok(Some(pick));
        }
        let over = variance <= target && (self.posterior.pending() == 0 || self.settled_variance()? <= target);
        Ok((!over).then_some(pick))
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
        Ok(surface.argmax(posterior.view(), &Variance).map_or(0.0, |choice| choice.score))
    }

    fn argmax(&mut self, acquisition: &dyn Acquisition) -> Result<gp::Maximizer> {
        let view = match acquisition.as_provable() {
            // The initialization scheme is about pending points and never ignores them.
            Some(Provable::Variance) => self.posterior.view(),
            _ => choosing_view(&self.spec, &self.posterior),
        };
        match &mut self.chooser {
            Chooser::Finite(finite) => finite.surface.argmax(view, acquisition),
            Chooser::Discretized { .. } | Chooser::Continuous(_) => None,
        }
        .ok_or(Error::PoolExhausted { asked: 1, left: 0 })
    }

    /// GP-BTS: the argmax of a sample of GP(mu_S, v_t^2 k_{t-1}) on D_t, or of a sample path on a space.
    fn choose_by_sample(&mut self, trial: usize, multiplier: f64) -> Result<Pick> {
        let mut rng = self.generator(trial);
        let view = choosing_view(&self.spec, &self.posterior);
        let exhausted = Error::PoolExhausted { asked: 1, left: 0 };
        let of = |candidate, (mean, sd): (f64, f64), score| {
            let (params, gap, phase) = (vec![], Some(0.0), Phase::Rule);
            Pick { candidate, params, mean, sd, multiplier, score, gap, phase }
        };
        match &mut self.chooser {
            Chooser::Finite(finite) => {
                let Finite { surface, sampler: Some(sampler), .. } = &mut **finite else { return Err(exhausted) };
                let sample = sampler.draw(view, multiplier, &mut rng);
                let (candidate, score) = peak(&sample, |i| !surface.is_excluded(i)).ok_or(exhausted)?;
                Ok(of(candidate, surface.moments(view, candidate), score))
            }
            Chooser::Discretized { .. } => {
                let grid = self.chooser.discretization(&self.spec, trial)?;
                let sample = draw_on_grid(view, &grid, multiplier, self.spec.memory(), &mut rng)?;
                let (candidate, score) = peak(&sample, |_| true).ok_or(exhausted)?;
                let gp::Marginal { mean, sd, sd_observed } = self.posterior.predict(&grid.point(candidate))?;
                let sd = if view.keys().len() == view.observed() { sd_observed } else { sd };
                Ok(of(candidate, (mean, sd), score))
            }
            Chooser::Continuous(continuous) => continuous.choose_by_path(&self.spec, view, trial, multiplier),
        }
    }

    /// Random numbers of one trial.
    pub(super) fn generator(&self, trial: usize) -> ChaCha8Rng {
        generator(&self.spec, trial)
    }

    /// beta_t, v_t or GP-BUCB's multiplier, times `width`.
    pub(super) fn multiplier(&mut self, trial: usize) -> Result<f64> {
        let strategy = self.spec.strategy().clone();
        if strategy.rule == Rule::Auto {
            return Ok(strategy.width * self.spec.tuning().width(trial));
        }
        let assumptions = self.assumptions()?;
        let hallucination = self.hallucination()?;
        let t = trial + 1;
        let formula = match strategy.rule {
            Rule::IgpBucb => assumptions.igp_bucb(self.information(self.posterior.observed())?, hallucination),
            Rule::GpBts => assumptions.gp_bts(self.information(self.posterior.observed())?, hallucination),
            Rule::GpBucb => assumptions.gp_bucb(t, self.information(t)?, hallucination),
            Rule::GpBucbBayesian => {
                let candidates = self.chooser.restricted().ok_or(NO_BAYESIAN_ON_A_BOX)?.domain().len();
                assumptions.gp_bucb_bayesian(t, candidates, hallucination)
            }
            Rule::Auto => self.spec.tuning().width(trial),
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
        let prior = self.posterior.prior();
        let (kernel, dimension) = (prior.kernel(), self.spec.domain().dimension());
        match (kind, &mut self.chooser) {
            (Information::Log, _) => Ok(logarithm(points)),
            (Information::ClosedForm, _) => closed_form(kernel, points, dimension).ok_or(NO_CLOSED_FORM),
            (Information::Greedy, Chooser::Finite(finite)) => Ok(finite.greedy(prior)?.gain(points)?),
            (_, Chooser::Finite(finite)) => Ok(finite.greedy(prior)?.upper(points)?),
            (_, Chooser::Discretized { .. } | Chooser::Continuous(_)) => Err(NO_GREEDY_GAIN),
        }
    }

    /// xi, as the strategy says.
    pub(super) fn hallucination(&mut self) -> Result<f64> {
        let noise = self.posterior.prior().noise();
        // Failed points stay hallucinated beside the M - 1 pending ones.
        let workers = self.spec.strategy().max_pending.unwrap_or(1) + self.count(TrialState::Failed);
        match self.spec.strategy().hallucination {
            Hallucination::Number(xi) => Ok(xi),
            Hallucination::Off => Ok(1.0),
            Hallucination::Realised => Ok(self.posterior.hallucination_factor()?),
            Hallucination::Exact => match &mut self.chooser {
                Chooser::Finite(finite) => Ok(finite.surface.hallucination_factor(self.posterior.view())),
                _ => Ok(self.posterior.hallucination_factor()?),
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
                self.posterior.prior().kernel().variance_at(&vec![*side; *dimension])
            }
            // The farthest corner of the unit cube, for kernels that grow.
            (None, domain) => self.posterior.prior().kernel().variance_at(&vec![1.0; domain.dimension()]),
        }
    }
}

/// Random numbers of one trial, from a counter-based generator keyed by (seed, trial).
pub(super) fn generator(spec: &Spec, trial: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(spec.seed());
    rng.set_stream(trial as u64);
    rng
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
