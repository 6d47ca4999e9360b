//! Regret: the difference between the optimum and the chosen value, round by round.

/// The regret of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Regret {
    instantaneous: Vec<f64>,
}

impl Regret {
    /// Of choices with these values of f, against the optimum.
    pub fn new(optimum: f64, chosen: impl IntoIterator<Item = f64>) -> Self {
        Self { instantaneous: chosen.into_iter().map(|value| optimum - value).collect() }
    }

    /// r_t = max f - f(x_t), t = 1, 2, ...
    pub fn instantaneous(&self) -> &[f64] {
        &self.instantaneous
    }

    /// R_t = r_1 + ... + r_t.
    pub fn cumulative(&self) -> Vec<f64> {
        let add = |sum: &mut f64, regret: &f64| {
            *sum += regret;
            Some(*sum)
        };
        self.instantaneous.iter().scan(0.0, add).collect()
    }

    /// R_t/t, which the paper plots.
    pub fn time_average(&self) -> Vec<f64> {
        self.cumulative().iter().zip(1..).map(|(sum, t)| sum / f64::from(t)).collect()
    }

    /// min of r_1 .. r_t: the regret of the best point tried so far.
    pub fn simple(&self) -> Vec<f64> {
        let fall = |least: &mut f64, regret: &f64| {
            *least = least.min(*regret);
            Some(*least)
        };
        self.instantaneous.iter().scan(f64::INFINITY, fall).collect()
    }

    /// The first round whose choice has a regret of at most `target`.
    pub fn first_within(&self, target: f64) -> Option<usize> {
        self.instantaneous.iter().position(|regret| *regret <= target).map(|i| i + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f takes 1, 4, 3, 4 where 4 is the most: r = 3, 0, 1, 0.
    #[test]
    fn regret_of_four_choices_by_hand() {
        let regret = Regret::new(4.0, [1.0, 4.0, 3.0, 4.0]);
        assert_eq!(regret.instantaneous(), [3.0, 0.0, 1.0, 0.0]);
        assert_eq!(regret.cumulative(), [3.0, 3.0, 4.0, 4.0]);
        assert_eq!(regret.time_average(), [3.0, 1.5, 4.0 / 3.0, 1.0]);
        assert_eq!(regret.simple(), [3.0, 0.0, 0.0, 0.0]);
        assert_eq!(regret.first_within(1.0), Some(2));
        assert_eq!(Regret::new(4.0, [1.0, 2.5]).first_within(1.0), None);
    }

    #[test]
    fn an_optimum_below_zero_is_as_good_as_any() {
        let regret = Regret::new(-2.0, [-5.0, -2.5, -3.0]);
        assert_eq!(regret.cumulative(), [3.0, 3.5, 4.5]);
        assert_eq!(regret.simple(), [3.0, 0.5, 0.5]);
    }
}
