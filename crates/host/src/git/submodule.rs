//! Submodules of worktrees: filled from the clones that are here already, and watched over when a worktree goes.
//!
//! The submodules of a worktree are repositories of its own, inside of git's notes on it: they go when it goes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::branch::unreachable;
use super::command::{GitInvocation, ProgramSettings, line, os, split, text};
use super::repo::Tree;
use super::{GitError, Repo, discard, git_dir, hash};
use crate::files::{self, at};

/// Maximum depth of nested submodules.
const MAX_SUBMODULE_DEPTH: u32 = 8;

/// A submodule as the index of a working tree has it.
#[derive(Debug)]
struct Submodule {
    /// Its path in the working tree
    path: PathBuf,
    /// Its name in `.gitmodules`, where it has one
    name: Option<PathBuf>,
    /// The commit that is wanted
    commit: String,
}

/// A working tree whose submodules are filled, and where they are filled from.
#[derive(Debug)]
struct SubmoduleSource {
    top: PathBuf,
    git_dir: PathBuf,
    /// The git directory of the same repository that has the clones
    source: PathBuf,
    /// A working tree of that, for submodules of the old kind, which have their repository in them
    source_top: Option<PathBuf>,
    depth: u32,
}

impl Repo {
    /// Fills the submodules of a new worktree from the clones of the main working tree, without the network. Those
    /// without a local clone or commit stay empty and are named.
    pub fn submodules_init(&self, worktree: &Path) -> Result<Vec<String>, GitError> {
        let tree = self.tree(worktree)?;
        let source_top = self.common().parent().filter(|_| !self.facts().bare).map(Path::to_owned);
        let mut empty = Vec::new();
        let source = self.common().to_owned();
        let filling = SubmoduleSource {
            top: tree.top.clone(),
            git_dir: tree.git_dir,
            source,
            source_top,
            depth: 0,
        };
        if !tree.is_main {
            self.fill_all(&filling, &tree.top, &mut empty)?;
        }
        Ok(empty)
    }

    fn fill_all(
        &self,
        filling: &SubmoduleSource,
        top: &Path,
        empty: &mut Vec<String>,
    ) -> Result<(), GitError> {
        for submodule in self.submodules(&filling.top, &filling.git_dir)? {
            let path = filling.top.join(&submodule.path);
            let told = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
            match self.fill(filling, &submodule)? {
                Some(inner) if inner.depth < MAX_SUBMODULE_DEPTH => {
                    self.fill_all(&inner, top, empty)?;
                }
                Some(_) => {}
                None => empty.push(told),
            }
        }
        Ok(())
    }

