//! The search for the candidate of highest value: bounds first, exact evaluation of those that can still win.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::bounds::Intervals;
use super::columns::Exact;
use super::highest::HighestUpper;
use super::leader::Leader;
use super::{BLOCK, Conditioning, Maximizer, Surface};
use crate::View;
use crate::acquisition::{Acquisition, LevelSet, Provable, WithoutNan};

/// Candidates whose highest bound is kept as one number.
const CHUNK: usize = 1 << 12;
/// The first candidates to be computed exactly.
const FIRST: usize = 8;

/// What is maximized, never NaN, with the bounds that apply to it, and the candidates it is maximized over.
pub(super) struct Query<'a, A: ?Sized> {
    pub acquisition: &'a A,
    pub given: Conditioning,
    pub within: Option<&'a LevelSet<'a>>,
}

/// A candidate that may win: an upper bound of its value, and its index.
type BoundedCandidate = (f64, usize);

impl<A: Acquisition + ?Sized> Query<'_, A> {
    /// The multiplier, if bounds are those of mean + multiplier sd for all candidates: then the sweep is vectorized.
    fn upper_multiplier(&self, surface: &Surface) -> Option<f64> {
        let is_everyone = self.within.is_none() && surface.excluded.is_empty();
        match self.acquisition.as_provable() {
            Some(Provable::ConfidenceBound(multiplier)) if multiplier >= 0.0 && is_everyone => Some(multiplier),
            _ => None,
        }
    }

    /// The values of candidates inside the region.
    fn values(&self, exact: Vec<Exact>) -> Vec<(f64, Exact)> {
        let is_inside = |e: &Exact| self.within.is_none_or(|region| region.contains(e.mean, e.variance_observed));
        let value = |e: Exact| (self.acquisition.value(e.mean, e.variance), e);
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
        let peaks = Sweep::new(self, query).peaks();
        let mut leader = Leader::new();
        let mut first: Vec<BoundedCandidate> = peaks.iter().flatten().copied().collect();
        first.sort_by(by_bound_then_index);
        first.truncate(if self.bounds(query.given).are_tight() { 1 } else { FIRST });
        self.compute(view, query, &first, &mut leader);
        let (threshold, sweep) = (leader.threshold(), Sweep::new(self, query));
        let mut rest: Vec<BoundedCandidate> = Vec::new();
        for (chunk, peak) in peaks.iter().enumerate() {
            if peak.is_some_and(|(upper, _)| upper >= threshold) {
                rest.extend(sweep.reaching(chunk, threshold).filter(|(_, i)| first.iter().all(|(_, j)| i != j)));
            }
        }
        rest.sort_by(by_bound_then_index);
        // From the highest bound down, so that those after the winner's value need no evaluation.
        let (mut rest, mut block) = (rest.into_iter().peekable(), FIRST);
        while rest.peek().is_some() {
            let next: Vec<BoundedCandidate> =
                rest.by_ref().filter(|&(upper, index)| leader.could_be_beaten_by(upper, index)).take(block).collect();
            self.compute(view, query, &next, &mut leader);
            block = (2 * block).min(BLOCK);
        }
        leader.maximizer()
    }

    fn compute<A: Acquisition + ?Sized>(
        &mut self,
        view: View<'_>,
        query: &Query<'_, A>,
        contenders: &[BoundedCandidate],
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

/// Upper bounds of the values of all candidates, from the surface as it is.
struct Sweep<'a, A: ?Sized> {
    surface: &'a Surface,
    query: &'a Query<'a, A>,
    variances: Intervals<'a>,
    region: Option<(&'a LevelSet<'a>, Intervals<'a>)>,
}

impl<'a, A: Acquisition + ?Sized> Sweep<'a, A> {
    fn new(surface: &'a Surface, query: &'a Query<'a, A>) -> Self {
        let variances = surface.variance_intervals(query.given);
        let observed = surface.variance_intervals(Conditioning::ObservedRows);
        Self { surface, query, variances, region: query.within.map(|region| (region, observed)) }
    }

    /// The candidate with the highest bound in each chunk of the domain.
    fn peaks(&self) -> Vec<Option<BoundedCandidate>> {
        let multiplier = self.query.upper_multiplier(self.surface);
        let peak = |chunk: usize| match multiplier {
            Some(multiplier) => self.highest_upper(self.chunk(chunk), multiplier),
            None => self.highest_bound(chunk),
        };
        let chunks = self.surface.means.len().div_ceil(CHUNK);
        if chunks < 4 { (0..chunks).map(peak).collect() } else { (0..chunks).into_par_iter().map(peak).collect() }
    }

    /// The candidates of a chunk whose bound is at least `threshold`.
    fn reaching(&self, chunk: usize, threshold: f64) -> impl Iterator<Item = BoundedCandidate> {
        let is_open = move |index: &usize| self.quick_upper(*index) >= threshold;
        let bounded = self.contenders(chunk).filter(is_open).map(|index| (self.upper(index), index));
        bounded.filter(move |(upper, _)| *upper >= threshold)
    }

    /// The first candidate of a chunk with the highest bound.
    fn highest_bound(&self, chunk: usize) -> Option<BoundedCandidate> {
        let mut highest: Option<BoundedCandidate> = None;
        for index in self.contenders(chunk) {
            if highest.is_none_or(|(upper, _)| self.quick_upper(index) > upper) {
                let upper = self.upper(index);
                if highest.is_none_or(|(before, _)| upper > before) {
                    highest = Some((upper, index));
                }
            }
        }
        highest
    }

    /// The candidates of a chunk that count.
    #[inline(always)]
    fn contenders(&self, chunk: usize) -> impl Iterator<Item = usize> {
        let counts = |index: &usize| !self.surface.is_excluded(*index) && self.may_be_inside(*index);
        self.chunk(chunk).filter(counts)
    }

    fn chunk(&self, chunk: usize) -> Range<usize> {
        chunk * CHUNK..((chunk + 1) * CHUNK).min(self.surface.means.len())
    }

    /// Whether bounds do not rule out that a candidate is inside the region.
    #[inline(always)]
    fn may_be_inside(&self, index: usize) -> bool {
        let upper = |(region, observed): &(&LevelSet<'_>, Intervals<'_>)| {
            let (least, most) = observed.at(index);
            WithoutNan(region.acquisition).bound(self.upper_mean(index), least, most) >= region.threshold
        };
        self.region.as_ref().is_none_or(upper)
    }

    /// An upper bound of the value of candidate `index`.
    #[inline(always)]
    fn upper(&self, index: usize) -> f64 {
        let (least, most) = self.variances.at(index);
        self.query.acquisition.bound(self.upper_mean(index), least, most)
    }

    /// As [`Sweep::upper`], cheaper and higher.
    #[inline(always)]
    fn quick_upper(&self, index: usize) -> f64 {
        let (least, most) = self.variances.at(index);
        self.query.acquisition.quick_bound(self.upper_mean(index), least, most)
    }

    #[inline(always)]
    fn upper_mean(&self, index: usize) -> f64 {
        self.surface.means[index] + self.surface.mean_error
    }

    /// The candidate of `range` with the highest bound of mean + multiplier sd, vectorized.
    fn highest_upper(&self, range: Range<usize>, multiplier: f64) -> Option<BoundedCandidate> {
        let (surface, from) = (self.surface, range.start);
        let (uppers, slack) = surface.bounds(self.query.given).uppers();
        let (means, variances) = (&surface.means[range.clone()], &uppers[range]);
        let cap = surface.restricted.largest_variance();
        let bounds = HighestUpper { means, variances, multiplier, error: surface.mean_error, slack, cap };
        let highest = bounds.find();
        (0..means.len()).find(|&i| bounds.at(i) >= highest).map(|i| (highest, from + i))
    }
}

fn by_bound_then_index(a: &BoundedCandidate, b: &BoundedCandidate) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}
