//! Figures beyond the paper's, each with its arms and its table.

mod bayesian;
mod bounds;
mod certificate;
mod discretization;
mod hallucination;
mod initialization;
mod own_settings;
mod rules;
mod width;
mod workers;

use std::sync::Arc;

use self::own_settings::own_settings;
use crate::arm::{Arm, PlayedArm};
use crate::chart::{Chart, Series};
use crate::sheet::Sheet;
use crate::statistics::Estimate;
use crate::{Error, Panel, ReproductionRequest, Result, Settings};

/// A further figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// Regret against M with hallucination on and off, and the batches that M workers need.
    Workers,
    /// The factor xi: regret, and whether the band holds.
    Hallucination,
    /// A factor on the multiplier.
    Width,
    /// The initialization scheme for several T_init.
    Initialization,
    /// GP-BUCB with the width of its Bayesian case.
    Bayesian,
    /// The certificate's bound against the truth.
    Certificate,
    /// The bounds of the theorems against the measured regret.
    Bounds,
    /// GP-BTS on the appendix's growing discretization D_t.
    Discretization,
    /// Every rule, in pairs.
    Rules,
}

/// Charts, their table, and how to read them.
#[derive(Debug, Clone)]
pub struct FinishedExtra {
    /// Which figure.
    pub extra: Extra,
    /// What was run, and how to read the figure.
    pub note: String,
    /// The pictures.
    pub charts: Vec<Chart>,
    /// The numbers.
    pub sheet: Sheet,
    /// The numbers that the report shows.
    pub digest: Sheet,
}

impl Extra {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Workers,
        Self::Hallucination,
        Self::Width,
        Self::Initialization,
        Self::Bayesian,
        Self::Certificate,
        Self::Bounds,
        Self::Discretization,
        Self::Rules,
    ];

    /// Its name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workers => "workers",
            Self::Hallucination => "hallucination",
            Self::Width => "width",
            Self::Initialization => "initialization",
            Self::Bayesian => "bayesian",
            Self::Certificate => "certificate",
            Self::Bounds => "bounds",
            Self::Discretization => "discretization",
            Self::Rules => "rules",
        }
    }

    /// What it shows.
    pub fn title(self) -> &'static str {
        match self {
            Self::Workers => "What M workers cost in regret and save in time",
            Self::Hallucination => "The hallucination factor xi, and whether the band holds",
            Self::Width => "A factor on the multiplier",
            Self::Initialization => "The initialization scheme",
            Self::Bayesian => "GP-BUCB with the width of its Bayesian case",
            Self::Certificate => "The certificate's bound and the truth",
            Self::Bounds => "The theorems' bounds and the measured regret",
            Self::Discretization => "GP-BTS on the growing discretization D_t",
            Self::Rules => "Every rule, with 5 and 20 workers, in batches and with delays",
        }
    }

    /// Reads a list such as `workers,width`, or `all`.
    pub fn list(text: &str) -> Result<Vec<Self>> {
        let mut extras = Vec::new();
        for part in text.split(',').map(str::trim) {
            match Self::ALL.into_iter().find(|extra| extra.name() == part) {
                Some(extra) => extras.push(extra),
                None if part == "all" => extras.extend(Self::ALL),
                None => {
                    let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
                    let allowed = format!("all, or some of {}", names.join(", "));
                    return Err(Error::Setting { setting: "extra", allowed, value: format!("\"{part}\"") });
                }
            }
        }
        extras.sort();
        extras.dedup();
        Ok(extras)
    }

    /// The panels whose functions it uses.
    pub fn panels(self) -> &'static [Panel] {
        match self {
            Self::Workers => &[Panel::A, Panel::E],
            Self::Hallucination | Self::Initialization | Self::Certificate => &[Panel::A, Panel::B],
            Self::Width => &[Panel::A, Panel::B, Panel::E, Panel::F, Panel::G, Panel::H],
            Self::Bayesian => &Panel::PAPER,
            Self::Bounds => &[Panel::A, Panel::B],
            Self::Discretization => &[Panel::A],
            Self::Rules => &rules::PANELS,
        }
    }

    /// Whether it keeps its own M and arrivals, which are what it is about.
    fn has_own_arrivals(self) -> bool {
        matches!(self, Self::Workers | Self::Rules)
    }

    /// The arms that it needs; sensors are left out where their files are missing.
    pub fn arms(self, request: &ReproductionRequest) -> Result<Vec<Arm>> {
        let settings = &request.settings;
        let mut arms = Vec::new();
        for panel in self.panels().iter().filter(|panel| panel.missing_files(request.data.as_deref()).is_empty()) {
            let arrival = request.arrival.as_ref().filter(|_| !self.has_own_arrivals());
            let experiment = Arc::new(request.experiment(*panel, arrival)?);
            arms.extend(match self {
                Self::Workers => workers::arms(&experiment, settings),
                Self::Hallucination => hallucination::arms(&experiment, settings),
                Self::Width => width::arms(&experiment, settings),
                Self::Initialization => initialization::arms(&experiment, settings)?,
                Self::Bayesian => bayesian::arms(&experiment, settings),
                Self::Certificate => certificate::arms(&experiment, settings),
                Self::Bounds => bounds::arms(&experiment, settings)?,
                Self::Discretization => discretization::arms(&experiment, settings)?,
                Self::Rules => rules::arms(&experiment, settings),
            });
        }
        Ok(arms)
    }

    /// The figure of these finished arms; its note says in which settings they differ from the shared ones.
    pub fn finish(self, played: &[PlayedArm], shared: &Settings) -> FinishedExtra {
        let finished = match self {
            Self::Workers => workers::finish(played),
            Self::Hallucination => hallucination::finish(played),
            Self::Width => width::finish(played),
            Self::Initialization => initialization::finish(played),
            Self::Bayesian => bayesian::finish(played),
            Self::Certificate => certificate::finish(played),
            Self::Bounds => bounds::finish(played),
            Self::Discretization => discretization::finish(played),
            Self::Rules => rules::finish(played),
        };
        match own_settings(self, played, shared) {
            Some(own) => FinishedExtra { note: format!("{own} {}", finished.note), ..finished },
            None => finished,
        }
    }
}

/// The titles of the arms' experiments, in order of first appearance.
fn titles(played: &[PlayedArm]) -> Vec<&str> {
    let mut titles: Vec<&str> = played.iter().map(PlayedArm::title).collect();
    titles.dedup();
    titles
}

/// Curves from arms: arms of the same name form one curve, to which each contributes its `points`.
fn series<'a>(
    played: impl IntoIterator<Item = &'a PlayedArm>,
    name: impl Fn(&PlayedArm) -> (String, usize),
    points: impl Fn(&PlayedArm) -> Vec<(f64, Estimate)>,
) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for one in played {
        let (name, style) = name(one);
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.extend(points(one)),
            None => all.push(Series { name, style, points: points(one) }),
        }
    }
    all
}
