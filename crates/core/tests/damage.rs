//! Readers survive any input: damaged study files and tables are read or refused in place, and never panic.

use crate::common::config;
use crate::common::mutation::{Mutation, damaged, damaged_text, mutations};
use manyhands_core::error::TablePlace;
use manyhands_core::file::{Draft, FileError, StudyFile};
use manyhands_core::{Coordinates, Error, Pool, Value};
use proptest::prelude::*;

/// A file with every table of a space.
const SPACE: &str = include_str!("files/example.toml");

/// A file with a pool and its covariance.
const EMPIRICAL: &str = "name = \"plate\"\n[candidates]\nfile = \"pool.csv\"\ncovariance = \"cov.csv\"\nrepeats = false\n\
                         [model]\nkernel = \"empirical\"\nnoise = 0.1\n[strategy]\nnorm_bound = 2\n";

/// A file with a pool, whose model is learned.
const POOL: &str = "name = \"plate\"\n[candidates]\nfile = \"pool.csv\"\ncolumns = [\"temp\", \"conc\"]\n\
                    [model]\nlengthscale = [20, 0.1]\nunits = \"raw\"\nfit = true\n[strategy]\ninitial = { until = 2 }\n\
                    max_pending = 3\n";

const PLATE: &str = "well,temp,conc\nA1,20,0.5\n\"A,2\",60,0.1\nB1,40,1e-3\n";
const COVARIANCE: &str = "1,0.5,0\n0.5,1,0\n0,0,1\n";

/// Reads a file whose own files have these contents.
fn read(text: &str, table: &[u8], covariance: &[u8]) -> Result<StudyFile, FileError> {
    let draft = Draft::parse(text)?;
    let content = |role: &str| if role == "candidates" { table } else { covariance }.to_vec();
    let contents: Vec<Vec<u8>> = draft.files().iter().map(|file| content(file.role)).collect();
    draft.finish(&contents)
}

/// A refusal has a place inside the text and a message; what is accepted is the same study with a comment behind it.
fn check(text: &str, table: &[u8], covariance: &[u8]) -> Result<(), TestCaseError> {
    match read(text, table, covariance) {
        Err(error) => {
            let line = text.split('\n').nth(error.line - 1);
            prop_assert!(line.is_some(), "{} is after the end of {:?}", error, text);
            prop_assert!((1..=line.unwrap().chars().count() + 1).contains(&error.column), "{} in {:?}", error, text);
            prop_assert!(!error.message.trim().is_empty());
            prop_assert!(error.render("study.toml").lines().count() >= 3);
        }
        Ok(file) => {
            let again = read(&format!("{text}\n# read again\n"), table, covariance);
            let again = again.map_err(|error| TestCaseError::fail(format!("{error} in {text:?}, read again")))?;
            prop_assert_eq!(file.identity(), again.identity());
            prop_assert_eq!((&file.name, &file.spec), (&again.name, &again.spec));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_damaged_study_file_is_read_or_refused_in_place(which in 0usize..3, damage in mutations()) {
        let text = damaged_text([SPACE, EMPIRICAL, POOL][which], &damage);
        check(&text, PLATE.as_bytes(), COVARIANCE.as_bytes())?;
    }

    #[test]
    fn damaged_tables_are_read_or_refused_where_the_file_names_them(
        empirical in any::<bool>(), table in mutations(), covariance in prop::option::of(mutations()),
    ) {
        let apply = |text: &str, damage: &[Mutation]| damaged(text.as_bytes(), damage);
        let table = apply(PLATE, &table);
        let covariance = apply(COVARIANCE, &covariance.unwrap_or_default());
        check(if empirical { EMPIRICAL } else { POOL }, &table, &covariance)?;
    }

    #[test]
    fn a_damaged_table_is_a_pool_or_refused_at_one_of_its_lines(damage in mutations(), kind in 0usize..3) {
        let coordinates = [Coordinates::Unit, Coordinates::Raw, Coordinates::Indices][kind];
        let table = damaged(PLATE.as_bytes(), &damage);
        match Pool::from_csv(&table, None, coordinates) {
            Err(error) => check_refusal(&error, &table)?,
            Ok(pool) => check_pool(&pool)?,
        }
    }
}

fn check_refusal(error: &Error, table: &[u8]) -> Result<(), TestCaseError> {
    let lines = table.split(|byte| matches!(byte, b'\n' | b'\r')).count() as u64;
    prop_assert!(!error.to_string().trim().is_empty());
    match error {
        Error::Table { place: TablePlace::Line(line) | TablePlace::Cell { line, .. }, .. } => {
            prop_assert!((1..=lines).contains(line), "{}: {:?}", error, table);
        }
        Error::Table { place: TablePlace::All, .. } => {}
        other => prop_assert!(false, "{other:?}"),
    }
    Ok(())
}

/// Its coordinates are numbers, each row is found by its values, and the table written again is the same pool.
fn check_pool(pool: &Pool) -> Result<(), TestCaseError> {
    let names: Vec<&str> = pool.names().collect();
    let mut writer = csv::Writer::from_writer(vec![]);
    writer.write_record(&names).unwrap();
    for candidate in 0..pool.len() {
        let (point, params) = (pool.points().get(candidate), pool.params(candidate));
        prop_assert!(point.iter().all(|x| x.is_finite()));
        prop_assert!(pool.seen_as() != Coordinates::Unit || point.iter().all(|x| (0.0..=1.0).contains(x)));
        let named: Vec<(String, Value)> =
            names.iter().map(|name| name.to_string()).zip(params.iter().cloned()).collect();
        let found = pool.find(&named);
        prop_assert!(found.as_ref().is_ok_and(|&found| pool.params(found) == params), "{:?}: {:?}", found, named);
        writer.write_record(params.iter().map(cell)).unwrap();
    }
    let text = writer.into_inner().unwrap();
    let again = Pool::from_csv(&text, None, pool.seen_as());
    prop_assert_eq!(again.as_ref(), Ok(pool));
    Ok(())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Float(number) => format!("{number:?}"),
        other => other.to_string(),
    }
}
