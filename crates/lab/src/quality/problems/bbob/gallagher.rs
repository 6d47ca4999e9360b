//! Functions 21 and 22, Gallagher's Gaussian peaks (RR-6829, section 5): T_osz(10 - max over i of
//! w_i exp(-(z - y_i)^T C_i (z - y_i)/(2 D)))^2 with z = Q x.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | w_i | `height` | 10 for the best peak, the others evenly spread from 1.1 to 9.1 |
//! | y_i | `centre` | the peak's place, rotated |
//! | alpha_i | `condition` | the condition of the peak |
//! | C_i | `curvatures` | the diagonal of Lambda^alpha_i/alpha_i^(1/4), in random order |

use super::instance::{InstanceDraws, Landscape};
use super::random::uniform;
use super::transformations::{oscillated, position};

/// The height of the best peak, and of the lowest and highest of the others.
const HEIGHTS: [f64; 3] = [10.0, 1.1, 9.1];

/// What the two functions differ in.
struct Layout {
    peaks: usize,
    /// The condition of the best peak.
    condition: f64,
    /// Peaks lie in [-reach, reach]^D, the best one in 4/5 of it.
    reach: f64,
}

/// f21, with 101 peaks.
pub fn gallagher_101(draws: InstanceDraws) -> Landscape {
    gallagher(draws, &Layout { peaks: 101, condition: 1e3, reach: 5.0 })
}

/// f22, with 21 peaks.
pub fn gallagher_21(draws: InstanceDraws) -> Landscape {
    gallagher(draws, &Layout { peaks: 21, condition: 1e6, reach: 4.9 })
}

struct GaussianPeak {
    height: f64,
    centre: Vec<f64>,
    curvatures: Vec<f64>,
}

impl GaussianPeak {
    /// w_i exp(-(z - y_i)^T C_i (z - y_i)/(2 D)).
    fn at(&self, z: &[f64]) -> f64 {
        let term = |((z, y), c): ((&f64, &f64), &f64)| c * (z - y) * (z - y);
        let distance: f64 = z.iter().zip(&self.centre).zip(&self.curvatures).map(term).sum();
        self.height * (-0.5 / z.len() as f64 * distance).exp()
    }
}

fn gallagher(draws: InstanceDraws, layout: &Layout) -> Landscape {
    let InstanceDraws { dimension, seed } = draws;
    let q = draws.q();
    let mut places: Vec<Vec<f64>> = uniform(dimension * layout.peaks, seed)
        .chunks(dimension)
        .map(|chunk| chunk.iter().map(|u| layout.reach * (2.0 * u - 1.0)).collect())
        .collect();
    places[0].iter_mut().for_each(|x| *x *= 0.8);
    // alpha_i of all but the best peak: 1000^(2 j/(peaks - 2)) in random order.
    let others = ranking(&uniform(layout.peaks - 1, seed));
    let peak = |(i, place): (usize, &Vec<f64>)| {
        let spread = |j: usize| j as f64 / (layout.peaks - 2) as f64;
        let [best, low, high] = HEIGHTS;
        let (height, condition) = match i {
            0 => (best, layout.condition),
            i => (low + (high - low) * spread(i - 1), 1e6f64.powf(spread(others[i - 1]))),
        };
        let order = ranking(&uniform(dimension, seed + 1000 * i as i64));
        let curvature = |j: &usize| condition.powf(0.5 * position(*j, dimension) - 0.25);
        GaussianPeak { height, centre: q.times(place), curvatures: order.iter().map(curvature).collect() }
    };
    let peaks: Vec<GaussianPeak> = places.iter().enumerate().map(peak).collect();
    Landscape::new(places.swap_remove(0), move |x| {
        let z = q.times(x);
        let highest = peaks.iter().map(|peak| peak.at(&z)).fold(0.0, f64::max);
        oscillated(HEIGHTS[0] - highest).powi(2)
    })
}

/// The places of the numbers in increasing order.
fn ranking(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|i, j| numbers[*i].total_cmp(&numbers[*j]));
    order
}
