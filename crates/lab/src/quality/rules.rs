//! The rules with learned models on the problems: one row for each, with its settings, and a bench of them.
//!
//! `gp-bucb`, whose multiplier is wider than that of `igp-bucb`, and `gp-bucb-bayesian`, which needs a finite domain, are not
//! among them.

use manyhands_core::{BaseRule, DppKind, Rule, Strategy, Tuning};
use manyhands_gp::Kernel;

use super::{Optimizer, OptimizerComparison, OptimizerProgram, Protocol, RulesReport, SpaceProblem, Variant, problems};
use crate::Result;

/// beta, the squared width, of the rules whose theorem counts the candidates of a finite domain.
const BETA: f64 = 4.0;

/// The rules after `auto`, which is what the others are tested against: name and strategy.
fn rows() -> Vec<(&'static str, Strategy)> {
    let of = |rule| Strategy { rule, ..Strategy::auto() };
    let wide = |rule| Strategy { beta: Some(BETA), ..of(rule) };
    let sampled = Strategy { multiplier: Some(1.0), ..of(Rule::GpBts) };
    let by_improvement = Strategy { base: BaseRule::GpEi, ..of(Rule::LocalPenalization) };
    vec![
        ("gp-ei", of(Rule::GpEi)),
        ("gp-pi", of(Rule::GpPi)),
        ("est", of(Rule::Est)),
        ("pes", of(Rule::Pes)),
        ("asy-ts", of(Rule::AsyTs)),
        ("gp-bts (multiplier 1)", sampled),
        ("gp-ucb (beta 4)", wide(Rule::GpUcb)),
        ("gp-ucb-pe (beta 4)", wide(Rule::GpUcbPe)),
        ("dpp (sample, beta 4)", Strategy { dpp: DppKind::Sample, ..wide(Rule::Dpp) }),
        ("local-penalization (beta 4)", wide(Rule::LocalPenalization)),
        ("local-penalization (gp-ei)", by_improvement),
        ("igp-bucb", of(Rule::IgpBucb)),
        ("gp-bts", of(Rule::GpBts)),
    ]
}

/// These rules on some problems, with learned models; checked and ready.
#[derive(Debug, Clone)]
pub struct RulesBench {
    problems: Vec<SpaceProblem>,
    comparison: OptimizerComparison,
}

impl RulesBench {
    /// The problems of these names, all without a name; the programs run on them too.
    pub fn new(names: &[String], programs: Vec<OptimizerProgram>, protocol: Protocol) -> Result<Self> {
        protocol.check()?;
        let optimizers = std::iter::once(Ok(Optimizer::Manyhands))
            .chain(rows().into_iter().map(|(name, strategy)| variant(name, strategy)))
            .chain([Ok(Optimizer::Random)])
            .chain(programs.into_iter().map(|program| Ok(Optimizer::Program(program))))
            .collect::<Result<_>>()?;
        let comparison = OptimizerComparison { optimizers, protocol, threads: rayon::current_num_threads() };
        Ok(Self { problems: problems::named(names)?, comparison })
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.comparison.runs(self.problems.len())
    }

    /// Runs on all threads; `tick` is called after each run.
    pub fn run(self, tick: &(dyn Fn() + Sync)) -> Result<RulesReport> {
        let runs = self.comparison.run(&self.problems, tick)?;
        Ok(RulesReport::new(self.comparison.protocol, self.problems.into_iter().zip(runs).collect()))
    }
}

/// A rule with what the default learns from.
fn variant(name: &str, strategy: Strategy) -> Result<Optimizer> {
    let kernel = Kernel::matern(2.5, &[1.0])?;
    Ok(Optimizer::Variant(Variant { name: name.to_string(), kernel, strategy, tuning: Tuning::default() }))
}
