//! One name, one thing: types, kinds of events, kinds of domains.

use std::collections::BTreeMap;

use manyhands_core::Rule;
use manyhands_core::event::EventKind;

use super::source::{Source, root, sources};

/// Names that several types may have, and why.
const SHARED: [(&str, &str); 6] = [
    ("Error", "every crate has one"),
    ("Result", "every crate has one"),
    ("Options", "the arguments of a verb, one per verb"),
    ("LeaseQueue", "who waits for a lease, one per database"),
    ("Domain", "gp's are the finite ones, core's all that may be chosen from"),
    ("Key", "gp's are those of rows, core's those of study files"),
];

/// Names that only one place may declare, and where that is.
const RESERVED: [(&str, &str); 6] = [
    ("Choice", "crates/core/src/choice.rs"),
    ("Ledger", "crates/core/src/ledger.rs"),
    ("Outcome", "crates/run/src"),
    ("Pool", "crates/core/src/pool.rs"),
    ("Study", "crates/core/src/study"),
    ("Trial", "crates/core/src/trial.rs"),
];

/// The types that a file declares.
fn declared(source: &Source) -> impl Iterator<Item = &str> {
    source.code.lines().filter_map(|line| {
        let mut words = line.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_' && c != '(' && c != ')');
        let mut word = words.next()?;
        if word.starts_with("pub") {
            word = words.next()?;
        }
        let is_type = ["struct", "enum", "trait", "type", "union"].contains(&word);
        let name = words.next()?.split(['(', ')']).next()?;
        // Associated types begin with a space: they belong to their trait.
        (is_type && (word != "type" || !line.starts_with(' '))).then_some(name)
    })
}

#[test]
fn a_type_has_its_name_to_itself() {
    let mut homes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources() {
        for name in declared(source) {
            homes.entry(name).or_default().push(&source.path);
        }
    }
    assert!(homes.len() > 250, "only {} types found", homes.len());
    let is_shared = |name: &str| SHARED.iter().any(|(shared, _)| *shared == name);
    homes.retain(|name, homes| homes.len() > 1 && !is_shared(name));
    assert!(homes.is_empty(), "{homes:#?}");
}

#[test]
fn some_names_are_declared_in_one_place() {
    for source in sources() {
        for name in declared(source) {
            let home = RESERVED.iter().find(|(reserved, _)| *reserved == name);
            assert!(home.is_none_or(|(_, home)| source.is_in(&[home])), "{name} is declared in {}", source.path);
        }
    }
}

#[test]
fn kinds_of_events_have_their_names_in_one_file() {
    // States of trials are named after what ended them.
    let homes = ["crates/core/src/event.rs", "crates/core/src/trial.rs"];
    let steps = ["crates/store/src/sqlite/schema.rs", "crates/store/src/postgres/schema.rs"];
    for source in sources().iter().filter(|source| source.is_in(&["crates/core/src", "crates/store/src"])) {
        for kind in EventKind::ALL.map(EventKind::name) {
            let in_sql = format!("'{kind}'");
            let is_named = source.texts.iter().any(|text| text == kind) && !source.is_in(&homes);
            let is_listed = source.texts.iter().any(|text| text.contains(&in_sql)) && !source.is_in(&steps);
            assert!(!is_named && !is_listed, "\"{kind}\" is written out in {}", source.path);
        }
    }
}

#[test]
fn every_rule_has_a_section_of_its_own() {
    let page = std::fs::read_to_string(root().join("docs/rules.md")).unwrap();
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for rule in Rule::all().map(Rule::name) {
        assert!(
            headings.iter().any(|heading| heading.split(", ").any(|name| name == rule)),
            "docs/rules.md lacks {rule}"
        );
    }
}

#[test]
fn a_rule_never_asks_on_which_domain_it_is() {
    for source in sources().iter().filter(|source| source.is_in(&["crates/core/src/rules"])) {
        for word in ["Domain", "Space", "Grid", "Points", "Finite", "Continuous", "Discretized"] {
            assert!(!source.has_word(word), "{word} in {}", source.path);
        }
    }
}
