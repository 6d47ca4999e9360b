//! Integers among the arguments; an error says which are allowed.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// A parser of integers in this range. Name T, the type of the option: nothing else ties it to that.
pub fn integer_in<T>(
    allowed: impl RangeBounds<T> + Clone + Send + Sync,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + Display + PartialOrd,
{
    move |text| match text.parse() {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => Err(format!("it must be an integer{}", range_text(&allowed))),
    }
}

fn range_text<T: Display>(allowed: &impl RangeBounds<T>) -> String {
    match (allowed.start_bound(), allowed.end_bound()) {
        (Bound::Included(least), Bound::Included(most)) => format!(" from {least} to {most}"),
        (Bound::Included(least), _) => format!(" from {least}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_the_range_are_read_and_others_are_refused_with_it() {
        let read = integer_in(1u32..=10_000);
        assert_eq!((read("1"), read("10000")), (Ok(1), Ok(10_000)));
        for text in ["0", "10001", "x", "-3", "1e9", "1.5", "", "99999999999999999999"] {
            assert_eq!(read(text), Err("it must be an integer from 1 to 10000".to_string()), "{text}");
        }
        assert_eq!(integer_in::<usize>(0..)("-1"), Err("it must be an integer from 0".to_string()));
    }
}
