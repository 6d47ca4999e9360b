//! Durable studies: append-only logs in SQLite, PostgreSQL or memory, and sessions on top of them.
//!
//! A [`Store`] keeps studies, their files, their events and their leases, and knows nothing of what events mean. A
//! [`Session`] keeps one study of a store: it catches up with what others have logged, asks, tells, and claims trials for
//! workers. Everything that a user meets calls sessions.
//!
//! The feature `postgres`, on by default, is for stores on PostgreSQL.

mod chain;
mod clock;
mod codec;
mod error;
mod history;
mod holder;
mod keeper;
mod line;
mod location;
mod memory;
mod network;
#[cfg(feature = "postgres")]
mod postgres;
mod replace;
mod session;
mod source;
mod sqlite;
mod store;

pub use clock::{Clock, SystemClock, Time};
pub use codec::{decode, encode};
pub use error::{Error, Result};
pub use history::{History, Times};
pub use holder::{Holder, Life};
pub use keeper::Keeper;
pub use location::{Access, Location};
pub use memory::Memory;
#[cfg(feature = "postgres")]
pub use postgres::{Address, Postgres};
pub use replace::replace_file;
pub use session::{Claimed, Inspection, Outside, Reported, Session, StudyLog, Survey};
pub use source::Source;
pub use sqlite::Sqlite;
pub use store::{
    Acquired, Append, Appended, Claim, Fence, Lease, NewEvent, NewStudy, Record, Store, StoredFile, StudyId, StudyRow,
};
