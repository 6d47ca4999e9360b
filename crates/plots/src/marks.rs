//! The marks of trials, the same in every panel, and the entries of the legend.

use kuva::render::render::{PathData, Primitive};
use manyhands_core::Aim;

use crate::scale::Edge;
use crate::shapes::{arrow, chevrons, circle, diamond, plus, rectangle, square, star, triangle};

/// Observed values; what is pending.
pub const INK: &str = "#222222";
/// Curves, bands and bars. This and the next are of Okabe and Ito (2008), safe for the colour-blind.
pub const BLUE: &str = "#0072B2";
/// What is best.
pub const ORANGE: &str = "#D55E00";
const RED: &str = "#C00000";
const GREY: &str = "#666666";
/// Of Okabe and Ito too.
const GREEN: &str = "#009E73";
const PURPLE: &str = "#A03070";
/// Around marks, so that they are visible on each other and on maps.
const WHITE: &str = "#ffffff";

/// How opaque a band is.
pub const FAINT: f64 = 0.2;

/// More trials than this are drawn smaller.
const MANY: usize = 300;

/// And more than this, smaller still.
const VERY_MANY: usize = 1_500;

/// The width of what is white around a mark.
const HALO: f64 = 0.8;

/// A kind of mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A trial with a value that was not suggested here.
    Elsewhere,
    /// A trial with a value whose aim the log does not say.
    Unknown,
    /// A trial with a value, by what it was for.
    Aimed(Aim),
    /// A ring around the best one.
    Best,
    /// A trial under way.
    Pending,
    /// A trial without a value.
    Failed,
    /// A trial that was given up; it may have metrics.
    Cancelled,
    /// A value beyond this edge.
    Beyond(Edge),
    /// A curve or a band that goes on beyond this edge.
    Onward(Edge),
}

/// The marks of a panel with a value axis, the lowest first: what has a value is on top of what has none, and the best on all.
pub const WITH_VALUES: [Mark; 12] = [
    Mark::Failed,
    Mark::Pending,
    Mark::Aimed(Aim::Design),
    Mark::Aimed(Aim::Requested),
    Mark::Aimed(Aim::Exploring),
    Mark::Aimed(Aim::Wide),
    Mark::Aimed(Aim::Greedy),
    Mark::Elsewhere,
    Mark::Unknown,
    Mark::Beyond(Edge::Top),
    Mark::Beyond(Edge::Bottom),
    Mark::Best,
];

impl Mark {
    /// The marks of a panel whose axes are parameters: no value is beyond an axis there.
    pub fn on_parameters() -> Vec<Self> {
        WITH_VALUES.into_iter().filter(|mark| !matches!(mark, Self::Beyond(_))).collect()
    }

    /// Marks at these points of the page.
    pub fn drawn(self, points: &[(f64, f64)]) -> Vec<Primitive> {
        if points.is_empty() {
            return vec![];
        }
        let size = match points.len() {
            count if count > VERY_MANY => 0.8,
            count if count > MANY => 1.6,
            _ => 3.0,
        };
        match self {
            Self::Elsewhere => vec![shapes(points, INK, |at| triangle(at, 1.35 * size))],
            Self::Unknown => vec![shapes(points, INK, |at| rectangle(at, (0.6 * size, 1.4 * size)))],
            Self::Aimed(Aim::Design) => vec![shapes(points, GREY, |at| square(at, size))],
            Self::Aimed(Aim::Exploring) => vec![shapes(points, PURPLE, |at| diamond(at, 1.5 * size))],
            Self::Aimed(Aim::Greedy) => vec![shapes(points, GREEN, |at| star(at, 1.8 * size))],
            Self::Aimed(Aim::Requested) => vec![shapes(points, BLUE, |at| plus(at, 1.5 * size))],
            Self::Aimed(_) => vec![shapes(points, INK, |at| circle(at, size))],
            Self::Best => vec![rings(points, 7.0, WHITE, 4.0), rings(points, 7.0, ORANGE, 2.2)],
            Self::Pending => vec![circles(points, size, (WHITE, None), (INK, 1.3))],
            Self::Failed => vec![crosses(points, WHITE, 3.6), crosses(points, RED, 1.8)],
            Self::Cancelled => vec![shapes(points, GREY, |at| rectangle(at, (1.4 * size, 0.4 * size)))],
            Self::Beyond(edge) => vec![shapes(points, INK, |at| arrow(at, edge))],
            Self::Onward(edge) => {
                let d: String = points.iter().map(|at| chevrons(*at, edge)).collect();
                vec![path(d.clone(), None, WHITE, 4.0), path(d, None, BLUE, 1.8)]
            }
        }
    }

