//! One parameter as the model sees it: the coordinates it takes, and its values there.

use std::f64::consts::FRAC_1_SQRT_2;

use super::interval::Interval;
use super::ladder::Ladder;
use super::{Kind, Parameter, Value};
use crate::text::{beginning, exact};
use crate::tuning::CATEGORY_DISTANCE;
use crate::{Error, Result};

/// The values of a parameter, laid out in the unit cube.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CubeAxis {
    /// One value: no coordinate.
    Fixed(Value),
    /// Any number of an interval: one coordinate.
    Line(Interval),
    /// Discrete numbers in order: one coordinate.
    Ladder(Ladder),
    /// Categories: one coordinate each, CATEGORY_DISTANCE/sqrt(2) for the chosen one and 0 for the others, so that any two
    /// categories are at distance CATEGORY_DISTANCE.
    Choice(Vec<Value>),
}

impl CubeAxis {
    /// How many coordinates it takes.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Fixed(_) => 0,
            Self::Line(_) | Self::Ladder(_) => 1,
            Self::Choice(categories) => categories.len(),
        }
    }

    /// How many values it has, if they can be counted.
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Fixed(_) => Some(1),
            Self::Line(_) => None,
            Self::Ladder(ladder) => Some(ladder.len()),
            Self::Choice(categories) => Some(categories.len()),
        }
    }

    /// The nearest value to these coordinates, as its coordinates.
    pub fn snap(&self, coordinates: &[f64], to: &mut Vec<f64>) {
        match self {
            Self::Fixed(_) => (),
            Self::Line(interval) => to.push(interval.snap(coordinates[0])),
            Self::Ladder(ladder) => to.push(ladder.coordinate(ladder.nearest(coordinates[0]))),
            Self::Choice(_) => self.option(largest(coordinates), to),
        }
    }

    /// The nearest value to these coordinates.
    pub fn value(&self, coordinates: &[f64]) -> Value {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Line(interval) => Value::Float(interval.value(interval.snap(coordinates[0]))),
            Self::Ladder(ladder) => ladder.named(ladder.nearest(coordinates[0])),
            Self::Choice(categories) => categories[largest(coordinates)].clone(),
        }
    }

    /// The nearest value to these coordinates as a number; NaN where it is none.
    pub fn number(&self, coordinates: &[f64]) -> f64 {
        match self {
            Self::Fixed(value) => value.number().unwrap_or(f64::NAN),
            Self::Line(interval) => interval.value(interval.snap(coordinates[0])),
            Self::Ladder(ladder) => ladder.value(ladder.nearest(coordinates[0])),
            Self::Choice(_) => f64::NAN,
        }
    }

    /// The coordinates of value number `index` of a countable axis.
    pub fn option(&self, index: usize, to: &mut Vec<f64>) {
        match self {
            Self::Fixed(_) | Self::Line(_) => (),
            Self::Ladder(ladder) => to.push(ladder.coordinate(index)),
            Self::Choice(categories) => {
                to.extend(
                    (0..categories.len()).map(|c| if c == index { CATEGORY_DISTANCE * FRAC_1_SQRT_2 } else { 0.0 }),
                );
            }
        }
    }

    /// Value number `index`; the middle of an interval.
    pub fn nth(&self, index: usize) -> Value {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Line(interval) => Value::Float(interval.value(0.5)),
            Self::Ladder(ladder) => ladder.named(index),
            Self::Choice(categories) => categories[index].clone(),
        }
    }

    /// The coordinates that a number of [0, 1) stands for: uniform numbers give uniform values on the axis' scale.
    pub fn place(&self, u: f64, to: &mut Vec<f64>) {
        match self {
            Self::Fixed(_) => (),
            Self::Line(interval) => to.push(interval.snap(u)),
            Self::Ladder(ladder) => to.push(ladder.coordinate(ladder.pick(u))),
            Self::Choice(categories) => {
                self.option(((u * categories.len() as f64).max(0.0) as usize).min(categories.len() - 1), to);
            }
        }
    }

    /// The value nearest to a number that was logged; none where the axis has no discrete numbers.
    pub fn nearest(&self, number: f64) -> Option<Value> {
        match self {
            Self::Fixed(only) => Some(only.clone()),
            Self::Ladder(ladder) => Some(ladder.named(ladder.nearest_value(number))),
            Self::Line(_) | Self::Choice(_) => None,
        }
    }

    /// The coordinates of a value, if it is one of the axis' own.
    pub fn embed(&self, parameter: &Parameter, value: &Value, to: &mut Vec<f64>) -> Result<()> {
        let found = match self {
            Self::Fixed(only) => only.means(value).then_some(0),
            Self::Choice(categories) => categories.iter().position(|category| category.means(value)),
            Self::Ladder(ladder) => value.number().and_then(|number| ladder.rung(number)),
            Self::Line(interval) => match value.number() {
                Some(number) if (interval.low..=interval.high).contains(&number) => {
                    to.push(interval.snap(interval.coordinate(number)));
                    return Ok(());
                }
                _ => None,
            },
        };
        match found {
            Some(index) => {
                self.option(index, to);
                Ok(())
            }
            None => Err(refusal(parameter, value, self)),
        }
    }
}

