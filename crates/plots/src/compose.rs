//! Which panels a picture has, and what is said of those that it has not.

use manyhands_core::study::NoImportance;
use manyhands_core::{Domain, Importance, Study};

use crate::metrics::MetricSeries;
use crate::overview::Overview;
use crate::page::{Page, PanelRow};
use crate::panel::PagePanel;
use crate::parameter::PlottedParameter;
use crate::{Error, PictureKind, Result, history, importance, metrics, pairs, slices};

/// The width of a page, without its margins.
const WIDTH: f64 = 1080.0;

/// At most this many slices.
const MOST: usize = 12;

/// At most this many metrics: a page of 200 trials stays below 200 kB.
const MOST_METRICS: usize = 8;

/// Fits two panels side by side.
const HALF: (f64, f64) = (WIDTH / 2.0, 350.0);

/// A panel alone.
const ALONE: (f64, f64) = (760.0, 430.0);

/// What a picture is composed of.
pub struct Composition<'a> {
    name: &'a str,
    overview: Overview<'a>,
    parameters: Vec<PlottedParameter>,
    importance: Importance,
    metrics: Vec<MetricSeries>,
}

/// A part of the page, or why it is missing.
type PagePart = std::result::Result<Vec<PanelRow>, String>;

impl<'a> Composition<'a> {
    /// Computes what this kind of picture needs.
    pub fn of(study: &'a mut Study, name: &'a str, kind: PictureKind) -> Result<Self> {
        let overview = Overview::of(study)?;
        let parameters = PlottedParameter::all(overview.study.spec().domain());
        let importance = match kind {
            PictureKind::History => Importance { shares: vec![], values: 0, silence: None },
            _ => overview.model().importance()?,
        };
        let mut metrics =
            metrics::series(overview.study.trials().iter().map(|trial| (trial.number(), trial.metrics())));
        if metrics.len() > MOST_METRICS {
            // Constants are the last to be shown.
            metrics.sort_by_key(MetricSeries::is_constant);
        }
        Ok(Self { name, overview, parameters, importance, metrics })
    }

    /// The page of this kind of picture; refused where there is nothing to draw.
    pub fn page(&self, kind: PictureKind) -> Result<Page> {
        if kind == PictureKind::Page {
            return self.whole();
        }
        let mut beyond = 0;
        let rows = match kind {
            PictureKind::History => {
                let (panel, hidden) = history::panel(&self.overview, ALONE)?;
                beyond = hidden;
                Ok(vec![PanelRow::plain(vec![panel])])
            }
            PictureKind::Slices if self.parameters.len() == 1 => self.band(ALONE)?,
            PictureKind::Slices => self.slices()?,
            PictureKind::Importance => self.bars(ALONE.0).map(|panel| vec![PanelRow::plain(vec![panel])]),
            _ => self.maps()?,
        };
        let rows = rows.map_err(|reason| Error::NotDrawable { kind, reason })?;
        let notes = match kind {
            PictureKind::History => vec![],
            PictureKind::Importance => self.importance_notes(),
            PictureKind::Slices => self.slices_notes().into_iter().collect(),
            _ => vec![],
        };
        Ok(self.titled(rows, notes, beyond))
    }

    fn titled(&self, rows: Vec<PanelRow>, mut notes: Vec<String>, beyond: usize) -> Page {
        notes.extend(self.overview.sketch_note());
        Page { title: self.name.to_string(), summary: self.overview.summary(beyond), rows, notes }
    }

    /// Everything that can be drawn, and why the rest cannot.
    fn whole(&self) -> Result<Page> {
        let (first, beyond) = history::panel(&self.overview, HALF)?;
        let (mut top, mut rows, mut missing) = (vec![first], vec![], vec![]);
        if self.parameters.len() == 1 {
            match self.band(HALF)? {
                Ok(band) => top.extend(band.into_iter().flat_map(|row| row.panels)),
                Err(reason) => missing.push(("curve", reason)),
            }
        } else {
            match self.bars(HALF.0) {
                Ok(panel) => top.push(PagePanel { size: HALF, ..panel }),
                Err(reason) => missing.push(("importance", reason)),
            }
            for (what, part) in [("slices", self.slices()?), ("map", self.maps()?)] {
                match part {
                    Ok(part) => rows.extend(part),
                    Err(reason) => missing.push((what, reason)),
                }
            }
        }
        if let [alone] = &mut top[..] {
            alone.size = if rows.is_empty() && self.metrics.is_empty() { ALONE } else { (WIDTH, HALF.1) };
        }
        let mut notes = reasons(&missing);
        if self.importance.silence.is_none() && self.parameters.len() > 1 {
            notes.extend(self.importance_notes());
            notes.extend(self.slices_notes());
        }
        rows.insert(0, PanelRow::plain(top));
        rows.extend(self.metric_rows());
        if self.metrics.len() > MOST_METRICS {
            notes.push(format!(
                "Metrics not shown: {}.",
                names(self.metrics[MOST_METRICS..].iter().map(|m| m.name.as_str()))
            ));
        }
        notes.dedup();
        Ok(self.titled(rows, notes, beyond))
    }

