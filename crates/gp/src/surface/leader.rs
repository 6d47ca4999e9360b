//! The best of the candidates computed exactly so far, with the rule for ties.

use super::Maximizer;
use super::columns::Exact;

/// Two values closer than this, relative to the larger one if that exceeds 1, are tied; the lowest index wins.
pub const TIE: f64 = 1e-12;

/// The best candidate so far.
pub(super) struct Leader {
    best: f64,
    /// Those within a tie of the best, and the first of them.
    tied: Vec<(f64, Exact)>,
    winner: Option<(f64, Exact)>,
}

impl Leader {
    pub fn new() -> Self {
        Self { best: f64::NEG_INFINITY, tied: Vec::new(), winner: None }
    }

    /// Takes in candidates with their values, none of them NaN.
    pub fn add(&mut self, valued: Vec<(f64, Exact)>) {
        let before = self.best;
        self.best = valued.iter().map(|(value, _)| *value).fold(before, f64::max);
        let threshold = self.threshold();
        if self.best > before {
            self.tied.retain(|(value, _)| *value >= threshold);
            self.winner = self.tied.iter().min_by_key(|(_, e)| e.index).copied();
        }
        for (value, e) in valued.into_iter().filter(|(value, _)| *value >= threshold) {
            if self.winner.is_none_or(|(_, winner)| e.index < winner.index) {
                self.winner = Some((value, e));
            }
            self.tied.push((value, e));
        }
    }

    /// Values from here on are tied with the best.
    pub fn threshold(&self) -> f64 {
        if self.best.is_infinite() { self.best } else { self.best - TIE * self.best.abs().max(1.0) }
    }

    /// Whether a candidate whose value is at most `upper` can be the best, or the first of those tied with it.
    pub fn could_be_beaten_by(&self, upper: f64, index: usize) -> bool {
        upper > self.best || (upper >= self.threshold() && self.winner.is_none_or(|(_, w)| index < w.index))
    }

    pub fn maximizer(&self) -> Option<Maximizer> {
        self.winner.map(|(score, e)| Maximizer { index: e.index, mean: e.mean, sd: e.variance.sqrt(), score })
    }
}
