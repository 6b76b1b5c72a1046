//! Follows a plan: prints the events of its steps, each once and in order.

use std::collections::HashSet;

use model::{MailId, PlanState, TaskStateName};
use wire::event::{EventData, EventView, TaskChange};
use wire::plans::{PlanQuestion, PlanStepView, PlanView};

use super::path_of;
use super::show::{progress, question};
use crate::app::App;
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::automation::event_log::{EventLog, Wait};
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, bad, bold, dim, good, line, odd, print_text, short, shown};

/// Kinds of events of a plan.
const KINDS: &str = "plan.*,task.updated,mail.sent";
/// Characters of a text shown on a line.
const LINE: usize = 72;

/// Prints the events of a plan until it ends, and returns it as it is then.
pub(super) async fn to_the_end(
    app: &App,
    mut steady: Steady<'_>,
    mut plan: Answer<PlanView>,
) -> Result<Answer<PlanView>, CliError> {
    let mut printed = Printed::of(&plan);
    let mut news = printed.beginning(&plan);
    let mut log = EventLog::after(plan.last, KINDS);
    loop {
        if !app.render.is_json() && !news.is_empty() {
            print_text(&news)?;
        }
        if plan.row.state != PlanState::Running {
            return Ok(plan);
        }
        let events = log.next(&mut steady, Wait::ForNews).await?;
        plan = steady.fetch(&path_of(&plan.row.name)).await?;
        news = printed.news(&plan, &events);
    }
}

/// Waits until a plan is over, and returns it as it is then.
pub(super) async fn until_over(
    steady: &mut Steady<'_>,
    mut plan: Answer<PlanView>,
) -> Result<Answer<PlanView>, CliError> {
    let mut log = EventLog::after(plan.last, KINDS);
    while plan.row.state == PlanState::Running {
        log.next(steady, Wait::ForNews).await?;
        plan = steady.fetch(&path_of(&plan.row.name)).await?;
    }
    Ok(plan)
}

/// Facts that were printed already.
#[derive(Debug, Default)]
struct Printed {
    /// Numbers of the closed steps
    closed: HashSet<u32>,
    /// Questions to the human
    questions: HashSet<MailId>,
}

impl Printed {
    /// Facts that were settled from the start.
    fn of(plan: &PlanView) -> Self {
        let closed = plan.steps.iter().filter(|step| step.state.is_closed());
        let closed = closed.map(|step| step.number).collect();
        Self { closed, ..Self::default() }
    }

    /// State of a plan when following begins.
    fn beginning(&mut self, plan: &PlanView) -> String {
        let mut page = Page::default();
        let facts = format!("{}, {} done", line(&plan.row.title), progress(&plan.row));
        page.line(format_args!("{}  {}", bold(line(&plan.row.name)), dim(facts)));
        let last = plan.coordinators.last();
        if let Some(last) = last.filter(|_| plan.row.state == PlanState::Running) {
            page.line(dim(format!("led by {} ({})", last.agent_id, line(&plan.role))));
        }
        for step in plan.steps.iter().filter(|step| step.state == TaskStateName::InProgress) {
            let title = short(&step.title, LINE - 20);
            page.line(format_args!("{}  step {} is at work: {title}", odd("→"), step.number));
        }
        for asked in plan.asked.iter().filter(|asked| asked.answered_at.is_some()) {
            self.questions.insert(asked.mail_id);
            let (who, subject) = (shown(&asked.agent_id), short(&asked.subject, LINE - 30));
            page.line(dim(format!("?  {who} asked you, and you answered: {subject}")));
        }
        for open in &plan.questions {
            self.question(&mut page, open);
        }
        page.into_text()
    }

    /// News about a plan.
    fn news(&mut self, plan: &PlanView, events: &[EventView]) -> String {
        let mut page = Page::default();
        // A payload of another version has nothing that could be printed.
        for event in events.iter().filter_map(|event| event.decode().ok()) {
            match event {
                EventData::TaskUpdated(change) => {
                    let step = plan.steps.iter().find(|step| step.task_slug == change.slug);
                    if let Some(step) = step {
                        self.step(&mut page, plan.row.total, step, &change);
                    }
                }
                EventData::PlanResumed(resumed) if resumed.plan == plan.row.name => {
                    let why = short(&resumed.reason, LINE - 30);
                    let former = resumed.former_agent_id;
                    page.line(format_args!("{}  {former} ended: {why}", odd("!")));
                    let (id, role) = (resumed.agent_id, line(&plan.role));
                    page.line(dim(format!("led by {id} ({role}) now")));
                }
                // Also one that was answered since: a follower sees every question.
                EventData::MailSent(sent) => {
                    let asked = plan.asked.iter().find(|asked| asked.mail_id == sent.mail_id);
                    if let Some(asked) = asked {
                        self.question(&mut page, asked);
                    }
                }
                _ => {}
            }
        }
        page.into_text()
    }

    /// A question to the human, once.
    fn question(&mut self, page: &mut Page, asked: &PlanQuestion) {
        if self.questions.insert(asked.mail_id) {
            page.line(format_args!("{}  {} asks you", odd("?"), shown(&asked.agent_id)));
            page.text(&question(asked));
        }
    }

