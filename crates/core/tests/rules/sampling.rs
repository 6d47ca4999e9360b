//! The laws of rules that draw: Thompson samples given the observed points alone, and batches from a determinantal process.

use super::dense::Dense;
use super::exploration::{batch, check, margins};
use super::special::chi_square_tail;
use super::states::{KINDS, ask, random_spec, visit};
use crate::common::{rng, solve};
use crate::oracle::definitions::covariance;
use crate::oracle::law::argmax_frequencies;
use manyhands_core::gp::{Grid, Kernel, Points, Prior};
use manyhands_core::{Direction, Domain, DppKind, Hallucination, Rule, Spec, Strategy, Study, TrialState};

/// A wrong law is found with certainty; a right one is refused once in ten thousand seeds, and the seeds are fixed.
const LEVEL: f64 = 1e-4;
/// Cells that are expected less often are counted as one.
const RARE: f64 = 8.0;

const AXIS: [f64; 8] = [0.0, 0.12, 0.2, 0.41, 0.5, 0.67, 0.85, 1.0];

/// Pearson's chi-square of counts whose law is known exactly, or as frequencies among `draws`.
fn assert_law(counts: &[usize], law: &[f64], draws: f64) {
    let total = counts.iter().sum::<usize>() as f64;
    let (rare, common): (Vec<usize>, Vec<usize>) = (0..law.len()).partition(|&i| law[i] * total < RARE);
    let sum = |of: &[usize]| {
        (of.iter().map(|&i| counts[i] as f64).sum::<f64>(), of.iter().map(|&i| law[i] * total).sum::<f64>())
    };
    let cells: Vec<(f64, f64)> = common.iter().map(|&i| sum(&[i])).chain([sum(&rare)]).collect();
    let cells: Vec<(f64, f64)> = cells.into_iter().filter(|(_, expected)| *expected >= RARE).collect();
    assert!(cells.len() >= 3, "the law has too few cells to be tested: {law:?}");
    let square = |(found, expected): &(f64, f64)| (found - expected).powi(2) / (expected * (1.0 + total / draws));
    let statistic = cells.iter().map(square).sum::<f64>();
    let tail = chi_square_tail(statistic, cells.len() - 1);
    assert!(tail >= LEVEL, "chi-square {statistic} of {} cells, p = {tail:e}: {counts:?}, {law:?}", cells.len());
    assert!(sum(&rare).0 <= sum(&rare).1 + 6.0 * sum(&rare).1.sqrt() + 6.0, "rare cells: {:?}", sum(&rare));
}

fn spec(domain: Domain, variance: f64, strategy: Strategy) -> Spec {
    let kernel = Kernel::squared_exponential(&[0.25]).unwrap().with_variance(variance).unwrap();
    let prior = Prior::new(kernel, 2.0, 0.1).unwrap();
    Spec::new(domain, prior, strategy).unwrap().with_direction(Direction::Minimize)
}

fn points() -> Domain {
    Domain::Points(Points::from_flat(1, AXIS.to_vec()).unwrap())
}

/// Three values, one of them told late; one trial failed, one is pending, one was cancelled.
fn state(spec: &Spec, values: [f64; 3]) -> Study {
    let mut study = Study::new(spec.clone()).unwrap();
    study.include_candidate(1, Some(values[0])).unwrap();
    let late = study.include_candidate(4, None).unwrap();
    let failed = study.include_candidate(6, None).unwrap();
    let cancelled = study.include_candidate(3, None).unwrap();
    study.include_candidate(7, Some(values[1])).unwrap();
    study.fail(failed, "broke").unwrap();
    study.cancel(cancelled).unwrap();
    study.tell(late, values[2]).unwrap();
    study.include_candidate(0, None).unwrap();
    study
}

/// How often each candidate is chosen over many seeds of the study, in batches of three.
fn counts(spec: &Spec, seeds: u64) -> Vec<usize> {
    let log = state(spec, VALUES);
    let mut counts = vec![0; AXIS.len()];
    for seed in 0..seeds {
        let mut study = Study::replay(spec.clone().with_seed(seed), log.events()).unwrap();
        study.ask(3).unwrap().iter().for_each(|s| counts[s.choice.candidate] += 1);
    }
    counts
}

const VALUES: [f64; 3] = [1.4, 2.6, 1.1];

