//! The crates as crates.io takes them: a copy of the tree with names of their own, packaged by cargo.
//!
//! In the tree the crates are called as they are used: `engine`, `store`. Those names belong to others in the registry,
//! so the copy's manifests rename the packages after the distribution, and keep the names of their libraries. The copy
//! carries the finished page, so that nobody who installs from the registry needs Node.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use toml_edit::{DocumentMut, Item, Table, value};

use super::{PROGRAM, Package, Product, README};
use crate::tree::Tree;
use crate::{run, say};

/// The crate that has the page, and the folder where its build script looks for it.
const PAGE: (&str, &str) = ("server", "page");
/// Sections of a manifest that serve the tree only.
const LEFT_OUT: [&str; 2] = ["dev-dependencies", "test"];

/// The packaged crates of the program, each after those it depends on.
pub(super) fn crates(tree: &Tree, product: &Product) -> Result<Vec<Package>> {
    // Outside the tree: cargo packages what git does not ignore.
    let scratch = tempfile::tempdir()?;
    let names = copy_tree(tree, product, scratch.path())?;
    let target = scratch.path().join("target");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = [
        "package",
        "--workspace",
        // Each is built where it is installed, by `cargo xtask try`.
        "--no-verify",
        "--quiet",
        "--target-dir",
        target.to_str().context("the folder for scratch files is not UTF-8")?,
    ];
    run::output(Path::new(&cargo), &arguments, scratch.path())?;
    let read = |name: &String| {
        let name = format!("{}-{}.crate", registry_name(product, name), product.version);
        let bytes = fs::read(target.join("package").join(&name)).with_context(|| name.clone())?;
        Ok(Package { name, bytes })
    };
    names.iter().map(read).collect()
}

/// Writes the tree as the registry takes it into an empty folder, for `cargo publish --workspace`.
pub(crate) fn write_crates(tree: &Tree, folder: &Path) -> Result<()> {
    let is_empty = !folder.exists() || fs::read_dir(folder)?.next().is_none();
    ensure!(is_empty, "`{}` is not empty", folder.display());
    let product = Product::of(tree)?;
    for name in copy_tree(tree, &product, folder)? {
        say(&format!("{}  crates/{name}", registry_name(&product, &name)));
    }
    Ok(())
}

/// Names in the registry of the crates that the program is made of.
pub(crate) fn registry_names(tree: &Tree, product: &Product) -> Result<Vec<String>> {
    Ok(in_order(tree)?.iter().map(|name| registry_name(product, name)).collect())
}

/// Name of a crate of the tree in the registry.
pub(super) fn registry_name(product: &Product, name: &str) -> String {
    let distribution = &product.distribution;
    if name == PROGRAM { distribution.clone() } else { format!("{distribution}-{name}") }
}

/// The crates that the program is made of, each after those it depends on.
fn in_order(tree: &Tree) -> Result<Vec<String>> {
    let mut names = Vec::new();
    add_with_dependencies(tree, PROGRAM, &mut names)?;
    Ok(names)
}

fn add_with_dependencies(tree: &Tree, name: &str, names: &mut Vec<String>) -> Result<()> {
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    let dependencies = tree.package(name)?["dependencies"].as_array();
    for dependency in dependencies.into_iter().flatten() {
        if dependency["path"].is_string() && dependency["kind"] != "dev" {
            add_with_dependencies(tree, dependency["name"].as_str().unwrap_or_default(), names)?;
        }
    }
    names.push(name.to_owned());
    Ok(())
}

