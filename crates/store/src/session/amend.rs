//! Corrections: another value or end of a trial, other values of its parameters, another attempt.

use std::time::Duration;

use manyhands_core::event::Amended;
use manyhands_core::{Event, Spec, Trial, Value};

use super::Session;
use crate::Result;
use crate::lease::{Claim, trial_resource};

/// What is wrong in the record of a trial, and what is right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Amendment {
    /// How it really ended: a value, or why there is none.
    pub outcome: Option<std::result::Result<f64, String>>,
    /// The values that its parameters really had, by name; the others are as recorded.
    pub params: Vec<(String, Value)>,
}

impl Session {
    /// Amends the record of a trial. An amendment that changes nothing is not logged; whether it changed something.
    pub fn amend(&mut self, trial: usize, amendment: &Amendment) -> Result<bool> {
        let decide = |session: &mut Self| {
            let amended = amended(session.spec(), session.ledger().trial(trial)?, amendment)?;
            Ok(amended.into_iter().collect())
        };
        Ok(!self.log_decided(decide)?.is_empty())
    }

    /// Takes the last amendment of a trial back.
    pub fn restore(&mut self, trial: usize) -> Result<()> {
        self.log_decided(|_| Ok(vec![Event::Restored { trial }])).map(drop)
    }

    /// Makes a failed trial pending again, for another attempt at the same point. Any worker may take it.
    pub fn reopen(&mut self, trial: usize) -> Result<()> {
        let (resource, holder) = (trial_resource(trial), self.holder.clone());
        let offer = Claim { resource: &resource, holder: &holder, term: Duration::ZERO, instead_of: None };
        self.log_decided_with(&[offer], |_| Ok(vec![Event::Reopened { trial }])).map(drop)
    }
}

/// The event of an amendment; none where the record says that already.
pub(super) fn amended(spec: &Spec, record: &Trial, amendment: &Amendment) -> Result<Option<Event>> {
    let trial = record.number();
    if let Some(Ok(value)) = amendment.outcome {
        spec.check_value(trial, value)?;
    }
    let setting = match amendment.params.as_slice() {
        [] => None,
        named => Some(spec.actual_setting(record, named)?).filter(|setting| setting.params != record.logged_params()),
    };
    let is_recorded = |outcome: &std::result::Result<f64, String>| match outcome {
        Ok(value) => record.value() == Some(*value),
        Err(reason) => record.reason() == Some(reason),
    };
    let outcome = amendment.outcome.clone().filter(|outcome| !is_recorded(outcome));
    let is_nothing = setting.is_none() && outcome.is_none();
    Ok((!is_nothing).then_some(Event::Amended(Amended { trial, setting, outcome })))
}
