//! The results of the quality bench as tables for people.

use comfy_table::Table;

use super::compared::ComparedProblem;
use super::overall::Overall;
use super::settled_table::tested;
use super::{
    CostClock, Optimizer, OptimizerRuns, PEERS, POOLS, PoolGoal, QualityReport, Reference, Selection, SpacePerformance,
    TestProblem,
};
use crate::statistics::Quartiles;
use crate::terminal::{align_right, digits, framed};

/// A table of problems, one over all of them, one of figures reported elsewhere, one of pools.
pub(super) fn render(report: &QualityReport) -> String {
    let how = report.protocol.arrival();
    let seeds = report.protocol.seeds;
    let figures = format!("median [quartiles] of {seeds} run{}", if seeds == 1 { "" } else { "s" });
    let mut text = String::new();
    if !report.problems.is_empty() {
        let evaluations = match report.evaluations() {
            Some(evaluations) => format!("{evaluations} evaluations"),
            None => "each problem's evaluations (n)".to_string(),
        };
        text += &format!("log10 of the regret after {evaluations} {how}: {figures}\n{LEGEND}\n{}\n", problems(report));
        text += &format!("\nOver all problems\n{OVERALL_LEGEND}\n{}\n", overall(&report.overall()));
        for (dimension, all) in report.by_dimension() {
            text += &format!("\nd = {dimension}\n{}\n", overall(&all));
        }
    }
    if report.problems.iter().any(|compared| Reference::of(compared.problem.name()).is_some()) {
        let how = if report.is_standard() {
            "same protocol"
        } else {
            "for 60 evaluations in batches of 5, not what was run here"
        };
        text += &format!("\nReported elsewhere ({how}): medians of the simple regret\n{}\n", references(report));
    }
    if !report.pools.is_empty() {
        let most = report.protocol.pool_evaluations;
        text += &format!(
            "\nEvaluations {how} until one of the best of a pool, at most {most}: {figures}\nrandom order: evaluations \
             expected; slower: runs that take more\n{}\n",
            pools(report)
        );
    }
    text.trim().to_string()
}

const LEGEND: &str = "\
simple: of the best point evaluated; inference: of the point recommended at the end; both by true values
stuck: runs that end with at least half of the regret of the second-best local optimum
better, worse, ties: in how many runs it ends with less regret than manyhands on the same seed; p: signed-rank test, after Holm
lead: share of the evaluations after which manyhands has this median";

const OVERALL_LEGEND: &str = "\
rank: mean over runs and problems, 1 for the least regret; first: problems on which its median is within 0.1 of the first
lead: median over problems; better, worse, not decided: problems, against manyhands";

fn problems(report: &QualityReport) -> Table {
    let seconds = format!("{} s", CostClock::here().name());
    let header = ["problem", "d", "n", "", "simple", "inference", "stuck", "better", "worse", "ties", "p", "lead"];
    let mut table = framed(&header.into_iter().chain([seconds.as_str()]).collect::<Vec<_>>());
    for compared in &report.problems {
        let numbers = [compared.problem.dimension(), compared.evaluations].map(|number| number.to_string());
        let mut head = [vec![compared.problem.name().to_string()], numbers.to_vec()].concat();
        for optimizer in (0..compared.runs.len()).filter(|place| !compared.runs[*place].finished.is_empty()) {
            table.add_row([head, row(compared, optimizer)].concat());
            head = vec![String::new(); 3];
        }
    }
    align_right(&mut table, &[1, 2, 6, 7, 8, 9, 10, 11, 12]);
    table
}

/// What an optimizer did on a problem.
fn row(compared: &ComparedProblem, optimizer: usize) -> Vec<String> {
    let runs = &compared.runs[optimizer];
    let tested = tested(compared.tests[optimizer].as_ref());
    let regrets = [runs.log10_regret(compared.evaluations), runs.log10_inference()].map(|regret| spread(regret, two));
    let name = vec![runs.optimizer.name().to_string()];
    let rest = [compared.lead(optimizer).map(part).unwrap_or_default(), cost(runs.seconds())];
    let stuck = vec![compared.share_stuck(optimizer).map(percent).unwrap_or_default()];
    [name, regrets.to_vec(), stuck, tested.to_vec(), rest.to_vec()].concat()
}

/// Every optimizer over all problems.
fn overall(all: &[Overall]) -> Table {
    let seconds = format!("{} s", CostClock::here().name());
    let header = ["", "problems", "rank", "first", "lead", "better", "worse", "not decided", seconds.as_str()];
    let mut table = framed(&header);
    for one in all {
        let standings = match one.standings {
            Some(standings) => standings.map(|count| count.to_string()),
            None => [const { String::new() }; 3],
        };
        let lead = one.lead.map(part).unwrap_or_default();
        let row = [one.name.clone(), one.problems.to_string(), two(one.mean_rank), percent(one.first), lead];
        table.add_row([row.to_vec(), standings.to_vec(), vec![cost(one.seconds)]].concat());
    }
    align_right(&mut table, &(1..header.len()).collect::<Vec<_>>());
    table
}

/// The aim, and whether the optimizer met it where it ran.
fn aim(report: &QualityReport, runs: &[OptimizerRuns<SpacePerformance>], reference: &Reference) -> String {
    match runs.iter().find_map(|runs| report.meets(runs, reference)) {
        Some(true) => format!("{:.1}, met", reference.aim),
        Some(false) => format!("{:.1}, MISSED", reference.aim),
        None => format!("{:.1}", reference.aim),
    }
}

