//! The posterior over a finite domain, and the exact argmax over it without looking at every candidate closely.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | mu_S over D | means | one structured product after new observations, true within `mean_error` |
//! | sigma_{t-1}^2 over D | bounds | intervals that hold every candidate's variance |
//! | a(x) | score | mean + multiplier sd, mean - multiplier sd, or the variance |
//!
//! Means and bounds only decide whom to look at. Every candidate whose score could reach the best one is computed exactly,
//! from its solved column; the choice is made among those. So the choice is that of brute force, whatever the domain's
//! structure, the state of the bounds and the number of threads.

mod bounds;
mod columns;
mod lazy;
mod swept;

use std::sync::Arc;

use rayon::prelude::*;

use self::bounds::Bounds;
use self::columns::{Columns, Exact};
use crate::highest::HighestUpper;
use crate::restricted::Restricted;
use crate::vector;
use crate::{Key, View};

/// Candidates whose best upper score is kept as one number.
const CHUNK: usize = 1 << 12;
/// The first candidates to be computed exactly, and the most at a time after that.
const FIRST: usize = 8;
const BLOCK: usize = 256;

/// Two scores closer than this, relative to the larger one if that exceeds 1, are tied; the lowest index wins.
pub const TIE: f64 = 1e-12;

/// What is maximized over the domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// mean + multiplier x sd, the upper end of a band (the paper's Algorithm 1).
    Upper(f64),
    /// mean - multiplier x sd, the lower end of a band.
    Lower(f64),
    /// The variance (the paper's initialization scheme, and greedy information gain).
    Variance,
}

impl Score {
    pub(crate) fn of(self, mean: f64, variance: f64) -> f64 {
        match self {
            Self::Upper(multiplier) => mean + multiplier * variance.sqrt(),
            Self::Lower(multiplier) => mean - multiplier * variance.sqrt(),
            Self::Variance => variance,
        }
    }
}

/// The chosen candidate, with its exact moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The candidate's index in the domain.
    pub index: usize,
    /// Its mean, from observed points.
    pub mean: f64,
    /// Its standard deviation given the rows of the view.
    pub sd: f64,
    /// Its score.
    pub score: f64,
}

/// The posterior over a finite domain.
#[derive(Debug, Clone)]
pub struct Surface {
    restricted: Arc<Restricted>,
    means: Vec<f64>,
    mean_error: f64,
    /// What the means were made from.
    mean_source: Option<(Vec<Key>, Vec<f64>)>,
    bounds: Bounds,
    columns: Columns,
    /// The order of rows that the columns were solved in.
    order: Vec<Key>,
    excluded: Vec<bool>,
}

impl Surface {
    /// The prior over the domain.
    pub fn new(restricted: Arc<Restricted>) -> Self {
        let (bounds, columns) = (Bounds::new(&restricted), Columns::new(restricted.budget()));
        let len = restricted.domain().len();
        Self {
            restricted,
            means: vec![0.0; len],
            mean_error: 0.0,
            mean_source: None,
            bounds,
            columns,
            order: Vec::new(),
            excluded: Vec::new(),
        }
    }

    /// The domain and its kernel.
    pub fn restricted(&self) -> &Arc<Restricted> {
        &self.restricted
    }

    /// Leaves a candidate out of every choice, or lets it in again.
    pub fn set_excluded(&mut self, index: usize, excluded: bool) {
        if self.excluded.is_empty() && excluded {
            self.excluded = vec![false; self.restricted.domain().len()];
        }
        if let Some(slot) = self.excluded.get_mut(index) {
            *slot = excluded;
        }
    }

    /// Whether a candidate is left out.
    pub fn is_excluded(&self, index: usize) -> bool {
        self.excluded.get(index).copied().unwrap_or(false)
    }

    /// The means over the domain, right up to rounding; a choice's own mean is exact.
    pub fn means(&mut self, view: View<'_>) -> &[f64] {
        self.sync_means(view);
        &self.means
    }

