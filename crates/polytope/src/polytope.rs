//! The part of the unit cube that linear constraints leave: inner points, uniform samples, nearest points, ascent directions.
//!
//! | name | meaning |
//! |---|---|
//! | faces | the halfspaces and the 2n sides of the cube |
//! | frame | orthonormal rows that span the planes' weights |

use rand::{Rng, RngExt};

use crate::simplex::{LinearRow, Solved, maximize};

/// A face whose slack is below this is tight.
const TIGHT: f64 = 1e-9;

/// { x in [0, 1]^n : planes, halfspaces }.
///
/// Every row has `dimension` weights, of order 1, and points given to its functions have as many coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Polytope {
    /// n.
    pub dimension: usize,
    /// weights . x = bound.
    pub planes: Vec<LinearRow>,
    /// weights . x <= bound.
    pub halfspaces: Vec<LinearRow>,
}

/// What an ascent direction depends on, beside the gradient.
pub struct Local {
    /// The change of each x for a unit change of the coordinate in which gradient and direction are measured.
    pub stretch: Vec<f64>,
    /// The slack up to which a face is active.
    pub touching: f64,
}

impl Polytope {
    /// The same with coordinate `column` set to a number and left out.
    pub fn fix(&self, column: usize, value: f64) -> Self {
        let without = |row: &LinearRow| {
            let mut weights = row.weights.clone();
            let weight = weights.remove(column);
            LinearRow { weights, bound: row.bound - weight * value }
        };
        Self {
            dimension: self.dimension - 1,
            planes: self.planes.iter().map(without).collect(),
            halfspaces: self.halfspaces.iter().map(without).collect(),
        }
    }

    /// The smallest and largest value of a coordinate; None if the polytope is empty.
    pub fn range(&self, column: usize) -> Solved<(f64, f64)> {
        let mut objective = vec![0.0; self.dimension];
        objective[column] = -1.0;
        let Some(lowest) = maximize(&objective, &self.planes, &self.halfspaces)? else { return Ok(None) };
        objective[column] = 1.0;
        let Some(highest) = maximize(&objective, &self.planes, &self.halfspaces)? else { return Ok(None) };
        Ok(Some((lowest[column], highest[column].max(lowest[column]))))
    }

    /// A point inside, and the polytope with those of its halfspaces that hold with equality everywhere among its planes.
    pub fn inside(&self) -> Solved<(Vec<f64>, Self)> {
        match self.centre()? {
            Some((centre, radius)) if radius > 1e-6 => Ok(Some((centre, self.clone()))),
            _ => self.relative_inside(),
        }
    }

    /// A point whose distance to all faces is large (Chebyshev's centre but for the planes), and that distance.
    fn centre(&self) -> Solved<(Vec<f64>, f64)> {
        let with_radius = |row: &LinearRow, factor: f64| {
            let weights = row.weights.iter().copied().chain([factor * norm(&row.weights)]).collect();
            LinearRow { weights, bound: row.bound }
        };
        let planes: Vec<LinearRow> = self.planes.iter().map(|row| with_radius(row, 0.0)).collect();
        let faces: Vec<LinearRow> = self.faces().iter().map(|row| with_radius(row, 1.0)).collect();
        let mut objective = vec![0.0; self.dimension + 1];
        objective[self.dimension] = 1.0;
        let radius_last = |mut centre: Vec<f64>| centre.pop().map(|radius| (centre, radius));
        Ok(maximize(&objective, &planes, &faces)?.and_then(radius_last))
    }

