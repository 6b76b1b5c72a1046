//! A panic in an outbox job or in a keeper ends neither its lane nor the care for its agent.

use model::event::EventKind;
use store::{EventFilter, Inbox, Recipient};

use super::*;
use crate::core::point::Point;
use crate::crew::run::CrewService;

impl Yard {
    /// The subjects of the mails to the human.
    fn letters(&self) -> Vec<String> {
        let read = |tx: &store::Tx<'_>| tx.mail_inbox(Recipient::Human, Inbox::All, 0, 9);
        let page = self.engine.store.read(read).unwrap();
        page.items.into_iter().map(|mail| mail.subject).collect()
    }

    fn warnings(&self, agent: AgentId) -> Vec<String> {
        let filter = EventFilter { after: 0, kind: Some(EventKind::AgentWarned) };
        let events = self.engine.store.read(|tx| tx.event_list(&filter, 100)).unwrap();
        let of_agent = events.into_iter().filter(|event| event.agent == Some(agent));
        of_agent.map(|event| event.data["warning"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until the record says so.
    async fn until(&self, mut is_so: impl FnMut() -> bool) {
        let mut last = self.engine.store.last_event();
        while !is_so() {
            last.changed().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outbox_job_that_panicked_is_reported_and_tried_again() {
    // The first is in the job's own task, the second on a blocking thread.
    for point in [Point::TidyAsked, Point::TidyRescued] {
        let mut yard = Yard::panicking(Some(point));
        let agent = yard.hire().await;
        let dir = PathBuf::from(agent.cwd.clone().unwrap());
        let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
        tasks.spawn(OutboxRunner::new(&yard.engine, tasks.clone(), end.clone()).run());
        yard.end(agent.id, Outcome::Succeeded).await;
        yard.until(|| !yard.warnings(agent.id).is_empty()).await;
        assert!(dir.exists());
        let warning = &yard.warnings(agent.id)[0];
        assert!(warning.contains("it is retried in 1 s"), "{warning}");
        let letters = yard.letters();
        assert!(
            letters[0].starts_with("Adjutant had an internal error while running"),
            "{letters:?}"
        );
        let due = || {
            let open = yard.engine.store.read(|tx| tx.outbox_jobs_open()).unwrap();
            open.iter().all(|job| job.tries == 1)
        };
        while !due() {
            tokio::task::yield_now().await;
        }
        yard.clock.advance_seconds(2);
        yard.engine.outbox.ring();
        yard.until(|| yard.engine.store.read(|tx| tx.outbox_jobs_open()).unwrap().is_empty()).await;
        assert!(!dir.exists(), "{point}: the second attempt has done it");
        end.cancel();
        tasks.close();
        tasks.wait().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_keeper_panicked_is_started_again() {
    let mut yard = Yard::panicking(Some(Point::WorktreeWanted));
    let (agent, _) = yard.draft("coder", None, None).await;
    let (id, now) = (agent.id, yard.engine.now());
    let queue = move |tx: &mut store::Tx<'_>| tx.agent_advance(id, &AgentState::Queued, now);
    yard.engine.store.write(queue).await.unwrap();
    let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
    tasks.spawn(CrewService::new(&yard.engine, tasks.clone(), end.clone()).run());
    let found = || yard.engine.store.read(|tx| tx.agent_get(id)).unwrap().unwrap();
    // There is no program here that could run it, so that its second attempt ends with that.
    yard.until(|| found().ended_at().is_some()).await;
    assert_eq!(found().attempt, 2);
    let warning = &yard.warnings(id)[0];
    assert!(warning.contains("panic requested at worktree.wanted"), "{warning}");
    assert!(warning.contains("supervision starts again in 1 s"), "{warning}");
    assert_eq!(
        yard.letters()[0],
        format!("Adjutant had an internal error while supervising agent {id}")
    );
    end.cancel();
    tasks.close();
    tasks.wait().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_panics_is_reported_and_ends_the_server() {
    let yard = Yard::panicking(None);
    let (ended, mut is_over) = (CancellationToken::new(), false);
    let end = ended.clone();
    let tasks = TaskTracker::new();
    let service = tasks.spawn(async { panic!("nobody expected this") });
    crate::watch_service(yard.engine.core(), "the outbox", service, move || end.cancel()).await;
    assert!(ended.is_cancelled());
    assert_eq!(yard.letters(), ["Adjutant had an internal error while running the outbox"]);
    // One that ends, as all do when the server is told to, is no fault.
    let service = tasks.spawn(std::future::ready(()));
    crate::watch_service(yard.engine.core(), "it", service, || is_over = true).await;
    assert!(!is_over && yard.letters().len() == 1);
}
