//! Recomputing the choices and fits of a log, to check that they follow from the events before them.

use std::fmt;

use serde_json::{Map, Value as Json};

use super::Study;
use crate::event::{Asked, ENGINE, Event, Fitted};
use crate::text::printable;
use crate::{Error, Result, Spec};

/// How many choices and fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Suggested trials.
    pub choices: usize,
    /// Learned models.
    pub fits: usize,
}

/// What [`Study::verify`] checked, and what it could not check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verification {
    /// Made by the present [`ENGINE`], recomputed, and equal bit for bit.
    pub checked: Tally,
    /// Made by an older engine, and not checked.
    pub older: Tally,
    /// Made by a newer engine, and not checked.
    pub newer: Tally,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        write!(f, "{} choice{}", self.choices, plural(self.choices))?;
        write!(f, " and {} fit{}", self.fits, plural(self.fits))
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} recomputed, equal bit for bit", self.checked)?;
        for (tally, which) in [(self.older, "an older"), (self.newer, "a newer")] {
            if tally != Tally::default() {
                write!(f, "; {tally} of {which} engine not checked")?;
            }
        }
        Ok(())
    }
}

impl Verification {
    fn count(&mut self, event: &Event) {
        let Some(Origin { engine, .. }) = origin(event) else { return };
        let tally = match engine.cmp(&ENGINE) {
            std::cmp::Ordering::Less => &mut self.older,
            std::cmp::Ordering::Equal => &mut self.checked,
            std::cmp::Ordering::Greater => &mut self.newer,
        };
        match event {
            Event::Fitted(_) => tally.fits += 1,
            _ => tally.choices += 1,
        }
    }
}

impl Study {
    /// Recomputes every choice and every fit of the log that the present [`ENGINE`] made, from the events that it was based
    /// on, and compares bit for bit. Those of other engines are not checked; later ones are checked given them.
    pub fn verify(spec: &Spec, events: &[Event]) -> Result<Verification> {
        let mut study = Self::new(spec.clone())?;
        let mut found = Verification::default();
        let mut position = 0;
        while position < events.len() {
            let group = events_of_one_ask(&events[position..]);
            if let Some(origin) = group.first().and_then(origin)
                && origin.engine == ENGINE
            {
                study.check_made(spec, &events[..position], group, origin)?;
            }
            for event in group {
                found.count(event);
                study.apply(event.clone())?;
            }
            position += group.len();
        }
        Ok(found)
    }

    /// Refuses events of one ask that do not follow from the events they were based on. `self` is the state after `before`.
    fn check_made(&mut self, spec: &Spec, before: &[Event], group: &[Event], origin: Origin) -> Result<()> {
        let Origin { seen, .. } = origin;
        if seen > before.len() {
            return Err(self.ledger.bad_log("it refers to later events"));
        }
        // Events of the same ask that were logged before something came in between.
        let earlier: Vec<&Event> = before[seen..].iter().filter(|event| self::origin(event) == Some(origin)).collect();
        let is_pick = |event: &&Event| matches!(event, Event::Asked(_));
        let picks = earlier.iter().copied().chain(group).filter(is_pick).count().max(1);
        let made = if seen == before.len() {
            self.propose(picks)?
        } else {
            Self::replay(spec.clone(), &before[..seen])?.propose(picks)?
        };
        let made = made.get(earlier.len()..).unwrap_or_default();
        group.iter().enumerate().try_for_each(|(index, logged)| compare(before.len() + index, logged, made.get(index)))
    }
}

/// What the events of one ask share: the last event that they were based on, and the engine that made them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Origin {
    seen: usize,
    engine: u32,
}

/// None for events that are not choices or fits.
fn origin(event: &Event) -> Option<Origin> {
    match event {
        Event::Asked(Asked { seen, engine, .. }) | Event::Fitted(Fitted { seen, engine, .. }) => {
            Some(Origin { seen: *seen, engine: *engine })
        }
        _ => None,
    }
}

/// The leading events that were made by one ask; any other event stands alone.
fn events_of_one_ask(events: &[Event]) -> &[Event] {
    let first = events.first().and_then(origin);
    let together = |event: &&Event| first.is_some() && origin(event) == first;
    &events[..events.iter().take_while(together).count().max(1)]
}

/// Refuses a logged event that differs from the recomputed one, naming the first field that differs.
fn compare(position: usize, logged: &Event, made: Option<&Event>) -> Result<()> {
    let what = match logged {
        Event::Asked(asked) => format!("trial {}", asked.trial),
        _ => format!("the fit of event {}", position + 1),
    };
    let made = match made {
        Some(made) if made.kind() == logged.kind() => made,
        made => {
            let (field, logged, made) = ("kind".to_string(), kind(Some(logged)).to_string(), kind(made).to_string());
            return Err(Error::NotReproduced { what, field, logged, made });
        }
    };
    for ((field, logged), (_, made)) in fields(logged)?.into_iter().zip(fields(made)?) {
        // As text: numbers that are equal may differ in their bits, as 0 and -0 do.
        let [logged, made] = [logged, made].map(|value| printable(&value.to_string()));
        if logged != made {
            return Err(Error::NotReproduced { what, field, logged, made });
        }
    }
    Ok(())
}

fn fields(event: &Event) -> Result<Map<String, Json>> {
    event.fields().map_err(|_| Error::Internal { what: "a choice or a fit cannot be written as JSON" })
}

fn kind(event: Option<&Event>) -> &'static str {
    match event {
        Some(Event::Asked(_)) => "a choice",
        Some(Event::Fitted(_)) => "a fit",
        Some(_) => "another event",
        None => "nothing",
    }
}
