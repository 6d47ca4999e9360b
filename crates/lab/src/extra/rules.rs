//! Every rule on the paper's functions: two numbers of workers, in batches and with delays, in pairs.

use std::sync::Arc;

use super::{Extra, FinishedExtra};
use crate::arm::{Arm, PlayedArm};
use crate::chart::{Chart, Series};
use crate::compared_rule::ComparedRule;
use crate::ranking::{PairedTest, Standing, against, mean_ranks};
use crate::sheet::{Sheet, SheetCell};
use crate::statistics::{Estimate, Quartiles};
use crate::{Algorithm, Arrival, Experiment, Instance, Panel, Settings};

/// M.
const WORKERS: [usize; 2] = [5, 20];
/// Slow rules run on few functions where there are more candidates.
const MANY_CANDIDATES: usize = 500;
/// How many those are.
const FEW_FUNCTIONS: usize = 5;
/// Batches, then delays.
const ARRIVALS: [Arrival; 2] = [Arrival::Batch, Arrival::Delay];
/// The functions; those of (c) and (d) are those of (a) and (b), with delays.
pub const PANELS: [Panel; 6] = [Panel::A, Panel::B, Panel::E, Panel::F, Panel::G, Panel::H];

/// Every rule and random search, for each M and arrival.
pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Vec<Arm> {
    let mut arms = Vec::new();
    for arrival in ARRIVALS {
        let whole = Arc::new(Experiment { arrival, ..(**experiment).clone() });
        let part = Arc::new(first_functions(&whole));
        for workers in WORKERS {
            let arm = |experiment, who| Arm::new(experiment, who, Settings { workers, ..*settings });
            let of = |rule: &ComparedRule| arm(if rule.is_slow() { &part } else { &whole }, Algorithm::Compared(*rule));
            arms.extend(ComparedRule::ALL.iter().map(of));
            arms.push(arm(&whole, Algorithm::Random));
        }
    }
    arms
}

/// The functions that slow rules run on: all, or the first few where there are many candidates.
fn first_functions(experiment: &Experiment) -> Experiment {
    let has_many = |instance: &Instance| instance.problem().values().len() > MANY_CANDIDATES;
    let few = if experiment.instances.iter().any(has_many) { FEW_FUNCTIONS } else { usize::MAX };
    Experiment { instances: experiment.instances.iter().take(few).cloned().collect(), ..experiment.clone() }
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let cells: Vec<Cell<'_>> = played.chunks(ComparedRule::ALL.len() + 1).map(Cell::new).collect();
    let order = order(&cells);
    let charts = cells.chunks(ARRIVALS.len() * WORKERS.len()).map(|cells| chart(cells, &order)).collect();
    FinishedExtra {
        extra: Extra::Rules,
        note: note(&cells),
        charts,
        sheet: sheet(&cells),
        digest: digest(&cells, &order),
    }
}

/// The arms that saw the same functions with the same noise, M and arrival: one for every rule, random search last.
struct Cell<'a> {
    played: &'a [PlayedArm],
    ranks: Vec<f64>,
    tests: Vec<Option<PairedTest>>,
}

impl<'a> Cell<'a> {
    fn new(played: &'a [PlayedArm]) -> Self {
        let losses: Vec<Vec<f64>> = played.iter().map(PlayedArm::final_averages).collect();
        Self { played, ranks: mean_ranks(&losses), tests: against(0, &losses) }
    }

    fn workers(&self) -> usize {
        self.played[0].arm.settings.workers
    }

    fn arrival(&self) -> &Arrival {
        &self.played[0].arm.experiment.arrival
    }

    /// The panel's letter: those of (a) and (b) are (c) and (d) with delays.
    fn panel(&self) -> &'static str {
        let panel = Panel::PAPER.into_iter().find(|panel| panel.heading() == self.played[0].title());
        match (panel, self.arrival()) {
            (Some(Panel::A), Arrival::Delay) => Panel::C.name(),
            (Some(Panel::B), Arrival::Delay) => Panel::D.name(),
            (panel, _) => panel.map_or("", Panel::name),
        }
    }
}

/// The rules by their mean rank over all cells, best first.
fn order(cells: &[Cell<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..=ComparedRule::ALL.len()).collect();
    let rank = |rule: usize| mean(cells.iter().map(|cell| cell.ranks[rule]));
    order.sort_by(|a, b| rank(*a).total_cmp(&rank(*b)));
    order
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    Estimate::of(&numbers.collect::<Vec<_>>()).mean
}

