//! The outlines of marks, as short paths: each mark has a shape of its own, so that they can be told apart in grey print.

use crate::marks::tenth;
use crate::scale::Edge;

/// A point of the page, or an offset from one.
type At = (f64, f64);

/// A circle: one arc that ends beside its beginning.
pub fn circle((x, y): At, r: f64) -> String {
    let r = tenth(r);
    format!("M{} {}a{r} {r} 0 1 1-.1 0z", tenth(x), tenth(y - r))
}

/// A square.
pub fn square(at: At, half: f64) -> String {
    rectangle(at, (half, half))
}

/// A rectangle of this half width and half height.
pub fn rectangle(at: At, (x, y): (f64, f64)) -> String {
    outline(at, &[(-x, -y), (x, -y), (x, y), (-x, y)])
}

/// A square that stands on a corner.
pub fn diamond(at: At, half: f64) -> String {
    outline(at, &[(0.0, -half), (half, 0.0), (0.0, half), (-half, 0.0)])
}

/// A triangle that stands on its base.
pub fn triangle(at: At, half: f64) -> String {
    outline(at, &[(0.0, -1.1 * half), (half, 0.8 * half), (-half, 0.8 * half)])
}

/// A star of five rays.
pub fn star(at: At, reach: f64) -> String {
    let corner = |i: usize| {
        let (reach, turn) =
            (if i.is_multiple_of(2) { reach } else { 0.45 * reach }, i as f64 * std::f64::consts::PI / 5.0);
        (reach * turn.sin(), -reach * turn.cos())
    };
    outline(at, &(0..10).map(corner).collect::<Vec<_>>())
}

/// An upright cross of thick bars.
pub fn plus(at: At, reach: f64) -> String {
    let (a, b) = (reach, 0.35 * reach);
    let quarter = [(b, -a), (b, -b), (a, -b)];
    let turned = |turns: usize| quarter.map(|at| (0..turns).fold(at, |(x, y), _| (-y, x)));
    outline(at, &(0..4).flat_map(turned).collect::<Vec<_>>())
}

/// An arrow with a shaft, towards an edge.
pub fn arrow(at: At, edge: Edge) -> String {
    let right = [(0.0, 5.0), (4.0, 0.5), (1.1, 0.5), (1.1, -5.0)];
    let left = right.iter().skip(1).rev().map(|&(x, y)| (-x, y));
    outline(at, &right.iter().copied().chain(left).map(|corner| towards(edge, corner)).collect::<Vec<_>>())
}

/// Two open angles, one behind the other, towards an edge.
pub fn chevrons((x, y): At, edge: Edge) -> String {
    let angle = |from: f64| {
        let [a, b, c] = [(-4.0, from), (0.0, from + 4.0), (4.0, from)].map(|corner| towards(edge, corner));
        let [a, b, c] = [a, b, c].map(|corner| format!("{} {}", tenth(x + corner.0), tenth(y + corner.1)));
        format!("M{a}L{b}L{c}")
    };
    angle(-4.0) + &angle(0.0)
}

/// A corner of a shape that points down, where it points to an edge.
fn towards(edge: Edge, (x, y): At) -> At {
    match edge {
        Edge::Bottom => (x, y),
        Edge::Top => (x, -y),
        Edge::Right => (y, x),
        Edge::Left => (-y, x),
    }
}

/// A closed path through corners around a point. They are rounded before their differences are taken, so that every mark of a
/// kind has the same shape.
fn outline((x, y): At, corners: &[At]) -> String {
    let corners: Vec<At> = corners.iter().map(|&(x, y)| (tenth(x), tenth(y))).collect();
    let Some(&(first_x, first_y)) = corners.first() else { return String::new() };
    let mut d = format!("M{} {}", tenth(x + first_x), tenth(y + first_y));
    for pair in corners.windows(2) {
        match (tenth(pair[1].0 - pair[0].0), tenth(pair[1].1 - pair[0].1)) {
            (x, 0.0) => d += &format!("h{x}"),
            (0.0, y) => d += &format!("v{y}"),
            (x, y) => d += &format!("l{x} {y}"),
        }
    }
    d + "z"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_the_same_path_wherever_it_is() {
        assert_eq!(square((10.04, 20.0), 3.0), "M7 17h6v6h-6z");
        assert_eq!(triangle((0.0, 0.0), 3.0), "M0 -3.3l3 5.7h-6z");
        let tail = |d: String| d.split_once(['l', 'h', 'v']).map(|(_, tail)| tail.to_string());
        for shape in [square, diamond, triangle, star, plus] {
            assert_eq!(tail(shape((3.44, 2.71), 1.0)), tail(shape((512.77, 99.99), 1.0)));
        }
    }
}
