//! A configuration's text for everybody's eyes: without secrets, and without the parts of addresses that often are.

use std::ops::Range;

use engine::settings::shown_url;

use super::tree::{Entry, Node, Shape, Tree};
use super::value::word;

/// Replacement of a secret.
const HIDDEN: &str = "…";

/// The text, line for line, without what others must not see.
pub(crate) fn masked(text: &str) -> String {
    let (mark, text) = text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
    let mut parts = Vec::new();
    if let Some(root) = Tree::read(text).and_then(|tree| tree.root) {
        look(text, &root, &mut Vec::new(), &mut parts);
    }
    parts.sort_by_key(|(part, _): &(Range<usize>, String)| std::cmp::Reverse(part.start));
    let mut shown = text.to_owned();
    for (part, with) in parts {
        if shown.get(part.clone()).is_some() {
            shown.replace_range(part, &with);
        }
    }
    // What is commented out, or cannot be read, is looked through line by line.
    let lines: String = shown.split_inclusive('\n').map(by_line).collect();
    format!("{mark}{}", model::redact::redact(lines))
}

/// Collects what is to be replaced, and with what.
fn look<'a>(
    text: &str,
    node: &'a Node,
    path: &mut Vec<&'a str>,
    parts: &mut Vec<(Range<usize>, String)>,
) {
    let message = || text.get(node.start..node.end).unwrap_or_default();
    match &node.shape {
        Shape::Map { entries, .. } => {
            for Entry { name, value, .. } in entries {
                path.push(name.as_deref().unwrap_or_default());
                look(text, value, path, parts);
                path.pop();
            }
        }
        Shape::List { items, .. } => items.iter().for_each(|item| look(text, item, path, parts)),
        Shape::Scalar { .. } | Shape::Lines => {
            let with = match path.as_slice() {
                ["webhooks", "secret"] => Some(HIDDEN.to_owned()),
                ["webhooks", "url"] => Some(word(&shown_url(bare(message())))),
                ["agents", _, "environment"] => bare(message())
                    .split_once('=')
                    .map(|(name, _)| word(&format!("{name}={HIDDEN}"))),
                _ => None,
            };
            parts.extend(with.map(|with| (node.start..node.end, with)));
        }
        Shape::Nothing | Shape::Alias => {}
    }
}

fn bare(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// A line in which a secret may stand although nobody reads it as one.
fn by_line(line: &str) -> String {
    let hidden = |line: &str| -> Option<String> {
        let (head, tail) = line.split_once("secret:")?;
        let value = tail.trim_start();
        let end = value.find([',', '}', '\n', '\r']).unwrap_or(value.len());
        let (secret, rest) = value.split_at(end);
        let is_said = !secret.trim().is_empty() && secret.trim() != HIDDEN;
        is_said.then(|| format!("{head}secret: {HIDDEN}{rest}"))
    };
    let line = hidden(line).unwrap_or_else(|| line.to_owned());
    let Some((head, tail)) = line.split_once("url:").filter(|(head, _)| head.contains('#')) else {
        return line;
    };
    let value = tail.trim_start();
    let end = value.find([',', '}', '\n', '\r', ' ']).unwrap_or(value.len());
    let (url, rest) = value.split_at(end);
    format!("{head}url: {}{rest}", shown_url(bare(url)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_the_rest_stays() {
        let text = "\
# secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
# - {name: a, url: https://a.example/hush, secret: hush, kinds: [x]}
webhooks:
  - name: one
    url: \"https://hooks.example.com/hush/hush\" # why
    secret: hush
    secretVariable: KEPT
  - {name: two, url: https://b.example, secret: 'hush', form: inngest}
agents:
  claude:
    environment: [PATH, \"TOKEN=hush\"]
limits: {depth: 3} # stays
";
        let expected = "\
# secret: …
# - {name: a, url: https://a.example/…, secret: …, kinds: [x]}
webhooks:
  - name: one
    url: \"https://hooks.example.com/…\" # why
    secret: …
    secretVariable: KEPT
  - {name: two, url: https://b.example, secret: …, form: inngest}
agents:
  claude:
    environment: [PATH, \"TOKEN=…\"]
limits: {depth: 3} # stays
";
        assert_eq!(masked(text), expected);
        assert_eq!(masked(&masked(text)), expected);
        assert_eq!(masked("\u{feff}mirror: true\n"), "\u{feff}mirror: true\n");
    }

    #[test]
    fn what_cannot_be_read_is_hidden_all_the_same() {
        let text = "webhooks: [\n  secret: hush\nlimits:\n\t- x";
        assert!(!masked(text).contains("hush"), "{}", masked(text));
    }
}
