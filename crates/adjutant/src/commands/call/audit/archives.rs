//! Exports and archives of the audit chain: followed row by row, and held against what the chain says
//! about them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use engine::{ChainVerdict, verify_exported};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wire::audit::AuditArchive;

use crate::cli_error::CliError;
use crate::home::state::hex;

/// Maximum number of rows held in memory at once.
const MAX_ROWS: usize = 500;

/// Where a chain begins: the row before its first one, and the hash of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Start {
    #[serde(rename = "lastRow")]
    pub(super) row: i64,
    #[serde(rename = "lastHash")]
    pub(super) hash: String,
}

impl Default for Start {
    fn default() -> Self {
        Self { row: 0, hash: "0".repeat(64) }
    }
}

/// The first line of an export whose first rows are in archives.
#[derive(Debug, Serialize)]
pub(super) struct Checkpoint {
    pub(super) checkpoint: Start,
}

/// A line of an export or an archive: a row of the chain, or the checkpoint before its first row.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExportLine {
    checkpoint: Option<Start>,
    body: String,
    hash: String,
}

/// Follows an export from its first line on.
pub(super) fn follow_export(input: &mut dyn BufRead) -> Result<ChainVerdict, CliError> {
    let mut lines = Lines { input, number: 0 };
    let mut first = lines.next()?;
    let mut start = Start::default();
    if let Some(checkpoint) = first.as_mut().and_then(|line| line.checkpoint.take()) {
        start = checkpoint;
        first = lines.next()?;
    }
    let archived = start.row;
    Ok(ChainVerdict { archived, ..follow(&mut lines, first, start)? })
}

/// Follows the rows of a file, a few at a time.
fn follow(
    lines: &mut Lines<'_>,
    first: Option<ExportLine>,
    start: Start,
) -> Result<ChainVerdict, CliError> {
    let mut verdict = ChainVerdict { rows: start.row, head: start.hash, broken: None, archived: 0 };
    let mut next = first;
    loop {
        let mut rows = Vec::new();
        while let Some(row) = next.take() {
            rows.push(row);
            if rows.len() < MAX_ROWS {
                next = lines.next()?;
            }
        }
        let pairs = rows.iter().map(|row| (row.body.as_str(), row.hash.as_str()));
        verdict = verify_exported(verdict.rows, &verdict.head, pairs);
        if verdict.broken.is_some() || rows.len() < MAX_ROWS {
            return Ok(verdict);
        }
        next = lines.next()?;
    }
}

/// The rows of an export.
struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Result<Option<ExportLine>, CliError> {
        let mut text = String::new();
        if self.input.read_line(&mut text)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let row = serde_json::from_str(&text).map_err(|error| {
            CliError::usage(format!("line {} is not a row of an export: {error}", self.number))
        })?;
        Ok(Some(row))
    }
}

/// Follows archives from the first row of the chain, and says what is wrong: at which row, and what.
/// Files that the record does not name are passed over: a cleaning that was killed leaves such.
pub(super) fn problem_in(
    archives: &[AuditArchive],
    files: &[PathBuf],
) -> Result<Option<(i64, String)>, CliError> {
    let sums = files.iter().map(|file| sum_of(file)).collect::<Result<Vec<_>, _>>()?;
    let mut start = Start::default();
    for cut in archives {
        let Some(found) = sums.iter().position(|sum| *sum == cut.sha256) else {
            let named =
                |file: &&PathBuf| file.file_name().is_some_and(|name| *name == *cut.archive);
            return match files.iter().find(named) {
                Some(file) => {
                    let message =
                        format!("`{}` does not match the SHA-256 on record", file.display());
                    Ok(Some((cut.first_row, message)))
                }
                None => Err(CliError::usage(format!("the archive `{}` is not given", cut.archive))
                    .hint(
                        "name every archive, or none: `--archive` alone uses those of this home",
                    )),
            };
        };
        let path = &files[found];
        let mut input = BufReader::new(File::open(path).map_err(host::files::at("open", path))?);
        let mut lines = Lines { input: &mut input, number: 0 };
        let first = lines.next()?;
        let verdict = follow(&mut lines, first, start)?;
        if let Some(broken) = verdict.broken {
            return Ok(Some(broken));
        }
        if verdict.rows != cut.last_row || verdict.head != cut.last_hash {
            let message = format!("`{}` does not end where its checkpoint says", path.display());
            return Ok(Some((verdict.rows, message)));
        }
        start = Start { row: verdict.rows, hash: verdict.head };
    }
    Ok(None)
}

