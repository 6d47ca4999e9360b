//! Leases: who may choose trials now, and which worker has which trial.

use std::time::Duration;

use crate::{Holder, Liveness, Time};

/// A lease as its holder knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    /// What is leased: "ask", or "trial:7".
    pub resource: &'a str,
    /// The fencing token: it grows with every grant.
    pub token: u64,
}

/// A lease that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// What is to be leased.
    pub resource: &'a str,
    /// Who wants it.
    pub holder: &'a Holder,
    /// For how long, unless it is renewed.
    pub term: Duration,
    /// A grant that no longer counts: its holder is known to be dead, or a user takes the trial away.
    pub instead_of: Option<u64>,
}

impl Claim<'_> {
    /// Whether this lease, of the same resource, stands in its way.
    pub fn is_blocked_by(&self, lease: &Lease) -> bool {
        !lease.has_lapsed() && self.instead_of != Some(lease.token)
    }
}

/// The name of a trial's lease.
pub fn trial_resource(trial: usize) -> String {
    format!("trial:{trial}")
}

/// The trial that a lease is for.
pub fn trial_of(resource: &str) -> Option<usize> {
    resource.strip_prefix("trial:")?.parse().ok()
}

/// The lease of a trial, or of the right to choose trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is leased: "ask", or "trial:7".
    pub resource: String,
    /// The fencing token of the latest grant.
    pub token: u64,
    /// Who holds it.
    pub holder: Holder,
    /// Since when this holder has had it.
    pub since: Time,
    /// How long ago it was granted or last renewed, by the store's clock, which does not jump.
    pub silent: Duration,
    /// How long it holds without being renewed; zero once it has been released.
    pub term: Duration,
}

impl Lease {
    /// Whether its holder has given it back.
    pub fn is_released(&self) -> bool {
        self.term.is_zero()
    }

    /// Whether the process that holds it is known to have ended.
    pub(crate) fn is_orphaned(&self) -> bool {
        self.holder.liveness() == Liveness::Gone
    }

    /// Whether it was released, or not renewed in time.
    pub fn has_lapsed(&self) -> bool {
        self.silent >= self.term
    }
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquired {
    /// It was granted with this token.
    Granted(u64),
    /// Someone else holds it.
    Held(Lease),
    /// It is the lease of a trial that has ended, which is never granted again.
    Ended,
}
