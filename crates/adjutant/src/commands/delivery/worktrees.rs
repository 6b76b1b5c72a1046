//! `adjutant worktrees`: the folders that agents work in, and whether git and the record agree on them.

use std::path::Path;

use futures_util::{StreamExt as _, stream};
use model::review::WorktreeState;
use serde_json::json;
use wire::worktrees::{
    Agreement, PrunedWorktree, SettledCommits, WorktreeGit, WorktreeView, Worktrees,
};

use super::merge_queue::{Rows, abbreviated, read_rows, under};
use crate::app::{App, escaped};
use crate::cli::{PruneArgs, WorktreesArgs, WorktreesVerb};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::crew::run::many;
use crate::commands::progress::Progress;
use crate::commands::reconnect::Steady;
use crate::doctor::SETTLE_COMMAND;
use crate::terminal::render::{Page, bad, bold, count, dim, good, line, name, odd, short};

/// Exit code if git and the record do not agree.
const DISAGREEMENT: u8 = 5;
/// Worktrees that are removed at the same time.
const MAX_CONCURRENT_REMOVALS: usize = 8;
/// Maximum number of uncommitted files listed.
const MAX_FILES: usize = 5;

/// Lists worktrees, removes some, or compares git with the record.
pub(crate) async fn run(app: &App, args: WorktreesArgs) -> Result<(), CliError> {
    match args.verb {
        None => list(app, if args.all { Rows::All } else { Rows::Open }).await,
        Some(WorktreesVerb::Prune(args)) => prune(app, args).await,
        Some(WorktreesVerb::Check { settle }) => {
            if settle {
                settle_lost_commits(app).await?;
            }
            check(app).await
        }
    }
}

async fn list(app: &App, rows: Rows) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let worktrees = read_rows::<Worktrees>(&mut steady, "/api/worktrees", rows).await?;
    let were_any = worktrees.is_empty() && {
        let first = steady.fetch::<Worktrees>("/api/worktrees?all=true&limit=1").await?;
        !first.worktrees.is_empty()
    };
    let value = json!({ "worktrees": worktrees });
    Ok(app.render.answer(&value, || {
        if worktrees.is_empty() {
            return if were_any { none_left() } else { none_yet() };
        }
        let root = app.home().ok().map(|home| home.root);
        let folders = KnownFolders { project: root.as_deref(), user: app.env.user_home.as_deref() };
        worktrees.iter().map(|worktree| summary(worktree, folders)).collect()
    })?)
}

/// Says that the worktrees there were have been removed.
fn none_left() -> String {
    format!(
        "No worktrees are left: merged, abandoned and unchanged work needs none.\n{} lists those that were.",
        name("adjutant worktrees --all")
    )
}

/// Says which agents get worktrees.
fn none_yet() -> String {
    format!(
        "No worktrees yet.\nIn a git repository with a commit, an agent whose role has {}\nor a category in {} \
         gets one.",
        name("worktree: fresh"),
        name("worktrees.fresh")
    )
}

/// Folders whose paths people need not read in full.
#[derive(Debug, Clone, Copy, Default)]
struct KnownFolders<'a> {
    project: Option<&'a Path>,
    user: Option<&'a Path>,
}

/// A worktree, and the state of the work in it.
fn summary(worktree: &WorktreeView, folders: KnownFolders<'_>) -> String {
    let mut page = Page::default();
    let nothing = WorktreeGit::default();
    let git = worktree.git.as_ref().unwrap_or(&nothing);
    let work = match worktree.state {
        WorktreeState::There if worktree.is_being_tidied => dim("is being tidied up"),
        WorktreeState::There => git_state(git),
        WorktreeState::Gone => dim("its worktree is gone"),
        WorktreeState::Wanted => odd("its worktree is being created"),
    };
    let (id, role) = (bold(worktree.agent_id), short(&worktree.role, 16));
    page.line(format_args!("{id}  {role}  {}  {work}", worktree.agent_state));
    let target = match &worktree.target {
        Some(target) => format!(" {} {}", dim("→"), line(target)),
        None => String::new(),
    };
    page.line(format_args!("  {}{target}", line(&worktree.branch)));
    if worktree.state == WorktreeState::Gone {
        if let Some(head) = &worktree.head {
            page.line(format_args!("  {}", dim(format!("stood at {}", abbreviated(head)))));
        }
    } else {
        page.line(format_args!("  {}", dim(shortened(&worktree.path, folders))));
    }
    let files: Vec<String> = git.files.iter().take(MAX_FILES).map(|file| line(file)).collect();
    if !files.is_empty() {
        let more = if git.uncommitted > MAX_FILES { ", …" } else { "" };
        under(&mut page, &format!("not committed: {}{more}", files.join(", ")));
    }
    under(&mut page, git.problem.as_deref().unwrap_or_default());
    if let Some(rescued) = &worktree.rescued {
        let text = format!("uncommitted changes are on {}", line(rescued));
        page.line(format_args!("  {}", odd(text)));
    }
    page.into_text()
}

/// State of the work in a worktree.
fn git_state(git: &WorktreeGit) -> String {
    let mut facts = Vec::new();
    if let (Some(ahead), Some(behind)) = (git.ahead, git.behind) {
        facts.push(format!("{ahead} ahead, {behind} behind"));
    }
    match git.uncommitted {
        _ if git.problem.is_some() => {}
        0 => facts.push("clean".to_owned()),
        files => facts.push(odd(format!("{} not committed", count(files, "file")))),
    }
    if let Some(what) = &git.in_progress {
        facts.push(odd(format!("in the middle of a {}", line(what))));
    }
    if facts.is_empty() { bad("git cannot read it") } else { facts.join(", ") }
}

