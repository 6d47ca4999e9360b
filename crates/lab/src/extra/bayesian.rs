//! GP-BUCB with the width of its Bayesian case (Desautels, Krause and Burdick 2014): how much of the difference is width.

use std::sync::Arc;

use manyhands_core::Rule;

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, PlayedArm};
use crate::chart::Chart;
use crate::sheet::Sheet;
use crate::{Algorithm, Experiment, Settings};

const RULES: [(Rule, usize); 3] = [(Rule::IgpBucb, 0), (Rule::GpBucb, 2), (Rule::GpBucbBayesian, 6)];

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Vec<Arm> {
    RULES.map(|(rule, _)| Arm::new(experiment, Algorithm::Rule(rule), *settings)).to_vec()
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let mut sheet = Sheet::new(&["experiment", "algorithm", "t", "mean", "se"]);
    for one in played {
        let curve = one.regret_curve();
        for t in one.arm.settings.milestones() {
            let (_, regret) = curve[t - 1];
            let title = one.title().into();
            sheet.push(vec![title, one.algorithm().name().into(), t.into(), regret.mean.into(), regret.se.into()]);
        }
    }
    let name = |one: &PlayedArm| {
        let style = RULES.iter().find(|(rule, _)| Algorithm::Rule(*rule) == one.algorithm()).map_or(0, |(_, s)| *s);
        (one.algorithm().name().to_string(), style)
    };
    let chart = |title: &str| {
        let ours = played.iter().filter(|one| one.title() == title);
        Chart::of_regret(title, "t", series(ours, name, PlayedArm::regret_curve))
    };
    let charts = titles(played).into_iter().map(chart).collect();
    let note = "GP-BUCB's multiplier is sqrt(2 B^2 + 300 gamma_t ln^3(t/delta)) where f has a bounded RKHS norm, and sqrt(2 \
        ln(|D| t^2 pi^2/(6 delta))) where f is a draw of the prior. The functions here are of the first kind: the second \
        width carries no guarantee for them."
        .to_string();
    let digest = sheet.pivot(&["experiment", "algorithm"], "t", "mean");
    FinishedExtra { extra: Extra::Bayesian, note, charts, sheet, digest }
}
