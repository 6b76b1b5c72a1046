//! One definition a tool, served everywhere: the same answer and the same refusal through MCP,
//! `POST /mcp/execute` and `adjutant tool`, for every tool of the registry and the built-in templates.

use engine::TOOLS;
use serde_json::{Value, json};
use testkit::{Agent, Http, World};

/// The templates that there are without any file.
const TEMPLATES: [&str; 3] =
    ["mcp__agents__run_tests", "mcp__agents__review_code", "mcp__agents__analyze_deps"];

fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name).chain(TEMPLATES)
}

/// What the examples speak of.
struct Stage {
    world: World,
    operator: Http,
    /// A supervisor with a task in an epic, who may use everything
    boss: Agent,
    worker: Agent,
    epic: String,
}

impl Stage {
    async fn set(server: &str, world: World) -> Self {
        let operator = Http::new(server, world.operator().await.unwrap());
        let epic =
            operator.call("mcp__epic__create", json!({ "title": "Stage" })).await.unwrap().unwrap();
        let epic = epic["id"].as_str().unwrap().to_owned();
        let own = json!({ "title": "Own", "epicId": epic });
        let own = operator.call("mcp__task__create", own).await.unwrap().unwrap();
        let task = own["id"].as_str().unwrap();
        let boss = world.enlist("supervisor", &["--task", task, "--epic", &epic]).await.unwrap();
        let worker = world.enlist("worker", &[]).await.unwrap();
        Self { world, operator, boss, worker, epic }
    }

    async fn task(&self) -> Value {
        // No two open tasks of a session say the same, so each has a number in its title.
        let count =
            self.operator.call("mcp__harness__list_tasks", json!({})).await.unwrap().unwrap();
        let title = format!("Extra {}", count["tasks"].as_array().unwrap().len());
        self.operator.call("mcp__task__create", json!({ "title": title })).await.unwrap().unwrap()
    }

    /// An agent of the boss that has ended.
    async fn ended(&self, server: &str) -> Value {
        let boss = Http::new(server, &self.boss.token);
        let draft = json!({ "role": "echo", "prompt": "p" });
        let agent = boss.call("mcp__harness__draft_agent", draft).await.unwrap().unwrap();
        let agent = agent["agentId"].clone();
        let wait = json!({ "agentId": agent });
        let over = boss.call("mcp__harness__await_agent", wait).await.unwrap().unwrap();
        assert_eq!(over["state"], "succeeded", "{over}");
        agent
    }

    /// A task of the boss's epic that waits to be approved.
    async fn in_review(&self, tool: &str, turn: usize) -> Value {
        let title = format!("For {tool} {turn}");
        let task = json!({ "title": title, "epicId": self.epic });
        let task = self.operator.call("mcp__task__create", task).await.unwrap().unwrap();
        for status in ["IN_PROGRESS", "REVIEW"] {
            let input = json!({ "taskId": task["id"], "status": status });
            self.operator.call("mcp__task__update_status", input).await.unwrap().unwrap();
        }
        task["id"].clone()
    }

    /// An epic that nobody leads.
    async fn other_epic(&self) -> Value {
        let epic = self.operator.call("mcp__epic__create", json!({ "title": "Other" })).await;
        epic.unwrap().unwrap()["id"].take()
    }

    /// An agent that works in a repository.
    async fn in_repository(&self) -> String {
        let folder = self.world.scratch().join("repository").display().to_string();
        let script = "git init -q -b main \"$0\" && cd \"$0\" && git config user.name x \
            && git config user.email x@localhost && echo a > a.txt && git add . && git commit -qm a \
            && git switch -qc work && echo b > b.txt && git add . && git commit -qm b";
        let script = format!("test -d '{folder}' || sh -c '{script}' '{folder}'");
        self.world.shell(&script).await.unwrap().ok().unwrap();
        self.world.enlist("worker", &["--cwd", &folder]).await.unwrap().id
    }

    async fn mail(&self) -> Value {
        let mail = json!({ "toAgentId": self.boss.id, "subject": "s", "body": "b" });
        self.operator.call("mcp__mail__send", mail).await.unwrap().unwrap()["mailId"].take()
    }

