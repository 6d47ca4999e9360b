//! What an error is about, as data: the key of a study file, the part of a parameter's description, the place in a table.

use std::fmt;

use manyhands_gp as gp;

use crate::Error;

/// A key of a study file that an error can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// `repeats` in `[candidates]`.
    Repeats,
    /// `kernel` in `[model]`.
    Kernel,
    /// `smoothness` in `[model]`.
    Smoothness,
    /// `lengthscale` in `[model]`.
    Lengthscale,
    /// `noise` in `[model]`.
    Noise,
    /// `variance` in `[model]`.
    Variance,
    /// `mean` in `[model]`.
    Mean,
    /// `name` in `[strategy]`: the rule.
    Rule,
    /// `norm_bound` in `[strategy]`.
    NormBound,
    /// `noise_bound` in `[strategy]`.
    NoiseBound,
    /// `delta` in `[strategy]`.
    Delta,
    /// `information` in `[strategy]`.
    Information,
    /// `hallucination` in `[strategy]`.
    Hallucination,
    /// `width` in `[strategy]`.
    Width,
    /// `initial` in `[strategy]`.
    Initial,
    /// `design` in `[strategy]`.
    Design,
    /// `beta` in `[strategy]`.
    Beta,
    /// `max_pending` in `[strategy]`.
    MaxPending,
}

impl Key {
    /// The table that the key is in.
    pub fn table(self) -> &'static str {
        match self {
            Self::Repeats => "candidates",
            Self::Kernel | Self::Smoothness | Self::Lengthscale | Self::Noise | Self::Variance | Self::Mean => "model",
            Self::Rule
            | Self::NormBound
            | Self::NoiseBound
            | Self::Delta
            | Self::Information
            | Self::Hallucination
            | Self::Width
            | Self::Initial
            | Self::Design
            | Self::Beta
            | Self::MaxPending => "strategy",
        }
    }

    /// The key as it is written in its table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repeats => "repeats",
            Self::Kernel => "kernel",
            Self::Smoothness => "smoothness",
            Self::Lengthscale => "lengthscale",
            Self::Noise => "noise",
            Self::Variance => "variance",
            Self::Mean => "mean",
            Self::Rule => "name",
            Self::NormBound => "norm_bound",
            Self::NoiseBound => "noise_bound",
            Self::Delta => "delta",
            Self::Information => "information",
            Self::Hallucination => "hallucination",
            Self::Width => "width",
            Self::Initial => "initial",
            Self::Design => "design",
            Self::Beta => "beta",
            Self::MaxPending => "max_pending",
        }
    }

    /// The key under another name in messages, such as `initial.until`.
    pub(crate) const fn shown_as(self, name: &'static str) -> Subject {
        Subject { name, key: Some(self) }
    }

    /// The key of a quantity that the numeric crate refuses.
    fn of_quantity(error: &gp::Error) -> Option<Self> {
        let what = match error {
            gp::Error::Smoothness { .. } => return Some(Self::Smoothness),
            gp::Error::NotPositive { what, .. }
            | gp::Error::NotFinite { what, .. }
            | gp::Error::OutOfRange { what, .. } => *what,
            _ => return None,
        };
        match what {
            gp::Quantity::Lengthscale => Some(Self::Lengthscale),
            gp::Quantity::Noise => Some(Self::Noise),
            gp::Quantity::Variance => Some(Self::Variance),
            gp::Quantity::PriorMean => Some(Self::Mean),
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

impl From<&'static str> for Subject {
    fn from(name: &'static str) -> Self {
        Self { name, key: None }
    }
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
            Self::Setting { setting, .. } | Self::NeedsMaxPending { setting } | Self::Incompatible { setting, .. } => {
                setting.key()
            }
            Self::NeedsNormBound { .. } | Self::NeedsBeta { .. } => Some(Key::Rule),
            _ => None,
        }
    }
}
