//! What the product does: the tools, the one door through which they are called, and the reactions.
//!
//! See ARCHITECTURE.md, “engine”.

mod agree;
mod board;
mod clean;
mod context;
mod crew_view;
mod cx;
mod doings;
mod door;
mod durable;
mod engine;
mod enlist;
mod errand;
mod error;
mod escalate;
mod github;
mod heads;
mod identity;
mod input;
mod last_good;
mod letter;
mod looping;
mod mail_view;
mod merging;
mod mirror;
mod office;
mod panics;
mod pass;
mod planning;
mod projection;
pub mod proof;
mod rate;
mod redact;
mod resources;
mod result;
mod review;
mod run;
pub mod settings;
mod slack;
mod snapshot;
mod supervised;
pub mod templates;
mod tool;
mod tools;
pub mod toolsets;
mod topics;
pub mod views;
mod visible;
mod watch;
mod webhook;
mod work;
mod worktrees;

pub use agree::Disagreement;
pub use board::{BoardSlice, BoardView, BoardWish, ColumnView, EpicRow, EpicsView, GraphView};
pub use board::{HistoryView, TaskRow, TasksView, WholeTask};
pub use clean::{CleanPart, CleanReport, CleanRequest, CleanedPart, Cleaner};
pub use crew_view::{
    About, CrewRow, CrewRowsView, CrewView, CrewWish, OverviewView, Past, RolesView,
};
pub use cx::Caller;
pub use door::{Call, Failure, Progress, read_only};
pub use engine::{Engine, GithubSecrets, Options};
pub use enlist::{Enlisted, Recruit};
pub use errand::{Desk, Point};
pub use error::{Code, ToolError};
pub use github::Hearing;
pub use host::run::{OutputLine, Position, Stream};
pub use identity::{Admission, Principal, Tab, hash_token};
pub use input::parse as parse_input;
pub use looping::view::{LoopView, LoopsView, MessageView, WholeLoop};
pub use looping::{LOOP_TEMPLATE, LoopChange, LoopStart, Loops, PauseWhen, Unknown, unknown};
pub use merging::{ConflictView, LineRange, MergeView, ReviewScope};
pub use mirror::{Mirror, MirrorError};
pub use panics::watch_service;
pub use pass::{LinkView, LoggedIn, MadeLink, Opened};
pub use planning::view::{PlanRow, PlanView};
pub use planning::{Again, PlanWish};
pub use redact::{redact, scrub};
pub use resources::{RESOURCE_TEMPLATES, ResourceInfo, resources_touched};
pub use review::view::{CoderView, FeedbackView, PullView, ReviewView, StoryView, Whose};
pub use run::{Draft, Keeping, OnCap, OutputPage, OutputWish, Wish};
pub use slack::view::{SlackFailureView, SlackThreadView, SlackThreadsView, SlackView};
pub use slack::{SlackSecrets, Slackline};
pub use store;
pub use store::SCHEMA_VERSION;
pub use templates::{template_tools, tools_of};
pub use tool::{Described, Effect, Output, ToolDef, bare_of, by_name, joined_of};
pub use tools::{ALIASES, TOOLS};
pub use topics::Waits;
pub use watch::{
    AgentDiffView, AgentStoryView, AgentStreamView, Beginning, StreamItem, StreamWish,
};
pub use webhook::view::{DeliveryView, SentView, WebhookView};
pub use webhook::{Hooks, Resume, WhichDeliveries};
pub use worktrees::{GitView, PrunedView, WorktreeView};
