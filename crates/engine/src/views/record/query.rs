//! Queries of the record: their checks, and the searches they become.

use model::{Cursor, TaskRef, Timestamp};
use store::{
    AuditCallerFilter, AuditOutcomeFilter, AuditSearch, AuditSearchOrder, AuditSpan, AuditTask, Tx,
};
use wire::record::AuditQuery;

use crate::core::error::{Code, ToolError};
use crate::views::period::Period;

/// Rows searched per answer.
pub(super) const SEARCHED_ROWS: i64 = 20 * 1024;
/// Maximum length of a search text, in characters.
const MAX_TEXT: usize = 200;

/// Codes of calls that were refused because the caller may not make them.
pub(in crate::views) fn refusals() -> Vec<&'static str> {
    let refused = Code::PermissionDenied.exit();
    Code::ALL.iter().filter(|row| row.2 == refused).map(|row| row.1).collect()
}

fn bad(field: &str, why: &str) -> ToolError {
    ToolError::invalid(format!("`{field}` {why}")).detail("field", field)
}

fn bounded<'a>(field: &str, text: &'a str) -> Result<&'a str, ToolError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_TEXT {
        return Err(bad(field, &format!("must have from 1 to {MAX_TEXT} characters")));
    }
    Ok(text)
}

/// Order of the rows; `usual` where the query names none.
pub(super) fn order(
    query: &AuditQuery,
    usual: AuditSearchOrder,
) -> Result<AuditSearchOrder, ToolError> {
    match query.order.as_deref() {
        None => Ok(usual),
        Some("asc") => Ok(AuditSearchOrder::Oldest),
        Some("desc") => Ok(AuditSearchOrder::Newest),
        Some(_) => Err(bad("order", "must be `asc` or `desc`")),
    }
}

/// True if the query needs only an agent's or a tool's rows in order.
pub(super) fn is_plain(query: &AuditQuery) -> bool {
    query.order.as_deref().is_none_or(|order| order == "asc")
        && [&query.agent, &query.q, &query.outcome, &query.task_id, &query.commit]
            .iter()
            .all(|asked| asked.is_none())
        && [query.since, query.until].iter().all(Option::is_none)
        && query.before.is_none()
        && query.tool.as_ref().is_none_or(|tool| !tool.contains('*'))
}

/// Makes a search of a query, or says what is wrong with it.
pub(super) fn search(tx: &Tx<'_>, query: &AuditQuery) -> Result<AuditSearch, ToolError> {
    if let (Some(since), Some(until)) = (query.since, query.until)
        && since >= until
    {
        return Err(bad("until", "must be after `since`"));
    }
    Ok(AuditSearch {
        by: match query.agent_id {
            Some(id) => Some(AuditCallerFilter::Agent(id)),
            None => query.agent.as_deref().map(by).transpose()?,
        },
        tool: query.tool.as_deref().map(tool).transpose()?,
        end: query.outcome.as_deref().map(end).transpose()?,
        words: query.q.as_deref().map_or_else(|| Ok(Vec::new()), words)?,
        since: query.since,
        until: query.until,
        task: query.task_id.as_deref().map(|name| task(tx, name)).transpose()?,
        commit: query.commit.as_deref().map(commit).transpose()?,
        after: query.after.number(),
        before: query.before.map(Cursor::number),
    })
}

/// A period cut into parts of whole milliseconds each, so that the end may be a little later than asked.
pub(in crate::views) fn span_of(
    period: Period,
    parts: u32,
    now: Timestamp,
) -> Result<AuditSpan, ToolError> {
    const HOUR: i64 = 3_600_000;
    let until = period.until.unwrap_or_else(|| now.after_millis(1));
    let from = period.since.unwrap_or_else(|| until.after_millis(-HOUR));
    if from >= until {
        return Err(bad("until", "must be after `since`"));
    }
    let length = until.millis_since(from);
    let step = (length + i64::from(parts) - 1) / i64::from(parts);
    Ok(AuditSpan { from, step, parts: usize::try_from(parts).unwrap_or(1) })
}

/// Parses a caller: an id, `operator`, a role, or a part of an id.
fn by(text: &str) -> Result<AuditCallerFilter, ToolError> {
    let text = bounded("agent", text)?;
    Ok(match text.parse() {
        Ok(id) => AuditCallerFilter::Agent(id),
        Err(_) if text == "operator" => AuditCallerFilter::Operator,
        Err(_) => AuditCallerFilter::Like(text.to_owned()),
    })
}

fn tool(text: &str) -> Result<String, ToolError> {
    let text = bounded("tool", text)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '.');
    if !text.chars().all(fits) {
        return Err(bad("tool", "is not a tool: letters, digits, `_`, `-` and `*` only"));
    }
    Ok(text.to_owned())
}

fn end(text: &str) -> Result<AuditOutcomeFilter, ToolError> {
    match text {
        "done" => Ok(AuditOutcomeFilter::Good),
        "failed" => Ok(AuditOutcomeFilter::Without(refusals())),
        "denied" => Ok(AuditOutcomeFilter::With(refusals())),
        _ => Err(bad("outcome", "must be `done`, `failed` or `denied`")),
    }
}

/// Words, and what stands between quotes as one.
fn words(text: &str) -> Result<Vec<String>, ToolError> {
    let text = bounded("q", text)?.to_lowercase();
    let mut found: Vec<String> = Vec::new();
    for (n, part) in text.split('"').enumerate() {
        if n % 2 == 1 {
            found.push(part.to_owned());
        } else {
            found.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    found.retain(|word| !word.is_empty());
    Ok(found)
}

fn task(tx: &Tx<'_>, name: &str) -> Result<AuditTask, ToolError> {
    let name: TaskRef =
        bounded("taskId", name)?.parse().map_err(|error: model::task::InvalidTaskRef| {
            ToolError::invalid(error.to_string()).detail("field", "taskId")
        })?;
    let found = tx.task_find(&name)?;
    let task = found.ok_or_else(|| ToolError::not_found(format!("there is no task `{name}`")))?;
    Ok(AuditTask { id: task.id, number: task.number, slug: task.slug })
}

fn commit(text: &str) -> Result<String, ToolError> {
    let text = text.trim().to_ascii_lowercase();
    let hex = text.bytes().all(|b| b.is_ascii_hexdigit());
    if !hex || !(4..=64).contains(&text.len()) {
        return Err(bad("commit", "must be 4 or more hex digits, as git shows them"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_what_the_caller_may_not() {
        let refusals = refusals();
        assert!(refusals.contains(&"PERMISSION_DENIED") && refusals.contains(&"BUDGET_EXCEEDED"));
        assert!(!refusals.contains(&"CONFLICT") && !refusals.contains(&"INVALID_INPUT"));
    }

    #[test]
    fn words_are_split_and_quotes_keep_them_together() {
        assert_eq!(words(r#"Pull "Typed job ids" x"#).unwrap(), ["pull", "typed job ids", "x"]);
        assert!(words(" ").is_err());
    }
}
