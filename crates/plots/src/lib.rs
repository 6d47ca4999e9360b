//! Pictures of a study on one page: its values by trial, how much each parameter matters, slices of the posterior through the
//! best point, and maps over the two most important parameters.
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
mod bar;
mod cells;
mod colour_bar;
mod colours;
mod compose;
mod error;
mod history;
mod importance;
mod kind;
mod layers;
mod marks;
mod metrics;
mod overview;
mod page;
mod pairs;
mod panel;
mod parameter;
mod picture;
mod scale;
mod shapes;
mod shown;
mod slices;
mod text;
mod typeface;

#[cfg(test)]
mod tests;

pub use error::{Error, Result};
pub use kind::PictureKind;
use manyhands_core::Study;
pub use picture::Picture;

use self::compose::Composition;

/// Draws all that there is to see of a study on one page. The same study gives the same bytes.
pub fn draw(study: &mut Study, name: &str) -> Result<Picture> {
    draw_kind(study, name, PictureKind::Page)
}

/// Draws one kind of picture; refused where there is nothing of it to draw.
///
/// ```
/// use manyhands_core::Study;
/// use manyhands_core::file::Draft;
/// use manyhands_plots::{Error, PictureKind, draw_kind};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "name = \"demo\"\n[space]\nx = { float = [0.0, 1.0] }\ny = { float = [0.0, 1.0] }\n";
/// let mut study = Study::new(Draft::parse(text)?.finish(&[])?.spec)?;
/// let refused = draw_kind(&mut study, "demo", PictureKind::Pairs);
/// assert!(matches!(refused, Err(Error::NotDrawable { .. })), "there are no values yet");
/// # Ok(()) }
/// ```
pub fn draw_kind(study: &mut Study, name: &str, kind: PictureKind) -> Result<Picture> {
    Picture::of(name, &Composition::of(study, name, kind)?.page(kind)?.scene())
}
