//! The promises of the quality bench: runs do not depend on threads, schedules keep their word, pools are read.

use std::cell::RefCell;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use manyhands_core::{Direction, Value};
use manyhands_lab::quality::{
    ActiveOptimizer, FLOOR, FinishedRun, Optimizer, OptimizerComparison, OptimizerRuns, POOLS, PlayedRun, PoolGoal,
    PoolHalf, PoolPerformance, PoolProblem, ProblemSet, Protocol, RandomOrder, RandomSearch, Schedule, SeededRun,
    Selection, SpacePerformance, TestProblem, problems,
};
use manyhands_lab::{Error, Result};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn named(names: &[&str]) -> Vec<manyhands_lab::quality::SpaceProblem> {
    problems::named(&names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
}

fn small() -> Protocol {
    Protocol { seeds: 2, evaluations: Some(10), ..Protocol::default() }
}

fn random(protocol: Protocol, threads: usize) -> OptimizerComparison {
    OptimizerComparison { optimizers: vec![Optimizer::Random], protocol, threads }
}

/// What an optimizer saw, in order: the most that was pending, the trials told.
#[derive(Debug, Default)]
struct Seen {
    pending: usize,
    most: usize,
    asked: Vec<usize>,
    told: Vec<(usize, f64)>,
}

/// Always suggests the same, and keeps a record.
struct Recorder<Proposal>(Proposal, Rc<RefCell<Seen>>);

impl<Proposal: Clone> ActiveOptimizer<Proposal> for Recorder<Proposal> {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Proposal)>> {
        let mut seen = self.1.borrow_mut();
        let first: usize = seen.asked.iter().sum();
        seen.asked.push(count);
        seen.pending += count;
        seen.most = seen.most.max(seen.pending);
        Ok((first..first + count).map(|trial| (trial, self.0.clone())).collect())
    }

    fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        let mut seen = self.1.borrow_mut();
        seen.pending -= 1;
        seen.told.push((trial, value));
        Ok(())
    }
}

fn recorded(protocol: &Protocol, seed: u64) -> Seen {
    let seen = Rc::new(RefCell::new(Seen::default()));
    let mut active = Recorder((), seen.clone());
    let value = |order: usize, (): &()| Ok(ControlFlow::Continue(order as f64));
    SeededRun::new("nothing", seed).drive(&mut active, protocol, protocol.evaluations.unwrap(), value).unwrap();
    seen.take()
}

#[test]
fn random_search_is_the_same_on_one_and_two_threads() {
    let problems = named(&["branin-noise-5", "training", "mixture", "branin-constrained"]);
    let performances = |threads| -> Vec<Vec<(u64, SpacePerformance)>> {
        let strip = |runs: &OptimizerRuns<SpacePerformance>| {
            runs.finished.iter().map(|run| (run.seed, run.performance.clone())).collect()
        };
        random(small(), threads).run(&problems, &|| ()).unwrap().iter().map(|runs| strip(&runs[0])).collect()
    };
    assert_eq!(performances(1), performances(2));
    assert_eq!(performances(1)[0].iter().map(|(seed, _)| *seed).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_game_does_not_depend_on_the_others() {
    let performance = |names: &[&str], name: &str| {
        let problems = named(names);
        let place = problems.iter().position(|problem| problem.name() == name).unwrap();
        random(small(), 2).run(&problems, &|| ()).unwrap()[place][0].finished[1].performance.clone()
    };
    assert_eq!(performance(&["cosines"], "cosines"), performance(&["branin", "cosines", "levy10"], "cosines"));
}

#[test]
fn regret_falls_and_is_judged_by_true_values() {
    let problem = &named(&["hartmann6-noise-100"])[0];
    for run in &random(small(), 1).run(std::slice::from_ref(problem), &|| ()).unwrap()[0][0].finished {
        let simple = &run.performance.simple;
        assert_eq!(simple.len(), 10);
        assert!(simple.windows(2).all(|pair| pair[1] <= pair[0]), "{simple:?}");
        assert!(run.performance.inference >= run.performance.last(), "it recommends a point that it evaluated");
    }
    let point: Vec<Value> = problem.optimum().point.clone();
    let seen = Rc::new(RefCell::new(Seen::default()));
    let run = SeededRun::new(problem.name(), 1);
    let performance = problem.performance(&mut Recorder(point, seen.clone()), &small(), &run).unwrap();
    assert_eq!((performance.simple, performance.inference), (vec![FLOOR; 10], FLOOR));
    let told: Vec<f64> = seen.take().told.iter().map(|(_, value)| *value).collect();
    assert!(told.iter().all(|value| (value - problem.optimum().value).abs() > 1e-6), "told values are noisy: {told:?}");
}

/// Points and the values that were told of them.
type Told = Vec<(Vec<Value>, f64)>;

/// Suggests what random search does, keeps what it is told, and may recommend its first point.
struct Frank {
    search: RandomSearch,
    points: Vec<Vec<Value>>,
    told: Rc<RefCell<Told>>,
    recommends_first: bool,
}

impl ActiveOptimizer for Frank {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Vec<Value>)>> {
        let asked = self.search.ask(count)?;
        self.points.extend(asked.iter().map(|(_, point)| point.clone()));
        Ok(asked)
    }

    fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        self.told.borrow_mut().push((self.points[trial].clone(), value));
        Ok(())
    }

    fn recommend(&mut self) -> Result<Option<Vec<Value>>> {
        Ok(self.recommends_first.then(|| self.points[0].clone()))
    }
}

