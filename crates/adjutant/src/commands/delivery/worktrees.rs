//! `adjutant worktrees`: the folders that agents work in, and whether git and the record agree on them.

use std::path::Path;

use serde_json::{Value, json};

use super::merge_queue::{Rows, abbreviated, pages, under};
use crate::app::{App, escaped};
use crate::cli::{PruneArgs, WorktreesArgs, WorktreesVerb};
use crate::cli_error::Trouble;
use crate::commands::crew::run::many;
use crate::commands::reconnect::Steady;
use crate::terminal::progress::Progress;
use crate::terminal::render::{Page, bad, bold, count, dim, field, good, line, name, odd, short};

/// The exit code where git and the record do not agree.
const DISAGREE: u8 = 5;
/// Uncommitted files listed.
const FILES: usize = 5;

/// Lists worktrees, takes some away, or compares.
pub(crate) async fn run(app: &App, args: WorktreesArgs) -> Result<(), Trouble> {
    match args.verb {
        None => list(app, if args.all { Rows::All } else { Rows::Open }).await,
        Some(WorktreesVerb::Prune(args)) => prune(app, args).await,
        Some(WorktreesVerb::Check) => check(app).await,
    }
}

async fn list(app: &App, rows: Rows) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let worktrees = pages(&mut steady, ("/api/worktrees", "worktrees"), rows).await?;
    let value = json!({ "worktrees": worktrees });
    Ok(app.render.answer(&value, || {
        if worktrees.is_empty() {
            let more = rows.or_else("; `adjutant worktrees --all` lists those that were");
            return format!(
                "No worktrees{more}.\nIn a git repository, an agent whose role has {} gets one.",
                name("worktree: fresh")
            );
        }
        let root = app.home().ok().map(|home| home.root);
        worktrees.iter().map(|worktree| told(worktree, root.as_deref())).collect()
    })?)
}

