//! The office's upper floors: who leads epics, how they are, and who takes the place of one that is lost.

use engine::settings::Settings;
use engine::{Call, Principal, Progress, Recruit, by_name};
use model::event::EventKind;
use model::{AgentId, EpicId, TaskRef};
use serde_json::{Value, json};
use store::{Agent, Recipient};

use crate::support::{Who, World};

const LIST: &str = "mcp__orchestrator__list_supervisors";
const HEALTH: &str = "mcp__orchestrator__check_supervisor_health";
const CREATE: &str = "mcp__orchestrator__create_supervisor";
const RECOVER: &str = "mcp__orchestrator__recover_supervisor";
const PENDING: &str = "mcp__orchestrator__list_pending_epics";

/// A world in which agents can be drafted. Nobody starts them.
fn office() -> World {
    let world = World::new();
    change(&world, |settings| settings.default_kind = "script".into());
    world
}

fn change(world: &World, change: impl FnOnce(&mut Settings)) {
    let mut settings = (*world.engine.settings()).clone();
    change(&mut settings);
    world.engine.set_settings(settings);
}

/// An epic with as many tasks.
async fn epic(world: &World, tasks: usize) -> EpicId {
    let made = json!({ "title": "Users", "description": "All\nof it" });
    let epic = world.ok(Who::Operator, "mcp__epic__create", made).await["id"].clone();
    for n in 1..=tasks {
        let task =
            json!({ "title": format!("Part {n}"), "slug": format!("part-{n}"), "epicId": epic });
        world.ok(Who::Operator, "mcp__task__create", task).await;
    }
    epic.as_str().unwrap().parse().unwrap()
}

/// An agent that somebody else runs, in an epic.
async fn enlist(world: &World, role: &str, epic: EpicId, parent: Option<AgentId>) -> AgentId {
    let recruit = Recruit { role: role.into(), task: None, epic: Some(epic), cwd: None, parent };
    world.engine.enlist(recruit).await.unwrap().agent
}

fn agent(world: &World, id: AgentId) -> Agent {
    world.store.read(|tx| tx.agent_get(id)).unwrap().unwrap()
}

fn id(value: &Value) -> AgentId {
    value.as_str().unwrap().parse().unwrap()
}

/// The states of the epic's tasks, in order.
fn states(world: &World) -> Vec<&'static str> {
    let all = store::TaskFilter::default();
    let tasks = world.store.read(|tx| tx.task_page(&all, 0, 100)).unwrap().items;
    tasks.iter().map(|task| task.state.name().stored()).collect()
}

/// The subjects of somebody's mails.
fn letters(world: &World, to: Recipient) -> Vec<String> {
    let inbox = world.store.read(|tx| tx.mail_inbox(to, store::Inbox::Unread, 0, 100));
    inbox.unwrap().items.into_iter().map(|mail| mail.subject).collect()
}

async fn health(world: &World, agent: AgentId) -> Value {
    // What was read is on record with the next change.
    let remark = json!({ "taskId": "part-1", "body": "b" });
    world.ok(Who::Operator, "mcp__task__add_comment", remark).await;
    world.ok(Who::Operator, HEALTH, json!({ "agentId": agent })).await
}

