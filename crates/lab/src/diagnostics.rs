//! What a finished run shows besides its regret: whether its confidence band held, whether its certificates did, and what
//! the theorems bound its regret by.

use manyhands_core::theory::a_priori_hallucination;
use manyhands_core::{Error as Refusal, Event, Rule, Study};
use manyhands_gp::{GreedyInformation, Surface};

use crate::bounds::{Horizon, SampledSet, gp_bts_bound, igp_bucb_bound, largest_regret, realised_bounds};
use crate::{Error, Feedback, FiniteProblem, Result};

/// The rounding errors of f and of the posterior mean are far below this.
const ROUNDING: f64 = 1e-9;

/// Where the band mu_S +- multiplier sigma_{t-1} covers f, over all candidates and rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// The first round at which it misses f at some candidate.
    pub broken: Option<usize>,
    /// The fraction of all (candidate, round) pairs at which it covers f.
    pub inside: f64,
}

impl Coverage {
    /// Whether it held everywhere up to round t.
    pub fn held_up_to(&self, t: usize) -> bool {
        self.broken.is_none_or(|round| round > t)
    }
}

/// A certificate after some rewards, beside the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertificateCheck {
    /// How many rewards had arrived.
    pub observed: usize,
    /// The bound and the true regret of its point; none where the data contradict the assumptions.
    pub bounded: Option<BoundedRegret>,
}

/// The regret of a point and a bound on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedRegret {
    /// The certificate's bound on it.
    pub bound: f64,
    /// The regret.
    pub regret: f64,
}

impl CertificateCheck {
    /// Whether the bound holds.
    pub fn holds(&self) -> bool {
        self.bounded.is_some_and(|bounded| bounded.regret <= bounded.bound + ROUNDING)
    }
}

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

/// Checks the band of every round of a run whose rewards were told in order.
///
/// The rows of the posterior are then those of the rounds, so that mu_S(t) and sigma_{t-1} come from its first S(t) and
/// t - 1 rows, whatever was pending at the time.
pub fn coverage(study: &Study, problem: &FiniteProblem, feedback: &Feedback) -> Result<Coverage> {
    let mut surface = Surface::new(problem.restricted()?);
    let (mut means, mut broken, mut inside) = (Vec::new(), None, 0);
    for (t, suggestion) in (1..).zip(study.suggestions()) {
        let view = study.posterior().past_view(t - 1);
        let moments: Vec<(f64, f64)> = (0..problem.values().len()).map(|i| surface.moments(view, i)).collect();
        means.push(moments.iter().map(|(mean, _)| *mean).collect::<Vec<f64>>());
        let (known, multiplier) = (&means[feedback.observed_before(t)?], suggestion.choice.multiplier);
        let holds = |i: usize| (problem.values()[i] - known[i]).abs() <= multiplier * moments[i].1 + ROUNDING;
        let held = (0..known.len()).filter(|&i| holds(i)).count();
        inside += held;
        if held < known.len() && broken.is_none() {
            broken = Some(t);
        }
    }
    let pairs = problem.values().len() * study.trials().len();
    Ok(Coverage { broken, inside: inside as f64 / pairs as f64 })
}

/// The certificates of a run after every `workers` rewards, from its log.
pub fn certificates(study: &Study, problem: &FiniteProblem, workers: usize) -> Result<Vec<CertificateCheck>> {
    let mut again = Study::new(study.spec().clone())?;
    let (mut observed, mut found) = (0, Vec::new());
    for event in study.events() {
        again.apply(event.clone())?;
        let Event::Told { .. } = event else { continue };
        observed += 1;
        if observed % workers != 0 && observed != study.trials().len() {
            continue;
        }
        let bounded = match again.certificate() {
            Ok(certificate) => {
                let value = certificate.candidate.map(|candidate| problem.values()[candidate]);
                value.map(|value| BoundedRegret { bound: certificate.regret_bound, regret: problem.optimum() - value })
            }
            Err(Refusal::Contradiction { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        found.push(CertificateCheck { observed, bounded });
    }
    Ok(found)
}

/// The bounds along a run of IGP-BUCB or GP-BTS whose B is valid, whose xi is valid and at most the a-priori one, and whose
/// gamma is realised or larger and at most the certified one.
pub fn run_bounds(study: &Study, problem: &FiniteProblem) -> Result<RunBounds> {
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
