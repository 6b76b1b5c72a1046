//! Mails are listed newest first, threads are found, and what waits for an answer is known.

use model::agent::{AgentEvent, AgentState, Outcome};
use model::{AgentId, MailId};
use store::{Mailbox, NewMail, Question, Recipient, Sender, Store};

use crate::support::{NOW, add_task, agent, open};

const A: AgentId = AgentId::from_bits(1);
const B: AgentId = AgentId::from_bits(2);

async fn crew(store: &Store) {
    for bits in [1, 2] {
        let new = agent(bits);
        store.write(move |tx| tx.agent_insert(&new, NOW)).await.unwrap();
    }
}

/// Records the mail of that number, and returns its id.
async fn mail(
    store: &Store,
    bits: u64,
    from: Option<AgentId>,
    to: Recipient,
    reply_to: Option<u64>,
) -> MailId {
    let id = MailId::from_bits(bits);
    let new = NewMail {
        id,
        from: from.map_or(Sender::Human, |from| Sender::Agent(from, "worker".to_owned())),
        to,
        subject: format!("Mail {bits}"),
        body: format!("It says {bits}"),
        reply_to: reply_to.map(MailId::from_bits),
    };
    store.write(move |tx| tx.mail_insert(&new, NOW)).await.unwrap();
    id
}

fn numbers(store: &Store, which: Mailbox, before: i64, limit: u32) -> (Vec<i64>, Option<i64>) {
    let page = store.read(|tx| tx.mail_newest(which, before, limit)).unwrap();
    (page.items.iter().map(|line| line.number).collect(), page.next)
}

#[tokio::test]
async fn mails_are_listed_newest_first_by_box_and_by_agent() {
    let (_dir, store) = open();
    crew(&store).await;
    let human = Recipient::Human;
    mail(&store, 1, Some(A), human, None).await;
    mail(&store, 2, Some(A), Recipient::Agent(B), None).await;
    mail(&store, 3, None, Recipient::Agent(A), Some(1)).await;
    mail(&store, 4, Some(B), Recipient::Agent(B), None).await;
    mail(&store, 5, Some(B), human, None).await;
    assert_eq!(numbers(&store, Mailbox::All, i64::MAX, 2), (vec![5, 4], Some(4)));
    assert_eq!(numbers(&store, Mailbox::All, 4, 5), (vec![3, 2, 1], None));
    assert_eq!(numbers(&store, Mailbox::Human, i64::MAX, 5), (vec![5, 1], None));
    assert_eq!(numbers(&store, Mailbox::Of(A), i64::MAX, 2), (vec![3, 2], Some(2)));
    assert_eq!(numbers(&store, Mailbox::Of(A), 2, 2), (vec![1], None));
    let own = numbers(&store, Mailbox::Of(B), i64::MAX, 5);
    assert_eq!(own, (vec![5, 4, 2], None), "a mail to oneself is one mail");
    let page = store.read(|tx| tx.mail_newest(Mailbox::Human, 2, 1)).unwrap();
    let first = &page.items[0];
    assert_eq!((first.replies, first.answered, &*first.head), (1, true, "It says 1"));
}

#[tokio::test]
async fn of_a_long_letter_both_ends_are_read() {
    let (_dir, store) = open();
    let body = format!("begin{}end", "ü".repeat(50_000));
    let new = NewMail {
        id: MailId::from_bits(1),
        from: Sender::Human,
        to: Recipient::Human,
        subject: "s".to_owned(),
        body,
        reply_to: None,
    };
    store.write(move |tx| tx.mail_insert(&new, NOW)).await.unwrap();
    let page = store.read(|tx| tx.mail_newest(Mailbox::Human, i64::MAX, 1)).unwrap();
    let line = &page.items[0];
    assert!(line.head.starts_with("beginü") && line.tail.ends_with("üend"));
    assert_eq!((line.head.chars().count(), line.tail.chars().count()), (4000, 4000));
}

#[tokio::test]
async fn what_a_person_has_not_answered_waits_while_its_writer_lives() {
    let (_dir, store) = open();
    crew(&store).await;
    let human = Recipient::Human;
    mail(&store, 1, Some(A), human, None).await;
    mail(&store, 2, Some(A), human, None).await;
    mail(&store, 3, Some(B), human, None).await;
    mail(&store, 4, None, Recipient::Agent(A), Some(1)).await;
    // An agent's own mail to its mail is no answer.
    mail(&store, 5, Some(A), human, Some(2)).await;
    let open = || {
        let lines = store.read(|tx| tx.mail_unanswered()).unwrap();
        lines.iter().map(|line| line.number).collect::<Vec<_>>()
    };
    assert_eq!(open(), [5, 3, 2]);
    let end = AgentEvent::Ended { outcome: Outcome::Lost, reason: String::new() };
    let over = AgentState::Running.apply(end, NOW).unwrap();
    store.write(move |tx| tx.agent_advance(B, &over, NOW)).await.unwrap();
    assert_eq!(open(), [5, 2], "nobody waits for an answer to who is over");
}

