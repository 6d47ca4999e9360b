//! What the study file promises: every key is read, and every mistake is reported with its place and its remedy.

use crate::common::config;
use manyhands_core::file::{Draft, FileError, FileRef, StudyFile, TomlTable};
use manyhands_core::gp::Family;
use manyhands_core::{
    Coordinates, Direction, Domain, Hallucination, Information, Initial, ParameterKind, Rule, Scale, Spec, Strategy,
    Study,
};
use proptest::prelude::*;

/// The example of the manual, in full.
const EXAMPLE: &str = include_str!("files/example.toml");

/// Its other half: candidates from a file, and a model that is learned.
const POOL: &str = r#"name = "plate"

[candidates]
file = "pool.csv"
columns = ["temp", "conc"]
repeats = false

[strategy]
design = 2
hallucination = 1.0

[run]
command = ["lab", "{well}", "{trial}"]
"#;

const PLATE: &str = "well,temp,conc\nA1,20,0.5\nA2,60,0.1\nB1,40,0.1\n";
const COVARIANCE: &str = "1,0.5,0\n0.5,1,0\n0,0,1\n";

fn read(text: &str) -> StudyFile {
    read_with(text, &[])
}

fn read_with(text: &str, files: &[&str]) -> StudyFile {
    finish(text, files).unwrap_or_else(|error| panic!("{}", error.render("study.toml")))
}

fn finish(text: &str, files: &[&str]) -> Result<StudyFile, FileError> {
    Draft::parse(text)?.finish(&files.iter().map(|file| file.as_bytes().to_vec()).collect::<Vec<_>>())
}

fn in_space(more: &str) -> String {
    format!("name = \"a\"\n[space]\nx = {{ float = [-5.0, 10.0] }}\nn = {{ int = [1, 5] }}\n{more}")
}

fn in_pool(more: &str) -> String {
    format!("name = \"a\"\n[candidates]\nfile = \"pool.csv\"\n{more}")
}

#[test]
fn the_example_says_what_the_study_is() {
    let file = read(EXAMPLE);
    assert_eq!((file.name.as_str(), file.spec.seed(), file.spec.direction()), ("branin", 7, Direction::Minimize));
    let space = file.spec.domain().space().unwrap();
    assert_eq!(file.spec.domain().names(), ["x1", "lr", "layers", "act", "dose", "u", "k"]);
    let kinds: Vec<_> = space.parameters().iter().map(|parameter| parameter.kind().clone()).collect();
    assert_eq!(kinds[1], ParameterKind::Float { low: 1e-5, high: 0.1, scale: Scale::Log });
    assert_eq!(kinds[5], ParameterKind::Even { low: 0.0, high: 1.0, scale: Scale::Linear, points: 100 });
    assert_eq!(space.constraints()[0].to_string(), "x1 + 2 u <= 9.5");
    let prior = file.spec.prior();
    assert_eq!((prior.kernel().variance(), prior.mean(), prior.noise()), (2.0, 0.5, 0.025));
    assert_eq!(
        (prior.kernel().family(), prior.kernel().lengthscales()),
        (Family::Matern { smoothness: 2.5 }, &[0.2][..])
    );
    let strategy = Strategy {
        noise_bound: Some(0.158),
        initial: Initial::Count(5),
        design: Some(5),
        max_pending: Some(5),
        ..Strategy::new(Rule::IgpBucb, 1.0)
    };
    assert_eq!(file.spec.strategy(), &strategy);
    Study::new(file.spec).unwrap().ask(1).unwrap();
}

#[test]
fn the_example_may_learn_what_it_does_not_give() {
    let text = EXAMPLE.replace("lengthscale = 0.2\n", "fit = true\n");
    let spec = read(&text).spec;
    let given = spec.given().unwrap();
    assert_eq!((given.lengthscales.as_deref(), given.noise, given.mean), (None, Some(0.025), Some(0.5)));
    assert_eq!((spec.strategy().design, spec.strategy().rule), (Some(5), Rule::IgpBucb));
    Study::new(spec).unwrap().ask(1).unwrap();
}

