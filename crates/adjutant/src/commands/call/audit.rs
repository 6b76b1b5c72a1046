//! `adjutant audit`: the record of every call: listed, checked, and carried away.

mod archives;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use engine::Code;
use engine::store::ChainVerification;
use serde_json::{Value, json};

use crate::app::{App, query};
use crate::cli::{AuditListArgs, AuditVerb};
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::commands::reconnect::Steady;
use crate::terminal::progress::Progress;
use crate::terminal::render::{bad, cell, count, dim, field, good, line, name, table};

/// Page size.
const PAGE: usize = 500;
const PAGE_NUMBERS: i64 = 500;

/// Lists, verifies or exports the record.
pub(crate) async fn run(app: &App, verb: Option<AuditVerb>) -> Result<(), Trouble> {
    match verb {
        None => list(app, AuditListArgs { limit: 50, ..AuditListArgs::default() }).await,
        Some(AuditVerb::List(args)) => list(app, args).await,
        Some(AuditVerb::Verify { file: None, archive }) => {
            let client = app.client().await?;
            let progress = Progress::waiting(app, "verifying the chain");
            if progress.is_seen() {
                let calls = client.get_json("/api/status").await?["calls"].as_u64();
                let rows = usize::try_from(calls.unwrap_or_default()).unwrap_or(usize::MAX);
                progress.say(&format!("verifying the chain of {}", count(rows, "row")));
            }
            let verdict = client.get_json("/api/audit/verify").await?;
            let verdict = match archive {
                Some(files) if files.is_empty() => with_archives(verdict, &own_archives(app)?)?,
                Some(files) => with_archives(verdict, &files)?,
                None => verdict,
            };
            drop(progress);
            judge(app, &verdict)
        }
        Some(AuditVerb::Verify { file: Some(_), archive: Some(_) }) => {
            Err(Trouble::usage("archives are checked together with the server's record")
                .hint("pass an export or `--archive FILE…`, not both"))
        }
        Some(AuditVerb::Verify { file: Some(file), .. }) => judge(app, &verify_export(app, &file)?),
        Some(AuditVerb::Export { file }) => export(app, file.as_deref()).await,
    }
}

/// The record, or a part of it.
pub(crate) struct Record<'a> {
    /// Client
    pub(crate) client: &'a Client,
    /// Only this agent's calls
    pub(crate) agent: Option<String>,
    /// Only this tool's
    pub(crate) tool: Option<String>,
}

