//! Exact draws of a stationary Gaussian process on an evenly spaced grid, by circulant embedding.
//!
//! | symbol | in code | meaning | shape |
//! |---|---|---|---|
//! | m | `shape` | points along each axis of the grid | d |
//! | p | `padded` | at least 2 (m - 1) points along each axis, periodic | d |
//! | N | `padded_len` | product of p | 1 |
//! | c_j | `table` | covariance at the wrapped lag min(j, p - j) | p |
//! | lambda_k | | eigenvalues of the covariance on the periodic grid: the Fourier transform of c | p |
//! | | `roots` | sqrt(lambda_k / N) | p |
//! | e1, e2 | `normal()` | standard normal numbers | N each |
//!
//! Dietrich & Newsam (1997): g = Re FFT(sqrt(lambda / N) (e1 + i e2)) has covariance c on the periodic grid, hence k on
//! the grid itself, exactly, if no eigenvalue is negative. Otherwise the negative ones are set to 0: that adds a covariance
//! whose every entry is at most the sum of their sizes over N. As lambda is even, the frequencies k and -k only enter through
//! one complex normal number, so that half the spectrum, N normal numbers and a real transform suffice.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::even::EvenTable;
use crate::fft::{GridFft, is_own_mirror, product, smooth_length};
use crate::{Error, Result};

/// Eigenvalues above minus this times the largest are zeros with rounding.
const ROUNDING: f64 = 1e-13;

/// Exact draws of GP(0, k) on an evenly spaced grid.
#[derive(Debug, Clone)]
pub struct Circulant {
    fft: GridFft,
    roots: EvenTable,
    /// What setting negative eigenvalues to 0 adds to the variance; 0 where they are negative only by rounding.
    excess: f64,
}

impl Circulant {
    /// Embeds the covariance of a grid of this shape, within `memory_budget` bytes (for this and for each draw).
    ///
    /// `covariance(lag)` has `lag[a]` the index difference along axis a; it is also asked for lags beyond the grid.
    /// While the embedding is indefinite, the padding is doubled along those axes at whose farthest lag the covariance
    /// is not negligible (along all axes if there is none). Where that would exceed the budget, draws have an
    /// [excess](Circulant::excess). Refused where the least padding exceeds it.
    pub fn new(shape: &[usize], covariance: impl Fn(&[usize]) -> f64, memory_budget: usize) -> Result<Self> {
        if shape.is_empty() || shape.contains(&0) {
            return Err(Error::Empty { what: "a grid" });
        }
        let over = |needed| Error::EmbeddingOverBudget { grid: shape.to_vec(), needed, budget: memory_budget };
        let grid_bytes = product(shape).saturating_mul(size_of::<f64>());
        if grid_bytes > memory_budget {
            return Err(over(grid_bytes));
        }
        let mut padded = least_padding(shape);
        let needed = Self::bytes(shape, &padded);
        if needed > memory_budget {
            return Err(over(needed));
        }
        loop {
            let embedding = Self::embed(shape, &padded, &covariance)?;
            padded = enlarge(&padded, &covariance);
            if embedding.excess == 0.0 || Self::bytes(shape, &padded) > memory_budget {
                return Ok(embedding);
            }
        }
    }

    /// Whether the least padding of a grid of this shape is within the budget.
    pub fn fits(shape: &[usize], memory_budget: usize) -> bool {
        !shape.contains(&0) && Self::bytes(shape, &least_padding(shape)) <= memory_budget
    }

    /// How much the variance of draws exceeds the covariance's, which also bounds how far any covariance of theirs is off;
    /// 0 where draws are exact.
    pub fn excess(&self) -> f64 {
        self.excess
    }

    /// One draw at every point of the grid, row-major; a function of the generator alone.
    pub fn draw(&self, rng: &mut (impl Rng + ?Sized)) -> Vec<f64> {
        self.synthesize(|| StandardNormal.sample(rng))
    }

    /// Points along each axis of the periodic grid.
    pub fn padded(&self) -> &[usize] {
        self.fft.padded()
    }

