//! The colours of maps: viridis, whose steps look equally large, without its darkest part and mixed with white, so that black
//! marks are visible on every colour of it.

use kuva::render::color::Color;

/// Viridis (van der Walt and Smith 2015) at even steps.
const VIRIDIS: [(u8, u8, u8); 9] = [
    (0x44, 0x01, 0x54),
    (0x47, 0x2d, 0x7b),
    (0x3b, 0x52, 0x8b),
    (0x2c, 0x72, 0x8e),
    (0x21, 0x91, 0x8c),
    (0x28, 0xae, 0x80),
    (0x5e, 0xc9, 0x62),
    (0xad, 0xdc, 0x30),
    (0xfd, 0xe7, 0x25),
];

/// Where on viridis the map begins.
const FIRST: f64 = 0.2;

/// The share of white.
const WHITE: f64 = 0.3;

/// How many colours a map has.
pub const LEVELS: usize = 24;

/// The level of a number that is this part of the way from the lowest to the highest.
pub fn level(part: f64) -> usize {
    ((part.clamp(0.0, 1.0) * LEVELS as f64) as usize).min(LEVELS - 1)
}

/// The colour of a level.
pub fn colour(level: usize) -> Color {
    let (red, green, blue) = shade(level as f64 / (LEVELS - 1) as f64);
    Color::Rgb(red, green, blue)
}

fn shade(part: f64) -> (u8, u8, u8) {
    let at = (FIRST + (1.0 - FIRST) * part.clamp(0.0, 1.0)) * (VIRIDIS.len() - 1) as f64;
    let low = (at as usize).min(VIRIDIS.len() - 2);
    let (from, to, share) = (VIRIDIS[low], VIRIDIS[low + 1], at - low as f64);
    let mix = |a: u8, b: u8| {
        let colour = f64::from(a) + share * (f64::from(b) - f64::from(a));
        (colour + WHITE * (255.0 - colour)).round() as u8
    };
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE L*a*b* of an sRGB colour under D65.
    fn lab(colour: (u8, u8, u8)) -> [f64; 3] {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let (r, g, b) = (linear(colour.0), linear(colour.1), linear(colour.2));
        let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
        let y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
        let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn colours_grow_lighter_in_steps_that_look_alike() {
        let labs: Vec<[f64; 3]> = (0..LEVELS).map(|level| lab(shade(level as f64 / (LEVELS - 1) as f64))).collect();
        let steps: Vec<f64> =
            labs.windows(2).map(|pair| (0..3).map(|i| (pair[1][i] - pair[0][i]).powi(2)).sum::<f64>().sqrt()).collect();
        let (least, most) = (steps.iter().copied().fold(f64::MAX, f64::min), steps.iter().copied().fold(0.0, f64::max));
        assert!(most < 3.0 * least, "{least} to {most}");
        // In grey the order is the same.
        assert!(labs.windows(2).all(|pair| pair[1][0] > pair[0][0] + 0.5), "{labs:?}");
    }

    #[test]
    fn black_marks_are_visible_on_the_darkest_colour() {
        let [lightness, _, _] = lab(shade(0.0));
        let ink = lab((0x22, 0x22, 0x22))[0];
        assert!(lightness - ink > 35.0, "{lightness} is too near to {ink}");
    }

    #[test]
    fn every_number_has_a_level() {
        assert_eq!([-1.0, 0.0, 0.999, 1.0, 7.0].map(level), [0, 0, LEVELS - 1, LEVELS - 1, LEVELS - 1]);
    }
}
