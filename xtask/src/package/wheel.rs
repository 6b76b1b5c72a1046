//! The wheel: a Python package that is only the program, as maturin makes it with `bindings = "bin"`.
//!
//! It is assembled here and not by maturin, which would build the program once more.

use std::fmt::Write as _;

use anyhow::Result;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::archive::{ArchiveFile, Effort, zip};
use super::{PROGRAM, Package, Product, README, Target};

/// The wheel of this binary.
pub(super) fn wheel(
    product: &Product,
    target: &Target,
    binary: &[u8],
    effort: Effort,
) -> Result<Package> {
    let name = format!("{}-{}", product.distribution.replace('-', "_"), product.version);
    let tags = target.wheel_tags(binary);
    let info = format!("{name}.dist-info");
    let mut files = vec![
        ArchiveFile::executable(format!("{name}.data/scripts/{PROGRAM}"), binary),
        ArchiveFile::new(format!("{info}/METADATA"), metadata(product).into_bytes()),
        ArchiveFile::new(format!("{info}/WHEEL"), wheel_file(&tags).into_bytes()),
    ];
    files.extend(product.license_files(&format!("{info}/licenses")));
    let record = record(&files, &format!("{info}/RECORD"));
    files.push(ArchiveFile::new(format!("{info}/RECORD"), record.into_bytes()));
    let bytes = zip(&files, effort)?;
    Ok(Package { name: format!("{name}-py3-none-{}.whl", tags.join(".")), bytes })
}

fn metadata(product: &Product) -> String {
    let mut text = format!(
        "Metadata-Version: 2.4\nName: {}\nVersion: {}\nSummary: {}\nLicense-Expression: {}\n",
        product.distribution, product.version, product.description, product.license
    );
    for (name, _) in &product.licenses {
        // Writing to a String cannot fail.
        _ = writeln!(text, "License-File: {name}");
    }
    text.push_str("Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n");
    text.push_str(README);
    text
}

fn wheel_file(tags: &[String]) -> String {
    let mut text = "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: false\n".to_owned();
    for tag in tags {
        // Writing to a String cannot fail.
        _ = writeln!(text, "Tag: py3-none-{tag}");
    }
    text
}

/// Path, hash and size of every file; the record itself has neither hash nor size.
fn record(files: &[ArchiveFile<'_>], own_path: &str) -> String {
    let mut text = String::new();
    for file in files {
        let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&file.bytes));
        // Writing to a String cannot fail.
        _ = writeln!(text, "{},sha256={hash},{}", file.path, file.bytes.len());
    }
    text + own_path + ",,\n"
}
