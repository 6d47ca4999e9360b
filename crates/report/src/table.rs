//! Text tables.

use comfy_table::{CellAlignment, Table as Grid, presets};

/// A table with a header and no lines; columns of numbers are aligned to the right.
pub(crate) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    grid.set_header(header);
    for row in rows {
        grid.add_row(row);
    }
    let is_number = |text: &str| text.is_empty() || text.parse::<f64>().is_ok();
    for (index, column) in grid.column_iter_mut().enumerate() {
        if rows.iter().all(|row| row.get(index).is_none_or(|text| is_number(text))) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid.lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>().join("\n")
}
