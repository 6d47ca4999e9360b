//! Where a store is: an address that opens it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::postgres::Address;
use crate::{Error, Memory, Postgres, Result, Sqlite, Store};

/// What to do where there is no store yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Make one.
    Create,
    /// Say so.
    Refuse,
}

/// A store's address: `sqlite:PATH`, `postgres://...`, or `memory:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL database.
    Postgres(String),
    /// This process's memory; every opening is a store of its own.
    Memory,
}

impl Location {
    /// Opens the store.
    pub fn open(&self, missing: Missing) -> Result<Arc<dyn Store>> {
        Ok(match self {
            Self::Sqlite(path) => Arc::new(Sqlite::open(path, missing)?),
            Self::Postgres(url) => Arc::new(Postgres::open(url)?),
            Self::Memory => Arc::new(Memory::new()),
        })
    }
}

impl Default for Location {
    fn default() -> Self {
        Self::Sqlite("manyhands.db".into())
    }
}

impl FromStr for Location {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self> {
        let refuse = |reason: &str| Err(Error::Location { url: without_password(url), reason: reason.to_string() });
        if let Some(path) = url.strip_prefix("sqlite:") {
            // sqlite:///var/x.db is how others write it.
            let path = path.strip_prefix("//").unwrap_or(path);
            if path == ":memory:" {
                return Ok(Self::Memory);
            }
            return if path.is_empty() { refuse("it names no file") } else { Ok(Self::Sqlite(path.into())) };
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Address::read(url).map_or_else(|reason| refuse(&reason), |_| Ok(Self::Postgres(url.to_string())));
        }
        match url.split_once(':') {
            Some(("memory", "")) => Ok(Self::Memory),
            Some((scheme, _)) if scheme.chars().all(char::is_alphanumeric) => {
                refuse(&format!("\"{scheme}:\" is not a kind of store"))
            }
            _ => refuse("it has no kind"),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
            Self::Memory => f.write_str("memory:"),
        }
    }
}

/// An address that may be shown: without its password, wherever that stands and however it is written.
pub(crate) fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    let mut parts = rest.split("password=");
    let mut shown = parts.next().unwrap_or_default().to_string();
    for part in parts {
        shown += "password=...";
        shown += &part[part.find('&').unwrap_or(part.len())..];
    }
    // Up to the last "@": a password may hold any character that should have been escaped.
    match shown.rsplit_once('@') {
        Some((user, host)) => format!("{scheme}{}@{host}", user.split_once(':').map_or(user, |(user, _)| user)),
        None => format!("{scheme}{shown}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn addresses_are_read() {
        let read = |url: &str| url.parse::<Location>().unwrap();
        assert_eq!(read("sqlite:a/b.db"), Location::Sqlite("a/b.db".into()));
        assert_eq!(read("sqlite:///tmp/b.db"), Location::Sqlite("/tmp/b.db".into()));
        assert_eq!(read("postgres://me@h/db"), Location::Postgres("postgres://me@h/db".to_string()));
        assert_eq!((read("memory:"), read("sqlite::memory:")), (Location::Memory, Location::Memory));
    }

    #[test]
    fn passwords_are_never_shown() {
        for url in [
            "postgres://me:secret@h:1/db",
            "postgres://h/db?user=me&password=secret&x=1",
            "postgres://h/db?password=1&password=secret",
            "postgres://h/db?user=me&password=a@secret",
            "postgres://me:a/secret@h/db",
            "postgres://me:a?b@c/secret@h:1/db",
            "mysql://me:secret@h",
            "me:secret@h/db",
            "host=h user=me password=secret",
            "host=h password=a:secret",
        ] {
            let shown = match url.parse::<Location>() {
                Ok(location) => location.to_string(),
                Err(error) => error.to_string(),
            };
            assert!(!shown.contains("secret"), "{shown}");
            assert!(shown.contains("h"), "the rest is shown: {shown}");
        }
    }

    #[test]
    fn what_is_no_store_is_refused_with_what_is() {
        for (url, reason) in [
            ("mysql://h/db", "\"mysql:\" is not a kind of store"),
            ("study.db", "it has no kind"),
            ("sqlite:", "it names no file"),
            ("postgres://", "it names no host"),
        ] {
            let error = url.parse::<Location>().unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.hint().unwrap().contains("sqlite:PATH"));
        }
    }
}