#[test]
fn a_pool_is_read_from_its_file() {
    let draft = Draft::parse(POOL).unwrap();
    assert_eq!(draft.files(), [FileRef { role: "candidates", path: "pool.csv" }]);
    let file = read_with(POOL, &[PLATE]);
    let Domain::Pool(pool) = file.spec.domain() else { panic!("{:?}", file.spec.domain()) };
    assert_eq!((pool.len(), pool.seen_as(), pool.points().dimension()), (3, Coordinates::Unit, 2));
    assert!(file.spec.learns() && !file.spec.repeats());
    assert_eq!(file.spec.strategy().hallucination, Hallucination::Number(1.0));
    let mut study = Study::new(file.spec).unwrap();
    assert_eq!(study.ask(3).unwrap()[0].choice.params.len(), 3);
}

#[test]
fn an_empirical_covariance_is_read_with_or_without_a_header() {
    let text =
        in_pool("covariance = \"cov.csv\"\n[model]\nkernel = \"empirical\"\nnoise = 0.1\n[strategy]\nnorm_bound = 2\n");
    let roles: Vec<_> = Draft::parse(&text).unwrap().files().iter().map(|file| file.role).collect();
    assert_eq!(roles, ["candidates", "covariance"]);
    let plain = read_with(&text, &[PLATE, COVARIANCE]);
    let headed = read_with(&text, &[PLATE, &format!("A1,A2,B1\n{COVARIANCE}")]);
    assert_eq!(plain.spec, headed.spec);
    assert_eq!((plain.spec.prior().kernel().family(), plain.spec.strategy().rule), (Family::Empirical, Rule::IgpBucb));
    assert_eq!(plain.spec.prior().kernel().covariance(&[0.0], &[1.0]), 0.5);
}

#[test]
fn what_is_left_out_has_the_defaults_of_the_manual() {
    let file = read(&in_space(""));
    let learned = Spec::learned(file.spec.domain().clone(), Strategy::auto()).unwrap();
    assert!(file.run().is_none());
    assert_eq!(file.spec, learned);
    let given = |strategy: &str| read(&in_space(&format!("[model]\nlengthscale = 0.2\nnoise = 0.1\n{strategy}"))).spec;
    let spec = given("[strategy]\nnorm_bound = 2.0\n");
    assert_eq!(
        (spec.strategy().rule, spec.prior().kernel().variance(), spec.prior().mean()),
        (Rule::IgpBucb, 1.0, 0.0)
    );
    assert_eq!((given("").strategy(), given("").learns()), (&Strategy::auto(), false));
    assert_eq!(given("[strategy]\ninitial = 0\n").strategy().initial, Initial::None);
    let asked = given("[strategy]\nnorm_bound = 1.0\ninformation = \"log\"\nhallucination = \"off\"\n");
    assert_eq!((asked.strategy().information, asked.strategy().hallucination), (Information::Log, Hallucination::Off));
}

#[test]
fn lengthscales_are_one_for_each_parameter_that_varies_in_the_unit_cube_or_in_its_own_units() {
    let choice = "c = { choice = [\"p\", \"q\"] }\nk = { constant = 1 }\n";
    let lengthscales = |text: &str| read(text).spec.prior().kernel().lengthscales().to_vec();
    let each = format!("{choice}[model]\nlengthscale = [0.1, 0.2, 0.3]\nnoise = 0.1\n");
    assert_eq!(lengthscales(&in_space(&each)), [0.1, 0.2, 0.3, 0.3]);
    assert_eq!(lengthscales(&in_space("[model]\nlengthscale = 3\nunits = \"raw\"\nnoise = 0.1\n")), [0.2, 0.75]);
    let pool = in_pool("[model]\nkernel = \"se\"\nlengthscale = [20, 0.1]\nunits = \"raw\"\nnoise = 0.1\n");
    let spec = read_with(&pool, &[PLATE]).spec;
    let Domain::Pool(table) = spec.domain() else { panic!("{:?}", spec.domain()) };
    assert_eq!((table.points().get(1), spec.prior().kernel().lengthscales()), (&[60.0, 0.1][..], &[20.0, 0.1][..]));
}

#[test]
fn what_is_given_of_a_learned_model_is_kept() {
    let model = "[model]\nkernel = \"se\"\nlengthscale = [3, 2]\nunits = \"raw\"\nnoise = 0.01\nfit = true\n";
    let spec = read(&in_space(model)).spec;
    let given = spec.given().unwrap();
    assert_eq!((given.lengthscales.as_deref(), given.noise), (Some(&[0.2, 0.5][..]), Some(0.01)));
    assert_eq!((given.variance, given.mean, spec.prior().kernel().family()), (None, None, Family::SquaredExponential));
    let spec = read_with(&in_pool("[model]\nlengthscale = 20\nunits = \"raw\"\nfit = true\n"), &[PLATE]).spec;
    assert_eq!(spec.given().unwrap().lengthscales.as_deref(), Some(&[0.5, 50.0][..]));
}

