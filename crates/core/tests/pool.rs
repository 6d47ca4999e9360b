//! What a pool promises: the model sees its columns, the user its rows, and every misread table is reported with its position.

use std::fmt::Write;
use std::sync::Arc;

use crate::common::{f, prior, rng, se, uniform};
use manyhands_core::gp::{Covariance, Kernel, Points, Prior};
use manyhands_core::{Coordinates, Domain, Error, Event, Pool, Rule, Spec, Strategy, Study, Value};

fn pool(text: &str, coordinates: Coordinates) -> Pool {
    Pool::from_csv(text.as_bytes(), None, coordinates).unwrap()
}

fn refused(text: &[u8], columns: Option<&[&str]>) -> String {
    let columns = columns.map(|names| names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
    Pool::from_csv(text, columns.as_deref(), Coordinates::Unit).unwrap_err().to_string()
}

fn named(values: &[(&str, Value)]) -> Vec<(String, Value)> {
    values.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

const PLATE: &str = "well,temp,conc,lot\nA1,20,0.5,7\nA2,60,0.1,7\nB1,40,0.1,7\n";

/// 60 rows of numbers with a label, in units of their own, and the same points in the unit square.
fn table() -> (String, Points) {
    let rng = &mut rng(3);
    let rows: Vec<(f64, f64)> = (0..60).map(|_| (uniform(rng, -40.0, 90.0), uniform(rng, 1e-3, 5e-3))).collect();
    let mut text = "temp,label,conc\n".to_string();
    rows.iter().enumerate().for_each(|(i, (a, b))| writeln!(text, "{a},row {i},{b}").unwrap());
    let scale = |values: Vec<f64>| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        values.into_iter().map(move |v| (v - low) / (high - low)).collect::<Vec<_>>()
    };
    let a = scale(rows.iter().map(|row| row.0).collect());
    let b = scale(rows.iter().map(|row| row.1).collect());
    let flat = a.into_iter().zip(b).flat_map(|(a, b)| [a, b]).collect();
    (text, Points::from_flat(2, flat).unwrap())
}

fn both_domains() -> [Domain; 2] {
    let (text, points) = table();
    [Domain::Pool(Arc::new(pool(&text, Coordinates::Unit))), Domain::Points(points)]
}

/// Four rounds of three, all told before the next.
fn play(spec: Spec) -> Study {
    let mut study = Study::new(spec).unwrap();
    for _ in 0..4 {
        for s in study.ask(3).unwrap() {
            study.tell(s.trial, f(&s.point)).unwrap();
        }
    }
    study
}

#[test]
fn a_row_is_what_the_file_says() {
    let pool = pool(PLATE, Coordinates::Unit);
    assert_eq!(pool.names().collect::<Vec<_>>(), ["well", "temp", "conc", "lot"]);
    assert_eq!(pool.coordinate_names().collect::<Vec<_>>(), ["temp", "conc", "lot"]);
    assert_eq!(pool.params(2), ["B1".into(), Value::Int(40), Value::Float(0.1), Value::Int(7)]);
    assert_eq!(pool.points().flat(), [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0.0]);
    assert_eq!(pool.len(), 3);
}

#[test]
fn the_model_uses_the_coordinates_it_is_given() {
    let columns = ["conc".to_string(), "temp".to_string()];
    let raw = Pool::from_csv(PLATE.as_bytes(), Some(&columns), Coordinates::Raw).unwrap();
    assert_eq!(raw.points().flat(), [0.5, 20.0, 0.1, 60.0, 0.1, 40.0]);
    assert_eq!(pool(PLATE, Coordinates::Indices).points(), &Points::indices(3));
}

#[test]
fn a_candidate_is_found_by_its_values() {
    let pool = pool(PLATE, Coordinates::Unit);
    let at = |values: &[(&str, Value)]| pool.find(&named(values)).map_err(|error| error.to_string());
    assert_eq!(at(&[("conc", 0.1.into()), ("temp", 40.0.into())]), Ok(2));
    assert_eq!(at(&[("temp", 60.into()), ("conc", 0.1.into()), ("well", "A2".into())]), Ok(1));
    assert_eq!(at(&[("well", "A2".into())]), Ok(1), "its name identifies it");
    assert_eq!(pool.coordinates(&named(&[("well", "B1".into())])).unwrap(), pool.points().get(2));
    let wrong = [
        (at(&[("well", "C9".into())]), "no candidate has well = \"C9\""),
        (at(&[("temp", 40.into())]), "parameter \"conc\" has no value"),
        (at(&[("tmp", 40.into())]), "there is no parameter \"tmp\"; the nearest name is \"temp\""),
        (at(&[("temp", 40.into()), ("temp", 40.into())]), "parameter \"temp\" is named twice"),
        (
            at(&[("temp", "hot".into()), ("conc", 0.1.into())]),
            "parameter \"temp\" must be a finite number, got \"hot\"",
        ),
        (
            at(&[("temp", 45.into()), ("conc", 0.1.into())]),
            "no candidate has temp = 45, conc = 0.1; the nearest is candidate 2 with temp = 40, conc = 0.1",
        ),
        (
            at(&[("temp", 60.into()), ("conc", 0.1.into()), ("well", "A1".into())]),
            "no candidate has temp = 60, conc = 0.1, well = \"A1\"; the nearest is candidate 1 with temp = 60, conc = 0.1, \
             well = \"A2\"",
        ),
    ];
    for (result, message) in wrong {
        assert_eq!(result, Err(message.to_string()));
    }
}

#[test]
fn of_indices_any_column_finds_a_candidate() {
    let pool = pool(PLATE, Coordinates::Indices);
    assert_eq!(pool.find(&named(&[("well", "A2".into())])), Ok(1));
    assert_eq!(pool.coordinates(&named(&[("well", "B1".into())])), Ok(vec![2.0]));
    let told = pool.find(&named(&[("well", "A2".into()), ("temp", 40.into())])).unwrap_err().to_string();
    let nearest = "the nearest is candidate 1 with well = \"A2\", temp = 60";
    assert_eq!(told, format!("no candidate has well = \"A2\", temp = 40; {nearest}"));
    assert!(matches!(pool.find(&[]), Err(Error::MissingParameter { .. })));
}

#[test]
fn coordinates_of_other_numbers_go_on_beyond_the_table() {
    let pool = pool(PLATE, Coordinates::Unit);
    let there =
        pool.coordinates(&named(&[("temp", 80.into()), ("conc", 0.3.into()), ("well", "none".into())])).unwrap();
    assert!((there[0] - 1.5).abs() < 1e-15 && (there[1] - 0.5).abs() < 1e-15 && there[2] == 0.0, "{there:?}");
}

#[test]
fn an_error_in_a_table_has_its_place() {
    let wrong = [
        (refused(b"", None), "the table is empty"),
        (refused(b"a,b\n", None), "the table has a header and no row"),
        (refused(b"a,b,a\n1,2,3\n", None), "columns 1 and 3 are both named \"a\""),
        (refused(b"a,,c\n1,2,3\n", None), "line 1, column 2: must be a column's name, got \"\""),
        (refused(b"a,b\n1,2\n\n3\n", None), "line 4: must have 2 cells, as line 1 has, got 1"),
        (refused(b"a,b\nx,y\n", None), "no column is numeric"),
        (refused(b"1,0.5\n2,0.7\n", None), "the first line must name the columns, got the numbers 1, 0.5"),
        (
            refused(b"a,b\n1,0.1\n2,0.2\n3,\n", None),
            "line 4, column \"b\": must be a number, as 2 of its 3 cells are, got \"\"",
        ),
        (refused(b"a,b\n1,x\n2,nan\n3,inf\n", Some(&["b"])), "line 2, column \"b\": must be a number, got \"x\""),
        (refused(b"a,b\n1,1\n2,nan\n", None), "line 3, column \"b\": must be a finite number, got \"nan\""),
        (refused(b"temp,b\n1,1\n", Some(&["tmp"])), "there is no column \"tmp\"; the nearest name is \"temp\""),
        (refused(b"temp,b\n1,1\n", Some(&["b", "b"])), "parameter \"b\" is named twice"),
        (refused(b"temp,b\n1,1\n", Some(&[])), "the list of columns is empty"),
        (refused(b"a\n1\n\xff\n", None), "line 3, column 1: must be UTF-8 text, got \"\u{fffd}\""),
        (refused(b"a\n-1e308\n1e308\n", None), "column \"a\" must span less than 1.7e308"),
    ];
    for (told, message) in wrong {
        assert_eq!(told, message);
    }
}

#[test]
fn tables_of_other_programs_are_read() {
    let text = "\u{feff}\"temp, C\";x\r\n".replace(';', ",") + "20 , 0.5\r\n\r\n\"40\",1e-3\r\n";
    let pool = pool(&text, Coordinates::Raw);
    assert_eq!(pool.names().collect::<Vec<_>>(), ["temp, C", "x"]);
    assert_eq!(pool.params(1), [Value::Int(40), Value::Float(1e-3)]);
}

#[test]
fn a_given_study_on_a_pool_is_the_one_on_its_scaled_points() {
    for rule in [Rule::IgpBucb, Rule::GpBts] {
        let [on_pool, on_points] =
            both_domains().map(|domain| play(Spec::new(domain, prior(se(0.3)), Strategy::new(rule, 2.0)).unwrap()));
        assert_eq!(on_pool.events(), on_points.events());
    }
}

#[test]
fn a_learned_study_on_a_pool_is_the_one_on_its_scaled_points() {
    let [on_pool, on_points] = both_domains()
        .map(|domain| play(Spec::learned(domain, Strategy::auto()).unwrap().with_seed(5).without_repeats().unwrap()));
    assert_eq!(on_pool.events(), on_points.events());
}

#[test]
fn every_place_that_shows_a_candidate_shows_its_row() {
    let [domain, _] = both_domains();
    let Domain::Pool(pool) = domain.clone() else { unreachable!() };
    let mut study = play(Spec::new(domain, prior(se(0.3)), Strategy::new(Rule::IgpBucb, 2.0)).unwrap());
    for (trial, s) in study.trials().iter().zip(study.suggestions()) {
        assert_eq!(
            (study.params(trial.number()).unwrap(), s.choice.params.as_slice()),
            (pool.params(s.choice.candidate).to_vec(), pool.params(s.choice.candidate))
        );
    }
    let suggestions = study.suggestions();
    let shown: Vec<_> = suggestions[0].named(study.spec().domain()).map(|(name, _)| name).collect();
    assert_eq!(shown, ["temp", "label", "conc"]);
    let (best, certificate) = (study.best().unwrap(), study.certificate().unwrap());
    assert_eq!(best.params, pool.params(best.candidate));
    assert_eq!(certificate.params, pool.params(certificate.candidate.unwrap()));
    let no_params = |event: &Event| matches!(event, Event::Asked(asked) if asked.choice.params.is_empty());
    assert!(study.events().iter().filter(|event| matches!(event, Event::Asked(_))).all(no_params));
}

#[test]
fn a_log_of_a_pool_is_replayed_and_verified() {
    let [domain, _] = both_domains();
    let spec = Spec::learned(domain, Strategy::auto()).unwrap().without_repeats().unwrap();
    let mut study = play(spec.clone());
    let Domain::Pool(pool) = spec.domain() else { unreachable!() };
    let free = (0..pool.len()).find(|i| study.trials().iter().all(|trial| trial.candidate() != *i)).unwrap();
    let trial = study.include(pool.params(free), Some(1.0)).unwrap();
    assert_eq!((study.trials()[trial].candidate(), study.params(trial).unwrap()), (free, pool.params(free).to_vec()));
    let taken = study.include(pool.params(free), Some(1.0)).unwrap_err();
    assert_eq!(taken, Error::CandidateTaken { candidate: free, trial });
    study.ask(2).unwrap();
    Study::verify(&spec, study.events()).unwrap();
    let mut again = Study::replay(spec, study.events()).unwrap();
    assert_eq!(again.trials(), study.trials());
    assert_eq!(again.ask(3).unwrap(), study.ask(3).unwrap());
}

#[test]
fn names_are_enough_to_include_and_to_predict() {
    let [domain, plain] = both_domains();
    let Domain::Pool(pool) = domain.clone() else { unreachable!() };
    let spec = Spec::new(domain, prior(se(0.3)), Strategy::new(Rule::IgpBucb, 2.0)).unwrap();
    let mut study = Study::new(spec).unwrap();
    let row = pool.params(4);
    let coordinates = named(&[("conc", row[2].clone()), ("temp", row[0].clone())]);
    let trial = study.include_named(&coordinates, Some(1.0)).unwrap();
    assert_eq!(study.trials()[trial].candidate(), 4);
    let by_name = study.predict_named(&[coordinates]).unwrap();
    assert_eq!(by_name, study.predict_params(&[row.to_vec()]).unwrap());
    assert_eq!(by_name, study.predict(&[pool.points().get(4).to_vec()]).unwrap());
    assert!(matches!(study.include(&row[..2], None), Err(Error::ParameterCount { expected: 3, given: 2 })));

    let mut nameless =
        Study::new(Spec::new(plain, prior(se(0.3)), Strategy::new(Rule::IgpBucb, 2.0)).unwrap()).unwrap();
    assert_eq!(nameless.include(&[0.5.into()], None), Err(Error::NoParameters));
    assert_eq!(nameless.predict_named(&[named(&[("x", 1.into())])]), Err(Error::NoParameters));
    assert_eq!(nameless.include_named(&[], None), Err(Error::NoParameters));
}

#[test]
fn an_empirical_covariance_is_of_a_pools_rows() {
    let covariance = || Covariance::new(3, vec![1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    let prior = || Prior::new(Kernel::empirical(covariance()), 0.0, 0.01).unwrap();
    let domain = |coordinates| Domain::Pool(Arc::new(pool(PLATE, coordinates)));
    let strategy = || Strategy::new(Rule::IgpBucb, 1.0);
    let mut study = Study::new(Spec::new(domain(Coordinates::Indices), prior(), strategy()).unwrap()).unwrap();
    study.include_named(&named(&[("well", "A1".into())]), Some(1.0)).unwrap();
    let there = study.predict_named(&[named(&[("well", "A2".into())])]).unwrap();
    assert!((there[0].mean - 0.5 / 1.01).abs() < 1e-12, "{there:?}");
    let columns = ["temp".to_string()];
    let raw = Pool::from_csv(b"temp\n0\n1\n2\n", Some(&columns), Coordinates::Raw).unwrap();
    assert!(Spec::new(Domain::Pool(Arc::new(raw)), prior(), strategy()).is_err());
}

#[test]
fn a_cell_or_a_name_with_a_nul_is_refused_with_its_place() {
    let refused = |text: &[u8]| Pool::from_csv(text, None, Coordinates::Unit).unwrap_err();
    let error = refused(b"label,temp\nA,20\nB\0C,60\n");
    assert!(error.to_string().starts_with("line 3, column 1: must be free of NUL characters"), "{error}");
    assert!(error.to_string().ends_with(r#"got "B\0C""#) && error.hint().is_some(), "{error}");
    assert!(refused(b"la\0bel,temp\nA,20\n").to_string().starts_with("line 1, column 1: "));
}
