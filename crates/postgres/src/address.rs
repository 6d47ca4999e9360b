//! The address of a PostgreSQL server, and which certificates are trusted. `sslmode` is that of libpq:
//!
//! | sslmode | encrypted | the server's certificate |
//! |---|---|---|
//! | `disable` | no | |
//! | `prefer` (default) | if the server can | not checked |
//! | `require` | yes | not checked |
//! | `verify-full` | yes | must be for this host, by an issuer in `sslrootcert=FILE`, or be in that file itself; without one, by an issuer that the system trusts |

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::environment::{Variables, complete};
use crate::url::ConnectionSettings;
use crate::{ServerError, ServerErrorKind};

/// The address of a PostgreSQL server, with the settings of the connection. It is displayed without the password: as user, host,
/// port and database.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    settings: ConnectionSettings,
    trust: Trust,
    has_password: bool,
    warnings: Vec<String>,
}

/// Which certificates are trusted.
#[derive(Clone, PartialEq, Eq)]
enum Trust {
    Anyone,
    /// The issuers in a file, or those that the system trusts.
    Issuers(Option<PathBuf>),
}

impl Address {
    /// Reads a URL, and completes it from the environment as libpq does. The error says what is wrong and quotes nothing of
    /// the URL.
    pub(crate) fn read(url: &str, variables: Variables<'_>) -> Result<Self, String> {
        let mut settings = ConnectionSettings::of_url(url)?;
        let has_password = settings.get("password").is_some();
        let own_issuers = settings.get("sslrootcert").is_some();
        let warnings = complete(&mut settings, variables)?;
        let trust = trust(&settings, own_issuers)?;
        let mut config = configured(&settings)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err("it names no host, and neither does PGHOST".to_string());
        }
        config.ssl_mode(match settings.get("sslmode") {
            Some("disable") => SslMode::Disable,
            Some("require" | "verify-full") => SslMode::Require,
            _ => SslMode::Prefer,
        });
        Ok(Self { config, settings, trust, has_password, warnings })
    }

    /// Whether the URL itself holds a password.
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// Warnings for the user: a password file that is not used.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// A message from elsewhere, without the password.
    pub(crate) fn without_password(&self, said: &str) -> String {
        /// Shorter passwords would also match unrelated words.
        const SHORTEST: usize = 4;
        match self.config.get_password().map(String::from_utf8_lossy) {
            Some(password) if password.len() >= SHORTEST => said.replace(&*password, "..."),
            _ => said.to_string(),
        }
    }

    /// The TLS connector; the error says what is wrong with the trusted certificates.
    pub(crate) fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let provider = Arc::new(ring::default_provider());
        let known = match &self.trust {
            Trust::Anyone => None,
            Trust::Issuers(file) => Some(Known::read(file.as_deref(), &provider)?),
        };
        let config = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?.dangerous();
        let verifier = Arc::new(Verifier { known, provider });
        Ok(MakeRustlsConnect::new(config.with_custom_certificate_verifier(verifier).with_no_client_auth()))
    }
}

impl PartialEq for Address {
    /// Compares the settings: everything else follows from them.
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings
    }
}

impl Eq for Address {}

impl FromStr for Address {
    type Err = ServerError;

