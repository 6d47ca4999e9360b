//! What all panels share: the study, the range of its values, and its trials as marks.

use kuva::render::plots::Plot;
use manyhands_core::study::BestBy;
use manyhands_core::{Best, Direction, Study, Trial, TrialState};

use crate::Result;
use crate::axis::PlotAxis;
use crate::marks::{LegendEntry, Mark};
use crate::shown::Shown;

/// The distance of marks without a value from the edge, as a fraction of the height.
const EDGE: f64 = 0.035;

/// A study, and what of its values is shown.
pub struct Overview<'a> {
    /// The study.
    pub study: &'a Study,
    /// None before the first value.
    pub shown: Option<Shown>,
    best: Option<Best>,
}

/// An edge of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    Bottom,
    Top,
}

impl<'a> Overview<'a> {
    /// The overview of a study.
    pub fn of(study: &'a mut Study) -> Result<Self> {
        let values: Vec<f64> = study.trials().iter().filter_map(Trial::value).collect();
        let best = if values.is_empty() { None } else { Some(study.best()?) };
        Ok(Self { study, shown: Shown::of(&values), best })
    }

    /// Whether the best point is that of the best estimate, because values are noisy.
    pub fn is_estimated(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.by != BestBy::Value)
    }

    /// What each observed trial is compared by, in order: its value, or where values are noisy the estimate of it.
    pub fn compared(&self) -> Result<Vec<(usize, f64)>> {
        let observed = self.study.trials().iter().filter_map(|trial| Some((trial.number(), trial.value()?)));
        if !self.is_estimated() {
            return Ok(observed.collect());
        }
        let numbers: Vec<usize> = observed.map(|(number, _)| number).collect();
        let points =
            numbers.iter().map(|&number| Ok(self.study.point(number)?.to_vec())).collect::<Result<Vec<_>>>()?;
        Ok(numbers.into_iter().zip(self.study.predict(&points)?.iter().map(|there| there.mean)).collect())
    }

    /// Whether larger or smaller values are better.
    pub fn direction(&self) -> Direction {
        self.study.spec().direction()
    }

    /// How many trials are in which state, and what is not shown.
    pub fn summary(&self) -> String {
        let count = |state| format!("{} {state}", self.study.count(state));
        let mut states = vec![TrialState::Observed, TrialState::Pending, TrialState::Failed];
        if self.study.count(TrialState::Cancelled) > 0 {
            states.push(TrialState::Cancelled);
        }
        let counts: Vec<String> = states.into_iter().map(count).collect();
        let summary = format!("{}: {}", self.direction().name(), counts.join(", "));
        match self.shown.map_or(0, |shown| shown.beyond) {
            0 => summary,
            1 => summary + "; 1 value is beyond the axis",
            beyond => summary + &format!("; {beyond} values are beyond the axis"),
        }
    }

    /// The trials as marks of these kinds, at the given places, and the legend's entries for them.
    pub fn marked(
        &self,
        kinds: &[Mark],
        place: impl Fn(&Trial, Mark) -> Option<(f64, f64)>,
    ) -> (Vec<Plot>, Vec<LegendEntry>) {
        let (mut plots, mut legend) = (vec![], vec![]);
        for &mark in kinds {
            let trials = self.study.trials().iter().filter(|trial| self.has_mark(trial, mark));
            let places: Vec<(f64, f64)> = trials.filter_map(|trial| place(trial, mark)).collect();
            if !places.is_empty() {
                legend.push(LegendEntry::Mark(mark));
            }
            plots.push(mark.plot(places));
        }
        (plots, legend)
    }

    /// The height of a mark: at the trial's value, or at an edge. None where another mark replaces this one.
    pub fn height(&self, trial: &Trial, mark: Mark, y: &PlotAxis, without_value: Edge) -> Option<f64> {
        if let (Mark::Best, true, Some(best)) = (mark, self.is_estimated(), &self.best) {
            return Some(y.place(best.mean));
        }
        let edge = match (trial.value(), self.side(trial)) {
            (Some(_), Some(_)) if matches!(mark, Mark::Observed | Mark::Aimed(_)) => return None,
            (Some(_), Some(edge)) => edge,
            (Some(value), None) => return Some(y.place(value)),
            (None, _) => without_value,
        };
        Some(y.shown(if edge == Edge::Top { 1.0 - EDGE } else { EDGE }))
    }

    /// Whether a trial has a mark of this kind.
    fn has_mark(&self, trial: &Trial, mark: Mark) -> bool {
        match mark {
            Mark::Observed => trial.state() == TrialState::Observed && trial.aim().is_none(),
            Mark::Aimed(aim) => trial.state() == TrialState::Observed && trial.aim() == Some(aim),
            Mark::Best => self.best.as_ref().is_some_and(|best| best.trial == trial.number()),
            Mark::Pending => trial.state() == TrialState::Pending,
            Mark::Failed => trial.state() == TrialState::Failed,
            Mark::Above => self.side(trial) == Some(Edge::Top),
            Mark::Below => self.side(trial) == Some(Edge::Bottom),
        }
    }

    /// The edge that a trial's value is beyond.
    fn side(&self, trial: &Trial) -> Option<Edge> {
        match (trial.value()?, self.shown?) {
            (value, shown) if value > shown.high => Some(Edge::Top),
            (value, shown) if value < shown.low => Some(Edge::Bottom),
            _ => None,
        }
    }
}