#[test]
fn asy_ts_chooses_by_the_law_of_dense_draws_given_observed_points_alone() {
    const DRAWS: usize = 400_000;
    let strategy = Strategy { rule: Rule::AsyTs, ..Strategy::auto() };
    let first = spec(points(), 3.0, strategy.clone());
    let dense = Dense::of(&state(&first, VALUES));
    let means: Vec<f64> = dense.means.iter().map(|mean| mean.0).collect();
    let law = argmax_frequencies(&means, &covariance(&dense.prior, &dense.points, &dense.rows.observed), DRAWS);
    let grid = spec(Domain::Grid(Grid::new(vec![AXIS.to_vec()]).unwrap()), 3.0, strategy);
    for spec in [first, grid] {
        assert_law(&counts(&spec, 2_000), &law, DRAWS as f64);
    }
}

#[test]
fn asy_ts_has_the_law_of_gp_bts_with_multiplier_1_that_ignores_pending_points() {
    let plain = spec(points(), 3.0, Strategy { rule: Rule::AsyTs, ..Strategy::auto() });
    let hallucination = Hallucination::Off;
    let given = Strategy { multiplier: Some(1.0), hallucination, ..Strategy::new(Rule::GpBts, 1.0) };
    let other = spec(points(), 3.0, given).with_seed(1);
    let frequencies: Vec<f64> = counts(&other, 2_000).into_iter().map(|count| count as f64 / 6e3).collect();
    // Other seeds, so that the draws are independent.
    let log = state(&plain, VALUES);
    let mut found = vec![0; AXIS.len()];
    for seed in 10_000..12_000 {
        let mut study = Study::replay(plain.clone().with_seed(seed), log.events()).unwrap();
        study.ask(3).unwrap().iter().for_each(|s| found[s.choice.candidate] += 1);
    }
    assert_law(&found, &frequencies, 6e3);
}

#[test]
fn asy_ts_says_of_its_picks_what_is_known_in_random_states() {
    for seed in 0..52 {
        let rng = &mut rng(1000 + seed);
        let strategy = Strategy { rule: Rule::AsyTs, ..Strategy::auto() };
        visit(&random_spec(rng, KINDS[seed as usize % 4], strategy), rng, |before, s| {
            let dense = Dense::of(before);
            // The sd by which it draws is that given observed points.
            let dense = Dense { sds: dense.sds_observed.clone(), ..dense };
            dense.assert_moments(before, s);
            let i = s.choice.candidate;
            let ((mean, _), (sd, _)) = (dense.means[i], dense.sds[i]);
            // The value of a sample there; the largest of a few thousand normals is below 7 sd.
            assert!((s.choice.score - mean).abs() <= 7.0 * sd + 1e-6 * dense.scale, "{:?}", s.choice);
            assert_eq!(s.choice.multiplier, 1.0);
        });
    }
}

fn sampling(domain: Domain, beta: f64) -> Spec {
    spec(domain, 0.5, Strategy { rule: Rule::Dpp, dpp: DppKind::Sample, beta: Some(beta), ..Strategy::auto() })
}

/// The candidates of the region that may be chosen; none of the others is near its edge.
fn region(study: &Study) -> Vec<usize> {
    let dense = Dense::of(study);
    let margins = margins(study.spec(), &dense, batch(study).0);
    assert!(margins.iter().all(|(margin, error)| margin.abs() > 1e3 * error));
    (0..dense.len()).filter(|&i| dense.allowed[i] && margins[i].0 > 0.0).collect()
}

/// Subsets of this size as bit masks, each with its probability: proportional to det L_S, L = I + K1/noise.
fn subsets(study: &Study, size: u32) -> Vec<(usize, f64)> {
    let (dense, region) = (Dense::of(study), region(study));
    let k1 = covariance(&dense.prior, &dense.points, &dense.rows.all());
    let minor = |mask: usize| {
        let members: Vec<usize> = region.iter().copied().filter(|i| mask >> i & 1 == 1).collect();
        let entry = |i: usize, j: usize| f64::from(u8::from(i == j)) + k1[i][j] / dense.prior.noise();
        let matrix = members.iter().map(|&i| members.iter().map(|&j| entry(i, j)).collect()).collect();
        solve(matrix, vec![]).1.exp()
    };
    let inside: usize = region.iter().map(|i| 1 << i).sum();
    let masks = (0..1usize << dense.len()).filter(|mask| mask & !inside == 0 && mask.count_ones() == size);
    let weighted: Vec<(usize, f64)> = masks.map(|mask| (mask, minor(mask))).collect();
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    weighted.into_iter().map(|(mask, weight)| (mask, weight / total)).collect()
}

