//! The results of the quality bench, and their JSON.

use serde_json::{Map, Value as Json, json};

use super::compared::ComparedProblem;
use super::overall::Overall;
use super::{
    CostClock, FLOOR, FinishedRun, Optimizer, OptimizerRuns, PEERS, POOLS, PoolGoal, PoolPerformance, PoolProblem,
    Protocol, Reference, Schedule, Selection, SpacePerformance, TestProblem, table,
};
use crate::machine::Machine;
use crate::ranking::PairedTest;
use crate::statistics::Quartiles;

/// Every problem and pool with its runs, one entry per optimizer.
#[derive(Debug, Clone)]
pub struct QualityReport {
    pub(super) protocol: Protocol,
    pub(super) problems: Vec<ComparedProblem>,
    pub(super) pools: Vec<(PoolProblem, Vec<OptimizerRuns<PoolPerformance>>)>,
}

impl QualityReport {
    pub(super) fn new(
        protocol: Protocol,
        selection: Selection,
        problems: Vec<Vec<OptimizerRuns<SpacePerformance>>>,
        pools: Vec<Vec<OptimizerRuns<PoolPerformance>>>,
    ) -> Self {
        let problems = selection.problems.into_iter().zip(problems);
        let problems = problems.map(|(problem, runs)| ComparedProblem::new(problem, &protocol, runs, FLOOR)).collect();
        Self { protocol, problems, pools: selection.pools.into_iter().zip(pools).collect() }
    }

    /// Whether the runs were made under the protocol of the aims and of the figures reported elsewhere.
    pub(super) fn is_standard(&self) -> bool {
        let Protocol { batch, schedule, .. } = Protocol::default();
        let with_aims = self.problems.iter().filter(|problem| Reference::of(problem.problem.name()).is_some());
        (self.protocol.batch, self.protocol.schedule) == (batch, schedule)
            && with_aims.into_iter().all(|problem| problem.evaluations == Reference::EVALUATIONS)
    }

    /// Whether the optimizer reaches its aim; none for other optimizers and other protocols, which have no aims.
    pub(super) fn meets(&self, runs: &OptimizerRuns<SpacePerformance>, reference: &Reference) -> Option<bool> {
        let judged =
            runs.optimizer.name() == Optimizer::Manyhands.name() && !runs.finished.is_empty() && self.is_standard();
        judged.then(|| runs.log10_regret(Reference::EVALUATIONS).median <= reference.aim)
    }

    /// The evaluations of all problems, if they are the same everywhere.
    pub(super) fn evaluations(&self) -> Option<usize> {
        let first = self.problems.first()?.evaluations;
        self.problems.iter().all(|problem| problem.evaluations == first).then_some(first)
    }

    /// All problems.
    pub(super) fn overall(&self) -> Vec<Overall> {
        Overall::of(&self.problems.iter().collect::<Vec<_>>())
    }

    /// The problems of each dimension, where all are of the BBOB set and in several dimensions.
    pub(super) fn by_dimension(&self) -> Vec<(usize, Vec<Overall>)> {
        let mut dimensions: Vec<usize> = self.problems.iter().map(|compared| compared.problem.dimension()).collect();
        dimensions.sort_unstable();
        dimensions.dedup();
        if dimensions.len() < 2 || !self.problems.iter().all(|compared| compared.problem.is_drawn()) {
            return vec![];
        }
        let of = |dimension: usize| self.problems.iter().filter(move |one| one.problem.dimension() == dimension);
        dimensions.into_iter().map(|dimension| (dimension, Overall::of(&of(dimension).collect::<Vec<_>>()))).collect()
    }

    /// For people: tables.
    pub fn to_text(&self) -> String {
        table::render(self)
    }

    /// For programs.
    pub fn to_json(&self) -> Json {
        let problems: Vec<Json> = self.problems.iter().map(|problem| self.problem(problem)).collect();
        let pools: Vec<Json> = self.pools.iter().map(|(on, runs)| pool(on, runs)).collect();
        let Protocol { pool_evaluations, batch, seeds, first_seed, .. } = self.protocol;
        let by_dimension = self.by_dimension().into_iter().map(
            |(dimension, all)| json!({"dimension": dimension, "overall": all.iter().map(overall).collect::<Vec<_>>()}),
        );
        json!({
            "version": env!("CARGO_PKG_VERSION"), "machine": Machine::this(), "clock": CostClock::here().name(),
            "protocol": {
                "evaluations": self.evaluations().or(self.protocol.evaluations),
                "pool_evaluations": pool_evaluations, "batch": batch,
                "asynchronous": self.protocol.schedule == Schedule::Asynchronous, "seeds": seeds,
                "first_seed": first_seed,
            },
            "problems": problems, "pools": pools,
            "overall": self.overall().iter().map(overall).collect::<Vec<_>>(),
            "overall_by_dimension": by_dimension.collect::<Vec<_>>(),
        })
    }

