//! The address of a store, which opens it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::memory::Memory;
use crate::network::network_file_system;
#[cfg(feature = "postgres")]
use crate::postgres::{Address, Postgres};
use crate::sqlite::Sqlite;
use crate::{Error, Result, Store};

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read and write; it is created if it does not exist.
    Create,
    /// To read and write an existing store; an older one is upgraded.
    Write,
    /// To read an existing store: nothing is created, upgraded or written, and read permission is enough.
    Read,
}

/// A store's address: `sqlite:PATH`, `postgres://...`, or `memory:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL database.
    #[cfg(feature = "postgres")]
    Postgres(Box<Address>),
    /// This process's memory; each call of [`Location::open`] gives a new store.
    Memory,
}

impl Location {
    /// Opens the store.
    pub fn open(&self, access: Access) -> Result<Store> {
        Ok(match self {
            Self::Sqlite(path) => Store::new(Sqlite::open(path, access)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => Store::new(Postgres::at(address, access)?),
            Self::Memory => Store::new(Memory::new()),
        })
    }

    /// Warnings for the user, one sentence each; nothing is printed here.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Sqlite(path) => network_file_system(path).map(|kind| shared(path, kind)).into_iter().collect(),
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => address.warnings().to_vec(),
            Self::Memory => vec![],
        }
    }

    /// Whether the address itself holds a password.
    pub fn has_password(&self) -> bool {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => address.has_password(),
            Self::Sqlite(_) | Self::Memory => false,
        }
    }
}

fn shared(path: &Path, kind: &str) -> String {
    format!(
        "{} is on a network file system ({kind}), where SQLite is safe for the processes of one machine only; use \
         postgres://USER@HOST/DATABASE for several",
        path.display()
    )
}

impl Default for Location {
    fn default() -> Self {
        Self::Sqlite("manyhands.db".into())
    }
}

impl FromStr for Location {
    type Err = Error;

    /// What a `postgres://` address leaves out is taken from the environment, as PostgreSQL's own client does.
    fn from_str(url: &str) -> Result<Self> {
        let refuse = |reason: String| {
            let shown = shown(url);
            let why_hidden = if shown == HIDDEN { " (it may hold a password, so it is not shown)" } else { "" };
            Err(Error::Location { url: shown, reason: reason + why_hidden })
        };
        if let Some(path) = url.strip_prefix("sqlite:") {
            // Other programs write sqlite:///var/x.db.
            let path = path.strip_prefix("//").unwrap_or(path);
            if path == ":memory:" {
                return Ok(Self::Memory);
            }
            return if path.is_empty() { refuse("it names no file".into()) } else { Ok(Self::Sqlite(path.into())) };
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return postgres(url);
        }
        match (url, scheme(url)) {
            ("memory:", _) => Ok(Self::Memory),
            (_, Some("postgres" | "postgresql")) => refuse("it does not begin with postgres://".into()),
            (_, Some(scheme)) => refuse(format!("\"{scheme}:\" is not a kind of store")),
            (_, None) => refuse("it does not begin with a kind of store".into()),
        }
    }
}

#[cfg(feature = "postgres")]
fn postgres(url: &str) -> Result<Location> {
    Ok(Location::Postgres(Box::new(url.parse()?)))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str) -> Result<Location> {
    Err(Error::NoPostgres)
}

/// The scheme of an address, if it is a known word: anything else may be part of a password.
fn scheme(url: &str) -> Option<&'static str> {
    const FAMILIAR: [&str; 16] = [
        "sqlite",
        "postgres",
        "postgresql",
        "memory",
        "mysql",
        "mariadb",
        "http",
        "https",
        "file",
        "redis",
        "mongodb",
        "mssql",
        "oracle",
        "duckdb",
        "sqlite3",
        "jdbc",
    ];
    FAMILIAR.into_iter().find(|known| url.strip_prefix(known).is_some_and(|rest| rest.starts_with(':')))
}

/// Stands for an address of which nothing can be shown.
const HIDDEN: &str = "...";

