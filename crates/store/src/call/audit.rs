//! The audit record: every call, in commit order, in a hash chain (`core/chain.rs`).

use model::{AgentId, Timestamp};
use rusqlite::{Row, params};

use crate::call::audit_blocks::BlockCheck;
use crate::core::chain::{AuditDraft, Chain};
use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Audit rows per block.
pub(crate) const ROWS_PER_BLOCK: i64 = 1024;

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place in the chain
    pub number: i64,
    /// When
    pub at: Timestamp,
    /// Calling agent, or the one the operator acted as
    pub agent: Option<AgentId>,
    /// Tool name
    pub tool: String,
    /// The code it failed with
    pub code: Option<String>,
    /// Everything, as JSON: this is what the hash covers
    pub body: String,
    /// The hash of the body and of all that came before
    pub hash: String,
}

/// Filter for listing calls.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Only those after this number
    pub after: i64,
    /// Only this agent's
    pub agent: Option<AgentId>,
    /// Only of this tool
    pub tool: Option<String>,
}

pub(crate) const COLUMNS: &str = "number, at, agent_id, tool, code, body, hash";

pub(crate) fn read(row: &Row<'_>) -> Result<AuditRow, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(AuditRow {
        number: cells.get()?,
        at: cells.time()?,
        agent: cells.parse_opt()?,
        tool: cells.get()?,
        code: cells.get()?,
        body: cells.get()?,
        hash: cells.get()?,
    })
}

