//! The eight panels of the paper's figure, and a synthetic one that needs no sensor files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use manyhands_gp::Kernel;

use crate::problems::{self, Sensors};
use crate::stream::{ProblemFamily, Purpose, generator};
use crate::{Arrival, Error, Experiment, FiniteProblem, Result, Settings};

/// A panel of the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Panel {
    /// (a) RKHS functions of the squared exponential kernel, simple batch.
    A,
    /// (b) RKHS functions of the Matern kernel, simple batch.
    B,
    /// (c) RKHS functions of the squared exponential kernel, simple delay.
    C,
    /// (d) RKHS functions of the Matern kernel, simple delay.
    D,
    /// (e) Cosines.
    E,
    /// (f) Rosenbrock.
    F,
    /// (g) Temperature sensors.
    G,
    /// (h) Light sensors.
    H,
    /// A synthetic sensor field, which is not in the paper.
    Field,
}

impl Panel {
    /// Every panel, the paper's eight first.
    pub const ALL: [Self; 9] = [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G, Self::H, Self::Field];
    /// The paper's.
    pub const PAPER: [Self; 8] = [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G, Self::H];

    /// Its letter, or the field's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::D => "d",
            Self::E => "e",
            Self::F => "f",
            Self::G => "g",
            Self::H => "h",
            Self::Field => "field",
        }
    }

    /// The functions it shows.
    fn functions(self) -> &'static str {
        match self {
            Self::A | Self::C => "RKHS of SE",
            Self::B | Self::D => "RKHS of Matern",
            Self::E => "Cosines",
            Self::F => "Rosenbrock",
            Self::G => "Temperature sensors",
            Self::H => "Light sensors",
            Self::Field => "Synthetic field (not in the paper)",
        }
    }

    /// How its rewards arrive.
    pub fn arrival(self) -> Arrival {
        match self {
            Self::C | Self::D => Arrival::Delay,
            _ => Arrival::Batch,
        }
    }

    /// What it shows.
    pub fn title(self) -> String {
        self.title_under(&self.arrival())
    }

    /// What it shows where rewards arrive like this: named where panels differ by it, and where it is not the paper's.
    pub fn title_under(self, arrival: &Arrival) -> String {
        match self {
            Self::A | Self::B | Self::C | Self::D => format!("{}, {arrival}", self.functions()),
            _ if *arrival != self.arrival() => format!("{}, {arrival}", self.functions()),
            _ => self.functions().to_string(),
        }
    }

    /// Letter and title.
    pub fn heading(self) -> String {
        self.heading_under(&self.arrival())
    }

    /// Letter and title where rewards arrive like this.
    pub fn heading_under(self, arrival: &Arrival) -> String {
        match self {
            Self::Field => self.title_under(arrival),
            panel => format!("({}) {}", panel.name(), panel.title_under(arrival)),
        }
    }

    /// The files it reads that are not in this folder, relative to it.
    pub fn missing_files(self, data: Option<&Path>) -> Vec<PathBuf> {
        let files: &[&str] = match self {
            Self::G => &[problems::TEMPERATURE],
            Self::H => &problems::LIGHT,
            _ => &[],
        };
        let there = |file: &&str| {
            data.is_some_and(|data| [file, file.trim_end_matches(".gz")].iter().any(|name| data.join(name).exists()))
        };
        files.iter().filter(|file| !there(file)).map(PathBuf::from).collect()
    }

    /// Its functions; sensors are read from `data`.
    pub fn experiment(self, settings: &Settings, data: &Path) -> Result<Experiment> {
        let family = self.family();
        let problems = match self {
            Self::A | Self::C => rkhs_functions(&Kernel::squared_exponential(&[0.2])?, settings, family)?,
            Self::B | Self::D => rkhs_functions(&Kernel::matern(2.5, &[0.2])?, settings, family)?,
            Self::E => same(problems::cosines(settings.noise)?, settings),
            Self::F => same(problems::rosenbrock(settings.noise)?, settings),
            Self::G => rows(&problems::temperature(data)?, settings, family)?,
            Self::H => rows(&problems::light(data)?, settings, family)?,
            // Index 1 of the family draws the field, index 0 its test rows.
            Self::Field => {
                rows(&problems::field(&mut generator(settings.seed, Purpose::Function, family, 1))?, settings, family)?
            }
        };
        Ok(Experiment::new(self.heading(), self.arrival(), (family, settings.seed), problems))
    }

    fn family(self) -> ProblemFamily {
        match self {
            Self::A | Self::C => ProblemFamily::SquaredExponential,
            Self::B | Self::D => ProblemFamily::Matern,
            Self::E => ProblemFamily::Cosines,
            Self::F => ProblemFamily::Rosenbrock,
            Self::G => ProblemFamily::Temperature,
            Self::H => ProblemFamily::Light,
            Self::Field => ProblemFamily::Field,
        }
    }

    /// Reads a list such as `a,c-f,field`, `all` (the paper's eight) or `none`; in the paper's order, without repetition.
    pub fn list(text: &str) -> Result<Vec<Self>> {
        let mut panels = Vec::new();
        for part in text.split(',').map(str::trim) {
            match part.split_once('-') {
                _ if part == "all" => panels.extend(Self::PAPER),
                _ if part == "none" => {}
                Some((first, last)) => {
                    let (first, last): (Self, Self) = (first.parse()?, last.parse()?);
                    if first > last || last == Self::Field {
                        return Err(unknown(part));
                    }
                    panels.extend(Self::ALL.iter().filter(|panel| (first..=last).contains(*panel)));
                }
                None => panels.push(part.parse()?),
            }
        }
        panels.sort();
        panels.dedup();
        Ok(panels)
    }
}

