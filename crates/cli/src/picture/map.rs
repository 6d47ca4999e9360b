//! The further panels where two numbers vary: the posterior mean and the width of its band, or of its sd, as colours over both.

use std::sync::Arc;

use kuva::plot::{ColorMap, Heatmap};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use manyhands_core::{Kind, Prediction, significant};

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

/// A number in every cell, from the bottom row to the top one; none where a constraint forbids the cell's middle.
type Cells = Vec<Vec<Option<f64>>>;

/// Colours and trials: the mean, and how sure it is; none where no cell satisfies the constraints.
pub fn panels(overview: &Overview<'_>, pair: &[Variable; 2]) -> anyhow::Result<Vec<Panel>> {
    let there = predictions(overview, pair)?;
    let of = |number: fn(&Prediction) -> f64| -> Cells {
        there.iter().map(|row| row.iter().map(|cell| cell.as_ref().map(number)).collect()).collect()
    };
    let means = of(|there| there.mean);
    let reach = |means: &[f64]| overview.shown.map(|shown| shown.reaching(means));
    // A learned band may be so wide that nothing is seen in it.
    let is_theorem = there.iter().flatten().flatten().any(|there| there.kind == Kind::Theorem);
    let (what, widths) = match is_theorem {
        true => ("half the width of the band (theorem)", of(|there| 0.5 * (there.upper - there.lower))),
        false => ("posterior sd (learned model)", of(|there| there.sd)),
    };
    let mean = panel(overview, pair, &Coloured { what: "posterior mean", cells: means, wanted: &reach });
    let width = panel(overview, pair, &Coloured { what, cells: widths, wanted: &|_| None });
    Ok(mean.into_iter().chain(width).collect())
}

/// What one panel shows.
struct Coloured<'a> {
    what: &'a str,
    cells: Cells,
    /// The range of the colours, if it is not that of the cells.
    wanted: &'a dyn Fn(&[f64]) -> Option<Shown>,
}

fn panel(overview: &Overview<'_>, pair: &[Variable; 2], coloured: &Coloured<'_>) -> Option<Panel> {
    let Coloured { what, cells, wanted } = coloured;
    let known: Vec<f64> = cells.iter().flatten().flatten().copied().collect();
    let all = Shown::of(&known)?;
    let colours = colours(all, wanted(&known));
    let is_flat = all.low == all.high;
    let [x, y] = [0, 1].map(|i| pair[i].axis(pair[i].beyond(CELLS)));
    let (marks, legend) = overview.marked(&[Mark::Observed, Mark::Pending, Mark::Failed, Mark::Best], |trial, _| {
        Some((x.place(pair[0].of(trial.params())?), y.place(pair[1].of(trial.params())?)))
    });
    let plots: Vec<Plot> = [heat(cells, &colours, [&x, &y], pair)].into_iter().chain(marks).collect();
    let blank = if cells.iter().flatten().any(Option::is_none) { " (blank: not allowed)" } else { "" };
    let title = match is_flat {
        true => format!("{what}: {} everywhere{blank}", significant(known[0], 3)),
        false => format!("{what}{blank}"),
    };
    let mut layout = framed(Layout::auto_from_plots(&plots), &x, &y)
        .with_x_label(label(&pair[0].name))
        .with_y_label(label(&pair[1].name))
        .with_colorbar_tick_format(colours.ticks())
        .with_title(title);
    layout.show_colorbar = !is_flat;
    Some(Panel { plots, layout, width: 540.0, legend })
}

/// The colours' axis: the range that is wanted, and that of the cells alone where those are all beyond.
fn colours(all: Shown, wanted: Option<Shown>) -> Axis {
    let shown = wanted.unwrap_or(all);
    let shown = if shown.low >= all.high || shown.high <= all.low { all } else { shown };
    Axis::linear(shown.low, shown.high)
}

/// What is known of every cell's middle.
fn predictions(overview: &Overview<'_>, pair: &[Variable; 2]) -> anyhow::Result<Vec<Vec<Option<Prediction>>>> {
    let domain = overview.study.spec().domain();
    let [xs, ys] = [pair[0].middles(CELLS), pair[1].middles(CELLS)];
    let row = |y: &f64| xs.iter().map(|x| values(domain, pair, &[*x, *y])).collect();
    let cells: Vec<Vec<_>> = ys.iter().map(row).collect();
    let allowed: Vec<_> = cells.iter().flatten().flatten().cloned().collect();
    let mut there = overview.study.predict_named(&allowed)?.into_iter();
    Ok(cells.iter().map(|row| row.iter().map(|cell| cell.as_ref().and_then(|_| there.next())).collect()).collect())
}

fn heat(cells: &Cells, colours: &Axis, [x, y]: [&Axis; 2], pair: &[Variable; 2]) -> Plot {
    let place = |number: &Option<f64>| number.map_or(f64::NAN, |number| colours.place(number));
    let cells = cells.iter().map(|row| row.iter().map(place).collect::<Vec<f64>>());
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
