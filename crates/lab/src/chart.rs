//! Line charts with standard-error bands, several per picture; curves differ in colour and in marker.

use std::sync::Arc;

use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{BandPlot, LinePlot, ScatterPlot};
use kuva::render::figure::Figure;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use crate::statistics::Estimate;
use manyhands_plots::Picture;

use crate::Result;

/// Colours of Okabe and Ito (2008), safe for the colour-blind, each with a marker of its own for print.
/// The first four are IGP-BUCB, GP-BTS, GP-BUCB and random search, the next two variants of the first two.
const STYLES: [(&str, MarkerShape); 8] = [
    ("#0072B2", MarkerShape::Circle),
    ("#D55E00", MarkerShape::Triangle),
    ("#009E73", MarkerShape::Square),
    ("#555555", MarkerShape::Cross),
    ("#56B4E9", MarkerShape::Diamond),
    ("#E69F00", MarkerShape::TriangleDown),
    ("#CC79A7", MarkerShape::Pentagon),
    ("#000000", MarkerShape::Plus),
];
/// Type size of the legend.
const LEGEND_SIZE: u32 = 15;
/// The height of a row of marks.
const ROW_HEIGHT: f64 = 26.0;
/// Type size of a title.
const TITLE_SIZE: u32 = 16;
/// Markers on a long curve.
const MARKERS: usize = 7;

/// How far a logarithmic axis of marks goes on beyond them, as a factor.
const MARGIN: f64 = 0.9;
/// A logarithmic x axis that spans a larger factor has numbers at powers of ten only.
const MANY: f64 = 50.0;

/// One curve.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Which of the styles.
    pub style: usize,
    /// (x, y with its standard error).
    pub points: Vec<(f64, Estimate)>,
}

/// One chart.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the y axis.
    pub y_label: String,
    /// Whether x is on a logarithmic scale.
    pub log_x: bool,
    /// Whether y is on a logarithmic scale.
    pub log_y: bool,
    /// Rows with these names, from the top, in place of a y axis. A point is then a row's number, from 0, and x with its
    /// standard error; points are marks and not curves.
    pub rows: Vec<String>,
    /// The curves.
    pub series: Vec<Series>,
}

/// Draws charts with one legend for all: up to three in a row, more in two rows (eight as in the paper).
pub fn draw(what: &str, charts: &[Chart]) -> Result<Picture> {
    let columns = if charts.len() <= 3 { charts.len().max(1) } else { charts.len().div_ceil(2) };
    let plots: Vec<Vec<Plot>> = charts.iter().map(Chart::plots).collect();
    let layouts = charts.iter().zip(&plots).map(|(chart, plots)| chart.layout(plots)).collect();
    let rows = charts.iter().map(|chart| chart.rows.len()).max().unwrap_or(0);
    let (width, height) = if rows == 0 { (280.0, 245.0) } else { (430.0, 110.0 + ROW_HEIGHT * rows as f64) };
    let figure = Figure::new(charts.len().div_ceil(columns), columns)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(width, height)
        .with_shared_legend_right_middle()
        .with_shared_legend_entries(legend(charts));
    Ok(Picture::of(what, &figure.render())?)
}

/// One entry per name of a curve.
fn legend(charts: &[Chart]) -> Vec<LegendEntry> {
    let mut entries: Vec<LegendEntry> = Vec::new();
    for series in charts.iter().flat_map(|chart| &chart.series) {
        let (color, marker) = STYLES[series.style % STYLES.len()];
        if entries.iter().all(|entry| entry.label.trim_end_matches('\u{a0}') != series.name) {
            // kuva computes the width of the box for names of size 12.
            let padding = "\u{a0}".repeat(series.name.chars().count() * (LEGEND_SIZE as usize - 12) / 6);
            let (label, color) = (series.name.clone() + &padding, color.to_string());
            entries.push(LegendEntry { label, color, shape: LegendShape::Marker(marker), dasharray: None });
        }
    }
    entries
}

impl Chart {
    /// Time-average regret on plain axes.
    pub fn of_regret(title: impl Into<String>, x_label: &str, series: Vec<Series>) -> Self {
        let (title, x_label, y_label) = (title.into(), x_label.to_string(), "time-average regret".to_string());
        Self { title, x_label, y_label, series, ..Self::default() }
    }

    /// Bands under curves under markers; marks alone in rows.
    fn plots(&self) -> Vec<Plot> {
        if !self.rows.is_empty() {
            return self.series.iter().map(|series| self.marks(series)).collect();
        }
        let shown = |series: &Series| Series {
            points: series.points.iter().copied().filter(|(_, y)| !self.log_y || y.mean > 0.0).collect(),
            ..series.clone()
        };
        let shown: Vec<Series> = self.series.iter().map(shown).filter(|series| !series.points.is_empty()).collect();
        let bands = shown.iter().map(|series| self.band(series));
        bands.chain(shown.iter().map(Series::curve)).chain(shown.iter().map(Series::markers)).collect()
    }

