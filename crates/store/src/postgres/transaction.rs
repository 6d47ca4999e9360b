//! The statements of one transaction, within one time limit. They are sent unprepared, with the types of their parameters, so
//! that they work through poolers; statements that do not depend on each other share one round trip.

use std::borrow::Cow;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::failure::CallFailure;

/// After waiting for a lock a transaction must see what was committed meanwhile. Set each time, as a pooler may have switched
/// to another connection.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// A statement with its parameters, in their order.
pub struct Statement<'a> {
    sql: Cow<'a, str>,
    parameters: Vec<(Box<dyn ToSql + Sync + 'a>, Type)>,
}

impl<'a> Statement<'a> {
    pub fn new(sql: impl Into<Cow<'a, str>>) -> Self {
        Self { sql: sql.into(), parameters: vec![] }
    }

    pub fn int(self, value: i64) -> Self {
        self.with(value, Type::INT8)
    }

    pub fn text(self, value: &'a str) -> Self {
        self.with(value, Type::TEXT)
    }

    pub fn with(mut self, value: impl ToSql + Sync + 'a, its_type: Type) -> Self {
        self.parameters.push((Box::new(value), its_type));
        self
    }

    async fn send(&self, client: &Client) -> Result<Vec<Row>, tokio_postgres::Error> {
        let parameters: Vec<(&(dyn ToSql + Sync), Type)> =
            self.parameters.iter().map(|(value, its_type)| (&**value as _, its_type.clone())).collect();
        client.query_typed(&self.sql, &parameters).await
    }
}

/// The stage of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransactionStage {
    /// Single statements, without a transaction.
    Outside,
    /// It begins with its first statement.
    Ahead,
    Open,
    Over,
}

/// A transaction, or statements outside of any.
pub struct Transaction<'a> {
    runtime: &'a Runtime,
    client: &'a Client,
    limit: Duration,
    start: Instant,
    stage: Cell<TransactionStage>,
}

impl<'a> Transaction<'a> {
    /// For statements outside of any transaction.
    pub fn none(runtime: &'a Runtime, client: &'a Client, limit: Duration) -> Self {
        Self { runtime, client, limit, start: Instant::now(), stage: Cell::new(TransactionStage::Outside) }
    }

    /// Statements from here on belong to one transaction.
    pub fn begin(&self) {
        self.stage.set(TransactionStage::Ahead);
    }

    /// Commits or rolls back; nothing happens if [`Transaction::send_and_commit`] has committed.
    pub fn end(&self, commits: bool) -> Result<(), CallFailure> {
        match self.stage.replace(TransactionStage::Over) {
            TransactionStage::Open => self.run(if commits { "COMMIT" } else { "ROLLBACK" }),
            TransactionStage::Outside | TransactionStage::Ahead | TransactionStage::Over => Ok(()),
        }
    }

    pub fn query(&self, statement: Statement<'_>) -> Result<Vec<Row>, CallFailure> {
        Ok(self.send_together(vec![statement])?.swap_remove(0))
    }

    /// The first row, if there is one.
    pub fn query_opt(&self, statement: Statement<'_>) -> Result<Option<Row>, CallFailure> {
        Ok(self.query(statement)?.into_iter().next())
    }

    /// Statements without parameters.
    pub fn run(&self, sql: &str) -> Result<(), CallFailure> {
        let begins = self.begins();
        self.with_timeout(async {
            if begins {
                self.client.batch_execute(BEGIN).await?;
            }
            self.client.batch_execute(sql).await
        })
    }

    /// Sends several statements at once; the rows of each.
    pub fn send_together(&self, statements: Vec<Statement<'_>>) -> Result<Vec<Vec<Row>>, CallFailure> {
        self.pipeline(&statements, false)
    }

    /// As [`Transaction::send_together`], and commits.
    pub fn send_and_commit(&self, statements: Vec<Statement<'_>>) -> Result<Vec<Vec<Row>>, CallFailure> {
        self.pipeline(&statements, true)
    }

    fn begins(&self) -> bool {
        let begins = self.stage.get() == TransactionStage::Ahead;
        if begins {
            self.stage.set(TransactionStage::Open);
        }
        begins
    }

    fn pipeline(&self, statements: &[Statement<'_>], commits: bool) -> Result<Vec<Vec<Row>>, CallFailure> {
        let control = |sql: &'static str| async move { self.client.batch_execute(sql).await.map(|()| vec![]) };
        let begins = self.begins();
        let mut answers: Vec<Answer<'_>> = Vec::new();
        if begins {
            answers.push(Box::pin(control(BEGIN)));
        }
        answers.extend(statements.iter().map(|statement| Box::pin(statement.send(self.client)) as Answer<'_>));
        if commits {
            self.stage.set(TransactionStage::Over);
            // After a failed statement this rolls back, and the statement's error is reported.
            answers.push(Box::pin(control("COMMIT")));
        }
        let rows = self.with_timeout(in_order(answers))?;
        Ok(rows.into_iter().skip(usize::from(begins)).take(statements.len()).collect())
    }

    fn with_timeout<T>(&self, work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, CallFailure> {
        with_timeout(self.runtime, self.limit, self.limit.saturating_sub(self.start.elapsed()), work)
    }
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, tokio_postgres::Error>> + 'a>>;

/// Waits for all answers, or the first error. A request is sent when its future is first polled, so they go out in order.
async fn in_order(mut answers: Vec<Answer<'_>>) -> Result<Vec<Vec<Row>>, tokio_postgres::Error> {
    let mut results: Vec<Option<Result<Vec<Row>, tokio_postgres::Error>>> = answers.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (answer, result) in answers.iter_mut().zip(&mut results).filter(|(_, result)| result.is_none()) {
            if let Poll::Ready(answered) = answer.as_mut().poll(context) {
                *result = Some(answered);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}

/// Waits for an answer within the time that is left.
pub fn with_timeout<T>(
    runtime: &Runtime,
    limit: Duration,
    left: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, CallFailure> {
    match runtime.block_on(async { tokio::time::timeout(left, work).await }) {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(CallFailure::Timeout(limit)),
    }
}
