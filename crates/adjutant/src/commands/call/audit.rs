//! `adjutant audit`: lists, verifies and exports the record of every call.

mod archives;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use engine::ChainVerdict;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use wire::audit::{AuditCallView, AuditCalls, ChainVerificationView};
use wire::decisions::{Decision, DecisionLog};
use wire::server::ServerStatus;

use crate::app::{App, query};
use crate::cli::{AuditListArgs, AuditVerb};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ClientError, ListPage};
use crate::commands::progress::Progress;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{bad, cell, count, counted, dim, good, line, name, shown, table};

/// Page size.
const PAGE: usize = 500;
const PAGE_NUMBERS: i64 = 500;

/// Lists, verifies or exports the record.
pub(crate) async fn run(app: &App, verb: Option<AuditVerb>) -> Result<(), CliError> {
    match verb {
        None => list(app, AuditListArgs { limit: 50, ..AuditListArgs::default() }).await,
        Some(AuditVerb::List(args)) => list(app, args).await,
        Some(AuditVerb::Verify { file: None, archive }) => {
            let client = app.client().await?;
            let progress = Progress::waiting(app, "verifying the chain");
            if progress.is_seen() {
                let calls = call_count(&client).await?;
                progress.say(&format!("verifying the chain of {}", counted(calls, "row")));
            }
            let verdict = client.get("/api/audit/verify").await?;
            let verdict = match archive {
                Some(files) if files.is_empty() => with_archives(verdict, &own_archives(app)?)?,
                Some(files) => with_archives(verdict, &files)?,
                None => verdict,
            };
            drop(progress);
            judge(app, &verdict, &ChainSummary::from(&*verdict))
        }
        Some(AuditVerb::Verify { file: Some(_), archive: Some(_) }) => {
            Err(CliError::usage("archives are checked together with the server's record")
                .hint("pass an export or `--archive FILE…`, not both"))
        }
        Some(AuditVerb::Verify { file: Some(file), .. }) => {
            let summary = verify_export(app, &file)?;
            judge(app, &summary, &summary)
        }
        Some(AuditVerb::Export { file }) => export(app, file.as_deref()).await,
    }
}

/// Number of recorded calls.
async fn call_count(client: &Client) -> Result<u64, ClientError> {
    Ok(client.get::<ServerStatus>("/api/status").await?.record.calls)
}

/// The record, or a part of it.
pub(crate) struct AuditRecord<'a> {
    /// Client
    pub(crate) client: &'a Client,
    /// Only calls of this agent
    pub(crate) agent: Option<String>,
    /// Only calls of this tool
    pub(crate) tool: Option<String>,
}

/// Some rows, and the position of the next ones.
struct RowPage<R> {
    rows: Vec<Answer<R>>,
    next: Option<i64>,
}

