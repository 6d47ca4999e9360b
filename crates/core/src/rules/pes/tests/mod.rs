//! Predictive entropy search against dense expectation propagation, rejection sampling and closed forms.

mod rejection;

use manyhands_gp::{Grid, Joint, Kernel, Key, Points, Posterior, Prior, Sections};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::given_maximum::{FixedPoints, GivenMaximum};
use super::propagation::{Truncation, nonnegative};
use super::{EntropyReduction, Pes, distinct};
use crate::chooser::{Chooser, PointScore, SampledArgmax, chooser};
use crate::elimination::{dot, solve};
use crate::ledger::Ledger;
use crate::rules::{Formulas, Pick, RuleState, StudyState};
use crate::tuning::STENCIL_STEP;
use crate::{Choice, Domain, Parameter, Rule, Space, Spec, Strategy};

/// A posterior over a finite domain, by this project's engine and by dense solves.
struct State {
    spec: Spec,
    posterior: Posterior,
    candidates: Vec<Vec<f64>>,
    /// The candidate of every observed row.
    observed: Vec<usize>,
    mean: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

/// How many rows of a state have a value, and how many are pending.
#[derive(Clone, Copy)]
struct Rows {
    observed: usize,
    pending: usize,
}

impl State {
    fn new(domain: Domain, kernel: Kernel, noise: f64, rows: Rows, rng: &mut ChaCha8Rng) -> Self {
        let prior = Prior::new(kernel.clone(), 0.1, noise).unwrap();
        let spec = Spec::new(domain, prior.clone(), Strategy { rule: Rule::Pes, ..Strategy::auto() }).unwrap();
        let domain = spec.finite().unwrap();
        let candidates: Vec<Vec<f64>> = (0..domain.len()).map(|i| domain.point(i)).collect();
        let mut posterior = Posterior::new(prior, candidates[0].len()).unwrap();
        let (mut sites, mut values) = (vec![], vec![]);
        let points = Points::from_rows(&candidates).unwrap();
        let function = posterior.view().draw_jointly(&points, 1.0, 1, rng).unwrap().remove(0);
        let sd = noise.sqrt();
        for id in 0..rows.observed + rows.pending {
            let site = rng.random_range(0..candidates.len());
            let (key, x) = (Key { id: id as u64, site }, &candidates[site]);
            if id < rows.observed {
                let error: f64 = StandardNormal.sample(rng);
                let value = function[site] + sd * error;
                posterior.observe(key, x, value).unwrap();
                values.push(value - 0.1);
            } else {
                posterior.hallucinate(key, x).unwrap();
            }
            sites.push(site);
        }
        let k = |i: usize, j: usize| kernel.covariance(&candidates[i], &candidates[j]);
        let solved = |sites: &[usize], sides: Vec<Vec<f64>>| {
            let entry = |a: usize, b: usize| k(sites[a], sites[b]) + if a == b { noise } else { 0.0 };
            let gram = (0..sites.len()).map(|a| (0..sites.len()).map(|b| entry(a, b)).collect()).collect();
            solve(gram, sides).0
        };
        let column = |i: usize, sites: &[usize]| sites.iter().map(|&site| k(i, site)).collect::<Vec<f64>>();
        let observed = sites[..rows.observed].to_vec();
        let weights = solved(&observed, vec![values]).remove(0);
        let all: Vec<usize> = (0..candidates.len()).collect();
        let columns = solved(&sites, all.iter().map(|&i| column(i, &sites)).collect());
        let covariance = |i: usize| all.iter().map(|&j| k(i, j) - dot(&columns[i], &column(j, &sites))).collect();
        let mean = all.iter().map(|&i| 0.1 + dot(&weights, &column(i, &observed))).collect();
        let covariance = all.iter().map(|&i| covariance(i)).collect();
        Self { spec, posterior, candidates, observed, mean, covariance }
    }

