//! What programs are shown beside the answers of tools, page by page, with its schemas.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::agree::Disagreement;
use crate::merging::{MergeView, ReviewQueue};
use crate::review::view::{CoderView, ReviewView, StoryView};
use crate::tool::schema;
use crate::worktrees::{PrunedView, WorktreeView};

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
        ("Reviews", schema::<ReviewsView>()),
        ("ReviewStory", schema::<StoryView>()),
        ("Worktrees", schema::<WorktreesView>()),
        ("PrunedWorktree", schema::<PrunedView>()),
        ("Agreement", schema::<AgreementView>()),
        ("Merge", schema::<MergeView>()),
        ("Merges", schema::<MergesView>()),
        ("ReviewQueue", schema::<ReviewQueue>()),
    ]
}
