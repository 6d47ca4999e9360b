//! The maximum of a score over a space: candidates first, then climbs of the best ones and exchanges of what is discrete.

mod ascent;
mod descending;
mod quasirandom;

pub(crate) use descending::descending;
pub(crate) use quasirandom::{Quasirandom, even_points};

use manyhands_gp::{Prior, climb};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Space;
use crate::space::Block;
use crate::tuning::{CHANGED_DRAW, DISTINCT_STARTS, EXCHANGE_ROUNDS, NEIGHBOUR_STEPS};

/// The lengthscale of each coordinate, the unit of distances.
pub(crate) fn lengthscales(prior: &Prior, dimension: usize) -> Vec<f64> {
    match prior.kernel().lengthscales() {
        [shared] => vec![*shared; dimension],
        each => (0..dimension).map(|j| each.get(j).copied().unwrap_or(1.0)).collect(),
    }
}

/// The largest prior variance: where every parameter is as far from 0 as it can be, which is what the linear kernel's grows with.
/// Constraints may leave less.
pub(crate) fn largest_variance(space: &Space, prior: &Prior) -> f64 {
    let kernel = prior.kernel();
    let mut farthest = vec![1.0; space.dimension()];
    for block in space.blocks() {
        let mut largest = f64::NEG_INFINITY;
        for option in block.options().into_iter().flatten() {
            let mut point = vec![0.0; farthest.len()];
            point[block.coordinates()].copy_from_slice(option);
            if kernel.variance_at(&point) > largest {
                largest = kernel.variance_at(&point);
                farthest[block.coordinates()].copy_from_slice(option);
            }
        }
    }
    kernel.variance_at(&farthest)
}

/// A point of the space and its score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Maximum {
    pub point: Vec<f64>,
    pub score: f64,
}

/// How a score is maximized.
#[derive(Debug, Clone)]
pub(crate) struct Search<'a> {
    pub space: &'a Space,
    /// The lengthscale of each coordinate, the unit of distances.
    pub lengthscales: &'a [f64],
    /// How many of the best candidates are climbed from.
    pub starts: usize,
    /// The most evaluations in one climb.
    pub evaluations: usize,
}

