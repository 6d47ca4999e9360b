//! The marks of trials, the same in every panel, and the entries of the legend.

use kuva::render::render::{PathData, Primitive};
use manyhands_core::Aim;

/// Observed values; what is pending.
pub const INK: &str = "#222222";
/// Curves, bands and bars. This and the next are of Okabe and Ito (2008), safe for the colour-blind.
pub const BLUE: &str = "#0072B2";
const ORANGE: &str = "#D55E00";
const RED: &str = "#C00000";
const GREY: &str = "#666666";
/// Of Okabe and Ito too.
const GREEN: &str = "#009E73";
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
    /// A metric of a trial.
    Number,
}

/// The marks of a panel with a value axis, the lowest first.
pub const WITH_VALUES: [Mark; 11] = [
    Mark::Aimed(Aim::Design),
    Mark::Aimed(Aim::Requested),
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
        // So many hardly differ in shape; small squares are short to write.
        let dots = |points: &[(f64, f64)], size: f64, color: &str| match points.len() {
            0..=MANY => dots(points, size, color),
            _ => path(points.iter().map(|at| square(*at, size)).collect(), Some(color), color, 0.0),
        };
        match self {
            Self::Observed => vec![dots(points, size, INK)],
            Self::Aimed(Aim::Design) => vec![shapes(points, GREY, |at| square(at, size))],
            Self::Aimed(Aim::Exploring) => vec![shapes(points, GREY, |at| diamond(at, 1.35 * size))],
            Self::Aimed(Aim::Greedy) => vec![dots(points, size, GREEN)],
            Self::Aimed(Aim::Requested) => vec![shapes(points, BLUE, |at| square(at, size))],
            Self::Aimed(_) => vec![dots(points, size, INK)],
            Self::Best => vec![rings(points, 6.5, WHITE, 4.0), rings(points, 6.5, ORANGE, 2.2)],
            Self::Pending => vec![open_dots(points, size)],
            Self::Failed => vec![crosses(points, WHITE, 3.6), crosses(points, RED, 1.8)],
            Self::Above => vec![shapes(points, INK, |at| triangle(at, -1.0))],
            Self::Below => vec![shapes(points, INK, |at| triangle(at, 1.0))],
            // There may be many panels of them, and squares are short to write.
            Self::Number => vec![path(
                points.iter().map(|at| square(*at, (2.0 * size / 3.0).min(2.0))).collect(),
                Some(INK),
                INK,
                0.0,
            )],
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
    /// A band.
    Band(String),
}

impl LegendEntry {
    /// What it says.
    pub fn label(&self) -> &str {
        match self {
            Self::Mark(Mark::Observed | Mark::Number) => "observed",
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
            Self::Mark(mark) => mark.drawn(&[(x, y)]),
            Self::Curve(_) => vec![line((x - 8.0, y), (x + 8.0, y), BLUE, 1.8)],
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

/// Dots of this radius.
pub fn dots(points: &[(f64, f64)], r: f64, color: &str) -> Primitive {
    circles(points, r, (color, None), (WHITE, HALO))
}

fn open_dots(points: &[(f64, f64)], r: f64) -> Primitive {
    circles(points, r, (WHITE, None), (INK, 1.3))
}

fn rings(points: &[(f64, f64)], r: f64, color: &str, width: f64) -> Primitive {
    circles(points, r, (color, Some(0.0)), (color, width))
}

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

fn square((x, y): (f64, f64), half: f64) -> String {
    let side = tenth(2.0 * half);
    format!("M{} {}h{side}v{side}h-{side}z", tenth(x - half), tenth(y - half))
}

fn diamond((x, y): (f64, f64), half: f64) -> String {
    let half = tenth(half);
    format!("M{} {}l{half} {half}l-{half} {half}l-{half}-{half}z", tenth(x), tenth(y - half))
}

/// Points up where `down` is -1.
fn triangle((x, y): (f64, f64), down: f64) -> String {
    let (tip, base) = (tenth(y + 4.0 * down), tenth(y - 3.0 * down));
    format!("M{} {tip}L{} {base}h8z", tenth(x), tenth(x - 4.0))
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

/// Tenths of a unit are finer than anyone sees, and short to write.
pub fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}
