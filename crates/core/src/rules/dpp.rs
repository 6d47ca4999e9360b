//! DPP batches (Kathuria, Deshpande and Kohli 2016): batches whose exploring picks are far apart, by determinants.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | R | region | where the maximum may be, as GP-UCB-PE has it; its points that may be chosen |
//! | K1 | covariance | of the points of R, given observed, pending and failed points: the first pick is pending |
//! | L | | I + K1/lambda: P(S) is proportional to det L_S |
//!
//! With `dpp = "max"` each pick adds the most to the determinant, given those before it: that is GP-UCB-PE. With
//! `dpp = "sample"` the picks of one ask that are not the first of a batch are one draw of a k-DPP over R, in the order drawn;
//! where R has too few points, the rest are chosen as by `max`. A region of more than 2,000 points is thinned to 2,000, drawn
//! uniformly. On a space R is taken from one fixed quasi-random set and the observed points.

use manyhands_gp::{Among, draw_k_dpp};
use rand::RngExt;

use super::gp_ucb::{self, squared_width};
use super::gp_ucb_pe::{GpUcbPe, PromisingRegion, explore};
use super::{Formulas, RuleState};
use crate::compatibility::at_most;
use crate::error::Key;
use crate::tuning::{MOST_FOR_DPP, MOST_IN_DPP};
use crate::{Aim, Choice, DppKind, Result, Strategy};

pub(super) struct Dpp;

impl Formulas for Dpp {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        squared_width(state, state.batch()).map(f64::sqrt)
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        GpUcbPe.choose(state, multiplier)
    }

    fn choose_jointly(&self, state: &mut RuleState<'_>, multiplier: f64, most: usize) -> Result<Vec<Choice>> {
        let is_drawn = self.draws_jointly(state.strategy()) && !state.is_first_of_batch();
        if !is_drawn || state.explorations_of_ask() > 0 {
            return Ok(vec![self.choose(state, multiplier)?]);
        }
        let region = PromisingRegion::new(state, multiplier)?;
        let drawn = draw(state, &region, most)?;
        if drawn.is_empty() { Ok(vec![explore(state, &region)?]) } else { Ok(drawn) }
    }

    fn draws_jointly(&self, strategy: &Strategy) -> bool {
        strategy.dpp == DppKind::Sample
    }

    fn reads(&self, strategy: &Strategy) -> &'static [&'static str] {
        if strategy.beta.is_some() { &["width", "beta", "dpp"] } else { &["delta", "width", "beta", "dpp"] }
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        if strategy.dpp == DppKind::Sample {
            at_most(MOST_FOR_DPP, candidates, Key::strategy("dpp").shown_as("dpp = \"sample\""))?;
        }
        gp_ucb::check_width(strategy, candidates)
    }
}

/// As many points of the region as are wanted, or all that may be chosen.
fn draw(state: &mut RuleState<'_>, region: &PromisingRegion, wanted: usize) -> Result<Vec<Choice>> {
    let mut rng = state.generator();
    let mut points = state.members(Among::Eligible, &region.level_set())?;
    thin(&mut points, &mut rng);
    let (noise, len) = (state.noise(), points.len());
    let mut matrix = state.covariance(&points)?;
    matrix.iter_mut().for_each(|entry| *entry /= noise);
    (0..len).for_each(|i| matrix[i * len + i] += 1.0);
    let drawn = draw_k_dpp(&matrix, wanted, &mut rng)?;
    let choice = |(later, item): (usize, usize)| {
        let choice = state.choice_of(points[item], later)?;
        Ok(Choice { score: choice.sd, gap: None, aim: Some(Aim::Exploring), ..choice })
    };
    drawn.into_iter().enumerate().map(choice).collect()
}

/// Leaves as many points as a draw takes, each set of them with the same probability, in their order.
fn thin(points: &mut Vec<usize>, rng: &mut impl rand::Rng) {
    if points.len() <= MOST_IN_DPP {
        return;
    }
    for i in 0..MOST_IN_DPP {
        let other = rng.random_range(i..points.len());
        points.swap(i, other);
    }
    points.truncate(MOST_IN_DPP);
    points.sort_unstable();
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn thinning_keeps_every_point_with_the_same_probability() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let (len, rounds) = (2 * MOST_IN_DPP, 400);
        let mut kept = vec![0.0; len];
        for _ in 0..rounds {
            let mut points: Vec<usize> = (0..len).collect();
            thin(&mut points, rng);
            assert!(points.len() == MOST_IN_DPP && points.windows(2).all(|pair| pair[0] < pair[1]));
            points.iter().for_each(|&point| kept[point] += 1.0);
        }
        // Each is binomial(400, 1/2): sd 10. Six sd happen to one of 4,000 with probability 8e-6.
        assert!(kept.iter().all(|count: &f64| (count - 200.0).abs() < 60.0));
    }
}
