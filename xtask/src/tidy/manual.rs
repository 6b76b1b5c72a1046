//! Every tool is in the manual.

use std::path::Path;

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

const MANUAL: &str = "docs/reference/tools.md";

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let manual = if tree.files.iter().any(|file| file == Path::new(MANUAL)) {
        tree.text(Path::new(MANUAL))?.unwrap_or_default()
    } else {
        String::new()
    };
    for tool in engine::TOOLS.iter().filter(|tool| !manual.contains(&format!("`{}`", tool.name))) {
        findings.wrong(format!("{MANUAL} lacks `{}`: run `cargo xtask generate`", tool.name));
    }
    Ok(())
}