/// A path as seen from the project, or from the user's own folder.
fn shortened(path: &str, folders: KnownFolders<'_>) -> String {
    let below = |folder: Option<&Path>| Path::new(path).strip_prefix(folder?).ok();
    let shown = match (below(folders.project), below(folders.user)) {
        (Some(inside), _) => inside.display().to_string(),
        (None, Some(inside)) => format!("~/{}", inside.display()),
        (None, None) => path.to_owned(),
    };
    line(&shown)
}

async fn prune(app: &App, args: PruneArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let mut agents = args.agents;
    if args.ended {
        let open = read_rows::<Worktrees>(&mut steady, "/api/worktrees", Rows::Open).await?;
        let ended = open.iter().filter(|worktree| worktree.agent_ended_at.is_some());
        agents.extend(ended.map(|worktree| worktree.agent_id.to_string()));
    }
    let mut pruned: Vec<Answer<PrunedWorktree>> = Vec::new();
    let mut cli_error = None;
    let progress = Progress::steps(app, "removing worktrees", many(&agents));
    let client = steady.client();
    let paths = agents.iter().map(|agent| format!("/api/worktrees/{}/prune", escaped(agent)));
    let answers = paths.map(|path| async move { client.post(&path, &json!({})).await });
    let mut answers = stream::iter(answers).buffered(MAX_CONCURRENT_REMOVALS);
    while let Some(answer) = answers.next().await {
        match answer {
            Ok(answer) => pruned.push(answer),
            // The others are removed all the same; the last error is reported at the end.
            Err(error) => {
                let before = cli_error.replace(CliError::from(error));
                if let Some(before) = before {
                    progress.aside(|| app.render.print_error(&before))?;
                }
            }
        }
        progress.step();
    }
    drop(progress);
    // With one agent and one refusal there is nothing else to say.
    if cli_error.is_none() || !pruned.is_empty() {
        let value = json!({ "pruned": pruned });
        app.render.answer(&value, || {
            if pruned.is_empty() {
                return "No ended agent has a worktree.".to_owned();
            }
            pruned.iter().map(|one| removal(one)).collect()
        })?;
    }
    cli_error.map_or(Ok(()), Err)
}

/// Outcome of removing a worktree.
fn removal(pruned: &PrunedWorktree) -> String {
    let id = bold(pruned.agent_id);
    if !pruned.done {
        let look = name("adjutant worktrees");
        return format!("{id}  {}; {look} shows when it is\n", odd("is not gone yet"));
    }
    let Some(branch) = &pruned.branch else {
        return format!("{id}  {}\n", dim("was gone already"));
    };
    let rescued = match &pruned.rescued {
        Some(rescued) => {
            format!("\n  {}", odd(format!("uncommitted changes are on {}", line(rescued))))
        }
        None => String::new(),
    };
    let head = match &pruned.head {
        Some(head) => format!(" at {}", abbreviated(head)),
        None => String::new(),
    };
    format!("{id}  {}\n  its branch is {}{head}{rescued}\n", good("is gone"), line(branch))
}

/// Has the server accept that commits are gone, and says which.
async fn settle_lost_commits(app: &App) -> Result<(), CliError> {
    let client = app.client().await?;
    let settled = client.post::<SettledCommits>("/api/worktrees/settle", &json!({})).await?;
    for commit in &settled.commits {
        app.render.aside(&format!("{} is accepted as gone", abbreviated(commit)))?;
    }
    Ok(())
}

async fn check(app: &App) -> Result<(), CliError> {
    let answer: Answer<Agreement> = Steady::new(app).await?.fetch("/api/worktrees/check").await?;
    app.render.answer(&answer, || {
        if answer.disagreements.is_empty() {
            return good("git and the record agree");
        }
        let mut page = Page::default();
        for one in &answer.disagreements {
            page.line(format_args!("{}  {}", bold(line(&one.about)), line(&one.what)));
        }
        page.line(bad("git and the record do not agree"));
        page.line(dim("Adjutant repairs nothing here: check each before you change anything."));
        if answer.disagreements.iter().any(|one| one.can_settle) {
            let (settle, keep) = (name(SETTLE_COMMAND), name("git branch NAME COMMIT"));
            page.line(format_args!(
                "If you removed the commits yourself, {settle} accepts that; {keep} brings one back."
            ));
        }
        page.into_text()
    })?;
    if answer.ok { Ok(()) } else { Err(CliError::reported(DISAGREEMENT)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_inside_the_project_or_the_users_folder_is_short() {
        let (project, user) = (Some(Path::new("/users/me/shop")), Some(Path::new("/users/me")));
        let folders = KnownFolders { project, user };
        assert_eq!(shortened("/users/me/shop/.adjutant/x", folders), ".adjutant/x");
        assert_eq!(shortened("/users/me/data/x", folders), "~/data/x");
        assert_eq!(shortened("/else/where", folders), "/else/where");
        assert_eq!(shortened("/else/where", KnownFolders::default()), "/else/where");
    }

    #[test]
    fn what_git_cannot_say_is_not_called_clean() {
        let of = |git: WorktreeGit| anstream::adapter::strip_str(&git_state(&git)).to_string();
        let broken = WorktreeGit { problem: Some("gone".into()), ..WorktreeGit::default() };
        assert_eq!(of(broken), "git cannot read it");
        let behind = Some(0);
        let ahead =
            WorktreeGit { ahead: Some(2), behind, uncommitted: 1, ..WorktreeGit::default() };
        assert_eq!(of(ahead), "2 ahead, 0 behind, 1 file not committed");
    }
}
