//! One integration binary a crate, which lists every file: a forgotten file is a test that never ran.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// The suite that always runs, and the one whose command lines must be installed first.
const SUITES: [&str; 2] = ["it", "clis"];

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for file in tree.rust() {
        let Some(within) = inside_tests(file) else { continue };
        let Some(rest) = SUITES.iter().find_map(|suite| within.strip_prefix(suite).ok()) else {
            findings.wrong(format!(
                "{}: integration tests live in `tests/it`, one binary a crate",
                file.display()
            ));
            continue;
        };
        if rest == Path::new("main.rs") {
            continue;
        }
        let (owners, name) = owners(file);
        let mut is_listed = false;
        for owner in owners.iter().filter(|owner| tree.files.contains(owner)) {
            is_listed |= tree.text(owner)?.is_some_and(|text| declares(&text, &name));
        }
        if !is_listed {
            let owner = owners.first().map(|owner| owner.display().to_string()).unwrap_or_default();
            findings.wrong(format!("{}: `{owner}` does not say `mod {name};`", file.display()));
        }
    }
    Ok(())
}

/// The part of `crates/<crate>/tests/<part>`.
fn inside_tests(file: &Path) -> Option<&Path> {
    let inside = file.strip_prefix("crates").ok()?;
    let mut components = inside.components();
    components.next()?;
    components.as_path().strip_prefix("tests").ok()
}

/// The files that may declare this one as a module, and the module's name.
fn owners(file: &Path) -> (Vec<PathBuf>, String) {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = file.parent().unwrap_or(Path::new(""));
    // `a/mod.rs` is the module `a` of the folder above.
    let (name, folder) = if stem(file) == "mod" {
        (stem(folder), folder.parent().unwrap_or(Path::new("")))
    } else {
        (stem(file), folder)
    };
    let is_suite = SUITES.iter().any(|suite| folder.ends_with(Path::new("tests").join(suite)));
    let owners = if is_suite {
        vec![folder.join("main.rs")]
    } else {
        vec![folder.with_extension("rs"), folder.join("mod.rs")]
    };
    (owners, name)
}

fn declares(text: &str, name: &str) -> bool {
    let declaration = format!("mod {name};");
    text.lines().any(|line| {
        let line = line.trim_start();
        line == declaration
            || line.strip_prefix("pub ").is_some_and(|line| line == declaration)
            || line.strip_prefix("pub(crate) ").is_some_and(|line| line == declaration)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_listed_by_the_module_above_it() {
        for (file, owner, name) in [
            ("crates/a/tests/it/one.rs", "crates/a/tests/it/main.rs", "one"),
            ("crates/a/tests/it/two/mod.rs", "crates/a/tests/it/main.rs", "two"),
            ("crates/a/tests/it/two/three.rs", "crates/a/tests/it/two.rs", "three"),
        ] {
            let (owners, found) = owners(Path::new(file));
            assert_eq!((owners[0].as_path(), found.as_str()), (Path::new(owner), name));
        }
        assert_eq!(inside_tests(Path::new("crates/a/tests/b.rs")), Some(Path::new("b.rs")));
        assert_eq!(inside_tests(Path::new("crates/a/src/tests/b.rs")), None);
    }
}
