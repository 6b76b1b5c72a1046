//! Checksums of migrations, so that a released one is never changed.

use std::path::Path;

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::{Tree, sum};

const FOLDER: &str = "crates/store/migrations";
const SUMS: &str = "crates/store/migrations/SHA256SUMS";

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let recorded = tree.text(Path::new(SUMS)).ok().flatten().unwrap_or_default();
    let recorded: Vec<(&str, &str)> =
        recorded.lines().filter_map(|line| line.split_once("  ")).collect();
    let migrations = tree.files.iter().filter(|file| {
        file.starts_with(FOLDER) && file.extension().is_some_and(|extension| extension == "sql")
    });
    let mut seen = Vec::new();
    for file in migrations {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sum = sum(tree.text(file)?.unwrap_or_default().as_bytes());
        match recorded.iter().find(|(_, listed)| *listed == name) {
            Some((listed, _)) if *listed == sum => {}
            Some(_) => findings.wrong(format!(
                "{FOLDER}/{name} was changed: what people have run stays as it was, add a new one \
                 (if it was never released, its line in {SUMS} becomes `{sum}  {name}`)"
            )),
            None => findings.wrong(format!("{SUMS} lacks the line `{sum}  {name}`")),
        }
        seen.push(name);
    }
    for (_, name) in recorded.iter().filter(|(_, name)| !seen.iter().any(|seen| seen == name)) {
        findings.wrong(format!("{FOLDER}/{name} is on record and not there"));
    }
    Ok(())
}