    /// An input that the tool takes. `turn` keeps apart what must not be said twice.
    async fn example(&self, server: &str, tool: &str, turn: usize) -> Value {
        match tool {
            "mcp__harness__draft_agent" => json!({ "role": "echo", "prompt": "p" }),
            "mcp__harness__await_agent" | "mcp__harness__kill_agent" => {
                json!({ "agentId": self.ended(server).await })
            }
            "mcp__agents__get_result" => json!({ "spawn_id": self.ended(server).await }),
            // Their programs are not there: the agents are, and end at once.
            "mcp__agents__spawn_claude" | "mcp__agents__spawn_codex" => json!({ "prompt": "p" }),
            "mcp__agents__spawn_parallel" => {
                json!({ "agents": [{ "prompt": "p" }, { "prompt": "q" }], "aggregate_results": true })
            }
            "mcp__harness__get_task_context" => json!({ "taskSlug": self.task().await["slug"] }),
            "mcp__mail__read" => json!({ "mailId": self.mail().await }),
            "mcp__mail__send" => json!({ "toHuman": true, "subject": "s", "body": "b" }),
            "mcp__mail__reply" => json!({ "originalMailId": self.mail().await, "body": "b" }),
            "mcp__system__log_decision" => json!({ "title": "t", "body": "b" }),
            "mcp__task__create" => json!({ "title": format!("Made {turn}"), "priority": 0 }),
            "mcp__task__assign" => {
                json!({ "taskId": self.task().await["id"], "agentId": self.worker.id })
            }
            "mcp__task__update_status" => {
                json!({ "taskId": self.task().await["id"], "status": "IN_PROGRESS" })
            }
            "mcp__task__add_comment" => {
                json!({ "taskId": self.task().await["number"], "body": "b" })
            }
            "mcp__task__get" => json!({ "taskId": self.task().await["slug"] }),
            "mcp__epic__create" => json!({ "title": "t" }),
            "mcp__epic__update_status" => json!({ "epicId": self.epic, "status": "IN_PROGRESS" }),
            "mcp__epic__get" => json!({ "epicId": self.epic }),
            "mcp__supervisor__approve_task" => {
                json!({ "taskId": self.in_review(tool, turn).await })
            }
            "mcp__supervisor__request_changes" => {
                json!({ "taskId": self.in_review(tool, turn).await, "feedback": "f" })
            }
            "mcp__supervisor__force_complete_task" => {
                json!({ "taskId": self.in_review(tool, turn).await, "reason": "r" })
            }
            "mcp__orchestrator__check_supervisor_health" => json!({ "agentId": self.boss.id }),
            "mcp__supervisor__create_epic_pr" | "mcp__orchestrator__create_supervisor" => {
                json!({ "epicId": self.other_epic().await })
            }
            "mcp__orchestrator__recover_supervisor" => {
                let made = json!({ "epicId": self.other_epic().await });
                let made = self.operator.call("mcp__orchestrator__create_supervisor", made).await;
                json!({ "agentId": made.unwrap().unwrap()["agentId"], "force": true })
            }
            "mcp__git__get_diff" => {
                json!({ "agentId": self.in_repository().await, "base": "main" })
            }
            "mcp__files__reserve" => json!({ "paths": ["src/**"], "reason": "faces" }),
            "mcp__files__list_reservations" => {
                let worker = Http::new(server, &self.worker.token);
                let input = json!({ "paths": ["docs/**"] });
                worker.call("mcp__files__reserve", input).await.unwrap().unwrap();
                json!({ "path": "docs/x.md" })
            }
            "mcp__review__create_pull_request" => json!({ "title": "t", "description": "d" }),
            "mcp__review__create_issues" => json!({ "issues": [{ "title": "t" }] }),
            "mcp__review__send_feedback" => {
                json!({ "feedback": "f", "feedback_type": "needs_work" })
            }
            "mcp__session__task-add" => {
                json!({ "tasks": [{ "content": format!("Added {turn}") }] })
            }
            "mcp__session__task-update" => {
                json!({ "id": self.task().await["number"], "priority": 1 })
            }
            "mcp__session__note-add" => json!({ "notes": [{ "content": "c", "type": "tip" }] }),
            "mcp__session__iteration-summary" => json!({ "summary": "s" }),
            // These take nothing, or nothing that they need.
            "mcp__harness__list_agents"
            | "mcp__harness__list_tasks"
            | "mcp__agents__list_running"
            | "mcp__mail__list_inbox"
            | "mcp__agent__get_status"
            | "mcp__agent__get_task"
            | "mcp__agent__get_epic"
            | "mcp__task__list"
            | "mcp__epic__list"
            | "mcp__supervisor__get_review_queue"
            | "mcp__orchestrator__list_supervisors"
            | "mcp__orchestrator__list_pending_epics"
            | "mcp__git__rebase"
            | "mcp__files__release"
            | "mcp__review__request_review"
            | "mcp__session__task-list"
            | "mcp__session__task-next"
            | "mcp__session__note-list"
            | "mcp__session__session-complete"
            | "mcp__agents__run_tests"
            | "mcp__agents__analyze_deps" => json!({}),
            "mcp__git__commit" => json!({ "message": "Mend it" }),
            "mcp__agents__review_code" => json!({ "target": "src" }),
            other => panic!("`{other}` has no example here yet"),
        }
    }

