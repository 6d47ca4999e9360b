//! One parameter: its name, the values it may have, and the scale they live on.

use std::collections::HashSet;

use super::interval::Interval;
use super::ladder::Ladder;
use super::{CubeAxis, Value};
use crate::error::ParameterPart as Part;
use crate::text::{beginning, exact, quoted};
use crate::{Error, Result};

/// How a number is spread over the unit interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly in its logarithm.
    Log,
}

/// The values a parameter may have.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Any real number from `low` to `high`.
    Float {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// The scale.
        scale: Scale,
    },
    /// `points` real numbers from `low` to `high`, evenly spaced on the scale.
    Even {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// The scale.
        scale: Scale,
        /// How many.
        points: usize,
    },
    /// Any integer from `low` to `high`.
    Int {
        /// The smallest.
        low: i64,
        /// The largest.
        high: i64,
        /// The scale.
        scale: Scale,
    },
    /// Some numbers, in increasing order.
    Levels(Vec<f64>),
    /// Some integers, in increasing order. The log has them as it has other levels, as floats.
    IntLevels(Vec<i64>),
    /// Some categories, in no order.
    Choice(Vec<Value>),
    /// One value, always.
    Constant(Value),
}

/// A parameter: a name and the values it may have.
///
/// ```
/// use manyhands_core::{Parameter, ParameterKind, Scale};
/// # fn main() -> manyhands_core::Result<()> {
/// let rate = Parameter::log_float("rate", 1e-5, 1e-1)?;
/// assert_eq!(rate.kind(), &ParameterKind::Float { low: 1e-5, high: 1e-1, scale: Scale::Log });
/// let dose = Parameter::levels("dose", &[0.1, 0.3, 1.0])?;
/// assert_eq!(dose.name(), "dose");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    name: String,
    kind: Kind,
}

impl Parameter {
    /// A parameter with these values, checked.
    ///
    /// ```
    /// # use manyhands_core::Parameter;
    /// let refused = Parameter::log_float("lr", 0.0, 0.1).map_err(|error| error.to_string());
    /// assert_eq!(refused, Err("the low end of parameter \"lr\" must be positive on a log scale, got 0".to_string()));
    /// ```
    pub fn new(name: impl Into<String>, kind: Kind) -> Result<Self> {
        let name = name.into();
        if name.trim().is_empty() {
            return Err(Error::EmptyName);
        }
        // Commands get names and words as arguments and in their environment, and neither can hold a NUL.
        if name.contains('\0') {
            let (parameter, value) = (name.clone(), quoted(&name));
            return Err(Error::Parameter { parameter, what: Part::Name, allowed: NO_NUL, value });
        }
        kind.check(&name)?;
        Ok(Self { name, kind })
    }

    /// Any real number from `low` to `high`.
    pub fn float(name: &str, low: f64, high: f64) -> Result<Self> {
        Self::new(name, Kind::Float { low, high, scale: Scale::Linear })
    }

    /// Any real number from `low` to `high`, on a logarithmic scale.
    pub fn log_float(name: &str, low: f64, high: f64) -> Result<Self> {
        Self::new(name, Kind::Float { low, high, scale: Scale::Log })
    }

    /// `points` real numbers from `low` to `high`, evenly spaced.
    pub fn even(name: &str, low: f64, high: f64, points: usize) -> Result<Self> {
        Self::new(name, Kind::Even { low, high, scale: Scale::Linear, points })
    }

    /// Any integer from `low` to `high`.
    pub fn int(name: &str, low: i64, high: i64) -> Result<Self> {
        Self::new(name, Kind::Int { low, high, scale: Scale::Linear })
    }

    /// Any integer from `low` to `high`, on a logarithmic scale.
    pub fn log_int(name: &str, low: i64, high: i64) -> Result<Self> {
        Self::new(name, Kind::Int { low, high, scale: Scale::Log })
    }

    /// Some numbers, in increasing order.
    pub fn levels(name: &str, levels: &[f64]) -> Result<Self> {
        Self::new(name, Kind::Levels(levels.to_vec()))
    }

