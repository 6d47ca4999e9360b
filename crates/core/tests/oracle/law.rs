//! The law by which GP-BTS chooses, against dense draws from the definition.

use manyhands_core::gp::{Grid, Kernel, Points, Prior};
use manyhands_core::{Direction, Domain, Event, Rule, Spec, Strategy, Study};

use super::definitions::{Rows, covariance, maximized, multiplier};
use crate::common::{Oracle, asked, candidates, dot, largest_eigenvalue, rng, uniform};

/// Frequencies of the argmax of mean + factor z, z standard normal by Box and Muller.
pub fn argmax_frequencies(means: &[f64], covariance: &[Vec<f64>], draws: usize) -> Vec<f64> {
    let n = means.len();
    let mut factor = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest = covariance[i][j] - dot(&factor[i][..j], &factor[j][..j]);
            factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
        }
    }
    let (mut counts, rng) = (vec![0usize; n], &mut rng(11));
    let mut normal = || {
        let radius = (-2.0 * (1.0 - uniform(rng, 0.0, 1.0)).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform(rng, 0.0, 1.0)).cos()
    };
    for _ in 0..draws {
        let z: Vec<f64> = (0..n).map(|_| normal()).collect();
        let sample = |i: usize| means[i] + dot(&factor[i], &z);
        let best = (0..n).max_by(|&i, &j| sample(i).total_cmp(&sample(j))).unwrap();
        counts[best] += 1;
    }
    counts.into_iter().map(|count| count as f64 / draws as f64).collect()
}

const SEEDS: usize = 20_000;
const DRAWS: usize = 400_000;
const AXIS: [f64; 5] = [0.0, 0.17, 0.4, 0.62, 1.0];

/// One failed and one pending beside two observed; their points stay hallucinated.
fn log() -> Vec<Event> {
    vec![
        asked(0, 1),
        asked(1, 3),
        asked(2, 0),
        asked(3, 4),
        Event::Told { trial: 1, value: 3.1 },
        Event::Failed { trial: 2, reason: "it broke".into() },
        Event::Told { trial: 0, value: 0.9 },
    ]
}

fn spec(domain: Domain) -> Spec {
    let kernel = Kernel::squared_exponential(&[0.3]).unwrap().with_variance(3.0).unwrap();
    let prior = Prior::new(kernel, 2.0, 0.1).unwrap();
    // Narrow, so that the means matter beside the spread.
    let strategy = Strategy { width: 0.1, ..Strategy::new(Rule::GpBts, 0.5) };
    Spec::new(domain, prior, strategy).unwrap().with_direction(Direction::Minimize)
}

/// How often each candidate is the argmax of a dense draw, for the next pick of this study.
fn law(spec: &Spec) -> Vec<f64> {
    let (prior, points) = (maximized(spec), candidates(spec.domain()));
    let rows = Rows::of(&Study::replay(spec.clone(), &log()).unwrap());
    let seen = Oracle::new(&prior, &points, &rows.observed, &rows.values);
    let xi = 1.0 + largest_eigenvalue(covariance(&prior, &rows.hallucinated, &rows.observed)) / prior.noise();
    let v = 0.1 * multiplier(spec, 5, seen.information, xi);
    let mut scaled = covariance(&prior, &points, &rows.all());
    scaled.iter_mut().flatten().for_each(|c| *c *= v * v);
    argmax_frequencies(&seen.means, &scaled, DRAWS)
}

#[test]
fn gp_bts_chooses_by_the_law_of_dense_cholesky_draws() {
    let scattered = spec(Domain::Points(Points::from_flat(1, AXIS.to_vec()).unwrap()));
    let law = law(&scattered);
    for spec in [scattered, spec(Domain::Grid(Grid::new(vec![AXIS.to_vec()]).unwrap()))] {
        let mut counts = [0usize; 5];
        for seed in 0..SEEDS {
            let mut study = Study::replay(spec.clone().with_seed(seed as u64), &log()).unwrap();
            counts[study.ask(1).unwrap()[0].choice.candidate] += 1;
        }
        for (i, &p) in law.iter().enumerate() {
            let found = counts[i] as f64 / SEEDS as f64;
            let error = (p * (1.0 - p) * (1.0 / SEEDS as f64 + 1.0 / DRAWS as f64)).sqrt();
            assert!((found - p).abs() <= 5.0 * error, "candidate {i}: {found}, the law says {p} +- {error}");
        }
    }
}
