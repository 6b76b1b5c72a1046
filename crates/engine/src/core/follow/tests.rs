//! A reaction runs for its events, its settings, its bell and its time, and by itself after a failure.

use std::sync::Arc;

use model::event::EventKind;
use store::EventDraft;
use tempfile::TempDir;
use testkit::event_of;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::*;

/// Answers of the next runs; a run beyond them waits for news.
type Script = Vec<Result<NextRun, ToolError>>;

/// A reaction that reports each of its runs.
struct Reporter {
    script: std::vec::IntoIter<Result<NextRun, ToolError>>,
    runs: mpsc::UnboundedSender<Instant>,
    bell: Arc<Notify>,
}

impl EventReaction for Reporter {
    fn name(&self) -> String {
        "a test".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        EventKinds::of(&[EventKind::AgentFinished])
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        self.runs.send(Instant::now()).unwrap();
        self.script.next().unwrap_or(Ok(NextRun::News))
    }

    async fn rung(&mut self) {
        self.bell.notified().await;
    }
}

/// A followed record.
struct Stage {
    _dir: TempDir,
    store: Store,
    runs: mpsc::UnboundedReceiver<Instant>,
    bell: Arc<Notify>,
    reloads: watch::Sender<u64>,
    shutdown: CancellationToken,
    done: JoinHandle<()>,
}

impl Stage {
    fn new(script: Script) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("state.db")).unwrap();
        let (report, runs) = mpsc::unbounded_channel();
        let (reloads, bell, shutdown) =
            (watch::Sender::new(0), Arc::<Notify>::default(), CancellationToken::new());
        let mut reaction =
            Reporter { script: script.into_iter(), runs: report, bell: Arc::clone(&bell) };
        let (followed, replaced, end) = (store.clone(), reloads.subscribe(), shutdown.clone());
        let tasks = tokio_util::task::TaskTracker::new();
        let done = tasks
            .spawn(async move { follow(&followed, Some(replaced), &mut reaction, &end).await });
        Self { _dir: dir, store, runs, bell, reloads, shutdown, done }
    }

    async fn append(&self, kind: EventKind) {
        let draft = EventDraft { agent: None, task: None, data: event_of(kind) };
        let append = move |tx: &mut Tx<'_>| tx.event_append(Timestamp::from_millis(0), &draft);
        let (store, runtime) = (self.store.clone(), Handle::current());
        // On a thread of the runtime, so that a paused clock stands still until the event is committed.
        let append = move || runtime.block_on(store.write(append)).unwrap();
        tokio::task::spawn_blocking(append).await.unwrap();
    }

    async fn run(&mut self) -> Instant {
        self.runs.recv().await.unwrap()
    }
}

fn failure() -> Result<NextRun, ToolError> {
    Err(ToolError::internal(std::io::Error::other("on purpose")))
}

#[tokio::test(start_paused = true)]
async fn a_reaction_that_failed_runs_again_without_a_further_event() {
    let mut stage = Stage::new(vec![failure(), failure(), failure(), Ok(NextRun::News)]);
    let begun = stage.run().await;
    for seconds in [1, 3, 7] {
        assert_eq!((stage.run().await - begun).as_secs(), seconds);
    }
    assert_eq!((stage.run().await - begun).as_secs(), 7 + IDLE_INTERVAL.as_secs());
}

#[tokio::test(start_paused = true)]
async fn news_after_a_failure_is_a_reason_to_run_but_not_within_a_second() {
    let mut stage = Stage::new((0..5).map(|_| failure()).collect());
    let begun = stage.run().await;
    for _ in 0..4 {
        stage.run().await;
    }
    let last = Instant::now();
    assert_eq!((last - begun).as_secs(), 1 + 2 + 4 + 8);
    stage.append(EventKind::AgentFinished).await;
    assert_eq!((stage.run().await - last).as_secs(), 1, "not after 16 seconds");
}

#[tokio::test]
async fn a_reaction_runs_for_its_kinds_and_no_others() {
    let mut stage = Stage::new(Vec::new());
    stage.run().await;
    stage.append(EventKind::MailSent).await;
    stage.append(EventKind::AgentFinished).await;
    stage.run().await;
    // It has marked both as seen: the next run is for the bell.
    stage.append(EventKind::MailSent).await;
    stage.bell.notify_one();
    stage.run().await;
    stage.reloads.send_modify(|count| *count += 1);
    stage.run().await;
    stage.shutdown.cancel();
    stage.done.await.unwrap();
    assert!(stage.runs.recv().await.is_none(), "four reasons are four runs");
}

#[tokio::test]
async fn a_reaction_runs_at_once_where_there_is_more_and_never_again_once_done() {
    let mut stage = Stage::new(vec![Ok(NextRun::Now), Ok(NextRun::Never)]);
    stage.run().await;
    stage.run().await;
    stage.done.await.unwrap();
    assert!(stage.runs.recv().await.is_none());
}

#[tokio::test]
async fn following_ends_with_the_record() {
    let mut stage = Stage::new(Vec::new());
    stage.run().await;
    stage.store.close().await;
    stage.done.await.unwrap();
}

#[tokio::test]
async fn what_is_looked_for_is_found_after_its_event_or_not_at_all() {
    let stage = Stage::new(Vec::new());
    let kinds = EventKinds::of(&[EventKind::MailSent]);
    let store = stage.store.clone();
    let found = find(&store, kinds, |tx| Ok(Some(tx.event_last()?).filter(|last| *last == 2)));
    let appended = async {
        stage.append(EventKind::MailSent).await;
        stage.append(EventKind::MailSent).await;
    };
    assert_eq!(tokio::join!(found, appended).0.unwrap(), Some(2));
    let nothing = find(&store, kinds, |_| Ok(None::<()>));
    assert_eq!(tokio::join!(nothing, stage.store.close()).0.unwrap(), None);
}

#[test]
fn delays_grow_up_to_half_a_minute() {
    let seconds: Vec<u64> = [0, 1, 4, 5, 6, 40].map(|n| retry_delay(n).as_secs()).into();
    assert_eq!(seconds, [1, 2, 16, 30, 30, 30]);
}
