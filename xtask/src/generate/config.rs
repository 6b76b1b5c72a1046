//! `docs/reference/config.md`: every key, from the file that `adjutant init` writes.

use std::fmt::{self, Write as _};

use anyhow::{Result, ensure};

/// The file that `adjutant init` writes.
pub(super) const SOURCE: &str = "crates/adjutant/src/init/config.yaml";

/// A key of the configuration.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    path: Vec<String>,
    default: String,
    comment: String,
}

/// The page.
pub(super) fn page(text: &str) -> Result<String> {
    let (intro, keys) = read(text);
    ensure!(!keys.is_empty(), "{SOURCE} has no keys");
    let mut page = format!(
        "<!-- Written by `cargo xtask generate` from `{SOURCE}`. Change that, not this. -->\n\n\
         # Configuration\n\n`.adjutant/config.yaml`, as `adjutant init` writes it. {intro}\n\n"
    );
    // Writing to a String cannot fail.
    _ = render(&mut page, &keys);
    Ok(page)
}

/// Reads the keys with the comments above them. It understands what `config.yaml` uses of YAML: maps
/// by indentation, scalars, and lists whose items stand on lines of their own.
fn read(text: &str) -> (String, Vec<Key>) {
    let mut keys: Vec<Key> = Vec::new();
    let mut intro = String::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if bare.is_empty() {
            // A comment that belongs to no key is the file's own.
            if keys.is_empty() {
                intro = comment.join(" ");
            }
            comment.clear();
        } else if let Some(words) = bare.strip_prefix('#') {
            comment.push(words.trim());
        } else if let Some(item) = bare.strip_prefix("- ") {
            if let Some(key) = keys.last_mut() {
                let joint = if key.default.is_empty() { "" } else { ", " };
                key.default = format!("{}{joint}{item}", key.default);
            }
        } else if let Some((name, value)) = bare.split_once(':') {
            path.retain(|(depth, _)| *depth < indent);
            path.push((indent, name.to_owned()));
            keys.push(Key {
                path: path.iter().map(|(_, name)| name.clone()).collect(),
                default: value.split(" #").next().unwrap_or_default().trim().to_owned(),
                comment: comment.join(" "),
            });
            comment.clear();
        }
    }
    (intro, keys)
}

fn render(page: &mut String, keys: &[Key]) -> fmt::Result {
    let mut in_table = false;
    for (index, key) in keys.iter().enumerate() {
        let is_section = keys.get(index + 1).is_some_and(|next| next.path.starts_with(&key.path));
        if let [name] = key.path.as_slice() {
            let gap = if in_table { "\n" } else { "" };
            write!(page, "{gap}## {name}\n\n")?;
            in_table = false;
            if is_section {
                write!(page, "{}\n\n", key.comment)?;
                continue;
            }
        }
        if !in_table {
            page.push_str("| key | default | variable | |\n|---|---|---|---|\n");
            in_table = true;
        }
        let (default, variable) = if is_section {
            (String::new(), String::new())
        } else {
            let default = if key.default.is_empty() { "null" } else { key.default.as_str() };
            (format!("`{}`", default.replace('|', "\\|")), format!("`{}`", variable(&key.path)))
        };
        writeln!(
            page,
            "| `{}` | {default} | {variable} | {} |",
            key.path.join("."),
            key.comment.replace('|', "\\|")
        )?;
    }
    Ok(())
}

/// The variable that sets a key: `limits.maxPromptBytes` is `ADJUTANT_LIMITS_MAX_PROMPT_BYTES`.
fn variable(path: &[String]) -> String {
    let mut name = String::from("ADJUTANT");
    for part in path {
        name.push('_');
        for letter in part.chars() {
            if letter.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_uppercase());
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_the_comment_above_it() {
        let text = "# Ours.\n\n# Where.\nserver:\n  # Its port.\n  # (Or not.)\n  port: 3001\n  names:\n    - a\n    - b\n";
        let (intro, keys) = read(text);
        let rows: Vec<String> = keys
            .iter()
            .map(|key| format!("{}={} {}", variable(&key.path), key.default, key.comment))
            .collect();
        assert_eq!(intro, "Ours.");
        assert_eq!(
            rows,
            [
                "ADJUTANT_SERVER= Where.",
                "ADJUTANT_SERVER_PORT=3001 Its port. (Or not.)",
                "ADJUTANT_SERVER_NAMES=a, b ",
            ]
        );
    }
}
