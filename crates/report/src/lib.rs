//! What manyhands says of a study: the JSON and the text of every verb, apart from the command line.
//!
//! A module is about one verb, or about something that several verbs give: ends of trials, errors, news of a run. `json` gives
//! what programs read (`--json`, HTTP, Python), `text` and lines what people read. Nothing here prints, opens a file, parses
//! arguments or changes a study; what is read is read through a session. Fields of the JSON may be added, never renamed;
//! times are RFC 3339 in UTC; means, standard deviations and values are in the user's units.
//!
//! ```
//! use manyhands_report as report;
//! use manyhands_store::{Access, Location, Session, Source};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "name = \"demo\"\n[space]\nx = { float = [0.0, 1.0] }\n";
//! let source = Source::read(text, |_| Err("this study names no files".to_string()))?;
//! let mut session = Session::open_or_create(Location::Memory.open(Access::Create)?, source)?;
//! let suggestions = session.ask(1)?;
//! assert_eq!(report::ask::json(&session, &suggestions)[0]["trial"], 0);
//! # Ok(()) }
//! ```

pub mod ask;
pub mod best;
pub mod certificate;
pub mod copy;
pub mod damage;
pub mod delete;
pub mod ends;
pub mod news;
pub mod outlook;
pub mod plate;
pub mod predict;
pub mod queue;
pub mod refusal;
pub mod run;
pub mod spreadsheet;
pub mod status;
pub mod studies;
mod table;
pub mod tell_line;
pub mod trials;
pub mod value;
pub mod verify;
mod workers;

use table::table;
