//! Every shape of secret, what only looks like one, and hostile inputs.

use super::*;
use proptest::prelude::*;

/// One secret of every shape; what must not be readable afterwards is in brackets of its own.
const SECRETS: &[(&str, &str)] = &[
    ("adjag_", "0123456789abcdef0123456789abcdef"),
    ("adjop_", "0123456789abcdef0123456789abcdef"),
    ("adjtab_", "0123456789abcdef0123456789abcdef"),
    ("adjlink_", "0123456789abcdef0123456789abcdef"),
    ("whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    ("Bearer ", "abcdefghijklmnop123"),
    ("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"),
    ("github_pat_", "11AAAAAAA0aBcDeFgHiJkLmNoPqRsTuVwXyZ"),
    ("glpat-", "X3Zq9vT1mN5kR7wB2cYd"),
    ("sk-ant-", "api03-AbCdEfGhIjKlMnOpQrStUvWxYz"),
    ("sk-", "proj-4f9XbT3BlbkFJabcdefghijklmn"),
    ("xoxb-", "2345678901-abcdefghijklmnopqrstuvwx"),
    ("xapp-", "1-A0123456789-0123456789-abcdef0123"),
    ("npm_", "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5"),
    ("AIza", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    ("AKIA", "IOSFODNN7EXAMPLE"),
    ("ASIA", "IOSFODNN7EXAMPLE"),
    ("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.SflKxwRJSMeKKF2QT4"),
    ("postgres://app:", "hunter2-s3cret"),
    ("redis://:", "p4ss@w0rd"),
];
const KEY_BODY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n\
    MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n";

fn key() -> String {
    format!("-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}-----END RSA PRIVATE KEY-----")
}

/// Text after a secret: a URL goes on, everything else has ended.
fn with_end(prefix: &str, secret: &str) -> String {
    let end = if prefix.contains("://") { "@db.example/app" } else { "" };
    format!("{prefix}{secret}{end}")
}

#[test]
fn secrets_go_and_words_stay() {
    let text = r#"{"a":"Bearer abcdefghijklmnop123","b":"sk-learn and ghp_0123456789abcdef0123"}"#;
    assert_eq!(
        redact(text.to_owned()),
        r#"{"a":"Bearer [redacted]","b":"sk-learn and ghp_[redacted]"}"#
    );
}

#[test]
fn every_shape_is_found_in_plain_text_in_json_and_in_json_within_json() {
    for (prefix, secret) in SECRETS {
        let whole = with_end(prefix, secret);
        for around in [whole.clone(), format!("x={whole}"), format!("first line\n{whole}\tlast")] {
            let json = serde_json::to_string(&around).unwrap();
            let twice = serde_json::to_string(&json).unwrap();
            for text in [around.clone(), json, twice] {
                let clean = redact(text.clone());
                assert!(!clean.contains(secret), "{text} became {clean}");
                assert!(
                    clean.contains(&format!("{prefix}{REDACTION_MARK}")),
                    "{text} became {clean}"
                );
                assert_eq!(scrub(&clean), None, "done once, it is done");
            }
        }
    }
}

#[test]
fn a_private_key_goes_whole_whatever_its_lines_begin_with() {
    let diff = key().replace('\n', "\n+");
    let numbered: Vec<String> =
        key().lines().enumerate().map(|(at, line)| format!("{at:>6}\u{2192}{line}")).collect();
    let json = serde_json::to_string(&key()).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    for text in [key(), diff, numbered.join("\n"), json, twice] {
        let clean = redact(text.clone());
        assert!(!clean.contains("MIIEvQ") && !clean.contains("MzEfYy"), "{clean}");
        assert!(clean.contains("-----END RSA PRIVATE KEY-----"), "{clean}");
    }
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\" and more");
    assert_eq!(redact(cut), format!("-----BEGIN PRIVATE KEY-----{REDACTION_MARK}\" and more"));
    let words = "`-----BEGIN PRIVATE KEY-----` is how a key begins, and certificates stay";
    assert_eq!(scrub(words), None);
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{KEY_BODY}-----END CERTIFICATE-----");
    assert_eq!(scrub(&certificate), None);
}

#[test]
fn a_private_key_in_lines_of_output_goes_whole() {
    let text = format!("before\n{}\nafter, with ghp_0123456789abcdef0123", key());
    let mut redactor = LineRedactor::default();
    let clean: Vec<String> = text.lines().map(|line| redactor.line(line.to_owned())).collect();
    assert_eq!(
        clean,
        [
            "before",
            "-----BEGIN RSA PRIVATE KEY-----",
            REDACTION_MARK,
            REDACTION_MARK,
            "[redacted]-----END RSA PRIVATE KEY-----",
            "after, with ghp_[redacted]"
        ]
    );
}

#[test]
fn a_line_of_a_key_is_told_from_hashes_and_words() {
    assert!(KEY_BODY.lines().all(is_key_line));
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    for line in [hash, &"a word ".repeat(10), "MIIEvQIBADANBg"] {
        assert!(!is_key_line(line), "{line}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "task-implement-the-login-flow-2026",
        "https://registry.npmjs.org:443/a/-/a-1.0.0.tgz and a@b.example",
        "git+ssh://git@github.com:org/repo.git",
        "http://127.0.0.1:8080/x?mail=a@b.example",
        "postgres://user:${DB_PASSWORD}@db/app and postgres://user:$PASS@db and http://u:{pw}@h",
        "npm_config_registry npm_lifecycle_event npm_package_dependencies_left_pad_version",
        "d41d8cd98f00b204e9800998ecf8427e e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "550e8400-e29b-41d4-a716-446655440000 sha512-AKIAzzEeyJhbGciOiJIUzI1NiIs/eyJ+AIzaSy==",
        "sk-learn-pipelines-and-more-words",
        "eyJ is how JSON in base64 begins; eyJhIjoxfQ is an object",
        "AKIAIOSFODNN7EXAMPLEANDMORE is no key id",
    ] {
        assert_eq!(scrub(text), None, "{text}");
    }
}

#[test]
fn known_values_go_in_every_form_and_short_ones_stay() {
    learn_secrets(["a \"quoted\" passphrase", "plainprovidersecret", "short"]);
    let plain = "it is a \"quoted\" passphrase, or plainprovidersecret, or short".to_owned();
    let json = serde_json::to_string(&plain).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    assert_eq!(redact(plain), format!("it is {REDACTION_MARK}, or {REDACTION_MARK}, or short"));
    for text in [json, twice] {
        let clean = redact(text);
        assert!(!clean.contains("quoted") && !clean.contains("provider"), "{clean}");
        assert!(serde_json::from_str::<String>(&clean).is_ok(), "{clean}");
    }
}

#[test]
fn names_of_secrets_are_told_from_others() {
    for name in ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "client_secret", "PGPASSWORD"] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in ["PATH", "SSH_AUTH_SOCK", "KEYBOARD", "HOME"] {
        assert!(!is_secret_name(name), "{name}");
    }
}

/// Counts what is looked at instead of the time that it takes: a failed look must not be repeated.
#[test]
fn hostile_repetitions_are_read_in_linear_time() {
    for unit in [
        "eyJ",
        "eyJaaaaaaaaa.",
        "AIza",
        "/sk-aaaaaaaaaaaaaaaa",
        "AKIA",
        "://a:b",
        "-----BEGIN PRIVATE KEY-----",
        "npm_",
        "\\n",
        "ghp_a ",
    ] {
        let text = unit.repeat(400_000 / unit.len());
        // Quadratic work would need hours here, and would not end before the test is stopped.
        let clean = redact(text.clone());
        assert!(clean.len() <= text.len(), "{unit}");
    }
}

proptest! {
    #[test]
    fn json_stays_json(words in prop::collection::vec("(sk-|adjop_|Bearer |eyJ|://a:|-----BEGIN PRIVATE KEY-----)?[a-zA-Z0-9\"\\\\\n@.ü-]{0,40}", 0..5)) {
        let json = serde_json::to_string(&words).unwrap();
        let twice = serde_json::to_string(&json).unwrap();
        let clean = redact(json);
        prop_assert!(serde_json::from_str::<Vec<String>>(&clean).is_ok(), "{}", clean);
        let inner: String = serde_json::from_str(&redact(twice)).unwrap();
        prop_assert!(serde_json::from_str::<Vec<String>>(&inner).is_ok(), "{}", inner);
    }

    #[test]
    fn hashes_uuids_and_base64_stay(
        hex in "[0-9a-f]{7,128}",
        uuid in "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        base64 in "[A-Za-z0-9+/]{20,200}={0,2}",
    ) {
        prop_assert_eq!(scrub(&hex), None);
        prop_assert_eq!(scrub(&uuid), None);
        prop_assert_eq!(scrub(&format!("\"{base64}\"")), None);
    }
}
