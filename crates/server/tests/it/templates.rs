//! Templates as tools: who sees them, how they are called, and what they start. Nothing is started here: the agents
//! wait for their turn, which never comes.

use engine::settings::{Limits, Settings, Template, TemplateArgument};
use engine::{TOOLS, hash_token};
use http::{Method, StatusCode};
use model::AgentId;
use serde_json::{Value, json};
use store::NewAgent;

use crate::world::{Member, OPERATOR, World, settings};

fn argument(name: &str) -> TemplateArgument {
    TemplateArgument { name: name.into(), description: format!("The {name}"), required: false }
}

pub(crate) fn template(name: &str, text: &str) -> Template {
    Template {
        name: name.into(),
        description: "Look at something".into(),
        arguments: vec![
            TemplateArgument { required: true, ..argument("target") },
            argument("focus"),
        ],
        kind: "claude".into(),
        model: Some("claude-opus-4-1".into()),
        tools: Some(vec!["Read".into()]),
        timeout: Some(60),
        text: text.into(),
    }
}

pub(crate) fn with(templates: impl IntoIterator<Item = Template>) -> Settings {
    let templates = templates.into_iter().map(|template| (template.name.clone(), template));
    Settings { templates: templates.collect(), ..settings() }
}

fn world() -> World {
    World::with_settings(with([
        template("look_at", "Look at {{target}}. {{focus}}"),
        template("aim_at", "Aim at {{target}}."),
        template("run-tests", "Run {{target}}."),
    ]))
}

/// Makes an agent that stands so deep.
async fn deep(world: &World, like: &Member, depth: u32) -> String {
    let agent = world.store.read(|tx| tx.agent_get(like.id)).unwrap().unwrap();
    let new = NewAgent {
        id: AgentId::from_bits(9),
        role: agent.role,
        category: agent.category,
        kind: agent.kind,
        parent: None,
        depth,
        task: None,
        epic: None,
        session: None,
        iteration: None,
        state: agent.state,
        cwd: None,
        token_hash: Some(hash_token("adjag_deep")),
    };
    let now = world.engine().now();
    world.store.write(move |tx| tx.agent_insert(&new, now)).await.unwrap();
    "adjag_deep".to_owned()
}

async fn shown(world: &World, id: &Value) -> Value {
    world.get(&format!("/api/agents/{}", id.as_str().unwrap())).await
}

#[tokio::test]
async fn templates_are_listed_after_the_tools_of_their_toolset() {
    let world = world();
    let lead = world.enlist("conversational").await;
    for token in [OPERATOR, &lead.token] {
        let all = world.names("/mcp", token).await;
        let at = all.iter().position(|name| name == "aim_at").unwrap();
        assert_eq!(all[at - 1..=at + 2], ["get_result", "aim_at", "look_at", "mail_list_inbox"]);
        let session = world.open("/mcp/agents", token).await;
        let older = world.older(&session, "tools/list", json!({})).await;
        let newer = world.newer("/mcp/agents", token, "tools/list", json!({})).await;
        let tools = newer["result"]["tools"].as_array().unwrap();
        assert_eq!(older["result"]["tools"], newer["result"]["tools"]);
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names[names.len() - 2..], ["aim_at", "look_at"]);
        let look = &tools[tools.len() - 1];
        assert_eq!(look["title"], "Look at something");
        assert_eq!(look["inputSchema"]["required"], json!(["target"]));
        assert_eq!(look["inputSchema"]["properties"]["target"]["description"], "The target");
        assert_eq!(look["inputSchema"]["additionalProperties"], false);
        assert_eq!(look["outputSchema"]["type"], "object");
        assert_eq!(look["annotations"]["readOnlyHint"], false);
    }
    assert!(!world.names("/mcp/mail", OPERATOR).await.contains(&"look_at".to_owned()));
    assert!(world.names("/mcp?toolsets=mail", OPERATOR).await.len() < TOOLS.len());
}

