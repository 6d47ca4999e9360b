//! Parts of messages that depend on a number.

pub(super) fn asked_for(trials: usize) -> String {
    match trials {
        0 => "none was asked for yet".to_string(),
        1 => "1 trial was asked for, numbered from 0".to_string(),
        trials => format!("{trials} trials were asked for, numbered from 0"),
    }
}

pub(super) fn many(candidates: usize) -> String {
    if candidates == 1 { "is 1".to_string() } else { format!("are {candidates}") }
}