    /// Some integers, in increasing order.
    ///
    /// ```
    /// # use manyhands_core::{Parameter, Space, Value};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let space = Space::new(vec![Parameter::int_levels("batch", &[16, 32, 64])?], vec![])?;
    /// assert_eq!(space.params(&[1.0]), [Value::Int(64)]);
    /// # Ok(()) }
    /// ```
    pub fn int_levels(name: &str, levels: &[i64]) -> Result<Self> {
        Self::new(name, Kind::IntLevels(levels.to_vec()))
    }

    /// Some categories, in no order.
    pub fn choice<V: Clone + Into<Value>>(name: &str, categories: &[V]) -> Result<Self> {
        Self::new(name, Kind::Choice(categories.iter().cloned().map(Into::into).collect()))
    }

    /// One value, always.
    pub fn constant(name: &str, value: impl Into<Value>) -> Result<Self> {
        Self::new(name, Kind::Constant(value.into()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values it may have.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}

/// The largest integer up to which every integer is a float.
pub(crate) const LARGEST_INT: i64 = 1 << 53;
/// Wider, neighbouring integers would share a coordinate.
const WIDEST_INT: i64 = 1 << 50;
/// Larger, neighbouring integers would share a coordinate on a log scale.
const LARGEST_LOG_INT: i64 = 1 << 40;
const MOST_POINTS: usize = 1 << 32;
/// Every category is a coordinate, and every category's coordinates are listed: the square of their number.
const MOST_CATEGORIES: usize = 1_000;
const NO_NUL: &str = "free of NUL characters, which no command can be given";

impl Kind {
    /// The coordinates of these values.
    pub(super) fn axis(&self) -> CubeAxis {
        match *self {
            Self::Float { low, high, scale } => CubeAxis::Line(Interval::new(low, high, scale)),
            Self::Even { low, high, scale, points } => {
                CubeAxis::Ladder(Ladder::Even { points, interval: Interval::new(low, high, scale) })
            }
            Self::Int { low, high, .. } if low == high => CubeAxis::Fixed(Value::Int(low)),
            Self::Int { low, high, scale: Scale::Linear } => CubeAxis::Ladder(Ladder::Integers { low, high }),
            Self::Int { low, high, scale: Scale::Log } => {
                let interval = Interval::new(low as f64, high as f64, Scale::Log);
                CubeAxis::Ladder(Ladder::LogIntegers { low, high, interval })
            }
            Self::Levels(ref levels) if levels.len() == 1 => CubeAxis::Fixed(Value::Float(levels[0])),
            Self::Levels(ref levels) => CubeAxis::Ladder(Ladder::levels(levels.clone())),
            Self::IntLevels(ref levels) if levels.len() == 1 => CubeAxis::Fixed(Value::Int(levels[0])),
            Self::IntLevels(ref levels) => CubeAxis::Ladder(Ladder::int_levels(levels)),
            Self::Choice(ref categories) if categories.len() == 1 => CubeAxis::Fixed(categories[0].clone()),
            Self::Choice(ref categories) => CubeAxis::Choice(categories.clone()),
            Self::Constant(ref value) => CubeAxis::Fixed(value.clone()),
        }
    }

    fn check(&self, name: &str) -> Result<()> {
        let check = Check { parameter: name };
        match self {
            Self::Float { low, high, scale } => check.bounds(*low, *high, *scale),
            Self::Even { low, high, scale, points } => check.even(*low, *high, *scale, *points),
            Self::Int { low, high, scale } => check.int(*low, *high, *scale),
            Self::Levels(levels) => check.levels(levels),
            Self::IntLevels(levels) => check.int_levels(levels),
            Self::Choice(categories) => check.choice(categories),
            Self::Constant(value) => check.exact(Part::Constant, value),
        }
    }
}

/// The conditions on one parameter's values.
struct Check<'a> {
    parameter: &'a str,
}

impl Check<'_> {
    fn require(&self, ok: bool, what: Part, allowed: &'static str, value: impl ToString) -> Result<()> {
        if ok {
            return Ok(());
        }
        Err(Error::Parameter { parameter: self.parameter.to_string(), what, allowed, value: value.to_string() })
    }

    fn exact(&self, what: Part, value: &Value) -> Result<()> {
        if let Value::Text(text) = value {
            self.require(!text.contains('\0'), what, NO_NUL, quoted(text))?;
        }
        self.require(value.number().is_none_or(f64::is_finite), what, "a finite number, a word or a boolean", value)
    }

    fn bounds(&self, low: f64, high: f64, scale: Scale) -> Result<()> {
        let both = format!("[{}, {}]", exact(low), exact(high));
        self.require(low.is_finite() && high.is_finite(), Part::Bounds, "finite", &both)?;
        self.require(low < high, Part::Bounds, "[low, high] with low < high", &both)?;
        self.require((high - low).is_finite(), Part::Bounds, "less than 1.7e308 apart", &both)?;
        let positive = scale == Scale::Linear || low >= f64::MIN_POSITIVE;
        self.require(positive, Part::LowEnd, "positive on a log scale", exact(low))?;
        self.require(scale.of(low) < scale.of(high), Part::Bounds, "apart by more than rounding on their scale", &both)
    }

    fn even(&self, low: f64, high: f64, scale: Scale, points: usize) -> Result<()> {
        self.bounds(low, high, scale)?;
        self.require((2..=MOST_POINTS).contains(&points), Part::Points, "from 2 to 2^32", points)?;
        let apart = Interval::new(low, high, scale).quantum() * (points - 1) as f64 <= 1.0;
        self.require(apart, Part::Points, "small enough to tell neighbours apart", points)
    }

    fn int(&self, low: i64, high: i64, scale: Scale) -> Result<()> {
        let both = format!("[{low}, {high}]");
        self.require(low <= high, Part::Bounds, "[low, high] with low <= high", &both)?;
        let within = (-LARGEST_INT..=LARGEST_INT).contains(&low) && (-LARGEST_INT..=LARGEST_INT).contains(&high);
        self.require(within, Part::Bounds, "from -2^53 to 2^53", &both)?;
        self.require(high - low <= WIDEST_INT, Part::Bounds, "at most 2^50 apart", &both)?;
        if scale == Scale::Log {
            self.require(low > 0, Part::LowEnd, "positive on a log scale", low)?;
            self.require(high <= LARGEST_LOG_INT, Part::HighEnd, "at most 2^40 on a log scale", high)?;
        }
        Ok(())
    }

    fn levels(&self, levels: &[f64]) -> Result<()> {
        self.require(!levels.is_empty(), Part::Levels, "at least one number long", "[]")?;
        for level in levels {
            self.require(level.is_finite(), Part::Level, "a finite number", level)?;
        }
        for pair in levels.windows(2) {
            let both = format!("{} before {}", exact(pair[0]), exact(pair[1]));
            self.require(pair[0] < pair[1], Part::Levels, "strictly increasing", both)?;
        }
        let (low, high) = (levels[0], levels[levels.len() - 1]);
        let both = format!("{} to {}", exact(low), exact(high));
        self.require((high - low).is_finite(), Part::LevelSpan, "less than 1.7e308", both)?;
        if let Ladder::Levels { values, coordinates, .. } = Ladder::levels(levels.to_vec()) {
            for (pair, c) in values.windows(2).zip(coordinates.windows(2)) {
                let both = format!("{} and {}", exact(pair[0]), exact(pair[1]));
                self.require(c[0] < c[1], Part::LevelPair, "apart by more than rounding", both)?;
            }
        }
        Ok(())
    }

    fn int_levels(&self, levels: &[i64]) -> Result<()> {
        for level in levels {
            let is_float = (-LARGEST_INT..=LARGEST_INT).contains(level);
            self.require(is_float, Part::Level, "from -2^53 to 2^53", level)?;
        }
        self.levels(&levels.iter().map(|level| *level as f64).collect::<Vec<_>>())
    }

    fn choice(&self, categories: &[Value]) -> Result<()> {
        self.require(!categories.is_empty(), Part::Choices, "at least one value long", "[]")?;
        let few = categories.len() <= MOST_CATEGORIES;
        self.require(few, Part::ChoiceCount, "at most 1000", categories.len())?;
        let mut seen = HashSet::new();
        for category in categories {
            self.exact(Part::Choice, category)?;
            // 3 and 3.0 are the same choice; words carry quotes here and cannot be taken for numbers.
            let key = category.number().map_or_else(|| category.to_string(), |number| format!("{number:?}"));
            self.require(
                seen.insert(key),
                Part::Choices,
                "free of repeats",
                format!("{} twice", beginning(&category.to_string())),
            )?;
        }
        Ok(())
    }
}
