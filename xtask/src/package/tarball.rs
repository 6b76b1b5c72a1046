//! The tarball: one folder with the program, for a machine without any package manager.

use anyhow::Result;

use super::archive::{ArchiveFile, Effort, tar_gz};
use super::{PROGRAM, Package, Product, README, Target};

/// The tarball of this binary.
pub(super) fn tarball(
    product: &Product,
    target: &Target,
    binary: &[u8],
    effort: Effort,
) -> Result<Package> {
    let folder = format!("{PROGRAM}-{}-{}", product.version, target.platform.triple);
    let mut files = vec![
        ArchiveFile::executable(format!("{folder}/{PROGRAM}"), binary),
        ArchiveFile::new(format!("{folder}/README.md"), README.as_bytes()),
    ];
    files.extend(product.license_files(&folder));
    Ok(Package { name: format!("{folder}.tar.gz"), bytes: tar_gz(&files, effort)? })
}
