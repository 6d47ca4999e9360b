//! What came out for a question as tables for people.

use comfy_table::Table;

use super::settled::Settled;
use super::table::{percent, spread, two};
use crate::ranking::PairedTest;
use crate::terminal::{align_right, digits, framed, probability};

/// The width of a column's heading.
const COLUMN: usize = 10;

/// Medians: one column per answer, since there are fewer answers than problems.
pub(super) fn medians(settled: &Settled) -> Table {
    let answers = settled.question.answers.len();
    let names: Vec<String> = (0..answers).map(|answer| folded(settled.name(answer))).collect();
    let mut table = framed(&["problem"].into_iter().chain(names.iter().map(String::as_str)).collect::<Vec<_>>());
    for problem in &settled.problems {
        let figures = (0..answers).map(|answer| problem.median(answer).map(two).unwrap_or_default());
        table.add_row(std::iter::once(problem.problem.name().to_string()).chain(figures));
    }
    let means = (0..answers).map(|answer| two(settled.mean(answer)));
    table.add_row(std::iter::once("mean".to_string()).chain(means));
    align_right(&mut table, &(1..=names.len()).collect::<Vec<_>>());
    table
}

/// Every answer against the default over all problems.
pub(super) fn totals(settled: &Settled) -> Table {
    let mut table = framed(&["answer", "mean", "stuck", "better", "worse", "ties", "p", "CPU ratio"]);
    for answer in 0..settled.question.answers.len() {
        let head = [settled.name(answer).to_string(), two(settled.mean(answer)), share(settled.share_stuck(answer))];
        let tested = tested(settled.tests[answer].as_ref());
        table.add_row([head.to_vec(), tested.to_vec(), vec![digits(settled.cost_ratio(answer))]].concat());
    }
    align_right(&mut table, &[1, 2, 3, 4, 5, 6, 7]);
    table
}

/// One answer beside the default on each problem.
pub(super) fn details(settled: &Settled, answer: usize) -> Table {
    let mut table =
        framed(&["problem", "default", "stuck", "answer", "stuck", "better", "worse", "ties", "p", "CPU ratio"]);
    for problem in &settled.problems {
        let regret = |answer: usize| {
            let regret = problem.runs[answer].log10_regret(problem.evaluations);
            [spread(regret, two), share(problem.share_stuck(answer))]
        };
        let head = vec![problem.problem.name().to_string()];
        let tested = tested(problem.tests[answer].as_ref());
        let ratio = vec![digits(problem.cost_ratio(answer))];
        table.add_row([head, regret(0).to_vec(), regret(answer).to_vec(), tested.to_vec(), ratio].concat());
    }
    let regret = |answer: usize| [two(settled.mean(answer)), share(settled.share_stuck(answer))];
    let tested = tested(settled.tests[answer].as_ref());
    let ratio = vec![digits(settled.cost_ratio(answer))];
    table.add_row(
        [vec!["all".to_string()], regret(0).to_vec(), regret(answer).to_vec(), tested.to_vec(), ratio].concat(),
    );
    align_right(&mut table, &[2, 4, 5, 6, 7, 8, 9]);
    table
}

/// Better, worse, ties and p.
pub(super) fn tested(test: Option<&PairedTest>) -> [String; 4] {
    match test {
        Some(test) => {
            let [wins, losses, ties] = [test.wins, test.losses(), test.ties].map(|count| count.to_string());
            [wins, losses, ties, probability(test.p_holm)]
        }
        None => [const { String::new() }; 4],
    }
}

fn share(share: Option<f64>) -> String {
    share.map(percent).unwrap_or_default()
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
