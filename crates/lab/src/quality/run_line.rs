//! One run as a line of a results file: what it was, what it cost, and its regrets in two decimals of log10.
//!
//! | column | meaning |
//! |---|---|
//! | system, version | the optimizer's name, and what it says of itself |
//! | date | when the run was made, in UTC |
//! | problem, seed, batch, schedule, evaluations | which run it is |
//! | seconds | its cost |
//! | inference | log10 of the inference regret at the end |
//! | simple | log10 of the simple regret wherever it changed, after how many evaluations: `1:0.31 7:-0.5` |

use super::{FinishedRun, Schedule, SpacePerformance};

/// The columns of a results file.
pub(super) const COLUMNS: [&str; 11] = [
    "system",
    "version",
    "date",
    "problem",
    "seed",
    "batch",
    "schedule",
    "evaluations",
    "seconds",
    "inference",
    "simple",
];

/// What tells one run from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// The optimizer.
    pub system: String,
    /// The problem.
    pub problem: String,
    /// The seed.
    pub seed: u64,
    /// Suggestions at a time, or workers.
    pub batch: usize,
    /// How results arrive.
    pub schedule: Schedule,
    /// The evaluations.
    pub evaluations: usize,
}

/// The cells of a run, in the order of the columns.
pub(super) fn cells(key: &RunKey, version: &str, date: &str, run: &FinishedRun<SpacePerformance>) -> [String; 11] {
    [
        key.system.clone(),
        version.to_string(),
        date.to_string(),
        key.problem.clone(),
        key.seed.to_string(),
        key.batch.to_string(),
        key.schedule.name().to_string(),
        key.evaluations.to_string(),
        seconds(run.seconds),
        decimals(run.performance.inference),
        steps(&run.performance.simple),
    ]
}

/// The run of a row of cells, or what is wrong with it.
pub(super) fn parse(cells: &[&str]) -> Result<(RunKey, FinishedRun<SpacePerformance>), String> {
    let &[system, _, _, problem, seed, batch, schedule, evaluations, seconds, inference, simple] = cells else {
        return Err(format!("it has {} cells, not {}", cells.len(), COLUMNS.len()));
    };
    let schedule = Schedule::ALL.into_iter().find(|known| known.name() == schedule);
    let schedule = schedule.ok_or_else(|| "its schedule must be batches or asynchronous".to_string())?;
    let evaluations = number(evaluations)?;
    let (seed, batch) = (number(seed)?, number(batch)?);
    let key = RunKey { system: system.to_string(), problem: problem.to_string(), seed, batch, schedule, evaluations };
    let performance = SpacePerformance { simple: curve(simple, evaluations)?, inference: regret(inference)? };
    Ok((key, FinishedRun { seed, performance, seconds: number(seconds)? }))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a number"))
}

fn regret(log10: &str) -> Result<f64, String> {
    number(log10).map(|log10: f64| 10f64.powf(log10))
}

/// Three significant digits; a thread's clock ticks in milliseconds.
fn seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{seconds:.3}"),
        seconds if seconds < 100.0 => format!("{seconds:.1}"),
        seconds => format!("{seconds:.0}"),
    }
}

/// log10 in two decimals, without a negative zero.
fn decimals(regret: f64) -> String {
    format!("{:.2}", (100.0 * regret.log10()).round() / 100.0 + 0.0)
}

/// Where a curve changes in these decimals.
fn steps(simple: &[f64]) -> String {
    let mut steps: Vec<(usize, String)> = (1..).zip(simple.iter().map(|regret| decimals(*regret))).collect();
    steps.dedup_by(|next, kept| next.1 == kept.1);
    steps.iter().map(|(evaluations, log10)| format!("{evaluations}:{log10}")).collect::<Vec<_>>().join(" ")
}

/// The curve that changes at these steps.
fn curve(steps: &str, evaluations: usize) -> Result<Vec<f64>, String> {
    let mut curve = Vec::with_capacity(evaluations);
    for step in steps.split(' ') {
        let (after, log10) = step.split_once(':').ok_or_else(|| format!("\"{step}\" is no step of a curve"))?;
        let after: usize = number(after)?;
        let is_next = if curve.is_empty() { after == 1 } else { after > curve.len() };
        if !is_next || after > evaluations {
            return Err(format!("a step after {after} of {evaluations} evaluations is out of order"));
        }
        let before = curve.last().copied().unwrap_or(f64::INFINITY);
        curve.resize(after - 1, before);
        curve.push(regret(log10)?);
    }
    let last = curve.last().copied().unwrap_or(f64::INFINITY);
    curve.resize(evaluations, last);
    Ok(curve)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn key() -> RunKey {
        let (system, problem) = ("tpe".to_string(), "branin".to_string());
        RunKey { system, problem, seed: 7, batch: 5, schedule: Schedule::Asynchronous, evaluations: 5 }
    }

    fn row(simple: &[f64], inference: f64) -> [String; 11] {
        let performance = SpacePerformance { simple: simple.to_vec(), inference };
        cells(&key(), "4.5, CPU", "2026-01-05", &FinishedRun { seed: 7, performance, seconds: 12.345 })
    }

    /// By hand: log10 of 2, 2, 0.5, 0.5, 0.999 10^-3 in two decimals.
    #[test]
    fn a_run_is_a_line_of_its_changes() {
        let row = row(&[2.0, 2.0, 0.5, 0.5, 0.999e-3], 1.0);
        let shown = ["tpe", "4.5, CPU", "2026-01-05", "branin", "7", "5", "asynchronous", "5", "12.3", "0.00"];
        assert_eq!((&row[..10], row[10].as_str()), (&shown.map(String::from)[..], "1:0.30 3:-0.30 5:-3.00"));
    }

    #[test]
    fn what_is_read_is_written_again_as_it_was() {
        for simple in [[3.0, 1.0, 1.0, 0.1, 0.1], [1e-12; 5], [2.0, 1.999, 1.998, 1.5, 1.5]] {
            let row = row(&simple, simple[0]);
            let (found, run) = parse(&row.each_ref().map(String::as_str)).unwrap();
            assert_eq!(found, key());
            assert!(
                run.performance.simple.iter().zip(simple).all(|(a, b)| (a.log10() - b.log10()).abs() <= 0.005 + 1e-9)
            );
            assert_eq!(cells(&found, "4.5, CPU", "2026-01-05", &run), row);
        }
    }

    #[test]
    fn a_broken_row_is_refused_with_the_reason() {
        let refusal = |place: usize, cell: &str| {
            let mut row = row(&[1.0; 5], 1.0);
            row[place] = cell.to_string();
            parse(&row.each_ref().map(String::as_str)).unwrap_err()
        };
        assert_eq!(refusal(4, "x"), "\"x\" is not a number");
        assert_eq!(refusal(6, "daily"), "its schedule must be batches or asynchronous");
        assert_eq!(refusal(10, "1:0 6:-1"), "a step after 6 of 5 evaluations is out of order");
        assert_eq!(refusal(10, "2:0"), "a step after 2 of 5 evaluations is out of order");
        assert_eq!(refusal(10, "1:0 3"), "\"3\" is no step of a curve");
        assert_eq!(parse(&["tpe"]).unwrap_err(), "it has 1 cells, not 11");
    }
}
