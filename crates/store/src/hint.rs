//! What to do about an error: one sentence per kind.

use crate::Error;

const ADDRESS: &str = "a store is sqlite:PATH or postgres://USER@HOST/DATABASE";
const UNAVAILABLE: &str = "check that the server runs and that the address, user and password (PGPASSWORD, ~/.pgpass or \
                           MANYHANDS_STORE_FILE) are right";
const UNTRUSTED_CERTIFICATE: &str = "name the host as its certificate does (subjectAltName), and the file of its issuer's certificate or \
                          its own: sslmode=verify-full&sslrootcert=FILE; sslmode=require encrypts and does not check the \
                          certificate";
const NO_FREE_CONNECTION: &str =
    "end clients that are idle, or raise max_connections (or the role's limit) on the server";
const REFUSED_FILE: &str = "check that the path names what it should, and that you may read and write there";
const REFUSED_SERVER: &str = "check that the address names what it should, that the user may read and write there, and the \
                              password (PGPASSWORD, ~/.pgpass or MANYHANDS_STORE_FILE)";
const NO_STORE: &str =
    "run or ask with a study file creates one, beside that file by default; or name another store with --store";
const UNKNOWN_STUDY: &str = "run or ask with its study file creates it; or name another store with --store";
const TOO_MANY_PENDING: &str = "tell, fail or cancel pending trials first, ask for fewer, or raise workers in [run]";
const DAMAGED: &str = "keep a copy of the store; manyhands verify STUDY says what is sound, and with --salvage FILE saves it for \
                       manyhands import; where it cannot, SQLite's own tool may: sqlite3 FILE .recover";
const EXPORT: &str = "a log is what manyhands export STUDY --format log writes";
const NO_THREAD: &str = "end other programs, or raise the limits on processes and memory (ulimit -u, ulimit -v)";

impl Error {
    /// What to do about it, where that is not obvious from the message.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Study(error) => return error.hint().map(str::to_string),
            Self::File(error) => return error.hint.clone(),
            Self::NoPostgres => "build it with the feature \"postgres\", which is on by default, or use sqlite:PATH",
            Self::Location { .. } => ADDRESS,
            Self::Unavailable { .. } => UNAVAILABLE,
            Self::UntrustedCertificate { .. } => UNTRUSTED_CERTIFICATE,
            Self::NoFreeConnection { .. } => NO_FREE_CONNECTION,
            Self::KeyUsed { .. } => "ask for the same number again, or use another key",
            Self::BadKey { .. } => "use any short text that names this ask, such as plate-7",
            Self::RefusedFile { .. } => REFUSED_FILE,
            Self::Refused { .. } => REFUSED_SERVER,
            Self::NoStore { .. } | Self::NoTables { .. } | Self::Empty { .. } => NO_STORE,
            Self::Older { .. } => "open it once with a verb that writes (run, ask, tell) to upgrade it",
            Self::Denied { .. } => "change the file's permissions, or name another store with --store",
            Self::NotAStore { .. } => "name another file with --store sqlite:PATH",
            Self::Newer { .. } => "use that version, or another store",
            Self::Locked { .. } => "end the program that holds it, or wait until it is done",
            Self::Full { .. } => "free disk space; everything recorded so far is safe",
            Self::UnknownStudy { .. } => UNKNOWN_STUDY,
            Self::StudyExists { .. } => "write another name in the study file, or use another store (--store)",
            Self::Differs { .. } => "choose another name in the file, undo the change, or delete the study",
            Self::Busy { .. } => "wait until it is done; if that process hangs, end it",
            Self::TooManyPending { .. } => TOO_MANY_PENDING,
            Self::Damaged { .. } | Self::CorruptStudy { .. } | Self::CorruptEvent { .. } => DAMAGED,
            Self::CorruptExport { .. } | Self::CorruptExportedEvent(_) => EXPORT,
            Self::OtherValue { trial, now, .. } => {
                return Some(format!(
                    "if the recorded value is wrong: manyhands amend STUDY {trial} {now}; another measurement of the same \
                     setting is a trial of its own: manyhands import STUDY --csv FILE"
                ));
            }
            Self::SaidTwice { .. } => "keep one of the rows",
            Self::OtherMetric { .. } => "if the record is wrong, tell the table with --amend",
            Self::Copy(refusal) => return Some(refusal.hint()),
            Self::OtherSetting { .. } => {
                "if the recorded setting is wrong: manyhands amend STUDY TRIAL --set NAME=VALUE"
            }
            Self::BadMetric { .. } => "name each metric once, with a finite number, or leave it out",
            Self::NoThread { .. } => NO_THREAD,
            Self::Internal { .. } => "please report it; everything recorded so far is safe",
            Self::Deleted | Self::Encode { .. } => return None,
        };
        Some(hint.to_string())
    }
}
