//! Pictures of studies of every kind: they are drawn, and show what they should.
#![allow(clippy::unwrap_used)]

use manyhands_core::file::Draft;
use manyhands_core::{Study, TrialState};

use crate::compose::Composition;
use crate::layers::Layer;
use crate::{Error, Picture, PictureKind, draw_kind};

mod kinds;
mod labels;
mod legend;

/// A study of this file's text.
fn study(text: &str) -> Study {
    Study::new(Draft::parse(text).unwrap().finish(&[]).unwrap().spec).unwrap()
}

/// Asks and tells in batches of five; a trial without a value fails.
fn played(mut study: Study, trials: usize, value: impl Fn(usize, &[f64]) -> Option<f64>) -> Study {
    while study.trials().len() < trials {
        for suggestion in study.ask(5.min(trials - study.trials().len())).unwrap() {
            let numbers: Vec<f64> =
                suggestion.choice.params.iter().map(|value| value.number().unwrap_or(0.0)).collect();
            match value(suggestion.trial, &numbers) {
                Some(value) => study.tell(suggestion.trial, value).unwrap(),
                None => study.fail(suggestion.trial, "no value").unwrap(),
            }
        }
    }
    study
}

/// Draws, checks what every picture keeps to, and leaves the picture for people who look: MANYHANDS_PICTURES names a folder.
fn drawn(study: Study, name: &str) -> Picture {
    drawn_kind(study, name, PictureKind::Page)
}

fn drawn_kind(mut study: Study, name: &str, kind: PictureKind) -> Picture {
    let scene = Composition::of(&mut study, name, kind).unwrap().page(kind).unwrap().scene();
    let picture = Picture::of(name, &scene).unwrap();
    if let Some(folder) = std::env::var_os("MANYHANDS_PICTURES") {
        let file = std::path::Path::new(&folder).join(format!("{:.60}-{}", name, kind.name()));
        std::fs::write(file.with_extension("png"), &picture.png).unwrap();
        std::fs::write(file.with_extension("svg"), &picture.svg).unwrap();
    }
    assert!(picture.png.starts_with(b"\x89PNG\r\n\x1a\n"), "{name} is no PNG");
    assert!(picture.svg.starts_with("<svg") && picture.svg.ends_with("</svg>"), "{name} is no SVG");
    assert!(!picture.svg.contains("NaN") && !picture.svg.contains("inf"), "{name} has a number that is none");
    for state in [TrialState::Observed, TrialState::Pending, TrialState::Failed] {
        assert!(picture.svg.contains(&format!("{} {state}", study.count(state))), "{name} does not count {state}");
    }
    labels::assert_readable(&scene, name);
    picture
}

fn says(picture: &Picture, texts: &[&str]) {
    for text in texts {
        assert!(picture.svg.contains(&format!(">{text}<")), "\"{text}\" is missing");
    }
}

fn is_silent(picture: &Picture, texts: &[&str]) {
    for text in texts {
        assert!(!picture.svg.contains(&format!(">{text}<")), "\"{text}\" is there");
    }
}

const ONE: &str = "name = \"one\"\n[space]\nx = { float = [0.0, 2.0] }\nk = { constant = 3 }\n";
const TWO: &str =
    "name = \"two\"\ndirection = \"minimize\"\n[space]\nx1 = { float = [-5.0, 10.0] }\nx2 = { float = [0.0, 15.0] }\n";

fn branin(x: &[f64]) -> f64 {
    let slope = x[1] - 5.1 / (39.478_417_604_357_43) * x[0] * x[0] + 1.591_549_430_918_953_5 * x[0] - 6.0;
    slope * slope + 9.602_112_642_270_262 * x[0].cos() + 10.0
}

#[test]
fn one_number_has_a_curve_with_its_band_and_all_kinds_of_trials() {
    let mut study = played(study(ONE), 18, |trial, x| (trial % 7 != 3).then(|| (3.0 * x[0]).sin() - 0.3 * x[0]));
    study.ask(3).unwrap();
    let picture = drawn(study, "one-number");
    says(&picture, &["trial", "value over x: the posterior", "x", "mean", "distance of the best so far"]);
    says(&picture, &["design", "wide", "pending", "failed", "best", "90 % interval of the model"]);
    is_silent(&picture, &["beyond the axis"]);
}

