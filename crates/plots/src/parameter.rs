//! The varying parameters of a space, or coordinate columns of a pool. Categories are numbered from 0.

use manyhands_core::{Coordinates, Domain, Parameter, ParameterKind, Pool, Scale, Value};

use crate::axis::PlotAxis;
use crate::panel::{PanelSide, SideTicks};

/// The largest number of categories whose names fit.
const MOST_CATEGORIES: usize = 40;

/// Up to this many values each has a dot of its own on a curve.
const FEW: usize = 16;

/// Levels whose ratio is larger than this are on a logarithmic axis.
const MAGNITUDES: f64 = 30.0;

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
    values: Values,
}

/// Which values there are between the lowest and the highest.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// All numbers.
    All,
    /// All integers.
    Integers,
    /// So many, evenly spaced on the scale.
    Even(usize),
    /// These numbers.
    Levels(Vec<Value>),
    /// Categories, in the order of their numbers.
    Categories(Vec<Value>),
}

impl PlottedParameter {
    /// All varying parameters that have names and coordinates.
    pub fn all(domain: &Domain) -> Vec<Self> {
        match domain {
            Domain::Space(space) => {
                let varying = || space.varying().map(Parameter::name);
                let is_varying = |(_, parameter): &(usize, &Parameter)| varying().any(|name| name == parameter.name());
                let parameters = space.parameters().iter().enumerate().filter(is_varying);
                parameters.filter_map(|(index, parameter)| Self::parameter(index, parameter)).collect()
            }
            Domain::Pool(pool) if pool.seen_as() != Coordinates::Indices => {
                pool.coordinate_names().filter_map(|name| Self::column(pool, name)).collect()
            }
            _ => vec![],
        }
    }

    fn parameter(index: usize, parameter: &Parameter) -> Option<Self> {
        let (low, high, scale, values) = match parameter.kind() {
            ParameterKind::Float { low, high, scale } => (*low, *high, *scale, Values::All),
            ParameterKind::Even { low, high, scale, points } => (*low, *high, *scale, Values::Even(*points)),
            ParameterKind::Int { low, high, scale } => (*low as f64, *high as f64, *scale, Values::Integers),
            ParameterKind::Levels(levels) => Self::levels(levels.iter().map(|&level| level.into()))?,
            ParameterKind::IntLevels(levels) => Self::levels(levels.iter().map(|&level| level.into()))?,
            ParameterKind::Choice(all) => (0.0, all.len() as f64 - 1.0, Scale::Linear, Values::Categories(all.clone())),
            ParameterKind::Constant(_) => return None,
        };
        Some(Self { name: parameter.name().to_string(), index, low, high, scale, values })
    }

    /// The lowest and the highest level, on a logarithmic scale where they are of several magnitudes.
    fn levels(levels: impl Iterator<Item = Value>) -> Option<(f64, f64, Scale, Values)> {
        let levels: Vec<Value> = levels.collect();
        let (low, high) = (levels.first()?.number()?, levels.last()?.number()?);
        let scale = if low > 0.0 && high > MAGNITUDES * low { Scale::Log } else { Scale::Linear };
        Some((low, high, scale, Values::Levels(levels)))
    }

    /// A column, if it has more than one value.
    fn column(pool: &Pool, name: &str) -> Option<Self> {
        let index = pool.names().position(|known| known == name)?;
        let numbers = || (0..pool.len()).filter_map(|candidate| pool.params(candidate)[index].number());
        let (low, high) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
        let (name, scale, values) = (name.to_string(), Scale::Linear, Values::All);
        (low < high).then_some(Self { name, index, low, high, scale, values })
    }

    /// Whether it has few enough categories to be drawn.
    pub fn is_drawable(&self) -> bool {
        !matches!(&self.values, Values::Categories(all) if all.len() > MOST_CATEGORIES)
    }