#[tokio::test]
async fn a_supervisor_leads_one_epic_and_has_no_task_of_its_own() {
    let world = office();
    let orchestrator = world.enlist("orchestrator").await;
    let (epic, other) = (epic(&world, 2).await, epic_alone(&world).await);
    let pending = world.ok(orchestrator, PENDING, json!({})).await;
    let ids: Vec<&Value> =
        pending["epics"].as_array().unwrap().iter().map(|e| &e["epicId"]).collect();
    assert_eq!(ids, [&json!(epic), &json!(other)]);
    assert_eq!(pending["epics"][0]["tasks"]["PENDING"], 2);

    let input = json!({ "epicId": epic, "prompt": "Tests first." });
    let made = world.ok(orchestrator, CREATE, input).await;
    assert_eq!(made["epicState"], "IN_PROGRESS");
    assert_eq!((&made["role"], &made["epicId"]), (&json!("supervisor"), &json!(epic)));
    let supervisor = agent(&world, id(&made["agentId"]));
    assert_eq!((supervisor.epic, supervisor.task), (Some(epic), None));
    assert_eq!((supervisor.parent, supervisor.depth), (Some(orchestrator), 1));
    assert_eq!(states(&world), ["pending", "pending"], "the tasks are for workers");
    let run = world.store.read(|tx| tx.run_get(supervisor.id)).unwrap().unwrap();
    for told in [
        &format!("You lead the epic {epic}"),
        "> Users\n>\n> All\n> of it\n",
        "> TAS-1 `part-1` PENDING: Part 1\n",
        "supervisor_get_review_queue",
        "supervisor_create_epic_pr",
        "Tests first.",
    ] {
        assert!(run.prompt.contains(told), "{told}: {}", run.prompt);
    }

    let listed = world.ok(orchestrator, LIST, json!({})).await;
    let tasks = json!({ "PENDING": 2, "ASSIGNED": 0, "IN_PROGRESS": 0, "REVIEW": 0, "BLOCKED": 0,
        "COMPLETED": 0, "FAILED": 0 });
    assert_eq!(
        listed,
        json!({ "supervisors": [{
            "agentId": supervisor.id, "epicId": epic, "epicTitle": "Users", "state": "IDLE",
            "agentState": "queued", "lastActiveAt": supervisor.last_active_at, "isHealthy": true,
            "minutesSinceHeartbeat": 0, "workers": 0, "tasks": tasks,
        }] })
    );
    let pending = world.ok(orchestrator, PENDING, json!({})).await;
    assert_eq!(pending["epics"].as_array().unwrap().len(), 1, "{pending}");
    let refusal = world.refused(Who::Operator, CREATE, json!({ "epicId": epic }), "CONFLICT").await;
    assert_eq!(refusal.body["details"]["agentId"], json!(supervisor.id));
    assert!(refusal.message().contains(&supervisor.id.to_string()));
    // Its worker without a task gets one of the epic.
    let draft = json!({ "role": "worker", "prompt": "Do this too" });
    let worker = world.ok(supervisor.id, "mcp__harness__draft_agent", draft).await;
    assert_eq!(agent(&world, id(&worker["agentId"])).epic, Some(epic));
    let listed = world.ok(orchestrator, LIST, json!({ "limit": 1 })).await;
    assert_eq!(listed["supervisors"][0]["workers"], 1);
    assert_eq!(listed["supervisors"][0]["tasks"]["PENDING"], 3);
}

