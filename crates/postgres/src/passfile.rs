//! The password file of PostgreSQL's own client: lines of `host:port:database:user:password`, `*` for any, `\` before a `:` or
//! `\` that is meant as such. The first line that fits counts.

use std::fs;
use std::path::Path;

use crate::environment::Variables;
use crate::url::ConnectionSettings;

/// The default folder of a server's socket: such a host is called localhost in the file.
const SOCKETS: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];

/// The password for these settings, if the file has one; a warning if the file cannot be used. A missing file is no error.
pub fn password(file: &Path, settings: &ConnectionSettings) -> Result<Option<String>, String> {
    let Ok(found) = fs::metadata(file) else { return Ok(None) };
    let unused = |reason: &str| format!("the password file {} is not used: {reason}", file.display());
    if !found.is_file() {
        return Err(unused("it is not a plain file"));
    }
    if is_open_to_others(&found) {
        return Err(unused("others may read it; chmod 600 it"));
    }
    let text = fs::read_to_string(file).map_err(|error| unused(&error.to_string()))?;
    // The first of several hosts.
    let first = |key| settings.get(key).and_then(|list| list.split(',').next()).filter(|text| !text.is_empty());
    let host = first("host").or(first("hostaddr")).filter(|host| !SOCKETS.contains(host)).unwrap_or("localhost");
    let user = settings.get("user").unwrap_or_default();
    let wanted = [host, first("port").unwrap_or("5432"), settings.get("dbname").unwrap_or(user), user];
    Ok(text.lines().find_map(|line| of_line(line, wanted)))
}

/// Whether the file has any permission for the group or others.
#[cfg(unix)]
fn is_open_to_others(file: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o077 != 0
}

/// On other systems the file is protected by its folder.
#[cfg(not(unix))]
fn is_open_to_others(_: &fs::Metadata) -> bool {
    false
}

fn of_line(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line;
    for wanted in wanted {
        let field;
        (field, rest) = cut(rest)?;
        if field != "*" && unescaped(field) != wanted {
            return None;
        }
    }
    Some(unescaped(rest))
}

/// The text before the first `:` that has no `\` before it, and what follows.
fn cut(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            ':' if !is_escaped => return Some((&text[..at], &text[at + 1..])),
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        // A "\" at the end stands for itself.
        plain.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    plain
}

/// The name of the user who runs this process: the default user of connections.
pub fn system_user(variables: Variables<'_>) -> Option<String> {
    of_system().or_else(|| variables("LOGNAME")).or_else(|| variables("USER"))
}

#[cfg(unix)]
fn of_system() -> Option<String> {
    let id = rustix::process::geteuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let name = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| name.to_string())
    };
    users.lines().find_map(name)
}

#[cfg(not(unix))]
fn of_system() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_as_postgresql_documents_it() {
        let wanted = ["h", "5432", "db", "me"];
        for (line, password) in [
            ("h:5432:db:me:secret", Some("secret")),
            ("*:*:*:*:a:b", Some("a:b")),
            ("h:*:db:me:a\\:b\\\\c", Some("a:b\\c")),
            ("h:5433:db:me:secret", None),
            ("#h:5432:db:me:secret", None),
            ("h:5432:db:me", None),
            ("h*:5432:db:me:x", None),
            ("\\h:5432:db:me:x", Some("x")),
            ("", None),
        ] {
            assert_eq!(of_line(line, wanted).as_deref(), password, "{line}");
        }
        assert_eq!(of_line("a\\:b:1:c\\\\d:me:x", ["a:b", "1", "c\\d", "me"]).as_deref(), Some("x"));
    }
}
