//! The files of the sensor panels: missing, packed, malformed.

use std::fs;

use crate::common::{data, folder, readings, small, write};
use crate::reproduction::{refusal, reproduce};
use manyhands_lab::{Extra, Panel, ReproductionPlan, ReproductionRequest};

#[test]
fn without_files_the_sensor_panels_say_so_and_the_rest_runs() {
    let plan =
        ReproductionPlan::new(&ReproductionRequest { settings: small(), ..ReproductionRequest::default() }).unwrap();
    let told: Vec<String> = plan.missing().iter().map(ToString::to_string).collect();
    assert_eq!(told[0], "panel g needs intel_lab/intel_temp_1min.csv.gz, and no data folder was given");
    assert!(told[1].contains("light_train_lux.csv and cmu_light_sensor/light_test_lux.csv"), "{told:?}");
    assert_eq!(plan.runs(), 6 * 4 * 3);
    let half = folder("half-data");
    write(&half, "cmu_light_sensor/light_train_lux.csv", &readings("row", &["s01", "s02"], 20));
    let request = ReproductionRequest {
        settings: small(),
        panels: vec![Panel::H],
        data: Some(half.clone()),
        ..ReproductionRequest::default()
    };
    let plan = ReproductionPlan::new(&request).unwrap();
    let expected = format!("panel h needs cmu_light_sensor/light_test_lux.csv, not found in {}", half.display());
    assert_eq!(plan.missing()[0].to_string(), expected);
    let report = plan.run(&|| ()).unwrap().report();
    assert!(report.contains("## Not run") && report.contains("light_test_lux.csv"), "{report}");
}

#[test]
fn malformed_sensor_files_are_refused_with_file_line_and_column() {
    let light = |test: &str| {
        let path = data("malformed");
        write(&path, "cmu_light_sensor/light_test_lux.csv", test);
        refusal(&ReproductionRequest {
            settings: small(),
            panels: vec![Panel::H],
            data: Some(path),
            ..ReproductionRequest::default()
        })
    };
    let good = readings("row", &["s01", "s02", "s03"], 9);
    let told = light(&readings("row", &["s01", "s03"], 9));
    assert!(told.contains("light_test_lux.csv") && told.contains("column \"s02\" is missing"), "{told}");
    let told = light(&good.replacen("20", "nan", 1));
    assert!(
        told.contains("must be a finite number (at most 1e100), got \"nan") && told.contains("line 2, column"),
        "{told}"
    );
    let told = light(&readings("row", &["s01", "s02", "s03"], 2));
    assert!(
        told.contains("functions must be at most 2, the number of test rows of the light readings, got 3"),
        "{told}"
    );
    let told = light(&good.replace("row,", "minute,"));
    assert!(told.contains("first column must be \"row\", got \"minute\""), "{told}");
    assert!(light("").contains("first column must be \"row\""));
    let told = light(&format!("{good}9,1,2\n"));
    assert!(told.contains("line 11 has 3 cells, the header has 4"), "{told}");
    let told = light("row,s01,s03,s02\n0,1,2,3\n");
    assert!(told.contains("in the same order"), "{told}");

    let temperature = |file: &str, text: &str| {
        let path = folder("malformed-temperature");
        write(&path, file, text);
        refusal(&ReproductionRequest {
            settings: small(),
            panels: vec![Panel::G],
            data: Some(path),
            ..ReproductionRequest::default()
        })
    };
    let told = temperature("intel_lab/intel_temp_1min.csv", &readings("minute", &["m01", "m02"], 2));
    assert!(told.contains("1 training rows of 2 sensors, a covariance needs 2 of each"), "{told}");
    let told = temperature("intel_lab/intel_temp_1min.csv", "minute,m01,m02\n0,1,2\n1,1,2\n2,1,2\n");
    assert!(told.contains("average variance must be positive and finite, got 0"), "{told}");
    let told = temperature("intel_lab/intel_temp_1min.csv.gz", "this is not gzip");
    assert!(told.contains("intel_temp_1min.csv.gz") && told.contains("named .gz and is not gzip"), "{told}");
    let told = light("row,s01,s02,s03\n");
    assert!(told.contains("light_test_lux.csv") && told.contains("no rows to maximize over"), "{told}");
}

#[test]
fn a_packed_file_is_the_unpacked_one() {
    let path = folder("packed");
    let text = readings("minute", &["m01", "m02", "m03"], 30);
    write(&path, "intel_lab/intel_temp_1min.csv", &text);
    let request = ReproductionRequest {
        settings: small(),
        panels: vec![Panel::G],
        data: Some(path.clone()),
        ..ReproductionRequest::default()
    };
    let plain = reproduce(&request).summary();
    fs::remove_file(path.join("intel_lab/intel_temp_1min.csv")).unwrap();
    let packed = fs::File::create(path.join("intel_lab/intel_temp_1min.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    packed.finish().unwrap();
    assert_eq!(reproduce(&request).summary(), plain);
}

/// The paired tests can be made again from the file of runs.
#[test]
fn sensor_panels_that_a_further_figure_lacks_are_told() {
    let request = ReproductionRequest {
        settings: small(),
        panels: vec![],
        extras: vec![Extra::Width],
        ..ReproductionRequest::default()
    };
    let plan = ReproductionPlan::new(&request).unwrap();
    assert_eq!(plan.missing().iter().map(|missing| missing.panel).collect::<Vec<_>>(), [Panel::G, Panel::H]);
    assert_eq!(plan.runs(), 4 * 3 * 7 * 3);
    assert!(plan.run(&|| ()).unwrap().report().contains("## Not run"));
}
