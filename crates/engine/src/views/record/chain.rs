//! The chain of calls: listed as it stands, and verified.

use std::sync::{Mutex, PoisonError};

use model::Timestamp;
use store::{
    AuditCheckpoint, AuditFilter, AuditRow, AuditSearchOrder, ChainVerification, Page, StoreError,
};
use wire::audit::{AuditArchive, AuditCallView, AuditCalls, ChainVerificationView};
use wire::record::AuditQuery;

use crate::core::error::ToolError;
use crate::views::record::query::{self, SEARCHED_ROWS};
use crate::views::service::Views;

/// Rows verified in one transaction, and per incremental answer.
const VERIFIED_ROWS: i64 = 50_000;

/// Row at which a verification of the chain begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyFrom {
    /// The first one; the chain is verified to its end
    First,
    /// The one up to which it was found good last; one stretch is verified
    LastGood,
}

/// Position up to which the chain was verified last.
#[derive(Debug, Default)]
pub(crate) struct LastVerified(Mutex<Option<VerifiedChain>>);

#[derive(Debug, Clone)]
struct VerifiedChain {
    verdict: ChainVerification,
    since: Timestamp,
}

impl LastVerified {
    fn get(&self) -> Option<VerifiedChain> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, good: VerifiedChain) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(good);
    }
}

fn call_view(row: AuditRow) -> AuditCallView {
    let AuditRow { number, at, agent, tool, code, body, hash } = row;
    AuditCallView { number, at, agent_id: agent, tool, code, body, hash }
}

fn archive_view(cut: AuditCheckpoint) -> AuditArchive {
    let AuditCheckpoint { first_row, last_row, last_hash, archive, sha256, .. } = cut;
    AuditArchive { first_row, last_row, last_hash, archive, sha256 }
}

impl Views {
    /// Lists recorded calls exactly as they stand in the chain, the oldest first unless the query says otherwise.
    pub async fn chain_calls(
        &self,
        query: AuditQuery,
        limit: u32,
    ) -> Result<AuditCalls, ToolError> {
        let page = if query::is_plain(&query) {
            let (after, agent, tool) = (query.after.number(), query.agent_id, query.tool);
            let filter = AuditFilter { after, agent, tool };
            let page = self.store.scan(move |tx| tx.audit_page(&filter, limit)).await;
            page.map_err(|error: StoreError| ToolError::from(error))?
        } else {
            let order = query::order(&query, AuditSearchOrder::Oldest)?;
            let search = move |tx: &store::Tx<'_>| {
                let search = query::search(tx, &query)?;
                Ok::<_, ToolError>(tx.audit_search(&search, order, limit, SEARCHED_ROWS)?)
            };
            let found = self.store.scan(search).await?;
            Page { items: found.calls.into_iter().map(|call| call.row).collect(), next: found.next }
        };
        let page = page.map(call_view);
        Ok(AuditCalls { rows: page.items, next_cursor: page.next })
    }

    /// Verifies the chain.
    pub async fn verify_chain(&self, from: VerifyFrom) -> Result<ChainVerificationView, ToolError> {
        let now = self.now();
        let known = self.last_verified.get().filter(|_| from == VerifyFrom::LastGood);
        let since = known.as_ref().map_or(now, |good| good.since);
        let start = known.map_or_else(
            || ChainVerification { rows: 0, head: String::new(), broken: None, archived: 0 },
            |good| good.verdict,
        );
        let (verdict, of) = match from {
            VerifyFrom::First => self.verify_to_end(start).await?,
            VerifyFrom::LastGood => self.verify_stretch(start).await?,
        };
        let archives = self.store.read(|tx| tx.audit_checkpoints().map_err(ToolError::from))?;
        let verdict_so_far = ChainVerification { broken: None, ..verdict.clone() };
        self.last_verified.set(VerifiedChain { verdict: verdict_so_far, since });
        let (broken_at, problem) = verdict.broken.unzip();
        Ok(ChainVerificationView {
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
        })
    }

    /// Verifies the chain to its end. Each stretch looks at a snapshot of its own, so that the log of the
    /// database can be emptied in between.
    async fn verify_to_end(
        &self,
        mut good: ChainVerification,
    ) -> Result<(ChainVerification, i64), StoreError> {
        loop {
            let (verdict, of) = self.verify_stretch(good.clone()).await?;
            if verdict.broken.is_some() || verdict.rows >= of || verdict.rows == good.rows {
                return Ok((verdict, of));
            }
            good = verdict;
        }
    }

    /// Verifies one stretch of the chain from where it was found good, and counts its rows.
    async fn verify_stretch(
        &self,
        good: ChainVerification,
    ) -> Result<(ChainVerification, i64), StoreError> {
        self.store
            .scan(move |tx| {
                Ok::<_, StoreError>((tx.audit_verify_on(&good, VERIFIED_ROWS)?, tx.audit_last()?))
            })
            .await
    }
}
