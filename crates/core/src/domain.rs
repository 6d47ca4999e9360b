//! What may be chosen: lists, tables, grids, the appendix's cube, spaces of parameters.

use std::sync::Arc;

use manyhands_gp::{self as gp, Grid, Kernel, Points, has_structure, most_sampled_without_structure};

use crate::tuning::{DEFAULT_MEMORY, FINITE_GRID_POINTS, FINITE_POINTS};
use crate::{Coordinates, Error, Pool, Result, Space, Value};

/// What may be chosen.
///
/// ```
/// use manyhands_core::gp::{Grid, Points};
/// use manyhands_core::{Domain, Parameter, Space};
/// # fn main() -> manyhands_core::Result<()> {
/// let list = Domain::Points(Points::from_rows(&[vec![0.1, 0.2], vec![0.5, 0.9]])?);
/// let grid = Domain::Grid(Grid::even(&[(0.0, 1.0, 50), (-1.0, 1.0, 50)])?);
/// let space = Domain::Space(Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?);
/// assert_eq!([list.dimension(), grid.dimension(), space.dimension()], [2, 2, 1]);
/// assert_eq!(space.names(), ["x"]);
/// # Ok(()) }
/// ```
#[doc(alias = "search space")]
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a study has one domain")]
pub enum Domain {
    /// A finite list of points, or the indices of a covariance matrix ([`Points::indices`]).
    Points(Points),
    /// A table of candidates, with names and values for the user and coordinates for the model.
    Pool(Arc<Pool>),
    /// A full grid.
    Grid(Grid),
    /// The cube [0, side]^dimension, replaced at round t by the discretization D_t of the paper's appendix: B L r d t^2
    /// evenly spaced points along every coordinate. For GP-BTS.
    Discretized {
        /// r.
        side: f64,
        /// d.
        dimension: usize,
    },
    /// Parameters, some of them continuous or all of them countable; the model sees their coordinates in the unit cube.
    Space(Space),
}