    /// Marks with bars of one standard error; the first row is at the top.
    fn marks(&self, series: &Series) -> Plot {
        let shown = series.points.iter().filter(|(_, x)| !self.log_x || x.mean > 0.0);
        let places = shown.clone().map(|(row, x)| (x.mean, self.rows.len() as f64 - row));
        let bars = shown.map(|(_, x)| self.bar(x));
        let plot = ScatterPlot::new().with_data(places).with_x_err_asymmetric(bars);
        Plot::Scatter(plot.with_color(series.color()).with_marker(series.marker()).with_size(4.0))
    }

    /// How far a bar goes to the left and to the right. One that reaches 0 cannot be drawn on a logarithmic scale.
    fn bar(&self, x: &Estimate) -> (f64, f64) {
        (if self.log_x { x.se.min(0.5 * x.mean) } else { x.se }, x.se)
    }

    fn band(&self, series: &Series) -> Plot {
        // A band that reaches 0 cannot be drawn on a logarithmic scale.
        let lower = |y: &Estimate| if self.log_y { (y.mean - y.se).max(0.5 * y.mean) } else { y.mean - y.se };
        let xs = series.points.iter().map(|(x, _)| *x);
        let lowers = series.points.iter().map(|(_, y)| lower(y));
        let uppers = series.points.iter().map(|(_, y)| y.mean + y.se);
        Plot::Band(BandPlot::new(xs, lowers, uppers).with_color(series.color()).with_opacity(0.2))
    }

    fn layout(&self, plots: &[Plot]) -> Layout {
        let layout = Layout::auto_from_plots(plots)
            .with_title(&self.title)
            .with_title_size(title_size(&self.title))
            .with_x_label(&self.x_label)
            .with_y_label(&self.y_label)
            .with_label_size(16)
            .with_tick_size(15)
            .with_body_size(LEGEND_SIZE);
        if !self.rows.is_empty() {
            return self.in_rows(layout);
        }
        let xs = self.series.iter().flat_map(|series| series.points.iter().map(|(x, _)| *x));
        let (least, most) = xs.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), x| (least.min(x), most.max(x)));
        let layout =
            if self.log_x { layout.with_log_x().with_x_tick_format(decimal(most > MANY * least)) } else { layout };
        if self.log_y { layout.with_log_y().with_y_tick_format(decimal(false)) } else { layout.with_y_axis_min(0.0) }
    }

    /// The axes of a chart with rows.
    fn in_rows(&self, layout: Layout) -> Layout {
        let names = self.rows.iter().rev().cloned().collect();
        let layout = layout.with_y_categories(names).with_y_axis_min(0.5).with_y_axis_max(self.rows.len() as f64 + 0.5);
        if !self.log_x {
            return layout;
        }
        let shown = self.series.iter().flat_map(|series| series.points.iter().map(|(_, x)| x)).filter(|x| x.mean > 0.0);
        let (least, most) = shown.fold((f64::INFINITY, 0.0f64), |(least, most), x| {
            let (left, right) = self.bar(x);
            (least.min(x.mean - left), most.max(x.mean + right))
        });
        let layout = layout.with_log_x().with_x_tick_format(decimal(most > MANY * least));
        // Whole decades would leave most of a short axis empty.
        if most > 0.0 { layout.with_x_axis_min(MARGIN * least).with_x_axis_max(most / MARGIN) } else { layout }
    }
}

/// Titles longer than a chart is wide are smaller, as far as they can be read.
fn title_size(title: &str) -> u32 {
    match title.chars().count() as u32 {
        0..=34 => TITLE_SIZE,
        length => (TITLE_SIZE * 30 / length).max(9),
    }
}

/// Numbers on a logarithmic axis; on a long one only the powers of ten. Long numbers would run into the axis's label.
fn decimal(only_powers: bool) -> TickFormat {
    TickFormat::Custom(Arc::new(move |value| {
        let text = format!("{value}");
        let is_power = text.trim_start_matches(['0', '.']).trim_end_matches('0') == "1";
        match value.abs() {
            _ if only_powers && !is_power => String::new(),
            size if (1e-3..1e4).contains(&size) => text,
            _ => format!("{value:e}"),
        }
    }))
}

impl Series {
    fn color(&self) -> &'static str {
        STYLES[self.style % STYLES.len()].0
    }

    fn marker(&self) -> MarkerShape {
        STYLES[self.style % STYLES.len()].1
    }

    fn curve(&self) -> Plot {
        let points = self.points.iter().map(|(x, y)| (*x, y.mean));
        Plot::Line(LinePlot::new().with_data(points).with_color(self.color()).with_stroke_width(1.6))
    }

    /// A few markers; long curves have them at different positions, so that they do not overlap.
    fn markers(&self) -> Plot {
        let step = self.points.len().div_ceil(MARKERS + 1);
        let first = if step > 1 { (self.style + 1) * step / (STYLES.len() + 1) } else { 0 };
        let places = self.points.iter().skip(first).step_by(step).map(|(x, y)| (*x, y.mean));
        let plot = ScatterPlot::new().with_data(places).with_color(self.color()).with_marker(self.marker());
        Plot::Scatter(plot.with_size(4.0))
    }
}
