//! The certificate: its bound on the regret of its point, beside the true regret.

use std::sync::Arc;

use manyhands_core::Rule;

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, ArmRun, Diagnostic, NormBound, PlayedArm};
use crate::chart::Chart;
use crate::diagnostics::CertificateCheck;
use crate::sheet::Sheet;
use crate::statistics::Estimate;
use crate::{Algorithm, Experiment, Settings};

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Vec<Arm> {
    let arm = |rule| Arm::new(experiment, Algorithm::Rule(rule), *settings);
    let certified = |rule| Arm { bound: NormBound::RkhsNorm, diagnostic: Diagnostic::Certificate, ..arm(rule) };
    [Rule::IgpBucb, Rule::GpBts].map(certified).to_vec()
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let (sheet, digest) = sheets(played);
    let charts = titles(played).into_iter().map(|title| chart(title, played)).collect();
    let note = "B is the function's RKHS norm. The bound is the certificate's: the regret of its point is at most that with \
        probability 1 - delta, whatever xi the choices were made with. The truth is the regret of the same point; where a \
        curve of it ends, all runs have found the optimum exactly. Held counts the runs in which no certificate so far was \
        wrong."
        .to_string();
    FinishedExtra { extra: Extra::Certificate, note, charts, sheet, digest }
}

/// Every moment, and those of the milestones.
fn sheets(played: &[PlayedArm]) -> (Sheet, Sheet) {
    let columns = ["experiment", "algorithm", "observed", "bound", "bound_se", "regret", "regret_se", "held", "runs"];
    let (mut sheet, mut digest) = (Sheet::new(&columns), Sheet::new(&columns));
    for one in played {
        for (moment, certified) in moments(one).iter().enumerate() {
            let (observed, bound, regret) = (certified[0].observed, bound(certified), regret(certified));
            // Held: at this moment and at all before it.
            let held = |run: &&ArmRun| run.certificates[..=moment].iter().all(CertificateCheck::holds);
            let row = vec![
                one.title().into(),
                one.algorithm().name().into(),
                observed.into(),
                bound.mean.into(),
                bound.se.into(),
                regret.mean.into(),
                regret.se.into(),
                one.runs.iter().filter(held).count().into(),
                one.runs.len().into(),
            ];
            if one.arm.settings.milestones().contains(&observed) {
                digest.push(row.clone());
            }
            sheet.push(row);
        }
    }
    (sheet, digest)
}

fn chart(title: &str, played: &[PlayedArm]) -> Chart {
    let ours = || played.iter().filter(|one| one.title() == title);
    let bounds = |one: &PlayedArm| (format!("{}, bound", one.algorithm().name()), style(one));
    let truths = |one: &PlayedArm| (format!("{}, truth", one.algorithm().name()), 4 + style(one));
    let points = |of: fn(&[CertificateCheck]) -> Estimate| {
        move |one: &PlayedArm| {
            moments(one).iter().map(|certified| (certified[0].observed as f64, of(certified))).collect()
        }
    };
    let mut all = series(ours(), bounds, points(bound));
    all.extend(series(ours(), truths, points(regret)));
    Chart {
        title: title.to_string(),
        x_label: "observed".to_string(),
        y_label: "simple regret".to_string(),
        log_y: true,
        series: all,
        ..Chart::default()
    }
}

fn style(one: &PlayedArm) -> usize {
    usize::from(one.algorithm() == Algorithm::Rule(Rule::GpBts))
}

/// The certificates of all runs, moment by moment.
fn moments(one: &PlayedArm) -> Vec<Vec<CertificateCheck>> {
    let count = one.runs.iter().map(|run| run.certificates.len()).min().unwrap_or(0);
    (0..count).map(|moment| one.runs.iter().map(|run| run.certificates[moment]).collect()).collect()
}

fn bound(certified: &[CertificateCheck]) -> Estimate {
    Estimate::of(&certified.iter().filter_map(|one| Some(one.bounded?.bound)).collect::<Vec<_>>())
}

fn regret(certified: &[CertificateCheck]) -> Estimate {
    Estimate::of(&certified.iter().filter_map(|one| Some(one.bounded?.regret)).collect::<Vec<_>>())
}
