//! A pool of real candidates: how many evaluations it takes to find one of the best.
//!
//! `cargo run --release --package manyhands-lab --example pool -- DIR`, where DIR holds a pool's file, say suzuki.csv: a
//! header, one row per candidate, the objective in a column whose name begins with y_.

use std::path::Path;

use manyhands_core::{Domain, Spec, Strategy, Study};
use manyhands_gp::Points;
use manyhands_lab::quality::POOLS;
use manyhands_lab::{Error, Result};

fn main() -> Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        println!("give the folder that holds suzuki.csv, the yields of 247 Suzuki couplings");
        return Ok(());
    };
    let Some(file) = POOLS.iter().find(|pool| pool.name == "suzuki") else { return Err(Error::NothingToRun) };
    let pool = file.read(Path::new(&folder))?;
    let domain = Domain::Points(Points::from_rows(pool.points())?);
    let spec = Spec::learned(domain, Strategy::auto())?.with_direction(pool.direction()).without_repeats()?;
    let mut study = Study::new(spec)?;
    let best = (0..pool.points().len()).map(|i| pool.mean(i)).fold(f64::NEG_INFINITY, f64::max);
    for round in 1..=8 {
        for s in study.ask(5)? {
            study.tell(s.trial, pool.mean(s.choice.candidate))?;
        }
        let found = study.best()?;
        println!("after {:2} of {}: yield {:5.1} (the best is {best})", 5 * round, pool.points().len(), found.value);
    }
    Ok(())
}