    /// The exact moments of one candidate: mean, and standard deviation given the view's rows.
    pub fn moments(&mut self, view: View<'_>, index: usize) -> (f64, f64) {
        self.sync_columns(view);
        let exact = self.columns.exact(&self.restricted, view, &[index]);
        (exact[0].mean, exact[0].variance.sqrt())
    }

    /// The candidate with the highest score, the lowest index among ties; none if all are left out.
    pub fn argmax(&mut self, view: View<'_>, score: Score) -> Option<Choice> {
        if score != Score::Variance {
            self.sync_means(view);
        }
        self.sync_columns(view);
        self.bounds.sync(&self.restricted, view);
        let peaks = self.peaks(score);
        let mut found = Found::new(score);
        let mut first: Vec<(f64, usize)> = peaks.iter().flatten().copied().collect();
        first.sort_by(by_score_then_index);
        first.truncate(if self.bounds.are_tight() { 1 } else { FIRST });
        self.compute(view, &first, &mut found);
        let threshold = found.threshold();
        let mut rest: Vec<(f64, usize)> = Vec::new();
        for (chunk, peak) in peaks.iter().enumerate() {
            if peak.is_some_and(|(upper, _)| upper >= threshold) {
                rest.extend(self.reaching(chunk, score, threshold).filter(|(_, i)| first.iter().all(|(_, j)| i != j)));
            }
        }
        rest.sort_by(by_score_then_index);
        let (mut rest, mut block) = (rest.into_iter().peekable(), FIRST);
        while rest.peek().is_some() {
            let next: Vec<(f64, usize)> =
                rest.by_ref().filter(|&(upper, index)| found.could_win(upper, index)).take(block).collect();
            self.compute(view, &next, &mut found);
            block = (2 * block).min(BLOCK);
        }
        found.choice()
    }

    /// sup over the domain of sigma_S(x)^2/sigma_{t-1}(x)^2, the exact hallucination factor, by looking at every candidate.
    pub fn hallucination_factor(&mut self, view: View<'_>) -> f64 {
        self.sync_columns(view);
        let indices: Vec<usize> = (0..self.restricted.domain().len()).collect();
        let mut largest: f64 = 1.0;
        for block in indices.chunks(BLOCK) {
            for exact in self.columns.exact(&self.restricted, view, block) {
                if exact.variance > 0.0 {
                    largest = largest.max(exact.variance_observed / exact.variance);
                }
            }
        }
        largest
    }

    fn sync_means(&mut self, view: View<'_>) {
        let keys = &view.keys()[..view.observed()];
        let current = |(rows, values): &(Vec<Key>, Vec<f64>)| rows == keys && values == view.whitened();
        if self.mean_source.as_ref().is_some_and(current) {
            return;
        }
        let weights = view.weights();
        let sites: Vec<usize> = keys.iter().map(|k| k.site).collect();
        self.means.fill(view.prior().mean());
        self.restricted.add_product(&sites, &weights, &mut self.means);
        let largest = self.restricted.largest_variance();
        self.mean_error = if sites.is_empty() {
            0.0
        } else {
            let size = view.prior().mean().abs() + largest.sqrt() * vector::norm(view.whitened());
            view.rounding(vector::norm(&weights), largest)
                + self.restricted.product_error(&weights)
                + 4.0 * f64::EPSILON * (sites.len() as f64) * size
        };
        self.mean_source = Some((keys.to_vec(), view.whitened().to_vec()));
    }

    fn sync_columns(&mut self, view: View<'_>) {
        let keys = view.posterior().keys();
        let common = self.order.iter().zip(keys).take_while(|(a, b)| a == b).count();
        if common < self.order.len() {
            self.columns.truncate(common);
        }
        self.order.truncate(common);
        self.order.extend_from_slice(&keys[common..view.keys().len().max(common)]);
    }

