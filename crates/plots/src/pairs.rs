//! The maps over two parameters: posterior mean and half the width of its interval, the others as at the best point, or as
//! near to it as the constraints allow.

use manyhands_core::study::PROBABILITY;
use manyhands_core::text::significant;
use manyhands_core::{BoundKind, Prediction, Value};

use crate::Result;
use crate::axis::PlotAxis;
use crate::cells::CellMap;
use crate::colour_bar::ColourScale;
use crate::colours::level;
use crate::layers::Layer;
use crate::marks::Mark;
use crate::overview::Overview;
use crate::panel::{PagePanel, UPRIGHT};
use crate::parameter::{BaseSetting, NamedValues, PlottedParameter};
use crate::scale::ValueAxis;
use crate::shown::Shown;

/// At most this many cells along each axis, and as many where a prediction takes long.
const CELLS: (usize, usize) = (64, 40);

/// With more values a prediction takes long.
const MANY: usize = 500;

/// Widths whose ratio is larger than this are shown by their logarithms.
const MAGNITUDES: f64 = 30.0;

/// The widest band that has a colour of its own, in multiples of the range of the values.
const WIDEST: f64 = 100.0;

/// The width of what is beside a map: numbers and the colour bar.
const BESIDE: f64 = 140.0;

/// Differences below this share are drawn in one colour: of the range of the values for means, of the width itself for widths. A
/// hundredth of either changes no decision, and a reader takes the ends of the colours for far apart.
const NEGLIGIBLE: f64 = 0.01;

/// One number per cell, from the bottom row to the top one; none where a constraint forbids the cell's centre.
type Cells = Vec<Vec<Option<f64>>>;

/// One panel for the mean, one for its uncertainty; none where the constraints do not let both parameters vary.
pub fn panels(
    overview: &Overview<'_>,
    all: &[PlottedParameter],
    pair: [&PlottedParameter; 2],
    size: (f64, f64),
) -> Result<Vec<PagePanel>> {
    let (pair, size) = arranged(pair, size);
    let predicted = predictions(overview, all, pair)?;
    let Some(kind) = predicted.iter().flatten().flatten().map(|prediction| prediction.kind).next() else {
        return Ok(vec![]);
    };
    let of = |number: fn(&Prediction) -> f64| -> Cells {
        predicted.iter().map(|row| row.iter().map(|cell| cell.as_ref().map(number)).collect()).collect()
    };
    let (means, widths) = (of(|at| at.mean), of(|at| 0.5 * at.upper - 0.5 * at.lower));
    let width = match kind {
        BoundKind::Theorem => "half the width of the band (theorem)".to_string(),
        _ => format!("half the {} % interval of the model", 100.0 * PROBABILITY),
    };
    let coloured = [coloured_means(overview, means), coloured_widths(overview, width, widths)];
    Ok(coloured.iter().map(|coloured| panel(overview, pair, coloured, size)).collect())
}

/// The pair with the more crowded names in rows, and a size in which each has one.
fn arranged([x, y]: [&PlottedParameter; 2], size: (f64, f64)) -> ([&PlottedParameter; 2], (f64, f64)) {
    let has_room = |parameter: &PlottedParameter| parameter.side(None).has_room(size.0 - BESIDE);
    let pair = if !has_room(x) && (has_room(y) || x.side(None).height_of_rows() > y.side(None).height_of_rows()) {
        [y, x]
    } else {
        [x, y]
    };
    let names = if has_room(pair[0]) { 0.0 } else { UPRIGHT };
    (pair, (size.0, size.1.max(pair[1].side(None).height_of_rows()) + names))
}

fn coloured_widths(overview: &Overview<'_>, what: String, cells: Cells) -> Coloured {
    let (low, high) = ends(&known(&cells));
    let is_flat = are_alike((low, high), high.abs());
    let axis = || colours_of_widths((low, high), overview.shown);
    let colours = (!is_flat).then(|| ColourScale::of(axis(), &known(&cells)));
    Coloured { what, cells, colours }
}