    /// Through MCP, as the newer era speaks it.
    async fn mcp(&self, server: &str, tool: &str, input: &Value) -> Result<Value, Value> {
        let name = engine::joined_of(tool);
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name, "arguments": input, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "faces", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        } });
        let http = Http::new(server, &self.boss.token);
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", &name),
        ];
        let (_, answer) = http.post_with("/mcp", &message, &headers).await.unwrap();
        let result = &answer["result"];
        let text =
            result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{name}: {answer}"));
        let structured = result["structuredContent"].clone();
        let failed = result["isError"] == true;
        if failed && tool.starts_with("mcp__session__") {
            assert_eq!(text, format!("error: {}", structured["message"].as_str().unwrap()));
        } else {
            let text: Value = serde_json::from_str(text).unwrap();
            assert_eq!(text, structured, "the text says the same");
        }
        if failed { Err(structured) } else { Ok(structured) }
    }

    async fn execute(&self, server: &str, tool: &str, input: &Value) -> Result<Value, Value> {
        Http::new(server, &self.boss.token).call(tool, input.clone()).await.unwrap()
    }

    async fn command_line(&self, tool: &str, input: &Value) -> Result<Value, Value> {
        let input = input.to_string();
        let ran = self
            .world
            .run_as(&self.boss, &["tool", tool, "--input", &input, "--json"])
            .await
            .unwrap();
        match ran.code {
            Some(0) => Ok(ran.json().unwrap()),
            Some(code) => {
                let error = ran.error().unwrap();
                let named = engine::Code::parse(error["code"].as_str().unwrap()).unwrap();
                assert_eq!(code, i32::from(named.exit()), "{tool}: {error}");
                Err(error)
            }
            None => panic!("{tool}: {}", ran.stderr),
        }
    }
}

/// Takes out what is never the same twice: ids, times, numbers that count up.
fn steady(mut value: Value) -> Value {
    fn visit(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(visit),
            Value::Array(items) => items.iter_mut().for_each(visit),
            Value::Number(_) => *value = json!(0),
            Value::String(text) => {
                for (found, instead) in [
                    (r"\b(sp|task|epic|mail|log|res)_[0-9a-f]{16}\b", "<id>"),
                    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>"),
                    (r"\b(TAS|NOT)-\d+\b", "<number>"),
                    (r"\d{4}-\d{4}(-\d+)?", "<when>"),
                    (r"\d+", "#"),
                ] {
                    *text = regex_lite::Regex::new(found)
                        .unwrap()
                        .replace_all(text, instead)
                        .into_owned();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
    visit(&mut value);
    value
}

/// Lists grow between two calls: only what a row looks like can be compared.
fn shape(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        for list in fields.values_mut().filter_map(Value::as_array_mut) {
            list.truncate(1);
        }
        fields.remove("nextCursor");
    }
    value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_answers_the_same_through_every_face() {
    let mut world = crate::world().await;
    // Each agent that is started here and says nothing about its cost is charged what it reserved.
    world.set("ADJUTANT_BUDGET_CHILD_USD", "0.001");
    for variable in ["ADJUTANT_AGENTS_CLAUDE_BINARY", "ADJUTANT_AGENTS_CODEX_BINARY"] {
        world.set(variable, "/nowhere/to-be-found");
    }
    crate::crew::role(&world, "echo", "category: worker\nagent: command\ncommand: [echo, hi]");
    let server = world.up().await.unwrap();
    let stage = Stage::set(&server.url, world).await;
    for tool in names() {
        let mut answers = Vec::new();
        for turn in 0..3 {
            let input = stage.example(&server.url, tool, turn).await;
            let answer = match turn {
                0 => stage.mcp(&server.url, tool, &input).await,
                1 => stage.execute(&server.url, tool, &input).await,
                _ => stage.command_line(tool, &input).await,
            };
            answers.push(answer.map(|value| steady(shape(value))).map_err(steady));
        }
        assert_eq!(answers[0], answers[1], "{tool} through MCP and execute");
        assert_eq!(answers[1], answers[2], "{tool} through execute and the command line");
        // These refuse, the same everywhere: a session with open tasks does not end, who has no worktree
        // has nothing to commit, to rebase or to show, and an epic is its own supervisor's.
        let refuses = matches!(
            tool,
            "mcp__session__session-complete"
                | "mcp__git__commit"
                | "mcp__git__rebase"
                | "mcp__supervisor__create_epic_pr"
                | "mcp__review__request_review"
                | "mcp__review__create_pull_request"
                | "mcp__review__send_feedback"
                | "mcp__review__create_issues"
        );
        assert_eq!(answers[0].is_err(), refuses, "{tool}: {:?}", answers[0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_refuses_the_same_through_every_face() {
    let world = crate::world().await;
    let server = world.up().await.unwrap();
    let stage = Stage::set(&server.url, world).await;
    let wrong = json!({ "zzz_unknown": 1 });
    for tool in names() {
        let by_mcp = stage.mcp(&server.url, tool, &wrong).await.unwrap_err();
        assert_eq!(by_mcp["code"], "INVALID_INPUT", "{by_mcp}");
        assert_eq!(by_mcp["toolName"], tool);
        assert_eq!(by_mcp["agentId"], stage.boss.id);
        let by_execute = stage.execute(&server.url, tool, &wrong).await.unwrap_err();
        assert_eq!(by_mcp, by_execute, "{tool}");
        let by_command = stage.command_line(tool, &wrong).await.unwrap_err();
        assert_eq!(by_mcp, by_command, "{tool}");
    }
}
