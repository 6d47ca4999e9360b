//! How far from the optimum the best point can still be, with probability at least 1 - delta.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | alpha | band multiplier | [`Assumptions::band`](crate::theory::Assumptions::band) at the realised information gain |
//! | mu_S +- alpha sigma_S | band | holds at all x and t at once with probability >= 1 - delta; needs no xi |
//! | U | upper | running minimum over the log of max_D (mu_S + alpha sigma_S) |
//! | L | lower | running maximum over the log of max_D (mu_S - alpha sigma_S) |
//!
//! The regret of the point that attains L is at most U - L. The running extremes are taken at every number of
//! observations up to 64, from there at steps of a quarter, and now (on a space that is searched at 0, 1, 2, 4, 8, ...
//! and now): any set of moments gives a valid certificate, and this one is a function of the log alone. There U is the
//! bound that branch and bound proves, never the value found.
//!
//! With a learned model all this is the model's opinion, of now alone, and said to be so.
//!
//! The band assumes the stated kernel, B and R, and that whether and when a result arrives does not depend on its noise.

use std::fmt;

use manyhands_gp::Warp;

use super::Study;
use super::predict::representable;
use crate::chooser::{Context, Extremes};
use crate::ledger::Trial;
use crate::text::significant;
use crate::{Error, Result, Value};

/// What kind of statement a bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundKind {
    /// A theorem, under the stated kernel, norm bound and noise bound.
    Theorem,
    /// The opinion of a model: it was learned from the same data, or the norm bound was.
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

/// A bound on the regret, in the user's units.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The point's value is at most this far from the optimum; never less than the resolution of floats of the values'
    /// size, 4 eps max |value|, which may be more than the bounds are apart.
    pub regret_bound: f64,
    /// An upper bound: of the optimum when maximizing, of the point's value when minimizing.
    pub upper: f64,
    /// A lower bound: of the point's value when maximizing, of the optimum when minimizing.
    pub lower: f64,
    /// The candidate it speaks of; none on a space that is not finite.
    pub candidate: Option<usize>,
    /// Its coordinates, as the model sees them.
    pub point: Vec<f64>,
    /// The values of its parameters or columns, where the domain has names.
    pub params: Vec<Value>,
    /// The statement may be false with this probability.
    pub delta: f64,
    /// What kind of statement it is.
    pub kind: BoundKind,
    /// How far the upper bound may exceed the best possible one because the domain was not searched to the end; 0 on
    /// finite domains.
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
    /// The extremes of the latest moment looked at, and how many values had arrived.
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
    /// How far from the optimum the best point can still be.
    ///
    /// The first call looks at the moments of the whole log, later ones at those that came since; each moment costs about
    /// as much as a suggestion. Refused where the data contradict the assumptions: the bounds have crossed, which has
    /// probability at most delta if they are true.
    pub fn certificate(&mut self) -> Result<Certificate> {
        if self.is_unfitted() {
            return self.with_fit()?.certificate();
        }
        if self.spec.learns() && self.posterior.observed() == 0 {
            return Err(Error::NothingObserved);
        }
        if !self.has_scale() {
            return Err(Error::NoScale);
        }
        let Extremes { upper, lower, gap, candidate, point } = self.extremes()?;
        if upper < lower {
            return Err(Error::Contradiction { upper: self.bound_in_units(upper), lower: self.bound_in_units(lower) });
        }
        let gap = self.bound_in_units(upper) - self.bound_in_units(upper - gap);
        let (lower, upper) = self.ends_in_units(lower, upper);
        if [lower, upper].into_iter().any(|end| representable(end).is_none()) {
            return Err(Error::BeyondFloats);
        }
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

    /// Whether a bound can be stated in the units of the values: a model that is learned knows them only from values that
    /// differ.
    pub(super) fn has_scale(&self) -> bool {
        let mut values = self.ledger.trials().iter().filter_map(Trial::value);
        let first = values.next();
        !self.spec.learns() || values.any(|value| Some(value) != first)
    }

    /// What is not told apart near the largest of the values: of 1e17 and 1e17 + 1 no bound says that they differ.
    pub(super) fn resolution(&self) -> f64 {
        let values = self.ledger.trials().iter().filter_map(Trial::value);
        values.map(Warp::resolution).fold(0.0, f64::max)
    }

    /// What kind of statement this study makes: a theorem needs a model and a norm bound that are given.
    pub(super) fn kind(&self) -> BoundKind {
        if self.spec.states_theorems() { BoundKind::Theorem } else { BoundKind::Model }
    }

    /// The band's multiplier, from the information gain of the rows that it looks at. A model's opinion may also take f
    /// for a draw of its prior: then sqrt(2 ln(2 |D|/delta)) holds at all points at once. Spaces are finite too, as floats
    /// are told apart by a step.
    pub(super) fn band_multiplier(&self, information: f64) -> Result<f64> {
        let theorem = self.assumptions()?.band(information);
        Ok(if self.kind() == BoundKind::Theorem { theorem } else { theorem.min(self.union_multiplier()) })
    }

    /// The multiplier of a band that holds at all points at once if f is a draw of the prior; it needs no factor.
    pub(super) fn union_multiplier(&self) -> f64 {
        (2.0 * (self.chooser.log_size() + (2.0 / self.spec.strategy().delta).ln())).sqrt()
    }

    pub(super) fn extremes(&mut self) -> Result<Extremes> {
        let observed = self.posterior.observed();
        // A model's opinion is about now: what an earlier fit or norm said does not hold any more.
        if self.kind() == BoundKind::Theorem {
            while self.band.checkpoint <= observed {
                let then = self.extremes_at(self.band.checkpoint)?;
                self.band.extremes = Some(match self.band.extremes.take() {
                    Some(running) => running.tightened(then),
                    None => then,
                });
                self.band.checkpoint = self.chooser.next_band_checkpoint(self.band.checkpoint).unwrap_or(usize::MAX);
            }
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
