//! The panel of importance: each parameter's share of the posterior mean's variance, with its interval.

use manyhands_core::study::ParameterShare;
use manyhands_core::{Importance, Value};

use crate::axis::PlotAxis;
use crate::bar::ShareBar;
use crate::bar::TEXT_SIZE;
use crate::layers::Layer;
use crate::panel::{PagePanel, PanelSide, SideTicks, TICK_SIZE, room_for_names};
use crate::text::width;

/// At most this many bars.
pub const MOST: usize = 12;

/// There is room for this many.
const FEWEST: f64 = 5.0;

/// Between 100 % and the numbers behind it, and what a panel has beside its area and its names.
const BESIDE: (f64, f64) = (14.0, 34.0);

/// A bar for each of the most important parameters, the most important on top.
pub fn panel(importance: &Importance, size: (f64, f64)) -> PagePanel {
    let mut shown: Vec<usize> = importance.ranking();
    shown.truncate(MOST);
    let last = shown.len().saturating_sub(1) as f64;
    // Few bars are on top, and not far apart.
    let empty = (FEWEST - 1.0 - last).max(0.0);
    let y = PlotAxis::integer(0.0, last.max(1.0)).padded((0.6 + empty) / last.max(1.0), 0.6 / last.max(1.0));
    let x = PlotAxis::linear(0.0, 100.0).padded(0.0, room_for_numbers(importance, &shown, size.0));
    let bar = |(rank, &i): (usize, &usize)| {
        let share = &importance.shares[i];
        let place = |part: f64| x.place(100.0 * part);
        ShareBar {
            y: y.place(last - rank as f64),
            zero: x.place(0.0),
            dark: place(share.alone.unwrap_or(share.share)),
            end: place(share.share),
            interval: (place(share.low), place(share.high)),
            label: percent(share),
            label_end: x.shown(1.0),
        }
    };
    let bars = shown.iter().enumerate().map(bar).collect();
    let words = shown.iter().rev().map(|&i| importance.shares[i].name.clone()).collect();
    let label = match importance.shares.iter().all(|share| share.alone.is_some()) {
        true => "% of the variance it has a part in; dark: by itself; line: 90 % interval",
        false => "% of the variance it has a part in; line: 90 % interval",
    };
    PagePanel {
        title: "importance: share of the posterior mean's variance".to_string(),
        x: PanelSide {
            axis: x,
            label: label.to_string(),
            ticks: SideTicks::Levels((0..=5).map(|i| Value::Int(20 * i)).collect()),
        },
        y: PanelSide { axis: y, label: String::new(), ticks: SideTicks::Words(words) },
        layers: vec![Layer::Bars(bars)],
        colours: None,
        legend: vec![],
        size,
    }
}

/// The room for the numbers behind 100 %, as a fraction of the way there.
fn room_for_numbers(importance: &Importance, shown: &[usize], page: f64) -> f64 {
    let widest = |size: u32, text: fn(&ParameterShare) -> String| {
        shown.iter().map(|&i| width(&text(&importance.shares[i]), size)).fold(0.0, f64::max)
    };
    let names = widest(TICK_SIZE, |share| share.name.clone()).min(room_for_names(page));
    let numbers = widest(TEXT_SIZE, percent) + BESIDE.0;
    numbers / (page - names - BESIDE.1 - numbers).max(numbers)
}

/// A share in whole percent, or what a small one is below, and its interval.
fn percent(share: &ParameterShare) -> String {
    let whole = |part: f64| format!("{:.0}", 100.0 * part);
    let own = if share.share < 0.005 { "< 1".to_string() } else { whole(share.share) };
    format!("{own} % ({} to {})", whole(share.low), whole(share.high))
}