/// The means, or where they span magnitudes their distances from the best of them.
fn coloured_means(overview: &Overview<'_>, means: Cells) -> Coloured {
    let what = "posterior mean".to_string();
    let (low, high) = ends(&known(&means));
    let range = overview.shown.map_or(0.0, |shown| shown.high - shown.low);
    if are_alike((low, high), if range > 0.0 { range } else { low.abs().max(high.abs()) }) {
        return Coloured { what, cells: means, colours: None };
    }
    let scale = ValueAxis::of(&known(&means), overview.direction());
    let Some(best) = scale.best else {
        let colours = Some(ColourScale::of(colours_of_means((low, high), overview.shown), &known(&means)));
        return Coloured { what, cells: means, colours };
    };
    let what = format!("posterior mean: distance from its best here, {}", significant(best, 3));
    let distances = |row: &Vec<Option<f64>>| row.iter().map(|mean| mean.map(|mean| scale.distance(mean))).collect();
    let cells: Cells = means.iter().map(distances).collect();
    let (low, high) = scale.limits();
    // The best itself, at distance 0, is below every logarithmic axis.
    let colours = ColourScale { has_below: true, ..ColourScale::of(PlotAxis::logarithmic(low, high), &known(&cells)) };
    Coloured { what, cells, colours: Some(colours) }
}

/// Whether numbers between these ends differ by a negligible share of a size.
fn are_alike((low, high): (f64, f64), size: f64) -> bool {
    // Halves, because the difference of 1e308 and -1e308 overflows.
    high / 2.0 - low / 2.0 <= NEGLIGIBLE * size / 2.0
}

/// What one panel shows.
struct Coloured {
    what: String,
    cells: Cells,
    /// None where all cells are alike.
    colours: Option<ColourScale>,
}

fn known(cells: &Cells) -> Vec<f64> {
    cells.iter().flatten().flatten().copied().collect()
}

fn panel(overview: &Overview<'_>, pair: [&PlottedParameter; 2], coloured: &Coloured, size: (f64, f64)) -> PagePanel {
    let Coloured { what, cells, colours } = coloured;
    let most = cells_along(overview);
    let [x, y] = pair.map(|parameter| parameter.side(Some(most)));
    let (marks, legend) = overview.marked(&Mark::on_parameters(), |trial, _| {
        let params = overview.study.params(trial.number()).ok()?;
        let place =
            |parameter: &PlottedParameter, axis: &PlotAxis| Some(axis.place(parameter.read(parameter.of(&params)?)?));
        Some((place(pair[0], &x.axis)?, place(pair[1], &y.axis)?))
    });
    let part = |number: f64| colours.map_or(0.5, |colours| colours.part(number));
    let shade = |cell: &Option<f64>| cell.map(|number| level(part(number)));
    let rows = cells.iter().map(|row| row.iter().map(shade).collect()).collect();
    let reach = |axis: &PlotAxis, parameter: &PlottedParameter| {
        let beyond = parameter.beyond(most);
        (axis.between(-beyond), axis.between(1.0 + beyond))
    };
    let map = CellMap { rows, x: reach(&x.axis, pair[0]), y: reach(&y.axis, pair[1]) };
    let blank = if cells.iter().flatten().any(Option::is_none) { " (blank: not allowed)" } else { "" };
    let title = match colours {
        None => format!("{what}: {} everywhere{blank}", alike(&known(cells))),
        Some(_) => format!("{what}{blank}"),
    };
    let layers = [Layer::Cells(map)].into_iter().chain(marks).collect();
    PagePanel { title, x, y, layers, colours: *colours, legend, size }
}

/// The one number that cells are drawn as.
fn alike(numbers: &[f64]) -> String {
    let (low, high) = ends(numbers);
    let about = if low < high { "about " } else { "" };
    format!("{about}{}", significant(low / 2.0 + high / 2.0, 3))
}

