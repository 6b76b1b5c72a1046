//! Front matter: the YAML at the beginning of a Markdown file, between two lines of `---`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

/// Splits front matter from text. The opening line is blanked and not removed, so that lines
/// and bytes are counted as in the file.
pub(crate) fn cut(text: &str) -> Option<(String, &str)> {
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let is_fence = line.trim_end() == "---";
        if index == 0 && !is_fence {
            return None;
        }
        if index > 0 && is_fence {
            let matter = text.get(3..at)?;
            return Some((format!("   {matter}"), text.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

/// Names in a list, or in one string with commas between them, as Claude Code writes them.
#[derive(Debug)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Names;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names, or names with commas between them")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Names, E> {
                Ok(Names(split(text)))
            }
            fn visit_unit<E: serde::de::Error>(self) -> Result<Names, E> {
                Ok(Names(Vec::new()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = items.next_element()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        from.deserialize_any(Either)
    }
}

/// Splits at commas, but not inside `Bash(git log, git diff)`.
fn split(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|name| !name.is_empty())
    .map(str::to_owned)
    .collect()
}