/// The oracle is the record of what was told: the best noisy value's point, or the first point.
#[test]
fn what_is_recommended_is_judged_by_its_true_value() {
    for (name, best) in [("hartmann6-noise-100", f64::min as fn(f64, f64) -> f64), ("cosines", f64::max)] {
        let problem = &named(&[name])[0];
        for seed in 1..=5 {
            let played = |recommends_first| {
                let told = Rc::new(RefCell::new(vec![]));
                let search = RandomSearch::new(problem.space().clone(), ChaCha8Rng::seed_from_u64(seed)).unwrap();
                let mut frank = Frank { search, points: vec![], told: told.clone(), recommends_first };
                let run = SeededRun::new(name, seed);
                (problem.performance(&mut frank, &small(), &run).unwrap().inference, told.take())
            };
            let regret = |point: &[Value]| problem.regret(problem.value(point).unwrap());
            let (without, told) = played(false);
            let least = told.iter().map(|(_, value)| *value).reduce(best).unwrap();
            assert_eq!(without, regret(&told.iter().find(|(_, value)| *value == least).unwrap().0));
            assert_eq!(played(true).0, regret(&told[0].0));
        }
    }
}

/// By hand: regrets 4, 2, 2, 1.
#[test]
fn a_performance_tells_when_a_regret_was_reached() {
    let performance = SpacePerformance { simple: vec![4.0, 2.0, 2.0, 1.0], inference: 2.0 };
    assert_eq!(
        [4.0, 3.0, 2.0, 1.0, 0.5].map(|regret| performance.first_at_most(regret)),
        [1, 2, 2, 4, 0].map(|n| (n > 0).then_some(n))
    );
    assert_eq!((performance.after(3), performance.after(5), performance.after(0)), (Some(2.0), None, None));
    assert_eq!(performance.last(), 1.0);
}

