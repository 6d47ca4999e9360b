//! What can go wrong when a picture is drawn.

use crate::PictureKind;

/// A picture that cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The study gives no prediction or no best trial.
    #[error(transparent)]
    Study(#[from] manyhands_core::Error),
    /// There is nothing of this kind to draw.
    #[error("cannot draw {}: {reason}", kind.name())]
    NotDrawable {
        /// What was to be drawn.
        kind: PictureKind,
        /// Why there is nothing.
        reason: String,
    },
    /// The renderer failed.
    #[error("cannot draw {what}: {reason}")]
    Rendering {
        /// What was to be drawn.
        what: String,
        /// The renderer's message.
        reason: String,
    },
}

impl Error {
    /// A word for programs; it stays when messages change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Study(error) => error.code(),
            Self::NotDrawable { .. } => "nothing-to-draw",
            Self::Rendering { .. } => "picture",
        }
    }

    /// What to do about it, where the message does not say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Study(error) => error.hint(),
            Self::NotDrawable { .. } => Some("without --kind, all that can be drawn is drawn on one page"),
            Self::Rendering { .. } => None,
        }
    }

    /// Whether what was given is at fault, and not the state of the study or the renderer.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Study(error) => error.is_bad_input(),
            Self::NotDrawable { .. } | Self::Rendering { .. } => false,
        }
    }
}

/// The result of drawing.
pub type Result<T> = std::result::Result<T, Error>;