    /// The mean of points that are each as far as possible from one face: inside unless a face has no point off it.
    fn relative_inside(&self) -> Solved<(Vec<f64>, Self)> {
        let mut flat = self.clone();
        let mut sum = vec![0.0; self.dimension];
        let faces = self.faces();
        for face in &faces {
            let away: Vec<f64> = face.weights.iter().map(|weight| -weight).collect();
            let Some(point) = maximize(&away, &self.planes, &self.halfspaces)? else { return Ok(None) };
            if face.bound - dot(&face.weights, &point) <= TIGHT {
                flat.planes.push(face.clone());
            }
            sum.iter_mut().zip(&point).for_each(|(sum, x)| *sum += x);
        }
        Ok(Some((sum.iter().map(|sum| sum / faces.len() as f64).collect(), flat)))
    }

    /// An approximately uniform point: hit-and-run (Smith 1984) from a point inside, with so many steps for each dimension.
    pub fn sample(&self, rng: &mut dyn Rng, steps: usize) -> Solved<Vec<f64>> {
        let Some((mut x, flat)) = self.inside()? else { return Ok(None) };
        let (frame, faces) = (flat.frame(), flat.faces());
        let mut direction = vec![0.0; self.dimension];
        for _ in 0..steps * (self.dimension + 1) {
            direction.fill_with(|| rng.random_range(-1.0..1.0));
            reject(&mut direction, &frame);
            if norm(&direction) < 1e-6 {
                continue;
            }
            let (behind, ahead) = extent(&faces, &x, &direction);
            let t = -behind + (ahead + behind) * rng.random::<f64>();
            x.iter_mut().zip(&direction).for_each(|(x, d)| *x += t * d);
        }
        Ok(Some(flat.settle(x)))
    }

    /// A point near the target: its projection by so many rounds of Dykstra's algorithm, then moved towards a point inside
    /// until every constraint holds.
    pub fn nearest(&self, target: &[f64], rounds: usize) -> Solved<Vec<f64>> {
        let Some((inside, flat)) = self.inside()? else { return Ok(None) };
        let (frame, faces) = (flat.frame(), self.faces());
        let squares: Vec<f64> = faces.iter().map(|face| dot(&face.weights, &face.weights)).collect();
        let mut x = target.to_vec();
        // Dykstra's corrections, one multiplier per face: without them alternating projections end at a feasible point that
        // is not the nearest.
        let mut pushes = vec![0.0; faces.len()];
        for _ in 0..rounds {
            onto_planes(&mut x, &frame);
            for ((face, square), push) in faces.iter().zip(&squares).zip(&mut pushes).filter(|((_, s), _)| **s != 0.0) {
                let over = (dot(&face.weights, &x) - face.bound) / square + *push;
                let change = *push - over.max(0.0);
                x.iter_mut().zip(&face.weights).for_each(|(x, weight)| *x += change * weight);
                *push = over.max(0.0);
            }
        }
        onto_planes(&mut x, &frame);
        let outward: Vec<f64> = x.iter().zip(&inside).map(|(x, inside)| x - inside).collect();
        let (_, ahead) = extent(&faces, &inside, &outward);
        let share = ahead.min(1.0);
        Ok(Some(flat.settle(inside.iter().zip(&outward).map(|(inside, out)| inside + share * out).collect())))
    }

    /// The point moved back onto the planes and into the cube, against rounding.
    pub fn settle(&self, mut x: Vec<f64>) -> Vec<f64> {
        onto_planes(&mut x, &self.frame());
        x.iter().map(|x| x.clamp(0.0, 1.0)).collect()
    }

    /// How far from x one can go along a direction; infinite if nothing is in the way.
    pub fn reach(&self, x: &[f64], direction: &[f64]) -> f64 {
        extent(&self.faces(), x, direction).1
    }

    /// The steepest ascent direction along `gradient` that leaves no face and no plane, to first order.
    pub fn ascent(&self, x: &[f64], gradient: &[f64], local: Local) -> Vec<f64> {
        let stretched =
            |row: &LinearRow| row.weights.iter().zip(&local.stretch).map(|(weight, s)| weight * s).collect();
        let planes: Vec<Vec<f64>> = self.planes.iter().map(stretched).collect();
        let tight = |face: &&LinearRow| face.bound - dot(&face.weights, x) <= local.touching;
        let active: Vec<Vec<f64>> = self.faces().iter().filter(tight).map(stretched).collect();
        onto_cone(gradient, &planes, &active)
    }

