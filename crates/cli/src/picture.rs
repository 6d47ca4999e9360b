//! Pictures as files, where the program is built with the feature `plots`.

#[cfg(feature = "plots")]
pub use self::drawn::{check, write};
#[cfg(not(feature = "plots"))]
pub use self::missing::{check, write};

#[cfg(feature = "plots")]
mod drawn {
    use std::path::Path;

    use anyhow::Result;
    use manyhands_store::Session;

    use crate::refusal::Usage;
    use crate::write;

    /// Refuses names of other kinds of pictures.
    pub fn check(path: &Path) -> Result<()> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg" | "png") => Ok(()),
            _ => {
                let message = format!("a picture's name must end in .svg or .png, got {}", path.display());
                Err(Usage::new("usage", message).into())
            }
        }
    }

    /// Draws a study into a file, whose name says which kind of picture; whether there is a picture.
    pub fn write(session: &mut Session, path: &Path) -> Result<bool> {
        let name = session.name().to_string();
        let picture = manyhands_plots::draw(session.study()?, &name)?;
        let is_png = path.extension().is_some_and(|extension| extension == "png");
        let bytes = if is_png { picture.png } else { picture.svg.into_bytes() };
        write::file(path, &bytes).map(|()| true)
    }
}

#[cfg(not(feature = "plots"))]
mod missing {
    use std::path::Path;

    use anyhow::Result;
    use manyhands_store::Session;

    use crate::refusal::Usage;

    /// Refuses every picture that is asked for.
    pub fn check(_: &Path) -> Result<()> {
        Err(Usage::without_feature("plots").into())
    }

    /// A run that was not asked for a picture goes without one.
    pub fn write(_: &mut Session, _: &Path) -> Result<bool> {
        Ok(false)
    }
}
