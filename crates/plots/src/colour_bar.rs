//! The bar beside a map that says what its colours mean, and whether numbers go on beyond them.

use kuva::render::render::{Scene, TextAnchor};

use crate::axis::PlotAxis;
use crate::cells::{CellMap, draw_cells};
use crate::colours::LEVELS;
use crate::marks::line;
use crate::panel::{FRAME, TICK, TICK_SIZE, widest};
use crate::text::{Writing, width};

/// The width of the bar.
const BAR: f64 = 13.0;

/// The height of a word above or below the bar.
const WORD: f64 = 22.0;

const ABOVE: &str = "and above";
const BELOW: &str = "and below";

/// What the colours of a map mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColourScale {
    /// The numbers that have colours of their own.
    pub axis: PlotAxis,
    /// Whether lower numbers share the lowest colour.
    pub has_below: bool,
    /// Whether higher numbers share the highest colour.
    pub has_above: bool,
}

impl ColourScale {
    /// The scale of these numbers on an axis that may be shorter.
    pub fn of(axis: PlotAxis, numbers: &[f64]) -> Self {
        let is_any = |beyond: fn(f64) -> bool| numbers.iter().any(|number| beyond(axis.part(axis.place(*number))));
        Self { axis, has_below: is_any(|part| part < -1e-9), has_above: is_any(|part| part > 1.0 + 1e-9) }
    }

    /// The part of the way from the lowest colour to the highest.
    pub fn part(&self, number: f64) -> f64 {
        self.axis.part(self.axis.place(number))
    }

    /// The width of the bar and all that is written beside it.
    pub fn width(&self) -> f64 {
        let word = |is_there: bool, word: &str| if is_there { width(word, TICK_SIZE) } else { 0.0 };
        let words = word(self.has_above, ABOVE).max(word(self.has_below, BELOW));
        (BAR + TICK + 3.0 + widest(&self.axis.ticks(6))).max(words) + 6.0
    }
}

/// Draws it at this left edge, top and height.
pub fn draw_colour_bar(scene: &mut Scene, (left, top, height): (f64, f64, f64), colours: &ColourScale) {
    let word = |is_there: bool| if is_there { WORD } else { 0.0 };
    let (high, low) = (top + word(colours.has_above), top + height - word(colours.has_below));
    let mut write = |is_there: bool, y: f64, text: &str| {
        if is_there {
            scene.add(Writing::new(left, y, TICK_SIZE, TextAnchor::Start).of(text));
        }
    };
    write(colours.has_above, high - 11.0, ABOVE);
    write(colours.has_below, low + 19.0, BELOW);
    let rows = (0..LEVELS).map(|level| vec![Some(level)]).collect();
    let place = |place: f64| place;
    draw_cells(scene, (&place, &place), &CellMap { rows, x: (left, left + BAR), y: (low, high) });
    for tick in colours.axis.ticks(6) {
        let y = low - colours.axis.part(tick.place) * (low - high);
        scene.add(line((left + BAR, y), (left + BAR + TICK, y), FRAME, 1.0));
        scene.add(Writing::new(left + BAR + TICK + 3.0, y + 4.0, TICK_SIZE, TextAnchor::Start).of(&tick.label));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_the_colours_are_noticed_on_their_side() {
        let of = |numbers: &[f64]| {
            let scale = ColourScale::of(PlotAxis::linear(0.0, 10.0), numbers);
            (scale.has_below, scale.has_above)
        };
        assert_eq!(
            [of(&[0.0, 10.0]), of(&[5.0, 11.0]), of(&[-1e300, 5.0])],
            [(false, false), (false, true), (true, false)]
        );
    }
}