/// Copies the crates with their manifests rewritten, the workspace around them, and the page. Gives the crates' names
/// in the tree, each after those it depends on.
fn copy_tree(tree: &Tree, product: &Product, to: &Path) -> Result<Vec<String>> {
    let names = in_order(tree)?;
    for name in &names {
        let folder = Path::new("crates").join(name);
        for file in tree.files.iter().filter(|file| file.starts_with(&folder)) {
            if !file.starts_with(folder.join("tests")) {
                let bytes = fs::read(tree.root.join(file))?;
                write(&to.join(file), &bytes)?;
            }
        }
        for (license, text) in &product.licenses {
            write(&to.join(&folder).join(license), text)?;
        }
        write(&to.join(&folder).join("README.md"), README.as_bytes())?;
        let manifest = folder.join("Cargo.toml");
        let text = tree.text(&manifest)?.context("a manifest is not UTF-8")?;
        let text = crate_manifest(product, name, &text)?;
        write(&to.join(manifest), text.as_bytes())?;
    }
    let text = tree.text(Path::new("Cargo.toml"))?.context("the manifest is not UTF-8")?;
    write(&to.join("Cargo.toml"), workspace_manifest(product, &names, &text)?.as_bytes())?;
    write(&to.join("Cargo.lock"), &fs::read(tree.root.join("Cargo.lock"))?)?;
    copy_page(&to.join("crates").join(PAGE.0).join(PAGE.1))?;
    Ok(names)
}

/// Writes the page that this program was built with, as the binary was.
fn copy_page(to: &Path) -> Result<()> {
    let files = server::built_page();
    ensure!(
        !files.is_empty(),
        "xtask was built without the page: install Node 22, `touch web/index.html` and build again"
    );
    for file in files {
        write(&to.join(file.path), file.bytes)?;
    }
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    fs::write(file, bytes).with_context(|| file.display().to_string())
}

/// The manifest of a crate, for the registry.
pub(super) fn crate_manifest(product: &Product, name: &str, text: &str) -> Result<String> {
    let mut manifest: DocumentMut = text.parse()?;
    for section in LEFT_OUT {
        manifest.remove(section);
    }
    let is_program = name == PROGRAM;
    let package = table(&mut manifest, "package")?;
    package.remove("publish");
    package.insert("name", value(registry_name(product, name)));
    package.insert("readme", value("README.md"));
    if is_program {
        let mut binary = Table::new();
        binary.insert("name", value(PROGRAM));
        binary.insert("path", value("src/main.rs"));
        manifest.insert("bin", Item::ArrayOfTables(std::iter::once(binary).collect()));
    } else {
        let description = format!("Internal part `{name}` of the program {}", product.distribution);
        package.insert("description", value(description));
        let mut library = Table::new();
        library.insert("name", value(name));
        manifest.insert("lib", Item::Table(library));
    }
    Ok(manifest.to_string())
}

/// The manifest of the workspace: only the program's crates, under their names in the registry.
pub(super) fn workspace_manifest(
    product: &Product,
    names: &[String],
    text: &str,
) -> Result<String> {
    let mut manifest: DocumentMut = text.parse()?;
    // Its settings are the builder's, and name crates that are not there.
    manifest.remove("profile");
    let workspace = table(&mut manifest, "workspace")?;
    workspace.remove("default-members");
    let members = names.iter().map(|name| format!("crates/{name}")).collect::<toml_edit::Array>();
    workspace.insert("members", value(members));
    let dependencies = workspace
        .get_mut("dependencies")
        .and_then(Item::as_table_mut)
        .context("the workspace has no dependencies")?;
    dependencies.remove("testkit");
    for name in names.iter().filter(|name| *name != PROGRAM) {
        let mut dependency = toml_edit::InlineTable::new();
        dependency.insert("path", format!("crates/{name}").into());
        dependency.insert("package", registry_name(product, name).into());
        // They are parts of one program, and fit no other version of each other.
        dependency.insert("version", format!("={}", product.version).into());
        dependencies.insert(name, value(dependency));
    }
    Ok(manifest.to_string())
}

fn table<'a>(manifest: &'a mut DocumentMut, name: &str) -> Result<&'a mut Table> {
    let table = manifest.get_mut(name).and_then(Item::as_table_mut);
    table.with_context(|| format!("a manifest has no [{name}]"))
}