    /// The parameters that can be drawn, the most important first.
    fn ranked(&self) -> Vec<&PlottedParameter> {
        let ranking = self.importance.ranking();
        let rank = |parameter: &&PlottedParameter| {
            ranking.iter().position(|&i| self.importance.shares[i].name == parameter.name).unwrap_or(usize::MAX)
        };
        let mut ranked: Vec<&PlottedParameter> = self.parameters.iter().filter(|p| p.is_drawable()).collect();
        // Two are drawn in any case, in the order that the user knows.
        if self.parameters.len() > 2 {
            ranked.sort_by_key(rank);
        }
        ranked
    }

    /// Why nothing can be predicted.
    fn unpredictable(&self) -> Option<String> {
        let needs_values = self.overview.study.spec().learns() || self.parameters.len() > 1;
        if self.parameters.is_empty() {
            Some(NoImportance::NoCoordinates.reason().to_string())
        } else if needs_values && self.overview.best.is_none() {
            Some(NoImportance::NoValues.reason().to_string())
        } else if self.ranked().is_empty() {
            Some("every parameter has too many categories".to_string())
        } else {
            None
        }
    }

    /// The curve where one parameter varies.
    fn band(&self, size: (f64, f64)) -> Result<PagePart> {
        if let Some(reason) = self.unpredictable() {
            return Ok(Err(reason));
        }
        let panels = slices::panels(&self.overview, &self.parameters, &self.ranked(), size)?;
        Ok(Ok(vec![PanelRow::plain(panels.into_iter().map(|panel| panel.sized(size)).collect())]))
    }

    fn slices(&self) -> Result<PagePart> {
        if let Some(reason) = self.unpredictable() {
            return Ok(Err(reason));
        }
        let mut chosen = self.ranked();
        chosen.truncate(MOST);
        let panels = slices::panels(&self.overview, &self.parameters, &chosen, HALF)?;
        let size = small_size(panels.len());
        let mut panels: Vec<PagePanel> = panels.into_iter().map(|panel| panel.sized(size)).collect();
        // Those of one height stand together, in the order of the first of each.
        let heights: Vec<f64> = panels.iter().map(|panel| panel.size.1).collect();
        panels.sort_by_key(|panel| heights.iter().position(|height| *height == panel.size.1));
        if panels.is_empty() {
            return Ok(Err("the constraints allow no parameter to change alone".to_string()));
        }
        let trial = self.overview.best.as_ref().map_or(String::new(), |best| format!(" (trial {})", best.trial));
        let others = if self.is_constrained() {
            "the others stay, or move where they must; at gaps nothing is allowed"
        } else {
            "one parameter varies, the others stay"
        };
        let heading = format!("slices of the value through the best point{trial}: {others}");
        let fixed = chosen.iter().map(|parameter| &parameter.name);
        let fixed = names(
            fixed
                .filter(|name| panels.iter().all(|panel| panel.x.label != **name && panel.y.label != **name))
                .map(String::as_str),
        );
        let fixed = if fixed.is_empty() { fixed } else { format!("; {fixed} cannot change alone") };
        Ok(Ok(in_rows(panels, heading + &fixed)))
    }

    fn maps(&self) -> Result<PagePart> {
        if let Some(reason) = self.unpredictable() {
            return Ok(Err(reason));
        }
        let ranked = self.ranked();
        if ranked.len() < 2 {
            return Ok(Err("a map needs two parameters that vary".to_string()));
        }
        // Of a mixture of two parts, the second is what the first leaves.
        for (rank, y) in ranked.iter().enumerate().take(MOST) {
            for x in &ranked[..rank] {
                let panels = pairs::panels(&self.overview, &self.parameters, [x, y], (HALF.0, 420.0))?;
                if !panels.is_empty() {
                    let heading = self.heading_of_maps([x, y], rank == 1);
                    return Ok(Ok(vec![PanelRow { heading, panels }]));
                }
            }
        }
        Ok(Err("the constraints let no two parameters vary independently of each other".to_string()))
    }