#[tokio::test]
async fn a_template_starts_an_agent_under_each_of_its_names() {
    let world = world();
    let input = json!({ "target": "src", "focus": "errors", "async": true, "max_cost_usd": 0.5 });
    for (path, name) in [
        ("/mcp", "look_at"),
        ("/mcp", "mcp__agents__look_at"),
        ("/mcp/agents", "look_at"),
        ("/mcp/mail", "mcp__agents__look_at"),
    ] {
        let result = world.call(path, OPERATOR, name, input.clone()).await;
        assert_eq!(result["isError"], false, "{path} {name}: {result}");
        let answer = &result["structuredContent"];
        assert_eq!((&answer["status"], &answer["state"]), (&"running".into(), &"queued".into()));
        assert_eq!(answer["task_summary"], "look_at");
        assert!(answer.get("success").is_none());
        let agent = shown(&world, &answer["spawn_id"]).await;
        assert_eq!(agent["prompt"], "Look at src. errors");
        assert_eq!(
            (&agent["kind"], &agent["model"]),
            (&"claude".into(), &"claude-opus-4-1".into())
        );
        assert_eq!(agent["summary"], "look_at");
        assert_eq!(agent["budget"]["caps"]["usd"], 0.5);
    }
    let session = world.open("/mcp/agents", OPERATOR).await;
    let params = json!({ "name": "look_at", "arguments": input.clone() });
    let older = world.older(&session, "tools/call", params).await;
    assert_eq!(older["result"]["structuredContent"]["status"], "running", "{older}");
    let (status, body) = world.execute(OPERATOR, "mcp__agents__look_at", input.clone()).await;
    assert_eq!((status, &body["success"]), (StatusCode::OK, &true.into()), "{body}");
    assert_eq!(world.call("/mcp/mail", OPERATOR, "look_at", input).await["isError"], true);

    // Rows that nobody waits for go along with the next write.
    let decision = json!({ "title": "t", "body": "b" });
    world.execute(OPERATOR, "mcp__system__log_decision", decision).await;
    let rows = world.get("/api/audit?tool=mcp__agents__look_at").await;
    assert_eq!(rows["rows"].as_array().unwrap().len(), 12, "one before and one after each call");
    let metrics = world.get("/metrics").await;
    let line = r#"adjutant_tool_calls_total{tool="mcp__agents__look_at",outcome="ok"} 6"#;
    assert!(metrics.as_str().unwrap().lines().any(|have| have == line), "{metrics}");
    assert_eq!(world.get("/api/status").await["calls"], 7);
}

#[tokio::test]
async fn a_template_that_is_not_async_waits_for_its_agent() {
    let world = world();
    let session = world.open("/mcp/agents", OPERATOR).await;
    let params = json!({ "name": "aim_at", "arguments": { "target": "x" },
        "_meta": { "progressToken": 1 } });
    let mut waiting = world.begin(&session, 5, "tools/call", params).await;
    let word = waiting.next().await.unwrap();
    assert_eq!(word["method"], "notifications/progress", "{word}");
    let running = world.call("/mcp/agents", OPERATOR, "list_running", json!({})).await;
    let id = running["structuredContent"]["agents"][0]["spawn_id"].clone();
    let (_, killed) =
        world.execute(OPERATOR, "mcp__harness__kill_agent", json!({ "agentId": id })).await;
    assert_eq!(killed["data"]["success"], true, "{killed} {running}");
    let answer = waiting.answer().await;
    let answer = &answer["result"]["structuredContent"];
    assert_eq!((&answer["spawn_id"], &answer["success"]), (&id, &false.into()), "{answer}");
    assert_eq!(answer["state"], "killed");
}