    fn frame(&self) -> Vec<LinearRow> {
        frame(self.planes.iter())
    }

    fn faces(&self) -> Vec<LinearRow> {
        let side = |column: usize, weight: f64, bound: f64| {
            let mut weights = vec![0.0; self.dimension];
            weights[column] = weight;
            LinearRow { weights, bound }
        };
        let sides = (0..self.dimension).flat_map(|j| [side(j, -1.0, 0.0), side(j, 1.0, 1.0)]);
        self.halfspaces.iter().cloned().chain(sides).collect()
    }
}

/// The projection of a gradient onto the directions with row . d = 0 for every plane and row . d <= 0 for every active
/// face. An active-set method: violated faces are added one by one, and removed again where that gains.
fn onto_cone(gradient: &[f64], planes: &[Vec<f64>], active: &[Vec<f64>]) -> Vec<f64> {
    let along = |working: &[usize]| {
        let rows = planes.iter().chain(working.iter().map(|&i| &active[i]));
        let rows: Vec<LinearRow> = rows.map(|weights| LinearRow { weights: weights.clone(), bound: 0.0 }).collect();
        let mut direction = gradient.to_vec();
        reject(&mut direction, &frame(rows.iter()));
        direction
    };
    let allowance = 1e-12 * norm(gradient);
    let crossing = |d: &[f64], i: usize| dot(&active[i], d) / norm(&active[i]).max(f64::MIN_POSITIVE);
    let worst = |d: &[f64]| {
        let crossed = (0..active.len()).filter(|&i| crossing(d, i) > allowance);
        crossed.max_by(|&a, &b| crossing(d, a).total_cmp(&crossing(d, b)))
    };
    let mut working = Vec::new();
    let mut direction = along(&working);
    while let Some(i) = worst(&direction).filter(|i| !working.contains(i)) {
        working.push(i);
        direction = along(&working);
    }
    let mut position = 0;
    while position < working.len() {
        let mut fewer = working.clone();
        fewer.remove(position);
        let freer = along(&fewer);
        if worst(&freer).is_none() && norm(&freer) > norm(&direction) {
            (working, direction, position) = (fewer, freer, 0);
        } else {
            position += 1;
        }
    }
    // At a local optimum the projection is zero up to rounding.
    if norm(&direction) <= 1e-10 * norm(gradient) { vec![0.0; direction.len()] } else { direction }
}

/// Orthonormal rows that span the same planes, by Gram and Schmidt, twice; dependent rows are left out.
fn frame<'a>(rows: impl Iterator<Item = &'a LinearRow>) -> Vec<LinearRow> {
    let mut frame: Vec<LinearRow> = Vec::new();
    for row in rows {
        let mut next = row.clone();
        for _ in 0..2 {
            for done in &frame {
                let share = dot(&done.weights, &next.weights);
                next.weights.iter_mut().zip(&done.weights).for_each(|(weight, d)| *weight -= share * d);
                next.bound -= share * done.bound;
            }
        }
        let length = norm(&next.weights);
        if length > 1e-10 * norm(&row.weights) {
            next.weights.iter_mut().for_each(|weight| *weight /= length);
            next.bound /= length;
            frame.push(next);
        }
    }
    frame
}

/// Moves a point onto the planes of a frame.
fn onto_planes(x: &mut [f64], frame: &[LinearRow]) {
    // Planes may meet at a sharp angle; a second round removes the rounding error of the first.
    for _ in 0..2 {
        for row in frame {
            let off = row.bound - dot(&row.weights, x);
            x.iter_mut().zip(&row.weights).for_each(|(x, weight)| *x += off * weight);
        }
    }
}

