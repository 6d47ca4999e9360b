//! How far from the optimum the best point can still be, with probability at least 1 - delta.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | alpha | band multiplier | [`Assumptions::band`](crate::Assumptions::band) at the realised information gain |
//! | mu_S +- alpha sigma_S | band | holds at all x and t at once with probability >= 1 - delta; needs no xi |
//! | U | upper | running minimum over the log of max_D (mu_S + alpha sigma_S) |
//! | L | lower | running maximum over the log of max_D (mu_S - alpha sigma_S) |
//!
//! The regret of the point that attains L is at most U - L. The running extremes are taken at every number of
//! observations up to 64, from there at steps of a quarter, and now: any set of moments gives a valid certificate, and
//! this one is a function of the log alone.
//!
//! The band assumes the stated kernel, B and R, and that whether and when a result arrives does not depend on its noise.

use std::fmt;

use manyhands_gp::{Score, Surface};

use super::{Study, Trial, TrialState};
use crate::number::significant;
use crate::{Direction, Error, Result};

/// Up to here every number of observations is a moment of the running extremes.
const EVERY_ONE: usize = 64;

/// What kind of statement a bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A theorem, under the stated kernel, norm bound and noise bound.
    Theorem,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Theorem => f.write_str("theorem"),
        }
    }
}

/// A bound on the regret, in the user's units.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The point's value is at most this far from the optimum.
    pub regret_bound: f64,
    /// An upper bound: of the optimum when maximizing, of the point's value when minimizing.
    pub upper: f64,
    /// A lower bound: of the point's value when maximizing, of the optimum when minimizing.
    pub lower: f64,
    /// The candidate it speaks of.
    pub candidate: usize,
    /// The candidate's coordinates.
    pub point: Vec<f64>,
    /// The statement may be false with this probability.
    pub delta: f64,
    /// What kind of statement it is.
    pub kind: Kind,
    /// How far the upper bound may exceed the best possible one because the domain was not searched to the end; 0 on
    /// finite domains.
    pub gap: f64,
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "candidate {} at {:?} is within {} of the optimum with probability {} ({}; bounds {} to {})",
            self.candidate,
            self.point,
            significant(self.regret_bound, 4),
            1.0 - self.delta,
            self.kind,
            significant(self.lower, 4),
            significant(self.upper, 4)
        )
    }
}

/// The observed trial with the best bound, in the user's units.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The trial's number.
    pub trial: usize,
    /// Its candidate.
    pub candidate: usize,
    /// The candidate's coordinates.
    pub point: Vec<f64>,
    /// The value that was told.
    pub value: f64,
    /// The mean there.
    pub mean: f64,
    /// The band's lower end there.
    pub lower: f64,
    /// The band's upper end there.
    pub upper: f64,
    /// Its value is at most this far from the optimum, with the certificate's probability; none where the domain is not
    /// finite, or the data contradict the assumptions.
    pub regret_bound: Option<f64>,
}

/// What is known of one point, in the user's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: f64,
    /// The standard deviation given observed trials.
    pub sd: f64,
    /// The standard deviation given observed and pending trials.
    pub sd_pending: f64,
    /// The band's lower end.
    pub lower: f64,
    /// The band's upper end.
    pub upper: f64,
    /// What kind of statement the band is.
    pub kind: Kind,
}

/// The running extremes of the band.
#[derive(Debug, Clone, Default)]
pub(super) struct Band {
    surface: Option<Box<Surface>>,
    checkpoint: usize,
    extremes: Option<Extremes>,
}

#[derive(Debug, Clone, Copy)]
struct Extremes {
    upper: f64,
    lower: f64,
    candidate: usize,
}

impl Extremes {
    fn tightened(self, other: Self) -> Self {
        let best = if other.lower > self.lower { other } else { self };
        Self { upper: self.upper.min(other.upper), ..best }
    }
}

