//! What the typeface of PNGs lacks. An SVG is set by whoever shows it, with the typefaces that are there.

use std::ops::RangeInclusive;

/// Characters that DejaVu Sans, which is built in, has no shapes for: the scripts of Asia but for its west, and emoji.
const LACKING: [RangeInclusive<u32>; 10] = [
    0x700..=0x77f,
    0x800..=0xe7f,
    0xf00..=0x107f,
    0x1100..=0x13ff,
    0x1700..=0x1cff,
    0x2e80..=0x4dbf,
    0x4e00..=0xa47f,
    0xa800..=0xd7ff,
    0xff00..=0xffef,
    0x1f680..=0x3ffff,
];

/// The characters of a text that a PNG has no shapes for, each once.
pub fn lacking(text: &str) -> Vec<char> {
    let mut found = Vec::new();
    for letter in text.chars().filter(|letter| LACKING.iter().any(|range| range.contains(&(*letter as u32)))) {
        if !found.contains(&letter) {
            found.push(letter);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_europe_are_there_and_those_of_east_asia_are_not() {
        assert_eq!(lacking("Größe in µm, λ, Жизнь, שלום, طول, 10 °C … √"), []);
        assert_eq!(lacking("触媒と触媒 (%)"), ['触', '媒', 'と']);
        assert_eq!(lacking("온도 तापमान"), ['온', '도', 'त', 'ा', 'प', 'म', 'न']);
    }
}
