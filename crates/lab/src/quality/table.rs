//! The results of the quality bench as tables for people.

use comfy_table::Table;

use super::{
    CostClock, Optimizer, OptimizerRuns, PEERS, POOLS, Protocol, QualityReport, Reference, Schedule, Selection,
    SpacePerformance, TestProblem,
};
use crate::statistics::Quartiles;
use crate::terminal::{align_right, digits, framed};

/// A table of problems, one of figures reported elsewhere, one of pools.
pub(super) fn render(report: &QualityReport) -> String {
    let Protocol { evaluations, batch, seeds, schedule, .. } = report.protocol;
    let how = match schedule {
        Schedule::Batches => format!("in batches of {batch}"),
        Schedule::Asynchronous => format!("by {batch} workers, results one by one"),
    };
    let figures = format!("median [quartiles] of {seeds} run{}", if seeds == 1 { "" } else { "s" });
    let mut text = String::new();
    if !report.problems.is_empty() {
        text += &format!(
            "log10 of the simple regret after {evaluations} evaluations {how}: {figures}\n{}\n",
            problems(report)
        );
    }
    if report.problems.iter().any(|(problem, _)| Reference::of(problem.name()).is_some()) {
        let how = if report.is_standard() {
            "same protocol"
        } else {
            "for 60 evaluations in batches of 5, not what was run here"
        };
        text += &format!("\nReported elsewhere ({how}): medians\n{}\n", references(report));
    }
    if !report.pools.is_empty() {
        let most = report.protocol.pool_evaluations;
        text += &format!(
            "\nEvaluations {how} to reach the best 1 % of a pool, at most {most}: {figures}\n{}\n",
            pools(report)
        );
    }
    text.trim().to_string()
}

fn problems(report: &QualityReport) -> Table {
    let compared = report.problems.first().map_or(&[][..], |(_, runs)| runs);
    let seconds = format!("{} s per run", CostClock::here().name());
    let header = ["problem", "d"].into_iter().chain(compared.iter().map(|runs| runs.optimizer.name()));
    let mut table = framed(&header.chain(["aim", "best peer", seconds.as_str()]).collect::<Vec<_>>());
    for (problem, runs) in &report.problems {
        let reference = Reference::of(problem.name());
        let mut row = vec![problem.name().to_string(), problem.dimension().to_string()];
        row.extend(runs.iter().map(|runs| spread(runs.log10_regret(report.protocol.evaluations), two)));
        row.push(reference.map(|reference| aim(report, runs, reference)).unwrap_or_default());
        let peer = reference.map(Reference::best_peer);
        row.push(peer.map(|(name, median)| format!("{median:.1} {name}")).unwrap_or_default());
        row.push(cost(runs));
        table.add_row(row);
    }
    align_right(&mut table, &[1, 4 + compared.len()]);
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
    for (problem, runs) in &report.problems {
        let Some(reference) = Reference::of(problem.name()) else { continue };
        let ours = runs.iter().find(|runs| runs.optimizer == Optimizer::Manyhands);
        let ours = ours.map(|runs| two(runs.log10_regret(report.protocol.evaluations).median));
        let mut row = vec![problem.name().to_string(), ours.unwrap_or_default(), format!("{:.1}", reference.aim)];
        row.extend(reference.peers.map(|median| format!("{median:.1}")));
        table.add_row(row);
    }
    align_right(&mut table, &(1..3 + PEERS.len()).collect::<Vec<_>>());
    table
}

fn pools(report: &QualityReport) -> Table {
    let compared = report.pools.first().map_or(&[][..], |(_, runs)| runs);
    let seconds = format!("{} s per run", CostClock::here().name());
    let header = ["pool", "candidates", "best 1 %", "random order, expected"].into_iter();
    let header = header.chain(compared.iter().map(|runs| runs.optimizer.name())).chain([seconds.as_str()]);
    let mut table = framed(&header.collect::<Vec<_>>());
    let most = report.protocol.pool_evaluations;
    let count = |count: f64| if count.is_finite() { digits(count) } else { format!(">{most}") };
    for (pool, runs) in &report.pools {
        let mut row = vec![pool.name().to_string(), pool.points().len().to_string(), pool.best().to_string()];
        row.push(format!("{:.1}", pool.random_order()));
        row.extend(runs.iter().map(|runs| spread(runs.evaluations(), count)));
        row.push(cost(runs));
        table.add_row(row);
    }
    align_right(&mut table, &[1, 2, 3, 4 + compared.len()]);
    table
}

/// What a run costs the optimizer, or else the first optimizer. The thread's clock ticks in milliseconds.
fn cost<Performance>(runs: &[OptimizerRuns<Performance>]) -> String {
    let ours = runs.iter().find(|runs| runs.optimizer == Optimizer::Manyhands).or(runs.first());
    match ours.map(OptimizerRuns::seconds) {
        Some(seconds) if seconds < 0.01 => "<0.01".to_string(),
        Some(seconds) => digits(seconds),
        None => String::new(),
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
    format!("{table}\npools, with --data: {pools}")
}

fn spread(quartiles: Quartiles, show: impl Fn(f64) -> String) -> String {
    format!("{} [{}, {}]", show(quartiles.median), show(quartiles.lower), show(quartiles.upper))
}

fn two(figure: f64) -> String {
    format!("{figure:.2}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use manyhands_core::Direction;

    use super::super::{FinishedRun, PoolProblem, problems};
    use super::*;

    fn runs<Performance>(optimizer: Optimizer, performance: Performance, seconds: f64) -> OptimizerRuns<Performance> {
        OptimizerRuns { optimizer, finished: vec![FinishedRun { seed: 1, performance, seconds }] }
    }

    fn report(protocol: Protocol) -> QualityReport {
        let problem = problems::named(&["branin".to_string()]).unwrap().remove(0);
        let played = |regret: f64| SpacePerformance { simple: vec![regret; protocol.evaluations], inference: regret };
        let ours = runs(Optimizer::Manyhands, played(1e-7), 1.5);
        let random = runs(Optimizer::Random, played(0.1), 0.0);
        let points: Vec<Vec<f64>> = (0..3).map(|i| vec![f64::from(i)]).collect();
        let pool = PoolProblem::new("line", Direction::Maximize, points.clone(), points).unwrap();
        let never = runs(Optimizer::Manyhands, None, 0.001);
        QualityReport { protocol, problems: vec![(problem, vec![ours, random])], pools: vec![(pool, vec![never])] }
    }

    #[test]
    fn the_optimizer_stands_beside_its_aim_and_random_search() {
        let text = render(&report(Protocol::default()));
        let parts =
            ["-7.00 [-7.00, -7.00]", "-6.0, met", "-1.00 [", "1.5", "same protocol", ">200 [>200, >200]", "<0.01"];
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
