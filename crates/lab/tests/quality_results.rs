//! The promises of results files: a comparison that goes on is the one made in one go, and what is found is not made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use manyhands_lab::Result;
use manyhands_lab::quality::{Protocol, QualityBench, QualityRequest};
use serde_json::Value as Json;

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("results");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::remove_file(&path).ok();
    path
}

fn request(seeds: usize, results: &[&Path]) -> QualityRequest {
    QualityRequest {
        names: vec!["forrester".to_string(), "branin-noise-5".to_string()],
        protocol: Protocol { seeds, evaluations: Some(12), ..Protocol::default() },
        results: results.iter().map(|path| path.to_path_buf()).collect(),
        ..QualityRequest::default()
    }
}

fn run(request: QualityRequest) -> Result<Json> {
    let (bench, ticks) = (QualityBench::new(request)?, AtomicUsize::new(0));
    let runs = bench.runs();
    let report = bench.run(&|| {
        ticks.fetch_add(1, Ordering::Relaxed);
    })?;
    assert_eq!(ticks.into_inner(), runs, "runs that are found count too");
    Ok(report.to_json())
}

/// Without what a clock was read for.
fn timeless(report: &Json) -> Json {
    match report {
        Json::Object(fields) => fields
            .iter()
            .filter(|(name, _)| *name != "seconds")
            .map(|(name, value)| (name.clone(), timeless(value)))
            .collect(),
        Json::Array(values) => values.iter().map(timeless).collect(),
        value => value.clone(),
    }
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(String::from).collect()
}

#[test]
fn a_comparison_that_goes_on_is_the_one_made_in_one_go() {
    let (parts, whole) = (file("parts.csv"), file("whole.csv"));
    run(request(1, &[&parts])).unwrap();
    // Ended in the middle of a line, as by a crash.
    let text = fs::read_to_string(&parts).unwrap();
    fs::write(&parts, &text[..text.len() - 20]).unwrap();
    let continued = run(request(3, &[&parts])).unwrap();
    let at_once = run(request(3, &[&whole])).unwrap();
    assert_eq!(timeless(&continued), timeless(&at_once));
    // Two problems, two optimizers and three seeds, each once.
    let mut made: Vec<String> = lines(&parts)[1..].iter().map(|line| line.split(',').take(5).collect()).collect();
    made.sort();
    made.dedup();
    assert_eq!((made.len(), lines(&parts).len(), lines(&whole).len()), (12, 13, 13));
    let before = fs::read(&parts).unwrap();
    assert_eq!(run(request(3, &[&parts])).unwrap(), continued, "with the seconds, which are read too");
    assert_eq!(fs::read(&parts).unwrap(), before);
}

#[test]
fn regrets_are_those_of_runs_that_are_not_kept_in_two_decimals() {
    let (kept, free) = (run(request(2, &[&file("rounded.csv")])).unwrap(), run(request(2, &[])).unwrap());
    for name in ["manyhands", "random"] {
        let games = |report: &Json| report["problems"][0]["players"][name]["games"].as_array().unwrap().clone();
        for (kept, free) in games(&kept).iter().zip(&games(&free)) {
            for quantity in ["regret", "inference_regret"] {
                let [kept, free] = [kept, free].map(|game| game[quantity].as_f64().unwrap().log10());
                assert!((kept - free).abs() <= 0.005 + 1e-9, "{name}: {kept} for {free}");
            }
        }
    }
}

#[test]
fn systems_of_the_files_are_compared_and_only_results_makes_no_run() {
    let (ours, theirs) = (file("ours.csv"), file("theirs.csv"));
    run(request(2, &[&ours])).unwrap();
    let others: Vec<String> = lines(&ours).iter().map(|line| line.replace("random,", "tpe,")).collect();
    fs::write(
        &theirs,
        others.iter().filter(|line| !line.contains("manyhands,")).fold(String::new(), |text, line| text + line + "\n"),
    )
    .unwrap();
    let before = fs::read(&ours).unwrap();
    let only = QualityRequest { only_results: true, ..request(4, &[&ours, &theirs]) };
    let report = run(only).unwrap();
    assert_eq!(fs::read(&ours).unwrap(), before);
    let players = |report: &Json| report["problems"][0]["players"].as_object().unwrap().clone();
    let mut names: Vec<String> = players(&report).keys().cloned().collect();
    names.sort();
    assert_eq!(names, ["manyhands", "random", "tpe"]);
    let games = |player: &Json| player["games"].as_array().unwrap().len();
    assert!(players(&report).values().all(|player| games(player) == 2), "two of the four runs are in the files");
    assert_eq!(players(&report)["tpe"]["log10_regret"], players(&report)["random"]["log10_regret"]);
    // Runs that are missing are made of those that can run.
    let report = run(request(3, &[&ours, &theirs])).unwrap();
    let counts = ["manyhands", "random", "tpe"].map(|name| games(&players(&report)[name]));
    assert_eq!(counts, [3, 3, 2]);
    // Without any run of manyhands there is nothing to test against.
    let report = run(QualityRequest { only_results: true, ..request(4, &[&theirs]) }).unwrap();
    assert!(players(&report)["tpe"]["against_manyhands"].is_null() && report["overall"][0]["player"] == "tpe");
}

#[test]
fn runs_of_another_protocol_are_not_taken() {
    let path = file("protocols.csv");
    run(request(1, &[&path])).unwrap();
    let other = QualityRequest {
        protocol: Protocol { seeds: 1, evaluations: Some(12), batch: 2, ..Protocol::default() },
        ..request(1, &[&path])
    };
    run(other).unwrap();
    assert_eq!(lines(&path).len(), 9, "a header and four runs of each protocol");
}

#[test]
fn what_is_no_file_of_results_is_refused_with_its_line() {
    let path = file("malformed.csv");
    let refusal = |text: &str| {
        fs::write(&path, text).unwrap();
        let error = run(request(1, &[&path])).unwrap_err();
        assert!(error.is_bad_input(), "{error}");
        error.to_string()
    };
    assert!(refusal("a,b\n1,2\n").contains("line 1: its columns must be system,version"));
    let header = "system,version,date,problem,seed,batch,schedule,evaluations,seconds,inference,simple\n";
    assert!(
        refusal(&format!("{header}random,1,2026-01-05,branin,1,5,batches,12,0,0\n"))
            .contains("line 2: it has 10 cells")
    );
    let packed = file("packed.csv.gz");
    let told = run(request(1, &[&packed])).unwrap_err().to_string();
    assert!(told.contains("the first results file must be not packed"), "{told}");
    let gone = QualityRequest { only_results: true, ..request(1, &[&packed]) };
    assert!(run(gone).unwrap_err().to_string().contains("cannot read"));
}
