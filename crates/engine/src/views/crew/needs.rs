//! Requests to a person, the most urgent first: by the number that waits for it, then by age.

use std::collections::HashSet;

use model::agent::AgentState;
use model::money::Usd;
use model::review::{InstanceStatus, MergeState};
use model::task::TaskStateName;
use model::{AgentId, TaskId, TaskRef, Timestamp};
use store::{Agent, MailLine, Merge, MergePage, Recipient, Task, TaskFilter, Tx};
use wire::overview::{NeedKind, NeedView};

use super::row::Look;
use crate::call::cx::task_of;
use crate::core::error::ToolError;
use crate::core::names::short;
use crate::delivery::merge_queue::worker_of;
use crate::delivery::reviews::history;
use crate::mail::asking;

/// Entries read per kind.
const ENTRIES_PER_KIND: u32 = 200;
/// A budget that ran out longer ago is nobody's question any more.
const BUDGET_MS: i64 = 24 * 60 * 60 * 1000;

/// Everything that a person is needed for.
pub(super) fn needs(look: &Look<'_>) -> Result<Vec<NeedView>, ToolError> {
    let mut needs = Vec::new();
    letters(look, &mut needs)?;
    reviews(look, &mut needs)?;
    review_limits(look, &mut needs)?;
    merges(look, &mut needs)?;
    budgets(look, &mut needs)?;
    needs.sort_by(|a, b| b.holds_up.cmp(&a.holds_up).then(a.since.cmp(&b.since)));
    Ok(needs)
}

/// Subject of a request.
struct About<'a> {
    agent: Option<&'a Agent>,
    task: Option<&'a Task>,
}

impl About<'_> {
    /// One-line detail: agent and task, then more text.
    fn detail(&self, more: &str) -> String {
        let who = self.agent.map(|agent| format!("{} {}", agent.role, short(agent.id)));
        let what = self.task.map(|task| TaskRef::Number(task.number).to_string());
        let more = Some(more.to_owned()).filter(|more| !more.is_empty());
        [who, what, more].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn need(&self, look: &Look<'_>, kind: NeedKind, title: String) -> Result<NeedView, ToolError> {
        Ok(NeedView {
            kind,
            title,
            detail: self.detail(""),
            agent_id: self.agent.map(|agent| agent.id),
            role: self.agent.map(|agent| agent.role.clone()),
            task_number: self.task.map(|task| task.number),
            since: look.now,
            holds_up: self.holds_up(look)?,
            href: self.work(),
        })
    }

    /// Number of tasks and ancestors that wait for it.
    fn holds_up(&self, look: &Look<'_>) -> Result<i64, ToolError> {
        let tasks = match self.task {
            Some(task) => look.tx.tasks_held_up(task.number)?,
            None => 0,
        };
        let Some(agent) = self.agent else { return Ok(tasks) };
        let above = look.tx.agent_ancestors(agent)?;
        let waits = |above: &&Agent| look.engine.waits.is_waiting(above.id);
        let agents = i64::try_from(above.iter().filter(waits).count()).unwrap_or(i64::MAX);
        Ok(tasks.saturating_add(agents))
    }

    /// The page of its work.
    fn work(&self) -> String {
        match (self.agent, self.task) {
            (Some(agent), _) => format!("/reviews/{}", agent.id),
            (None, Some(task)) => format!("/reviews/{}", TaskRef::Number(task.number)),
            (None, None) => "/reviews".to_owned(),
        }
    }
}

/// Mails that ask, and unread mail that reports failures.
fn letters(look: &Look<'_>, needs: &mut Vec<NeedView>) -> Result<(), ToolError> {
    let tx = look.tx;
    for line in tx.mail_unanswered()? {
        let kind = if line.permission.is_some() {
            NeedKind::Permission
        } else if is_question(&line) {
            NeedKind::Question
        } else {
            continue;
        };
        needs.push(letter(look, kind, &line.subject, line.from, line.created_at, line.id)?);
    }
    for mail in tx.mail_unread_newest(Recipient::Human, ENTRIES_PER_KIND)? {
        // What could not be merged is told as such.
        let merge = ["Merge ", "Check Failed: ", "Not Merged: "];
        let told = merge.iter().any(|words| mail.subject.starts_with(words));
        if asking::is_alert(&mail.subject) && !told {
            let (from, at) = (mail.from, mail.created_at);
            needs.push(letter(look, NeedKind::Mail, &mail.subject, from, at, mail.id)?);
        }
    }
    Ok(())
}