    /// A step that began, ended, or is free again.
    fn step(&mut self, page: &mut Page, total: u32, step: &PlanStepView, change: &TaskChange) {
        let (number, title) = (step.number, short(&step.title, LINE - 30));
        if change.from == change.to {
            return;
        }
        let (mark, how) = match change.to {
            TaskStateName::InProgress => (odd("→"), "begins"),
            TaskStateName::Completed => (good("✓"), "is done"),
            TaskStateName::Failed => (bad("✗"), "failed"),
            TaskStateName::Cancelled => (dim("-"), "is dropped"),
            TaskStateName::Blocked => (bad("!"), "is blocked"),
            TaskStateName::Pending => (odd("←"), "is open again"),
            TaskStateName::Assigned | TaskStateName::Review => return,
        };
        let mut facts = Vec::new();
        if change.to.is_closed() {
            self.closed.insert(number);
            facts.push(format!("{} of {total}", self.closed.len()));
        } else {
            self.closed.remove(&number);
        }
        if change.to == TaskStateName::InProgress {
            facts.extend(change.assigned_agent_id.map(|id| id.to_string()));
        }
        let facts =
            if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        page.line(format_args!("{mark}  step {number} {how}: {title}{}", dim(facts)));
        let message = change.reason.as_deref().or(step.result.as_deref());
        if let Some(message) = message.filter(|_| change.to.is_closed()) {
            page.line(format_args!("   {}", dim(short(message, LINE))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{AgentId, Priority, TaskId, Timestamp};
    use wire::event::MailSent;
    use wire::plans::PlanRow;

    const NOW: Timestamp = Timestamp::from_millis(1_794_787_200_000);

    fn plan(questions: &[PlanQuestion], asked: &[PlanQuestion]) -> PlanView {
        let row = PlanRow {
            name: "door".to_owned(),
            title: "Door".to_owned(),
            path: "door.md".to_owned(),
            state: PlanState::Running,
            reason: None,
            closed: 0,
            total: 2,
            budget_usd: None,
            spent_usd: 0.0,
            created_at: NOW,
            ended_at: None,
        };
        let step = PlanStepView {
            number: 1,
            title: "Choose".to_owned(),
            task_slug: "choose".to_owned(),
            task: "TAS-1".to_owned(),
            state: TaskStateName::Pending,
            reason: None,
            depends_on: Vec::new(),
            role: None,
            budget_usd: None,
            agent: None,
            result: None,
            cost_usd: None,
        };
        PlanView {
            row,
            role: "lead".to_owned(),
            task_slug: "plan-door".to_owned(),
            coordinators: Vec::new(),
            steps: vec![step],
            questions: questions.to_vec(),
            asked: asked.to_vec(),
            summary: None,
            last: 0,
        }
    }

    fn letter(number: u64, answered_at: Option<Timestamp>) -> PlanQuestion {
        PlanQuestion {
            mail_id: MailId::from_bits(number),
            agent_id: Some(AgentId::from_bits(1)),
            subject: format!("Which, {number}?"),
            sent_at: NOW,
            answered_at,
        }
    }

    fn event(data: &EventData) -> EventView {
        EventView {
            number: 1,
            kind: data.kind(),
            at: NOW,
            agent_id: None,
            task_id: None,
            data: data.to_json(),
        }
    }

    fn sent(number: u64) -> EventView {
        event(&EventData::MailSent(MailSent {
            mail_id: MailId::from_bits(number),
            to_agent_id: None,
            is_for_human: true,
            subject: String::new(),
            forwarded_from_agent_id: None,
        }))
    }

    #[test]
    fn a_question_that_was_answered_before_anybody_looked_is_told_in_its_place() {
        let mut printed = Printed::default();
        printed.beginning(&plan(&[], &[]));
        let both = [letter(1, Some(NOW)), letter(2, None)];
        let now = plan(&[letter(2, None)], &both);
        let began = event(&EventData::TaskUpdated(TaskChange {
            task_id: TaskId::from_bits(1),
            slug: "choose".to_owned(),
            number: 1,
            from: TaskStateName::Pending,
            to: TaskStateName::InProgress,
            assigned_agent_id: None,
            reason: None,
            priority: Priority::default(),
        }));
        let news = printed.news(&now, &[sent(1), began, sent(2), sent(1), sent(9)]);
        let places = ["Which, 1?", "step 1 begins", "Which, 2?"].map(|message| {
            assert_eq!(news.matches(message).count(), 1, "{news}");
            news.find(message)
        });
        assert!(places.is_sorted(), "{news}");
    }

    #[test]
    fn a_follower_is_told_first_what_was_answered_before() {
        let both = [letter(1, Some(NOW)), letter(2, None)];
        let now = plan(&[letter(2, None)], &both);
        let mut printed = Printed::default();
        let shown = printed.beginning(&now);
        assert!(shown.contains("and you answered: Which, 1?"), "{shown}");
        assert!(shown.contains("adjutant mail reply mail_0000000000000002"), "{shown}");
        assert_eq!(printed.news(&now, &[sent(1), sent(2)]), "", "each is told once");
    }
}
