//! A factor on the multiplier: how far the theory's constants are from the best ones.

use std::sync::Arc;

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, PlayedArm};
use crate::chart::Chart;
use crate::sheet::Sheet;
use crate::{Algorithm, Experiment, Settings};

const WIDTHS: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Vec<Arm> {
    let rules = Algorithm::ALL[..3].iter();
    rules.flat_map(|who| WIDTHS.map(|width| Arm::new(experiment, *who, Settings { width, ..*settings }))).collect()
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let mut sheet = Sheet::new(&["experiment", "algorithm", "width", "mean", "se"]);
    for one in played {
        let regret = one.regret();
        sheet.push(vec![
            one.title().into(),
            one.algorithm().name().into(),
            one.arm.settings.width.into(),
            regret.mean.into(),
            regret.se.into(),
        ]);
    }
    let name = |one: &PlayedArm| {
        let style = Algorithm::ALL.iter().position(|algorithm| *algorithm == one.algorithm());
        (one.algorithm().name().to_string(), style.unwrap_or(0))
    };
    let chart = |title: &str| {
        let ours = played.iter().filter(|one| one.title() == title);
        let curves = series(ours, name, |one| vec![(one.arm.settings.width, one.regret())]);
        Chart { log_x: true, ..Chart::of_regret(title, "width (1 is the theory)", curves) }
    };
    let charts = titles(played).into_iter().map(chart).collect();
    let note =
        "Every multiplier times a constant: time-average regret at T. The theorems hold at 1 and above.".to_string();
    let digest = sheet.pivot(&["experiment", "algorithm"], "width", "mean");
    FinishedExtra { extra: Extra::Width, note, charts, sheet, digest }
}
