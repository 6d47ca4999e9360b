//! The maximum of a score over a space: candidates first, then climbs of the best ones and exchanges of what is discrete.

mod ascent;
mod quasirandom;

pub(crate) use quasirandom::Quasirandom;

use manyhands_gp::climb;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Space;
use crate::space::Block;

/// The most rounds of exchanges after a climb.
const ROUNDS: usize = 4;

/// Two starts closer than this, in squared lengthscales, climb to the same place.
const APART: f64 = 0.05;

/// How far neighbours are put, in lengthscales.
const STEPS: [f64; 4] = [0.3, 0.1, 0.03, 0.01];

/// A score at a point: returns its value and sets its gradient in the coordinates.
pub(crate) trait Hill {
    fn at(&mut self, point: &[f64], gradient: &mut [f64]) -> f64;
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Hill for F {
    fn at(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        self(point, gradient)
    }
}

/// A point of the space and its score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summit {
    pub point: Vec<f64>,
    pub score: f64,
}

/// How a score is maximized.
#[derive(Debug, Clone)]
pub(crate) struct Search<'a> {
    pub space: &'a Space,
    /// The lengthscale of each coordinate, by which distances are judged.
    pub lengthscales: &'a [f64],
    /// How many of the best candidates are climbed from.
    pub starts: usize,
    /// The most evaluations in one climb.
    pub evaluations: usize,
}

impl Search<'_> {
    /// Neighbours of good points, some farther than others: candidates beside the quasi-random ones.
    pub fn neighbours(&self, centres: &[Vec<f64>], count: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        let around = |(k, centre): (usize, &Vec<f64>)| {
            let step = STEPS[k % STEPS.len()];
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
        } else if normal.abs() > 1.0 {
            // About a third of the discrete parameters change.
            let options = block.neighbours(&point[range.clone()]);
            if let Some(option) = options.get((rng.next_u64() % options.len().max(1) as u64) as usize) {
                point[range].copy_from_slice(option);
            }
        }
    }

    /// The best point that climbs from the best candidates reach. `scores` belong to `candidates`, in order.
    pub fn maximize<'c>(
        &self,
        candidates: impl Fn(usize) -> &'c [f64],
        scores: &[f64],
        hill: &mut impl Hill,
    ) -> Option<Summit> {
        let mut order: Vec<usize> = (0..scores.len()).filter(|&i| scores[i].is_finite()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let mut starts: Vec<&[f64]> = Vec::new();
        for i in order {
            let candidate = candidates(i);
            if starts.iter().all(|start| self.distance(start, candidate) > APART) {
                starts.push(candidate);
            }
            if starts.len() >= self.starts.max(1) {
                break;
            }
        }
        let mut best: Option<Summit> = None;
        for start in starts {
            let summit = self.improve(start, hill);
            if best.as_ref().is_none_or(|b| summit.score > b.score) {
                best = Some(summit);
            }
        }
        best
    }

    /// Squared, in lengthscales.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(self.lengthscales).map(|((a, b), l)| ((a - b) / l).powi(2)).sum()
    }

    /// Climbs and exchanges in turn, until neither helps.
    fn improve(&self, start: &[f64], hill: &mut impl Hill) -> Summit {
        let mut gradient = vec![0.0; start.len()];
        let mut summit = Summit { point: start.to_vec(), score: hill.at(start, &mut gradient) };
        let discrete = self.space.blocks().iter().any(|block| !block.is_continuous());
        for _ in 0..ROUNDS {
            self.climb(&mut summit, hill);
            if !discrete || !self.exchange(&mut summit, hill) {
                break;
            }
        }
        summit
    }

    /// Climbs along the continuous coordinates.
    fn climb(&self, summit: &mut Summit, hill: &mut impl Hill) {
        if !self.space.constraints().is_empty() {
            ascent::climb(self.space, summit, self.evaluations, hill);
            return;
        }
        let blocks = self.space.blocks().iter().filter(|block| block.is_continuous());
        let free: Vec<usize> = blocks.map(|block| block.coordinates().start).collect();
        if free.is_empty() {
            return;
        }
        let (mut point, mut gradient) = (summit.point.clone(), vec![0.0; summit.point.len()]);
        let start: Vec<f64> = free.iter().map(|&j| point[j]).collect();
        let peak = climb(&start, &vec![(0.0, 1.0); free.len()], self.evaluations, |x, slope| {
            free.iter().zip(x).for_each(|(&j, value)| point[j] = *value);
            let score = hill.at(&point, &mut gradient);
            free.iter().zip(slope).for_each(|(&j, slot)| *slot = gradient[j]);
            score
        });
        free.iter().zip(&peak.point).for_each(|(&j, value)| point[j] = *value);
        let snapped = self.space.snap(&point);
        let score = hill.at(&snapped, &mut gradient);
        if score > summit.score {
            *summit = Summit { point: snapped, score };
        }
    }

    /// Tries other settings of every discrete parameter; whether one was better.
    fn exchange(&self, summit: &mut Summit, hill: &mut impl Hill) -> bool {
        let (mut better, mut gradient) = (false, vec![0.0; summit.point.len()]);
        for (index, block) in self.space.blocks().iter().enumerate().filter(|(_, block)| !block.is_continuous()) {
            let range = block.coordinates();
            for option in block.neighbours(&summit.point[range.clone()]) {
                let mut point = summit.point.clone();
                point[range.clone()].copy_from_slice(&option);
                let kept = if self.space.constraints().is_empty() {
                    Some(point)
                } else {
                    self.space.repair_around(&point, index)
                };
                let Some(point) = kept else { continue };
                let score = hill.at(&point, &mut gradient);
                if score > summit.score {
                    (*summit, better) = (Summit { point, score }, true);
                }
            }
        }
        better
    }
}