impl Tx<'_> {
    /// Records a call, and counts it.
    pub fn audit_append(&mut self, draft: &AuditDraft) -> Result<i64, StoreError> {
        self.uses.count(draft);
        self.audit_append_uncounted(draft)
    }

    /// Records a part of a call that is counted elsewhere: that it began, or that it came again.
    pub fn audit_append_uncounted(&mut self, draft: &AuditDraft) -> Result<i64, StoreError> {
        let number = self.chain.audit + 1;
        let body = draft.body(number);
        let hash = self.chain.link(&body);
        let text = std::str::from_utf8(&hash).map_err(|e| StoreError::Corrupt(e.to_string()))?;
        self.execute(
            "INSERT INTO audit (number, at, agent_id, tool, code, body, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            params![
                number,
                draft.at.as_millis(),
                draft.agent.map(|agent| agent.to_string()),
                draft.tool,
                draft.code,
                body,
                text
            ],
        )?;
        self.chain.audit = number;
        self.chain.hash = hash;
        self.audit_mark_block(draft, number / ROWS_PER_BLOCK)?;
        Ok(number)
    }

    /// Records calls that changed nothing, and that their callers were there.
    pub(crate) fn audit_append_all(&mut self, drafts: &[AuditDraft]) -> Result<(), StoreError> {
        let mut seen: Vec<(AgentId, Timestamp)> = Vec::new();
        for draft in drafts {
            self.audit_append(draft)?;
            if let Some(agent) = draft.agent.filter(|_| !draft.by_operator) {
                match seen.iter_mut().find(|(id, _)| *id == agent) {
                    Some((_, at)) => *at = draft.at,
                    None => seen.push((agent, draft.at)),
                }
            }
        }
        for (agent, at) in seen {
            self.agent_touch(agent, at)?;
        }
        Ok(())
    }

    /// Notes in which block the rows of an agent and of a tool are.
    fn audit_mark_block(&mut self, draft: &AuditDraft, block: i64) -> Result<(), StoreError> {
        let agent = draft.agent.map(|agent| agent.to_string());
        self.execute(
            "INSERT INTO audit_block (key, block) VALUES ($1, $3), ($2, $3)
             ON CONFLICT (key, block) DO NOTHING",
            params![draft.tool, agent.as_deref().unwrap_or(&draft.tool), block],
        )?;
        Ok(())
    }

    /// Lists recorded calls, oldest first.
    pub fn audit_page(
        &self,
        filter: &AuditFilter,
        limit: u32,
    ) -> Result<Page<AuditRow>, StoreError> {
        let agent = filter.agent.map(|agent| agent.to_string());
        let wanted = i64::from(limit) + 1;
        let Some(key) = agent.as_ref().or(filter.tool.as_ref()) else {
            let rows = self.all(
                &format!("SELECT {COLUMNS} FROM audit WHERE number > $1 ORDER BY number LIMIT $2"),
                params![filter.after, wanted],
                read,
            )?;
            return Ok(Page::cut(rows, limit, |row| row.number));
        };
        let (mut rows, mut after) = (Vec::new(), filter.after);
        while let Some(block) =
            self.audit_next_block(key, after.saturating_add(1) / ROWS_PER_BLOCK)?
        {
            let end = (block + 1) * ROWS_PER_BLOCK;
            let missing = wanted - i64::try_from(rows.len()).unwrap_or(i64::MAX);
            rows.extend(self.all(
                &format!(
                    "SELECT {COLUMNS} FROM audit
                     WHERE number > $1 AND number >= $2 AND number < $3
                        AND ($4 IS NULL OR agent_id = $4) AND ($5 IS NULL OR tool = $5)
                     ORDER BY number LIMIT $6"
                ),
                params![after, block * ROWS_PER_BLOCK, end, agent, filter.tool, missing],
                read,
            )?);
            if i64::try_from(rows.len()).unwrap_or(i64::MAX) >= wanted {
                break;
            }
            after = end - 1;
        }
        Ok(Page::cut(rows, limit, |row| row.number))
    }

    /// The first block from `block` on with a row of that agent or tool.
    fn audit_next_block(&self, key: &str, block: i64) -> Result<Option<i64>, StoreError> {
        self.one(
            "SELECT block FROM audit_block WHERE key = $1 AND block >= $2 ORDER BY block LIMIT 1",
            params![key, block],
            |row| RowReader::of(row).get(),
        )
    }

    /// Counts an agent's failed calls of a tool since `since`.
    pub fn audit_failures(
        &self,
        agent: AgentId,
        tool: &str,
        since: Timestamp,
    ) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM audit
             WHERE agent_id = $1 AND tool = $2 AND at >= $3 AND code IS NOT NULL",
            params![agent.to_string(), tool, since.as_millis()],
        )
    }

    /// Notes that a mail about an agent's failures with a tool goes out now; false if one went out
    /// since `since`.
    pub fn escalation_claim(
        &mut self,
        agent: Option<AgentId>,
        tool: &str,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let who = agent.map_or_else(|| "operator".to_owned(), |agent| agent.to_string());
        let changed = self.execute(
            "INSERT INTO escalation (agent_id, tool, at) VALUES ($1, $2, $3)
             ON CONFLICT (agent_id, tool) DO UPDATE SET at = excluded.at WHERE escalation.at < $4",
            params![who, tool, now.as_millis(), since.as_millis()],
        )?;
        Ok(changed > 0)
    }

    /// Follows the whole chain and says whether it holds.
    pub fn audit_verify(&self) -> Result<ChainVerification, StoreError> {
        let unchecked =
            ChainVerification { rows: 0, head: String::new(), broken: None, archived: 0 };
        self.audit_verify_on(&unchecked, i64::MAX)
    }

    /// Follows the chain from where an earlier check found it good, for `most` rows, and says whether
    /// it still holds there and further on.
    pub fn audit_verify_on(
        &self,
        good: &ChainVerification,
        most: i64,
    ) -> Result<ChainVerification, StoreError> {
        let checkpoints = self.audit_checkpoints()?;
        if let Some(broken) = self.audit_checkpoints_problem(&checkpoints)? {
            return Ok(Chain::default().verdict(Some(broken)));
        }
        let cut = checkpoints.last();
        let archived = cut.map_or(0, |cut| cut.last_row);
        let chain = match cut {
            // What was checked before is in archives by now.
            Some(cut) if good.rows <= cut.last_row => Chain::behind(cut.last_row, &cut.last_hash),
            _ => Chain::behind(good.rows, &good.head),
        };
        if good.rows > archived {
            let changed = match self.audit_get(good.rows)? {
                None => Some(format!("row {} is missing", good.rows)),
                Some(row) if row.hash != good.head => {
                    Some("its hash is not what it was when it was checked".to_owned())
                }
                Some(_) => None,
            };
            if let Some(problem) = changed {
                return Ok(chain.verdict(Some((good.rows, problem))));
            }
        }
        Ok(ChainVerification { archived, ..self.audit_follow(chain, most)? })
    }

    fn audit_follow(&self, mut chain: Chain, most: i64) -> Result<ChainVerification, StoreError> {
        let mut statement = self.statement(&format!(
            "SELECT {COLUMNS} FROM audit WHERE number > $1 ORDER BY number LIMIT $2"
        ))?;
        let mut rows = statement.query(params![chain.audit, most])?;
        let mut blocks = BlockCheck::default();
        while let Some(row) = rows.next()? {
            let row = read(row)?;
            let problem = match problem(&chain, &row) {
                None => blocks.problem(self, &row)?,
                problem => problem,
            };
            if let Some(problem) = problem {
                return Ok(chain.verdict(Some((row.number, problem))));
            }
            chain.audit = row.number;
            chain.hash = row.hash.as_bytes().try_into().unwrap_or(chain.hash);
        }
        Ok(chain.verdict(None))
    }

    /// The hash that a row follows, and what is wrong with its link to it.
    pub(crate) fn audit_link(
        &self,
        row: &AuditRow,
    ) -> Result<(String, Option<String>), StoreError> {
        let mut chain = Chain { audit: row.number - 1, ..Chain::default() };
        if row.number > 1 {
            let before = match self.audit_get(row.number - 1)? {
                Some(before) => Some(before.hash),
                None => self.audit_checkpoint_hash(row.number - 1)?,
            };
            let Some(before) = before else {
                let problem = format!("row {} is missing", row.number - 1);
                return Ok((String::new(), Some(problem)));
            };
            chain.hash = before.as_bytes().try_into().unwrap_or(chain.hash);
        }
        Ok((String::from_utf8_lossy(&chain.hash).into_owned(), problem(&chain, row)))
    }

    /// The number of the last row.
    pub fn audit_last(&self) -> Result<i64, StoreError> {
        self.number("SELECT COALESCE(MAX(number), 0) FROM audit", [])
    }
}

