//! What the games gave, and the same for programs.

use manyhands_lab::quality::{
    Board, Clock, Contender, Games, PEERS, POOLS, Played, Pool, Problem, Protocol, Reference, Schedule, Selection,
    to_json,
};
use manyhands_lab::statistics::Quartiles;
use serde_json::{Map, Value as Json, json};

use crate::bench::report::Machine;

/// Everything that was played.
pub struct Report {
    pub protocol: Protocol,
    pub problems: Vec<(Problem, Vec<Games<Vec<f64>>>)>,
    pub pools: Vec<(Pool, Vec<Games<Option<usize>>>)>,
}

impl Report {
    /// Boards with their games.
    pub fn new(
        protocol: Protocol,
        selection: Selection,
        problems: Vec<Vec<Games<Vec<f64>>>>,
        pools: Vec<Vec<Games<Option<usize>>>>,
    ) -> Self {
        let problems = selection.problems.into_iter().zip(problems).collect();
        Self { protocol, problems, pools: selection.pools.into_iter().zip(pools).collect() }
    }

    /// Whether figures reported elsewhere are for what was played here.
    pub fn is_standard(&self) -> bool {
        let Protocol { evaluations, batch, schedule, .. } = Protocol::default();
        let played = &self.protocol;
        (played.evaluations, played.batch, played.schedule) == (evaluations, batch, schedule)
    }

    /// Whether the optimizer reaches what is aimed at. Nobody else has aims, and they are for the standard protocol.
    pub fn meets(&self, games: &Games<Vec<f64>>, reference: &Reference) -> Option<bool> {
        let judged = games.contender == Contender::Manyhands && self.is_standard();
        judged.then(|| games.log10_regret(self.protocol.evaluations).median <= reference.aim)
    }

    pub fn to_json(&self) -> Json {
        let problems: Vec<Json> = self.problems.iter().map(|(problem, games)| self.problem(problem, games)).collect();
        let pools: Vec<Json> = self.pools.iter().map(|(on, games)| pool(on, games)).collect();
        let Protocol { evaluations, pool_evaluations, batch, seeds, first_seed, .. } = self.protocol;
        json!({
            "version": env!("CARGO_PKG_VERSION"), "machine": Machine::this(), "clock": Clock::here().name(),
            "protocol": {
                "evaluations": evaluations, "pool_evaluations": pool_evaluations, "batch": batch,
                "asynchronous": self.protocol.schedule == Schedule::Asynchronous, "seeds": seeds,
                "first_seed": first_seed,
            },
            "problems": problems, "pools": pools,
        })
    }

    fn problem(&self, problem: &Problem, games: &[Games<Vec<f64>>]) -> Json {
        let reference = Reference::of(problem.name());
        let names = problem.space().parameters().iter().map(|parameter| parameter.name().to_string());
        let point: Map<String, Json> = names.zip(problem.optimum().point.iter().map(to_json)).collect();
        let peers = reference.map(|reference| PEERS.into_iter().zip(reference.peers).map(named).collect::<Map<_, _>>());
        let players: Map<String, Json> =
            games.iter().map(|games| (games.contender.name().to_string(), self.player(games, reference))).collect();
        json!({
            "problem": problem.name(), "dimension": problem.dimension(), "direction": problem.direction().name(),
            "noise_sd": problem.noise(), "optimum": {"value": problem.optimum().value, "params": point},
            "aim": reference.map(|reference| reference.aim), "reported_elsewhere": peers, "players": players,
        })
    }

    fn player(&self, games: &Games<Vec<f64>>, reference: Option<&Reference>) -> Json {
        let last = games.log10_regret(self.protocol.evaluations);
        let at = |evaluations: usize| {
            let regret = quartiles(games.log10_regret(evaluations));
            json!({"evaluations": evaluations, "log10_regret": regret})
        };
        let curve: Vec<Json> = self.protocol.milestones().into_iter().map(at).collect();
        json!({
            "log10_regret": quartiles(last), "curve": curve, "seconds": games.seconds(),
            "aim_met": reference.and_then(|reference| self.meets(games, reference)),
            "games": each(games, |regrets| ("regret", json!(regrets.last()))),
        })
    }
}

/// Every game of a contender: its seed, what it gave under its name, its cost.
fn each<Outcome>(games: &Games<Outcome>, show: impl Fn(&Outcome) -> (&'static str, Json)) -> Vec<Json> {
    let game = |game: &Played<Outcome>| {
        let (name, outcome) = show(&game.outcome);
        json!({"seed": game.seed, name: outcome, "seconds": game.seconds})
    };
    games.played.iter().map(game).collect()
}

/// The names of all problems and pools.
pub fn list(selection: &Selection) -> Json {
    let problems: Vec<&str> = selection.problems.iter().map(Board::name).collect();
    json!({"problems": problems, "pools": POOLS.map(|pool| pool.name)})
}

fn pool(pool: &Pool, games: &[Games<Option<usize>>]) -> Json {
    let player = |games: &Games<Option<usize>>| {
        json!({
            "evaluations": quartiles(games.evaluations()), "seconds": games.seconds(),
            "games": each(games, |evaluations| ("evaluations", json!(evaluations))),
        })
    };
    let players: Map<String, Json> =
        games.iter().map(|games| (games.contender.name().to_string(), player(games))).collect();
    json!({
        "pool": pool.name(), "candidates": pool.points().len(), "direction": pool.direction().name(),
        "best": pool.best(), "random_order_expected": pool.random_order(), "players": players,
    })
}

/// What is infinite, because it was not reached, becomes null.
fn quartiles(quartiles: Quartiles) -> Json {
    json!({"lower": quartiles.lower, "median": quartiles.median, "upper": quartiles.upper})
}

fn named((name, figure): (&str, f64)) -> (String, Json) {
    (name.to_string(), json!(figure))
}
