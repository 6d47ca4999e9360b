//! Pictures as files, where the program is built with the feature `plots`.

use clap::ValueEnum;

#[cfg(feature = "plots")]
pub use self::drawn::{check, write};
#[cfg(not(feature = "plots"))]
pub use self::missing::{check, write};

/// A part of the page that is drawn by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// values by trial, and the best so far
    History,
    /// mean and interval along each parameter, through the best point
    Slices,
    /// each parameter's share of the posterior mean's variance
    Importance,
    /// maps over the two most important parameters
    Pairs,
}

#[cfg(feature = "plots")]
mod drawn {
    use std::path::Path;

    use anyhow::Result;
    use manyhands_plots::PictureKind;
    use manyhands_store::Session;

    use super::PlotKind;
    use crate::refusal::Usage;
    use crate::stderr::say;
    use crate::write;

    /// How many characters are named that a PNG lacks.
    const NAMED: usize = 10;

    /// Refuses names of other kinds of pictures, and folders that are not there.
    pub fn check(path: &Path) -> Result<()> {
        match is_png(path) {
            Some(_) => write::check_folder(path),
            None => {
                let message = format!("a picture's name must end in .svg or .png, got {}", path.display());
                Err(Usage::new("usage", message).into())
            }
        }
    }

    /// Whether a file is to be a PNG; none if its name ends neither so nor as that of an SVG.
    fn is_png(path: &Path) -> Option<bool> {
        let ending = path.extension().and_then(|ending| ending.to_str())?.to_lowercase();
        ["svg", "png"].contains(&ending.as_str()).then_some(ending == "png")
    }

    fn kind_of(kind: Option<PlotKind>) -> PictureKind {
        match kind {
            None => PictureKind::Page,
            Some(PlotKind::History) => PictureKind::History,
            Some(PlotKind::Slices) => PictureKind::Slices,
            Some(PlotKind::Importance) => PictureKind::Importance,
            Some(PlotKind::Pairs) => PictureKind::Pairs,
        }
    }

    /// Draws a study, or a part of the page, into a file whose name says which format; whether there is a picture.
    pub fn write(session: &mut Session, path: &Path, kind: Option<PlotKind>) -> Result<bool> {
        let name = session.name().to_string();
        let picture = manyhands_plots::draw_kind(session.study()?, &name, kind_of(kind))?;
        let is_png = is_png(path) == Some(true);
        if is_png && !picture.lacking.is_empty() {
            let letters: String = picture.lacking.iter().take(NAMED).collect();
            say(&format!("warning: a PNG has boxes in place of characters such as {letters}; an .svg shows them"));
        }
        let bytes = if is_png { picture.png } else { picture.svg.into_bytes() };
        write::file(path, &bytes).map(|()| true)
    }
}

#[cfg(not(feature = "plots"))]
mod missing {
    use std::path::Path;

    use anyhow::Result;
    use manyhands_store::Session;

    use super::PlotKind;
    use crate::refusal::Usage;

    /// Refuses every picture that is asked for.
    pub fn check(_: &Path) -> Result<()> {
        Err(Usage::without_feature("plots").into())
    }

    /// A run that was not asked for a picture goes without one.
    pub fn write(_: &mut Session, _: &Path, _: Option<PlotKind>) -> Result<bool> {
        Ok(false)
    }
}
