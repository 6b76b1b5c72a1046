//! The nearest known name to a mistyped one, for hints.

/// Returns the name among `known` that `given` was most likely meant to be, if any is near.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A long paste is no typing mistake, and comparing it would cost.
    if given.len() > 200 {
        return None;
    }
    let folded = fold(given);
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&folded, &fold(name)), name))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| distance <= 1 + name.chars().count() / 3)
        .map(|(_, name)| name)
}

/// Case and the habits of other languages (`task_id` for `taskId`) are not mistakes worth counting.
fn fold(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name() {
        assert_eq!(nearest("task_id", ["agentId", "taskId"]), Some("taskId"));
        assert_eq!(
            nearest("mcp__mail__sned", ["mcp__mail__send", "mcp__mail__read"]),
            Some("mcp__mail__send")
        );
        assert_eq!(nearest("zebra", ["agentId", "taskId"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
