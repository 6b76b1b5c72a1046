//! The Python virtual environment that a person's shell has activated, and what programs in a worktree get of it.
//!
//! A person's own environment has the project's own files installed, and an install into it changes it for the person. So
//! nobody in a worktree is led into it, unless the worktree has it as a link or needs it for want of one of its own.

use std::path::{Path, PathBuf};

use host::git::Checkout;

use crate::core::handed_on::{set_variable, variable};
use crate::core::handle::Core;

/// The variable that names the active environment.
const VARIABLE: &str = "VIRTUAL_ENV";

/// Whether the project's set-up ran in a working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetUp {
    Ran,
    None,
}

/// A variable and its value.
type Variable = (String, String);

impl Core {
    /// Takes the active virtual environments out of an environment, also out of its `PATH`. Gives those that were in it.
    pub(crate) fn leave_virtual_env(&self, environment: &mut Vec<Variable>) -> Vec<PathBuf> {
        let active = self.active(environment);
        replace(environment, &active, None);
        active
    }

    /// Fits an environment to a folder in a worktree: an active virtual environment becomes the worktree's own. Where it
    /// has none, none is active once its set-up ran, which made what is needed in a way of its own; else the person's
    /// stays. Outside of the project's worktrees everything stays.
    pub(crate) fn enter_virtual_env(
        &self,
        environment: &mut Vec<Variable>,
        dir: &Path,
        set_up: SetUp,
    ) {
        let active = self.active(environment);
        let project = Checkout::around(&self.options.project);
        let (Some(here), Some(project)) = (Checkout::around(dir), project) else { return };
        if active.is_empty() || here.top == project.top || here.common != project.common {
            return;
        }
        let own = self.own_of(&here, &project, &active);
        if own.is_some() || set_up == SetUp::Ran || here.is_set_up() {
            replace(environment, &active, own.as_deref());
        }
    }

    /// The active virtual environments: the one that the environment names, and the server's own if its programs are on
    /// the `PATH`.
    fn active(&self, environment: &[Variable]) -> Vec<PathBuf> {
        let named = variable(environment, VARIABLE).filter(|path| !path.is_empty());
        let operator = self.options.operator_environment.iter();
        let servers = operator.filter(|(name, _)| name == VARIABLE).map(|(_, path)| path);
        let servers = servers.map(PathBuf::from).filter(|path| path.is_absolute());
        let path = variable(environment, "PATH").unwrap_or_default();
        let mut active: Vec<PathBuf> = named.map(PathBuf::from).into_iter().collect();
        active.extend(servers.filter(|venv| path.split(':').any(|folder| is_bin(folder, venv))));
        active.dedup();
        active
    }

    /// The virtual environment of a worktree: the one in the place where the project has an active one, else `.venv`.
    fn own_of(&self, here: &Checkout, project: &Checkout, active: &[PathBuf]) -> Option<PathBuf> {
        let inside = |path: &Path| path.strip_prefix(&project.top).ok().map(Path::to_owned);
        let same = active.iter().filter_map(|venv| inside(venv).or_else(|| inside(&real(venv))));
        let beside = inside(&real(&self.options.project)).unwrap_or_default().join(".venv");
        let places = same.chain([beside]).map(|place| here.top.join(place));
        places.into_iter().find(|venv| venv.join("bin").is_dir())
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns whether a folder of a `PATH` has the programs of a virtual environment.
fn is_bin(folder: &str, venv: &Path) -> bool {
    let (folder, bin) = (Path::new(folder), venv.join("bin"));
    folder == bin || (folder.is_absolute() && real(folder) == real(&bin))
}

/// Puts another virtual environment, or none, in the place of the active ones.
fn replace(environment: &mut Vec<Variable>, active: &[PathBuf], own: Option<&Path>) {
    if active.is_empty() {
        return;
    }
    let mut bin = own.map(|own| own.join("bin").display().to_string());
    let mut path = Vec::new();
    for folder in variable(environment, "PATH").unwrap_or_default().split(':') {
        if active.iter().any(|venv| is_bin(folder, venv)) {
            path.extend(bin.take());
        } else {
            path.push(folder.to_owned());
        }
    }
    set_variable(environment, "PATH", &path.join(":"));
    match own {
        Some(own) => set_variable(environment, VARIABLE, &own.display().to_string()),
        None => environment.retain(|(name, _)| name != VARIABLE),
    }
}
