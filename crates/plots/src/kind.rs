//! What may be drawn.

/// What is drawn of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureKind {
    /// Everything, on one page.
    Page,
    /// Values by trial.
    History,
    /// Mean and interval along each parameter, through the best point.
    Slices,
    /// Each parameter's share of the posterior mean's variance.
    Importance,
    /// Maps over the two most important parameters.
    Pairs,
}

impl PictureKind {
    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::History => "history",
            Self::Slices => "slices",
            Self::Importance => "importance",
            Self::Pairs => "pairs",
        }
    }
}
