//! Waiting in line for a lease: each who waits has a place, and looks the more seldom the more are ahead. So a turn costs a few
//! looks, however many wait.

use std::time::{Duration, Instant};

use tokio_postgres::types::Type;

use super::NOW;
use super::failure::Failure;
use super::leases::micros;
use super::transaction::Transaction;
use crate::store::StudyId;

/// How long a place is kept for one who is not heard of any more.
const KEPT: Duration = Duration::from_secs(2);

/// How long to wait before looking again, at least and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(4), Duration::from_millis(250));

/// How long a turn is taken to last before any has been seen.
const TURN: Duration = Duration::from_millis(20);

/// What is seen from the line.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// The token of the latest grant, and whether it has ended.
    token: u64,
    is_free: bool,
    /// How many are ahead.
    pub ahead: usize,
}

/// A wait in line.
pub struct Line {
    start: Instant,
    patience: Duration,
    turn: Duration,
    last: Option<(Instant, usize)>,
    /// Whether it was free at the last look already: whoever is ahead does not take it.
    was_free: bool,
}

impl Line {
    pub fn new(patience: Duration) -> Self {
        Self { start: Instant::now(), patience, turn: TURN, last: None, was_free: false }
    }

    pub fn is_over(&self) -> bool {
        self.start.elapsed() >= self.patience
    }

    /// Whether to claim now: it is free and nobody is ahead, or nobody ahead takes it.
    pub fn is_turn(&mut self, view: View, held: u64) -> bool {
        let is_free = view.is_free || view.token != held && view.ahead == 0;
        let is_turn = is_free && (view.ahead == 0 || self.was_free);
        self.was_free = is_free;
        is_turn
    }

    /// Waits for about as long as those ahead will take.
    pub fn wait(&mut self, ahead: usize) {
        let now = Instant::now();
        if let Some((then, before)) = self.last
            && before > ahead
        {
            let each = (now - then) / u32::try_from(before - ahead).unwrap_or(u32::MAX);
            self.turn = (self.turn + each) / 2;
        }
        self.last = Some((now, ahead));
        let expected = self.turn.mul_f64(0.7 * ahead as f64);
        let left = self.patience.saturating_sub(self.start.elapsed());
        std::thread::sleep(expected.clamp(PAUSES.0, PAUSES.1).min(left.max(PAUSES.0)));
    }
}

/// The name of whoever waits here: one for each thread, so that a wait that goes on keeps its place.
pub fn ticket() -> String {
    let (holder, thread) = (crate::Holder::this_process(), std::thread::current().id());
    format!("{}/{}/{}/{thread:?}", holder.host, holder.pid, holder.started)
}

/// Gets in line, or stays in it; those who have stopped waiting leave it.
pub fn queue(t: &Transaction<'_>, study: StudyId, ticket: &str, patience: Duration) -> Result<(), Failure> {
    let sql = format!("DELETE FROM manyhands_turns WHERE study = $1 AND until <= {NOW}");
    t.execute(&sql, &[(&study.0, Type::INT8)])?;
    let sql = format!(
        "INSERT INTO manyhands_turns (study, ticket, until) VALUES ($1, $2, {NOW} + $3) \
         ON CONFLICT (study, ticket) DO UPDATE SET until = excluded.until"
    );
    let until = micros(patience + KEPT);
    t.execute(&sql, &[(&study.0, Type::INT8), (&ticket, Type::TEXT), (&until, Type::INT8)]).map(drop)
}

/// Leaves the line.
pub fn leave(t: &Transaction<'_>, study: StudyId, ticket: &str) -> Result<(), Failure> {
    let sql = "DELETE FROM manyhands_turns WHERE study = $1 AND ticket = $2";
    t.execute(sql, &[(&study.0, Type::INT8), (&ticket, Type::TEXT)]).map(drop)
}

/// Whether the lease is free, and how many are ahead.
pub fn look(t: &Transaction<'_>, study: StudyId, resource: &str, ticket: &str) -> Result<View, Failure> {
    let sql = format!(
        "SELECT token, {NOW} - renewed >= term, (SELECT count(*) FROM manyhands_turns WHERE study = $1 AND until > {NOW} \
         AND place < (SELECT place FROM manyhands_turns WHERE study = $1 AND ticket = $3)) \
         FROM manyhands_leases WHERE study = $1 AND resource = $2"
    );
    let row = t.query_opt(&sql, &[(&study.0, Type::INT8), (&resource, Type::TEXT), (&ticket, Type::TEXT)])?;
    Ok(row.map_or(View { token: 0, is_free: true, ahead: 0 }, |row| View {
        token: row.get::<_, i64>(0) as u64,
        is_free: row.get::<_, Option<bool>>(1).unwrap_or(false),
        ahead: usize::try_from(row.get::<_, i64>(2)).unwrap_or(0),
    }))
}