    /// Its value in a trial.
    pub fn of<'a>(&self, params: &'a [Value]) -> Option<&'a Value> {
        params.get(self.index)
    }

    /// A value as a number on its axis.
    pub fn read(&self, value: &Value) -> Option<f64> {
        match &self.values {
            Values::Categories(all) => all.iter().position(|category| category == value).map(|index| index as f64),
            _ => value.number(),
        }
    }

    /// Whether its values have no order.
    pub fn is_choice(&self) -> bool {
        matches!(self.values, Values::Categories(_))
    }

    /// Whether its values are so few that each is drawn by itself.
    pub fn has_few_values(&self) -> bool {
        self.count().is_some_and(|count| count <= FEW)
    }

    fn count(&self) -> Option<usize> {
        match &self.values {
            Values::All => None,
            Values::Integers => Some((self.high - self.low) as usize + 1),
            Values::Even(count) => Some(*count),
            Values::Levels(levels) => Some(levels.len()),
            Values::Categories(all) => Some(all.len()),
        }
    }

    /// How many of its values are the centres of cells, if they are at most `most` and evenly spaced on the axis.
    fn cells(&self, most: usize) -> Option<usize> {
        let is_even = match self.values {
            Values::Integers => self.scale == Scale::Linear,
            Values::Even(_) | Values::Categories(_) => true,
            Values::All | Values::Levels(_) => false,
        };
        self.count().filter(|count| is_even && (2..=most).contains(count))
    }

    /// Its axis with its name and categories, with room for marks at the ends and for cells.
    pub fn side(&self, cells: Option<usize>) -> PanelSide {
        let axis = match (self.scale, &self.values) {
            (Scale::Log, _) => PlotAxis::logarithmic(self.low, self.high),
            (Scale::Linear, Values::Integers | Values::Categories(_)) => PlotAxis::integer(self.low, self.high),
            (Scale::Linear, _) => PlotAxis::linear(self.low, self.high),
        };
        let ticks = match &self.values {
            Values::Categories(all) => SideTicks::Words(all.iter().map(Value::short).collect()),
            Values::Levels(levels) => SideTicks::Levels(levels.clone()),
            _ => SideTicks::Numbers,
        };
        let room = match cells {
            Some(most) => self.beyond(most),
            None if self.is_choice() => 0.5 / self.high.max(1.0),
            None => 0.03,
        };
        PanelSide { axis: axis.padded(room, room), label: self.name.clone(), ticks }
    }

    /// All its values if they are at most `most`, else as many, evenly spaced on its scale.
    pub fn settings(&self, most: usize) -> Vec<Value> {
        let parts = |count: usize| (0..count).map(move |i| i as f64 / (count - 1).max(1) as f64);
        match &self.values {
            Values::Levels(levels) if levels.len() <= most => levels.clone(),
            Values::Categories(all) => all.clone(),
            Values::Even(count) if *count <= most => parts(*count).map(|part| self.value_at(part)).collect(),
            Values::Integers if self.count().is_some_and(|count| count <= most) => {
                (self.low as i64..=self.high as i64).map(Value::Int).collect()
            }
            _ => {
                let mut settings: Vec<Value> = parts(most).map(|part| self.value_at(part)).collect();
                settings.dedup();
                settings
            }
        }
    }

    /// How far equal cells extend beyond the ends: each of a few values is the centre of a cell.
    pub fn beyond(&self, most: usize) -> f64 {
        self.cells(most).map_or(0.0, |count| 0.5 / (count - 1) as f64)
    }

    /// The values at the centres of at most `most` equal cells.
    pub fn centres(&self, most: usize) -> Vec<Value> {
        match self.cells(most) {
            Some(_) => self.settings(most),
            None => (0..most).map(|i| self.value_at((i as f64 + 0.5) / most as f64)).collect(),
        }
    }

    /// The value nearest to a fraction of the way from the lowest to the highest, on its scale.
    fn value_at(&self, part: f64) -> Value {
        match &self.values {
            Values::All => Value::Float(self.number(part)),
            Values::Integers => Value::Int(self.number(part).round() as i64),
            Values::Even(count) => {
                let last = (count - 1).max(1) as f64;
                Value::Float(self.number((part * last).round() / last))
            }
            Values::Levels(levels) => {
                let axis = self.side(None).axis;
                let place = |level: &Value| axis.place(level.number().unwrap_or(self.low));
                let distance = |level: &Value| (place(level) - axis.between(part)).abs();
                let nearest = levels.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
                nearest.cloned().unwrap_or(Value::Float(self.low))
            }
            Values::Categories(all) => all[((part * self.high).round() as usize).min(all.len() - 1)].clone(),
        }
    }

    fn number(&self, part: f64) -> f64 {
        let number = match self.scale {
            Scale::Linear => self.low + part * (self.high - self.low),
            Scale::Log => self.low * (self.high / self.low).powf(part),
        };
        number.clamp(self.low, self.high)
    }
}

