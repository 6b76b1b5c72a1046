//! Secrets stand in no table of the record but the one that is kept for the addressee, and not for long there.

use model::{AgentId, MailId, TaskId};
use serde_json::json;
use store::{
    EventDraft, Inbox, NewMail, NewNote, NewRun, NewTask, Recipient, Sender, Store, StoreError, Tx,
};
use wire::event::{AgentWarned, EventData};

use crate::support::{NOW, agent, open};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const READER: AgentId = AgentId::from_bits(1);

/// Writes the secret into every kind of text.
fn write_everywhere(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let said = || format!("the token is {SECRET}");
    tx.agent_insert(&agent(1), NOW)?;
    tx.run_insert(&NewRun {
        agent: READER,
        prompt: said(),
        summary: said(),
        options: json!({ "schema": said() }).to_string(),
        resumed_from: None,
        conversation: None,
    })?;
    tx.run_next_prompt(READER, &said())?;
    let task = tx.task_insert(
        &NewTask {
            id: TaskId::from_bits(1),
            slug: "one".into(),
            session: "default".into(),
            title: said(),
            description: Some(said()),
            priority: model::Priority::default(),
            epic: None,
            iteration: 0,
        },
        NOW,
    )?;
    tx.comment_insert(task.number, Some(READER), &said(), NOW)?;
    for (bits, to) in [(1, Recipient::Agent(READER)), (2, Recipient::Human)] {
        tx.mail_insert(
            &NewMail {
                id: MailId::from_bits(bits),
                from: Sender::Human,
                to,
                subject: said(),
                body: said(),
                reply_to: None,
            },
            NOW,
        )?;
    }
    tx.session_ensure("default", NOW)?;
    tx.note_insert(
        &NewNote {
            session: "default".into(),
            kind: model::NoteType::Decision,
            content: said(),
            iteration: 0,
            agent: Some(READER),
        },
        NOW,
    )?;
    tx.iteration_summarise("default", 1, &said(), NOW)?;
    let data = EventData::AgentWarned(AgentWarned { warning: said() });
    tx.event_append(NOW, &EventDraft { agent: None, task: None, data })?;
    Ok(())
}

/// The tables in which the secret can be read.
fn tables_with_secret(dir: &tempfile::TempDir) -> Vec<String> {
    let database = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let names: Vec<String> = database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let has_secret = |name: &String| {
        let mut statement = database.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                let value: rusqlite::types::Value = row.get(column).unwrap();
                if format!("{value:?}").contains(SECRET) {
                    return true;
                }
            }
        }
        false
    };
    names.into_iter().filter(has_secret).collect()
}

async fn written() -> (tempfile::TempDir, Store) {
    let (dir, store) = open();
    store.write(write_everywhere).await.unwrap();
    (dir, store)
}

#[tokio::test]
async fn a_secret_stands_only_where_it_is_kept_for_its_addressee() {
    let (dir, _store) = written().await;
    assert_eq!(tables_with_secret(&dir), ["exact_text"]);
}

#[tokio::test]
async fn the_addressee_gets_the_exact_text() {
    let (_dir, store) = written().await;
    let exact = format!("the token is {SECRET}");
    let clean = "the token is ghp_[redacted]";
    store
        .read(|tx| {
            let run = tx.run_get(READER)?.unwrap();
            assert_eq!((run.prompt.as_str(), run.summary.as_str()), (clean, clean));
            let run = tx.run_exact(READER, run)?;
            assert_eq!((&run.prompt, run.next_prompt.as_ref()), (&exact, Some(&exact)));
            let task = tx.task_find(&model::TaskRef::Id(TaskId::from_bits(1)))?.unwrap();
            assert_eq!((task.title.as_str(), task.description.as_deref()), (clean, Some(clean)));
            let task = tx.task_exact(task)?;
            assert_eq!((&task.title, task.description.as_ref()), (&exact, Some(&exact)));
            for mail in tx.mail_inbox(Recipient::Agent(READER), Inbox::All, 0, 9)?.items {
                assert_eq!((mail.subject.as_str(), mail.body.as_str()), (clean, clean));
                let mail = tx.mail_exact(mail)?;
                assert_eq!((&mail.subject, &mail.body), (&exact, &exact));
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
}

#[tokio::test]
async fn a_text_that_quotes_a_redacted_one_is_not_taken_for_it() {
    let (_dir, store) = written().await;
    let quoted = "the ghp_[redacted] token is still in the history";
    store.write(move |tx| tx.run_next_prompt(READER, quoted)).await.unwrap();
    let run = store.read(|tx| tx.run_exact(READER, tx.run_get(READER)?.unwrap())).unwrap();
    assert_eq!(run.next_prompt.as_deref(), Some(quoted));
}

#[tokio::test]
async fn exact_texts_of_an_agent_go_when_it_ends_and_all_go_after_a_day() {
    let (dir, store) = written().await;
    store.write(|tx| tx.exact_forget_agent(READER)).await.unwrap();
    store
        .read(|tx| {
            let run = tx.run_exact(READER, tx.run_get(READER)?.unwrap())?;
            assert_eq!(run.prompt, "the token is ghp_[redacted]");
            let mail = tx.mail_exact(tx.mail_get(MailId::from_bits(2))?.unwrap())?;
            assert!(mail.body.contains(SECRET), "the human's mail is not the agent's");
            Ok::<_, StoreError>(())
        })
        .unwrap();
    store.write(|tx| tx.exact_sweep(NOW.after_seconds(86_399))).await.unwrap();
    assert_eq!(tables_with_secret(&dir), ["exact_text"], "the human's is less than a day old");
    store.write(|tx| tx.exact_sweep(NOW.after_seconds(86_401))).await.unwrap();
    assert_eq!(tables_with_secret(&dir), [""; 0]);
}

#[tokio::test]
async fn a_slack_message_is_redacted_once_it_was_acted_on() {
    let (dir, store) = open();
    let message = store::SlackMessage {
        number: 0,
        channel: "C1".to_owned(),
        ts: "1.0".to_owned(),
        thread: "1.0".to_owned(),
        user: "U1".to_owned(),
        text: SECRET.to_owned(),
    };
    store.write(move |tx| tx.slack_message_insert(&message, NOW, NOW)).await.unwrap();
    let waiting = store.read(|tx| tx.slack_waiting("C1", "1.0", "U1")).unwrap();
    assert_eq!(waiting[0].text, SECRET, "until then it is a prompt to be");
    let number = waiting[0].number;
    assert!(store.write(move |tx| tx.slack_message_taken(number)).await.unwrap());
    assert_eq!(tables_with_secret(&dir), [""; 0]);
}

#[tokio::test]
async fn words_for_a_loop_are_exact_until_they_are_delivered() {
    let (dir, store) = open();
    let message = store
        .write(|tx| {
            tx.session_ensure("nightly", NOW)?;
            tx.loop_message_insert("nightly", "operator", SECRET, NOW)
        })
        .await
        .unwrap();
    let waiting = store.read(|tx| tx.loop_messages_waiting("nightly", 9)).unwrap();
    assert_eq!(waiting[0].body, SECRET);
    assert_eq!(tables_with_secret(&dir), ["exact_text"]);
    store.write(move |tx| tx.loop_message_delivered(message.number, 1, NOW)).await.unwrap();
    assert_eq!(tables_with_secret(&dir), [""; 0]);
}
