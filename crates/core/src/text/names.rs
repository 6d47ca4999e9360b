//! Names that are near to a mistyped one.

use super::{one_line, quoted};

/// How many names a message lists.
const LISTED: usize = 20;

/// What to say of a name that is none of these: the one that was likely meant, or else all of them.
pub(crate) fn names_instead(name: &str, noun: &str, known: &[String]) -> String {
    if let Some(likely) = likely_name(known.iter().map(String::as_str), name) {
        return format!("the nearest name is {}", quoted(likely));
    }
    let listed: Vec<String> = known.iter().take(LISTED).map(|name| one_line(name)).collect();
    let more = known.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match known {
        [_] => format!("the only {noun} is {}", listed.join(", ")),
        _ => format!("the {noun}s are {}{more}", listed.join(", ")),
    }
}

/// The name that takes the fewest edits, the first among equals.
fn nearest<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    names.into_iter().min_by_key(|known| edits(known, name))
}

/// The name that a mistyped one was likely meant to be: the nearest, if it takes few edits for its length.
///
/// ```
/// # use manyhands_core::text::likely_name;
/// assert_eq!(likely_name(["direction", "seed"], "diretcion"), Some("direction"));
/// assert_eq!(likely_name(["direction", "seed"], "colour"), None);
/// ```
pub fn likely_name<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    nearest(names, name).filter(|known| edits(known, name) <= (known.chars().count() / 3).max(1))
}

/// The optimal string alignment distance, ignoring case: how many letters to insert, delete, replace or swap with their
/// neighbour to turn one word into the other.
fn edits(from: &str, to: &str) -> usize {
    let [from, to] = [from, to].map(|word| word.to_lowercase().chars().collect::<Vec<char>>());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut fewest = replaced.min(row[j - 1] + 1).min(rows[i - 1][j] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                fewest = fewest.min(rows[i - 2][j - 2] + 1);
            }
            row.push(fewest);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_those_of_the_textbook() {
        assert_eq!([edits("kitten", "sitting"), edits("", "abc"), edits("Lr", "lr")], [3, 3, 0]);
        assert_eq!([edits("delta", "dleta"), edits("ca", "abc"), edits("abc", "abc")], [1, 3, 0]);
    }

    #[test]
    fn only_a_name_that_is_near_was_likely() {
        assert_eq!(likely_name(["direction", "seed"], "diretcion"), Some("direction"));
        assert_eq!(likely_name(["direction", "seed"], "colour"), None);
        assert_eq!(likely_name([], "seed"), None);
    }
}