#[test]
fn every_error_of_a_study_file_has_its_place_and_remedy() {
    let cases: Vec<&str> = include_str!("files/wrong.txt").split("\n====\n").filter(|case| !case.is_empty()).collect();
    assert!(cases.len() > 65, "only {} cases", cases.len());
    for case in cases {
        let (text, told) = case.split_once("\n----\n").unwrap();
        let error = Draft::parse(text).err().map(|error| error.render("study.toml"));
        assert_eq!(error.as_deref(), Some(told), "for\n{text}");
    }
}

/// What the reader says of a strategy with this name and another setting, where the model is given (with a bound on the norm) or
/// learned.
fn of_setting(rule: &str, setting: &str, learns: bool) -> Result<StudyFile, FileError> {
    let model = if learns { "" } else { "[model]\nlengthscale = 0.2\nnoise = 0.1\n" };
    let bound = if learns { "" } else { "norm_bound = 1.0\n" };
    let text = format!(
        "name = \"a\"\n[space]\nx = {{ int = [1, 9] }}\n{model}[strategy]\nname = \"{rule}\"\n{bound}{setting}\n"
    );
    finish(&text, &[])
}

#[test]
fn a_setting_is_taken_by_the_rules_that_read_it_and_refused_with_their_names_by_the_others() {
    let paper = ["igp-bucb", "gp-bts", "gp-bucb"];
    let widths = ["gp-ucb", "gp-ucb-pe", "dpp", "local-penalization"];
    let with = |more: &[&'static str]| [&paper[..], more].concat();
    let readers: [(&str, Vec<&str>); 8] = [
        ("information = \"log\"", paper.to_vec()),
        ("hallucination = 2.0", with(&["auto", "gp-bucb-bayesian"])),
        ("multiplier = 1.0", with(&["gp-bucb-bayesian"])),
        ("width = 0.5", [&with(&["auto", "gp-bucb-bayesian"]), &widths[..]].concat()),
        ("beta = 4.0", widths.to_vec()),
        ("zeta = 0.1", vec!["gp-pi"]),
        ("dpp = \"sample\"", vec!["dpp"]),
        ("base = \"gp-ei\"", vec!["local-penalization"]),
    ];
    for (setting, readers) in readers {
        for rule in Rule::all().map(Rule::name) {
            for learns in [false, true] {
                let read = of_setting(rule, setting, learns);
                if readers.contains(&rule) {
                    assert!(read.is_ok(), "{rule} with {setting}: {:?}", read.err());
                    continue;
                }
                let refused = read.expect_err(&format!("{rule} with {setting}"));
                let key = setting.split(' ').next().unwrap();
                assert!(refused.source_line == setting, "{refused}");
                if key == "multiplier" {
                    assert!(readers.iter().all(|reader| refused.message.contains(reader)), "{refused}");
                    continue;
                }
                assert!(refused.message.contains(&format!("{rule} does not read {key}")), "{refused}");
                let hint = refused.hint.unwrap();
                assert!(readers.iter().all(|reader| hint.contains(reader)), "{hint}");
            }
        }
    }
    // What certificates read is read with a given model, whatever the rule; with a learned one by the rules alone.
    for (setting, readers) in [
        ("norm_bound = 2.0", paper.to_vec()),
        ("noise_bound = 0.3", paper.to_vec()),
        ("delta = 0.2", [&with(&["gp-bucb-bayesian"]), &widths[..]].concat()),
    ] {
        for rule in Rule::all().map(Rule::name) {
            assert_eq!(of_setting(rule, setting, true).is_ok(), readers.contains(&rule), "{rule} with {setting}");
            let given = if setting.starts_with("norm") { "" } else { setting };
            assert!(of_setting(rule, given, false).is_ok(), "{rule} with {setting}");
        }
    }
}

#[test]
fn a_setting_that_nothing_reads_is_no_part_of_the_identity_and_opens_where_it_was_stored() {
    let text = |setting: &str| in_space(&format!("[strategy]\nname = \"gp-ei\"\n{setting}"));
    let unread = text("hallucination = 2.0\nbeta = 3.0\n");
    assert!(Draft::parse(&unread).is_err());
    let stored = Draft::parse_stored(&unread).unwrap().finish(&[]).unwrap();
    assert_eq!(stored.differences(&read(&text(""))), []);
    assert!(Draft::parse_stored(&text("beta = -3.0\n")).is_err(), "other mistakes stay mistakes");
}

#[test]
fn mistakes_in_run_and_in_the_rest_are_reported_in_the_order_of_their_places() {
    let (run, strategy) = ("[run]\nworkers = 0\n", "[strategy]\ndelta = 2\n");
    let refused = |text: &str| {
        let read = |run: &TomlTable| run.integer_in("workers", 1, 64);
        Draft::parse_with(text, read).err().map(|error| error.to_string())
    };
    let of_run = Some("6:11: workers must be an integer from 1 to 64, got 0".to_string());
    let of_strategy = Some("6:9: delta must be above 0 (from 1e-100) and at most 1, got 2".to_string());
    assert_eq!(refused(&in_space(&format!("{run}{strategy}"))), of_run);
    assert_eq!(refused(&in_space(&format!("{strategy}{run}"))), of_strategy);
    assert_eq!(refused(&in_space(run)), of_run);
}

#[test]
fn of_a_long_line_what_is_around_the_mistake_is_shown() {
    let long = "a".repeat(90_000);
    let text = format!("name = \"s\"\n[space]\nx = {{ choice = [\"{long}\", \"b\"], flaot = 1, {long} = 1 }}\n");
    let told = Draft::parse(&text).err().map(|error| error.render("study.toml")).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines.iter().all(|line| line.chars().count() < 200), "{told}");
    assert_eq!(lines[1].find("flaot"), lines[2].find('^'), "{told}");
    // A key that is as long as that.
    let told = Draft::parse(&format!("{long} = 1")).err().unwrap().to_string();
    assert!(told.starts_with("1:1: unknown key \"aaa") && told.ends_with("aaa...\""), "{told}");
}

