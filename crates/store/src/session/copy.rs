//! A study that goes on under another description: trials that fit its space come along as evaluations made elsewhere.

use std::collections::HashSet;

use manyhands_core::event::Included;
use manyhands_core::{Direction, Domain, Event, Ledger, Space, TrialState, Value};

use super::decide::encoded_after;
use super::tell::events_of_external;
use super::{CopyRefusal, ExternalEvaluation, Session};
use crate::backend::NewStudy;
use crate::record::NewEvent;
use crate::{Error, Result, Source, Store, Time};

/// How trials of one study become trials of another.
#[derive(Debug, Clone, Default)]
pub struct CopyPlan {
    /// The values that parameters which only the new study has are taken to have had, by name.
    pub defaults: Vec<(String, Value)>,
}

/// What came along, and what did not.
#[derive(Debug)]
pub struct CopyReport {
    /// The new study.
    pub session: Session,
    /// How many trials came along with a value.
    pub observed: usize,
    /// How many came along as failed.
    pub failed: usize,
    /// The trials that do not fit the new study, and why.
    pub unfit: Vec<(usize, Error)>,
    /// The trials that are pending in the old study and stay there.
    pub pending: Vec<usize>,
    /// Whether some trial has another number than in the old study.
    pub is_renumbered: bool,
    /// How many enqueued points stay with the old study.
    pub queued: usize,
    /// The direction of the new study, where it is another one.
    pub changed_direction: Option<Direction>,
}

/// The trials of a study that fit another one.
struct Copied {
    ledger: Ledger,
    events: Vec<NewEvent>,
    unfit: Vec<(usize, Error)>,
    pending: Vec<usize>,
    is_renumbered: bool,
}

impl Session {
    /// Creates the study of a file with the trials of this one that fit it, all at once. Values, failures, metrics and times
    /// come along; pending and cancelled trials do not. `store` opens the new study's store; where the copy is refused it is
    /// not called.
    pub fn copy_to<E: From<Error>>(
        &mut self,
        store: impl FnOnce() -> std::result::Result<Store, E>,
        source: Source,
        plan: &CopyPlan,
    ) -> std::result::Result<CopyReport, E> {
        let copied = self.copied(&source, plan)?;
        let Copied { ledger, events, unfit, pending, is_renumbered } = copied;
        let store = store()?;
        let row = store.backend.create(&NewStudy { events, ..source.new_study() })?;
        let session = Self::unread(store, &row, source).following()?;
        let [observed, failed] = [TrialState::Observed, TrialState::Failed].map(|state| ledger.count(state));
        let direction = session.spec().direction();
        let changed_direction = (direction != self.spec().direction()).then_some(direction);
        let queued = self.ledger().queue().len();
        Ok(CopyReport { session, observed, failed, unfit, pending, is_renumbered, queued, changed_direction })
    }

    /// The trials that fit the study of a file; refused where that is none.
    fn copied(&mut self, source: &Source, plan: &CopyPlan) -> Result<Copied> {
        self.sync()?;
        self.check_copy(source, plan)?;
        let (mut ledger, mut events, mut unfit, mut pending) = (Ledger::default(), vec![], vec![], vec![]);
        let mut is_renumbered = false;
        for trial in self.ledger().trials() {
            let outcome = match trial.state() {
                TrialState::Observed => trial.value().map(Ok),
                TrialState::Failed => trial.reason().map(|reason| Err(reason.to_string())),
                TrialState::Pending => {
                    pending.push(trial.number());
                    continue;
                }
                TrialState::Cancelled => continue,
            };
            let (params, metrics) = (self.params_in(source, trial.number(), plan)?, trial.metrics().to_vec());
            let outside = ExternalEvaluation { params, outcome, metrics };
            match events_of_external(&source.study().spec, &ledger, &outside).map(told_by_itself) {
                Ok(copied) => {
                    is_renumbered |= ledger.trials().len() != trial.number();
                    events.extend(self.stored_as_of(trial.number(), &mut ledger, &copied)?);
                }
                Err(error) => unfit.push((trial.number(), error)),
            }
        }
        if let (true, Some((trial, error))) = (ledger.trials().is_empty(), unfit.first()) {
            return Err(
                CopyRefusal::NothingFits { trials: unfit.len(), trial: *trial, reason: error.to_string() }.into()
            );
        }
        if ledger.trials().is_empty() && !pending.is_empty() {
            return Err(CopyRefusal::NothingEnded { pending: pending.len() }.into());
        }
        Ok(Copied { ledger, events, unfit, pending, is_renumbered })
    }

