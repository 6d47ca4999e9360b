//! The results of the bench of rules: per problem the regret, rank, test and cost of every rule, and all of it in one table.

use serde_json::{Value as Json, json};

use super::{CostClock, Optimizer, OptimizerRuns, Protocol, Schedule, SpacePerformance, SpaceProblem};
use crate::machine::Machine;
use crate::ranking::{PairedTest, Standing, against, fewest_pairs, mean_ranks};
use crate::statistics::{Quartiles, median};
use crate::terminal::{align_right, digits, framed, probability};

/// What the default optimizer is called beside other rules.
const DEFAULT: &str = "auto";

/// Every problem with the runs of every rule.
#[derive(Debug, Clone)]
pub struct RulesReport {
    protocol: Protocol,
    problems: Vec<ComparedProblem>,
}

/// One problem: the rules' runs, their mean ranks, and their tests against the first.
#[derive(Debug, Clone)]
struct ComparedProblem {
    problem: SpaceProblem,
    runs: Vec<OptimizerRuns<SpacePerformance>>,
    ranks: Vec<f64>,
    tests: Vec<Option<PairedTest>>,
}

impl RulesReport {
    pub(super) fn new(protocol: Protocol, problems: Vec<(SpaceProblem, Vec<OptimizerRuns<SpacePerformance>>)>) -> Self {
        let compared = |(problem, runs): (SpaceProblem, Vec<OptimizerRuns<SpacePerformance>>)| {
            let last = |runs: &OptimizerRuns<SpacePerformance>| -> Vec<f64> {
                runs.finished.iter().map(|run| run.performance.last().log10()).collect()
            };
            let losses: Vec<Vec<f64>> = runs.iter().map(last).collect();
            ComparedProblem { problem, ranks: mean_ranks(&losses), tests: against(0, &losses), runs }
        };
        Self { protocol, problems: problems.into_iter().map(compared).collect() }
    }

    /// For people: a table per problem, and one of all.
    pub fn to_text(&self) -> String {
        let Protocol { evaluations, batch, seeds, schedule, .. } = self.protocol;
        let how = match schedule {
            Schedule::Batches => format!("in batches of {batch}"),
            Schedule::Asynchronous => format!("by {batch} workers, results one by one"),
        };
        let mut text = format!(
            "log10 of the simple regret after {evaluations} evaluations {how}, {seeds} runs each. rank: the mean over runs, 1 \
             for the smallest regret. p: paired signed-rank test against {DEFAULT}, corrected for the tests of the problem \
             (Holm)\n"
        );
        text += &self.too_few_runs().unwrap_or_default();
        for problem in &self.problems {
            text += &format!("\n{}\n{}\n", problem.problem.name(), problem.table(evaluations));
        }
        text + &format!("\nall problems\n{}", self.summary())
    }

    /// How many runs are needed, where there are too few for any test to be decided.
    fn too_few_runs(&self) -> Option<String> {
        let tests = self.problems.first()?.tests.iter().flatten().count();
        let (runs, needed) = (self.protocol.seeds, fewest_pairs(tests));
        let told = || {
            format!("{runs} runs decide nothing: with {tests} tests, that takes at least {needed} (--seeds {needed})\n")
        };
        (tests > 0 && runs < needed).then(told)
    }

    /// The rules by mean rank over the problems, best first.
    fn order(&self) -> Vec<usize> {
        let rules = self.problems.first().map_or(0, |problem| problem.runs.len());
        let mut order: Vec<usize> = (0..rules).collect();
        order.sort_by(|a, b| self.mean_rank(*a).total_cmp(&self.mean_rank(*b)));
        order
    }

    fn mean_rank(&self, rule: usize) -> f64 {
        self.problems.iter().map(|problem| problem.ranks[rule]).sum::<f64>() / self.problems.len() as f64
    }

    /// On how many problems a rule is better, worse, or neither than the first.
    fn standings(&self, rule: usize) -> Option<[usize; 3]> {
        let tests = self.problems.iter().map(|problem| problem.tests[rule].as_ref());
        let standings: Vec<Standing> = tests.map(|test| test.map(PairedTest::standing)).collect::<Option<_>>()?;
        let count = |wanted| standings.iter().filter(|standing| **standing == wanted).count();
        Some([Standing::Better, Standing::Worse, Standing::Undecided].map(count))
    }

    /// The median over the problems of a rule's median cost.
    fn seconds(&self, rule: usize) -> f64 {
        median(&self.problems.iter().map(|problem| problem.runs[rule].seconds()).collect::<Vec<_>>())
    }