impl Domain {
    /// How many coordinates a point has.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Points(points) => points.dimension(),
            Self::Pool(pool) => pool.points().dimension(),
            Self::Grid(grid) => grid.axes().len(),
            Self::Discretized { dimension, .. } => *dimension,
            Self::Space(space) => space.dimension(),
        }
    }

    /// The candidates, if they are finitely many; a space counts as finite up to 16,384 points, or 1,048,576 on a grid.
    pub fn finite(&self) -> Option<gp::Domain> {
        match self {
            Self::Points(points) => Some(gp::Domain::Points(points.clone())),
            Self::Pool(pool) => Some(gp::Domain::Points(pool.points().clone())),
            Self::Grid(grid) => Some(gp::Domain::Grid(grid.clone())),
            Self::Discretized { .. } => None,
            Self::Space(space) => finite_space(space, FINITE_GRID_POINTS),
        }
    }

    /// The candidates that all of which can be computed again for every fit or sample: as [`Domain::finite`], but on grids of
    /// more than 16,384 points of a space only up to `largest_grid`, and where the kernel's family has structure on them.
    pub(crate) fn finite_recomputed(&self, kernel: &Kernel, largest_grid: usize) -> Option<gp::Domain> {
        let Self::Space(space) = self else { return self.finite() };
        let is_cheap = |domain: &gp::Domain| match domain {
            gp::Domain::Grid(grid) => grid.len() <= FINITE_POINTS || has_structure(kernel, grid, DEFAULT_MEMORY),
            gp::Domain::Points(_) => true,
        };
        finite_space(space, largest_grid).filter(is_cheap)
    }

    /// The parameters, if the domain is a space of them.
    pub fn space(&self) -> Option<&Space> {
        match self {
            Self::Space(space) => Some(space),
            _ => None,
        }
    }

    /// The list of candidates, if the domain is one.
    pub(crate) fn points(&self) -> Option<&Points> {
        match self {
            Self::Points(points) => Some(points),
            Self::Pool(pool) => Some(pool.points()),
            _ => None,
        }
    }

    /// Whether its points may be the indices of a covariance matrix.
    pub(crate) fn may_be_indices(&self) -> bool {
        match self {
            Self::Points(_) => true,
            Self::Pool(pool) => pool.seen_as() == Coordinates::Indices,
            _ => false,
        }
    }

    /// The names of the parameters or of the pool's columns, in their order; none where the domain has no names.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Space(space) => space.parameters().iter().map(|parameter| parameter.name()).collect(),
            Self::Pool(pool) => pool.names().collect(),
            Self::Points(_) | Self::Grid(_) | Self::Discretized { .. } => vec![],
        }
    }

    /// Whether a point cannot be named without a value of this name: a parameter with more than one value, or a column that is a
    /// coordinate.
    pub fn needs(&self, name: &str) -> bool {
        match self {
            Self::Space(space) => space.varying().any(|parameter| parameter.name() == name),
            Self::Pool(pool) => pool.has_coordinate(name),
            Self::Points(_) | Self::Grid(_) | Self::Discretized { .. } => false,
        }
    }

    /// Values in the order of the names, each with its name.
    pub fn named<'a>(&'a self, params: &'a [Value]) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.names().into_iter().zip(params)
    }

    /// The coordinates of named values; refuses what is not in the space. A pool has coordinates for any numbers.
    pub fn embed_named(&self, named: &[(String, Value)]) -> Result<Vec<f64>> {
        match self {
            Self::Space(space) => space.embed(&space.from_named(named)?),
            Self::Pool(pool) => pool.coordinates(named),
            Self::Points(_) | Self::Grid(_) | Self::Discretized { .. } => Err(Error::NoParameters),
        }
    }

    /// As [`Domain::named`], for values that a user gives: refused where the domain has no names, or another number of them.
    pub(crate) fn name_values(&self, params: &[Value]) -> Result<Vec<(String, Value)>> {
        let names = self.names();
        if names.is_empty() {
            return Err(Error::NoParameters);
        }
        if names.len() != params.len() {
            return Err(Error::ParameterCount { expected: names.len(), given: params.len() });
        }
        Ok(names.into_iter().map(str::to_string).zip(params.iter().cloned()).collect())
    }

    /// The values of a candidate, or of a point of a space, as a user writes them; none where the domain has no names.
    pub(crate) fn params(&self, candidate: Option<usize>, point: &[f64]) -> Vec<Value> {
        match (self, candidate) {
            (Self::Space(space), _) => space.params(point),
            (Self::Pool(pool), Some(candidate)) => pool.params(candidate).to_vec(),
            _ => vec![],
        }
    }

    /// The values of a point as an event records them; empty but on spaces, as elsewhere the candidate identifies the point.
    pub(crate) fn written_params(&self, point: &[f64]) -> Vec<Value> {
        self.space().map_or(vec![], |space| space.logged(point))
    }

    /// The point with these named values, which is one of the candidates if there are any; refused where it is not, or not in
    /// the space.
    pub(crate) fn find(&self, candidates: Option<&gp::Domain>, named: &[(String, Value)]) -> Result<NamedPoint> {
        self.find_by(candidates, named, Space::embed)
    }

    /// As [`Domain::find`], for a point that was measured: on a space that is not finite, sums may miss the bounds of
    /// constraints by [`MEASURED_TOLERANCE`](crate::MEASURED_TOLERANCE).
    pub(crate) fn find_measured(
        &self,
        candidates: Option<&gp::Domain>,
        named: &[(String, Value)],
    ) -> Result<NamedPoint> {
        match candidates {
            Some(_) => self.find(candidates, named),
            None => self.find_by(None, named, Space::embed_measured),
        }
    }

    fn find_by(
        &self,
        candidates: Option<&gp::Domain>,
        named: &[(String, Value)],
        embed: impl Fn(&Space, &[Value]) -> Result<Vec<f64>>,
    ) -> Result<NamedPoint> {
        match self {
            Self::Pool(pool) => Ok(NamedPoint { candidate: Some(pool.find(named)?), params: vec![] }),
            Self::Space(space) => {
                let given = space.from_named(named)?;
                let point = embed(space, &given)?;
                let candidate = candidates.map(|candidates| candidate_at(candidates, &point)).transpose()?;
                // Normalized as the study itself writes values (3 for 3.0), except that a continuous value keeps its exact
                // bits.
                let written = |(index, (own, given)): (usize, (Value, &Value))| match (own, given.number()) {
                    (Value::Float(_), Some(number)) if space.is_continuous(index) => Value::Float(number),
                    (own, _) => own,
                };
                let values = self.written_params(&point).into_iter().zip(&given);
                let params = values.enumerate().map(written).collect();
                Ok(NamedPoint { candidate, params })
            }
            Self::Points(_) | Self::Grid(_) | Self::Discretized { .. } => Err(Error::NoParameters),
        }
    }

    /// The values of a trial's parameters, given its candidate and its logged values.
    pub fn logged_params(&self, candidate: usize, logged: &[Value]) -> Vec<Value> {
        match self {
            Self::Pool(pool) if candidate < pool.len() => pool.params(candidate).to_vec(),
            Self::Space(space) => space.user_params(logged),
            _ => logged.to_vec(),
        }
    }

    /// For each coordinate, the lengthscale that it uses when the model is learned.
    pub(crate) fn groups(&self) -> Vec<usize> {
        self.space().map_or_else(|| (0..self.dimension()).collect(), |space| space.groups().to_vec())
    }

    /// How many lengthscales there are when the model is learned: one for each parameter.
    pub(crate) fn parameters(&self) -> usize {
        self.groups().iter().max().map_or(1, |g| g + 1)
    }

    /// Whether a parameter is a choice among categories, which have several coordinates together.
    pub(crate) fn has_choices(&self) -> bool {
        self.space().is_some_and(|space| space.groups().len() > self.parameters())
    }

    /// Whether its candidates are a list.
    pub(crate) fn is_list(&self) -> bool {
        self.points().is_some()
    }

    /// The extent of each coordinate; learned lengthscales are relative to it.
    pub(crate) fn extents(&self) -> Vec<f64> {
        let extent = |values: &mut dyn Iterator<Item = f64>| {
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            if high > low { high - low } else { 1.0 }
        };
        let each =
            |points: &Points| (0..points.dimension()).map(|j| extent(&mut points.iter().map(|x| x[j]))).collect();
        match self {
            Self::Points(points) => each(points),
            Self::Pool(pool) => each(pool.points()),
            Self::Grid(grid) => grid.axes().iter().map(|axis| extent(&mut axis.iter().copied())).collect(),
            Self::Discretized { side, dimension } => vec![*side; *dimension],
            Self::Space(space) => vec![1.0; space.dimension()],
        }
    }
}

