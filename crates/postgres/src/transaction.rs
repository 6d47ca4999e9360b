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

use crate::failure::CallFailure;

/// After waiting for a lock a transaction must see what was committed meanwhile. Set each time, as a pooler may have switched
/// to another connection.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// All statements see the database as of the first one.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A statement with its parameters, in their order.
pub struct Statement<'a> {
    sql: Cow<'a, str>,
    parameters: Vec<(Box<dyn ToSql + Sync + 'a>, Type)>,
}

impl<'a> Statement<'a> {
    /// A statement whose parameters `$1`, `$2`, ... are added in their order.
    pub fn new(sql: impl Into<Cow<'a, str>>) -> Self {
        Self { sql: sql.into(), parameters: vec![] }
    }

    /// Adds an integer.
    pub fn int(self, value: i64) -> Self {
        self.with(value, Type::INT8)
    }

    /// Adds a text.
    pub fn text(self, value: &'a str) -> Self {
        self.with(value, Type::TEXT)
    }

    /// Adds a parameter of another type.
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
    /// It begins with its first statement, in this way.
    Ahead(&'static str),
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
    pub(crate) fn none(runtime: &'a Runtime, client: &'a Client, limit: Duration) -> Self {
        Self { runtime, client, limit, start: Instant::now(), stage: Cell::new(TransactionStage::Outside) }
    }

    /// Statements from here on belong to one transaction.
    pub(crate) fn begin(&self) {
        self.stage.set(TransactionStage::Ahead(BEGIN));
    }

    /// Statements from here on belong to one transaction that reads the state of one moment.
    pub(crate) fn begin_snapshot(&self) {
        self.stage.set(TransactionStage::Ahead(BEGIN_SNAPSHOT));
    }

    /// Commits, unless [`Transaction::send_and_commit`] has done so.
    pub(crate) fn commit(&self) -> Result<(), CallFailure> {
        self.end("COMMIT")
    }

    /// Rolls back, unless [`Transaction::send_and_commit`] has committed.
    pub(crate) fn roll_back(&self) -> Result<(), CallFailure> {
        self.end("ROLLBACK")
    }

    fn end(&self, statement: &str) -> Result<(), CallFailure> {
        match self.stage.replace(TransactionStage::Over) {
            TransactionStage::Open => self.run(statement),
            TransactionStage::Outside | TransactionStage::Ahead(_) | TransactionStage::Over => Ok(()),
        }
    }

    /// The rows of a statement.
    pub fn query(&self, statement: Statement<'_>) -> Result<Vec<Row>, CallFailure> {
        Ok(self.send_together(vec![statement])?.swap_remove(0))
    }

    /// The first row, if there is one.
    pub fn query_opt(&self, statement: Statement<'_>) -> Result<Option<Row>, CallFailure> {
        Ok(self.query(statement)?.into_iter().next())
    }

    /// Statements without parameters.
    pub fn run(&self, sql: &str) -> Result<(), CallFailure> {
        let begin = self.begin_if_ahead();
        self.with_timeout(async {
            if let Some(begin) = begin {
                self.client.batch_execute(begin).await?;
            }
            self.client.batch_execute(sql).await
        })
    }

    /// Sends several statements at once; the rows of each.
    pub fn send_together(&self, statements: Vec<Statement<'_>>) -> Result<Vec<Vec<Row>>, CallFailure> {
        self.send(&statements, None)
    }

    /// As [`Transaction::send_together`], and commits: the last call of a transaction.
    pub fn send_and_commit(&self, statements: Vec<Statement<'_>>) -> Result<Vec<Vec<Row>>, CallFailure> {
        // After a failed statement this rolls back, and the statement's error is reported.
        let answers = self.send(&statements, Some("COMMIT"));
        self.stage.set(TransactionStage::Over);
        answers
    }

    /// The statement that begins the transaction, if it has not begun yet.
    fn begin_if_ahead(&self) -> Option<&'static str> {
        let TransactionStage::Ahead(begin) = self.stage.get() else { return None };
        self.stage.set(TransactionStage::Open);
        Some(begin)
    }

    /// Sends statements at once, then one that ends the transaction; the rows of each.
    fn send(&self, statements: &[Statement<'_>], end: Option<&'static str>) -> Result<Vec<Vec<Row>>, CallFailure> {
        let control = |sql: &'static str| async move { self.client.batch_execute(sql).await.map(|()| vec![]) };
        let begin = self.begin_if_ahead();
        let mut answers: Vec<Answer<'_>> = Vec::new();
        answers.extend(begin.map(|begin| Box::pin(control(begin)) as Answer<'_>));
        answers.extend(statements.iter().map(|statement| Box::pin(statement.send(self.client)) as Answer<'_>));
        answers.extend(end.map(|end| Box::pin(control(end)) as Answer<'_>));
        let rows = self.with_timeout(in_order(answers))?;
        Ok(rows.into_iter().skip(usize::from(begin.is_some())).take(statements.len()).collect())
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
pub(crate) fn with_timeout<T>(
    runtime: &Runtime,
    limit: Duration,
    left: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, CallFailure> {
    match runtime.block_on(async { tokio::time::timeout(left, work).await }) {
        Ok(answer) => answer.map_err(CallFailure::server),
        Err(_) => Err(CallFailure::timeout(limit)),
    }
}
