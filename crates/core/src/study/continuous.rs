//! Choosing on a space that is not finite: candidates, climbs, and for a given model the proof of how good the choice is.

use manyhands_gp::{
    Acquisition, Budget, ConfidenceBound, Points, Posterior, Provable, Region, SamplePath, Screen, Shortlist, Slopes,
    Variance, View, maximize,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::choose::{Pick, generator};
use crate::event::Phase;
use crate::maximize::{Quasirandom, Search, Summit};
use crate::{Error, Result, Space, Spec};

/// Two points closer than this, in squared lengthscales, are the same.
const SAME: f64 = 1e-14;

/// The gap at which a search that proves its result stops, relative to the score.
const TOLERANCE: f64 = 1e-3;

/// How many random features a sample path has.
const FEATURES: usize = 1024;

/// The random numbers of a certificate's search are those of no trial.
const NO_TRIAL: usize = usize::MAX >> 1;

/// How hard a search tries: candidates, climbs, evaluations in each. Less where every look costs more.
fn effort(rows: usize) -> (usize, usize, usize) {
    match rows {
        0..=300 => (512, 4, 60),
        301..=1000 => (512, 3, 30),
        1001..=3000 => (384, 1, 12),
        _ => (384, 1, 8),
    }
}

/// Up to so many rows every candidate is looked at exactly, as several are climbed from; above, only the best is wanted.
const SCREENED: usize = 1000;

/// Up to so many rows, a learned model is searched with all the cells that the spec allows.
const ROWS: usize = 200;

/// The most cells of a search that proves its result. Each costs the square of the rows, and the opinion of a learned
/// model is not worth more than a suggestion; a proof about a given one is worth what the spec says.
fn cells(spec: &Spec, rows: usize) -> usize {
    let part = if spec.learns() { (ROWS as f64 / rows.max(1) as f64).powi(2).min(1.0) } else { 1.0 };
    (spec.nodes() as f64 * part) as usize
}

/// A space that is searched. What is known of the candidates of the ask under way is kept between its picks.
#[derive(Debug, Clone)]
pub(super) struct Continuous {
    space: Space,
    screen: Option<Looked>,
    /// Whether the candidates are those of an ask that is over.
    is_over: bool,
}

/// The candidates of an ask and what is known of them.
#[derive(Debug, Clone)]
enum Looked {
    AtAll(Screen),
    AtTheBest(Shortlist),
}

impl Looked {
    /// Candidates of a new ask, in the memory of those of the last one.
    fn new(view: View<'_>, candidates: Points, last: Option<Self>) -> Result<Self> {
        Ok(match (view.keys().len(), last) {
            (0..=SCREENED, Some(Self::AtAll(screen))) => Self::AtAll(screen.renewed(view, candidates)?),
            (0..=SCREENED, _) => Self::AtAll(Screen::new(view, candidates)?),
            _ => Self::AtTheBest(Shortlist::new(view, candidates)?),
        })
    }

    fn candidates(&self) -> &Points {
        match self {
            Self::AtAll(screen) => screen.candidates(),
            Self::AtTheBest(list) => list.candidates(),
        }
    }

    /// The candidates' scores; where only the best are wanted, minus infinity for others.
    fn scores(&mut self, view: View<'_>, score: &dyn Acquisition, wanted: Wanted) -> Vec<f64> {
        match (self, wanted) {
            (Self::AtTheBest(list), Wanted::Best) => list.highest(view, score),
            (Self::AtTheBest(list), Wanted::All) => list.all(view, score),
            (Self::AtAll(screen), _) => {
                screen.append(view);
                screen.values(score)
            }
        }
    }
}

/// Which candidates' scores count.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Best,
    All,
}

impl Continuous {
    pub fn new(space: Space) -> Self {
        Self { space, screen: None, is_over: true }
    }

    pub fn space(&self) -> &Space {
        &self.space
    }

    /// A new ask begins: candidates are to be drawn anew.
    pub fn begin(&mut self) {
        self.is_over = true;
    }

    /// A quasi-random point.
    pub fn design(&self, spec: &Spec, view: View<'_>, trial: usize) -> Result<Pick> {
        let (mut shifts, own) = (ChaCha8Rng::seed_from_u64(spec.seed()), generator(spec, trial));
        let point = Quasirandom::new(&self.space, trial, &mut shifts, own).next().ok_or(Error::AskedForNone)?;
        let pick = self.pick(view, trial, &Summit { point, score: 0.0 }, 0.0)?;
        Ok(Pick { score: pick.sd, phase: Phase::Design, ..pick })
    }

