//! The constants that a study in the library may set otherwise: how a model is learned, and how `auto` explores.

use manyhands_gp::Priors;

use crate::Result;
use crate::strategy::require;

/// How a model is learned and how widely `auto` explores. The defaults were settled by the experiments of
/// `docs/default-strategy.md`, which `manyhands bench strategy` repeats.
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
#[doc(alias = "hyperprior")]
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// The widths (multipliers of the sd) that `auto` cycles through, one per trial: by default one nearly greedy, the others
    /// wide.
    pub widths: Vec<f64>,
    /// The same where a parameter is a choice among categories: one of them is wider, so that no category stays untried.
    pub widths_with_choices: Vec<f64>,
    /// How far from the best point, in lengthscales, most trials of a converged search are, from three parameters on: they are chosen
    /// by a model of the values there. None: all of them go where the sd is largest.
    pub elsewhere: Option<f64>,
    /// From how many values on the best setting is tried a second time, once, where the fit has more noise than bends may have;
    /// none: it is not.
    pub repeat_from: Option<usize>,
    /// The bends of the warp that are tried: how strongly it compresses the values' lower tail; 0 is a linear warp.
    pub bends: Vec<f64>,
    /// A bend is allowed where the ratio of noise to prior variance is below this: a bent warp makes homoscedastic noise
    /// heteroscedastic, which the model cannot express.
    pub bend_noise: f64,
    /// The priors of the hyperparameters, for one parameter; with d parameters the median lengthscale is sqrt(d) times as
    /// long.
    pub priors: Priors,
    /// How much higher the log posterior density of a kernel that is mostly a sum over parameters
    /// ([`Kernel::partly_additive`](manyhands_gp::Kernel::partly_additive)) must be for it to be taken; none: it is never tried.
    pub additive_margin: Option<f64>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            widths: vec![0.01, 2.0, 2.0, 2.0, 2.0],
            widths_with_choices: vec![0.01, 2.0, 4.0, 2.0, 2.0],
            elsewhere: Some(1.5),
            repeat_from: Some(20),
            bends: vec![0.0, 1.0, 4.0, 16.0],
            bend_noise: 1e-3,
            priors: Priors::default(),
            additive_margin: Some(2.0),
        }
    }
}

impl Tuning {
    /// The width of trial number `trial`.
    pub(crate) fn width(&self, trial: usize, has_choices: bool) -> f64 {
        let widths = if has_choices { &self.widths_with_choices } else { &self.widths };
        widths[trial % widths.len()]
    }

    /// The width of a pick that explores, where nothing else is said.
    pub(crate) fn largest_width(&self) -> f64 {
        self.widths.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let count = |list: &[f64], setting| require(!list.is_empty(), setting, "at least one number", 0.0);
        count(&self.widths, "the number of widths")?;
        count(&self.widths_with_choices, "the number of widths")?;
        count(&self.bends, "the number of bends")?;
        let size = |x: f64| (0.0..=1e6).contains(&x);
        let mut widths = self.widths.iter().chain(&self.widths_with_choices);
        widths.try_for_each(|&w| require(size(w), "a width", "from 0 to 1e6", w))?;
        let distance = self.elsewhere.unwrap_or(0.0);
        require(size(distance), "the distance from the best point", "from 0 to 1e6", distance)?;
        self.bends.iter().try_for_each(|&b| require(size(b), "a bend", "from 0 to 1e6", b))?;
        let margin = self.additive_margin.unwrap_or(0.0);
        require(size(margin), "the margin of additive kernels", "from 0 to 1e6", margin)?;
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
    fn invalid_tunings_are_refused() {
        let good = Tuning::default();
        assert!(good.check().is_ok());
        let priors = |lengthscale| Priors { lengthscale, ..Priors::default() };
        let wrong = [
            Tuning { widths: vec![], ..good.clone() },
            Tuning { widths: vec![1.0, -1.0], ..good.clone() },
            Tuning { widths: vec![f64::NAN], ..good.clone() },
            Tuning { widths_with_choices: vec![], ..good.clone() },
            Tuning { widths_with_choices: vec![-1.0], ..good.clone() },
            Tuning { elsewhere: Some(f64::NAN), ..good.clone() },
            Tuning { bends: vec![], ..good.clone() },
            Tuning { bends: vec![f64::INFINITY], ..good.clone() },
            Tuning { bend_noise: f64::NAN, ..good.clone() },
            Tuning { additive_margin: Some(-1.0), ..good.clone() },
            Tuning { priors: priors((0.0, 0.5)), ..good.clone() },
            Tuning { priors: priors((0.1, f64::NAN)), ..good },
        ];
        for tuning in wrong {
            assert!(tuning.check().is_err(), "{tuning:?}");
        }
    }
}
