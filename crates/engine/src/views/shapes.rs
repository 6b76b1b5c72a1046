//! What programs are shown beside the answers of tools, page by page, with its schemas.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::automation::loops::view::{LoopView, LoopsView, MessageView, WholeLoop};
use crate::automation::plans::view::{PlanRow, PlanView};
use crate::call::tool::schema;
use crate::delivery::consistency::Disagreement;
use crate::delivery::merge_queue::MergeView;
pub use crate::delivery::merge_queue::{CheckingView, DeskView, WatchedMerge};
use crate::delivery::reviews::view::{CoderView, ReviewView, StoryView};
use crate::delivery::worktrees::{PrunedView, WorktreeView};
use crate::notify::slack::view::{SlackThreadsView, SlackView};
use crate::notify::webhooks::view::{DeliveryView, SentView, WebhookView};
use crate::views::board::{
    BoardView, EpicRow, EpicsView, GraphView, HistoryView, TasksView, WholeTask,
};
use crate::views::crew::{CrewRowsView, CrewView, OverviewView, RolesView};
pub use crate::views::mail::{
    LetterBox, LetterKind, LetterView, LetterWhole, LetterWish, LettersView, OfferView, PersonView,
    RequestView, SettledView, ThreadView, WaitingTask,
};
use crate::views::watch::{AgentDiffView, AgentStoryView, AgentStreamView};

/// A page of reviews.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewsView {
    /// The agents that have had all their reviews; only on the first page
    pub limited: Vec<CoderView>,
    /// The reviews, oldest first
    pub reviews: Vec<ReviewView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// A page of worktrees.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreesView {
    /// The worktrees, oldest first
    pub worktrees: Vec<WorktreeView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// A page of approved work.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MergesView {
    /// Each on its way into a branch, oldest first
    pub merges: Vec<MergeView>,
    /// Those that were over last, newest first; only where they were asked for
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<MergeView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

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

/// A page of plans.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlansView {
    /// The plans, newest first
    pub plans: Vec<PlanRow>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// Whether git and the record agree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgreementView {
    /// Whether they do
    pub ok: bool,
    /// In what they do not
    pub disagreements: Vec<Disagreement>,
}

/// The schemas of all this, by name.
pub fn schemas() -> Vec<(&'static str, Map<String, Value>)> {
    vec![
        ("Overview", schema::<OverviewView>()),
        ("Crew", schema::<CrewView>()),
        ("CrewRows", schema::<CrewRowsView>()),
        ("Roles", schema::<RolesView>()),
        ("Reviews", schema::<ReviewsView>()),
        ("ReviewStory", schema::<StoryView>()),
        ("Worktrees", schema::<WorktreesView>()),
        ("PrunedWorktree", schema::<PrunedView>()),
        ("Agreement", schema::<AgreementView>()),
        ("Merge", schema::<WatchedMerge>()),
        ("Merges", schema::<MergesView>()),
        ("ReviewQueue", schema::<DeskView>()),
        ("Webhook", schema::<WebhookView>()),
        ("Webhooks", schema::<WebhooksView>()),
        ("Delivery", schema::<DeliveryView>()),
        ("Deliveries", schema::<DeliveriesView>()),
        ("WebhookSent", schema::<SentView>()),
        ("Slack", schema::<SlackView>()),
        ("SlackThreads", schema::<SlackThreadsView>()),
        ("Loop", schema::<LoopView>()),
        ("Loops", schema::<LoopsView>()),
        ("WholeLoop", schema::<WholeLoop>()),
        ("LoopMessage", schema::<MessageView>()),
        ("Plan", schema::<PlanView>()),
        ("Plans", schema::<PlansView>()),
        ("AgentStream", schema::<AgentStreamView>()),
        ("AgentDiff", schema::<AgentDiffView>()),
        ("AgentStory", schema::<AgentStoryView>()),
        ("Board", schema::<BoardView>()),
        ("Tasks", schema::<TasksView>()),
        ("WholeTask", schema::<WholeTask>()),
        ("TaskHistory", schema::<HistoryView>()),
        ("TaskGraph", schema::<GraphView>()),
        ("Epic", schema::<EpicRow>()),
        ("Epics", schema::<EpicsView>()),
        ("Letters", schema::<LettersView>()),
        ("Thread", schema::<ThreadView>()),
    ]
}
