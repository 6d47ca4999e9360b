//! Tables for a terminal, and numbers in few digits.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use manyhands_core::text::significant;

/// A table with a frame and a header.
pub(crate) fn framed(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header.to_vec());
    table
}

/// Aligns columns of numbers.
pub(crate) fn align_right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Three significant digits where they fit before the decimal point, without trailing zeros.
pub(crate) fn digits(value: f64) -> String {
    let decimals = (2.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// At most two significant digits; one below 0.001.
pub(crate) fn probability(p: f64) -> String {
    if p > 0.0 && p < 1e-3 {
        return format!("{p:.0e}");
    }
    let text = significant(p, 2);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_three_without_trailing_zeros() {
        assert_eq!(digits(0.033_33), "0.0333");
        assert_eq!(digits(1000.0), "1000");
        assert_eq!(digits(2.0), "2");
    }

    #[test]
    fn probabilities_are_short() {
        let shown = [1.0, 0.9999, 0.5, 0.0343, 0.001_96, 0.000_96, 1.9e-5, 0.0].map(probability);
        assert_eq!(shown, ["1", "1", "0.5", "0.034", "0.002", "1e-3", "2e-5", "0"]);
    }
}