/// A point that a user names, as an event records it.
pub(crate) struct NamedPoint {
    /// The candidate's index in the domain; none where the domain is not finite.
    pub candidate: Option<usize>,
    /// The values as the study writes them; empty for pools: `candidate` identifies the row.
    pub params: Vec<Value>,
}

/// The candidate at this point; refused where there is none, naming the nearest.
pub(crate) fn candidate_at(domain: &gp::Domain, point: &[f64]) -> Result<usize> {
    if let gp::Domain::Grid(grid) = domain
        && let Some(candidate) = grid.index_of(point)
    {
        return Ok(candidate);
    }
    let (candidate, distance) = nearest((0..domain.len()).map(|i| domain.point(i)), point).unwrap_or_default();
    if distance == 0.0 && domain.dimension() == point.len() {
        return Ok(candidate);
    }
    Err(Error::NotACandidate { point: point.to_vec(), candidate, nearest: domain.point(candidate) })
}

/// The first of the nearest points, and its squared distance; none if there are no points.
pub(crate) fn nearest(points: impl Iterator<Item = impl AsRef<[f64]>>, point: &[f64]) -> Option<(usize, f64)> {
    let distance = |x: &[f64]| x.iter().zip(point).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    points.map(|x| distance(x.as_ref())).enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The points of a space, if they are few.
/// Whether exact samples over all candidates fit the memory: they have structure, or are few.
pub(crate) fn can_be_sampled(candidates: &gp::Domain, kernel: &Kernel, memory: usize) -> bool {
    let has_structure = match candidates {
        gp::Domain::Grid(grid) => has_structure(kernel, grid, memory),
        gp::Domain::Points(_) => false,
    };
    has_structure || candidates.len() <= most_sampled_without_structure(memory)
}

fn finite_space(space: &Space, largest_grid: usize) -> Option<gp::Domain> {
    // The size first: a single axis may have too many points to list.
    if space.size().is_some_and(|size| size <= largest_grid)
        && let Some(axes) = space.axes()
    {
        return Grid::new(axes).ok().map(gp::Domain::Grid);
    }
    let coordinates =
        space.candidates(FINITE_POINTS)?.iter().map(|params| space.embed(params).ok()).collect::<Option<Vec<_>>>()?;
    Points::from_rows(&coordinates).ok().map(gp::Domain::Points)
}