#[tokio::test]
async fn a_question_for_leave_waits_however_old_it_is() {
    let (_dir, store) = open();
    crew(&store).await;
    let first = mail(&store, 1, Some(A), Recipient::Human, None).await;
    let asked = Question {
        agent: A,
        request: "r".into(),
        tool: "Bash".into(),
        mail: first,
        answer: None,
        pattern: None,
    };
    store
        .write(move |tx| {
            tx.question_insert(&asked, NOW)?;
            tx.agent_advance(A, &AgentState::WaitingInput, NOW)
        })
        .await
        .unwrap();
    for bits in 2..1100 {
        mail(&store, bits, Some(B), Recipient::Human, None).await;
    }
    let lines = store.read(|tx| tx.mail_unanswered()).unwrap();
    let last = lines.last().unwrap();
    assert_eq!((last.id, last.permission.as_deref()), (first, Some("Bash")));
    assert_eq!(lines.len(), 1001, "the newest thousand, and this one");
    mail(&store, 2000, None, Recipient::Agent(A), Some(1)).await;
    let lines = store.read(|tx| tx.mail_unanswered()).unwrap();
    assert!(lines.iter().all(|line| line.id != first), "it was answered");
}

#[tokio::test]
async fn a_thread_is_found_up_and_down() {
    let (_dir, store) = open();
    crew(&store).await;
    let (human, a) = (Recipient::Human, Recipient::Agent(A));
    let root = mail(&store, 1, Some(A), human, None).await;
    let other = mail(&store, 2, None, a, None).await;
    let answer = mail(&store, 3, None, a, Some(1)).await;
    let again = mail(&store, 4, None, a, Some(1)).await;
    store
        .read(|tx| {
            assert_eq!(tx.mail_answers(answer)?, Some(root));
            assert_eq!(tx.mail_answers(root)?, None);
            assert_eq!(tx.mail_answers(MailId::from_bits(99))?, None);
            assert_eq!(tx.mail_answered_by(root, 10)?, [(3, answer), (4, again)]);
            assert_eq!(tx.mail_answered_by(other, 10)?, []);
            let first = tx.mail_settled_by(root)?.map(|mail| mail.id);
            assert_eq!(first, Some(answer), "the first answer settles it");
            Ok::<_, store::StoreError>(())
        })
        .unwrap();
}

#[tokio::test]
async fn the_tasks_behind_a_task_are_those_that_are_not_over() {
    let (_dir, store) = open();
    for bits in 1..=4 {
        add_task(&store, bits).await.unwrap();
    }
    store
        .write(|tx| {
            for number in 2..=4 {
                tx.task_add_need(number, 1)?;
            }
            let mut done = tx.task_find(&model::TaskRef::Number(3))?.unwrap();
            let input = model::task::TaskMove::Complete;
            done.state =
                done.state.apply_through(&input, model::task::EpicMembership::Alone).unwrap();
            tx.task_save(&done, NOW)
        })
        .await
        .unwrap();
    let behind = store.read(|tx| tx.tasks_behind(1, 10)).unwrap();
    assert_eq!(behind, [(2, "Task 2".to_owned()), (4, "Task 4".to_owned())]);
    assert_eq!(store.read(|tx| tx.tasks_behind(1, 1)).unwrap().len(), 1);
}

/// Lists of mails walk no table from its beginning.
#[tokio::test]
async fn every_list_of_letters_is_served_by_an_index() {
    let (dir, _store) = open();
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let queries = [
        "SELECT * FROM mail AS m WHERE m.number < 5 ORDER BY m.number DESC LIMIT 5",
        "SELECT * FROM mail AS m WHERE m.recipient = 'x' AND m.number < 5 ORDER BY m.number DESC LIMIT 5",
        "SELECT * FROM mail AS m WHERE m.from_agent_id = 'x' AND m.number < 5 ORDER BY m.number DESC LIMIT 5",
        "SELECT number, id FROM mail WHERE reply_to = 'x' ORDER BY number LIMIT 5",
        "SELECT COUNT(*) FROM mail AS r WHERE r.reply_to = 'x' AND r.from_agent_id IS NULL",
        "SELECT q.tool FROM question AS q WHERE q.mail_id = 'x'",
    ];
    for sql in queries {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps: Vec<String> =
            plan.query_map([], |row| row.get("detail")).unwrap().map(Result::unwrap).collect();
        let text = steps.join("; ");
        assert!(!text.contains("TEMP B-TREE") && !text.contains("SCAN"), "{sql}: {text}");
    }
}