#[test]
fn a_deeply_nested_file_is_refused() {
    let deep = 100_000;
    for text in [
        format!("name = {}", "[".repeat(deep)),
        format!("name = {}", "{ a = ".repeat(deep)),
        format!("{}b = 1", "a.".repeat(deep)),
        format!("[{}b]", "a.".repeat(deep)),
        format!("[space]\nx = {{ {}b = 1 }}", "a.".repeat(deep)),
    ] {
        check(&text, Draft::parse(&text));
    }
}

#[test]
fn an_empty_file_lacks_a_name() {
    for text in ["", "\n\n", "# nothing\n"] {
        let error = Draft::parse(text).err().unwrap();
        assert_eq!(error.to_string(), "1:1: name is missing");
        assert_eq!(error.hint.as_deref(), Some("for example name = \"my-study\""));
    }
}

#[test]
fn an_error_in_a_table_is_placed_at_the_key_that_names_it() {
    let empirical = in_pool("covariance = \"cov.csv\"\n[model]\nkernel = \"empirical\"\nnoise = 0.1\n");
    let unknown = in_pool("columns = [\"tmp\"]\n");
    let square = "the covariance of 3 candidates must be 3 x 3, got";
    let wrong: [(&str, &[&str], String); 9] = [
        (
            POOL,
            &["well,temp,conc\nA1,hot,3\n"],
            "4:8: pool.csv: line 2, column \"temp\": must be a number, got \"hot\"".into(),
        ),
        (POOL, &["well,temp,conc\nA1,3\n"], "4:8: pool.csv: line 2: must have 3 cells, as line 1 has, got 2".into()),
        (POOL, &[""], "4:8: pool.csv: the table is empty".into()),
        (POOL, &[], "3:2: the contents of 1 files are needed, got those of 0".into()),
        (&unknown, &[PLATE], "3:8: pool.csv: there is no column \"tmp\"; the nearest name is \"temp\"".into()),
        (&empirical, &[PLATE, "1,0\n0,1\n"], format!("4:14: cov.csv: {square} 2 x 2")),
        (&empirical, &[PLATE, ""], format!("4:14: cov.csv: {square} 0 x 0")),
        (
            &empirical,
            &[PLATE, "1,0,0\n0,x,0\n0,0,1\n"],
            "4:14: cov.csv: line 2, column 2: must be a number, got \"x\"".into(),
        ),
        (
            &empirical,
            &[PLATE, "1,0,0\n0,-1,0\n0,0,1\n"],
            "4:14: cov.csv: variance must not be negative, got -1 at row 1".into(),
        ),
    ];
    for (text, files, message) in wrong {
        assert_eq!(finish(text, files).unwrap_err().to_string(), message);
    }
}

