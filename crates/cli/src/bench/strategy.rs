//! `manyhands bench strategy`: the experiments that settled the default strategy, run again.

use std::io::{Write, stdout};

use anyhow::{Context, Result};
use clap::Args;
use manyhands_lab::quality::{Answer, Bench, Contender, FIELD, Problem, Protocol, Question, Schedule, problems};
use serde_json::{Value as Json, json};

use super::table::{align_right, framed};
use crate::integer::integer_in;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  manyhands bench strategy                      every question; a quarter of an hour on two cores
  manyhands bench strategy widths --seeds 40    one question, more games
  manyhands bench strategy bends --problems branin-noise-5 hartmann6

Questions: bends, kernels, lengthscales, noise, design, widths, schedules. Each is put to the same problems: medians of
log10 of the simple regret after 60 evaluations, in batches of 5 unless the answer says otherwise. The first answer is the
default. Medians of 20 games wander by about 0.2 from one set of seeds to another (--first-seed), more where some games
end in another optimum; `mean` is over the problems shown.";

/// The width of a column's heading.
const COLUMN: usize = 10;

/// Run the experiments that settled the default strategy: every choice against its alternatives.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only these questions
    #[arg(value_name = "QUESTION")]
    questions: Vec<String>,
    /// Games of each problem
    #[arg(long, value_name = "N", default_value_t = Protocol::default().seeds, value_parser = integer_in::<usize>(0..))]
    seeds: usize,
    /// The seed of the first game; the others follow
    #[arg(long, value_name = "SEED", default_value_t = Protocol::default().first_seed, value_parser = integer_in::<u64>(0..))]
    first_seed: u64,
    /// Other problems than the usual fourteen
    #[arg(long, value_name = "NAME", num_args = 1..)]
    problems: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What the answers to one question reached: for each answer a median for every problem.
struct Settled {
    question: Question,
    medians: Vec<Vec<f64>>,
}

/// Plays, and prints what came of it.
pub fn run(options: &Options) -> Result<()> {
    let names: Vec<String> = match options.problems.is_empty() {
        true => FIELD.iter().map(ToString::to_string).collect(),
        false => options.problems.clone(),
    };
    let (seeds, first_seed) = (options.seeds, options.first_seed);
    let protocol = Protocol { seeds, first_seed, ..Protocol::default() };
    protocol.check()?;
    let (questions, problems) = (Question::named(&options.questions)?, problems::named(&names)?);
    let answers: usize = questions.iter().map(|question| question.answers.len()).sum();
    let progress = Progress::new("strategy", answers * problems.len() * options.seeds);
    let mut settled = Vec::with_capacity(questions.len());
    for question in questions {
        let play = |answer: &Answer| medians(protocol, answer, &problems, &|| progress.advance(1));
        let medians = question.answers.iter().map(play).collect::<Result<_>>()?;
        settled.push(Settled { question, medians });
    }
    drop(progress);
    let text = if options.json {
        serde_json::to_string_pretty(&to_json(options, &problems, &settled))?
    } else {
        settled.iter().map(|settled| render(&problems, settled)).collect::<Vec<_>>().join("\n\n")
    };
    writeln!(stdout(), "{text}").context("cannot write to standard output")
}

fn medians(played: Protocol, answer: &Answer, problems: &[Problem], tick: &(dyn Fn() + Sync)) -> Result<Vec<f64>> {
    let &Answer { batch, schedule, .. } = answer;
    let protocol = Protocol { batch, schedule, ..played };
    let contenders = vec![Contender::Variant(answer.variant.clone())];
    let games = Bench { contenders, protocol, threads: rayon::current_num_threads() }.play(problems, tick)?;
    Ok(games.iter().flatten().map(|games| games.log10_regret(protocol.evaluations).median).collect())
}

fn mean(medians: &[f64]) -> f64 {
    medians.iter().sum::<f64>() / medians.len() as f64
}

/// A column for each answer: they are fewer than the problems.
fn render(problems: &[Problem], settled: &Settled) -> String {
    let names: Vec<String> = settled.question.answers.iter().map(|answer| folded(&answer.variant.name)).collect();
    let mut table = framed(&["problem"].into_iter().chain(names.iter().map(String::as_str)).collect::<Vec<_>>());
    let two = |figure: f64| format!("{figure:.2}");
    for (i, problem) in problems.iter().enumerate() {
        let figures = settled.medians.iter().map(|medians| two(medians[i]));
        table.add_row([problem.name().to_string()].into_iter().chain(figures).collect::<Vec<_>>());
    }
    let means = settled.medians.iter().map(|medians| two(mean(medians)));
    table.add_row(["mean".to_string()].into_iter().chain(means).collect::<Vec<_>>());
    align_right(&mut table, &(1..=names.len()).collect::<Vec<_>>());
    format!("{}: {}\n{table}", settled.question.name, settled.question.text)
}

/// In lines of at most [`COLUMN`] characters where words allow.
fn folded(name: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in name.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < COLUMN => *line += &format!(" {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines.join("\n")
}

fn to_json(options: &Options, problems: &[Problem], settled: &[Settled]) -> Json {
    let answer = |(answer, medians): (&Answer, &Vec<f64>)| {
        let by_problem: serde_json::Map<String, Json> =
            problems.iter().zip(medians).map(|(problem, median)| (problem.name().to_string(), json!(median))).collect();
        json!({
            "answer": answer.variant.name, "batch": answer.batch,
            "asynchronous": answer.schedule == Schedule::Asynchronous, "median_log10_regret": by_problem,
            "mean": mean(medians),
        })
    };
    let question = |settled: &Settled| {
        let answers: Vec<Json> = settled.question.answers.iter().zip(&settled.medians).map(answer).collect();
        json!({"question": settled.question.name, "text": settled.question.text, "answers": answers})
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"), "evaluations": Protocol::default().evaluations,
        "seeds": options.seeds, "first_seed": options.first_seed,
        "questions": settled.iter().map(question).collect::<Vec<_>>(),
    })
}
