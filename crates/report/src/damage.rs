//! Damaged studies.

use manyhands_store::Error;

/// Whether an error means that what is stored is not what was written.
pub fn is_damage(error: &Error) -> bool {
    matches!(error, Error::CorruptStudy { .. } | Error::CorruptEvent { .. } | Error::Damaged { .. })
}
