//! The further panels where two parameters vary: heat maps of the posterior mean and of the width of its band.

use std::sync::Arc;

use kuva::plot::{ColorMap, Heatmap};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use manyhands_core::study::PROBABILITY;
use manyhands_core::text::significant;
use manyhands_core::{BoundKind, Prediction};

use crate::Result;
use crate::axis::{PlotAxis, framed};
use crate::marks::Mark;
use crate::overview::Overview;
use crate::page::{PagePanel, label};
use crate::parameter::{PlottedParameter, values};
use crate::shown::Shown;

/// At most this many cells along each axis.
const CELLS: usize = 60;

/// Widths whose ratio is larger than this are shown by their logarithms.
const MAGNITUDES: f64 = 30.0;

/// The widest band that has a colour of its own, in multiples of the range of the values.
const WIDEST: f64 = 100.0;

/// The share of white in the colours, so that marks are visible on all of them.
const WHITE: f64 = 0.4;

/// One number per cell, from the bottom row to the top one; none where a constraint forbids the cell's centre.
type Cells = Vec<Vec<Option<f64>>>;

/// One panel for the mean, one for its uncertainty; none where no cell satisfies the constraints.
pub fn panels(overview: &Overview<'_>, pair: &[PlottedParameter; 2]) -> Result<Vec<PagePanel>> {
    let predicted = predictions(overview, pair)?;
    let Some(kind) = predicted.iter().flatten().flatten().map(|prediction| prediction.kind).next() else {
        return Ok(vec![]);
    };
    let of = |number: fn(&Prediction) -> f64| -> Cells {
        predicted.iter().map(|row| row.iter().map(|cell| cell.as_ref().map(number)).collect()).collect()
    };
    let (means, widths) = (of(|at| at.mean), of(|at| 0.5 * (at.upper - at.lower)));
    let colours =
        [colours_of_means(&known(&means), overview.shown), colours_of_widths(&known(&widths), overview.shown)];
    let width = match kind {
        BoundKind::Theorem => "half the width of the band (theorem)".to_string(),
        _ => format!("half the {} % interval of the model", 100.0 * PROBABILITY),
    };
    let [mean, width] = [("posterior mean", means, colours[0]), (width.as_str(), widths, colours[1])]
        .map(|(what, cells, colours)| panel(overview, pair, &Coloured { what, cells, colours }));
    Ok(vec![mean, width])
}

/// What one panel shows.
struct Coloured<'a> {
    what: &'a str,
    cells: Cells,
    colours: PlotAxis,
}

fn known(cells: &Cells) -> Vec<f64> {
    cells.iter().flatten().flatten().copied().collect()
}

fn panel(overview: &Overview<'_>, pair: &[PlottedParameter; 2], coloured: &Coloured<'_>) -> PagePanel {
    let Coloured { what, cells, colours } = coloured;
    let known = known(cells);
    let is_flat = known.iter().all(|number| *number == known[0]);
    let [x, y] = [0, 1].map(|i| pair[i].axis(pair[i].beyond(CELLS)));
    let (marks, legend) = overview.marked(&Mark::on_parameters(), |trial, _| {
        let params = overview.study.params(trial.number()).ok()?;
        Some((x.place(pair[0].of(&params)?), y.place(pair[1].of(&params)?)))
    });
    let plots: Vec<Plot> = [heat(cells, colours, [&x, &y], pair)].into_iter().chain(marks).collect();
    let blank = if cells.iter().flatten().any(Option::is_none) { " (blank: not allowed)" } else { "" };
    let title = match is_flat {
        true => format!("{what}: {} everywhere{blank}", significant(known[0], 3)),
        false => format!("{what}{blank}"),
    };
    let framed = pair[1].label_y(pair[0].label_x(framed(Layout::auto_from_plots(&plots), &x, &y)));
    let mut layout = framed
        .with_x_label(label(&pair[0].name))
        .with_y_label(label(&pair[1].name))
        .with_colorbar_tick_format(colours.ticks())
        .with_title(title);
    layout.show_colorbar = !is_flat;
    PagePanel { plots, layout, width: 540.0, legend }
}

/// Around the values that are shown, or over all means if those lie elsewhere.
fn colours_of_means(means: &[f64], shown: Option<Shown>) -> PlotAxis {
    let (low, high) = ends(means);
    match shown.map(|shown| shown.widened_by(means)) {
        Some(shown) if shown.low < high && shown.high > low => PlotAxis::linear(shown.low, shown.high),
        _ => PlotAxis::linear(low, high),
    }
}

/// Over the widths, which may span many magnitudes where the model is learned. Widths far beyond the values' range share a
/// colour.
fn colours_of_widths(widths: &[f64], shown: Option<Shown>) -> PlotAxis {
    let (low, high) = ends(widths);
    let useful = shown.map_or(f64::MAX, |shown| WIDEST * (shown.high - shown.low));
    let high = if useful > low { high.min(useful) } else { high };
    if low > 0.0 && high > MAGNITUDES * low { PlotAxis::logarithmic(low, high) } else { PlotAxis::linear(low, high) }
}

/// The lowest and the highest number.
fn ends(numbers: &[f64]) -> (f64, f64) {
    let finite = || numbers.iter().copied().filter(|number| number.is_finite());
    (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max))
}

/// The prediction at every cell's centre.
fn predictions(overview: &Overview<'_>, pair: &[PlottedParameter; 2]) -> Result<Vec<Vec<Option<Prediction>>>> {
    let domain = overview.study.spec().domain();
    let [xs, ys] = [pair[0].centres(CELLS), pair[1].centres(CELLS)];
    let row = |y: &f64| xs.iter().map(|x| values(domain, pair, &[*x, *y])).collect();
    let cells: Vec<Vec<_>> = ys.iter().map(row).collect();
    let allowed: Vec<_> = cells.iter().flatten().flatten().cloned().collect();
    let mut predictions = overview.study.predict_named(&allowed)?.into_iter();
    Ok(cells
        .iter()
        .map(|row| row.iter().map(|cell| cell.as_ref().and_then(|_| predictions.next())).collect())
        .collect())
}

fn heat(cells: &Cells, colours: &PlotAxis, [x, y]: [&PlotAxis; 2], pair: &[PlottedParameter; 2]) -> Plot {
    let place = |number: &Option<f64>| number.map_or(f64::NAN, |number| colours.place(number));
    let cells = cells.iter().map(|row| row.iter().map(place).collect::<Vec<f64>>());
    let reach = |axis: &PlotAxis, beyond: f64| (axis.between(-beyond), axis.between(1.0 + beyond));
    let (xs, ys) = (reach(x, pair[0].beyond(CELLS)), reach(y, pair[1].beyond(CELLS)));
    let heat = Heatmap::new().with_data(cells).with_color_map(pale()).with_cell_size(1.0);
    Plot::Heatmap(heat.with_x_range(xs.0, xs.1).with_y_range(ys.0, ys.1))
}

/// Viridis mixed with white; white where there is no number.
fn pale() -> ColorMap {
    ColorMap::Custom(Arc::new(|part: f64| {
        let (red, green, blue) = ColorMap::Viridis.map_rgb(part).filter(|_| !part.is_nan()).unwrap_or((255, 255, 255));
        let pale = |colour: u8| (f64::from(colour) + WHITE * (255.0 - f64::from(colour))).round() as u8;
        format!("#{:02x}{:02x}{:02x}", pale(red), pale(green), pale(blue))
    }))
}