impl Ladder {
    /// The value on a rung, as a user writes it.
    fn named(&self, rung: usize) -> Value {
        match self {
            Self::Integers { low, .. } | Self::LogIntegers { low, .. } => Value::Int(low + rung as i64),
            Self::Levels { are_integers: true, .. } => Value::Int(self.value(rung) as i64),
            Self::Even { .. } | Self::Levels { .. } => Value::Float(self.value(rung)),
        }
    }

    /// The rung of a number: exactly for integers, for others within a millionth of the way to the next rung, for
    /// numbers that were written with few digits.
    fn rung(&self, number: f64) -> Option<usize> {
        if !number.is_finite() {
            return None;
        }
        let rung = self.nearest_value(number);
        let gap = (self.value(rung) - number).abs();
        let near = match self {
            Self::Integers { .. } | Self::LogIntegers { .. } => gap == 0.0,
            Self::Even { .. } | Self::Levels { .. } => {
                let neighbour = if rung == 0 { 1 } else { rung - 1 };
                gap <= 1e-6 * (self.value(rung) - self.value(neighbour)).abs()
            }
        };
        near.then_some(rung)
    }
}

/// The first of the largest coordinates.
fn largest(coordinates: &[f64]) -> usize {
    (1..coordinates.len()).fold(0, |best, c| if coordinates[c] > coordinates[best] { c } else { best })
}

fn refusal(parameter: &Parameter, value: &Value, axis: &CubeAxis) -> Error {
    let allowed = match parameter.kind() {
        Kind::Float { low, high, .. } => format!("a number from {} to {}", exact(*low), exact(*high)),
        Kind::Int { low, high, .. } => format!("an integer from {low} to {high}"),
        Kind::Even { low, high, points, .. } => {
            format!("one of {points} evenly spaced numbers from {} to {}", exact(*low), exact(*high))
        }
        Kind::Levels(levels) => one_of(levels.iter().map(|level| exact(*level))),
        Kind::IntLevels(levels) => one_of(levels.iter().map(ToString::to_string)),
        Kind::Choice(categories) => one_of(categories.iter().map(|category| beginning(&category.to_string()))),
        Kind::Constant(constant) => format!("{}, its constant value", beginning(&constant.to_string())),
    };
    let nearest = match (axis, value.number()) {
        (CubeAxis::Ladder(ladder), Some(number)) if number.is_finite() => {
            format!(" (the nearest is {})", ladder.named(ladder.nearest_value(number)))
        }
        _ => String::new(),
    };
    let parameter = parameter.name().to_string();
    Error::ParameterValue { parameter, allowed: allowed + &nearest, value: beginning(&value.to_string()) }
}

/// The values as a list, with the middle of long lists omitted.
fn one_of(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    match values.len() {
        0..=12 => format!("one of {}", values.join(", ")),
        n => format!("one of {n} values: {}, ..., {}", values[..8].join(", "), values[n - 1]),
    }
}
