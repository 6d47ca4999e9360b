//! Predictive entropy search: valid on every kind of domain, and the same again from the log.

use super::{of, walk};
use crate::common::{f, line, matern, on_one_and_two_threads, rng, scattered, se, spec, study};
use manyhands_core::gp::{Kernel, Points, Prior};
use manyhands_core::{
    Constraint, Domain, Error, Parameter, Phase, Relation, Rule, Space, Spec, Strategy, Study, Suggestion,
};

/// The conditioning never adds variance, up to rounding.
fn is_information(chosen: &Suggestion) -> bool {
    chosen.choice.score >= -1e-12 && chosen.choice.multiplier == 0.0
}

#[test]
fn pes_chooses_what_may_be_chosen_and_its_log_gives_the_same_again() {
    let domains = [(line(40), se(0.2)), (scattered(&mut rng(5), 60, 2), matern(0.4)), (line(30), matern(0.1))];
    for (seed, (domain, kernel)) in domains.into_iter().enumerate() {
        let spec = spec(domain, kernel, of(Rule::Pes)).with_seed(seed as u64);
        walk(&mut study(&spec), seed as u64, 25, |_, chosen| {
            assert!(is_information(chosen) && chosen.choice.gap == Some(0.0), "{chosen:?}");
        });
        // Every candidate once: those that are taken can be the maximum, and are not chosen.
        let mut once = study(&spec.without_repeats().unwrap());
        let mut seen = std::collections::HashSet::new();
        for _ in 0..10 {
            for chosen in once.ask(3).unwrap() {
                assert!(seen.insert(chosen.choice.candidate) && is_information(&chosen));
                once.tell(chosen.trial, f(&chosen.point)).unwrap();
            }
        }
        Study::verify(once.spec(), once.events()).unwrap();
    }
}

#[test]
fn pes_sees_pending_points() {
    // With little noise a value at a pending point would tell nothing more.
    let prior = Prior::new(matern(0.3), 0.0, 1e-6).unwrap();
    for known in [false, true] {
        let mut study = study(&Spec::new(line(60), prior.clone(), of(Rule::Pes)).unwrap());
        if known {
            for candidate in [5, 30, 48] {
                study.include_candidate(candidate, Some(f(&[candidate as f64 / 59.0]))).unwrap();
            }
        }
        let batch = study.ask(6).unwrap();
        let mut chosen: Vec<usize> = batch.iter().map(|suggestion| suggestion.choice.candidate).collect();
        assert!(batch.iter().all(is_information));
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), 6, "{batch:?}");
        Study::verify(study.spec(), study.events()).unwrap();
    }
}

/// Nearly no noise: maxima are often at points that are observed, whose values are known up to rounding.
#[test]
fn pes_works_where_values_are_known_exactly_and_where_all_points_are() {
    for (noise, kernel) in [(1e-10, se(0.2)), (1e-10, matern(0.5)), (1e-14, se(0.5)), (1e-20, matern(0.3))] {
        let prior = Prior::new(kernel, 0.0, noise).unwrap();
        let mut study = study(&Spec::new(line(25), prior, of(Rule::Pes)).unwrap());
        for candidate in 0..25 {
            study.include_candidate(candidate, Some(f(&[candidate as f64 / 24.0]))).unwrap();
            for chosen in study.ask(2).unwrap() {
                assert!(chosen.choice.score.is_finite() && chosen.choice.score >= -1e-6, "{noise}: {chosen:?}");
                study.cancel(chosen.trial).unwrap();
            }
        }
        Study::verify(study.spec(), study.events()).unwrap();
    }
    // Independent candidates.
    let far = (0..6).map(|i| vec![100.0 * f64::from(i)]).collect::<Vec<_>>();
    let spec = spec(Domain::Points(Points::from_rows(&far).unwrap()), se(0.2), of(Rule::Pes));
    assert!(study(&spec).ask(6).unwrap().iter().all(is_information));
}

fn mixed() -> Vec<Parameter> {
    vec![
        Parameter::float("x", 0.0, 1.0).unwrap(),
        Parameter::log_float("rate", 1e-4, 1.0).unwrap(),
        Parameter::int("n", 0, 5).unwrap(),
        Parameter::choice("kind", &["p", "q"]).unwrap(),
    ]
}