    fn heading_of_maps(&self, [x, y]: [&PlottedParameter; 2], are_first: bool) -> String {
        if self.parameters.len() == 2 {
            return String::new();
        }
        let which = match (self.importance.silence, are_first) {
            (Some(_), _) => "",
            (None, true) => ", the most important parameters",
            (None, false) => ", the most important parameters that vary independently",
        };
        let others = if self.is_constrained() { ", or as near to it as the constraints allow" } else { "" };
        format!("{} and {}{which}; the others as at the best point{others}", x.name, y.name)
    }

    /// The panel of importance, or why there is none.
    fn bars(&self, width: f64) -> std::result::Result<PagePanel, String> {
        if self.parameters.len() == 1 {
            return Err("only one parameter varies".to_string());
        }
        if let Some(silence) = self.importance.silence {
            return Err(silence.reason().to_string());
        }
        let bars = self.importance.shares.len().min(importance::MOST);
        Ok(importance::panel(&self.importance, (width, 90.0 + 26.0 * bars.max(5) as f64)))
    }

    fn importance_notes(&self) -> Vec<String> {
        let mut notes = vec![];
        if matches!(self.overview.study.spec().domain(), Domain::Pool(_)) {
            notes.push(
                "Importance: columns vary independently of each other, each over its values in the table.".to_string(),
            );
        }
        if self.is_constrained() {
            notes.push(
                "Importance under constraints: each parameter varies as far as the others allow; where they must give way, \
                 as in a mixture, they move to the nearest allowed setting."
                    .to_string(),
            );
        }
        let order = self.importance.ranking();
        let rest = order.iter().skip(importance::MOST).map(|&i| self.importance.shares[i].name.as_str());
        notes.extend(not_shown(rest));
        notes
    }

    fn slices_notes(&self) -> Option<String> {
        let ranked = self.ranked();
        let hidden = ranked.iter().skip(MOST).map(|parameter| parameter.name.as_str());
        let undrawable = self.parameters.iter().filter(|parameter| !parameter.is_drawable());
        not_shown(hidden.chain(undrawable.map(|parameter| parameter.name.as_str())))
    }

    fn metric_rows(&self) -> Vec<PanelRow> {
        let shown = &self.metrics[..self.metrics.len().min(MOST_METRICS)];
        let size = small_size(shown.len());
        let panels = shown.iter().map(|series| metrics::panel(&self.overview, series, size)).collect();
        in_rows(panels, "metrics by trial".to_string())
    }

    fn is_constrained(&self) -> bool {
        self.overview.study.spec().domain().space().is_some_and(|space| !space.constraints().is_empty())
    }
}

/// The size of so many panels of the same kind.
fn small_size(count: usize) -> (f64, f64) {
    match count {
        0..=2 => (WIDTH / 2.0, 270.0),
        3 => (WIDTH / 3.0, 250.0),
        _ => (WIDTH / 4.0, 215.0),
    }
}

/// Panels of the same size in rows that fit.
fn in_rows(panels: Vec<PagePanel>, heading: String) -> Vec<PanelRow> {
    let mut rows: Vec<PanelRow> = vec![];
    for panel in panels {
        let used = |row: &PanelRow| row.panels.iter().map(|panel| panel.size.0).sum::<f64>();
        match rows.last_mut() {
            Some(row) if used(row) + panel.size.0 <= WIDTH + 1.0 => row.panels.push(panel),
            None => rows.push(PanelRow { heading: heading.clone(), panels: vec![panel] }),
            _ => rows.push(PanelRow::plain(vec![panel])),
        }
    }
    rows
}

/// The names of what is left out, if anything is.
fn not_shown<'a>(left_out: impl Iterator<Item = &'a str>) -> Option<String> {
    let left_out = names(left_out);
    (!left_out.is_empty()).then(|| format!("Not shown: {left_out}."))
}

/// What is missing and why, in one sentence for each reason.
fn reasons(missing: &[(&str, String)]) -> Vec<String> {
    let mut sentences: Vec<(Vec<&str>, &str)> = vec![];
    for (what, reason) in missing {
        match sentences.iter_mut().find(|(_, known)| known == reason) {
            Some((parts, _)) => parts.push(what),
            None => sentences.push((vec![what], reason)),
        }
    }
    sentences.iter().map(|(parts, reason)| format!("No {}: {reason}.", parts.join(", no "))).collect()
}

/// At most so many names are listed.
const MOST_NAMES: usize = 20;

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}
