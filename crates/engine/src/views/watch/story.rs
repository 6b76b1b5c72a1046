//! An agent's story: who stands above it, how it stood from when to when, what happened to it, what it was given
//! and what it spent.

use host::agent::{EntryKind, read_transcript};
use host::run::{Position, RunFolder};
use model::money::Usd;
use model::{AgentId, Timestamp};
use store::{Agent, Event, Merge, Run, Tx};
use wire::agents::{
    AgentCrumb, AgentPullRequest, AgentStory, ClaimView, SpentBy, StoryCounts, StoryMark,
};
use wire::event::EventData;

use super::boundary;
use crate::call::cx::{find_agent, task_of};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::machine::folder_of;
use crate::core::redact::redact;
use crate::views::crew::{CrewRequest, CrewStates, PastAgents};
use crate::views::service::Views;

/// Children listed.
const CHILDREN: u32 = 100;
/// Events listed.
const EVENTS: u32 = 1000;
/// Calls marked.
const CALLS: u32 = 2000;
/// Maximum size of the context shown.
const CONTEXT: usize = 256 * 1024;
/// As far as its output is looked through for its first words.
const BEGINNING: usize = 1024 * 1024;
/// Longer than any agent runs, in seconds.
const UNLIMITED_SECONDS: u32 = u32::MAX;

/// Recorded facts beside the rows.
#[derive(Debug)]
struct RecordedFacts {
    agent: Agent,
    crumbs: Vec<AgentCrumb>,
    marks: Vec<StoryMark>,
    calls: Vec<i64>,
    spend: Vec<SpentBy>,
    counts: (i64, i64),
    claim: Option<ClaimView>,
    branch: Option<String>,
    pull: Option<AgentPullRequest>,
}

impl Views {
    /// An agent's story.
    pub async fn agent_story(&self, id: AgentId) -> Result<AgentStory, ToolError> {
        let now = self.now();
        let known = self.store.scan(move |tx| RecordedFacts::of(tx, id, now)).await?;
        let mut rows = self.crew_rows(vec![id], Some(UNLIMITED_SECONDS)).await?.rows;
        let mut row = rows.pop().ok_or_else(|| {
            ToolError::internal(std::io::Error::other("an agent disappeared while it was read"))
        })?;
        let request = CrewRequest {
            parent: Some(id),
            states: CrewStates::Any,
            text: None,
            past: PastAgents::Include,
            after: 0,
            limit: CHILDREN,
            window: None,
        };
        let children = self.crew(request).await?.rows;
        let RecordedFacts { agent, crumbs, marks, calls, spend, counts, claim, branch, pull } =
            known;
        let context = self.outside(move |engine| Ok::<_, ToolError>(context(engine, &agent)));
        Ok(AgentStory {
            crumbs,
            segments: row.segments.take().unwrap_or_default(),
            marks,
            calls: merged_calls(calls, row.calls.take().unwrap_or_default()),
            spend,
            context: context.await?,
            children,
            counts: StoryCounts { calls: counts.0, mail: counts.1, children: row.children },
            claim,
            branch,
            pull,
            row,
        })
    }
}

impl RecordedFacts {
    fn of(tx: &Tx<'_>, id: AgentId, now: Timestamp) -> Result<Self, ToolError> {
        let agent = find_agent(tx, id)?;
        let run = tx.run_get(id)?;
        let task = task_of(tx, agent.task)?;
        let merge = agent.task.map(|task| tx.merge_of(task)).transpose()?.flatten();
        let merge = merge.filter(|merge| merge.agent == Some(id));
        let mut above = tx.agent_ancestors(&agent)?;
        above.reverse();
        let claim = task.and_then(|task| task.state.claim()).filter(|claim| claim.holder == id);
        let times = tx.agent_call_times(id, CALLS)?;
        Ok(Self {
            crumbs: above
                .into_iter()
                .map(|one| AgentCrumb { id: one.id, role: one.role })
                .collect(),
            marks: marks(tx, id, merge.as_ref())?,
            calls: times.into_iter().map(Timestamp::as_millis).collect(),
            spend: spent(tx, &agent, run.as_ref(), now)?,
            counts: (tx.agent_calls_count(id)?, tx.agent_mail_count(id)?),
            claim: claim.map(|claim| ClaimView { number: claim.number, lease_until: None }),
            branch: tx.worktree_of(id)?.map(|tree| tree.branch),
            pull: tx.pull_of(id)?.map(|pull| AgentPullRequest {
                url: pull.url,
                number: pull.pull,
                state: pull.state,
            }),
            agent,
        })
    }
}

/// Calls of our tools, and the agent's own as far as they are remembered.
fn merged_calls(mut ours: Vec<i64>, own: Vec<i64>) -> Vec<i64> {
    ours.extend(own);
    ours.sort_unstable();
    ours.dedup();
    ours
}

