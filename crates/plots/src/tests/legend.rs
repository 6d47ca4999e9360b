//! The legend: every entry can be told from every other by its shape, and means the same on the whole page.

use kuva::render::render::Primitive;
use manyhands_core::{Aim, Event};

use super::*;
use crate::marks::{LegendEntry, Mark, WITH_VALUES};
use crate::scale::Edge;

/// A symbol without its colours: its parts, and whether they are hollow.
fn shape(entry: &LegendEntry) -> Vec<String> {
    let outline = |part: Primitive| match part {
        Primitive::Path(data) => format!("{} {}", data.d, data.fill == Some("#ffffff".into())),
        Primitive::CircleBatch { r, .. } => format!("a circle around nothing of radius {r}"),
        Primitive::Line { .. } => "a line".to_string(),
        Primitive::Rect { .. } => "a field".to_string(),
        other => panic!("{other:?} is no part of a symbol"),
    };
    entry.symbol(0.0, 0.0).into_iter().map(outline).collect()
}

#[test]
fn every_entry_has_a_shape_of_its_own() {
    let words = ["mean", "so far", "band"].map(str::to_string);
    let [mean, steps, band] = words;
    let lines = [LegendEntry::Curve(mean), LegendEntry::Steps(steps), LegendEntry::Band(band)];
    let marks = WITH_VALUES
        .into_iter()
        .chain([Mark::Cancelled, Mark::Onward(Edge::Top), Mark::Onward(Edge::Bottom)])
        .map(LegendEntry::Mark);
    let all: Vec<LegendEntry> = marks.chain(lines).collect();
    for (i, entry) in all.iter().enumerate() {
        for other in &all[..i] {
            assert_ne!(shape(entry), shape(other), "{} looks like {}", entry.label(), other.label());
            // What is beyond the axis has one entry for both sides and points to where it is.
            let are_beyond = ["beyond the axis", "goes on beyond the axis"]
                .iter()
                .any(|word| [entry, other].map(LegendEntry::label) == [*word; 2]);
            assert!(are_beyond || entry.label() != other.label(), "two entries say {}", entry.label());
        }
    }
}

/// A study with trials of every kind, with metrics.
fn every_kind() -> Study {
    let mut study = played(study(TWO), 30, |trial, x| (trial % 10 != 4).then(|| branin(x)));
    for i in 0..6 {
        let params = [f64::from(i) - 1.0, 2.0 * f64::from(i)];
        study.include(&params.map(Into::into), Some(branin(&params) + 1.0)).unwrap();
    }
    let requested = [1.0, 13.0];
    study.enqueue(&requested.map(Into::into)).unwrap();
    let trial = study.ask(1).unwrap()[0].trial;
    study.tell(trial, branin(&requested)).unwrap();
    for trial in 0..study.trials().len() {
        let metrics = vec![("seconds".to_string(), 3.0 + (trial as f64).sin())];
        study.apply(Event::Measured { trial, metrics }).unwrap();
    }
    study.ask(3).unwrap();
    study
}

#[test]
fn results_from_elsewhere_are_told_from_suggestions() {
    let picture = drawn(every_kind(), "every-kind");
    says(&picture, &["from elsewhere", "design", "wide", "greedy", "requested", "pending", "failed"]);
    is_silent(&picture, &["observed"]);
}

#[test]
fn a_trial_has_the_same_mark_in_the_history_and_in_the_metrics() {
    let mut study = every_kind();
    let page = Composition::of(&mut study, "marks", PictureKind::Page).unwrap();
    let page = page.page(PictureKind::Page).unwrap();
    let panel = |title: &str| {
        let mut all = page.rows.iter().flat_map(|row| &row.panels);
        all.find(|panel| panel.title.contains(title)).unwrap()
    };
    let columns = |title: &str, wanted: Mark| -> Vec<f64> {
        let of = |layer: &Layer| match layer {
            Layer::Marks(mark, places) if *mark == wanted => places.iter().map(|at| at.0).collect(),
            _ => vec![],
        };
        panel(title).layers.iter().flat_map(of).collect()
    };
    for aim in [Aim::Design, Aim::Wide, Aim::Greedy, Aim::Requested] {
        let mark = Mark::Aimed(aim);
        assert!(!columns("seconds", mark).is_empty(), "{aim:?}");
        assert_eq!(columns("seconds", mark), columns("distance from", mark), "{aim:?}");
    }
    assert_eq!(columns("seconds", Mark::Elsewhere), columns("distance from", Mark::Elsewhere));
}
