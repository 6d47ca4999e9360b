//! The experiments that settled the default strategy, run again: on each question the default and its alternatives run on
//! the same problems.

use super::compared::ComparedProblem;
use super::settled::Settled;
use super::{
    FIELD, Optimizer, OptimizerComparison, OptimizerRuns, Protocol, SpacePerformance, SpaceProblem, StrategyAnswer,
    StrategyQuestion, StrategyReport, problems,
};
use crate::{Error, Result};

/// Questions and the problems that their answers run on; checked and ready.
#[derive(Debug, Clone)]
pub struct StrategyBench {
    questions: Vec<StrategyQuestion>,
    problems: Vec<SpaceProblem>,
    protocol: Protocol,
    floor: f64,
}

impl StrategyBench {
    /// Smaller regrets count as this where nothing else is said: digits that nobody needs decide nothing.
    pub const FLOOR: f64 = 1e-8;

    /// The questions of these names (all without a name) on the problems of these names (the usual ones without a name).
    /// Batches and schedules are those of the answers, or else the protocol's. Regrets below the floor count as that where
    /// runs are compared.
    pub fn new(questions: &[String], names: &[String], protocol: Protocol, floor: f64) -> Result<Self> {
        protocol.check()?;
        if !(floor > 0.0 && floor.is_finite()) {
            let (allowed, value) = ("above 0 and finite".to_string(), floor.to_string());
            return Err(Error::Setting { setting: "floor", allowed, value });
        }
        let questions = StrategyQuestion::named(questions)?;
        let field: Vec<String> = FIELD.iter().map(ToString::to_string).collect();
        let problems = problems::named(if names.is_empty() { &field } else { names })?;
        Ok(Self { questions, problems, protocol, floor })
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        let answers: usize = self.questions.iter().map(|question| question.answers.len()).sum();
        answers * self.problems.len() * self.protocol.seeds
    }

    /// Runs on all threads; `tick` is called after each run.
    pub fn run(self, tick: &(dyn Fn() + Sync)) -> Result<StrategyReport> {
        let settled = self.questions.iter().map(|question| self.settle(question, tick)).collect::<Result<_>>()?;
        Ok(StrategyReport { settled, protocol: self.protocol, floor: self.floor })
    }

    fn settle(&self, question: &StrategyQuestion, tick: &(dyn Fn() + Sync)) -> Result<Settled> {
        let by_answer: Vec<Vec<OptimizerRuns<SpacePerformance>>> =
            question.answers.iter().map(|answer| self.runs_of(answer, tick)).collect::<Result<_>>()?;
        let compared = |(place, problem): (usize, &SpaceProblem)| {
            let runs = by_answer.iter().map(|problems| problems[place].clone()).collect();
            ComparedProblem::new(problem.clone(), &self.protocol, runs, self.floor)
        };
        let problems = self.problems.iter().enumerate().map(compared).collect();
        Ok(Settled::new(question.clone(), problems))
    }

    /// The runs of one answer, for each problem.
    fn runs_of(
        &self,
        answer: &StrategyAnswer,
        tick: &(dyn Fn() + Sync),
    ) -> Result<Vec<OptimizerRuns<SpacePerformance>>> {
        let optimizers = vec![Optimizer::Variant(answer.variant.clone())];
        let (protocol, threads) = (answer.protocol(self.protocol), rayon::current_num_threads());
        let runs = OptimizerComparison { optimizers, protocol, threads }.run(&self.problems, tick)?;
        Ok(runs.into_iter().flatten().collect())
    }
}
