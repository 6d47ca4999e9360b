//! The queue for a lease, in SQLite.

use std::time::Duration;

use rusqlite::{Connection, Transaction, params};

use super::leases::Moment;
use super::{Durable, Sqlite, leases};
use crate::Result;
use crate::clock::micros;
use crate::lease::{Acquired, Claim};
use crate::queue::{PLACE_KEPT_FOR, Queue, QueueState, Ticket};
use crate::store::StudyId;

/// No place is kept for longer: one that seems to be was given before the machine was last started.
const LONGEST: Duration = Duration::from_secs(600);

/// The queue for a lease of a study.
pub struct LeaseQueue<'a> {
    pub store: &'a Sqlite,
    pub study: StudyId,
}

impl Queue for LeaseQueue<'_> {
    fn state(&self, claim: &Claim<'_>, name: &str) -> Result<QueueState> {
        let (study, now) = (self.study, self.store.moment());
        self.store.read(|c| {
            let lease = leases::find(c, study, claim.resource, now)?;
            Ok(QueueState { lease, ahead: ahead(c, study, name, now)? })
        })
    }

    fn enter(&self, ticket: Ticket<'_>) -> Result<()> {
        let (study, now) = (self.study.0, self.store.moment().ticks);
        self.store.write(Durable::No, |t| {
            // Those who have stopped waiting are removed.
            let sql = "DELETE FROM turns WHERE study = ? AND until NOT BETWEEN ? AND ?";
            t.prepare_cached(sql)?.execute(params![study, micros(now), micros(now + LONGEST)])?;
            let sql = "INSERT INTO turns (study, ticket, until) VALUES (?, ?, ?) \
                       ON CONFLICT (study, ticket) DO UPDATE SET until = excluded.until";
            let until = micros(now + (ticket.patience + PLACE_KEPT_FOR).min(LONGEST));
            t.prepare_cached(sql)?.execute(params![study, ticket.name, until]).map(drop)
        })
    }

    fn claim(&self, claim: &Claim<'_>, name: &str) -> Result<Acquired> {
        self.store.claim(self.study, claim, Some(name))
    }
}

/// Leaves the queue.
pub fn leave(t: &Transaction<'_>, study: StudyId, name: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM turns WHERE study = ? AND ticket = ?";
    t.prepare_cached(sql)?.execute(params![study.0, name]).map(drop)
}

fn ahead(c: &Connection, study: StudyId, name: &str, now: Moment) -> rusqlite::Result<usize> {
    let sql = "SELECT count(*) FROM turns WHERE study = ?1 AND until BETWEEN ?3 AND ?4 \
               AND place < ifnull((SELECT place FROM turns WHERE study = ?1 AND ticket = ?2), 9e18)";
    let values = params![study.0, name, micros(now.ticks), micros(now.ticks + LONGEST)];
    let count: i64 = c.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}