    /// The argmax of mean + multiplier x sd; where the model is given, with a proven gap.
    pub fn choose(&mut self, spec: &Spec, view: View<'_>, trial: usize, multiplier: f64) -> Result<Pick> {
        let mut slopes = Slopes::new(view)?;
        let hill = |x: &[f64], gradient: &mut [f64]| slopes.value(x, &ConfidenceBound(multiplier), gradient);
        let mut summit = self.summit(spec, view, trial, Screened::By(&ConfidenceBound(multiplier)), hill)?;
        let mut gap = None;
        if !spec.learns() {
            let upper = self.prove(spec, view, Provable::ConfidenceBound(multiplier), &mut summit)?;
            gap = Some((upper - summit.score).max(0.0));
        }
        Ok(Pick { gap, ..self.pick(view, trial, &summit, multiplier)? })
    }

    /// The argmax of the standard deviation.
    pub fn widest(&mut self, spec: &Spec, view: View<'_>, trial: usize) -> Result<Pick> {
        let mut slopes = Slopes::new(view)?;
        let hill = |x: &[f64], gradient: &mut [f64]| slopes.value(x, &Variance, gradient);
        let summit = self.summit(spec, view, trial, Screened::By(&Variance), hill)?;
        self.pick(view, trial, &summit, 0.0)
    }

    /// The best of the candidates that are not at hand, if there is one.
    pub fn choose_new(&mut self, spec: &Spec, view: View<'_>, trial: usize, multiplier: f64) -> Result<Option<Pick>> {
        let scores = self.scores(spec, view, trial, Screened::By(&ConfidenceBound(multiplier)), Wanted::All)?;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let candidate = |i: &usize| self.screen.as_ref().map(|screen| screen.candidates().get(*i));
        let new = order.iter().filter_map(candidate).find(|point| !self.is_known(view.posterior(), point));
        let Some(point) = new.map(<[f64]>::to_vec) else { return Ok(None) };
        let mut slopes = Slopes::new(view)?;
        let score = slopes.value(&point, &ConfidenceBound(multiplier), &mut vec![0.0; point.len()]);
        self.pick(view, trial, &Summit { point, score }, multiplier).map(Some)
    }

    /// GP-BTS: the argmax of a sample path, whose prior part is approximate (random features).
    pub fn choose_by_path(&mut self, spec: &Spec, view: View<'_>, trial: usize, multiplier: f64) -> Result<Pick> {
        let path = SamplePath::draw(view, multiplier, FEATURES, &mut generator(spec, trial))?;
        let hill = |x: &[f64], gradient: &mut [f64]| path.value_and_gradient(x, gradient).unwrap_or(f64::NEG_INFINITY);
        let summit = self.summit(spec, view, trial, Screened::Path(&path), hill)?;
        self.pick(view, trial, &summit, multiplier)
    }

    /// The best lower end of a band that a search finds; any point's is a valid bound.
    pub fn surest(&mut self, spec: &Spec, view: View<'_>, multiplier: f64) -> Result<Summit> {
        self.begin();
        let mut slopes = Slopes::new(view)?;
        let hill = |x: &[f64], gradient: &mut [f64]| slopes.value(x, &ConfidenceBound(-multiplier), gradient);
        let summit = self.summit(spec, view, NO_TRIAL, Screened::By(&ConfidenceBound(-multiplier)), hill);
        self.begin();
        summit
    }

    /// The best upper end of a band that a search finds.
    pub fn highest(&mut self, spec: &Spec, view: View<'_>, multiplier: f64) -> Result<Summit> {
        self.surest(spec, view, -multiplier)
    }

    /// A bound that no point of the space exceeds, and a better point if the search that proves it finds one.
    pub fn prove(&self, spec: &Spec, view: View<'_>, score: Provable, summit: &mut Summit) -> Result<f64> {
        let tolerance = TOLERANCE * summit.score.abs().max(1e-9);
        let budget = Budget { nodes: cells(spec, view.keys().len()), tolerance };
        let found = maximize(view, score, &self.region()?, budget, std::slice::from_ref(&summit.point))?;
        let snapped = self.space.snap(&found.point);
        // A search over the box may end outside the constraints, or between integers that were too many to list.
        if snapped == found.point && self.space.feasible(&snapped) && found.score > summit.score {
            *summit = Summit { point: snapped, score: found.score };
        }
        Ok(found.upper)
    }

