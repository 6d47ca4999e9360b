//! How far from the optimum a point can still be, with probability at least 1 - delta: the point of the highest lower end, which
//! need not be the best point.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | alpha | band multiplier | [`Assumptions::band`](crate::theory::Assumptions::band) at the realised information gain |
//! | mu_S +- alpha sigma_S | band | holds at all x and t at once with probability >= 1 - delta; needs no xi |
//! | U | upper | running minimum over the log of max_D (mu_S + alpha sigma_S) |
//! | L | lower | running maximum over the log of max_D (mu_S - alpha sigma_S) |
//!
//! The regret of the point that attains L is at most U - L. The running extremes are taken at every number of
//! observations up to 64, from there at steps of a quarter, and at the present one (on a space that is searched at 0, 1, 2,
//! 4, 8, ... and the present one): any set of checkpoints gives a valid certificate, and this one is a function of the log
//! alone. On a space U is the bound that branch and bound proves, never the value found.
//!
//! A model that is learned, or whose norm bound is not given, proves nothing: it has an [`Outlook`](super::Outlook).
//!
//! The band assumes the stated kernel, B and R, and that whether and when a result arrives does not depend on its noise. Where
//! results arrive in another order than their points were chosen in, noise must also be independent across trials: noise that
//! is unpredictable from what was chosen before need not be so from what has arrived before.

use std::fmt;

use manyhands_gp::Warp;

use super::Study;
use crate::chooser::{Context, Extremes};
use crate::text::significant;
use crate::trial::Trial;
use crate::{Error, Result, Value};

/// What kind of statement an interval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundKind {
    /// A theorem, under the stated kernel, norm bound and noise bound.
    Theorem,
    /// An opinion: of a model that was learned, or whose norm bound is not given. It holds pointwise, if the model is right.
    Model,
}

impl fmt::Display for BoundKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Theorem => f.write_str("theorem"),
            Self::Model => f.write_str("model"),
        }
    }
}

/// A bound on the regret of one point, in the user's units.
///
/// ```
/// use manyhands_core::gp::{Grid, Kernel, Prior};
/// use manyhands_core::{Domain, Rule, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 20)])?);
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 1e-4)?;
/// let mut study = Study::new(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 1.0))?)?;
/// let before = study.certificate()?;
/// for s in study.ask(5)? {
///     study.tell(s.trial, 0.5 * s.point[0])?;
/// }
/// let after = study.certificate()?;
/// assert!(after.regret_bound < before.regret_bound && after.lower <= after.upper);
/// # Ok(()) }
/// ```
#[doc(alias = "regret")]
#[doc(alias = "simple regret")]
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The point's value is at most this far from the optimum; never less than the resolution of floats of the values'
    /// size, 4 eps max |value|, which may be more than the bounds are apart.
    pub regret_bound: f64,
    /// An upper bound: of the optimum when maximizing, of the point's value when minimizing.
    pub upper: f64,
    /// A lower bound: of the point's value when maximizing, of the optimum when minimizing.
    pub lower: f64,
    /// The candidate that the bound is about; none on a space that is not finite.
    pub candidate: Option<usize>,
    /// Its coordinates, as the model sees them.
    pub point: Vec<f64>,
    /// The values of its parameters or columns, where the domain has names.
    pub params: Vec<Value>,
    /// The statement may be false with this probability.
    pub delta: f64,
    /// What kind of statement it is: always a theorem.
    pub kind: BoundKind,
    /// How far the upper bound may exceed the best possible one because the search of the domain was stopped early; 0 on
    /// finite domains. Where a choice would claim [no gap](crate::Choice::gap) because of rounding, the upper bound is
    /// that of the prior and the data without a search: valid, and loose by up to this much.
    pub gap: f64,
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.candidate {
            Some(candidate) => write!(f, "candidate {candidate} at ")?,
            None => write!(f, "the point ")?,
        }
        if self.params.is_empty() {
            write!(f, "{:?}", self.point)?;
        } else {
            let values: Vec<String> = self.params.iter().map(ToString::to_string).collect();
            write!(f, "({})", values.join(", "))?;
        }
        write!(
            f,
            " is within {} of the optimum with probability {} ({}; bounds {} to {})",
            significant(self.regret_bound, 4),
            1.0 - self.delta,
            self.kind,
            significant(self.lower, 4),
            significant(self.upper, 4)
        )
    }
}

