//! Answers of the API beside those of tools, with their schemas.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use wire::agents::{AgentDiff, AgentStory, AgentStream};
use wire::crew::{Crew, CrewRows, Roles};
use wire::epics::{EpicRow, Epics};
use wire::loops::{LoopDetails, LoopList, LoopMessageView, LoopView};
use wire::mail::{Letters, Thread};
use wire::merges::{Merges, ReviewDesk, WatchedMerge};
use wire::overview::Overview;
use wire::plans::{PlanView, Plans};
use wire::reviews::{ReviewStory, Reviews};
use wire::tasks::{Board, TaskDetails, TaskGraph, TaskHistory, Tasks};
use wire::worktrees::{Agreement, PrunedWorktree, Worktrees};

use crate::call::tool::schema;
use crate::notify::slack::view::{SlackThreadsView, SlackView};
use crate::notify::webhooks::view::{DeliveryView, SentView, WebhookView};
pub use crate::views::mail::LetterWish;

/// The webhooks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhooksView {
    /// Each of them, as the configuration lists them
    pub webhooks: Vec<WebhookView>,
}

/// A page of messages to a webhook.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveriesView {
    /// The messages, newest first
    pub deliveries: Vec<DeliveryView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// The schemas of all this, by name.
pub fn schemas() -> Vec<(&'static str, Map<String, Value>)> {
    vec![
        ("Overview", schema::<Overview>()),
        ("Crew", schema::<Crew>()),
        ("CrewRows", schema::<CrewRows>()),
        ("Roles", schema::<Roles>()),
        ("Reviews", schema::<Reviews>()),
        ("ReviewStory", schema::<ReviewStory>()),
        ("Worktrees", schema::<Worktrees>()),
        ("PrunedWorktree", schema::<PrunedWorktree>()),
        ("Agreement", schema::<Agreement>()),
        ("Merge", schema::<WatchedMerge>()),
        ("Merges", schema::<Merges>()),
        ("ReviewQueue", schema::<ReviewDesk>()),
        ("Webhook", schema::<WebhookView>()),
        ("Webhooks", schema::<WebhooksView>()),
        ("Delivery", schema::<DeliveryView>()),
        ("Deliveries", schema::<DeliveriesView>()),
        ("WebhookSent", schema::<SentView>()),
        ("Slack", schema::<SlackView>()),
        ("SlackThreads", schema::<SlackThreadsView>()),
        ("Loop", schema::<LoopView>()),
        ("Loops", schema::<LoopList>()),
        ("WholeLoop", schema::<LoopDetails>()),
        ("LoopMessage", schema::<LoopMessageView>()),
        ("Plan", schema::<PlanView>()),
        ("Plans", schema::<Plans>()),
        ("AgentStream", schema::<AgentStream>()),
        ("AgentDiff", schema::<AgentDiff>()),
        ("AgentStory", schema::<AgentStory>()),
        ("Board", schema::<Board>()),
        ("Tasks", schema::<Tasks>()),
        ("WholeTask", schema::<TaskDetails>()),
        ("TaskHistory", schema::<TaskHistory>()),
        ("TaskGraph", schema::<TaskGraph>()),
        ("Epic", schema::<EpicRow>()),
        ("Epics", schema::<Epics>()),
        ("Letters", schema::<Letters>()),
        ("Thread", schema::<Thread>()),
    ]
}
