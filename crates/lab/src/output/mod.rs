//! A reproduction on disk: figures, one CSV per panel, a summary for programs and a report for readers.

mod report;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};

use crate::chart::{Chart, Series, draw};
use crate::sheet::Sheet;
use crate::{Error, Outcome, Played, Reproduction, Result};

impl Reproduction {
    /// Writes everything into a folder, which is made if it is not there, and gives the files' names.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut folder = Folder::open(folder)?;
        if !self.panels.is_empty() {
            let charts: Vec<Chart> = self.panels.iter().map(chart).collect();
            folder.picture("figure", &charts)?;
        }
        for outcome in &self.panels {
            folder.file(&format!("panel-{}.csv", outcome.panel), &sheet(outcome).to_csv()?)?;
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
fn chart(outcome: &Outcome) -> Chart {
    let curve = |(style, played): (usize, &Played)| Series {
        name: played.algorithm().name().to_string(),
        style,
        points: (1..).map(f64::from).zip(played.time_average()).collect(),
    };
    Chart::of_regret(outcome.panel.heading(), "t", outcome.played.iter().enumerate().map(curve).collect())
}

fn sheet(outcome: &Outcome) -> Sheet {
    let mut sheet = Sheet::new(&["algorithm", "t", "mean", "se"]);
    for played in &outcome.played {
        for (t, estimate) in (1usize..).zip(played.time_average()) {
            sheet.push(vec![played.algorithm().name().into(), t.into(), estimate.mean.into(), estimate.se.into()]);
        }
    }
    sheet
}

/// A folder that is written to.
struct Folder {
    path: PathBuf,
    written: Vec<PathBuf>,
}

impl Folder {
    fn open(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))?;
        Ok(Self { path: path.to_path_buf(), written: vec![] })
    }

    fn picture(&mut self, name: &str, charts: &[Chart]) -> Result<()> {
        let picture = draw(name, charts)?;
        self.file(&format!("{name}.svg"), picture.svg.as_bytes())?;
        self.file(&format!("{name}.png"), &picture.png)
    }

    fn file(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        fs::write(&path, content).map_err(|error| cannot_write(&path, &error))?;
        self.written.push(path);
        Ok(())
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    Error::File { action: "write", path: path.to_path_buf(), reason: error.to_string() }
}
