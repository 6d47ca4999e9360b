//! The queue for a lease, in PostgreSQL.

use manyhands_postgres::Statement;

use super::leases;
use super::{NOW, Postgres};
use crate::Result;
use crate::clock::micros;
use crate::lease::{Acquired, Claim};
use crate::queue::{PLACE_KEPT_FOR, Queue, QueueState, Ticket};
use crate::store::StudyId;

/// The queue for a lease of a study.
pub struct LeaseQueue<'a> {
    pub store: &'a Postgres,
    pub study: StudyId,
}

impl Queue for LeaseQueue<'_> {
    fn state(&self, claim: &Claim<'_>, name: &str) -> Result<QueueState> {
        let ahead = format!(
            ", (SELECT count(*) FROM manyhands_turns WHERE study = $1 AND until > {NOW} AND place < \
             coalesce((SELECT place FROM manyhands_turns WHERE study = $1 AND ticket = $3), {}))",
            i64::MAX
        );
        let read = || leases::find_and(self.study, claim.resource, &ahead).text(name);
        let row = self.store.connection.run_one("reading the queue", |t| t.query_opt(read()))?;
        Ok(row.map_or(QueueState { lease: None, ahead: 0 }, |row| QueueState {
            lease: Some(leases::lease(&row)),
            ahead: usize::try_from(row.get::<_, i64>(9)).unwrap_or(0),
        }))
    }

    fn enter(&self, ticket: Ticket<'_>) -> Result<()> {
        let sql = format!(
            "INSERT INTO manyhands_turns (study, ticket, until) VALUES ($1, $2, {NOW} + $3) \
             ON CONFLICT (study, ticket) DO UPDATE SET until = excluded.until"
        );
        let until = micros(ticket.patience + PLACE_KEPT_FOR);
        let enter = || Statement::new(sql.as_str()).int(self.study.0).text(ticket.name).int(until);
        Ok(self.store.connection.run_one("entering the queue", |t| t.query(enter()).map(drop))?)
    }

    fn claim(&self, claim: &Claim<'_>, name: &str) -> Result<Acquired> {
        self.store.claim(self.study, claim, Some(name))
    }
}

/// Leaves the queue, and removes those who have stopped waiting.
pub fn leave(study: StudyId, name: &str) -> Statement<'_> {
    let sql = format!("DELETE FROM manyhands_turns WHERE study = $1 AND (ticket = $2 OR until <= {NOW})");
    Statement::new(sql).int(study.0).text(name)
}
