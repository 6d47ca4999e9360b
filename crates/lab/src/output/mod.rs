//! A reproduction on disk: figures, one CSV per panel, a summary for programs and a report for readers.

mod report;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};

use manyhands_store::{TemporaryFile, replace_file};

use crate::chart::{Chart, Series, draw};
use crate::sheet::Sheet;
use crate::{Error, Extra, Panel, PanelResult, PlayedArm, Reproduction, Result};

impl Reproduction {
    /// Writes everything into a folder, which is created if it is missing, and returns the paths of the files.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut folder = OutputFolder::open(folder)?;
        if !self.panels.is_empty() {
            let charts: Vec<Chart> = self.panels.iter().map(chart).collect();
            folder.picture("figure", &charts)?;
        }
        for result in &self.panels {
            folder.file(&format!("panel-{}.csv", result.panel), &sheet(result).to_csv()?)?;
        }
        if !self.panels.is_empty() {
            folder.file("runs.csv", &runs(&self.panels).to_csv()?)?;
        }
        for extra in &self.extras {
            let name = format!("extra-{}", extra.extra.name());
            folder.picture(&name, &extra.charts)?;
            folder.file(&format!("{name}.csv"), &extra.sheet.to_csv()?)?;
        }
        let summary = format!("{:#}\n", self.summary());
        folder.file("summary.json", summary.as_bytes())?;
        folder.file("report.md", self.report().as_bytes())?;
        Ok(folder.written)
    }
}

/// Time-average regret over time.
fn chart(result: &PanelResult) -> Chart {
    let curve = |(style, played): (usize, &PlayedArm)| Series {
        name: played.algorithm().name().to_string(),
        style,
        points: played.regret_curve(),
    };
    Chart::of_regret(result.heading(), "t", result.played.iter().enumerate().map(curve).collect())
}

fn sheet(result: &PanelResult) -> Sheet {
    let mut sheet = Sheet::new(&["algorithm", "t", "mean", "se"]);
    for played in &result.played {
        for (t, estimate) in (1usize..).zip(played.time_average()) {
            sheet.push(vec![played.algorithm().name().into(), t.into(), estimate.mean.into(), estimate.se.into()]);
        }
    }
    sheet
}

/// Every run at the last round: the data of the paired tests.
fn runs(panels: &[PanelResult]) -> Sheet {
    let mut sheet = Sheet::new(&["panel", "run", "algorithm", "time_average_regret", "simple_regret"]);
    for result in panels {
        for played in &result.played {
            for (run, measured) in played.runs.iter().enumerate() {
                let last = |curve: Vec<f64>| curve.last().copied().into();
                sheet.push(vec![
                    result.panel.name().into(),
                    run.into(),
                    played.algorithm().name().into(),
                    last(measured.regret.time_average()),
                    last(measured.regret.simple()),
                ]);
            }
        }
    }
    sheet
}

/// Creates a folder if it is missing and checks that files can be written to it, before the work begins.
pub fn prepare(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    TemporaryFile::create(folder).map(drop).map_err(|error| cannot_write(folder, &error))
}

/// Files in a folder that an earlier run wrote and this one did not.
pub fn leftovers(folder: &Path, written: &[PathBuf]) -> Vec<PathBuf> {
    let panels = Panel::ALL.map(|panel| format!("panel-{panel}.csv"));
    let kinds = |name: &str| ["svg", "png", "csv"].map(|kind| format!("extra-{name}.{kind}"));
    let extras = Extra::ALL.into_iter().flat_map(|extra| kinds(extra.name()));
    let figures = ["figure.svg", "figure.png", "runs.csv"].map(String::from);
    let ours = panels.into_iter().chain(extras).chain(figures).map(|name| folder.join(name));
    ours.filter(|path| path.exists() && !written.contains(path)).collect()
}

/// A folder that is written to.
struct OutputFolder {
    path: PathBuf,
    written: Vec<PathBuf>,
}

impl OutputFolder {
    fn open(path: &Path) -> Result<Self> {
        prepare(path)?;
        Ok(Self { path: path.to_path_buf(), written: vec![] })
    }

    fn picture(&mut self, name: &str, charts: &[Chart]) -> Result<()> {
        let picture = draw(name, charts)?;
        self.file(&format!("{name}.svg"), picture.svg.as_bytes())?;
        self.file(&format!("{name}.png"), &picture.png)
    }

    fn file(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        replace_file(&path, content).map_err(|error| cannot_write(&path, &error))?;
        self.written.push(path);
        Ok(())
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::CannotWrite { path: path.to_path_buf(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn preparing_a_folder_leaves_every_file_in_it_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".manyhands");
        fs::write(&path, "of the user").unwrap();
        prepare(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "of the user");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
