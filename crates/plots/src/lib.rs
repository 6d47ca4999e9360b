//! Pictures of a study: its values by trial and, where one or two parameters vary, the posterior over them.
//!
//! ```
//! use manyhands_core::Study;
//! use manyhands_core::file::Draft;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "name = \"demo\"\n[space]\nx = { float = [0.0, 1.0] }\n";
//! let mut study = Study::new(Draft::parse(text)?.finish(&[])?.spec)?;
//! for suggestion in study.ask(3)? {
//!     study.tell(suggestion.trial, suggestion.trial as f64)?;
//! }
//! let picture = manyhands_plots::draw(&mut study, "demo")?;
//! assert!(picture.svg.starts_with("<svg"));
//! # Ok(()) }
//! ```

mod axis;
mod curve;
mod error;
mod history;
mod map;
mod marks;
mod overview;
mod page;
mod parameter;
mod picture;
mod shown;

#[cfg(test)]
mod tests;

pub use error::{Error, Result};
use manyhands_core::Study;
pub use picture::Picture;

use self::overview::Overview;
use self::page::{Page, PagePanel};
use self::parameter::PlottedParameter;

/// Draws a study: the values of its trials, and the posterior over its varying parameters if there are one or two of them.
/// The same study gives the same bytes.
pub fn draw(study: &mut Study, name: &str) -> Result<Picture> {
    let overview = Overview::of(study)?;
    let panels = [history::panel(&overview)?].into_iter().chain(posterior(&overview)?).collect();
    let page = Page { title: name.to_string(), summary: overview.summary(), panels };
    Picture::of(name, &page.scene())
}

/// Empty where more than two parameters vary, where one has too many categories, and before the first value of a learned
/// model.
fn posterior(overview: &Overview<'_>) -> Result<Vec<PagePanel>> {
    if overview.study.spec().learns() && overview.shown.is_none() {
        return Ok(vec![]);
    }
    match PlottedParameter::all(overview.study.spec().domain()).as_slice() {
        [one] => Ok(curve::panel(overview, one)?.into_iter().collect()),
        [x, y] => map::panels(overview, &[x.clone(), y.clone()]),
        _ => Ok(vec![]),
    }
}
