//! A blocking connection to a PostgreSQL server: addresses as PostgreSQL's own client reads them, TLS, short transactions with
//! time limits, repeated while the server is away. It knows no study and no table.
//!
//! ```no_run
//! use manyhands_postgres::{Address, Connection, Statement};
//! # fn main() -> Result<(), manyhands_postgres::ServerError> {
//! let address: Address = "postgres://me@db.example.org/plants?sslmode=verify-full".parse()?; // the password: PGPASSWORD, ~/.pgpass
//! let connection = Connection::open(&address)?;
//! let tall = || Statement::new("SELECT name FROM trees WHERE height > $1").int(30);
//! let names: Vec<String> = connection.run_one("reading the trees", |t| {
//!     Ok(t.query(tall())?.iter().map(|row| row.get(0)).collect())
//! })?;
//! connection.transact("felling a tree", |t, _| {
//!     t.query(Statement::new("DELETE FROM trees WHERE name = $1").text(&names[0])).map(drop)
//! })?;
//! # Ok(()) }
//! ```
//!
//! A crate of its own because a release build leaves it unoptimized: it waits for a server, and the asynchronous code below it
//! takes long to optimize.

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
pub use error::{ServerError, ServerErrorKind};
pub use failure::CallFailure;
pub use tokio_postgres::Row;
pub use tokio_postgres::types::Type;
pub use transaction::{Statement, Transaction};
