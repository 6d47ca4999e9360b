//! What a batch of each rule costs on a grid, beside IGP-BUCB's in the same run.

use manyhands_core::{Domain, DppKind, Rule, Spec, Strategy, Study};
use manyhands_gp::Prior;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::black_box::{self, BATCH, NOISE};
use super::cost::timed_wall;
use super::report::{Limit, Measurement, Unit};
use super::{Setup, Size, Task};
use crate::Result;
use crate::statistics::median;

const SECTION: &str = "rules";
/// Batches that are measured, after a first one.
const REPEATS: usize = 3;
/// How many times as much as IGP-BUCB's a batch may cost that is chosen by upper bounds, at the full size.
const MOST: f64 = 5.0;

/// A rule with its settings, on a grid of `side` x `side` points.
struct RuleCase {
    name: &'static str,
    strategy: Strategy,
    side: usize,
    limit: Option<f64>,
}

fn cases() -> Vec<RuleCase> {
    let of = |rule| Strategy { rule, ..Strategy::auto() };
    let case = |name, strategy, side, limit| RuleCase { name, strategy, side, limit };
    let upper = |rule: Rule| case(rule.name(), of(rule), 316, Some(MOST));
    let free = |rule: Rule, side| case(rule.name(), of(rule), side, None);
    vec![
        upper(Rule::GpUcb),
        upper(Rule::GpUcbPe),
        free(Rule::GpEi, 316),
        free(Rule::GpPi, 316),
        case("gp-bts, multiplier 1", Strategy { multiplier: Some(1.0), ..of(Rule::GpBts) }, 316, None),
        free(Rule::AsyTs, 316),
        free(Rule::Est, 316),
        case("dpp, sample", Strategy { dpp: DppKind::Sample, ..of(Rule::Dpp) }, 128, None),
        free(Rule::LocalPenalization, 128),
        free(Rule::Pes, 32),
    ]
}

/// All rules at so many observed points as the size of the bench says.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let (rounds, cases) = (setup.size.rounds(), cases());
    let task = setup.monitor.begin(SECTION, cases.len());
    let rows = cases.iter().map(|case| row(case, rounds, task.as_ref()));
    rows.map(|row| row.map(|row| if setup.size == Size::Full { row } else { Measurement { limit: None, ..row } }))
        .collect()
}

fn row(case: &RuleCase, rounds: usize, task: &dyn Task) -> Result<Measurement> {
    let (reference, seconds) = (
        batch_seconds(Strategy::new(Rule::IgpBucb, 2.0), case, rounds)?,
        batch_seconds(case.strategy.clone(), case, rounds)?,
    );
    task.advance(1);
    let RuleCase { name, side, .. } = case;
    let what = format!("batch of {BATCH} by {name}, {side} x {side}, n = {rounds}");
    let measurement =
        Measurement::new(SECTION, what, Unit::Seconds, Some(seconds)).against("igp-bucb there", Some(reference));
    Ok(match case.limit {
        Some(most) => measurement.limited(Limit::RatioAtMost(most)),
        None => measurement,
    })
}

/// The median of a few batches, the values of each being told before the next.
fn batch_seconds(strategy: Strategy, case: &RuleCase, rounds: usize) -> Result<f64> {
    let prior = Prior::new(black_box::kernel()?, 0.0, NOISE)?;
    let domain = Domain::Grid(black_box::grid(case.side)?);
    let mut study = Study::new(Spec::new(domain, prior, strategy)?)?;
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for trial in 0..rounds {
        let (row, column) = (rng.random_range(0..case.side), rng.random_range(0..case.side));
        let step = |index: usize| index as f64 / (case.side - 1) as f64;
        let value = black_box::value(trial, &[step(row), step(column)]);
        study.include_candidate(row * case.side + column, Some(value))?;
    }
    let mut seconds = Vec::new();
    for _ in 0..=REPEATS {
        let (batch, cost) = timed_wall(|| study.ask(BATCH));
        for s in batch? {
            study.tell(s.trial, black_box::value(s.trial, &s.point))?;
        }
        seconds.push(cost);
    }
    Ok(median(&seconds[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_with_a_search_of_its_own_is_measured() {
        let measured: Vec<Rule> = cases().iter().map(|case| case.strategy.rule).collect();
        // The others have the search and the score of one of these: an upper bound.
        let like_igp_bucb = [Rule::Auto, Rule::IgpBucb, Rule::GpBucb, Rule::GpBucbBayesian];
        assert!(Rule::all().all(|rule| measured.contains(&rule) || like_igp_bucb.contains(&rule)));
        for case in cases() {
            let small = RuleCase { side: 6, ..case };
            assert!(batch_seconds(small.strategy.clone(), &small, 8).is_ok(), "{}", small.name);
        }
    }
}
