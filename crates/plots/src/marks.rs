//! The marks of trials, the same in every panel, and the entries of the legend.

use kuva::plot::ScatterPlot;
use kuva::plot::scatter::MarkerShape;
use kuva::render::plots::Plot;
use kuva::render::render::{PathData, Primitive};
use manyhands_core::Aim;

/// Observed values; what is pending.
const INK: &str = "#222222";
/// Curves and bands. This and the next are of Okabe and Ito (2008), safe for the colour-blind.
pub const BLUE: &str = "#0072B2";
const ORANGE: &str = "#D55E00";
const RED: &str = "#C00000";
const GREY: &str = "#555555";
/// Of Okabe and Ito too.
const GREEN: &str = "#009E73";

/// How opaque a band is.
pub const FAINT: f64 = 0.2;

/// More trials than this are drawn smaller.
const MANY: usize = 300;

/// A kind of mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A trial with a value whose aim is not known, as of one from elsewhere.
    Observed,
    /// A trial with a value, by what it was for.
    Aimed(Aim),
    /// A ring around the best one.
    Best,
    /// A trial under way.
    Pending,
    /// A trial without a value.
    Failed,
    /// A value above the axis.
    Above,
    /// A value below the axis.
    Below,
}

/// The marks of a panel with a value axis, the lowest first.
pub const WITH_VALUES: [Mark; 10] = [
    Mark::Aimed(Aim::Design),
    Mark::Aimed(Aim::Exploring),
    Mark::Aimed(Aim::Wide),
    Mark::Aimed(Aim::Greedy),
    Mark::Observed,
    Mark::Above,
    Mark::Below,
    Mark::Pending,
    Mark::Failed,
    Mark::Best,
];

impl Mark {
    /// The marks of a panel whose axes are parameters: no value is beyond an axis there.
    pub fn on_parameters() -> Vec<Self> {
        WITH_VALUES.into_iter().filter(|mark| !matches!(mark, Self::Above | Self::Below)).collect()
    }

    /// Marks at these places.
    pub fn plot(self, places: Vec<(f64, f64)>) -> Plot {
        let size = if places.len() > MANY { 2.0 } else { 3.2 };
        let scatter = ScatterPlot::new().with_data(places).with_size(size);
        let open = |scatter: ScatterPlot, width| scatter.with_marker_opacity(0.0).with_marker_stroke_width(width);
        Plot::Scatter(match self {
            Self::Observed => scatter.with_color(INK),
            Self::Aimed(Aim::Design) => scatter.with_color(GREY).with_marker(MarkerShape::Square),
            Self::Aimed(Aim::Exploring) => scatter.with_color(GREY).with_marker(MarkerShape::Diamond),
            Self::Aimed(Aim::Greedy) => scatter.with_color(GREEN),
            Self::Aimed(_) => scatter.with_color(INK),
            Self::Best => open(scatter.with_color(ORANGE).with_size(6.5), 2.2),
            Self::Pending => open(scatter.with_color(INK), 1.2),
            Self::Failed => scatter.with_color(RED).with_marker(MarkerShape::Cross).with_size(4.0),
            Self::Above => scatter.with_color(INK).with_marker(MarkerShape::Triangle).with_size(4.0),
            Self::Below => scatter.with_color(INK).with_marker(MarkerShape::TriangleDown).with_size(4.0),
        })
    }
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq)]
pub enum LegendEntry {
    /// A kind of mark.
    Mark(Mark),
    /// A curve.
    Curve(String),
    /// A band.
    Band(String),
}

impl LegendEntry {
    /// What it says.
    pub fn label(&self) -> &str {
        match self {
            Self::Mark(Mark::Observed) => "observed",
            Self::Mark(Mark::Aimed(aim)) => aim.name(),
            Self::Mark(Mark::Best) => "best",
            Self::Mark(Mark::Pending) => "pending",
            Self::Mark(Mark::Failed) => "failed",
            Self::Mark(Mark::Above | Mark::Below) => "beyond the axis",
            Self::Curve(label) => label,
            Self::Band(label) => label,
        }
    }

    /// Its symbol around a point.
    pub fn symbol(&self, x: f64, y: f64) -> Vec<Primitive> {
        match self {
            Self::Mark(Mark::Observed) => vec![circle((x, y), 3.5, INK, None)],
            Self::Mark(Mark::Aimed(Aim::Design)) => vec![square(x, y)],
            Self::Mark(Mark::Aimed(Aim::Exploring)) => vec![diamond(x, y)],
            Self::Mark(Mark::Aimed(Aim::Greedy)) => vec![circle((x, y), 3.5, GREEN, None)],
            Self::Mark(Mark::Aimed(_)) => vec![circle((x, y), 3.5, INK, None)],
            Self::Mark(Mark::Best) => vec![circle((x, y), 6.0, ORANGE, Some(2.2))],
            Self::Mark(Mark::Pending) => vec![circle((x, y), 3.5, INK, Some(1.2))],
            Self::Mark(Mark::Failed) => {
                vec![
                    line((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), RED),
                    line((x - 4.0, y + 4.0), (x + 4.0, y - 4.0), RED),
                ]
            }
            Self::Mark(Mark::Above) => vec![triangle(x, y, -1.0)],
            Self::Mark(Mark::Below) => vec![triangle(x, y, 1.0)],
            Self::Curve(_) => vec![line((x - 8.0, y), (x + 8.0, y), BLUE)],
            Self::Band(_) => vec![Primitive::Rect {
                x: x - 8.0,
                y: y - 5.0,
                width: 16.0,
                height: 10.0,
                fill: BLUE.into(),
                stroke: None,
                stroke_width: None,
                opacity: Some(FAINT),
            }],
        }
    }
}

/// A dot, or a ring of this width.
fn circle((cx, cy): (f64, f64), r: f64, color: &str, ring: Option<f64>) -> Primitive {
    let (fill_opacity, stroke) = (ring.map(|_| 0.0), ring.map(|_| color.into()));
    Primitive::Circle { cx, cy, r, fill: color.into(), fill_opacity, stroke, stroke_width: ring }
}

fn line((x1, y1): (f64, f64), (x2, y2): (f64, f64), color: &str) -> Primitive {
    Primitive::Line { x1, y1, x2, y2, stroke: color.into(), stroke_width: 1.6, stroke_dasharray: None }
}

/// Points up where `down` is -1.
fn triangle(x: f64, y: f64, down: f64) -> Primitive {
    let (tip, base) = (y + 4.0 * down, y - 3.0 * down);
    shape(format!("M{x},{tip} L{},{base} L{},{base} Z", x - 4.0, x + 4.0), INK)
}

fn square(x: f64, y: f64) -> Primitive {
    shape(format!("M{},{} h6 v6 h-6 Z", x - 3.0, y - 3.0), GREY)
}

fn diamond(x: f64, y: f64) -> Primitive {
    shape(format!("M{x},{} L{},{y} L{x},{} L{},{y} Z", y - 4.0, x + 4.0, y + 4.0, x - 4.0), GREY)
}

/// A filled outline.
fn shape(d: String, color: &str) -> Primitive {
    Primitive::Path(Box::new(PathData {
        d,
        fill: Some(color.into()),
        stroke: color.into(),
        stroke_width: 0.5,
        opacity: None,
        stroke_dasharray: None,
    }))
}
