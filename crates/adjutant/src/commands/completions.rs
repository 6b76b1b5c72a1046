//! `adjutant completions`.

use clap::CommandFactory as _;

use crate::cli::{Cli, Shell};
use crate::render::print_raw;
use crate::trouble::Trouble;

/// Prints completions for a shell.
pub(crate) fn run(shell: Shell) -> Result<(), Trouble> {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "adjutant", &mut script);
    Ok(print_raw(&script)?)
}