/// Result of verifying the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerification {
    /// Number of rows verified, from the first
    pub rows: i64,
    /// The hash of the last good row
    pub head: String,
    /// The first bad row, and what is wrong with it
    pub broken: Option<(i64, String)>,
    /// Number of the last row that is in an archive and was not checked here; 0 where none is
    pub archived: i64,
}

impl Chain {
    pub(crate) fn verdict(&self, broken: Option<(i64, String)>) -> ChainVerification {
        let head = String::from_utf8_lossy(&self.hash).into_owned();
        ChainVerification { rows: self.audit, head, broken, archived: 0 }
    }
}

fn problem(chain: &Chain, row: &AuditRow) -> Option<String> {
    if row.number != chain.audit + 1 {
        return Some(format!("row {} is missing", chain.audit + 1));
    }
    if chain.link(&row.body) != row.hash.as_bytes() {
        return Some("its hash does not match its body and the previous hash".into());
    }
    let Ok(body) = serde_json::from_str::<serde_json::Value>(&row.body) else {
        return Some("its body is not JSON".into());
    };
    let same = body["number"] == row.number
        && body["at"] == row.at.to_string()
        && body["agentId"].as_str() == row.agent.map(|agent| agent.to_string()).as_deref()
        && body["tool"] == row.tool
        && body["code"].as_str() == row.code.as_deref();
    (!same).then(|| "its columns do not match its body".into())
}

/// Follows an exported chain: pairs of body and hash, from the first row.
pub fn verify_chain<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> ChainVerification {
    follow_export(Chain::default(), rows)
}

/// Follows an export that begins behind `chain`.
pub(crate) fn follow_export<'a>(
    mut chain: Chain,
    rows: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> ChainVerification {
    for (body, hash) in rows {
        if chain.link(body) != hash.as_bytes() {
            let number = chain.audit + 1;
            return chain.verdict(Some((number, "its hash does not match".into())));
        }
        chain.audit += 1;
        chain.hash = hash.as_bytes().try_into().unwrap_or(chain.hash);
    }
    chain.verdict(None)
}