#[test]
fn batches_are_asked_and_told_as_a_whole() {
    let seen = recorded(&Protocol { evaluations: Some(12), ..small() }, 1);
    assert_eq!((seen.asked, seen.most), (vec![5, 5, 2], 5));
    assert_eq!(seen.told.iter().map(|(trial, _)| *trial).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_are_more_pending_than_workers(workers in 1..=20usize, evaluations in 1..80usize, seed in 0..1000u64) {
        let protocol = Protocol { batch: workers, evaluations: Some(evaluations), schedule: Schedule::Asynchronous, ..small() };
        let seen = recorded(&protocol, seed);
        prop_assert_eq!(seen.most, workers.min(evaluations));
        prop_assert_eq!(seen.asked.iter().sum::<usize>(), evaluations);
        prop_assert!(seen.asked[1..].iter().all(|count| *count == 1));
        prop_assert_eq!(seen.told.len(), evaluations);
        prop_assert!(seen.told.iter().all(|(trial, value)| *trial as f64 == *value), "each gets its own value");
    }
}

#[test]
fn asynchronous_results_overtake_each_other() {
    let seen = recorded(&Protocol { evaluations: Some(40), schedule: Schedule::Asynchronous, ..small() }, 1);
    assert!(seen.told.windows(2).any(|pair| pair[1].0 < pair[0].0), "{:?}", seen.told);
}

/// Random order is an optimizer with a closed form: the mean over 4,000 runs lies within five standard errors of it.
#[test]
fn random_order_needs_what_the_closed_form_says() {
    let points: Vec<Vec<f64>> = (0..150).map(|i| vec![f64::from(i)]).collect();
    let pool = PoolProblem::new("line", Direction::Minimize, points.clone(), points).unwrap();
    let goal = PoolGoal::BestPercent;
    assert_eq!((pool.best(goal), pool.random_order(goal)), (2, 151.0 / 3.0));
    let protocol = Protocol { seeds: 4000, ..Protocol::default() };
    let runs = &random(protocol, 1).run(&[pool], &|| ()).unwrap()[0][0];
    for (goal, expected) in [(PoolGoal::BestPercent, 151.0 / 3.0), (PoolGoal::BestFivePercent, 151.0 / 9.0)] {
        let counts: Vec<f64> = runs.finished.iter().map(|run| run.performance.reached(goal).unwrap() as f64).collect();
        let mean = manyhands_lab::experiment::Estimate::of(&counts);
        assert!((mean.mean - expected).abs() <= 5.0 * mean.se, "{mean:?} for {expected}");
    }
}

/// By hand: among 150 candidates on a line the best 2 are one goal and the best 8 the other; runs in order from 20 reach the
/// latter after 13 evaluations and the former after 19, random order is expected to take 16.8 and 50.3.
#[test]
fn goals_are_counted_in_one_run() {
    let points: Vec<Vec<f64>> = (0..150).map(|i| vec![f64::from(i)]).collect();
    let pool = PoolProblem::new("line", Direction::Minimize, points.clone(), points).unwrap();
    struct Downwards(usize);
    impl ActiveOptimizer<usize> for Downwards {
        fn ask(&mut self, count: usize) -> Result<Vec<(usize, usize)>> {
            self.0 -= count;
            Ok((0..count).map(|i| (0, self.0 + count - 1 - i)).collect())
        }
        fn tell(&mut self, _: usize, _: f64) -> Result<()> {
            Ok(())
        }
    }
    let performance = |start| pool.performance(&mut Downwards(start), &small(), &SeededRun::new("line", 1)).unwrap();
    let reached = |one, five| PoolPerformance { best_percent: Some(one), best_five_percent: Some(five) };
    assert_eq!(performance(20), reached(19, 13));
    let run = |start| FinishedRun { seed: 1, performance: performance(start), seconds: 0.0 };
    let runs = OptimizerRuns { optimizer: Optimizer::Random, finished: [20, 25, 30, 100].map(run).to_vec() };
    assert_eq!(runs.evaluations(PoolGoal::BestFivePercent).lower, 16.75, "13, 18, 23, 93");
    assert_eq!(PoolGoal::ALL.map(|goal| runs.slower_than_random(&pool, goal)), [0.25, 0.75]);
}

#[test]
fn halves_share_no_candidate_and_are_all_of_the_pool() {
    let points: Vec<Vec<f64>> = (0..151).map(|i| vec![f64::from(i)]).collect();
    let pool = PoolProblem::new("line", Direction::Minimize, points.clone(), points.clone()).unwrap();
    let [a, b] = PoolHalf::ALL.map(|half| pool.half(half).unwrap());
    assert_eq!((a.name(), b.name(), a.points().len(), b.points().len()), ("line-a", "line-b", 76, 75));
    let mut all = [a.points(), b.points()].concat();
    all.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(all, points);
    assert_eq!(a, pool.half(PoolHalf::Tuning).unwrap(), "the shuffle is fixed");
    // Of a pool in the order of its values both halves have good candidates and bad ones.
    let below = |half: &PoolProblem| half.points().iter().filter(|point| point[0] < 75.0).count();
    assert!((25..=50).contains(&below(&a)) && (0..a.points().len()).all(|i| a.mean(i) == a.points()[i][0]), "{a:?}");
}

#[test]
fn halves_run_by_name_and_whole_pools_in_no_set() {
    let data = folder("halves");
    let rows: String = (0..20).map(|i| format!("{i},{i}\n")).collect();
    fs::write(data.join("suzuki.csv"), format!("t,y_yield\n{rows}")).unwrap();
    let of = |names: &[&str], set: &ProblemSet| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let pools = Selection::new(&names, set, Some(&data)).unwrap().pools;
        pools.iter().map(|pool| (pool.name().to_string(), pool.points().len())).collect::<Vec<_>>()
    };
    let test = ProblemSet::Test { dimensions: vec![2], noise: 0 };
    assert_eq!(of(&[], &ProblemSet::Tuning), [("suzuki-a".to_string(), 10)]);
    assert_eq!(of(&[], &test), [("suzuki-b".to_string(), 10)]);
    assert_eq!(of(&["suzuki", "suzuki-b"], &test), [("suzuki".to_string(), 20), ("suzuki-b".to_string(), 10)]);
}