#[test]
fn a_given_model_has_a_band_before_any_value() {
    let model = "[model]\nkernel = \"se\"\nlengthscale = 0.2\nnoise = 0.01\n[strategy]\nname = \"igp-bucb\"\nnorm_bound = 2.0\n";
    let mut study = study(&format!("{ONE}{model}"));
    says(
        &drawn(study.clone(), "given-nothing-observed"),
        &["value over x: the posterior", "band (theorem, probability 0.9)"],
    );
    study.ask(2).unwrap();
    let picture = drawn(played(study, 12, |_, x| Some((3.0 * x[0]).sin())), "given");
    says(&picture, &["value over x: the posterior", "band (theorem, probability 0.9)", "wide", "pending"]);
}

#[test]
fn a_logarithmic_number_has_a_logarithmic_axis() {
    let text = "name = \"log\"\n[space]\nlr = { float = [1e-5, 1.0], scale = \"log\" }\n";
    let picture = drawn(played(study(text), 15, |_, x| Some(-(x[0].log10() + 3.0).powi(2))), "log-scale");
    says(&picture, &["1e-5", "0.0001", "0.001", "0.01", "0.1", "value over lr: the posterior"]);
}

#[test]
fn two_numbers_have_a_map() {
    let mut study = played(study(TWO), 30, |trial, x| (trial % 10 != 4).then(|| branin(x)));
    study.ask(4).unwrap();
    let picture = drawn(study, "two-numbers");
    says(
        &picture,
        &[
            "posterior mean",
            "half the 90 % interval of the model",
            "x1",
            "x2",
            "importance: share of the posterior mean&apos;s variance",
            "% of the variance it has a part in; dark: by itself; line: 90 % interval",
            "design",
            "pending",
            "failed",
            "best",
        ],
    );
}

#[test]
fn integers_and_logarithms_are_cells_of_a_map() {
    let text = "name = \"net\"\n[space]\nlayers = { int = [1, 6] }\nlr = { float = [1e-4, 1.0], scale = \"log\" }\n";
    let value = |_: usize, x: &[f64]| Some(1e-9 * (-(x[0] - 3.0).powi(2) - (x[1].log10() + 2.0).powi(2)));
    let picture = drawn(played(study(text), 20, value), "integers");
    says(&picture, &["layers", "lr", "posterior mean", "0.001"]);
}

#[test]
fn a_constraint_leaves_a_part_of_the_map_blank() {
    let text = "name = \"mix\"\n[space]\na = { float = [0.0, 1.0] }\nb = { float = [0.0, 1.0] }\n\
                [[constraint]]\nsum = { a = 1.0, b = 1.0 }\nat_most = 1.0\n";
    let picture = drawn(played(study(text), 15, |_, x| Some(x[0] * x[1])), "constraint");
    says(&picture, &["posterior mean (blank: not allowed)"]);
}

#[test]
fn categories_are_intervals_of_a_slice_and_cells_of_a_map() {
    let act = "act = { choice = [\"relu\", \"gelu\", \"tanh\"] }\n";
    let one = format!("name = \"act\"\n[space]\n{act}");
    let value = |trial: usize, _: &[f64]| Some((trial as f64).sin());
    says(
        &drawn(played(study(&one), 9, value), "category"),
        &["value over act: the posterior", "relu", "gelu", "tanh", "mean"],
    );
    for (name, other) in [("float", "x = { float = [0.0, 1.0] }"), ("two", "on = { choice = [true, false] }")] {
        for text in [format!("{act}{other}\n"), format!("{other}\n{act}")] {
            let picture = drawn(played(study(&format!("name = \"mixed\"\n[space]\n{text}")), 9, value), name);
            says(&picture, &["posterior mean", "act", "relu", "gelu", "tanh", "design"]);
        }
    }
    let many: Vec<String> = (0..60).map(|i| format!("\"c{i}\"")).collect();
    let text = format!("name = \"many\"\n[space]\nc = {{ choice = [{}] }}\n", many.join(", "));
    let many = drawn(played(study(&text), 5, value), "many");
    is_silent(&many, &["value over c: the posterior"]);
    says(&many, &["No curve: every parameter has too many categories."]);
}

