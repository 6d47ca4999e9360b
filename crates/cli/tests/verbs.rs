//! Whole commands, as a user sees them: exit code, standard output, standard error.

use std::process::Output;

use crate::common::Bench;

/// A grid of 11 x 2 points under a given model: the same choices on every machine.
const GRID: &str = r#"name = "plate"
direction = "minimize"
seed = 1

[space]
temp = { float = [20.0, 70.0], points = 11 }
acid = { choice = ["citric", "malic; rm -rf /"] }
batch = { constant = 3 }

[model]
kernel = "se"
lengthscale = 0.3
noise = 0.01

[strategy]
norm_bound = 2.0
"#;

const POOL: &str = r#"name = "pool"
[candidates]
file = "pool.csv"
columns = ["conc"]
repeats = false
[model]
lengthscale = 0.3
noise = 0.01
"#;

/// A number with six digits, the rest being the machine's own; anything else as it is.
fn rounded(word: &str) -> String {
    // A colon belongs to times, and in JSON stands before numbers.
    let (colon, number) = word.split_at(usize::from(word.starts_with(':')));
    match number.parse::<f64>() {
        Ok(value) if number.contains('.') && number.len() > 9 => format!("{colon}{value:.6}"),
        _ => word.to_string(),
    }
}

/// What a command did, without what differs between machines and days.
fn shown(bench: &Bench, arguments: &[&str], output: &Output) -> String {
    let folder = bench.path().canonicalize().unwrap();
    let clean = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let text = text.replace(&folder.display().to_string(), "FOLDER");
        let mut clean = String::new();
        let mut word = String::new();
        for c in text.chars().chain(['\n']) {
            if c.is_ascii_alphanumeric() || "+-.:".contains(c) {
                word.push(c);
                continue;
            }
            let is_time = word.len() == 27 && word.ends_with('Z');
            let day = word.len() == 10 && word.starts_with("20") && word.matches('-').count() == 2;
            let hour = word.len() == 8 && word.matches(':').count() == 2;
            clean += &if is_time || day || hour { "TIME".to_string() } else { rounded(&word) };
            word.clear();
            clean.push(c);
        }
        clean.trim_end().to_string()
    };
    let (out, err) = (clean(&output.stdout), clean(&output.stderr));
    let code = output.status.code().map_or("none".to_string(), |code| code.to_string());
    format!("$ manyhands {}\nexit code {code}\n--- stdout\n{out}\n--- stderr\n{err}\n", arguments.join(" "))
}