    /// Events of a copied trial, with the times of the original.
    fn stored_as_of(&self, trial: usize, ledger: &mut Ledger, events: &[Event]) -> Result<Vec<NewEvent>> {
        let times = &self.times()[trial];
        let encoded = encoded_after(ledger, events)?;
        let time = |event: &NewEvent| -> Time {
            if event.kind.begins_a_trial() { times.asked_at } else { times.told_at.unwrap_or(times.asked_at) }
        };
        Ok(encoded.into_iter().map(|event| NewEvent { time: Some(time(&event)), ..event }).collect())
    }

    /// The values of a trial's parameters in the new study, by name.
    fn params_in(&self, source: &Source, trial: usize, plan: &CopyPlan) -> Result<Vec<(String, Value)>> {
        let names = source.study().spec.domain().names();
        let kept = self.params(trial)?.into_iter().filter(|(name, _)| names.contains(name));
        let kept = kept.map(|(name, value)| (name.to_string(), value));
        Ok(kept.chain(plan.defaults.iter().cloned()).collect())
    }

    /// Refuses a new study whose parameters leave it open which point a trial becomes.
    fn check_copy(&self, source: &Source, plan: &CopyPlan) -> Result<()> {
        let (old, new) = (self.spec().domain(), source.study().spec.domain());
        let (before, after): (HashSet<&str>, HashSet<&str>) =
            (old.names().into_iter().collect(), new.names().into_iter().collect());
        for (position, (name, _)) in plan.defaults.iter().enumerate() {
            if plan.defaults[..position].iter().any(|(other, _)| other == name) {
                return Err(manyhands_core::Error::RepeatedParameter { name: name.clone() }.into());
            }
            if before.contains(name.as_str()) || !after.contains(name.as_str()) {
                return Err(CopyRefusal::NotANewParameter {
                    name: name.clone(),
                    is_known: before.contains(name.as_str()),
                }
                .into());
            }
        }
        check_defaults(new, plan)?;
        let is_stated = |name: &str| plan.defaults.iter().any(|(stated, _)| stated == name);
        let is_needed = |name: &&str| !before.contains(name) && !is_stated(name) && new.needs(name);
        if let Some(name) = new.names().into_iter().find(is_needed) {
            return Err(CopyRefusal::NewParameter { name: name.to_string() }.into());
        }
        for (position, name) in old.names().into_iter().enumerate().filter(|(_, name)| !after.contains(name)) {
            let values: HashSet<String> = self.values_of(position)?.iter().map(ToString::to_string).collect();
            if values.len() > 1 && old.needs(name) {
                return Err(CopyRefusal::LostParameter { name: name.to_string(), values: values.len() }.into());
            }
        }
        Ok(())
    }

    /// The values that the parameter at this position has in trials that have ended.
    fn values_of(&self, position: usize) -> Result<Vec<Value>> {
        let ended = self.ledger().trials().iter().filter(|trial| trial.value().is_some() || trial.reason().is_some());
        ended.map(|trial| Ok(self.params(trial.number())?[position].1.clone())).collect()
    }
}

/// Refuses a stated value that its parameter cannot have: no trial would come along.
fn check_defaults(domain: &Domain, plan: &CopyPlan) -> Result<()> {
    let varying = domain.space().into_iter().flat_map(|space| space.parameters()).filter(|p| domain.needs(p.name()));
    for parameter in varying {
        if let Some(stated) = plan.defaults.iter().find(|(name, _)| name == parameter.name()) {
            let alone = Space::new(vec![parameter.clone()], vec![])?;
            Domain::Space(alone).embed_named(std::slice::from_ref(stated))?;
        }
    }
    Ok(())
}

/// Events of an evaluation made elsewhere whose value is an event of its own: it has a time of its own.
fn told_by_itself(events: Vec<Event>) -> Vec<Event> {
    let split = |event| match event {
        Event::Included(Included { trial, candidate, params, value: Some(value) }) => {
            vec![Event::Included(Included { trial, candidate, params, value: None }), Event::Told { trial, value }]
        }
        other => vec![other],
    };
    events.into_iter().flat_map(split).collect()
}
