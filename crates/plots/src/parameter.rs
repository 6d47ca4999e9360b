//! The varying parameters of a space, or coordinate columns of a pool. Categories are numbered from 0.

use std::sync::Arc;

use kuva::render::layout::{Layout, TickFormat};
use manyhands_core::{Coordinates, Domain, Parameter, ParameterKind, Pool, Scale, Value};

use crate::axis::PlotAxis;

/// The largest number of categories whose names fit.
const MOST: usize = 40;

/// A varying parameter or column.
#[derive(Debug, Clone, PartialEq)]
pub struct PlottedParameter {
    /// Its name.
    pub name: String,
    /// Which of a trial's values it is.
    index: usize,
    low: f64,
    high: f64,
    scale: Scale,
    /// Whether its values are integers.
    is_integer: bool,
    /// How many values it has, where they are evenly spaced on its scale.
    count: Option<usize>,
    /// The categories, in the order of their numbers; empty for numeric parameters.
    categories: Vec<Value>,
}

impl PlottedParameter {
    /// All varying parameters; none if one of them has no name or too many categories.
    pub fn all(domain: &Domain) -> Vec<Self> {
        match domain {
            Domain::Space(space) => {
                let varying = || space.varying().map(Parameter::name);
                let is_varying = |(_, parameter): &(usize, &Parameter)| varying().any(|name| name == parameter.name());
                let parameters = space.parameters().iter().enumerate().filter(is_varying);
                parameters.map(|(index, parameter)| Self::parameter(index, parameter)).collect::<Option<_>>()
            }
            Domain::Pool(pool) if pool.seen_as() != Coordinates::Indices => {
                Some(pool.coordinate_names().filter_map(|name| Self::column(pool, name)).collect())
            }
            _ => None,
        }
        .unwrap_or_default()
    }

    fn parameter(index: usize, parameter: &Parameter) -> Option<Self> {
        let (low, high, scale, count) = match *parameter.kind() {
            ParameterKind::Float { low, high, scale } => (low, high, scale, None),
            ParameterKind::Even { low, high, scale, points } => (low, high, scale, Some(points)),
            ParameterKind::Int { low, high, scale: Scale::Linear } => {
                (low as f64, high as f64, Scale::Linear, usize::try_from(high - low + 1).ok())
            }
            ParameterKind::Int { low, high, scale } => (low as f64, high as f64, scale, None),
            ParameterKind::Levels(ref levels) => (*levels.first()?, *levels.last()?, Scale::Linear, None),
            ParameterKind::IntLevels(ref levels) => {
                (*levels.first()? as f64, *levels.last()? as f64, Scale::Linear, None)
            }
            ParameterKind::Choice(ref all) if all.len() > MOST => return None,
            ParameterKind::Choice(ref all) => (0.0, all.len() as f64 - 1.0, Scale::Linear, Some(all.len())),
            ParameterKind::Constant(_) => return None,
        };
        let categories = if let ParameterKind::Choice(all) = parameter.kind() { all.clone() } else { vec![] };
        let is_integer = match parameter.kind() {
            ParameterKind::Int { .. } | ParameterKind::IntLevels(_) | ParameterKind::Choice(_) => true,
            ParameterKind::Float { .. } | ParameterKind::Even { .. } | ParameterKind::Levels(_) => false,
            ParameterKind::Constant(_) => false,
        };
        Some(Self { name: parameter.name().to_string(), index, low, high, scale, is_integer, count, categories })
    }

    /// A column, if it has more than one value.
    fn column(pool: &Pool, name: &str) -> Option<Self> {
        let index = pool.names().position(|known| known == name)?;
        let numbers = || (0..pool.len()).filter_map(|candidate| pool.params(candidate)[index].number());
        let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
        let (name, scale, count) = (name.to_string(), Scale::Linear, None);
        (low < high).then_some(Self { name, index, low, high, scale, is_integer: false, count, categories: vec![] })
    }

    /// Its value in a trial.
    pub fn of(&self, params: &[Value]) -> Option<f64> {
        self.read(params.get(self.index)?)
    }

    /// Its value among named ones.
    pub fn among(&self, named: &[(String, Value)]) -> Option<f64> {
        named.iter().find(|(name, _)| *name == self.name).and_then(|(_, value)| self.read(value))
    }

