//! The page: title, summary, legend, and the panels side by side.

use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor, render_multiple};

use crate::marks::LegendEntry;

const HEIGHT: f64 = 380.0;
const MARGIN: f64 = 12.0;
const TITLE_SIZE: u32 = 18;
const TEXT_SIZE: u32 = 13;
const LEGEND_SIZE: u32 = 12;
const LINE: f64 = 20.0;
/// The width of a letter, as a fraction of the type size.
const LETTER: f64 = 0.62;
/// The width of a narrow letter.
const NARROW: f64 = 0.36;
/// A longer name of a variable is cut.
const LONGEST_LABEL: usize = 32;

/// One panel.
pub struct PagePanel {
    /// What is drawn, the lowest first.
    pub plots: Vec<Plot>,
    /// Its frame.
    pub layout: Layout,
    /// How wide it is.
    pub width: f64,
    /// What its marks mean.
    pub legend: Vec<LegendEntry>,
}

/// A page.
pub struct Page {
    /// On top.
    pub title: String,
    /// Under it.
    pub summary: String,
    /// From left to right.
    pub panels: Vec<PagePanel>,
}

impl Page {
    /// Lays everything out.
    pub fn scene(self) -> Scene {
        let width = self.panels.iter().map(|panel| panel.width).sum::<f64>() + 2.0 * MARGIN;
        let legend = rows(&self.panels, width - 2.0 * MARGIN);
        let top = MARGIN + 26.0 + LINE * (1 + legend.len()) as f64;
        let mut scene = Scene::new(width, top + HEIGHT + MARGIN);
        scene.font_family = Some("DejaVu Sans, Verdana, Liberation Sans, Arial, sans-serif".to_string());
        let middle = |baseline, size| Text { x: width / 2.0, baseline, size, anchor: TextAnchor::Middle };
        scene.add(middle(MARGIN + 16.0, fitting_size(&self.title, TITLE_SIZE, width)).with_content(&self.title));
        scene.add(middle(MARGIN + 38.0, fitting_size(&self.summary, TEXT_SIZE, width)).with_content(&self.summary));
        for (row, entries) in legend.iter().enumerate() {
            let used: f64 = entries.iter().map(entry_width).sum();
            let mut x = (width - used) / 2.0;
            let y = MARGIN + 38.0 + LINE * (row + 1) as f64;
            for entry in entries {
                entry.symbol(x + 10.0, y - 4.0).into_iter().for_each(|part| scene.add(part));
                let text = Text { x: x + 24.0, baseline: y, size: LEGEND_SIZE, anchor: TextAnchor::Start };
                scene.add(text.with_content(entry.label()));
                x += entry_width(entry);
            }
        }
        self.panels.into_iter().fold(MARGIN, |x, panel| panel.draw(&mut scene, x, top));
        scene
    }
}

impl PagePanel {
    /// Draws it at this place; where the next one begins.
    fn draw(self, scene: &mut Scene, x: f64, y: f64) -> f64 {
        let mut layout = self.layout.with_width(self.width).with_height(HEIGHT);
        layout.show_legend = false;
        let drawn = render_multiple(self.plots, layout);
        scene.defs.extend(drawn.defs);
        scene.add(Primitive::GroupStart {
            transform: Some(format!("translate({x},{y})")),
            title: None,
            extra_attrs: None,
        });
        drawn.elements.into_iter().for_each(|part| scene.add(part));
        scene.add(Primitive::GroupEnd);
        x + self.width
    }
}

/// The entries of all panels, each once, in rows that fit.
fn rows(panels: &[PagePanel], width: f64) -> Vec<Vec<LegendEntry>> {
    let mut rows: Vec<Vec<LegendEntry>> = vec![];
    let mut left = 0.0;
    for entry in panels.iter().flat_map(|panel| &panel.legend) {
        if rows.iter().flatten().any(|known| known.label() == entry.label()) {
            continue;
        }
        let needed = entry_width(entry);
        match rows.last_mut() {
            Some(row) if needed <= left => row.push(entry.clone()),
            _ => {
                rows.push(vec![entry.clone()]);
                left = width;
            }
        }
        left -= needed;
    }
    rows
}

fn entry_width(entry: &LegendEntry) -> f64 {
    46.0 + f64::from(LEGEND_SIZE) * text_width(entry.label())
}

/// The approximate width of a text at type size 1.
fn text_width(text: &str) -> f64 {
    text.chars().map(|letter| if " .,:;()fijlrtI1".contains(letter) { NARROW } else { LETTER }).sum()
}

/// The largest type size, up to `size`, at which a text fits.
fn fitting_size(text: &str, size: u32, width: f64) -> u32 {
    size.min((width / text_width(text).max(1.0)) as u32).max(5)
}

/// Where and how a text is written.
struct Text {
    x: f64,
    baseline: f64,
    size: u32,
    anchor: TextAnchor,
}

impl Text {
    fn with_content(self, text: &str) -> Primitive {
        let Self { x, baseline, size, anchor } = self;
        Primitive::Text { x, y: baseline, content: literal(text), size, anchor, rotate: None, bold: false, color: None }
    }
}

/// A text without formulas: the drawing library reads what is between dollar signs as one.
fn literal(text: &str) -> String {
    text.replace('$', "\\$")
}

/// The name of a variable, cut to what an axis has room for.
pub fn label(name: &str) -> String {
    let short: String = name.chars().take(LONGEST_LABEL).collect();
    literal(&if short.len() < name.len() { short + "…" } else { short })
}
