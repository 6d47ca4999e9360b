//! What a bench measured: figures with their rooflines and limits, and the machine they hold for.

use serde::Serialize;
use serde_json::{Value, json};

use super::growth::Growth;
use super::{Size, table};
use crate::machine::Machine;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Seconds,
    Bytes,
    Picks,
    /// Cells of a search that were bounded.
    Nodes,
    /// Per second.
    PerSecond,
    /// How many.
    Count,
}

/// What a figure is measured against, in the same unit and the same run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Roofline {
    pub what: String,
    pub value: Option<f64>,
}

/// The limit that a row must keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The ratio of figure to roofline.
    RatioAtMost(f64),
    RatioAtLeast(f64),
    /// The figure itself.
    FigureAtMost(f64),
}

/// Whether a limit was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitStatus {
    Met,
    Missed,
    /// The figure cannot be measured on this machine.
    Unknown,
    /// There is no limit.
    Noted,
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    pub section: &'static str,
    pub what: String,
    pub unit: Unit,
    pub figure: Option<f64>,
    pub roofline: Option<Roofline>,
    pub limit: Option<Limit>,
    /// The ratio that is aimed at.
    pub aim: Option<f64>,
}

impl Measurement {
    /// A figure without roofline or limit.
    pub fn new(section: &'static str, what: impl Into<String>, unit: Unit, figure: Option<f64>) -> Self {
        Self { section, what: what.into(), unit, figure, roofline: None, limit: None, aim: None }
    }

    pub fn against(self, what: impl Into<String>, value: Option<f64>) -> Self {
        Self { roofline: Some(Roofline { what: what.into(), value }), ..self }
    }

    pub fn limited(self, limit: Limit) -> Self {
        Self { limit: Some(limit), ..self }
    }

    pub fn aiming_at(self, aim: f64) -> Self {
        Self { aim: Some(aim), ..self }
    }

    /// Figure over roofline.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.figure? / self.roofline.as_ref()?.value?)
    }

    /// Whether the limit was kept; NaN keeps no limit.
    pub fn status(&self) -> LimitStatus {
        let Some(limit) = self.limit else { return LimitStatus::Noted };
        let met = match limit {
            Limit::RatioAtMost(most) => self.ratio().map(|ratio| ratio <= most),
            Limit::RatioAtLeast(least) => self.ratio().map(|ratio| ratio >= least),
            Limit::FigureAtMost(most) => self.figure.map(|figure| figure <= most),
        };
        match met {
            Some(true) => LimitStatus::Met,
            Some(false) => LimitStatus::Missed,
            None => LimitStatus::Unknown,
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "section": self.section, "what": self.what, "unit": self.unit, "figure": self.figure,
            "roofline": self.roofline, "ratio": self.ratio(), "limit": self.limit, "aim": self.aim,
            "verdict": self.status(),
        })
    }
}

/// Everything that a bench measured.
#[derive(Debug)]
pub struct SpeedReport {
    pub(super) machine: Machine,
    pub(super) size: Size,
    pub(super) measurements: Vec<Measurement>,
    pub(super) growth: Vec<Growth>,
}

impl SpeedReport {
    /// Nothing yet, on this machine.
    pub(super) fn new(size: Size) -> Self {
        Self { machine: Machine::this(), size, measurements: Vec::new(), growth: Vec::new() }
    }

    /// Whether no limit was missed.
    pub fn passed(&self) -> bool {
        self.measurements.iter().all(|row| row.status() != LimitStatus::Missed)
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let rows: Vec<Value> = self.measurements.iter().map(Measurement::to_json).collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"), "machine": self.machine, "size": self.size, "rows": rows,
            "growth": self.growth, "passed": self.passed(),
        })
    }

    /// For people: tables with a caption that names the machine.
    pub fn to_text(&self) -> String {
        table::render(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figure: Option<f64>, limit: Limit) -> Measurement {
        Measurement::new("append", "one point", Unit::Seconds, figure).against("one pass", Some(0.5)).limited(limit)
    }

    #[test]
    fn the_status_follows_from_the_limit() {
        assert_eq!(row(Some(1.0), Limit::RatioAtMost(2.0)).status(), LimitStatus::Met);
        assert_eq!(row(Some(1.1), Limit::RatioAtMost(2.0)).status(), LimitStatus::Missed);
        assert_eq!(row(Some(1.0), Limit::RatioAtLeast(2.0)).status(), LimitStatus::Met);
        assert_eq!(row(Some(0.9), Limit::RatioAtLeast(2.0)).status(), LimitStatus::Missed);
        assert_eq!(row(Some(2.0), Limit::FigureAtMost(1.5)).status(), LimitStatus::Missed);
        assert_eq!(row(None, Limit::FigureAtMost(1.5)).status(), LimitStatus::Unknown);
        assert_eq!(row(Some(f64::NAN), Limit::RatioAtMost(2.0)).status(), LimitStatus::Missed);
        assert_eq!(Measurement::new("live", "memory", Unit::Bytes, Some(1.0)).status(), LimitStatus::Noted);
    }

    #[test]
    fn one_missed_limit_fails_the_report_and_an_unknown_figure_does_not() {
        let mut report = SpeedReport::new(Size::Quick);
        report.measurements = vec![row(Some(1.0), Limit::RatioAtMost(2.0)), row(None, Limit::RatioAtMost(2.0))];
        assert!(report.passed());
        report.measurements.push(row(Some(9.0), Limit::RatioAtMost(2.0)));
        assert!(!report.passed());
    }

    #[test]
    fn json_has_figure_roofline_ratio_limit_and_verdict_of_every_row() {
        let mut report = SpeedReport::new(Size::Quick);
        report.measurements = vec![row(Some(1.0), Limit::RatioAtMost(2.5)).aiming_at(1.5)];
        let json = report.to_json();
        let expected = json!({
            "section": "append", "what": "one point", "unit": "seconds", "figure": 1.0,
            "roofline": {"what": "one pass", "value": 0.5}, "ratio": 2.0, "limit": {"ratio_at_most": 2.5},
            "aim": 1.5, "verdict": "met",
        });
        assert_eq!(json["rows"][0], expected);
        assert_eq!(json["size"], "quick");
        assert_eq!(json["passed"], true);
        assert!(json["machine"]["threads"].as_u64() >= Some(1) && json["machine"]["cores"].as_u64() >= Some(1));
    }
}
