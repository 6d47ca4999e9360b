//! The search for the candidate of highest value: bounds first, exact evaluation of those that can still win.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::columns::Exact;
use super::highest::HighestUpper;
use super::leader::Leader;
use super::{BLOCK, Conditioning, Maximizer, Surface};
use crate::View;
use crate::acquisition::{Acquisition, LevelSet, Provable, value_of};

/// Candidates whose highest bound is kept as one number.
const CHUNK: usize = 1 << 12;
/// The first candidates to be computed exactly.
const FIRST: usize = 8;

/// What is maximized, with the bounds that apply to it, and the region it is maximized over.
pub(super) struct Query<'a, A: ?Sized> {
    pub acquisition: &'a A,
    pub given: Conditioning,
    pub within: Option<&'a LevelSet<'a>>,
}

/// A candidate that may win: an upper bound of its value, and its index.
type Contender = (f64, usize);

impl<A: Acquisition + ?Sized> Query<'_, A> {
    /// The multiplier, if bounds are those of mean + multiplier sd for all candidates: then the sweep is vectorized.
    fn upper_multiplier(&self, surface: &Surface) -> Option<f64> {
        match (self.acquisition.as_provable(), self.within) {
            (Some(Provable::ConfidenceBound(m)), None) if m >= 0.0 && surface.excluded.is_empty() => Some(m),
            _ => None,
        }
    }

    /// The values of candidates inside the region.
    fn values(&self, exact: Vec<Exact>) -> Vec<(f64, Exact)> {
        let is_inside = |e: &Exact| self.within.is_none_or(|region| region.contains(e.mean, e.variance_observed));
        let value = |e: Exact| (value_of(self.acquisition, e.mean, e.variance), e);
        exact.into_iter().filter(is_inside).map(value).collect()
    }
}

impl Surface {
    /// The search. Means, columns and bounds are those of `view`.
    pub(super) fn search<A: Acquisition + ?Sized>(
        &mut self,
        view: View<'_>,
        query: &Query<'_, A>,
    ) -> Option<Maximizer> {
        let peaks = self.peaks(query);
        let mut leader = Leader::new();
        let mut first: Vec<Contender> = peaks.iter().flatten().copied().collect();
        first.sort_by(by_bound_then_index);
        first.truncate(if self.bounds(query.given).are_tight() { 1 } else { FIRST });
        self.compute(view, query, &first, &mut leader);
        let threshold = leader.threshold();
        let mut rest: Vec<Contender> = Vec::new();
        for (chunk, peak) in peaks.iter().enumerate() {
            if peak.is_some_and(|(upper, _)| upper >= threshold) {
                rest.extend(self.reaching(chunk, query, threshold).filter(|(_, i)| first.iter().all(|(_, j)| i != j)));
            }
        }
        rest.sort_by(by_bound_then_index);
        // From the highest bound down, so that those after the winner's value need no evaluation.
        let (mut rest, mut block) = (rest.into_iter().peekable(), FIRST);
        while rest.peek().is_some() {
            let next: Vec<Contender> =
                rest.by_ref().filter(|&(upper, index)| leader.could_lose_to(upper, index)).take(block).collect();
            self.compute(view, query, &next, &mut leader);
            block = (2 * block).min(BLOCK);
        }
        leader.maximizer()
    }

    /// An upper bound of the value of candidate `index`; none if it may not be chosen.
    fn upper<A: Acquisition + ?Sized>(&self, index: usize, query: &Query<'_, A>) -> Option<f64> {
        if self.is_excluded(index) {
            return None;
        }
        if let Some(region) = query.within
            && self.bound(index, region.acquisition, Conditioning::ObservedRows) < region.threshold
        {
            return None;
        }
        Some(self.bound(index, query.acquisition, query.given))
    }

    fn bound<A: Acquisition + ?Sized>(&self, index: usize, acquisition: &A, given: Conditioning) -> f64 {
        let (least, most) = self.variance_interval(index, given);
        let bound = acquisition.bound(self.means[index] + self.mean_error, least, most);
        // NaN is no bound.
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// The candidate with the highest bound in each chunk of the domain.
    fn peaks<A: Acquisition + ?Sized>(&self, query: &Query<'_, A>) -> Vec<Option<Contender>> {
        let len = self.means.len();
        let multiplier = query.upper_multiplier(self);
        let peak = |chunk: usize| {
            let (from, to) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(len));
            if let Some(multiplier) = multiplier {
                return self.highest_upper(from..to, multiplier, query.given);
            }
            (from..to)
                .filter_map(|i| self.upper(i, query).map(|upper| (upper, i)))
                .reduce(|best, other| if other.0 > best.0 { other } else { best })
        };
        let chunks = len.div_ceil(CHUNK);
        if chunks < 4 { (0..chunks).map(peak).collect() } else { (0..chunks).into_par_iter().map(peak).collect() }
    }

    /// The candidate of `range` with the highest bound of mean + multiplier sd.
    fn highest_upper(&self, range: std::ops::Range<usize>, multiplier: f64, given: Conditioning) -> Option<Contender> {
        let (from, (uppers, slack)) = (range.start, self.bounds(given).uppers());
        let (means, variances) = (&self.means[range.clone()], &uppers[range]);
        let cap = self.restricted.largest_variance();
        let bounds = HighestUpper { means, variances, multiplier, error: self.mean_error, slack, cap };
        let highest = bounds.find();
        (0..means.len()).find(|&i| bounds.at(i) >= highest).map(|i| (highest, from + i))
    }

    fn reaching<A: Acquisition + ?Sized>(
        &self,
        chunk: usize,
        query: &Query<'_, A>,
        threshold: f64,
    ) -> impl Iterator<Item = Contender> {
        (chunk * CHUNK..((chunk + 1) * CHUNK).min(self.means.len()))
            .filter_map(|i| self.upper(i, query).map(|upper| (upper, i)))
            .filter(move |(upper, _)| *upper >= threshold)
    }

    fn compute<A: Acquisition + ?Sized>(
        &mut self,
        view: View<'_>,
        query: &Query<'_, A>,
        contenders: &[Contender],
        leader: &mut Leader,
    ) {
        let indices: Vec<usize> = contenders.iter().map(|c| c.1).collect();
        let exact = self.evaluate(view, query.given, &indices);
        if let (Some(_), Some(bounds)) = (query.within, &mut self.observed_bounds) {
            let observed: Vec<Exact> = exact.iter().map(Exact::given_observed_rows).collect();
            bounds.refresh(&observed);
        }
        leader.add(query.values(exact));
    }
}

fn by_bound_then_index(a: &Contender, b: &Contender) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}
