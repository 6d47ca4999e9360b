//! How fast the optimizer is on this machine: time and memory beside what the machine can do, and the limits that must be
//! kept.
//!
//! ```no_run
//! use manyhands_lab::bench::{Section, Silent, Size, SpeedBench};
//! use manyhands_lab::Binary;
//! # fn main() -> manyhands_lab::Result<()> {
//! let bench = SpeedBench { size: Size::Quick, sections: vec![Section::Append], postgres: None };
//! let report = bench.run(&Binary::at("target/release/manyhands"), &Silent)?;
//! println!("{}", report.to_text());
//! # Ok(()) }
//! ```

mod append;
mod black_box;
mod certified;
mod cost;
mod durable;
mod fleet;
mod growth;
mod live;
mod million;
mod part;
mod power_law;
mod products;
mod progress;
mod report;
mod row_per_pick;
mod rules;
mod sample;
mod scratch;
mod suggest;
mod table;
mod verbs;

use serde::Serialize;

pub use self::part::run_part;
pub use self::progress::{Monitor, Silent, Task};
pub use self::report::SpeedReport;
use crate::{Binary, Result};

/// How large the measurements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// Within two minutes.
    Quick,
    /// The sizes that the limits were set for.
    Full,
}

impl Size {
    /// The number of points that the runs go up to.
    fn rounds(self) -> usize {
        match self {
            Self::Quick => 300,
            Self::Full => 1000,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// A part of the bench that can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Appending one point to the factor.
    Append,
    /// A live run on 100,000 candidates.
    Live,
    /// A live run on a million candidates.
    Million,
    /// One exact posterior sample on a million candidates.
    Sample,
    /// How the cost of a suggestion grows.
    Growth,
    /// What a batch of each rule costs.
    Rules,
    /// Suggestions of a learned model, fits included.
    Suggest,
    /// Maxima with a proof, by branch and bound.
    Certified,
    /// Asking and telling through a store, reopening a study, fleets of workers, the cost of each verb.
    Durable,
}

impl Section {
    /// Every section, in the order in which they are run.
    pub const ALL: [Self; 9] = [
        Self::Append,
        Self::Live,
        Self::Million,
        Self::Sample,
        Self::Growth,
        Self::Rules,
        Self::Suggest,
        Self::Certified,
        Self::Durable,
    ];

    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Live => "live",
            Self::Million => "million",
            Self::Sample => "sample",
            Self::Growth => "growth",
            Self::Rules => "rules",
            Self::Suggest => "suggest",
            Self::Certified => "certified",
            Self::Durable => "durable",
        }
    }

    /// What it measures.
    pub fn title(self) -> &'static str {
        match self {
            Self::Append => "Appending one point to the factor",
            Self::Live => "A live run on 100,000 candidates",
            Self::Million => "A live run on a million candidates",
            Self::Sample => "One exact posterior sample on a million candidates",
            Self::Growth => "How the cost of a suggestion grows",
            Self::Rules => "What a batch of each rule costs",
            Self::Suggest => "Suggestions of a learned model, fits included",
            Self::Certified => "Maxima with a proof, by branch and bound",
            Self::Durable => {
                "Asking and telling through a store, reopening a study, fleets of workers, the cost of each verb"
            }
        }
    }
}

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedBench {
    /// How large the measurements are.
    pub size: Size,
    /// The sections to measure; all of them if none is named.
    pub sections: Vec<Section>,
    /// The address of a PostgreSQL database on which fleets of workers are measured too, beside SQLite.
    pub postgres: Option<String>,
}

impl SpeedBench {
    /// Measures the sections in order. Measurements that need a process of their own start `binary`.
    pub fn run(&self, binary: &Binary, monitor: &dyn Monitor) -> Result<SpeedReport> {
        let mut report = SpeedReport::new(self.size);
        let setup = Setup { size: self.size, postgres: self.postgres.as_deref(), binary, monitor };
        for section in Section::ALL {
            if self.sections.is_empty() || self.sections.contains(&section) {
                section.measure(&setup, &mut report)?;
            }
        }
        Ok(report)
    }
}

/// What the sections share.
struct Setup<'a> {
    size: Size,
    postgres: Option<&'a str>,
    binary: &'a Binary,
    monitor: &'a dyn Monitor,
}

impl Section {
    fn measure(self, setup: &Setup, report: &mut SpeedReport) -> Result<()> {
        let measurements = match self {
            Self::Append => append::measure(setup)?,
            Self::Live => live::measure(setup)?,
            Self::Million => million::measure(setup)?,
            Self::Sample => sample::measure(setup)?,
            Self::Rules => rules::measure(setup)?,
            Self::Suggest => suggest::measure(setup)?,
            Self::Certified => certified::measure(setup)?,
            Self::Durable => durable::measure(setup)?,
            Self::Growth => {
                report.growth.extend(growth::measure(setup)?);
                return Ok(());
            }
        };
        report.measurements.extend(measurements);
        Ok(())
    }
}
