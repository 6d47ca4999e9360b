//! A reproduction from request to result: what is asked for, what can be run, and the results.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arm::{Arm, PlayedArm, play_arms};
use crate::extra::FinishedExtra;
use crate::{Algorithm, Arrival, Comparison, Experiment, Extra, Observation, Panel, Result, Settings};

/// What to reproduce.
#[derive(Debug, Clone, PartialEq)]
pub struct ReproductionRequest {
    /// The constants.
    pub settings: Settings,
    /// Which panels.
    pub panels: Vec<Panel>,
    /// Which further figures.
    pub extras: Vec<Extra>,
    /// Where the sensor files are.
    pub data: Option<PathBuf>,
    /// How rewards arrive, where not as in the paper.
    pub arrival: Option<Arrival>,
}

impl Default for ReproductionRequest {
    fn default() -> Self {
        Self { settings: Settings::default(), panels: Panel::PAPER.to_vec(), extras: vec![], data: None, arrival: None }
    }
}

impl ReproductionRequest {
    /// The experiment of a panel, its rewards arriving like this, or as in the paper.
    pub(crate) fn experiment(&self, panel: Panel, arrival: Option<&Arrival>) -> Result<Experiment> {
        let experiment = panel.experiment(&self.settings, self.data.as_deref().unwrap_or(Path::new("")))?;
        Ok(match arrival {
            Some(arrival) => Experiment { title: panel.heading_under(arrival), arrival: arrival.clone(), ..experiment },
            None => experiment,
        })
    }

    /// Refuses settings out of range, and an S(t) that is no feedback mapping over the rounds that are played.
    fn check(&self) -> Result<()> {
        self.settings.check()?;
        let feedback = self.arrival.as_ref().map(|arrival| arrival.feedback(self.settings.workers));
        feedback.map_or(Ok(()), |feedback| feedback.mapping(self.settings.horizon).map(drop))
    }

    /// The panels, of those asked for or used by further figures, whose files are missing.
    fn missing(&self) -> Vec<Missing> {
        let used = self.extras.iter().flat_map(|extra| extra.panels());
        let wanted: BTreeSet<Panel> = self.panels.iter().chain(used).copied().collect();
        let missing = |panel: Panel| {
            let files = panel.missing_files(self.data.as_deref());
            (!files.is_empty()).then(|| Missing { panel, files, data: self.data.clone() })
        };
        wanted.into_iter().filter_map(missing).collect()
    }
}

/// A panel whose data files are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The panel.
    pub panel: Panel,
    /// The files, relative to the data folder.
    pub files: Vec<PathBuf>,
    /// The data folder, if one was given.
    pub data: Option<PathBuf>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        write!(f, "panel {} needs {}, ", self.panel, files.join(" and "))?;
        match &self.data {
            Some(data) => write!(f, "not found in {}", data.display()),
            None => write!(f, "and no data folder was given"),
        }
    }
}

/// Everything that was asked for, checked and ready to run.
#[derive(Debug, Clone)]
pub struct ReproductionPlan {
    settings: Settings,
    arrival: Option<Arrival>,
    missing: Vec<Missing>,
    panels: Vec<(Panel, Vec<Arm>)>,
    extras: Vec<(Extra, Vec<Arm>)>,
}

impl ReproductionPlan {
    /// Reads files and draws functions; refuses settings out of range and files that are not what they should be. Panels
    /// whose files are missing are left out; [`ReproductionPlan::missing`] lists them.
    pub fn new(request: &ReproductionRequest) -> Result<Self> {
        let (settings, data) = (request.settings, request.data.as_deref());
        request.check()?;
        let missing = request.missing();
        let (mut panels, mut extras) = (Vec::new(), Vec::new());
        for &panel in request.panels.iter().filter(|panel| panel.missing_files(data).is_empty()) {
            let experiment = Arc::new(request.experiment(panel, request.arrival.as_ref())?);
            panels.push((panel, Algorithm::ALL.map(|who| Arm::new(&experiment, who, settings)).to_vec()));
        }
        for &extra in &request.extras {
            extras.push((extra, extra.arms(request)?));
        }
        Ok(Self { settings, arrival: request.arrival.clone(), missing, panels, extras })
    }

    /// The panels that cannot be run.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.arms().map(|arm| arm.experiment.instances.len()).sum()
    }

    /// Runs everything on all threads; `tick` is called after each run.
    pub fn run(self, tick: &(dyn Fn() + Sync)) -> Result<Reproduction> {
        let mut played = play_arms(self.arms().cloned().collect(), tick)?.into_iter();
        let mut take = |arms: &[Arm]| -> Vec<PlayedArm> { played.by_ref().take(arms.len()).collect() };
        let panels: Vec<PanelResult> =
            self.panels.iter().map(|(panel, arms)| PanelResult { panel: *panel, played: take(arms) }).collect();
        let extras = self.extras.iter().map(|(extra, arms)| extra.finish(&take(arms), &self.settings)).collect();
        let observations = Observation::all(|panel, algorithm| {
            panels.iter().find(|result| result.panel == panel)?.final_averages(algorithm)
        });
        let Self { settings, arrival, missing, .. } = self;
        Ok(Reproduction { settings, arrival, missing, panels, observations, extras })
    }

    fn arms(&self) -> impl Iterator<Item = &Arm> {
        self.panels.iter().flat_map(|(_, arms)| arms).chain(self.extras.iter().flat_map(|(_, arms)| arms))
    }
}

/// The runs of a panel.
#[derive(Debug, Clone)]
pub struct PanelResult {
    /// The panel.
    pub panel: Panel,
    /// Its algorithms, in the order of [`Algorithm::ALL`].
    pub played: Vec<PlayedArm>,
}

impl PanelResult {
    /// Letter and title.
    pub fn heading(&self) -> String {
        self.played.first().map_or_else(|| self.panel.heading(), |one| one.title().to_string())
    }

    /// The time-average regret of an algorithm's runs at the last round.
    pub fn final_averages(&self, algorithm: Algorithm) -> Option<Vec<f64>> {
        self.played.iter().find(|played| played.algorithm() == algorithm).map(PlayedArm::final_averages)
    }

    /// Every pair of algorithms, at the last round.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let averages: Vec<(Algorithm, Vec<f64>)> =
            self.played.iter().map(|played| (played.algorithm(), played.final_averages())).collect();
        let mut all = Vec::new();
        for (i, (first, a)) in averages.iter().enumerate() {
            all.extend(averages[i + 1..].iter().map(|(second, b)| Comparison::new((*first, a), (*second, b))));
        }
        all
    }
}

/// The results.
#[derive(Debug, Clone)]
pub struct Reproduction {
    /// The constants.
    pub settings: Settings,
    /// How rewards arrived, where not as in the paper.
    pub arrival: Option<Arrival>,
    /// The panels that could not be run.
    pub missing: Vec<Missing>,
    /// The panels that were run.
    pub panels: Vec<PanelResult>,
    /// The paper's observations.
    pub observations: Vec<Observation>,
    /// The further figures.
    pub extras: Vec<FinishedExtra>,
}
