//! The constants settled by experiment, all in one place: learned models, `auto`, searches and budgets.
//!
//! Numeric tolerances and hard limits of the arithmetic stand beside the code that needs them.

mod settings;

pub use settings::Tuning;

// Domains and defaults of a spec.

/// A countable space with at most this many points is a finite domain, and chosen from exactly.
pub(crate) const FINITE_POINTS: usize = 1 << 14;

/// As [`FINITE_POINTS`], where the points form a grid and the model is given; for rules that sample, a grid with
/// [structure](manyhands_gp::has_structure).
pub(crate) const FINITE_GRID_POINTS: usize = 1 << 20;

/// As [`FINITE_GRID_POINTS`], where the model is learned and the grid has structure: every fit computes all points again, on
/// an even grid by transforms of 2^parameters times as many.
pub(crate) fn learned_grid_points(parameters: usize) -> usize {
    (FINITE_GRID_POINTS >> parameters.min(20)).clamp(FINITE_POINTS, 1 << 17)
}

/// Bytes for each of the caches and factors, unless set.
pub(crate) const DEFAULT_MEMORY: usize = 256 << 20;

/// The most cells of a search that proves its result, unless set.
pub(crate) const DEFAULT_NODES: usize = 2_000;

/// The distance between any two categories: about that of two random numbers of the unit interval, so that one prior of
/// lengthscales suits both, and what is learned about one category informs the others.
pub(crate) const CATEGORY_DISTANCE: f64 = 0.35;

// The first design, `auto`, and exact choices.

/// A pick of the first design on a finite domain is the one of largest sd among this many random candidates.
pub(crate) const DESIGN_CANDIDATES: usize = 32;

/// Repeating a point is worthwhile where its variance is above this share of the prior's: only noise can keep it that high.
pub(crate) const REPEAT_SHARE: f64 = 1e-4;

/// A wide pick whose sd is below this share of the prior's is uninformative: the search has converged there, and the trial
/// is better spent where the sd is largest.
pub(crate) const INFORMATIVE_SHARE: f64 = 1e-4;

/// With fewer parameters, trials of a converged search go where the sd is largest: there is nothing else to find.
pub(crate) const ELSEWHERE_FROM_PARAMETERS: usize = 3;

/// How many lengthscales from the best point a trial of a converged search is that the model of all values chooses.
pub(crate) const FAR_AWAY: f64 = 2.5;

/// How many summits may be set aside, at which share of the prior's sd a search elsewhere has converged too, and how many times the
/// prior's median a lengthscale may be that the reach of a summit is measured in.
pub(crate) const SUMMITS: usize = 3;
pub(crate) const SUMMIT_SHARE: f64 = 1e-2;
pub(crate) const LONGEST_REACH: f64 = 2.0;

/// A greedy pick is replaced by a wide one where pending points leave less than this share of its variance: their results
/// will determine most of its value.
pub(crate) const COVERED_SHARE: f64 = 0.1;

/// Two points of a space closer than this, in squared lengthscales, are the same.
pub(crate) const SAME_POINT: f64 = 1e-14;

/// The gap at which a search that proves its result stops, relative to the score.
pub(crate) const PROOF_TOLERANCE: f64 = 1e-3;

/// How many random features a sample path has.
pub(crate) const FEATURES: usize = 1024;

/// Up to this many observations, every count of them is a checkpoint of the running extremes of a band on a finite domain;
/// above, each [part](CHECKPOINT_PART) more.
pub(crate) const EVERY_CHECKPOINT: usize = 64;

/// Later checkpoints on a finite domain are apart by the count divided by this.
pub(crate) const CHECKPOINT_PART: usize = 4;

/// Checkpoints on a space, each of which costs a search, are apart by this factor.
pub(crate) const CHECKPOINT_FACTOR: usize = 2;

/// So many failures at a point, or more next to it, may end the initialization scheme: three, less a margin for rounding.
pub(crate) const INITIAL_FAILURES: f64 = 2.5;

/// After failures the scheme ends at the latest at this share of the variance that is enough without them.
pub(crate) const INITIAL_SHARE: f64 = 0.25;

// Searches over a space.

/// Up to this many rows every candidate of a space is evaluated exactly, because climbs start from several
/// ([`search_effort`]); above, only the best one is needed.
pub(crate) const SCREENED_ROWS: usize = 1000;

/// How many of the best rows get neighbours among the candidates, and how many are candidates themselves.
pub(crate) const BEST_ROWS: (usize, usize) = (5, 3);

/// The distances of neighbours from their centre, in lengthscales.
pub(crate) const NEIGHBOUR_STEPS: [f64; 4] = [0.3, 0.1, 0.03, 0.01];

/// Two starts closer than this, in squared lengthscales, climb to the same point.
pub(crate) const DISTINCT_STARTS: f64 = 0.05;

/// The most rounds of exchanges after a climb.
pub(crate) const EXCHANGE_ROUNDS: usize = 4;

/// Up to this many values, a discrete parameter's values are listed one by one.
pub(crate) const LISTED_VALUES: usize = 200;

