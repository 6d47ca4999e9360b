//! What `delete` says before and after it removes a study.

use manyhands_core::text::counted;
use manyhands_store::Session;

/// The line about a study that was deleted. Made before the study is gone.
pub fn deleted_line(session: &Session) -> String {
    format!("deleted study {} with {}", session.name(), trials(session))
}

/// The line about a deleted study whose log could not be read.
pub fn deleted_damaged_line(name: &str) -> String {
    format!("deleted study {name}, whose log was damaged")
}

/// The question before a study is deleted.
pub fn question(session: &Session) -> String {
    format!("delete study {} with its {}? [y/N]", session.name(), trials(session))
}

/// Why a study is not deleted without confirmation.
pub fn unconfirmed(session: &Session) -> String {
    format!("nothing was deleted: study {} has {}", session.name(), trials(session))
}

/// Why a study is not deleted while workers run `running` of its trials.
pub fn in_use(session: &Session, running: usize) -> String {
    let are = if running == 1 { "is" } else { "are" };
    format!("{} of study {} {are} being run by workers", counted(running, "trial"), session.name())
}

fn trials(session: &Session) -> String {
    counted(session.ledger().trials().len(), "trial")
}
