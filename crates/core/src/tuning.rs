//! The constants of learned models and of `auto`: settled by experiment, and open to further ones.

use manyhands_gp::Priors;

use crate::Result;
use crate::strategy::require;

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
