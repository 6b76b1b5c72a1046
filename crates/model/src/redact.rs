//! Finds secrets in text and replaces them: tokens by their shape, keys that this process knows by their value.
//!
//! Invariants: one pass, linear in the input whatever it holds; JSON stays JSON, also where the JSON is itself a
//! string of JSON; a text without secrets is not copied.

mod shapes;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, Input, MatchKind};

use shapes::{PEM_BEGIN, PEM_END, SHAPES, is_private_key};

/// Replaces a secret; what precedes it says of which kind it was.
pub const REDACTION_MARK: &str = "[redacted]";
/// Known values shorter than this are too likely to be ordinary words.
pub const MIN_KNOWN_VALUE: usize = 12;
/// Longest private key in lines of output; a marker without an end hides no more than this.
const MAX_KEY_LINES: usize = 200;

/// Everything that is looked for, as one automaton.
#[derive(Debug)]
struct Scanner {
    automaton: AhoCorasick,
    /// Values that are secrets whatever they look like, in every form in which JSON writes them
    known: BTreeSet<String>,
}

impl Scanner {
    fn new(known: BTreeSet<String>) -> Option<Self> {
        let patterns =
            known.iter().map(String::as_str).chain(SHAPES.iter().map(|(prefix, _)| *prefix));
        // Known values come first, so that they win over a shape that begins at the same place.
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(patterns).ok()?;
        Some(Self { automaton, known })
    }

    /// The text without its secrets; nothing where it has none.
    fn scrub(&self, text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        let mut clean = String::new();
        let (mut copied, mut at) = (0, 0);
        while let Some(found) = self.automaton.find(Input::new(text).range(at..)) {
            let index = found.pattern().as_usize();
            let secret = match index.checked_sub(self.known.len()) {
                None => Some((found.start(), found.end())),
                Some(shape) => SHAPES
                    .get(shape)
                    .and_then(|(_, shape)| shape.secret(bytes, found.start(), found.end())),
            };
            let Some((from, to)) = secret else {
                at = found.start() + 1;
                continue;
            };
            clean.push_str(text.get(copied..from).unwrap_or_default());
            clean.push_str(REDACTION_MARK);
            (copied, at) = (to, to);
        }
        if copied == 0 {
            return None;
        }
        clean.push_str(text.get(copied..).unwrap_or_default());
        Some(clean)
    }
}

static SCANNER: LazyLock<RwLock<Option<Arc<Scanner>>>> =
    LazyLock::new(|| RwLock::new(Scanner::new(BTreeSet::new()).map(Arc::new)));

fn scanner() -> Option<Arc<Scanner>> {
    SCANNER.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Adds values that this process holds and nobody may read, such as keys from its environment. Short ones are
/// ignored: they would hide ordinary words.
pub fn learn_secrets<'a>(values: impl IntoIterator<Item = &'a str>) {
    let mut known = scanner().map(|scanner| scanner.known.clone()).unwrap_or_default();
    let before = known.len();
    for value in values.into_iter().map(str::trim).filter(|value| value.len() >= MIN_KNOWN_VALUE) {
        let mut form = value.to_owned();
        // As it is, in JSON, and in JSON that is a string of JSON: output of agents is sent so.
        for _ in 0..3 {
            known.insert(form.clone());
            form = form.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
        }
    }
    // A set that cannot be built leaves the one in force.
    if known.len() > before
        && let Some(scanner) = Scanner::new(known)
    {
        *SCANNER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(scanner));
    }
}

/// Returns whether a variable of that name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PRIVATE_KEY", "ACCESS_KEY"]
        .iter()
        .any(|word| name.contains(word))
}

/// The text without its secrets; nothing where it has none.
pub fn scrub(text: &str) -> Option<String> {
    scanner().and_then(|scanner| scanner.scrub(text))
}

/// Replaces every secret in the text, leaving its prefix so that one sees what it was.
pub fn redact(text: String) -> String {
    scrub(&text).unwrap_or(text)
}

/// Redacts output line by line. A private key spans many lines, so this remembers whether one is open.
#[derive(Debug, Clone, Default)]
pub struct LineRedactor {
    /// Lines of a private key that may still follow
    key_lines: usize,
}

impl LineRedactor {
    /// The next line without its secrets.
    pub fn line(&mut self, line: String) -> String {
        if self.key_lines > 0 {
            return self.key_line(line);
        }
        if opens_key(&line) {
            self.key_lines = MAX_KEY_LINES;
        }
        redact(line)
    }

    fn key_line(&mut self, line: String) -> String {
        self.key_lines -= 1;
        if let Some((_, end)) = line.split_once(PEM_END) {
            self.key_lines = 0;
            return format!("{REDACTION_MARK}{PEM_END}{}", redact(end.to_owned()));
        }
        if line.contains(PEM_BEGIN) {
            self.key_lines = 0;
            return self.line(line);
        }
        REDACTION_MARK.to_owned()
    }
}

/// Returns whether a line that is shown without the lines around it may be one of a private key's: nothing but base64, as
/// long as PEM makes its lines.
pub fn is_key_line(line: &str) -> bool {
    let has = |is: fn(&u8) -> bool| line.as_bytes().iter().any(is);
    (60..=80).contains(&line.len())
        && line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

/// Returns whether a private key begins in the line and does not end in it.
fn opens_key(line: &str) -> bool {
    line.rsplit_once(PEM_BEGIN)
        .is_some_and(|(_, after)| is_private_key(after.as_bytes()) && !after.contains(PEM_END))
}