#[test]
fn the_test_set_has_all_functions_of_its_dimensions() {
    let of = |dimensions: &[usize], noise: u32| {
        Selection::new(&[], &ProblemSet::Test { dimensions: dimensions.to_vec(), noise }, None).map(|s| s.problems)
    };
    let names: Vec<String> = of(&[2, 5], 0).unwrap().iter().map(|problem| problem.name().to_string()).collect();
    assert_eq!((names.len(), names[0].as_str(), names[47].as_str()), (48, "bbob-f01-d2", "bbob-f24-d5"));
    assert_eq!(of(&[3], 20).unwrap()[2].name(), "bbob-f03-d3-noise-20");
    assert_eq!(of(&[2, 4], 0).unwrap_err().to_string(), "dimensions must be 2, 3, 5, 10, 20, 40, got 4");
    assert!(of(&[], 0).unwrap_err().to_string().contains("dimensions must be at least one"));
}

#[test]
fn what_is_not_reached_is_not_counted() {
    let points: Vec<Vec<f64>> = (0..50).map(|i| vec![f64::from(i)]).collect();
    let pool = PoolProblem::new("line", Direction::Maximize, points.clone(), points).unwrap();
    let protocol = Protocol { pool_evaluations: 1, seeds: 20, ..Protocol::default() };
    let runs = &random(protocol, 1).run(&[pool], &|| ()).unwrap()[0][0];
    assert!(runs.finished.iter().all(|run| run.performance.best_percent.is_none_or(|count| count == 1)));
    assert_eq!(runs.evaluations(PoolGoal::BestPercent).median, f64::INFINITY);
}

#[test]
fn candidates_that_were_evaluated_or_are_not_there_are_refused() {
    let points: Vec<Vec<f64>> = (0..50).map(|i| vec![f64::from(i)]).collect();
    let pool = PoolProblem::new("line", Direction::Maximize, points.clone(), points).unwrap();
    let refusal = |candidate: usize| {
        let mut active = Recorder(candidate, Rc::default());
        pool.performance(&mut active, &small(), &SeededRun::new("line", 1)).unwrap_err().to_string()
    };
    assert!(refusal(3).contains("candidate 3 was evaluated before"));
    assert!(refusal(50).contains("there is no candidate 50 among 50"));
    let mut spent = RandomOrder::new(3, ChaCha8Rng::seed_from_u64(1));
    let few = pool.performance(&mut spent, &small(), &SeededRun::new("line", 1)).unwrap_err().to_string();
    assert!(few.contains("5 were asked for, 3 came"), "{few}");
}

