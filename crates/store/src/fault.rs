//! Which errors are the fault of what was given, and which may pass.

use crate::Error;

impl Error {
    /// Whether the request or a file is at fault, a damaged store included, and not the state of the study, the server or the
    /// machine.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Study(error) => error.is_bad_input(),
            Self::Location { .. }
            | Self::NoPostgres
            | Self::NoStore { .. }
            | Self::NoTables { .. }
            | Self::Empty { .. }
            | Self::NotAStore { .. }
            | Self::Damaged { .. }
            | Self::UnknownStudy { .. }
            | Self::Differs { .. }
            | Self::File(_)
            | Self::CorruptStudy { .. }
            | Self::CorruptEvent { .. }
            | Self::CorruptExport { .. }
            | Self::CorruptExportedEvent(_)
            | Self::KeyUsed { .. }
            | Self::BadKey { .. }
            | Self::Copy(_)
            | Self::BadMetric { .. } => true,
            Self::Unavailable { .. }
            | Self::UntrustedCertificate { .. }
            | Self::NoFreeConnection { .. }
            | Self::Refused { .. }
            | Self::RefusedFile { .. }
            | Self::Older { .. }
            | Self::Denied { .. }
            | Self::OtherValue { .. }
            | Self::OtherSetting { .. }
            | Self::SaidTwice { .. }
            | Self::OtherMetric { .. }
            | Self::Newer { .. }
            | Self::Locked { .. }
            | Self::Full { .. }
            | Self::Deleted
            | Self::StudyExists { .. }
            | Self::Encode { .. }
            | Self::Busy { .. }
            | Self::TooManyPending { .. }
            | Self::NoThread { .. }
            | Self::Internal { .. } => false,
        }
    }

    /// Whether the condition is temporary: the same call may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. }
                | Self::NoFreeConnection { .. }
                | Self::Locked { .. }
                | Self::Full { .. }
                | Self::Busy { .. }
        )
    }
}
