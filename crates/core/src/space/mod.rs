//! Spaces of parameters: their values, their coordinates in the model, linear constraints.

mod axis;
mod block;
mod constraint;
mod feasible;
mod finite;
mod interval;
mod ladder;
mod mixed;
mod names;
mod parameter;
#[cfg(test)]
mod tests;
mod value;

use axis::CubeAxis;
pub(crate) use block::Block;
pub use constraint::{Constraint, MEASURED_TOLERANCE, Relation};
pub use parameter::{Kind as ParameterKind, Parameter, Scale};
pub use value::Value;

use constraint::Linear;
use feasible::Feasible;
use parameter::Kind;
pub(crate) use parameter::LARGEST_INT;

use crate::{Error, Result};

/// A space of parameters, checked once.
///
/// The model sees *coordinates* inside the unit cube: one for each number, spread linearly or in the logarithm; one for
/// each category of a choice; none for a parameter with one value. Coordinates that a space returns are those of valid
/// values.
///
/// ```
/// use manyhands_core::{Parameter, Space, Value};
///
/// let space = Space::new(
///     vec![Parameter::log_float("lr", 1e-4, 1.0)?, Parameter::int("layers", 1, 5)?, Parameter::constant("seed", 7)?],
///     vec![],
/// )?;
/// assert_eq!(space.dimension(), 2);
/// assert_eq!(space.embed(&[0.01.into(), 3.into(), 7.into()])?, [0.5, 0.5]);
/// assert_eq!(space.params(&[1.0, 0.3]), [Value::Float(1.0), Value::Int(2), Value::Int(7)]);
/// # Ok::<(), manyhands_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    parameters: Vec<Parameter>,
    constraints: Vec<Constraint>,
    axes: Vec<CubeAxis>,
    /// Of the parameters that vary, in order.
    blocks: Vec<Block>,
    groups: Vec<usize>,
    /// None without constraints.
    feasible: Option<Feasible>,
}

impl Space {
    /// A space of these parameters under these constraints.
    pub fn new(parameters: Vec<Parameter>, constraints: Vec<Constraint>) -> Result<Self> {
        for (index, parameter) in parameters.iter().enumerate() {
            if parameters[..index].iter().any(|other| other.name() == parameter.name()) {
                return Err(Error::RepeatedParameter { name: parameter.name().to_string() });
            }
        }
        let axes: Vec<CubeAxis> = parameters.iter().map(|parameter| parameter.kind().axis()).collect();
        let mut blocks: Vec<Block> = Vec::new();
        let mut groups = Vec::new();
        for axis in axes.iter().filter(|axis| axis.dimension() > 0) {
            let block = Block::new(axis, groups.len());
            groups.resize(block.coordinates().end, blocks.len());
            blocks.push(block);
        }
        if blocks.is_empty() {
            return Err(Error::NothingVaries { parameters: parameters.len() });
        }
        let mut space = Self { parameters, constraints, axes, blocks, groups, feasible: None };
        if !space.constraints.is_empty() {
            space.feasible = Some(Feasible::new(&space)?);
        }
        Ok(space)
    }

    /// The parameters, in the order they were given.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The number of coordinates.
    pub fn dimension(&self) -> usize {
        self.groups.len()
    }

    /// For each coordinate, the lengthscale it uses: the categories of a choice share one, every other coordinate has its
    /// own.
    pub(crate) fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// The parameters with more than one value, as coordinates that move together.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The parameters with more than one value, in order: what lengthscales are for.
    pub fn varying(&self) -> impl Iterator<Item = &Parameter> {
        let all = self.axes.iter().zip(&self.parameters);
        all.filter(|(axis, _)| axis.dimension() > 0).map(|(_, parameter)| parameter)
    }

    /// The coordinates of these values, one for each parameter; refuses what is not in the space.
    pub fn embed(&self, params: &[Value]) -> Result<Vec<f64>> {
        let coordinates = self.coordinates(params)?;
        match self.violated(params) {
            Some((constraint, by)) => Err(Error::Violated { constraint: constraint.clone(), by }),
            None => Ok(coordinates),
        }
    }

    /// As [`Space::embed`], for values that were measured: sums may miss the bounds of constraints by
    /// [`MEASURED_TOLERANCE`](crate::MEASURED_TOLERANCE). The coordinates are then the nearest that keep the constraints, with
    /// integers, levels and choices as they are.
    pub fn embed_measured(&self, params: &[Value]) -> Result<Vec<f64>> {
        let coordinates = self.coordinates(params)?;
        let Some((constraint, by)) = self.violated(params) else { return Ok(coordinates) };
        let nearest = self.nearest_within_measurement(params, &coordinates);
        nearest.ok_or_else(|| Error::Violated { constraint: constraint.clone(), by })
    }

