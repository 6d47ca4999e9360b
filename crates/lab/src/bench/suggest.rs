//! What suggestions of a learned model cost, fits included, on a space of floats.

use manyhands_core::{Direction, Domain, Event, Rule, Spec, Strategy, Study, Suggestion, Value};
use manyhands_gp::{Kernel, Prior};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::black_box::{self, BATCH};
use super::cost::{clock, peak_memory, worked};
use super::part::Part;
use super::report::{Limit, Measurement, Unit};
use super::{Setup, Size};
use crate::quality::{SpaceProblem, problems};
use crate::statistics::median;
use crate::{Error, Result};

const SECTION: &str = "suggest";
/// Studies that are measured, and the seconds that a batch with a fit may take.
const USUAL: [(Case, f64); 3] = [(Case::of(6, 100), 0.05), (Case::of(6, 300), 0.3), (Case::of(6, 1000), 3.0)];
/// Whole runs, and the seconds that each may take.
const WHOLE: (usize, f64) = (60, 0.5);
const MANY: Case = Case { repeats: 1, ..Case::of(10, 5000) };
const MANY_SECONDS: f64 = 3.0;
const MANY_SECONDS_WITH_FIT: f64 = 6.0;
const MANY_BYTES: f64 = 2e9;
/// Studies that are measured without a limit.
const LARGE: [Case; 2] = [Case { batch: 100, ..Case::of(6, 200) }, Case::of(50, 100)];
/// Evaluations before the batch of a given model.
const GIVEN: usize = 50;

/// Batches of one study.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Case {
    dimension: usize,
    /// Evaluations before the first ask.
    rows: usize,
    batch: usize,
    /// How many fits are measured.
    repeats: usize,
}

impl Case {
    const fn of(dimension: usize, rows: usize) -> Self {
        Self { dimension, rows, batch: BATCH, repeats: 3 }
    }

    fn row(self, what: &str, seconds: f64) -> Measurement {
        let Self { dimension, rows, batch, .. } = self;
        let what = format!("batch of {batch} {what}, d = {dimension}, n = {rows}, {}", clock());
        Measurement::new(SECTION, what, Unit::Seconds, Some(seconds))
    }
}

/// The seconds of batches, and the memory of the process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Costs {
    /// The first batch, whose fit starts from no earlier one.
    first: f64,
    with_fit: f64,
    without_fit: f64,
    peak: Option<u64>,
}

/// Large studies run in a process of their own.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let usual = if setup.size == Size::Quick { &USUAL[..2] } else { &USUAL[..] };
    let task = setup.monitor.begin(SECTION, usual.len() + 2);
    let mut rows = Vec::new();
    for &(case, most) in usual {
        let costs = batch_costs(case)?;
        rows.push(case.row("with a fit", costs.with_fit).limited(Limit::FigureAtMost(most)));
        rows.push(case.row("without a fit", costs.without_fit));
        rows.push(case.row("with the first fit", costs.first));
        task.advance(1);
    }
    rows.extend(whole_runs()?);
    task.advance(1);
    let what = format!("batch of {BATCH} with proofs, given model, d = 2, n = {GIVEN}, {}", clock());
    rows.push(Measurement::new(SECTION, what, Unit::Seconds, Some(given_model()?)));
    if setup.size == Size::Full {
        rows.extend(large(setup)?);
    }
    Ok(rows)
}

fn large(setup: &Setup) -> Result<Vec<Measurement>> {
    let many: Costs = Part::Suggest(MANY).measure_in(setup.binary)?;
    let peak =
        Measurement::new(SECTION, format!("peak memory, n = {}", MANY.rows), Unit::Bytes, many.peak.map(|b| b as f64));
    let mut rows = vec![
        MANY.row("with a fit", many.with_fit).limited(Limit::FigureAtMost(MANY_SECONDS_WITH_FIT)),
        MANY.row("without a fit", many.without_fit).limited(Limit::FigureAtMost(MANY_SECONDS)),
        MANY.row("with the first fit", many.first),
        peak.limited(Limit::FigureAtMost(MANY_BYTES)),
    ];
    for case in LARGE {
        let costs: Costs = Part::Suggest(case).measure_in(setup.binary)?;
        rows.push(case.row("with a fit", costs.with_fit));
    }
    Ok(rows)
}

