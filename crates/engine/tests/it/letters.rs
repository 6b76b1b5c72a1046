//! Mails as people look through them: boxes, threads, what is asked, and how it was answered.

use engine::views::MailListRequest;
use model::{AgentId, MailId};
use serde_json::{Value, json};
use wire::mail::{MailEntry, MailFolder, MailKind, Thread};

use crate::support::{Who, World};

const SEND: &str = "mcp__mail__send";
const REPLY: &str = "mcp__mail__reply";

fn id_of(sent: &Value) -> MailId {
    sent["mailId"].as_str().unwrap().parse().unwrap()
}

async fn ask(world: &World, from: AgentId, subject: &str, body: &str) -> MailId {
    let input = json!({ "toHuman": true, "subject": subject, "body": body });
    id_of(&world.ok(from, SEND, input).await)
}

async fn answer(world: &World, to: MailId, body: &str) -> MailId {
    let input = json!({ "originalMailId": to, "body": body });
    id_of(&world.ok(Who::Operator, REPLY, input).await)
}

fn request(of: Option<MailFolder>) -> MailListRequest {
    MailListRequest { of, agent: None, text: None, before: None, limit: 100 }
}

async fn letters(world: &World, request: MailListRequest) -> Vec<MailEntry> {
    world.engine.letters(request).await.unwrap().letters
}

async fn subjects(world: &World, request: MailListRequest) -> Vec<String> {
    letters(world, request).await.into_iter().map(|letter| letter.subject).collect()
}

async fn thread(world: &World, id: MailId) -> Thread {
    world.engine.thread(id).await.unwrap()
}

#[tokio::test]
async fn each_box_has_its_letters_newest_first() {
    let world = World::new();
    let (a, b) = (world.enlist("worker").await, world.enlist("supervisor").await);
    ask(&world, a, "Which one?", "The left or the right.").await;
    world.ok(a, SEND, json!({ "toAgentId": b, "subject": "Between us", "body": "b" })).await;
    world.ok(Who::Operator, SEND, json!({ "toAgentId": a, "subject": "Go on", "body": "b" })).await;
    ask(&world, b, "⚠️ CRITICAL: Tool Failure - x", "It failed.").await;
    let me = ["⚠️ CRITICAL: Tool Failure - x", "Which one?"];
    assert_eq!(subjects(&world, request(Some(MailFolder::Me))).await, me);
    assert_eq!(subjects(&world, request(Some(MailFolder::Asks))).await, ["Which one?"]);
    assert_eq!(subjects(&world, request(Some(MailFolder::Alerts))).await, me[..1]);
    assert_eq!(subjects(&world, request(Some(MailFolder::Agents))).await, ["Go on", "Between us"]);
    assert_eq!(subjects(&world, request(Some(MailFolder::Sent))).await, ["Go on"]);
    let sent = letters(&world, request(Some(MailFolder::Sent))).await[0].id;
    let shown = thread(&world, sent).await;
    assert_eq!((shown.with.unwrap().agent_id, shown.reply_to), (Some(a), None));
    let of = |agent| MailListRequest { agent: Some(agent), ..request(None) };
    assert_eq!(subjects(&world, of(b)).await, [me[0], "Between us"]);
    let from_a = MailListRequest { of: Some(MailFolder::Me), ..of(a) };
    assert_eq!(subjects(&world, from_a).await, ["Which one?"]);
    let found =
        MailListRequest { text: Some("LEFT or".to_owned()), ..request(Some(MailFolder::Me)) };
    assert_eq!(subjects(&world, found).await, ["Which one?"]);
    let kinds: Vec<MailKind> =
        letters(&world, request(Some(MailFolder::Me))).await.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [MailKind::Alert, MailKind::Question]);
}

#[tokio::test]
async fn pages_join_without_gap_or_repeat_though_few_letters_fit() {
    let world = World::new();
    let a = world.enlist("worker").await;
    for n in 0..450 {
        let subject = if n % 45 == 0 { format!("Tool Failure: {n}") } else { format!("s{n}") };
        ask(&world, a, &subject, "b").await;
    }
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let request = MailListRequest { before, limit: 3, ..request(Some(MailFolder::Alerts)) };
        let page = world.engine.letters(request).await.unwrap();
        assert!(page.letters.len() <= 3);
        seen.extend(page.letters.into_iter().map(|letter| letter.subject));
        before = page.next_cursor;
        if before.is_none() {
            break;
        }
    }
    let expected: Vec<String> =
        (0..10).rev().map(|tenth| format!("Tool Failure: {}", tenth * 45)).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_thread_is_the_same_from_each_of_its_letters() {
    let world = World::new();
    let a = world.enlist("worker").await;
    let body = "Postgres or not?\n\n1. Hash of the path: two never meet\n2. One fixed number\n";
    let question = ask(&world, a, "Which lock?", body).await;
    let first = answer(&world, question, "1. Hash of the path: two never meet").await;
    let thanks = json!({ "originalMailId": first, "body": "Thanks. And where?" });
    let thanks = id_of(&world.ok(a, REPLY, thanks).await);
    let whole = thread(&world, question).await;
    let order: Vec<MailId> = whole.letters.iter().map(|letter| letter.letter.id).collect();
    assert_eq!(order, [question, first, thanks]);
    for id in [first, thanks] {
        assert_eq!(thread(&world, id).await.thread_id, question);
    }
    let asked = &whole.letters[0];
    let options: Vec<(u32, &str)> =
        asked.options.iter().map(|option| (option.number, option.text.as_str())).collect();
    assert_eq!(options, [(1, "Hash of the path: two never meet"), (2, "One fixed number")]);
    let settled = asked.settled.as_ref().unwrap();
    assert_eq!((settled.by.human, settled.mail_id, settled.allowed), (true, first, None));
    assert!(!asked.letter.needs_answer && whole.letters[2].letter.needs_answer);
    assert_eq!(whole.reply_to, Some(thanks), "what is open is answered");
    let with = whole.with.unwrap();
    assert_eq!((with.agent_id, with.role.as_deref()), (Some(a), Some("worker")));
    let list = letters(&world, request(Some(MailFolder::Me))).await;
    assert!(list.iter().all(|letter| letter.thread_id == question));
    assert_eq!(list[1].replies, 1);
}