#[test]
fn pes_is_valid_on_spaces_with_given_and_learned_models() {
    let float = |name: &str| Parameter::float(name, 0.0, 1.0).unwrap();
    let sum = |names: &[&str], relation| Constraint {
        terms: names.iter().map(|name| (name.to_string(), 1.0)).collect(),
        relation,
        bound: 1.0,
    };
    let spaces = [
        Space::new(mixed(), vec![]).unwrap(),
        Space::new(vec![float("a"), float("b")], vec![sum(&["a", "b"], Relation::AtMost)]).unwrap(),
        Space::new(vec![float("a"), float("b"), float("c")], vec![sum(&["a", "b", "c"], Relation::Equals)]).unwrap(),
    ];
    for space in spaces {
        let kernels = [
            Kernel::matern(2.5, &[0.4]).unwrap(),
            Kernel::squared_exponential(&[0.3]).unwrap(),
            Kernel::matern(0.5, &[0.6]).unwrap(),
            Kernel::linear(&[1.0]).unwrap(),
        ];
        let given = kernels.map(|kernel| {
            let prior = Prior::new(kernel, 0.0, 1e-3).unwrap();
            Spec::new(Domain::Space(space.clone()), prior, of(Rule::Pes)).unwrap()
        });
        let learned = Strategy { design: Some(2), ..of(Rule::Pes) };
        let learned = Spec::learned(Domain::Space(space.clone()), learned).unwrap();
        for spec in given.into_iter().chain([learned]) {
            let mut study = study(&spec);
            for asked in [2, 2] {
                for chosen in study.ask(asked).unwrap() {
                    assert_eq!(space.embed(&chosen.choice.params).unwrap(), chosen.point);
                    assert!(
                        chosen.choice.phase == Phase::Design
                            || (is_information(&chosen) && chosen.choice.gap.is_none())
                    );
                    if chosen.trial == 0 {
                        study.fail(chosen.trial, "broke").unwrap();
                    } else if chosen.trial != 1 {
                        study.tell(chosen.trial, f(&chosen.point)).unwrap();
                    }
                }
            }
            Study::verify(study.spec(), study.events()).unwrap();
        }
    }
}

#[test]
fn pes_finds_the_optimum_on_a_space() {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap();
    let prior = Prior::new(se(0.2), 0.0, 1e-4).unwrap();
    let value = |x: f64| (-(x - 0.62) * (x - 0.62) / 0.05).exp() + 0.3 * (-(x - 0.1) * (x - 0.1) / 0.02).exp();
    let mut study = study(&Spec::new(Domain::Space(space), prior, of(Rule::Pes)).unwrap());
    for _ in 0..6 {
        for chosen in study.ask(2).unwrap() {
            study.tell(chosen.trial, value(chosen.point[0])).unwrap();
        }
    }
    // It looks for the place, so that the mean is highest there, whatever was tried.
    let means = (0..=1_000).map(|i| study.posterior().predict(&[f64::from(i) / 1e3]).unwrap().mean);
    let (best, _) =
        means.enumerate().fold((0, f64::MIN), |best, (i, mean)| if mean > best.1 { (i, mean) } else { best });
    assert!((best as f64 / 1e3 - 0.62).abs() < 0.02, "{best}");
}

#[test]
fn pes_chooses_the_same_on_one_and_two_threads() {
    let [one, two] = on_one_and_two_threads(|| {
        let mut study = study(&spec(scattered(&mut rng(9), 120, 2), matern(0.4), of(Rule::Pes)));
        for candidate in (0..120).step_by(5) {
            study.include_candidate(candidate, Some(f(&[candidate as f64 / 120.0]))).unwrap();
        }
        study.ask(4).unwrap();
        study.events().to_vec()
    });
    assert_eq!(one, two);
}

#[test]
fn pes_refuses_more_candidates_than_it_can_draw_over() {
    let prior = || Prior::new(se(0.2), 0.0, 0.01).unwrap();
    assert!(Spec::new(line(2_048), prior(), of(Rule::Pes)).is_ok());
    let refused = Spec::new(line(2_049), prior(), of(Rule::Pes)).unwrap_err();
    assert!(matches!(refused, Error::TooManyCandidates { candidates: 2_049, most: 2_048, .. }));
    assert_eq!(refused.to_string(), "pes chooses from at most 2048 candidates, got 2049");
    let hint = refused.hint().unwrap();
    assert!(["points", "gp-ei", "gp-pi", "gp-ucb"].iter().all(|name| hint.contains(name)), "{hint}");
    let cube = Domain::Discretized { side: 1.0, dimension: 1 };
    let strategy = Strategy { rule: Rule::Pes, ..Strategy::new(Rule::Pes, 1.0) };
    assert!(matches!(Spec::new(cube, prior(), strategy), Err(Error::Incompatible { .. })));
}
