//! The layers of a panel: what is drawn in places of its axes.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene};

use crate::bar::{ShareBar, draw_bar};
use crate::cells::{CellMap, ToPage, draw_cells};
use crate::marks::{BLUE, FAINT, Mark, ORANGE, path, strokes, tenth};
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
            scene.add(faint(way(lows.chain(highs)) + "z"));
        }
        Layer::Curve(points) => scene.add(path(way(on_page(points).into_iter()), None, BLUE, 1.8)),
        Layer::Steps(points) => scene.add(path(way(on_page(points).into_iter()), None, ORANGE, 1.8)),
        Layer::Pieces(points) => draw_pieces(scene, &on_page(points), |at, value| (at, value)),
        Layer::Whiskers(intervals) => {
            let on_page: Vec<[f64; 3]> = intervals.iter().map(|[at, low, high]| [x(*at), y(*low), y(*high)]).collect();
            draw_whiskers(scene, &on_page, |at, value| (at, value));
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
    let turned = |at, value| (value, at);
    match layer {
        Layer::Pieces(points) => {
            let on_page: Vec<(f64, f64)> = points.iter().map(|(at, value)| (y(*at), x(*value))).collect();
            draw_pieces(scene, &on_page, turned);
        }
        Layer::Whiskers(intervals) => {
            let on_page: Vec<[f64; 3]> = intervals.iter().map(|[at, low, high]| [y(*at), x(*low), x(*high)]).collect();
            draw_whiskers(scene, &on_page, turned);
        }
        // Categories have no curve between them.
        _ => {}
    }
}

/// A piece of a curve at each of these places along it; `point` is where such a place and a value are on the page.
fn draw_pieces(scene: &mut Scene, pieces: &[(f64, f64)], point: impl Fn(f64, f64) -> (f64, f64)) {
    let stroke = |(at, value): &(f64, f64)| (point(at - HALF, *value), point(at + HALF, *value));
    scene.add(strokes(pieces.iter().map(stroke), BLUE, 2.6));
}

/// An interval at each of these places, from one value to another.
fn draw_whiskers(scene: &mut Scene, whiskers: &[[f64; 3]], point: impl Fn(f64, f64) -> (f64, f64)) {
    let boxes = whiskers.iter().map(|[at, low, high]| {
        let corners = [(-HALF, low), (HALF, low), (HALF, high), (-HALF, high)];
        way(corners.into_iter().map(|(aside, value)| point(at + aside, *value))) + "z"
    });
    scene.add(faint(boxes.collect()));
    let ends = whiskers
        .iter()
        .flat_map(|[at, low, high]| [low, high].map(|value| (point(at - HALF, *value), point(at + HALF, *value))));
    scene.add(strokes(ends, BLUE, 1.2));
}

fn dashed((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Primitive {
    let (stroke, stroke_dasharray) = (FRAME.into(), Some("4 3".to_string()));
    Primitive::Line { x1, y1, x2, y2, stroke, stroke_width: 1.0, stroke_dasharray }
}

/// An area inside of a path.
fn faint(d: String) -> Primitive {
    let (fill, stroke, opacity) = (Some(BLUE.into()), Color::None, Some(FAINT));
    Primitive::Path(Box::new(PathData { d, fill, stroke, stroke_width: 0.0, opacity, stroke_dasharray: None }))
}

/// A path from point to point.
fn way(points: impl Iterator<Item = (f64, f64)>) -> String {
    let step = |(i, (x, y))| format!("{}{} {}", if i == 0 { 'M' } else { 'L' }, tenth(x), tenth(y));
    points.enumerate().map(step).collect()
}
