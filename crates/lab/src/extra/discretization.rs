//! GP-BTS on the growing discretization D_t of the paper's appendix, beside fixed grids.

use std::sync::Arc;

use manyhands_core::theory::Discretization;
use manyhands_core::{Hallucination, Information, Rule};

use super::{Extra, FinishedExtra, series, titles};
use crate::arm::{Arm, NormBound, PlayedArm};
use crate::chart::Chart;
use crate::experiment::UnitInterval;
use crate::sheet::Sheet;
use crate::statistics::Estimate;
use crate::{Algorithm, Experiment, FiniteProblem, Result, Settings};

/// The most rounds: the work of a run grows with the third power of their number.
const ROUNDS: usize = 100;
/// With their styles.
const INTERVALS: [(UnitInterval, usize); 4] = [
    (UnitInterval::Growing, 1),
    (UnitInterval::Fixed(10), 3),
    (UnitInterval::Fixed(100), 5),
    (UnitInterval::Fixed(1_000), 6),
];

pub fn arms(experiment: &Arc<Experiment>, settings: &Settings) -> Result<Vec<Arm>> {
    let (information, hallucination) = (Information::Realised, Hallucination::Realised);
    let horizon = settings.horizon.min(ROUNDS);
    let settings = Settings { information, hallucination, horizon, ..*settings };
    // A D_t that is too large is told before the work.
    for instance in &experiment.instances {
        if let Some(discretization) = discretization(instance.problem())? {
            discretization.sampled_points(horizon)?;
        }
    }
    let arm = |(interval, _)| {
        let arm = Arm::new(experiment, Algorithm::Rule(Rule::GpBts), settings);
        Arm { bound: NormBound::RkhsNorm, interval: Some(interval), ..arm }
    };
    Ok(INTERVALS.map(arm).to_vec())
}

/// D_t of a function on [0, 1]; none where its norm is not known.
fn discretization(problem: &FiniteProblem) -> Result<Option<Discretization>> {
    let lipschitz = problem.prior().kernel().lipschitz()?;
    let of = |norm_bound| Discretization { norm_bound, lipschitz, side: 1.0, dimension: 1, tolerance: 1.0 };
    Ok(problem.norm().map(of))
}

pub fn finish(played: &[PlayedArm]) -> FinishedExtra {
    let columns = ["experiment", "candidates", "t", "points", "mean", "se", "simple_regret", "simple_se"];
    let (mut sheet, mut digest) = (Sheet::new(&columns), Sheet::new(&columns));
    for one in played {
        let (average, simple, points) = (one.time_average(), one.simple(), points(one));
        for t in 1..=one.arm.settings.horizon {
            let row = vec![
                one.title().into(),
                name(one).0.into(),
                t.into(),
                points[t - 1].1.mean.into(),
                average[t - 1].mean.into(),
                average[t - 1].se.into(),
                simple[t - 1].mean.into(),
                simple[t - 1].se.into(),
            ];
            if one.arm.settings.milestones().contains(&t) {
                digest.push(row.clone());
            }
            sheet.push(row);
        }
    }
    let charts = titles(played).into_iter().flat_map(|title| charts(title, played)).collect();
    let note = format!(
        "GP-BTS with B the function's RKHS norm, the realised gamma and the realised xi, for at most {ROUNDS} rounds, as D_t has \
         B L t^2 points. It samples on D_t or on evenly spaced points of [0, 1]; f is known on all of [0, 1], and regret is \
         that against its maximum there. A simple regret that is 0 to rounding is not drawn."
    );
    FinishedExtra { extra: Extra::Discretization, note, charts, sheet, digest }
}

fn charts(title: &str, played: &[PlayedArm]) -> [Chart; 3] {
    let ours = || played.iter().filter(|one| one.title() == title);
    let simple = |one: &PlayedArm| (1..).map(f64::from).zip(one.simple()).collect();
    let log = |title: &str, y_label: &str, series| Chart {
        y_label: y_label.to_string(),
        log_y: true,
        ..Chart::of_regret(title, "t", series)
    };
    [
        Chart::of_regret(title, "t", series(ours(), name, PlayedArm::regret_curve)),
        log("The best point so far", "simple regret", series(ours(), name, simple)),
        log("What is sampled", "points", series(ours(), name, points)),
    ]
}

fn name(one: &PlayedArm) -> (String, usize) {
    let style =
        INTERVALS.iter().find(|(interval, _)| Some(*interval) == one.arm.interval).map_or(0, |(_, style)| *style);
    let name = match one.arm.interval {
        Some(UnitInterval::Fixed(points)) => format!("{points} points"),
        _ => "D_t".to_string(),
    };
    (name, style)
}

/// How many points are sampled at each round, averaged over the functions.
fn points(one: &PlayedArm) -> Vec<(f64, Estimate)> {
    let count = |problem: &FiniteProblem, t: usize| match one.arm.interval {
        Some(UnitInterval::Fixed(points)) => Some(points as f64),
        _ => Some(discretization(problem).ok()??.points_per_coordinate(t)),
    };
    let at = |t: usize| -> Vec<f64> {
        one.arm.experiment.instances.iter().filter_map(|instance| count(instance.problem(), t)).collect()
    };
    (1..=one.arm.settings.horizon).map(|t| (t as f64, Estimate::of(&at(t)))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;
    use crate::Panel;
    use crate::stream::ProblemFamily;

    /// B L t^2 = 1e6 x 5 x 100^2 points are more than are sampled; the error comes before any run.
    #[test]
    fn a_growing_discretization_that_is_too_large_is_refused_before_the_work() {
        let settings = Settings::default();
        let panel = Panel::A.experiment(&settings, Path::new("")).unwrap();
        assert!(arms(&Arc::new(panel.clone()), &settings).is_ok());
        let problem = Arc::new(panel.instances[0].problem().clone().with_norm(1e6));
        let family = (ProblemFamily::SquaredExponential, settings.seed);
        let steep = Experiment::new("steep", panel.arrival.clone(), family, [problem]);
        let told = arms(&Arc::new(steep), &settings).unwrap_err();
        assert_eq!(told.code(), "discretization-too-large");
        let expected = "D_t has 50000000000 points in each of 1 coordinates at t = 100, too many to sample jointly";
        assert_eq!(told.to_string(), expected);
    }
}