fn references(report: &QualityReport) -> Table {
    let mut table = framed(&["problem", "manyhands", "aim"].into_iter().chain(PEERS).collect::<Vec<_>>());
    for compared in &report.problems {
        let Some(reference) = Reference::of(compared.problem.name()) else { continue };
        let ours = compared.runs.iter().position(|runs| runs.optimizer.name() == Optimizer::Manyhands.name());
        let ours = ours.and_then(|ours| compared.median(ours)).map(two).unwrap_or_default();
        let mut row = vec![compared.problem.name().to_string(), ours, aim(report, &compared.runs, reference)];
        row.extend(reference.peers.map(|median| format!("{median:.1}")));
        table.add_row(row);
    }
    align_right(&mut table, &(1..3 + PEERS.len()).collect::<Vec<_>>());
    table
}

fn pools(report: &QualityReport) -> Table {
    let seconds = format!("{} s", CostClock::here().name());
    let header =
        ["pool", "candidates", "", "goal", "of them", "random order", "evaluations", "slower", seconds.as_str()];
    let mut table = framed(&header);
    let most = report.protocol.pool_evaluations;
    let count = |figure: f64| if figure.is_finite() { digits(figure) } else { format!(">{most}") };
    for (pool, runs) in &report.pools {
        let mut head = [pool.name().to_string(), pool.points().len().to_string()];
        for (runs, goal) in runs.iter().flat_map(|runs| PoolGoal::ALL.map(|goal| (runs, goal))) {
            let counted = [pool.best(goal).to_string(), format!("{:.1}", pool.random_order(goal))];
            let reached = spread(runs.evaluations(goal), count);
            let of_run = [reached, percent(runs.slower_than_random(pool, goal)), cost(runs.seconds())];
            let name = [runs.optimizer.name().to_string(), goal.name().to_string()];
            table.add_row([head.to_vec(), name.to_vec(), counted.to_vec(), of_run.to_vec()].concat());
            head = [String::new(), String::new()];
        }
    }
    align_right(&mut table, &[1, 4, 5, 7, 8]);
    table
}

/// What a run costs. The thread's clock ticks in milliseconds.
pub(super) fn cost(seconds: f64) -> String {
    match seconds {
        seconds if seconds.is_nan() => String::new(),
        seconds if seconds < 0.01 => "<0.01".to_string(),
        seconds => digits(seconds),
    }
}

/// The problems with their dimensions, goals and noise, and the names of all pools.
pub(super) fn list(selection: &Selection) -> String {
    let mut table = framed(&["name", "d", "goal", "noise sd"]);
    for problem in &selection.problems {
        let noise = match problem.noise() {
            0.0 => String::new(),
            _ if problem.is_drawn() => "by instance".to_string(),
            noise => digits(noise),
        };
        let goal = problem.direction().name().to_string();
        table.add_row([problem.name().to_string(), problem.dimension().to_string(), goal, noise]);
    }
    align_right(&mut table, &[1, 3]);
    let pools = POOLS.map(|pool| pool.name).join(", ");
    format!("{table}\npools, with --data: {pools}; with -a and -b behind the name their halves, to tune and to test on")
}

pub(super) fn spread(quartiles: Quartiles, show: impl Fn(f64) -> String) -> String {
    format!("{} [{}, {}]", show(quartiles.median), show(quartiles.lower), show(quartiles.upper))
}

pub(super) fn two(figure: f64) -> String {
    format!("{figure:.2}")
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A part of the evaluations; infinite where all of them are not enough.
fn part(part: f64) -> String {
    if part.is_finite() { two(part) } else { ">1".to_string() }
}
#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use manyhands_core::Direction;

    use super::super::{FLOOR, FinishedRun, PoolPerformance, PoolProblem, Protocol, problems};
    use super::*;

    fn runs<Performance>(optimizer: Optimizer, performance: Performance, seconds: f64) -> OptimizerRuns<Performance> {
        OptimizerRuns { optimizer, finished: vec![FinishedRun { seed: 1, performance, seconds }] }
    }

    fn report(protocol: Protocol) -> QualityReport {
        let problem = problems::named(&["branin".to_string()]).unwrap().remove(0);
        let played = |regret: f64| SpacePerformance { simple: vec![regret; 60], inference: 10.0 * regret };
        let ours = runs(Optimizer::Manyhands, played(1e-7), 1.5);
        let random = runs(Optimizer::Random, played(0.1), 0.0);
        let points: Vec<Vec<f64>> = (0..3).map(|i| vec![f64::from(i)]).collect();
        let pool = PoolProblem::new("line", Direction::Maximize, points.clone(), points).unwrap();
        let never = runs(Optimizer::Manyhands, PoolPerformance::default(), 0.001);
        let compared = ComparedProblem::new(problem, &protocol, vec![ours, random], FLOOR);
        QualityReport { protocol, problems: vec![compared], pools: vec![(pool, vec![never])] }
    }

    #[test]
    fn the_optimizer_stands_beside_its_aim_and_random_search() {
        let text = render(&report(Protocol::default()));
        let parts = [
            "-7.00 [-7.00, -7.00]",
            "-6.00 [-6.00, -6.00]",
            "-6.0, met",
            "-1.00 [",
            "100 %",
            "1.5",
            "same protocol",
            ">200 [>200, >200]",
            "<0.01",
        ];
        for part in parts {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn another_protocol_is_not_compared_with_the_aims() {
        let report = report(Protocol { batch: 1, ..Protocol::default() });
        let text = render(&report);
        assert!(text.contains("not what was run here") && !text.contains(", met"), "{text}");
        let json = report.to_json();
        assert!(json["problems"][0]["players"]["manyhands"]["aim_met"].is_null());
        assert!(json["pools"][0]["players"]["manyhands"]["evaluations"]["median"].is_null(), "never reached");
    }
}
