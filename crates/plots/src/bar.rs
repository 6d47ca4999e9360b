//! A bar of a share, with its interval and its number.

use kuva::render::render::{Scene, TextAnchor};

use crate::cells::ToPage;
use crate::marks::{BLUE, INK, filled, line};
use crate::text::Writing;

/// The part of a bar that a parameter has no part in alone.
const LIGHT: &str = "#9CCBE6";

pub const TEXT_SIZE: u32 = 11;

/// A bar with its interval, in places.
pub struct ShareBar {
    /// Its height on the page.
    pub y: f64,
    /// Where bars begin.
    pub zero: f64,
    /// Where the dark part ends.
    pub dark: f64,
    /// Where it ends.
    pub end: f64,
    /// Its interval.
    pub interval: (f64, f64),
    /// Its number and its interval. At the same place for all bars, as a number at the end of an interval is taken for that end.
    pub label: String,
    /// Where the label ends.
    pub label_end: f64,
}

/// Draws it.
pub fn draw_bar(scene: &mut Scene, (x, y): ToPage<'_>, bar: &ShareBar) {
    let (middle, zero, high) = (y(bar.y), x(bar.zero), x(bar.interval.1));
    let reach = |to: f64| (x(to) - zero).max(0.0);
    scene.add(filled((zero, middle - 6.5), (reach(bar.end), 13.0), LIGHT, None));
    scene.add(filled((zero, middle - 6.5), (reach(bar.dark), 13.0), BLUE, None));
    let low = x(bar.interval.0);
    scene.add(line((low, middle), (high, middle), INK, 1.3));
    for end in [low, high] {
        scene.add(line((end, middle - 4.0), (end, middle + 4.0), INK, 1.3));
    }
    scene.add(Writing::new(x(bar.label_end), middle + 4.0, TEXT_SIZE, TextAnchor::End).of(&bar.label));
}