/// Around the values that are shown, or over all means if those lie elsewhere; no wider than the means are.
fn colours_of_means((low, high): (f64, f64), shown: Option<Shown>) -> PlotAxis {
    match shown.map(|shown| shown.widened_by(&[low, high])) {
        Some(shown) if shown.low < high && shown.high > low => {
            PlotAxis::linear(shown.low.max(low), shown.high.min(high))
        }
        _ => PlotAxis::linear(low, high),
    }
}

/// Over the widths, which may span many magnitudes where the model is learned. Widths far beyond the values' range share a
/// colour.
fn colours_of_widths((low, high): (f64, f64), shown: Option<Shown>) -> PlotAxis {
    let useful = shown.map_or(f64::MAX, |shown| WIDEST * (shown.high - shown.low));
    let high = if useful > low { high.min(useful) } else { high };
    if low > 0.0 && high > MAGNITUDES * low { PlotAxis::logarithmic(low, high) } else { PlotAxis::linear(low, high) }
}

/// The lowest and the highest number.
fn ends(numbers: &[f64]) -> (f64, f64) {
    let finite = || numbers.iter().copied().filter(|number| number.is_finite());
    (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max))
}

/// How many cells there are along each axis, unless a parameter has fewer values.
fn cells_along(overview: &Overview<'_>) -> usize {
    if overview.model().posterior().observed() > MANY { CELLS.1 } else { CELLS.0 }
}

/// The prediction at every cell's centre; none at all where the constraints do not let both parameters vary.
fn predictions(
    overview: &Overview<'_>,
    all: &[PlottedParameter],
    pair: [&PlottedParameter; 2],
) -> Result<Vec<Vec<Option<Prediction>>>> {
    let params = overview.best.as_ref().map_or(&[][..], |best| &best.params);
    let base = BaseSetting::new(overview.study.spec().domain(), all, params);
    let most = cells_along(overview);
    let [xs, ys] = pair.map(|parameter| parameter.centres(most));
    let mut cells = settings(&xs, &ys, |x, y| base.with(&[(pair[0], x), (pair[1], y)]));
    // In a mixture no two parameters change alone.
    if !is_area(&cells) {
        cells = settings(&xs, &ys, |x, y| base.nearest_with(&[(pair[0], x), (pair[1], y)]));
    }
    if !is_area(&cells) {
        return Ok(vec![]);
    }
    let allowed: Vec<_> = cells.iter().flatten().flatten().cloned().collect();
    let mut predictions = overview.model().predict_named(&allowed)?.into_iter();
    Ok(cells
        .iter()
        .map(|row| row.iter().map(|cell| cell.as_ref().and_then(|_| predictions.next())).collect())
        .collect())
}

/// The setting at every cell's centre, if it is allowed.
type CellSettings = Vec<Vec<Option<NamedValues>>>;

fn settings(xs: &[Value], ys: &[Value], at: impl Fn(&Value, &Value) -> Option<NamedValues>) -> CellSettings {
    ys.iter().map(|y| xs.iter().map(|x| at(x, y)).collect()).collect()
}

/// Whether the allowed cells are more than a line: two of them share a row, and two a column.
fn is_area(cells: &CellSettings) -> bool {
    let in_row = |row: &Vec<Option<NamedValues>>| row.iter().flatten().count();
    let in_column = |column: usize| cells.iter().filter(|row| row[column].is_some()).count();
    let columns = cells.first().map_or(0, Vec::len);
    cells.iter().map(in_row).max() > Some(1) && (0..columns).map(in_column).max() > Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_a_hundredth_of_a_size_is_no_difference() {
        assert!(are_alike((3.89462e-2, 3.89465e-2), 3.89465e-2));
        assert!(!are_alike((0.0389, 0.0394), 0.0394));
        assert!(are_alike((-0.4, 0.4), 100.0) && !are_alike((-0.6, 0.6), 100.0));
        assert!(are_alike((0.0, 0.0), 0.0) && !are_alike((-1e308, 1e308), 1e308));
        assert_eq!([alike(&[3.89462e-2, 3.89465e-2]), alike(&[4.2, 4.2])], ["about 0.0389", "4.20"]);
    }
}
