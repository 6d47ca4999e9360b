//! A study in miniature, with the argmax by brute force, for the tests of finite domains.

use std::sync::Arc;

use manyhands_gp::{
    Acquisition, ConfidenceBound, Domain, Kernel, Maximizer, Posterior, Prior, Restricted, Surface, TIE, View,
};
use rand::{Rng, RngExt};

use super::{EPS, PLENTY, key, uniform};

pub const MEAN: f64 = -0.4;

/// Brute force: the exact value of every candidate, from a surface that knows nothing yet, and the tie rule.
pub fn brute_force(
    restricted: &Arc<Restricted>,
    view: View<'_>,
    acquisition: &dyn Acquisition,
    excluded: &[bool],
) -> Option<Maximizer> {
    let mut cold = Surface::new(restricted.clone());
    let eligible = (0..restricted.domain().len()).filter(|&index| !excluded[index]);
    best_of(eligible.map(|index| (index, cold.moments(view, index))), acquisition)
}

/// The first of the candidates, given with mean and sd in the order of their indices, whose value is tied with the highest.
pub fn best_of(
    candidates: impl Iterator<Item = (usize, (f64, f64))>,
    acquisition: &dyn Acquisition,
) -> Option<Maximizer> {
    let maximizers: Vec<Maximizer> = candidates
        .map(|(index, (mean, sd))| {
            let score = acquisition.value(mean, sd * sd);
            Maximizer { index, mean, sd, score: if score.is_nan() { f64::NEG_INFINITY } else { score } }
        })
        .collect();
    let highest = maximizers.iter().map(|maximizer| maximizer.score).reduce(f64::max)?;
    let tied = if highest.is_finite() { highest - TIE * highest.abs().max(1.0) } else { highest };
    maximizers.into_iter().find(|maximizer| maximizer.score >= tied)
}

/// The same candidate with the same bits, but for the variance, whose root brute force squares again.
pub fn same(found: Option<Maximizer>, expected: Option<Maximizer>) -> bool {
    match (found, expected) {
        (Some(a), Some(b)) => {
            let close = a.score == b.score || (a.score - b.score).abs() <= 4.0 * EPS * b.score.abs();
            a.index == b.index && a.mean.to_bits() == b.mean.to_bits() && a.sd.to_bits() == b.sd.to_bits() && close
        }
        (None, None) => true,
        _ => false,
    }
}

/// A study in miniature: a posterior whose rows are candidates of a domain, and a surface that follows it.
pub struct Run {
    pub restricted: Arc<Restricted>,
    pub posterior: Posterior,
    pub surface: Surface,
    pub excluded: Vec<bool>,
    pub pending: Vec<u64>,
    pub next: usize,
}

impl Run {
    pub fn new(kernel: Kernel, domain: Domain, noise: f64, budget: usize) -> Self {
        let len = domain.len();
        let posterior = Posterior::new(Prior::new(kernel.clone(), MEAN, noise).unwrap(), domain.dimension()).unwrap();
        let restricted = Arc::new(Restricted::new(kernel, domain, budget).unwrap());
        let surface = Surface::new(restricted.clone());
        Self { restricted, posterior, surface, excluded: vec![false; len], pending: vec![], next: 0 }
    }

    pub fn len(&self) -> usize {
        self.restricted.domain().len()
    }

    pub fn hallucinate(&mut self, site: usize) {
        let point = self.restricted.domain().point(site);
        self.posterior.hallucinate(key(self.next, site), &point).unwrap();
        self.pending.push(self.next as u64);
        self.next += 1;
    }

    pub fn observe(&mut self, site: usize, value: f64) {
        let point = self.restricted.domain().point(site);
        self.posterior.observe(key(self.next, site), &point, value).unwrap();
        self.next += 1;
    }

    pub fn step(&mut self, rng: &mut impl Rng) {
        let site = rng.random_range(0..self.len());
        match rng.random_range(0..12) {
            0..3 => self.hallucinate(site),
            3..5 => self.observe(site, uniform(rng, -2.0, 2.0)),
            5..8 if !self.pending.is_empty() => {
                let id = self.pending.remove(rng.random_range(0..self.pending.len()));
                self.posterior.settle(id, uniform(rng, -2.0, 2.0)).unwrap();
            }
            8..10 if !self.pending.is_empty() => {
                let id = self.pending.remove(rng.random_range(0..self.pending.len()));
                self.posterior.retract(id).unwrap();
            }
            10 => {
                self.excluded[site] = !self.excluded[site];
                self.surface.set_excluded(site, self.excluded[site]);
            }
            // A choice, as a study makes it: its candidate becomes pending.
            _ => {
                if let Some(choice) =
                    self.surface.argmax(self.posterior.view(), &ConfidenceBound(uniform(rng, 0.0, 3.0)))
                {
                    self.hallucinate(choice.index);
                }
            }
        }
    }
}

/// From no column at all to all of them; a grid's factors need some.
pub fn budget(rng: &mut impl Rng, least: usize) -> usize {
    [least, least + 200, least + 5_000, PLENTY][rng.random_range(0..4)]
}
