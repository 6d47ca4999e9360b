//! GP-BUCB, the paper's baseline, beside IGP-BUCB and GP-BTS: the same function and noise in batches of five, as in the
//! paper's section 5, with the cumulative regret of each.
//!
//! `cargo run --release --example baseline`

use std::error::Error;

use manyhands_core::{Domain, Hallucination, Information, Rule, Spec, Strategy, Study};
use manyhands_gp::{Grid, Kernel, Prior};
use manyhands_lab::experiment::{Feedback, simulate};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

const ROUNDS: usize = 100;
const NOISE: f64 = 0.025;

fn black_box(x: f64) -> f64 {
    (3.0 * x).sin() + 0.5 * (9.0 * x).cos() - 0.3 * x
}

fn main() -> Result<(), Box<dyn Error>> {
    let grid = Grid::even(&[(0.0, 1.0, 100)])?;
    let values: Vec<f64> = grid.axes()[0].iter().map(|&x| black_box(x)).collect();
    let largest = values.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    let optimum = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let normal = Normal::new(0.0, NOISE.sqrt())?;
    let noise: Vec<f64> = (0..ROUNDS).map(|_| normal.sample(&mut rng)).collect();

    for rule in [Rule::IgpBucb, Rule::GpBts, Rule::GpBucb] {
        let strategy = Strategy {
            information: Information::ClosedForm,
            hallucination: Hallucination::Number(1.0),
            max_pending: Some(5),
            ..Strategy::new(rule, largest)
        };
        let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, NOISE)?;
        let mut study = Study::new(Spec::new(Domain::Grid(grid.clone()), prior, strategy)?.with_seed(3))?;
        let run = simulate(&mut study, &Feedback::Batch(5), ROUNDS, |s| black_box(s.point[0]) + noise[s.trial])?;
        let regret: f64 = run.iter().map(|s| optimum - black_box(s.point[0])).sum();
        println!("{rule:?}: cumulative regret {regret:.2} after {ROUNDS} trials in batches of 5");
    }
    Ok(())
}
