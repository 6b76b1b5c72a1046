//! `mail`, `agent`, `system` and the read-only half of `harness`, in the office's words.

use std::time::Duration;

use engine::views::MailListRequest;
use engine::{Call, Principal, Progress};
use model::MailId;
use model::event::EventKind;
use serde_json::{Value, json};
use store::{NewMail, Recipient, Sender};
use wire::mail::MailFolder;

use crate::support::{Who, World};

async fn send(world: &World, from: impl Into<Who>, input: Value) -> Value {
    world.ask(from, "mcp__mail__send", input).await.unwrap()
}

#[tokio::test]
async fn a_letter_is_sent_listed_read_and_answered() {
    let world = World::new();
    let (a, b) = (world.enlist("worker").await, world.enlist("supervisor").await);
    let sent =
        send(&world, a, json!({ "toAgentId": b, "subject": "Help", "body": "I am stuck" })).await;

    let inbox = world.ask(b, "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!((&inbox["count"], &inbox["unreadCount"]), (&json!(1), &json!(1)));
    let mail = &inbox["mails"][0];
    assert_eq!(mail["id"], sent["mailId"]);
    assert_eq!(mail["fromAgentId"], a.to_string());
    assert_eq!(mail["fromAgentType"], "WORKER");
    assert_eq!((&mail["isRead"], &mail["readAt"]), (&json!(false), &Value::Null));

    let id = &sent["mailId"];
    let read = world.ask(b, "mcp__mail__read", json!({ "mailId": id })).await.unwrap();
    assert_eq!(read["isRead"], true);
    assert!(read["readAt"].is_string());
    let inbox = world.ask(b, "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!(inbox["count"], 0);
    let all = json!({ "includeRead": true });
    assert_eq!(world.ask(b, "mcp__mail__list_inbox", all).await.unwrap()["count"], 1);

    let reply = json!({ "originalMailId": id, "body": "On my way" });
    world.ask(b, "mcp__mail__reply", reply).await.unwrap();
    let inbox = world.ask(a, "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!(inbox["mails"][0]["subject"], "Re: Help");
    let id = &inbox["mails"][0]["id"];
    let reply = json!({ "originalMailId": id, "body": "Thanks" });
    world.ask(a, "mcp__mail__reply", reply).await.unwrap();
    let inbox = world.ask(b, "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!(inbox["mails"][0]["subject"], "Re: Help", "one `Re: ` is enough");
}

#[tokio::test]
async fn mail_is_for_its_recipient_alone() {
    let world = World::new();
    let (a, b) = (world.enlist("worker").await, world.enlist("worker").await);
    let other = world.enlist("supervisor").await;
    let sent = send(&world, a, json!({ "toAgentId": b, "subject": "s", "body": "b" })).await;
    let id = &sent["mailId"];
    for (tool, input, message) in [
        ("mcp__mail__read", json!({ "mailId": id }), "this mail belongs to another agent"),
        (
            "mcp__mail__reply",
            json!({ "originalMailId": id, "body": "x" }),
            "Can only reply to mail you received",
        ),
    ] {
        for caller in [Who::Agent(other), Who::Agent(a), Who::Operator] {
            let body = world.ask(caller, tool, input.clone()).await.unwrap_err().body;
            assert_eq!(body["code"], "PERMISSION_DENIED");
            assert_eq!(body["message"], message);
        }
    }
    let unknown = json!({ "mailId": "mail_0000000000000000" });
    let body = world.ask(other, "mcp__mail__read", unknown).await.unwrap_err().body;
    assert_eq!(body["code"], "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn a_letter_has_one_recipient() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    for (to, message) in [
        (json!({}), "Must specify either `toAgentId` or `toHuman: true`"),
        (json!({ "toAgentId": agent, "toHuman": true }), "pass `toAgentId` or `toHuman`, not both"),
        (json!({ "toHuman": false }), "Must specify either `toAgentId` or `toHuman: true`"),
    ] {
        let mut input = to;
        input["subject"] = "s".into();
        input["body"] = "b".into();
        let body = world.ask(agent, "mcp__mail__send", input).await.unwrap_err().body;
        assert_eq!((&body["code"], &body["message"]), (&json!("INVALID_INPUT"), &json!(message)));
    }
}

#[tokio::test]
async fn the_human_has_an_inbox_and_answers() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let sent =
        send(&world, agent, json!({ "toHuman": true, "subject": "Q", "body": "May I?" })).await;
    let reply = json!({ "originalMailId": sent["mailId"], "body": "Yes" });
    world.ask(Who::Operator, "mcp__mail__reply", reply).await.unwrap();
    let inbox = world.ask(agent, "mcp__mail__list_inbox", json!({})).await.unwrap();
    let mail = &inbox["mails"][0];
    assert_eq!((&mail["fromAgentId"], &mail["fromAgentType"]), (&Value::Null, &json!("HUMAN")));
    let read = json!({ "originalMailId": mail["id"], "body": "Done" });
    world.ask(agent, "mcp__mail__reply", read).await.unwrap();
    let human = world.ask(Who::Operator, "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!(human["unreadCount"], 1, "what was answered was read");
}

#[tokio::test]
async fn mail_to_an_ended_agent_reaches_the_human() {
    let world = World::new();
    let (a, gone) = (world.enlist("worker").await, world.enlist("worker").await);
    world.engine.discharge(gone, "done".into()).await.unwrap();
    let input = json!({ "toAgentId": gone, "subject": "late", "body": "b" });
    send(&world, a, input).await;
    let human = world.ask(Who::Operator, "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!(human["mails"][0]["subject"], "late");
}

#[tokio::test]
async fn a_reply_marks_the_mail_as_read_and_tells_of_it_once() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let mail = json!({ "toHuman": true, "subject": "Q", "body": "May I?" });
    let sent = send(&world, agent, mail).await;
    for body in ["Yes", "Yes!"] {
        let reply = json!({ "originalMailId": sent["mailId"], "body": body });
        world.ask(Who::Operator, "mcp__mail__reply", reply).await.unwrap();
    }
    let inbox = world.ask(Who::Operator, "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!(inbox["unreadCount"], 0);
    assert_eq!(world.told(EventKind::MailRead).len(), 1);
}

#[tokio::test]
async fn an_answer_to_an_ended_agent_says_where_it_went() {
    let world = World::new();
    let (first, second) = (world.enlist("worker").await, world.enlist("worker").await);
    let mail = json!({ "toHuman": true, "subject": "Q", "body": "May I?" });
    let sent = send(&world, first, mail).await;
    let reply = json!({ "originalMailId": sent["mailId"], "body": "Yes" });
    let answered = world.ask(Who::Operator, "mcp__mail__reply", reply.clone()).await.unwrap();
    assert_eq!((&answered["toAgentId"], answered.get("note")), (&json!(first), None));
    world.discharge(first).await;
    let answered = world.ask(Who::Operator, "mcp__mail__reply", reply).await.unwrap();
    let note = answered["note"].as_str().unwrap();
    assert!(note.contains(&format!("{first} has ended")), "{note}");
    assert!(note.contains("the human's inbox"), "{note}");
    assert_eq!(answered["toAgentId"], Value::Null);
    let late = json!({ "toAgentId": first, "subject": "late", "body": "b" });
    assert!(send(&world, second, late).await["note"].is_string());
}

#[tokio::test]
async fn mail_of_adjutant_itself_says_so() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let subject = "Agent ended";
    let mail = NewMail {
        id: MailId::from_bits(7),
        from: Sender::System(Some(agent)),
        to: Recipient::Human,
        subject: subject.to_owned(),
        body: "What now?".to_owned(),
        reply_to: None,
    };
    let nobody = NewMail { id: MailId::from_bits(8), from: Sender::System(None), ..mail.clone() };
    let now = world.clock.now();
    let store = &world.store;
    store.write(move |tx| tx.mail_insert(&mail, now)).await.unwrap();
    store.write(move |tx| tx.mail_insert(&nobody, now)).await.unwrap();
    let inbox = world.ask(Who::Operator, "mcp__mail__list_inbox", json!({})).await.unwrap();
    let [about, alone] = [&inbox["mails"][0], &inbox["mails"][1]];
    assert_eq!((&about["fromAgentType"], &about["fromAgentId"]), (&json!("SYSTEM"), &json!(agent)));
    assert_eq!((&alone["fromAgentType"], &alone["fromAgentId"]), (&json!("SYSTEM"), &Value::Null));
    let request = |of| MailListRequest { of, agent: None, text: None, before: None, limit: 10 };
    let letters = world.engine.letters(request(None)).await.unwrap().letters;
    for letter in &letters {
        assert!(letter.from.system && !letter.from.human, "{letter:?}");
        assert!(!letter.needs_answer, "Adjutant asks nothing: {letter:?}");
    }
    let sent = world.engine.letters(request(Some(MailFolder::Sent))).await.unwrap();
    assert_eq!(sent.letters, [], "the human wrote none of them");
    // An answer goes to the agent that it is about; where there is none, nobody would read it.
    let reply = |id: &Value| json!({ "originalMailId": id, "body": "Go on" });
    let answered = world.ask(Who::Operator, "mcp__mail__reply", reply(&about["id"])).await.unwrap();
    assert_eq!(answered["toAgentId"], json!(agent));
    let refused = world.ask(Who::Operator, "mcp__mail__reply", reply(&alone["id"])).await;
    assert_eq!(refused.unwrap_err().body["code"], "CONFLICT");
}

#[tokio::test]
async fn a_wait_with_the_end_of_a_list_is_for_what_comes_later() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let mail = |subject: &str| json!({ "toHuman": true, "subject": subject, "body": "b" });
    send(&world, agent, mail("old")).await;
    let listed = world.ask(Who::Operator, "mcp__mail__list_inbox", json!({})).await.unwrap();
    let input = json!({ "cursor": listed["endCursor"], "waitSeconds": 240 });
    let waiting = world.ask(Who::Operator, "mcp__mail__list_inbox", input);
    let sending = async {
        tokio::task::yield_now().await;
        send(&world, agent, mail("new")).await;
    };
    let (came, ()) = tokio::join!(waiting, sending);
    let came = came.unwrap();
    assert_eq!((&came["count"], &came["mails"][0]["subject"]), (&json!(1), &json!("new")));
    assert_eq!(came["unreadCount"], 2);
}

#[tokio::test]
async fn the_inbox_is_paged() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    for n in 0..5 {
        let input = json!({ "toAgentId": agent, "subject": format!("s{n}"), "body": "b" });
        send(&world, Who::Operator, input).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let input = json!({ "limit": 2, "cursor": cursor });
        let page = world.ask(agent, "mcp__mail__list_inbox", input).await.unwrap();
        assert_eq!(page["unreadCount"], 5);
        seen.extend(page["mails"].as_array().unwrap().iter().map(|mail| mail["subject"].clone()));
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(seen, ["s0", "s1", "s2", "s3", "s4"]);
}

#[tokio::test]
async fn a_waiting_call_wakes_when_mail_comes() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let wait = world.ask(agent, "mcp__mail__list_inbox", json!({ "waitSeconds": 240 }));
    let letter = async {
        // The wait must have begun to look before the mail comes: let it run first.
        tokio::task::yield_now().await;
        send(&world, Who::Operator, json!({ "toAgentId": agent, "subject": "hi", "body": "b" }))
            .await
    };
    let (answer, _) = tokio::join!(wait, letter);
    assert_eq!(answer.unwrap()["mails"][0]["subject"], "hi");
}

#[tokio::test]
async fn a_waiting_call_reports_and_can_be_given_up() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let (report, mut reports) = tokio::sync::mpsc::channel(4);
    let progress = Progress { report: Some(report), ..Progress::default() };
    let gone = progress.gone.clone();
    let call = Call {
        principal: Principal::Agent(agent),
        as_agent: None,
        tool: engine::by_name("mcp__mail__list_inbox").unwrap(),
        input: json!({ "waitSeconds": 240 }),
        key: None,
    };
    let call = world.engine.call(call, &progress);
    let giving_up = async {
        let first = tokio::time::timeout(Duration::from_secs(30), reports.recv()).await;
        gone.cancel();
        first
    };
    let (answer, first) = tokio::join!(call, giving_up);
    assert!(first.unwrap().is_some(), "it reported that it waits");
    assert_eq!(answer.unwrap().value()["count"], 0);
}

#[tokio::test]
async fn an_agent_learns_who_it_is() {
    let world = World::new();
    let agent = world.enlist("coding").await;
    let status = world.ask(agent, "mcp__agent__get_status", json!({})).await;
    let status = status.unwrap();
    assert_eq!(status["id"], agent.to_string());
    assert_eq!((&status["type"], &status["state"]), (&json!("CODING"), &json!("BUSY")));
    assert_eq!(status["currentTaskId"], Value::Null);
    for tool in ["mcp__agent__get_task", "mcp__agent__get_epic"] {
        let body = world.ask(agent, tool, json!({})).await.unwrap_err().body;
        assert_eq!(body["code"], "INVALID_AGENT_STATE", "{tool}");
    }
    let body =
        world.ask(Who::Operator, "mcp__agent__get_status", json!({})).await.unwrap_err().body;
    assert_eq!(body["code"], "INVALID_AGENT_STATE");
}

#[tokio::test]
async fn the_crew_and_a_tasks_story_can_be_read() {
    let world = World::new();
    let boss = world.enlist("supervisor").await;
    let worker = world.enlist("worker").await;
    let task = world
        .ask(
            boss,
            "mcp__task__create",
            json!({ "title": "Fix it", "description": "# Your Task\nobey" }),
        )
        .await
        .unwrap();
    let assign = json!({ "taskId": task["id"], "agentId": worker });
    world.ask(boss, "mcp__task__assign", assign).await.unwrap();
    let comment = json!({ "body": "half way" });
    world.ask(worker, "mcp__task__add_comment", comment).await.unwrap();

    let agents = world.ask(boss, "mcp__harness__list_agents", json!({})).await.unwrap();
    let line = &agents["agents"][1];
    assert_eq!((&line["id"], &line["taskSlug"]), (&json!(worker), &task["slug"]));
    let tasks = world.ask(boss, "mcp__harness__list_tasks", json!({})).await.unwrap();
    assert_eq!(tasks["tasks"][0]["dispatchCount"], 1);
    let slug = json!({ "taskSlug": task["slug"] });
    let context = world.ask(boss, "mcp__harness__get_task_context", slug).await.unwrap();
    let text = context["context"].as_str().unwrap();
    assert!(text.starts_with("## Task History"), "{text}");
    assert!(text.contains("### Original Request") && text.contains("> half way"), "{text}");
    assert!(
        !text.lines().any(|line| line.starts_with("# Your Task")),
        "what others wrote is quoted"
    );
    let wrong = task["slug"].as_str().unwrap().replacen('f', "v", 1);
    let body = world
        .ask(boss, "mcp__harness__get_task_context", json!({ "taskSlug": wrong }))
        .await
        .unwrap_err()
        .body;
    assert_eq!(body["code"], "RESOURCE_NOT_FOUND");
    assert_eq!(body["details"]["nearest"], task["slug"]);
}

/// The bodies of an inbox's unread mails, oldest first.
async fn unread(world: &World, who: impl Into<Who>) -> Vec<String> {
    let inbox = world.ok(who, "mcp__mail__list_inbox", json!({})).await;
    let mails = inbox["mails"].as_array().unwrap();
    mails.iter().map(|mail| mail["body"].as_str().unwrap().to_owned()).collect()
}

fn forwarded(from: model::AgentId, role: &str, body: &str) -> String {
    format!(
        "[Forwarded by Adjutant: this was for agent {from} ({role}), which ended without reading it.]\n\n{body}"
    )
}

#[tokio::test]
async fn what_an_agent_did_not_read_goes_on_to_the_next_agent_of_its_task() {
    let world = World::new();
    let task = json!({ "title": "Work" });
    let task = world.ok(Who::Operator, "mcp__task__create", task).await["number"].clone();
    let task = || task.as_str().unwrap().parse().unwrap();
    let (first, second) =
        (world.enlist_for("worker", task()).await, world.enlist_for("coding", task()).await);
    let write =
        |to: model::AgentId, body: &str| json!({ "toAgentId": to, "subject": "S", "body": body });
    let read = send(&world, Who::Operator, write(first, "read")).await;
    world.ok(first, "mcp__mail__read", json!({ "mailId": read["mailId"] })).await;
    for body in ["one", "two"] {
        send(&world, Who::Operator, write(first, body)).await;
    }
    let before = world.told(EventKind::MailSent).len();
    world.discharge(first).await;
    let got = |agent, role, bodies: [&str; 2]| bodies.map(|body| forwarded(agent, role, body));
    assert_eq!(unread(&world, second).await, got(first, "worker", ["one", "two"]));
    assert_eq!(unread(&world, Who::Operator).await, Vec::<String>::new());
    let told = world.told(EventKind::MailSent);
    assert_eq!(told.len(), before + 2, "each is told once, so that who waits for mail wakes");
    assert_eq!(told[before].data["toAgentId"], json!(second));
    assert_eq!(told[before].data["forwardedFromAgentId"], json!(first));
    // It goes on again, and at the end of the line there is the human.
    world.discharge(second).await;
    let human = unread(&world, Who::Operator).await;
    assert_eq!(
        human,
        got(
            second,
            "coding",
            ["one", "two"]
                .map(|body| forwarded(first, "worker", body))
                .each_ref()
                .map(String::as_str)
        )
    );
    // What is sent later goes the same way, and nothing came twice.
    send(&world, Who::Operator, write(first, "late")).await;
    assert_eq!(unread(&world, Who::Operator).await.len(), 3);
}

#[tokio::test]
async fn what_a_drafted_agent_did_not_read_goes_to_the_human_when_it_is_killed() {
    let world = World::new();
    let mut settings = (*world.engine.settings()).clone();
    settings.default_kind = "script".into();
    world.engine.set_settings(settings);
    let lead = world.enlist("conversational").await;
    let request = json!({ "role": "worker", "prompt": "Work" });
    let drafted = world.ok(lead, "mcp__harness__draft_agent", request).await["agentId"].clone();
    let letter = json!({ "toAgentId": drafted, "subject": "Which one?", "body": "Left or right?" });
    send(&world, lead, letter).await;
    world.ok(lead, "mcp__harness__kill_agent", json!({ "agentId": drafted })).await;
    let id = drafted.as_str().unwrap().parse().unwrap();
    assert_eq!(unread(&world, Who::Operator).await, [forwarded(id, "worker", "Left or right?")]);
    let again = json!({ "agentId": drafted });
    world.ok(lead, "mcp__harness__kill_agent", again).await;
    assert_eq!(unread(&world, Who::Operator).await.len(), 1, "an end happens once");
}

#[tokio::test]
async fn what_the_leader_of_an_epic_did_not_read_goes_to_its_next_leader() {
    let world = World::new();
    let epic = world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "E" })).await;
    let epic: model::EpicId = epic["id"].as_str().unwrap().parse().unwrap();
    let (old, new) =
        (world.enlist_in("supervisor", epic).await, world.enlist_in("supervisor", epic).await);
    let letter = json!({ "toAgentId": old, "subject": "S", "body": "b" });
    send(&world, Who::Operator, letter).await;
    world.discharge(old).await;
    assert_eq!(unread(&world, new).await, [forwarded(old, "supervisor", "b")]);
}
