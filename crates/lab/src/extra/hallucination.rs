//! The factor xi: what each choice of it costs in regret, and whether the band it makes holds.

use std::sync::Arc;

use manyhands_core::{Hallucination, Information, Rule};

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, Diagnostic, NormBound, PlayedArm};
use crate::chart::Chart;
use crate::sheet::Sheet;
use crate::statistics::Estimate;
use crate::{Algorithm, Experiment, Settings};

/// With their styles.
const FACTORS: [(Hallucination, usize); 4] = [
    (Hallucination::Number(1.0), 0),
    (Hallucination::Realised, 6),
    (Hallucination::APriori, 7),
    (Hallucination::WorstCase, 4),
];

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Vec<Arm> {
    let arm = |(hallucination, _)| {
        let settings = Settings { hallucination, information: Information::Realised, ..*settings };
        let arm = Arm::new(experiment, Algorithm::Rule(Rule::IgpBucb), settings);
        Arm { bound: NormBound::RkhsNorm, diagnostic: Diagnostic::Band, ..arm }
    };
    FACTORS.map(arm).to_vec()
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let mut sheet = Sheet::new(&["experiment", "xi", "mean", "se", "runs_covered", "runs", "pairs_covered"]);
    for one in played {
        let regret = one.regret();
        let inside: Vec<f64> = one.runs.iter().filter_map(|run| Some(run.coverage?.inside)).collect();
        sheet.push(vec![
            one.title().into(),
            one.arm.settings.hallucination.to_string().into(),
            regret.mean.into(),
            regret.se.into(),
            covered(one, one.arm.settings.horizon).into(),
            one.runs.len().into(),
            Estimate::of(&inside).mean.into(),
        ]);
    }
    let name = |one: &PlayedArm| {
        let factor = one.arm.settings.hallucination;
        (format!("xi {factor}"), FACTORS.iter().find(|(known, _)| *known == factor).map_or(0, |(_, style)| *style))
    };
    let mut charts = Vec::new();
    for title in titles(played) {
        let ours = || played.iter().filter(|one| one.title() == title);
        charts.push(Chart::of_regret(title, "t", series(ours(), name, PlayedArm::regret_curve)));
        let coverage = Chart::of_regret(title, "t", series(ours(), name, coverage_curve));
        charts.push(Chart { y_label: "runs with a valid band".to_string(), ..coverage });
    }
    let note = "IGP-BUCB with B the function's RKHS norm and the realised information gain, so that the theorem asks for \
        a band mu_S +- beta_t sigma_{t-1} that holds at all candidates and rounds with probability 1 - delta. A run is covered if \
        its band never failed; a pair is a candidate and a round."
        .to_string();
    FinishedExtra { extra: Extra::Hallucination, note, charts, digest: sheet.clone(), sheet }
}

/// How many runs have a band that held up to round t.
fn covered(one: &PlayedArm, t: usize) -> usize {
    one.runs.iter().filter(|run| run.coverage.is_some_and(|coverage| coverage.held_up_to(t))).count()
}

fn coverage_curve(one: &PlayedArm) -> Vec<(f64, Estimate)> {
    let part = |t: usize| covered(one, t) as f64 / one.runs.len() as f64;
    (1..=one.arm.settings.horizon).map(|t| (t as f64, Estimate { mean: part(t), se: 0.0 })).collect()
}
