//! Takes secrets out of what is about to be stored.

/// How secrets begin that people and agents paste by mistake, ours among them.
const PREFIXES: &[&str] = &[
    "adjop_",
    "adjag_",
    "adjlink_",
    "adjtab_",
    "Bearer ",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "sk-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "whsec_",
];
/// Shorter runs behind a prefix are words, not secrets.
const SHORTEST: usize = 16;

/// Replaces every secret in the text, leaving its prefix so that one sees what it was.
pub fn redact(text: String) -> String {
    if !PREFIXES.iter().any(|prefix| text.contains(prefix)) {
        return text;
    }
    let mut clean = text;
    for prefix in PREFIXES {
        clean = redact_prefix(&clean, prefix);
    }
    clean
}

fn redact_prefix(text: &str, prefix: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(prefix) {
        let secret = after
            .find(|c: char| {
                !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+'))
            })
            .unwrap_or(after.len());
        clean.push_str(before);
        clean.push_str(prefix);
        let (run, behind) = after.split_at(secret);
        clean.push_str(if run.len() >= SHORTEST { "[redacted]" } else { run });
        rest = behind;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn secrets_go_and_words_stay() {
        let text =
            r#"{"a":"Bearer abcdefghijklmnop123","b":"sk-learn and ghp_0123456789abcdef0123"}"#;
        assert_eq!(
            redact(text.to_owned()),
            r#"{"a":"Bearer [redacted]","b":"sk-learn and ghp_[redacted]"}"#
        );
    }

    proptest! {
        #[test]
        fn json_stays_json(words in prop::collection::vec("(sk-|adjop_|Bearer )?[a-zA-Z0-9\"\\\\ü]{0,30}", 0..5)) {
            let json = serde_json::to_string(&words).unwrap();
            let clean = redact(json);
            prop_assert!(serde_json::from_str::<Vec<String>>(&clean).is_ok(), "{}", clean);
        }
    }
}
