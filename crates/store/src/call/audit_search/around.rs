//! One call of the record, and its neighbours.

use rusqlite::params;

use super::{
    AuditBody, AuditCall, AuditCallerFilter, AuditSearch, AuditSearchOrder, AuditSearchResult,
    CallerCache, body,
};
use crate::call::audit::{self, AuditRow, COLUMNS, ROWS_PER_BLOCK};
use crate::core::error::StoreError;
use crate::core::tx::Tx;

/// Rows searched on either side.
const MAX_ROWS_SEARCHED: i64 = 4 * ROWS_PER_BLOCK;
/// Number of calls of the same tool that are compared.
const MAX_CALLS_COMPARED: u32 = 50;

/// A call with what stands around it.
#[derive(Debug, Clone)]
pub struct AuditAround {
    /// The call
    pub call: AuditCall,
    /// Decoded body
    pub body: Option<AuditBody>,
    /// The hash it follows
    pub before: String,
    /// Problem with its link to the previous row, if any
    pub problem: Option<String>,
    /// The other row of a call that has two: one when it began and one when it ended
    pub pair: Option<AuditRow>,
    /// Calls of the same caller around it, oldest first, including itself
    pub near: Vec<AuditCall>,
}

impl Tx<'_> {
    /// The recorded call of that number.
    pub fn audit_get(&self, number: i64) -> Result<Option<AuditRow>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM audit WHERE number = $1"),
            params![number],
            audit::read,
        )
    }

    /// A call with what stands around it: up to `near` calls of the same caller on either side.
    pub fn audit_around(&self, number: i64, near: u32) -> Result<Option<AuditAround>, StoreError> {
        let Some(row) = self.audit_get(number)? else { return Ok(None) };
        let (before, problem) = self.audit_link(&row)?;
        let call = CallerCache::new(self).call(row)?;
        let message = AuditBody::read(&call.row.body);
        let pair = match &message {
            Some(body) => self.audit_pair(&call.row, body)?,
            None => None,
        };
        let by = match (call.row.agent, &message) {
            (Some(id), Some(body)) if !body.by_operator => AuditCallerFilter::Agent(id),
            _ => AuditCallerFilter::Operator,
        };
        let search = AuditSearch { by: Some(by), ..AuditSearch::default() };
        let mut all = self.audit_side(&search, number, AuditSearchOrder::Newest, near)?.calls;
        all.reverse();
        all.push(call.clone());
        all.extend(self.audit_side(&search, number, AuditSearchOrder::Oldest, near)?.calls);
        if search.by != Some(AuditCallerFilter::Operator) {
            // What the operator did in an agent's name is not the agent's doing.
            all.retain(|call| !body::is_operators(&call.row.body));
        }
        Ok(Some(AuditAround { call, body: message, before, problem, pair, near: all }))
    }

    /// Such calls on one side of a number.
    fn audit_side(
        &self,
        search: &AuditSearch,
        number: i64,
        order: AuditSearchOrder,
        limit: u32,
    ) -> Result<AuditSearchResult, StoreError> {
        let side = match order {
            AuditSearchOrder::Oldest => AuditSearch {
                after: number,
                before: Some(number.saturating_add(MAX_ROWS_SEARCHED)),
                ..search.clone()
            },
            AuditSearchOrder::Newest => AuditSearch {
                after: number.saturating_sub(MAX_ROWS_SEARCHED).max(0),
                before: Some(number),
                ..search.clone()
            },
        };
        self.audit_search(&side, order, limit, MAX_ROWS_SEARCHED)
    }

    /// The other row of a call that has two: the same caller asked the same of the same tool, and only
    /// one of the two says that it began.
    fn audit_pair(&self, row: &AuditRow, body: &AuditBody) -> Result<Option<AuditRow>, StoreError> {
        let by = row.agent.map_or(AuditCallerFilter::Operator, AuditCallerFilter::Agent);
        let tool = Some(row.tool.clone());
        let search = AuditSearch { by: Some(by), tool, ..AuditSearch::default() };
        let order =
            if body.is_begun() { AuditSearchOrder::Oldest } else { AuditSearchOrder::Newest };
        for call in self.audit_side(&search, row.number, order, MAX_CALLS_COMPARED)?.calls {
            let Some(other) = AuditBody::read(&call.row.body) else { continue };
            if other.input != body.input || other.by_operator != body.by_operator {
                continue;
            }
            // A call before of the same kind had an end of its own.
            return Ok((other.is_begun() != body.is_begun()).then_some(call.row));
        }
        Ok(None)
    }
}
