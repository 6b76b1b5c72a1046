//! `/api/mail`: lists and threads, for the operator and for who may only look.

use engine::Opened;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, World};

const SEND: &str = "mcp__mail__send";

async fn send(world: &World, token: &str, input: Value) -> String {
    let (status, sent) = world.execute(token, SEND, input).await;
    assert_eq!(status, StatusCode::OK, "{sent}");
    sent["data"]["mailId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn letters_and_their_threads_are_shown_to_who_may_look() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let body = "Which one?\n\n1. Left\n2. Right\n";
    let input = json!({ "toHuman": true, "subject": "Choose", "body": body });
    let asked = send(&world, &agent.token, input).await;
    let link = world.engine().link_make(Opened::ToLook { days: None }).await.unwrap();
    let viewer = world.engine().log_in(&link.code).await.unwrap().token;
    for token in [OPERATOR, viewer.as_str()] {
        let (status, list) = world.ask(Method::GET, "/api/mail", token, None).await;
        assert_eq!(status, StatusCode::OK, "{list}");
        let letter = &list["letters"][0];
        assert_eq!(letter["id"], asked);
        assert_eq!(letter["threadId"], asked);
        let from = &letter["from"];
        let id = agent.id.to_string();
        assert_eq!((&from["agentId"], &from["role"]), (&json!(id), &json!("worker")));
        assert_eq!((&from["short"], &from["human"]), (&json!(id.get(14..)), &json!(false)));
        assert_eq!(
            (&letter["to"]["human"], &letter["to"]["agentId"]),
            (&json!(true), &Value::Null)
        );
        assert_eq!((&letter["kind"], &letter["needsAnswer"]), (&json!("question"), &json!(true)));
        assert_eq!(letter["preview"], "Which one? 1. Left 2. Right");
        assert_eq!(list["nextCursor"], Value::Null);
        let path = format!("/api/mail/threads/{asked}");
        let (status, thread) = world.ask(Method::GET, &path, token, None).await;
        assert_eq!(status, StatusCode::OK, "{thread}");
        assert_eq!(
            (&thread["letters"][0]["body"], &thread["replyTo"]),
            (&json!(body), &json!(asked))
        );
        let option = json!({ "number": 2, "text": "Right", "reply": "2. Right" });
        assert_eq!(thread["letters"][0]["options"][1], option);
        assert_eq!(thread["letters"][0]["request"], Value::Null);
    }
    let reply = json!({ "originalMailId": asked, "body": "1. Left" });
    let (status, _) = world.execute(&viewer, "mcp__mail__reply", reply).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "who may look may not answer");
    let (status, _) = world.ask(Method::GET, "/api/mail", &agent.token, None).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "an agent reads its own mail with its tools");
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() {
    let world = World::new();
    let long = "x".repeat(201);
    let cases = [
        ("/api/mail?box=none".to_owned(), 422),
        ("/api/mail?bx=me".to_owned(), 422),
        ("/api/mail?limit=0".to_owned(), 422),
        ("/api/mail?after=x".to_owned(), 422),
        (format!("/api/mail?q={long}"), 422),
        ("/api/mail?agent=sp_1".to_owned(), 422),
        ("/api/mail?agent=sp_0000000000000000".to_owned(), 404),
        ("/api/mail/threads/mail_1".to_owned(), 422),
        ("/api/mail/threads/mail_0000000000000000".to_owned(), 404),
    ];
    for (path, expected) in cases {
        let (status, answer) = world.ask(Method::GET, &path, OPERATOR, None).await;
        assert_eq!(status.as_u16(), expected, "{path}: {answer}");
        assert!(answer["code"].is_string() && answer["message"].is_string(), "{path}: {answer}");
    }
    let empty = world.get("/api/mail?box=asks&q=nothing").await;
    assert_eq!(empty, json!({ "letters": [], "nextCursor": null }));
}

#[tokio::test]
async fn a_huge_letter_is_cut_in_lists_and_whole_in_its_thread() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let body = format!("{}end?", "word ".repeat(19_000));
    let input = json!({ "toHuman": true, "subject": "s", "body": body });
    let id = send(&world, &agent.token, input).await;
    let list = world.get("/api/mail").await;
    assert_eq!(list["letters"][0]["preview"].as_str().unwrap().chars().count(), 160);
    assert_eq!(list["letters"][0]["kind"], "question", "its end is read too");
    let thread = world.get(&format!("/api/mail/threads/{id}")).await;
    assert_eq!(thread["letters"][0]["body"], json!(body));
}
