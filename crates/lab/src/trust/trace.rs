//! One run of a study with what it says along the way, and the truth beside it.

use manyhands_core::study::StopRule;
use manyhands_core::{Domain, Spec, Strategy, Study, Trial, Value};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Result;
use crate::quality::{ActiveOptimizer, RandomSearch, SeededRun, SpaceProblem};
use crate::stream::Purpose;

/// Suggestions at a time.
const BATCH: usize = 5;

/// The numbers of evaluations at which a study is asked what it has to say.
pub(super) const CHECKED: [usize; 4] = [20, 40, 60, 100];

/// How many random points intervals are checked at.
const POINTS: usize = 100;

/// The gain at which a study stops, as a share of the range of its first values.
const STOP_GAIN: f64 = 0.01;

/// How many values without a better point a study waits for.
const STOP_TRIALS: usize = 20;

/// What a study said after some evaluations, and the truth. Regrets are those of true values, without noise.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustCheck {
    /// The number of evaluations.
    pub evaluations: usize,
    /// The regret of the best point.
    pub regret: f64,
    /// The regret of the best single reading's point.
    pub reading_regret: f64,
    /// The regret of the cautious choice.
    pub cautious_regret: f64,
    /// What the model said may still be gained; none where it was silent.
    pub gain: Option<f64>,
    /// The share of its intervals that had held; none where there was none.
    pub record: Option<f64>,
    /// What sampled functions were widened by.
    pub widened: f64,
    /// The share of the intervals at random points that held the true value.
    pub covered: f64,
    /// The range of the values observed.
    pub range: f64,
}

impl TrustCheck {
    /// Whether what was said is right: the best point cannot be improved by more than the gain. None where nothing was said.
    pub fn is_right(&self) -> Option<bool> {
        // The regret of the optimum itself may be a rounding error.
        self.gain.map(|gain| self.regret <= gain + 1e-12 * self.range)
    }
}

/// Where a rule stopped a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopTrace {
    /// After how many evaluations.
    pub evaluations: usize,
    /// The regret of the best point then.
    pub regret: f64,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Smaller regrets count as this in logarithms.
    pub floor: f64,
    /// What was said, in the order of the evaluations.
    pub checks: Vec<TrustCheck>,
    /// Where the rule of a gain stopped it; none where it did not.
    pub stopped_by_gain: Option<StopTrace>,
    /// Where the rule of trials without a gain stopped it; none where it did not.
    pub stopped_by_trials: Option<StopTrace>,
}

impl Trace {
    /// The run of a study on a problem with this seed.
    pub fn of(problem: &SpaceProblem, seed: u64) -> Result<Self> {
        let (run, problem) = (SeededRun::new(problem.name(), seed), problem.instance(seed)?);
        let domain = Domain::Space(problem.space().clone());
        let spec = Spec::learned(domain, Strategy::auto())?.with_direction(problem.direction());
        let mut random = RandomSearch::new(problem.space().clone(), run.generator(Purpose::Search))?;
        let points = random.ask(POINTS)?.into_iter().map(|(_, point)| point).collect();
        let study = Study::new(spec.with_seed(run.generator(Purpose::Study).next_u64()))?;
        Watched { problem: &problem, study, noise: run.generator(Purpose::Noise), points }.trace()
    }
}

/// A study that is watched.
struct Watched<'a> {
    problem: &'a SpaceProblem,
    study: Study,
    noise: ChaCha8Rng,
    /// Where intervals are checked.
    points: Vec<Vec<Value>>,
}

impl Watched<'_> {
    fn trace(mut self) -> Result<Trace> {
        let mut trace =
            Trace { floor: self.problem.floor(), checks: vec![], stopped_by_gain: None, stopped_by_trials: None };
        let (mut by_gain, by_trials) = (StopRule::default(), StopRule::default());
        let by_trials = StopRule { trials_without_gain: Some(STOP_TRIALS), ..by_trials };
        for evaluations in (BATCH..=CHECKED[CHECKED.len() - 1]).step_by(BATCH) {
            self.evaluate_batch()?;
            if evaluations == CHECKED[0] {
                by_gain.gain = Some(STOP_GAIN * self.range());
            }
            // Every other batch, since an outlook costs more than a batch.
            if evaluations % (2 * BATCH) != 0 {
                continue;
            }
            for (rule, stopped) in [(by_gain, &mut trace.stopped_by_gain), (by_trials, &mut trace.stopped_by_trials)] {
                if stopped.is_none() && self.study.stop_reason(&rule)?.is_some() {
                    let best = self.study.best()?.params;
                    *stopped = Some(StopTrace { evaluations, regret: self.regret(&best)? });
                }
            }
            if CHECKED.contains(&evaluations) {
                trace.checks.push(self.check(evaluations)?);
            }
        }
        Ok(trace)
    }

    fn evaluate_batch(&mut self) -> Result<()> {
        for suggestion in self.study.ask(BATCH)? {
            let deviation: f64 = StandardNormal.sample(&mut self.noise);
            let value = self.problem.value(suggestion.params())? + self.problem.noise() * deviation;
            self.study.tell(suggestion.trial, value)?;
        }
        Ok(())
    }

    fn check(&mut self, evaluations: usize) -> Result<TrustCheck> {
        let (best, cautious, outlook) = (self.study.best()?, self.study.best_cautious()?, self.study.outlook()?);
        let reading = self.study.params(best.reading.trial)?;
        Ok(TrustCheck {
            evaluations,
            regret: self.regret(&best.params)?,
            reading_regret: self.regret(&reading)?,
            cautious_regret: self.regret(&cautious.params)?,
            gain: outlook.gain,
            record: outlook.record.share(),
            widened: outlook.widened,
            covered: self.covered()?,
            range: self.range(),
        })
    }

    fn regret(&self, point: &[Value]) -> Result<f64> {
        Ok(self.problem.regret(self.problem.value(point)?))
    }

    fn covered(&self) -> Result<f64> {
        let predictions = self.study.predict_params(&self.points)?;
        let mut inside = 0;
        for (point, there) in self.points.iter().zip(predictions) {
            inside += usize::from((there.lower..=there.upper).contains(&self.problem.value(point)?));
        }
        Ok(inside as f64 / self.points.len() as f64)
    }

    fn range(&self) -> f64 {
        let values: Vec<f64> = self.study.trials().iter().filter_map(Trial::value).collect();
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        high - low
    }
}
