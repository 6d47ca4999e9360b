//! The page of many parameters, and each kind of picture by itself.

use manyhands_core::Event;

use super::*;
use crate::draw;
use crate::marks::Mark;
use crate::metrics::series;

/// A study of so many floats, minimized.
fn floats(count: usize) -> Study {
    let many: String = (0..count).map(|i| format!("x{i} = {{ float = [0.0, 1.0] }}\n")).collect();
    study(&format!("name = \"many\"\ndirection = \"minimize\"\n[space]\n{many}"))
}

/// The further a parameter is down the list, the less it matters.
fn bowl(x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(i, x)| (x - 0.4).powi(2) / f64::from(1 << i.min(20))).sum()
}

#[test]
fn many_numbers_have_everything_on_one_page() {
    for (count, name) in [(3, "three"), (6, "six"), (15, "fifteen")] {
        let mut study = played(floats(count), 30, |trial, x| (trial % 9 != 5).then(|| bowl(x)));
        study.ask(3).unwrap();
        let picture = drawn(study, name);
        says(&picture, &["importance: share of the posterior mean&apos;s variance", "posterior mean", "mean", "best"]);
        says(&picture, &["half the 90 % interval of the model", "pending", "failed"]);
        assert!(picture.svg.contains(">slices of the value through the best point (trial "), "{name}");
        let line = ["lowest so far", "distance of the best so far"].map(|label| picture.svg.contains(label));
        assert!(line[0] != line[1], "{name} does not name its line, or twice");
        assert!(picture.svg.contains(" and x"), "{name} does not say which pair it maps");
    }
}

#[test]
fn of_fifteen_parameters_twelve_have_a_slice_and_the_rest_are_named() {
    let study = played(floats(15), 30, |_, x| Some(bowl(x)));
    let picture = drawn(study, "rest");
    assert!(picture.svg.contains(">Not shown: x"), "not named");
}

#[test]
fn a_picture_of_200_trials_six_parameters_and_twelve_metrics_is_below_200_kilobytes() {
    let mut study = floats(6);
    for i in 0..200 {
        let params: Vec<f64> = (1..=6).map(|j| (f64::from(i) * (f64::from(j) + 0.37).sqrt()).fract()).collect();
        let values: Vec<manyhands_core::Value> = params.iter().map(|&x| x.into()).collect();
        let trial = study.include(&values, Some(bowl(&params) + (9.0 * params[0]).sin() * params[1])).unwrap();
        let metric = |j: usize| (format!("metric {j}"), params[j % 6] * j as f64);
        study.apply(Event::Measured { trial, metrics: (0..12).map(metric).collect() }).unwrap();
    }
    let picture = drawn(study, "large");
    assert!(
        picture.svg.contains(">Metrics not shown: metric 9, metric 10, metric 11, metric 0."),
        "constants are the last"
    );
    assert!(picture.svg.len() < 200_000, "{} bytes", picture.svg.len());
}

/// The numbers beside the vertical axes of the slices.
fn heights(study: Study) -> Vec<String> {
    let picture = drawn_kind(study, "heights", PictureKind::Slices);
    let ends = picture.svg.split("text-anchor=\"end\" fill=\"#222222\">").skip(1);
    ends.filter_map(|text| Some(text.split('<').next()?.to_string())).collect()
}

#[test]
fn a_steep_slice_among_flat_ones_is_not_cut_off() {
    let study = played(floats(6), 40, |_, x| Some((6.0 * x[3]).sin()));
    let heights = heights(study);
    // Five of six slices are flat at about -1; the sixth rises to 1.
    assert!(heights.iter().any(|height| height.parse::<f64>().unwrap() >= 1.0), "{heights:?}");
}

#[test]
fn a_share_and_its_interval_are_written_at_one_place() {
    let picture = drawn_kind(played(floats(4), 25, |_, x| Some(bowl(x))), "shares", PictureKind::Importance);
    let numbers = picture.svg.split("<text ").filter(|text| text.contains(" % (") && text.contains(" to "));
    let ends: Vec<&str> = numbers.filter_map(|text| text.split('"').nth(1)).collect();
    assert!(ends.len() == 4 && ends.iter().all(|end| *end == ends[0]), "{ends:?}");
}

#[test]
fn the_same_study_gives_the_same_bytes() {
    let mut study = played(floats(3), 12, |_, x| Some(bowl(x)));
    let first = draw(&mut study, "same").unwrap();
    assert_eq!(draw(&mut study.clone(), "same").unwrap(), first);
    assert_eq!(draw(&mut Study::replay(study.spec().clone(), study.events()).unwrap(), "same").unwrap(), first);
}

