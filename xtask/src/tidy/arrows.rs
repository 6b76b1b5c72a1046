//! Which crate may know which. A new arrow is a decision, and is made here.

use crate::tidy::Findings;
use crate::tree::Tree;

/// Every crate of the product, and whom it may know.
const ARROWS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("wire", &["model"]),
    ("store", &["model", "wire"]),
    ("host", &["model"]),
    ("engine", &["store", "host", "wire", "model"]),
    ("server", &["engine", "wire", "model"]),
    ("adjutant", &["server", "engine", "host", "wire", "model"]),
];

/// What serves the product and is no part of it: it may know all, and nobody knows it.
const OUTSIDE: &[&str] = &["testkit", "xtask", "bench"];

/// Who knows whom, and whether only in tests.
struct Arrow<'a> {
    from: &'a str,
    to: &'a str,
    in_tests: bool,
}

pub(super) fn check(tree: &Tree, findings: &mut Findings) {
    for package in &tree.packages {
        let from = package["name"].as_str().unwrap_or_default();
        if !OUTSIDE.contains(&from) && !ARROWS.iter().any(|(name, _)| *name == from) {
            findings.wrong(format!("crate `{from}` has no place in `xtask/src/tidy/arrows.rs`"));
        }
        let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
        for dependency in dependencies.iter().filter(|one| one["path"].is_string()) {
            let to = dependency["name"].as_str().unwrap_or_default();
            let arrow = Arrow { from, to, in_tests: dependency["kind"] == "dev" };
            if !is_allowed(&arrow) {
                let section = if arrow.in_tests { "dev-dependencies" } else { "dependencies" };
                findings.wrong(format!("`{from}` may not know `{to}` (its [{section}])"));
            }
        }
    }
}

fn is_allowed(arrow: &Arrow<'_>) -> bool {
    let known = |name: &str| ARROWS.iter().find(|(from, _)| *from == name).map(|(_, to)| *to);
    match arrow.to {
        // Tests and chores may use the kit; the product may not.
        "testkit" => arrow.in_tests || OUTSIDE.contains(&arrow.from),
        to if OUTSIDE.contains(&to) => false,
        to => match known(arrow.from) {
            // Tests may look at whatever lies below.
            Some(below) if arrow.in_tests => below
                .iter()
                .any(|name| *name == to || known(name).is_some_and(|deep| deep.contains(&to))),
            Some(below) => below.contains(&to),
            None => OUTSIDE.contains(&arrow.from),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_drawn_arrows_are_allowed() {
        let table = [
            ("engine", "store", false, true),
            ("store", "host", false, false),
            ("store", "host", true, false),
            ("model", "store", false, false),
            ("server", "store", false, false),
            ("server", "store", true, true),
            ("adjutant", "store", false, false),
            ("adjutant", "testkit", false, false),
            ("adjutant", "testkit", true, true),
            ("xtask", "testkit", false, true),
            ("adjutant", "xtask", true, false),
            ("bench", "store", false, true),
            ("stranger", "model", false, false),
        ];
        for (from, to, in_tests, expected) in table {
            let arrow = Arrow { from, to, in_tests };
            assert_eq!(is_allowed(&arrow), expected, "{from} and {to}, in tests: {in_tests}");
        }
    }
}
