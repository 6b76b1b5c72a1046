//! Loops on record: what is written is read again, and every look-up has its index.

use model::AgentId;
use model::agent::AgentStateName;
use model::money::Usd;
use model::session::{LoopRequest, LoopState, Phase};
use store::{IterationEnd, LoopOrder, StoreError};

use crate::support::{NOW, open};

fn order() -> LoopOrder {
    LoopOrder {
        role: "builder".into(),
        kind: Some("script".into()),
        cwd: Some("site".into()),
        extra: Some("more".into()),
        spec_path: Some("/spec.md".into()),
        spec: "Build it".into(),
        template: Some("{{spec}}".into()),
        commits: true,
        cap: Some(Usd::from_dollars(2.5)),
        environment: r#"["DATABASE_URL"]"#.into(),
    }
}

#[tokio::test]
async fn a_loop_is_read_as_it_was_written() {
    let (_dir, store) = open();
    let saved = store
        .write(|tx| {
            let mut row = tx.loop_insert("house", &order(), NOW)?;
            assert!(!row.is_live(), "it does nothing until it is told to");
            row.order = order();
            row.state = LoopState::Running;
            row.phase = Phase::Before;
            (row.step, row.hook_run, row.hook_runs) = (2, Some(7), 7);
            row.request = Some(LoopRequest::Pause);
            row.why = Some("why".into());
            (row.iteration, row.next, row.last) = (3, 4, Some(9));
            row.agent = Some(AgentId::from_bits(1));
            (row.failures, row.most_failures, row.seen) = (1, 3, 12);
            row.recovery = Some("{}".into());
            tx.loop_save(&row, NOW)?;
            Ok::<_, StoreError>(row)
        })
        .await
        .unwrap();
    assert_eq!(store.read(|tx| tx.loop_get("house")).unwrap(), Some(saved.clone()));
    assert_eq!(saved.iteration_about(), 4, "before an iteration it is about the next one");
    assert_eq!(store.read(|tx| tx.loops_live()).unwrap(), [saved]);
    assert_eq!(store.read(|tx| tx.loop_names(9)).unwrap(), ["house"]);
    assert_eq!(store.read(|tx| tx.loop_get("other")).unwrap(), None);
}

#[tokio::test]
async fn an_iteration_is_begun_once_and_a_message_delivered_once() {
    let (_dir, store) = open();
    store
        .write(|tx| {
            let (one, two) = (AgentId::from_bits(1), AgentId::from_bits(2));
            assert!(tx.iteration_begin("house", 1, one, NOW)?);
            assert!(!tx.iteration_begin("house", 1, two, NOW)?, "it is there already");
            tx.iteration_summarise("house", 1, "done", NOW)?;
            assert_eq!(tx.iteration_get("house", 1)?.unwrap().ended_at, None, "its agent works");
            let spent = Usd::from_dollars(0.5);
            let end = IterationEnd { outcome: AgentStateName::Failed, reason: "no".into(), spent };
            tx.iteration_end("house", 1, &end, NOW)?;
            tx.iteration_set_task("house", 1, 7)?;
            tx.iteration_set_commit("house", 1, "abc")?;
            let it = tx.iteration_get("house", 1)?.unwrap();
            assert_eq!((it.agent, it.outcome), (Some(one), Some(AgentStateName::Failed)));
            assert_eq!((it.task, it.commit.as_deref()), (Some(7), Some("abc")));
            assert_eq!((it.summary.as_deref(), it.ended_at), (Some("done"), Some(NOW)));
            assert_eq!(tx.session_spent("house")?, spent);
            let message = tx.loop_message_insert("house", "operator", "hello", NOW)?;
            assert_eq!(tx.loop_messages_waiting_count("house")?, 1);
            tx.loop_message_delivered(message.number, 1, NOW)?;
            tx.loop_message_delivered(message.number, 2, NOW)?;
            assert!(tx.loop_messages_waiting("house", 9)?.is_empty());
            assert_eq!(tx.loop_messages_newest("house", 9)?[0].iteration, Some(1));
            Ok::<_, StoreError>(())
        })
        .await
        .unwrap();
}