    /// The peak of embedding and of a draw: the table or the roots, the spectrum with its buffers, and the draw.
    fn bytes(shape: &[usize], padded: &[usize]) -> usize {
        let reals = EvenTable::len_of(padded).saturating_add(product(shape));
        reals.saturating_mul(size_of::<f64>()).saturating_add(GridFft::bytes(padded))
    }

    /// The embedding with this padding, whatever the sign of its eigenvalues.
    fn embed(shape: &[usize], padded: &[usize], covariance: impl Fn(&[usize]) -> f64) -> Result<Self> {
        let table = EvenTable::new(padded, covariance);
        if let Some(&value) = table.values().iter().find(|value| !value.is_finite()) {
            return Err(Error::NotFinite { what: "a covariance".into(), value });
        }
        let variance = table.values()[0];
        if variance <= 0.0 {
            return Err(Error::NotPositive { what: "the variance".into(), value: variance });
        }
        let fft = GridFft::new(padded, padded);
        let mut roots = table.into_spectrum(&fft);
        let (smallest, largest) = roots
            .values()
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
        let len = fft.padded_len() as f64;
        let excess = if smallest >= -ROUNDING * largest { 0.0 } else { roots.sum_of(|value| (-value).max(0.0)) / len };
        roots.map(|eigenvalue| (eigenvalue.max(0.0) / len).sqrt());
        // The eigenvalues' mean is the variance, so the largest is positive.
        Ok(Self { fft: fft.with_grid(shape), roots, excess })
    }

    /// The draw that a sequence of standard normal numbers stands for.
    fn synthesize(&self, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        let last = self.padded()[self.padded().len() - 1];
        let mut spectrum = self.fft.zeros();
        for (row, line) in spectrum.chunks_exact_mut(self.fft.line_len()).enumerate() {
            for (frequency, (entry, root)) in line.iter_mut().zip(self.roots.line(row)).enumerate() {
                // An entry that also stands for its mirror image enters twice; the others lose their imaginary part
                // at the end of the transform.
                let share = if is_own_mirror(frequency, last) { 1.0 } else { std::f64::consts::FRAC_1_SQRT_2 };
                (entry.re, entry.im) = (share * root * normal(), share * root * normal());
            }
        }
        let mut values = vec![0.0; self.fft.grid_len()];
        self.fft.inverse(spectrum, &mut values);
        values
    }
}

/// The least padding that can embed a grid of this shape.
fn least_padding(shape: &[usize]) -> Vec<usize> {
    shape.iter().map(|&m| smooth_length(2 * (m - 1))).collect()
}