impl fmt::Display for Panel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Panel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|panel| panel.name() == text).ok_or_else(|| unknown(text))
    }
}

fn unknown(text: &str) -> Error {
    Error::Setting {
        setting: "panels",
        allowed: "letters from a to h or ranges of them (a,c-f), field, all or none".to_string(),
        value: format!("\"{text}\""),
    }
}

fn rkhs_functions(kernel: &Kernel, settings: &Settings, family: ProblemFamily) -> Result<Vec<Arc<FiniteProblem>>> {
    let draw = |index| {
        let mut rng = generator(settings.seed, Purpose::Function, family, index);
        problems::rkhs_function(kernel.clone(), settings.noise, &mut rng).map(Arc::new)
    };
    (0..settings.functions).map(draw).collect()
}

/// One function with many noise seeds.
fn same(problem: FiniteProblem, settings: &Settings) -> Vec<Arc<FiniteProblem>> {
    let problem = Arc::new(problem);
    vec![problem; settings.functions]
}

fn rows(sensors: &Sensors, settings: &Settings, family: ProblemFamily) -> Result<Vec<Arc<FiniteProblem>>> {
    let mut rng = generator(settings.seed, Purpose::Function, family, 0);
    Ok(sensors.draw(settings.functions, &mut rng)?.into_iter().map(Arc::new).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lists_of_panels_are_read_in_the_papers_order() {
        assert_eq!(Panel::list("h, a,c-e,d").unwrap(), [Panel::A, Panel::C, Panel::D, Panel::E, Panel::H]);
        assert_eq!(Panel::list("all").unwrap(), Panel::PAPER);
        assert_eq!(Panel::list("all,field").unwrap(), Panel::ALL);
        assert_eq!(Panel::list("none").unwrap(), []);
        for (text, culprit) in [("a,i", "\"i\""), ("", "\"\""), ("c-a", "\"c-a\""), ("a-z", "\"z\""), ("A", "\"A\"")] {
            let told = Panel::list(text).unwrap_err().to_string();
            assert!(told.contains(culprit) && told.contains("from a to h"), "{told}");
        }
    }
}
