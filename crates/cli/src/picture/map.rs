//! The second panel where two numbers vary: the posterior mean as colours over both.

use std::sync::Arc;

use kuva::plot::{ColorMap, Heatmap};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use manyhands_core::significant;

use super::axis::{Axis, framed};
use super::marks::Mark;
use super::overview::Overview;
use super::page::{Panel, label};
use super::shown::Shown;
use super::variable::{Variable, values};

/// At most this many cells along each axis.
const CELLS: usize = 60;

/// How much white is in the colours, so that marks are seen on all of them.
const WHITE: f64 = 0.4;

/// Colours and trials; none where no cell satisfies the constraints.
pub fn panel(overview: &Overview<'_>, pair: &[Variable; 2]) -> anyhow::Result<Option<Panel>> {
    let means = means(overview, pair)?;
    let known: Vec<f64> = means.iter().flatten().flatten().copied().collect();
    let Some(all) = Shown::of(&known) else { return Ok(None) };
    let colours = colours(overview, all, &known);
    let is_flat = all.low == all.high;
    let [x, y] = [0, 1].map(|i| pair[i].axis(pair[i].beyond(CELLS)));
    let (marks, legend) = overview.marked(&[Mark::Observed, Mark::Pending, Mark::Failed, Mark::Best], |trial, _| {
        Some((x.place(pair[0].of(trial.params())?), y.place(pair[1].of(trial.params())?)))
    });
    let plots: Vec<Plot> = [heat(&means, &colours, [&x, &y], pair)].into_iter().chain(marks).collect();
    let blank = if means.iter().flatten().any(Option::is_none) { " (blank: not allowed)" } else { "" };
    let title = match is_flat {
        true => format!("posterior mean: {} everywhere{blank}", significant(known[0], 3)),
        false => format!("posterior mean{blank}"),
    };
    let mut layout = framed(Layout::auto_from_plots(&plots), &x, &y)
        .with_x_label(label(&pair[0].name))
        .with_y_label(label(&pair[1].name))
        .with_colorbar_tick_format(colours.ticks())
        .with_title(title);
    layout.show_colorbar = !is_flat;
    Ok(Some(Panel { plots, layout, width: 540.0, legend }))
}

/// The colours' axis: of the values that are shown, and of the means alone where those are all beyond.
fn colours(overview: &Overview<'_>, all: Shown, means: &[f64]) -> Axis {
    let shown = overview.shown.map_or(all, |shown| shown.reaching(means));
    let shown = if shown.low >= all.high || shown.high <= all.low { all } else { shown };
    Axis::linear(shown.low, shown.high)
}

/// The mean in every cell, from the bottom row to the top one; none where a constraint forbids the cell's middle.
fn means(overview: &Overview<'_>, pair: &[Variable; 2]) -> anyhow::Result<Vec<Vec<Option<f64>>>> {
    let domain = overview.study.spec().domain();
    let [xs, ys] = [pair[0].middles(CELLS), pair[1].middles(CELLS)];
    let row = |y: &f64| xs.iter().map(|x| values(domain, pair, &[*x, *y])).collect();
    let cells: Vec<Vec<_>> = ys.iter().map(row).collect();
    let allowed: Vec<_> = cells.iter().flatten().flatten().cloned().collect();
    let mut means = overview.study.predict_named(&allowed)?.into_iter().map(|there| there.mean);
    Ok(cells.iter().map(|row| row.iter().map(|cell| cell.as_ref().and_then(|_| means.next())).collect()).collect())
}

fn heat(means: &[Vec<Option<f64>>], colours: &Axis, [x, y]: [&Axis; 2], pair: &[Variable; 2]) -> Plot {
    let place = |mean: &Option<f64>| mean.map_or(f64::NAN, |mean| colours.place(mean));
    let cells = means.iter().map(|row| row.iter().map(place).collect::<Vec<f64>>());
    let reach = |axis: &Axis, beyond: f64| (axis.between(-beyond), axis.between(1.0 + beyond));
    let (xs, ys) = (reach(x, pair[0].beyond(CELLS)), reach(y, pair[1].beyond(CELLS)));
    let heat = Heatmap::new().with_data(cells).with_color_map(pale()).with_cell_size(1.0);
    Plot::Heatmap(heat.with_x_range(xs.0, xs.1).with_y_range(ys.0, ys.1))
}

/// Viridis with white in it; white where there is no number.
fn pale() -> ColorMap {
    ColorMap::Custom(Arc::new(|part: f64| {
        let (red, green, blue) = ColorMap::Viridis.map_rgb(part).filter(|_| !part.is_nan()).unwrap_or((255, 255, 255));
        let pale = |colour: u8| (f64::from(colour) + WHITE * (255.0 - f64::from(colour))).round() as u8;
        format!("#{:02x}{:02x}{:02x}", pale(red), pale(green), pale(blue))
    }))
}
