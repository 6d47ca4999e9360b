//! What a finished run shows beside its regret: whether its band held, and what its certificates promised.

use manyhands_core::gp::Surface;
use manyhands_core::{Error as Refusal, Event, Study};

use crate::{Feedback, FiniteProblem, Result};

/// f is summed and mu solved with an error far below this.
const ROUNDING: f64 = 1e-9;

/// How the band mu_S +- multiplier sigma_{t-1} did, at every candidate and round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// The first round at which it failed at some candidate.
    pub broken: Option<usize>,
    /// The part of all (candidate, round) pairs at which it held.
    pub inside: f64,
}

impl Coverage {
    /// Whether it held everywhere up to round t.
    pub fn held_up_to(&self, t: usize) -> bool {
        self.broken.is_none_or(|round| round > t)
    }
}

/// What a certificate said when some rewards had arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertificateCheck {
    /// How many.
    pub observed: usize,
    /// What it said of its point, and what is true; none where the data contradicted the assumptions.
    pub promise: Option<BoundedRegret>,
}

/// A point's regret, bounded and true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedRegret {
    /// The certificate's bound on it.
    pub bound: f64,
    /// The regret.
    pub regret: f64,
}

impl CertificateCheck {
    /// Whether it told the truth.
    pub fn holds(&self) -> bool {
        self.promise.is_some_and(|promise| promise.regret <= promise.bound + ROUNDING)
    }
}

/// Looks at the band of every round of a run whose rewards were told in order.
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
        let (known, multiplier) = (&means[feedback.observed_before(t)?], suggestion.multiplier);
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
        let promise = match again.certificate() {
            Ok(certificate) => {
                let value = certificate.candidate.map(|candidate| problem.values()[candidate]);
                value.map(|value| BoundedRegret { bound: certificate.regret_bound, regret: problem.optimum() - value })
            }
            Err(Refusal::Contradiction { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        found.push(CertificateCheck { observed, promise });
    }
    Ok(found)
}
