//! Two agents that somebody else runs share tasks and mail, with nothing lost and nothing forged.

use serde_json::json;
use testkit::Http;

use crate::world;

#[tokio::test]
async fn two_agents_share_tasks_and_mail() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let [ada, bob] =
        [world.enlist("worker", &[]).await.unwrap(), world.enlist("worker", &[]).await.unwrap()];
    for title in ["One", "Two", "Three"] {
        world.run(&["tasks", "add", title]).await.unwrap().ok().unwrap();
    }
    let next = ["tool", "task-next", "--claim", "--json"];
    let (first, second) = tokio::join!(world.run_as(&ada, &next), world.run_as(&bob, &next));
    let first = first.unwrap().ok().unwrap().json().unwrap();
    let second = second.unwrap().ok().unwrap().json().unwrap();
    assert_ne!(first["task"]["id"], second["task"]["id"], "two agents never get the same task");

    let letter = [
        "tool",
        "mail_send",
        "--to-agent-id",
        &bob.id,
        "--subject",
        "Hi",
        "--body",
        "There?",
        "--json",
    ];
    let sent = world.run_as(&ada, &letter).await.unwrap().ok().unwrap().json().unwrap();
    let inbox =
        world.run_as(&bob, &["mail", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!(inbox["mails"][0]["fromAgentId"], *ada.id);
    let id = sent["mailId"].as_str().unwrap();
    world.run_as(&bob, &["mail", "reply", id, "Here"]).await.unwrap().ok().unwrap();
    let stolen = world.run_as(&ada, &["mail", "read", id, "--json"]).await.unwrap();
    assert_eq!(stolen.error().unwrap()["code"], "PERMISSION_DENIED");

    // Nothing in a request makes an agent somebody else.
    let forged = ["tool", "mail_list_inbox", "--as", &bob.id, "--json"];
    let forged = world.run_as(&ada, &forged).await.unwrap();
    assert_eq!(
        (forged.code, &forged.error().unwrap()["code"]),
        (Some(3), &"PERMISSION_DENIED".into())
    );

    world.run(&["discharge", &ada.id]).await.unwrap().ok().unwrap();
    let void = Http::new(&server.url, &ada.token);
    let (status, _) =
        void.post("/mcp/execute", &json!({ "toolName": "mcp__mail__list_inbox" })).await.unwrap();
    assert_eq!(status, 401, "the token is void");
    let verdict =
        world.run(&["audit", "verify", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!(verdict["ok"], true);
}

#[tokio::test]
async fn what_was_answered_survives_a_kill() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    let http = Http::new(&server.url, &agent.token);
    let letter = json!({ "toHuman": true, "subject": "Keep this", "body": "Please" });
    http.call("mcp__mail__send", letter).await.unwrap().unwrap();
    let url = server.url.clone();
    server.kill().await.unwrap();
    let again = world.up().await.unwrap();
    assert_eq!(again.url, url, "it comes back where its agents look for it");
    let mail = world.run(&["mail", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!(mail["mails"][0]["subject"], "Keep this");
    http.call("mcp__agent__get_status", json!({})).await.unwrap().unwrap();
}