/// Batches of a study that begins with evaluations made elsewhere.
pub fn batch_costs(case: Case) -> Result<Costs> {
    let mut run = HartmannStudy::new(case.dimension)?;
    run.include(case.rows)?;
    let (batch, first) = worked(|| run.study.ask(case.batch));
    run.tell(batch?)?;
    let (mut with_fit, mut without_fit) = (Vec::new(), Vec::new());
    for _ in 0..case.repeats {
        // A fit is due when the values have grown by a twentieth.
        run.include(run.study.posterior().observed() / 20)?;
        let fits = run.fits();
        let (batch, seconds) = worked(|| run.study.ask(case.batch));
        run.expect_fits(fits + 1)?;
        with_fit.push(seconds);
        // No value was told in between, so no fit is due.
        let (more, seconds) = worked(|| run.study.ask(case.batch));
        run.expect_fits(fits + 1)?;
        without_fit.push(seconds);
        run.tell(batch?)?;
        run.tell(more?)?;
    }
    Ok(Costs { first, with_fit: median(&with_fit), without_fit: median(&without_fit), peak: peak_memory() })
}

/// Whole runs on a cube, with mixed parameters and under a constraint.
fn whole_runs() -> Result<Vec<Measurement>> {
    let (evaluations, most) = WHOLE;
    let runs = [
        ("d = 6", problems::hartmann6()?),
        ("mixed parameters", problems::training()?),
        ("a constraint", problems::mixture()?),
    ];
    let row = |(name, problem): (&str, SpaceProblem)| {
        let what = format!("{evaluations} evaluations in batches of {BATCH}, {name}, {}", clock());
        let seconds = whole_run(&problem, evaluations)?;
        Ok(Measurement::new(SECTION, what, Unit::Seconds, Some(seconds)).limited(Limit::FigureAtMost(most)))
    };
    runs.into_iter().map(row).collect()
}

/// The seconds of asking and telling from nothing.
fn whole_run(problem: &SpaceProblem, evaluations: usize) -> Result<f64> {
    let spec = Spec::learned(Domain::Space(problem.space().clone()), Strategy::auto())?;
    let mut study = Study::new(spec.with_direction(problem.direction()))?;
    let (done, seconds) = worked(|| {
        (0..evaluations / BATCH).try_for_each(|_| {
            study.ask(BATCH)?.iter().try_for_each(|s| Ok(study.tell(s.trial, problem.value(&s.choice.params)?)?))
        })
    });
    done.map(|()| seconds)
}

/// The seconds of a batch of IGP-BUCB on the unit square, each pick with a proven gap.
fn given_model() -> Result<f64> {
    let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, black_box::NOISE)?;
    let mut study =
        Study::new(Spec::new(Domain::Space(problems::cube(2, 0.0, 1.0)?), prior, Strategy::new(Rule::IgpBucb, 2.0))?)?;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for trial in 0..GIVEN {
        let point = [rng.random::<f64>(), rng.random::<f64>()];
        study.include(&point.map(Value::Float), Some(black_box::value(trial, &point)))?;
    }
    let (batch, seconds) = worked(|| study.ask(BATCH));
    batch?;
    Ok(seconds)
}

/// A study of Hartmann6 with a learned model; parameters beyond the sixth do not matter.
struct HartmannStudy {
    study: Study,
    hartmann: SpaceProblem,
    rng: ChaCha8Rng,
}

impl HartmannStudy {
    fn new(dimension: usize) -> Result<Self> {
        let spec = Spec::learned(Domain::Space(problems::cube(dimension, 0.0, 1.0)?), Strategy::auto())?;
        let study = Study::new(spec.with_direction(Direction::Minimize))?;
        let hartmann = problems::hartmann6()?;
        Ok(Self { study, hartmann, rng: ChaCha8Rng::seed_from_u64(8) })
    }

    /// Evaluations made elsewhere, at random.
    fn include(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let dimension = self.study.spec().domain().dimension();
            let point: Vec<Value> = (0..dimension).map(|_| Value::Float(self.rng.random())).collect();
            let value = self.hartmann.value(&point[..6])?;
            self.study.include(&point, Some(value))?;
        }
        Ok(())
    }

    fn tell(&mut self, batch: Vec<Suggestion>) -> Result<()> {
        batch.iter().try_for_each(|s| Ok(self.study.tell(s.trial, self.hartmann.value(&s.choice.params[..6])?)?))
    }

    /// Refuses a measurement in which another number of fits was made.
    fn expect_fits(&self, expected: usize) -> Result<()> {
        let made = self.fits();
        if made == expected {
            return Ok(());
        }
        let reason = format!("{made} fits were made where {expected} were due");
        Err(Error::Measurement { what: "suggestions".to_string(), reason })
    }

    fn fits(&self) -> usize {
        self.study.events().iter().filter(|event| matches!(event, Event::Fitted(_))).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_are_made_where_they_are_due_and_nowhere_else() {
        // The measurement refuses a batch with a fit that is not due, or without one that is.
        let costs = batch_costs(Case { repeats: 2, ..Case::of(7, 24) });
        assert!(costs.is_ok(), "{costs:?}");
    }
}
