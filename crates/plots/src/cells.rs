//! Coloured cells: drawn with few and short paths, and without seams.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene};

use crate::colours::{LEVELS, colour};

/// From places of the axes to the page.
pub type ToPage<'a> = (&'a dyn Fn(f64) -> f64, &'a dyn Fn(f64) -> f64);

/// Equal cells from the bottom row to the top one, each with the level of its colour; none where a cell is blank.
pub struct CellMap {
    /// The levels.
    pub rows: Vec<Vec<Option<usize>>>,
    /// From where to where they extend.
    pub x: (f64, f64),
    /// As `x`.
    pub y: (f64, f64),
}

/// Each level is drawn with all above it, and those on top: no seams are left between cells. Their edges are whole units, which
/// are short to write.
pub fn draw_cells(scene: &mut Scene, (x, y): ToPage<'_>, cells: &CellMap) {
    let (count, columns) = (cells.rows.len(), cells.rows.first().map_or(0, Vec::len));
    let edge = |(from, to): (f64, f64), i: usize, of: usize| whole(from + (to - from) * i as f64 / of.max(1) as f64);
    let (xs, ys) = ((x(cells.x.0), x(cells.x.1)), (y(cells.y.0), y(cells.y.1)));
    for level in 0..LEVELS {
        let mut d = String::new();
        for block in blocks(&cells.rows, level) {
            let (left, right) = (edge(xs, block.columns.0, columns), edge(xs, block.columns.1, columns));
            let (bottom, top) = (edge(ys, block.rows.0, count), edge(ys, block.rows.1, count));
            d += &format!("M{left} {top}h{}v{}h-{0}z", right - left, bottom - top);
        }
        if !d.is_empty() {
            let (fill, stroke) = (Some(colour(level)), Color::None);
            let (opacity, stroke_dasharray) = (None, None);
            let data = PathData { d, fill, stroke, stroke_width: 0.0, opacity, stroke_dasharray };
            scene.add(Primitive::Path(Box::new(data)));
        }
    }
}

/// A rectangle of cells.
struct CellBlock {
    columns: (usize, usize),
    rows: (usize, usize),
}

/// The cells of at least this level, as rectangles: a run of cells that continues in the next row is one.
fn blocks(rows: &[Vec<Option<usize>>], level: usize) -> Vec<CellBlock> {
    let mut found: Vec<CellBlock> = vec![];
    for (row, levels) in rows.iter().enumerate() {
        for columns in runs(levels, |cell| cell.is_some_and(|cell| cell >= level)) {
            match found.iter_mut().find(|block| block.columns == columns && block.rows.1 == row) {
                Some(block) => block.rows.1 = row + 1,
                None => found.push(CellBlock { columns, rows: (row, row + 1) }),
            }
        }
    }
    found
}

/// The ranges of neighbours for which this holds.
fn runs<T>(items: &[T], holds: impl Fn(&T) -> bool) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = vec![];
    for i in (0..items.len()).filter(|&i| holds(&items[i])) {
        match found.last_mut() {
            Some(run) if run.1 == i => run.1 = i + 1,
            _ => found.push((i, i + 1)),
        }
    }
    found
}

/// Whole units are whole pixels of the PNG.
pub fn whole(number: f64) -> f64 {
    number.round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_cells_of_a_level_once() {
        let cell = |i: usize, j: usize| (!(i * 7 + j * 3).is_multiple_of(11)).then_some((i * j) % 5);
        let rows: Vec<Vec<Option<usize>>> = (0..9).map(|i| (0..12).map(|j| cell(i, j)).collect()).collect();
        for level in 0..5 {
            let mut counts = vec![vec![0; 12]; 9];
            for CellBlock { columns, rows } in blocks(&rows, level) {
                (rows.0..rows.1).for_each(|i| (columns.0..columns.1).for_each(|j| counts[i][j] += 1));
            }
            let wanted = |i: usize, j: usize| usize::from(rows[i][j].is_some_and(|cell| cell >= level));
            assert!((0..9).all(|i| (0..12).all(|j| counts[i][j] == wanted(i, j))), "level {level}: {counts:?}");
        }
    }
}
