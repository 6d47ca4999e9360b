//! Recomputing the choices and fits of a log, to check that they follow from the events before them.

use std::fmt;

use super::Study;
use crate::event::{Asked, ENGINE, Event, Fitted};
use crate::{Choice, Error, Result, Spec, Value};

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
            return Err(self.ledger.bad_log("it knows later events"));
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
    let pairs = match (logged, made) {
        (Event::Asked(logged), Some(Event::Asked(made))) => pairs(asked_fields(logged), asked_fields(made)),
        (Event::Fitted(logged), Some(Event::Fitted(made))) => pairs(fitted_fields(logged), fitted_fields(made)),
        _ => vec![("kind", kind(Some(logged)).to_string(), kind(made).to_string())],
    };
    match pairs.into_iter().find(|(_, logged, made)| logged != made) {
        Some((field, logged, made)) => Err(Error::NotReproduced { what, field, logged, made }),
        None => Ok(()),
    }
}

fn kind(event: Option<&Event>) -> &'static str {
    match event {
        Some(Event::Asked(_)) => "a choice",
        Some(Event::Fitted(_)) => "a fit",
        Some(_) => "another event",
        None => "nothing",
    }
}

/// The fields of an event by name. Two numbers are written alike only if they are the same bit for bit.
type Fields = Vec<(&'static str, String)>;

fn pairs(logged: Fields, made: Fields) -> Vec<(&'static str, String, String)> {
    logged.into_iter().zip(made).map(|((name, logged), (_, made))| (name, logged, made)).collect()
}

fn asked_fields(asked: &Asked) -> Fields {
    let Asked { trial, choice, seen, engine } = asked;
    let Choice { candidate, params, mean, sd, multiplier, score, gap, phase } = choice;
    vec![
        ("trial", trial.to_string()),
        ("candidate", candidate.to_string()),
        ("params", listed(params)),
        ("mean", format!("{mean:?}")),
        ("sd", format!("{sd:?}")),
        ("multiplier", format!("{multiplier:?}")),
        ("score", format!("{score:?}")),
        ("gap", gap.map_or("none".to_string(), |gap| format!("{gap:?}"))),
        ("phase", format!("{phase:?}").to_lowercase()),
        ("seen", seen.to_string()),
        ("engine", engine.to_string()),
    ]
}

fn listed(params: &[Value]) -> String {
    let exact = |value: &Value| match value {
        // The float 3.0 is written with its point: it is not the integer 3.
        Value::Float(number) => format!("{number:?}"),
        other => other.to_string(),
    };
    params.iter().map(exact).collect::<Vec<_>>().join(", ")
}

fn fitted_fields(fitted: &Fitted) -> Fields {
    let Fitted { hyperparameters, warp, seen, engine } = fitted;
    vec![
        ("lengthscales", format!("{:?}", hyperparameters.lengthscales)),
        ("noise", format!("{:?}", hyperparameters.noise)),
        ("variance", format!("{:?}", hyperparameters.variance)),
        ("mean", format!("{:?}", hyperparameters.mean)),
        ("density", format!("{:?}", hyperparameters.density)),
        ("warp", format!("{:?}", warp.numbers())),
        ("seen", seen.to_string()),
        ("engine", engine.to_string()),
    ]
}