fn is_question(line: &MailLine) -> bool {
    let body = format!("{}\n{}", line.head, line.tail);
    let asks = asking::is_question(&line.subject, &body);
    asks && !line.is_system && !asking::is_alert(&line.subject)
}

fn letter(
    look: &Look<'_>,
    kind: NeedKind,
    subject: &str,
    from: Option<AgentId>,
    at: Timestamp,
    id: model::MailId,
) -> Result<NeedView, ToolError> {
    let agent = from.map(|id| look.tx.agent_get(id)).transpose()?.flatten();
    let task = task_of(look.tx, agent.as_ref().and_then(|agent| agent.task))?;
    let about = About { agent: agent.as_ref(), task: task.as_ref() };
    let need = about.need(look, kind, subject.to_owned())?;
    Ok(NeedView { since: at, href: format!("/mail/{id}"), ..need })
}

/// Tasks in review that no supervisor will approve.
fn reviews(look: &Look<'_>, needs: &mut Vec<NeedView>) -> Result<(), ToolError> {
    let tx = look.tx;
    let filter = TaskFilter { states: vec![TaskStateName::Review], ..TaskFilter::default() };
    for task in tx.task_page(&filter, 0, ENTRIES_PER_KIND)?.items {
        let led = task.epic.map(|epic| tx.agent_supervising(epic)).transpose()?.flatten().is_some();
        let approved = tx.merge_of(task.id)?.is_some_and(|merge| merge.ended_at.is_none());
        if led || approved {
            continue;
        }
        let agent = worker_of(tx, &task)?;
        let about = About { agent: agent.as_ref(), task: Some(&task) };
        let title = format!("Approve “{}”", task.title);
        let need = about.need(look, NeedKind::Review, title)?;
        needs.push(NeedView { since: task.updated_at, ..need });
    }
    Ok(())
}

/// Agents that have had all their reviews and work on.
fn review_limits(look: &Look<'_>, needs: &mut Vec<NeedView>) -> Result<(), ToolError> {
    let tx = look.tx;
    for id in tx.coders_live()? {
        let Some(last) = tx.reviews_of(id)?.pop() else { continue };
        let (iterations, _, limits) = history(tx, &look.settings, id)?;
        let Err(limit) = limits.next(iterations) else { continue };
        let Some(agent) = tx.agent_get(id)? else { continue };
        let pull = tx.pull_of(agent.id)?.map(|pull| pull.state);
        if InstanceStatus::of(agent.state.name(), pull) != InstanceStatus::Started {
            continue;
        }
        let task = task_of(tx, agent.task)?;
        let about = About { agent: Some(&agent), task: task.as_ref() };
        let title =
            format!("{} {} is at its limit of {limit} reviews", agent.role, short(agent.id));
        let need = about.need(look, NeedKind::ReviewLimit, title)?;
        needs.push(NeedView { since: last.ended_at.unwrap_or(last.created_at), ..need });
    }
    Ok(())
}

/// Approved work that is held, or that was sent back and that nobody goes on with.
fn merges(look: &Look<'_>, needs: &mut Vec<NeedView>) -> Result<(), ToolError> {
    let tx = look.tx;
    let held = tx.merge_page(MergePage::Open, 0, ENTRIES_PER_KIND)?.items;
    for merge in held.iter().filter(|merge| merge.state == MergeState::Held) {
        needs.extend(merge_need(look, merge, "held")?);
    }
    let mut seen: HashSet<TaskId> = HashSet::new();
    for merge in tx.merges_newest(ENTRIES_PER_KIND)? {
        // Only what became of a task last counts.
        if seen.insert(merge.task) && merge.state == MergeState::SentBack && is_left(tx, &merge)? {
            needs.extend(merge_need(look, &merge, "sent back")?);
        }
    }
    Ok(())
}

