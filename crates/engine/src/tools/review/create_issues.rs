//! `mcp__review__create_issues`

use model::review::OutboxJobKind;
use model::{Line, OutboxJobId, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::reviews::{ActionStatus, CreatedIssue, CreatedIssues};

use crate::call::cx::{ReadCx, WriteCx};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::delivery::jobs::issues::{BODY, Created, LABEL, LABELS, LANE, MAX_ISSUES, TITLE};
use crate::delivery::outbox::params::{IssueDraft, IssuesJob};
use crate::delivery::outbox::{self, NewJob};
use crate::tools::items::Items;

/// Longest wait until all of them are open, in seconds.
const WAIT: u32 = 240;

/// Open issues on GitHub, from a list or from a plan
///
/// A plan is a Markdown document: each section under `## ` is an issue, or, if there is a heading
/// `## Issues`, each section under `### ` below it. The heading is the title, a line `Labels: a, b`
/// sets labels, the rest is the body. Sections marked as done (`[x]`, `✅`, `(done)`) are skipped.
/// Another call with the same issues opens none twice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The issues
    issues: Option<Items<Item, 1, MAX_ISSUES>>,
    /// A plan instead: its path in your worktree or in the project
    document: Option<Line<1_000>>,
}

/// An issue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Item {
    /// Title
    title: Line<TITLE>,
    /// Body in Markdown
    body: Option<Text<BODY>>,
    /// Labels; missing ones are created
    labels: Option<Items<Line<LABEL>, 0, LABELS>>,
}

/// Handle of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    #[serde(rename = "errand")]
    job: OutboxJobId,
}

/// Answer of the outbox job.
#[derive(Debug, Deserialize)]
struct Done {
    issues: Vec<Created>,
}

pub(crate) struct CreateIssues;

impl Tool for CreateIssues {
    const NAME: &'static str = "mcp__review__create_issues";
    const BOUNDED: bool = true;
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = CreatedIssues;
}

impl Ask for CreateIssues {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        if args.issues.is_some() == args.document.is_some() {
            return Err(ToolError::invalid("pass either `issues` or `document`")
                .hint("`document` is the path of a plan in Markdown, each section an issue"));
        }
        let clean = |text: &str| crate::core::redact::redact(text.to_owned());
        let params = |item: &Item| IssueDraft {
            title: clean(&item.title),
            body: item.body.as_deref().map(clean).unwrap_or_default(),
            labels: item
                .labels
                .iter()
                .flat_map(Items::as_slice)
                .map(|label| label.trim().to_owned())
                .collect(),
        };
        let issues = args.issues.iter().flat_map(Items::as_slice).map(params).collect();
        let document = args.document.as_ref().map(ToString::to_string);
        let caller = cx.caller.id();
        let sending = NewJob {
            kind: OutboxJobKind::Issues,
            lane: LANE.to_owned(),
            agent: caller,
            caller,
            params: &IssuesJob { caller, issues, document },
        };
        Ok(Ticket { job: outbox::send(cx.tx, sending, cx.now)? })
    }

    fn wait_seconds(_: &Args) -> u32 {
        WAIT
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        vec![Topic::OutboxJob(ticket.job)]
    }

    fn look(cx: &ReadCx<'_>, _: &Args, ticket: &Ticket) -> Result<Look<CreatedIssues>, ToolError> {
        let done: Option<Done> = outbox::outcome(cx.tx, ticket.job)?;
        let shown = |Created { number, url, title }| CreatedIssue { number, url, title };
        Ok(match done {
            None => {
                Look::NotYet(CreatedIssues { issues: Vec::new(), status: ActionStatus::Pending })
            }
            Some(done) => {
                let issues = done.issues.into_iter().map(shown).collect();
                Look::Settled(CreatedIssues { issues, status: ActionStatus::Done })
            }
        })
    }
}
