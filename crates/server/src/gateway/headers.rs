//! Headers between two connections: those of one connection stay on it, and those that name a server are rewritten.

use engine::ToolError;
use http::header::{
    CONNECTION, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::uri::{PathAndQuery, Uri};

/// Names the follower that forwarded a request; one that has it is not forwarded again.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("adjutant-forwarded");

/// Headers that concern one connection.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes the headers that concern one connection, those that `Connection` names included.
pub(super) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = tokens(headers).filter_map(|name| name.parse().ok()).collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// The protocol that the connection is to be switched to, if it is.
pub(super) fn upgrade_of(headers: &HeaderMap) -> Option<HeaderValue> {
    let is_upgrade = tokens(headers).any(|name| name.eq_ignore_ascii_case("upgrade"));
    headers.get(UPGRADE).filter(|_| is_upgrade).cloned()
}

/// Says that the connection is to be switched, or was.
pub(super) fn set_upgrade(headers: &mut HeaderMap, protocol: HeaderValue) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, protocol);
}

/// What `Connection` lists.
fn tokens(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(CONNECTION).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Where the owner of a home is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    /// Without a slash at the end
    url: String,
    host: HeaderValue,
    origin: HeaderValue,
}

impl Owner {
    /// Reads an owner's address: HTTP or HTTPS, and a host.
    pub(super) fn parse(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
        let authority = uri.authority().filter(|authority| !authority.host().is_empty())?.as_str();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        Some(Self {
            url: url.trim_end_matches('/').to_owned(),
            host: host.parse().ok()?,
            origin: format!("{scheme}://{host}").parse().ok()?,
        })
    }

    /// The same resource at the owner.
    pub(super) fn uri(&self, asked: &Uri) -> Result<Uri, ToolError> {
        let path = asked.path_and_query().map_or("", PathAndQuery::as_str);
        let nowhere = || ToolError::not_found(format!("there is nothing at `{path}`"));
        if !path.starts_with('/') {
            return Err(nowhere());
        }
        format!("{}{path}", self.url).parse().map_err(|_| nowhere())
    }

    /// Makes a request's headers those of a request to the owner, in the name of the server that forwards it. Its `Host`
    /// and `Origin` have been accepted here, so they become the owner's own.
    pub(super) fn address(&self, headers: &mut HeaderMap, forwarder: Option<&HeaderValue>) {
        remove_hop_by_hop(headers);
        // It has been answered here: the body is asked for when the owner takes it.
        headers.remove(EXPECT);
        headers.insert(HOST, self.host.clone());
        if headers.contains_key(ORIGIN) {
            headers.insert(ORIGIN, self.origin.clone());
        }
        if let Some(forwarder) = forwarder {
            headers.insert(FORWARDED, forwarder.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn what_concerns_one_connection_stays_on_it() {
        let mut all = headers(&[
            ("connection", "keep-alive, X-Private"),
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("keep-alive", "timeout=5"),
            ("x-private", "1"),
            ("te", "trailers"),
            ("trailer", "x"),
            ("transfer-encoding", "chunked"),
            ("proxy-authorization", "Basic x"),
            ("proxy-connection", "close"),
            ("authorization", "Bearer x"),
            ("sec-websocket-key", "x"),
        ]);
        assert_eq!(upgrade_of(&all).unwrap(), "websocket");
        remove_hop_by_hop(&mut all);
        let left = headers(&[("authorization", "Bearer x"), ("sec-websocket-key", "x")]);
        assert_eq!(all, left);
        assert_eq!(upgrade_of(&headers(&[("upgrade", "websocket")])), None);
        assert_eq!(upgrade_of(&headers(&[("connection", "upgrade")])), None);
    }

    #[test]
    fn a_request_is_addressed_to_the_owner_in_the_name_of_the_follower() {
        let owner = Owner::parse("https://one.example:3001/").unwrap();
        let mut all = headers(&[
            ("host", "crew.example"),
            ("origin", "https://crew.example"),
            ("adjutant-forwarded", "sv_forged"),
            ("expect", "100-continue"),
            ("mcp-session-id", "s"),
        ]);
        owner.address(&mut all, Some(&HeaderValue::from_static("sv_1")));
        let sent = headers(&[
            ("host", "one.example:3001"),
            ("origin", "https://one.example:3001"),
            ("adjutant-forwarded", "sv_1"),
            ("mcp-session-id", "s"),
        ]);
        assert_eq!(all, sent);
        // One that says no origin gets none.
        let mut plain = headers(&[("host", "crew.example")]);
        owner.address(&mut plain, Some(&HeaderValue::from_static("sv_1")));
        assert!(!plain.contains_key(ORIGIN));
        // On the way to a server of the same host it is no more forwarded than it was.
        let mut inside = headers(&[("host", "crew.example"), ("adjutant-forwarded", "sv_2")]);
        owner.address(&mut inside, None);
        let kept = headers(&[("host", "one.example:3001"), ("adjutant-forwarded", "sv_2")]);
        assert_eq!(inside, kept);
    }

    #[test]
    fn the_same_path_and_query_are_asked_for_at_the_owner() {
        let owner = Owner::parse("http://10.0.0.5:3001").unwrap();
        for (asked, at) in [
            (
                "/api/events?after=1&kind=a%20b",
                "http://10.0.0.5:3001/api/events?after=1&kind=a%20b",
            ),
            ("http://localhost:9/mcp", "http://10.0.0.5:3001/mcp"),
            ("http://localhost:9", "http://10.0.0.5:3001/"),
        ] {
            assert_eq!(owner.uri(&asked.parse().unwrap()).unwrap(), at, "{asked}");
        }
        for asked in ["*", "localhost:9"] {
            assert!(owner.uri(&asked.parse().unwrap()).is_err(), "{asked}");
        }
        for url in ["", "x", "/x", "ftp://a", "http://", "a b"] {
            assert_eq!(Owner::parse(url), None, "{url}");
        }
    }
}
