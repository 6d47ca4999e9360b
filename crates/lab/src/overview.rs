//! A reproduction on a terminal: the regret of every panel, and the verdict on every observation.

use crate::terminal::{align_right, framed};
use crate::{Algorithm, Observation, PanelResult, Reproduction, Settings};

impl Reproduction {
    /// The regret of every algorithm in every panel, and what became of the paper's observations; empty without panels.
    pub fn to_text(&self) -> String {
        if self.panels.is_empty() {
            return String::new();
        }
        let Settings { horizon, functions, .. } = self.settings;
        let table = table(&self.panels);
        let found = self.observations.iter().filter(|observation| !observation.findings.is_empty());
        let sentences: String = found.map(sentence).collect();
        format!("Time-average regret at T = {horizon}, mean over {functions} runs\n{table}\n{sentences}")
    }
}

fn table(panels: &[PanelResult]) -> comfy_table::Table {
    let header: Vec<&str> = ["panel"].into_iter().chain(Algorithm::ALL.map(Algorithm::name)).collect();
    let mut table = framed(&header);
    for result in panels {
        let cells = result.played.iter().map(|one| format!("{:.4}", one.regret().mean));
        table.add_row([result.heading()].into_iter().chain(cells));
    }
    align_right(&mut table, &(1..header.len()).collect::<Vec<_>>());
    table
}

/// The verdict, and what was found in each panel.
fn sentence(observation: &Observation) -> String {
    let panels: Vec<String> = observation
        .findings
        .iter()
        .map(|finding| {
            let comparison = &finding.comparison;
            let counts = format!("{} {}/{}", finding.panel, comparison.wins, comparison.pairs);
            // Shown where a panel's verdict differs from the overall one.
            if finding.verdict == observation.verdict() {
                counts
            } else {
                format!("{counts} ({})", finding.verdict.name())
            }
        })
        .collect();
    let first = observation.findings.first().map_or("", |finding| finding.comparison.first.name());
    format!(
        "{}. {}: {}\n   pairs in which {first} has less regret: {}\n",
        observation.number,
        observation.claim,
        observation.judgement(),
        panels.join(", ")
    )
}
