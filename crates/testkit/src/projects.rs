//! Real projects from the registries, as `tools/setup` fetches them, and the tools that test them.
//!
//! Their own set-ups install from what was fetched with them, so that no test needs the network.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::World;
use crate::programs::installed;

/// A Go module without dependencies, where Debian's package puts it.
const GO_SOURCES: &str = "/usr/share/gocode/src/github.com/google/shlex";

/// A project that somebody published, with its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RealProject {
    /// A Python library that pytest tests in a `.venv`
    Python,
    /// An npm package that jest tests
    Npm,
    /// A crate without dependencies
    Cargo,
    /// A Go module without dependencies
    Go,
}

impl RealProject {
    /// Puts the published files into a folder, with the rules for what git ignores.
    pub fn lay_out(self, folder: &Path) -> Result<()> {
        copy_folder(&self.sources()?, folder)?;
        if self == Self::Npm {
            // The published manifest asks for more tools than its tests need, and has no lock file.
            for name in ["package.json", "package-lock.json"] {
                let source = installed(&format!(".tools/projects/jest/{name}"))?;
                fs::copy(source, folder.join(name)).with_context(|| name.to_owned())?;
            }
        }
        fs::write(folder.join(".gitignore"), self.ignored()).context(".gitignore")
    }

    fn sources(self) -> Result<PathBuf> {
        match self {
            Self::Python => installed(".tools/projects/python/sources/blinker-1.8.2"),
            Self::Npm => installed(".tools/projects/typescript/node_modules/css-to-react-native"),
            Self::Cargo => installed(".tools/projects/cargo/vendor/strsim-0.11.1"),
            Self::Go => installed(GO_SOURCES),
        }
    }

    const fn ignored(self) -> &'static str {
        match self {
            Self::Python => ".env\n.venv\n__pycache__\n.pytest_cache\n",
            Self::Npm => "node_modules\n",
            Self::Cargo => "target\nCargo.lock\n",
            Self::Go => "*.test\n",
        }
    }

    /// A source file of the project, and a line that changes nothing of what it does.
    pub const fn harmless_change(self) -> (&'static str, &'static str) {
        match self {
            Self::Python => ("src/blinker/base.py", "# Tidied.\n"),
            Self::Npm => ("src/tokenTypes.js", "// Tidied.\n"),
            Self::Cargo => ("src/lib.rs", "// Tidied.\n"),
            Self::Go => ("shlex.go", "// Tidied.\n"),
        }
    }
}

/// The `PATH` of somebody who works in a project: its tools, and those of the system. Rust is there for a crate only.
pub fn path(project: RealProject) -> Result<String> {
    let mut folders = vec![projects()?.join("bin")];
    if project == RealProject::Cargo {
        // The compiler beside Cargo itself: what rustup puts in its place needs rustup's own folders.
        let cargo = Path::new(env!("CARGO")).parent().context("Cargo is in a folder")?;
        folders.push(cargo.to_owned());
    }
    folders.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Ok(folders.join(":"))
}

fn projects() -> Result<PathBuf> {
    Ok(installed(".tools/projects")?.canonicalize()?)
}

/// Gives a world the tools of a project, and package managers that take everything from what was fetched.
pub fn equip(world: &mut World, project: RealProject) -> Result<()> {
    world.set("PATH", path(project)?);
    let projects = projects()?;
    let user = world.user();
    let root = projects.display();
    for (file, text) in [
        (".npmrc", format!("cache={root}/npm\noffline=true\nupdate-notifier=false\n")),
        (
            ".config/pip/pip.conf",
            format!(
                "[global]\nno-index = true\nfind-links = {root}/python/wheels\n\
                 disable-pip-version-check = true\n"
            ),
        ),
        // What Go compiled of its own library is shared, as on anybody's machine.
        (".config/go/env", format!("GOCACHE={root}/go-cache\nGOPROXY=off\nGOTOOLCHAIN=local\n")),
    ] {
        let file = user.join(file);
        fs::create_dir_all(file.parent().context("it is in a folder")?)?;
        fs::write(&file, text).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// The compiler of `TypeScript`.
pub fn tsc() -> Result<PathBuf> {
    installed(".tools/projects/typescript/node_modules/.bin/tsc")
}

/// The packages that the npm project's own `npm ci` installs.
pub fn node_modules() -> Result<PathBuf> {
    installed(".tools/projects/jest/node_modules")
}

/// Copies the files of a folder, and of those in it.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).with_context(|| target.display().to_string())?;
        }
    }
    Ok(())
}
