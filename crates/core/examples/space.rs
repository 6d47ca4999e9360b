//! Nothing known but the parameters: a training run with five workers, results out of order, some of it known already.
//!
//! `cargo run --release --example space`

use manyhands_core::{Constraint, Direction, Domain, Parameter, Relation, Result, Space, Spec, Strategy, Study, Value};

/// A stand-in for an expensive training run: its loss is lowest at lr = 0.003, 5 layers, gelu, dropouts of 0.1 and 0.2.
fn loss(params: &[Value]) -> f64 {
    let number = |index: usize| params[index].number().unwrap_or(0.0);
    let lr = (number(0) / 0.003).ln();
    let activation = if params[2] == Value::from("gelu") { 0.0 } else { 0.15 };
    let dropout = (number(3) - 0.1).powi(2) + (number(4) - 0.2).powi(2);
    0.2 + 0.05 * lr * lr + 0.01 * (number(1) - 5.0).powi(2) + activation + 2.0 * dropout
}

fn main() -> Result<()> {
    let space = Space::new(
        vec![
            Parameter::log_float("lr", 1e-5, 1.0)?,
            Parameter::int("layers", 1, 8)?,
            Parameter::choice("activation", &["relu", "gelu", "tanh"])?,
            Parameter::float("dropout_in", 0.0, 0.5)?,
            Parameter::float("dropout_out", 0.0, 0.5)?,
        ],
        vec![Constraint {
            terms: vec![("dropout_in".to_string(), 1.0), ("dropout_out".to_string(), 1.0)],
            relation: Relation::AtMost,
            bound: 0.6,
        }],
    )?;
    let spec = Spec::learned(Domain::Space(space.clone()), Strategy::auto())?.with_direction(Direction::Minimize);
    let mut study = Study::new(spec)?;

    // A run from last week.
    let known: Vec<Value> = vec![0.1.into(), 2.into(), "relu".into(), 0.0.into(), 0.0.into()];
    study.include(&known, Some(loss(&known)))?;

    // Five workers: as soon as one is done, it gets the next suggestion.
    let mut running = study.ask(5)?;
    for turn in 0..60 {
        let done = running.remove(turn * 7 % running.len());
        study.tell(done.trial, loss(&done.choice.params))?;
        running.extend(study.ask(1)?);
    }

    let best = study.best()?;
    let named: Vec<String> = space.named(&best.params).map(|(name, value)| format!("{name} = {value}")).collect();
    println!("best loss {:.6} (optimum 0.2) at {}", best.value, named.join(", "));
    println!("the model expects {:.6}, between {:.6} and {:.6}", best.mean, best.lower, best.upper);

    // How many more are worth asking for at once?
    for trial in running {
        study.cancel(trial.trial)?;
    }
    let batch = study.ask_adaptive(20, 4.0)?;
    println!("{} more suggestions (at most 20, and xi at most 4)", batch.suggestions.len());
    if let Some(next) = batch.next {
        println!(
            "with one more, xi would be {:.2}; it is expected to gain {:.1e}",
            next.hallucination, next.improvement
        );
    }
    Ok(())
}