/// A problem on which one seed fails.
struct Trap;

impl TestProblem for Trap {
    type Performance = ();

    fn name(&self) -> &str {
        "trap"
    }

    fn run(&self, _: &Optimizer, _: &Protocol, run: &SeededRun) -> Result<PlayedRun<()>> {
        let played = PlayedRun { performance: (), seconds_elsewhere: 0.0 };
        if *run == SeededRun::new("trap", 2) { Err(Error::NothingToRun) } else { Ok(played) }
    }
}

#[test]
fn a_failing_game_fails_the_bench() {
    for threads in [1, 2] {
        assert_eq!(random(small(), threads).run(&[Trap], &|| ()).unwrap_err(), Error::NothingToRun);
        assert_eq!(random(Protocol { first_seed: 3, ..small() }, threads).run(&[Trap], &|| ()).unwrap()[0].len(), 1);
    }
}

#[test]
fn problems_of_many_parameters_have_larger_budgets_unless_the_protocol_says_otherwise() {
    let problems =
        named(&["levy10", "bbob-f01-d2", "bbob-f01-d5", "bbob-f01-d10", "bbob-f01-d20-noise-5", "bbob-f01-d40"]);
    let budgets = |protocol: &Protocol| problems.iter().map(|p| protocol.evaluations_on(p)).collect::<Vec<_>>();
    assert_eq!(budgets(&Protocol::default()), [60, 60, 60, 120, 200, 200]);
    assert_eq!(budgets(&small()), [10; 6]);
}

#[test]
fn what_cannot_be_played_is_refused() {
    let refusal = |protocol: Protocol| protocol.check().unwrap_err().to_string();
    assert_eq!(refusal(Protocol { batch: 21, ..small() }), "batch must be from 1 to 20, got 21");
    assert_eq!(refusal(Protocol { seeds: 0, ..small() }), "seeds must be from 1 to 10000, got 0");
    assert_eq!(refusal(Protocol { evaluations: Some(0), ..small() }), "evaluations must be from 1 to 1000, got 0");
    assert_eq!((Protocol::milestones(60), Protocol::milestones(10)), (vec![20, 40, 60], vec![10]));
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quality").join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

fn select(names: &[&str], data: Option<&Path>) -> Result<Selection> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    Selection::new(&names, &ProblemSet::Tuning, data)
}

