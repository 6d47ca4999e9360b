//! A reproduction from request to result: what is asked, what can be played, and what came of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arm::{Arm, Measured, play};
use crate::extra::Finished;
use crate::statistics::{Estimate, curve};
use crate::{Algorithm, Comparison, Error, Experiment, Extra, Observation, Panel, Result, Settings};

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
pub struct Plan {
    settings: Settings,
    missing: Vec<Missing>,
    panels: Vec<(Panel, Vec<Arm>)>,
    extras: Vec<(Extra, Vec<Arm>)>,
}

impl Plan {
    /// Reads files and draws functions; refuses settings out of range and files that are not what they should be. Panels
    /// whose files are not there are left out and told by [`Plan::missing`].
    pub fn new(request: &Request) -> Result<Self> {
        let settings = request.settings;
        settings.check()?;
        let data = request.data.as_deref();
        if let Some(folder) = data.filter(|folder| !folder.is_dir()) {
            let reason = "there is no such folder".to_string();
            return Err(Error::File { action: "read", path: folder.to_path_buf(), reason });
        }
        let (mut missing, mut panels) = (Vec::new(), Vec::new());
        for &panel in &request.panels {
            let files = panel.missing_files(data);
            if files.is_empty() {
                let experiment = Arc::new(panel.experiment(&settings, data.unwrap_or(Path::new("")))?);
                panels.push((panel, Algorithm::ALL.map(|who| Arm::new(&experiment, who, settings)).to_vec()));
            } else {
                missing.push(Missing { panel, files, data: request.data.clone() });
            }
        }
        let extras =
            request.extras.iter().map(|extra| Ok((*extra, extra.arms(&settings, data)?))).collect::<Result<_>>()?;
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
        let arms: Vec<Arm> = self.arms().cloned().collect();
        let mut runs = play(&arms, tick)?.into_iter();
        let mut take = |count: usize| -> Vec<Vec<Measured>> { runs.by_ref().take(count).collect() };
        let panels: Vec<Outcome> =
            self.panels.into_iter().map(|(panel, arms)| Outcome::new(panel, &arms, take(arms.len()))).collect();
        let finish = |(extra, arms): (Extra, Vec<Arm>)| {
            let runs = take(arms.len());
            extra.finish(arms, runs)
        };
        let extras = self.extras.into_iter().map(finish).collect();
        let observations = Observation::all(|panel, algorithm| {
            panels.iter().find(|outcome| outcome.panel == panel)?.final_averages(algorithm)
        });
        Ok(Reproduction { settings: self.settings, missing: self.missing, panels, observations, extras })
    }

    fn arms(&self) -> impl Iterator<Item = &Arm> {
        self.panels.iter().flat_map(|(_, arms)| arms).chain(self.extras.iter().flat_map(|(_, arms)| arms))
    }
}

/// What came of a panel.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Which.
    pub panel: Panel,
    /// Its functions.
    pub experiment: Arc<Experiment>,
    /// Each algorithm's regret in every run.
    pub runs: Vec<(Algorithm, Vec<Measured>)>,
    averages: Vec<(Algorithm, Vec<f64>)>,
}

impl Outcome {
    fn new(panel: Panel, arms: &[Arm], runs: Vec<Vec<Measured>>) -> Self {
        let experiment = arms[0].experiment.clone();
        let runs: Vec<(Algorithm, Vec<Measured>)> = arms.iter().map(|arm| arm.algorithm).zip(runs).collect();
        let averages = runs.iter().map(|(algorithm, runs)| (*algorithm, Arm::final_averages(runs))).collect();
        Self { panel, experiment, runs, averages }
    }

    /// The time-average regret of an algorithm's runs at the last round.
    pub fn final_averages(&self, algorithm: Algorithm) -> Option<&[f64]> {
        self.averages.iter().find(|(who, _)| *who == algorithm).map(|(_, averages)| averages.as_slice())
    }

    /// The time-average regret over time, averaged over runs; t = 1 comes first.
    pub fn time_average(runs: &[Measured]) -> Vec<Estimate> {
        curve(&runs.iter().map(|run| run.regret.time_average()).collect::<Vec<_>>())
    }

    /// The regret of the best point tried so far, averaged over runs; t = 1 comes first.
    pub fn simple(runs: &[Measured]) -> Vec<Estimate> {
        curve(&runs.iter().map(|run| run.regret.simple()).collect::<Vec<_>>())
    }

    /// Every pair of algorithms, at the last round.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let pair = |(i, first): (usize, &'_ (Algorithm, Vec<f64>))| {
            let first = (first.0, first.1.clone());
            self.averages[i + 1..].iter().map(move |(who, other)| Comparison::new((first.0, &first.1), (*who, other)))
        };
        self.averages.iter().enumerate().flat_map(pair).collect()
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
    pub panels: Vec<Outcome>,
    /// The paper's observations.
    pub observations: Vec<Observation>,
    /// The further figures.
    pub extras: Vec<Finished>,
}
