//! Whether a stored study is undamaged: what `verify` gives.

use manyhands_core::study::Verification;
use manyhands_core::text::counted;
use manyhands_store::Inspection;
use serde_json::{Value as Json, json};

/// What was found, as JSON. `choices` is what [`manyhands_core::Study::verify`] found, if it was asked for and succeeded;
/// `faults` are all faults, those of the choices among them.
pub fn json(inspection: &Inspection, choices: Option<&Verification>, faults: &[String]) -> Json {
    let choices = choices.map(|found| {
        json!({
            "checked": found.checked.choices, "checked_fits": found.checked.fits,
            "older": found.older.choices, "newer": found.newer.choices,
        })
    });
    json!({
        "study": inspection.source().study().name,
        "sound": faults.is_empty(),
        "events": inspection.events(),
        "hashed": inspection.hashed(),
        "trials": inspection.ledger().trials().len(),
        "choices": choices,
        "faults": faults,
    })
}

/// How many events are sound, and what was found of the choices. Faults are not in it.
pub fn text(inspection: &Inspection, choices: Option<&Verification>) -> String {
    let events = inspection.events();
    let hashed = match inspection.hashed() {
        all if all == events => "all covered by the running hash".to_string(),
        some => format!("{some} covered by the running hash, the others are older than it"),
    };
    let name = &inspection.source().study().name;
    let first = format!("study {name}: {} ({hashed})", counted(events, "sound event"));
    choices.map_or(first.clone(), |found| format!("{first}\n{found}"))
}

/// A line per fault.
pub fn fault_lines(faults: &[String]) -> Vec<String> {
    faults.iter().map(|fault| format!("damage: {fault}")).collect()
}

/// What to do where the stored study file is damaged.
pub const OWN_FILE: &str =
    "name your own copy of it in place of the study's name: manyhands verify study.toml --salvage FILE";

/// What to do about damage: how to save the sound events, if there are any.
pub fn hint_line(inspection: &Inspection) -> String {
    let events = inspection.events();
    if events == 0 {
        return "hint: keep a copy of the store as it is; no event in it can be saved".to_string();
    }
    let own = if inspection.has_sound_file() { String::new() } else { format!("; {OWN_FILE}") };
    format!(
        "hint: keep a copy of the store as it is; `manyhands verify STUDY --salvage FILE` writes the {}, and \
         `manyhands import FILE --store sqlite:NEW.db` continues from there{own}",
        counted(events, "sound event")
    )
}

/// That the sound events were written to a file.
pub fn salvaged_line(events: usize, file: &str) -> String {
    format!("wrote {file} with {}; `manyhands import` takes it into another store", counted(events, "event"))
}
