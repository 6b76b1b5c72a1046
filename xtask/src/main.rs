//! Chores of the tree: what is longer than three lines and no part of the product.

mod generate;
mod run;
mod tidy;
mod tree;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::generate::Mode;
use crate::tree::Tree;

const USAGE: &str = "\
cargo xtask tidy                 check the habits of this tree
cargo xtask generate [--check]   write docs/reference, or fail if it is not current
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
        ["generate"] => generate::generate(&Tree::here()?, Mode::Write),
        ["generate", "--check"] => generate::generate(&Tree::here()?, Mode::Check),
        _ => bail!("there is no such chore\n\n{USAGE}"),
    }
}

/// Tells the person at the terminal.
fn say(line: &str) {
    // With nobody there to read it, there is nobody to tell that it failed.
    drop(writeln!(std::io::stdout(), "{line}"));
}
