//! Reading a backup: every entry is held against its sum before anything of it counts.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use engine::{Code, check_database};
use host::atomic_file::sync_dir;
use host::files::{self, Mode, at};
use sha2::{Digest as _, Sha256};

use super::{DATABASE, FORMAT, MANIFEST, Manifest, SUMS, hex, is_ours, sha256};
use crate::cli_error::CliError;

/// Longest manifest or list of sums.
const MAX_HEAD_BYTES: u64 = 256 << 20;

/// Why a file is not a backup that can be used.
fn damaged(what: impl std::fmt::Display) -> CliError {
    CliError::usage(format!("the backup is damaged: {what}")).hint("nothing was changed")
}

/// Unpacks a backup into an empty folder, checks all of it, and says who wrote it.
pub(crate) fn unpack(file: &Path, into: &Path) -> Result<Manifest, CliError> {
    let opened = File::open(file).map_err(at("open", file))?;
    let mut tar = tar::Archive::new(std::io::BufReader::new(opened));
    let mut entries = tar.entries().map_err(damaged)?;
    let mut head = |name: &str| -> Result<Vec<u8>, CliError> {
        let entry = entries.next().transpose().map_err(|_| not_ours(file))?;
        let entry = entry.ok_or_else(|| not_ours(file))?;
        if entry.path_bytes().as_ref() != name.as_bytes() {
            return Err(not_ours(file));
        }
        let mut bytes = Vec::new();
        entry.take(MAX_HEAD_BYTES).read_to_end(&mut bytes).map_err(damaged)?;
        Ok(bytes)
    };
    let manifest_bytes = head(MANIFEST)?;
    let manifest: Manifest = serde_json::from_slice(&manifest_bytes).map_err(|_| not_ours(file))?;
    if manifest.format > FORMAT {
        let message =
            format!("the backup has format {}, and this Adjutant knows {FORMAT}", manifest.format);
        return Err(CliError::usage(message).hint("use a newer Adjutant"));
    }
    let mut sums = sums_of(&head(SUMS)?)?;
    if sums.remove(MANIFEST).as_deref() != Some(sha256(&manifest_bytes).as_str()) {
        return Err(damaged(format!("`{MANIFEST}` does not fit its SHA-256")));
    }
    if !sums.contains_key(DATABASE) {
        return Err(damaged("it has no record"));
    }
    for entry in entries {
        let mut entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let is_file = entry.header().entry_type().is_file();
        let Some(sum) = sums.remove(&name).filter(|_| is_file && is_ours(&name)) else {
            return Err(damaged(format!("`{name}` does not belong in it")));
        };
        if extract(&mut entry, &into.join(&name))? != sum {
            return Err(damaged(format!("`{name}` does not fit its SHA-256")));
        }
    }
    if let Some(name) = sums.keys().next() {
        return Err(damaged(format!("`{name}` is missing")));
    }
    check_database(&into.join(DATABASE))?;
    sync_tree(into)?;
    Ok(manifest)
}

fn not_ours(file: &Path) -> CliError {
    CliError::new(Code::InvalidInput, format!("`{}` is not a backup", file.display()))
        .hint("name a file that `adjutant backup` wrote")
}

/// The sums by the names of their entries.
fn sums_of(bytes: &[u8]) -> Result<BTreeMap<String, String>, CliError> {
    let text = std::str::from_utf8(bytes).map_err(damaged)?;
    let sum = |line: &str| {
        let (sum, name) = line.split_once("  ")?;
        Some((name.to_owned(), sum.to_owned()))
    };
    let sums: Option<BTreeMap<String, String>> = text.lines().map(sum).collect();
    sums.ok_or_else(|| damaged(format!("`{SUMS}` cannot be read")))
}

/// Writes one entry to disk, and gives its sum.
fn extract(entry: &mut impl Read, path: &Path) -> Result<String, CliError> {
    if let Some(dir) = path.parent() {
        files::make_dir(dir, Mode::Private)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(path).map_err(at("create", path))?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        let some = entry.read(&mut buffer).map_err(damaged)?;
        if some == 0 {
            break;
        }
        digest.update(&buffer[..some]);
        file.write_all(&buffer[..some]).map_err(at("write", path))?;
    }
    file.sync_all().map_err(at("write", path))?;
    Ok(hex(&digest.finalize()))
}

/// Waits until the folders are on disk, too.
fn sync_tree(dir: &Path) -> Result<(), CliError> {
    for name in files::list(dir)? {
        let path = dir.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
            sync_tree(&path)?;
        }
    }
    Ok(sync_dir(dir)?)
}
