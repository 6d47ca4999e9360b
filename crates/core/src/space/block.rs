//! The coordinates of one parameter, and the values that a search may exchange them for.

use std::ops::Range;

use super::CubeAxis;
use super::ladder::Ladder;
use crate::tuning::{LADDER_PARTS, LADDER_STEPS, LISTED_VALUES};

/// The coordinates of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    coordinates: Range<usize>,
    moves: Moves,
}

#[derive(Debug, Clone, PartialEq)]
enum Moves {
    Continuous,
    Few(Vec<Vec<f64>>),
    Many(Ladder),
}

impl Block {
    pub(super) fn new(axis: &CubeAxis, start: usize) -> Self {
        let option = |index| {
            let mut coordinates = Vec::new();
            axis.option(index, &mut coordinates);
            coordinates
        };
        let moves = match (axis, axis.len()) {
            (CubeAxis::Ladder(ladder), Some(len)) if len > LISTED_VALUES => Moves::Many(ladder.clone()),
            (_, Some(len)) => Moves::Few((0..len).map(option).collect()),
            (_, None) => Moves::Continuous,
        };
        Self { coordinates: start..start + axis.dimension(), moves }
    }

    /// The coordinates it covers.
    pub fn coordinates(&self) -> Range<usize> {
        self.coordinates.clone()
    }

    /// Whether its one coordinate may be any number of [0, 1].
    pub fn is_continuous(&self) -> bool {
        self.moves == Moves::Continuous
    }

    /// All its settings, each with the block's own coordinates, if it has at most 200 of them.
    pub fn options(&self) -> Option<&[Vec<f64>]> {
        match &self.moves {
            Moves::Few(options) => Some(options),
            Moves::Continuous | Moves::Many(_) => None,
        }
    }

    /// Settings to exchange the current one for (`current` and they have the block's own coordinates): all others if they
    /// are few; else 1 and 2 steps, 1 %, 5 % and 20 % of the range to both sides, and the ends. None if continuous.
    pub fn neighbours(&self, current: &[f64]) -> Vec<Vec<f64>> {
        match &self.moves {
            Moves::Continuous => Vec::new(),
            Moves::Few(options) => options.iter().filter(|option| option.as_slice() != current).cloned().collect(),
            Moves::Many(ladder) => {
                let (rung, last) = (ladder.nearest(current[0]), ladder.len() - 1);
                let steps = LADDER_STEPS.into_iter().chain(LADDER_PARTS.map(|part| last / part));
                let mut rungs = vec![0, last];
                rungs.extend(steps.flat_map(|step| [rung.saturating_sub(step), (rung + step).min(last)]));
                rungs.sort_unstable();
                rungs.dedup();
                rungs.into_iter().filter(|other| *other != rung).map(|rung| vec![ladder.coordinate(rung)]).collect()
            }
        }
    }
}
