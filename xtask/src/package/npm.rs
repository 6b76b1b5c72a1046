//! The npm packages: a small one with a launcher, and one with the program for each platform.
//!
//! npm installs of the optional packages only the one whose `os`, `cpu` and `libc` fit the machine.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::archive::{ArchiveFile, Effort, tar_gz};
use super::platform::{PLATFORMS, Platform};
use super::{PROGRAM, Package, Product, README, Target};

const LAUNCHER: &str = include_str!("npm/launcher.js");

/// The main package, and the package of this binary's platform.
pub(super) fn packages(
    product: &Product,
    target: &Target,
    binary: &[u8],
    effort: Effort,
) -> Result<Vec<Package>> {
    let launcher = ArchiveFile::executable(in_package("bin/adjutant.js"), LAUNCHER.as_bytes());
    let program = ArchiveFile::executable(in_package(&format!("bin/{PROGRAM}")), binary);
    Ok(vec![
        pack(product, &main_manifest(product), launcher, effort)?,
        pack(product, &platform_manifest(product, target.platform), program, effort)?,
    ])
}

/// `package.json` of the main package.
pub(super) fn main_manifest(product: &Product) -> Value {
    let optional: Map<String, Value> = PLATFORMS
        .iter()
        .map(|platform| (platform_package(product, platform), json!(product.version)))
        .collect();
    let mut systems = PLATFORMS.map(|platform| platform.os).to_vec();
    systems.dedup();
    json!({
        "name": product.distribution,
        "version": product.version,
        "description": product.description,
        "license": product.license,
        "bin": { PROGRAM: "bin/adjutant.js" },
        "engines": { "node": ">=18" },
        "os": systems,
        "optionalDependencies": optional,
    })
}

/// `package.json` of the package of a platform.
pub(super) fn platform_manifest(product: &Product, platform: &Platform) -> Value {
    let description =
        format!("The program of {}, for {}", product.distribution, platform.node_name());
    let mut manifest = json!({
        "name": platform_package(product, platform),
        "version": product.version,
        "description": description,
        "license": product.license,
        "os": [platform.os],
        "cpu": [platform.cpu],
        // Yarn keeps packages in zips, where no program can be started.
        "preferUnplugged": true,
    });
    if let Some(libc) = platform.has_glibc().then(|| json!(["glibc"])) {
        manifest["libc"] = libc;
    }
    manifest
}

/// Name of the package of a platform, as the launcher derives it.
fn platform_package(product: &Product, platform: &Platform) -> String {
    format!("{}-{}", product.distribution, platform.node_name())
}

fn in_package(path: &str) -> String {
    format!("package/{path}")
}

fn pack(
    product: &Product,
    manifest: &Value,
    program: ArchiveFile<'_>,
    effort: Effort,
) -> Result<Package> {
    let name = manifest["name"].as_str().unwrap_or_default();
    let mut files = vec![
        ArchiveFile::new(in_package("package.json"), serde_json::to_vec_pretty(manifest)?),
        ArchiveFile::new(in_package("README.md"), README.as_bytes()),
        program,
    ];
    files.extend(product.license_files("package"));
    Ok(Package { name: format!("{name}-{}.tgz", product.version), bytes: tar_gz(&files, effort)? })
}
