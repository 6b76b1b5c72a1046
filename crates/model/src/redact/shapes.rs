//! The shapes of secrets: how each begins, and where it ends.

/// First words of a PEM block.
pub(super) const PEM_BEGIN: &str = "-----BEGIN ";
/// First words of its last line.
pub(super) const PEM_END: &str = "-----END ";

/// Shorter runs behind a prefix are words, not secrets.
const MIN_SECRET_CHARS: usize = 16;
/// Part of a run in which a digit must occur where words are likely.
const DIGIT_SEARCH_CHARS: usize = 64;
/// Longest label of a PEM block, such as `ENCRYPTED PRIVATE KEY`.
const MAX_LABEL: usize = 64;

/// Shape of the text after a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A run of token characters
    Token,
    /// The same behind a prefix that is also the end of words such as `task-`
    TokenWithDigit,
    /// At least so many letters and digits, without any separator
    Alphanumeric(usize),
    /// At least so many characters of base64url
    Base64Url(usize),
    /// Exactly so many capitals and digits
    Capitals(usize),
    /// The rest of a JSON Web Token: three parts with dots between them
    Jwt,
    /// User and password before the host of a URL
    Userinfo,
    /// The rest of a PEM block
    Pem,
}

/// Prefixes of known secrets, Adjutant's own tokens among them.
pub(super) const SHAPES: &[(&str, Shape)] = &[
    ("adjop_", Shape::Token),
    ("adjag_", Shape::Token),
    ("adjlink_", Shape::Token),
    ("adjtab_", Shape::Token),
    ("Bearer ", Shape::Token),
    ("ghp_", Shape::Token),
    ("gho_", Shape::Token),
    ("ghr_", Shape::Token),
    ("ghs_", Shape::Token),
    ("ghu_", Shape::Token),
    ("github_pat_", Shape::Token),
    ("glpat-", Shape::Token),
    ("sk-ant-", Shape::Token),
    ("sk-", Shape::TokenWithDigit),
    ("xoxa-", Shape::Token),
    ("xoxb-", Shape::Token),
    ("xoxc-", Shape::Token),
    ("xoxd-", Shape::Token),
    ("xoxe-", Shape::Token),
    ("xoxo-", Shape::Token),
    ("xoxp-", Shape::Token),
    ("xoxr-", Shape::Token),
    ("xoxs-", Shape::Token),
    ("xapp-", Shape::Token),
    ("whsec_", Shape::Token),
    ("npm_", Shape::Alphanumeric(36)),
    ("AIza", Shape::Base64Url(35)),
    ("AKIA", Shape::Capitals(16)),
    ("ASIA", Shape::Capitals(16)),
    ("eyJ", Shape::Jwt),
    ("://", Shape::Userinfo),
    (PEM_BEGIN, Shape::Pem),
];