/// True if returned work has neither an agent nor a supervisor.
fn is_left(tx: &Tx<'_>, merge: &Merge) -> Result<bool, ToolError> {
    let Some(task) = tx.task_find(&TaskRef::Id(merge.task))? else { return Ok(false) };
    let led = task.epic.map(|epic| tx.agent_supervising(epic)).transpose()?.flatten();
    let waits = matches!(task.state.name(), TaskStateName::Pending | TaskStateName::Blocked);
    Ok(waits && led.is_none())
}

fn merge_need(look: &Look<'_>, merge: &Merge, how: &str) -> Result<Option<NeedView>, ToolError> {
    let tx = look.tx;
    let Some(task) = tx.task_find(&TaskRef::Id(merge.task))? else { return Ok(None) };
    let agent = merge.agent.map(|id| tx.agent_get(id)).transpose()?.flatten();
    let about = About { agent: agent.as_ref(), task: Some(&task) };
    let title = format!("The merge of “{}” was {how}", task.title);
    let need = about.need(look, NeedKind::Merge, title)?;
    let reason = crate::call::activity::one_line(merge.reason.as_deref().unwrap_or_default());
    let since = merge.ended_at.unwrap_or(merge.created_at);
    Ok(Some(NeedView { since, detail: about.detail(&reason), ..need }))
}

/// Agents that spent what they had, with whose work nobody goes on.
fn budgets(look: &Look<'_>, needs: &mut Vec<NeedView>) -> Result<(), ToolError> {
    let tx = look.tx;
    for agent in tx.agents_over_budget(look.now.after_millis(-BUDGET_MS), ENTRIES_PER_KIND)? {
        let AgentState::Ended { reason, at, .. } = &agent.state else { continue };
        // An agent that was stopped with another needs no decision of its own.
        if reason.starts_with("its ancestor") || tx.run_is_resumed(agent.id)? {
            continue;
        }
        let task = task_of(tx, agent.task)?;
        if task.as_ref().is_some_and(|task| is_seen_to(task, agent.id)) {
            continue;
        }
        let cap = tx.budget_get(agent.id)?.and_then(|budget| budget.caps.money);
        let about = About { agent: Some(&agent), task: task.as_ref() };
        let who = format!("{} {}", agent.role, short(agent.id));
        let title = match cap {
            Some(cap) => format!("{who} spent its {}", dollars(cap)),
            None => format!("{who} is over budget"),
        };
        let need = about.need(look, NeedKind::Budget, title)?;
        let left = above(tx, &agent)?.map(|left| format!("parent has {} left", dollars(left)));
        // Who it is stands in the title.
        let what = About { agent: None, ..about };
        let detail = what.detail(&left.unwrap_or_else(|| crate::call::activity::one_line(reason)));
        let href = format!("/agents/{}", agent.id);
        needs.push(NeedView { since: *at, detail, href, ..need });
    }
    Ok(())
}

/// True if a task is closed or held by another agent.
fn is_seen_to(task: &Task, agent: AgentId) -> bool {
    let over = matches!(task.state.name(), TaskStateName::Completed | TaskStateName::Cancelled);
    over || task.state.claim().is_some_and(|claim| claim.holder != agent)
}

/// Remaining budget of an agent's live parent, if it has one.
fn above(tx: &Tx<'_>, agent: &Agent) -> Result<Option<Usd>, ToolError> {
    let parent = agent.parent.map(|id| tx.agent_get(id)).transpose()?.flatten();
    let Some(parent) = parent.filter(|parent| parent.ended_at().is_none()) else {
        return Ok(None);
    };
    let budget = tx.budget_get(parent.id)?;
    Ok(budget.and_then(|budget| Some(budget.caps.money? - budget.money)))
}

fn dollars(amount: Usd) -> String {
    format!("${:.2}", amount.dollars())
}
