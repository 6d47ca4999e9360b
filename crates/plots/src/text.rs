//! Texts on the page: how wide they are, and how they are cut to fit.

use std::collections::BTreeSet;

use kuva::render::render::{Primitive, TextAnchor};

/// The advance widths of DejaVu Sans from the space to the tilde, in thousandths of the type size. PNGs are set in this
/// typeface; those that stand in for it in an SVG are about as wide or narrower.
const ADVANCES: [u16; 95] = [
    317, 400, 459, 837, 636, 950, 779, 274, 390, 390, 500, 837, 317, 360, 317, 336, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 336, 336, 837, 837, 837, 530, 1000, 684, 686, 698, 770, 631, 575, 774, 751, 294, 294, 655, 557, 862,
    748, 787, 603, 787, 694, 634, 610, 731, 684, 988, 685, 610, 685, 390, 336, 390, 837, 500, 500, 612, 634, 549, 634,
    615, 352, 634, 633, 277, 277, 579, 277, 974, 633, 611, 634, 634, 411, 520, 392, 633, 591, 817, 591, 591, 524, 636,
    336, 636, 837,
];

/// The typefaces of an SVG, the first that the viewer has.
pub const FAMILY: &str = "DejaVu Sans, Verdana, Liberation Sans, Arial, sans-serif";

/// The colour of all texts.
pub const TEXT: &str = "#222222";

/// What stands for what was cut out of a text.
const CUT: char = '…';

/// The share of a cut text that is its beginning.
const BEGINNING: f64 = 0.6;

/// The width of a text.
pub fn width(text: &str, size: u32) -> f64 {
    text.chars().map(advance).sum::<f64>() * f64::from(size)
}

fn advance(letter: char) -> f64 {
    let known = (letter as usize).checked_sub(32).and_then(|place| ADVANCES.get(place));
    known.map_or(1.0, |thousandths| f64::from(*thousandths) / 1000.0)
}

/// The text, or its beginning and its end with an ellipsis between them: names that begin alike often end differently.
pub fn fitted(text: &str, size: u32, room: f64) -> String {
    fitted_by(text, size, room, BEGINNING)
}

/// Different names, each fitted, and still different: cut at another place, or numbered, where they would be alike.
pub fn fitted_apart(names: &[String], size: u32, room: f64) -> Vec<String> {
    let are_apart = |labels: &Vec<String>| labels.iter().collect::<BTreeSet<_>>().len() == labels.len();
    let cut = |share: f64| names.iter().map(|name| fitted_by(name, size, room, share)).collect::<Vec<_>>();
    [BEGINNING, 0.35, 0.85].map(cut).into_iter().find(are_apart).unwrap_or_else(|| {
        let numbered =
            |(place, name): (usize, &String)| fitted_by(&format!("{}. {name}", place + 1), size, room, BEGINNING);
        names.iter().enumerate().map(numbered).collect()
    })
}

/// As [`fitted`], with this share of the room for the beginning.
fn fitted_by(text: &str, size: u32, room: f64, beginning: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let room = room / f64::from(size) - advance(CUT);
    let end: Vec<char> = taken(text.chars().rev(), (1.0 - beginning) * room).chars().collect();
    taken(text.chars(), beginning * room) + &CUT.to_string() + &end.iter().rev().collect::<String>()
}

/// As many letters as fit, at type size 1.
fn taken(letters: impl Iterator<Item = char>, room: f64) -> String {
    let fits = |left: &mut f64, letter: char| {
        *left -= advance(letter);
        (*left >= 0.0).then_some(letter)
    };
    letters.scan(room, fits).collect()
}

/// As many lines as a text needs, broken between words.
pub fn wrapped(text: &str, size: u32, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => *line = format!("{line} {word}"),
            _ => lines.push(fitted(word, size, room)),
        }
    }
    lines
}

/// Where and how a text is written.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    /// Where its anchor is.
    pub x: f64,
    /// Where its baseline is.
    pub y: f64,
    /// The type size.
    pub size: u32,
    /// Which part of it is at `x`.
    pub anchor: TextAnchor,
}

impl Writing {
    /// There.
    pub fn new(x: f64, y: f64, size: u32, anchor: TextAnchor) -> Self {
        Self { x, y, size, anchor }
    }

    /// This text there, turned so that it is read upwards.
    pub fn upright(self, text: &str) -> Primitive {
        match self.of(text) {
            Primitive::Text { x, y, content, size, anchor, bold, color, .. } => {
                Primitive::Text { x, y, content, size, anchor, rotate: Some(-90.0), bold, color }
            }
            other => other,
        }
    }

    /// This text there.
    pub fn of(self, text: &str) -> Primitive {
        // The drawing library reads what is between dollar signs as a formula.
        let content = text.replace('$', "\\$");
        let Self { x, y, size, anchor } = self;
        // Turned, letters of a PNG look bold: little is.
        Primitive::Text { x, y, content, size, anchor, rotate: None, bold: false, color: Some(TEXT.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_cut_stay_different() {
        let middle = ["formamide", "acetamide"].map(|word| format!("N,N-dimethyl{word} (anhydrous, over sieves)"));
        let late = ["a", "b"].map(|word| format!("{}{word}{}", "x".repeat(40), "y".repeat(40)));
        for names in [middle, late] {
            for room in [40.0, 90.0, 120.0, 200.0] {
                let labels = fitted_apart(&names, 12, room);
                assert_ne!(labels[0], labels[1], "{room}");
                assert!(labels.iter().all(|label| width(label, 12) <= room), "{labels:?}");
            }
        }
        assert_eq!(fitted_apart(&["a".to_string(), "b".to_string()], 12, 40.0), ["a", "b"]);
    }

    #[test]
    fn a_text_is_cut_to_the_room_it_has() {
        assert_eq!(fitted("short", 10, 100.0), "short");
        let cut = fitted("a name that is much longer than its room", 10, 100.0);
        assert!(cut.starts_with("a name") && cut.ends_with("room") && width(&cut, 10) <= 100.0, "{cut}");
        assert_ne!(fitted("rate_of_layer_1", 10, 60.0), fitted("rate_of_layer_2", 10, 60.0));
    }

    #[test]
    fn lines_are_broken_between_words_and_keep_all_of_them() {
        let text = "not shown, as they matter least: alpha, beta, gamma, delta";
        let lines = wrapped(text, 12, 150.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 12) <= 150.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
    }
}
