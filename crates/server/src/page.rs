//! The page, as files that the program carries with it. They are the same for everybody and hold no secret,
//! so they need no token; what they show, the browser fetches with one.

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use engine::ToolError;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderName, HeaderValue, IF_NONE_MATCH, VARY,
};
use http::{Method, StatusCode};

use crate::answer::Refusal;
use crate::paths::{HEALTH, METRICS, READY};

mod built {
    //! Files that `build.rs` made of `web/`.
    use super::File;
    include!(concat!(env!("OUT_DIR"), "/page.rs"));
}

/// A file of the page.
#[derive(Debug)]
struct File {
    /// Where it is
    path: &'static str,
    /// Type
    kind: &'static str,
    /// Changes with its bytes; a weak one, as it is the same for the smaller form
    etag: &'static str,
    plain: &'static [u8],
    /// The same made smaller, where that helps
    gzip: Option<&'static [u8]>,
}

const INDEX: &str = "/index.html";
/// Immutable files with a hash in their names.
const ASSETS: &str = "/assets/";

/// Files of a build without the page.
static MISSING: &[File] = &[
    File {
        path: INDEX,
        kind: "text/html; charset=utf-8",
        etag: concat!("W/\"missing-", env!("CARGO_PKG_VERSION"), "\""),
        plain: include_bytes!("page/missing.html"),
        gzip: None,
    },
    File {
        path: "/missing.css",
        kind: "text/css; charset=utf-8",
        etag: concat!("W/\"missing-", env!("CARGO_PKG_VERSION"), "\""),
        plain: include_bytes!("page/missing.css"),
        gzip: None,
    },
];

/// Content security policy. Nothing comes from elsewhere, nothing goes elsewhere, no script but
/// our files is run, and no text becomes markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of every file.
const GUARDS: [(HeaderName, &str); 6] = [
    (http::header::CONTENT_SECURITY_POLICY, POLICY),
    (http::header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (http::header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), hid=(), microphone=(), midi=(), payment=(), \
         serial=(), usb=()",
    ),
];

/// A file of the built page.
#[derive(Debug)]
pub struct PageFile {
    /// Path below the root of the page
    pub path: String,
    /// Content
    pub bytes: &'static [u8],
}

/// Files of the built page with their compressed forms, for a crate that is packaged with the page.
/// A build without the page has none.
pub fn built_page() -> Vec<PageFile> {
    let page_file = |path: &str, bytes| PageFile { path: path.to_owned(), bytes };
    let mut files = Vec::new();
    for file in built::FILES {
        let path = file.path.trim_start_matches('/');
        files.push(page_file(path, file.plain));
        files.extend(file.gzip.map(|bytes| page_file(&format!("{path}.gz"), bytes)));
    }
    files
}

fn files() -> &'static [File] {
    if built::FILES.is_empty() { MISSING } else { built::FILES }
}

fn file(path: &str) -> Option<&'static File> {
    files().iter().find(|file| file.path == path)
}

/// True for a request of the page or a part of it.
pub(crate) fn wanted_by(request: &Request) -> bool {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return false;
    }
    let path = request.uri().path();
    path == "/"
        || path.starts_with(ASSETS)
        || file(path).is_some()
        || (is_route(path) && takes_html(request.headers()))
}

/// True for a path that the page itself routes.
fn is_route(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    !matches!(first, "api" | "mcp") && path != METRICS && path != READY && !path.starts_with(HEALTH)
}

pub(crate) fn takes_html(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok());
    accepted.any(|line| line.split(',').any(|kind| kind.trim().starts_with("text/html")))
}

/// The file that a request asks for, if it asks for the page at all.
pub(crate) fn answer(request: &Request) -> Option<Response> {
    if !wanted_by(request) {
        return None;
    }
    let path = request.uri().path();
    let found = match file(path) {
        Some(found) => Some(found),
        None if path.starts_with(ASSETS) => None,
        None => file(INDEX),
    };
    Some(match found {
        Some(file) => file.send(request),
        None => Refusal::from(
            ToolError::not_found(format!("there is no `{path}`"))
                .hint("reload the page: the server has been updated"),
        )
        .into_response(),
    })
}

impl File {
    fn send(&self, request: &Request) -> Response {
        let headers = request.headers();
        let small = self.gzip.filter(|_| takes_gzip(headers));
        let is_known = headers.get_all(IF_NONE_MATCH).iter().any(|tags| {
            tags.to_str().is_ok_and(|tags| tags.split(',').any(|tag| tag.trim() == self.etag))
        });
        let mut response = if is_known {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            Response::new(Body::from(small.unwrap_or(self.plain)))
        };
        let out = response.headers_mut();
        let mut put = |name, value| out.insert(name, HeaderValue::from_static(value));
        for (name, value) in GUARDS {
            put(name, value);
        }
        put(CONTENT_TYPE, self.kind);
        put(ETAG, self.etag);
        put(VARY, "Accept-Encoding");
        let lasting = self.path.starts_with(ASSETS);
        put(
            CACHE_CONTROL,
            if lasting { "public, max-age=31536000, immutable" } else { "no-cache" },
        );
        if small.is_some() {
            put(CONTENT_ENCODING, "gzip");
        }
        response
    }
}

/// True if the client accepts gzip.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.any(|line| {
        line.split(',').any(|coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
            let refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
            name.trim().eq_ignore_ascii_case("gzip") && !refused
        })
    })
}

#[cfg(test)]
mod tests;
