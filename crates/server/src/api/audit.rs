//! The chain of calls: listed as it stands, and followed.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::{Extension, Json};
use engine::ToolError;
use engine::store::{
    AuditCheckpoint, AuditFilter, AuditRow, AuditSearchOrder, ChainVerification, Page, Store,
    StoreError, Tx,
};
use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::audit_query::{SCAN, WhichCalls};
use super::page_limit;
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Rows verified per incremental answer.
const FOLLOWED: i64 = 50_000;

/// A page of the record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Calls {
    /// The calls
    rows: Vec<CallView>,
    /// Where the next page begins, if there is one: `after`, or `before` where the newest come first.
    /// A page may be empty and have one: so far it was looked
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<i64>,
}

/// A recorded call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallView {
    /// Its place in the chain
    number: i64,
    /// When
    at: Timestamp,
    /// Calling agent, or the one the operator acted as
    agent_id: Option<AgentId>,
    /// Tool name
    tool: String,
    /// The code it failed with
    code: Option<String>,
    /// Everything, as JSON in the very text that the hash covers
    body: String,
    /// The hash of the hash before, a newline and the body
    hash: String,
}

impl From<AuditRow> for CallView {
    fn from(row: AuditRow) -> Self {
        let AuditRow { number, at, agent, tool, code, body, hash } = row;
        Self { number, at, agent_id: agent, tool, code, body, hash }
    }
}

impl WhichCalls {
    /// True if the query needs only an agent's or a tool's rows in order.
    fn is_plain(&self) -> bool {
        self.order.as_deref().is_none_or(|order| order == "asc")
            && [&self.agent, &self.q, &self.outcome, &self.task_id, &self.commit]
                .iter()
                .all(|asked| asked.is_none())
            && [self.since, self.until].iter().all(Option::is_none)
            && self.before.is_none()
            && self.tool.as_ref().is_none_or(|tool| !tool.contains('*'))
    }
}

pub(crate) async fn audit(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<WhichCalls>,
) -> Answer<Json<Calls>> {
    let limit = page_limit(asked.limit)?;
    let store = shared.app.engine.store();
    let page = if asked.is_plain() {
        let filter =
            AuditFilter { after: asked.after.number(), agent: asked.agent_id, tool: asked.tool };
        store.scan(move |tx| tx.audit_page(&filter, limit)).await?
    } else {
        let order = asked.order(AuditSearchOrder::Oldest)?;
        let found = store
            .scan(move |tx| {
                let search = asked.search(tx)?;
                Ok::<_, ToolError>(tx.audit_search(&search, order, limit, SCAN)?)
            })
            .await?;
        Page { items: found.calls.into_iter().map(|call| call.row).collect(), next: found.next }
    };
    let page = page.map(CallView::from);
    Ok(Json(Calls { rows: page.items, next_cursor: page.next }))
}

/// Options for verifying the chain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HowToVerify {
    /// From the first row on (the default); `false` goes on from where this server found it good last,
    /// and follows at most 50,000 rows
    full: Option<bool>,
}

/// Result of verifying the chain.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verified {
    /// True if it is intact
    ok: bool,
    /// Number of verified rows, from the first
    rows: i64,
    /// Number of rows
    of: i64,
    /// The hash of the last good one
    head: String,
    /// When this was found out
    checked_at: Timestamp,
    /// When the check began that followed the chain from its first row on
    from_first_at: Timestamp,
    /// The first bad row
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_at: Option<i64>,
    /// Problem, if any
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Number of the last row that is in an archive and was not checked; 0 where none is
    archived: i64,
    /// The archives, oldest first
    archives: Vec<ArchiveView>,
}

/// A part of the chain that was moved into an archive.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArchiveView {
    /// First row in it
    first_row: i64,
    /// Last row in it
    last_row: i64,
    /// Hash of that row
    last_hash: String,
    /// Name of the file
    archive: String,
    /// SHA-256 of the file, in hex
    sha256: String,
}

impl From<AuditCheckpoint> for ArchiveView {
    fn from(cut: AuditCheckpoint) -> Self {
        let AuditCheckpoint { first_row, last_row, last_hash, archive, sha256, .. } = cut;
        Self { first_row, last_row, last_hash, archive, sha256 }
    }
}

/// Cached position up to which the chain was verified.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastCheck(Arc<Mutex<Option<Good>>>);

#[derive(Debug, Clone)]
struct Good {
    verdict: ChainVerification,
    since: Timestamp,
}

impl LastCheck {
    fn get(&self) -> Option<Good> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, good: Good) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(good);
    }
}

pub(crate) async fn verify(
    State(shared): State<Arc<Shared>>,
    Extension(last): Extension<LastCheck>,
    Params(asked): Params<HowToVerify>,
) -> Answer<Json<Verified>> {
    let now = shared.app.engine.now();
    let full = asked.full.unwrap_or(true);
    let known = last.get().filter(|_| !full);
    let since = known.as_ref().map_or(now, |good| good.since);
    let start = known.map_or_else(
        || ChainVerification { rows: 0, head: String::new(), broken: None, archived: 0 },
        |good| good.verdict,
    );
    let (verdict, of) = if full {
        follow_all(shared.app.engine.store(), start).await?
    } else {
        follow(shared.app.engine.store(), start).await?
    };
    let archives = shared.app.engine.store().read(|tx: &Tx<'_>| tx.audit_checkpoints())?;
    last.set(Good { verdict: ChainVerification { broken: None, ..verdict.clone() }, since });
    let (broken_at, problem) = verdict.broken.unzip();
    Ok(Json(Verified {
        ok: broken_at.is_none(),
        rows: verdict.rows,
        of,
        head: verdict.head,
        checked_at: now,
        from_first_at: since,
        broken_at,
        problem,
        archived: verdict.archived,
        archives: archives.into_iter().map(ArchiveView::from).collect(),
    }))
}

/// Follows the chain to its end. Each stretch looks at a snapshot of its own, so that the log of the
/// database can be emptied in between.
async fn follow_all(
    store: &Store,
    mut good: ChainVerification,
) -> Result<(ChainVerification, i64), StoreError> {
    loop {
        let (verdict, of) = follow(store, good.clone()).await?;
        if verdict.broken.is_some() || verdict.rows >= of || verdict.rows == good.rows {
            return Ok((verdict, of));
        }
        good = verdict;
    }
}

/// Follows the chain for one stretch from where it was found good, and counts its rows.
async fn follow(
    store: &Store,
    good: ChainVerification,
) -> Result<(ChainVerification, i64), StoreError> {
    store
        .scan(move |tx: &Tx<'_>| {
            Ok::<_, StoreError>((tx.audit_verify_on(&good, FOLLOWED)?, tx.audit_last()?))
        })
        .await
}
