//! Tasks for development: anything longer than three lines that is not part of the product.

mod commit_message;
mod generate;
mod install;
mod package;
mod release;
mod run;
mod tidy;
mod tree;
mod walk;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};

use crate::generate::Mode;
use crate::package::{Effort, Form, PackageJob, Target};
use crate::tree::Tree;

const USAGE: &str = "\
cargo xtask tidy                 check the habits of this tree
cargo xtask commit-msg FILE      check the message of a commit that is being made
cargo xtask generate [--check]   write docs/reference, or fail if it is not current
cargo xtask walk BINARY [PAGE]   do what a page says, word for word; the README if none is named
cargo xtask package BINARY TARGET FOLDER [FORM…]
                                 make packages of a finished binary: tarball, wheel, npm, crates; quickly, for tests
cargo xtask crates FOLDER        write the tree as crates.io takes it, for `cargo publish --workspace`
cargo xtask release BINARY TARGET   make all of them in dist/, as small as can be, and measure the binary
cargo xtask install FOLDER FORM INTO
                                 install a finished package of a folder in an empty one, and print the program's path
cargo xtask try FOLDER [FORM…]   install finished packages in empty folders, and do the README's tour with each
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match chore(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn chore(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["tidy"] => tidy::tidy(&Tree::here()?),
        ["commit-msg", file] => check_message(Path::new(file)),
        ["generate"] => generate::generate(&Tree::here()?, Mode::Write),
        ["generate", "--check"] => generate::generate(&Tree::here()?, Mode::Check),
        ["walk", binary, pages @ ..] => walk::walk(&Tree::here()?, binary, pages),
        ["package", binary, target, folder, forms @ ..] => {
            package::package(&Tree::here()?, &quick_job(binary, target, folder, forms)?)
        }
        ["crates", folder] => package::write_crates(&Tree::here()?, Path::new(folder)),
        ["install", packages, form, into] => {
            let [form] = Form::parse(&[form])?[..] else { bail!("name one form of package") };
            let program =
                install::install(&Tree::here()?, Path::new(packages), form, Path::new(into))?;
            say(&program.display().to_string());
            Ok(())
        }
        ["try", folder, forms @ ..] => {
            install::try_packages(&Tree::here()?, Path::new(folder), &Form::parse(forms)?)
        }
        ["release", binary, target] => release::release(&Tree::here()?, binary, target),
        _ => bail!("there is no such chore\n\n{USAGE}"),
    }
}

/// Packages for tests, which are thrown away.
fn quick_job(binary: &str, target: &str, folder: &str, forms: &[&str]) -> Result<PackageJob> {
    Ok(PackageJob {
        binary: Path::new(binary).canonicalize().with_context(|| binary.to_owned())?,
        target: Target::parse(target)?,
        into: folder.into(),
        forms: Form::parse(forms)?,
        effort: Effort::Quick,
    })
}

/// Checks the message that git is about to commit with what is staged.
fn check_message(file: &Path) -> Result<()> {
    let message = std::fs::read_to_string(file)
        .with_context(|| format!("could not read `{}`", file.display()))?;
    let staged = ["diff", "--cached", "--numstat", "-M"];
    let numstat = run::output(Path::new("git"), &staged, Path::new("."))?;
    let problems = commit_message::problems(&message, commit_message::changed_lines(&numstat));
    ensure!(problems.is_empty(), "commit message: {}", problems.join("\ncommit message: "));
    Ok(())
}

/// Tells the person at the terminal.
fn say(line: &str) {
    // With nobody there to read it, there is nobody to tell that it failed.
    drop(writeln!(std::io::stdout(), "{line}"));
}

/// Waits for something that is done asynchronously.
fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Runtime::new()?.block_on(work)
}
