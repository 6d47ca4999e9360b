//! The connection of a store to a PostgreSQL server: addresses as PostgreSQL's own client reads them, TLS, short transactions
//! with time limits, repeated while the server is away. It knows no study and no table.
//!
//! ```no_run
//! use manyhands_postgres::{Address, Attempt, Connection, Statement};
//! # fn main() -> manyhands_postgres::Result<()> {
//! // The password is in PGPASSWORD or ~/.pgpass.
//! let address: Address = "postgres://me@db.example.org/plants?sslmode=verify-full".parse()?;
//! let connection = Connection::open(&address)?;
//! let rows = connection.run_one("counting trees", |t| t.query(Statement::new("SELECT count(*) FROM trees")))?;
//! println!("{} trees", rows[0].get::<_, i64>(0));
//! let is_felled = connection.transact("felling a tree", |t, attempt| {
//!     let felled = t.query(Statement::new("DELETE FROM trees WHERE name = $1 RETURNING name").text("oak"))?;
//!     // Where an answer was lost, an earlier attempt may have done it.
//!     Ok(!felled.is_empty() || attempt == Attempt::Again)
//! })?;
//! # assert!(is_felled);
//! # Ok(()) }
//! ```
//!
//! Every call blocks; none may be made from asynchronous code. The connection is named "manyhands" on the server, and what it
//! commits is on the server's disk (`synchronous_commit`).

mod address;
mod connection;
mod environment;
mod error;
mod failure;
mod passfile;
mod transaction;
mod url;

pub use address::Address;
pub use connection::{Attempt, Connection};
pub use error::{Result, ServerError, ServerErrorKind};
pub use failure::CallFailure;
pub use tokio_postgres::Row;
pub use tokio_postgres::types::{FromSql, ToSql, Type};
pub use transaction::{Statement, Transaction};
