//! The figures as tables for people.

use comfy_table::Table;

use super::report::{Regrets, StopFigures, TrustFigures, checks};
use super::trace::CHECKED;
use super::{Trace, TrustReport};
use crate::statistics::Quartiles;
use crate::terminal::{align_right, framed};

/// The number of evaluations that problems are compared at.
const SHOWN: usize = 60;

/// What was said, problem by problem and pooled; what is recommended; what stopping saves.
pub(super) fn render(report: &TrustReport) -> String {
    let runs = format!("{} run{} of each problem", report.seeds, if report.seeds == 1 { "" } else { "s" });
    format!(
        "What the model says may still be gained, after {SHOWN} evaluations in batches of 5, {runs}; gain and regret are \
         medians, as shares of the range of the values\n{}\n\nPooled over the problems; right where it spoke at 40, 60 or \
         100 evaluations: {}\n{}\n\nlog10 of the regret of the point recommended after {SHOWN} \
         evaluations: median [quartiles]\n{}\n\nWhat stopping saves of 100 evaluations and what it costs: gain = 1 % of the \
         range of the first 20 values; 20 trials without a gain; the loss is a share of the range\n{}",
        said(report),
        share(report),
        pooled(report),
        recommended(report),
        stopping(report),
    )
}

fn share(report: &TrustReport) -> String {
    let TrustFigures { right, spoken, .. } = report.pooled(&CHECKED[1..]);
    match spoken {
        0 => "it never spoke".to_string(),
        _ => format!("{right} of {spoken}, {:.1} %", 100.0 * right as f64 / spoken as f64),
    }
}

fn said(report: &TrustReport) -> Table {
    let mut table = framed(&["problem", "spoken", "right", "gain", "regret", "record", "coverage"]);
    for (name, traces) in &report.problems {
        table.add_row(row(name.clone(), &TrustFigures::of(checks(traces, &[SHOWN]))));
    }
    align_right(&mut table, &[1, 2, 3, 4, 5, 6]);
    table
}

fn pooled(report: &TrustReport) -> Table {
    let mut table = framed(&["evaluations", "spoken", "right", "gain", "regret", "record", "coverage"]);
    for evaluations in CHECKED {
        table.add_row(row(evaluations.to_string(), &report.pooled(&[evaluations])));
    }
    table.add_row(row("all".to_string(), &report.pooled(&CHECKED)));
    align_right(&mut table, &[0, 1, 2, 3, 4, 5, 6]);
    table
}

fn row(first: String, figures: &TrustFigures) -> Vec<String> {
    let TrustFigures { runs, spoken, right, gain, regret, record, covered } = figures;
    let gain = if *spoken == 0 { String::new() } else { format!("{gain:.1e}") };
    let right = if *spoken == 0 { String::new() } else { format!("{right} of {spoken}") };
    let record = if record.is_nan() { String::new() } else { format!("{record:.2}") };
    let numbers = [format!("{regret:.1e}"), record, format!("{covered:.2}")];
    [vec![first, format!("{spoken} of {runs}"), right, gain], numbers.to_vec()].concat()
}

fn recommended(report: &TrustReport) -> Table {
    let mut table = framed(&["problem", "best point", "best reading", "cautious"]);
    let spread = |q: Quartiles| format!("{:.2} [{:.2}, {:.2}]", q.median, q.lower, q.upper);
    for (name, traces) in &report.problems {
        let Regrets { best, reading, cautious } = Regrets::of(traces, SHOWN);
        table.add_row(vec![name.clone(), spread(best), spread(reading), spread(cautious)]);
    }
    table
}

fn stopping(report: &TrustReport) -> Table {
    let header = ["problem", "gain: stopped", "saved", "lost", "trials: stopped", "saved", "lost"];
    let mut table = framed(&header);
    let all: Vec<Trace> = report.problems.iter().flat_map(|(_, traces)| traces.clone()).collect();
    let pooled = [("all".to_string(), all)];
    for (name, traces) in report.problems.iter().chain(&pooled) {
        let cells = [0, 1].into_iter().flat_map(|rule| {
            let StopFigures { stopped, saved, lost } = StopFigures::of(traces, rule);
            let lost = if stopped == 0.0 {
                String::new()
            } else {
                format!("{:.1e} [{:.0e}, {:.0e}]", lost.median, lost.lower, lost.upper)
            };
            [format!("{:.0} %", 100.0 * stopped), format!("{:.0} %", 100.0 * saved), lost]
        });
        table.add_row([name.clone()].into_iter().chain(cells).collect::<Vec<_>>());
    }
    align_right(&mut table, &[1, 2, 3, 4, 5, 6]);
    table
}
