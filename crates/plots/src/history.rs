//! The panel of the history: value by trial, and the best so far.

use manyhands_core::text::significant;
use manyhands_core::{Direction, Trial, Value};

use crate::Result;
use crate::axis::{AxisTick, PlotAxis, tidy};
use crate::layers::Layer;
use crate::marks::{LegendEntry, WITH_VALUES};
use crate::overview::Overview;
use crate::panel::{PagePanel, PanelSide, SideTicks};
use crate::scale::{Edge, ValueAxis};

/// Observed, failed and pending trials by number, and how many values are not shown.
pub fn panel(overview: &Overview<'_>, size: (f64, f64)) -> Result<(PagePanel, usize)> {
    let x = trial_axis(overview);
    let values: Vec<f64> = overview.study.trials().iter().filter_map(Trial::value).collect();
    let y = ValueAxis::of_history(&values, overview.direction());
    let (mut layers, mut legend) = (vec![], vec![]);
    let best = best_so_far(overview, &x, &y)?;
    if !best.is_empty() {
        layers.push(Layer::Steps(best));
        legend.push(LegendEntry::Steps(line_label(overview, &y)));
    }
    let (marks, entries) = overview
        .marked(&WITH_VALUES, |trial, mark| Some((x.place(trial.number() as f64), overview.height(trial, mark, &y)?)));
    layers.extend(marks);
    legend.extend(entries);
    let (title, label) = match y.best {
        None if values.is_empty() => ("value by trial: no values yet".to_string(), String::new()),
        None => ("value by trial".to_string(), String::new()),
        Some(best) => {
            let number = tidy(&significant(best, 4));
            (format!("distance from the best value, {number}, by trial"), distance_label(overview.direction(), best))
        }
    };
    let ticks = match y.best {
        Some(_) => SideTicks::Above(AxisTick { place: y.edge(Edge::Bottom), label: "0".to_string() }),
        None if values.is_empty() => SideTicks::Blank,
        None => SideTicks::Numbers,
    };
    let (x, side) = (trial_side(overview), PanelSide { axis: y.axis, label, ticks });
    Ok((PagePanel { title, x, y: side, layers, colours: None, legend, size }, y.beyond))
}

/// What the line in steps is: on an axis of distances it falls whatever the direction.
fn line_label(overview: &Overview<'_>, y: &ValueAxis) -> String {
    let best = if overview.is_estimated() { "best estimate" } else { overview.direction().superlative() };
    match y.best {
        None => format!("{best} so far"),
        Some(_) if overview.is_estimated() => "distance of the best estimate so far".to_string(),
        Some(_) => "distance of the best so far".to_string(),
    }
}

/// The formula of an axis of distances.
fn distance_label(direction: Direction, best: f64) -> String {
    let number = tidy(&significant(best, 4));
    let formula = match (direction, number.strip_prefix('-')) {
        (Direction::Maximize, _) => format!("{number} - value"),
        (Direction::Minimize, None) => format!("value - {number}"),
        (Direction::Minimize, Some(number)) => format!("value + {number}"),
    };
    format!("{formula} (logarithmic; 0 is the best)")
}

/// The numbers of all trials.
fn trial_axis(overview: &Overview<'_>) -> PlotAxis {
    let last = overview.study.trials().len().saturating_sub(1).max(1) as f64;
    PlotAxis::integer(0.0, last).padded(0.03, 0.03)
}

/// The axis of trials with its ticks, at trials that exist.
pub fn trial_side(overview: &Overview<'_>) -> PanelSide {
    let ticks = match overview.study.trials().len() {
        0 => SideTicks::Blank,
        1 => SideTicks::Levels(vec![Value::Int(0)]),
        _ => SideTicks::Numbers,
    };
    PanelSide { axis: trial_axis(overview), label: "trial".to_string(), ticks }
}

/// The best value up to each trial, from the first value on, in steps; where values are noisy, the best of the present
/// estimates.
fn best_so_far(overview: &Overview<'_>, x: &PlotAxis, y: &ValueAxis) -> Result<Vec<(f64, f64)>> {
    let (mut best, mut line): (Option<f64>, Vec<(f64, f64)>) = (None, vec![]);
    let last = overview.study.trials().len().saturating_sub(1);
    for (trial, value) in overview.compared()? {
        if best.is_some_and(|best| !overview.direction().is_better(value, best)) {
            continue;
        }
        best = Some(value);
        let at = x.place(trial as f64);
        line.extend(line.last().map(|before| (at, before.1)));
        line.push((at, y.place(value)));
    }
    line.extend(line.last().map(|before| (x.place(last as f64), before.1)));
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_distances_says_what_is_subtracted_from_what() {
        let label = |direction, best| distance_label(direction, best).replace(" (logarithmic; 0 is the best)", "");
        assert_eq!(label(Direction::Minimize, 0.39789), "value - 0.3979");
        assert_eq!(label(Direction::Minimize, -3.0), "value + 3");
        assert_eq!(label(Direction::Maximize, -50.0), "-50 - value");
        assert_eq!(label(Direction::Maximize, 0.0), "0 - value");
    }
}
