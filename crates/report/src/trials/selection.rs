//! Which trials are listed, and in which order.

use std::cmp::Ordering;

use manyhands_core::TrialState;
use manyhands_store::{Result, Session};
use serde_json::Value as Json;

use super::columns::{TrialColumn, TrialRecord};

/// Which trials are listed: all in the order of their numbers, unless it says otherwise.
///
/// ```
/// use manyhands_report::trials::{TrialOrder, TrialSelection};
/// use manyhands_store::{Access, Location, Session, Source};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "name = \"demo\"\n[space]\nx = { float = [0.0, 1.0] }\n";
/// let source = Source::read(text, |_| Err("this study names no files".to_string()))?;
/// let mut session = Session::open_or_create(Location::Memory.open(Access::Create)?, source)?;
/// session.ask(3)?;
/// session.tell(0, 0.5)?;
/// session.tell(2, 1.5)?;
/// let best = TrialSelection { order: TrialOrder::Best, most: Some(2), ..Default::default() };
/// assert_eq!(best.numbers(&session)?, [2, 0]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrialSelection {
    /// The states that trials may be in; any if there are none.
    pub states: Vec<TrialState>,
    /// Their order.
    pub order: TrialOrder,
    /// How many at most, the first in that order; all of them if there is no bound.
    pub most: Option<usize>,
}

/// The order of trials.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TrialOrder {
    /// By number.
    #[default]
    Number,
    /// Observed ones alone, the best value first; of equal values, the lower number first.
    Best,
    /// By a column, those that have nothing in it last: numbers before text; of equal ones, the lower number first.
    Sorted {
        /// The column.
        column: TrialColumn,
        /// Whether the largest comes first.
        is_reversed: bool,
    },
}

impl TrialSelection {
    /// The numbers of the selected trials, in order.
    pub fn numbers(&self, session: &Session) -> Result<Vec<usize>> {
        let trials = session.ledger().trials();
        let mut numbers: Vec<usize> = (0..trials.len()).filter(|number| self.allows(trials[*number].state())).collect();
        match &self.order {
            TrialOrder::Number => {}
            TrialOrder::Best => {
                let direction = session.spec().direction();
                let mut valued: Vec<(usize, f64)> =
                    numbers.into_iter().filter_map(|number| Some((number, trials[number].value()?))).collect();
                valued.sort_by(|(_, first), (_, second)| {
                    let is_worse = direction.is_better(*second, *first);
                    is_worse.cmp(&direction.is_better(*first, *second))
                });
                numbers = valued.into_iter().map(|(number, _)| number).collect();
            }
            TrialOrder::Sorted { column, is_reversed } => {
                let mut keyed = Vec::with_capacity(numbers.len());
                for number in numbers {
                    let params = session.params(number)?;
                    let record =
                        TrialRecord { trial: &trials[number], times: &session.times()[number], params: &params };
                    keyed.push((column.cell(record), number));
                }
                keyed.sort_by(|(first, _), (second, _)| compare(first, second, *is_reversed));
                numbers = keyed.into_iter().map(|(_, number)| number).collect();
            }
        }
        numbers.truncate(self.most.unwrap_or(usize::MAX));
        Ok(numbers)
    }

    fn allows(&self, state: TrialState) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }
}

/// Numbers as numbers, before texts as texts; nothing comes last, reversed or not.
pub(super) fn compare(first: &Json, second: &Json, is_reversed: bool) -> Ordering {
    let by_content = match (first.as_f64(), second.as_f64()) {
        (Some(first), Some(second)) => first.total_cmp(&second),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => text(first).cmp(&text(second)),
    };
    let by_content = if is_reversed { by_content.reverse() } else { by_content };
    first.is_null().cmp(&second.is_null()).then(by_content)
}

fn text(cell: &Json) -> String {
    cell.as_str().map_or_else(|| cell.to_string(), str::to_string)
}