fn sum_of(path: &Path) -> Result<String, CliError> {
    let mut file = File::open(path).map_err(host::files::at("open", path))?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        let some = file.read(&mut buffer).map_err(host::files::at("read", path))?;
        if some == 0 {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(&buffer[..some]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A chain of so many rows, made as the documentation says, as an export has it.
    fn chain(rows: i64) -> Vec<(i64, String)> {
        let mut hash = "0".repeat(64);
        let mut lines = Vec::new();
        for number in 1..=rows {
            let body = format!(r#"{{"number":{number}}}"#);
            let digest = Sha256::digest(format!("{hash}\n{body}").as_bytes());
            hash = hex(&digest);
            let line = json!({ "number": number, "hash": hash, "body": body });
            lines.push((number, format!("{line}\n")));
        }
        lines
    }

    fn text(lines: &[(i64, String)]) -> String {
        lines.iter().map(|(_, line)| line.as_str()).collect()
    }

    fn hash_in(line: &str) -> String {
        serde_json::from_str::<ExportLine>(line).unwrap().hash
    }

    #[test]
    fn an_export_is_followed_from_its_first_row_or_from_its_checkpoint() {
        let lines = chain(1203);
        let whole = follow_export(&mut text(&lines).as_bytes()).unwrap();
        assert_eq!((whole.rows, whole.archived, whole.broken), (1203, 0, None));
        let start = Start { row: 700, hash: hash_in(&lines[699].1) };
        let start = serde_json::to_string(&Checkpoint { checkpoint: start }).unwrap();
        let rest = format!("{start}\n{}", text(&lines[700..]));
        let rest = follow_export(&mut rest.as_bytes()).unwrap();
        assert_eq!((rest.rows, rest.archived, rest.broken), (1203, 700, None));
        let headless = follow_export(&mut text(&lines[700..]).as_bytes()).unwrap();
        assert_eq!(headless.broken.unwrap().0, 1);
        assert!(follow_export(&mut "nonsense".as_bytes()).is_err());
    }

    #[test]
    fn archives_are_followed_in_order_and_whatever_is_changed_shows() {
        let (dir, lines) = (tempfile::tempdir().unwrap(), chain(900));
        let mut cuts = Vec::new();
        for (first, last) in [(1, 600), (601, 900)] {
            let (from, to) = (usize::try_from(first - 1).unwrap(), usize::try_from(last).unwrap());
            let archive = format!("audit-{last}.jsonl");
            std::fs::write(dir.path().join(&archive), text(&lines[from..to])).unwrap();
            let sha256 = sum_of(&dir.path().join(&archive)).unwrap();
            let last_hash = hash_in(&lines[to - 1].1);
            let first_row = first;
            cuts.push(AuditArchive { first_row, last_row: last, last_hash, archive, sha256 });
        }
        let unused = dir.path().join("unused.jsonl");
        std::fs::write(&unused, "left by a kill").unwrap();
        let files =
            [dir.path().join("audit-900.jsonl"), unused, dir.path().join("audit-600.jsonl")];
        assert_eq!(problem_in(&cuts, &files).unwrap(), None, "in whatever order they are named");
        let missing = problem_in(&cuts, &files[..2]).unwrap_err();
        assert!(missing.message().contains("`audit-600.jsonl` is not given"));
        let changed = text(&lines[..600]).replacen("number", "numb3r", 1);
        std::fs::write(&files[2], changed).unwrap();
        let (row, message) = problem_in(&cuts, &files).unwrap().unwrap();
        assert!(row == 1 && message.contains("SHA-256"), "{message}");
    }
}