/// A worktree, and how the work in it stands.
fn told(worktree: &Value, root: Option<&Path>) -> String {
    let mut page = Page::default();
    let [id, role, state] = ["agentId", "role", "agentState"].map(|key| field(worktree, key));
    let work = match worktree["state"].as_str() {
        Some("there") => standing(&worktree["git"]),
        Some("gone") => dim("its worktree is gone"),
        Some("wanted") => odd("its worktree is being created"),
        _ => odd("its worktree is being removed"),
    };
    page.line(format_args!("{}  {}  {state}  {work}", bold(id), short(&role, 16)));
    let target = match worktree["target"].as_str() {
        Some(target) => format!(" {} {}", dim("→"), line(target)),
        None => String::new(),
    };
    page.line(format_args!("  {}{target}", field(worktree, "branch")));
    if worktree["state"] == "gone" {
        if let Some(head) = worktree["head"].as_str() {
            page.line(format_args!("  {}", dim(format!("stood at {}", abbreviated(head)))));
        }
    } else {
        let path = shortened(worktree["path"].as_str().unwrap_or_default(), root);
        page.line(format_args!("  {}", dim(path)));
    }
    let files = worktree["git"]["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named: Vec<String> =
        files.iter().take(FILES).map(|file| line(file.as_str().unwrap_or_default())).collect();
    if !named.is_empty() {
        let all = worktree["git"]["uncommitted"].as_u64().unwrap_or_default();
        let more = if all > 5 { ", …" } else { "" };
        under(&mut page, &format!("not committed: {}{more}", named.join(", ")));
    }
    under(&mut page, worktree["git"]["problem"].as_str().unwrap_or_default());
    if let Some(rescued) = worktree["rescued"].as_str() {
        let told = format!("uncommitted changes are on {}", line(rescued));
        page.line(format_args!("  {}", odd(told)));
    }
    page.into_text()
}

/// State of the work in a worktree.
fn standing(git: &Value) -> String {
    let mut facts = Vec::new();
    if let (Some(ahead), Some(behind)) = (git["ahead"].as_u64(), git["behind"].as_u64()) {
        facts.push(format!("{ahead} ahead, {behind} behind"));
    }
    match git["uncommitted"].as_u64() {
        _ if !git["problem"].is_null() => {}
        Some(0) | None => facts.push("clean".to_owned()),
        Some(files) => {
            let files = usize::try_from(files).unwrap_or(usize::MAX);
            facts.push(odd(format!("{} not committed", count(files, "file"))));
        }
    }
    if let Some(what) = git["inProgress"].as_str() {
        facts.push(odd(format!("in the middle of a {}", line(what))));
    }
    if facts.is_empty() { bad("git cannot read it") } else { facts.join(", ") }
}

/// A path as seen from the project.
fn shortened(path: &str, root: Option<&Path>) -> String {
    let inside = root.and_then(|root| Path::new(path).strip_prefix(root).ok());
    line(&inside.map_or_else(|| path.to_owned(), |inside| inside.display().to_string()))
}

async fn prune(app: &App, args: PruneArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let mut agents = args.agents;
    if args.ended {
        let there = pages(&mut steady, ("/api/worktrees", "worktrees"), Rows::Open).await?;
        let ended = there.iter().filter(|worktree| !worktree["agentEndedAt"].is_null());
        agents.extend(ended.map(|worktree| field(worktree, "agentId")));
    }
    let (mut pruned, mut trouble) = (Vec::new(), None);
    let progress = Progress::steps(app, "removing worktrees", many(&agents));
    for agent in &agents {
        let path = format!("/api/worktrees/{}/prune", escaped(agent));
        match steady.client().post_json(&path, &json!({})).await {
            Ok(answer) => pruned.push(answer),
            // The others are taken away all the same; the last trouble is told in the end.
            Err(error) => {
                let before = trouble.replace(Trouble::from(error));
                if let Some(before) = before {
                    progress.aside(|| app.render.trouble(&before))?;
                }
            }
        }
        progress.step();
    }
    drop(progress);
    // With one agent and one refusal there is nothing else to say.
    if trouble.is_none() || !pruned.is_empty() {
        let value = json!({ "pruned": pruned });
        app.render.answer(&value, || {
            if pruned.is_empty() {
                return "No ended agent has a worktree.".to_owned();
            }
            pruned.iter().map(gone).collect()
        })?;
    }
    trouble.map_or(Ok(()), Err)
}

/// Outcome of removing a worktree.
fn gone(pruned: &Value) -> String {
    let id = bold(field(pruned, "agentId"));
    if pruned["done"] != true {
        let look = name("adjutant worktrees");
        return format!("{id}  {}; {look} shows when it is\n", odd("is not gone yet"));
    }
    let Some(branch) = pruned["branch"].as_str() else {
        return format!("{id}  {}\n", dim("was gone already"));
    };
    let rescued = match pruned["rescued"].as_str() {
        Some(rescued) => {
            format!("\n  {}", odd(format!("uncommitted changes are on {}", line(rescued))))
        }
        None => String::new(),
    };
    let head = match pruned["head"].as_str() {
        Some(head) => format!(" at {}", abbreviated(head)),
        None => String::new(),
    };
    format!("{id}  {}\n  its branch is {}{head}{rescued}\n", good("is gone"), line(branch))
}

async fn check(app: &App) -> Result<(), Trouble> {
    let answer = Steady::new(app).await?.get("/api/worktrees/check").await?;
    app.render.answer(&answer, || {
        let found = answer["disagreements"].as_array().map(Vec::as_slice).unwrap_or_default();
        if found.is_empty() {
            return good("git and the record agree");
        }
        let mut page = Page::default();
        for one in found {
            page.line(format_args!("{}  {}", bold(field(one, "about")), field(one, "what")));
        }
        page.line(bad("git and the record do not agree"));
        page.line(dim("Adjutant repairs nothing here: check each before you change anything."));
        page.into_text()
    })?;
    if answer["ok"] == true { Ok(()) } else { Err(Trouble::said(DISAGREE)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_inside_the_project_is_short() {
        let root = Path::new("/srv/shop");
        assert_eq!(shortened("/srv/shop/.adjutant/x", Some(root)), ".adjutant/x");
        assert_eq!(shortened("/else/where", Some(root)), "/else/where");
        assert_eq!(shortened("/else/where", None), "/else/where");
    }

    #[test]
    fn what_git_cannot_say_is_not_called_clean() {
        let of = |git: &Value| anstream::adapter::strip_str(&standing(git)).to_string();
        assert_eq!(of(&json!({ "uncommitted": 0, "problem": "gone" })), "git cannot read it");
        assert_eq!(
            of(&json!({ "ahead": 2, "behind": 0, "uncommitted": 1 })),
            "2 ahead, 0 behind, 1 file not committed"
        );
    }
}
