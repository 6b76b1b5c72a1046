//! The frame around every page: how much there is of everything, and what a person is needed for.

use engine::{About, ToolError};
use model::agent::{AgentState, Outcome};
use model::money::Usd;
use model::review::{MergeState, ReviewState};
use model::{AgentId, MailId, MergeId, TaskId, TaskRef, Timestamp};
use serde_json::{Value, json};
use store::{
    MergeChange, NewMail, NewMerge, NewReview, Question, Recipient, ReviewChange, Sender, Spend,
    SpendAmount, Tx,
};
use wire::overview::Overview;

use crate::support::{Who, World};

async fn overview(world: &World) -> Overview {
    let about = About {
        version: "1.2.3".into(),
        home: "~/p/.adjutant".into(),
        started_at: Timestamp::from_millis(5),
        read_only: true,
    };
    world.engine.overview(about, None).await.unwrap()
}

/// What a person is needed for, as it is told.
async fn needs(world: &World) -> Vec<Value> {
    let view = overview(world).await;
    assert_eq!(view.needs_you_count, view.needs_you.len());
    view.needs_you.iter().map(|need| serde_json::to_value(need).unwrap()).collect()
}

async fn write(
    world: &World,
    mut op: impl FnMut(&mut Tx<'_>) -> Result<(), ToolError> + Send + 'static,
) {
    world.store.write(move |tx| op(tx)).await.unwrap();
}

/// A task, by its id.
async fn task(world: &World, title: &str, needs: &[&Value]) -> Value {
    let numbers: Vec<Value> = needs.iter().map(|task| task["number"].clone()).collect();
    let input = json!({ "title": title, "dependsOn": numbers });
    world.ok(Who::Operator, "mcp__task__create", input).await
}

async fn worker_on(world: &World, task: &Value) -> AgentId {
    let named: TaskRef = task["id"].as_str().unwrap().parse().unwrap();
    world.enlist_for("worker", named).await
}

fn id_of(task: &Value) -> TaskId {
    task["id"].as_str().unwrap().parse().unwrap()
}

async fn ask_human(world: &World, from: AgentId, subject: &str) -> Value {
    let letter = json!({ "toHuman": true, "subject": subject, "body": "b" });
    world.ok(from, "mcp__mail__send", letter).await
}

#[tokio::test]
async fn an_empty_project_needs_nobody() {
    let world = World::new();
    let view = overview(&world).await;
    assert_eq!((view.version.as_str(), view.home.as_str()), ("1.2.3", "~/p/.adjutant"));
    assert!(view.read_only);
    assert_eq!((view.agents.all, view.open_tasks, view.needs_you_count), (0, 0, 0));
    assert_eq!((view.running.used, view.running.max, view.running.queued), (0, 8, 0));
    assert_eq!((view.mail.unread, view.today.limit_usd), (0, None));
    assert_eq!(view.today.usd.to_bits(), 0.0_f64.to_bits());
}

#[tokio::test]
async fn everything_is_counted() {
    let world = World::new();
    let states = [
        AgentState::Queued,
        AgentState::Running,
        AgentState::WaitingReview,
        AgentState::Limited { until: world.engine.now().after_seconds(60) },
    ];
    let mut last = None;
    for state in states {
        let id = world.in_loop("worker", "night").await;
        let now = world.engine.now();
        write(&world, move |tx| Ok(tx.agent_advance(id, &state, now)?)).await;
        last = Some(id);
    }
    let gone = world.enlist("worker").await;
    world.discharge(gone).await;
    task(&world, "Open", &[]).await;
    let now = world.engine.now();
    let limited = last.unwrap();
    write(&world, move |tx| {
        let yesterday = now.after_seconds(-30 * 3600);
        for at in [yesterday, now] {
            tx.spend_add(
                limited,
                "opus",
                SpendAmount { money: Usd::from_dollars(1.5), ..SpendAmount::default() },
                at,
            )?;
        }
        Ok(())
    })
    .await;
    let view = overview(&world).await;
    let agents = &view.agents;
    assert_eq!((agents.all, agents.running, agents.waiting), (5, 1, 2));
    assert_eq!((agents.queued, agents.ended), (1, 1));
    assert_eq!((view.running.used, view.running.queued, view.open_tasks), (1, 1, 1));
    assert_eq!(view.today.usd.to_bits(), 1.5_f64.to_bits(), "what was spent yesterday is not");
    let limited: Vec<&str> = view.limited.iter().map(|one| one.who.as_str()).collect();
    assert_eq!(limited, ["script"], "its kind, where no model is known");
    assert_eq!(view.last_event, world.events().last().unwrap().number);
}

#[tokio::test]
async fn who_waits_for_an_answer_comes_first_by_what_it_holds_up() {
    let world = World::new();
    let fence = task(&world, "Fence", &[]).await;
    let renew = task(&world, "Renew", &[&fence]).await;
    task(&world, "Guide", &[&renew]).await;
    let (alone, holding) = (world.enlist("worker").await, worker_on(&world, &fence).await);
    ask_human(&world, alone, "Shall I go on?").await;
    ask_human(&world, alone, "It is done").await;
    world.clock.advance_seconds(60);
    let letter = ask_human(&world, holding, "Which lock may I take?").await;
    let needs_now = needs(&world).await;
    let told: Vec<&Value> = needs_now.iter().map(|need| &need["title"]).collect();
    assert_eq!(told, ["Which lock may I take?", "Shall I go on?"]);
    let first = &needs_now[0];
    assert_eq!((&first["kind"], &first["holdsUp"]), (&json!("question"), &json!(2)));
    assert_eq!(first["href"], json!(format!("/mail/{}", letter["mailId"].as_str().unwrap())));
    assert_eq!((&first["taskNumber"], &first["role"]), (&json!(1), &json!("worker")));
    assert_eq!(overview(&world).await.mail.needs_answer, 2);

    let answer = json!({ "originalMailId": letter["mailId"], "body": "The first" });
    world.ok(Who::Operator, "mcp__mail__reply", answer).await;
    world.discharge(alone).await;
    assert_eq!(needs(&world).await, Vec::<Value>::new(), "answered, or nobody waits any more");
}

#[tokio::test]
async fn a_request_for_leave_and_mail_of_a_failure_need_a_person() {
    let world = World::new();
    let agent = world.in_loop("worker", "night").await;
    let (mail, now) = (MailId::from_bits(9), world.engine.now());
    write(&world, move |tx| {
        let question = Question {
            agent,
            request: "r1".into(),
            tool: "Bash".into(),
            mail,
            answer: None,
            pattern: None,
        };
        tx.question_insert(&question, now)?;
        let new = NewMail {
            id: mail,
            from: Sender::Agent(agent, "worker".into()),
            to: Recipient::Human,
            subject: "May worker use Bash?".into(),
            body: "b".into(),
            reply_to: None,
        };
        tx.mail_insert(&new, now)?;
        let alarm = NewMail {
            id: MailId::from_bits(10),
            subject: "⚠️ CRITICAL: Tool Failure - mcp__mail__send".into(),
            ..new
        };
        tx.mail_insert(&alarm, now.after_seconds(1))?;
        Ok(tx.agent_advance(agent, &AgentState::WaitingInput, now)?)
    })
    .await;
    let told = needs(&world).await;
    assert_eq!((&told[0]["kind"], &told[1]["kind"]), (&json!("permission"), &json!("mail")));
    let row = world.engine.crew_rows(vec![agent], None).await.unwrap().rows.remove(0);
    let asks = row.asks.unwrap();
    assert_eq!((asks.mail_id, asks.subject.as_str()), (mail, "May worker use Bash?"));
    write(&world, move |tx| {
        tx.mail_mark_read(MailId::from_bits(10), now)?;
        Ok(())
    })
    .await;
    assert_eq!(needs(&world).await.len(), 1, "a letter of trouble that was read needs nobody");
}

#[tokio::test]
async fn work_without_a_supervisor_waits_for_a_person() {
    let world = World::new();
    let made = world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "Led" })).await;
    let epic = made["id"].as_str().unwrap().parse().unwrap();
    world.enlist_in("supervisor", epic).await;
    let input = json!({ "title": "Led work", "epicId": epic });
    let led = world.ok(Who::Operator, "mcp__task__create", input).await;
    let alone = task(&world, "Batch acks", &[]).await;
    for task in [&led, &alone] {
        let worker = worker_on(&world, task).await;
        world.ok(worker, "mcp__task__update_status", json!({ "status": "REVIEW" })).await;
    }
    let told = needs(&world).await;
    assert_eq!(told.len(), 1, "who leads an epic approves its work: {told:?}");
    assert_eq!(
        (&told[0]["kind"], &told[0]["title"]),
        (&json!("review"), &json!("Approve “Batch acks”"))
    );
    assert_eq!(overview(&world).await.reviews.for_you, 1);
}

