//! The tree: where it is, which files it has, and what cargo knows of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::run;

/// The project's tree.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Its root
    pub(crate) root: PathBuf,
    /// Where cargo builds
    pub(crate) target: PathBuf,
    /// Every file that git has or would take, relative to the root
    pub(crate) files: Vec<PathBuf>,
    /// What cargo says of the workspace's own packages
    pub(crate) packages: Vec<Value>,
    /// Name of the packages in every registry
    pub(crate) distribution: String,
}

impl Tree {
    /// The tree around the working directory.
    pub(crate) fn here() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let arguments = ["metadata", "--no-deps", "--format-version=1"];
        let metadata = run::output(Path::new(&cargo), &arguments, Path::new("."))?;
        let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata")?;
        let path = |key: &str| {
            let text =
                metadata[key].as_str().with_context(|| format!("no `{key}` in the metadata"))?;
            Ok::<_, anyhow::Error>(PathBuf::from(text))
        };
        let root = path("workspace_root")?;
        let files = list(&root)?;
        let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
        let distribution = metadata["metadata"]["distribution"]["name"].as_str();
        let distribution = distribution.context("no `workspace.metadata.distribution`")?.to_owned();
        Ok(Self { target: path("target_directory")?, root, files, packages, distribution })
    }

    /// What cargo says of one of the workspace's own packages.
    pub(crate) fn package(&self, name: &str) -> Result<&Value> {
        let package = self.packages.iter().find(|package| package["name"] == name);
        package.with_context(|| format!("the workspace has no package `{name}`"))
    }

    /// The text of a file, or nothing if it is not text.
    pub(crate) fn text(&self, file: &Path) -> Result<Option<String>> {
        let bytes = std::fs::read(self.root.join(file))
            .with_context(|| format!("could not read `{}`", file.display()))?;
        Ok(String::from_utf8(bytes).ok())
    }

    /// The files that are written in Rust.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &Path> {
        let files = self.files.iter().map(PathBuf::as_path);
        files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
    }
}

/// The SHA-256 of these bytes, as `sha256sum` writes it.
pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn list(root: &Path) -> Result<Vec<PathBuf>> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let listed = run::output(Path::new("git"), &arguments, root)?;
    let files = listed.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    // A file may be deleted and not yet forgotten; a link is a file of another place.
    let mut files: Vec<PathBuf> = files
        .filter(|file| root.join(file).symlink_metadata().is_ok_and(|data| data.is_file()))
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}
