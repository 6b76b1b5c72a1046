//! Explains why a role is unknown: its file may exist and be invalid.

use engine::Code;

use crate::app::App;
use crate::cli_error::CliError;
use crate::crew::roles;

/// The problem with the file of an unknown role, else the error as it is.
pub(crate) fn explained(app: &App, cli_error: CliError, role: Option<&str>) -> CliError {
    let is_unknown = cli_error.code() == Code::ResourceNotFound;
    match role.filter(|_| is_unknown).and_then(|role| broken(app, role)) {
        Some(found) => found,
        None => cli_error,
    }
}

fn broken(app: &App, role: &str) -> Option<CliError> {
    let home = app.home().ok()?;
    let policy = app.config(&home, &[]).ok()?.policy().ok()?;
    let mut files = roles::files::list(&home, &policy).into_iter();
    let problem = files.find(|file| file.name == role)?.problem?;
    Some(CliError::from(Box::new(problem)).hint("fix the file and try again"))
}
