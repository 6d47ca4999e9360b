//! Names that were probably meant.

/// The name that takes the fewest edits, the first among equals.
pub(crate) fn nearest<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    names.into_iter().min_by_key(|known| edits(known, name))
}

/// The name that was probably meant: the nearest one, if it takes few edits for its length.
pub(crate) fn meant<'a>(names: impl IntoIterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    nearest(names, name).filter(|known| edits(known, name) <= (known.chars().count() / 3).max(1))
}

/// How many letters to insert, delete or replace to make one word into another (Levenshtein), case aside.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_those_of_the_textbook() {
        assert_eq!([edits("kitten", "sitting"), edits("", "abc"), edits("Lr", "lr")], [3, 3, 0]);
    }

    #[test]
    fn only_a_name_that_is_near_was_meant() {
        assert_eq!(meant(["direction", "seed"], "diretcion"), Some("direction"));
        assert_eq!(meant(["direction", "seed"], "colour"), None);
        assert_eq!(meant([], "seed"), None);
    }
}
