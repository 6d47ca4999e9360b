//! Labels: none is cut off by the page, none is written over another.

use kuva::render::render::{Primitive, Scene, TextAnchor};

use crate::text::width;

/// A text and the rectangle that it takes: left, top, right, bottom.
type LabelBox = (String, [f64; 4]);

pub fn boxes(scene: &Scene) -> Vec<LabelBox> {
    let of = |part: &Primitive| {
        let Primitive::Text { x, y, content, size, anchor, rotate, .. } = part else { return None };
        let content = content.replace("\\$", "$");
        let long = width(&content, *size);
        let before = match anchor {
            TextAnchor::Start => 0.0,
            TextAnchor::Middle => 0.5 * long,
            TextAnchor::End => long,
        };
        // Letters reach about three quarters of the type size above the baseline, and a fifth below it.
        let (above, below) = (0.75 * f64::from(*size), 0.2 * f64::from(*size));
        if rotate.is_some() {
            return Some((content, [x - above, y - long + before, x + below, y + before]));
        }
        Some((content, [x - before, y - above, x - before + long, y + below]))
    };
    scene.elements.iter().filter_map(of).collect()
}

/// Every label is on the page, and apart from all others.
pub fn assert_readable(scene: &Scene, name: &str) {
    let all = boxes(scene);
    for (i, (label, [left, top, right, bottom])) in all.iter().enumerate() {
        let is_inside = *left >= 0.0 && *top >= 0.0 && *right <= scene.width && *bottom <= scene.height;
        assert!(is_inside, "{name}: \"{label}\" leaves the page");
        for (other, [l, t, r, b]) in &all[..i] {
            let is_apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(is_apart, "{name}: \"{label}\" is written over \"{other}\"");
        }
    }
}
