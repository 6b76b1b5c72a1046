//! Checks `Host` and `Origin` of a request against the server's own.
//!
//! A page on another site can make a browser send requests here, also under a name of its own that
//! points to this machine. Both show in these headers.

use http::HeaderMap;
use http::header::{HOST, HeaderValue, ORIGIN};
use http::uri::Uri;

/// The names under which the server may be asked for, and where it stands.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    /// The authority of the server's own URL
    own: String,
}

impl Guard {
    pub(crate) fn new(hosts: &[String], url: &str) -> Self {
        let own = url.split_once("://").map_or(url, |(_, rest)| rest);
        let own = own.split('/').next().unwrap_or_default().to_owned();
        Self { hosts: hosts.to_vec(), own }
    }

    /// Says what is wrong with where a request comes from, if anything is.
    pub(crate) fn refuse(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let Some(authority) = authority(uri, headers) else {
            return Some("the request has no proper `Host`");
        };
        if !host_of(authority).is_some_and(|host| self.allows(host)) {
            return Some("this `Host` is not one of the server's");
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let own =
            |origin: &HeaderValue| origin.to_str().is_ok_and(|text| self.is_own(text, authority));
        (!origins.all(own)).then_some("this `Origin` is not the server's own")
    }

    fn allows(&self, host: &str) -> bool {
        let own = host_of(&self.own).filter(|own| !own.is_empty()).into_iter();
        own.chain(["localhost", "127.0.0.1", "::1"]).any(|own| host.eq_ignore_ascii_case(own))
            || self.hosts.iter().any(|own| host.eq_ignore_ascii_case(own.trim_matches(['[', ']'])))
    }

    fn is_own(&self, origin: &str, authority: &str) -> bool {
        let Some((scheme, rest)) = origin.split_once("://") else { return false };
        let http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        http && (rest.eq_ignore_ascii_case(authority) || rest.eq_ignore_ascii_case(&self.own))
    }
}

/// Requested authority: exactly one `Host`, or that of the request line.
fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, _) => uri.authority().map(http::uri::Authority::as_str),
        (Some(_), Some(_)) => None,
    }
}

/// The name without the port; nothing if it is not properly written.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest.split_once(']')?;
            match behind {
                "" => (host, None),
                behind => (host, Some(behind.strip_prefix(':')?)),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let proper =
        port.is_none_or(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    proper.then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, origin: Option<&str>) -> bool {
        let guard = Guard::new(&["crew.example".to_owned()], "http://127.0.0.1:3001");
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.refuse(&Uri::from_static("/mcp"), &headers).is_none()
    }

    #[test]
    fn loopback_and_configured_names_may_be_asked_for() {
        for host in
            ["localhost", "LocalHost:1", "127.0.0.1:3001", "[::1]:3001", "[::1]", "crew.example:80"]
        {
            assert!(check(host, None), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:",
            "localhost:x",
            "::1",
            "[::1",
            "[::1]x",
            "",
            "localhost:80@evil.example",
            "127.0.0.2",
            "0.0.0.0",
        ] {
            assert!(!check(host, None), "{host}");
        }
    }

    #[test]
    fn only_pages_of_the_server_itself_may_ask() {
        for origin in ["http://localhost:3001", "https://localhost:3001", "http://127.0.0.1:3001"] {
            assert!(check("localhost:3001", Some(origin)), "{origin}");
        }
        for origin in [
            "null",
            "http://localhost:5173",
            "http://localhost",
            "http://evil.example",
            "",
            "localhost:3001",
            "file://localhost:3001",
        ] {
            assert!(!check("localhost:3001", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn the_name_of_the_servers_own_address_may_be_asked_for() {
        for (url, host) in [
            ("http://one.example:3001", "one.example:3001"),
            ("https://one.example/", "ONE.example"),
            ("http://[fd00::1]:3001", "[fd00::1]:3001"),
        ] {
            let guard = Guard::new(&[], url);
            let refuse = |host: &str| {
                let mut headers = HeaderMap::new();
                headers.insert(HOST, host.parse().unwrap());
                guard.refuse(&Uri::from_static("/mcp"), &headers)
            };
            assert_eq!(refuse(host), None, "{url}");
            assert!(refuse("two.example:3001").is_some(), "{url}");
        }
    }

    #[test]
    fn two_hosts_are_none() {
        let guard = Guard::new(&[], "http://127.0.0.1:3001");
        let mut headers = HeaderMap::new();
        headers.append(HOST, HeaderValue::from_static("localhost"));
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert!(guard.refuse(&Uri::from_static("/"), &headers).is_some());
        assert!(guard.refuse(&Uri::from_static("/"), &HeaderMap::new()).is_some());
    }
}
