//! What a bench found: rows of figures with their rooflines and limits, and the machine they hold for.

use serde::Serialize;
use serde_json::{Value, json};

use super::Size;
use super::growth::Growth;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Seconds,
    Bytes,
    Picks,
    /// Cells of a search that were bounded.
    Nodes,
    /// How often in a second.
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
pub enum Verdict {
    Met,
    Missed,
    /// The figure could not be had here.
    Unknown,
    /// There is no limit.
    Noted,
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub section: &'static str,
    pub what: String,
    pub unit: Unit,
    pub figure: Option<f64>,
    pub roofline: Option<Roofline>,
    pub limit: Option<Limit>,
    /// The ratio that is hoped for.
    pub aim: Option<f64>,
}

impl Row {
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

    /// Whether the limit was kept. A figure that is not a number keeps none.
    pub fn verdict(&self) -> Verdict {
        let Some(limit) = self.limit else { return Verdict::Noted };
        let met = match limit {
            Limit::RatioAtMost(most) => self.ratio().map(|ratio| ratio <= most),
            Limit::RatioAtLeast(least) => self.ratio().map(|ratio| ratio >= least),
            Limit::FigureAtMost(most) => self.figure.map(|figure| figure <= most),
        };
        match met {
            Some(true) => Verdict::Met,
            Some(false) => Verdict::Missed,
            None => Verdict::Unknown,
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "section": self.section, "what": self.what, "unit": self.unit, "figure": self.figure,
            "roofline": self.roofline, "ratio": self.ratio(), "limit": self.limit, "aim": self.aim,
            "verdict": self.verdict(),
        })
    }
}

/// Where it was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    pub threads: usize,
    pub cores: usize,
    pub os: &'static str,
    pub arch: &'static str,
}

impl Machine {
    /// The one this runs on.
    pub fn this() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads: rayon::current_num_threads(), cores, os: std::env::consts::OS, arch: std::env::consts::ARCH }
    }
}

/// Everything a bench found.
#[derive(Debug)]
pub struct Report {
    pub machine: Machine,
    pub size: Size,
    pub rows: Vec<Row>,
    pub growth: Vec<Growth>,
}

impl Report {
    /// Nothing yet, on this machine.
    pub fn new(size: Size) -> Self {
        Self { machine: Machine::this(), size, rows: Vec::new(), growth: Vec::new() }
    }

    /// Whether no limit was missed.
    pub fn passed(&self) -> bool {
        self.rows.iter().all(|row| row.verdict() != Verdict::Missed)
    }

    pub fn to_json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(Row::to_json).collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"), "machine": self.machine, "size": self.size, "rows": rows,
            "growth": self.growth, "passed": self.passed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figure: Option<f64>, limit: Limit) -> Row {
        Row::new("append", "one point", Unit::Seconds, figure).against("one pass", Some(0.5)).limited(limit)
    }

    #[test]
    fn verdicts_follow_the_limits() {
        assert_eq!(row(Some(1.0), Limit::RatioAtMost(2.0)).verdict(), Verdict::Met);
        assert_eq!(row(Some(1.1), Limit::RatioAtMost(2.0)).verdict(), Verdict::Missed);
        assert_eq!(row(Some(1.0), Limit::RatioAtLeast(2.0)).verdict(), Verdict::Met);
        assert_eq!(row(Some(0.9), Limit::RatioAtLeast(2.0)).verdict(), Verdict::Missed);
        assert_eq!(row(Some(2.0), Limit::FigureAtMost(1.5)).verdict(), Verdict::Missed);
        assert_eq!(row(None, Limit::FigureAtMost(1.5)).verdict(), Verdict::Unknown);
        assert_eq!(row(Some(f64::NAN), Limit::RatioAtMost(2.0)).verdict(), Verdict::Missed);
        assert_eq!(Row::new("live", "memory", Unit::Bytes, Some(1.0)).verdict(), Verdict::Noted);
    }

    #[test]
    fn one_missed_limit_fails_the_report_and_an_unknown_figure_does_not() {
        let mut report = Report::new(Size::Quick);
        report.rows = vec![row(Some(1.0), Limit::RatioAtMost(2.0)), row(None, Limit::RatioAtMost(2.0))];
        assert!(report.passed());
        report.rows.push(row(Some(9.0), Limit::RatioAtMost(2.0)));
        assert!(!report.passed());
    }

    #[test]
    fn json_has_figure_roofline_ratio_limit_and_verdict_of_every_row() {
        let mut report = Report::new(Size::Quick);
        report.rows = vec![row(Some(1.0), Limit::RatioAtMost(2.5)).aiming_at(1.5)];
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
