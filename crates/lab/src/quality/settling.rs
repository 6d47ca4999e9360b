//! The experiments that settled the default strategy, run again: on each question the default and its alternatives run on
//! the same problems.

use serde_json::{Map, Value as Json, json};

use super::{
    FIELD, Optimizer, OptimizerComparison, OptimizerRuns, Protocol, Schedule, SpacePerformance, SpaceProblem,
    StrategyAnswer, StrategyQuestion, problems,
};
use crate::Result;
use crate::terminal::{align_right, framed};

/// The width of a column's heading.
const COLUMN: usize = 10;

/// Questions and the problems that their answers run on; checked and ready.
#[derive(Debug, Clone)]
pub struct StrategyBench {
    questions: Vec<StrategyQuestion>,
    problems: Vec<SpaceProblem>,
    protocol: Protocol,
}

impl StrategyBench {
    /// The questions of these names (all without a name) on the problems of these names (the usual ones without a name),
    /// with the protocol's seeds; batches and schedules are those of the answers.
    pub fn new(questions: &[String], names: &[String], protocol: Protocol) -> Result<Self> {
        protocol.check()?;
        let questions = StrategyQuestion::named(questions)?;
        let field: Vec<String> = FIELD.iter().map(ToString::to_string).collect();
        let problems = problems::named(if names.is_empty() { &field } else { names })?;
        Ok(Self { questions, problems, protocol })
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        let answers: usize = self.questions.iter().map(|question| question.answers.len()).sum();
        answers * self.problems.len() * self.protocol.seeds
    }

    /// Runs on all threads; `tick` is called after each run.
    pub fn run(self, tick: &(dyn Fn() + Sync)) -> Result<StrategyReport> {
        let Self { questions, problems, protocol } = self;
        let settled = questions.into_iter().map(|question| {
            let run = |answer: &StrategyAnswer| medians(protocol, answer, &problems, tick);
            let medians = question.answers.iter().map(run).collect::<Result<_>>()?;
            Ok(Settled { question, medians })
        });
        Ok(StrategyReport { settled: settled.collect::<Result<_>>()?, problems, protocol })
    }
}

fn medians(
    protocol: Protocol,
    answer: &StrategyAnswer,
    problems: &[SpaceProblem],
    tick: &(dyn Fn() + Sync),
) -> Result<Vec<f64>> {
    let &StrategyAnswer { batch, schedule, .. } = answer;
    let protocol = Protocol { batch, schedule, ..protocol };
    let optimizers = vec![Optimizer::Variant(answer.variant.clone())];
    let runs =
        OptimizerComparison { optimizers, protocol, threads: rayon::current_num_threads() }.run(problems, tick)?;
    let median = |(problem, runs): (&SpaceProblem, &Vec<OptimizerRuns<SpacePerformance>>)| {
        runs[0].log10_regret(protocol.evaluations_on(problem)).median
    };
    Ok(problems.iter().zip(&runs).map(median).collect())
}

/// The performance of the answers to one question: for each answer one median per problem.
#[derive(Debug, Clone)]
struct Settled {
    question: StrategyQuestion,
    medians: Vec<Vec<f64>>,
}

/// The performance of every answer.
#[derive(Debug, Clone)]
pub struct StrategyReport {
    problems: Vec<SpaceProblem>,
    protocol: Protocol,
    settled: Vec<Settled>,
}

impl StrategyReport {
    /// For people: one table per question.
    pub fn to_text(&self) -> String {
        self.settled.iter().map(|settled| render(&self.problems, settled)).collect::<Vec<_>>().join("\n\n")
    }

    /// For programs.
    pub fn to_json(&self) -> Json {
        let Protocol { evaluations, seeds, first_seed, .. } = self.protocol;
        let question = |settled: &Settled| {
            let answers = settled.question.answers.iter().zip(&settled.medians);
            let answers: Vec<Json> = answers.map(|(answer, medians)| self.answer(answer, medians)).collect();
            json!({"question": settled.question.name, "text": settled.question.text, "answers": answers})
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"), "evaluations": evaluations, "seeds": seeds, "first_seed": first_seed,
            "questions": self.settled.iter().map(question).collect::<Vec<_>>(),
        })
    }

    fn answer(&self, answer: &StrategyAnswer, medians: &[f64]) -> Json {
        let named = self.problems.iter().map(|problem| problem.name().to_string()).zip(medians);
        let by_problem: Map<String, Json> = named.map(|(name, median)| (name, json!(median))).collect();
        json!({
            "answer": answer.variant.name, "batch": answer.batch,
            "asynchronous": answer.schedule == Schedule::Asynchronous, "median_log10_regret": by_problem,
            "mean": mean(medians),
        })
    }
}

fn mean(medians: &[f64]) -> f64 {
    medians.iter().sum::<f64>() / medians.len() as f64
}

/// One column per answer, since there are fewer answers than problems.
fn render(problems: &[SpaceProblem], settled: &Settled) -> String {
    let names: Vec<String> = settled.question.answers.iter().map(|answer| folded(&answer.variant.name)).collect();
    let mut table = framed(&["problem"].into_iter().chain(names.iter().map(String::as_str)).collect::<Vec<_>>());
    let two = |figure: f64| format!("{figure:.2}");
    for (i, problem) in problems.iter().enumerate() {
        let figures = settled.medians.iter().map(|medians| two(medians[i]));
        table.add_row([problem.name().to_string()].into_iter().chain(figures).collect::<Vec<_>>());
    }
    let means = settled.medians.iter().map(|medians| two(mean(medians)));
    table.add_row(["mean".to_string()].into_iter().chain(means).collect::<Vec<_>>());
    align_right(&mut table, &(1..=names.len()).collect::<Vec<_>>());
    format!("{}: {}\n{table}", settled.question.name, settled.question.text)
}

/// In lines of at most [`COLUMN`] characters where words allow.
fn folded(name: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < COLUMN => *line += &format!(" {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines.join("\n")
}
