//! The page: title, summary, legend, and rows of panels under their headings.

use kuva::render::render::{Scene, TextAnchor};

use crate::marks::LegendEntry;
use crate::panel::PagePanel;
use crate::text::{FAMILY, Writing, fitted, width, wrapped};

const MARGIN: f64 = 14.0;
const TITLE_SIZE: u32 = 18;
const TEXT_SIZE: u32 = 13;
const LEGEND_SIZE: u32 = 12;
const LINE: f64 = 20.0;
/// Above a heading.
const SPACE: f64 = 12.0;

/// A page.
pub struct Page {
    /// On top.
    pub title: String,
    /// Under it.
    pub summary: String,
    /// From top to bottom.
    pub rows: Vec<PanelRow>,
    /// What is left out and why, at the end.
    pub notes: Vec<String>,
}

/// Panels side by side.
pub struct PanelRow {
    /// Above them; may be empty.
    pub heading: String,
    /// From left to right.
    pub panels: Vec<PagePanel>,
}

impl PanelRow {
    /// Without a heading.
    pub fn plain(panels: Vec<PagePanel>) -> Self {
        Self { heading: String::new(), panels }
    }

    fn width(&self) -> f64 {
        self.panels.iter().map(|panel| panel.size.0).sum()
    }

    fn height(&self) -> f64 {
        self.panels.iter().map(|panel| panel.size.1).fold(0.0, f64::max)
    }
}

impl Page {
    /// Lays everything out.
    pub fn scene(&self) -> Scene {
        let inner = self.rows.iter().map(PanelRow::width).fold(480.0, f64::max);
        let (legend, notes) = (legend_lines(&self.rows, inner), self.note_lines(inner));
        let headings: f64 = self.rows.iter().map(|row| heading_lines(&row.heading, inner).len() as f64 * LINE).sum();
        let spaces = self.rows.iter().filter(|row| !row.heading.is_empty()).count() as f64 * SPACE;
        let panels: f64 = self.rows.iter().map(PanelRow::height).sum();
        let top = MARGIN + 26.0 + LINE * (1 + legend.len()) as f64;
        let below = if notes.is_empty() { 0.0 } else { SPACE + LINE * notes.len() as f64 };
        let mut scene = Scene::new(inner + 2.0 * MARGIN, (top + headings + spaces + panels + below + MARGIN).ceil());
        scene.font_family = Some(FAMILY.to_string());
        self.draw_head(&mut scene, inner, &legend);
        let mut y = top;
        for row in &self.rows {
            y = row.draw(&mut scene, y, inner);
        }
        for (i, line) in notes.iter().enumerate() {
            let y = y + SPACE + LINE * i as f64 + 8.0;
            scene.add(Writing::new(MARGIN + 4.0, y, LEGEND_SIZE, TextAnchor::Start).of(line));
        }
        scene
    }

    fn note_lines(&self, inner: f64) -> Vec<String> {
        self.notes.iter().flat_map(|note| wrapped(note, LEGEND_SIZE, inner - 8.0)).collect()
    }

    fn draw_head(&self, scene: &mut Scene, inner: f64, legend: &[Vec<LegendEntry>]) {
        let middle = |y, size| Writing::new(MARGIN + inner / 2.0, y, size, TextAnchor::Middle);
        scene.add(middle(MARGIN + 16.0, TITLE_SIZE).of(&fitted(&self.title, TITLE_SIZE, inner)));
        scene.add(middle(MARGIN + 38.0, TEXT_SIZE).of(&fitted(&self.summary, TEXT_SIZE, inner)));
        for (line, entries) in legend.iter().enumerate() {
            let used: f64 = entries.iter().map(entry_width).sum();
            let mut x = MARGIN + (inner - used) / 2.0;
            let y = MARGIN + 38.0 + LINE * (line + 1) as f64;
            for entry in entries {
                entry.symbol(x + 10.0, y - 4.0).into_iter().for_each(|part| scene.add(part));
                scene.add(Writing::new(x + 24.0, y, LEGEND_SIZE, TextAnchor::Start).of(entry.label()));
                x += entry_width(entry);
            }
        }
    }
}

impl PanelRow {
    /// Draws it; where the next row begins.
    fn draw(&self, scene: &mut Scene, mut y: f64, inner: f64) -> f64 {
        if !self.heading.is_empty() {
            y += SPACE;
        }
        for line in heading_lines(&self.heading, inner) {
            scene.add(Writing::new(MARGIN + inner / 2.0, y + 12.0, TEXT_SIZE, TextAnchor::Middle).of(&line));
            y += LINE;
        }
        let mut x = MARGIN;
        for panel in &self.panels {
            panel.draw(scene, (x, y));
            x += panel.size.0;
        }
        y + self.height()
    }
}

fn heading_lines(heading: &str, inner: f64) -> Vec<String> {
    if heading.is_empty() { vec![] } else { wrapped(heading, TEXT_SIZE, inner) }
}

/// The entries of all panels, each once, in lines that fit.
fn legend_lines(rows: &[PanelRow], inner: f64) -> Vec<Vec<LegendEntry>> {
    let mut lines: Vec<Vec<LegendEntry>> = vec![];
    let mut left = 0.0;
    for entry in rows.iter().flat_map(|row| &row.panels).flat_map(|panel| &panel.legend) {
        if lines.iter().flatten().any(|known| known.label() == entry.label()) {
            continue;
        }
        let needed = entry_width(entry);
        match lines.last_mut() {
            Some(line) if needed <= left => line.push(entry.clone()),
            _ => {
                lines.push(vec![entry.clone()]);
                left = inner;
            }
        }
        left -= needed;
    }
    lines
}

fn entry_width(entry: &LegendEntry) -> f64 {
    46.0 + width(entry.label(), LEGEND_SIZE)
}