#[tokio::test]
async fn the_limit_of_reviews_needs_a_person() {
    let world = World::new();
    let (coder, now) = (world.enlist("coding").await, world.engine.now());
    for iteration in 1..=world.engine.settings().review.max_iterations {
        let reviewer = AgentId::from_bits(700 + u64::from(iteration));
        write(&world, move |tx| {
            let new = NewReview {
                coder,
                reviewer,
                iteration,
                branch: "b".into(),
                commit: "c".into(),
                message: None,
            };
            tx.review_insert(&new, now)?;
            tx.review_set(
                reviewer,
                ReviewChange { state: ReviewState::Feedback, failed: true },
                now,
            )?;
            Ok(())
        })
        .await;
    }
    let told = needs(&world).await;
    assert_eq!((told.len(), &told[0]["kind"]), (1, &json!("reviewLimit")));
    assert_eq!(told[0]["href"], json!(format!("/reviews/{coder}")));
    world.engine.review_allow_more(coder, 1).await.unwrap();
    assert_eq!(needs(&world).await.len(), 0, "it may go on");
}

#[tokio::test]
async fn held_and_abandoned_merges_need_a_person() {
    let world = World::new();
    let (held, back) = (task(&world, "Held", &[]).await, task(&world, "Back", &[]).await);
    let now = world.engine.now();
    for (bits, task, state) in [(1, &held, MergeState::Held), (2, &back, MergeState::SentBack)] {
        let (id, task) = (MergeId::from_bits(bits), id_of(task));
        write(&world, move |tx| {
            let new = NewMerge {
                id,
                task,
                agent: None,
                approved_by: None,
                branch: "b".into(),
                target: "main".into(),
                commit: "c".into(),
                squash: false,
            };
            tx.merge_insert(&new, now)?;
            let change =
                MergeChange { reason: Some("the tree is dirty"), ..MergeChange::default() };
            Ok(tx.merge_set(id, state, change, now)?)
        })
        .await;
    }
    let told = needs(&world).await;
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|need| need["kind"] == json!("merge")), "{told:?}");
    assert_eq!(told[0]["detail"], json!("TAS-1, the tree is dirty"));
    assert_eq!(told[0]["href"], json!("/reviews/TAS-1"));
    worker_on(&world, &back).await;
    assert_eq!(needs(&world).await.len(), 1, "somebody goes on with what was sent back");
}

