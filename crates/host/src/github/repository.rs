//! Parses remotes into repositories.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

/// A repository on a server that may be GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Repository {
    host: String,
    owner: String,
    name: String,
}

impl Repository {
    /// The repository `owner/name` on that host, unless the names cannot be those of one.
    pub fn new(host: &str, owner: &str, name: &str) -> Option<Self> {
        let fits = |part: &str| {
            let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !part.is_empty() && part != "." && part != ".." && part.bytes().all(good)
        };
        let host = host.to_ascii_lowercase();
        // GitHub also takes ssh through port 443, under a name of its own.
        let host = if host == "ssh.github.com" { "github.com".to_owned() } else { host };
        (fits(owner) && fits(name) && is_host(&host)).then(|| Self {
            host,
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The repository that a remote's address means: `https://`, `ssh://` or `git@host:owner/name.git`. A path means none.
    pub fn from_remote(url: &str) -> Option<Self> {
        let url = url.trim();
        let (authority, path) = if let Some((scheme, rest)) = url.split_once("://") {
            let known = ["https", "http", "ssh", "git", "git+ssh", "ssh+git"];
            known.iter().find(|one| scheme.eq_ignore_ascii_case(one))?;
            let (authority, path) = rest.split_once('/')?;
            (without_port(authority), path)
        } else {
            let (authority, path) = url.split_once(':')?;
            // A single letter is a drive, and what has a slash before its colon is a path.
            if authority.contains(['/', '\\']) || authority.len() < 2 {
                return None;
            }
            (authority, path.trim_start_matches('/'))
        };
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let path = path.trim_end_matches('/');
        let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
        Self::new(host, owner, name)
    }

    /// True if the API at this address belongs to this repository's server.
    ///
    /// A server on this machine may stand in for any.
    pub fn matches_api(&self, api_url: &str) -> bool {
        let Ok(uri) = api_url.parse::<Uri>() else { return false };
        let Some(api) = uri.host().map(str::to_ascii_lowercase) else { return false };
        is_loopback(&api) || api == self.host || api.strip_prefix("api.") == Some(&self.host)
    }

    /// Owner of the repository.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server it is on.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn path(&self) -> String {
        format!("/repos/{}/{}", self.owner, self.name)
    }
}

/// `owner/name`.
impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// True for a loopback host.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_host(host: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.[]:".contains(&byte);
    !host.is_empty() && !host.starts_with('-') && host.bytes().all(good)
}

/// An authority without the port after it; the colons of an address in brackets are no port.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}
