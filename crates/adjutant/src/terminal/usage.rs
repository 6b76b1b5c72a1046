//! Usage errors: what clap refuses becomes an error like every other, with the nearest names as hints.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli_error::CliError;
use crate::terminal::render::{Render, plain};

/// Handles a usage error or a request for help.
pub(crate) fn refused(error: &clap::Error, render: Render) -> Result<(), CliError> {
    let help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if help || !render.is_json() {
        // Nobody may be reading, as in `adjutant --help | head -1`.
        drop(error.print());
        return if help { Ok(()) } else { Err(CliError::reported(2)) };
    }
    let text = plain(&error.to_string());
    let text = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let near =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let near = near.into_iter().filter_map(|kind| error.get(kind)).flat_map(|found| match found {
        ContextValue::String(one) => vec![one.clone()],
        ContextValue::Strings(several) => several.clone(),
        _ => Vec::new(),
    });
    let cli_error = near.fold(CliError::usage(text), |cli_error, near| {
        cli_error.hint(format!("did you mean `{near}`?"))
    });
    Err(cli_error.hint("`--help` shows what can be typed"))
}