    fn read(&self, value: &Value) -> Option<f64> {
        if self.is_choice() {
            return self.categories.iter().position(|category| category == value).map(|index| index as f64);
        }
        value.number()
    }

    /// Whether its values have no order.
    pub fn is_choice(&self) -> bool {
        !self.categories.is_empty()
    }

    /// The layout with its categories along the horizontal axis, if it has any.
    pub fn label_x(&self, layout: Layout) -> Layout {
        match self.words() {
            Some(words) => layout.with_x_tick_step(1.0).with_x_tick_format(words),
            None => layout,
        }
    }

    /// The layout with its categories along the vertical axis, if it has any.
    pub fn label_y(&self, layout: Layout) -> Layout {
        match self.words() {
            Some(words) => layout.with_y_tick_step(1.0).with_y_tick_format(words),
            None => layout,
        }
    }

    fn words(&self) -> Option<TickFormat> {
        let names: Vec<String> = self.categories.iter().map(Value::short).collect();
        let word = move |place: f64| match names.get(place.round().max(0.0) as usize) {
            Some(name) if (place - place.round()).abs() < 1e-6 && place > -0.5 => name.clone(),
            _ => String::new(),
        };
        self.is_choice().then(|| TickFormat::Custom(Arc::new(word)))
    }

    /// Its coordinates at a fraction of the way from its lowest value to its highest.
    fn coordinates(&self, part: f64) -> Vec<f64> {
        if !self.is_choice() {
            return vec![part];
        }
        let chosen = self.number(part).round() as usize;
        (0..self.categories.len()).map(|index| f64::from(u8::from(index == chosen))).collect()
    }

    /// Its axis, from its lowest value to its highest, with room for marks at the ends and for `beyond`, as a fraction of the
    /// length between them.
    pub fn axis(&self, beyond: f64) -> PlotAxis {
        let axis = match self.scale {
            Scale::Log => PlotAxis::logarithmic(self.low, self.high),
            Scale::Linear if self.is_integer => PlotAxis::integer(self.low, self.high),
            Scale::Linear => PlotAxis::linear(self.low, self.high),
        };
        let room = 0.03_f64.max(beyond);
        axis.padded(room, room)
    }

    /// At most `most` evenly spaced fractions of the way from the lowest value to the highest, including both ends: all its
    /// values if they are few.
    pub fn steps(&self, most: usize) -> Vec<f64> {
        let steps = self.count.filter(|count| *count <= most).unwrap_or(most).max(2);
        (0..steps).map(|i| i as f64 / (steps - 1) as f64).collect()
    }

    /// How far equal cells extend beyond the ends: each of a few values is the centre of a cell.
    pub fn beyond(&self, most: usize) -> f64 {
        self.count.filter(|count| (2..=most).contains(count)).map_or(0.0, |count| 0.5 / (count - 1) as f64)
    }

    /// The centres of at most `most` equal cells.
    pub fn centres(&self, most: usize) -> Vec<f64> {
        match self.count {
            Some(count) if (2..=most).contains(&count) => self.steps(most),
            _ => (0..most).map(|i| (i as f64 + 0.5) / most as f64).collect(),
        }
    }

    fn number(&self, part: f64) -> f64 {
        self.low + part * (self.high - self.low)
    }
}

/// The valid values at fractions of the way along all varying parameters, by name; none where they violate a constraint.
pub fn values(domain: &Domain, variables: &[PlottedParameter], parts: &[f64]) -> Option<Vec<(String, Value)>> {
    let named: Vec<(String, Value)> = match domain {
        // A number has one coordinate, on its scale; a choice has one per category.
        Domain::Space(space) => {
            let names = space.parameters().iter().map(|parameter| parameter.name().to_string());
            let point: Vec<f64> = variables.iter().zip(parts).flat_map(|(v, &part)| v.coordinates(part)).collect();
            names.zip(space.params(&point)).collect()
        }
        _ => variables.iter().zip(parts).map(|(v, &part)| (v.name.clone(), v.number(part).into())).collect(),
    };
    domain.embed_named(&named).is_ok().then_some(named)
}
