//! The frame around every page: how much there is of everything, and who needs a person.

use std::collections::BTreeMap;

use model::Timestamp;
use model::agent::AgentStateName;
use store::Recipient;
use wire::overview::{
    AgentCounts, AgentPlaces, LimitedModel, MailCounts, NeedKind, Overview, ReviewCounts,
    SpentToday,
};

use super::needs::needs;
use super::row::Look;
use crate::core::error::ToolError;
use crate::crew::run::RunOptions;
use crate::views::service::Views;

/// Requests listed; the rest is counted.
const MAX_LISTED: usize = 50;

/// Facts about the server.
#[derive(Debug, Clone)]
pub struct About {
    /// Version
    pub version: String,
    /// The home, as people write it
    pub home: String,
    /// Since when it runs
    pub started_at: Timestamp,
    /// True for a read-only session
    pub read_only: bool,
}

impl Views {
    /// The frame around every page. A day begins where the caller says, else at midnight in UTC.
    pub async fn overview(
        &self,
        about: About,
        day: Option<Timestamp>,
    ) -> Result<Overview, ToolError> {
        let engine = self.clone();
        self.store.scan(move |tx| read(&Look::new(&engine, tx, None)?, about, day)).await
    }
}

fn read(look: &Look<'_>, about: About, day: Option<Timestamp>) -> Result<Overview, ToolError> {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let (tx, now) = (look.tx, look.now);
    let midnight = Timestamp::from_millis(now.as_millis().div_euclid(DAY_MS) * DAY_MS);
    let (spent, tokens) = tx.spend_total(day.unwrap_or(midnight))?;
    let mut needs_you = needs(look)?;
    let of =
        |kinds: &[NeedKind]| needs_you.iter().filter(|need| kinds.contains(&need.kind)).count();
    let needs_answer = of(&[NeedKind::Question, NeedKind::Permission]);
    let for_you = of(&[NeedKind::Review, NeedKind::ReviewLimit, NeedKind::Merge]);
    let needs_you_count = needs_you.len();
    needs_you.truncate(MAX_LISTED);
    let project = look.engine.project().file_name();
    Ok(Overview {
        version: about.version,
        project: project.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        home: about.home,
        now,
        started_at: about.started_at,
        last_event: tx.event_newest()?,
        read_only: about.read_only,
        running: places(look),
        agents: counts(look)?,
        open_tasks: tx.tasks_open_count()?,
        mail: MailCounts { unread: tx.mail_unread_count(Recipient::Human)?, needs_answer },
        reviews: ReviewCounts { for_you, open: tx.reviews_open_count()? },
        today: SpentToday { usd: spent.dollars(), limit_usd: None, tokens },
        limited: limited(look)?,
        needs_you,
        needs_you_count,
    })
}

/// Places in use, counted as the scheduler does.
fn places(look: &Look<'_>) -> AgentPlaces {
    let at_work = [AgentStateName::Starting, AgentStateName::Running];
    let used = look.live.agents().iter().filter(|agent| {
        agent.ours && at_work.contains(&agent.state) && !look.engine.waits.is_waiting(agent.id)
    });
    AgentPlaces {
        used: u64::try_from(used.count()).unwrap_or(u64::MAX),
        max: look.settings.limits.running,
        queued: look.live.count(&[AgentStateName::Queued]),
    }
}

fn counts(look: &Look<'_>) -> Result<AgentCounts, ToolError> {
    use AgentStateName::{Limited, Queued, Running, Starting, WaitingInput, WaitingReview};
    let live = &look.live;
    let all = u64::try_from(look.tx.agents_count()?).unwrap_or_default();
    let (running, queued) = (live.count(&[Starting, Running]), live.count(&[Queued]));
    let waiting = live.count(&[WaitingReview, WaitingInput, Limited]);
    let ended = all.saturating_sub(running + waiting + queued);
    Ok(AgentCounts { all, running, waiting, queued, ended })
}

/// The models that do not answer, each until the last of its agents may go on.
fn limited(look: &Look<'_>) -> Result<Vec<LimitedModel>, ToolError> {
    let mut found: BTreeMap<String, Timestamp> = BTreeMap::new();
    for (id, until) in look.tx.agents_limited()? {
        let glance = look.tx.agent_details(id)?;
        let model = glance
            .and_then(|it| it.model.or_else(|| RunOptions::shown(it.options.as_deref()?).model));
        let who = match model {
            Some(model) => model,
            None => look.tx.agent_get(id)?.map(|agent| agent.kind).unwrap_or_default(),
        };
        let last = found.entry(who).or_insert(until);
        *last = until.max(*last);
    }
    Ok(found.into_iter().map(|(who, until)| LimitedModel { who, until }).collect())
}