/// The first step of a climb inside constraints, in units of the cube.
pub(crate) const FIRST_STEP: f64 = 0.1;

/// What the next step of such a climb is multiplied by, after one that gained and after one that did not.
pub(crate) const STEP_FACTORS: (f64, f64) = (2.0, 0.25);

/// A discrete parameter of a neighbour changes where a standard normal draw exceeds this: about one in three.
pub(crate) const CHANGED_DRAW: f64 = 1.0;

/// The moves of a discrete parameter with too many values to list: single steps, and these parts of its range, as divisors.
pub(crate) const LADDER_STEPS: [usize; 2] = [1, 2];
pub(crate) const LADDER_PARTS: [usize; 3] = [100, 20, 5];

/// How hard a search over a space tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SearchEffort {
    /// Quasi-random candidates; half as many neighbours of the best rows are added.
    pub candidates: usize,
    /// Climbs.
    pub starts: usize,
    /// The most evaluations in one climb.
    pub evaluations: usize,
}

/// How hard a search tries: less where every evaluation costs more.
pub(crate) fn search_effort(rows: usize) -> SearchEffort {
    let (candidates, starts, evaluations) = if rows <= 300 {
        (512, 4, 60)
    } else if rows <= SCREENED_ROWS {
        (512, 3, 30)
    } else if rows <= 3000 {
        (384, 1, 12)
    } else {
        (384, 1, 8)
    };
    SearchEffort { candidates, starts, evaluations }
}

/// How many quasi-random points stand for a space where a rule needs a finite set; the observed points are added.
pub(crate) const LISTED_POINTS: usize = 2048;

/// The most candidates that `est` takes: it sums over all of them some hundred times for every pick.
pub(crate) const MOST_FOR_EST: usize = 100_000;

/// The most candidates that `dpp = "sample"` takes, and the most points of its region that a draw takes: more are thinned. The
/// draw costs their cube.
pub(crate) const MOST_FOR_DPP: usize = FINITE_POINTS;
pub(crate) const MOST_IN_DPP: usize = 2_000;

/// The most candidates that `local-penalization` takes: its score has no bound that would spare any of them.
pub(crate) const MOST_FOR_LOCAL_PENALIZATION: usize = FINITE_POINTS;

/// A search inside a region tests candidates until this many of them are inside.
pub(crate) const REGION_STARTS: usize = 16;

// Predictive entropy search.

/// How many sampled functions the expected entropy is an average over.
pub(crate) const ENTROPY_SAMPLES: usize = 50;

/// The most candidates of a finite domain: the factor that functions are drawn with takes the square of their number in memory
/// and its cube in time.
pub(crate) const ENTROPY_CANDIDATES: usize = 2_048;

/// The distance, in lengthscales, at which points on both sides of a maximum stand for slope and curvature. The error of the
/// slope is its square, 2e-4, relative to the third derivative; the variance of the curvature is its fourth power, 6e-8, of which
/// 1e-13 and less are rounding.
pub(crate) const STENCIL_STEP: f64 = 1.0 / 64.0;

// Points that keep linear constraints.

/// Rejection draws before constraint-aware sampling.
pub(crate) const REJECTION_DRAWS: usize = 64;

/// Attempts at constraint-aware sampling before the known feasible point is returned.
pub(crate) const CONSTRAINED_DRAWS: usize = 4;

/// The most values of one parameter that are tried while the others stay fixed.
pub(crate) const VALUE_OPTIONS: usize = 64;

/// How many values of a continuous parameter are drawn, where it has to be fixed.
pub(crate) const CONTINUOUS_OPTIONS: usize = 4;

/// The most steps away from a wanted value that a repair tries.
pub(crate) const REPAIR_STEPS: usize = 16 * VALUE_OPTIONS;

/// Parameters with more values than this are fixed last.
pub(crate) const MANY_RUNGS: usize = 64;

/// The most fixed values that a sample or a repair tries.
pub(crate) const REPAIR_BUDGET: usize = 500;

/// As [`REPAIR_BUDGET`], for the question whether there is any feasible point at all.
pub(crate) const EXISTENCE_BUDGET: usize = 20_000;

/// Steps of hit-and-run for each dimension.
pub(crate) const HIT_AND_RUN_STEPS: usize = 16;

/// Rounds of Dykstra's projection algorithm.
pub(crate) const PROJECTION_ROUNDS: usize = 50;

// The best point.

/// Up to this many values, [`Study::best`](crate::Study::best) reads all of them; above, under noise, the values nearby. Reports
/// compute an [outlook](crate::Study::outlook) or a [certificate](crate::Study::certificate) of more values only on request.
pub const OUTLOOK_VALUES: usize = 1_000;

/// Where the noise variance is at most this share of the prior's, the best point is that of the best value.
pub(crate) const NEGLIGIBLE_NOISE: f64 = 1e-5;

/// As [`NEGLIGIBLE_NOISE`], where the noise is learned from at most so many values: those say little of it, and the fit is near
/// the median of its prior, 1e-4.
pub(crate) const UNKNOWN_NOISE: (usize, f64) = (50, 1.5e-4);

