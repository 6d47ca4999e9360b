//! The greedy maximum information gain over a finite domain, with certified upper bounds.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | gamma_t | maximum information gain | Definition 1 of the paper; repeats allowed, gamma_0 = 0 |
//! | g_t | greedy gain | information of the t points picked by argmax variance: g_t <= gamma_t |
//! | s_j | peak variance | max over D of the variance given the first j greedy points |
//!
//! Information gain is monotone and submodular, so gamma_t <= g_t / (1 - 1/e) (Nemhauser, Wolsey and Fisher 1978), and no
//! t points can add more to the first j greedy ones than (t/2) ln(1 + s_j/lambda), so gamma_t <= g_j + (t/2) ln(1 +
//! s_j/lambda) for every j.

use std::sync::Arc;

use crate::{Error, Key, Posterior, Prior, Restricted, Result, Surface, Variance};

/// Greedy information gain, extended as far as it is asked for.
///
/// ```
/// use std::sync::Arc;
/// use manyhands_gp::{Domain, GreedyInformation, Grid, Kernel, Prior, Restricted};
/// # fn main() -> manyhands_gp::Result<()> {
/// let kernel = Kernel::squared_exponential(&[0.2])?;
/// let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 101)])?);
/// let restricted = Restricted::new(kernel.clone(), domain, 1 << 24)?;
/// let mut greedy = GreedyInformation::new(Prior::new(kernel, 0.0, 0.01)?, Arc::new(restricted))?;
/// assert!(greedy.gain(3)? <= greedy.upper(3)?);
/// # Ok(()) }
/// ```
#[doc(alias = "maximum information gain")]
#[derive(Debug, Clone)]
pub struct GreedyInformation {
    posterior: Posterior,
    surface: Surface,
    gains: Vec<f64>,
    picks: Vec<usize>,
    peaks: Vec<f64>,
}

impl GreedyInformation {
    /// For a prior restricted to a finite domain.
    pub fn new(prior: Prior, restricted: Arc<Restricted>) -> Result<Self> {
        let posterior = Posterior::new(prior, restricted.domain().dimension())?;
        let surface = Surface::new(restricted);
        Ok(Self { posterior, surface, gains: vec![0.0], picks: Vec::new(), peaks: Vec::new() })
    }

    /// g_t, a lower bound of gamma_t.
    pub fn gain(&mut self, t: usize) -> Result<f64> {
        while self.gains.len() <= t {
            self.pick()?;
        }
        Ok(self.gains[t])
    }

    /// The first t greedy points.
    pub fn picks(&mut self, t: usize) -> Result<&[usize]> {
        self.gain(t)?;
        Ok(&self.picks[..t])
    }

    /// s_j, the largest variance that is left after the first j greedy points.
    pub fn peak(&mut self, j: usize) -> Result<f64> {
        // It is computed when the next point is picked.
        self.gain(j + 1)?;
        Ok(self.peaks[j])
    }

    /// gamma_t <= g_t / (1 - 1/e).
    pub fn submodular_upper(&mut self, t: usize) -> Result<f64> {
        Ok(self.gain(t)? / (1.0 - (-1.0f64).exp()))
    }

    /// gamma_t <= min over j <= t of g_j + (t/2) ln(1 + s_j/lambda).
    pub fn remainder_upper(&mut self, t: usize) -> Result<f64> {
        self.peak(t)?;
        let noise = self.posterior.prior().noise();
        let bound = |j: usize| self.gains[j] + 0.5 * t as f64 * (self.peaks[j] / noise).ln_1p();
        Ok((0..=t).map(bound).fold(f64::INFINITY, f64::min))
    }

    /// The smaller of the two certified upper bounds of gamma_t.
    pub fn upper(&mut self, t: usize) -> Result<f64> {
        Ok(self.submodular_upper(t)?.min(self.remainder_upper(t)?))
    }

    fn pick(&mut self) -> Result<()> {
        let choice = self.surface.argmax(self.posterior.view(), &Variance);
        let choice = choice.ok_or(Error::Empty { what: "the domain" })?;
        let id = self.picks.len() as u64;
        let point = self.surface.restricted().domain().point(choice.index);
        self.posterior.hallucinate(Key { id, site: choice.index }, &point)?;
        self.picks.push(choice.index);
        self.peaks.push(choice.score);
        self.gains.push(self.posterior.information_of(self.picks.len()));
        Ok(())
    }
}
