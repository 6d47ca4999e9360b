//! Durable studies: append-only logs in SQLite, PostgreSQL or memory, and sessions on top of them.
//!
//! # Guide
//!
//! A [`Location`] is the address of a store, and opens it. A [`Source`] is a study file with the files that it names. A
//! [`Session`] is one study of a store: it asks, tells, and follows what other processes log. Any number of processes may
//! have sessions of the same study at once, and a process that ends in the middle of anything loses nothing that was
//! acknowledged.
//!
//! ```
//! use manyhands_store::{Access, Location, Session, Source};
//!
//! # fn main() -> manyhands_store::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let location = Location::Sqlite(folder.path().join("studies.db"));
//! # /*
//! let location: Location = "sqlite:studies.db".parse()?;  // or postgres://me@host/studies
//! # */
//! let store = location.open(Access::Create)?;
//! let text = r#"
//!     name = "etching"
//!     [space]
//!     power = { float = [10.0, 300.0], scale = "log" }
//!     gas = { choice = ["argon", "oxygen"] }
//! "#;
//! let source = Source::read(text, |path| Err(format!("{path} is not needed")))?;
//! let mut session = Session::open_or_create(store, source)?;
//!
//! // A batch of trials, each aware of those before it; results may come in any order, from any process.
//! let batch = session.ask(3)?;
//! session.tell(batch[2].trial, 0.7)?;
//! session.fail(batch[0].trial, "no plasma")?;
//!
//! // Another process, later: the study is in the store under its name.
//! let mut again = Session::open(location.open(Access::Write)?, "etching", &location.to_string())?;
//! assert_eq!(again.ledger().pending(), 1);
//! assert_eq!(again.study()?.best()?.trial, batch[2].trial);
//! # Ok(()) }
//! ```
//!
//! Workers claim trials instead of asking by hand: [`Session::ask_for_worker`] and [`Session::survey`] give a [`Claimed`]
//! trial under a lease, a [`LeaseRenewer`] renews the lease while the trial runs, and [`Session::report`] records the result. A
//! trial whose worker died is offered to others; a result that comes after that is stored as a late result, not used by the model
//! ([`Reported`]).
//!
//! A study moves to another store as text: [`StudyLog::export`], [`StudyLog::read`], [`Session::import`]. Damage is looked
//! for by an [`Inspection`], which can save the part that is sound.
//!
//! # What is behind it
//!
//! Every kind of store implements one private trait: studies, files, append-only events, leases. A store never reads the
//! body of an event; of its kind it knows only whether it begins or ends a trial, because the database itself sees to it
//! that a trial begins once and ends at most once. What events mean is the business of sessions, which fold them with
//! `manyhands-core`.
//!
//! The feature `postgres`, on by default, is for stores on PostgreSQL.

mod backend;
mod chain;
mod clock;
mod code;
mod codec;
mod error;
mod fault;
mod hint;
mod history;
mod holder;
mod lease;
mod location;
mod memory;
mod network;
#[cfg(feature = "postgres")]
mod postgres;
mod queue;
mod record;
mod renewer;
mod replace;
mod session;
mod source;
mod sqlite;
mod store;
mod temporary;
#[cfg(test)]
mod tests;

pub use clock::Time;
pub use error::{Damage, Error, Result};
pub use history::Times;
pub use holder::{Holder, Liveness};
pub use lease::Lease;
pub use location::{Access, Location};
#[cfg(feature = "postgres")]
pub use postgres::{Address, ServerError, ServerErrorKind};
pub use renewer::LeaseRenewer;
pub use replace::replace_file;
pub use session::{
    Amendment, Change, Claimed, CopyPlan, CopyRefusal, CopyReport, Entry, EntryFaults, ExternalEvaluation, Inspection,
    OnConflict, Recorded, Reported, Session, StudyLog, Survey, TrialEntry, TrialResult, misfits, no_reason,
};
pub use source::Source;
pub use store::{Store, StoredFile, StudyId, StudyRow};
pub use temporary::TemporaryFile;