/// Leaves the component of a vector that is orthogonal to the frame.
fn reject(vector: &mut [f64], frame: &[LinearRow]) {
    for row in frame {
        let share = dot(&row.weights, vector);
        vector.iter_mut().zip(&row.weights).for_each(|(entry, weight)| *entry -= share * weight);
    }
}

/// How far from x one can go against a direction, and along it, before a face stops it.
fn extent(faces: &[LinearRow], x: &[f64], direction: &[f64]) -> (f64, f64) {
    let length = norm(direction);
    let (mut behind, mut ahead) = (f64::INFINITY, f64::INFINITY);
    for face in faces {
        let speed = dot(&face.weights, direction);
        if speed.abs() > 1e-11 * length * norm(&face.weights) {
            let slack = (face.bound - dot(&face.weights, x)).max(0.0);
            let side = if speed > 0.0 { &mut ahead } else { &mut behind };
            *side = side.min(slack / speed.abs());
        }
    }
    (behind, ahead)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn simplex(n: usize) -> Polytope {
        let planes = vec![LinearRow { weights: vec![1.0; n], bound: 1.0 }];
        Polytope { dimension: n, planes, halfspaces: vec![] }
    }

    #[test]
    fn a_mixture_is_sampled_with_the_moments_of_the_flat_dirichlet() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        for n in [2, 3, 10] {
            let draws: Vec<f64> = (0..4000).map(|_| simplex(n).sample(rng, 16).unwrap().unwrap()[0]).collect();
            let mean = draws.iter().sum::<f64>() / 4000.0;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
            let n = n as f64;
            let exact = (n - 1.0) / (n * n * (n + 1.0));
            assert!((mean - 1.0 / n).abs() < 5.0 * (exact / 4000.0).sqrt(), "{n}: {mean}");
            assert!((variance / exact - 1.0).abs() < 0.15, "{n}: {variance} against {exact}");
        }
    }

    #[test]
    fn the_nearest_point_of_a_mixture_is_its_projection() {
        let near = simplex(3).nearest(&[0.9, 0.5, 0.0], 50).unwrap().unwrap();
        for (x, exact) in near.iter().zip([0.7, 0.3, 0.0]) {
            assert!((x - exact).abs() < 1e-6, "{near:?}");
        }
    }

    #[test]
    fn a_polytope_that_is_flat_without_saying_so_has_a_point_inside() {
        // x + y <= 0 leaves x = y = 0; z is free.
        let halfspaces = vec![LinearRow { weights: vec![1.0, 1.0, 0.0], bound: 0.0 }];
        let flat = Polytope { dimension: 3, planes: vec![], halfspaces };
        let (inside, _) = flat.inside().unwrap().unwrap();
        assert!(inside[0].abs() + inside[1].abs() < 1e-9 && inside[2] > 0.05 && inside[2] < 0.95, "{inside:?}");
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let draws: Vec<f64> = (0..100).map(|_| flat.sample(rng, 16).unwrap().unwrap()[2]).collect();
        assert!(draws.iter().any(|z| *z < 0.2) && draws.iter().any(|z| *z > 0.8));
    }

    #[test]
    fn uphill_is_the_projection_onto_the_cone_that_the_active_faces_leave() {
        // The cone between two faces at a sharp angle; the gradient lies beyond the second one only.
        let active = [vec![1.0, 0.1], vec![1.0, -0.1]];
        let way = onto_cone(&[1.0, -5.0], &[], &active);
        let along = [-0.1, -1.0].map(|x: f64| x / 1.01f64.sqrt());
        let length = -along[1] * 5.0 + along[0];
        assert!((way[0] - length * along[0]).abs() < 1e-12 && (way[1] - length * along[1]).abs() < 1e-12, "{way:?}");
        assert_eq!(onto_cone(&[1.0, 0.0], &[], &active), [0.0, 0.0]);
    }
}
