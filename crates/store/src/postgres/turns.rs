//! Places in line for a lease, in PostgreSQL.

use super::leases::{self, micros};
use super::transaction::Statement;
use super::{NOW, Postgres};
use crate::Result;
use crate::line::{KEPT, Line, Ticket, View};
use crate::store::{Acquired, Claim, StudyId};

/// The line of those who want a lease of a study.
pub struct Turns<'a> {
    pub store: &'a Postgres,
    pub study: StudyId,
}

impl Line for Turns<'_> {
    fn look(&self, claim: &Claim<'_>, name: &str) -> Result<View> {
        let ahead = format!(
            ", (SELECT count(*) FROM manyhands_turns WHERE study = $1 AND until > {NOW} AND place < \
             coalesce((SELECT place FROM manyhands_turns WHERE study = $1 AND ticket = $3), {}))",
            i64::MAX
        );
        let look = || leases::find_and(self.study, claim.resource, &ahead).text(name);
        let row = self.store.connection.one("waiting for a turn", |t| t.query_opt(look()))?;
        Ok(row.map_or(View { lease: None, ahead: 0 }, |row| View {
            lease: Some(leases::lease(&row)),
            ahead: usize::try_from(row.get::<_, i64>(9)).unwrap_or(0),
        }))
    }

    fn queue(&self, ticket: Ticket<'_>) -> Result<()> {
        let sql = format!(
            "INSERT INTO manyhands_turns (study, ticket, until) VALUES ($1, $2, {NOW} + $3) \
             ON CONFLICT (study, ticket) DO UPDATE SET until = excluded.until"
        );
        let until = micros(ticket.patience + KEPT);
        let queue = || Statement::new(sql.as_str()).int(self.study.0).text(ticket.name).int(until);
        self.store.connection.one("getting in line", |t| t.query(queue()).map(drop))
    }

    fn claim(&self, claim: &Claim<'_>, name: &str) -> Result<Acquired> {
        self.store.claim(self.study, claim, Some(name))
    }
}

/// Leaves the line, with those who have stopped waiting.
pub fn leave(study: StudyId, name: &str) -> Statement<'_> {
    let sql = format!("DELETE FROM manyhands_turns WHERE study = $1 AND (ticket = $2 OR until <= {NOW})");
    Statement::new(sql).int(study.0).text(name)
}