#[test]
fn a_pool_is_drawn_over_its_coordinates() {
    let file = |columns: &str| {
        format!("name = \"pool\"\n[candidates]\nfile = \"pool.csv\"\ncolumns = {columns}\nrepeats = false\n")
    };
    let rows: String = (0..40).map(|i| format!("c{i},{},{},{}\n", 20 + i, i % 7, i * i)).collect();
    let pool = |columns: &str| {
        let draft = Draft::parse(&file(columns)).unwrap();
        Study::new(draft.finish(&[format!("label,temp,conc,time\n{rows}").into_bytes()]).unwrap().spec).unwrap()
    };
    let value = |_: usize, x: &[f64]| Some(-(x[1] - 40.0).abs() - (x[2] - 3.0).abs());
    says(&drawn(played(pool("[\"temp\"]"), 12, value), "pool-1"), &["value over temp: the posterior", "temp", "mean"]);
    says(&drawn(played(pool("[\"temp\", \"conc\"]"), 12, value), "pool-2"), &["posterior mean", "temp", "conc"]);
    let three = drawn(played(pool("[\"temp\", \"conc\", \"time\"]"), 12, value), "pool-3");
    says(&three, &["posterior mean", "temp", "conc", "time"]);
    says(&three, &["Importance: columns vary independently of each other, each over its values in the table."]);
}

#[test]
fn studies_without_a_value_are_drawn() {
    for (name, text) in [("nothing-1", ONE), ("nothing-2", TWO)] {
        let mut study = study(text);
        let picture = drawn(study.clone(), name);
        says(&picture, &["value by trial: no values yet"]);
        is_silent(&picture, &["posterior mean", "mean", "design", "highest so far", "lowest so far"]);
        study.ask(2).unwrap();
        says(&drawn(study, name), &["pending"]);
    }
    for (name, text) in [("failed-1", ONE), ("failed-2", TWO)] {
        let picture = drawn(played(study(text), 7, |_, _| None), name);
        says(&picture, &["failed"]);
        is_silent(&picture, &["posterior mean", "mean", "design"]);
    }
}

#[test]
fn one_value_and_constant_values_are_drawn() {
    for (name, text, title) in
        [("constant-1", ONE, "value over x: the posterior"), ("constant-2", TWO, "value by trial")]
    {
        says(&drawn(played(study(text), 8, |_, _| Some(4.2)), name), &["design", title]);
        says(&drawn(played(study(text), 1, |_, _| Some(-0.001)), &format!("{name}-single")), &["design", title]);
    }
}

#[test]
fn a_value_far_away_does_not_flatten_the_others() {
    let value = |trial: usize, x: &[f64]| Some(if trial == 4 { 1e300 } else { 5.0 + x[0] });
    let minimize = format!("direction = \"minimize\"\n{ONE}");
    for (name, text) in [("outlier-1", minimize.as_str()), ("outlier-max", ONE), ("outlier-2", TWO)] {
        let picture = drawn(played(study(text), 20, value), name);
        says(&picture, &["beyond the axis"]);
        assert!(picture.svg.contains("; 1 value is beyond the axis"), "{name} does not say so");
        // The band of two numbers is as wide as it is, and has a scale of its own.
        if name != "outlier-2" {
            is_silent(&picture, &["1e300", "5e299", "2e299"]);
        }
    }
}

#[test]
fn values_of_every_size_are_drawn() {
    for (name, size) in [("huge", 1e300), ("tiny", 1e-300), ("offset", 1.0)] {
        let offset = if name == "offset" { 1e9 } else { 0.0 };
        for (kind, text) in [("one", ONE), ("two", TWO)] {
            drawn(
                played(study(text), 12, |_, x| Some(offset + size * (x[0] - 1.0).powi(2))),
                &format!("{name}-{kind}"),
            );
        }
    }
    let both = |trial: usize, _: &[f64]| Some(if trial.is_multiple_of(2) { 1e308 } else { -1e308 });
    drawn(played(study(ONE), 10, both), "both-ends");
    let orders = |trial: usize, x: &[f64]| Some(10f64.powi(trial as i32) * (1.0 + x[0]));
    drawn(played(study(TWO), 30, orders), "orders-of-magnitude");
}

#[test]
fn names_are_written_as_they_are() {
    let text = "name = \"n\"\n[space]\n\"$a$ < & b\" = { float = [0.0, 1.0] }\n";
    let picture = drawn(played(study(text), 6, |_, x| Some(x[0])), "names");
    assert!(picture.svg.contains("$a$ &lt; &amp; b"), "the name was changed");
    let long = ONE.replace("x =", &format!("{} =", "long_".repeat(20)));
    let picture = drawn(played(study(&long), 6, |_, x| Some(x[0])), &"long-name-".repeat(10));
    assert!(picture.svg.contains("…") && !picture.svg.contains(&"long_".repeat(20)), "the name is not cut");
}