impl Record<'_> {
    async fn get(&self, path: &str, after: i64, limit: usize) -> Result<Value, Trouble> {
        let pairs = [
            ("after", Some(after.to_string())),
            ("limit", Some(limit.to_string())),
            ("agentId", self.agent.clone()),
            ("tool", self.tool.clone()),
        ];
        Ok(self.client.get_json(&query(path, pairs)).await?)
    }

    /// Rows after a number, and where the next ones begin.
    async fn page(&self, after: i64, limit: usize) -> Result<(Vec<Value>, Option<i64>), Trouble> {
        let mut answer = self.get("/api/audit", after, limit).await?;
        Ok((items(answer["rows"].take()), answer["nextCursor"].as_i64()))
    }

    /// The rows after a number, at most so many.
    async fn first(&self, mut after: i64, limit: usize) -> Result<Vec<Value>, Trouble> {
        let mut all: Vec<Value> = Vec::new();
        while all.len() < limit {
            let (page, next) = self.page(after, (limit - all.len()).min(PAGE)).await?;
            all.extend(page);
            match next {
                Some(next) => after = next,
                None => break,
            }
        }
        Ok(all)
    }

    /// The newest rows. Of a part of the record all must be looked through.
    async fn newest(&self, limit: usize) -> Result<Vec<Value>, Trouble> {
        if self.agent.is_none() && self.tool.is_none() {
            let back = i64::try_from(limit).unwrap_or(i64::MAX);
            return self.first(self.last_number().await?.saturating_sub(back).max(0), limit).await;
        }
        let (mut newest, mut after) = (VecDeque::new(), 0);
        loop {
            let (page, next) = self.page(after, PAGE).await?;
            newest.extend(page);
            newest.drain(..newest.len().saturating_sub(limit));
            match next {
                Some(next) => after = next,
                None => return Ok(newest.into()),
            }
        }
    }

    /// The newest entries of the decision log, looked for from the end of the record.
    pub(crate) async fn newest_decisions(
        &self,
        limit: usize,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Value>, Trouble> {
        let mut newest = VecDeque::new();
        if self.agent.is_some() {
            let mut after = 0;
            loop {
                let mut page = self.get("/api/decisions", after, PAGE).await?;
                newest.extend(items(page["decisions"].take()).into_iter().filter(&wanted));
                newest.drain(..newest.len().saturating_sub(limit));
                match page["nextCursor"].as_i64() {
                    Some(next) => after = next,
                    None => return Ok(newest.into()),
                }
            }
        }
        let mut until = self.last_number().await?;
        while until > 0 && newest.len() < limit {
            let after = until.saturating_sub(PAGE_NUMBERS).max(0);
            let rows = usize::try_from(until - after).unwrap_or(PAGE);
            let mut page = self.get("/api/decisions", after, rows).await?;
            for entry in items(page["decisions"].take()).into_iter().rev().filter(&wanted) {
                newest.push_front(entry);
            }
            until = after;
        }
        newest.drain(..newest.len().saturating_sub(limit));
        Ok(newest.into())
    }

    /// The number of the last row. Numbers have no gaps, so that halving finds it.
    async fn last_number(&self) -> Result<i64, Trouble> {
        let whole = Record { client: self.client, agent: None, tool: None };
        let (mut known, mut step, mut growing) = (0, 1, true);
        loop {
            // Asks for row `known + step`.
            let (page, _) = whole.page(known + step - 1, 1).await?;
            match page.first().and_then(|row| row["number"].as_i64()) {
                Some(number) => {
                    known = number;
                    if growing {
                        step *= 2;
                    }
                }
                None if step == 1 => return Ok(known),
                None => (step, growing) = (step / 2, false),
            }
        }
    }
}

