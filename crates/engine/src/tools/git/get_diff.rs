//! `mcp__git__get_diff`.

use host::git::{Diff, DiffFile, GitError, Repo};
use model::{AgentId, Line, TaskRef};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use wire::git::{ChangedFile, CommitLine, DiffAnswer, UncommittedChanges};

use super::whose::{self, Work};
use crate::call::cx::ReadCx;
use crate::call::tool::{Probe, Tool};
use crate::core::error::{Code, ToolError};
use crate::core::handle::Core;

/// Default size of a patch.
const USUAL_BYTES: u32 = 100_000;
/// Commits listed.
const COMMITS: usize = 100;
/// Maximum number of files listed.
const FILES: usize = 1000;

/// Show the changes of an agent
///
/// Shows your own work by default, or the work that you review, compared with its target branch, as
/// a pull request would. `agentId` or `taskId` selects the work of agents that you started, or of
/// your epic if you lead or review it. `uncommitted` adds uncommitted changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Author of the work
    agent_id: Option<AgentId>,
    /// The work on this task: an id, a slug or a number (`TAS-12`)
    task_id: Option<TaskRef>,
    /// Branch or commit to compare with (default: its target branch)
    base: Option<Line<300>>,
    /// Also show uncommitted changes
    #[serde(default)]
    uncommitted: bool,
    /// Maximum size of each patch in bytes (default 100000)
    max_bytes: Option<MaxBytes>,
}

/// Maximum size of a patch: 1 to 1,000,000 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaxBytes(u32);

impl MaxBytes {
    const MAX: u32 = 1_000_000;
}

impl<'de> Deserialize<'de> for MaxBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let fits = u32::try_from(number).ok().filter(|number| (1..=Self::MAX).contains(number));
        fits.map(Self)
            .ok_or_else(|| D::Error::custom(format!("is {number}; it must be 1 to {}", Self::MAX)))
    }
}

impl JsonSchema for MaxBytes {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MaxBytes".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": Self::MAX })
    }
}

/// Subject of the probe.
pub(crate) struct Question {
    work: Work,
    base: Option<String>,
    uncommitted: bool,
    max: usize,
}

pub(crate) struct GetDiff;

impl Tool for GetDiff {
    const NAME: &'static str = "mcp__git__get_diff";
    type Args = Args;
    type Answer = DiffAnswer;
}

impl Probe for GetDiff {
    type Question = Question;

    fn question(cx: &ReadCx<'_>, args: Args) -> Result<Question, ToolError> {
        let max = args.max_bytes.map_or(USUAL_BYTES, |MaxBytes(most)| most);
        Ok(Question {
            work: whose::find(cx, args.agent_id, args.task_id.as_ref())?,
            base: args.base.map(Line::into_inner),
            uncommitted: args.uncommitted,
            max: usize::try_from(max).unwrap_or(usize::MAX),
        })
    }

    fn answer(engine: &Core, question: Question) -> Result<DiffAnswer, ToolError> {
        let Question { work, base, uncommitted, max } = question;
        let work = Work { dir: engine.project().join(&work.dir), ..work };
        let is_there = work.dir.is_dir();
        // A worktree that is gone leaves its branch in the project's repository.
        let around = if is_there { &work.dir } else { engine.project() };
        let repo = engine.repo(around)?;
        let (head, branch) = head_of(&repo, &work)?;
        let (base, base_name) = base_of(engine, &repo, &work, base, branch.as_deref())?;
        let Diff { text, cut, files } = repo.diff(&base, &head, max)?;
        let commits = repo.log(&base, &head, COMMITS)?;
        let open = (uncommitted && is_there).then(|| repo.uncommitted_diff(&work.dir, max));
        let open = open.transpose()?.map(|open| UncommittedChanges {
            truncated: open.cut || open.files.len() > FILES,
            files: changed(open.files),
            diff: open.text,
        });
        Ok(DiffAnswer {
            agent_id: work.agent,
            base,
            base_name,
            head,
            branch,
            worktree_gone: !is_there,
            truncated: cut || files.len() > FILES,
            files: changed(files),
            diff: text,
            commits: commits
                .into_iter()
                .map(|(hash, subject)| CommitLine { hash, subject })
                .collect(),
            uncommitted: open,
        })
    }
}

/// The commit that is shown, and its branch.
fn head_of(repo: &Repo, work: &Work) -> Result<(String, Option<String>), ToolError> {
    if let Some(head) = &work.head {
        return Ok((head.clone(), work.branch.clone()));
    }
    if work.dir.is_dir() {
        let state = repo.state(&work.dir)?;
        return Ok((state.head.ok_or(GitError::NoCommits)?, state.branch));
    }
    let of_branch = match &work.branch {
        Some(branch) => repo.resolve(&format!("refs/heads/{branch}"))?,
        None => None,
    };
    let head = match (of_branch, &work.last) {
        (Some(head), _) => Some(head),
        (None, Some(last)) => repo.resolve(last)?,
        (None, None) => None,
    };
    let head = head.ok_or_else(|| {
        let branch = work.branch.as_deref().unwrap_or("its branch");
        ToolError::not_found(format!(
            "the worktree of agent `{}` is gone, and so is `{branch}`",
            work.agent
        ))
        .hint("`git branch --list 'adjutant/*'` lists the existing branches")
    })?;
    Ok((head, work.branch.clone()))
}

/// The commit that is compared with, and its name: what was given, what the work is meant for, where it began,
/// or what is checked out in the project.
fn base_of(
    engine: &Core,
    repo: &Repo,
    work: &Work,
    given: Option<String>,
    branch: Option<&str>,
) -> Result<(String, String), ToolError> {
    if let Some(name) = given {
        let found = repo.resolve(&name)?;
        let found = found.ok_or_else(|| {
            ToolError::not_found(format!("`{name}` is neither a branch nor a commit"))
                .detail("field", "base")
                .hint("omit `base` to compare with the target branch")
        })?;
        return Ok((found, name));
    }
    if let Some(target) = &work.target
        && let Some(found) = repo.resolve(&format!("refs/heads/{target}"))?
    {
        return Ok((found, target.clone()));
    }
    if let Some(base) = &work.base {
        return Ok((base.clone(), base.clone()));
    }
    let project = match engine.repo(engine.project()) {
        Ok(project) => project.current_branch(engine.project())?,
        Err(_) => None,
    };
    let remote = engine.settings().github.remote.clone();
    let default = repo.default_branch(&remote)?.map(|name| format!("{remote}/{name}"));
    for name in project.into_iter().chain(default).filter(|name| Some(name.as_str()) != branch) {
        if let Some(found) = repo.resolve(&name)? {
            return Ok((found, name));
        }
    }
    Err(ToolError::new(Code::InvalidInput, "the target branch of this work is unknown")
        .detail("field", "base")
        .hint("pass a branch or commit as `base`"))
}

fn changed(files: Vec<DiffFile>) -> Vec<ChangedFile> {
    let file = |file: DiffFile| ChangedFile {
        path: file.path,
        status: file.status.to_owned(),
        additions: file.added,
        deletions: file.removed,
    };
    files.into_iter().take(FILES).map(file).collect()
}
