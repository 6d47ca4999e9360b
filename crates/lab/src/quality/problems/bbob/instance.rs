//! One instance of one function: its best point and value, and how far other values are from it.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | f | `function` | its number, from 1 to 24 |
//! | f_opt | `best_value` | the smallest value |
//! | x_opt | `best_point` | where it is |
//! | f(x) - f_opt | `excess` | what the groups of functions define |
//! | Q, R | [`InstanceDraws::q`], [`InstanceDraws::r`] | rotations |
//!
//! Where the report has two rotations, Q on the left and R on the right, COCO draws the left one with a later seed: here
//! R is the one of the later seed, Q that of the instance's own. The penalty of points outside of the box is left out,
//! since they are refused.

use std::fmt::{Debug, Formatter};

use super::random::{Rotation, best_point, best_value};
use super::{gallagher, ill_conditioned, moderate, multimodal, separable, weak};
use crate::{Error, Result};

/// The largest number of an instance; with more, COCO's seeds would leave the range of its generator.
pub const INSTANCES: u64 = 200_000;

/// f(x) - f_opt; the number of coordinates is that of the best point.
type Excess = Box<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// A function without its best value.
pub struct Landscape {
    best_point: Vec<f64>,
    excess: Excess,
}

impl Landscape {
    /// With the best point, and what is added to the best value elsewhere.
    pub fn new(best_point: Vec<f64>, excess: impl Fn(&[f64]) -> f64 + Send + Sync + 'static) -> Self {
        Self { best_point, excess: Box::new(excess) }
    }
}

/// The dimension and the seed that everything is drawn with.
#[derive(Debug, Clone, Copy)]
pub struct InstanceDraws {
    /// How many coordinates there are, at least 2.
    pub dimension: usize,
    /// 10,000 times the instance and the function's number, or that of the function it shares its random numbers with.
    pub seed: i64,
}

/// What is added to the seed for further matrices and points.
const FURTHER: i64 = 1_000_000;

impl InstanceDraws {
    /// The usual best point.
    pub fn best_point(self) -> Vec<f64> {
        best_point(self.dimension, self.seed)
    }

    /// The best point of the seed that [`r`](Self::r) is drawn with.
    pub fn further_best_point(self) -> Vec<f64> {
        best_point(self.dimension, self.seed + FURTHER)
    }

    /// The rotation of the seed itself.
    pub fn q(self) -> Rotation {
        Rotation::new(self.dimension, self.seed)
    }

    /// The second rotation.
    pub fn r(self) -> Rotation {
        Rotation::new(self.dimension, self.seed + FURTHER)
    }
}

/// One instance of one function.
pub struct BbobInstance {
    function: usize,
    landscape: Landscape,
    best_value: f64,
}

impl BbobInstance {
    /// The function of this number in at least two dimensions; instances are numbered from 1.
    pub fn new(function: usize, dimension: usize, instance: u64) -> Result<Self> {
        check("a BBOB function", "from 1 to 24".to_string(), function, (1..=24).contains(&function))?;
        check("the dimension of a BBOB function", "at least 2".to_string(), dimension, dimension >= 2)?;
        let allowed = (1..=INSTANCES).contains(&instance);
        check("the seed of a run on a BBOB function", format!("from 1 to {INSTANCES}"), instance, allowed)?;
        let seeded_like = match function {
            4 => 3,
            18 => 17,
            _ => function,
        };
        let draws = InstanceDraws { dimension, seed: seeded_like as i64 + 10_000 * instance as i64 };
        Ok(Self { function, landscape: landscape(function, draws), best_value: best_value(draws.seed) })
    }

    /// Another instance of the same function.
    pub fn numbered(&self, instance: u64) -> Result<Self> {
        Self::new(self.function, self.dimension(), instance)
    }

    /// The function's number.
    pub fn function(&self) -> usize {
        self.function
    }

    /// How many coordinates there are.
    pub fn dimension(&self) -> usize {
        self.landscape.best_point.len()
    }

    /// The best value.
    pub fn best_value(&self) -> f64 {
        self.best_value
    }

    /// Where it is.
    pub fn best_point(&self) -> &[f64] {
        &self.landscape.best_point
    }

    /// The value at a point of the box.
    pub fn value(&self, x: &[f64]) -> f64 {
        (self.landscape.excess)(x) + self.best_value
    }
}

impl Debug for BbobInstance {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("BbobInstance");
        shown.field("function", &self.function).field("best_point", &self.best_point());
        shown.field("best_value", &self.best_value).finish_non_exhaustive()
    }
}

fn check(setting: &'static str, allowed: String, value: impl ToString, is_allowed: bool) -> Result<()> {
    if is_allowed { Ok(()) } else { Err(Error::Setting { setting, allowed, value: value.to_string() }) }
}

/// The functions in the order of the report; the number is from 1 to 24.
fn landscape(function: usize, draws: InstanceDraws) -> Landscape {
    match function {
        1 => separable::sphere(draws),
        2 => separable::ellipsoid(draws),
        3 => separable::rastrigin(draws),
        4 => separable::bueche_rastrigin(draws),
        5 => separable::linear_slope(draws),
        6 => moderate::attractive_sector(draws),
        7 => moderate::step_ellipsoid(draws),
        8 => moderate::rosenbrock(draws),
        9 => moderate::rotated_rosenbrock(draws),
        10 => ill_conditioned::ellipsoid(draws),
        11 => ill_conditioned::discus(draws),
        12 => ill_conditioned::bent_cigar(draws),
        13 => ill_conditioned::sharp_ridge(draws),
        14 => ill_conditioned::different_powers(draws),
        15 => multimodal::rastrigin(draws),
        16 => multimodal::weierstrass(draws),
        17 => multimodal::schaffers_f7(draws, 10.0),
        18 => multimodal::schaffers_f7(draws, 1000.0),
        19 => multimodal::griewank_rosenbrock(draws),
        20 => weak::schwefel(draws),
        21 => gallagher::gallagher_101(draws),
        22 => gallagher::gallagher_21(draws),
        23 => weak::katsuura(draws),
        _ => weak::lunacek_bi_rastrigin(draws),
    }
}
