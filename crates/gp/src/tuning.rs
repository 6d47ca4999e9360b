//! The constants settled by experiment, in one place: priors of fits, the warp, screens, surfaces and proofs.
//!
//! Numeric tolerances and hard limits of the arithmetic stand beside the code that needs them.

use crate::Priors;

// Fits.

/// The priors of the hyperparameters for one parameter.
pub(crate) const PRIORS: Priors = Priors {
    lengthscale: (0.13, 0.5),
    noise_ratio: (1e-4, 3.0),
    noise_range: (1e-8, 1e2),
    variance: (2.0, 2.0),
    mean_spread: 3.0,
};

/// How many starts a fit climbs from.
pub(crate) const FIT_CLIMBS: usize = 2;

/// A climb ends at steps that gain less than this, relative to the log density: data do not distinguish such parameters.
pub(crate) const FIT_GAIN: f64 = 1e-6;

/// Lengthscales are searched within this many log-sds of their prior around its median.
pub(crate) const LENGTHSCALE_SDS: f64 = 6.0;

// Kernels that are partly a sum over parameters.

/// The share of the variance that depends on all parameters together.
pub(crate) const JOINT_SHARE: f64 = 0.1;

/// The lengthscale of the part of one parameter, of G, is this/sqrt(G) times the parameter's own.
pub(crate) const ADDITIVE_LENGTH: f64 = 0.8;

// The warp of values.

/// The first values, which lie over the whole domain, whereas later ones may cluster around the optimum.
pub(crate) const FIRST_VALUES: usize = 20;

/// A unit is at least this much of what the first values alone would make it. As values cluster around the optimum the unit
/// shrinks, which resolves finer differences there; without a limit distant values become indistinguishable.
pub(crate) const SMALLEST_SHARE: f64 = 0.01;

// Short lists of candidates.

/// How many rows give the first bound of a short list, and from how many rows it is worthwhile.
pub(crate) const NEARBY: usize = 64;
pub(crate) const NEARBY_FROM_ROWS: usize = 2000;

/// The parts of the rows after which candidates of a short list are dismissed.
pub(crate) const STAGES: [f64; 3] = [0.125, 0.25, 0.5];

/// The candidates of highest bound that are solved to the end after each stage: the best of them is what others must reach.
pub(crate) const LEADERS: usize = 8;

// Surfaces on grids.

/// Sweeps after which thin factors recompute the surface, and new rows from which that is cheaper than sweeping them.
pub(crate) const SWEEPS: usize = 64;
pub(crate) const MANY_ROWS: usize = 24;

/// A cold start with this many rows solves every candidate rather than sweeping every row, where there are no thin
/// factors: n^2 operations per candidate against n times those of an FFT.
pub(crate) const SOLVED_ROWS: std::ops::Range<usize> = 8..256;

// Branch and bound.

/// The steps of one climb between the cells of a proof, and its first reach in lengthscales.
pub(crate) const PROOF_CLIMB_STEPS: usize = 24;
pub(crate) const PROOF_CLIMB_REACH: f64 = 0.25;

/// How many cells of a proof may start a climb.
pub(crate) const PROOF_CLIMBS: usize = 64;

/// A proof ends where what a search could still close is this share of what rounding leaves.
pub(crate) const PROOF_ROUNDING_SHARE: f64 = 0.1;

/// A proof is not attempted where rounding leaves this share of the gap that is known without one.
pub(crate) const PROOF_VACUOUS_SHARE: f64 = 0.5;
