//! `docs/reference/tools.md`: every tool, from the registry.

use std::fmt::{self, Write as _};

use engine::{Code, Effect, TOOLS, ToolDef};
use model::Policy;
use model::policy::{BUILT_IN_CATEGORIES, Rules};
use serde_json::{Map, Value};

use crate::generate::schema::{self, Field};

const HEAD: &str = "\
<!-- Written by `cargo xtask generate` from the tools themselves. Change those, not this. -->

# Tools

Every tool Adjutant has, under the names it has on each face:

| face | name |
|---|---|
| `POST /mcp/execute`, `adjutant tool`, patterns in `config.yaml` and roles | the canonical name, `mcp__mail__send` |
| `/mcp/<toolset>` and `adjutant mcp --toolset <toolset>` | the bare name, `send` |
| `/mcp`, `adjutant mcp` and `adjutant tool` | the joined name, `mail_send` |

A caller sees in `tools/list` what its category and its role allow, and nothing else.

";

/// The page.
pub(super) fn page() -> String {
    let mut page = String::from(HEAD);
    // Writing to a String cannot fail.
    _ = errors(&mut page);
    _ = contents(&mut page);
    for toolset in toolsets() {
        _ = write!(page, "## {toolset}\n\n");
        for tool in TOOLS.iter().filter(|tool| tool.toolset() == toolset) {
            _ = section(&mut page, tool);
        }
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// The toolsets that have tools, in the registry's order.
fn toolsets() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for tool in TOOLS {
        if !names.contains(&tool.toolset()) {
            names.push(tool.toolset());
        }
    }
    names
}

fn errors(page: &mut String) -> fmt::Result {
    page.push_str(
        "## Errors\n\n\
         A tool that fails answers with a body `{code, message, toolName, agentId?, suggestions?, \
         details?}`: over MCP\nas a result with `isError`, over HTTP with the status below, on the \
         command line with the exit code below.\n\n\
         | code | HTTP | exit |\n|---|---|---|\n",
    );
    for (_, name, exit, http) in Code::ALL {
        writeln!(page, "| `{name}` | {http} | {exit} |")?;
    }
    page.push_str(
        "\nAny tool can answer `INVALID_INPUT` (the field is named), `UNAUTHENTICATED`, \
         `PERMISSION_DENIED`,\n`RATE_LIMITED` and, when Adjutant itself is at fault, \
         `INTERNAL_ERROR` with an incident id. A tool that takes the\nname of something can answer \
         that there is none, with the nearest name there is.\n\n",
    );
    Ok(())
}

fn contents(page: &mut String) -> fmt::Result {
    page.push_str("## Contents\n\n| toolset | tools |\n|---|---|\n");
    for toolset in toolsets() {
        let tools = TOOLS.iter().filter(|tool| tool.toolset() == toolset);
        let links: Vec<String> =
            tools.map(|tool| format!("[`{}`](#{})", tool.bare(), anchor(&tool.joined()))).collect();
        writeln!(page, "| [{toolset}](#{toolset}) | {} |", links.join(", "))?;
    }
    page.push('\n');
    Ok(())
}

/// How Markdown renderers name a heading.
fn anchor(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect()
}

fn section(page: &mut String, tool: &ToolDef) -> fmt::Result {
    let described = tool.described();
    write!(page, "### `{}`\n\n{}\n\n", tool.joined(), described.description.trim())?;
    let mut names = vec![tool.name.to_owned(), tool.bare().to_owned(), tool.joined()];
    names.dedup();
    writeln!(page, "- Names: `{}`", names.join("`, `"))?;
    writeln!(page, "- Effect: {}", effect(tool))?;
    writeln!(page, "- May use it: {}", categories(tool))?;
    page.push('\n');
    table(page, "Input", &described.input)?;
    table(page, "Answer", &described.output)
}

fn effect(tool: &ToolDef) -> String {
    let mut effect = String::from(match tool.effect() {
        Effect::Read => "looks, and changes nothing",
        Effect::Write => "changes the record",
        Effect::Outside => "changes the record, and through it the world outside",
    });
    if tool.effect() != Effect::Read && tool.idempotent {
        effect.push_str("; once more with the same input changes nothing more");
    }
    if tool.critical {
        effect.push_str("; critical, the human gets mail when it fails");
    }
    effect
}

fn categories(tool: &ToolDef) -> String {
    let policy = Policy::default();
    let may: Vec<&str> = BUILT_IN_CATEGORIES
        .into_iter()
        .filter(|category| policy.permits(category, &Rules::default(), tool.name))
        .collect();
    match may.len() {
        0 => "the operator".into(),
        count if count == BUILT_IN_CATEGORIES.len() => "every built-in category".into(),
        _ => may.join(", "),
    }
}

fn table(page: &mut String, title: &str, schema: &Map<String, Value>) -> fmt::Result {
    let fields = schema::fields(schema);
    if fields.is_empty() {
        return write!(page, "{title}: nothing.\n\n");
    }
    write!(page, "| {title} | type | required | limits | |\n|---|---|---|---|---|\n")?;
    for Field { path, kind, is_required, limits, description } in fields {
        let required = if is_required { "yes" } else { "" };
        let limits = limits.join("; ").replace('|', "\\|");
        let description = description.replace('|', "\\|");
        writeln!(page, "| `{path}` | {kind} | {required} | {limits} | {description} |")?;
    }
    page.push('\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_section_with_its_canonical_name() {
        let page = page();
        for tool in TOOLS {
            assert!(page.contains(&format!("### `{}`\n", tool.joined())), "{}", tool.name);
            assert!(page.contains(&format!("`{}`", tool.name)), "{}", tool.name);
        }
    }
}
