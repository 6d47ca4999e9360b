//! The report for readers: one page of Markdown beside the figures.

use std::fmt::Write;

use manyhands_core::text::significant;

use crate::sheet::Sheet;
use crate::{Observation, PanelResult, Reproduction, Settings};

impl Reproduction {
    /// The page.
    pub fn report(&self) -> String {
        let mut page = String::from("# \"On Batch Bayesian Optimization\", reproduced\n\n");
        let _ = writeln!(page, "manyhands {}, {}.\n", env!("CARGO_PKG_VERSION"), self.describe());
        if !self.panels.is_empty() {
            page += "![Time-average regret, mean and standard error](figure.svg)\n\n## Time-average regret\n\n";
            page += &self.regrets().pivot(&["panel", "algorithm"], "T", "regret").to_markdown();
            page += "\nMean over functions ± standard error. `summary.json` has simple regrets and every paired test, \
                     `panel-*.csv` every round, `runs.csv` every run.\n\n## The paper's observations\n\n";
            page += &self.observations.iter().map(|one| self.paragraph(one)).collect::<Vec<_>>().join("\n");
        }
        if !self.missing.is_empty() {
            page += "\n## Not run\n\n";
            for missing in &self.missing {
                let _ = writeln!(page, "- {missing}");
            }
        }
        for extra in &self.extras {
            let (name, title) = (extra.extra.name(), extra.extra.title());
            let _ = writeln!(page, "\n## {title}\n\n{}\n\n![{title}](extra-{name}.svg)\n", extra.note);
            page += &extra.digest.to_markdown();
        }
        page
    }

    fn regrets(&self) -> Sheet {
        let mut sheet = Sheet::new(&["panel", "algorithm", "T", "regret"]);
        for result in &self.panels {
            for played in &result.played {
                let (algorithm, curve) = (played.algorithm(), played.time_average());
                for t in self.settings.milestones() {
                    let (panel, at) = (result.heading().into(), curve[t - 1]);
                    let regret = format!("{} ± {}", significant(at.mean, 3), significant(at.se, 3));
                    sheet.push(vec![panel, algorithm.name().into(), t.into(), regret.into()]);
                }
            }
        }
        sheet
    }

    fn describe(&self) -> String {
        let Settings { seed, functions, horizon, workers, delta, noise, width, information, hallucination } =
            self.settings;
        let arrival = self.arrival.as_ref().map(|arrival| format!(", S(t) {arrival}"));
        let own = if self.extras.is_empty() { "" } else { ". Further figures with settings of their own say so" };
        format!(
            "seed {seed}: {functions} functions, T = {horizon}, M = {workers}, delta = {delta}, lambda = R^2 = {noise} (sensors \
         0.05), gamma {information} (sensors: log where there is no closed form), xi {hallucination}, width {width}{}{own}",
            arrival.unwrap_or_default()
        )
    }

    fn paragraph(&self, observation: &Observation) -> String {
        let heading = |panel| self.panels.iter().find(|result| result.panel == panel).map(PanelResult::heading);
        let mut text = format!("{}. \"{}\": **{}**.\n", observation.number, observation.claim, observation.judgement());
        for finding in &observation.findings {
            let comparison = &finding.comparison;
            let _ = writeln!(
                text,
                "   - {}: {}; {} has less regret than {} in {} of {} pairs, mean {} times the other's, one-sided p = {} (less), {} (more)",
                heading(finding.panel).unwrap_or_default(),
                finding.verdict.name(),
                comparison.first.name(),
                comparison.second.name(),
                comparison.wins,
                comparison.pairs,
                significant(comparison.ratio, 3),
                significant(comparison.test.p_less, 3),
                significant(comparison.test.p_greater, 3),
            );
        }
        text
    }
}
