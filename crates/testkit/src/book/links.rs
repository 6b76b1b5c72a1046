//! Links inside the tree: whether what they point to is there.

use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use regex_lite::Regex;

/// Links as `[text](target)`, and pictures as `src="target"` and `srcset="target"`.
static LINKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)|src(?:set)?="([^"]+)""#).ok()
});
/// What of a heading is no part of its anchor: code, bold, and the targets of links.
static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\]\([^)]*\)|[`*\[]").ok());

/// Every link of a document that leads to a file or a heading that is not there.
pub fn dead_links(root: &Path, document: &str) -> Result<Vec<String>> {
    let text = read(&root.join(document))?;
    let mut dead = Vec::new();
    for (content, line) in prose(&text) {
        // What stands in code is no link.
        let plain: String = content.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let Some(links) = LINKS.as_ref() else { continue };
        for found in links.captures_iter(&plain) {
            let Some(target) = found.get(1).or_else(|| found.get(2)) else { continue };
            if let Some(why) = is_dead(root, document, target.as_str())? {
                dead.push(format!("{document}:{line}: `{}`: {why}", target.as_str()));
            }
        }
    }
    Ok(dead)
}

fn is_dead(root: &Path, document: &str, target: &str) -> Result<Option<String>> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(None);
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let file = if path.is_empty() {
        PathBuf::from(document)
    } else {
        match inside(&folder.join(path)) {
            Some(file) => file,
            None => return Ok(Some("it leads out of the tree".to_owned())),
        }
    };
    if !root.join(&file).exists() {
        return Ok(Some(format!("there is no `{}`", file.display())));
    }
    if anchor.is_empty() {
        return Ok(None);
    }
    let known = anchors(&read(&root.join(&file))?);
    let is_known = known.iter().any(|one| one == anchor);
    Ok((!is_known).then(|| format!("`{}` has no heading for `#{anchor}`", file.display())))
}

/// The path without `..`, if it stays in the tree.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => clean.pop().then_some(())?,
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

/// The anchors of a document, as GitHub makes them of headings.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (line, _) in prose(text).filter(|(line, _)| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim();
        let heading =
            MARKS.as_ref().map_or_else(|| heading.into(), |marks| marks.replace_all(heading, ""));
        let anchor: String = heading
            .to_lowercase()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let same = anchors.iter().filter(|known| **known == anchor).count();
        anchors.push(if same == 0 { anchor } else { format!("{anchor}-{same}") });
    }
    anchors
}

/// The lines of a document that stand in no block, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut is_fenced = false;
    text.lines().zip(1..).filter(move |(line, _)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    })
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_that_github_gives_them() {
        let text = "# What, really?\n```sh\n# no heading\n```\n## `adjutant top`\n## Of [it](x.md)\n## Of it\n";
        assert_eq!(anchors(text), ["what-really", "adjutant-top", "of-it", "of-it-1"]);
    }

    #[test]
    fn a_link_to_nothing_is_found_and_code_is_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let text = "# Here\n[a](#here) [b](there.md) `[c](none.md)` [d](#gone) [e](https://x.org/y)\n[f](../up.md)";
        std::fs::write(folder.path().join("page.md"), text).unwrap();
        let dead = dead_links(folder.path(), "page.md").unwrap();
        let [there, gone, up] = dead.as_slice() else { panic!("{dead:?}") };
        assert_eq!(there, "page.md:2: `there.md`: there is no `there.md`");
        assert_eq!(gone, "page.md:2: `#gone`: `page.md` has no heading for `#gone`");
        assert_eq!(up, "page.md:3: `../up.md`: it leads out of the tree");
    }
}