#[tokio::test]
async fn mistakes_are_answered_with_the_field() {
    let world = world();
    for (input, field, message) in [
        (json!({}), "target", "missing argument `target`"),
        (json!({ "target": "a", "fokus": "b" }), "fokus", "unknown argument `fokus`"),
        (json!({ "target": {} }), "target", "`target`: must be text"),
    ] {
        let result = world.call("/mcp/agents", OPERATOR, "look_at", input).await;
        let body = &result["structuredContent"];
        assert_eq!((&body["code"], &body["message"]), (&"INVALID_INPUT".into(), &message.into()));
        assert_eq!(body["details"]["field"], field);
        assert_eq!((&body["success"], &body["error"]), (&false.into(), &message.into()));
        assert_eq!(body["toolName"], "mcp__agents__look_at");
    }
    let slip = world.call("/mcp/agents", OPERATOR, "lok_at", json!({})).await;
    assert_eq!(slip["structuredContent"]["details"]["nearest"], "look_at", "{slip}");
    let prompt = world.call("/mcp/agents", OPERATOR, "run-tests", json!({})).await;
    assert_eq!(prompt["structuredContent"]["code"], "TOOL_NOT_FOUND", "{prompt}");
}

#[tokio::test]
async fn who_may_not_start_agents_does_not_see_them_and_is_refused() {
    let world = world();
    let worker = world.enlist("worker").await;
    assert!(!world.names("/mcp", &worker.token).await.contains(&"look_at".to_owned()));
    let result = world.call("/mcp", &worker.token, "look_at", json!({ "target": "a" })).await;
    let body = &result["structuredContent"];
    assert_eq!(body["code"], "PERMISSION_DENIED", "{result}");
    let words = "Tool 'mcp__agents__look_at' is not allowed for agent type 'WORKER'";
    assert_eq!(body["message"], words);

    let lead = world.enlist("conversational").await;
    let token = deep(&world, &lead, Limits::default().depth).await;
    let names = world.names("/mcp", &token).await;
    for (name, is_there) in [
        ("look_at", false),
        ("spawn_claude", false),
        ("draft_agent", false),
        ("get_result", true),
        ("await_agent", true),
    ] {
        assert_eq!(names.iter().any(|have| have == name), is_there, "{name}: {names:?}");
    }
    let result = world.call("/mcp", &token, "look_at", json!({ "target": "a" })).await;
    assert_eq!(result["structuredContent"]["code"], "DEPTH_LIMIT_EXCEEDED", "{result}");
}

#[tokio::test]
async fn what_is_read_again_is_in_force_at_once() {
    let world = world();
    let input = json!({ "target": "a", "async": true });
    let prompt = async || {
        let result = world.call("/mcp/agents", OPERATOR, "look_at", input.clone()).await;
        shown(&world, &result["structuredContent"]["spawn_id"]).await["prompt"].clone()
    };
    assert_eq!(prompt().await, "Look at a. ");
    let changed = [template("look_at", "Look away from {{target}}."), template("new_one", "New.")];
    world.engine().set_settings(with(changed));
    assert_eq!(prompt().await, "Look away from a.");
    let names = world.names("/mcp/agents", OPERATOR).await;
    assert_eq!(names[names.len() - 2..], ["look_at", "new_one"]);
    let gone = world.call("/mcp/agents", OPERATOR, "aim_at", input.clone()).await;
    assert_eq!(gone["structuredContent"]["code"], "TOOL_NOT_FOUND", "{gone}");
}

#[tokio::test]
async fn programs_are_told_of_the_tools_they_may_use() {
    let world = world();
    let all = world.get("/api/tools").await;
    assert_eq!(all["tools"].as_array().unwrap().len(), TOOLS.len() + 2);
    let look = all["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "look_at");
    let look = look.unwrap();
    assert_eq!(look["canonicalName"], "mcp__agents__look_at");
    assert_eq!((&look["toolset"], &look["title"]), (&"agents".into(), &"Look at something".into()));
    assert_eq!(look["inputSchema"]["required"], json!(["target"]));
    let described = world.get("/api/openapi.json").await;
    let schema = &described["components"]["schemas"]["mcp__agents__look_at"];
    assert_eq!(schema["required"], json!(["target"]));
    let worker = world.enlist("worker").await;
    let (status, own) = world.ask(Method::GET, "/api/tools", &worker.token, None).await;
    assert_eq!(status, StatusCode::OK, "{own}");
    let own: Vec<&str> = own["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(own.contains(&"mail_send") && !own.contains(&"look_at"), "{own:?}");
}
