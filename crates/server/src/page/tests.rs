//! Tests of served files and headers.

use super::*;

fn request(method: Method, path: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

fn get(path: &str, headers: &[(&str, &str)]) -> Option<Response> {
    answer(&request(Method::GET, path, headers))
}

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

#[test]
fn a_browser_gets_the_page_at_every_address_that_is_not_a_programs() {
    for path in ["/", "/crew", "/agents/sp_0000000000000001", "/mail/x?y=1", "/mcpx", "/metrics/x"]
    {
        let page = get(path, &[BROWSER]).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8", "{path}");
        assert_eq!(page.headers()["cache-control"], "no-cache", "{path}");
    }
    for path in ["/api/nothing", "/api", "/mcp", "/mcp/mail", "/metrics", "/healthz", "/readyz"] {
        assert!(get(path, &[BROWSER]).is_none(), "{path}");
    }
}

#[test]
fn who_does_not_want_html_gets_no_page_where_there_is_no_file() {
    assert!(get("/crew", &[("accept", "application/json")]).is_none());
    assert!(get("/crew", &[]).is_none());
    assert!(answer(&request(Method::POST, "/", &[BROWSER])).is_none());
    assert!(get("/", &[]).is_some(), "the page itself, whoever asks");
}

#[test]
fn an_asset_that_is_gone_is_not_the_page() {
    let gone = get("/assets/index-gone.js", &[BROWSER]).unwrap();
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}

#[test]
fn every_file_is_sent_with_the_guards() {
    for file in files() {
        let sent = get(file.path, &[]).unwrap();
        let headers = sent.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(!policy.contains("  "), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("content-type", file.kind),
            ("etag", file.etag),
        ] {
            assert_eq!(headers[name], value, "{}", file.path);
        }
        assert_ne!(file.kind, "application/octet-stream", "{} has a kind", file.path);
    }
}

#[test]
fn what_the_browser_has_is_not_sent_again() {
    let etag = file(INDEX).unwrap().etag;
    let again = get("/", &[("if-none-match", &format!("\"x\", {etag}"))]).unwrap();
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(get("/", &[("if-none-match", "\"x\"")]).unwrap().status(), StatusCode::OK);
}

#[test]
fn the_smaller_form_goes_to_who_understands_it() {
    let file = File {
        path: "/assets/a.js",
        kind: "text/javascript; charset=utf-8",
        etag: "W/\"1\"",
        plain: b"long",
        gzip: Some(b"short"),
    };
    let encoding = |accepted: Option<&str>| {
        let headers: Vec<(&str, &str)> =
            accepted.into_iter().map(|value| ("accept-encoding", value)).collect();
        let sent = file.send(&request(Method::GET, file.path, &headers));
        assert_eq!(sent.headers()["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(sent.headers()["vary"], "Accept-Encoding");
        sent.headers().contains_key("content-encoding")
    };
    assert!(encoding(Some("gzip")));
    assert!(encoding(Some("deflate, GZIP;q=0.5, br")));
    assert!(!encoding(None));
    assert!(!encoding(Some("br")));
    assert!(!encoding(Some("gzip;q=0")));
}

#[test]
fn a_build_without_a_page_says_how_to_get_one() {
    let html = std::str::from_utf8(MISSING[0].plain).unwrap();
    assert!(html.contains("cargo build --release"), "{html}");
    assert!(html.contains(MISSING[1].path), "its style is its other file");
    assert!(!html.contains("<script") && !html.contains("style="), "the policy forbids both");
}
