//! The chain of calls: listed as it stands, and followed.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::{Extension, Json};
use engine::ToolError;
use engine::store::{
    AuditCheckpoint, AuditFilter, AuditRow, AuditSearchOrder, ChainVerification, Page, Store,
    StoreError, Tx,
};
use model::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use wire::audit::{AuditArchive, AuditCallView, AuditCalls, ChainVerificationView};

use super::audit_query::{AuditQuery, SCAN};
use super::page_limit;
use crate::answer::{Answer, Params};
use crate::server::Shared;

/// Rows verified per incremental answer.
const FOLLOWED: i64 = 50_000;

fn call_view(row: AuditRow) -> AuditCallView {
    let AuditRow { number, at, agent, tool, code, body, hash } = row;
    AuditCallView { number, at, agent_id: agent, tool, code, body, hash }
}

impl AuditQuery {
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
    Params(asked): Params<AuditQuery>,
) -> Answer<Json<AuditCalls>> {
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
    let page = page.map(call_view);
    Ok(Json(AuditCalls { rows: page.items, next_cursor: page.next }))
}

/// Options for verifying the chain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VerifyQuery {
    /// From the first row on (the default); `false` goes on from where this server found it good last,
    /// and follows at most 50,000 rows
    full: Option<bool>,
}

fn archive_view(cut: AuditCheckpoint) -> AuditArchive {
    let AuditCheckpoint { first_row, last_row, last_hash, archive, sha256, .. } = cut;
    AuditArchive { first_row, last_row, last_hash, archive, sha256 }
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
    Params(asked): Params<VerifyQuery>,
) -> Answer<Json<ChainVerificationView>> {
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
    Ok(Json(ChainVerificationView {
        ok: broken_at.is_none(),
        rows: verdict.rows,
        of,
        head: verdict.head,
        checked_at: now,
        from_first_at: since,
        broken_at,
        problem,
        archived: verdict.archived,
        archives: archives.into_iter().map(archive_view).collect(),
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
