//! What came out for a question: every answer beside the default, on each problem and over all of them.

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use super::compared::{ComparedProblem, share};
use super::report::{quartiles, test};
use super::settled_table::{details, medians, totals};
use super::{Protocol, Schedule, StrategyQuestion};
use crate::ranking::{PairedTest, paired_tests};

/// The performance of the answers to one question; the first is the default, which the others are tested against.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    /// The question.
    pub question: StrategyQuestion,
    /// The runs of all answers on each problem.
    pub problems: Vec<ComparedProblem>,
    /// The test of each answer on the pairs of all problems; none for the default.
    pub tests: Vec<Option<PairedTest>>,
}

impl Settled {
    pub fn new(question: StrategyQuestion, problems: Vec<ComparedProblem>) -> Self {
        let differences: Vec<Vec<Option<Vec<f64>>>> = problems.iter().map(ComparedProblem::differences).collect();
        let pooled = |answer: usize| {
            let of_problems = differences.iter().filter_map(|of| of[answer].as_ref());
            let pooled: Vec<f64> = of_problems.flatten().copied().collect();
            (!pooled.is_empty()).then_some(pooled)
        };
        let tests = paired_tests(&(0..question.answers.len()).map(pooled).collect::<Vec<_>>());
        Self { question, problems, tests }
    }

    /// The name of an answer.
    pub fn name(&self, answer: usize) -> &str {
        &self.question.answers[answer].variant.name
    }

    /// The mean over the problems of an answer's median.
    pub fn mean(&self, answer: usize) -> f64 {
        let medians: Vec<f64> = self.problems.iter().filter_map(|problem| problem.median(answer)).collect();
        medians.iter().sum::<f64>() / medians.len() as f64
    }

    /// The share of an answer's runs that are stuck, over the problems where that is known.
    pub fn share_stuck(&self, answer: usize) -> Option<f64> {
        share(&self.problems.iter().filter_map(|problem| problem.stuck(answer)).flatten().collect::<Vec<_>>())
    }

    /// The cost of all runs of an answer, over that of the default's.
    pub fn cost_ratio(&self, answer: usize) -> f64 {
        let total =
            |answer: usize| -> f64 { self.problems.iter().map(|problem| problem.runs[answer].total_seconds()).sum() };
        total(answer) / total(0)
    }
}

/// The performance of every answer.
#[derive(Debug, Clone)]
pub struct StrategyReport {
    pub(super) settled: Vec<Settled>,
    pub(super) protocol: Protocol,
    pub(super) floor: f64,
}

impl StrategyReport {
    /// For people: for each question a table of medians, one of the answers against the default, and one for each answer.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "log10 of the simple regret at the end, {} runs each. better, worse, ties: in how many runs an answer ends with less \
             regret than the default on the same seed, regrets below {:e} alike; p: signed-rank test, after Holm; stuck: runs \
             with at least half of the regret of the second-best local optimum\n",
            self.protocol.seeds, self.floor
        );
        for settled in &self.settled {
            let StrategyQuestion { name, text: question, .. } = settled.question;
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{name}: {question}\n{}\n{}\n", medians(settled), totals(settled));
            for answer in 1..settled.question.answers.len() {
                let _ = write!(text, "\n{name}: {}\n{}\n", settled.name(answer), details(settled, answer));
            }
        }
        text.trim().to_string()
    }

    /// For programs.
    pub fn to_json(&self) -> Json {
        let Protocol { evaluations, seeds, first_seed, .. } = self.protocol;
        let question = |settled: &Settled| {
            let answers: Vec<Json> =
                (0..settled.question.answers.len()).map(|answer| self.answer(settled, answer)).collect();
            json!({"question": settled.question.name, "text": settled.question.text, "answers": answers})
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"), "evaluations": evaluations.or(self.evaluations()), "seeds": seeds,
            "first_seed": first_seed, "floor": self.floor,
            "questions": self.settled.iter().map(question).collect::<Vec<_>>(),
        })
    }

    /// The evaluations of all problems, if they are the same everywhere.
    fn evaluations(&self) -> Option<usize> {
        let problems = &self.settled.first()?.problems;
        let first = problems.first()?.evaluations;
        problems.iter().all(|problem| problem.evaluations == first).then_some(first)
    }

    fn answer(&self, settled: &Settled, answer: usize) -> Json {
        let Protocol { batch, schedule, .. } = settled.question.answers[answer].protocol(self.protocol);
        let of = |problem: &ComparedProblem| {
            json!({
                "log10_regret": quartiles(problem.runs[answer].log10_regret(problem.evaluations)),
                "stuck": problem.share_stuck(answer), "against_default": problem.tests[answer].as_ref().map(test),
                "cost_ratio": problem.cost_ratio(answer),
            })
        };
        let by_problem = |show: &dyn Fn(&ComparedProblem) -> Json| -> Map<String, Json> {
            settled.problems.iter().map(|problem| (problem.problem.name().to_string(), show(problem))).collect()
        };
        json!({
            "answer": settled.name(answer), "batch": batch, "asynchronous": schedule == Schedule::Asynchronous,
            "median_log10_regret": by_problem(&|problem| json!(problem.median(answer))), "mean": settled.mean(answer),
            "problems": by_problem(&of),
            "total": {
                "stuck": settled.share_stuck(answer), "against_default": settled.tests[answer].as_ref().map(test),
                "cost_ratio": settled.cost_ratio(answer),
            },
        })
    }
}
