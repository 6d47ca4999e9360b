//! What a learned model expects still to be gained, and how far it has been right.

use manyhands_core::study::{Outlook, Silence, TrackRecord};
use manyhands_core::text::{counted, short, significant};
use serde_json::{Value as Json, json};

/// A smaller factor is 1.0 as it would be printed.
const LEAST_STATED: f64 = 1.05;

/// An outlook as JSON.
pub(crate) fn json(outlook: &Outlook) -> Json {
    json!({
        "gain": outlook.gain,
        "probability": outlook.probability,
        "record": outlook.record.share(),
        "held": outlook.record.held,
        "trials": outlook.record.trials,
        "widened": outlook.widened,
        "exhausted": outlook.is_exhausted,
        "reason": outlook.silence.map(|silence| reason(&silence, &outlook.record)),
    })
}

/// An outlook as a sentence about the best point.
pub(crate) fn text(outlook: &Outlook) -> String {
    match (outlook.gain, &outlook.silence) {
        (Some(gain), _) => expectation(outlook, gain),
        (None, Some(silence)) => reason(silence, &outlook.record),
        (None, None) => "none".to_string(),
    }
}

/// The gain alone, for a line of progress; empty where there is none.
pub fn brief(outlook: &Outlook) -> String {
    match outlook.gain {
        Some(0.0) => "no gain expected".to_string(),
        Some(gain) => format!("no gain above {} expected", significant(gain, 2)),
        None => String::new(),
    }
}

fn expectation(outlook: &Outlook, gain: f64) -> String {
    let percent = short(100.0 * outlook.probability);
    let by = if gain > 0.0 { format!(" by more than {}", significant(gain, 2)) } else { String::new() };
    let mut text = format!(
        "the model expects nothing better than this point{by} ({percent} % of its sampled functions); {}",
        held(&outlook.record)
    );
    if outlook.widened >= LEAST_STATED {
        let factor = significant(outlook.widened, 2);
        text += &format!("; to make up for the misses, its uncertainty is multiplied by {factor}");
    }
    if outlook.is_exhausted {
        text += "; it sees nothing left to gain";
    }
    text
}

fn held(record: &TrackRecord) -> String {
    format!("its intervals have held in {} of {}", record.held, counted(record.trials, "trial"))
}

/// Why there is no gain.
fn reason(silence: &Silence, record: &TrackRecord) -> String {
    match silence {
        Silence::TooEarly { wanted } => {
            let (so_far, trials) = (record.trials, "trials whose values were predicted before they came");
            let are = if so_far == 1 { "is" } else { "are" };
            format!(
                "too early to say what may still be gained: it takes {wanted} {trials}, so far there {are} {so_far}"
            )
        }
        Silence::NoScale => "all values so far are equal: nothing says how much they can vary".to_string(),
        Silence::BeyondFloats => "what may still be gained is beyond the largest numbers".to_string(),
        Silence::PoorRecord { .. } => {
            let (held, trials) = (record.held, counted(record.trials, "trial"));
            format!("the model's intervals held in only {held} of {trials}: it has not understood this function yet")
        }
        _ => "the model does not say".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_that_would_be_printed_as_one_is_not_stated() {
        let record = TrackRecord { held: 30, trials: 33, widened: 1.0 };
        let of = |widened| {
            let (gain, probability, silence) = (Some(0.5), 0.9, None);
            text(&Outlook { gain, probability, record, widened, silence, is_exhausted: false })
        };
        assert!(!of(1.0).contains("misses") && !of(1.049).contains("misses"), "{}", of(1.049));
        assert!(of(1.05).ends_with("its uncertainty is multiplied by 1.1"), "{}", of(1.05));
    }
}
