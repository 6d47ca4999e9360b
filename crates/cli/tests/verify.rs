//! `verify`: sound studies are said to be sound, damage is noticed and named, and what is sound can be saved.

use crate::common::Bench;
use rusqlite::Connection;

const STUDY: &str = "name = \"v\"\nseed = 2\n[space]\nx = { float = [0.0, 1.0] }\ny = { float = [0.0, 1.0] }\n";

/// A study with ten values and their fits.
fn lived() -> Bench {
    let bench = Bench::new(STUDY);
    for trial in 0..10 {
        assert!(bench.run(&["ask", "study.toml"]).status.success());
        let told = bench.run(&["tell", "v", &trial.to_string(), &format!("0.{trial}")]);
        assert!(told.status.success());
    }
    bench
}

fn said(bench: &Bench, arguments: &[&str]) -> (Option<i32>, String) {
    let output = bench.run(arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn sql(bench: &Bench, sql: &str) {
    assert_eq!(Connection::open(bench.path().join("manyhands.db")).unwrap().execute(sql, []).unwrap(), 1);
}

#[test]
fn a_sound_study_is_sound_and_its_choices_are_made_again() {
    let bench = lived();
    let found = bench.json(&["verify", "study.toml", "--choices", "--json"]);
    assert_eq!(
        (&found["sound"], &found["trials"], &found["faults"]),
        (&true.into(), &10.into(), &serde_json::json!([]))
    );
    assert_eq!(found["events"], found["hashed"]);
    assert_eq!((&found["choices"]["checked"], &found["choices"]["older"]), (&10.into(), &0.into()));
    assert!(said(&bench, &["verify", "w"]).1.contains("there is no study \"w\""));
}

#[test]
fn one_changed_digit_is_noticed_by_every_verb_and_named_by_verify() {
    let bench = lived();
    sql(&bench, "UPDATE events SET body = replace(body, '0.4', '0.5') WHERE kind = 'told' AND trial = 4");
    let (code, text) = said(&bench, &["status", "v"]);
    assert!(
        code != Some(0)
            && text.contains("of the log of study \"v\" cannot be read")
            && text.contains("its hash differs"),
        "{text}"
    );
    let (code, text) = said(&bench, &["verify", "v", "--salvage", "sound.log"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("damage: event ") && text.contains("its hash differs"), "{text}");
    // What was before it goes on elsewhere.
    let (code, text) = said(&bench, &["import", "sound.log", "--store", "sqlite:new.db"]);
    assert_eq!(code, Some(0), "{text}");
    let elsewhere = bench.at("sqlite:new.db".to_string());
    assert_eq!(elsewhere.json(&["status", "v", "--json"])["observed"], 4);
    assert!(elsewhere.run(&["verify", "v"]).status.success());
}

#[test]
fn an_event_that_has_lost_its_hash_is_not_taken_for_an_older_one() {
    let bench = lived();
    sql(&bench, "UPDATE events SET hash = NULL WHERE sequence = 5");
    let (code, text) = said(&bench, &["verify", "v"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("event 5") && text.contains("it has no hash, and events before it have one"), "{text}");
}

#[test]
fn an_event_that_is_kept_under_another_trial_is_noticed() {
    let bench = lived();
    sql(&bench, "UPDATE events SET trial = 77 WHERE kind = 'told' AND trial = 4");
    let (code, text) = said(&bench, &["verify", "v"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("the store has it under another trial than it is about"), "{text}");
}

#[test]
fn one_changed_digit_of_the_study_file_is_noticed() {
    let bench = lived();
    sql(&bench, "UPDATE studies SET text = replace(text, 'seed = 2', 'seed = 3')");
    // Nothing may pass for sound that was written from a damaged file.
    let (code, text) = said(&bench, &["verify", "v", "--salvage", "sound.log"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("its study file is not what was stored") && text.contains("name your own copy"), "{text}");
    assert!(!bench.path().join("sound.log").exists());
    let (code, text) = said(&bench, &["verify", "study.toml", "--salvage", "sound.log"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("its study file is not what was stored") && text.contains("wrote sound.log"), "{text}");
    assert!(bench.run(&["import", "sound.log", "--store", "sqlite:saved.db"]).status.success());
    let (code, text) = said(&bench, &["verify", "study.toml", "--choices", "--store", "sqlite:saved.db"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = said(&bench, &["ask", "v"]);
    assert!(code != Some(0) && text.contains("study \"v\" cannot be read: its study file is not"), "{text}");
    // A store of before there was a hash of it.
    sql(&bench, "UPDATE studies SET sha256 = NULL");
    assert!(bench.run(&["status", "v"]).status.success());
}

#[test]
fn a_file_of_another_study_is_refused() {
    let bench = lived();
    bench.write("other.toml", &STUDY.replace("seed = 2", "seed = 3"));
    let (code, text) = said(&bench, &["verify", "other.toml"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("seed: 3 in the file, 2 as stored"), "{text}");
}

#[test]
fn a_zeroed_page_is_noticed_and_nothing_panics() {
    let bench = lived();
    let path = bench.path().join("manyhands.db");
    // Everything into the file itself.
    Connection::open(&path).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([sound[16], sound[17]]));
    let mut saved = 0;
    for zeroed in 1..sound.len() / page {
        let mut damaged = sound.clone();
        damaged[zeroed * page..(zeroed + 1) * page].fill(0);
        std::fs::write(&path, &damaged).unwrap();
        let (code, text) = said(&bench, &["verify", "v", "--salvage", "sound.log"]);
        assert!(matches!(code, Some(1 | 2)), "page {zeroed}: {text}");
        // Where the study itself can be read, so can the events before the damage.
        saved += usize::from(code == Some(1) && bench.path().join("sound.log").exists());
        let _ = std::fs::remove_file(bench.path().join("sound.log"));
    }
    std::fs::write(&path, &sound).unwrap();
    assert!(bench.run(&["verify", "v"]).status.success());
    assert!(saved > 2, "of {} zeroed pages only {saved} left something to save", sound.len() / page - 1);
}

#[test]
fn a_damaged_study_harms_no_other_and_can_be_deleted() {
    let bench = lived();
    bench.write("other.toml", &STUDY.replace("\"v\"", "\"other\""));
    assert!(bench.run(&["ask", "other.toml"]).status.success());
    sql(&bench, "UPDATE events SET body = replace(body, '0.4', '0.5') WHERE kind = 'told' AND trial = 4");
    let listed = bench.json(&["studies", "--json"]);
    assert_eq!((&listed[0]["study"], &listed[0]["pending"]), (&"other".into(), &1.into()));
    assert!(listed[1]["damaged"].as_str().unwrap().contains("its hash differs"), "{listed}");
    assert!(said(&bench, &["status", "v"]).1.contains("manyhands verify STUDY"));
    assert!(!bench.run(&["delete", "v"]).status.success());
    assert!(bench.run(&["delete", "v", "--yes"]).status.success());
    assert_eq!(bench.json(&["studies", "--json"]).as_array().unwrap().len(), 1);
}
