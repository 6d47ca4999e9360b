//! The summary for programs: settings, regrets at the milestones, paired tests, verdicts, and the further figures' tables.

use serde_json::{Map, Value, json};

use crate::statistics::Estimate;
use crate::{
    Arrival, Comparison, Experiment, Finding, Observation, Panel, PanelResult, PlayedArm, Reproduction, Settings,
};

impl Reproduction {
    /// Settings and results for programs. The same settings give the same summary.
    pub fn summary(&self) -> Value {
        let panels = self.panels.iter().map(|result| (result.panel.to_string(), self.panel(result)));
        let missing = self.missing.iter().map(|missing| {
            let files: Vec<String> = missing.files.iter().map(|file| file.display().to_string()).collect();
            json!({"panel": missing.panel.name(), "files": files})
        });
        let extras = self.extras.iter().map(|extra| {
            let entry = json!({"title": extra.extra.title(), "note": extra.note, "rows": extra.sheet.to_json()});
            (extra.extra.name().to_string(), entry)
        });
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "settings": settings(&self.settings, self.arrival.as_ref()),
            "panels": Map::from_iter(panels),
            "observations": self.observations.iter().map(observation).collect::<Vec<_>>(),
            "missing": missing.collect::<Vec<_>>(),
            "extra": Map::from_iter(extras),
        })
    }

    fn panel(&self, result: &PanelResult) -> Value {
        let milestones = self.settings.milestones();
        let at = |curve: Vec<Estimate>| {
            let entry = |&t: &usize| (t.to_string(), json!({"mean": curve[t - 1].mean, "se": curve[t - 1].se}));
            Value::Object(Map::from_iter(milestones.iter().map(entry)))
        };
        let regrets = |of: fn(&PlayedArm) -> Vec<Estimate>| {
            let entries = result.played.iter().map(|one| (one.algorithm().name().to_string(), at(of(one))));
            Value::Object(Map::from_iter(entries))
        };
        let experiment = &result.played[0].arm.experiment;
        let problem = experiment.instances[0].problem();
        json!({
            "title": result.panel.title_under(&experiment.arrival),
            "in_the_paper": result.panel != Panel::Field && experiment.arrival == result.panel.arrival(),
            "arrival": experiment.arrival.name(),
            "functions": experiment.instances.len(),
            "candidates": problem.values().len(),
            "norms": norms(experiment),
            "noise": problem.prior().noise(),
            "information": self.settings.information_on(problem).to_string(),
            "time_average_regret": regrets(PlayedArm::time_average),
            "simple_regret": regrets(PlayedArm::simple),
            "tests": result.comparisons().iter().map(comparison).collect::<Vec<_>>(),
        })
    }
}

/// The RKHS norms of the functions in ascending order, where they are known.
fn norms(experiment: &Experiment) -> Option<Vec<f64>> {
    let mut norms: Vec<f64> =
        experiment.instances.iter().map(|instance| instance.problem().norm()).collect::<Option<_>>()?;
    norms.sort_by(f64::total_cmp);
    Some(norms)
}

fn settings(settings: &Settings, arrival: Option<&Arrival>) -> Value {
    let mut told = json!({
        "seed": settings.seed, "functions": settings.functions, "horizon": settings.horizon,
        "workers": settings.workers, "delta": settings.delta, "noise": settings.noise, "width": settings.width,
        "information": settings.information.to_string(), "hallucination": settings.hallucination.to_string(),
    });
    if let Some(arrival) = arrival {
        told["feedback"] = arrival.name().into();
    }
    told
}

fn comparison(comparison: &Comparison) -> Value {
    let Comparison { first, second, pairs, wins, ties, difference, ratio, test } = comparison;
    json!({
        "first": first.name(), "second": second.name(), "pairs": pairs, "wins": wins, "ties": ties,
        "mean_difference": difference.mean, "se": difference.se, "ratio": ratio,
        "signed_rank": {"positive": test.positive, "negative": test.negative},
        "p_less": test.p_less, "p_greater": test.p_greater, "p_two_sided": test.p_two_sided(),
    })
}

fn observation(observation: &Observation) -> Value {
    let finding = |finding: &Finding| {
        let entry = json!({"verdict": finding.verdict.name(), "test": comparison(&finding.comparison)});
        (finding.panel.to_string(), entry)
    };
    json!({
        "number": observation.number, "claim": observation.claim, "verdict": observation.verdict().name(),
        "panels": Map::from_iter(observation.findings.iter().map(finding)),
        "not_run": observation.not_run.iter().map(|panel| panel.name()).collect::<Vec<_>>(),
    })
}
