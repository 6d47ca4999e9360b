//! Claiming: which trials workers hold, and which of them can be taken over.

use std::time::Duration;

use manyhands_core::{Error as Refusal, Trial, TrialState};

use super::Session;
use crate::lease::{Acquired, Claim, Fence, Lease, trial_of, trial_resource};
use crate::{LeaseRenewer, Liveness, Result};

/// A trial that a worker holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The trial's number.
    pub trial: usize,
    /// The attempt at it: a result of an earlier one is refused.
    pub attempt: usize,
    /// The fencing token: a result under an older one is refused.
    pub token: u64,
    resource: String,
}

impl Claimed {
    /// A claim as it was granted, perhaps to an earlier process.
    pub fn restored(trial: usize, attempt: usize, token: u64) -> Self {
        Self { trial, attempt, token, resource: trial_resource(trial) }
    }

    /// The lease.
    pub(crate) fn fence(&self) -> Fence<'_> {
        Fence { resource: &self.resource, token: self.token }
    }
}

/// Who holds the pending trials.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Survey {
    /// Trials that were free and are now held by this session's process.
    pub taken: Vec<Claimed>,
    /// Those of them whose worker has not renewed its lease for a term, and is not known to have ended.
    pub silent: Vec<usize>,
    /// The leases of trials that others hold.
    pub elsewhere: Vec<(usize, Lease)>,
    /// Pending trials that were asked for by hand: no worker has held them.
    pub by_hand: Vec<usize>,
}

impl Session {
    /// Reads who holds the pending trials, and takes over up to `most` of those whose worker is gone: the lease was
    /// released, or has lapsed, or its process, on this host, has ended. A process that is known to run keeps its trials,
    /// however long ago it renewed them: its machine may have slept.
    pub fn survey(&mut self, most: usize, term: Duration) -> Result<Survey> {
        // As of one moment: a trial that has just ended has no lease either.
        let read = self.handle.backend().events_and_leases(self.handle.id, self.ledger().events().len());
        let (records, leases) = read.map_err(|error| error.of_study(self.name()))?;
        self.apply(&records)?;
        let leases = self.of_pending_trials(leases);
        let mut survey = Survey { by_hand: self.without_lease(&leases), ..Survey::default() };
        for (trial, lease) in leases {
            let liveness = lease.holder.liveness();
            let is_silent = liveness == Liveness::Unknown && lease.has_lapsed() && !lease.is_released();
            let is_free = lease.is_released() || liveness == Liveness::Gone || is_silent;
            if !is_free && lease.holder != self.holder {
                survey.elsewhere.push((trial, lease));
            } else if is_free && survey.taken.len() < most {
                // A lease that has lapsed may be renewed again by a holder that was only slow: then it is not taken.
                let instead_of = (liveness == Liveness::Gone).then_some(lease.token);
                if let Some(claimed) = self.claim_trial(trial, term, instead_of)? {
                    survey.silent.extend(is_silent.then_some(trial));
                    survey.taken.push(claimed);
                }
            }
        }
        Ok(survey)
    }

    /// Takes a pending trial away from whoever holds it, as a user may decide.
    pub fn take(&mut self, trial: usize, term: Duration) -> Result<Claimed> {
        loop {
            self.sync()?;
            self.ledger().pending_trial(trial)?;
            let held = self.pending_leases()?.into_iter().find(|(number, _)| *number == trial);
            // Where it was granted again in between, the next round reads that.
            if let Some(claimed) = self.claim_trial(trial, term, held.map(|(_, lease)| lease.token))? {
                return Ok(claimed);
            }
        }
    }

    /// Claims a trial that was asked for by hand; none if it has ended, or another worker holds it.
    pub fn adopt(&mut self, trial: usize, term: Duration) -> Result<Option<Claimed>> {
        self.claim_trial(trial, term, None)
    }

    /// The pending trials that were asked for by hand and that no worker has held; as [`Session::pending_leases`].
    pub fn by_hand(&self) -> Result<Vec<usize>> {
        Ok(self.without_lease(&self.pending_leases()?))
    }

    /// The pending trials that were suggested and have no lease.
    fn without_lease(&self, leases: &[(usize, Lease)]) -> Vec<usize> {
        let is_free = |trial: &&Trial| {
            let is_suggested = trial.state() == TrialState::Pending && trial.choice().is_some();
            is_suggested && !leases.iter().any(|(held, _)| *held == trial.number())
        };
        self.ledger().trials().iter().filter(is_free).map(Trial::number).collect()
    }

    /// The leases of pending trials: of a frozen session, as of the same moment as its log; of any other, as of now.
    pub fn pending_leases(&self) -> Result<Vec<(usize, Lease)>> {
        Ok(self.of_pending_trials(match &self.frozen_leases {
            Some(leases) => leases.clone(),
            None => self.handle.backend().leases(self.handle.id)?,
        }))
    }

    fn of_pending_trials(&self, leases: Vec<Lease>) -> Vec<(usize, Lease)> {
        let is_pending = |trial: &usize| match self.ledger().pending_trial(*trial) {
            // A trial that is unknown to this session has begun since it last read the log.
            Err(error) => matches!(error, Refusal::UnknownTrial { .. }),
            Ok(_) => true,
        };
        let of_trials = leases.into_iter().filter_map(|lease| Some((trial_of(&lease.resource)?, lease)));
        of_trials.filter(|(trial, _)| is_pending(trial)).collect()
    }

    /// Releases a trial that was not finished: another worker may take it at once.
    pub fn release(&mut self, claimed: &Claimed) -> Result<()> {
        self.handle.backend().release(self.handle.id, claimed.fence())
    }

    /// Renews a trial's lease until the renewer is dropped.
    pub fn renew_until_dropped(&self, claimed: &Claimed, term: Duration) -> Result<LeaseRenewer> {
        LeaseRenewer::start(self.handle.backend().clone(), self.handle.id, claimed.fence(), term)
    }

    fn claim_trial(&self, trial: usize, term: Duration, instead_of: Option<u64>) -> Result<Option<Claimed>> {
        let (resource, attempt) = (trial_resource(trial), self.ledger().trial(trial)?.attempt());
        Ok(match self.handle.backend().acquire(self.handle.id, &self.claim(&resource, term, instead_of))? {
            Acquired::Granted(token) => Some(Claimed::restored(trial, attempt, token)),
            Acquired::Held(_) | Acquired::Ended => None,
        })
    }

    pub(super) fn claim<'a>(&'a self, resource: &'a str, term: Duration, instead_of: Option<u64>) -> Claim<'a> {
        Claim { resource, holder: &self.holder, term, instead_of }
    }
}
