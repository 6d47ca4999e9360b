//! Numbers as a person would write them.

/// A number in this many significant digits.
///
/// ```
/// # use manyhands_core::significant;
/// assert_eq!([1234.5, 0.00123, 3e-9, 0.0].map(|value| significant(value, 3)), ["1234", "0.00123", "3.00e-9", "0"]);
/// ```
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let decimals = digits.max(1) - 1;
    let exponent = value.abs().log10().floor();
    if (-4.0..6.0).contains(&exponent) {
        format!("{value:.*}", (decimals as f64 - exponent).max(0.0) as usize)
    } else {
        format!("{value:.decimals$e}")
    }
}

/// A number with all its digits, without rows of zeros.
pub(crate) fn plain(value: f64) -> String {
    if value == 0.0 || (1e-6..1e16).contains(&value.abs()) { format!("{value}") } else { format!("{value:e}") }
}