#[test]
fn every_kind_is_drawn_by_itself() {
    let four = played(floats(4), 25, |_, x| Some(bowl(x)));
    let titles = [
        (PictureKind::History, "trial"),
        (PictureKind::Slices, "x3"),
        (PictureKind::Importance, "importance: share of the posterior mean&apos;s variance"),
        (PictureKind::Pairs, "posterior mean"),
    ];
    for (kind, title) in titles {
        let picture = drawn_kind(four.clone(), "kinds", kind);
        says(&picture, &[title]);
        let others = titles.iter().filter(|(other, title)| *other != kind && *title != "x3" && *title != "trial");
        is_silent(&picture, &others.map(|(_, title)| *title).collect::<Vec<_>>());
    }
    let one = played(study(ONE), 9, |_, x| Some(x[0].sin()));
    says(&drawn_kind(one.clone(), "one", PictureKind::Slices), &["value over x: the posterior"]);
    drawn_kind(one, "one", PictureKind::History);
}

#[test]
fn a_kind_that_has_nothing_to_draw_says_why() {
    let refused = |mut study: Study, kind| match draw_kind(&mut study, "s", kind) {
        Err(Error::NotDrawable { kind: refused, reason }) => {
            assert_eq!(refused, kind);
            reason
        }
        other => panic!("{other:?}"),
    };
    for kind in [PictureKind::Slices, PictureKind::Importance, PictureKind::Pairs] {
        assert_eq!(refused(floats(3), kind), "there are no values yet");
    }
    let one = played(study(ONE), 9, |_, x| Some(x[0].sin()));
    assert_eq!(refused(one.clone(), PictureKind::Importance), "only one parameter varies");
    assert_eq!(refused(one, PictureKind::Pairs), "a map needs two parameters that vary");
    let flat = played(floats(2), 6, |_, _| Some(4.0));
    assert_eq!(refused(flat, PictureKind::Importance), "the posterior mean is the same everywhere");
}

#[test]
fn the_first_trials_are_drawn() {
    for trials in [0, 1, 3] {
        let picture = drawn(played(floats(3), trials, |_, x| Some(bowl(x))), &format!("first-{trials}"));
        let title = if trials == 0 { "value by trial: no values yet" } else { "value by trial" };
        says(&picture, &[title]);
        if trials == 0 {
            says(&picture, &["No importance, no slices, no map: there are no values yet."]);
        }
    }
}

#[test]
fn trials_that_do_not_exist_have_no_tick() {
    let ticks = |trials: usize| {
        let study = played(floats(2), trials, |_, x| Some(bowl(x)));
        let picture = drawn_kind(study, &format!("ticks-{trials}"), PictureKind::History);
        let middles = picture.svg.split("text-anchor=\"middle\" fill=\"#222222\">").skip(1);
        let texts = middles.filter_map(|text| text.split('<').next()?.parse().ok());
        texts.collect::<Vec<usize>>()
    };
    assert_eq!([ticks(0), ticks(1), ticks(2)], [vec![], vec![0], vec![0, 1]]);
}

#[test]
fn values_over_magnitudes_have_a_logarithmic_history() {
    let study = played(floats(2), 30, |trial, x| {
        (trial % 11 != 7).then(|| 10f64.powf(3.0 * (x[0] - 0.5).abs() * 4.0 - 3.0) + x[1] * 1e-4)
    });
    let picture = drawn(study, "magnitudes");
    assert!(picture.svg.contains(">distance from the best value, "), "it is not the distance");
    says(&picture, &["distance of the best estimate so far", "goes on beyond the axis", "and below"]);
    assert!(picture.svg.contains(" (logarithmic; 0 is the best)<"), "the axis does not say what it shows");
    is_silent(&picture, &["value by trial", "lowest so far"]);
}

#[test]
fn a_converged_search_among_values_of_one_order_shows_the_values() {
    let text = TWO.replace("minimize", "maximize");
    let picture = drawn(played(study(&text), 30, |_, x| Some(-50.0 - branin(x).min(100.0))), "one-order");
    says(&picture, &["value by trial", "highest so far"]);
    let picture = drawn(played(study(&text), 30, |_, x| Some(0.135 - 0.003 * branin(x))), "around-zero");
    says(&picture, &["distance of the best so far"]);
    is_silent(&picture, &["highest so far"]);
}

