//! The paper's rule on a continuous domain: every choice with its proven gap, and a certificate at the end.
//!
//! `cargo run --release --example certified`

use manyhands_core::gp::{Kernel, Prior};
use manyhands_core::{Domain, Parameter, Result, Rule, Space, Spec, Strategy, Study};

fn main() -> Result<()> {
    // f is in the RKHS of the kernel, with norm sqrt(1 + 0.25 + 2 * 0.5 * k) < 1.5: two bumps, the higher one at (0.3, 0.6).
    let kernel = Kernel::squared_exponential(&[0.2])?;
    let f = |x: &[f64]| kernel.covariance(x, &[0.3, 0.6]) + 0.5 * kernel.covariance(x, &[0.8, 0.2]);

    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?, Parameter::float("y", 0.0, 1.0)?], vec![])?;
    let prior = Prior::new(kernel.clone(), 0.0, 0.025)?;
    let mut study = Study::new(Spec::new(Domain::Space(space), prior, Strategy::new(Rule::IgpBucb, 1.5))?)?;
    for round in 1..=10 {
        let batch = study.ask(5)?;
        let gap = batch.iter().filter_map(|s| Some(s.choice.gap? / s.choice.score)).fold(0.0, f64::max);
        for s in &batch {
            study.tell(s.trial, f(&s.point))?;
        }
        let certificate = study.certificate()?;
        println!(
            "round {round}: choices within {:.2} % of the highest score; its point within {:.3} of the optimum",
            100.0 * gap,
            certificate.regret_bound
        );
    }
    println!("{}", study.certificate()?);
    Ok(())
}
