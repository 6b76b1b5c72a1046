//! Checks `Host` and `Origin` of a request against the server's own.
//!
//! A page on another site can make a browser send requests here, also under a name of its own that
//! points to this machine. Both show in these headers.

use std::net::IpAddr;

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
        self.refuse_unless(uri, headers, |host| self.allows(host))
    }

    /// The same, where a label may stand in front of the names.
    pub(crate) fn refuse_labelled(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let is_allowed = |host: &str| self.allows(host) || self.label_of(host).is_some();
        self.refuse_unless(uri, headers, is_allowed)
    }

    /// The label in front of one of the names: `shop` of `shop.localhost:3000`.
    pub(crate) fn label<'r>(&self, uri: &'r Uri, headers: &'r HeaderMap) -> Option<&'r str> {
        self.label_of(host_of(authority(uri, headers)?)?)
    }

    fn label_of<'h>(&self, host: &'h str) -> Option<&'h str> {
        let names = self.names().filter(|name| name.parse::<IpAddr>().is_err());
        let mut labels = names.filter_map(|name| {
            let cut = host.len().checked_sub(name.len() + 1)?;
            let (label, rest) = host.split_at_checked(cut)?;
            let is_below = rest.strip_prefix('.').is_some_and(|it| it.eq_ignore_ascii_case(name));
            (is_below && !label.is_empty()).then_some(label)
        });
        labels.next()
    }

    fn refuse_unless(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        is_allowed: impl Fn(&str) -> bool,
    ) -> Option<&'static str> {
        let Some(authority) = authority(uri, headers) else {
            return Some("the request has no proper `Host`");
        };
        if !host_of(authority).is_some_and(is_allowed) {
            return Some("this `Host` is not one of the server's");
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let own =
            |origin: &HeaderValue| origin.to_str().is_ok_and(|text| self.is_own(text, authority));
        (!origins.all(own)).then_some("this `Origin` is not the server's own")
    }

    fn allows(&self, host: &str) -> bool {
        self.names().any(|name| host.eq_ignore_ascii_case(name))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let own = host_of(&self.own).filter(|own| !own.is_empty()).into_iter();
        let configured = self.hosts.iter().map(|name| name.trim_matches(['[', ']']));
        own.chain(["localhost", "127.0.0.1", "::1"]).chain(configured)
    }

    fn is_own(&self, origin: &str, authority: &str) -> bool {
        let Some((scheme, rest)) = origin.split_once("://") else { return false };
        let http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        http && (rest.eq_ignore_ascii_case(authority) || rest.eq_ignore_ascii_case(&self.own))
    }
}

/// Requested authority: exactly one `Host`, or that of the request line.
pub(crate) fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, _) => uri.authority().map(http::uri::Authority::as_str),
        (Some(_), Some(_)) => None,
    }
}

/// The name without the port; nothing if it is not properly written.
pub(crate) fn host_of(authority: &str) -> Option<&str> {
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
    fn a_label_stands_in_front_of_a_name_and_never_of_an_address() {
        let guard = Guard::new(&["crew.example".to_owned()], "http://one.example:3000");
        let asked = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            let uri = Uri::from_static("/mcp");
            let label = guard.label(&uri, &headers).map(str::to_owned);
            assert_eq!(guard.refuse_labelled(&uri, &headers).is_none(), label.is_some(), "{host}");
            assert!(guard.refuse(&uri, &headers).is_some(), "{host}");
            label
        };
        for (host, label) in [
            ("shop.localhost:3000", Some("shop")),
            ("SHOP.Crew.Example", Some("SHOP")),
            ("a.b.one.example:3000", Some("a.b")),
            ("shop.127.0.0.1", None),
            ("shop.crew.example.evil.example", None),
            ("shopcrew.example", None),
            (".crew.example", None),
            ("shop.crew.example:x", None),
        ] {
            assert_eq!(asked(host).as_deref(), label, "{host}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("shop.localhost:3000"));
        headers.insert(ORIGIN, HeaderValue::from_static("http://other.localhost:3000"));
        assert!(guard.refuse_labelled(&Uri::from_static("/mcp"), &headers).is_some());
        headers.insert(ORIGIN, HeaderValue::from_static("http://shop.localhost:3000"));
        assert_eq!(guard.refuse_labelled(&Uri::from_static("/mcp"), &headers), None);
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
