//! The report for people.

use comfy_table::Table;

use super::growth::Growth;
use super::report::{Limit, LimitStatus, Measurement, Roofline, SpeedReport, Unit};
use crate::terminal::{align_right, digits, framed};

/// Tables with a caption that names the machine.
pub(super) fn render(report: &SpeedReport) -> String {
    let machine = &report.machine;
    let size = report.size.name();
    let mut text = format!(
        "manyhands {} bench, {size}: {} threads on {} cores, {} {}\n",
        env!("CARGO_PKG_VERSION"),
        machine.threads,
        machine.cores,
        machine.os,
        machine.arch
    );
    if !report.measurements.is_empty() {
        text += &format!("{}\n", limits(&report.measurements));
    }
    for growth in &report.growth {
        text += &format!("\n{}\n{}\n{}\n", growth.title, costs(growth), exponents(growth));
    }
    text += if report.passed() { "every limit kept" } else { "a limit was missed" };
    text
}

fn limits(rows: &[Measurement]) -> Table {
    let mut table = framed(&["section", "what", "figure", "against", "roofline", "ratio", "limit", "verdict"]);
    for row in rows {
        let against = row.roofline.as_ref().map(|roofline| roofline.what.clone()).unwrap_or_default();
        table.add_row(vec![
            row.section.to_string(),
            row.what.clone(),
            quantity(row.figure, row.unit),
            against,
            row.roofline.as_ref().map(|Roofline { value, .. }| quantity(*value, row.unit)).unwrap_or_default(),
            row.ratio().map(|ratio| format!("{}x", digits(ratio))).unwrap_or_default(),
            limit(row),
            status(row.status()).to_string(),
        ]);
    }
    align_right(&mut table, &[2, 4, 5]);
    table
}

fn costs(growth: &Growth) -> Table {
    let sizes = growth.sizes.iter().map(|size| format!("|D| = {size}"));
    let header: Vec<String> = std::iter::once("n".to_string()).chain(sizes).collect();
    let mut table = framed(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for (n, seconds) in growth.rows.iter().zip(&growth.seconds) {
        let cells = seconds.iter().map(|&s| quantity(Some(s), Unit::Seconds));
        table.add_row(std::iter::once(n.to_string()).chain(cells));
    }
    align_right(&mut table, &(0..=growth.sizes.len()).collect::<Vec<_>>());
    table
}

fn exponents(growth: &Growth) -> String {
    match growth.exponent_size {
        Some(size) => format!("cost ~ n^{:.2} |D|^{size:.2}", growth.exponent_n),
        None => format!("cost ~ n^{:.2}", growth.exponent_n),
    }
}

fn limit(row: &Measurement) -> String {
    let aim = row.aim.map(|aim| format!(", aim {}x", digits(aim))).unwrap_or_default();
    match row.limit {
        Some(Limit::RatioAtMost(most)) => format!("at most {}x{aim}", digits(most)),
        Some(Limit::RatioAtLeast(least)) => format!("at least {}x{aim}", digits(least)),
        Some(Limit::FigureAtMost(most)) => format!("at most {}", quantity(Some(most), row.unit)),
        None => String::new(),
    }
}

fn status(status: LimitStatus) -> &'static str {
    match status {
        LimitStatus::Met => "met",
        LimitStatus::Missed => "MISSED",
        LimitStatus::Unknown => "unknown",
        LimitStatus::Noted => "",
    }
}

fn quantity(value: Option<f64>, unit: Unit) -> String {
    let Some(value) = value else { return "unknown".to_string() };
    let (scale, name) = match unit {
        Unit::Picks => (1.0, "picks"),
        Unit::Nodes => (1.0, "nodes"),
        Unit::PerSecond => (1.0, "/s"),
        Unit::Count => (1.0, ""),
        Unit::Bytes if value >= 1e9 => (1e9, "GB"),
        Unit::Bytes => (1e6, "MB"),
        Unit::Seconds if value >= 1.0 => (1.0, "s"),
        Unit::Seconds if value >= 1e-3 => (1e-3, "ms"),
        Unit::Seconds => (1e-6, "us"),
    };
    format!("{} {name}", digits(value / scale))
}

#[cfg(test)]
mod tests {
    use super::super::Size;
    use super::*;

    #[test]
    fn quantities_read_well() {
        let shown = |value, unit| quantity(Some(value), unit);
        assert_eq!(shown(0.001_234, Unit::Seconds), "1.23 ms");
        assert_eq!(shown(12.5e-6, Unit::Seconds), "12.5 us");
        assert_eq!(shown(1.5e9, Unit::Bytes), "1.5 GB");
        assert_eq!(shown(300.0, Unit::Picks), "300 picks");
        assert_eq!(shown(153.0, Unit::Nodes), "153 nodes");
        assert_eq!(quantity(None, Unit::Bytes), "unknown");
    }

    #[test]
    fn the_table_shows_machine_limits_verdicts_and_exponents() {
        let mut report = SpeedReport::new(Size::Quick);
        let row = Measurement::new("append", "one point at n = 2000", Unit::Seconds, Some(3e-3));
        report.measurements.push(row.against("one pass", Some(1e-3)).limited(Limit::RatioAtMost(2.5)));
        report.growth.push(Growth {
            title: "cost of a suggestion".to_string(),
            rows: vec![250, 500],
            sizes: vec![100],
            seconds: vec![vec![1e-3], vec![2e-3]],
            exponent_n: 1.0,
            exponent_size: None,
        });
        let text = render(&report);
        for part in
            ["threads on", "one point at n = 2000", "3 ms", "3x", "at most 2.5x", "MISSED", "n^1.00", "|D| = 100"]
        {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
