//! What all panels share: the study, its model, the range of its values, and its trials as marks.

use manyhands_core::study::BestBy;
use manyhands_core::{Best, Direction, Study, Trial, TrialState};

use crate::Result;
use crate::layers::Layer;
use crate::marks::{LegendEntry, Mark};
use crate::scale::ValueAxis;
use crate::shown::Shown;

/// A study, and what of its values is shown.
pub struct Overview<'a> {
    /// The study.
    pub study: &'a Study,
    /// None before the first value.
    pub shown: Option<Shown>,
    /// None before the first value.
    pub best: Option<Best>,
    /// The study as it is drawn, where that is not as it is: with a fit, or with a model of fewer values.
    sketch: Option<Study>,
}

impl<'a> Overview<'a> {
    /// The overview of a study.
    pub fn of(study: &'a mut Study) -> Result<Self> {
        let values: Vec<f64> = study.trials().iter().filter_map(Trial::value).collect();
        let best = if values.is_empty() { None } else { Some(study.best()?) };
        let sketch = study.sketched()?;
        let shown = Shown::of(&values).map(|shown| shown.with_best(&values, study.spec().direction()));
        Ok(Self { study, shown, best, sketch })
    }

    /// The study to ask for predictions.
    pub fn model(&self) -> &Study {
        self.sketch.as_ref().unwrap_or(self.study)
    }

    /// What to say of a model of fewer values.
    pub fn sketch_note(&self) -> Option<String> {
        let (used, all) = (self.sketch.as_ref()?.posterior().observed(), self.study.count(TrialState::Observed));
        (used < all).then(|| {
            format!("The model is drawn from {used} of the {all} values: the best quarter, the others at even steps.")
        })
    }

    /// Whether the best point is that of the best estimate, because values are noisy.
    pub fn is_estimated(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.by != BestBy::Value)
    }

    /// The best point's value, or its estimate where it was chosen by that.
    pub fn best_value(&self) -> Option<f64> {
        self.best.as_ref().map(|best| if self.is_estimated() { best.mean } else { best.value })
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
        Ok(numbers.into_iter().zip(self.model().predict(&points)?.iter().map(|there| there.mean)).collect())
    }

    /// Whether larger or smaller values are better.
    pub fn direction(&self) -> Direction {
        self.study.spec().direction()
    }

    /// How many trials are in which state, and how many values are not shown.
    pub fn summary(&self, beyond: usize) -> String {
        let count = |state| format!("{} {state}", self.study.count(state));
        let mut states = vec![TrialState::Observed, TrialState::Pending, TrialState::Failed];
        if self.study.count(TrialState::Cancelled) > 0 {
            states.push(TrialState::Cancelled);
        }
        let counts: Vec<String> = states.into_iter().map(count).collect();
        let summary = format!("{}: {}", self.direction().name(), counts.join(", "));
        match beyond {
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
    ) -> (Vec<Layer>, Vec<LegendEntry>) {
        let (mut layers, mut legend) = (vec![], vec![]);
        for &mark in kinds {
            let trials = self.study.trials().iter().filter(|trial| self.has_mark(trial, mark));
            let places: Vec<(f64, f64)> = trials.filter_map(|trial| place(trial, mark)).collect();
            if !places.is_empty() {
                legend.push(LegendEntry::Mark(mark));
                layers.push(Layer::Marks(mark, places));
            }
        }
        (layers, legend)
    }

    /// The height of a mark: at the trial's value, or at an edge. None where another mark replaces this one.
    pub fn height(&self, trial: &Trial, mark: Mark, y: &ValueAxis) -> Option<f64> {
        let Some(value) = trial.value() else { return Some(y.edge(y.worse)) };
        match (y.side(value), mark) {
            (None, Mark::Beyond(_)) => None,
            (None, _) => Some(y.place(value)),
            (Some(_), Mark::Elsewhere | Mark::Unknown | Mark::Aimed(_)) => None,
            (Some(edge), Mark::Beyond(other)) if edge != other => None,
            (Some(edge), _) => Some(y.edge(edge)),
        }
    }

    /// Whether a trial may have a mark of this kind.
    fn has_mark(&self, trial: &Trial, mark: Mark) -> bool {
        match mark {
            Mark::Best => self.is_best(trial),
            Mark::Beyond(_) => trial.value().is_some(),
            _ => mark == own_mark(trial),
        }
    }

    /// Whether a trial is the best one.
    pub fn is_best(&self, trial: &Trial) -> bool {
        self.best.as_ref().is_some_and(|best| best.trial == trial.number())
    }
}

/// The mark of what became of a trial, the same in every panel.
pub fn own_mark(trial: &Trial) -> Mark {
    match (trial.state(), trial.aim()) {
        (TrialState::Pending, _) => Mark::Pending,
        (TrialState::Failed, _) => Mark::Failed,
        (TrialState::Cancelled, _) => Mark::Cancelled,
        (TrialState::Observed, Some(aim)) => Mark::Aimed(aim),
        (TrialState::Observed, None) if trial.choice().is_none() => Mark::Elsewhere,
        (TrialState::Observed, None) => Mark::Unknown,
    }
}
