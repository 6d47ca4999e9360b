//! The constants of the paper's section 5, which every experiment shares and a researcher may change.

use manyhands_core::{Hallucination, Information, Rule, Strategy};
use manyhands_gp::{Family, Kernel, Prior};

use crate::{Error, FiniteProblem, Result};

/// The largest horizon: a run keeps T^2/2 numbers.
const LONGEST: usize = 5_000;
/// The most functions of one panel, and the most workers.
const MOST: usize = 10_000;

/// The constants that all runs of a reproduction share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The seed of everything random.
    pub seed: u64,
    /// How many functions (or noise seeds, or test rows) a panel has.
    pub functions: usize,
    /// T.
    pub horizon: usize,
    /// M.
    pub workers: usize,
    /// delta.
    pub delta: f64,
    /// lambda = R^2, except where sensors set it.
    pub noise: f64,
    /// A factor on every multiplier.
    pub width: f64,
    /// Where gamma comes from; ln t stands in for the closed form of empirical kernels.
    pub information: Information,
    /// Where xi comes from.
    pub hallucination: Hallucination,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            functions: 25,
            horizon: 200,
            workers: 5,
            delta: 0.1,
            noise: 0.025,
            width: 1.0,
            information: Information::ClosedForm,
            hallucination: Hallucination::Number(1.0),
        }
    }
}

impl Settings {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        let counts = [
            ("functions", self.functions, 2, MOST),
            ("horizon", self.horizon, 1, LONGEST),
            ("workers", self.workers, 1, MOST),
        ];
        for (setting, value, least, most) in counts {
            if !(least..=most).contains(&value) {
                let allowed = format!("from {least} to {most}");
                return Err(Error::Setting { setting, allowed, value: value.to_string() });
            }
        }
        Prior::new(Kernel::squared_exponential(&[1.0])?, 0.0, self.noise)?;
        self.constants(Rule::IgpBucb, 1.0).check()?;
        Ok(())
    }

    /// The choice of gamma on this problem; empirical kernels have no closed form.
    pub fn information_on(&self, problem: &FiniteProblem) -> Information {
        match (self.information, problem.prior().kernel().family()) {
            (Information::ClosedForm, Family::Empirical) => Information::Log,
            (information, _) => information,
        }
    }

    /// A rule with these constants on a problem, R^2 being the problem's noise.
    pub fn strategy(&self, rule: Rule, problem: &FiniteProblem, norm_bound: f64) -> Strategy {
        Strategy { information: self.information_on(problem), ..self.constants(rule, norm_bound) }
    }

    fn constants(&self, rule: Rule, norm_bound: f64) -> Strategy {
        Strategy {
            delta: self.delta,
            hallucination: self.hallucination,
            width: self.width,
            max_pending: Some(self.workers),
            ..Strategy::new(rule, norm_bound)
        }
    }

    /// The rounds that a summary reports: 25, 50, 100, 200 as far as they are reached, and the last.
    pub fn milestones(&self) -> Vec<usize> {
        let mut rounds: Vec<usize> = [25, 50, 100, 200].into_iter().filter(|&t| t < self.horizon).collect();
        rounds.push(self.horizon);
        rounds
    }
}
