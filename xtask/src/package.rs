//! Packages of a finished binary: the tarball, the wheel and the npm packages, and the crates of the tree.
//!
//! Every name in a registry is derived from `workspace.metadata.distribution` of the root's `Cargo.toml`, every version
//! from `workspace.package`. The program is called `adjutant` in all of them.

mod archive;
mod crates;
mod glibc;
mod npm;
mod platform;
mod tarball;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use testkit::{Http, World};

use self::archive::ArchiveFile;
pub(crate) use self::archive::Effort;
pub(crate) use self::crates::{registry_names, write_crates};
pub(crate) use self::platform::Target;
use crate::say;
use crate::tree::{self, Tree};

/// The program in every package.
pub(crate) const PROGRAM: &str = "adjutant";
/// Description on the pages of the registries.
const README: &str = include_str!("package/readme.md");
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// A form in which the program is given to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `tar.gz` with the program
    Tarball,
    /// For Python
    Wheel,
    /// The main package and the package of one platform
    Npm,
    /// The crates of the tree, for crates.io
    Crates,
}

impl Form {
    pub(crate) const ALL: [Self; 4] = [Self::Tarball, Self::Wheel, Self::Npm, Self::Crates];

    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tarball => "tarball",
            Self::Wheel => "wheel",
            Self::Npm => "npm",
            Self::Crates => "crates",
        }
    }

    /// Forms by their names; all of them without any.
    pub(crate) fn parse(names: &[&str]) -> Result<Vec<Self>> {
        let find = |name: &str| Self::ALL.into_iter().find(|form| form.name() == name);
        if names.is_empty() {
            return Ok(Self::ALL.into());
        }
        let names = names.iter();
        names
            .map(|name| {
                find(name).with_context(|| {
                    let known = Self::ALL.map(Self::name).join(", ");
                    format!("`{name}` is no form of package; the forms are {known}")
                })
            })
            .collect()
    }
}

/// Facts about the product that packages state.
#[derive(Debug)]
pub(crate) struct Product {
    /// Name in every registry
    pub(crate) distribution: String,
    pub(crate) version: String,
    description: String,
    license: String,
    /// Texts of the licences, by file name
    licenses: Vec<(String, Vec<u8>)>,
}

impl Product {
    pub(crate) fn of(tree: &Tree) -> Result<Self> {
        let package = tree.package(PROGRAM)?;
        let text = |key: &str| {
            let text = package[key].as_str().map(str::to_owned);
            text.with_context(|| format!("cargo knows no `{key}` of `{PROGRAM}`"))
        };
        let version = text("version")?;
        ensure!(
            version.split('.').all(|part| part.parse::<u32>().is_ok()),
            "version `{version}` cannot be packaged: PyPI writes versions before a release \
             differently; use MAJOR.MINOR.PATCH"
        );
        let read = |name: &str| {
            let bytes = fs::read(tree.root.join(name)).with_context(|| name.to_owned())?;
            Ok((name.to_owned(), bytes))
        };
        Ok(Self {
            distribution: tree.distribution.clone(),
            version,
            description: text("description")?,
            license: text("license")?,
            licenses: LICENSES.into_iter().map(read).collect::<Result<_>>()?,
        })
    }

    /// The texts of the licences, in this folder of an archive.
    fn license_files(&self, folder: &str) -> impl Iterator<Item = ArchiveFile<'_>> {
        let licenses = self.licenses.iter();
        licenses.map(move |(name, text)| ArchiveFile::new(format!("{folder}/{name}"), &**text))
    }
}

/// A finished binary and what is to be made of it.
#[derive(Debug)]
pub(crate) struct PackageJob {
    pub(crate) binary: PathBuf,
    pub(crate) target: Target,
    /// Folder of the packages
    pub(crate) into: PathBuf,
    pub(crate) forms: Vec<Form>,
    pub(crate) effort: Effort,
}

/// Makes the packages and reports the size of each; refuses a binary without the page.
pub(crate) fn package(tree: &Tree, job: &PackageJob) -> Result<()> {
    crate::wait(has_page(&job.binary))?;
    let product = Product::of(tree)?;
    let binary = fs::read(&job.binary).with_context(|| job.binary.display().to_string())?;
    job.target.check_glibc(&binary)?;
    fs::create_dir_all(&job.into)?;
    say(&format!("{}  {}", size(binary.len())?, job.binary.display()));
    for form in &job.forms {
        let made = match form {
            Form::Tarball => vec![tarball::tarball(&product, &job.target, &binary, job.effort)?],
            Form::Wheel => vec![wheel::wheel(&product, &job.target, &binary, job.effort)?],
            Form::Npm => npm::packages(&product, &job.target, &binary, job.effort)?,
            Form::Crates => crates::crates(tree, &product)?,
        };
        for package in made {
            keep(&job.into, &package)?;
        }
    }
    Ok(())
}

/// A finished package.
#[derive(Debug)]
struct Package {
    /// File name
    name: String,
    bytes: Vec<u8>,
}

/// Writes a package, its checksum beside it, and reports its size.
fn keep(folder: &Path, package: &Package) -> Result<()> {
    let Package { name, bytes } = package;
    // Written beside and moved over, so that nobody finds half a package.
    let beside = folder.join(format!("{name}.new"));
    fs::write(&beside, bytes)?;
    fs::rename(&beside, folder.join(name))?;
    let sum = tree::sum(bytes);
    fs::write(folder.join(format!("{name}.sha256")), format!("{sum}  {name}\n"))?;
    say(&format!("{}  {name}", size(bytes.len())?));
    Ok(())
}

/// A size for people, in a column.
fn size(bytes: usize) -> Result<String> {
    let kibibytes = f64::from(u32::try_from(bytes / 1024)?);
    let is_small = kibibytes < 1024.0;
    Ok(if is_small {
        format!("{kibibytes:9} KiB")
    } else {
        format!("{:9.1} MiB", kibibytes / 1024.0)
    })
}

/// Fails unless the server shows the page to anyone who asks for `/`.
pub(crate) async fn has_page(binary: &Path) -> Result<()> {
    let world = World::new(binary).await?;
    let server = world.up().await?;
    let (status, page) = Http::new(&server.url, "").get("/").await?;
    let page = page.as_str().unwrap_or_default().to_lowercase();
    if !(status.is_success() && page.starts_with("<!doctype html>") && page.contains("<script")) {
        bail!(
            "there is no page in {}: install Node 22, `touch web/index.html` and build again",
            binary.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
