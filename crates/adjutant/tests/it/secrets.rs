//! Secrets that agents and people write are read by nobody but their addressee: in no route, file, log, webhook
//! or event.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Http, Receiver, World};

use crate::world;

const PROVIDER_KEY: &str = "provider-value-without-any-shape";
const HOOK_KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEY_LINE: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

/// One secret of every kind, and what of it must not be readable.
fn secrets() -> Vec<(String, String)> {
    let of = |before: &str, secret: &str, after: &str| {
        (format!("{before}{secret}{after}"), secret.to_owned())
    };
    vec![
        of("", PROVIDER_KEY, ""),
        of("", HOOK_KEY, ""),
        of("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a", ""),
        of("github_pat_", "11AAAAAAA0aBcDeFgHiJkLmNoPqRsTuVwXyZ", ""),
        of("glpat-", "X3Zq9vT1mN5kR7wB2cYd", ""),
        of("npm_", "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5", ""),
        of("AIza", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", ""),
        of("AKIA", "IOSFODNN7EXAMPLE", ""),
        of("xoxb-", "2345678901-abcdefghijklmnopqrstuvwx", ""),
        of("sk-ant-", "api03-AbCdEfGhIjKlMnOpQrStUvWxYz", ""),
        of("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.SflKxwRJSMeKKF2QT4", ""),
        of("postgres://app:", "hunter2-s3cret", "@db.example/app"),
        of("-----BEGIN RSA PRIVATE KEY-----\n", KEY_LINE, "\n-----END RSA PRIVATE KEY-----"),
    ]
}

/// Where a secret can be read, in words that do not repeat the text.
fn leaks(place: &str, text: &str, secrets: &[(String, String)]) -> Vec<String> {
    let found = secrets.iter().filter(|(_, secret)| text.contains(secret));
    found.map(|(whole, _)| format!("{place}: {whole}")).collect()
}

fn configure(world: &World, receiver: &Receiver) {
    let path = world.home().join("config.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, tail) = text.split_once("\nwebhooks:").unwrap();
    let (_, tail) = tail.split_once("\n# Keep IAC.md").unwrap();
    let url = receiver.url("/hook");
    let hook = format!("[{{name: it, url: '{url}', secretVariable: HOOK_KEY, kinds: ['*']}}]");
    std::fs::write(&path, format!("{head}\nwebhooks: {hook}\n# Keep IAC.md{tail}")).unwrap();
    let script = json!(["sh", "-c", "cat; cat spilled; echo $ADJUTANT_TOKEN; cat spilled >&2"]);
    let role = format!(
        "---\nname: spiller\ncategory: worker\nagent: command\ncommand: {script}\nworktree: none\n---\n"
    );
    std::fs::write(world.home().join("roles/spiller.md"), role).unwrap();
}

async fn ended(http: &Http, agent: &str) {
    let wait = async {
        loop {
            let (_, one) = http.get(&format!("/api/agents/{agent}")).await.unwrap();
            if !one["finishedAt"].is_null() {
                assert_eq!(one["state"], "succeeded", "{one}");
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap();
}

/// Every GET route of the document, with what there is for its placeholders.
fn routes(document: &Value, agent: &str, mail: &str) -> Vec<String> {
    let paths = document["paths"].as_object().unwrap().iter();
    let reads = paths.filter(|(_, methods)| methods["get"].is_object()).map(|(path, _)| path);
    let mut routes = Vec::new();
    for path in reads {
        let of_mail = path.contains("/mail/");
        let filled = path
            .replace("{id}", if of_mail { mail } else { agent })
            .replace("{ref}", "TAS-1")
            .replace("{name}", "it");
        if filled.contains("{number}") {
            routes.extend((1..=20).map(|n: u32| filled.replace("{number}", &n.to_string())));
        } else {
            routes.push(filled);
        }
    }
    routes.push(format!("/api/agents/{agent}/stream?whole=true"));
    routes
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => all.extend(files(&entry.path())),
            kind if kind.is_file() => all.push(entry.path()),
            _ => {}
        }
    }
    all
}

/// Files that may hold secrets: raw output and the agent's own MCP configuration.
fn is_exempt(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let is_output =
        name.starts_with("output.") && path.extension().is_some_and(|end| end == "jsonl");
    is_output || name == "mcp.json" || name.starts_with("state.db")
}

/// The tables of the record in which a secret can be read.
fn tables(world: &World, secrets: &[(String, String)]) -> Vec<String> {
    let path = files(&world.project()).into_iter().find(|path| path.ends_with("state.db")).unwrap();
    let database = rusqlite::Connection::open(path).unwrap();
    let names: Vec<String> = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut found = Vec::new();
    // Both are for anyone who wrote or gets the text, and go after a day.
    for name in names.iter().filter(|name| !["exact_text", "answered"].contains(&name.as_str())) {
        let mut statement = database.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                let value: rusqlite::types::Value = row.get(column).unwrap();
                if let rusqlite::types::Value::Text(text) = value {
                    found.extend(leaks(name, &text.replace("\\n", "\n"), secrets));
                }
            }
        }
    }
    found
}

#[tokio::test]
async fn no_secret_is_read_in_any_route_file_log_webhook_or_event() {
    let (mut world, receiver) = (world().await, Receiver::start().await.unwrap());
    world.set("HOOK_KEY", HOOK_KEY);
    world.set("ANTHROPIC_API_KEY", PROVIDER_KEY);
    configure(&world, &receiver);
    // In the background, so that its log is a file of the home.
    world.run(&["tasks"]).await.unwrap().ok().unwrap();
    let operator = world.operator().await.unwrap();
    let url = world.server_file().unwrap().unwrap()["url"].as_str().unwrap().to_owned();
    let http = Http::new(&url, &operator);
    let (_, link) = http.post("/api/links", &json!({ "readOnly": true })).await.unwrap();
    let code = link["url"].as_str().unwrap().split_once("#login=").unwrap().1.to_owned();
    let (_, tab) = http.post("/api/login", &json!({ "code": code })).await.unwrap();
    let viewer = http.with_token(tab["token"].as_str().unwrap());
    let writer = world.enlist("worker", &[]).await.unwrap();

    let mut secrets = secrets();
    for live in [operator.as_str(), &writer.token, &code, tab["token"].as_str().unwrap()] {
        secrets.push((live.to_owned(), live.to_owned()));
    }
    let spilled: Vec<&str> = secrets.iter().map(|(whole, _)| whole.as_str()).collect();
    let spilled = spilled.join("\n");
    std::fs::write(world.project().join("spilled"), format!("{spilled}\n")).unwrap();

    let told = http.call("mcp__task__create", json!({ "title": "It", "description": spilled }));
    assert_eq!(told.await.unwrap().unwrap()["redacted"]["fields"], json!(["description"]));
    let as_writer = http.with_token(&writer.token);
    let comment = json!({ "taskId": "TAS-1", "body": spilled });
    http.call("mcp__task__add_comment", comment).await.unwrap().unwrap();
    let mail = json!({ "toHuman": true, "subject": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "body": spilled });
    let mail = as_writer.call("mcp__mail__send", mail).await.unwrap().unwrap();
    assert_eq!(mail["redacted"]["fields"], json!(["body", "subject"]));
    let mail = mail["mailId"].as_str().unwrap();
    let draft = json!({ "role": "spiller", "kind": "command", "prompt": spilled });
    let (_, drafted) = http.post("/api/runs", &draft).await.unwrap();
    let agent = drafted["agentId"].as_str().unwrap().to_owned();
    ended(&http, &agent).await;
    let got = receiver.until(|got| got.iter().any(|one| one.kind() == "agent.finished"));
    let got = got.await.unwrap();

    // The addressee reads what was written.
    let read = http.call("mcp__mail__read", json!({ "mailId": mail })).await.unwrap().unwrap();
    assert_eq!(read["body"].as_str().unwrap(), spilled);

    let mut found = Vec::new();
    let (_, document) = http.get("/api/openapi.json").await.unwrap();
    for route in routes(&document, &agent, mail) {
        let (_, body) = viewer.get(&route).await.unwrap();
        // As it is read, and as it is sent.
        found.extend(leaks(&route, &strings(&body), &secrets));
    }
    for one in &got {
        found.extend(leaks("a webhook", &one.body.replace("\\n", "\n"), &secrets));
    }
    world.run(&["down"]).await.unwrap();
    let written = [files(&world.home()), files(&world.state_dir())].concat();
    for path in written.into_iter().filter(|path| !is_exempt(path)) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).replace("\\n", "\n");
        found.extend(leaks(&path.display().to_string(), &text, &secrets));
    }
    found.extend(tables(&world, &secrets));
    assert!(found.is_empty(), "{} secrets are read: {found:#?}", found.len());
}

