//! What is looked for in the record, as it is asked for over HTTP.

use engine::store::{AuditBy, AuditEnd, AuditOrder, AuditSearch, AuditTask, Tx};
use engine::{Code, ToolError};
use model::{TaskRef, Timestamp};

/// So many rows are looked at for one answer.
pub(super) const SCAN: i64 = 20 * 1024;
/// So many characters may be looked for.
const LONGEST: usize = 200;

/// What is looked for, still in words.
#[derive(Debug, Default)]
pub(super) struct Filter {
    pub(super) agent: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) q: Option<String>,
    pub(super) outcome: Option<String>,
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) task: Option<String>,
    pub(super) commit: Option<String>,
    pub(super) after: i64,
    pub(super) before: Option<i64>,
}

/// The codes of calls that were refused: the caller may not.
pub(super) fn refusals() -> Vec<&'static str> {
    let refused = Code::PermissionDenied.exit();
    Code::ALL.iter().filter(|row| row.2 == refused).map(|row| row.1).collect()
}

/// In which order.
pub(super) fn order_of(asked: Option<&str>, usual: AuditOrder) -> Result<AuditOrder, ToolError> {
    match asked {
        None => Ok(usual),
        Some("asc") => Ok(AuditOrder::Oldest),
        Some("desc") => Ok(AuditOrder::Newest),
        Some(_) => Err(bad("order", "must be `asc` or `desc`")),
    }
}

fn bad(field: &str, why: &str) -> ToolError {
    ToolError::invalid(format!("`{field}` {why}")).detail("field", field)
}

fn bounded<'a>(field: &str, text: &'a str) -> Result<&'a str, ToolError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LONGEST {
        return Err(bad(field, &format!("must have from 1 to {LONGEST} characters")));
    }
    Ok(text)
}

impl Filter {
    /// Makes a search of it, or says what is wrong with it.
    pub(super) fn search(&self, tx: &Tx<'_>) -> Result<AuditSearch, ToolError> {
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since >= until
        {
            return Err(bad("until", "must be after `since`"));
        }
        Ok(AuditSearch {
            by: self.agent.as_deref().map(by).transpose()?,
            tool: self.tool.as_deref().map(tool).transpose()?,
            end: self.outcome.as_deref().map(end).transpose()?,
            words: self.q.as_deref().map_or_else(|| Ok(Vec::new()), words)?,
            since: self.since,
            until: self.until,
            task: self.task.as_deref().map(|name| task(tx, name)).transpose()?,
            commit: self.commit.as_deref().map(commit).transpose()?,
            after: self.after,
            before: self.before,
        })
    }
}

/// Whose calls: an id, `operator`, a role, or a part of an id.
fn by(text: &str) -> Result<AuditBy, ToolError> {
    let text = bounded("agent", text)?;
    Ok(match text.parse() {
        Ok(id) => AuditBy::Agent(id),
        Err(_) if text == "operator" => AuditBy::Operator,
        Err(_) => AuditBy::Like(text.to_owned()),
    })
}

fn tool(text: &str) -> Result<String, ToolError> {
    let text = bounded("tool", text)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '.');
    if !text.chars().all(fits) {
        return Err(bad("tool", "is no tool: letters, digits, `_`, `-` and `*` only"));
    }
    Ok(text.to_owned())
}

fn end(text: &str) -> Result<AuditEnd, ToolError> {
    match text {
        "done" => Ok(AuditEnd::Good),
        "failed" => Ok(AuditEnd::Without(refusals())),
        "denied" => Ok(AuditEnd::With(refusals())),
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