#[tokio::test]
async fn nobody_waits_for_an_answer_once_it_is_given_or_who_asked_is_over() {
    let world = World::new();
    let (a, b) = (world.enlist("worker").await, world.enlist("worker").await);
    let first = ask(&world, a, "May I?", "b").await;
    ask(&world, b, "And I?", "b").await;
    let open = request(Some(MailFolder::Asks));
    assert_eq!(subjects(&world, open.clone()).await, ["And I?", "May I?"]);
    world.ok(Who::Operator, "mcp__mail__read", json!({ "mailId": first })).await;
    assert_eq!(subjects(&world, open.clone()).await.len(), 2, "to be read is not to be answered");
    answer(&world, first, "Yes").await;
    assert_eq!(subjects(&world, open.clone()).await, ["And I?"]);
    world.discharge(b).await;
    assert_eq!(subjects(&world, open).await, Vec::<String>::new());
}

#[tokio::test]
async fn who_answers_is_told_what_waits_behind_the_one_who_asks() {
    let world = World::new();
    let first = world.ok(Who::Operator, "mcp__task__create", json!({ "title": "First" })).await;
    let after = json!({ "title": "Then", "dependsOn": [first["id"]] });
    world.ok(Who::Operator, "mcp__task__create", after).await;
    let task = first["id"].as_str().unwrap().parse().unwrap();
    let worker = world.enlist_for("worker", task).await;
    let asked = ask(&world, worker, "How?", "b").await;
    let shown = thread(&world, asked).await;
    let behind: Vec<(i64, &str)> =
        shown.waits_behind.iter().map(|one| (one.task_number, one.title.as_str())).collect();
    assert_eq!(behind, [(2, "Then")]);
    assert!(!shown.wakes, "an agent that somebody else runs hears of it when it looks");
}

#[tokio::test]
async fn an_answer_reaches_at_once_who_looks_into_its_inbox() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    let asked = ask(&world, worker, "How?", "b").await;
    let mut changes = world.engine.waits().changed();
    let wait = world.ask(worker, "mcp__mail__list_inbox", json!({ "waitSeconds": 240 }));
    let look = async {
        changes.changed().await.unwrap();
        assert!(thread(&world, asked).await.wakes);
        answer(&world, asked, "So").await;
    };
    let (inbox, ()) = tokio::join!(wait, look);
    assert_eq!(inbox.unwrap()["mails"][0]["body"], "So");
}

#[tokio::test]
async fn a_very_long_thread_is_cut_from_its_beginning() {
    let world = World::new();
    let a = world.enlist("worker").await;
    let long = "x".repeat(100_000);
    let root = ask(&world, a, "Long", &long).await;
    let (mut last, mut count) = (root, 1);
    for _ in 0..14 {
        let human = answer(&world, last, &long).await;
        let input = json!({ "originalMailId": human, "body": long });
        last = id_of(&world.ok(a, REPLY, input).await);
        count += 2;
    }
    let shown = thread(&world, root).await;
    assert_eq!((shown.letters.len(), shown.left_out), (count, 0));
    let newest = shown.letters.last().unwrap();
    assert_eq!((newest.letter.id, newest.body.len(), newest.cut), (last, long.len(), false));
    let oldest = &shown.letters[0];
    assert_eq!((oldest.letter.id, oldest.body.len(), oldest.cut), (root, 1000, true));
}

#[tokio::test]
async fn of_very_many_letters_the_newest_are_shown() {
    let world = World::new();
    let a = world.enlist("worker").await;
    let root = ask(&world, a, "Many", "b").await;
    let mut last = root;
    for _ in 0..205 {
        last = answer(&world, root, "again").await;
    }
    let shown = thread(&world, root).await;
    assert_eq!((shown.letters.len(), shown.left_out), (200, 6));
    assert_eq!(shown.letters.last().unwrap().letter.id, last);
    assert_eq!(thread(&world, last).await.thread_id, root);
}

#[tokio::test]
async fn a_letter_that_is_not_there_is_refused() {
    let world = World::new();
    let error = world.engine.thread(MailId::from_bits(7)).await.unwrap_err();
    assert_eq!(error.code.name(), "RESOURCE_NOT_FOUND");
}