    /// Fills one, and says where its own submodules come from; none where it has to stay empty.
    fn fill(
        &self,
        filling: &SubmoduleSource,
        submodule: &Submodule,
    ) -> Result<Option<SubmoduleSource>, GitError> {
        let Some(name) = &submodule.name else { return Ok(None) };
        let path = filling.top.join(&submodule.path);
        let own = filling.git_dir.join("modules").join(name);
        let old_kind = filling.source_top.as_ref().map(|top| top.join(&submodule.path));
        let source = [
            Some(filling.source.join("modules").join(name)),
            old_kind.as_ref().map(|path| path.join(".git")),
        ];
        let Some(source) = source.into_iter().flatten().find(|dir| dir.join("objects").is_dir())
        else {
            return Ok(None);
        };
        let inner = SubmoduleSource {
            top: path.clone(),
            git_dir: own.clone(),
            source: source.clone(),
            source_top: old_kind,
            depth: filling.depth + 1,
        };
        // Git writes the index last, when all files are there.
        if path.join(".git").exists() && own.join("index").exists() {
            return Ok(Some(inner));
        }
        let wanted = format!("{}^{{commit}}", submodule.commit);
        let check = self.foreign(&source, &source)?.args(["cat-file", "-e", &wanted]);
        if !check.run()?.exit.is_success() {
            return Ok(None);
        }
        if own.exists() {
            // We began to fill it and did not come to the end, so nobody has worked in it.
            discard::remove(&path)?;
            discard::remove(&own)?;
        }
        files::remove(&path.join(".git"))?;
        if fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some()) {
            return Ok(None);
        }
        let url = self.clone_here(&source, &own, &path, &submodule.commit)?;
        if filling.depth > 0 {
            // The first ones are known to the repository that all share; these only to their own.
            for (end, value) in [("url", url.as_slice()), ("active", b"true")] {
                let key = format!("submodule.{}.{end}", name.display());
                let set = self.foreign(&filling.git_dir, &filling.git_dir)?;
                set.args(["config", &key]).arg(os(value)).ask()?;
            }
        }
        Ok(Some(inner))
    }

    /// Clones a clone and checks a commit out; says where the first one came from.
    fn clone_here(
        &self,
        source: &Path,
        own: &Path,
        path: &Path,
        commit: &str,
    ) -> Result<Vec<u8>, GitError> {
        let parent = own.parent().unwrap_or(own);
        fs::create_dir_all(parent).map_err(at("create the folder", parent))?;
        let clone = GitInvocation::new(self.path(), parent, self.limit());
        let clone = clone.env("GIT_ALLOW_PROTOCOL", "file");
        let mut separate = std::ffi::OsString::from("--separate-git-dir=");
        separate.push(own);
        let options = ["clone", "--quiet", "--no-checkout", "--local"];
        clone.args(options).arg(separate).arg("--").args([source, path]).ask()?;
        // What the clone was made of matters to nobody; where it came from does.
        let asked = self.foreign(source, source)?.args(["config", "--get", "remote.origin.url"]);
        let url = asked.ask_maybe()?.unwrap_or_default().trim_ascii_end().to_owned();
        let set = self.foreign(own, own)?.args(["config", "remote.origin.url"]);
        set.arg(os(&url)).ask()?;
        let checkout = self.foreign(path, own)?.env("GIT_WORK_TREE", path);
        checkout.args(["checkout", "--quiet", "--detach", commit, "--"]).ask()?;
        Ok(url)
    }

    /// Git, asked about another repository, without the programs that one names.
    fn foreign(&self, directory: &Path, git_dir: &Path) -> Result<GitInvocation, GitError> {
        let order =
            || GitInvocation::new(self.path(), directory, self.limit()).env("GIT_DIR", git_dir);
        Ok(order().configs(ProgramSettings::ask(order())?.off))
    }

    /// The submodules of a working tree.
    fn submodules(&self, top: &Path, git_dir: &Path) -> Result<Vec<Submodule>, GitError> {
        let order = self.foreign(top, git_dir)?.env("GIT_WORK_TREE", top);
        let listed = order.args(["ls-files", "-z", "--stage"]).ask()?;
        let mut names = None;
        let mut all = Vec::new();
        for entry in split(&listed) {
            let Some(entry) = entry.strip_prefix(b"160000 ") else { continue };
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (facts, path) = entry.split_at(tab + 1);
            let Some(commit) = text(facts).split(' ').next().and_then(hash) else { continue };
            if names.is_none() {
                names = Some(self.submodule_names(top)?);
            }
            let name = names.as_ref().and_then(|names| names.get(path).cloned());
            all.push(Submodule { path: os(path).into(), name, commit });
        }
        Ok(all)
    }

    /// The names of submodules by their paths, as far as they are harmless.
    fn submodule_names(&self, top: &Path) -> Result<BTreeMap<Vec<u8>, PathBuf>, GitError> {
        let file = top.join(".gitmodules");
        let order =
            GitInvocation::new(self.path(), top, self.limit()).args(["config", "-z", "--file"]);
        let order = order.arg(&file).args(["--get-regexp", r"^submodule\..*\.path$"]);
        // It also fails where there are none.
        let output = order.run()?.stdout;
        let mut names = BTreeMap::new();
        for entry in split(&output) {
            let Some(end) = entry.iter().position(|byte| *byte == b'\n') else { continue };
            let (key, path) = entry.split_at(end);
            let name = key.strip_prefix(b"submodule.").and_then(|key| key.strip_suffix(b".path"));
            let Some(name) = name.map(|name| PathBuf::from(os(name))) else { continue };
            let plain = |part| matches!(part, std::path::Component::Normal(_));
            if name.components().all(plain) && path.len() > 1 {
                names.insert(path.split_at(1).1.to_owned(), name);
            }
        }
        Ok(names)
    }

    /// The submodules of a worktree that have changes, or commits that are nowhere else.
    pub(super) fn submodules_at_risk(&self, tree: &Tree) -> Result<Vec<String>, GitError> {
        let mut at_risk = Vec::new();
        let mut seen = Vec::new();
        for submodule in self.submodules(&tree.top, &tree.git_dir)? {
            let top = tree.top.join(&submodule.path);
            let Some(own) = git_dir(&top).and_then(|dir| fs::canonicalize(dir).ok()) else {
                continue;
            };
            seen.push(own.clone());
            let status = self.foreign(&top, &own)?.env("GIT_WORK_TREE", &top);
            let options = ["-z", "--untracked-files=all", "--ignore-submodules=none"];
            let is_dirty = !status.args(["status", "--porcelain"]).args(options).ask()?.is_empty();
            if is_dirty || self.has_own_commits(tree, &own)? {
                at_risk.push(submodule.path.to_string_lossy().into_owned());
            }
        }
        // Also those that are checked out no longer, and those inside of others.
        let mut left = Vec::new();
        let modules = tree.git_dir.join("modules");
        repositories(&modules, &mut left);
        for own in left.into_iter().filter(|own| !seen.contains(own)) {
            if self.has_own_commits(tree, &own)? {
                let name = own.strip_prefix(&modules).unwrap_or(&own).to_string_lossy();
                at_risk.push(name.replace("/modules/", "/"));
            }
        }
        Ok(at_risk)
    }

    /// True if a submodule has commits that neither a remote nor the main clone has.
    fn has_own_commits(&self, tree: &Tree, own: &Path) -> Result<bool, GitError> {
        let git = self.foreign(own, own)?;
        let tips = git.clone().args(["for-each-ref", "--format=%(objectname)"]);
        let tips = text(&tips.args(["refs/heads/", "refs/tags/", "refs/stash"]).ask()?);
        let mut tips: Vec<String> = tips.lines().filter_map(hash).collect();
        let head = git.clone().args(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]);
        tips.extend(head.ask_maybe()?.and_then(|head| hash(&line(&head))));
        let lost = unreachable(&git, &tips, &["--remotes"])?;
        let main = own.strip_prefix(tree.git_dir.join("modules")).ok();
        let main = main.map(|name| self.common().join("modules").join(name));
        match main.filter(|main| main.join("objects").is_dir()) {
            Some(main) => {
                let git = self.foreign(&main, &main)?;
                Ok(!unreachable(&git, &lost, &["--all"])?.is_empty())
            }
            None => Ok(!lost.is_empty()),
        }
    }
}

/// The repositories in a folder, at any depth.
fn repositories(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if path.join("HEAD").is_file() && path.join("objects").is_dir() {
            repositories(&path.join("modules"), found);
            found.push(path);
        } else {
            repositories(&path, found);
        }
    }
}

#[cfg(test)]
mod tests;
