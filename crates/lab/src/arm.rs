//! An arm: one algorithm with one choice of constants, run on every instance of an experiment.

use std::sync::Arc;

use manyhands_core::{Initial, Rule, Strategy};
use rayon::prelude::*;

use crate::compared_rule::ComparedRule;
use crate::diagnostics::{CertificateCheck, Coverage, RunBounds, certificates, coverage, run_bounds};
use crate::experiment::{Experiment, Instance, UnitInterval};
use crate::statistics::{Estimate, curve};
use crate::{Error, Regret, Result, Settings};

/// The algorithm that chooses the points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Algorithm {
    /// One of the rules.
    Rule(Rule),
    /// A rule with the settings that it reads.
    Compared(ComparedRule),
    /// Uniform random search.
    Random,
}

impl Algorithm {
    /// The paper's three, and random search.
    pub const ALL: [Self; 4] =
        [Self::Rule(Rule::IgpBucb), Self::Rule(Rule::GpBts), Self::Rule(Rule::GpBucb), Self::Random];

    /// The name in tables and legends.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule(Rule::IgpBucb) => "IGP-BUCB",
            Self::Rule(Rule::GpBts) => "GP-BTS",
            Self::Rule(Rule::GpBucb) => "GP-BUCB",
            Self::Rule(Rule::GpBucbBayesian) => "GP-BUCB Bayesian",
            Self::Rule(rule) => rule.name(),
            Self::Compared(compared) => compared.name,
            Self::Random => "random",
        }
    }
}

/// The norm bound B that an algorithm is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormBound {
    /// max |f|, as in the paper's experiments.
    LargestValue,
    /// The function's RKHS norm, as the theorems require.
    RkhsNorm,
}

/// What is recorded of a run besides its regret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diagnostic {
    /// Nothing more.
    Regret,
    /// Whether the confidence band that choices are made with covers the function.
    Band,
    /// The certificate's bound beside the true regret.
    Certificate,
    /// The bounds of the theorems beside the cumulative regret.
    Bounds,
}

/// One algorithm with one choice of constants, on one experiment.
#[derive(Debug, Clone)]
pub struct Arm {
    /// The instances it is run on.
    pub experiment: Arc<Experiment>,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its constants.
    pub settings: Settings,
    /// Its initialization scheme.
    pub initial: Initial,
    /// The norm bound it is given.
    pub bound: NormBound,
    /// What is recorded besides the regret.
    pub diagnostic: Diagnostic,
    /// What it chooses from, where not from the problem's candidates; then its regret alone is recorded.
    pub interval: Option<UnitInterval>,
}

/// One run of an arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmRun {
    /// The regret of its choices.
    pub regret: Regret,
    /// For [`Diagnostic::Band`].
    pub coverage: Option<Coverage>,
    /// For [`Diagnostic::Certificate`], after every M rewards.
    pub certificates: Vec<CertificateCheck>,
    /// For [`Diagnostic::Bounds`].
    pub bounds: Option<RunBounds>,
}

impl ArmRun {
    /// A run of which no more is recorded.
    fn of(regret: Regret) -> Self {
        Self { regret, coverage: None, certificates: vec![], bounds: None }
    }
}

impl Arm {
    /// As in the paper: no initialization, B = max |f|.
    pub fn new(experiment: &Arc<Experiment>, algorithm: Algorithm, settings: Settings) -> Self {
        let experiment = experiment.clone();
        Self {
            experiment,
            algorithm,
            settings,
            initial: Initial::None,
            bound: NormBound::LargestValue,
            diagnostic: Diagnostic::Regret,
            interval: None,
        }
    }