/// How often each of these subsets is what one ask for `count` draws after its first `skipped` picks.
fn drawn(start: &Study, count: usize, skipped: usize, subsets: &[(usize, f64)]) -> Vec<usize> {
    let mut counts = vec![0; subsets.len()];
    for seed in 0..20_000 {
        let mut study = Study::replay(start.spec().clone().with_seed(seed), start.events()).unwrap();
        let batch = study.ask(count).unwrap();
        let mask = batch[skipped..].iter().fold(0, |mask, s| mask | 1 << s.choice.candidate);
        counts[subsets.iter().position(|(subset, _)| *subset == mask).unwrap()] += 1;
    }
    counts
}

#[test]
fn the_other_picks_of_a_dpp_batch_are_one_draw_by_determinants() {
    let longer = (0..14).map(|i| 0.08 * f64::from(i)).collect();
    let grid = Domain::Grid(Grid::new(vec![longer]).unwrap());
    for (spec, others) in [(sampling(points(), 0.4), 2), (sampling(grid, 2.0).without_repeats().unwrap(), 3)] {
        let start = state(&spec, VALUES);
        let mut after_first = start.clone();
        let first = ask(&mut after_first, 1, &mut |before, s| assert!(check(before, s)));
        let subsets = subsets(&after_first, others);
        let allowed = Dense::of(&after_first).allowed;
        let region = region(&after_first).len();
        assert!(subsets.len() > 3 && region < allowed.len(), "{region} of {allowed:?}");
        let counts = drawn(&start, 1 + others as usize, 1, &subsets);
        let law: Vec<f64> = subsets.iter().map(|(_, probability)| *probability).collect();
        assert_law(&counts, &law, f64::INFINITY);
        // The chi-square that uniform subsets would have: far above any that passes.
        let uniform = 1.0 / law.len() as f64;
        assert!(law.iter().map(|p| 20_000.0 * (p - uniform).powi(2) / p).sum::<f64>() > 200.0);
        assert_eq!(after_first.point(first[0].trial).unwrap(), first[0].point);
    }
}

#[test]
fn an_ask_that_is_not_the_first_of_a_dpp_batch_is_a_draw_as_a_whole() {
    let mut start = state(&sampling(points(), 0.4), VALUES);
    start.ask(1).unwrap();
    let subsets = subsets(&start, 2);
    let law: Vec<f64> = subsets.iter().map(|(_, probability)| *probability).collect();
    assert_law(&drawn(&start, 2, 0, &subsets), &law, f64::INFINITY);
}

#[test]
fn picks_that_are_drawn_jointly_claim_no_gap_and_their_number_must_be_given() {
    let mut study = state(&sampling(points(), 0.4), VALUES);
    let told = study.ask_adaptive(2, 5.0).unwrap_err().to_string();
    assert!(told.starts_with("a batch of adaptive size does not work with dpp = \"sample\": "), "{told}");
    let gaps: Vec<Option<f64>> = study.ask(3).unwrap().iter().map(|s| s.choice.gap).collect();
    assert_eq!(gaps, [Some(0.0), None, None]);
}

#[test]
fn a_dpp_batch_larger_than_its_region_takes_all_of_it_and_then_explores() {
    let mut study = state(&sampling(points(), 0.4), VALUES);
    study.ask(1).unwrap();
    let region = region(&study);
    assert!(region.len() < AXIS.len());
    let mut seen = 0;
    let more = 3;
    let batch = ask(&mut study, region.len() + more, &mut |before, s| {
        seen += 1;
        assert!(region.contains(&s.choice.candidate));
        if seen > region.len() {
            assert!(!check(before, s));
        }
    });
    let mut drawn: Vec<usize> = batch[..region.len()].iter().map(|s| s.choice.candidate).collect();
    drawn.sort_unstable();
    assert_eq!(drawn, region);
    assert_eq!(study.count(TrialState::Observed), 3);
    Study::verify(study.spec(), study.events()).unwrap();
}