    fn problem(&self, compared: &ComparedProblem) -> Json {
        let problem = &compared.problem;
        let reference = Reference::of(problem.name());
        let names = problem.space().parameters().iter().map(|parameter| parameter.name());
        let point = manyhands_core::json::named(names.zip(&problem.optimum().point));
        // Every instance has its own.
        let optimum = (!problem.is_drawn()).then(|| json!({"value": problem.optimum().value, "params": point}));
        let noise = (!problem.is_drawn()).then(|| problem.noise());
        let peers = reference.map(|reference| PEERS.into_iter().zip(reference.peers).map(named).collect::<Map<_, _>>());
        let with_runs = (0..compared.runs.len()).filter(|optimizer| !compared.runs[*optimizer].finished.is_empty());
        let name = |optimizer: usize| compared.runs[optimizer].optimizer.name().to_string();
        let optimizers: Map<String, Json> =
            with_runs.map(|optimizer| (name(optimizer), self.optimizer(compared, optimizer, reference))).collect();
        json!({
            "problem": problem.name(), "dimension": problem.dimension(), "direction": problem.direction().name(),
            "evaluations": compared.evaluations, "second_best_regret": problem.second_best(),
            "noise_sd": noise, "optimum": optimum,
            "aim": reference.map(|reference| reference.aim), "reported_elsewhere": peers, "players": optimizers,
        })
    }

    fn optimizer(&self, compared: &ComparedProblem, optimizer: usize, reference: Option<&Reference>) -> Json {
        let runs = &compared.runs[optimizer];
        let at = |evaluations: usize| {
            let regret = quartiles(runs.log10_regret(evaluations));
            json!({"evaluations": evaluations, "log10_regret": regret})
        };
        let curve: Vec<Json> = Protocol::milestones(compared.evaluations).into_iter().map(at).collect();
        json!({
            "log10_regret": quartiles(runs.log10_regret(compared.evaluations)), "curve": curve,
            "log10_inference_regret": quartiles(runs.log10_inference()),
            "stuck": compared.share_stuck(optimizer), "seconds": runs.seconds(),
            "mean_rank": compared.ranks[optimizer], "lead_of_manyhands": compared.lead(optimizer),
            "against_manyhands": compared.tests[optimizer].as_ref().map(test),
            "aim_met": reference.and_then(|reference| self.meets(runs, reference)),
            "games": each(runs, |performance| {
                vec![("regret", json!(performance.last())), ("inference_regret", json!(performance.inference))]
            }),
        })
    }
}

/// A paired test against the reference.
pub(super) fn test(paired: &PairedTest) -> Json {
    json!({
        "better": paired.wins, "worse": paired.losses(), "ties": paired.ties,
        "mean_difference": paired.difference.mean, "se": paired.difference.se,
        "p_two_sided": paired.test.p_two_sided(), "p_holm": paired.p_holm, "standing": paired.standing().name(),
    })
}

fn overall(overall: &Overall) -> Json {
    let [better, worse, undecided] = match overall.standings {
        Some(standings) => standings.map(Some),
        None => [None; 3],
    };
    json!({
        "player": overall.name, "problems": overall.problems, "mean_rank": overall.mean_rank,
        "share_first": overall.first, "lead_of_manyhands": overall.lead, "better": better, "worse": worse,
        "not_decided": undecided, "seconds": overall.seconds,
    })
}

/// Every run of an optimizer: its seed, its performance under the names of the quantities, its cost.
fn each<Performance>(
    runs: &OptimizerRuns<Performance>,
    show: impl Fn(&Performance) -> Vec<(&'static str, Json)>,
) -> Vec<Json> {
    let run = |run: &FinishedRun<Performance>| {
        let mut shown = json!({"seed": run.seed, "seconds": run.seconds});
        show(&run.performance).into_iter().for_each(|(name, quantity)| shown[name] = quantity);
        shown
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

fn pool(pool: &PoolProblem, runs: &[OptimizerRuns<PoolPerformance>]) -> Json {
    let [one, five] = PoolGoal::ALL;
    let optimizer = |runs: &OptimizerRuns<PoolPerformance>| {
        json!({
            "evaluations": quartiles(runs.evaluations(one)), "seconds": runs.seconds(),
            "slower_than_random": runs.slower_than_random(pool, one),
            "evaluations_5_percent": quartiles(runs.evaluations(five)),
            "slower_than_random_5_percent": runs.slower_than_random(pool, five),
            "games": each(runs, |run| {
                let [one, five] = [one, five].map(|goal| json!(run.reached(goal)));
                vec![("evaluations", one), ("evaluations_5_percent", five)]
            }),
        })
    };
    let optimizers: Map<String, Json> =
        runs.iter().map(|runs| (runs.optimizer.name().to_string(), optimizer(runs))).collect();
    json!({
        "pool": pool.name(), "candidates": pool.points().len(), "direction": pool.direction().name(),
        "best": pool.best(one), "random_order_expected": pool.random_order(one), "best_5_percent": pool.best(five),
        "random_order_expected_5_percent": pool.random_order(five), "players": optimizers,
    })
}

/// Quartiles that are infinite, because the best was not reached, become null.
pub(super) fn quartiles(quartiles: Quartiles) -> Json {
    json!({"lower": quartiles.lower, "median": quartiles.median, "upper": quartiles.upper})
}

fn named((name, figure): (&str, f64)) -> (String, Json) {
    (name.to_string(), json!(figure))
}
