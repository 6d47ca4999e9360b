//! One panel: a frame with two axes, and layers that are drawn in places of these axes.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};
use manyhands_core::Value;

use crate::axis::{AxisTick, PlotAxis};
use crate::bar::{ShareBar, draw_bar};
use crate::cells::{CellMap, draw_cells, whole};
use crate::colour_bar::{ColourScale, draw_colour_bar};
use crate::marks::{BLUE, FAINT, LegendEntry, Mark, ORANGE, filled, line, path, tenth};
use crate::text::{Writing, fitted, width};

const TITLE_SIZE: u32 = 13;
const LABEL_SIZE: u32 = 12;
pub const TICK_SIZE: u32 = 11;
pub const FRAME: &str = "#777777";
const GRID: &str = "#e4e4e4";
/// The length of a tick.
pub const TICK: f64 = 4.0;
/// Between a tick and its label beside it: the ring of a best point at the edge leaves it free.
const ASIDE: f64 = 5.0;
/// Between neighbouring labels.
const GAP: f64 = 8.0;
/// Long words are written in up to this many lines, one after the other.
const MOST_LINES: usize = 3;
/// The height of a line of ticks.
const LINE: f64 = 13.0;
/// Fewer letters of a word are of no use.
const NARROWEST: f64 = 42.0;

/// One panel.
pub struct PagePanel {
    /// On top; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: PanelSide,
    /// The vertical axis.
    pub y: PanelSide,
    /// What is drawn, the lowest first.
    pub layers: Vec<Layer>,
    /// What the colours of cells mean.
    pub colours: Option<ColourScale>,
    /// What its marks mean.
    pub legend: Vec<LegendEntry>,
    /// Width and height.
    pub size: (f64, f64),
}

/// An axis with what is written along it.
pub struct PanelSide {
    /// The axis.
    pub axis: PlotAxis,
    /// What it is.
    pub label: String,
    /// What its ticks say.
    pub ticks: SideTicks,
}

/// The ticks of an axis.
pub enum SideTicks {
    /// None: there are no numbers yet.
    Blank,
    /// Round numbers.
    Numbers,
    /// Round numbers, and below the lowest of them a tick for all that is less.
    Above(AxisTick),
    /// The names of the numbers 0, 1 and so on.
    Words(Vec<String>),
    /// These values, as many of them as have room.
    Levels(Vec<Value>),
}

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
}

/// A rectangle of the page.
#[derive(Debug, Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl PanelSide {
    /// An axis of numbers.
    pub fn numbers(axis: PlotAxis, label: &str) -> Self {
        Self { axis, label: label.to_string(), ticks: SideTicks::Numbers }
    }

    fn words(&self) -> &[String] {
        if let SideTicks::Words(words) = &self.ticks { words } else { &[] }
    }

    /// At most `most` ticks at round numbers.
    fn numbered(&self, most: usize) -> Vec<AxisTick> {
        let lowest = self.axis.part(self.axis.between(0.0)) - 1e-9;
        match &self.ticks {
            SideTicks::Blank | SideTicks::Words(_) => vec![],
            SideTicks::Numbers => self.axis.ticks(most),
            SideTicks::Levels(levels) => self.levels(levels, most),
            SideTicks::Above(floor) => {
                let above = self.axis.ticks(most).into_iter().filter(|tick| self.axis.part(tick.place) >= lowest);
                above.chain([floor.clone()]).collect()
            }
        }
    }

    /// Ticks at levels, without those that are too close to the one before; round numbers where few would be left.
    fn levels(&self, levels: &[Value], most: usize) -> Vec<AxisTick> {
        let length = (self.axis.part(self.axis.between(1.0)) - self.axis.part(self.axis.between(0.0))).abs();
        let mut ticks: Vec<AxisTick> = Vec::new();
        for level in levels {
            let Some(place) = level.number().map(|number| self.axis.place(number)) else { continue };
            let apart = |last: &AxisTick| (self.axis.part(place) - self.axis.part(last.place)).abs();
            if ticks.last().is_none_or(|last| apart(last) * most as f64 >= length) {
                ticks.push(AxisTick { place, label: level.short() });
            }
        }
        let is_enough = ticks.len() >= 3.min(levels.len()) && ticks.len() <= most;
        if is_enough { ticks } else { self.axis.ticks(most) }
    }

    /// The words as ticks, every one or every second and so on.
    fn named(&self, every: usize) -> Vec<AxisTick> {
        let words = self.words().iter().enumerate().step_by(every);
        words.map(|(i, word)| AxisTick { place: self.axis.place(i as f64), label: word.clone() }).collect()
    }
}

