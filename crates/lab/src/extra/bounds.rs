//! The bounds of both theorems beside the cumulative regret that was measured.

use std::sync::Arc;

use manyhands_core::{Hallucination, Information, Rule};

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, ArmRun, Diagnostic, NormBound, PlayedArm};
use crate::chart::Chart;
use crate::experiment::RunBounds;
use crate::sheet::Sheet;
use crate::statistics::{Estimate, curve};
use crate::{Algorithm, Experiment, Result, Settings};

/// The kernel is run as it is and this many times as large, as the paper takes k(x,x) <= 1.
const LARGER: f64 = 4.0;
/// Sums of 200 regrets are exact to far less.
const ROUNDING: f64 = 1e-9;

const RULES: [Rule; 2] = [Rule::IgpBucb, Rule::GpBts];

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Result<Vec<Arm>> {
    let larger = experiment.with_kernel_times(LARGER, format!("{}, {LARGER} k", experiment.title))?;
    let (information, hallucination) = (Information::Realised, Hallucination::Realised);
    let settings = Settings { information, hallucination, width: 1.0, ..*settings };
    let arm = |experiment: &Arc<Experiment>, rule| {
        let arm = Arm::new(experiment, Algorithm::Rule(rule), settings);
        Arm { bound: NormBound::RkhsNorm, diagnostic: Diagnostic::Bounds, ..arm }
    };
    let experiments = [experiment.clone(), Arc::new(larger)];
    Ok(experiments.iter().flat_map(|experiment| RULES.map(|rule| arm(experiment, rule))).collect())
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let (sheet, digest) = sheets(played);
    let charts = titles(played).into_iter().map(|title| chart(title, played)).collect();
    let note = "Cumulative regret and what bounds it with probability 1 - delta. B is the function's RKHS norm; the rules choose \
        with the realised gamma and xi. The theorems' bounds are known before the run: xi = 1 + (M - 1) max k(x,x)/lambda, gamma_t \
        the certified greedy upper bound, constants as proven. The realised bound of Theorem 1 is 2 sum beta_t sigma_{t-1}(x_t) over \
        the run itself. Trivial is 2 B sqrt(max k(x,x)) t, which holds for any choices: a bound says something about the rule \
        where it is below that. 4 k: the same functions seen by a kernel four times as large, k(x,x) = 4, under which their norm is \
        half. Held counts the runs whose regret was below the bounds at every round so far."
        .to_string();
    FinishedExtra { extra: Extra::Bounds, note, charts, sheet, digest }
}

/// Every round, and the milestones.
fn sheets(played: &[PlayedArm]) -> (Sheet, Sheet) {
    let columns =
        ["experiment", "algorithm", "t", "regret", "regret_se", "theorem", "realised", "trivial", "held", "runs"];
    let (mut sheet, mut digest) = (Sheet::new(&columns), Sheet::new(&columns));
    for one in played {
        let (regret, theorem, trivial) = (regret(one), bound(one, of_theorem), bound(one, of_trivial));
        let realised = bound(one, of_realised);
        for t in 1..=one.arm.settings.horizon {
            let row = vec![
                one.title().into(),
                one.algorithm().name().into(),
                t.into(),
                regret[t - 1].mean.into(),
                regret[t - 1].se.into(),
                theorem[t - 1].mean.into(),
                realised.get(t - 1).map(|bound| bound.mean).into(),
                trivial[t - 1].mean.into(),
                one.runs.iter().filter(|run| held_up_to(run, t)).count().into(),
                one.runs.len().into(),
            ];
            if one.arm.settings.milestones().contains(&t) {
                digest.push(row.clone());
            }
            sheet.push(row);
        }
    }
    (sheet, digest)
}

fn chart(title: &str, played: &[PlayedArm]) -> Chart {
    let ours = || played.iter().filter(|one| one.title() == title);
    let is_bts = |one: &PlayedArm| one.algorithm() == Algorithm::Rule(Rule::GpBts);
    let regrets = |one: &PlayedArm| (format!("{}, regret", one.algorithm().name()), usize::from(is_bts(one)));
    let theorems = |one: &PlayedArm| {
        let (number, style) = if is_bts(one) { (2, 5) } else { (1, 4) };
        (format!("Theorem {number}"), style)
    };
    let mut all = series(ours(), regrets, |one| points(regret(one)));
    all.extend(series(ours(), theorems, |one| points(bound(one, of_theorem))));
    all.extend(series(ours(), |_| ("Theorem 1, realised".to_string(), 6), |one| points(bound(one, of_realised))));
    // The same for both rules.
    all.extend(series(ours().take(1), |_| ("trivial".to_string(), 3), |one| points(bound(one, of_trivial))));
    Chart {
        // Short enough for a chart.
        title: title.replace("RKHS of ", ""),
        x_label: "t".to_string(),
        y_label: "cumulative regret".to_string(),
        log_y: true,
        series: all,
        ..Chart::default()
    }
}

fn regret(one: &PlayedArm) -> Vec<Estimate> {
    curve(&one.runs.iter().map(|run| run.regret.cumulative()).collect::<Vec<_>>())
}

/// One of the bounds, averaged over runs; empty where there is none.
fn bound(one: &PlayedArm, of: fn(&RunBounds) -> Option<&[f64]>) -> Vec<Estimate> {
    let curves = one.runs.iter().filter_map(|run| of(run.bounds.as_ref()?));
    curve(&curves.map(<[f64]>::to_vec).collect::<Vec<_>>())
}

fn of_theorem(bounds: &RunBounds) -> Option<&[f64]> {
    Some(&bounds.theorem)
}

fn of_realised(bounds: &RunBounds) -> Option<&[f64]> {
    bounds.realised.as_deref()
}

fn of_trivial(bounds: &RunBounds) -> Option<&[f64]> {
    Some(&bounds.trivial)
}

/// Whether no regret up to round t was above a bound.
fn held_up_to(run: &ArmRun, t: usize) -> bool {
    let regret = run.regret.cumulative();
    let below = |bounds: &[f64]| regret.iter().zip(bounds).take(t).all(|(regret, bound)| *regret <= bound + ROUNDING);
    run.bounds.as_ref().is_some_and(|bounds| below(&bounds.theorem) && bounds.realised.as_deref().is_none_or(below))
}

fn points(estimates: Vec<Estimate>) -> Vec<(f64, Estimate)> {
    (1..).map(f64::from).zip(estimates).collect()
}