#[tokio::test]
async fn a_budget_that_ran_out_needs_a_person_until_somebody_goes_on() {
    let world = World::with_budgets(&[("orchestrator", 10.0), ("worker", 3.0)]);
    let (parent, now) = (world.enlist("orchestrator").await, world.engine.now());
    let spent = world.enlist_under("worker", parent).await;
    let along = world.enlist_under("worker", spent).await;
    write(&world, move |tx| {
        for agent in [parent, spent] {
            tx.budget_charge(agent, Spend { money: Usd::from_dollars(3.0), ..Spend::default() })?;
        }
        for (agent, reason) in [(spent, "spent $3.00"), (along, "its ancestor x ended: …")] {
            let state =
                AgentState::Ended { outcome: Outcome::OverBudget, reason: reason.into(), at: now };
            tx.agent_advance(agent, &state, now)?;
        }
        Ok(())
    })
    .await;
    world.discharge(world.enlist("worker").await).await;
    let told = needs(&world).await;
    assert_eq!(told.len(), 1, "who was taken along is no question of its own: {told:?}");
    assert_eq!(told[0]["kind"], json!("budget"));
    let title = told[0]["title"].as_str().unwrap();
    assert!(title.ends_with("spent its $3.00"), "{title}");
    let detail = told[0]["detail"].as_str().unwrap();
    assert!(detail.ends_with("parent has $7.00 left"), "{detail}");
    world.clock.advance_seconds(25 * 3600);
    assert_eq!(needs(&world).await.len(), 0, "of yesterday's nobody asks");
}
