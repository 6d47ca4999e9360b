//! What a search maximizes: functions of a point's mean and variance.
//!
//! | name | value |
//! |---|---|
//! | [`ConfidenceBound`] | mean + multiplier sd: the upper end of a band, or with a negative multiplier its lower end |
//! | [`Variance`] | the variance, for initial designs and greedy information gain |
//! | [`StandardDeviation`] | the sd, for pure exploration |
//!
//! Anything else is an [`Acquisition`] of the caller's.

/// A function of a point's mean and variance that a search maximizes.
///
/// What searches rely on:
/// - at a fixed variance the value never falls as the mean grows;
/// - at a variance of 0 the value is finite or minus infinity, as everywhere else. NaN counts as minus infinity;
/// - [`bound`](Acquisition::bound) really is an upper bound.
///
/// A value that depends on the point itself as well (a penalty around pending points, say) is no acquisition: it is computed
/// for the points of [`Surface::moments_where`](crate::Surface::moments_where), with an acquisition that bounds it from above
/// as the test of what can matter; on a box it is climbed with [`Slopes::at`](crate::Slopes::at).
///
/// A candidate whose value is minus infinity is chosen only if that is the value of all that may be chosen.
///
/// Probability of improvement, by its argument of the normal distribution function, which is maximal at the same points:
/// ```
/// use manyhands_gp::Acquisition;
///
/// struct ProbabilityOfImprovement {
///     target: f64,
/// }
///
/// impl Acquisition for ProbabilityOfImprovement {
///     fn value(&self, mean: f64, variance: f64) -> f64 {
///         if variance > 0.0 { (mean - self.target) / variance.sqrt() } else { f64::NEG_INFINITY }
///     }
///
///     fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
///         if variance > 0.0 { (1.0 / variance.sqrt(), -(mean - self.target) / variance) } else { (0.0, 0.0) }
///     }
///
///     // Only below the target: above it, the less uncertain the better.
///     fn grows_with_variance(&self) -> bool {
///         false
///     }
///
///     fn bound(&self, mean: f64, least: f64, most: f64) -> f64 {
///         if mean <= self.target {
///             self.value(mean, most)
///         } else if least > 0.0 {
///             self.value(mean, least)
///         } else {
///             f64::INFINITY
///         }
///     }
/// }
/// ```
#[doc(alias = "acquisition function")]
#[doc(alias = "score")]
pub trait Acquisition: Sync {
    /// Its value at a point with these moments.
    fn value(&self, mean: f64, variance: f64) -> f64;

    /// Its partial derivatives with respect to the mean and to the sd, for climbing on spaces. Both must be
    /// finite; at a variance of 0 the second is not used.
    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64);

    /// Whether its value never falls as the variance grows, whatever the mean. Then an upper bound of the variance gives
    /// one of the value; otherwise some searches compute every candidate exactly.
    fn grows_with_variance(&self) -> bool;

    /// An upper bound of its values for means up to `mean` and variances from `least` to `most`. Plus infinity means
    /// no bound: such a candidate is computed exactly.
    fn bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        let _ = least;
        if self.grows_with_variance() { self.value(mean, most) } else { f64::INFINITY }
    }

    /// No less than [`bound`](Acquisition::bound), and cheaper where that is costly: searches compute the bound only where this
    /// leaves it open whether a candidate matters.
    fn quick_bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        self.bound(mean, least, most)
    }

    /// The same function as one that has faster searches on finite domains and [proofs](crate::maximize) on boxes, if it
    /// is one.
    fn as_provable(&self) -> Option<Provable> {
        None
    }
}

/// Acquisitions that branch and bound can prove the maximum of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Provable {
    /// [`ConfidenceBound`] with this multiplier.
    ConfidenceBound(f64),
    /// [`Variance`].
    Variance,
}

