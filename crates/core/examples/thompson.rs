//! GP-BTS with four asynchronous workers: results come back late and out of order, some trials fail, and a worker that
//! finishes gets the next suggestion at once.
//!
//! `cargo run --release --example thompson`

use std::error::Error;

use manyhands_core::gp::{Grid, Kernel, Prior};
use manyhands_core::{Direction, Domain, Rule, Spec, Strategy, Study, Suggestion, TrialState};

const WORKERS: usize = 4;
const TRIALS: usize = 60;

/// A simulation that crashes in one corner, and whose loss is to be minimized.
fn simulation(point: &[f64]) -> Result<f64, &'static str> {
    let (x, y) = (point[0], point[1]);
    if x > 0.8 && y > 0.8 {
        return Err("diverged");
    }
    Ok((x - 0.3).powi(2) + (y - 0.6).powi(2))
}

fn main() -> Result<(), Box<dyn Error>> {
    let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 41), (0.0, 1.0, 41)])?);
    let prior = Prior::new(Kernel::matern(2.5, &[0.4, 0.4])?, 0.0, 1e-4)?;
    // `width` below 1 trades the theorem's guarantee for less exploration.
    let strategy = Strategy { max_pending: Some(WORKERS), width: 0.2, ..Strategy::new(Rule::GpBts, 2.0) };
    let spec = Spec::new(domain, prior, strategy)?.with_direction(Direction::Minimize).with_seed(7);
    let mut study = Study::new(spec)?;

    let mut running: Vec<Suggestion> = study.ask(WORKERS)?;
    while !running.is_empty() {
        // The worker with the cheapest point is done first.
        running.sort_by(|a, b| b.point[0].total_cmp(&a.point[0]));
        let Some(done) = running.pop() else { break };
        match simulation(&done.point) {
            Ok(loss) => study.tell(done.trial, loss)?,
            Err(reason) => study.fail(done.trial, reason)?,
        }
        if study.trials().len() < TRIALS {
            running.extend(study.ask(1)?);
        }
    }

    let best = study.best()?;
    println!("{} observed, {} failed", study.count(TrialState::Observed), study.count(TrialState::Failed));
    println!("best: trial {} at {:?} with an estimated loss of {:.4}", best.trial, best.point, best.mean);
    Study::verify(study.spec(), study.events())?;
    println!("the log replays to the same {} choices", study.trials().len());
    Ok(())
}
