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
        let row = self.store.connection.read("waiting for a turn", |t| t.query_opt(look()))?;
        Ok(row.map_or(View { lease: None, ahead: 0 }, |row| View {
            lease: Some(leases::lease(&row)),
            ahead: usize::try_from(row.get::<_, i64>(9)).unwrap_or(0),
        }))
    }

    fn queue(&self, ticket: Ticket<'_>) -> Result<()> {
        // Those who have stopped waiting leave it. One who leaves at the same time is not waited for.
        let leave = format!(
            "DELETE FROM manyhands_turns WHERE study = $1 AND ticket IN \
             (SELECT ticket FROM manyhands_turns WHERE study = $1 AND until <= {NOW} FOR UPDATE SKIP LOCKED)"
        );
        let come = format!(
            "INSERT INTO manyhands_turns (study, ticket, until) VALUES ($1, $2, {NOW} + $3) \
             ON CONFLICT (study, ticket) DO UPDATE SET until = excluded.until"
        );
        let (study, until) = (self.study.0, micros(ticket.patience + KEPT));
        // A place need not outlive the server.
        let changes = || {
            let come = Statement::new(come.as_str()).int(study).text(ticket.name).int(until);
            vec![Statement::new("SET LOCAL synchronous_commit = off"), Statement::new(leave.as_str()).int(study), come]
        };
        self.store.connection.transact("getting in line", |t, _| t.finish(changes()).map(drop))
    }

    fn claim(&self, claim: &Claim<'_>, name: &str) -> Result<Acquired> {
        self.store.claim(self.study, claim, Some(name))
    }
}

/// Leaves the line.
pub fn leave(study: StudyId, name: &str) -> Statement<'_> {
    Statement::new("DELETE FROM manyhands_turns WHERE study = $1 AND ticket = $2").int(study.0).text(name)
}