#[test]
fn a_pool_is_read_with_its_replicates() {
    let data = folder("replicates");
    fs::create_dir(data.join("pools")).unwrap();
    fs::write(data.join("pools/agnp_mean.csv"), "a,b,y_loss,y_sd,y_n\n1,2,0.5,0.1,2\n3,4,0.7,0,1\n").unwrap();
    fs::write(data.join("pools/agnp_replicates.csv"), "a,b,y_loss\n3,4,0.7\n1,2,0.4\n1,2,0.6\n").unwrap();
    let selection = select(&["agnp"], Some(&data)).unwrap();
    assert!(selection.problems.is_empty());
    let pool = &selection.pools[0];
    assert_eq!(pool.points(), [[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!((pool.mean(0), pool.mean(1), pool.best(PoolGoal::BestPercent)), (0.5, 0.7, 1));
}

#[test]
fn columns_with_the_objectives_prefix_are_replicates() {
    let data = folder("seeds");
    let text = "alpha,width,val_acc_seed0,val_acc_seed1,train_time_mean,val_f1_mean\n1e-3,16,0.5,0.7,9,0.1\n";
    fs::write(data.join("hpobench_car.csv"), text).unwrap();
    let pool = &select(&["hpobench_car"], Some(&data)).unwrap().pools[0];
    assert_eq!((pool.points()[0].as_slice(), pool.mean(0)), ([1e-3, 16.0].as_slice(), 0.6));
}

#[test]
fn malformed_pools_are_refused_with_their_place() {
    let data = folder("malformed");
    let refusal = |text: &str| {
        fs::write(data.join("suzuki.csv"), text).unwrap();
        let error = select(&["suzuki"], Some(&data)).unwrap_err();
        assert!(error.hint().is_some() && error.is_bad_input(), "{error}");
        error.to_string()
    };
    assert!(refusal("t,y_yield\n1,2\n3,high\n").contains("line 3, column \"y_yield\" must be a finite number"));
    assert!(refusal("t,y_product\n1,2\n").contains("it has no column \"y_yield\""));
    assert!(refusal("y_yield\n1\n").contains("it has no columns that describe a candidate"));
    assert!(refusal("t,y_yield\n").contains("it has no rows"));
    assert!(refusal("t,y_yield\n1\n").contains("line 2 has 1 cells, the header has 2"));
    fs::write(data.join("agnp_mean.csv"), "a,y_loss\n1,2\n3,4\n").unwrap();
    fs::write(data.join("agnp_replicates.csv"), "a,y_loss\n1,2\n5,4\n").unwrap();
    let stray = select(&["agnp"], Some(&data)).unwrap_err().to_string();
    assert!(stray.contains("agnp_replicates.csv") && stray.contains("row 1 (from 0) is of no candidate"), "{stray}");
    fs::write(data.join("agnp_replicates.csv"), "a,y_loss\n1,2\n").unwrap();
    let bare = select(&["agnp"], Some(&data)).unwrap_err().to_string();
    assert!(bare.contains("row 1 (from 0) of agnp_mean.csv has no replicate"), "{bare}");
}

#[test]
fn pools_that_are_not_there_are_skipped_unless_named() {
    let data = folder("partly");
    let empty = select(&[], Some(&data)).unwrap_err().to_string();
    assert!(empty.contains("it holds no pool") && empty.contains("suzuki.csv"), "{empty}");
    fs::write(data.join("suzuki.csv"), "t,y_yield\n1,2\n").unwrap();
    let selection = select(&[], Some(&data)).unwrap();
    assert_eq!((selection.pools.len(), selection.skipped.len()), (1, POOLS.len() - 1));
    assert!(selection.skipped[0].contains("crossed_barrel_mean.csv and crossed_barrel_replicates.csv"));
    assert!(select(&["fullerenes"], Some(&data)).unwrap_err().to_string().contains("fullerenes.csv"));
    assert!(select(&["fullerenes"], None).unwrap_err().to_string().contains("the folder that holds fullerenes.csv"));
    let gone = data.join("gone");
    assert!(select(&[], Some(&gone)).unwrap_err().to_string().contains("there is no such folder"));
    assert!(select(&["branin"], Some(&data)).unwrap().pools.is_empty());
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let told = select(&["branin", "bramin"], None).unwrap_err().to_string();
    for word in ["\"bramin\"", "branin-noise-5", "levy10", "hpobench_car"] {
        assert!(told.contains(word), "{told}");
    }
}

/// PoolRows, inputs and best candidates of the real files, where MANYHANDS_DATA names their folder.
#[test]
fn the_real_pools_are_read() {
    let Some(data) = std::env::var_os("MANYHANDS_DATA").map(PathBuf::from).filter(|data| data.join("pools").is_dir())
    else {
        eprintln!("skipped: MANYHANDS_DATA names no folder with pools");
        return;
    };
    let selection = select(&POOLS.map(|pool| pool.name), Some(&data)).unwrap();
    let sizes: Vec<(&str, usize, usize)> =
        selection.pools.iter().map(|pool| (pool.name(), pool.points().len(), pool.points()[0].len())).collect();
    let expected = [
        ("crossed_barrel", 600, 4),
        ("agnp", 164, 5),
        ("suzuki", 247, 4),
        ("fullerenes", 246, 3),
        ("photo_pce10", 1040, 4),
        ("hpobench_car", 30_000, 5),
    ];
    assert_eq!(sizes, expected);
}