    /// The same mark in a panel whose values run to the right.
    pub fn turned(self) -> Self {
        let turned = |edge| if edge == Edge::Top { Edge::Right } else { Edge::Left };
        match self {
            Self::Beyond(edge) => Self::Beyond(turned(edge)),
            Self::Onward(edge) => Self::Onward(turned(edge)),
            other => other,
        }
    }
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq)]
pub enum LegendEntry {
    /// A kind of mark.
    Mark(Mark),
    /// A curve.
    Curve(String),
    /// A line in steps.
    Steps(String),
    /// A band.
    Band(String),
}

impl LegendEntry {
    /// What it says.
    pub fn label(&self) -> &str {
        match self {
            Self::Mark(Mark::Elsewhere) => "from elsewhere",
            Self::Mark(Mark::Unknown) => "observed",
            Self::Mark(Mark::Aimed(aim)) => aim.name(),
            Self::Mark(Mark::Best) => "best",
            Self::Mark(Mark::Pending) => "pending",
            Self::Mark(Mark::Failed) => "failed",
            Self::Mark(Mark::Cancelled) => "cancelled",
            Self::Mark(Mark::Beyond(_)) => "beyond the axis",
            Self::Mark(Mark::Onward(_)) => "goes on beyond the axis",
            Self::Curve(label) | Self::Steps(label) | Self::Band(label) => label,
        }
    }

    /// Its symbol around a point.
    pub fn symbol(&self, x: f64, y: f64) -> Vec<Primitive> {
        match self {
            Self::Mark(mark) => mark.drawn(&[(x, y)]),
            Self::Curve(_) => vec![line((x - 8.0, y), (x + 8.0, y), BLUE, 1.8)],
            Self::Steps(_) => {
                vec![path(format!("M{} {}h8v8h8", tenth(x - 8.0), tenth(y - 4.0)), None, ORANGE, 1.8)]
            }
            Self::Band(_) => vec![filled((x - 8.0, y - 5.0), (16.0, 10.0), BLUE, Some(FAINT))],
        }
    }
}

/// A line.
pub fn line((x1, y1): (f64, f64), (x2, y2): (f64, f64), color: &str, width: f64) -> Primitive {
    Primitive::Line { x1, y1, x2, y2, stroke: color.into(), stroke_width: width, stroke_dasharray: None }
}

/// A filled rectangle.
pub fn filled((x, y): (f64, f64), (width, height): (f64, f64), color: &str, opacity: Option<f64>) -> Primitive {
    Primitive::Rect { x, y, width, height, fill: color.into(), stroke: None, stroke_width: None, opacity }
}

fn rings(points: &[(f64, f64)], r: f64, color: &str, width: f64) -> Primitive {
    circles(points, r, (color, Some(0.0)), (color, width))
}

/// A PNG has bumps on a path's arcs where they are stroked; circles are round.
fn circles(
    points: &[(f64, f64)],
    r: f64,
    (fill, fill_opacity): (&str, Option<f64>),
    (stroke, width): (&str, f64),
) -> Primitive {
    let (cx, cy) = points.iter().map(|&(x, y)| (tenth(x), tenth(y))).unzip();
    let (stroke, stroke_width) = (Some(stroke.into()), Some(width));
    Primitive::CircleBatch { cx, cy, r, fill: fill.into(), fill_opacity, stroke, stroke_width }
}

fn crosses(points: &[(f64, f64)], color: &str, width: f64) -> Primitive {
    let cross = |(x, y): (f64, f64)| {
        let (x, y) = (tenth(x - 3.5), tenth(y - 3.5));
        format!("M{x} {y}l7 7M{x} {}l7-7", tenth(y + 7.0))
    };
    path(points.iter().copied().map(cross).collect(), None, color, width)
}

/// Filled outlines.
fn shapes(points: &[(f64, f64)], color: &str, outline: impl Fn((f64, f64)) -> String) -> Primitive {
    path(points.iter().copied().map(outline).collect(), Some(color), WHITE, HALO)
}

/// A path, filled or not.
pub fn path(d: String, fill: Option<&str>, stroke: &str, stroke_width: f64) -> Primitive {
    let (fill, stroke) = (fill.map(Into::into), stroke.into());
    Primitive::Path(Box::new(PathData { d, fill, stroke, stroke_width, opacity: None, stroke_dasharray: None }))
}

/// Separate straight strokes as one path, which is shorter to write than many lines.
pub fn strokes(ends: impl Iterator<Item = ((f64, f64), (f64, f64))>, color: &str, width: f64) -> Primitive {
    let stroke = |((x1, y1), (x2, y2)): ((f64, f64), (f64, f64))| {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(tenth);
        match (tenth(x2 - x1), tenth(y2 - y1)) {
            (x, 0.0) => format!("M{x1} {y1}h{x}"),
            (0.0, y) => format!("M{x1} {y1}v{y}"),
            (x, y) => format!("M{x1} {y1}l{x} {y}"),
        }
    };
    path(ends.map(stroke).collect(), None, color, width)
}

/// Tenths of a unit are finer than anyone sees, and short to write.
pub fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