/// Every text of a value, each on a line of its own.
fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(all) => all.iter().map(strings).collect(),
        Value::Object(fields) => fields.values().map(strings).collect(),
        _ => String::new(),
    }
}

#[tokio::test]
async fn an_agent_is_told_exactly_what_was_written_for_it() {
    let world = world().await;
    let script = json!(["sh", "-c", "cat > heard"]);
    let role = format!(
        "---\nname: hearer\ncategory: worker\nagent: command\ncommand: {script}\nworktree: none\n---\n"
    );
    std::fs::write(world.home().join("roles/hearer.md"), role).unwrap();
    let server = world.up().await.unwrap();
    let http = Http::new(&server.url, world.operator().await.unwrap());
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let draft = json!({ "role": "hearer", "kind": "command", "prompt": format!("Use {secret}") });
    let (_, drafted) = http.post("/api/runs", &draft).await.unwrap();
    let agent = drafted["agentId"].as_str().unwrap();
    ended(&http, agent).await;
    let heard = std::fs::read_to_string(world.project().join("heard")).unwrap();
    assert!(heard.contains(&format!("Use {secret}")), "{heard}");
    let (_, one) = http.get(&format!("/api/agents/{agent}")).await.unwrap();
    assert_eq!(one["prompt"], "Use ghp_[redacted]");
}

#[tokio::test]
async fn mirrors_are_the_owners_alone() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let http = Http::new(&server.url, world.operator().await.unwrap());
    let made = http.call("mcp__task__create", json!({ "title": "It" })).await.unwrap().unwrap();
    let folder = world.home().join("tasks").join(made["slug"].as_str().unwrap());
    let wait = async {
        while !folder.join("context.md").exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap();
    for path in [world.home().join("tasks"), folder.clone()] {
        assert_eq!(World::mode(&path).unwrap(), 0o700, "{}", path.display());
    }
    for path in ["IAC.md", "CONTEXT.md"].map(|name| world.home().join(name)) {
        assert_eq!(World::mode(&path).unwrap(), 0o600, "{}", path.display());
    }
    for name in ["task.json", "context.md"] {
        assert_eq!(World::mode(&folder.join(name)).unwrap(), 0o600, "{name}");
    }
}
