//! Servers of the project and the user.

use serde_json::json;

use super::{hello, opened};
use crate::agent::acp::Acp;
use crate::agent::replay::{brief, hear, said};
use crate::agent::{Asks, Brief, Kind as _, Step, UserServer};
use crate::run::Variables;

fn with_servers() -> Brief {
    let server =
        |name: &str, config: serde_json::Value| UserServer { name: name.to_owned(), config };
    let mut brief = brief();
    brief.command = vec!["some-agent".to_owned()];
    brief.user_servers = vec![
        server(
            "github",
            json!({ "command": "npx", "args": ["gh", "${WHO}"], "env": { "T": "s3cret" } }),
        ),
        server("feed", json!({ "type": "sse", "url": "https://a/${KEY}" })),
        server("odd", json!({ "type": "ws", "url": "wss://a" })),
    ];
    brief.variables = Variables(vec![("KEY".to_owned(), "s3cret two".to_owned())]);
    brief
}

#[test]
fn servers_are_whispered_without_their_secrets() {
    let brief = with_servers();
    let plan = Acp.plan(&brief).unwrap();
    let variables: Vec<_> =
        plan.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = [
        ("MCP_SERVER_VALUE_1", "s3cret"),
        ("MCP_SERVER_VALUE_2", "${WHO}"),
        ("MCP_SERVER_VALUE_3", "https://a/s3cret two"),
    ];
    assert_eq!(variables, expected);
    assert!(plan.warnings[0].contains("`odd`"), "{:?}", plan.warnings);
    let mut talk = Acp.conversation(&brief);
    talk.begin();
    let can = json!({ "mcpCapabilities": { "http": true }, "loadSession": true });
    let steps = hear(talk.as_mut(), &[hello(&can, &json!(null))]);
    assert!(matches!(steps[..], [Step::Whisper(_)]), "{steps:?}");
    let servers = said(&steps)[0]["params"]["mcpServers"].clone();
    assert_eq!(
        servers[1],
        json!({
            "name": "github", "command": "npx", "args": ["gh", "${MCP_SERVER_VALUE_2}"],
            "env": [{ "name": "T", "value": "${MCP_SERVER_VALUE_1}" }],
        })
    );
    assert_eq!(servers.as_array().unwrap().len(), 2, "it takes no `sse`: {servers}");
    assert!(!talk.snapshot().contains("s3cret"));
}

#[test]
fn tools_of_the_projects_servers_are_asked_for_and_those_of_toolsets_are_not() {
    let mut brief = with_servers();
    brief.asks = Asks::Deny;
    let answer = |brief: &Brief| {
        let mut talk = Acp.conversation(brief);
        talk.begin();
        let can = json!({ "mcpCapabilities": { "http": true }, "loadSession": true });
        hear(talk.as_mut(), &[hello(&can, &json!(null)), opened()]);
        let call = json!({
            "toolCallId": "c", "title": "x", "rawInput": { "server": "github", "tool": "get_issue" },
            "_meta": { "is_mcp_tool_call": true },
        });
        let options = [("yes", "allow_once"), ("no", "reject_once")]
            .map(|(id, kind)| json!({ "optionId": id, "name": id, "kind": kind }));
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        let asked = json!({ "id": "q", "method": "session/request_permission", "params": params });
        let steps = hear(talk.as_mut(), &[asked]);
        said(&steps)[0]["result"]["outcome"]["optionId"].clone()
    };
    brief.tools = Some(vec!["Read".to_owned()]);
    assert_eq!(answer(&brief), "no");
    brief.tools = Some(vec!["mcp__github__*".to_owned()]);
    assert_eq!(answer(&brief), "yes");
    brief.disallowed_tools = vec!["mcp__github__get_*".to_owned()];
    assert_eq!(answer(&brief), "no");
}