impl Search<'_> {
    /// Neighbours of good points at several distances: candidates in addition to the quasi-random ones.
    pub fn neighbours(&self, centres: &[Vec<f64>], count: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        let around = |(k, centre): (usize, &Vec<f64>)| {
            let step = NEIGHBOUR_STEPS[k % NEIGHBOUR_STEPS.len()];
            let mut moved = centre.clone();
            for block in self.space.blocks() {
                self.move_block(block, &mut moved, step, rng);
            }
            let snapped = self.space.snap(&moved);
            if self.space.feasible(&snapped) { snapped } else { self.space.repair(&snapped) }
        };
        centres.iter().cycle().take(if centres.is_empty() { 0 } else { count }).enumerate().map(around).collect()
    }

    fn move_block(&self, block: &Block, point: &mut [f64], step: f64, rng: &mut impl Rng) {
        let range = block.coordinates();
        let normal: f64 = StandardNormal.sample(rng);
        if block.is_continuous() {
            let j = range.start;
            point[j] = (point[j] + step * self.lengthscales[j].min(1.0) * normal).clamp(0.0, 1.0);
        } else if normal.abs() > CHANGED_DRAW {
            let options = block.neighbours(&point[range.clone()]);
            if let Some(option) = options.get((rng.next_u64() % options.len().max(1) as u64) as usize) {
                point[range].copy_from_slice(option);
            }
        }
    }

    /// The best point that climbs from the best candidates reach; none if no score is finite. `scores` belong to
    /// `candidates`, in order. `objective` returns the score at a point and sets its gradient in the coordinates.
    pub fn maximize<'c>(
        &self,
        candidates: impl Fn(usize) -> &'c [f64],
        scores: &[f64],
        objective: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Option<Maximum> {
        let mut starts: Vec<&[f64]> = Vec::new();
        for i in descending(scores).filter(|&i| scores[i].is_finite()) {
            let candidate = candidates(i);
            if starts.iter().all(|start| self.distance(start, candidate) > DISTINCT_STARTS) {
                starts.push(candidate);
            }
            if starts.len() >= self.starts.max(1) {
                break;
            }
        }
        let mut best: Option<Maximum> = None;
        for start in starts {
            let maximum = self.improve(start, objective);
            if best.as_ref().is_none_or(|b| maximum.score > b.score) {
                best = Some(maximum);
            }
        }
        // A candidate's score is right up to rounding: at the edge of a region its own may not be finite.
        best.filter(|maximum| maximum.score.is_finite())
    }

    /// Squared, in lengthscales.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(self.lengthscales).map(|((a, b), l)| ((a - b) / l).powi(2)).sum()
    }

    /// Climbs and exchanges in turn, until neither helps.
    fn improve(&self, start: &[f64], objective: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> Maximum {
        // The score is not computed here: every climb evaluates its start first.
        let mut maximum = Maximum { point: start.to_vec(), score: f64::NEG_INFINITY };
        let discrete = self.space.blocks().iter().any(|block| !block.is_continuous());
        for _ in 0..EXCHANGE_ROUNDS {
            self.climb(&mut maximum, objective);
            if !discrete || !self.exchange(&mut maximum, objective) {
                break;
            }
        }
        maximum
    }

    /// Climbs along the continuous coordinates, and sets the score of a point that has none yet.
    fn climb(&self, maximum: &mut Maximum, objective: &mut impl FnMut(&[f64], &mut [f64]) -> f64) {
        if !self.space.constraints().is_empty() {
            ascent::climb(self.space, maximum, self.evaluations, objective);
            return;
        }
        let blocks = self.space.blocks().iter().filter(|block| block.is_continuous());
        let free: Vec<usize> = blocks.map(|block| block.coordinates().start).collect();
        let (mut point, mut gradient) = (maximum.point.clone(), vec![0.0; maximum.point.len()]);
        if free.is_empty() {
            if maximum.score == f64::NEG_INFINITY {
                maximum.score = objective(&point, &mut gradient);
            }
            return;
        }
        // L-BFGS-B moves the continuous coordinates only; `point` holds the discrete ones fixed.
        let start: Vec<f64> = free.iter().map(|&j| point[j]).collect();
        let mut first = None;
        let peak = climb(&start, &vec![(0.0, 1.0); free.len()], self.evaluations, |x, slope| {
            free.iter().zip(x).for_each(|(&j, value)| point[j] = *value);
            let score = objective(&point, &mut gradient);
            free.iter().zip(slope).for_each(|(&j, slot)| *slot = gradient[j]);
            first = first.or(Some(score));
            score
        });
        maximum.score = first.unwrap_or(maximum.score);
        free.iter().zip(&peak.point).for_each(|(&j, value)| point[j] = *value);
        let snapped = self.space.snap(&point);
        let score = if snapped == point { peak.value } else { objective(&snapped, &mut gradient) };
        if score > maximum.score {
            *maximum = Maximum { point: snapped, score };
        }
    }

    /// Tries other settings of every discrete parameter; whether one was better.
    fn exchange(&self, maximum: &mut Maximum, objective: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> bool {
        let (mut better, mut gradient) = (false, vec![0.0; maximum.point.len()]);
        for (index, block) in self.space.blocks().iter().enumerate().filter(|(_, block)| !block.is_continuous()) {
            let range = block.coordinates();
            for option in block.neighbours(&maximum.point[range.clone()]) {
                let mut point = maximum.point.clone();
                point[range.clone()].copy_from_slice(&option);
                let kept = if self.space.constraints().is_empty() {
                    Some(point)
                } else {
                    self.space.repair_around(&point, &[index])
                };
                let Some(point) = kept else { continue };
                let score = objective(&point, &mut gradient);
                if score > maximum.score {
                    (*maximum, better) = (Maximum { point, score }, true);
                }
            }
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameter;

    fn looks(parameters: Vec<Parameter>, start: &[f64]) -> (Maximum, Vec<Vec<f64>>) {
        let space = Space::new(parameters, vec![]).unwrap();
        let search = Search { space: &space, lengthscales: &vec![1.0; start.len()], starts: 1, evaluations: 20 };
        let mut seen: Vec<Vec<f64>> = vec![];
        let mut objective = |x: &[f64], gradient: &mut [f64]| {
            seen.push(x.to_vec());
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -2.0 * (x - 0.25));
            -x.iter().map(|x| (x - 0.25).powi(2)).sum::<f64>()
        };
        let maximum = search.maximize(|_| start, &[0.0], &mut objective).unwrap();
        (maximum, seen)
    }

    #[test]
    fn a_climb_evaluates_its_start_once_and_keeps_its_score() {
        let float = |name: &str| Parameter::float(name, 0.0, 1.0).unwrap();
        let (maximum, seen) = looks(vec![float("x"), float("y")], &[0.9, 0.1]);
        assert!(maximum.score > -1e-12 && maximum.point.iter().all(|x| (x - 0.25).abs() < 1e-6), "{maximum:?}");
        assert_eq!(seen.iter().filter(|x| **x == [0.9, 0.1]).count(), 1);
        let (maximum, seen) = looks(vec![float("x"), float("y")], &[0.25, 0.25]);
        assert_eq!((maximum.score, maximum.point), (0.0, vec![0.25, 0.25]));
        assert_eq!(seen.iter().filter(|x| **x == [0.25, 0.25]).count(), 1);
    }

    #[test]
    fn where_nothing_is_continuous_the_start_has_its_score_too() {
        let (maximum, seen) = looks(vec![Parameter::int("n", 0, 1).unwrap()], &[0.0]);
        assert_eq!((maximum.score, maximum.point), (-0.0625, vec![0.0]));
        assert_eq!(seen, [[0.0], [1.0]]);
    }
}
