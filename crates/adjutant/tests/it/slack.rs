//! Slack with the real binary, against a Slack of the tests' own: orders, threads, questions, and that whatever breaks in
//! between loses nothing and does nothing twice, counted where it matters: at Slack.

mod faces;
mod failures;
mod talk;

use std::fs;

use serde_json::{Value, json};
use testkit::slack::FakeSlack;
use testkit::{Http, Server, World};

use crate::world;

/// Somebody whom we obey.
pub(crate) const USER: &str = "U1";
/// What each agent that ran has left: one line.
const RAN: &str = "ran.txt";

/// A role whose agents run a shell script. Each leaves a line with what it was asked.
fn role(world: &World, name: &str, script: &str) {
    // One write, for agents run side by side.
    let ran = format!("printf '%s\\n' \"$(tail -n 1)\" >> {RAN}");
    let command = json!(["sh", "-c", format!("{ran}; {script}")]);
    let text = format!(
        "---\nname: {name}\ncategory: worker\nagent: command\ncommand: {command}\nworktree: none\n---\nDo it.\n"
    );
    fs::write(world.home().join("roles").join(format!("{name}.md")), text).unwrap();
}

/// Changes a line of the configuration.
fn configure(world: &World, changes: &[(&str, &str)]) {
    let path = world.home().join("config.yaml");
    let mut text = fs::read_to_string(&path).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::write(&path, text).unwrap();
}

/// A home that is on speaking terms with a Slack, and roles that need no model.
pub(crate) async fn stage(changes: &[(&str, &str)]) -> (World, FakeSlack) {
    let (mut world, slack) = (world().await, FakeSlack::start().await.unwrap());
    world.set("SLACK_BOT_TOKEN", slack.bot_token());
    world.set("SLACK_APP_TOKEN", slack.app_token());
    world.set("ADJUTANT_SLACK_API_URL", slack.url());
    world.set("ADJUTANT_SLACK_DEBOUNCE_MS", "1");
    configure(&world, &[("  users: []", "  users: [U1, U2]")]);
    configure(&world, changes);
    let result = r#"{"status":"success","summary":"Mended it","changes":["a.rs"],"issues":["slow"],"questions":["why?"]}"#;
    role(&world, "mender", &format!("echo '{result}'"));
    role(&world, "looker", "echo 'Looked'");
    role(&world, "loser", "echo 'No luck'; exit 3");
    role(&world, "waiter", "until [ -e go ]; do sleep 0.02; done; echo 'Waited'");
    (world, slack)
}

/// The same with a role that everything goes to, and a server.
async fn served(role: &str) -> (World, FakeSlack, Server) {
    let default = format!("  default: {role}\n  # Rules");
    let (world, slack) = stage(&[("  default: null\n  # Rules", default.as_str())]).await;
    let server = world.up().await.unwrap();
    slack.until("connected", |slack| slack.open_connections() == 1).await.unwrap();
    (world, slack, server)
}

/// What agents were asked, in order.
pub(crate) fn ran(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.project().join(RAN)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn go(world: &World) {
    fs::write(world.project().join("go"), "").unwrap();
}

/// Waits until the bot has said so much in a thread.
pub(crate) async fn until_said(slack: &FakeSlack, thread: &str, count: usize) -> Vec<String> {
    slack
        .until(&format!("{count} said in {thread}"), |slack| slack.said_in(thread).len() >= count)
        .await
        .unwrap();
    slack.said_in(thread)
}

pub(crate) async fn until_mark(slack: &FakeSlack, ts: &str, marks: &[&str]) {
    slack.until(&format!("{marks:?} at {ts}"), |slack| slack.reactions(ts) == marks).await.unwrap();
}

async fn client(world: &World, server: &Server) -> Http {
    Http::new(&server.url, world.operator().await.unwrap())
}

async fn get(http: &Http, path: &str) -> Value {
    let (status, body) = http.get(path).await.unwrap();
    assert!(status.is_success(), "{path}: {body}");
    body
}

async fn json(world: &World, typed: &[&str]) -> Value {
    world.run(&[typed, &["--json"]].concat()).await.unwrap().ok().unwrap().json().unwrap()
}