    /// Whether a point is that of a row.
    pub fn is_known(&self, posterior: &Posterior, point: &[f64]) -> bool {
        let kernel = posterior.prior().kernel();
        let same = |row: &[f64]| {
            let scaled = |(j, (a, b)): (usize, (&f64, &f64))| ((a - b) / lengthscale(kernel, j)).powi(2);
            row.iter().zip(point).enumerate().map(scaled).sum::<f64>() < SAME
        };
        posterior.points().iter().any(same)
    }

    fn region(&self) -> Result<Region> {
        let dimension = self.space.dimension();
        let mut region = Region::new(&vec![0.0; dimension], &vec![1.0; dimension])?;
        for block in self.space.blocks() {
            if let Some(options) = block.options() {
                region = region.with_options(block.coordinates(), options.to_vec())?;
            }
        }
        Ok(region)
    }

    fn pick(&self, view: View<'_>, trial: usize, summit: &Summit, multiplier: f64) -> Result<Pick> {
        let params = self.space.params(&summit.point);
        let there = view.posterior().predict(&self.space.embed(&params)?)?;
        let sd = if view.keys().len() == view.observed() { there.sd_observed } else { there.sd };
        let (mean, score, phase) = (there.mean, summit.score, Phase::Rule);
        Ok(Pick { candidate: trial, params, mean, sd, multiplier, score, gap: None, phase })
    }

    fn summit(
        &mut self,
        spec: &Spec,
        view: View<'_>,
        trial: usize,
        screened: Screened<'_>,
        mut hill: impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Result<Summit> {
        let scores = self.scores(spec, view, trial, screened, Wanted::Best)?;
        let (_, starts, evaluations) = effort(view.keys().len());
        let lengthscales = lengthscales(view, self.space.dimension());
        let search = Search { space: &self.space, lengthscales: &lengthscales, starts, evaluations };
        let screen = self.screen.as_ref().ok_or(Error::AskedForNone)?;
        search
            .maximize(|i| screen.candidates().get(i), &scores, &mut hill)
            .ok_or(Error::PoolExhausted { asked: 1, left: 0 })
    }

    /// The candidates' scores; the candidates are drawn at the first pick of an ask.
    fn scores(
        &mut self,
        spec: &Spec,
        view: View<'_>,
        trial: usize,
        screened: Screened<'_>,
        wanted: Wanted,
    ) -> Result<Vec<f64>> {
        let mut looked = match self.screen.take() {
            Some(looked) if !self.is_over => looked,
            last => Looked::new(view, self.candidates(spec, view, trial)?, last)?,
        };
        self.is_over = false;
        let scores = match screened {
            Screened::By(score) => looked.scores(view, score, wanted),
            Screened::Path(path) => {
                looked.candidates().iter().map(|x| path.value(x)).collect::<manyhands_gp::Result<Vec<f64>>>()?
            }
        };
        self.screen = Some(looked);
        Ok(scores)
    }

    /// Quasi-random points, neighbours of the best rows, and the best rows themselves.
    fn candidates(&self, spec: &Spec, view: View<'_>, trial: usize) -> Result<Points> {
        let (count, starts, evaluations) = effort(view.keys().len());
        let mut rng = generator(spec, trial);
        let fallback = ChaCha8Rng::from_rng(&mut rng);
        let mut points: Vec<Vec<f64>> = Quasirandom::new(&self.space, 1, &mut rng, fallback).take(count).collect();
        let lengthscales = lengthscales(view, self.space.dimension());
        let search = Search { space: &self.space, lengthscales: &lengthscales, starts, evaluations };
        let best = best_rows(view, 5);
        points.extend(search.neighbours(&best, count / 2, &mut rng));
        points.extend(best.into_iter().take(3));
        Ok(Points::from_rows(&points)?)
    }
}

/// What candidates are judged by.
#[derive(Clone, Copy)]
enum Screened<'a> {
    By(&'a dyn Acquisition),
    Path(&'a SamplePath),
}

/// The observed rows of highest posterior mean.
fn best_rows(view: View<'_>, count: usize) -> Vec<Vec<f64>> {
    let means = view.row_means();
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| means[b].total_cmp(&means[a]).then(a.cmp(&b)));
    order.iter().take(count).map(|&i| view.posterior().points().get(i).to_vec()).collect()
}

fn lengthscales(view: View<'_>, dimension: usize) -> Vec<f64> {
    (0..dimension).map(|j| lengthscale(view.prior().kernel(), j)).collect()
}

fn lengthscale(kernel: &manyhands_gp::Kernel, coordinate: usize) -> f64 {
    match kernel.lengthscales() {
        [shared] => *shared,
        each => each.get(coordinate).copied().unwrap_or(1.0),
    }
}
