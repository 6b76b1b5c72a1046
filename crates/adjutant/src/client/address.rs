//! Addresses of servers: which can be used, and where a token may go.
//!
//! Invariant: a token goes over plain HTTP to this machine alone, unless a person says that the network is theirs.

use std::net::{IpAddr, UdpSocket};

use host::tls::Transport;
use http::Uri;

/// Rule for sending a token over a network in the clear.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Never
    #[default]
    Required,
    /// Permitted by a person: `insecure` in homes.yaml, or `ADJUTANT_INSECURE`
    Waived,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    /// It is no address of a server.
    #[error("`{url}` is not a server's address: write `https://HOST[:PORT]`")]
    Invalid {
        /// Given address, without what may be a password
        url: String,
    },
    /// The token would cross a network in the clear.
    #[error("`{url}` is plain HTTP beyond this machine, where others could read your token")]
    Insecure {
        /// Given address
        url: String,
    },
}

/// Checks an address, and returns how its server is reached.
pub(super) fn check(url: &str) -> Result<Transport, AddressError> {
    let parsed = url.parse::<Uri>().ok();
    let has_user =
        parsed.as_ref().and_then(Uri::authority).is_some_and(|it| it.as_str().contains('@'));
    if has_user {
        let after = url.rsplit('@').next().unwrap_or_default();
        return Err(AddressError::Invalid { url: format!("…@{after}") });
    }
    let invalid = || AddressError::Invalid { url: url.to_owned() };
    let uri = parsed.filter(|uri| uri.host().is_some_and(|host| !host.is_empty()));
    let uri = uri.filter(|uri| uri.query().is_none()).ok_or_else(invalid)?;
    match uri.scheme_str() {
        Some("https") => Ok(Transport::Tls),
        Some("http") => Ok(Transport::Plain),
        _ => Err(invalid()),
    }
}

/// Refuses to send a token to an address at which others could read it.
pub(crate) fn check_secrecy(url: &str, secrecy: Secrecy) -> Result<(), AddressError> {
    let transport = check(url)?;
    if transport == Transport::Tls || secrecy == Secrecy::Waived || is_this_machine(url) {
        return Ok(());
    }
    Err(AddressError::Insecure { url: url.to_owned() })
}

/// True for loopback, and for the addresses of this machine's own interfaces: what is sent there stays here.
fn is_this_machine(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        // Only an address of an interface can be bound.
        Ok(ip) => ip.is_loopback() || (!ip.is_unspecified() && UdpSocket::bind((ip, 0)).is_ok()),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_a_host_and_no_password() {
        assert_eq!(check("https://crew.example"), Ok(Transport::Tls));
        assert_eq!(check("https://crew.example:8443/shop"), Ok(Transport::Tls));
        assert_eq!(check("http://127.0.0.1:3001"), Ok(Transport::Plain));
        for url in ["", "crew.example", "crew.example:3001", "ftp://a", "https://", "/x", "a b"] {
            assert!(check(url).unwrap_err().to_string().contains("https://HOST"), "{url}");
        }
        let refused = check("https://me:hunter2@crew.example").unwrap_err().to_string();
        assert!(refused.contains("…@crew.example") && !refused.contains("hunter2"), "{refused}");
    }

    #[test]
    fn a_token_goes_in_the_clear_to_this_machine_alone() {
        let sent = |url| check_secrecy(url, Secrecy::Required).is_ok();
        for url in
            ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://a.example"]
        {
            assert!(sent(url), "{url}");
        }
        // 192.0.2.0/24 is for documents, and nobody's.
        for url in ["http://192.0.2.1:1", "http://crew.example", "http://0.0.0.0:1"] {
            assert!(!sent(url), "{url}");
            assert_eq!(check_secrecy(url, Secrecy::Waived), Ok(()), "{url}");
        }
    }
}