    /// With the rule's state at this trial.
    fn with<T>(&self, trial: usize, chooser: &mut dyn Chooser, act: impl FnOnce(&mut RuleState<'_>) -> T) -> T {
        let ledger = Ledger::default();
        let known = StudyState { spec: &self.spec, ledger: &ledger, posterior: &self.posterior, warp: None };
        act(&mut RuleState::new(known, chooser, Pick { trial, by_rule: 0 }))
    }

    fn chooser(&self) -> Box<dyn Chooser> {
        chooser(&self.spec, self.spec.prior()).unwrap()
    }

    fn choose(&self, trial: usize) -> Choice {
        self.with(trial, &mut *self.chooser(), |state| Pes.choose(state, 0.0)).unwrap()
    }

    /// How many of the rule's samples at this trial are highest at each candidate.
    fn counts(&self, trial: usize) -> Vec<usize> {
        let samples = self.with(trial, &mut *self.chooser(), |state| state.argmaxes_of_samples(50)).unwrap();
        let mut counts = vec![0; self.candidates.len()];
        for sample in &samples {
            counts[self.candidates.iter().position(|candidate| *candidate == sample.point).unwrap()] += 1;
        }
        counts
    }

    /// The rule's scores of all candidates, where samples are highest this often.
    fn scores(&self, counts: &[usize]) -> Vec<f64> {
        let maximum =
            |(i, count): (usize, &usize)| (SampledArgmax { point: self.candidates[i].clone(), around: vec![] }, *count);
        let maxima: Vec<_> = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(maximum).collect();
        let mut score = EntropyReduction::new(self.posterior.view(), &maxima).unwrap();
        self.candidates.iter().map(|x| score.value(x).unwrap()).collect()
    }

    /// ln(v + lambda)/2 less its average over maxima, from their variances.
    fn score(&self, x: usize, counts: &[usize], variance: impl Fn(usize) -> f64) -> f64 {
        let entropy = |variance: f64| 0.5 * (variance + self.spec.prior().noise()).ln();
        let total: usize = counts.iter().sum();
        let each = (0..counts.len()).filter(|&star| counts[star] > 0);
        let expected: f64 = each.map(|star| counts[star] as f64 * entropy(variance(star))).sum();
        entropy(self.covariance[x][x].max(0.0)) - expected / total as f64
    }

    /// The variances of all candidates given that the maximum is at `star`: expectation propagation with all factors moved at
    /// once, half of the way, the Gaussian being conditioned from scratch each time; then the factor f(x) <= f(x*).
    fn dense_variances(&self, star: usize) -> Vec<f64> {
        let mut others: Vec<usize> = self.observed.iter().copied().filter(|&j| j != star).collect();
        others.sort_unstable();
        others.dedup();
        let c = |a: usize, j: usize| self.covariance[a][star] - self.covariance[a][j];
        let cc = |i: usize, j: usize| c(star, j) - c(i, j);
        let gap = |j: usize| self.mean[star] - self.mean[j];
        // A flat factor is one with a precision too small to be seen.
        let (mut precisions, mut shifts) = (vec![1e-12; others.len()], vec![0.0; others.len()]);
        let conditioned = |precisions: &[f64], shifts: &[f64], points: &[usize]| {
            let entry = |a: usize, b: usize| cc(others[a], others[b]) + if a == b { 1.0 / precisions[a] } else { 0.0 };
            let gram = (0..others.len()).map(|a| (0..others.len()).map(|b| entry(a, b)).collect()).collect();
            let mut sides: Vec<Vec<f64>> = points.iter().map(|&x| others.iter().map(|&j| c(x, j)).collect()).collect();
            sides.extend(others.iter().map(|&i| others.iter().map(|&j| cc(i, j)).collect::<Vec<_>>()));
            sides.push((0..others.len()).map(|a| shifts[a] / precisions[a] - gap(others[a])).collect());
            let mut solved = solve(gram, sides).0;
            let weights = solved.pop().unwrap();
            (solved, weights)
        };
        for _ in 0..3_000 {
            let (solved, weights) = conditioned(&precisions, &shifts, &[]);
            let mut moved: f64 = 0.0;
            for (a, &i) in others.iter().enumerate() {
                let own: Vec<f64> = others.iter().map(|&j| cc(i, j)).collect();
                let (mean, variance) = (gap(i) + dot(&own, &weights), cc(i, i) - dot(&own, &solved[a]));
                if cc(i, i) < 1e-12 {
                    continue;
                }
                let cavity = 1.0 / (1.0 / variance - precisions[a]);
                let center = cavity * (mean / variance - shifts[a]);
                let z = center / cavity.sqrt();
                let hazard = hazard(z);
                let (matched_mean, matched) = (center + cavity.sqrt() * hazard, cavity * (1.0 - hazard * (hazard + z)));
                let precision = (1.0 / matched - 1.0 / cavity).max(1e-12);
                let shift = matched_mean / matched - center / cavity;
                let next = (0.5 * (precisions[a] + precision), 0.5 * (shifts[a] + shift));
                moved = moved
                    .max((next.0 - precisions[a]).abs() * variance)
                    .max((next.1 - shifts[a]).abs() * variance.sqrt());
                (precisions[a], shifts[a]) = next;
            }
            if moved < 1e-11 {
                break;
            }
        }
        let points: Vec<usize> = (0..self.candidates.len()).collect();
        let (solved, weights) = conditioned(&precisions, &shifts, &points);
        let with = |x: usize| others.iter().map(|&j| c(x, j)).collect::<Vec<_>>();
        let mean = |x: usize| self.mean[x] + dot(&with(x), &weights);
        let covariance = |x: usize, y: usize| self.covariance[x][y] - dot(&with(x), &solved[y]);
        let below = |x: usize| {
            let (own, star_own, both) = (covariance(x, x), covariance(star, star), covariance(x, star));
            if x == star || others.contains(&x) {
                return own;
            }
            let difference = own + star_own - 2.0 * both;
            let z = (mean(star) - mean(x)) / difference.sqrt();
            own - hazard(z) * (hazard(z) + z) * (own - both).powi(2) / difference
        };
        points.iter().map(|&x| below(x).max(0.0)).collect()
    }
}

/// phi/Phi by its definition, and by its asymptotic series where both underflow.
fn hazard(z: f64) -> f64 {
    if z < -25.0 {
        return -z - 1.0 / z + 2.0 / z.powi(3) - 10.0 / z.powi(5);
    }
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    density / (0.5 * libm::erfc(-z / std::f64::consts::SQRT_2))
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn line(points: usize) -> Domain {
    Domain::Grid(Grid::even(&[(0.0, 1.0, points)]).unwrap())
}

fn scattered(points: usize, rng: &mut ChaCha8Rng) -> Domain {
    let flat = (0..2 * points).map(|_| rng.random_range(0.0..1.0)).collect();
    Domain::Points(Points::from_flat(2, flat).unwrap())
}

fn kernels() -> [Kernel; 3] {
    [
        Kernel::squared_exponential(&[0.2]).unwrap(),
        Kernel::matern(2.5, &[0.4]).unwrap(),
        Kernel::matern(0.5, &[0.5]).unwrap().with_variance(2.0).unwrap(),
    ]
}

/// States with 0 to 40 values and 0 to 8 pending points.
fn states(count: usize) -> impl Iterator<Item = State> {
    (0..count).map(|number| {
        let rng = &mut rng(number as u64);
        let domain = if number % 2 == 0 { line(40) } else { scattered(40, rng) };
        let rows = Rows { observed: number * 7 % 41, pending: number % 9 };
        State::new(domain, kernels()[number % 3].clone(), [0.01, 0.1][number / 3 % 2], rows, rng)
    })
}

#[test]
fn scores_are_those_of_dense_expectation_propagation_and_the_choice_has_the_highest() {
    for (number, state) in states(54).enumerate() {
        let counts = state.counts(number);
        let variances: Vec<Vec<f64>> = counts
            .iter()
            .enumerate()
            .map(|(star, count)| if *count > 0 { state.dense_variances(star) } else { vec![] })
            .collect();
        let (found, choice) = (state.scores(&counts), state.choose(number));
        let dense: Vec<f64> = (0..found.len()).map(|x| state.score(x, &counts, |star| variances[star][x])).collect();
        for (x, (found, dense)) in found.iter().zip(&dense).enumerate() {
            assert!((found - dense).abs() <= 1e-6, "state {number}, {x}: {found}, dense {dense}");
        }
        let best = dense.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(dense[choice.candidate] >= best - 1e-6, "state {number}");
        // The rule averages in the order in which the maxima came.
        assert!((choice.score - found[choice.candidate]).abs() < 1e-13);
        assert_eq!((choice.gap, choice.multiplier), (Some(0.0), 0.0));
    }
}

#[test]
fn truncation_has_the_moments_of_sixty_digits() {
    // b, b (b + a) and 1 - b (b + a) by mpmath.
    let known = [
        (-1e6, 1_000_000.000_001, 0.999_999_999_999, 9.999_999_999_94e-13),
        (-120.0, 120.008_332_176_327_6, 0.999_930_584_474_008, 6.941_552_599_212_132e-5),
        (-50.5, 50.519_786_481_114_54, 0.999_608_801_119_018_7, 3.911_988_809_892_695e-4),
        (-49.5, 49.520_185_563_987_5, 0.999_592_874_374_694_8, 4.071_256_253_051_816e-4),
        (-20.0, 20.049_753_068_527_85, 0.997_536_738_384_947_8, 2.463_261_615_052_163_6e-3),
        (-1.0, 1.525_135_276_160_981, 0.800_902_334_429_651_2, 0.199_097_665_570_348_8),
        (0.0, 0.797_884_560_802_865_4, 0.636_619_772_367_581_3, 0.363_380_227_632_418_7),
        (3.0, 0.004_437_839_042_125_664, 0.013_333_211_541_740_806, 0.986_666_788_458_259_2),
        (20.0, 5.520_948_362_159_763e-88, 1.104_189_672_431_952_6e-86, 1.0),
    ];
    for (a, hazard, removed, left) in known {
        let found = Truncation::at(a);
        // a^4 eps is what is lost where the variance is 1/a^2, down to the series.
        let lost = 8.0 * f64::EPSILON * f64::max(1.0, f64::min(a.abs(), 50.0).powi(4));
        assert!((found.hazard / hazard - 1.0).abs() <= 8.0 * f64::EPSILON * (1.0 + a * a).min(4e2), "{a}: {found:?}");
        assert!(
            (found.removed / removed - 1.0).abs() <= lost && (found.left / left - 1.0).abs() <= lost,
            "{a}: {found:?}"
        );
    }
}

#[test]
fn one_factor_gives_the_moments_of_the_truncated_normal() {
    for (mean, variance) in [(0.0f64, 1.0f64), (2.0, 0.5), (-3.0, 0.25), (-40.0, 0.01), (1e-5, 1e-10)] {
        let site = nonnegative(&Joint::new(vec![mean], vec![variance]).unwrap(), |_| false)[0];
        let (z, sd) = (mean / variance.sqrt(), variance.sqrt());
        let Truncation { hazard, left, .. } = Truncation::at(z);
        let precision = 1.0 / variance + site.precision;
        let found = (mean / variance + site.shift) / precision;
        assert!((1.0 / precision / (variance * left) - 1.0).abs() < 1e-9, "{mean}, {variance}");
        assert!((found / (mean + sd * hazard) - 1.0).abs() < 1e-9, "{mean}, {variance}: {found}");
    }
}

#[test]
fn factors_are_a_fixed_point_and_their_precisions_are_not_negative() {
    for seed in 0..30 {
        let rng = &mut rng(seed);
        let len = rng.random_range(1..25);
        let root: Vec<Vec<f64>> =
            (0..len).map(|_| (0..len + 2).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
        let covariance = (0..len).flat_map(|i| (0..len).map(|j| dot(&root[i], &root[j])).collect::<Vec<_>>()).collect();
        let means = (0..len).map(|_| rng.random_range(-3.0..3.0)).collect();
        let joint = Joint::new(means, covariance).unwrap();
        let sites = nonnegative(&joint, |_| false);
        let mut given = joint.clone();
        sites.iter().enumerate().for_each(|(j, site)| given.multiply(j, site.precision, site.shift));
        for (j, site) in sites.iter().enumerate() {
            assert!(site.precision >= 0.0);
            let mut cavity = given.clone();
            cavity.multiply(j, -site.precision, -site.shift);
            let (mean, variance) = (cavity.mean(j), cavity.covariance(j, j));
            let Truncation { hazard, left, .. } = Truncation::at(mean / variance.sqrt());
            assert!((given.mean(j) / (mean + variance.sqrt() * hazard) - 1.0).abs() < 1e-8, "{seed}, {j}");
            assert!((given.covariance(j, j) / (variance * left) - 1.0).abs() < 1e-8, "{seed}, {j}");
        }
    }
}

#[test]
fn equal_maxima_are_done_once() {
    let argmax = |x: f64| SampledArgmax { point: vec![x], around: vec![] };
    let maxima = distinct(vec![argmax(0.5), argmax(0.1), argmax(0.5), argmax(0.5)]);
    assert_eq!(maxima, vec![(argmax(0.5), 3), (argmax(0.1), 1)]);
}

/// Without rows the Gaussian is the prior, whose derivatives at x* have covariances in closed form.
#[test]
fn points_around_a_maximum_stand_for_slope_and_curvature() {
    let (lengthscale, star): (f64, f64) = (0.3, 0.45);
    let prior = Prior::new(Kernel::squared_exponential(&[lengthscale]).unwrap(), 0.0, 0.01).unwrap();
    let posterior = Posterior::new(prior, 1).unwrap();
    let step = STENCIL_STEP * lengthscale;
    let points = Points::from_flat(1, vec![star, star + step, star - step]).unwrap();
    let mut sections = Sections::new(posterior.view(), points).unwrap();
    let joint = sections.joint();
    let fixed = FixedPoints { joint: &joint, observed: 0, has_slopes: true, rounding: 1e-15 };
    let given = GivenMaximum::new(fixed, 0, 1, 1.0).unwrap();
    for x in [0.0, 0.2, 0.4, 0.449, 0.46, 0.7, 1.0] {
        // In lengthscales: k = e^(-u^2/2), cov(f(x), f') = u k, cov(f(x), f'') = (u^2 - 1) k, var f' = 1, var f'' = 3,
        // cov(f, f'') = -1. The curvature is not positive: of its share 2/pi is removed, and its mean is -sqrt(2 3/pi).
        let u = (x - star) / lengthscale;
        let k = (-0.5 * u * u).exp();
        let (slope, curvature, removed) = (u * k, (u * u - 1.0) * k, 2.0 / std::f64::consts::PI);
        let own = 1.0 - slope * slope - removed * curvature * curvature / 3.0;
        let star_own = 1.0 - removed / 3.0;
        let both = k + removed * curvature / 3.0;
        let lift = (removed / 3.0).sqrt();
        let (mean, star_mean) = (-lift * curvature, lift);
        let difference = own + star_own - 2.0 * both;
        let z = (star_mean - mean) / difference.sqrt();
        let expected = own - hazard(z) * (hazard(z) + z) * (own - both).powi(2) / difference;
        let pair = given.with_star(sections.at(&[x]).unwrap());
        // The differences are off by a few times the square of the step, 2e-4.
        assert!((pair.variance - own).abs() < 1e-3, "{x}: {}, {own}", pair.variance);
        assert!(
            (pair.variance_below_star() - expected).abs() < 1e-3,
            "{x}: {}, {expected}",
            pair.variance_below_star()
        );
    }
}

/// On a space the score is climbed, with slopes of its own.
#[test]
fn slopes_are_differences_over_larger_steps() {
    let float = |name: &str| Parameter::float(name, 0.0, 1.0).unwrap();
    let space = Space::new(vec![float("x"), float("y")], vec![]).unwrap();
    for (number, kernel) in kernels().into_iter().enumerate() {
        let rng = &mut rng(number as u64);
        let prior = Prior::new(kernel, 0.0, 0.01).unwrap();
        let strategy = Strategy { rule: Rule::Pes, ..Strategy::auto() };
        let spec = Spec::new(Domain::Space(space.clone()), prior.clone(), strategy).unwrap();
        let mut posterior = Posterior::new(prior, 2).unwrap();
        let random = |rng: &mut ChaCha8Rng| [rng.random_range(0.1..0.9), rng.random_range(0.1..0.9)];
        for id in 0..8 {
            posterior.observe(Key { id, site: id as usize }, &random(rng), rng.random_range(-1.0..1.0)).unwrap();
        }
        let (mut chooser, ledger) = (chooser(&spec, spec.prior()).unwrap(), Ledger::default());
        let known = StudyState { spec: &spec, ledger: &ledger, posterior: &posterior, warp: None };
        let mut state = RuleState::new(known, &mut *chooser, Pick { trial: 8, by_rule: 0 });
        let maxima = distinct(state.argmaxes_of_samples(20).unwrap());
        assert!(maxima.iter().any(|(maximum, _)| maximum.around.len() == 2));
        let mut score = EntropyReduction::new(posterior.view(), &maxima).unwrap();
        for _ in 0..10 {
            let (point, mut slopes) = (random(rng), [0.0; 2]);
            let value = score.value_and_slopes(&point, &[0, 1], &mut slopes).unwrap();
            assert_eq!(value, score.value(&point).unwrap());
            for j in 0..2 {
                // Richardson's extrapolation of two steps, off by the fifth derivative times step^4, which counts the distance
                // to the points that condition, and by rounding over the step.
                let mut difference = |step: f64| {
                    let (mut above, mut below) = (point, point);
                    above[j] += step;
                    below[j] -= step;
                    (score.value(&above).unwrap() - score.value(&below).unwrap()) / (2.0 * step)
                };
                let expected = (4.0 * difference(5e-5) - difference(1e-4)) / 3.0;
                assert!(
                    (slopes[j] - expected).abs() <= 1e-5 * (1.0 + expected.abs()),
                    "{number}: {}, {expected}",
                    slopes[j]
                );
            }
        }
    }
}
