//! Statements of one transaction, each waited for, all of them within one limit. Statements are sent unprepared, with the
//! types of their parameters: one round trip each, and poolers need to remember nothing.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::failure::Failure;

/// A parameter and its type.
pub type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// A transaction, or statements outside of any.
pub struct Transaction<'a> {
    runtime: &'a Runtime,
    client: &'a Client,
    limit: Duration,
    start: Instant,
}

impl<'a> Transaction<'a> {
    pub fn new(runtime: &'a Runtime, client: &'a Client, limit: Duration) -> Self {
        Self { runtime, client, limit, start: Instant::now() }
    }

    pub fn query(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, Failure> {
        self.within(self.client.query_typed(sql, parameters))
    }

    pub fn query_opt(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Option<Row>, Failure> {
        self.within(self.client.query_typed_opt(sql, parameters))
    }

    pub fn query_one(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Row, Failure> {
        self.within(self.client.query_typed_one(sql, parameters))
    }

    /// How many rows it has changed.
    pub fn execute(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64, Failure> {
        self.within(self.client.execute_typed(sql, parameters))
    }

    /// Statements without parameters.
    pub fn run(&self, sql: &str) -> Result<(), Failure> {
        self.within(self.client.batch_execute(sql))
    }

    fn within<T>(&self, work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Failure> {
        within(self.runtime, self.limit, self.limit.saturating_sub(self.start.elapsed()), work)
    }
}

/// Waits for an answer for as long as is left of a limit.
pub fn within<T>(
    runtime: &Runtime,
    limit: Duration,
    left: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Failure> {
    match runtime.block_on(async { tokio::time::timeout(left, work).await }) {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Failure::Silence(limit)),
    }
}
