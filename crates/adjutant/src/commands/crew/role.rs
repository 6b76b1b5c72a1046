//! Why a role is not there: its file may be, and be wrong.

use engine::Code;

use crate::app::App;
use crate::cli_error::Trouble;
use crate::crew::roles;

/// The trouble with the file of a role that nobody knows, else the trouble as it is.
pub(crate) fn explained(app: &App, trouble: Trouble, role: Option<&str>) -> Trouble {
    let unknown = trouble.body()["code"] == Code::ResourceNotFound.name();
    match role.filter(|_| unknown).and_then(|role| broken(app, role)) {
        Some(found) => found,
        None => trouble,
    }
}

fn broken(app: &App, role: &str) -> Option<Trouble> {
    let home = app.home().ok()?;
    let policy = app.config(&home, &[]).ok()?.policy().ok()?;
    let mut files = roles::files::list(&home, &policy).into_iter();
    let problem = files.find(|file| file.name == role)?.problem?;
    Some(Trouble::from(Box::new(problem)).hint("fix the file, then run `adjutant reload`"))
}