#[test]
fn negligible_differences_have_one_colour() {
    let model = |lengthscale: &str| {
        let model = format!("[model]\nkernel = \"se\"\nlengthscale = {lengthscale}\nnoise = 0.01\n");
        format!("{TWO}{model}[strategy]\nname = \"igp-bucb\"\nnorm_bound = 2.0\n")
    };
    let picture = |lengthscale: &str| {
        let study = played(study(&model(lengthscale)), 12, |trial, _| Some((trial as f64).sin()));
        drawn(study, &format!("lengthscale {lengthscale}").replace('.', "-")).svg
    };
    let flat = picture("3000.0");
    for what in [">posterior mean: about ", ">half the width of the band (theorem): about "] {
        assert!(flat.contains(what), "{what} is missing");
    }
    assert!(!picture("0.3").contains(" everywhere"), "large differences have one colour");
}

#[test]
fn noisy_values_have_the_best_estimate_on_a_linear_axis() {
    let noise = |trial: usize| 0.8 * ((trial as f64 * 12.9898).sin() * 43758.5453).fract();
    let study = played(floats(3), 40, |trial, x| Some(bowl(x) + noise(trial)));
    says(&drawn(study.clone(), "noisy"), &["value by trial", "best estimate so far"]);
    let mut study = study;
    let page = Composition::of(&mut study, "ring", PictureKind::History).unwrap();
    let page = page.page(PictureKind::History).unwrap();
    let places = |is_wanted: fn(&Mark) -> bool| -> Vec<(f64, f64)> {
        let of = |layer: &Layer| match layer {
            Layer::Marks(mark, places) if is_wanted(mark) => places.clone(),
            _ => vec![],
        };
        page.rows[0].panels[0].layers.iter().flat_map(of).collect()
    };
    let (ring, dots) = (places(|mark| *mark == Mark::Best), places(|mark| matches!(mark, Mark::Aimed(_))));
    assert!(ring.len() == 1 && dots.contains(&ring[0]), "{ring:?} is around no dot");
}

#[test]
fn mixed_parameters_have_slices_in_their_own_units() {
    let text = "name = \"mixed\"\ndirection = \"minimize\"\n[space]\nlr = { float = [1e-5, 1e-1], scale = \"log\" }\n\
                layers = { int = [1, 8] }\nwidth = { int = [16, 1024], scale = \"log\" }\n\
                act = { choice = [\"relu\", \"gelu\", \"a rather long name\"] }\ndose = { levels = [0.1, 0.3, 1.0, 30.0] }\n\
                u = { float = [0.0, 1.0], points = 11 }\nk = { constant = 3 }\n";
    let value =
        |_: usize, x: &[f64]| Some((x[0].log10() + 3.0).powi(2) + 0.1 * (x[1] - 4.0).powi(2) + x[4].log10().abs());
    let picture = drawn(played(study(text), 30, value), "mixed");
    says(&picture, &["lr", "layers", "width", "act", "dose", "u", "relu", "1e-5", "0.1"]);
}

#[test]
fn constrained_parameters_have_gaps_and_mixtures_move_the_others() {
    for (name, relation) in [("budget", "at_most"), ("mixture", "equals")] {
        let text = format!(
            "name = \"mix\"\n[space]\na = {{ float = [0.0, 1.0] }}\nb = {{ float = [0.0, 1.0] }}\nc = {{ float = [0.0, 1.0] }}\n\
             [[constraint]]\nsum = {{ a = 1.0, b = 1.0, c = 1.0 }}\n{relation} = 1.0\n"
        );
        let picture = drawn(played(study(&text), 20, |_, x| Some(x[0] * x[1] + x[2])), name);
        let has = |text: &str| picture.svg.contains(text);
        for text in
            ["Importance under constraints", "at gaps nothing is allowed", "as near to it as the constraints allow"]
        {
            assert!(has(text), "{name}: {text} is missing");
        }
        for text in ["No slices", "cannot change alone", "No map"] {
            assert!(!has(text), "{name}: {text} is there");
        }
    }
}

#[test]
fn a_map_is_over_two_parameters_that_vary_independently() {
    let text = "name = \"two-parts\"\n[space]\na = { float = [0.0, 1.0] }\nb = { float = [0.0, 1.0] }\n\
                heat = { float = [20.0, 90.0] }\n[[constraint]]\nsum = { a = 1.0, b = 1.0 }\nequals = 1.0\n";
    let picture = drawn(played(study(text), 20, |_, x| Some(x[0] * x[1] + 1e-4 * x[2])), "two-parts");
    assert!(picture.svg.contains("the most important parameters that vary independently"), "not said which are drawn");
    let text = text.replace("heat = { float = [20.0, 90.0] }\n", "");
    let picture = drawn(played(study(&text), 20, |_, x| Some(x[0] * x[1])), "nothing-but-two-parts");
    assert!(picture.svg.contains("No map: the constraints let no two parameters vary independently"), "not said why");
}

