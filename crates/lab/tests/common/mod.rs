//! What the lab's tests share: small settings, small sensor files, and folders to write to.

use std::fs;
use std::path::{Path, PathBuf};

use manyhands_lab::Settings;

/// Three functions, twelve rounds, three workers.
pub fn small() -> Settings {
    Settings { functions: 3, horizon: 12, workers: 3, ..Settings::default() }
}

/// An empty folder of this name.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

/// A CSV file of made-up readings: `rows` rows of `columns`, numbered by a first column `index`.
pub fn readings(index: &str, columns: &[&str], rows: usize) -> String {
    let mut text = format!("{index},{}\n", columns.join(","));
    for row in 0..rows {
        let reading =
            |column: usize| 20.0 + ((row * 7 + column * 3) % 11) as f64 + 0.1 * (row * (column + 1) % 5) as f64;
        let cells: Vec<String> = (0..columns.len()).map(|column| reading(column).to_string()).collect();
        text += &format!("{row},{}\n", cells.join(","));
    }
    text
}

/// A data folder with small files under the names that panels g and h read.
pub fn data(name: &str) -> PathBuf {
    let path = folder(name);
    write(&path, "intel_lab/intel_temp_1min.csv", &readings("minute", &["m01", "m02", "m03", "m04"], 30));
    write(&path, "cmu_light_sensor/light_train_lux.csv", &readings("row", &["s01", "s02", "s03"], 20));
    write(&path, "cmu_light_sensor/light_test_lux.csv", &readings("row", &["s01", "s02", "s03"], 9));
    path
}

pub fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
