//! The theorems' bounds along one run, with constants that are valid and, but for the realised bound, known before it.

use manyhands_core::theory::a_priori_hallucination;
use manyhands_core::{Rule, Study};
use manyhands_gp::GreedyInformation;

use crate::bounds::{Horizon, SampledSet, gp_bts_bound, igp_bucb_bound, largest_regret, realised_bounds};
use crate::{Error, FiniteProblem, Result};

/// Bounds on the cumulative regret of one run, round by round; t = 1 comes first.
#[derive(Debug, Clone, PartialEq)]
pub struct RunBounds {
    /// Theorem 1 or 2 for a run of t rounds, with the certified upper bound of gamma_t and the a-priori xi.
    pub theorem: Vec<f64>,
    /// The realised form of Theorem 1; none for GP-BTS.
    pub realised: Option<Vec<f64>>,
    /// 2 B sqrt(kappa) t, which needs no theorem.
    pub trivial: Vec<f64>,
}

/// The bounds along a run of IGP-BUCB or GP-BTS whose B is valid, whose xi is valid and at most the a-priori one, and whose
/// gamma is realised or larger and at most the certified one.
pub(crate) fn run_bounds(study: &Study, problem: &FiniteProblem) -> Result<RunBounds> {
    let (spec, kappa, rounds) = (study.spec(), study.largest_variance(), study.trials().len());
    let assumptions = spec.assumptions()?;
    let hallucination = a_priori_hallucination(spec.strategy().max_pending.unwrap_or(rounds), kappa, assumptions.noise);
    let mut greedy = GreedyInformation::new(problem.prior().clone(), problem.restricted()?)?;
    let sampled = SampledSet::Candidates(problem.values().len());
    let mut theorem = Vec::with_capacity(rounds);
    for t in 1..=rounds {
        let run = Horizon { rounds: t, information: greedy.upper(t)?, hallucination, largest_variance: kappa };
        theorem.push(match spec.strategy().rule {
            Rule::IgpBucb => igp_bucb_bound(&assumptions, &run),
            Rule::GpBts => gp_bts_bound(&assumptions, &run, &sampled),
            rule => return Err(no_theorem(problem, rule)),
        });
    }
    let realised = (spec.strategy().rule == Rule::IgpBucb)
        .then(|| realised_bounds(&study.suggestions(), assumptions.norm_bound, kappa));
    let most = largest_regret(assumptions.norm_bound, kappa);
    Ok(RunBounds { theorem, realised, trivial: (1..=rounds).map(|t| most * t as f64).collect() })
}

fn no_theorem(problem: &FiniteProblem, rule: Rule) -> Error {
    let reason = format!("the paper bounds the regret of igp-bucb and gp-bts, not that of {rule}");
    Error::Problem { name: problem.name().to_string(), reason }
}
