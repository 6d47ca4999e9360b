//! The layers of a panel: what is drawn in places of its axes.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene};

use crate::bar::{ShareBar, draw_bar};
use crate::cells::{CellMap, ToPage, draw_cells};
use crate::marks::{BLUE, FAINT, Mark, ORANGE, filled, line, path, tenth};
use crate::panel::FRAME;

/// Half the width of an interval or a piece of a curve.
const HALF: f64 = 5.0;

/// What is drawn in a panel, in places.
pub enum Layer {
    /// The area between two curves: x, low, high.
    Band(Vec<[f64; 3]>),
    /// A line.
    Curve(Vec<(f64, f64)>),
    /// A line in steps.
    Steps(Vec<(f64, f64)>),
    /// Short pieces of a curve that is known only there.
    Pieces(Vec<(f64, f64)>),
    /// Intervals: x, low, high.
    Whiskers(Vec<[f64; 3]>),
    /// Horizontal bars.
    Bars(Vec<ShareBar>),
    /// Coloured cells.
    Cells(CellMap),
    /// Marks of trials.
    Marks(Mark, Vec<(f64, f64)>),
    /// A dashed vertical line.
    Upright(f64),
    /// Intervals, pieces or a dashed line of a panel whose values run to the right.
    Turned(Box<Layer>),
}

/// A rectangle of the page: its upper left corner, its width and height.
type LayerFrame = ((f64, f64), (f64, f64));

/// Draws a layer in the area of its panel.
pub fn draw_layer(scene: &mut Scene, (x, y): ToPage<'_>, frame: LayerFrame, layer: &Layer) {
    let ((left, top), (width, height)) = frame;
    let on_page = |points: &[(f64, f64)]| points.iter().map(|at| (x(at.0), y(at.1))).collect::<Vec<_>>();
    match layer {
        Layer::Band(points) => {
            let lows = points.iter().map(|at| (x(at[0]), y(at[1])));
            let highs = points.iter().rev().map(|at| (x(at[0]), y(at[2])));
            scene.add(polygon(lows.chain(highs), FAINT));
        }
        Layer::Curve(points) => scene.add(path(way(on_page(points).into_iter()), None, BLUE, 1.8)),
        Layer::Steps(points) => scene.add(path(way(on_page(points).into_iter()), None, ORANGE, 1.8)),
        Layer::Pieces(points) => {
            on_page(points).into_iter().for_each(|(x, y)| scene.add(line((x - HALF, y), (x + HALF, y), BLUE, 2.6)));
        }
        Layer::Whiskers(intervals) => {
            for [at, low, high] in intervals {
                let (at, low, high) = (x(*at), y(*low), y(*high));
                scene.add(filled((at - HALF, high), (2.0 * HALF, (low - high).max(0.0)), BLUE, Some(FAINT)));
                [low, high].into_iter().for_each(|end| scene.add(line((at - HALF, end), (at + HALF, end), BLUE, 1.2)));
            }
        }
        Layer::Bars(bars) => bars.iter().for_each(|bar| draw_bar(scene, (x, y), bar)),
        Layer::Cells(cells) => draw_cells(scene, (x, y), cells),
        Layer::Marks(mark, points) => mark.drawn(&on_page(points)).into_iter().for_each(|part| scene.add(part)),
        Layer::Upright(at) => scene.add(dashed((x(*at), top), (x(*at), top + height))),
        Layer::Turned(inner) => match &**inner {
            Layer::Upright(at) => scene.add(dashed((left, y(*at)), (left + width, y(*at)))),
            other => draw_turned(scene, (x, y), other),
        },
    }
}

/// Intervals and pieces of a curve along rows.
fn draw_turned(scene: &mut Scene, (x, y): ToPage<'_>, layer: &Layer) {
    match layer {
        Layer::Pieces(points) => {
            for (at, value) in points.iter().map(|at| (y(at.0), x(at.1))) {
                scene.add(line((value, at - HALF), (value, at + HALF), BLUE, 2.6));
            }
        }
        Layer::Whiskers(intervals) => {
            for [at, low, high] in intervals {
                let (at, low, high) = (y(*at), x(*low), x(*high));
                scene.add(filled((low, at - HALF), ((high - low).max(0.0), 2.0 * HALF), BLUE, Some(FAINT)));
                [low, high].into_iter().for_each(|end| scene.add(line((end, at - HALF), (end, at + HALF), BLUE, 1.2)));
            }
        }
        // Categories have no curve between them.
        _ => {}
    }
}

fn dashed((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Primitive {
    let (stroke, stroke_dasharray) = (FRAME.into(), Some("4 3".to_string()));
    Primitive::Line { x1, y1, x2, y2, stroke, stroke_width: 1.0, stroke_dasharray }
}

fn polygon(points: impl Iterator<Item = (f64, f64)>, opacity: f64) -> Primitive {
    let (fill, stroke) = (Some(BLUE.into()), Color::None);
    let (d, stroke_dasharray) = (way(points) + "z", None);
    Primitive::Path(Box::new(PathData { d, fill, stroke, stroke_width: 0.0, opacity: Some(opacity), stroke_dasharray }))
}

/// A path from point to point.
fn way(points: impl Iterator<Item = (f64, f64)>) -> String {
    let step = |(i, (x, y))| format!("{}{} {}", if i == 0 { 'M' } else { 'L' }, tenth(x), tenth(y));
    points.enumerate().map(step).collect()
}
