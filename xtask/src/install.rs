//! Installs finished packages in empty folders, and does the README's tour with each.
//!
//! No Rust is on the `PATH` of the installed program, and nothing is fetched: the wheel comes from the folder of
//! packages, npm's packages from a local registry, the crates from a folder that stands for crates.io.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use crate::package::{Form, PROGRAM, Product, Target, has_page, registry_names};
use crate::run::{self, IsolatedEnvironment};
use crate::say;
use crate::tree::{self, Tree};
use crate::walk;

/// Folders of a machine's own programs; `cargo` and `rustc` are elsewhere.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Installs the packages of these forms from a folder, one after the other, and tries each.
pub(crate) fn try_packages(tree: &Tree, packages: &Path, forms: &[Form]) -> Result<()> {
    for form in forms {
        let scratch = tempfile::tempdir()?;
        let program = install(tree, packages, *form, scratch.path())?;
        crate::wait(has_page(&program))?;
        walk::walk(tree, text(&program)?, &[])?;
        say(&format!("{}: installed, and the README's tour goes well", form.name()));
    }
    Ok(())
}

/// Installs the packages of a form from a folder into another one, and gives the program.
pub(crate) fn install(tree: &Tree, packages: &Path, form: Form, folder: &Path) -> Result<PathBuf> {
    let packages = packages.canonicalize().with_context(|| packages.display().to_string())?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let folder = folder.canonicalize()?;
    let product = Product::of(tree)?;
    let installation =
        Installation { tree, product: &product, packages: &packages, folder: &folder };
    let program = match form {
        Form::Tarball => installation.unpack()?,
        Form::Wheel => installation.install_wheel()?,
        Form::Npm => installation.install_from_npm()?,
        Form::Crates => installation.install_crates()?,
    };
    let version = installation.output(text(&program)?, &["--version"])?;
    ensure!(
        version.trim() == format!("{PROGRAM} {}", product.version),
        "the {} installed another program: {version}",
        form.name()
    );
    Ok(program)
}

/// One installation into an empty folder.
struct Installation<'a> {
    tree: &'a Tree,
    product: &'a Product,
    /// Folder of the packages
    packages: &'a Path,
    folder: &'a Path,
}

impl Installation<'_> {
    /// Variables of a program that knows no user of this machine.
    fn variables(&self) -> Result<[(&str, &str); 3]> {
        let folder = text(self.folder)?;
        Ok([("PATH", SYSTEM_PATH), ("HOME", folder), ("TMPDIR", folder)])
    }

    fn unpack(&self) -> Result<PathBuf> {
        let target = Target::here()?;
        let name = format!("{PROGRAM}-{}-{}", self.product.version, target.triple());
        let file = self.packages.join(format!("{name}.tar.gz"));
        self.output("tar", &["-xzf", text(&file)?])?;
        Ok(self.folder.join(name).join(PROGRAM))
    }

    /// Lets pip choose the wheel by its tags.
    fn install_wheel(&self) -> Result<PathBuf> {
        let venv = self.folder.join("venv");
        let python = testkit::python()?;
        self.output(text(&python)?, &["-m", "venv", text(&venv)?])?;
        let wanted = format!("{}=={}", self.product.distribution, self.product.version);
        let packages = text(self.packages)?;
        let pip = venv.join("bin/pip");
        let quiet = ["--quiet", "--disable-pip-version-check"];
        let install = ["install", "--no-index", "--find-links", packages, &wanted];
        self.output(text(&pip)?, &[&install[..], &quiet].concat())?;
        Ok(venv.join("bin").join(PROGRAM))
    }

    /// Publishes the packages in a local registry, and installs from there.
    fn install_from_npm(&self) -> Result<PathBuf> {
        let node = testkit::node()?;
        let serve = self.tree.root.join(".tools/registry/serve.mjs");
        ensure!(serve.exists(), "`{}` is not there: please run `tools/setup`", serve.display());
        let storage = self.folder.join("registry");
        let variables = self.variables()?;
        let surroundings = IsolatedEnvironment::of(self.folder, &variables);
        let (_registry, url) = surroundings.start(&node, &[text(&serve)?, text(&storage)?])?;
        let address = url.trim_start_matches("http:");
        // npm wants a token to publish with; the registry lets anybody in.
        let settings = format!(
            "registry={url}\n{address}:_authToken=anybody\naudit=false\nfund=false\nupdate-notifier=false\n"
        );
        fs::write(self.folder.join(".npmrc"), settings)?;
        for package in self.files_that_end_with(".tgz")? {
            self.output("npm", &["publish", "--loglevel=error", text(&package)?])?;
        }
        let prefix = self.folder.join("npm");
        let wanted = format!("{}@{}", self.product.distribution, self.product.version);
        let prefixed = ["--prefix", text(&prefix)?, "--loglevel=error"];
        self.output("npm", &[&["install", "--global", &wanted][..], &prefixed].concat())?;
        Ok(prefix.join("bin").join(PROGRAM))
    }

    /// Runs `cargo install` with a folder in place of crates.io: the packaged crates beside what they depend on.
    fn install_crates(&self) -> Result<PathBuf> {
        let registry = self.folder.join("crates.io");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let vendor = ["vendor", "--quiet", "--locked", "--versioned-dirs", text(&registry)?];
        run::output(Path::new(&cargo), &vendor, &self.tree.root)?;
        for name in registry_names(self.tree, self.product)? {
            let crate_name = format!("{name}-{}", self.product.version);
            let file = self.packages.join(format!("{crate_name}.crate"));
            let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
            self.output("tar", &["-xzf", text(&file)?, "-C", text(&registry)?])?;
            let checksum = json!({ "files": {}, "package": tree::sum(&bytes) }).to_string();
            fs::write(registry.join(crate_name).join(".cargo-checksum.json"), checksum)?;
        }
        let root = self.folder.join("cargo");
        let folder = format!("source.local.directory={:?}", text(&registry)?);
        let install = ["install", "--quiet", "--locked", &self.product.distribution];
        let version = ["--version", &self.product.version, "--root", text(&root)?];
        let source = ["--config", "source.crates-io.replace-with='local'", "--config", &folder];
        // Cargo itself needs the user's Rust; the program that it makes is tried without.
        run::output(Path::new(&cargo), &[&install[..], &version, &source].concat(), self.folder)?;
        Ok(root.join("bin").join(PROGRAM))
    }

    fn files_that_end_with(&self, end: &str) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(self.packages)? {
            let path = entry?.path();
            if path.to_string_lossy().ends_with(end) {
                files.push(path);
            }
        }
        ensure!(!files.is_empty(), "there is no {end} in {}", self.packages.display());
        Ok(files)
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let variables = self.variables()?;
        IsolatedEnvironment::of(self.folder, &variables).output(Path::new(program), arguments)
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}