impl PagePanel {
    /// Draws it with its upper left corner at this point.
    pub fn draw(&self, scene: &mut Scene, corner: (f64, f64)) {
        let (area, rows) = self.area(corner);
        let columns = self.columns(area, corner);
        self.draw_grid(scene, area, &rows);
        let clip = Clip::begin(scene, area);
        let (marks, others): (Vec<&Layer>, Vec<&Layer>) =
            self.layers.iter().partition(|layer| matches!(layer, Layer::Marks(..)));
        others.into_iter().for_each(|layer| self.draw_layer(scene, area, layer));
        clip.end(scene);
        // Marks at the edge are drawn whole.
        marks.into_iter().for_each(|layer| self.draw_layer(scene, area, layer));
        self.draw_frame(scene, area, (&columns, &rows));
        self.draw_labels(scene, area, corner);
        if let Some(colours) = &self.colours {
            draw_colour_bar(scene, (area.left + area.width + 14.0, area.top, area.height), colours);
        }
    }

    /// What is inside of the axes, and the ticks of the vertical one.
    fn area(&self, (left, top): (f64, f64)) -> (Area, Vec<AxisTick>) {
        let above = if self.title.is_empty() { 8.0 } else { 26.0 } + if self.y.label.is_empty() { 0.0 } else { 16.0 };
        let label_below = if self.x.label.is_empty() { 4.0 } else { 20.0 };
        // Half of the last label may be behind the axis.
        let last = 0.5 * widest(&self.x.numbered(3)) + 2.0;
        let behind = self.colours.as_ref().map_or(last.max(14.0), |colours| 18.0 + colours.width());
        let below = TICK + 1.0 + LINE + label_below;
        let rows = if self.y.words().is_empty() {
            self.y.numbered((((self.size.1 - above - below) / 36.0) as usize).clamp(2, 7))
        } else {
            let room = 0.36 * self.size.0;
            let cut = |tick: AxisTick| AxisTick { label: fitted(&tick.label, TICK_SIZE, room), ..tick };
            let fit = ((self.size.1 - above - below) / 14.0).max(1.0) as usize;
            self.y.named(self.y.words().len().div_ceil(fit).max(1)).into_iter().map(cut).collect()
        };
        let before = 4.0 + widest(&rows) + TICK + ASIDE + 1.0;
        let width = self.size.0 - before - behind;
        let height = self.size.1 - above - below - LINE * (self.word_lines(width) - 1) as f64;
        (Area { left: whole(left + before), top: whole(top + above), width: whole(width), height: whole(height) }, rows)
    }

    /// In how many lines the words below the panel are written: as few as have room for all of them.
    fn word_lines(&self, width: f64) -> usize {
        let step = width / self.x.words().len().max(1) as f64;
        let longest = self.x.words().iter().map(|word| text_width(word)).fold(0.0, f64::max);
        (1..MOST_LINES).find(|&lines| longest + GAP <= step * lines as f64).unwrap_or(if longest == 0.0 {
            1
        } else {
            MOST_LINES
        })
    }

    /// The ticks of the horizontal axis: as many as have room for their labels.
    fn columns(&self, area: Area, corner: (f64, f64)) -> Vec<AxisTick> {
        if !self.x.words().is_empty() {
            let lines = self.word_lines(area.width);
            let fit = (area.width * lines as f64 / NARROWEST).max(1.0) as usize;
            let every = self.x.words().len().div_ceil(fit).max(1);
            let room = area.width * (lines * every) as f64 / self.x.words().len() as f64 - GAP;
            let cut = |tick: AxisTick| AxisTick { label: fitted(&tick.label, TICK_SIZE, room), ..tick };
            return self.x.named(every).into_iter().map(cut).collect();
        }
        let at = |tick: &AxisTick| area.left + self.x.axis.part(tick.place) * area.width;
        let ends =
            |tick: &AxisTick| (at(tick) - 0.5 * text_width(&tick.label), at(tick) + 0.5 * text_width(&tick.label));
        let fits = |ticks: &Vec<AxisTick>| {
            let apart = ticks.windows(2).all(|pair| ends(&pair[0]).1 + GAP <= ends(&pair[1]).0);
            apart && ticks.iter().all(|tick| ends(tick).0 >= corner.0 && ends(tick).1 <= corner.0 + self.size.0)
        };
        let most = ((area.width / 45.0) as usize).clamp(2, 8);
        (1..=most).rev().map(|most| self.x.numbered(most)).find(fits).unwrap_or_default()
    }

    fn draw_grid(&self, scene: &mut Scene, area: Area, rows: &[AxisTick]) {
        if self.colours.is_none() && self.y.words().is_empty() {
            for tick in rows {
                let y = area.y(&self.y.axis, tick.place);
                scene.add(line((area.left, y), (area.left + area.width, y), GRID, 1.0));
            }
        }
    }

