//! Parses JSON into arguments, with errors that name the field and the valid ones.

use model::nearest::nearest;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::core::error::ToolError;

/// Reads arguments. Absent ones are `{}`.
pub fn parse<T: DeserializeOwned>(raw: &Value) -> Result<T, ToolError> {
    static EMPTY: std::sync::LazyLock<Value> =
        std::sync::LazyLock::new(|| Value::Object(<_>::default()));
    let raw = if raw.is_null() { &EMPTY } else { raw };
    if !raw.is_object() {
        return Err(ToolError::invalid("the input must be a JSON object"));
    }
    // The path to a mistake is only worth its price where there is one.
    T::deserialize(raw).or_else(|_| {
        serde_path_to_error::deserialize(raw).map_err(|error| {
            let path = error.path().to_string();
            explain(&path, &error.into_inner().to_string())
        })
    })
}

/// Says what is wrong in words that name the field.
fn explain(path: &str, problem: &str) -> ToolError {
    let quoted = quoted_names(problem);
    let under = |name: &str| match path {
        "." | "" => name.to_owned(),
        // The path of an unknown field ends in its own name.
        path if path.ends_with(name) => path.to_owned(),
        path => format!("{path}.{name}"),
    };
    if problem.starts_with("unknown field")
        && let [given, known @ ..] = &quoted[..]
    {
        let field = under(given);
        let error = ToolError::invalid(format!("unknown field `{field}`")).detail("field", field);
        return match nearest(given, known.iter().copied()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if known.is_empty() => error.hint("this tool takes no fields"),
            None => error.hint(format!("the fields are: {}", known.join(", "))),
        };
    }
    if problem.starts_with("missing field")
        && let [name, ..] = &quoted[..]
    {
        let field = under(name);
        return ToolError::invalid(format!("missing field `{field}`")).detail("field", field);
    }
    ToolError::invalid(format!("`{path}`: {problem}")).detail("field", path)
}

/// The names that stand in backticks, in order.
fn quoted_names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{AgentId, Line};
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors matter here")]
    struct Args {
        agent_id: AgentId,
        title: Option<Line<5>>,
        items: Option<Vec<Item>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors matter here")]
    struct Item {
        content: Line<5>,
    }

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better")]
    fn check(raw: Value, message: &str, hint: Option<&str>) {
        let error = parse::<Args>(&raw).unwrap_err();
        assert_eq!(error.message, message);
        assert_eq!(error.suggestions.first().map(String::as_str), hint);
    }

    #[test]
    fn every_mistake_names_its_field() {
        let id = "sp_0000000000000001";
        check(json!({}), "missing field `agentId`", None);
        check(
            json!({"agentId": id, "titel": "x"}),
            "unknown field `titel`",
            Some("did you mean `title`?"),
        );
        check(
            json!({"agentId": 5}),
            "`agentId`: invalid type: integer `5`, expected an agent id (a string of `sp_` and 16 hex digits)",
            None,
        );
        check(
            json!({"agentId": id, "title": "longer"}),
            "`title`: is 6 characters long; the limit is 5",
            None,
        );
        check(json!({"agentId": id, "items": [{}]}), "missing field `items[0].content`", None);
        check(
            json!({"agentId": id, "items": [{"content": "x", "y": 1}]}),
            "unknown field `items[0].y`",
            Some("the fields are: content"),
        );
        check(json!([]), "the input must be a JSON object", None);
    }
}