fn items(list: Value) -> Vec<Value> {
    match list {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}

async fn list(app: &App, args: AuditListArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent_if(args.agent.as_deref()).await?;
    let record = Record { client: steady.client(), agent, tool: args.tool.map(canonical) };
    let rows = match args.after {
        Some(after) => record.first(after, args.limit).await?,
        None => record.newest(args.limit).await?,
    };
    let value = json!({ "rows": rows });
    Ok(app.render.answer(&value, || {
        if rows.is_empty() {
            return "No matching calls.".to_owned();
        }
        table(["ROW", "TIME", "WHO", "BY", "TOOL", "RESULT"], rows.iter().map(row))
    })?)
}

/// The tool's canonical name, whichever was typed. What no tool is called may be a template.
fn canonical(typed: String) -> String {
    let known = engine::TOOLS.iter().find(|tool| tool.joined() == typed);
    match known {
        Some(tool) => tool.name.to_owned(),
        None if typed.contains("__") => typed,
        None => format!("mcp__{}__{typed}", engine::templates::TOOLSET),
    }
}

fn row(row: &Value) -> [String; 6] {
    let body: Value =
        serde_json::from_str(row["body"].as_str().unwrap_or_default()).unwrap_or_default();
    let for_another = body["byOperator"] == true && row["agentId"].is_string();
    let tool = line(&engine::joined_of(row["tool"].as_str().unwrap_or_default()));
    let at = row["at"].as_str().and_then(|at| at.get(11..19)).unwrap_or("-").to_owned();
    [
        field(row, "number"),
        at,
        row["agentId"].as_str().map_or_else(|| "you".to_owned(), line),
        if for_another { "you".to_owned() } else { String::new() },
        cell(&tool, 20),
        row["code"].as_str().map_or_else(|| "ok".to_owned(), line),
    ]
}

/// Says whether the chain holds; exits with 1 where it does not.
fn judge(app: &App, verdict: &Value) -> Result<(), Trouble> {
    let holds = verdict["ok"] == true;
    let rows = usize::try_from(verdict["rows"].as_u64().unwrap_or_default()).unwrap_or(0);
    app.render.answer(verdict, || {
        if holds {
            let head = dim(format!("head {}", field(verdict, "head")));
            let held =
                format!("{} {} in an unbroken chain\n{head}", good("ok"), count(rows, "row"));
            return match verdict["archived"].as_i64().unwrap_or_default() {
                0 => held,
                last => {
                    let said =
                        format!("rows 1 to {last} are in archives and were not checked here");
                    let how = name("adjutant audit verify --archive");
                    format!("{held}\n{}; {how} checks them", dim(said))
                }
            };
        }
        let (at, why) = (field(verdict, "brokenAt"), field(verdict, "problem"));
        format!("{} row {at}: {why}\n{} before it are good", bad("broken"), count(rows, "row"))
    })?;
    if holds { Ok(()) } else { Err(Trouble::said(1)) }
}

async fn export(app: &App, file: Option<&Path>) -> Result<(), Trouble> {
    let client = app.client().await?;
    let record = Record { client: &client, agent: None, tool: None };
    let mut out: Box<dyn Write> = match file {
        Some(path) => {
            Box::new(BufWriter::new(File::create(path).map_err(host::files::at("create", path))?))
        }
        None => Box::new(std::io::stdout().lock()),
    };
    let mut progress = Progress::waiting(app, "exporting");
    if progress.is_seen() {
        let calls = client.get_json("/api/status").await?["calls"].as_u64();
        progress = Progress::steps(app, "exporting rows", calls.unwrap_or_default());
    }
    let (mut after, mut written) = (0, 0);
    let known = client.get_json("/api/audit/verify?full=false").await?;
    if let Some(cut) = archives::archives_in(&known)?.pop() {
        // So that the rest can be followed by itself.
        let start = archives::Start { row: cut.last_row, hash: cut.last_hash };
        progress.aside(|| writeln!(out, "{}", start.line()))?;
    }
    loop {
        let (page, next) = record.page(after, PAGE).await?;
        let rows = page.iter().map(exported).collect::<Result<Vec<_>, _>>()?;
        progress.aside(|| rows.iter().try_for_each(|row| writeln!(out, "{row}")))?;
        written += page.len();
        progress.reach(u64::try_from(written).unwrap_or(u64::MAX));
        match next {
            Some(next) => after = next,
            None => break,
        }
    }
    out.flush()?;
    drop(progress);
    if let Some(path) = file {
        let value = json!({ "file": path.display().to_string(), "rows": written });
        app.render.answer(&value, || {
            format!("{} {} to {}", good("Wrote"), count(written, "row"), path.display())
        })?;
    }
    Ok(())
}

/// A row as it is carried away: the body stays text, for its hash covers every byte.
fn exported(row: &Value) -> Result<Value, Trouble> {
    let (Some(body), Some(hash)) = (row["body"].as_str(), row["hash"].as_str()) else {
        return Err(Trouble::new(
            Code::InternalError,
            "the server gave a row without body and hash",
        ));
    };
    Ok(json!({ "number": row["number"], "hash": hash, "body": body }))
}

/// The archives in the state folder of this home.
fn own_archives(app: &App) -> Result<Vec<PathBuf>, Trouble> {
    let folder = app.home()?.state_dir().join("archive");
    let names = host::files::list(&folder)?;
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Checks archives together with the record that names them.
fn with_archives(mut verdict: Value, files: &[PathBuf]) -> Result<Value, Trouble> {
    if verdict["ok"] != true {
        return Ok(verdict);
    }
    match archives::problem_in(&archives::archives_in(&verdict)?, files)? {
        None => verdict["archived"] = 0.into(),
        Some((row, problem)) => {
            verdict["ok"] = false.into();
            verdict["rows"] = (row - 1).max(0).into();
            verdict["brokenAt"] = row.into();
            verdict["problem"] = problem.into();
        }
    }
    Ok(verdict)
}

/// Follows the chain of an export, from its first row or from the checkpoint with which it begins.
fn verify_export(app: &App, path: &Path) -> Result<Value, Trouble> {
    let mut input: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(path).map_err(host::files::at("open", path))?))
    };
    let progress = Progress::waiting(app, "verifying the chain");
    let ChainVerification { rows, head, broken, archived } = archives::follow_export(&mut *input)?;
    drop(progress);
    let mut verdict =
        json!({ "ok": broken.is_none(), "rows": rows, "head": head, "archived": archived });
    if let Some((at, problem)) = broken {
        verdict["brokenAt"] = at.into();
        verdict["problem"] = problem.into();
    }
    Ok(verdict)
}
