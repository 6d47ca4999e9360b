//! M workers: what they cost in regret, with hallucination on and off, and the batches they need to come near the optimum.

use std::sync::Arc;

use manyhands_core::{Hallucination, Rule};

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, PlayedArm};
use crate::chart::Chart;
use crate::sheet::Sheet;
use crate::statistics::{Estimate, censored_median};
use crate::{Algorithm, Experiment, Settings};

const WORKERS: [usize; 5] = [1, 5, 10, 20, 40];
/// Near the optimum: within this part of the function's range.
const NEAR: f64 = 0.02;

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Vec<Arm> {
    let on = match settings.hallucination {
        Hallucination::Off => Hallucination::Number(1.0),
        on => on,
    };
    let mut arms = Vec::new();
    for rule in [Rule::IgpBucb, Rule::GpBts] {
        for hallucination in [on, Hallucination::Off] {
            let settings = |workers| Settings { workers, hallucination, ..*settings };
            arms.extend(WORKERS.map(|workers| Arm::new(experiment, Algorithm::Rule(rule), settings(workers))));
        }
    }
    arms
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let mut sheet = Sheet::new(&[
        "experiment",
        "algorithm",
        "hallucination",
        "workers",
        "mean",
        "se",
        "median_batches",
        "runs_near_optimum",
        "runs",
    ]);
    for one in played {
        let (regret, batches) = (one.regret(), batches(one));
        sheet.push(vec![
            one.title().into(),
            one.algorithm().name().into(),
            switch(one).into(),
            one.arm.settings.workers.into(),
            regret.mean.into(),
            regret.se.into(),
            censored_median(&batches).into(),
            batches.iter().flatten().count().into(),
            one.runs.len().into(),
        ]);
    }
    let charts = titles(played)
        .into_iter()
        .flat_map(|title| {
            let ours: Vec<&PlayedArm> = played.iter().filter(|one| one.title() == title).collect();
            [regret_chart(title, &ours), time_chart(title, &ours)]
        })
        .collect();
    let note =
        "Batches of M. Off: pending points are ignored, so that the standard deviation is that of the observed points \
        alone. Near the optimum means a choice within 2 % of the function's range (max f - min f) of max f; the median \
        counts runs that never came near as later than all others, and is missing where they are half or more."
            .to_string();
    FinishedExtra { extra: Extra::Workers, note, charts, digest: sheet.clone(), sheet }
}

fn regret_chart(title: &str, played: &[&PlayedArm]) -> Chart {
    let point = |one: &PlayedArm| vec![(one.arm.settings.workers as f64, one.regret())];
    Chart { log_x: true, ..Chart::of_regret(title, "M workers", series(played.iter().copied(), name, point)) }
}

fn time_chart(title: &str, played: &[&PlayedArm]) -> Chart {
    let median = |one: &PlayedArm| {
        let median = censored_median(&batches(one));
        let point = |mean| (one.arm.settings.workers as f64, Estimate { mean, se: 0.0 });
        median.map(point).into_iter().collect()
    };
    Chart {
        title: title.to_string(),
        x_label: "M workers".to_string(),
        y_label: "median batches to 2 %".to_string(),
        log_x: true,
        log_y: true,
        series: series(played.iter().copied(), name, median),
        ..Chart::default()
    }
}

fn name(one: &PlayedArm) -> (String, usize) {
    let style = 4 * usize::from(is_off(one)) + usize::from(one.algorithm() == Algorithm::Rule(Rule::GpBts));
    (format!("{}, {}", one.algorithm().name(), switch(one)), style)
}

fn is_off(one: &PlayedArm) -> bool {
    one.arm.settings.hallucination == Hallucination::Off
}

fn switch(one: &PlayedArm) -> &'static str {
    if is_off(one) { "off" } else { "on" }
}

/// The batch whose choices first came near the optimum, for every run.
fn batches(one: &PlayedArm) -> Vec<Option<f64>> {
    let near = |(run, instance): (&crate::ArmRun, &crate::Instance)| {
        let round = run.regret.first_within(NEAR * instance.problem().range())?;
        Some(round.div_ceil(one.arm.settings.workers) as f64)
    };
    one.runs.iter().zip(&one.arm.experiment.instances).map(near).collect()
}
