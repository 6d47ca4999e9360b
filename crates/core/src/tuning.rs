//! The constants of learned models, of `auto` and of searches: settled by experiment, and open to further ones.

use manyhands_gp::Priors;

use crate::Result;
use crate::strategy::require;

/// How many candidates of a finite domain a pick of the first design is the most distant of.
pub(crate) const DESIGN_CANDIDATES: usize = 32;

/// Trying a point again pays where its variance is above this part of the prior's: only noise can keep it up there.
pub(crate) const REPEAT_SHARE: f64 = 1e-4;

/// A wide pick whose sd is below this part of the prior's teaches nothing: what it looks at has converged, and the trial is
/// better spent where the model knows least.
pub(crate) const TEACHING_SHARE: f64 = 1e-4;

/// A greedy pick is wide instead where pending points leave less than this part of its variance: they will tell.
pub(crate) const OPEN_SHARE: f64 = 0.1;

/// Two points of a space closer than this, in squared lengthscales, are the same.
pub(crate) const SAME_POINT: f64 = 1e-14;

/// The gap at which a search that proves its result stops, relative to the score.
pub(crate) const PROOF_TOLERANCE: f64 = 1e-3;

/// Up to so many rows, a learned model is searched with all the cells that the spec allows.
pub(crate) const NODES_FULL_ROWS: usize = 200;

/// How many random features a sample path has.
pub(crate) const FEATURES: usize = 1024;

/// Up to so many rows every candidate of a space is evaluated exactly, as several are climbed from; above, only the best is
/// wanted.
pub(crate) const SCREENED_ROWS: usize = 1000;

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
    let (candidates, starts, evaluations) = match rows {
        0..=300 => (512, 4, 60),
        301..=1000 => (512, 3, 30),
        1001..=3000 => (384, 1, 12),
        _ => (384, 1, 8),
    };
    SearchEffort { candidates, starts, evaluations }
}

/// A search inside a region tests candidates until so many of them are inside.
pub(crate) const REGION_STARTS: usize = 16;

/// A warped value beyond this was not expected by the last fit, so that another one is due.
pub(crate) const SURPRISE: f64 = 8.0;

/// From so many values on, and after so many more, the rows of a space are factored at once. Below, appending them costs
/// nothing to speak of.
pub(crate) const GATHERED_FROM: usize = 1024;
pub(crate) const GATHERED: usize = 64;

/// Up to so many values, every bend is tried from several starts at each fit.
pub(crate) const VERY_FEW_VALUES: usize = 50;

/// Up to so many values, every bend is tried at each fit; above, the last bend is kept and its hyperparameters are
/// refined. A first fit of more values starts from a fit of so many.
pub(crate) const FEW_VALUES: usize = 200;

/// A fit reads no more than so many values.
pub(crate) const FITTED_VALUES: usize = 1_000;

/// The most evaluations of the density in one climb.
pub(crate) const FIT_EVALUATIONS: usize = 60;

/// As [`FIT_EVALUATIONS`], where values are many: the next fit goes on where this one ends.
pub(crate) const REFIT_EVALUATIONS: usize = 15;

/// How many quasi-random points come before the first fit, by the number of parameters.
pub(crate) fn design_points(parameters: usize) -> usize {
    (4 + 2 * parameters).min(10)
}

/// By how many values a fit becomes due again: at every change while values are few, then at a twentieth more.
pub(crate) fn values_until_refit(at_last_fit: usize) -> usize {
    (at_last_fit / 20).max(1)
}

/// How a model is learned and how widely `auto` looks. The defaults were settled by the experiments of
/// `docs/default-strategy.md`, which `manyhands bench strategy` runs again.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Tuning};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let tuning = Tuning { widths: vec![0.01, 3.0], ..Tuning::default() };
/// let spec = Spec::learned(Domain::Space(space), Strategy::auto())?.with_tuning(tuning)?;
/// # assert_eq!(spec.tuning().widths.len(), 2);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// The widths that `auto` takes in turn, one a trial: by default one nearly greedy, the others wide.
    pub widths: Vec<f64>,
    /// The bends of the values' lower tail that are tried; 0 is none.
    pub bends: Vec<f64>,
    /// Bent values are for black boxes without noise: a warp turns even noise into uneven noise, which the model does not
    /// know. So a bend needs a ratio of noise to prior variance below this.
    pub bend_noise: f64,
    /// What is believed of hyperparameters before any data, for one parameter; with d of them the median lengthscale is
    /// sqrt(d) times as long.
    pub priors: Priors,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            widths: vec![0.01, 2.0, 2.0, 2.0, 2.0],
            bends: vec![0.0, 1.0, 4.0, 16.0],
            bend_noise: 1e-3,
            priors: Priors::default(),
        }
    }
}

impl Tuning {
    /// The width of trial number `trial`.
    pub(crate) fn width(&self, trial: usize) -> f64 {
        self.widths[trial % self.widths.len()]
    }

    /// The width of a pick that is not to be greedy.
    pub(crate) fn widest(&self) -> f64 {
        self.widths.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let count = |list: &[f64], setting| require(!list.is_empty(), setting, "at least one number", 0.0);
        count(&self.widths, "the number of widths")?;
        count(&self.bends, "the number of bends")?;
        let size = |x: f64| (0.0..=1e6).contains(&x);
        self.widths.iter().try_for_each(|&w| require(size(w), "a width", "from 0 to 1e6", w))?;
        self.bends.iter().try_for_each(|&b| require(size(b), "a bend", "from 0 to 1e6", b))?;
        require(self.bend_noise >= 0.0, "the noise that bends may have", "at least 0", self.bend_noise)?;
        let spread = |x: f64| (1e-6..=1e6).contains(&x);
        for (median, sd) in [self.priors.lengthscale, self.priors.noise_ratio] {
            require(spread(median), "the median of a prior", "from 1e-6 to 1e6", median)?;
            require(spread(sd), "the log-sd of a prior", "from 1e-6 to 1e6", sd)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tunings_that_make_no_sense_are_refused() {
        let good = Tuning::default();
        assert!(good.check().is_ok());
        let priors = |lengthscale| Priors { lengthscale, ..Priors::default() };
        let wrong = [
            Tuning { widths: vec![], ..good.clone() },
            Tuning { widths: vec![1.0, -1.0], ..good.clone() },
            Tuning { widths: vec![f64::NAN], ..good.clone() },
            Tuning { bends: vec![], ..good.clone() },
            Tuning { bends: vec![f64::INFINITY], ..good.clone() },
            Tuning { bend_noise: f64::NAN, ..good.clone() },
            Tuning { priors: priors((0.0, 0.5)), ..good.clone() },
            Tuning { priors: priors((0.1, f64::NAN)), ..good },
        ];
        for tuning in wrong {
            assert!(tuning.check().is_err(), "{tuning:?}");
        }
    }
}