/// Regrets at the milestones; ranks and tests at the last one.
fn sheet(cells: &[Cell<'_>]) -> Sheet {
    let mut sheet = Sheet::new(&[
        "panel",
        "arrival",
        "workers",
        "rule",
        "t",
        "runs",
        "mean",
        "se",
        "lower",
        "median",
        "upper",
        "mean_rank",
        "wins",
        "ties",
        "difference",
        "se_difference",
        "p",
        "p_holm",
        "standing",
    ]);
    for cell in cells {
        for (rule, one) in cell.played.iter().enumerate() {
            for t in one.arm.settings.milestones() {
                let place = [cell.panel().into(), cell.arrival().name().into(), cell.workers().into()];
                let regret = [vec![one.algorithm().name().into(), t.into()], regret(one, t)].concat();
                let compared =
                    if t == one.arm.settings.horizon { compared(cell, rule) } else { vec![SheetCell::Empty; 8] };
                sheet.push([place.to_vec(), regret, compared].concat());
            }
        }
    }
    sheet
}

/// How many runs, and mean, standard error and quartiles of the time-average regret after t rounds.
fn regret(one: &PlayedArm, t: usize) -> Vec<SheetCell> {
    let averages: Vec<f64> = one.runs.iter().map(|run| run.regret.time_average()[t - 1]).collect();
    let Estimate { mean, se } = Estimate::of(&averages);
    let Quartiles { lower, median, upper } = Quartiles::of(averages);
    [vec![one.runs.len().into()], [mean, se, lower, median, upper].map(SheetCell::from).to_vec()].concat()
}

/// The rank of a rule in its cell, and its test against the first one.
fn compared(cell: &Cell<'_>, rule: usize) -> Vec<SheetCell> {
    let rank = cell.ranks[rule].into();
    let Some(paired) = &cell.tests[rule] else { return [vec![rank], vec![SheetCell::Empty; 7]].concat() };
    let PairedTest { wins, ties, difference, test, p_holm } = paired;
    let standing = paired.standing().name().into();
    let (p, difference) = (test.p_two_sided(), [difference.mean.into(), difference.se.into()]);
    [&[rank, (*wins).into(), (*ties).into()], &difference[..], &[p.into(), (*p_holm).into(), standing]].concat()
}

/// For every rule its mean ranks, and in how many cells it is better or worse than the first one.
fn digest(cells: &[Cell<'_>], order: &[usize]) -> Sheet {
    let groups = ARRIVALS.each_ref().map(|arrival| WORKERS.map(|workers| (arrival, workers)));
    let titles =
        groups.as_flattened().iter().map(|(arrival, workers)| format!("rank, {}, M = {workers}", arrival.name()));
    let columns = [vec!["rule".to_string(), "mean rank".to_string()], titles.collect()].concat();
    let better = format!("better than {}", ComparedRule::ALL[0].name);
    let columns = [columns, vec![better, "worse".to_string(), "not decided".to_string()]].concat();
    let mut digest = Sheet::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for &rule in order {
        let name = cells.first().map_or("", |cell| cell.played[rule].algorithm().name());
        let mut row: Vec<SheetCell> = vec![name.into(), mean(cells.iter().map(|cell| cell.ranks[rule])).into()];
        row.extend(groups.as_flattened().iter().map(|group| {
            let of_group = cells.iter().filter(|cell| (cell.arrival(), cell.workers()) == *group);
            mean(of_group.map(|cell| cell.ranks[rule])).into()
        }));
        let count = |standing: Standing| {
            let tests = cells.iter().filter_map(|cell| cell.tests[rule].as_ref());
            let count = tests.clone().filter(|test| test.standing() == standing).count();
            (tests.count() > 0).then_some(count)
        };
        row.extend([Standing::Better, Standing::Worse, Standing::Undecided].map(|standing| count(standing).into()));
        digest.push(row);
    }
    digest
}

/// One chart for the cells of the same functions: a row per rule, a mark per M and arrival.
fn chart(cells: &[Cell<'_>], order: &[usize]) -> Chart {
    let name = |rule: &usize| cells[0].played[*rule].algorithm().name().to_string();
    let series = |(place, cell): (usize, &Cell<'_>)| {
        // Marks of one rule stand beside each other in its row.
        let off = 0.2 * (place as f64 - 0.5 * (cells.len() - 1) as f64);
        let mark = |(row, rule): (usize, &usize)| (row as f64 + off, cell.played[*rule].regret());
        Series {
            name: format!("{}, M = {}", cell.arrival().name(), cell.workers()),
            style: [0, 1, 4, 5][place % 4],
            points: order.iter().enumerate().map(mark).collect(),
        }
    };
    let title = cells[0].played[0].title();
    // The arrival is in the legend.
    let title = title.trim_end_matches(", batch").replace("(a)", "(a, c)").replace("(b)", "(b, d)");
    Chart {
        title,
        x_label: "time-average regret at T".to_string(),
        log_x: true,
        rows: order.iter().map(name).collect(),
        series: cells.iter().enumerate().map(series).collect(),
        ..Chart::default()
    }
}

fn note(cells: &[Cell<'_>]) -> String {
    let slow: Vec<&str> = ComparedRule::ALL.iter().filter(|rule| rule.is_slow()).map(|rule| rule.name).collect();
    let tests = cells.first().map_or(0, |cell| cell.tests.iter().flatten().count());
    format!(
        "Every rule with the same functions and the same noise, for M = 5 and M = 20, in batches and with delays (panels a \
        and c have the same functions, and so have b and d): {} comparisons of {} methods. In the figure a mark is the mean \
        time-average regret at T with its standard error; rules are ordered by their mean rank over all comparisons, 1 for the \
        smallest regret in a run. The norm bound is max |f|, and gamma, xi and the width are those of the settings, for the \
        rules that read them. Tests are paired signed-rank tests against {}, {tests} for each comparison; p_holm is corrected \
        for these {tests} (Holm 1979), not for the number of comparisons, and better or worse means below 5 %. On e and f \
        there is one function with many noise seeds, so that a test there speaks of noise alone; there {} runs with the first \
        {FEW_FUNCTIONS} seeds, too few for a test to decide, and ranks are taken over those. dpp = \"max\" is gp-ucb-pe.",
        cells.len(),
        ComparedRule::ALL.len() + 1,
        ComparedRule::ALL[0].name,
        slow.join(", "),
    )
}
