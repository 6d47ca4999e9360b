//! The figures of the bench, and their JSON.

use serde_json::{Value as Json, json};

use super::trace::CHECKED;
use super::{StopTrace, Trace, TrustCheck, table};
use crate::statistics::{Quartiles, median};

/// The runs of every problem.
#[derive(Debug, Clone)]
pub struct TrustReport {
    /// Runs of each problem.
    pub seeds: usize,
    /// Name and runs of every problem.
    pub problems: Vec<(String, Vec<Trace>)>,
}

/// What some runs said after some evaluations, all together.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustFigures {
    /// How many runs.
    pub runs: usize,
    /// In how many of them the model said what may still be gained.
    pub spoken: usize,
    /// In how many of those it was right.
    pub right: usize,
    /// The median gain, as a share of the range of the values, where it spoke; NaN where it did not.
    pub gain: f64,
    /// The median regret of the best point, as a share of the range.
    pub regret: f64,
    /// The mean share of intervals that had held.
    pub record: f64,
    /// The mean coverage at random points.
    pub covered: f64,
}

/// What a rule of stopping saved, and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct StopFigures {
    /// The share of the runs that it stopped.
    pub stopped: f64,
    /// The share of the evaluations that it saved, over all runs.
    pub saved: f64,
    /// How much better the best point of the whole run is than that of the stop, as a share of the range of the values.
    pub lost: Quartiles,
}

impl TrustFigures {
    /// Of these checks.
    pub fn of<'a>(checks: impl Iterator<Item = &'a TrustCheck>) -> Self {
        let checks: Vec<&TrustCheck> = checks.collect();
        let mean = |numbers: Vec<f64>| numbers.iter().sum::<f64>() / numbers.len() as f64;
        let gains: Vec<f64> = checks.iter().filter_map(|check| Some(check.gain? / check.range)).collect();
        Self {
            runs: checks.len(),
            spoken: gains.len(),
            right: checks.iter().filter(|check| check.is_right() == Some(true)).count(),
            gain: median(&gains),
            regret: median(&checks.iter().map(|check| check.regret / check.range).collect::<Vec<_>>()),
            record: mean(checks.iter().filter_map(|check| check.record).collect()),
            covered: mean(checks.iter().map(|check| check.covered).collect()),
        }
    }

    fn to_json(&self) -> Json {
        let &Self { runs, spoken, right, gain, regret, record, covered } = self;
        json!({
            "runs": runs, "spoken": spoken, "right": right, "gain_of_range": gain, "regret_of_range": regret,
            "record": record, "covered": covered,
        })
    }
}

impl TrustReport {
    /// What was said after so many evaluations, in all runs of all problems.
    pub fn pooled(&self, evaluations: &[usize]) -> TrustFigures {
        TrustFigures::of(self.problems.iter().flat_map(|(_, traces)| checks(traces, evaluations)))
    }

    /// For people: tables.
    pub fn to_text(&self) -> String {
        table::render(self)
    }

    /// For programs.
    pub fn to_json(&self) -> Json {
        let problem = |(name, traces): &(String, Vec<Trace>)| {
            let at = |&evaluations: &usize| {
                let figures = TrustFigures::of(checks(traces, &[evaluations]));
                let regrets = Regrets::of(traces, evaluations);
                json!({"evaluations": evaluations, "said": figures.to_json(), "log10_regret": regrets.to_json()})
            };
            json!({"problem": name, "checks": CHECKED.iter().map(at).collect::<Vec<_>>(), "stops": stops(traces)})
        };
        let pooled =
            |&evaluations: &usize| json!({"evaluations": evaluations, "said": self.pooled(&[evaluations]).to_json()});
        json!({
            "version": env!("CARGO_PKG_VERSION"), "seeds": self.seeds,
            "problems": self.problems.iter().map(problem).collect::<Vec<_>>(),
            "pooled": CHECKED.iter().map(pooled).collect::<Vec<_>>(),
            "pooled_from_40": self.pooled(&CHECKED[1..]).to_json(),
        })
    }
}

/// The checks of some runs after so many evaluations.
pub(super) fn checks<'a>(traces: &'a [Trace], evaluations: &'a [usize]) -> impl Iterator<Item = &'a TrustCheck> {
    traces.iter().flat_map(|trace| &trace.checks).filter(|check| evaluations.contains(&check.evaluations))
}

/// log10 of the regret of the three points that may be recommended.
pub(super) struct Regrets {
    pub best: Quartiles,
    pub reading: Quartiles,
    pub cautious: Quartiles,
}

impl Regrets {
    pub fn of(traces: &[Trace], evaluations: usize) -> Self {
        let of = |regret: fn(&TrustCheck) -> f64| {
            let log = |trace: &Trace| {
                let check = trace.checks.iter().find(|check| check.evaluations == evaluations)?;
                Some(regret(check).max(trace.floor).log10())
            };
            Quartiles::of(traces.iter().filter_map(log))
        };
        Self {
            best: of(|check| check.regret),
            reading: of(|check| check.reading_regret),
            cautious: of(|check| check.cautious_regret),
        }
    }

    fn to_json(&self) -> Json {
        let quartiles = |q: Quartiles| json!({"lower": q.lower, "median": q.median, "upper": q.upper});
        json!({
            "best": quartiles(self.best), "reading": quartiles(self.reading), "cautious": quartiles(self.cautious)
        })
    }
}

/// The names of the two rules.
const RULES: [&str; 2] = ["gain", "trials_without_gain"];

/// Where each of [`RULES`] stopped a run.
fn stopped(trace: &Trace) -> [Option<StopTrace>; 2] {
    [trace.stopped_by_gain, trace.stopped_by_trials]
}

impl StopFigures {
    /// Of one of [`RULES`].
    pub(super) fn of(traces: &[Trace], rule: usize) -> Self {
        let last = CHECKED[CHECKED.len() - 1] as f64;
        let stops: Vec<(StopTrace, &TrustCheck)> =
            traces.iter().filter_map(|trace| Some((stopped(trace)[rule]?, trace.checks.last()?))).collect();
        let saved = stops.iter().fold(0.0, |sum, (stop, _)| sum + 1.0 - stop.evaluations as f64 / last);
        let lost = stops.iter().map(|(stop, end)| (stop.regret - end.regret).max(0.0) / end.range);
        let runs = traces.len() as f64;
        Self { stopped: stops.len() as f64 / runs, saved: saved / runs, lost: Quartiles::of(lost) }
    }
}

fn stops(traces: &[Trace]) -> Vec<Json> {
    let rule = |(index, name): (usize, &str)| {
        let StopFigures { stopped, saved, lost } = StopFigures::of(traces, index);
        json!({
            "rule": name, "stopped": stopped, "saved": saved,
            "lost_of_range": {"lower": lost.lower, "median": lost.median, "upper": lost.upper},
        })
    };
    RULES.into_iter().enumerate().map(rule).collect()
}
