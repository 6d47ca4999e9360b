//! Small versions of every panel and every further figure, what they write, and what they refuse.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{data, folder, small, write};
use manyhands_core::{Hallucination, Information, Rule};
use manyhands_lab::experiment::{Arrival, SignedRank, Verdict};
use manyhands_lab::{Algorithm, Extra, Panel, Reproduction, ReproductionPlan, ReproductionRequest, Settings};
use serde_json::Value;

fn everything(data: &Path) -> ReproductionRequest {
    ReproductionRequest {
        settings: small(),
        panels: Panel::ALL.to_vec(),
        extras: Extra::ALL.to_vec(),
        data: Some(data.to_path_buf()),
        arrival: None,
    }
}

pub fn reproduce(request: &ReproductionRequest) -> Reproduction {
    ReproductionPlan::new(request).unwrap().run(&|| ()).unwrap()
}

pub fn refusal(request: &ReproductionRequest) -> String {
    ReproductionPlan::new(request).unwrap_err().to_string()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn every_panel_and_every_extra_is_written_and_the_same_on_any_number_of_threads() {
    let request = everything(&data("every-data"));
    let on = |threads: usize| {
        let out = folder(&format!("every-{threads}"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let written = pool.install(|| reproduce(&request).write(&out).unwrap());
        let files = files(&out);
        assert_eq!(written.len(), files.len());
        files
    };
    let [one, two] = [1, 2].map(on);
    let names: Vec<&str> = one.keys().map(String::as_str).collect();
    let panels = Panel::ALL.map(|panel| format!("panel-{panel}.csv"));
    let extras = Extra::ALL.map(Extra::name).into_iter();
    let extras = extras.flat_map(|name| ["csv", "png", "svg"].map(|kind| format!("extra-{name}.{kind}")));
    let mut expected: Vec<String> = panels.into_iter().chain(extras).collect();
    expected.extend(["figure.png", "figure.svg", "report.md", "runs.csv", "summary.json"].map(String::from));
    expected.sort();
    assert_eq!(names, expected);
    assert!(one == two, "files differ between one thread and two");
    for (name, content) in &one {
        match name.rsplit('.').next() {
            Some("png") => assert!(content.starts_with(b"\x89PNG\r\n\x1a\n") && content.len() > 10_000, "{name}"),
            Some("svg") => assert!(content.starts_with(b"<svg") && content.ends_with(b"</svg>"), "{name}"),
            _ => assert!(!String::from_utf8_lossy(content).contains("NaN"), "{name}"),
        }
    }
}

#[test]
fn the_progress_hears_of_every_run() {
    let plan = ReproductionPlan::new(&ReproductionRequest {
        panels: vec![Panel::A, Panel::Field],
        settings: small(),
        ..ReproductionRequest::default()
    });
    let (plan, heard) = (plan.unwrap(), std::sync::atomic::AtomicUsize::new(0));
    let runs = plan.runs();
    assert_eq!(runs, 2 * 4 * 3);
    plan.run(&|| _ = heard.fetch_add(1, std::sync::atomic::Ordering::Relaxed)).unwrap();
    assert_eq!(heard.into_inner(), runs);
}

/// Panels a and c are the same functions with the same noise, in batches and with delays.
#[test]
fn an_arrival_that_is_asked_for_takes_the_place_of_the_panels_own() {
    let averages = |panel: Panel, arrival: Option<Arrival>, workers: usize| {
        let settings = Settings { workers, ..small() };
        let request = ReproductionRequest { settings, panels: vec![panel], arrival, ..ReproductionRequest::default() };
        let result = reproduce(&request).panels.remove(0);
        let averages = Algorithm::ALL.map(|who| result.final_averages(who).unwrap());
        (result.heading(), averages)
    };
    let [(a, batch), (c, delay)] = [Panel::A, Panel::C].map(|panel| averages(panel, None, 3));
    assert_eq!((a.as_str(), c.as_str()), ("(a) RKHS of SE, batch", "(c) RKHS of SE, delay"));
    assert_eq!(averages(Panel::A, Some(Arrival::Delay), 3), ("(a) RKHS of SE, delay".to_string(), delay));
    assert_eq!(averages(Panel::C, Some(Arrival::Batch), 3), ("(c) RKHS of SE, batch".to_string(), batch.clone()));
    let (_, alone) = averages(Panel::A, None, 1);
    let (heading, sequential) = averages(Panel::A, Some(Arrival::Sequential), 3);
    assert_eq!((heading.as_str(), &sequential), ("(a) RKHS of SE, sequential", &alone));
    assert_ne!(sequential, batch);
    assert_eq!(averages(Panel::E, Some(Arrival::Sequential), 3).0, "(e) Cosines, sequential");
    assert_eq!(averages(Panel::E, Some(Arrival::Batch), 3).0, "(e) Cosines");

    let out = folder("mapping");
    write(&out, "batches.csv", &(0..12).map(|t| format!("{}\n", 3 * (t / 3))).collect::<String>());
    let listed = Arrival::read(out.join("batches.csv")).unwrap();
    assert_eq!(averages(Panel::A, Some(listed.clone()), 3), ("(a) RKHS of SE, batches.csv".to_string(), batch));
    let request =
        ReproductionRequest { settings: Settings { workers: 2, ..small() }, ..ReproductionRequest::default() };
    let told = refusal(&ReproductionRequest { arrival: Some(listed.clone()), ..request });
    assert_eq!(told, "S(3) = 0 is not allowed: t - S(t) must be at most M = 2");
    let request =
        ReproductionRequest { settings: Settings { horizon: 13, ..small() }, ..ReproductionRequest::default() };
    let told = refusal(&ReproductionRequest { arrival: Some(listed), ..request });
    assert_eq!(told, "the feedback mapping has 12 rounds, there is no S(13)");
}

/// Every further figure, too; those of several M keep their batches.
#[test]
fn every_extra_runs_with_every_arrival() {
    for arrival in [Arrival::Delay, Arrival::Sequential, Arrival::Random { seed: 3 }] {
        // The comparison of rules takes most of the time, and has arrivals of its own: once will do.
        let is_tried = |extra: &Extra| *extra != Extra::Rules || arrival == Arrival::Delay;
        let request = ReproductionRequest {
            settings: Settings { horizon: 6, functions: 2, ..small() },
            panels: vec![],
            extras: Extra::ALL.into_iter().filter(is_tried).collect(),
            arrival: Some(arrival.clone()),
            ..ReproductionRequest::default()
        };
        let reproduction = reproduce(&request);
        for extra in &reproduction.extras {
            let titles: Vec<&str> = extra.charts.iter().map(|chart| chart.title.as_str()).collect();
            let named = titles.iter().any(|title| title.contains(&arrival.name()));
            assert_eq!(named, !matches!(extra.extra, Extra::Workers | Extra::Rules), "{arrival}: {titles:?}");
        }
    }
}

/// What the header says of M, S(t), gamma, xi and T is true of a figure unless its section says otherwise.
#[test]
fn a_figure_with_settings_of_its_own_says_so() {
    let own = |extra: Extra, settings: Settings| {
        let request = ReproductionRequest {
            settings: Settings { functions: 2, ..settings },
            panels: vec![],
            extras: vec![extra],
            arrival: Some(Arrival::Delay),
            ..ReproductionRequest::default()
        };
        let report = reproduce(&request).report();
        assert!(report.contains("S(t) delay. Further figures with settings of their own say so.\n"), "{report}");
        let (_, section) = report.split_once(&format!("## {}\n\n", extra.title())).unwrap();
        let told = section.strip_prefix("Settings of its own: ").map(|rest| rest.split_once(". ").unwrap().0);
        told.map(String::from)
    };
    let short = Settings { horizon: 6, ..small() };
    assert_eq!(own(Extra::Rules, short).as_deref(), Some("M = 5, 20; S(t) batch, delay"));
    assert_eq!(own(Extra::Workers, short).as_deref(), Some("M = 1, 5, 10, 20, 40; S(t) batch; xi 1, off"));
    assert_eq!(own(Extra::Bounds, short).as_deref(), Some("gamma realised; xi realised"));
    let realised = Settings { information: Information::Realised, hallucination: Hallucination::Realised, ..short };
    assert_eq!(own(Extra::Bounds, realised), None);
    let long = Settings { horizon: 101, ..realised };
    assert_eq!(own(Extra::Discretization, long).as_deref(), Some("T = 100"));
    let told = own(Extra::Initialization, Settings { horizon: 50, ..small() }).unwrap();
    assert!(told.starts_with("xi from 1 to "), "{told}");
    assert_eq!(own(Extra::Certificate, short), None);
}

/// The CSV's mean and standard error, from the runs by hand.
#[test]
fn a_panels_csv_has_every_algorithm_and_round() {
    let out = folder("csv");
    let reproduction =
        reproduce(&ReproductionRequest { panels: vec![Panel::D], settings: small(), ..ReproductionRequest::default() });
    reproduction.write(&out).unwrap();
    let text = fs::read_to_string(out.join("panel-d.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("algorithm,t,mean,se"));
    for (name, played) in ["IGP-BUCB", "GP-BTS", "GP-BUCB", "random"].iter().zip(&reproduction.panels[0].played) {
        for t in 1..=12usize {
            let cells: Vec<&str> = lines.next().unwrap().split(',').collect();
            assert_eq!(cells[..2], [*name, t.to_string().as_str()]);
            let averages: Vec<f64> =
                played.runs.iter().map(|run| run.regret.instantaneous()[..t].iter().sum::<f64>() / t as f64).collect();
            let mean = averages.iter().sum::<f64>() / 3.0;
            let se = (averages.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / 6.0).sqrt();
            assert!((cells[2].parse::<f64>().unwrap() - mean).abs() < 1e-12);
            assert!((cells[3].parse::<f64>().unwrap() - se).abs() < 1e-12);
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn the_summary_tells_settings_regrets_tests_and_verdicts() {
    let settings = Settings { horizon: 60, information: Information::Greedy, ..small() };
    // Every rule takes most of the time, and has tests of its own.
    let extras: Vec<Extra> = Extra::ALL.into_iter().filter(|extra| *extra != Extra::Rules).collect();
    let request = ReproductionRequest { settings, extras: extras.clone(), ..everything(&data("summary-data")) };
    let reproduction = reproduce(&request);
    let summary = reproduction.summary();
    let told = &summary["settings"];
    assert_eq!(
        (&told["information"], &told["horizon"], &told["hallucination"]),
        (&"greedy".into(), &60.into(), &"1".into())
    );
    for panel in Panel::ALL {
        let entry = &summary["panels"][panel.name()];
        for name in ["IGP-BUCB", "GP-BTS", "GP-BUCB", "random"] {
            let regrets = entry["time_average_regret"][name].as_object().unwrap();
            assert_eq!(regrets.keys().collect::<Vec<_>>(), ["25", "50", "60"]);
            assert!(regrets.values().all(|at| at["mean"].is_f64() && at["se"].is_f64()));
            assert!(entry["simple_regret"][name]["60"]["mean"].as_f64() <= regrets["60"]["mean"].as_f64());
        }
        assert_eq!(entry["tests"].as_array().unwrap().len(), 6);
        assert_eq!(entry["information"], "greedy");
        assert_eq!(entry["in_the_paper"], panel != Panel::Field);
        assert_eq!(entry["arrival"], if "cd".contains(panel.name()) { "delay" } else { "batch" });
    }
    let observations = summary["observations"].as_array().unwrap();
    let panels = |i: usize| observations[i]["panels"].as_object().unwrap().keys().cloned().collect::<String>();
    assert_eq!([panels(0), panels(1), panels(2)], ["abcdefgh", "abcdef", "gh"], "the field is no panel of the paper");
    let words = ["holds", "does not hold", "not decided"];
    assert!(observations.iter().all(|one| words.contains(&one["verdict"].as_str().unwrap())));
    assert_eq!(summary["missing"], Value::Array(vec![]));
    for extra in extras {
        assert!(!summary["extra"][extra.name()]["rows"].as_array().unwrap().is_empty(), "{}", extra.name());
    }
}

/// The test of a comparison is that of its panel's runs, and wins are counted pair by pair.
#[test]
fn verdicts_follow_from_the_pairs() {
    let settings = Settings { functions: 8, horizon: 60, workers: 5, ..Settings::default() };
    let reproduction =
        reproduce(&ReproductionRequest { settings, panels: vec![Panel::A], ..ReproductionRequest::default() });
    let result = &reproduction.panels[0];
    let [igp, bucb] = [Rule::IgpBucb, Rule::GpBucb].map(|rule| result.final_averages(Algorithm::Rule(rule)).unwrap());
    let first = &reproduction.observations[0];
    let finding = &first.findings[0];
    assert_eq!(finding.comparison.wins, igp.iter().zip(&bucb).filter(|(a, b)| *a < b).count());
    assert_eq!((finding.comparison.wins, finding.comparison.pairs), (8, 8));
    assert_eq!(finding.comparison.test.p_less, 1.0 / 256.0);
    assert_eq!((finding.verdict, first.verdict()), (Verdict::Holds, Verdict::Holds));
    assert_eq!(reproduction.observations[2].verdict(), Verdict::Untested);
    let mean = igp.iter().sum::<f64>() / 8.0;
    let last = *result.played[0].time_average().last().unwrap();
    assert!((last.mean - mean).abs() < 1e-14);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let cases: [(Settings, &str); 6] = [
        (Settings { functions: 1, ..small() }, "functions must be from 2 to 10000, got 1"),
        (Settings { horizon: 0, ..small() }, "horizon must be from 1 to 5000, got 0"),
        (Settings { workers: 0, ..small() }, "workers must be from 1 to 10000, got 0"),
        (Settings { delta: 0.0, ..small() }, "delta must be"),
        (Settings { noise: f64::NAN, ..small() }, "noise must be"),
        (Settings { width: -1.0, ..small() }, "width must be"),
    ];
    for (settings, expected) in cases {
        let told = refusal(&ReproductionRequest { settings, ..ReproductionRequest::default() });
        assert!(told.contains(expected), "{told}");
    }
    let zero = refusal(&ReproductionRequest {
        settings: Settings { delta: 0.0, ..small() },
        ..ReproductionRequest::default()
    });
    assert_eq!(zero, "delta must be above 0 (from 1e-100) and at most 1, got 0");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let out = folder("unwritable").join("file");
    fs::write(&out, "in the way").unwrap();
    let reproduction =
        reproduce(&ReproductionRequest { panels: vec![Panel::A], settings: small(), ..ReproductionRequest::default() });
    let error = reproduction.write(&out).unwrap_err();
    assert!(error.to_string().starts_with("cannot write") && error.to_string().contains("unwritable"), "{error}");
    assert!(!error.is_bad_input());
    assert_eq!(fs::read_to_string(&out).unwrap(), "in the way");
}

/// One worker, and every kind of xi and gamma.
#[test]
fn every_setting_runs() {
    let kinds = ["realised", "greedy", "greedy-upper", "closed-form", "log"].map(|name| name.parse::<Information>());
    let factors = ["1", "realised", "exact", "a-priori", "worst-case", "off"].map(|name| name.parse::<Hallucination>());
    let path = data("settings-data");
    for information in kinds {
        for hallucination in &factors {
            let (information, hallucination) = (*information.as_ref().unwrap(), *hallucination.as_ref().unwrap());
            let settings = Settings { information, hallucination, horizon: 6, functions: 2, ..small() };
            let panels = vec![Panel::B, Panel::G];
            let request =
                ReproductionRequest { settings, panels, data: Some(path.clone()), ..ReproductionRequest::default() };
            let played = reproduce(&request).panels.into_iter().flat_map(|result| result.played);
            for played in played {
                for (run, instance) in played.runs.iter().zip(&played.arm.experiment.instances) {
                    let possible = 0.0..=instance.problem().range();
                    assert_eq!(run.regret.instantaneous().len(), 6);
                    assert!(run.regret.instantaneous().iter().all(|regret| possible.contains(regret)));
                }
            }
        }
    }
    let settings = Settings { workers: 1, horizon: 6, functions: 2, ..small() };
    let request = ReproductionRequest {
        settings,
        panels: vec![Panel::C],
        extras: Extra::ALL.to_vec(),
        ..ReproductionRequest::default()
    };
    assert_eq!(reproduce(&request).extras.len(), Extra::ALL.len());
}

/// docs/reproduction.md tells what the command gives; another kind of CPU may make another choice now and then.
#[test]
fn the_documented_numbers_are_those_of_the_default_settings() {
    let reproduction = reproduce(&ReproductionRequest { panels: vec![Panel::A], ..ReproductionRequest::default() });
    let page = include_str!("../../../docs/reproduction.md");
    let number = |cell: &str| cell.split_whitespace().next().unwrap().parse::<f64>().unwrap();
    for t in [25, 50, 100, 200] {
        let start = format!("| (a) RKHS of SE, batch | {t} |");
        let row = page.lines().find(|line| line.starts_with(&start)).unwrap();
        let documented: Vec<f64> = row.trim_end_matches('|').split('|').skip(3).map(number).collect();
        assert_eq!(documented.len(), 4, "{row}");
        for (played, documented) in reproduction.panels[0].played.iter().zip(documented) {
            let (name, at) = (played.algorithm().name(), played.time_average()[t - 1]);
            assert!((at.mean - documented).abs() < 3.0 * at.se, "{name}: {} against {documented}", at.mean);
        }
    }
    let wins: Vec<usize> = reproduction.observations[..2].iter().map(|one| one.findings[0].comparison.wins).collect();
    assert_eq!(wins, [25, 25]);
}

#[test]
fn every_run_is_written_and_the_tests_follow_from_it() {
    let out = folder("runs");
    let reproduction = reproduce(&ReproductionRequest {
        panels: vec![Panel::A, Panel::E],
        settings: small(),
        ..ReproductionRequest::default()
    });
    reproduction.write(&out).unwrap();
    let text = fs::read_to_string(out.join("runs.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("panel,run,algorithm,time_average_regret,simple_regret"));
    assert_eq!(text.lines().count(), 1 + 2 * 3 * 4);
    let column = |algorithm: &str| -> Vec<f64> {
        let ours = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        ours.filter(|cells| cells[0] == "e" && cells[2] == algorithm).map(|cells| cells[3].parse().unwrap()).collect()
    };
    let differences: Vec<f64> = column("IGP-BUCB").iter().zip(column("GP-BTS")).map(|(a, b)| a - b).collect();
    let finding = &reproduction.observations[1].findings[1];
    assert_eq!(finding.panel, Panel::E);
    assert_eq!(SignedRank::test(&differences), finding.comparison.test);
}