/// Values by the names of their parameters.
pub type NamedValues = Vec<(String, Value)>;

/// A setting of all varying parameters, from which some are changed.
pub struct BaseSetting<'a> {
    domain: &'a Domain,
    named: NamedValues,
}

impl<'a> BaseSetting<'a> {
    /// The setting of these values of all parameters; empty before there is a best point, where only one parameter varies.
    pub fn new(domain: &'a Domain, parameters: &[PlottedParameter], params: &[Value]) -> Self {
        let own = |parameter: &PlottedParameter| Some((parameter.name.clone(), parameter.of(params)?.clone()));
        Self { domain, named: parameters.iter().filter_map(own).collect() }
    }

    /// With other values of some parameters; none where they violate a constraint.
    pub fn with(&self, changes: &[(&PlottedParameter, &Value)]) -> Option<NamedValues> {
        self.if_allowed(self.changed(changes))
    }

    /// With other values of some parameters, and the rest at the nearest values that keep the constraints with them.
    pub fn nearest_with(&self, changes: &[(&PlottedParameter, &Value)]) -> Option<NamedValues> {
        let space = self.domain.space()?;
        let kept: Vec<&str> = changes.iter().map(|(parameter, _)| parameter.name.as_str()).collect();
        let nearest = space.nearest_around(&space.from_named(&self.changed(changes)).ok()?, &kept).ok()??;
        self.if_allowed(self.domain.named(&nearest).map(|(name, value)| (name.to_string(), value.clone())).collect())
    }

    fn if_allowed(&self, named: NamedValues) -> Option<NamedValues> {
        self.domain.embed_named(&named).is_ok().then_some(named)
    }

    fn changed(&self, changes: &[(&PlottedParameter, &Value)]) -> NamedValues {
        let mut named = self.named.clone();
        for (parameter, value) in changes {
            named.retain(|(name, _)| *name != parameter.name);
            named.push((parameter.name.clone(), (*value).clone()));
        }
        named
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use manyhands_core::Space;

    use super::*;

    fn parameter(parameter: Parameter) -> PlottedParameter {
        let space = Space::new(vec![parameter], vec![]).unwrap();
        PlottedParameter::all(&Domain::Space(space)).remove(0)
    }

    #[test]
    fn every_setting_and_every_cell_is_a_valid_value() {
        let parameters = vec![
            Parameter::float("f", -3.0, 7.1).unwrap(),
            Parameter::log_float("l", 1e-5, 0.3).unwrap(),
            Parameter::int("i", -2, 200).unwrap(),
            Parameter::log_int("j", 1, 5000).unwrap(),
            Parameter::even("e", 0.0, 1.0, 7).unwrap(),
            Parameter::levels("v", &[0.1, 0.3, 1.0, 50.0]).unwrap(),
            Parameter::int_levels("n", &[8, 64, 512]).unwrap(),
            Parameter::choice("c", &["a", "b", "c"]).unwrap(),
        ];
        let space = Space::new(parameters, vec![]).unwrap();
        let domain = Domain::Space(space);
        let all = PlottedParameter::all(&domain);
        let middle: Vec<Value> = all.iter().map(|parameter| parameter.value_at(0.5)).collect();
        let base = BaseSetting::new(&domain, &all, &middle);
        for parameter in &all {
            for value in parameter.settings(61).iter().chain(&parameter.centres(64)) {
                assert!(base.with(&[(parameter, value)]).is_some(), "{} = {value}", parameter.name);
            }
        }
    }

    #[test]
    fn few_values_are_listed_and_many_are_thinned() {
        assert_eq!(parameter(Parameter::int("i", 1, 4).unwrap()).settings(61).len(), 4);
        assert_eq!(parameter(Parameter::levels("v", &[0.1, 3.0, 9.0]).unwrap()).settings(61).len(), 3);
        assert!(parameter(Parameter::log_int("j", 1, 100_000).unwrap()).settings(61).len() <= 61);
        assert!(!parameter(Parameter::int("i", 1, 400).unwrap()).has_few_values());
    }
}
