//! The results of the bench of rules: per problem the regret, rank, test and cost of every rule, and all of it in one table.

use serde_json::{Value as Json, json};

use super::compared::ComparedProblem;
use super::report::test;
use super::table::cost;
use super::{CostClock, FLOOR, Optimizer, OptimizerRuns, Protocol, Schedule, SpacePerformance, SpaceProblem};
use crate::machine::Machine;
use crate::ranking::{PairedTest, Standing, fewest_pairs};
use crate::statistics::{Quartiles, median};
use crate::terminal::{align_right, framed, probability};

/// What the default optimizer is called beside other rules.
const DEFAULT: &str = "auto";

/// Every problem with the runs of every rule.
#[derive(Debug, Clone)]
pub struct RulesReport {
    protocol: Protocol,
    problems: Vec<ComparedProblem>,
}

impl RulesReport {
    pub(super) fn new(protocol: Protocol, problems: Vec<(SpaceProblem, Vec<OptimizerRuns<SpacePerformance>>)>) -> Self {
        let compared = |(problem, runs)| ComparedProblem::new(problem, &protocol, runs, FLOOR);
        Self { protocol, problems: problems.into_iter().map(compared).collect() }
    }

    /// For people: a table per problem, and one of all.
    pub fn to_text(&self) -> String {
        let (how, seeds) = (self.protocol.arrival(), self.protocol.seeds);
        let mut text = format!(
            "log10 of the simple regret at the end of runs {how}, {seeds} runs each. rank: the mean over runs, 1 for the \
             smallest regret. p: paired signed-rank test against {DEFAULT}, corrected for the tests of the problem (Holm)\n"
        );
        text += &self.too_few_runs().unwrap_or_default();
        for problem in &self.problems {
            let (name, evaluations) = (problem.problem.name(), problem.evaluations);
            text += &format!("\n{name}, {evaluations} evaluations\n{}\n", rules_table(problem));
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
        self.problems.iter().map(|problem| rank(problem, rule)).sum::<f64>() / self.problems.len() as f64
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
        let Protocol { batch, seeds, first_seed, schedule, .. } = self.protocol;
        let evaluations: Vec<usize> = self.problems.iter().map(|problem| problem.evaluations).collect();
        let evaluations = evaluations.first().filter(|first| evaluations.iter().all(|other| other == *first));
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
            "problems": self.problems.iter().map(problem_json).collect::<Vec<_>>(),
            "rules": self.order().into_iter().map(rule).collect::<Vec<_>>(),
        })
    }
}

fn rank(problem: &ComparedProblem, rule: usize) -> f64 {
    problem.ranks[rule].unwrap_or(f64::NAN)
}

fn rules_table(problem: &ComparedProblem) -> comfy_table::Table {
    let seconds = format!("{} s per run", CostClock::here().name());
    let mut table = framed(&["rule", "median", "quartiles", "rank", "wins", "p", "", &seconds]);
    for (rule, runs) in problem.runs.iter().enumerate() {
        let Quartiles { lower, median, upper } = runs.log10_regret(problem.evaluations);
        let rank = format!("{:.2}", rank(problem, rule));
        let row = [format!("{median:.2}"), format!("[{lower:.2}, {upper:.2}]"), rank];
        let tested = match &problem.tests[rule] {
            Some(test) => [test.wins.to_string(), probability(test.p_holm), test.standing().name().to_string()],
            None => ["", "", ""].map(String::from),
        };
        let row = [vec![name(&runs.optimizer).to_string()], row.to_vec(), tested.to_vec()].concat();
        table.add_row([row, vec![cost(runs.seconds())]].concat());
    }
    align_right(&mut table, &[1, 2, 3, 4, 5, 7]);
    table
}

fn problem_json(compared: &ComparedProblem) -> Json {
    let rule = |(rule, runs): (usize, &OptimizerRuns<SpacePerformance>)| {
        let Quartiles { lower, median, upper } = runs.log10_regret(compared.evaluations);
        let paired = compared.tests[rule].as_ref().map(|paired| {
            let mut shown = test(paired);
            shown["wins"] = json!(paired.wins);
            shown
        });
        let each = runs.finished.iter().map(|run| {
            let (regret, inference) = (run.performance.last(), run.performance.inference);
            json!({"seed": run.seed, "regret": regret, "inference_regret": inference, "seconds": run.seconds})
        });
        json!({
            "rule": name(&runs.optimizer), "lower": lower, "median": median, "upper": upper,
            "mean_rank": compared.ranks[rule], "test": paired, "stuck": compared.share_stuck(rule),
            "seconds": runs.seconds(), "runs": each.collect::<Vec<_>>(),
        })
    };
    let rules: Vec<Json> = compared.runs.iter().enumerate().map(rule).collect();
    let problem = &compared.problem;
    // Every instance has its own noise.
    let noise = (!problem.is_drawn()).then(|| problem.noise());
    json!({
        "problem": problem.name(), "dimension": problem.dimension(), "noise_sd": noise,
        "evaluations": compared.evaluations, "rules": rules,
    })
}

fn name(optimizer: &Optimizer) -> &str {
    if *optimizer == Optimizer::Manyhands { DEFAULT } else { optimizer.name() }
}
