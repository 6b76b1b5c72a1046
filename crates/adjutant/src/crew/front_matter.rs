//! Front matter: the YAML at the beginning of a Markdown file, between two lines of `---`.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::yaml::Problem;

/// The Markdown files of a folder in order; a folder that is not there has none.
pub(crate) fn markdown_in(dir: &Path) -> Result<Vec<PathBuf>, Box<Problem>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = dir.display().to_string();
            return Err(Problem::of(&place, format!("cannot be read: {error}")));
        }
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "md") && path.is_file())
        .collect();
    paths.sort();
    Ok(paths)
}

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