async fn epic_alone(world: &World) -> EpicId {
    let made = world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "Other" })).await;
    made["id"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_supervisor_that_cannot_be_started_is_refused_with_the_reason() {
    let world = office();
    let epic = epic(&world, 0).await;
    let create = json!({ "epicId": epic });
    let unknown = json!({ "epicId": "epic_00000000000000aa" });
    world.refused(Who::Operator, CREATE, unknown, "RESOURCE_NOT_FOUND").await;
    change(&world, |settings| settings.office.supervisor_role = "nobody".into());
    let refusal = world.refused(Who::Operator, CREATE, create.clone(), "RESOURCE_NOT_FOUND").await;
    assert!(refusal.body["suggestions"].to_string().contains("office.supervisorRole"));
    change(&world, |settings| settings.office.supervisor_role = "worker".into());
    let refusal = world.refused(Who::Operator, CREATE, create.clone(), "CONFLICT").await;
    assert!(refusal.message().contains("category `worker`"), "{refusal:?}");
    change(&world, |settings| settings.office.supervisor_role = "supervisor".into());
    let status = json!({ "epicId": epic, "status": "CANCELLED" });
    world.ok(Who::Operator, "mcp__epic__update_status", status).await;
    let refusal = world.refused(Who::Operator, CREATE, create, "CONFLICT").await;
    assert_eq!(refusal.body["details"]["state"], "CANCELLED");
    assert_eq!(world.ok(Who::Operator, PENDING, json!({})).await, json!({ "epics": [] }));
}

#[tokio::test]
async fn a_supervisor_is_unhealthy_once_it_was_not_heard_of_for_too_long() {
    let world = office();
    let epic = epic(&world, 1).await;
    let supervisor = enlist(&world, "supervisor", epic, None).await;
    world.clock.advance_seconds(7 * 60 - 1);
    let before = health(&world, supervisor).await;
    assert_eq!((&before["status"], &before["isHealthy"]), (&json!("healthy"), &json!(true)));
    assert_eq!(
        (&before["minutesSinceHeartbeat"], &before["thresholdMinutes"]),
        (&json!(6), &json!(7))
    );
    world.clock.advance_seconds(1);
    let silent = health(&world, supervisor).await;
    assert_eq!((&silent["status"], &silent["isHealthy"]), (&json!("silent"), &json!(false)));
    assert_eq!(silent["state"], "BUSY");
    assert!(silent["reason"].as_str().unwrap().contains("7 minutes"), "{silent}");
    let listed = world.ok(Who::Operator, LIST, json!({})).await;
    assert_eq!(listed["supervisors"][0]["isHealthy"], false);
    assert_eq!(listed["supervisors"][0]["minutesSinceHeartbeat"], 7);

    // Whatever it calls, it is heard of.
    for (tool, input) in [
        ("mcp__agent__get_status", json!({})),
        ("mcp__task__add_comment", json!({ "taskId": "part-1", "body": "b" })),
        (LIST, json!({})),
    ] {
        world.clock.advance_seconds(8 * 60);
        assert_eq!(health(&world, supervisor).await["status"], "silent");
        world.ok(supervisor, tool, input).await;
        let now = health(&world, supervisor).await;
        assert_eq!(
            (&now["status"], &now["minutesSinceHeartbeat"]),
            (&json!("healthy"), &json!(0)),
            "{tool}"
        );
        assert_eq!(now["lastActiveAt"], json!(world.engine.now()));
    }
    // What the operator does in its name is no sign of life.
    world.clock.advance_seconds(8 * 60);
    world.ok(Who::As(supervisor), "mcp__agent__get_status", json!({})).await;
    assert_eq!(health(&world, supervisor).await["status"], "silent");

    change(&world, |settings| settings.office.heartbeat_minutes = 60);
    assert_eq!(health(&world, supervisor).await["status"], "healthy");
    world.discharge(supervisor).await;
    let ended = health(&world, supervisor).await;
    assert_eq!((&ended["status"], &ended["isHealthy"]), (&json!("ended"), &json!(false)));
    assert_eq!(world.ok(Who::Operator, LIST, json!({})).await, json!({ "supervisors": [] }));

    let worker = world.enlist("worker").await;
    let refusal =
        world.refused(Who::Operator, HEALTH, json!({ "agentId": worker }), "INVALID_INPUT").await;
    assert!(refusal.message().contains("not a supervisor"));
    let unknown = json!({ "agentId": "sp_00000000000000aa" });
    world.refused(Who::Operator, HEALTH, unknown, "AGENT_NOT_FOUND").await;
}

#[tokio::test]
async fn a_supervisor_that_waits_for_mail_is_not_silent() {
    let world = office();
    let epic = epic(&world, 1).await;
    let supervisor = enlist(&world, "supervisor", epic, None).await;
    let tool = by_name("mcp__mail__list_inbox").unwrap();
    let input = json!({ "waitSeconds": 240 });
    let call =
        Call { principal: Principal::Agent(supervisor), as_agent: None, tool, input, key: None };
    let progress = Progress::default();
    let look = async {
        let mut changes = world.engine.waits().changed();
        while !world.engine.waits().is_waiting(supervisor) {
            changes.changed().await.unwrap();
        }
        world.clock.advance_seconds(3600);
        let waits = health(&world, supervisor).await;
        assert_eq!(
            (&waits["status"], &waits["minutesSinceHeartbeat"]),
            (&json!("healthy"), &json!(60))
        );
        assert!(waits["reason"].as_str().unwrap().contains("waits for another agent or for mail"));
        let listed = world.ok(Who::Operator, LIST, json!({})).await;
        assert_eq!(listed["supervisors"][0]["isHealthy"], true);
        progress.gone.cancel();
    };
    let (answered, ()) = tokio::join!(world.engine.call(call, &progress), look);
    answered.unwrap();
}

/// A supervisor with three workers, whose tasks stand in every state that there is.
async fn crew(world: &World) -> (EpicId, AgentId, Vec<AgentId>) {
    let epic = epic(world, 7).await;
    let supervisor = enlist(world, "supervisor", epic, None).await;
    let mut workers = Vec::new();
    for n in 1..=3 {
        let task: TaskRef = format!("part-{n}").parse().unwrap();
        let recruit = Recruit {
            role: "worker".into(),
            task: Some(task),
            epic: None,
            cwd: None,
            parent: Some(supervisor),
        };
        workers.push(world.engine.enlist(recruit).await.unwrap().agent);
    }
    let set = async |who: Who, task: &str, status: &str| {
        let input = json!({ "taskId": task, "status": status });
        world.ok(who, "mcp__task__update_status", input).await;
    };
    for (n, worker) in workers.iter().enumerate() {
        set(Who::Agent(*worker), &format!("part-{}", n + 1), "IN_PROGRESS").await;
    }
    set(Who::Agent(workers[1]), "part-2", "REVIEW").await;
    set(Who::Agent(workers[2]), "part-3", "BLOCKED").await;
    let assign = json!({ "taskId": "part-4", "agentId": workers[0] });
    world.ok(Who::Operator, "mcp__task__assign", assign).await;
    for (task, end) in [("part-5", "REVIEW"), ("part-6", "FAILED")] {
        set(Who::Operator, task, "IN_PROGRESS").await;
        set(Who::Operator, task, end).await;
    }
    set(Who::Operator, "part-5", "COMPLETED").await;
    let expected =
        ["in_progress", "review", "blocked", "assigned", "completed", "failed", "pending"];
    assert_eq!(states(world), expected);
    (epic, supervisor, workers)
}

#[tokio::test]
async fn recovery_ends_the_crew_frees_its_tasks_and_starts_another_supervisor() {
    let world = office();
    let (epic, old, workers) = crew(&world).await;
    let orchestrator = world.enlist("orchestrator").await;
    let healthy = world.refused(orchestrator, RECOVER, json!({ "agentId": old }), "CONFLICT").await;
    assert!(healthy.message().contains("is healthy"), "{healthy:?}");
    assert!(healthy.body["suggestions"].to_string().contains("force"));
    assert_eq!(states(&world)[0], "in_progress", "nothing has changed");

    world.clock.advance_seconds(8 * 60);
    let input = json!({ "agentId": old, "reason": "no answer to three letters" });
    let answer = world.ok(orchestrator, RECOVER, input).await;
    let new = id(&answer["newAgentId"]);
    assert_eq!((&answer["status"], &answer["tasksReset"]), (&json!("recovered"), &json!(3)));
    assert_eq!((&answer["agentId"], &answer["epicId"]), (&json!(old), &json!(epic)));
    let expected = ["pending", "review", "pending", "pending", "completed", "failed", "pending"];
    assert_eq!(states(&world), expected, "what is in review is done");
    for gone in workers.iter().chain([&old]) {
        assert_eq!(agent(&world, *gone).state.name().to_string(), "killed");
    }
    let first: TaskRef = "part-1".parse().unwrap();
    let task = world.store.read(|tx| tx.task_find(&first)).unwrap().unwrap();
    assert_eq!((task.attempts, task.assigned_agent), (0, None), "its worker did not fail");
    let successor = agent(&world, new);
    assert_eq!((successor.epic, successor.task), (Some(epic), None));
    assert_eq!(successor.parent, Some(orchestrator), "nobody stood above the old one");
    let run = world.store.read(|tx| tx.run_get(new)).unwrap().unwrap();
    assert!(run.prompt.contains(&format!("You take the place of {old}")), "{}", run.prompt);
    assert_eq!(letters(&world, Recipient::Human), [format!("Supervisor {old} is being replaced")]);
    assert_eq!(letters(&world, Recipient::Agent(orchestrator)), Vec::<String>::new());
    assert_eq!(world.told(EventKind::SupervisorRecovering).len(), 1);
    let told = world.told(EventKind::SupervisorRecovered);
    assert_eq!((told.len(), &told[0].data["successorId"]), (1, &json!(new)));
    // It is not replaced twice.
    let again = world.refused(orchestrator, RECOVER, json!({ "agentId": old }), "CONFLICT").await;
    assert_eq!(again.body["details"]["agentId"], json!(new));
}

#[tokio::test]
async fn a_successor_stands_where_the_old_one_stood() {
    let world = office();
    let epic = epic(&world, 1).await;
    let orchestrator = world.enlist("orchestrator").await;
    let old = enlist(&world, "supervisor", epic, Some(orchestrator)).await;
    let input = json!({ "agentId": old, "force": true });
    let answer = world.ok(Who::Operator, RECOVER, input).await;
    let new = agent(&world, id(&answer["newAgentId"]));
    assert_eq!((new.parent, new.depth), (Some(orchestrator), 1));
    // One that has not begun is gone at once, and so the same goes on.
    let input = json!({ "agentId": new.id, "force": true });
    let answer = world.ok(Who::Operator, RECOVER, input).await;
    assert_ne!(answer["newAgentId"], json!(new.id));
    let live = world.ok(Who::Operator, LIST, json!({})).await;
    assert_eq!(live["supervisors"].as_array().unwrap().len(), 1, "an epic never has two: {live}");
}

#[tokio::test]
async fn for_a_supervisor_that_has_ended_only_another_one_is_started() {
    let world = office();
    let (epic, old, workers) = crew(&world).await;
    let stays = enlist(&world, "worker", epic, None).await;
    let kill = json!({ "agentId": old });
    world.ok(Who::Operator, "mcp__harness__kill_agent", kill).await;
    let answer = world.ok(Who::Operator, RECOVER, json!({ "agentId": old })).await;
    assert_eq!(answer["status"], "recovered");
    assert_eq!(agent(&world, id(&answer["newAgentId"])).epic, Some(epic));
    assert!(agent(&world, stays).ended_at().is_none(), "who was not its crew stays");
    assert!(workers.iter().all(|worker| agent(&world, *worker).ended_at().is_some()));
}

#[tokio::test]
async fn what_cannot_be_recovered_is_refused_with_the_reason() {
    let world = office();
    let epic = epic(&world, 1).await;
    let recover = async |who: Who, agent: AgentId, code: &str| {
        let input = json!({ "agentId": agent, "force": true });
        world.refused(who, RECOVER, input, code).await
    };
    let worker = world.enlist("worker").await;
    recover(Who::Operator, worker, "INVALID_INPUT").await;
    recover(Who::Operator, AgentId::from_bits(7), "AGENT_NOT_FOUND").await;
    let idle = world.enlist("supervisor").await;
    recover(Who::Operator, idle, "INVALID_AGENT_STATE").await;
    let supervisor = enlist(&world, "supervisor", epic, None).await;
    let below = world.enlist_under("supervisor", supervisor).await;
    for who in [supervisor, below] {
        let refusal = recover(Who::Agent(who), supervisor, "INVALID_INPUT").await;
        assert!(refusal.message().contains("end yourself"), "{refusal:?}");
    }
    change(&world, |settings| settings.office.supervisor_role = "nobody".into());
    recover(Who::Operator, supervisor, "RESOURCE_NOT_FOUND").await;
    assert!(agent(&world, supervisor).ended_at().is_none(), "nobody ends who cannot be replaced");
    let status = json!({ "epicId": epic, "status": "CANCELLED" });
    world.ok(Who::Operator, "mcp__epic__update_status", status).await;
    recover(Who::Operator, supervisor, "CONFLICT").await;
    assert_eq!(world.told(EventKind::SupervisorRecovering).len(), 0);
}

#[tokio::test]
async fn supervisors_that_are_lost_again_and_again_are_not_replaced_for_ever() {
    let world = office();
    let epic = epic(&world, 1).await;
    let orchestrator = world.enlist("orchestrator").await;
    let mut last = enlist(&world, "supervisor", epic, None).await;
    for _ in 0..3 {
        world.clock.advance_seconds(60);
        let input = json!({ "agentId": last, "force": true });
        last = id(&world.ok(orchestrator, RECOVER, input).await["newAgentId"]);
    }
    let input = json!({ "agentId": last, "force": true });
    for _ in 0..2 {
        let refusal = world.refused(orchestrator, RECOVER, input.clone(), "CONFLICT").await;
        assert_eq!(refusal.body["details"]["recoveries"], 3, "{refusal:?}");
    }
    assert!(agent(&world, last).ended_at().is_none(), "it stays as it is");
    let warned = |subject: &String| subject.contains("again and again");
    let warnings = letters(&world, Recipient::Human).iter().filter(|s| warned(s)).count();
    assert_eq!(warnings, 1, "the human is told once");
    world.clock.advance_seconds(600);
    world.ok(orchestrator, RECOVER, input).await;
}

#[tokio::test]
async fn the_end_of_a_supervisor_with_open_tasks_is_told_to_who_looks_after_it() {
    let world = office();
    let kill = async |agent: AgentId| {
        world.ok(Who::Operator, "mcp__harness__kill_agent", json!({ "agentId": agent })).await;
    };
    let epic = epic(&world, 1).await;
    kill(enlist(&world, "supervisor", epic, None).await).await;
    assert_eq!(letters(&world, Recipient::Human).len(), 1, "nobody else is there");
    let (any, own) = (world.enlist("orchestrator").await, world.enlist("orchestrator").await);
    kill(enlist(&world, "supervisor", epic, None).await).await;
    let told = letters(&world, Recipient::Agent(any));
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("Supervisor sp_") && told[0].ends_with("has ended: killed"),
        "{told:?}"
    );
    let under = enlist(&world, "supervisor", epic, Some(own)).await;
    kill(under).await;
    assert_eq!(letters(&world, Recipient::Agent(own)).len(), 1, "the one above it is the nearest");
    assert_eq!(letters(&world, Recipient::Agent(any)).len(), 1);

    let all_done = epic_alone(&world).await;
    kill(enlist(&world, "supervisor", all_done, None).await).await;
    kill(enlist(&world, "worker", epic, None).await).await;
    assert_eq!(letters(&world, Recipient::Agent(any)).len(), 1, "there was nothing left to lead");
    assert_eq!(letters(&world, Recipient::Human).len(), 1);
}
