//! What an error is about, as data: the key of a study file, the part of a parameter's description, the place in a table.

use std::fmt;

use manyhands_gp as gp;

use crate::{Error, Rule};

/// A key of a study file that an error can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    table: &'static str,
    name: &'static str,
}

impl Key {
    pub(crate) const REPEATS: Self = Self { table: "candidates", name: "repeats" };
    pub(crate) const KERNEL: Self = Self::model("kernel");
    pub(crate) const LENGTHSCALE: Self = Self::model("lengthscale");
    pub(crate) const RULE: Self = Self::strategy("name");
    pub(crate) const INFORMATION: Self = Self::strategy("information");
    pub(crate) const HALLUCINATION: Self = Self::strategy("hallucination");
    pub(crate) const INITIAL: Self = Self::strategy("initial");
    pub(crate) const DESIGN: Self = Self::strategy("design");
    pub(crate) const MAX_PENDING: Self = Self::strategy("max_pending");

    const fn model(name: &'static str) -> Self {
        Self { table: "model", name }
    }

    pub(crate) const fn strategy(name: &'static str) -> Self {
        Self { table: "strategy", name }
    }

    /// The table that the key is in.
    pub const fn table(self) -> &'static str {
        self.table
    }

    /// The key as it is written in its table.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The key under another name in messages, such as `initial.until`.
    pub(crate) const fn shown_as(self, name: &'static str) -> Subject {
        Subject { name, key: Some(self) }
    }

    /// The key of a quantity that the numeric crate refuses.
    fn of_quantity(error: &gp::Error) -> Option<Self> {
        match error {
            gp::Error::Smoothness { .. } => Some(Self::model("smoothness")),
            gp::Error::NotPositive { what, .. }
            | gp::Error::NotFinite { what, .. }
            | gp::Error::OutOfRange { what, .. } => match what {
                gp::Quantity::Lengthscale => Some(Self::LENGTHSCALE),
                gp::Quantity::Noise => Some(Self::model("noise")),
                gp::Quantity::Variance => Some(Self::model("variance")),
                gp::Quantity::PriorMean => Some(Self::model("mean")),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What an error is about: as messages name it, and the key of a study file that sets it, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    name: &'static str,
    key: Option<Key>,
}

impl Subject {
    /// As messages name it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The key of a study file that sets it, if there is one.
    pub fn key(self) -> Option<Key> {
        self.key
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl From<Key> for Subject {
    fn from(key: Key) -> Self {
        key.shown_as(key.name())
    }
}

impl From<Rule> for Subject {
    fn from(rule: Rule) -> Self {
        Key::RULE.shown_as(rule.name())
    }
}

impl From<&'static str> for Subject {
    fn from(name: &'static str) -> Self {
        Self { name, key: None }
    }
}

/// A setting that is needed and not given.
#[derive(Debug, PartialEq, Eq)]
pub struct Need {
    /// Its key in `[strategy]`.
    pub key: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// What to do.
    pub hint: &'static str,
    /// The word for programs, as [`Error::code`] gives it.
    pub code: &'static str,
}

/// A part of a parameter's description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterPart {
    /// Its name.
    Name,
    /// The two ends of its range.
    Bounds,
    /// The low end of its range.
    LowEnd,
    /// The high end of its range.
    HighEnd,
    /// The number of evenly spaced points.
    Points,
    /// The list of its levels.
    Levels,
    /// One of its levels.
    Level,
    /// From its lowest level to its highest.
    LevelSpan,
    /// Two levels next to each other.
    LevelPair,
    /// The list of its choices.
    Choices,
    /// The number of its choices.
    ChoiceCount,
    /// One of its choices.
    Choice,
    /// Its constant value.
    Constant,
}

impl fmt::Display for ParameterPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "the name",
            Self::Bounds => "the bounds",
            Self::LowEnd => "the low end",
            Self::HighEnd => "the high end",
            Self::Points => "the number of points",
            Self::Levels => "the list of levels",
            Self::Level => "a level",
            Self::LevelSpan => "the span of the levels",
            Self::LevelPair => "neighbouring levels",
            Self::Choices => "the list of choices",
            Self::ChoiceCount => "the number of choices",
            Self::Choice => "a choice",
            Self::Constant => "the constant",
        })
    }
}

/// A place in a CSV table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TablePlace {
    /// The table as a whole.
    All,
    /// A line, counted from 1.
    Line(u64),
    /// A cell.
    Cell {
        /// The line, counted from 1.
        line: u64,
        /// The column: its name in quotes or, where names are not known yet, its number from 1.
        column: String,
    },
}

/// In front of what is wrong there.
impl fmt::Display for TablePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::Line(line) => write!(f, "line {line}: "),
            Self::Cell { line, column } => write!(f, "line {line}, column {column}: "),
        }
    }
}

impl Error {
    /// The key of a study file that the error is about, if it is about one.
    pub fn key(&self) -> Option<Key> {
        match self {
            Self::Numeric(error) => Key::of_quantity(error),
            Self::Setting { setting, .. } | Self::Incompatible { setting, .. } => setting.key(),
            Self::Needs { what, .. } | Self::TooManyCandidates { what, .. } => what.key(),
            _ => None,
        }
    }
}