#[test]
fn long_names_are_cut_and_stay_apart() {
    let names: Vec<String> = (0..5).map(|i| format!("the_learning_rate_of_the_second_optimizer_number_{i}")).collect();
    let space: String = names.iter().map(|name| format!("{name} = {{ float = [0.0, 100000.0] }}\n")).collect();
    let long = study(&format!("name = \"long\"\n[space]\n{space}"));
    drawn(played(long, 15, |_, x| Some(123_456.0 + x[0] - x[1])), &"a-very-long-name-of-a-study-".repeat(6));
}

#[test]
fn a_covariance_alone_has_its_history_and_says_why_no_more() {
    let text = "name = \"cov\"\n[candidates]\nfile = \"pool.csv\"\ncovariance = \"cov.csv\"\n[model]\nkernel = \"empirical\"\n\
                noise = 0.01\n[strategy]\nname = \"igp-bucb\"\nnorm_bound = 1.0\n";
    let draft = Draft::parse(text).unwrap();
    let tables = [&b"label\na\nb\nc\n"[..], b"1,0.5,0\n0.5,1,0.5\n0,0.5,1\n"].map(<[u8]>::to_vec);
    let study = Study::new(draft.finish(&tables).unwrap().spec).unwrap();
    let picture = drawn(played(study, 6, |trial, _| Some(trial as f64)), "covariance");
    assert!(
        picture.svg.contains(">No importance, no slices, no map: the model sees no parameters"),
        "it does not say why"
    );
}

#[test]
fn metrics_have_a_panel_each() {
    let mut study = played(floats(2), 20, |_, x| Some(bowl(x)));
    for trial in 0..20 {
        let mut metrics = vec![("seconds".to_string(), (trial as f64).sqrt())];
        if trial < 17 {
            metrics.push(("memory in MiB".to_string(), 1e3 * (trial % 5) as f64));
        }
        study.apply(Event::Measured { trial, metrics }).unwrap();
    }
    let found = series(study.trials().iter().map(|trial| (trial.number(), trial.metrics())));
    let counts: Vec<(&str, usize)> = found.iter().map(|series| (series.name.as_str(), series.values.len())).collect();
    assert_eq!(counts, [("seconds", 20), ("memory in MiB", 17)]);
    says(&drawn(study, "metrics"), &["metrics by trial", "seconds", "memory in MiB"]);
}

#[test]
fn a_metric_over_magnitudes_has_a_logarithmic_axis() {
    let mut study = played(floats(2), 20, |_, x| Some(bowl(x)));
    for trial in 0..20 {
        let metrics =
            vec![("loss".to_string(), 10f64.powf(3.0 - 0.3 * trial as f64)), ("even".to_string(), trial as f64)];
        study.apply(Event::Measured { trial, metrics }).unwrap();
    }
    says(&drawn(study, "metric-magnitudes"), &["loss", "0.01", "1", "100"]);
}

#[test]
fn the_names_of_many_categories_are_written_whole() {
    let solvents =
        ["dichloromethane", "tetrahydrofuran", "dimethylformamide", "acetonitrile", "water", "ethyl acetate"];
    let numbered: Vec<String> = (1..=24).map(|i| format!("solvent number {i}")).collect();
    let quoted = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let many: Vec<&str> = numbered.iter().map(String::as_str).collect();
    for (name, names) in [("solvents", &solvents[..]), ("numbered", &many)] {
        let choice = format!("name = \"c\"\n[space]\nsolvent = {{ choice = [{}] }}\n", quoted(names));
        let others = "heat = { float = [20.0, 90.0] }\ntime = { float = [1.0, 9.0] }\nacid = { float = [0.0, 1.0] }\n";
        for (kind, text) in [("alone", choice.clone()), ("among-others", format!("{choice}{others}"))] {
            let study = played(study(&text), 30, |trial, _| Some((trial as f64).sin()));
            says(&drawn(study, &format!("{name}-{kind}")), names);
        }
        let two = format!("{choice}ligand = {{ choice = [{}] }}\n", quoted(names));
        says(&drawn(played(study(&two), 30, |trial, _| Some((trial as f64).sin())), &format!("{name}-two")), names);
    }
}