fn marks(tx: &Tx<'_>, id: AgentId, merge: Option<&Merge>) -> Result<Vec<StoryMark>, ToolError> {
    let life = tx.agent_life(id, EVENTS)?;
    let happened = life.iter().filter_map(|event| mark(id, event));
    let mut marks: Vec<StoryMark> = happened.collect();
    if let Some(merge) = merge {
        let mark = |at, text: &str| StoryMark {
            at,
            kind: "merge".to_owned(),
            text: text.to_owned(),
            href: Some(format!("/reviews/{id}")),
        };
        marks.push(mark(merge.created_at, "approved"));
        let message = match &merge.merged {
            Some(commit) => format!("merged as {}", commit.get(..7).unwrap_or(commit)),
            None => merge.reason.clone().unwrap_or_else(|| "sent back".to_owned()),
        };
        marks.extend(merge.ended_at.map(|at| mark(at, &message)));
    }
    marks.sort_by_key(|mark| mark.at);
    Ok(marks)
}

/// The mark that an event leaves on an agent's timeline, if any.
fn mark(id: AgentId, event: &Event) -> Option<StoryMark> {
    let review = Some(format!("/reviews/{id}"));
    let (kind, text, href) = match event.decode()? {
        EventData::AgentStarted(started) => match started.attempt {
            Some(attempt @ 2..) => ("start", format!("attempt {attempt}"), None),
            _ => ("start", "start".to_owned(), None),
        },
        EventData::ReviewRequested(asked) => {
            ("review", format!("review {}", asked.iteration), review)
        }
        EventData::ReviewFeedback(feedback) => {
            let words = feedback.kind.map(|kind| kind.name().replace('_', " "));
            ("feedback", words.unwrap_or_else(|| "feedback came".to_owned()), review)
        }
        EventData::AgentAsked(asked) => (
            "question",
            format!("requests {}", asked.tool),
            Some(format!("/mail/{}", asked.mail_id)),
        ),
        EventData::AgentWarned(warned) => ("warning", warned.warning, None),
        EventData::AgentStopping(stopping) => ("stop", stopping.reason, None),
        EventData::PullOpened(pull) => ("pull", format!("#{}", pull.number), Some(pull.url)),
        EventData::AgentFinished(finished) => {
            ("end", finished.state.stored().replace('_', " "), None)
        }
        _ => return None,
    };
    let text: String = text.chars().take(200).collect();
    Some(StoryMark { at: event.at, kind: kind.to_owned(), text: redact(text), href })
}

/// Cumulative spending by hour; the first point is zero.
fn spent(
    tx: &Tx<'_>,
    agent: &Agent,
    run: Option<&Run>,
    now: Timestamp,
) -> Result<Vec<SpentBy>, ToolError> {
    let hours = tx.agent_spend(agent.id)?;
    let began = run.and_then(|run| run.started_at).unwrap_or(agent.created_at);
    let end = agent.ended_at().unwrap_or(now);
    let mut points = Vec::new();
    if !hours.is_empty() {
        points.push(SpentBy { at: began, usd: 0.0 });
    }
    let mut sum = Usd::default();
    for (hour, money) in hours {
        sum += money;
        let at = hour.after_seconds(3600).min(end).max(began);
        points.push(SpentBy { at, usd: sum.dollars() });
    }
    Ok(points)
}

/// First prompt, from its run folder.
fn context(engine: &Core, agent: &Agent) -> Option<String> {
    if agent.kind == "enlisted" {
        return None;
    }
    let present = folder_of(engine, agent);
    let folders = (1..=agent.attempt)
        .map(|attempt| RunFolder::open(present.path().with_file_name(attempt.to_string())));
    let folder = folders.into_iter().find(|folder| folder.path().is_dir())?;
    let system = folder.given("system-prompt.md").ok().flatten();
    let prompt = folder.given("prompt.md").ok().flatten().or_else(|| first_words(&folder, agent));
    let parts: Vec<String> = system.into_iter().chain(prompt).collect();
    let mut whole = redact(parts.join("\n\n---\n\n"));
    if whole.len() > CONTEXT {
        whole.truncate(boundary(&whole, CONTEXT));
        whole.push_str("\n\n… (the rest is omitted)");
    }
    Some(whole).filter(|whole| !whole.trim().is_empty())
}

/// First prompt of an interactive agent.
fn first_words(folder: &RunFolder, agent: &Agent) -> Option<String> {
    let lines = folder.output(Position::default()).next(BEGINNING).ok()?;
    let mut all = lines.iter().flat_map(|line| read_transcript(&agent.kind, line));
    all.find(|message| message.kind == EntryKind::Told).map(|message| message.text)
}
