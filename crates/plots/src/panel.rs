//! One panel: a frame with two axes, and layers that are drawn in places of these axes.

use kuva::render::render::{Primitive, Scene, TextAnchor};
use manyhands_core::Value;

use crate::axis::{AxisTick, PlotAxis};
use crate::cells::whole;
use crate::colour_bar::{ColourScale, draw_colour_bar};
use crate::layers::{Layer, draw_layer};
use crate::marks::{LegendEntry, strokes};
use crate::text::{Writing, fitted, fitted_apart, width};

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
/// The longest word that is written upwards.
pub const UPRIGHT: f64 = 120.0;
/// The share of a panel that names beside it may take, and what they may take of a small one.
const NAMES: (f64, f64) = (0.36, 135.0);
/// The height of a row with its name.
const ROW: f64 = 14.0;
/// The height of a line of ticks.
const LINE: f64 = 13.0;

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

    fn longest(&self) -> f64 {
        self.words().iter().map(|word| text_width(word)).fold(0.0, f64::max)
    }

    /// Whether its words have room side by side.
    pub fn has_room(&self, width: f64) -> bool {
        (self.longest() + GAP) * self.words().len() as f64 <= width
    }

    /// The least height of a panel in which each of its words has a row.
    pub fn height_of_rows(&self) -> f64 {
        ROW * self.words().len() as f64 + 90.0
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
    /// In this size; where its categories have no room side by side, they are rows.
    pub fn sized(self, size: (f64, f64)) -> Self {
        let sized = Self { size, ..self };
        let numbers = 60.0;
        if sized.x.has_room(size.0 - numbers) {
            return sized;
        }
        let swapped = |points: Vec<(f64, f64)>| points.into_iter().map(|(x, y)| (y, x)).collect();
        let layers = sized.layers.into_iter().map(|layer| match layer {
            Layer::Marks(mark, points) => Layer::Marks(mark.turned(), swapped(points)),
            other => Layer::Turned(Box::new(other)),
        });
        let size = (size.0, size.1.max(sized.x.height_of_rows()));
        let x = PanelSide { label: "value".to_string(), ..sized.y };
        Self { x, y: sized.x, layers: layers.collect(), size, ..sized }
    }

    /// Draws it with its upper left corner at this point.
    pub fn draw(&self, scene: &mut Scene, corner: (f64, f64)) {
        let (area, rows) = self.area(corner);
        let columns = self.columns(area, corner);
        self.draw_grid(scene, area, (&columns, &rows));
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
        let rows_below = TICK + 1.0 + LINE + label_below;
        let rows = if self.y.words().is_empty() {
            self.y.numbered((((self.size.1 - above - rows_below) / 36.0) as usize).clamp(2, 7))
        } else {
            let room = room_for_names(self.size.0);
            let fit = ((self.size.1 - above - rows_below) / ROW).max(1.0) as usize;
            cut(self.y.named(self.y.words().len().div_ceil(fit).max(1)), room)
        };
        let before = 4.0 + widest(&rows) + TICK + ASIDE + 1.0;
        let width = self.size.0 - before - behind;
        let upright = if self.x.has_room(width) { 0.0 } else { (self.x.longest() + 4.0).min(UPRIGHT) - LINE };
        let height = self.size.1 - above - rows_below - upright;
        (Area { left: whole(left + before), top: whole(top + above), width: whole(width), height: whole(height) }, rows)
    }

    /// The ticks of the horizontal axis: as many as have room for their labels.
    fn columns(&self, area: Area, corner: (f64, f64)) -> Vec<AxisTick> {
        if !self.x.words().is_empty() {
            let fit = if self.x.has_room(area.width) { usize::MAX } else { (area.width / LINE).max(1.0) as usize };
            let every = self.x.words().len().div_ceil(fit).max(1);
            return cut(self.x.named(every), UPRIGHT - 4.0);
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

    /// Lines at the numbers of the values.
    fn draw_grid(&self, scene: &mut Scene, area: Area, (columns, rows): (&[AxisTick], &[AxisTick])) {
        let (right, bottom) = (area.left + area.width, area.top + area.height);
        if self.colours.is_some() {
            return;
        }
        if self.y.words().is_empty() {
            let ys = rows.iter().map(|tick| area.y(&self.y.axis, tick.place));
            scene.add(strokes(ys.map(|y| ((area.left, y), (right, y))), GRID, 1.0));
        } else {
            let xs = columns.iter().map(|tick| area.x(&self.x.axis, tick.place));
            scene.add(strokes(xs.map(|x| ((x, area.top), (x, bottom))), GRID, 1.0));
        }
    }

    /// The lines around the area, ticks and their labels.
    fn draw_frame(&self, scene: &mut Scene, area: Area, (columns, rows): (&[AxisTick], &[AxisTick])) {
        let Area { left, top, width, height } = area;
        let bottom = top + height;
        let mut frame = vec![((left, top), (left, bottom)), ((left, bottom), (left + width, bottom))];
        for tick in rows {
            let y = area.y(&self.y.axis, tick.place);
            frame.push(((left - TICK, y), (left, y)));
            scene.add(Writing::new(left - TICK - ASIDE, y + 4.0, TICK_SIZE, TextAnchor::End).of(&tick.label));
        }
        let is_upright = !self.x.has_room(width);
        for tick in columns {
            let x = area.x(&self.x.axis, tick.place);
            frame.push(((x, bottom), (x, bottom + TICK)));
            scene.add(match is_upright {
                true => Writing::new(x + 4.0, bottom + TICK + 4.0, TICK_SIZE, TextAnchor::End).upright(&tick.label),
                false => Writing::new(x, bottom + TICK + 12.0, TICK_SIZE, TextAnchor::Middle).of(&tick.label),
            });
        }
        scene.add(strokes(frame.into_iter(), FRAME, 1.0));
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
        draw_layer(scene, (&x, &y), ((area.left, area.top), (area.width, area.height)), layer);
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

/// The room that names beside a panel of this width may take.
pub fn room_for_names(width: f64) -> f64 {
    (NAMES.0 * width).max(NAMES.1.min(0.5 * width))
}

/// The width of the widest label.
pub fn widest(ticks: &[AxisTick]) -> f64 {
    ticks.iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max)
}

fn text_width(text: &str) -> f64 {
    width(text, TICK_SIZE)
}

/// Ticks whose labels are names, each cut to the room that it has.
fn cut(ticks: Vec<AxisTick>, room: f64) -> Vec<AxisTick> {
    let names: Vec<String> = ticks.iter().map(|tick| tick.label.clone()).collect();
    let labels = fitted_apart(&names, TICK_SIZE, room);
    ticks.into_iter().zip(labels).map(|(tick, label)| AxisTick { label, ..tick }).collect()
}