/// The next padding to try: an indefinite embedding comes from the crease where the wrapped covariance turns around.
fn enlarge(padded: &[usize], covariance: impl Fn(&[usize]) -> f64) -> Vec<usize> {
    let variance = covariance(&vec![0; padded.len()]);
    let is_creased = |axis: usize| {
        let mut lag = vec![0; padded.len()];
        lag[axis] = padded[axis] / 2;
        padded[axis] > 1 && covariance(&lag).abs() > ROUNDING * variance
    };
    let creased: Vec<bool> = (0..padded.len()).map(is_creased).collect();
    let everywhere = !creased.contains(&true);
    let doubles = |axis: usize| padded[axis] > 1 && (everywhere || creased[axis]);
    (0..padded.len()).map(|axis| if doubles(axis) { padded[axis].saturating_mul(2) } else { padded[axis] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    const PLENTY: usize = 1 << 30;

    fn distance(lag: &[usize]) -> f64 {
        lag.iter().map(|&l| (l * l) as f64).sum::<f64>().sqrt()
    }

    fn matern52(lengthscale: f64) -> impl Fn(&[usize]) -> f64 {
        move |lag| {
            let r = 5f64.sqrt() * distance(lag) / lengthscale;
            (1.0 + r + r * r / 3.0) * (-r).exp()
        }
    }

    fn squared_exponential(lengthscale: f64) -> impl Fn(&[usize]) -> f64 {
        move |lag| (-0.5 * (distance(lag) / lengthscale).powi(2)).exp()
    }

    /// The covariance of two points of a grid of at most two axes.
    fn between(i: usize, j: usize, shape: &[usize], covariance: impl Fn(&[usize]) -> f64) -> f64 {
        match shape {
            [_] => covariance(&[i.abs_diff(j)]),
            [_, n] => covariance(&[(i / n).abs_diff(j / n), (i % n).abs_diff(j % n)]),
            _ => panic!("one or two axes"),
        }
    }

    /// Every entry of mean and covariance over 6,000 draws within five standard errors of 0 and k.
    fn check_moments(shape: &[usize], covariance: impl Fn(&[usize]) -> f64) {
        const DRAWS: usize = 6000;
        let circulant = Circulant::new(shape, &covariance, PLENTY).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let draws: Vec<Vec<f64>> = (0..DRAWS).map(|_| circulant.draw(&mut rng)).collect();
        let average = |f: &dyn Fn(&[f64]) -> f64| draws.iter().map(|draw| f(draw)).sum::<f64>() / DRAWS as f64;
        let variance = between(0, 0, shape, &covariance);
        for i in 0..product(shape) {
            assert!(average(&|g| g[i]).abs() <= 5.0 * (variance / DRAWS as f64).sqrt());
            for j in 0..=i {
                let expected = between(i, j, shape, &covariance);
                let standard_error = ((variance * variance + expected * expected) / DRAWS as f64).sqrt();
                assert!((average(&|g| g[i] * g[j]) - expected).abs() <= 5.0 * standard_error, "{i} {j}");
            }
        }
    }

    #[test]
    fn draws_on_a_line_have_the_covariance_and_mean_zero() {
        check_moments(&[9], matern52(2.0));
    }

    #[test]
    fn draws_on_a_plane_have_the_covariance_and_mean_zero() {
        check_moments(&[4, 5], matern52(1.5));
    }

    /// A draw is linear in its normal numbers, so its covariance is the sum over these of the outer products.
    fn covariance_of_draws(circulant: &Circulant, shape: &[usize]) -> Vec<f64> {
        let len = product(shape);
        let mut found = vec![0.0; len * len];
        for unit in 0..2 * circulant.fft.zeros().len() {
            let mut asked = 0..;
            let g = circulant.synthesize(|| f64::from(u8::from(asked.next() == Some(unit))));
            found.iter_mut().enumerate().for_each(|(ij, sum)| *sum += g[ij / len] * g[ij % len]);
        }
        found
    }

    #[test]
    fn the_covariance_of_a_draw_is_exact() {
        for shape in [&[1][..], &[2], &[7], &[1, 6], &[6, 1], &[3, 5]] {
            let covariance = matern52(1.3);
            let circulant = Circulant::new(shape, &covariance, PLENTY).unwrap();
            let (found, len) = (covariance_of_draws(&circulant, shape), product(shape));
            for (ij, sum) in found.iter().enumerate() {
                let expected = between(ij / len, ij % len, shape, &covariance);
                assert!((sum - expected).abs() < 1e-13, "{shape:?} {ij} {sum} {expected}");
            }
        }
    }

    #[test]
    fn the_same_generator_gives_the_same_draw_with_one_and_two_threads() {
        let draw = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let circulant = Circulant::new(&[40, 60], matern52(3.0), PLENTY).unwrap();
                circulant.draw(&mut ChaCha8Rng::seed_from_u64(5))
            })
        };
        let bits = |draw: Vec<f64>| draw.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(draw(1)), bits(draw(2)));
    }

    #[test]
    fn a_covariance_that_has_died_out_needs_no_more_than_the_least_padding() {
        let circulant = Circulant::new(&[101, 1, 33], matern52(1.0), PLENTY).unwrap();
        assert_eq!(circulant.padded(), [200, 1, 64]);
        assert_eq!(circulant.excess(), 0.0);
    }

    #[test]
    fn the_padding_doubles_until_the_embedding_is_definite() {
        let covariance = squared_exponential(40.0);
        let least = Circulant::embed(&[101], &[200], &covariance).unwrap();
        assert!(least.excess() > 0.0);
        let circulant = Circulant::new(&[101], &covariance, PLENTY).unwrap();
        assert_eq!(circulant.padded(), [800]);
        assert_eq!(circulant.excess(), 0.0);
    }

    #[test]
    fn only_axes_where_the_covariance_has_not_died_out_are_padded_more() {
        let covariance = |lag: &[usize]| squared_exponential(1.0)(&lag[..1]) * squared_exponential(40.0)(&lag[1..2]);
        assert_eq!(Circulant::new(&[101, 101, 1], covariance, PLENTY).unwrap().padded(), [200, 800, 1]);
    }

    #[test]
    fn an_indefinite_embedding_without_a_crease_is_padded_more_along_every_axis() {
        assert_eq!(enlarge(&[8, 1, 6], |lag| f64::from(u8::from(lag == [0, 0, 0]))), [16, 1, 12]);
    }

    #[test]
    fn the_largest_padding_within_the_budget_has_the_least_excess() {
        let (shape, covariance) = ([101], squared_exponential(40.0));
        let excess = |padded: usize| {
            let circulant = Circulant::new(&shape, &covariance, Circulant::bytes(&shape, &[padded])).unwrap();
            assert_eq!(circulant.padded(), [padded]);
            circulant.excess()
        };
        assert!(excess(200) > 100.0 * excess(400) && excess(400) > 0.0 && excess(800) == 0.0);
    }

    #[test]
    fn an_indefinite_embedding_is_off_by_its_excess_at_most() {
        let (shape, covariance) = ([7, 6], matern52(40.0));
        let budget = Circulant::bytes(&shape, &[24, 20]);
        let circulant = Circulant::new(&shape, &covariance, budget).unwrap();
        let (found, len) = (covariance_of_draws(&circulant, &shape), product(&shape));
        assert!(circulant.excess() > 1e-6, "{}", circulant.excess());
        for (ij, found) in found.iter().enumerate() {
            let off = found - between(ij / len, ij % len, &shape, &covariance);
            assert!(off.abs() <= circulant.excess() + 1e-12, "{ij}: {off}");
            // The variance exceeds by the whole of it.
            assert!(ij / len != ij % len || (off - circulant.excess()).abs() < 1e-12, "{ij}: {off}");
        }
    }

    #[test]
    fn a_grid_fits_where_its_least_padding_does() {
        let bytes = Circulant::bytes(&[9, 9], &[16, 16]);
        assert!(Circulant::fits(&[9, 9], bytes) && !Circulant::fits(&[9, 9], bytes - 1));
        assert!(Circulant::new(&[9, 9], matern52(1.3), bytes).is_ok());
        assert!(Circulant::new(&[9, 9], matern52(1.3), bytes - 1).is_err());
    }

    #[test]
    fn a_budget_below_the_least_embedding_is_refused_before_any_work() {
        let never = |_: &[usize]| -> f64 { panic!("asked for a covariance") };
        let error = Circulant::new(&[1000, 1000], never, 1 << 20).err();
        assert!(matches!(error, Some(Error::EmbeddingOverBudget { budget: 1_048_576, .. })));
        let error = Circulant::new(&[usize::MAX / 2, 3], never, PLENTY).err();
        assert!(matches!(error, Some(Error::EmbeddingOverBudget { needed: usize::MAX, .. })));
    }

    #[test]
    fn what_is_no_grid_or_no_covariance_is_refused() {
        let refusal = |shape: &[usize], value: f64| Circulant::new(shape, |_| value, PLENTY).err();
        assert_eq!(refusal(&[], 1.0), Some(Error::Empty { what: "a grid" }));
        assert_eq!(refusal(&[3, 0], 1.0), Some(Error::Empty { what: "a grid" }));
        assert_eq!(refusal(&[3], -1.0), Some(Error::NotPositive { what: "the variance".into(), value: -1.0 }));
        assert!(matches!(refusal(&[3], f64::NAN), Some(Error::NotFinite { .. })));
    }
}
