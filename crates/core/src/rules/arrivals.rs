//! Batches as rules count them: which picks were made since the last value arrived.

use super::RuleState;
use crate::{Event, Phase};

impl RuleState<'_> {
    /// The number of the batch: how many different counts of arrived values the rule's picks were based on, this one's included.
    pub fn batch(&self) -> usize {
        let Arrivals { at_picks, by_now } = self.arrivals();
        let mut counts: Vec<usize> = at_picks.into_iter().map(|(_, count)| count).chain([by_now]).collect();
        counts.sort_unstable();
        counts.dedup();
        counts.len()
    }

    /// Whether no pending pick of the rule was made with the present number of values.
    pub fn is_first_of_batch(&self) -> bool {
        self.pick.by_rule == 0 && self.ask_begins_a_batch()
    }

    /// How many picks of the current ask the rule has made that were not the first of a batch.
    pub fn explorations_of_ask(&self) -> usize {
        self.pick.by_rule - usize::from(self.pick.by_rule > 0 && self.ask_begins_a_batch())
    }

    /// Whether no pending pick of an earlier ask was made with the present number of values.
    fn ask_begins_a_batch(&self) -> bool {
        let Arrivals { at_picks, by_now } = self.arrivals();
        let is_pending = |trial: usize| self.ledger.pending_trial(trial).is_ok();
        !at_picks.into_iter().any(|(trial, count)| count == by_now && is_pending(trial))
    }

    /// When the rule's logged picks were made, on the clock that ticks with every value. An amendment brings none.
    fn arrivals(&self) -> Arrivals {
        let (mut by_now, mut before, mut at_picks) = (0, vec![0], vec![]);
        for event in self.ledger.events() {
            if let Event::Asked(asked) = event
                && asked.choice.phase == Phase::Rule
            {
                at_picks.push((asked.trial, before[asked.seen]));
            }
            by_now += usize::from(event.brings_a_value());
            before.push(by_now);
        }
        Arrivals { at_picks, by_now }
    }
}

/// How many values had arrived, failed and cancelled trials not counted.
struct Arrivals {
    /// When each logged pick of the rule was made, with its trial.
    at_picks: Vec<(usize, usize)>,
    by_now: usize,
}
