//! Parses a PostgreSQL URL by the rules of libpq. A URL may contain a password, and a mistyped one may contain it anywhere, so
//! errors quote no part of it.

use percent_encoding::percent_decode_str;

/// The settings of a connection that are accepted, by their names in libpq.
const KNOWN: [&str; 22] = [
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "passfile",
    "service",
    "sslmode",
    "sslrootcert",
    "sslnegotiation",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
    "options",
    "application_name",
];

/// Settings of a connection, each at most once.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConnectionSettings(Vec<(&'static str, String)>);

impl ConnectionSettings {
    /// Parses a URL; the error says what is wrong with it and quotes nothing.
    pub fn of_url(url: &str) -> Result<Self, String> {
        let rest = ["postgres://", "postgresql://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        let rest = rest.ok_or("it does not begin with postgres://")?;
        let mut settings = Self::default();
        // A user stands before the first "@", if no "/" comes before it.
        let slash = rest.find('/').unwrap_or(rest.len());
        let (user, rest) = match rest[..slash].find('@') {
            Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
            None => (None, rest),
        };
        if rest.contains('@') {
            // Part of an unencoded password would be taken for a host, and shown.
            return Err("it has an \"@\" after USER@; in a name or password write %40 for @, %2F for /, \
                        %3A for : and %3F for ?"
                .to_string());
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some(user) = user {
            let (name, password) = user.split_once(':').map_or((user, None), |(name, word)| (name, Some(word)));
            settings.add("user", decoded(name)?);
            settings.add("password", password.map(decoded).transpose()?.unwrap_or_default());
        }
        settings.add_hosts(hosts)?;
        settings.add("dbname", decoded(database)?);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or("an option after \"?\" has no \"=\"")?;
            let key = decoded(key)?;
            let key = Self::known(&key)
                .ok_or_else(|| format!("an option after \"?\" is not known; known are {}", KNOWN.join(", ")))?;
            settings.replace(key, decoded(value)?);
        }
        Ok(settings)
    }

    /// The setting of this name, if there is one.
    pub fn known(name: &str) -> Option<&'static str> {
        KNOWN.into_iter().find(|known| *known == name)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }

    /// Sets what is not set yet; an empty value counts as not set.
    pub fn add(&mut self, key: &'static str, value: String) {
        if self.get(key).is_none() && !value.is_empty() {
            self.0.push((key, value));
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(key, value)| (*key, value.as_str()))
    }

    /// The last value counts.
    fn replace(&mut self, key: &'static str, value: String) {
        self.0.retain(|(known, _)| *known != key);
        self.add(key, value);
    }

    fn add_hosts(&mut self, hosts: &str) -> Result<(), String> {
        let (mut names, mut ports) = (Vec::new(), Vec::new());
        for host in hosts.split(',') {
            let (name, port) = match host.strip_prefix('[').map(|host| host.split_once(']')) {
                Some(Some((name, rest))) => (name, rest.strip_prefix(':').unwrap_or(rest)),
                Some(None) => return Err("a \"[\" of a host has no \"]\"".to_string()),
                None => host.split_once(':').unwrap_or((host, "")),
            };
            if port.parse::<u16>().is_err() && !port.is_empty() {
                return Err("the text after \":\" of a host must be a port, which is an integer up to 65535; \
                            in a password write %2F for /, %3A for : and %40 for @"
                    .to_string());
            }
            names.push(decoded(name)?);
            ports.push(port);
        }
        if ports.iter().any(|port| !port.is_empty()) {
            self.add("port", ports.join(","));
        }
        self.add("host", names.join(","));
        Ok(())
    }
}

/// A part of a URL with its `%XX` replaced.
fn decoded(text: &str) -> Result<String, String> {
    let bytes = text.as_bytes();
    let is_whole = |at: usize| bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    if (0..bytes.len()).any(|at| bytes[at] == b'%' && !is_whole(at)) {
        return Err("a \"%\" is not followed by two hexadecimal digits; write %25 for %".to_string());
    }
    match percent_decode_str(text).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(text.into_owned()),
        Ok(_) => Err("it holds a null character".to_string()),
        Err(_) => Err("its %XX sequences do not decode to UTF-8".to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_url_is_taken_apart_as_postgresql_does() {
        for (url, settings) in [
            ("postgres://", vec![]),
            ("postgresql://h", vec![("host", "h")]),
            (
                "postgres://me:a%20b@h:1/db",
                vec![("user", "me"), ("password", "a b"), ("port", "1"), ("host", "h"), ("dbname", "db")],
            ),
            ("postgres://me:a?b:c@h", vec![("user", "me"), ("password", "a?b:c"), ("host", "h")]),
            ("postgres://[::1]:5,h2/", vec![("port", "5,"), ("host", "::1,h2")]),
            ("postgres:///db?host=/tmp&port=3", vec![("dbname", "db"), ("host", "/tmp"), ("port", "3")]),
            ("postgres://%2Ftmp/db", vec![("host", "/tmp"), ("dbname", "db")]),
            ("postgres://a@h?user=b&user=c", vec![("host", "h"), ("user", "c")]),
        ] {
            assert_eq!(ConnectionSettings::of_url(url).unwrap().iter().collect::<Vec<_>>(), settings, "{url}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_url() {
        for (url, reason) in [
            ("postgres://me:zq@zq@h/db", "write %40 for @"),
            ("postgres://me:zq/zq@h/db", "write %40 for @"),
            ("postgres://h:zq/db", "must be a port"),
            ("postgres://h/db?zq=1", "known are host, hostaddr"),
            ("postgres://h/db?zq", "has no \"=\""),
            ("postgres://h/%zq", "write %25 for %"),
            ("postgres://h/%ff", "UTF-8"),
            ("postgres://[zq/db", "has no \"]\""),
            ("mysql://zq", "postgres://"),
        ] {
            let error = ConnectionSettings::of_url(url).err().unwrap();
            assert!(error.contains(reason) && !error.contains("zq"), "{url}: {error}");
        }
    }
}
