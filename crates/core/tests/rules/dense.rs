//! The posterior of a state by dense solves from scratch, with how far rounding may move it, and what a pick must be given
//! the scores of all candidates.

use crate::common::{Oracle, candidates};
use crate::oracle::definitions::{EPS, ErrorBounds, Rows, maximized, root_error_bound, sign};
use manyhands_core::gp::Prior;
use manyhands_core::{Spec, Study, Suggestion};
use manyhands_gp::TIE;

/// A number, and how far rounding may take another computation of it from it.
pub type Rounded = (f64, f64);

/// Everything that scores are made of.
pub struct Dense {
    pub prior: Prior,
    pub points: Vec<Vec<f64>>,
    pub rows: Rows,
    /// What may be chosen.
    pub allowed: Vec<bool>,
    pub means: Vec<Rounded>,
    /// Given observed, pending and failed points.
    pub sds: Vec<Rounded>,
    /// Given observed points.
    pub sds_observed: Vec<Rounded>,
    /// The highest mean at an observed point; the prior mean before the first value.
    pub tau: Rounded,
    /// s0: the largest prior sd.
    pub scale: f64,
}

pub fn all_candidates(spec: &Spec) -> Vec<Vec<f64>> {
    candidates(spec.domain())
}

/// The highest, with the largest error.
pub fn highest(values: impl IntoIterator<Item = Rounded>) -> Rounded {
    let join = |(a, e): Rounded, (b, g): Rounded| (a.max(b), e.max(g));
    values.into_iter().fold((f64::NEG_INFINITY, 0.0), join)
}

/// The sd at these points given rows.
pub fn sds(prior: &Prior, points: &[Vec<f64>], rows: &[Vec<f64>]) -> Vec<Rounded> {
    let found = Oracle::new(prior, points, rows, &[]).variances;
    let bounds = ErrorBounds::new(prior, points, rows, &vec![prior.mean(); rows.len()]).variances;
    found.into_iter().zip(bounds).map(|(v, bound)| (v.sqrt(), root_error_bound(v, bound))).collect()
}

/// The mean at these points given values.
pub fn means(prior: &Prior, points: &[Vec<f64>], rows: &Rows) -> Vec<Rounded> {
    let found = Oracle::new(prior, points, &rows.observed, &rows.values).means;
    let bounds = ErrorBounds::new(prior, points, &rows.observed, &rows.values).means;
    found.into_iter().zip(bounds).collect()
}

impl Dense {
    pub fn of(study: &Study) -> Self {
        let spec = study.spec();
        let (prior, points, rows) = (maximized(spec), all_candidates(spec), Rows::of(study));
        let taken = rows.all();
        let tau = match rows.values.is_empty() {
            true => (prior.mean(), 0.0),
            false => highest(means(&prior, &rows.observed, &rows)),
        };
        Self {
            allowed: points.iter().map(|x| spec.repeats() || !taken.contains(x)).collect(),
            means: means(&prior, &points, &rows),
            sds: sds(&prior, &points, &taken),
            sds_observed: sds(&prior, &points, &rows.observed),
            tau,
            scale: points.iter().map(|x| prior.kernel().variance_at(x)).fold(0.0, f64::max).sqrt(),
            prior,
            points,
            rows,
        }
    }

    /// Before the first value most rules take the largest sd.
    pub fn is_empty(&self) -> bool {
        self.rows.values.is_empty()
    }

    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// The score of every candidate.
    pub fn scores(&self, score: impl Fn(usize) -> Rounded) -> Vec<Rounded> {
        (0..self.len()).map(score).collect()
    }

    /// The pick has the highest of these scores among what may be chosen, and its numbers are these.
    pub fn assert_chosen(&self, study: &Study, scores: &[Rounded], s: &Suggestion) {
        self.assert_highest(scores, &self.allowed, s);
        self.assert_numbers(study, scores, s);
    }

    /// The pick may be chosen; its mean, sd and score are these.
    pub fn assert_numbers(&self, study: &Study, scores: &[Rounded], s: &Suggestion) {
        self.assert_moments(study, s);
        let (score, error) = scores[s.choice.candidate];
        let expected = (score, error + TIE * score.abs().max(1.0));
        self.assert_near("score", s, s.choice.score, expected);
    }

    /// The pick may be chosen; its mean and sd are these.
    pub fn assert_moments(&self, study: &Study, s: &Suggestion) {
        let (i, choice) = (s.choice.candidate, &s.choice);
        assert!(self.allowed[i] && s.point == self.points[i], "trial {}: candidate {i} may not be chosen", s.trial);
        self.assert_near("mean", s, sign(study.spec()) * choice.mean, self.means[i]);
        self.assert_near("sd", s, choice.sd, self.sds[i]);
        self.assert_near("sd_observed", s, choice.sd_observed.unwrap(), self.sds_observed[i]);
        assert_eq!(choice.gap, Some(0.0), "every rule is exact on a finite domain");
    }

    fn assert_near(&self, what: &str, s: &Suggestion, found: f64, (expected, error): Rounded) {
        let scale = expected.abs().max(self.scale);
        assert!(error <= 1e-4 * scale, "the error bound of {what} {expected} says nothing: {error:e}");
        let off = (found - expected).abs();
        assert!(off <= error, "trial {}: {what} {found} of {expected} +- {error:e}", s.trial);
    }

    /// None of these rivals has a score that is higher than the pick's beyond rounding and ties.
    pub fn assert_highest(&self, scores: &[Rounded], rivals: &[bool], s: &Suggestion) {
        let i = s.choice.candidate;
        let (found, error) = scores[i];
        for j in (0..self.len()).filter(|&j| rivals[j]) {
            let (other, other_error) = scores[j];
            let tie = TIE * other.abs().max(found.abs()).max(1.0);
            let reaches = found + error + other_error + tie >= other;
            assert!(reaches, "trial {}: {i} has {found} +- {error:e}, {j} has {other} +- {other_error:e}", s.trial);
        }
    }

    pub fn assert_multiplier(&self, s: &Suggestion, (expected, error): Rounded) {
        let found = s.choice.multiplier;
        assert!((found - expected).abs() <= error, "trial {}: multiplier {found} of {expected} +- {error:e}", s.trial);
    }
}

/// A function that is monotone in each argument, given the others: its range over a box is that of the box's corners.
pub fn ranged<const N: usize>(arguments: [Rounded; N], value: impl Fn([f64; N]) -> f64) -> Rounded {
    let middle = value(arguments.map(|(x, _)| x));
    let corner = |sides: usize| {
        let mut at = 0;
        let end = arguments.map(|(x, error)| {
            at += 1;
            if sides >> (at - 1) & 1 == 1 { x + error } else { x - error }
        });
        (value(end) - middle).abs()
    };
    let moved = (0..1 << N).map(corner).fold(0.0, f64::max);
    // Both sides evaluate the formula with some tens of roundings.
    (middle, moved + 64.0 * EPS * middle.abs().max(1.0))
}
