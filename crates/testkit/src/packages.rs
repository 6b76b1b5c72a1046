//! Packages of a built program in the forms in which others get it, and their installation as by a stranger.
//!
//! `xtask` beside the program makes and installs them. Tests share what was made until the program is built anew.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::World;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A form of package that is made of a finished program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageForm {
    /// `tar.gz` with the program
    Tarball,
    /// For Python
    Wheel,
    /// For npm: the main package, and the one of this platform
    Npm,
}

impl PackageForm {
    /// Its name, as the chores of the tree have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tarball => "tarball",
            Self::Wheel => "wheel",
            Self::Npm => "npm",
        }
    }

    /// The line of the page "Install" that installs it. What pipx does is done with pip here.
    pub const fn install_line(self) -> &'static str {
        match self {
            Self::Tarball => "tar -xzf adjutant-*.tar.gz",
            Self::Wheel => "pipx install adjutant_crew-*.whl",
            Self::Npm => "npm install --global adjutant-crew",
        }
    }
}

/// The chores of the tree, which are built with the program and lie beside it.
pub fn xtask(binary: &Path) -> Result<PathBuf> {
    let xtask = binary.with_file_name("xtask");
    ensure!(xtask.exists(), "run `cargo build --workspace` first: there is no {}", xtask.display());
    Ok(xtask)
}

/// A world in which the chores of the tree run: with Cargo, and without the network.
pub fn chores(binary: &Path) -> Result<World> {
    let mut world = World::bare(binary)?;
    let cargo = Path::new(env!("CARGO")).parent().context("Cargo is in a folder")?;
    world.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", cargo.display()));
    // Cargo finds there what it has downloaded for this very test.
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    world.set("CARGO_HOME", cargo_home.context("there is no home")?.display().to_string());
    world.set("CARGO_NET_OFFLINE", "true");
    Ok(world)
}

/// Folder with the packages of a form. They are made of the program by whichever test needs them first.
pub async fn packages(binary: &Path, form: PackageForm) -> Result<PathBuf> {
    let all = binary.with_file_name("packages");
    fs::create_dir_all(&all).with_context(|| all.display().to_string())?;
    let folder = all.join(form.name());
    let lock = File::create(folder.with_extension("lock"))?;
    lock.lock()?;
    let xtask = xtask(binary)?;
    let made_of = format!("{} {}", version(binary)?, version(&xtask)?);
    let stamp = folder.join(".stamp");
    if fs::read_to_string(&stamp).is_ok_and(|known| known == made_of) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    // A debug binary is mostly symbols.
    let script = format!(
        "program=$TMPDIR/stripped; strip -o \"$program\" '{}' && cd '{ROOT}' &&
         '{}' package \"$program\" {}-unknown-linux-gnu '{}' {}",
        binary.display(),
        xtask.display(),
        std::env::consts::ARCH,
        folder.display(),
        form.name(),
    );
    chores(binary)?.shell(&script).await?.ok()?;
    fs::write(stamp, made_of)?;
    Ok(folder)
}

/// Installs a program from its packages into an empty folder, with no Rust on the `PATH`, and gives what was installed.
pub async fn install(binary: &Path, form: PackageForm, into: &Path) -> Result<PathBuf> {
    let script = format!(
        "cd '{ROOT}' && '{}' install '{}' {} '{}'",
        xtask(binary)?.display(),
        packages(binary, form).await?.display(),
        form.name(),
        into.display(),
    );
    let told = chores(binary)?.shell(&script).await?.ok()?.stdout;
    let program = PathBuf::from(told.lines().last().context("no program is named")?);
    ensure!(program.starts_with(into.canonicalize()?), "{} is elsewhere", program.display());
    Ok(program)
}

/// Size and time of a file: another build gives another one.
fn version(file: &Path) -> Result<String> {
    let facts = fs::metadata(file).with_context(|| file.display().to_string())?;
    Ok(format!("{} {:?}", facts.len(), facts.modified()?))
}
