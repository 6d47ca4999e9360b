//! The studies of a store: the list of `studies`, and what `delete` and `import` say.

use manyhands_core::{Ledger, TrialState};
use manyhands_store::{Error, Result, Store, StudyRow};
use serde_json::{Value as Json, json};

use crate::damage::is_damage;
use crate::table;

/// A study of a store, as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// When it was created, RFC 3339.
    pub created: String,
    /// How many trials it has, or why its log cannot be read.
    pub trials: std::result::Result<Counts, Error>,
}

/// Numbers of trials by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// With a value.
    pub observed: usize,
    /// Under way.
    pub pending: usize,
    /// Without a value.
    pub failed: usize,
}

/// All studies of a store. A damaged one does not hide the others, nor does one that is deleted meanwhile.
pub fn list(store: &Store) -> Result<Vec<Listed>> {
    store.studies()?.into_iter().filter_map(|row| listed(store, row).transpose()).collect()
}

/// None if it has been deleted.
fn listed(store: &Store, row: StudyRow) -> Result<Option<Listed>> {
    let trials = match store.ledger(&row) {
        Ok(ledger) => Ok(counts(&ledger)),
        Err(Error::Deleted) => return Ok(None),
        Err(error) if is_damage(&error) => Err(error),
        Err(error) => return Err(error),
    };
    Ok(Some(Listed { name: row.name, created: row.created.to_string(), trials }))
}

fn counts(ledger: &Ledger) -> Counts {
    let count = |state| ledger.count(state);
    let [observed, pending, failed] = [TrialState::Observed, TrialState::Pending, TrialState::Failed].map(count);
    Counts { observed, pending, failed }
}

/// Studies as a JSON array.
pub fn json(studies: &[Listed]) -> Json {
    let one = |study: &Listed| match &study.trials {
        Ok(Counts { observed, pending, failed }) => json!({
            "study": study.name, "created_at": study.created, "observed": observed, "pending": pending, "failed": failed,
        }),
        Err(error) => json!({"study": study.name, "created_at": study.created, "damaged": error.to_string()}),
    };
    studies.iter().map(one).collect()
}

/// Studies as a table.
pub fn text(studies: &[Listed]) -> String {
    let header = ["study", "created (UTC)", "observed", "pending", "failed"].map(String::from);
    let row = |study: &Listed| {
        let cells = match &study.trials {
            Ok(Counts { observed, pending, failed }) => [observed, pending, failed].map(ToString::to_string).to_vec(),
            Err(error) => vec![format!("damaged: {error}")],
        };
        [vec![study.name.clone(), to_the_second(&study.created)], cells].concat()
    };
    table(&header, &studies.iter().map(row).collect::<Vec<_>>())
}

/// A time of RFC 3339 for people.
fn to_the_second(time: &str) -> String {
    time.get(..19).unwrap_or(time).replace('T', " ")
}

/// What `delete` says of a study that is gone.
pub fn deleted(name: &str) -> Json {
    json!({"study": name, "deleted": true})
}