/// Above [`OUTLOOK_VALUES`] values, this many trials are considered.
pub(crate) const SHORT_LIST: usize = 64;

/// How many values near a trial of the short list it is compared by, and how many the best of them is described by.
pub(crate) const NEARBY_VALUES: (usize, usize) = (256, 1_000);

/// How many trials are predicted together.
pub(crate) const PREDICTED_TOGETHER: usize = 64;

// What a model says of itself.

/// What intervals are widened by, given how far past values were from the middles of theirs, in half lengths: the 0.9 quantile,
/// `errors` of its standard errors higher.
pub(crate) fn widening(deviations: &[f64], errors: f64) -> f64 {
    if deviations.len() < FEWEST_TRIALS {
        return 1.0;
    }
    let mut sorted = deviations.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let rank = (0.9 * (count + 1.0) + errors * (0.09 * count).sqrt()).ceil() as usize;
    sorted[rank.min(sorted.len()) - 1].max(1.0)
}

/// A gain is about where functions are highest, as trials are: its widening is all that the record asks for, and this many
/// standard errors more.
pub(crate) const GAIN_ERRORS: f64 = 0.5;

/// With fewer trials after the first design than this, a model does not say what may still be gained.
pub(crate) const FEWEST_TRIALS: usize = 20;

/// As [`FEWEST_TRIALS`], where a smaller share of its intervals than this held.
pub(crate) const LEAST_RECORD: f64 = 0.75;

/// No rule stops a study with fewer values.
pub(crate) const FEWEST_VALUES_TO_STOP: usize = 10;

/// How many points importance is computed at, of the posterior mean and of a sampled function; about as many, whatever the
/// number of parameters.
pub(crate) const IMPORTANCE_POINTS: (usize, usize) = (8_192, 2_048);

/// How many functions the interval of an importance is from, and how many random features each of them has.
pub(crate) const IMPORTANCE_FUNCTIONS: usize = 40;

/// As [`IMPORTANCE_FUNCTIONS`].
pub(crate) const IMPORTANCE_FEATURES: usize = 256;

/// How many sampled functions a gain is the quantile of.
pub(crate) const SAMPLED_FUNCTIONS: usize = 128;

/// How many draws of the hyperparameters they share.
pub(crate) const HYPERPARAMETER_DRAWS: usize = 8;

/// The draws of the hyperparameters read at most this many values.
pub(crate) const DRAWN_VALUES: usize = 200;

/// How many random features a sampled function has, how many points it is compared at before it is climbed, from how many of them
/// besides the best point, and with how many evaluations each.
pub(crate) const GAIN_FEATURES: usize = 512;
pub(crate) const CONTENDERS: usize = 64;
pub(crate) const GAIN_CLIMBS: usize = 2;
pub(crate) const GAIN_EVALUATIONS: usize = 40;

/// As [`CONTENDERS`], on a finite domain, where samples are drawn jointly.
pub(crate) const JOINT_CONTENDERS: usize = 256;

/// How many candidates of a finite domain are predicted to find the contenders; each costs the square of the values.
pub(crate) fn predicted_candidates(observed: usize) -> usize {
    (2_000_000_000 / (observed * observed).max(1)).clamp(512, 1 << 14)
}

// Learned models.

/// A warped value beyond this was not expected by the last fit, so that another one is due.
pub(crate) const SURPRISE: f64 = 8.0;

/// From this many values on, the rows of a space are factored at once after every [`REFACTORED_EVERY`] more. Below, appending
/// them one by one is cheap.
pub(crate) const REFACTORED_FROM: usize = 1024;

/// How many values arrive between two factorizations of all rows.
pub(crate) const REFACTORED_EVERY: usize = 64;

/// Up to this many values, every bend is tried from several starts at each fit.
pub(crate) const VERY_FEW_VALUES: usize = 50;

/// Up to this many values, every bend is tried at each fit; above, the last bend is kept and its hyperparameters are
/// refined. A first fit of more values starts from a fit of this many.
pub(crate) const FEW_VALUES: usize = 200;

/// A fit reads at most this many values.
pub(crate) const FITTED_VALUES: usize = 1_000;

/// The most evaluations of the density in one climb.
pub(crate) const FIT_EVALUATIONS: usize = 60;

/// As [`FIT_EVALUATIONS`], where values are many: the next fit continues where this one ends.
pub(crate) const REFIT_EVALUATIONS: usize = 15;

/// How many of at most `most` values that a fit reads are the best ones; the others are taken at even steps.
pub(crate) fn best_values(most: usize) -> usize {
    most / 4
}

/// How many quasi-random points come before the first fit, by the number of parameters.
pub(crate) fn design_points(parameters: usize) -> usize {
    (4 + 2 * parameters).min(10)
}

/// As [`design_points`], where the candidates are a list: most are not worth a trial, and the list says already how they differ.
pub(crate) const LIST_DESIGN: usize = 5;

/// How many more values make a fit due again: one while values are few, then a twentieth of them.
pub(crate) fn values_until_refit(at_last_fit: usize) -> usize {
    (at_last_fit / 20).max(1)
}