    /// Runs the arm on one instance.
    pub fn play(&self, instance: &Instance) -> Result<ArmRun> {
        let rounds = self.settings.horizon;
        let problem = instance.problem();
        let bound = match self.bound {
            NormBound::LargestValue => problem.largest(),
            NormBound::RkhsNorm => problem.norm().ok_or_else(|| Error::Problem {
                name: problem.name().to_string(),
                reason: "its RKHS norm is not known".to_string(),
            })?,
        };
        let strategy = match self.algorithm {
            Algorithm::Rule(rule) => self.settings.strategy(rule, problem, bound),
            Algorithm::Compared(compared) => compared.strategy(&self.settings, problem, bound),
            Algorithm::Random => return Ok(ArmRun::of(instance.regret(instance.search_at_random(rounds)))),
        };
        let feedback = self.experiment.arrival.feedback(self.settings.workers);
        let strategy = Strategy { initial: self.initial, max_pending: Some(feedback.workers()), ..strategy };
        if let Some(interval) = self.interval {
            return instance.play_on_interval(interval, strategy, (&feedback, rounds)).map(ArmRun::of);
        }
        let study = instance.play(strategy, &feedback, rounds)?;
        let run = ArmRun::of(instance.regret(study.trials().iter().map(|trial| trial.candidate())));
        Ok(match self.diagnostic {
            Diagnostic::Regret => run,
            Diagnostic::Band => ArmRun { coverage: Some(coverage(&study, problem, &feedback)?), ..run },
            Diagnostic::Certificate => {
                ArmRun { certificates: certificates(&study, problem, self.settings.workers)?, ..run }
            }
            Diagnostic::Bounds => ArmRun { bounds: Some(run_bounds(&study, problem)?), ..run },
        })
    }
}

/// An arm and its runs, one per instance of its experiment.
#[derive(Debug, Clone)]
pub struct PlayedArm {
    /// The arm.
    pub arm: Arm,
    /// Its runs, in the order of the instances.
    pub runs: Vec<ArmRun>,
}

impl PlayedArm {
    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.arm.algorithm
    }

    /// The title of its experiment.
    pub fn title(&self) -> &str {
        &self.arm.experiment.title
    }

    /// The mean time-average regret at the last round.
    pub fn regret(&self) -> Estimate {
        Estimate::of(&self.final_averages())
    }

    /// The time-average regret over time, ready to be drawn.
    pub fn regret_curve(&self) -> Vec<(f64, Estimate)> {
        (1..).map(f64::from).zip(self.time_average()).collect()
    }

    /// The time-average regret of each run at the last round.
    pub fn final_averages(&self) -> Vec<f64> {
        self.runs.iter().filter_map(|run| run.regret.time_average().last().copied()).collect()
    }

    /// The time-average regret over time, averaged over runs; t = 1 comes first.
    pub fn time_average(&self) -> Vec<Estimate> {
        curve(&self.runs.iter().map(|run| run.regret.time_average()).collect::<Vec<_>>())
    }

    /// The regret of the best point tried so far, averaged over runs; t = 1 comes first.
    pub fn simple(&self) -> Vec<Estimate> {
        curve(&self.runs.iter().map(|run| run.regret.simple()).collect::<Vec<_>>())
    }
}

/// Runs every arm on every instance of its experiment, on all threads; `tick` is called after each run. A run is a function
/// of its arm and instance alone.
pub fn play_arms(arms: Vec<Arm>, tick: &(dyn Fn() + Sync)) -> Result<Vec<PlayedArm>> {
    let runs: Vec<(&Arm, &Instance)> =
        arms.iter().flat_map(|arm| arm.experiment.instances.iter().map(move |instance| (arm, instance))).collect();
    let measured: Result<Vec<ArmRun>> = runs
        .into_par_iter()
        .map(|(arm, instance)| {
            let measured = arm.play(instance);
            tick();
            measured
        })
        .collect();
    let mut measured = measured?.into_iter();
    let played = |arm: Arm| PlayedArm { runs: measured.by_ref().take(arm.experiment.instances.len()).collect(), arm };
    Ok(arms.into_iter().map(played).collect())
}
