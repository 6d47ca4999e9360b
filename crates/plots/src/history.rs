//! The first panel: value by trial, and the best so far.

use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use manyhands_core::Direction;

use crate::Result;
use crate::axis::{PlotAxis, framed};
use crate::marks::{BLUE, LegendEntry, WITH_VALUES};
use crate::overview::{Edge, Overview};
use crate::page::PagePanel;

/// Observed, failed and pending trials by number.
pub fn panel(overview: &Overview<'_>) -> Result<PagePanel> {
    let last = overview.study.trials().len().saturating_sub(1).max(1) as f64;
    let x = PlotAxis::integer(0.0, last).padded(0.03, 0.03);
    let (y, edge) = value_axis(overview);
    let (mut plots, mut legend) = (vec![], vec![]);
    let best = best_so_far(overview, &x, &y)?;
    if !best.is_empty() {
        plots.push(Plot::Line(LinePlot::new().with_data(best).with_color(BLUE).with_stroke_width(1.6).with_step()));
        let best = if overview.is_estimated() { "best estimate" } else { overview.direction().superlative() };
        legend.push(LegendEntry::Curve(format!("{best} so far")));
    }
    let (marks, entries) = overview.marked(&WITH_VALUES, |trial, mark| {
        Some((x.place(trial.number() as f64), overview.height(trial, mark, &y, edge)?))
    });
    plots.extend(marks);
    legend.extend(entries);
    let layout = framed(Layout::new((0.0, 1.0), (0.0, 1.0)), &x, &y).with_x_label("trial").with_y_label("value");
    Ok(PagePanel { plots, layout: layout.with_title("value by trial"), width: 540.0, legend })
}

/// From the lowest value shown to the highest, with room for trials without a value on the worse side.
fn value_axis(overview: &Overview<'_>) -> (PlotAxis, Edge) {
    let axis =
        overview.shown.map_or_else(|| PlotAxis::linear(0.0, 1.0), |shown| PlotAxis::linear(shown.low, shown.high));
    match overview.direction() {
        Direction::Maximize => (axis.padded(0.14, 0.08), Edge::Bottom),
        Direction::Minimize => (axis.padded(0.08, 0.14), Edge::Top),
    }
}

/// The best value up to each trial, from the first value on; where values are noisy, the best of the present estimates.
fn best_so_far(overview: &Overview<'_>, x: &PlotAxis, y: &PlotAxis) -> Result<Vec<(f64, f64)>> {
    let (mut compared, mut best) = (overview.compared()?.into_iter().peekable(), None);
    let mut line = Vec::new();
    for trial in 0..overview.study.trials().len() {
        if let Some((_, value)) = compared.next_if(|(number, _)| *number == trial) {
            best = best.filter(|best| !overview.direction().is_better(value, *best)).or(Some(value));
        }
        line.extend(best.map(|best| (x.place(trial as f64), y.place(best))));
    }
    Ok(line)
}
