//! TLS of connections that this program opens: whom it trusts, and what is wrong with a certificate.
//!
//! It trusts whom the machine trusts. `SSL_CERT_FILE` and `SSL_CERT_DIR` name other authorities in their place.

use std::error::Error;
use std::io;
use std::time::Duration;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::crypto::ring;
use rustls::{CertificateError, ClientConfig, InvalidMessage, RootCertStore};

/// Time for a connection to a server; a host that drops packets never answers.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections over TLS, verified by the machine's certificates, and plain ones.
pub type Connector = HttpsConnector<HttpConnector>;

/// Transport to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Without TLS
    Plain,
    /// Over TLS
    Tls,
}

/// Why no TLS could be agreed on. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// The machine has no authorities at all.
    #[error("this machine trusts no certificate authority: {0}")]
    NoAuthorities(String),
    /// Nobody whom the machine trusts has signed the certificate.
    #[error("the certificate is signed by an authority that this machine does not trust")]
    UnknownAuthority,
    /// The certificate is for other names.
    #[error("the certificate is for another name than that of the address")]
    OtherName,
    /// The certificate is no longer valid, or not yet.
    #[error("the certificate has expired or is not valid yet")]
    Expired,
    /// The other side answers without TLS.
    #[error("the other side speaks no TLS")]
    NotTls,
    /// Anything else.
    #[error("TLS failed: {0}")]
    Other(String),
}

/// A connector that trusts whom the machine trusts; where that is nobody, only plain connections succeed.
pub(crate) fn connector() -> Connector {
    trusting_machine(HttpConnector::new()).unwrap_or_else(|_| plain_only(HttpConnector::new()))
}

/// A connector for one server: certificates are only read where its address needs them, since that takes a while.
pub fn connector_to(transport: Transport) -> Result<Connector, TlsError> {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    if transport == Transport::Plain {
        return Ok(plain_only(http));
    }
    trusting_machine(http).map_err(|error| TlsError::NoAuthorities(error.to_string()))
}

fn trusting_machine(mut http: HttpConnector) -> io::Result<Connector> {
    http.enforce_http(false);
    let provider = ring::default_provider();
    let builder = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider)?;
    Ok(builder.https_or_http().enable_http1().wrap_connector(http))
}

fn plain_only(mut http: HttpConnector) -> Connector {
    http.enforce_http(false);
    let config = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
    let builder = HttpsConnectorBuilder::new().with_tls_config(config.with_no_client_auth());
    builder.https_or_http().enable_http1().wrap_connector(http)
}

/// The reason why a connection failed, if that was TLS.
pub fn tls_error(error: &(dyn Error + 'static)) -> Option<TlsError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(described(found));
        }
        // What an I/O error wraps is not its source, but itself in other clothes.
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

fn described(error: &rustls::Error) -> TlsError {
    match error {
        // The second: an authority has the name of one that is trusted, and another key.
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => TlsError::UnknownAuthority,
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => TlsError::OtherName,
        rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => TlsError::Expired,
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsError::NotTls,
        other => TlsError::Other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found_below_what_wraps_it() {
        let wrapped = |error: rustls::Error| {
            let inner = io::Error::new(io::ErrorKind::InvalidData, error);
            io::Error::other(inner)
        };
        let unknown = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert_eq!(tls_error(&wrapped(unknown)), Some(TlsError::UnknownAuthority));
        let plain = rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType);
        assert_eq!(tls_error(&wrapped(plain)), Some(TlsError::NotTls));
        assert_eq!(tls_error(&io::Error::from(io::ErrorKind::ConnectionRefused)), None);
    }
}
