//! The address of a PostgreSQL server, and whose certificate is believed. `sslmode` has the words of PostgreSQL's own client:
//!
//! | sslmode | encrypted | the server's certificate |
//! |---|---|---|
//! | `disable` | no | |
//! | `prefer` (default) | if the server can | may be anyone's |
//! | `require` | yes | may be anyone's |
//! | `verify-full` | yes | must be for this host, by an issuer in `sslrootcert=FILE`, or be in that file itself; without one, by an issuer that the system trusts |

use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::chain;

/// Where a server is, and how it is spoken to.
pub struct Address {
    pub config: Config,
    trust: Trust,
}

/// Whose certificate is believed.
enum Trust {
    Anyone,
    /// The issuers in a file, or those that the system trusts.
    Issuers(Option<PathBuf>),
}

impl Address {
    /// Reads a URL; the error says what is wrong with it.
    pub fn read(url: &str) -> Result<Self, String> {
        let (rest, mode) = take(url, "sslmode");
        let (rest, issuers) = take(&rest, "sslrootcert");
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| chain(&error))?;
        if config.get_hosts().is_empty() {
            return Err("it names no host".to_string());
        }
        let verifies = mode.as_deref() == Some("verify-full");
        config.ssl_mode(match mode.as_deref() {
            Some("disable") => SslMode::Disable,
            None | Some("prefer") => SslMode::Prefer,
            Some("require" | "verify-full") => SslMode::Require,
            Some(other) => {
                let known = "disable, prefer, require or verify-full";
                return Err(format!("sslmode is \"{other}\"; it can be {known}"));
            }
        });
        if issuers.is_some() && !verifies {
            return Err("sslrootcert is only read with sslmode=verify-full".to_string());
        }
        let file = issuers.filter(|name| name != "system").map(PathBuf::from);
        Ok(Self { config, trust: if verifies { Trust::Issuers(file) } else { Trust::Anyone } })
    }

    /// What encrypts the connection; the error says what is wrong with the certificates that are to be trusted.
    pub fn connector(&self) -> Result<MakeRustlsConnect, String> {
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

/// Takes an option out of a URL; its value, decoded, if it was there.
fn take(url: &str, option: &str) -> (String, Option<String>) {
    let Some((server, query)) = url.rsplit_once('?') else { return (url.to_string(), None) };
    let value_of = |pair: &str| pair.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')).map(str::to_string);
    let value = query.split('&').filter_map(value_of).next_back();
    let others: Vec<&str> = query.split('&').filter(|pair| value_of(pair).is_none()).collect();
    let value = value.map(|text| percent_decode_str(&text).decode_utf8_lossy().into_owned());
    (format!("{server}?{}", others.join("&")), value)
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

/// The certificates that are believed.
#[derive(Debug)]
struct Known {
    /// A server's own one is as good as an issuer's.
    certificates: Vec<CertificateDer<'static>>,
    issuers: Arc<WebPkiServerVerifier>,
}

impl Known {
    fn read(file: Option<&Path>, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let (certificates, source) = trusted(file)?;
        let mut roots = RootCertStore::empty();
        let (usable, _) = roots.add_parsable_certificates(certificates.clone());
        if usable == 0 {
            let mend = "name a PEM file with sslrootcert=FILE";
            return Err(format!("there is no certificate to trust in {source}; {mend}"));
        }
        let issuers = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
        Ok(Self { certificates, issuers: issuers.map_err(|error| error.to_string())? })
    }
}

/// Believes what is known, or any certificate where nothing need be; in either case the server must have its key.
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

    fn refusal(url: &str) -> String {
        Address::read(url).err().unwrap()
    }

    #[test]
    fn options_of_the_connection_are_read_wherever_they_stand() {
        let read = |query: &str| Address::read(&format!("postgres://me:a%26b@h:1/db{query}")).unwrap();
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
        }
        let named = read("?sslrootcert=a%20b.pem&sslmode=verify-full").trust;
        assert!(matches!(named, Trust::Issuers(Some(path)) if path == Path::new("a b.pem")));
    }

    #[test]
    fn options_that_do_not_exist_or_do_not_fit_are_refused() {
        assert!(
            refusal("postgres://h/db?sslmode=verify-ca").contains("it can be disable, prefer, require or verify-full")
        );
        assert!(refusal("postgres://h/db?sslrootcert=a.pem").contains("only read with sslmode=verify-full"));
        assert!(refusal("postgres://h/db?sslmod=require").contains("unknown option `sslmod`"));
        assert!(refusal("postgres://").contains("no host"));
    }

    #[test]
    fn certificates_to_trust_are_named_when_they_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let connector = |file: &Path| {
            let url = format!("postgres://h/db?sslmode=verify-full&sslrootcert={}", file.display());
            Address::read(&url).unwrap().connector().err().unwrap()
        };
        let missing = folder.path().join("none.pem");
        assert!(connector(&missing).contains("none.pem cannot be read"), "{}", connector(&missing));
        let empty = folder.path().join("empty.pem");
        std::fs::write(&empty, "nothing").unwrap();
        assert!(connector(&empty).contains("no certificate to trust in"), "{}", connector(&empty));
    }
}