    /// The highest score that candidate `index` can have.
    fn upper_score(&self, index: usize, score: Score) -> f64 {
        let (least, most) = self.bounds.interval(index);
        // Far from all rows the variance is the prior's, which no slack may lift: there everything is tied.
        let most = most.min(self.restricted.largest_variance());
        let mean = self.means[index] + self.mean_error;
        score.of(mean, if matches!(score, Score::Lower(_)) { least } else { most })
    }

    /// The candidate with the highest upper score in each chunk of the domain.
    fn peaks(&self, score: Score) -> Vec<Option<(f64, usize)>> {
        let len = self.means.len();
        let (uppers, slack) = self.bounds.uppers();
        let peak = |chunk: usize| {
            let (from, to) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(len));
            if let (Score::Upper(multiplier), true) = (score, self.excluded.is_empty()) {
                let (means, variances) = (&self.means[from..to], &uppers[from..to]);
                let cap = self.restricted.largest_variance();
                let scores = HighestUpper { means, variances, multiplier, error: self.mean_error, slack, cap };
                let highest = scores.find();
                return (0..means.len()).find(|&i| scores.at(i) >= highest).map(|i| (highest, from + i));
            }
            (from..to)
                .filter(|&i| !self.is_excluded(i))
                .map(|i| (self.upper_score(i, score), i))
                .reduce(|best, other| if other.0 > best.0 { other } else { best })
        };
        let chunks = len.div_ceil(CHUNK);
        if chunks < 4 { (0..chunks).map(peak).collect() } else { (0..chunks).into_par_iter().map(peak).collect() }
    }

    fn reaching(&self, chunk: usize, score: Score, threshold: f64) -> impl Iterator<Item = (f64, usize)> + '_ {
        (chunk * CHUNK..((chunk + 1) * CHUNK).min(self.means.len()))
            .filter(|&i| !self.is_excluded(i))
            .map(move |i| (self.upper_score(i, score), i))
            .filter(move |(upper, _)| *upper >= threshold)
    }

    fn compute(&mut self, view: View<'_>, candidates: &[(f64, usize)], found: &mut Found) {
        let indices: Vec<usize> = candidates.iter().map(|c| c.1).collect();
        let exact = self.columns.exact(&self.restricted, view, &indices);
        self.bounds.refresh(&exact);
        found.add(exact);
    }
}

fn by_score_then_index(a: &(f64, usize), b: &(f64, usize)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The best of the candidates computed exactly so far.
struct Found {
    score: Score,
    best: f64,
    /// Those within a tie of the best, and the first of them.
    tied: Vec<(f64, Exact)>,
    winner: Option<(f64, Exact)>,
}

impl Found {
    fn new(score: Score) -> Self {
        Self { score, best: f64::NEG_INFINITY, tied: Vec::new(), winner: None }
    }

    fn add(&mut self, exact: Vec<Exact>) {
        let before = self.best;
        let scored: Vec<(f64, Exact)> = exact.into_iter().map(|e| (self.score.of(e.mean, e.variance), e)).collect();
        self.best = scored.iter().map(|(value, _)| *value).fold(before, f64::max);
        let threshold = self.threshold();
        if self.best > before {
            self.tied.retain(|(value, _)| *value >= threshold);
            self.winner = self.tied.iter().min_by_key(|(_, e)| e.index).copied();
        }
        for (value, e) in scored.into_iter().filter(|(value, _)| *value >= threshold) {
            if self.winner.is_none_or(|(_, winner)| e.index < winner.index) {
                self.winner = Some((value, e));
            }
            self.tied.push((value, e));
        }
    }

    /// Scores from here on are tied with the best.
    fn threshold(&self) -> f64 {
        self.best - TIE * self.best.abs().max(1.0)
    }

    /// Whether a candidate with this upper score can be the best, or the first of those tied with it.
    fn could_win(&self, upper: f64, index: usize) -> bool {
        upper > self.best || (upper >= self.threshold() && self.winner.is_none_or(|(_, w)| index < w.index))
    }

    fn choice(&self) -> Option<Choice> {
        self.winner.map(|(score, e)| Choice { index: e.index, mean: e.mean, sd: e.variance.sqrt(), score })
    }
}
