//! Archives in memory: the same files give the same bytes, on any machine and at any time.

use std::borrow::Cow;
use std::io::{Cursor, Write as _};

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Time of every file, as npm writes it: some tools reject the beginning of time.
const MODIFIED: u64 = 499_162_500;

/// Time that is spent on making packages small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For tests
    Quick,
    /// For releases
    Thorough,
}

impl Effort {
    const fn level(self) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Thorough => 9,
        }
    }
}

/// A file of an archive.
#[derive(Debug)]
pub(super) struct ArchiveFile<'a> {
    /// Path inside the archive
    pub(super) path: String,
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) is_executable: bool,
}

impl<'a> ArchiveFile<'a> {
    pub(super) fn new(path: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), is_executable: false }
    }

    pub(super) fn executable(path: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { is_executable: true, ..Self::new(path, bytes) }
    }

    const fn mode(&self) -> u32 {
        if self.is_executable { 0o755 } else { 0o644 }
    }
}

/// A `tar.gz` of these files.
pub(super) fn tar_gz(files: &[ArchiveFile<'_>], effort: Effort) -> Result<Vec<u8>> {
    let gzip = GzEncoder::new(Vec::new(), Compression::new(effort.level()));
    let mut tar = tar::Builder::new(gzip);
    for file in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(file.bytes.len())?);
        header.set_mode(file.mode());
        header.set_mtime(MODIFIED);
        tar.append_data(&mut header, &file.path, file.bytes.as_ref())?;
    }
    Ok(tar.into_inner()?.finish()?)
}

/// A zip of these files.
pub(super) fn zip(files: &[ArchiveFile<'_>], effort: Effort) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(i64::from(effort.level())))
            .unix_permissions(file.mode());
        zip.start_file(&*file.path, options)?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