/// The part of an address that cannot contain a password; a mistyped address may contain one anywhere.
fn shown(url: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_');
    let is_file = [".db", ".sqlite", ".sqlite3"].iter().any(|end| url.ends_with(end)) && url.chars().all(is_plain);
    match scheme(url) {
        _ if is_file => url.to_string(),
        Some(scheme) => format!("{scheme}:..."),
        None => HIDDEN.to_string(),
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Two slashes at the front would be read as those of sqlite:///var/x.db.
            Self::Sqlite(path) if path.to_string_lossy().starts_with("//") => write!(f, "sqlite://{}", path.display()),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => address.fmt(f),
            Self::Memory => f.write_str("memory:"),
        }
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;
    use crate::tests::common::runner;

    #[test]
    fn addresses_are_read() {
        let read = |url: &str| url.parse::<Location>().unwrap();
        assert_eq!(read("sqlite:a/b.db"), Location::Sqlite("a/b.db".into()));
        assert_eq!(read("sqlite:///tmp/b.db"), Location::Sqlite("/tmp/b.db".into()));
        assert!(matches!(read("postgres://me@h/db"), Location::Postgres(_)));
        assert_eq!(read("postgresql://me@h/db").to_string(), "postgres://me@h/db");
        assert_eq!((read("memory:"), read("sqlite::memory:")), (Location::Memory, Location::Memory));
        assert!(read("postgres://me:x@h/db").has_password() && !read("postgres://me@h/db").has_password());
    }

    /// Everything that can be seen of an address, read or refused.
    fn seen(url: &str) -> String {
        match url.parse::<Location>() {
            Ok(location) => format!("{location} {location:?} {:?}", location.warnings()),
            Err(error) => format!("{error} {error:?} {:?}", error.hint()),
        }
    }

    #[test]
    fn passwords_are_never_shown() {
        for url in [
            "postgres://me:secret@h:1/db",
            "postgres://h/db?user=me&password=secret&connect_timeout=1",
            "postgres://h/db?password=1&password=secret",
            "postgres://h/db?user=me&password=a@secret",
            "postgres://me:a/secret@h/db",
            "postgres://me:a?b@c/secret@h:1/db",
            "postgres://me:secret@h/db?sslmode=secret",
            "postgres://me@h/db?password=x&secret",
            "mysql://me:secret@h",
            "me:secret@h/db",
            "secret:x",
            "host=h user=me password=secret",
            "host=h password='a secret'",
            "host=h password=a:secret",
        ] {
            assert!(!seen(url).contains("secret"), "{url}: {}", seen(url));
        }
        assert!(seen("postgres://me:secret@h:1/db").contains("postgres://me@h:1/db"), "the rest is shown");
    }

    /// Where a secret may stand in what is given as an address.
    const FORMS: [&str; 20] = [
        "postgres://me:SECRET@h:1/db",
        "postgresql://:SECRET@h",
        "postgres://me:SECRET@[::1]:1/db?sslmode=require",
        "postgres://me:SECRET@h/db?sslmode=nonsense",
        "postgres://me:SECRET@h:none/db",
        "postgres://h/db?user=me&password=SECRET",
        "postgres://h/db?password=SECRET&sslmode=require",
        "postgres://h/db?password=SECRET&nonsense=1",
        "postgres://me@h/db?sslmode=require&password=SECRET",
        "postgres://me:x@h/db?password=SECRET&connect_timeout=x",
        "postgres://me@h?pasword=SECRET",
        "postgres:/me:SECRET@h/db",
        "postgres:me:SECRET@h/db",
        "mysql://me:SECRET@h/db",
        "me:SECRET@h/db",
        "me:SECRET",
        "host=h user=me password=SECRET dbname=db",
        "host=h user=me password='SECRET' dbname=db",
        "password=SECRET",
        "SECRET",
    ];

    /// A secret of odd characters between pieces that occur nowhere else; none of the pieces may be shown.
    #[test]
    fn no_piece_of_a_secret_is_ever_shown() {
        let odd = proptest::collection::vec("[ -~é]{0,3}", 3);
        let claim = |(form, odd, encoded): (&str, Vec<String>, bool)| {
            let mut secret = format!("zq1{}zq2{}zq3{}", odd[0], odd[1], odd[2]);
            if encoded {
                secret = percent_encoding::utf8_percent_encode(&secret, percent_encoding::NON_ALPHANUMERIC).to_string();
            }
            let shown = seen(&form.replace("SECRET", &secret));
            prop_assert!(!shown.contains("zq"), "{}: {shown}", secret);
            Ok(())
        };
        runner(2000).run(&(proptest::sample::select(FORMS.to_vec()), odd, any::<bool>()), claim).unwrap();
    }

    #[test]
    fn what_is_no_store_is_refused_with_what_is() {
        for (url, reason) in [
            ("mysql://h/db", "\"mysql:\" is not a kind of store"),
            ("study.db", "\"study.db\" is not a store: it does not begin with a kind"),
            ("sqlite:", "it names no file"),
            ("foo", "\"...\" is not a store: it does not begin with a kind of store (it may hold a password"),
        ] {
            let error = url.parse::<Location>().unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.hint().unwrap().contains("sqlite:PATH"));
        }
    }
}
