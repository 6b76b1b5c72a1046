//! Rows that cannot be decoded: reading one is an error that names it, and never a default.

use model::review::{FeedbackPriority, FeedbackType};
use model::{AgentId, FeedbackId};
use store::{Feedback, LoopOrder, StoreError};
use tempfile::TempDir;

use crate::support::{NOW, open};

/// Changes a value behind the store's back.
fn damage(dir: &TempDir, sql: &str) {
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
}

#[tokio::test]
async fn an_unknown_word_in_a_column_that_may_be_null_is_an_error_too() {
    let (dir, store) = open();
    let (coder, reviewer) = (AgentId::from_bits(1), AgentId::from_bits(2));
    let feedback = Feedback {
        id: FeedbackId::from_bits(3),
        reviewer,
        coder,
        kind: FeedbackType::NeedsWork,
        priority: Some(FeedbackPriority::High),
        body: "No".into(),
        items: Vec::new(),
        commit: None,
        created_at: NOW,
    };
    let order = LoopOrder {
        role: "builder".into(),
        kind: None,
        cwd: None,
        extra: None,
        spec_path: None,
        spec: "Build it".into(),
        template: None,
        commits: false,
        cap: None,
        environment: "[]".into(),
    };
    let id = feedback.id;
    store
        .write(move |tx| {
            tx.feedback_insert(&feedback)?;
            tx.loop_insert("house", &order, NOW)?;
            tx.iteration_begin("house", 1, coder, NOW)?;
            Ok::<_, StoreError>(())
        })
        .await
        .unwrap();
    damage(&dir, "UPDATE feedback SET priority = 'lofty'");
    damage(&dir, "UPDATE loop SET wish = 'sing'");
    damage(&dir, "UPDATE iteration SET outcome = 'glad'");
    let errors = [
        store.read(|tx| tx.feedback_by(reviewer)).unwrap_err(),
        store.read(|tx| tx.loop_get("house")).unwrap_err(),
        store.read(|tx| tx.iteration_get("house", 1)).unwrap_err(),
    ];
    assert_eq!(
        errors.map(|error| error.to_string()),
        [
            format!(
                "the record is damaged: column `priority` of the row with id `{id}`: `lofty` is not known"
            ),
            "the record is damaged: column `wish` of the row with session `house`: `sing` is not known"
                .to_owned(),
            "the record is damaged: column `outcome` of the row with number 1: `glad` is not known"
                .to_owned(),
        ]
    );
}