    fn from_str(url: &str) -> Result<Self, ServerError> {
        let variables = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        // A text that cannot be read may contain a password anywhere.
        let (server, kind) = ("postgres://...".to_string(), ServerErrorKind::Address);
        Self::read(url, &variables).map_err(|reason| ServerError { server, kind, reason })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
        let written = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
        let host = |host: &Host| match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
            Host::Tcp(name) => written(name),
            Host::Unix(folder) => written(&folder.to_string_lossy()),
        };
        let mut hosts: Vec<String> = self.config.get_hosts().iter().map(host).collect();
        if hosts.is_empty() {
            hosts = self.config.get_hostaddrs().iter().map(ToString::to_string).collect();
        }
        let ports = self.config.get_ports();
        for (index, host) in hosts.iter_mut().enumerate() {
            // A single port is that of all hosts.
            let port = ports.get(index).or(ports.first());
            *host += &port.map_or(String::new(), |port| format!(":{port}"));
        }
        let user = self.config.get_user().map_or(String::new(), |user| format!("{}@", written(user)));
        let database = self.config.get_dbname().map_or(String::new(), |name| format!("/{}", written(name)));
        write!(f, "postgres://{user}{}{database}", hosts.join(","))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// Which certificates are trusted. A file of issuers in the URL must be usable; one from the environment may be meant for other
/// programs.
fn trust(settings: &ConnectionSettings, own_issuers: bool) -> Result<Trust, String> {
    let mode = settings.get("sslmode").unwrap_or("prefer");
    if !["disable", "prefer", "require", "verify-full"].contains(&mode) {
        return Err("sslmode must be disable, prefer, require or verify-full (it may come from PGSSLMODE)".to_string());
    }
    let issuers = settings.get("sslrootcert");
    if mode == "verify-full" {
        return Ok(Trust::Issuers(issuers.filter(|name| *name != "system").map(PathBuf::from)));
    }
    match issuers {
        Some(_) if own_issuers || mode == "require" => {
            Err("sslrootcert (or PGSSLROOTCERT) is only read with sslmode=verify-full".to_string())
        }
        _ => Ok(Trust::Anyone),
    }
}

/// The settings as a connection string, without the password, which is passed separately.
fn configured(settings: &ConnectionSettings) -> Result<Config, String> {
    const OWN: [&str; 5] = ["password", "passfile", "service", "sslmode", "sslrootcert"];
    let mut text = String::new();
    for (key, value) in settings.iter().filter(|(key, _)| !OWN.contains(key)) {
        let pair = format!("{key}='{}' ", value.replace('\\', "\\\\").replace('\'', "\\'"));
        pair.parse::<Config>().map_err(|_| format!("the value of {key} cannot be read"))?;
        text += &pair;
    }
    let mut config: Config = text.parse().map_err(|_| "its settings do not fit together".to_string())?;
    if let Some(password) = settings.get("password") {
        config.password(password);
    }
    Ok(config)
}

/// The certificates that are trusted, and where they are from.
fn trusted(file: Option<&Path>) -> Result<(Vec<CertificateDer<'static>>, String), String> {
    let Some(path) = file else {
        return Ok((rustls_native_certs::load_native_certs().certs, "the system's store".to_string()));
    };
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let refuse = |error| format!("sslrootcert {} cannot be read: {error}", path.display());
    Ok((read.map_err(refuse)?, path.display().to_string()))
}

/// The certificates that are trusted.
#[derive(Debug)]
struct Known {
    /// The server's own certificate counts like an issuer's.
    certificates: Vec<CertificateDer<'static>>,
    issuers: Arc<WebPkiServerVerifier>,
}

impl Known {
    fn read(file: Option<&Path>, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let (certificates, source) = trusted(file)?;
        let mut roots = RootCertStore::empty();
        let (usable, _) = roots.add_parsable_certificates(certificates.clone());
        if usable == 0 {
            let remedy = "name a PEM file with sslrootcert=FILE";
            return Err(format!("there is no certificate to trust in {source}; {remedy}"));
        }
        let issuers = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
        Ok(Self { certificates, issuers: issuers.map_err(|error| error.to_string())? })
    }
}

/// Accepts trusted certificates, or any certificate where none is required; in either case the server must have its key.
#[derive(Debug)]
struct Verifier {
    known: Option<Known>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.known {
            Some(known) if !known.certificates.contains(certificate) => {
                known.issuers.verify_server_cert(certificate, chain, host, ocsp, now)
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(url: &str) -> Result<Address, String> {
        Address::read(url, &|_| None)
    }

    fn refusal(url: &str) -> String {
        read(url).err().unwrap()
    }

    #[test]
    fn options_of_the_connection_are_read_wherever_they_stand() {
        let read = |query: &str| read(&format!("postgres://me:a%26b@h:1/db{query}")).unwrap();
        for (query, mode) in [
            ("", SslMode::Prefer),
            ("?sslmode=disable", SslMode::Disable),
            ("?connect_timeout=3&sslmode=require", SslMode::Require),
            ("?sslmode=verify-full&connect_timeout=3", SslMode::Require),
            ("?sslmode=verify-full&sslrootcert=system", SslMode::Require),
        ] {
            let address = read(query);
            assert_eq!(address.config.get_ssl_mode(), mode, "{query}");
            assert_eq!(address.config.get_password(), Some(b"a&b".as_slice()));
            assert_eq!(address.config.get_connect_timeout().is_some(), query.contains("timeout"), "{query}");
            assert_eq!(matches!(address.trust, Trust::Issuers(None)), query.contains("full"), "{query}");
            assert_eq!(address.to_string(), "postgres://me@h:1/db");
        }
        let named = read("?sslrootcert=a%20b.pem&sslmode=verify-full").trust;
        assert!(matches!(named, Trust::Issuers(Some(path)) if path == Path::new("a b.pem")));
    }

    #[test]
    fn options_that_do_not_exist_or_do_not_fit_are_refused() {
        for (query, reason) in [
            ("sslmode=verify-ca", "sslmode must be disable, prefer, require or verify-full"),
            ("sslrootcert=a.pem", "only read with sslmode=verify-full"),
            ("sslmod=require", "an option after \"?\" is not known"),
            ("connect_timeout=soon", "the value of connect_timeout cannot be read"),
            ("port=x", "the value of port cannot be read"),
        ] {
            assert!(refusal(&format!("postgres://h/db?{query}")).contains(reason), "{query}");
        }
        assert!(refusal("postgres://").contains("no host, and neither does PGHOST"));
    }

    #[test]
    fn an_address_may_be_the_environments_alone() {
        let variables = |name: &str| match name {
            "PGHOST" => Some("h\\'x".to_string()),
            "PGUSER" => Some("a b".to_string()),
            "PGPASSWORD" => Some("zq".to_string()),
            "PGSSLROOTCERT" => Some("for-others.pem".to_string()),
            _ => None,
        };
        let address = Address::read("postgres://", &variables).unwrap();
        assert_eq!(address.config.get_hosts(), [Host::Tcp("h\\'x".to_string())]);
        assert_eq!(address.config.get_password(), Some(b"zq".as_slice()));
        assert!(!address.has_password());
        assert_eq!(format!("{address} {address:?}"), "postgres://a%20b@h%5C%27x Address(postgres://a%20b@h%5C%27x)");
        assert!(Address::read("postgres://?sslmode=require", &variables).is_err());
    }

    #[test]
    fn what_is_shown_leads_to_the_same_server() {
        for url in [
            "postgres://me@%2Ftmp%2Fx:5/a%20b",
            "postgres://me@[::1]:5/db",
            "postgres://me@h1:1,h2:2/db",
            "postgres://me@h",
        ] {
            assert_eq!(read(url).unwrap().to_string(), url);
        }
        assert_eq!(read("postgres://me@h1,h2/db?port=7").unwrap().to_string(), "postgres://me@h1:7,h2:7/db");
    }

    #[test]
    fn certificates_to_trust_are_named_when_they_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let connector = |file: &Path| {
            let url = format!("postgres://h/db?sslmode=verify-full&sslrootcert={}", file.display());
            read(&url).unwrap().connector().err().unwrap()
        };
        let missing = folder.path().join("none.pem");
        assert!(connector(&missing).contains("none.pem cannot be read"), "{}", connector(&missing));
        let empty = folder.path().join("empty.pem");
        std::fs::write(&empty, "nothing").unwrap();
        assert!(connector(&empty).contains("no certificate to trust in"), "{}", connector(&empty));
    }
}
