//! What the bench of trust counts, against the runs themselves.

use manyhands_lab::quality::{Protocol, problems};
use manyhands_lab::trust::{Trace, TrustBench};

#[test]
fn the_bench_counts_what_its_runs_said() {
    let names = ["forrester".to_string(), "branin-noise-20".to_string()];
    let protocol = Protocol { seeds: 1, first_seed: 7, ..Protocol::default() };
    let bench = TrustBench::new(&names, false, protocol).unwrap();
    assert_eq!(bench.runs(), 2);
    let report = bench.run(&|| ()).unwrap();
    let traces: Vec<&Trace> = report.problems.iter().flat_map(|(_, traces)| traces).collect();
    let evaluations: Vec<usize> = traces[0].checks.iter().map(|check| check.evaluations).collect();
    assert_eq!((traces.len(), evaluations), (2, vec![20, 40, 60, 100]));
    let checks = || traces.iter().flat_map(|trace| &trace.checks);
    assert!(checks().all(|check| check.regret >= 0.0 && (0.0..=1.0).contains(&check.covered) && check.range > 0.0));
    assert!(checks().all(|check| check.gain.is_none() || check.record.is_some_and(|record| record >= 0.75)));
    assert!(checks().filter(|check| check.evaluations == 20).all(|check| check.gain.is_none()), "it is too early");
    let pooled = report.pooled(&[40, 60, 100]);
    let spoken = checks().filter(|check| check.gain.is_some()).count();
    let right = checks().filter(|check| check.gain.is_some_and(|gain| check.regret <= gain)).count();
    assert_eq!((pooled.runs, pooled.spoken, pooled.right), (6, spoken, right));
    assert!(spoken > 0, "Forrester is an easy function");
    // The run of another bench on the same problem and seed is the same.
    let problem = problems::named(&names[..1]).unwrap().remove(0);
    let same = report.problems.iter().find(|(name, _)| name == problem.name()).unwrap();
    assert_eq!(Trace::of(&problem, 7).unwrap(), same.1[0]);
    let (text, json) = (report.to_text(), report.to_json());
    assert!(text.contains(&format!("{right} of {spoken}")) && text.contains("branin-noise-20"), "{text}");
    assert_eq!(json["pooled_from_40"]["right"], right);
    assert!(!text.contains("NaN") && !text.contains("-0 %"), "{text}");
}

#[test]
fn unknown_problems_are_refused_by_name() {
    let error = TrustBench::new(&["brannin".to_string()], false, Protocol::default()).unwrap_err().to_string();
    assert!(error.contains("brannin") && error.contains("branin"), "{error}");
}