impl AuditRecord<'_> {
    async fn get<P: ListPage>(
        &self,
        path: &str,
        after: i64,
        limit: usize,
    ) -> Result<RowPage<P::Row>, CliError> {
        let pairs = [
            ("after", Some(after.to_string())),
            ("limit", Some(limit.to_string())),
            ("agentId", self.agent.clone()),
            ("tool", self.tool.clone()),
        ];
        let answer: Answer<P> = self.client.get(&query(path, pairs)).await?;
        let (rows, next) = answer.into_rows();
        Ok(RowPage { rows, next: next.and_then(|next| next.parse().ok()) })
    }

    /// Calls after a number.
    async fn page(&self, after: i64, limit: usize) -> Result<RowPage<AuditCallView>, CliError> {
        self.get::<AuditCalls>("/api/audit", after, limit).await
    }

    /// The calls after a number, at most so many.
    async fn first(
        &self,
        mut after: i64,
        limit: usize,
    ) -> Result<Vec<Answer<AuditCallView>>, CliError> {
        let mut all = Vec::new();
        while all.len() < limit {
            let RowPage { rows, next } = self.page(after, (limit - all.len()).min(PAGE)).await?;
            all.extend(rows);
            match next {
                Some(next) => after = next,
                None => break,
            }
        }
        Ok(all)
    }

    /// The newest calls. A part of the record has to be searched from the beginning.
    async fn newest(&self, limit: usize) -> Result<Vec<Answer<AuditCallView>>, CliError> {
        if self.agent.is_none() && self.tool.is_none() {
            let back = i64::try_from(limit).unwrap_or(i64::MAX);
            return self.first(self.last_number().await?.saturating_sub(back).max(0), limit).await;
        }
        let (mut newest, mut after) = (VecDeque::new(), 0);
        loop {
            let RowPage { rows, next } = self.page(after, PAGE).await?;
            newest.extend(rows);
            newest.drain(..newest.len().saturating_sub(limit));
            match next {
                Some(next) => after = next,
                None => return Ok(newest.into()),
            }
        }
    }

    /// The newest entries of the decision log, searched from the end of the record.
    pub(crate) async fn newest_decisions(
        &self,
        limit: usize,
        is_wanted: impl Fn(&Decision) -> bool,
    ) -> Result<Vec<Answer<Decision>>, CliError> {
        let is_wanted = |entry: &Answer<Decision>| is_wanted(entry);
        let mut newest = VecDeque::new();
        if self.agent.is_some() {
            let mut after = 0;
            loop {
                let page = self.get::<DecisionLog>("/api/decisions", after, PAGE).await?;
                newest.extend(page.rows.into_iter().filter(&is_wanted));
                newest.drain(..newest.len().saturating_sub(limit));
                match page.next {
                    Some(next) => after = next,
                    None => return Ok(newest.into()),
                }
            }
        }
        let mut until = self.last_number().await?;
        while until > 0 && newest.len() < limit {
            let after = until.saturating_sub(PAGE_NUMBERS).max(0);
            let rows = usize::try_from(until - after).unwrap_or(PAGE);
            let page = self.get::<DecisionLog>("/api/decisions", after, rows).await?;
            for entry in page.rows.into_iter().rev().filter(&is_wanted) {
                newest.push_front(entry);
            }
            until = after;
        }
        newest.drain(..newest.len().saturating_sub(limit));
        Ok(newest.into())
    }

    /// The number of the last row. Numbers have no gaps, so that halving finds it.
    async fn last_number(&self) -> Result<i64, CliError> {
        let whole = AuditRecord { client: self.client, agent: None, tool: None };
        let (mut known, mut step, mut growing) = (0, 1, true);
        loop {
            // Asks for row `known + step`.
            let page = whole.page(known + step - 1, 1).await?;
            match page.rows.first() {
                Some(row) => {
                    known = row.number;
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

async fn list(app: &App, args: AuditListArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent_if(args.agent.as_deref()).await?;
    let record = AuditRecord { client: steady.client(), agent, tool: args.tool.map(canonical) };
    let rows = match args.after {
        Some(after) => record.first(after, args.limit).await?,
        None => record.newest(args.limit).await?,
    };
    Ok(app.render.answer(&json!({ "rows": rows }), || {
        if rows.is_empty() {
            return "No matching calls.".to_owned();
        }
        let cells = rows.iter().map(|call| cells(call));
        table(["ROW", "TIME", "WHO", "BY", "TOOL", "RESULT"], cells)
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

/// The part of a recorded call's body that says whether the operator acted as the agent.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CallBody {
    by_operator: bool,
}

fn cells(call: &AuditCallView) -> [String; 6] {
    let body: CallBody = serde_json::from_str(&call.body).unwrap_or_default();
    let is_for_another = body.by_operator && call.agent_id.is_some();
    let tool = line(&engine::joined_of(&call.tool));
    [
        call.number.to_string(),
        call.at.time_of_day(),
        call.agent_id.map_or_else(|| "you".to_owned(), |agent| agent.to_string()),
        if is_for_another { "you".to_owned() } else { String::new() },
        cell(&tool, 20),
        call.code.as_deref().map_or_else(|| "ok".to_owned(), line),
    ]
}

/// Result of following a chain.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ChainSummary {
    ok: bool,
    rows: i64,
    head: String,
    archived: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl From<&ChainVerificationView> for ChainSummary {
    fn from(chain: &ChainVerificationView) -> Self {
        Self {
            ok: chain.ok,
            rows: chain.rows,
            head: chain.head.clone(),
            archived: chain.archived,
            broken_at: chain.broken_at,
            problem: chain.problem.clone(),
        }
    }
}

/// Reports whether the chain is intact; exits with 1 if it is not.
fn judge(app: &App, answer: &impl Serialize, chain: &ChainSummary) -> Result<(), CliError> {
    let rows = counted(chain.rows, "row");
    app.render.answer(answer, || {
        if chain.ok {
            let head = dim(format!("head {}", line(&chain.head)));
            let intact = format!("{} {rows} in an unbroken chain\n{head}", good("ok"));
            return match chain.archived {
                0 => intact,
                last => {
                    let archived =
                        format!("rows 1 to {last} are in archives and were not checked here");
                    let how = name("adjutant audit verify --archive");
                    format!("{intact}\n{}; {how} checks them", dim(archived))
                }
            };
        }
        let (at, why) = (shown(&chain.broken_at), shown(&chain.problem));
        format!("{} row {at}: {why}\n{rows} before it are good", bad("broken"))
    })?;
    if chain.ok { Ok(()) } else { Err(CliError::reported(1)) }
}

async fn export(app: &App, file: Option<&Path>) -> Result<(), CliError> {
    let client = app.client().await?;
    let record = AuditRecord { client: &client, agent: None, tool: None };
    let mut out: Box<dyn Write> = match file {
        Some(path) => {
            Box::new(BufWriter::new(File::create(path).map_err(host::files::at("create", path))?))
        }
        None => Box::new(std::io::stdout().lock()),
    };
    let mut progress = Progress::waiting(app, "exporting");
    if progress.is_seen() {
        progress = Progress::steps(app, "exporting rows", call_count(&client).await?);
    }
    let (mut after, mut written) = (0, 0);
    let known: Answer<ChainVerificationView> = client.get("/api/audit/verify?full=false").await?;
    if let Some(cut) = known.into_value().archives.pop() {
        // So that the rest can be followed by itself.
        let checkpoint = archives::Start { row: cut.last_row, hash: cut.last_hash };
        let line = json!(archives::Checkpoint { checkpoint });
        progress.aside(|| writeln!(out, "{line}"))?;
    }
    loop {
        let RowPage { rows, next } = record.page(after, PAGE).await?;
        progress.aside(|| rows.iter().try_for_each(|row| writeln!(out, "{}", exported(row))))?;
        written += rows.len();
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

/// A row of an export: the body stays text, because its hash covers every byte.
fn exported(row: &AuditCallView) -> serde_json::Value {
    json!({ "number": row.number, "hash": row.hash, "body": row.body })
}

/// The archives in the state folder of this home.
fn own_archives(app: &App) -> Result<Vec<PathBuf>, CliError> {
    let folder = app.home()?.state_dir().join("archive");
    let names = host::files::list(&folder)?;
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Checks archives together with the record that names them.
fn with_archives(
    answer: Answer<ChainVerificationView>,
    files: &[PathBuf],
) -> Result<Answer<ChainVerificationView>, CliError> {
    if !answer.ok {
        return Ok(answer);
    }
    let fields = match archives::problem_in(&answer.archives, files)? {
        None => vec![("archived", json!(0))],
        Some((row, problem)) => vec![
            ("ok", json!(false)),
            ("rows", json!((row - 1).max(0))),
            ("brokenAt", json!(row)),
            ("problem", json!(problem)),
        ],
    };
    let fields: Map<_, _> =
        fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Ok(answer.with_fields(fields).map_err(std::io::Error::other)?)
}

/// Follows the chain of an export, from its first row or from the checkpoint with which it begins.
fn verify_export(app: &App, path: &Path) -> Result<ChainSummary, CliError> {
    let mut input: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(path).map_err(host::files::at("open", path))?))
    };
    let progress = Progress::waiting(app, "verifying the chain");
    let ChainVerdict { rows, head, broken, archived } = archives::follow_export(&mut *input)?;
    drop(progress);
    let (broken_at, problem) = broken.unzip();
    Ok(ChainSummary { ok: broken_at.is_none(), rows, head, archived, broken_at, problem })
}