impl Shape {
    /// The part of the text that is secret, where the prefix from `start` to `end` is followed by one.
    pub(super) fn secret(self, text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
        match self {
            Self::Token => token(text, end),
            Self::Userinfo => userinfo(text, end),
            Self::Pem => pem(text, end),
            // Asked before a run is followed to its end: a run has few places where a word starts, and so is
            // followed a few times at most.
            _ if !is_word_start(text, start) => None,
            Self::TokenWithDigit => {
                let near = text.get(..text.len().min(end + DIGIT_SEARCH_CHARS))?;
                let (from, to) = token(near, end)?;
                let has_digit = near.get(from..to)?.iter().any(u8::is_ascii_digit);
                has_digit.then(|| (end, run(text, end, is_token)))
            }
            Self::Alphanumeric(least) => {
                let to = run(text, end, |byte| byte.is_ascii_alphanumeric());
                (to - end >= least).then_some((end, to))
            }
            Self::Base64Url(least) => {
                let to = run(text, end, is_base64_url);
                (to - end >= least).then_some((end, to))
            }
            Self::Capitals(count) => {
                let to = run(text, end, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
                let is_whole = !text.get(to).is_some_and(|byte| is_base64_url(*byte));
                (to - end == count && is_whole).then_some((end, to))
            }
            Self::Jwt => jwt(text, end),
        }
    }
}

/// The end of the run of such bytes.
fn run(text: &[u8], from: usize, holds: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter().position(|byte| !holds(*byte)).map_or(text.len(), |length| from + length)
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+')
}

const fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns whether no word goes on here: the end of a word may look like a prefix. The letter of an escape such as `\n`
/// belongs to no word.
fn is_word_start(text: &[u8], start: usize) -> bool {
    let back = |count: usize| start.checked_sub(count).and_then(|at| text.get(at)).copied();
    let Some(before) = back(1) else { return true };
    if !is_base64_url(before) {
        return true;
    }
    let is_escape = matches!(before, b'n' | b'r' | b't' | b'b' | b'f') && back(2) == Some(b'\\');
    let is_code_point = before.is_ascii_hexdigit()
        && back(5) == Some(b'u')
        && back(6) == Some(b'\\')
        && (2..=4).all(|count| back(count).is_some_and(|byte| byte.is_ascii_hexdigit()));
    // `%3D` in a URL ends no word either.
    let is_percent = before.is_ascii_hexdigit() && back(3) == Some(b'%');
    is_escape || is_code_point || is_percent
}

fn token(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let to = run(text, from, is_token);
    (to - from >= MIN_SECRET_CHARS).then_some((from, to))
}

/// Three parts of base64url with dots between them; the first has begun.
fn jwt(text: &[u8], from: usize) -> Option<(usize, usize)> {
    const MIN_PART_CHARS: usize = 8;
    let mut end = run(text, from, is_base64_url);
    if end - from < MIN_PART_CHARS {
        return None;
    }
    for _ in 0..2 {
        if text.get(end) != Some(&b'.') {
            return None;
        }
        let part = end + 1;
        end = run(text, part, is_base64_url);
        if end - part < MIN_PART_CHARS {
            return None;
        }
    }
    Some((from, end))
}

/// The password of `user:password@host`. A name in braces or behind a dollar stands for one and is none.
fn userinfo(text: &[u8], from: usize) -> Option<(usize, usize)> {
    // Whatever cannot stand there ends the search, a slash among it: so no byte is looked at twice.
    let stops = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'\\' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'?' | b'#')
    };
    let end = run(text, from, |byte| !stops(byte));
    let info = text.get(from..end)?;
    let at = info.iter().rposition(|byte| *byte == b'@')?;
    let colon = info.iter().take(at).position(|byte| *byte == b':')?;
    let password = info.get(colon + 1..at)?;
    let stands_for_one = match password {
        [b'$' | b'%', name @ ..] => name
            .iter()
            .all(|byte| matches!(byte, b'{' | b'}' | b'_' | b'%') || byte.is_ascii_uppercase()),
        [] | [b'{', .., b'}'] | [b'[', .., b']'] => true,
        all => all.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x')),
    };
    (!stands_for_one).then_some((from + colon + 1, from + at))
}

/// Returns whether what follows [`PEM_BEGIN`] is the label of a private key.
pub(super) fn is_private_key(after: &[u8]) -> bool {
    label(after).is_some()
}

/// The length of the label of a private key with the dashes behind it.
fn label(after: &[u8]) -> Option<usize> {
    let near = after.get(..MAX_LABEL.min(after.len()))?;
    let end = near.windows(5).position(|five| five == b"-----")?;
    let name = near.get(..end)?;
    name.windows(11).any(|part| part == b"PRIVATE KEY").then_some(end + 5)
}

/// The body of a private key: up to its end, or as far as it looks like one.
fn pem(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let body = from + label(text.get(from..)?)?;
    let rest = text.get(body..)?;
    // No string of JSON is left: a quote ends the search, and the escape before it stays whole.
    let mut end = rest.len();
    for (at, byte) in rest.iter().enumerate() {
        if *byte == b'"' || rest.get(at..)?.starts_with(b"-----") {
            end = at;
            break;
        }
    }
    let is_closed = rest.get(end..)?.starts_with(b"-----END ");
    let length = if is_closed { end } else { base64_body(rest.get(..end)?) };
    (is_closed || length >= MIN_SECRET_CHARS).then_some((body, body + length))
}

/// Length of the part that looks like the body of a key without an end mark.
fn base64_body(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let is_base64 = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        if is_base64 || matches!(byte, b'\n' | b'\r' | b'\t') {
            at += 1;
        } else if *byte == b'\\' {
            // An escaped end of a line, however often it was escaped.
            let letter =
                at + text.get(at..).unwrap_or_default().iter().take_while(|b| **b == b'\\').count();
            if !matches!(text.get(letter), Some(b'n' | b'r' | b't')) {
                break;
            }
            at = letter + 1;
        } else {
            break;
        }
    }
    at
}