/// The running extremes of the band.
#[derive(Debug, Clone, Default)]
pub(super) struct Band {
    checkpoint: usize,
    extremes: Option<Extremes>,
    /// The extremes computed last, and how many values had arrived then.
    latest: Option<(usize, Extremes)>,
}

impl Extremes {
    fn tightened(self, other: Self) -> Self {
        let (upper, gap) = if other.upper < self.upper { (other.upper, other.gap) } else { (self.upper, self.gap) };
        let best = if other.lower > self.lower { other } else { self };
        Self { upper, gap, ..best }
    }
}

impl Study {
    /// How far from the optimum the point of the highest lower end can still be. Refused where the model is learned, or its norm bound is not given;
    /// what such a model has to say is its [outlook](Study::outlook).
    ///
    /// The first call evaluates the checkpoints of the whole log, later ones only those since; each costs about as much as a
    /// suggestion. Refused where the data contradict the assumptions: the bounds have crossed, which has probability at most
    /// delta if the assumptions are true.
    pub fn certificate(&mut self) -> Result<Certificate> {
        if self.kind() == BoundKind::Model {
            return Err(Error::NoTheorem);
        }
        let Extremes { upper, lower, gap, candidate, point } = self.extremes()?;
        if upper < lower {
            return Err(Error::Contradiction { upper: self.bound_in_units(upper), lower: self.bound_in_units(lower) });
        }
        let gap = self.bound_in_units(upper) - self.bound_in_units(upper - gap);
        let (lower, upper) = self.ends_in_units(lower, upper);
        Ok(Certificate {
            regret_bound: (upper - lower).max(self.resolution()),
            upper,
            lower,
            candidate,
            params: self.spec.domain().params(candidate, &point),
            point,
            delta: self.spec.strategy().delta,
            kind: self.kind(),
            gap,
        })
    }

    /// The resolution of floats near the largest of the values: no bound can separate 1e17 from 1e17 + 1.
    pub(super) fn resolution(&self) -> f64 {
        let values = self.ledger.trials().iter().filter_map(Trial::value);
        values.map(Warp::resolution).fold(0.0, f64::max)
    }

    /// What kind of statement this study makes: a theorem needs a model and a norm bound that are given.
    pub(super) fn kind(&self) -> BoundKind {
        if self.spec.states_theorems() { BoundKind::Theorem } else { BoundKind::Model }
    }

    /// The multiplier of the band, from the information gain of the rows that it is based on, or that of a model's intervals,
    /// which hold pointwise.
    pub(super) fn band_multiplier(&self, information: f64) -> Result<f64> {
        match self.kind() {
            BoundKind::Theorem => Ok(self.assumptions()?.band(information)),
            BoundKind::Model => Ok(self.interval_multiplier()),
        }
    }

    pub(super) fn extremes(&mut self) -> Result<Extremes> {
        let observed = self.posterior.observed();
        while self.band.checkpoint <= observed {
            let then = self.extremes_at(self.band.checkpoint)?;
            self.band.extremes = Some(match self.band.extremes.take() {
                Some(running) => running.tightened(then),
                None => then,
            });
            self.band.checkpoint = self.chooser.next_band_checkpoint(self.band.checkpoint).unwrap_or(usize::MAX);
        }
        let now = match self.band.latest.take() {
            Some((then, extremes)) if then == observed => extremes,
            _ => self.extremes_at(observed)?,
        };
        self.band.latest = Some((observed, now.clone()));
        Ok(self.band.extremes.clone().map_or(now.clone(), |running| running.tightened(now)))
    }

    /// The band's extremes when `observed` values had arrived.
    fn extremes_at(&mut self, observed: usize) -> Result<Extremes> {
        let information = self.posterior.past_view(observed).information();
        let multiplier = self.band_multiplier(information)?;
        let (spec, view, trial) = (&self.spec, self.posterior.past_view(observed), self.ledger.trials().len());
        self.chooser.band(Context { spec, view, trial }, multiplier)
    }
}
