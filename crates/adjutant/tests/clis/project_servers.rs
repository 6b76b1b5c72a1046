//! A server of the project's `.mcp.json` is called by each command line, without a prompt, and gets its secret.

use std::fs;

use serde_json::json;
use testkit::llm::{Script, Turn};

use crate::crowd::Crowd;

/// A server with one tool, which tells what it finds in its environment.
const SERVER: &str = r#"
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const tool = { name: "tell", description: "Tells", inputSchema: { type: "object", properties: {} } };
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const { protocolVersion } = params ?? {};
  const hello = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } };
  const told = { content: [{ type: "text", text: `told ${process.env.SECRET} ${process.argv[2]}` }] };
  say(id, { initialize: hello, "tools/list": { tools: [tool] }, "tools/call": told }[method] ?? {});
});
"#;

#[tokio::test]
async fn a_server_of_the_project_is_called_without_a_prompt_and_gets_its_secret() {
    let script = Script::new([Turn::call("mcp__teller__tell", json!({})), Turn::text("{{last}}")]);
    let crowd = Crowd::gather([("ask", script)]).await;
    let project = crowd.world.project();
    fs::write(project.join("teller.cjs"), SERVER).unwrap();
    let file = json!({ "mcpServers": { "teller": {
        "command": "node", "args": [project.join("teller.cjs"), "and more"],
        "env": { "SECRET": "s3cret-one" },
    }}});
    fs::write(project.join(".mcp.json"), file.to_string()).unwrap();
    crowd.json(&["reload", "--json"]).await;
    for role in ["claude-worker", "codex-worker", "acp-worker"] {
        let run = ["run", "--json", "--role", role, "[[script:ask]] Ask the teller."];
        let answer = crowd.json(&run).await;
        assert_eq!(answer["state"], "succeeded", "{role}: {answer}");
        let told = crowd.llm.asked("ask").last().unwrap().results.join(" ");
        assert!(told.contains("told s3cret-one and more"), "{role}: {told}");
    }
}