    /// The lines around the area, ticks and their labels.
    fn draw_frame(&self, scene: &mut Scene, area: Area, (columns, rows): (&[AxisTick], &[AxisTick])) {
        let Area { left, top, width, height } = area;
        let bottom = top + height;
        scene.add(line((left, top), (left, bottom), FRAME, 1.0));
        scene.add(line((left, bottom), (left + width, bottom), FRAME, 1.0));
        for tick in rows {
            let y = area.y(&self.y.axis, tick.place);
            scene.add(line((left - TICK, y), (left, y), FRAME, 1.0));
            scene.add(Writing::new(left - TICK - ASIDE, y + 4.0, TICK_SIZE, TextAnchor::End).of(&tick.label));
        }
        let lines = self.word_lines(width);
        for (i, tick) in columns.iter().enumerate() {
            let (x, lower) = (area.x(&self.x.axis, tick.place), LINE * (i % lines) as f64);
            scene.add(line((x, bottom), (x, bottom + TICK + lower), FRAME, 1.0));
            scene.add(Writing::new(x, bottom + TICK + 12.0 + lower, TICK_SIZE, TextAnchor::Middle).of(&tick.label));
        }
    }

    /// Title and names of the axes.
    fn draw_labels(&self, scene: &mut Scene, area: Area, (left, top): (f64, f64)) {
        let middle = area.left + 0.5 * area.width;
        let mut write = |text: &str, written: Writing, room: f64| {
            if !text.is_empty() {
                scene.add(written.of(&fitted(text, written.size, room)));
            }
        };
        let title = Writing::new(left + 0.5 * self.size.0, top + 16.0, TITLE_SIZE, TextAnchor::Middle);
        write(&self.title, title, self.size.0 - GAP);
        // In the middle of the area, or of the panel where it is too long for that.
        let room = 2.0 * (middle - left).min(left + self.size.0 - middle) - GAP;
        let is_long = width(&self.x.label, LABEL_SIZE) > room;
        let (middle, room) = if is_long { (left + 0.5 * self.size.0, self.size.0 - GAP) } else { (middle, room) };
        write(&self.x.label, Writing::new(middle, top + self.size.1 - 6.0, LABEL_SIZE, TextAnchor::Middle), room);
        let above = Writing::new(left + 4.0, area.top - 8.0, LABEL_SIZE, TextAnchor::Start);
        write(&self.y.label, above, self.size.0 - GAP);
    }

    fn draw_layer(&self, scene: &mut Scene, area: Area, layer: &Layer) {
        let (x, y) = (|place: f64| area.x(&self.x.axis, place), |place: f64| area.y(&self.y.axis, place));
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
                for (x, y) in on_page(points) {
                    scene.add(line((x - 5.0, y), (x + 5.0, y), BLUE, 2.6));
                }
            }
            Layer::Whiskers(intervals) => {
                for [at, low, high] in intervals {
                    let (at, low, high) = (x(*at), y(*low), y(*high));
                    scene.add(filled((at - 5.0, high), (10.0, (low - high).max(0.0)), BLUE, Some(FAINT)));
                    for end in [low, high] {
                        scene.add(line((at - 5.0, end), (at + 5.0, end), BLUE, 1.2));
                    }
                }
            }
            Layer::Bars(bars) => bars.iter().for_each(|bar| draw_bar(scene, (&x, &y), bar)),
            Layer::Cells(cells) => draw_cells(scene, (&x, &y), cells),
            Layer::Marks(mark, points) => {
                mark.drawn(&on_page(points)).into_iter().for_each(|part| scene.add(part));
            }
            Layer::Upright(at) => scene.add(Primitive::Line {
                x1: x(*at),
                y1: area.top,
                x2: x(*at),
                y2: area.top + area.height,
                stroke: FRAME.into(),
                stroke_width: 1.0,
                stroke_dasharray: Some("4 3".to_string()),
            }),
        }
    }
}

impl Area {
    fn x(&self, axis: &PlotAxis, place: f64) -> f64 {
        self.left + axis.part(place) * self.width
    }

    fn y(&self, axis: &PlotAxis, place: f64) -> f64 {
        self.top + (1.0 - axis.part(place)) * self.height
    }
}

/// A part of the page outside of which nothing is drawn.
struct Clip;

impl Clip {
    fn begin(scene: &mut Scene, Area { left: x, top: y, width, height }: Area) -> Self {
        let id = format!("panel-{}", scene.defs.len());
        scene.defs.push(format!(
            "<clipPath id=\"{id}\"><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/></clipPath>"
        ));
        scene.add(Primitive::ClipStart { x, y, width, height, id });
        Self
    }

    fn end(self, scene: &mut Scene) {
        scene.add(Primitive::ClipEnd);
    }
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

/// The width of the widest label.
pub fn widest(ticks: &[AxisTick]) -> f64 {
    ticks.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max)
}

fn text_width(text: &str) -> f64 {
    width(text, TICK_SIZE)
}
