//! The results of the quality bench, and their JSON.

use serde_json::{Map, Value as Json, json};

use super::{
    CostClock, FinishedRun, Optimizer, OptimizerRuns, PEERS, POOLS, PoolProblem, Protocol, Reference, Schedule,
    Selection, SpacePerformance, SpaceProblem, TestProblem, table,
};
use crate::machine::Machine;
use crate::statistics::Quartiles;

/// Every problem and pool with its runs, one entry per optimizer.
#[derive(Debug, Clone)]
pub struct QualityReport {
    pub(super) protocol: Protocol,
    pub(super) problems: Vec<(SpaceProblem, Vec<OptimizerRuns<SpacePerformance>>)>,
    pub(super) pools: Vec<(PoolProblem, Vec<OptimizerRuns<Option<usize>>>)>,
}

impl QualityReport {
    pub(super) fn new(
        protocol: Protocol,
        selection: Selection,
        problems: Vec<Vec<OptimizerRuns<SpacePerformance>>>,
        pools: Vec<Vec<OptimizerRuns<Option<usize>>>>,
    ) -> Self {
        let problems = selection.problems.into_iter().zip(problems).collect();
        Self { protocol, problems, pools: selection.pools.into_iter().zip(pools).collect() }
    }

    /// Whether the runs were made under the protocol of the aims and of the figures reported elsewhere.
    pub(super) fn is_standard(&self) -> bool {
        let Protocol { evaluations, batch, schedule, .. } = Protocol::default();
        let used = &self.protocol;
        (used.evaluations, used.batch, used.schedule) == (evaluations, batch, schedule)
    }

    /// Whether the optimizer reaches its aim; none for other optimizers and other protocols, which have no aims.
    pub(super) fn meets(&self, runs: &OptimizerRuns<SpacePerformance>, reference: &Reference) -> Option<bool> {
        let judged = runs.optimizer == Optimizer::Manyhands && self.is_standard();
        judged.then(|| runs.log10_regret(self.protocol.evaluations).median <= reference.aim)
    }

    /// For people: tables.
    pub fn to_text(&self) -> String {
        table::render(self)
    }

    /// For programs.
    pub fn to_json(&self) -> Json {
        let problems: Vec<Json> = self.problems.iter().map(|(problem, runs)| self.problem(problem, runs)).collect();
        let pools: Vec<Json> = self.pools.iter().map(|(on, runs)| pool(on, runs)).collect();
        let Protocol { evaluations, pool_evaluations, batch, seeds, first_seed, .. } = self.protocol;
        json!({
            "version": env!("CARGO_PKG_VERSION"), "machine": Machine::this(), "clock": CostClock::here().name(),
            "protocol": {
                "evaluations": evaluations, "pool_evaluations": pool_evaluations, "batch": batch,
                "asynchronous": self.protocol.schedule == Schedule::Asynchronous, "seeds": seeds,
                "first_seed": first_seed,
            },
            "problems": problems, "pools": pools,
        })
    }

    fn problem(&self, problem: &SpaceProblem, runs: &[OptimizerRuns<SpacePerformance>]) -> Json {
        let reference = Reference::of(problem.name());
        let names = problem.space().parameters().iter().map(|parameter| parameter.name());
        let point = manyhands_core::json::named(names.zip(&problem.optimum().point));
        // Every instance has its own.
        let optimum = (!problem.is_drawn()).then(|| json!({"value": problem.optimum().value, "params": point}));
        let noise = (!problem.is_drawn()).then(|| problem.noise());
        let peers = reference.map(|reference| PEERS.into_iter().zip(reference.peers).map(named).collect::<Map<_, _>>());
        let optimizers: Map<String, Json> =
            runs.iter().map(|runs| (runs.optimizer.name().to_string(), self.optimizer(runs, reference))).collect();
        json!({
            "problem": problem.name(), "dimension": problem.dimension(), "direction": problem.direction().name(),
            "noise_sd": noise, "optimum": optimum,
            "aim": reference.map(|reference| reference.aim), "reported_elsewhere": peers, "players": optimizers,
        })
    }

    fn optimizer(&self, runs: &OptimizerRuns<SpacePerformance>, reference: Option<&Reference>) -> Json {
        let last = runs.log10_regret(self.protocol.evaluations);
        let at = |evaluations: usize| {
            let regret = quartiles(runs.log10_regret(evaluations));
            json!({"evaluations": evaluations, "log10_regret": regret})
        };
        let curve: Vec<Json> = self.protocol.milestones().into_iter().map(at).collect();
        json!({
            "log10_regret": quartiles(last), "curve": curve, "seconds": runs.seconds(),
            "aim_met": reference.and_then(|reference| self.meets(runs, reference)),
            "games": each(runs, |performance| ("regret", json!(performance.last()))),
        })
    }
}

/// Every run of an optimizer: its seed, its performance under the name of the quantity, its cost.
fn each<Performance>(
    runs: &OptimizerRuns<Performance>,
    show: impl Fn(&Performance) -> (&'static str, Json),
) -> Vec<Json> {
    let run = |run: &FinishedRun<Performance>| {
        let (name, performance) = show(&run.performance);
        json!({"seed": run.seed, name: performance, "seconds": run.seconds})
    };
    runs.finished.iter().map(run).collect()
}

impl Selection {
    /// For programs: the names of the problems, and of every pool that is known.
    pub fn to_json(&self) -> Json {
        let problems: Vec<&str> = self.problems.iter().map(TestProblem::name).collect();
        json!({"problems": problems, "pools": POOLS.map(|pool| pool.name)})
    }

    /// For people: a table.
    pub fn to_text(&self) -> String {
        table::list(self)
    }
}

fn pool(pool: &PoolProblem, runs: &[OptimizerRuns<Option<usize>>]) -> Json {
    let optimizer = |runs: &OptimizerRuns<Option<usize>>| {
        json!({
            "evaluations": quartiles(runs.evaluations()), "seconds": runs.seconds(),
            "games": each(runs, |evaluations| ("evaluations", json!(evaluations))),
        })
    };
    let optimizers: Map<String, Json> =
        runs.iter().map(|runs| (runs.optimizer.name().to_string(), optimizer(runs))).collect();
    json!({
        "pool": pool.name(), "candidates": pool.points().len(), "direction": pool.direction().name(),
        "best": pool.best(), "random_order_expected": pool.random_order(), "players": optimizers,
    })
}

/// Quartiles that are infinite, because the best was not reached, become null.
fn quartiles(quartiles: Quartiles) -> Json {
    json!({"lower": quartiles.lower, "median": quartiles.median, "upper": quartiles.upper})
}

fn named((name, figure): (&str, f64)) -> (String, Json) {
    (name.to_string(), json!(figure))
}