impl Study {
    /// How far from the optimum the best point can still be.
    ///
    /// The first call looks at the moments of the whole log, later ones at those that came since; each moment costs about
    /// as much as a suggestion. Refused where the data contradict the assumptions: the bounds have crossed, which has
    /// probability at most delta if they are true.
    pub fn certificate(&mut self) -> Result<Certificate> {
        let extremes = self.extremes()?;
        let Extremes { upper, lower, .. } = extremes;
        if upper < lower {
            return Err(Error::Contradiction { upper, lower });
        }
        let (lower, upper) = match self.spec.direction() {
            Direction::Maximize => (lower, upper),
            Direction::Minimize => (-upper, -lower),
        };
        Ok(Certificate {
            regret_bound: upper - lower,
            upper,
            lower,
            candidate: extremes.candidate,
            point: self.chooser.point(&self.spec, 0, extremes.candidate)?,
            delta: self.spec.strategy().delta,
            kind: Kind::Theorem,
            gap: 0.0,
        })
    }

    /// The observed trial whose value is certain to be high: the one with the best bound.
    pub fn best(&mut self) -> Result<Best> {
        let observed = self.trials.iter().filter(|trial| trial.state() == TrialState::Observed);
        let mut best: Option<(&Trial, Prediction)> = None;
        let sign = self.spec.direction().sign();
        for trial in observed {
            let there = self.prediction(trial.point())?;
            let secure = |p: &Prediction| if sign > 0.0 { p.lower } else { -p.upper };
            if best.as_ref().is_none_or(|(_, p)| secure(&there) > secure(p)) {
                best = Some((trial, there));
            }
        }
        let (trial, there) = best.ok_or(Error::NothingObserved)?;
        let mut best = Best {
            trial: trial.number(),
            candidate: trial.candidate(),
            point: trial.point().to_vec(),
            value: trial.value().unwrap_or(there.mean),
            mean: there.mean,
            lower: there.lower,
            upper: there.upper,
            regret_bound: None,
        };
        if self.chooser.restricted().is_some() {
            let secure = if sign > 0.0 { best.lower } else { -best.upper };
            let extremes = self.extremes()?;
            best.regret_bound = (extremes.upper >= extremes.lower).then_some(extremes.upper - secure);
        }
        Ok(best)
    }

    /// What is known of some points, which need not be candidates.
    pub fn predict(&self, points: &[Vec<f64>]) -> Result<Vec<Prediction>> {
        points.iter().map(|point| self.prediction(point)).collect()
    }

    fn prediction(&self, point: &[f64]) -> Result<Prediction> {
        let there = self.posterior.predict(point)?;
        let width = self.spec.assumptions().band(self.posterior.information()) * there.sd_observed;
        let mean = self.spec.direction().sign() * there.mean;
        Ok(Prediction {
            mean,
            sd: there.sd_observed,
            sd_pending: there.sd,
            lower: mean - width,
            upper: mean + width,
            kind: Kind::Theorem,
        })
    }

    fn extremes(&mut self) -> Result<Extremes> {
        let observed = self.posterior.observed();
        while self.band.checkpoint <= observed {
            let then = self.extremes_at(self.band.checkpoint)?;
            self.band.extremes = Some(self.band.extremes.map_or(then, |running| running.tightened(then)));
            self.band.checkpoint += if self.band.checkpoint < EVERY_ONE { 1 } else { self.band.checkpoint / 4 };
        }
        let now = self.extremes_at(observed)?;
        Ok(self.band.extremes.map_or(now, |running| running.tightened(now)))
    }

    /// The band's extremes when `observed` values had arrived.
    fn extremes_at(&mut self, observed: usize) -> Result<Extremes> {
        let restricted = self.chooser.restricted().ok_or(Error::Incompatible {
            setting: "a certificate",
            with: "a discretized cube",
            reason: "the band's maximum over a cube needs a search that certifies it; use a grid",
        })?;
        let surface = self.band.surface.get_or_insert_with(|| Box::new(Surface::new(restricted.clone())));
        let view = self.posterior.past_view(observed);
        let multiplier = self.spec.assumptions().band(view.information());
        let upper = surface.argmax(view, Score::Upper(multiplier));
        let lower = surface.argmax(view, Score::Lower(multiplier));
        match (upper, lower) {
            (Some(upper), Some(lower)) => {
                Ok(Extremes { upper: upper.score, lower: lower.score, candidate: lower.index })
            }
            _ => Err(Error::NothingObserved),
        }
    }
}
