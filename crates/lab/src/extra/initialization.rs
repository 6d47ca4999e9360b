//! The initialization scheme of the paper's appendix: T_init picks of largest variance buy a smaller certified xi.

use std::sync::Arc;

use manyhands_core::theory::a_priori_hallucination;
use manyhands_core::{Hallucination, Initial, Rule};
use manyhands_gp::GreedyInformation;

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, PlayedArm};
use crate::chart::Chart;
use crate::sheet::Sheet;
use crate::statistics::Estimate;
use crate::{Algorithm, Experiment, Result, Settings};

const COUNTS: [usize; 6] = [0, 5, 10, 20, 40, 80];

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Result<Vec<Arm>> {
    let mut arms = Vec::new();
    for rule in [Rule::IgpBucb, Rule::GpBts] {
        // One worker has nothing to certify.
        for certified in [false, true].into_iter().filter(|certified| !certified || settings.workers > 1) {
            for count in COUNTS.into_iter().filter(|count| *count < settings.horizon) {
                let xi = if certified { certified_factor(experiment, settings, count)? } else { 1.0 };
                let settings = Settings { hallucination: Hallucination::Number(xi), ..*settings };
                let arm = Arm::new(experiment, Algorithm::Rule(rule), settings);
                arms.push(Arm { initial: Initial::Count(count), ..arm });
            }
        }
    }
    Ok(arms)
}

/// 1 + (M - 1) max sigma^2/lambda, with the largest variance left by those of the T_init picks that have arrived when the
/// rule starts: a bound on xi from then on.
fn certified_factor(experiment: &Experiment, settings: &Settings, count: usize) -> Result<f64> {
    let arrived = experiment.arrival.feedback(settings.workers).observed_before(count + 1)?;
    let problem = experiment.instances[0].problem();
    let prior = problem.prior();
    let mut greedy = GreedyInformation::new(prior.clone(), problem.restricted()?)?;
    let variance = greedy.peak(arrived)?;
    Ok(a_priori_hallucination(settings.workers, variance, prior.noise()))
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let mut sheet = Sheet::new(&["experiment", "algorithm", "initial", "factor", "xi", "mean", "se"]);
    for one in played {
        let regret = one.regret();
        sheet.push(vec![
            one.title().into(),
            one.algorithm().name().into(),
            count(one).into(),
            kind(one).into(),
            xi(one).into(),
            regret.mean.into(),
            regret.se.into(),
        ]);
    }
    let name = |one: &PlayedArm| {
        let style = 4 * usize::from(is_certified(one)) + usize::from(one.algorithm() == Algorithm::Rule(Rule::GpBts));
        (format!("{}, xi {}", one.algorithm().name(), kind(one)), style)
    };
    let mut charts = Vec::new();
    for title in titles(played) {
        let ours = played.iter().filter(|one| one.title() == title);
        let curves = series(ours, name, |one| vec![(count(one) as f64, one.regret())]);
        charts.push(Chart::of_regret(title, "T_init", curves));
    }
    if played.iter().any(is_certified) {
        charts.push(certified_chart(played));
    }
    let note =
        "T_init picks of largest variance, then the rule. With xi = 1 (as in the paper's experiments) they buy \
        nothing that the rule uses; with xi = 1 + (M - 1) max sigma^2/lambda, which they certify, they buy a narrower band. Their \
        regret is counted. Time-average regret at T:"
            .to_string();
    let digest = sheet.pivot(&["experiment", "algorithm", "factor"], "initial", "mean");
    FinishedExtra { extra: Extra::Initialization, note, charts, sheet, digest }
}

fn certified_chart(played: &[PlayedArm]) -> Chart {
    let certified = |one: &&PlayedArm| is_certified(one) && one.algorithm() == Algorithm::Rule(Rule::IgpBucb);
    let name = |one: &PlayedArm| (one.title().to_string(), 6 + usize::from(one.title() != played[0].title()));
    let bound = |one: &PlayedArm| {
        let point = |xi: f64| (count(one) as f64, Estimate { mean: xi.sqrt(), se: 0.0 });
        xi(one).map(point).into_iter().collect()
    };
    Chart {
        title: "What initialization certifies".to_string(),
        x_label: "T_init".to_string(),
        y_label: "bound on sqrt(xi)".to_string(),
        log_y: true,
        series: series(played.iter().filter(certified), name, bound),
        ..Chart::default()
    }
}

fn count(one: &PlayedArm) -> usize {
    match one.arm.initial {
        Initial::Count(count) => count,
        _ => 0,
    }
}

fn xi(one: &PlayedArm) -> Option<f64> {
    match one.arm.settings.hallucination {
        Hallucination::Number(xi) => Some(xi),
        _ => None,
    }
}

fn is_certified(one: &PlayedArm) -> bool {
    xi(one).is_some_and(|xi| xi > 1.0)
}

fn kind(one: &PlayedArm) -> &'static str {
    if is_certified(one) { "certified" } else { "1" }
}
