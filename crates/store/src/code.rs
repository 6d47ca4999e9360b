//! A stable word for each error, for programs.

use crate::Error;

impl Error {
    /// A word for programs; it stays when messages change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Study(error) => error.code(),
            Self::Location { .. } | Self::NoPostgres => "store-address",
            Self::Unavailable { .. } => "store-unavailable",
            Self::UntrustedCertificate { .. } => "store-not-trusted",
            Self::NoFreeConnection { .. } => "store-crowded",
            Self::Refused { .. } | Self::RefusedFile { .. } => "store-refused",
            Self::NoStore { .. } | Self::NoTables { .. } | Self::Empty { .. } => "no-store",
            Self::Older { .. } => "older-store",
            Self::Denied { .. } => "permission-denied",
            Self::NotAStore { .. } => "not-a-store",
            Self::Damaged { .. } => "store-damaged",
            Self::OtherValue { .. } | Self::OtherSetting { .. } | Self::OtherMetric { .. } => "not-pending",
            Self::SaidTwice { .. } => "table",
            Self::BadMetric { .. } => "metric",
            Self::Copy(_) => "copy",
            Self::Newer { .. } => "newer-store",
            Self::Locked { .. } => "store-locked",
            Self::Full { .. } => "store-full",
            Self::UnknownStudy { .. } => "unknown-study",
            Self::Deleted => "study-deleted",
            Self::StudyExists { .. } => "study-exists",
            Self::Differs { .. } => "study-differs",
            Self::File(_) => "study-file",
            Self::CorruptStudy { .. }
            | Self::CorruptEvent { .. }
            | Self::CorruptExport { .. }
            | Self::CorruptExportedEvent(_) => "corrupt-log",
            Self::KeyUsed { .. } => "key-used",
            Self::BadKey { .. } => "bad-key",
            Self::Encode { .. } => "not-storable",
            Self::Busy { .. } => "busy",
            Self::TooManyPending { .. } => "too-many-pending",
            Self::NoThread { .. } => "no-thread",
            Self::Internal { .. } => "internal",
        }
    }
}