impl Provable {
    /// Its value at a point with these moments.
    pub(crate) fn value(self, mean: f64, variance: f64) -> f64 {
        match self {
            Self::ConfidenceBound(multiplier) => ConfidenceBound(multiplier).value(mean, variance),
            Self::Variance => Variance.value(mean, variance),
        }
    }
}

/// mean + multiplier x sd, with a multiplier of any sign: the upper end of a band (the paper's Algorithm 1), or the lower
/// end if it is negative.
///
/// ```
/// use manyhands_gp::{Acquisition, ConfidenceBound};
/// assert_eq!(ConfidenceBound(2.0).value(1.0, 0.25), 2.0);
/// assert_eq!(ConfidenceBound(-2.0).value(1.0, 0.25), 0.0);
/// ```
#[doc(alias = "UCB")]
#[doc(alias = "LCB")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceBound(
    /// The multiplier.
    pub f64,
);

impl Acquisition for ConfidenceBound {
    #[inline(always)]
    fn value(&self, mean: f64, variance: f64) -> f64 {
        mean + self.0 * variance.sqrt()
    }

    fn slopes(&self, _: f64, _: f64) -> (f64, f64) {
        (1.0, self.0)
    }

    fn grows_with_variance(&self) -> bool {
        self.0 >= 0.0
    }

    #[inline(always)]
    fn bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        self.value(mean, if self.0 < 0.0 { least } else { most })
    }

    fn as_provable(&self) -> Option<Provable> {
        Some(Provable::ConfidenceBound(self.0))
    }
}

/// The variance. The mean is not read, and ties are judged in units of the variance.
#[doc(alias = "uncertainty sampling")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variance;

impl Acquisition for Variance {
    #[inline(always)]
    fn value(&self, _: f64, variance: f64) -> f64 {
        variance
    }

    fn slopes(&self, _: f64, variance: f64) -> (f64, f64) {
        (0.0, 2.0 * variance.sqrt())
    }

    fn grows_with_variance(&self) -> bool {
        true
    }

    fn as_provable(&self) -> Option<Provable> {
        Some(Provable::Variance)
    }
}

/// The standard deviation. It has the maximum of [`Variance`]; ties are judged in units of the sd.
#[doc(alias = "pure exploration")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandardDeviation;

impl Acquisition for StandardDeviation {
    fn value(&self, _: f64, variance: f64) -> f64 {
        variance.sqrt()
    }

    fn slopes(&self, _: f64, _: f64) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn grows_with_variance(&self) -> bool {
        true
    }
}

/// The candidates where an acquisition, of the mean and the variance given *observed* rows alone, reaches a threshold.
///
/// [`Surface::argmax_within`](crate::Surface::argmax_within) searches it.
#[doc(alias = "region")]
#[derive(Clone, Copy)]
pub struct LevelSet<'a> {
    /// What is compared with the threshold.
    pub acquisition: &'a dyn Acquisition,
    /// The least value inside. There is no tolerance.
    pub threshold: f64,
}

impl LevelSet<'_> {
    /// Whether a point with these moments, the variance being that given observed rows, is inside.
    #[inline]
    pub fn contains(&self, mean: f64, variance_observed: f64) -> bool {
        self.acquisition.value(mean, variance_observed) >= self.threshold
    }
}

impl std::fmt::Debug for LevelSet<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LevelSet").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

/// An acquisition with NaN replaced: by minus infinity as a value, by plus infinity as a bound.
pub(crate) struct WithoutNan<'a>(pub &'a dyn Acquisition);

impl Acquisition for WithoutNan<'_> {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        let value = self.0.value(mean, variance);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        self.0.slopes(mean, variance)
    }

    fn grows_with_variance(&self) -> bool {
        self.0.grows_with_variance()
    }

    fn bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        let bound = self.0.bound(mean, least, most);
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    fn quick_bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        let bound = self.0.quick_bound(mean, least, most);
        if bound.is_nan() { f64::INFINITY } else { bound }
    }
}