fn all(bench: &Bench, commands: &[&[&str]]) -> String {
    let one = |arguments: &&[&str]| shown(bench, arguments, &bench.run(arguments));
    commands.iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn asking_and_telling() {
    let bench = Bench::new(GRID);
    insta::assert_snapshot!(all(
        &bench,
        &[
            &["ask", "study.toml"],
            &["ask", "study.toml", "-n", "2", "--json", "--key", "k"],
            &["tell", "study.toml", "0", "-1.25"],
            &["tell", "plate", "1", "3e-1", "--json"],
            &["ask", "plate", "-n", "2", "--key", "k"],
            &["fail", "plate", "2", "--reason", "spilled"],
            &["ask", "plate", "-n", "2", "--key", "k", "--json"],
            &["ask", "plate"],
            &["cancel", "plate", "3", "--json"],
            &["trials", "plate"],
            &["trials", "plate", "--json"],
            &["status", "plate"],
            &["status", "plate", "--json"],
            &["best", "plate"],
            &["best", "plate", "--json"],
            &["studies"],
        ]
    ));
}

#[test]
fn trials_selected_and_sorted() {
    let bench = Bench::new(GRID);
    bench.run(&["ask", "study.toml", "-n", "6"]);
    for (trial, value) in [("0", "3"), ("1", "-1.25"), ("2", "0.5"), ("4", "0.5")] {
        assert!(bench.run(&["tell", "plate", trial, value]).status.success());
    }
    bench.run(&["fail", "plate", "3", "--reason", "spilled"]);
    insta::assert_snapshot!(all(
        &bench,
        &[
            &["trials", "plate", "--top", "3"],
            &["trials", "plate", "--top", "1", "--json"],
            &["trials", "plate", "--sort", "value"],
            &["trials", "plate", "--sort", "value", "--reverse"],
            &["trials", "plate", "--sort", "temp", "--state", "observed"],
            &["trials", "plate", "--reverse", "--state", "failed,pending"],
            &["trials", "plate", "--state", "failed", "--state", "pending", "--json"],
            &["trials", "plate", "--state", "cancelled"],
            &["trials", "plate", "--state", "cancelled", "--json"],
            &["trials", "plate", "--sort", "tmep"],
            &["trials", "plate", "--sort", "nothing", "--json"],
            &["trials", "plate", "--top", "3", "--sort", "value"],
            &["trials", "plate", "--top", "3", "--reverse"],
            &["trials", "plate", "--top", "0", "--json"],
            &["trials", "plate", "--top", "3", "--state", "failed"],
            &["trials", "plate", "--state", "done"],
        ]
    ));
}

#[test]
fn metrics_are_shown_beside_the_value() {
    let bench = Bench::new(GRID);
    bench.run(&["ask", "study.toml", "-n", "3"]);
    let lines = "{\"trial\":0,\"value\":1.5,\"metrics\":{\"seconds\":12.25,\"temp\":21.5}}\n\
                 {\"trial\":1,\"value\":0.5,\"metrics\":{\"a b\":-0.5,\"seconds\":3}}\n";
    let told = bench.feed(&["tell", "plate", "-"], lines);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    insta::assert_snapshot!(all(
        &bench,
        &[
            &["trials", "plate"],
            &["trials", "plate", "--sort", "metrics.temp", "--json"],
            &["trials", "plate", "--sort", "seconds"],
            &["trials", "plate", "--state", "pending"],
            &["trials", "plate", "--sort", "second"],
            &["export", "plate"],
            &["export", "plate", "--format", "jsonl"],
        ]
    ));
}

#[test]
fn exports_and_predictions() {
    let bench = Bench::new(GRID);
    bench.run(&["ask", "study.toml", "-n", "2"]);
    bench.run(&["tell", "plate", "0", "0.5"]);
    bench.write("at.csv", "temp,acid\n20,citric\n45.5,malic; rm -rf /\n");
    bench.write("grid.csv", "temp,acid\n20,citric\n70,malic; rm -rf /\n");
    bench.write("saved.csv", "acid;temp\ncitric;20,0\n\"malic; rm -rf /\";70,0\n");
    bench.write("missing.csv", "temp\n20\n");
    bench.write("empty.csv", "temp,acid\n");
    bench.write("unknown.csv", "temp,acit\n20,citric\n");
    insta::assert_snapshot!(all(
        &bench,
        &[
            &["export", "plate"],
            &["export", "plate", "--format", "jsonl"],
            &["export", "plate", "--format", "csv", "-o", "out.csv"],
            &["predict", "plate", "--at", "grid.csv"],
            &["predict", "plate", "--at", "grid.csv", "--json"],
            &["predict", "plate", "--at", "saved.csv"],
            &["predict", "plate", "--at", "at.csv"],
            &["predict", "plate", "--at", "missing.csv"],
            &["predict", "plate", "--at", "unknown.csv", "--json"],
            &["predict", "plate", "--at", "nowhere.csv"],
            &["predict", "plate", "--at", "empty.csv"],
            &["plot", "plate", "-o", "plate.pdf"],
            &["plot", "plate", "-o", "plate.svg"],
            &["delete", "plate"],
            &["delete", "plate", "--yes"],
            &["studies"],
        ]
    ));
}

#[test]
fn pictures_of_every_kind() {
    let bench = Bench::new(GRID);
    bench.run(&["ask", "study.toml", "-n", "3"]);
    let early =
        all(&bench, &[&["plot", "plate", "-o", "page.svg"], &["plot", "plate", "-o", "a.svg", "--kind", "pairs"]]);
    for (trial, value) in ["0.5", "0.9", "0.1"].iter().enumerate() {
        bench.run(&["tell", "plate", &trial.to_string(), value]);
    }
    let later = all(
        &bench,
        &[
            &["plot", "plate", "-o", "history.svg", "--kind", "history"],
            &["plot", "plate", "-o", "slices.png", "--kind", "slices"],
            &["plot", "plate", "-o", "importance.svg", "--kind", "importance"],
            &["plot", "plate", "-o", "pairs.svg", "--kind", "pairs"],
            &["plot", "plate", "-o", "x.svg", "--kind", "contour"],
            &["plot", "plate", "--json", "-o", "x.svg", "--kind", "pears"],
        ],
    );
    insta::assert_snapshot!(early + &later);
}

#[test]
fn lines_of_json() {
    let bench = Bench::new(GRID);
    bench.run(&["ask", "study.toml", "-n", "3"]);
    let lines = "{\"trial\":0,\"value\":1.5}\n\n{\"trial\":1,\"failed\":\"spilled\"}\n\
                 {\"params\":{\"temp\":20,\"acid\":\"citric\"},\"value\":0.25}\n\
                 {\"params\":{\"temp\":25.0,\"acid\":\"citric\",\"batch\":3},\"pending\":true}\n\
                 {\"params\":{\"temp\":26.0,\"acid\":\"citric\"},\"value\":1}\n{\"trial\":2,\"value\":9}\n";
    let feed = |arguments: &[&str], input: &str| shown(&bench, arguments, &bench.feed(arguments, input));
    let shown = [
        feed(&["tell", "plate", "-"], lines),
        feed(&["tell", "plate", "--json"], "{\"trial\":2,\"value\":9}"),
        feed(&["tell", "plate", "-", "--json"], "{\"trial\":4,\"value\":1}\n{\"trial\":77,\"value\":1}"),
        feed(&["tell", "plate", "-"], "{\"trial\":4,\"value\":1}\n{\"trial\":4,\"value\":2}"),
        feed(&["tell", "plate", "-"], "{\"trial\":4,\"vlaue\":1}"),
        feed(&["tell", "plate", "-"], "{\"trial\":4,\"value\":NaN}"),
        feed(&["tell", "plate", "-"], "what\u{0}"),
        feed(&["tell", "plate", "-"], "[4, null, 1.25, null, null]"),
        feed(&["tell", "plate", "-"], "{\"trial\":-4,\"value\":1}"),
        feed(&["tell", "plate", "-"], "{\"trial\":4,\"value\":\"1\"}"),
        feed(&["tell", "plate", "-"], ""),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_pool_of_candidates() {
    let bench = Bench::new(POOL);
    bench.write("pool.csv", "name,conc\nA1,0.5\nA2,0.1\nB1,0.9\n");
    let first = all(&bench, &[&["ask", "study.toml", "-n", "2", "--json"], &["tell", "pool", "0", "1"]]);
    let line = "{\"params\":{\"conc\":0.2},\"value\":1}";
    let outside = shown(&bench, &["tell", "pool", "-"], &bench.feed(&["tell", "pool", "-"], line));
    let rest = all(&bench, &[&["ask", "pool", "-n", "2"], &["ask", "pool"], &["ask", "pool"], &["trials", "pool"]]);
    bench.write("pool.csv", "name,conc\nA1,0.5\nA2,0.1\nB1,0.8\n");
    let changed = all(&bench, &[&["status", "study.toml"]]);
    std::fs::remove_file(bench.path().join("pool.csv")).unwrap();
    let gone = all(&bench, &[&["best", "study.toml"]]);
    insta::assert_snapshot!([first, outside, rest, changed, gone].join("\n"));
}

#[test]
fn mistakes() {
    let bench = Bench::new(GRID);
    bench.run(&["ask", "study.toml"]);
    bench.write("other.toml", &GRID.replace("noise = 0.01", "noise = 0.02").replace("seed = 1", "seed = 2"));
    bench.write("wrong.toml", &GRID.replace("lengthscale", "lenghtscale"));
    bench.write("notes.txt", "hello");
    bench.write("pool.toml", POOL);
    bench.write("not.db", "this is not a database, but it is long enough to be looked at as one, or so one hopes");
    insta::assert_snapshot!(all(
        &bench,
        &[
            &["tell", "plate", "7", "1"],
            &["tell", "plate", "0", "abc"],
            &["tell", "plate", "0", "nan", "--json"],
            &["tell", "plate", "zero", "1"],
            &["tell", "plate", "0"],
            &["tell", "plate", "0", "1e200"],
            &["best", "plate"],
            &["ask", "plate", "-n", "0"],
            &["ask", "plate", "-n", "-3", "--json"],
            &["ask", "plate", "--number", "many"],
            &["status", "pool.toml"],
            &["run", "study.toml", "--plot", "picture.gif"],
            &["status", "plate", "--store", "memory:"],
            &["status", "nope"],
            &["status", "nope", "--json"],
            &["status", "nowhere.toml"],
            &["status", "wrong.toml"],
            &["status", "wrong.toml", "--json"],
            &["status", "other.toml"],
            &["status", "notes.txt"],
            &["run", "study.toml"],
            &["status", "plate", "--store", "sqlite:not.db"],
            &["status", "plate", "--store", "sqlite:none.db"],
            &["status", "plate", "--store", "sqlite:no/where.db"],
            &["status", "plate", "--store", "mysql://me:secret@host/db"],
            &["status", "plate", "--store", "postgres://me:secret@127.0.0.1:1/db"],
            &["completions", "tcsh"],
            &["import", "notes.txt"],
            &["import", "nowhere.log"],
            &["ask", "plate", "--key", &"k".repeat(210)],
            &["worker", "study.toml", "--leave-when-idle", "2"],
            &["worker", "study.toml", "--lease", "60"],
            &["worker", "study.toml", "--trials", "5"],
        ]
    ));
}

#[test]
fn a_study_without_trials_is_exported_as_nothing() {
    let bench = Bench::new(GRID);
    bench.feed(&["tell", "study.toml", "-"], "{\"params\":{\"temp\":20,\"acid\":\"citric\"},\"value\":1}");
    let log = String::from_utf8(bench.run(&["export", "plate", "--format", "log"]).stdout).unwrap();
    assert!(log.ends_with("}\n") && log.lines().count() == 2, "{log}");
    // A study whose one ask was refused.
    let bench = Bench::new(GRID);
    assert!(!bench.run(&["ask", "study.toml", "-n", "1000000000"]).status.success());
    assert_eq!(bench.run(&["export", "plate", "--format", "jsonl"]).stdout, b"");
    assert_eq!(bench.run(&["export", "plate", "--json", "-o", "none.jsonl"]).status.code(), Some(0));
    assert_eq!(std::fs::read(bench.path().join("none.jsonl")).unwrap(), b"");
    assert_eq!(bench.json(&["trials", "plate", "--json"]), serde_json::json!([]));
    let csv = bench.run(&["export", "plate"]).stdout;
    assert_eq!(String::from_utf8(csv).unwrap(), "trial,state,temp,acid,batch,value,asked_at,told_at,reason,aim\n");
}

#[test]
fn what_a_user_wrote_is_quoted_on_one_line() {
    let study = "name = \"s\"\n[space]\nx = { choice = [\"a\\tb\", \"c\\nd\"] }\ny = { float = [0.0, 1.0] }\n";
    let bench = Bench::new(study);
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    for (line, told) in [
        (r#"{"params":{"x":"q\tz","y":0.3},"value":1}"#, r#"parameter "x" must be one of "a\tb", "c\nd", got "q\tz""#),
        (r#"{"params":{"x\n":"q","y":0.3},"value":1}"#, r#"there is no parameter "x\n"; the nearest name is "x""#),
        (r#"{"trial":0,"va\tlue":1}"#, r#""va\tlue" is not known"#),
    ] {
        let said = String::from_utf8(bench.feed(&["tell", "s", "-"], line).stderr).unwrap();
        assert!(said.contains(told) && !said.contains('\t') && said.lines().count() <= 2, "{said}");
    }
}

#[test]
fn a_model_states_no_number_at_the_end_of_the_floats() {
    let bench = Bench::new("name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n");
    assert!(bench.run(&["ask", "study.toml", "-n", "3"]).status.success());
    for (trial, value) in [("0", "1.7e308"), ("1", "1.5e308"), ("2", "-1.7e308")] {
        assert!(bench.run(&["tell", "s", trial, value]).status.success());
    }
    let best = bench.json(&["best", "s", "--json"]);
    assert_eq!((&best["value"], &best["mean"]), (&1.7e308.into(), &serde_json::Value::Null), "{best}");
}

#[test]
fn every_verb_has_help_with_an_example() {
    let bench = Bench::new(GRID);
    let overview = String::from_utf8(bench.run(&["--help"]).stdout).unwrap();
    let verbs: Vec<&str> = overview
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.len() >= 18, "{verbs:?}");
    for verb in verbs {
        let help = String::from_utf8(bench.run(&[verb, "--help"]).stdout).unwrap();
        assert!(help.contains("Example") && help.contains(&format!("manyhands {verb}")), "{verb}: {help}");
        assert_eq!(
            help.contains("created on first use"),
            ["run", "worker", "ask", "enqueue", "import"].contains(&verb),
            "{verb}: {help}"
        );
    }
    insta::assert_snapshot!(overview);
}

#[test]
fn a_study_moves_between_stores_with_all_it_knows() {
    let bench = Bench::new(GRID);
    for round in 0..4 {
        bench.run(&["ask", "study.toml", "-n", "2"]);
        bench.run(&["tell", "plate", &(2 * round).to_string(), "0.5"]);
    }
    assert!(bench.run(&["export", "plate", "--format", "log", "-o", "plate.log"]).status.success());
    let mut stores = vec!["sqlite:other.db".to_string()];
    stores.extend(crate::common::server().map(|server| server.database()));
    for store in stores {
        assert!(bench.run(&["import", "plate.log", "--store", &store]).status.success());
        let again = bench.run(&["import", "plate.log", "--store", &store]);
        assert_eq!(again.status.code(), Some(1), "a study is not imported over another");
        let here = |arguments: &[&str]| bench.run(&[arguments, &["--store", &store]].concat()).stdout;
        for arguments in [&["trials", "plate", "--json"][..], &["status", "plate", "--json"]] {
            assert_eq!(here(arguments), bench.run(arguments).stdout, "{store}");
        }
        let next = here(&["ask", "plate", "-n", "3", "--json"]);
        let copy = Bench::new(GRID);
        std::fs::copy(bench.path().join("manyhands.db"), copy.path().join("manyhands.db")).unwrap();
        assert_eq!(next, copy.run(&["ask", "plate", "-n", "3", "--json"]).stdout);
    }
}