    fn summary(&self) -> comfy_table::Table {
        let seconds = format!("{} s per run", CostClock::here().name());
        let better = format!("better than {DEFAULT}");
        let mut table = framed(&["rule", "mean rank", &better, "worse", "not decided", &seconds]);
        for rule in self.order() {
            let name = self.problems.first().map_or("", |problem| name(&problem.runs[rule].optimizer));
            let counts = match self.standings(rule) {
                Some(counts) => counts.map(|count| count.to_string()),
                None => ["", "", ""].map(String::from),
            };
            let row = [vec![name.to_string(), format!("{:.2}", self.mean_rank(rule))], counts.to_vec()].concat();
            table.add_row([row, vec![cost(self.seconds(rule))]].concat());
        }
        align_right(&mut table, &[1, 2, 3, 4, 5]);
        table
    }

    /// For programs.
    pub fn to_json(&self) -> Json {
        let Protocol { evaluations, batch, seeds, first_seed, schedule, .. } = self.protocol;
        let rule = |rule: usize| {
            let name = self.problems.first().map_or("", |problem| name(&problem.runs[rule].optimizer));
            let counts = self.standings(rule);
            json!({
                "rule": name, "mean_rank": self.mean_rank(rule), "seconds": self.seconds(rule),
                "better": counts.map(|counts| counts[0]), "worse": counts.map(|counts| counts[1]),
                "not_decided": counts.map(|counts| counts[2]),
            })
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"), "machine": Machine::this(), "clock": CostClock::here().name(),
            "protocol": {
                "evaluations": evaluations, "batch": batch, "asynchronous": schedule == Schedule::Asynchronous,
                "seeds": seeds, "first_seed": first_seed,
            },
            "reference": DEFAULT,
            "problems": self.problems.iter().map(|problem| problem.to_json(&self.protocol)).collect::<Vec<_>>(),
            "rules": self.order().into_iter().map(rule).collect::<Vec<_>>(),
        })
    }
}

impl ComparedProblem {
    fn table(&self, evaluations: usize) -> comfy_table::Table {
        let seconds = format!("{} s per run", CostClock::here().name());
        let mut table = framed(&["rule", "median", "quartiles", "rank", "wins", "p", "", &seconds]);
        for (rule, runs) in self.runs.iter().enumerate() {
            let Quartiles { lower, median, upper } = runs.log10_regret(evaluations);
            let row = [format!("{median:.2}"), format!("[{lower:.2}, {upper:.2}]"), format!("{:.2}", self.ranks[rule])];
            let tested = match &self.tests[rule] {
                Some(test) => [test.wins.to_string(), probability(test.p_holm), test.standing().name().to_string()],
                None => ["", "", ""].map(String::from),
            };
            let row = [vec![name(&runs.optimizer).to_string()], row.to_vec(), tested.to_vec()].concat();
            table.add_row([row, vec![cost(runs.seconds())]].concat());
        }
        align_right(&mut table, &[1, 2, 3, 4, 5, 7]);
        table
    }

    fn to_json(&self, protocol: &Protocol) -> Json {
        let rule = |(rule, runs): (usize, &OptimizerRuns<SpacePerformance>)| {
            let quartiles = runs.log10_regret(protocol.evaluations);
            let test = self.tests[rule].as_ref().map(|paired| {
                let PairedTest { wins, ties, difference, test, p_holm } = paired;
                json!({
                    "wins": wins, "ties": ties, "mean_difference": difference.mean, "se": difference.se,
                    "p_two_sided": test.p_two_sided(), "p_holm": p_holm, "standing": paired.standing().name(),
                })
            });
            let each = runs
                .finished
                .iter()
                .map(|run| json!({"seed": run.seed, "regret": run.performance.last(), "seconds": run.seconds}));
            json!({
                "rule": name(&runs.optimizer), "lower": quartiles.lower, "median": quartiles.median,
                "upper": quartiles.upper, "mean_rank": self.ranks[rule], "test": test, "seconds": runs.seconds(),
                "runs": each.collect::<Vec<_>>(),
            })
        };
        let rules: Vec<Json> = self.runs.iter().enumerate().map(rule).collect();
        // Every instance has its own noise.
        let noise = (!self.problem.is_drawn()).then(|| self.problem.noise());
        json!({
            "problem": self.problem.name(), "dimension": self.problem.dimension(), "noise_sd": noise, "rules": rules,
        })
    }
}

fn name(optimizer: &Optimizer) -> &str {
    if *optimizer == Optimizer::Manyhands { DEFAULT } else { optimizer.name() }
}

/// The thread's clock ticks in milliseconds.
fn cost(seconds: f64) -> String {
    if seconds < 0.01 { "<0.01".to_string() } else { digits(seconds) }
}
