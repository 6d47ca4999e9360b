//! Numbers as a person would write them.

/// A number in this many significant digits.
///
/// ```
/// # use manyhands_core::text::significant;
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

/// A number in at most six significant digits, without trailing zeros.
///
/// ```
/// # use manyhands_core::text::short;
/// assert_eq!([0.1 + 0.2, 12.0, 1e-9].map(short), ["0.3", "12", "1.00000e-9"]);
/// ```
pub fn short(value: f64) -> String {
    let text = significant(value, 6);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    text
}

/// A number with all its digits, without rows of zeros.
///
/// ```
/// # use manyhands_core::text::exact;
/// assert_eq!([123456789.25, 12.0, 1e-7].map(exact), ["123456789.25", "12", "1e-7"]);
/// ```
pub fn exact(value: f64) -> String {
    if value == 0.0 || (1e-6..1e16).contains(&value.abs()) { format!("{value}") } else { format!("{value:e}") }
}

/// Whether two texts are the same number, with a decimal point or a decimal comma.
///
/// ```
/// # use manyhands_core::text::are_one_number;
/// assert!(are_one_number("0.50", "0,5") && !are_one_number("0.5", "0.51") && !are_one_number("a", "a"));
/// ```
pub fn are_one_number(one: &str, other: &str) -> bool {
    let number = |text: &str| text.trim().replacen(',', ".", 1).parse::<f64>().ok().filter(|number| number.is_finite());
    number(one).is_some_and(|one| number(other) == Some(one))
}
