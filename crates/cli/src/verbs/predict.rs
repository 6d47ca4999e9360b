//! `manyhands predict`: the posterior at given points.

use std::io::stdin;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::{Domain, ParameterKind, Value};
use manyhands_report as report;

use crate::output::{print, print_json};
use crate::refusal::Usage;
use crate::target::{Target, unreadable};

const EXAMPLES: &str = "\
Examples:
  printf 'x1,x2\\n0.5,2\\n3,7\\n' > points.csv
  manyhands predict study.toml --at points.csv
  manyhands predict study.toml --at points.csv --json

The file has one column per parameter and one row per point. mean and sd are given the observed trials, sd_pending given the
pending ones as well; lower and upper are the ends of the confidence band, of kind \"theorem\" or \"model\".";

/// Predict values, with their uncertainty, at the points of a CSV file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// A CSV file with one column per parameter; - for standard input
    #[arg(long, value_name = "FILE")]
    at: PathBuf,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let points = read(&options.at, session.spec().domain())?;
    // One by one first, so that an error names its row.
    for (index, point) in points.iter().enumerate() {
        let place = || format!("{}, row {}", options.at.display(), index + 1);
        session.spec().domain().embed_named(point).with_context(place)?;
    }
    let predictions = session.study()?.predict_named(&points)?;
    if options.target.json {
        return print_json(&report::predict::json(&predictions));
    }
    print(&report::predict::text(&points, &predictions))
}

/// The points of a CSV file, each value with its column's name.
fn read(path: &Path, domain: &Domain) -> Result<Vec<Vec<(String, Value)>>> {
    let wrong = |reason: String| Usage::new("file", format!("{}: {reason}", path.display()));
    let text = if path == Path::new("-") { std::io::read_to_string(stdin()) } else { std::fs::read_to_string(path) };
    let text = text.map_err(|error| unreadable(path, &error))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let mut points = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let cell = |(name, text): (&str, &str)| (name.to_string(), value(domain, name, text));
        points.push(header.iter().zip(record.iter()).map(cell).collect());
    }
    if points.is_empty() {
        return Err(wrong(
            "it has no rows; a header with the parameters' names and one row per point are needed".into(),
        )
        .into());
    }
    Ok(points)
}

/// A cell as a value of its parameter: a category if it is spelled like one, otherwise a number if it can be read as one.
fn value(domain: &Domain, name: &str, text: &str) -> Value {
    let parameter = domain.space().and_then(|space| space.parameters().iter().find(|p| p.name() == name));
    let categories: &[Value] = match parameter.map(|parameter| parameter.kind()) {
        Some(ParameterKind::Choice(categories)) => categories,
        Some(ParameterKind::Constant(value)) => std::slice::from_ref(value),
        _ => &[],
    };
    let written = |value: &&Value| match value {
        Value::Text(word) => word == text,
        other => other.to_string() == text,
    };
    if let Some(category) = categories.iter().find(written) {
        return category.clone();
    }
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(integer), _) => Value::Int(integer),
        (_, Ok(float)) => Value::Float(float),
        _ => Value::Text(text.to_string()),
    }
}
