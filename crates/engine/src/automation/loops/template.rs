//! Templates with variables: `{{name}}`. Substituted texts are not expanded again.

use model::nearest::nearest;

/// Default prompt template of a loop's agent.
pub(crate) const BUILT_IN: &str = include_str!("template.md");
/// Prompt of the planning iteration.
pub(crate) const PLANNING: &str = include_str!("planning.md");

/// Variables allowed in a loop's template.
pub(crate) const VARIABLES: [&str; 9] =
    ["session", "iteration", "spec", "notes", "tasks", "history", "extra", "port", "binary"];

/// A variable that there is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Unknown name
    pub name: String,
    /// Nearest known name
    pub near: Option<&'static str>,
}

/// The first variable of a text that is none of the known ones.
pub fn unknown(text: &str, known: &'static [&'static str]) -> Option<Unknown> {
    let mut found = None;
    fill(text, |name| {
        if found.is_none() && !known.contains(&name) {
            let near = nearest(name, known.iter().copied());
            found = Some(Unknown { name: name.to_owned(), near });
        }
        None
    });
    found
}

/// Puts values in the place of variables. What has no value stays as it stands.
pub(crate) fn fill(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let variable = after.split_once("}}").filter(|(name, _)| is_name(name.trim()));
        let Some((name, behind)) = variable else {
            filled.push_str("{{");
            rest = after;
            continue;
        };
        if let Some(value) = value(name.trim()) {
            filled.push_str(&value);
        } else {
            filled.push_str("{{");
            filled.push_str(name);
            filled.push_str("}}");
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once_and_never_looked_at_again() {
        let value = |name: &str| match name {
            "spec" => Some("{{extra}} and {{spec}}".to_owned()),
            "extra" => Some("more".to_owned()),
            _ => None,
        };
        for (text, filled) in [
            ("{{spec}}, {{ extra }}", "{{extra}} and {{spec}}, more"),
            ("{{nothing}} {{", "{{nothing}} {{"),
            ("{{{{extra}}}}", "{{more}}"),
            ("{{not a name}} {{}} }}", "{{not a name}} {{}} }}"),
            ("", ""),
        ] {
            assert_eq!(fill(text, value), filled, "{text}");
        }
    }

    #[test]
    fn an_unknown_variable_is_named_with_the_nearest() {
        let wrong = unknown("{{spec}} {{iterration}} {{x}}", &VARIABLES).unwrap();
        assert_eq!((wrong.name.as_str(), wrong.near), ("iterration", Some("iteration")));
        assert_eq!(unknown("{{zebra}}", &VARIABLES).unwrap().near, None);
        assert_eq!(unknown("{{ json: {a} }} {{spec}}", &VARIABLES), None);
    }

    #[test]
    fn the_built_in_texts_use_known_variables_and_no_command_lines() {
        for text in [BUILT_IN, PLANNING] {
            assert_eq!(unknown(text, &VARIABLES), None);
            assert!(!text.contains("{{binary}}") && !text.contains("adjutant tool"));
            for needed in ["{{session}}", "{{spec}}", "{{extra}}"] {
                assert!(text.contains(needed), "{needed}");
            }
        }
        for needed in ["{{tasks}}", "{{notes}}", "{{history}}", "{{iteration}}"] {
            assert!(BUILT_IN.contains(needed), "{needed}");
        }
    }
}