#[test]
fn the_identity_names_every_key_with_its_default() {
    let file = read(&in_space("[[constraint]]\nsum = { x = 1, n = -1 }\nat_least = 0\n"));
    let told: Vec<String> = file.identity().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let expected = "direction = maximize\nseed = 0\nspace.x = float from -5 to 10\nspace.n = int from 1 to 5\n\
                    constraint.1 = x - n >= 0\nmodel.kernel = learned\n\
                    model.lengthscale = learned\nmodel.units = unit\nmodel.noise = learned\nmodel.variance = learned\n\
                    model.mean = learned\nmodel.fit = true\nstrategy.name = auto\nstrategy.norm_bound = none\n\
                    strategy.noise_bound = the square root of noise\nstrategy.delta = 0.1\n\
                    strategy.information = realised\nstrategy.hallucination = realised\nstrategy.width = 1\n\
                    strategy.initial = 0\nstrategy.design = by dimension\n\
                    strategy.multiplier = by the theorem\nstrategy.beta = by the theorem\nstrategy.zeta = 0.01\n\
                    strategy.dpp = max\nstrategy.base = gp-ucb\n\
                    strategy.max_pending = none";
    assert_eq!(told.join("\n"), expected);
}

#[test]
fn differences_are_named_and_the_run_table_is_none() {
    let file = read(EXAMPLE);
    let other = |from: &str, to: &str| read(&EXAMPLE.replacen(from, to, 1));
    let told = |other: &StudyFile| {
        let all = file.differences(other).into_iter();
        let shown = |value: Option<String>| value.unwrap_or("missing".to_string());
        all.map(|d| format!("{}: {} | {}", d.key, shown(d.this), shown(d.other))).collect::<Vec<_>>()
    };
    assert_eq!(told(&other("workers = 5", "workers = 9")), [""; 0]);
    assert_eq!(told(&other("name = \"branin\"", "name = \"other\"")), [""; 0]);
    assert_eq!(told(&other("delta = 0.1", "delta = 0.10")), [""; 0]);
    assert_eq!(told(&other("delta = 0.1\n", "")), [""; 0]);
    assert_eq!(told(&other("delta = 0.1", "delta = 0.2")), ["strategy.delta: 0.1 | 0.2"]);
    assert_eq!(told(&other("k = { constant = 3 }", "")), ["space.k: constant 3 | missing"]);
    assert_eq!(told(&other("k = {", "j = {")), ["space.k: constant 3 | missing", "space.j: missing | constant 3"]);
    let moved =
        read(&EXAMPLE.replace("k = { constant = 3 }\n", "").replace("[space]\n", "[space]\nk = { constant = 3 }\n"));
    let (this, that) = ("x1, lr, layers, act, dose, u, k", "k, x1, lr, layers, act, dose, u");
    assert_eq!(told(&moved), [format!("the order of [space]: {this} | {that}")]);
    let pool = read_with(POOL, &[PLATE]);
    assert!(pool.identity().contains(&("candidates.columns".to_string(), "\"temp\", \"conc\"".to_string())));
    let repeats = read_with(&POOL.replace("repeats = false\n", "").replace("pool.csv", "other.csv"), &[PLATE]);
    let found = pool.differences(&repeats);
    assert_eq!(
        (found.len(), found[0].key.as_str(), found[0].other.as_deref()),
        (1, "candidates.repeats", Some("true"))
    );
}

/// An error lies inside its text, and can be shown.
fn check(text: &str, result: Result<impl Sized, FileError>) {
    let Err(error) = result else { return };
    let line = text.split('\n').nth(error.line - 1).unwrap_or_else(|| panic!("{error} is after the end of {text:?}"));
    assert!(error.column >= 1 && error.column <= line.chars().count() + 1, "{error} is outside {text:?}");
    assert!(line.starts_with(&error.source_line) && !error.message.is_empty());
    assert!(error.render("study.toml").lines().count() >= 3, "{}", error.render("study.toml"));
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn any_text_is_read_or_refused_in_place(text in "\\PC{0,80}", lines in "([a-z\\[\\]{}=\"0-9., \n\r\t#é]{0,120})") {
        check(&text, Draft::parse(&text));
        check(&lines, Draft::parse(&lines));
    }
}
