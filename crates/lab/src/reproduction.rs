//! A reproduction from request to result: what is asked, what can be played, and what came of it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arm::{Arm, PlayedArm, play};
use crate::extra::FinishedExtra;
use crate::{Algorithm, Comparison, Extra, Observation, Panel, Result, Settings};

/// What to reproduce.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// With which constants.
    pub settings: Settings,
    /// Which panels.
    pub panels: Vec<Panel>,
    /// Which further figures.
    pub extras: Vec<Extra>,
    /// Where the sensor files are.
    pub data: Option<PathBuf>,
}

impl Default for Request {
    fn default() -> Self {
        Self { settings: Settings::default(), panels: Panel::PAPER.to_vec(), extras: vec![], data: None }
    }
}

impl Request {
    /// The panels, of those asked for or used by further figures, whose files are not there.
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

/// A panel that cannot be played for want of its files.
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

/// Everything checked and ready to be played.
#[derive(Debug, Clone)]
pub struct ReproductionPlan {
    settings: Settings,
    missing: Vec<Missing>,
    panels: Vec<(Panel, Vec<Arm>)>,
    extras: Vec<(Extra, Vec<Arm>)>,
}

impl ReproductionPlan {
    /// Reads files and draws functions; refuses settings out of range and files that are not what they should be. Panels
    /// whose files are not there are left out and told by [`ReproductionPlan::missing`].
    pub fn new(request: &Request) -> Result<Self> {
        let (settings, data) = (request.settings, request.data.as_deref());
        settings.check()?;
        let missing = request.missing();
        let (mut panels, mut extras) = (Vec::new(), Vec::new());
        for &panel in request.panels.iter().filter(|panel| panel.missing_files(data).is_empty()) {
            let experiment = Arc::new(panel.experiment(&settings, data.unwrap_or(Path::new("")))?);
            panels.push((panel, Algorithm::ALL.map(|who| Arm::new(&experiment, who, settings)).to_vec()));
        }
        for &extra in &request.extras {
            extras.push((extra, extra.arms(&settings, data)?));
        }
        Ok(Self { settings, missing, panels, extras })
    }

    /// The panels that cannot be played.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.arms().map(|arm| arm.experiment.instances.len()).sum()
    }

    /// Plays everything on all threads; `tick` hears of each finished run.
    pub fn run(self, tick: &(dyn Fn() + Sync)) -> Result<Reproduction> {
        let mut played = play(self.arms().cloned().collect(), tick)?.into_iter();
        let mut take = |arms: &[Arm]| -> Vec<PlayedArm> { played.by_ref().take(arms.len()).collect() };
        let panels: Vec<PanelResult> =
            self.panels.iter().map(|(panel, arms)| PanelResult { panel: *panel, played: take(arms) }).collect();
        let extras = self.extras.iter().map(|(extra, arms)| extra.finish(&take(arms))).collect();
        let observations = Observation::all(|panel, algorithm| {
            panels.iter().find(|result| result.panel == panel)?.final_averages(algorithm)
        });
        Ok(Reproduction { settings: self.settings, missing: self.missing, panels, observations, extras })
    }

    fn arms(&self) -> impl Iterator<Item = &Arm> {
        self.panels.iter().flat_map(|(_, arms)| arms).chain(self.extras.iter().flat_map(|(_, arms)| arms))
    }
}

/// What came of a panel.
#[derive(Debug, Clone)]
pub struct PanelResult {
    /// Which.
    pub panel: Panel,
    /// Its algorithms, in the order of [`Algorithm::ALL`].
    pub played: Vec<PlayedArm>,
}

impl PanelResult {
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

/// What came of it all.
#[derive(Debug, Clone)]
pub struct Reproduction {
    /// With which constants.
    pub settings: Settings,
    /// The panels that could not be played.
    pub missing: Vec<Missing>,
    /// The panels that were.
    pub panels: Vec<PanelResult>,
    /// The paper's observations.
    pub observations: Vec<Observation>,
    /// The further figures.
    pub extras: Vec<FinishedExtra>,
}