    /// The nearest values that keep every constraint, with some parameters as they are; none if the others cannot compensate for them.
    ///
    /// ```
    /// # use manyhands_core::{Constraint, Parameter, Relation, Space};
    /// let parts = ["water", "salt"].map(|name| Parameter::float(name, 0.0, 1.0)).into_iter().collect::<Result<_, _>>()?;
    /// let terms = vec![("water".to_string(), 1.0), ("salt".to_string(), 1.0)];
    /// let mixture = Space::new(parts, vec![Constraint { terms, relation: Relation::Equals, bound: 1.0 }])?;
    /// let nearest = mixture.nearest_around(&[0.75.into(), 0.5.into()], &["water"])?.unwrap_or_default();
    /// assert_eq!(nearest[0], 0.75.into());
    /// assert!((nearest[1].number().unwrap_or(0.0) - 0.25).abs() < 1e-9);
    /// # Ok::<(), manyhands_core::Error>(())
    /// ```
    pub fn nearest_around(&self, params: &[Value], kept: &[&str]) -> Result<Option<Vec<Value>>> {
        let coordinates = self.coordinates(params)?;
        let block = |name: &&str| self.varying().position(|parameter| parameter.name() == *name);
        let Some(blocks) = kept.iter().map(block).collect::<Option<Vec<usize>>>() else { return Ok(None) };
        Ok(self.repair_around(&coordinates, &blocks).map(|nearest| self.params(&nearest)))
    }

    /// The coordinates of these values, constraints aside.
    fn coordinates(&self, params: &[Value]) -> Result<Vec<f64>> {
        if params.len() != self.parameters.len() {
            return Err(Error::ParameterCount { expected: self.parameters.len(), given: params.len() });
        }
        let mut coordinates = Vec::with_capacity(self.dimension());
        for ((axis, parameter), value) in self.axes.iter().zip(&self.parameters).zip(params) {
            axis.embed(parameter, value, &mut coordinates)?;
        }
        Ok(coordinates)
    }

    /// The valid values nearest to these coordinates, constraints aside. Ends of the unit interval are exactly the bounds.
    ///
    /// Panics, as a slice does, if there are fewer coordinates than the space has.
    pub fn params(&self, coordinates: &[f64]) -> Vec<Value> {
        self.parts(coordinates).map(|(axis, part)| axis.value(part)).collect()
    }

    /// As [`Space::params`], as the log has them: there every level is a float, whether or not the study file writes it as
    /// an integer. So a log does not depend on how levels are written, and those of older versions are alike.
    pub(crate) fn logged(&self, coordinates: &[f64]) -> Vec<Value> {
        let logged = |(parameter, value): (&Parameter, Value)| match (parameter.kind(), value) {
            (Kind::IntLevels(_), Value::Int(level)) => Value::Float(level as f64),
            (_, value) => value,
        };
        self.parameters.iter().zip(self.params(coordinates)).map(logged).collect()
    }

    /// Whether the parameter at this position can have any number between its bounds.
    pub(crate) fn is_continuous(&self, index: usize) -> bool {
        matches!(self.axes.get(index), Some(CubeAxis::Line(_)))
    }

    /// Values from the log as a user writes them.
    pub(crate) fn user_params(&self, logged: &[Value]) -> Vec<Value> {
        let value = |((axis, parameter), value): ((&CubeAxis, &Parameter), &Value)| match parameter.kind() {
            Kind::IntLevels(_) => value.number().and_then(|number| axis.nearest(number)),
            _ => None,
        };
        let own = self.axes.iter().zip(&self.parameters).zip(logged);
        own.map(|pair| value(pair).unwrap_or_else(|| pair.1.clone())).collect()
    }

    /// The coordinates of the nearest valid values, constraints aside; snapping twice changes nothing.
    ///
    /// Panics, as a slice does, if there are fewer coordinates than the space has.
    pub(crate) fn snap(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut snapped = Vec::with_capacity(self.dimension());
        self.parts(coordinates).for_each(|(axis, part)| axis.snap(part, &mut snapped));
        snapped
    }

    /// How many numbers [`from_cube`](Self::from_cube) reads: one for each parameter with more than one value.
    pub(crate) fn cube_dimension(&self) -> usize {
        self.blocks.len()
    }

    /// Coordinates of valid values from a point of the unit cube [0, 1)^k, constraints aside: uniform points give uniform
    /// values on each parameter's scale, every integer, level or category as likely as the next.
    // It maps a point into this space; it does not make a space.
    #[allow(clippy::wrong_self_convention)]
    pub(crate) fn from_cube(&self, u: &[f64]) -> Vec<f64> {
        let mut coordinates = Vec::with_capacity(self.dimension());
        let varying = self.axes.iter().filter(|axis| axis.dimension() > 0);
        varying.zip(u).for_each(|(axis, &u)| axis.place(u, &mut coordinates));
        coordinates
    }

    /// The first coordinate of each parameter.
    fn starts(&self) -> Vec<usize> {
        let dimension = |start: &mut usize, axis: &CubeAxis| {
            let own = *start;
            *start += axis.dimension();
            Some(own)
        };
        self.axes.iter().scan(0, dimension).collect()
    }

    /// Each axis with its own coordinates.
    fn parts<'a>(&'a self, mut coordinates: &'a [f64]) -> impl Iterator<Item = (&'a CubeAxis, &'a [f64])> {
        self.axes.iter().map(move |axis| {
            let (own, rest) = coordinates.split_at(axis.dimension());
            coordinates = rest;
            (axis, own)
        })
    }
}
