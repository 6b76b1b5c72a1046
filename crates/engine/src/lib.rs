//! What the product does: the tools, the one door through which they are called, and the reactions.
//!
//! See ARCHITECTURE.md, “engine”.

mod automation;
mod call;
mod core;
mod crew;
mod delivery;
mod mail;
mod notify;
mod tasks;
mod tools;
mod upkeep;
pub mod views;

pub use automation::loops::{
    LOOP_TEMPLATE, LoopChange, LoopStart, Loops, PauseWhen, Unknown, unknown,
};
pub use automation::plans::{Again, PlanWish};
pub use call::cx::Caller;
pub use call::door::{Call, Failure, Progress, read_only};
pub use call::identity::{Admission, Principal, Tab, hash_token};
pub use call::input::parse as parse_input;
pub use call::resources::{RESOURCE_TEMPLATES, ResourceInfo, resources_touched};
pub use call::tool::{Described, Effect, Output, ToolDef, bare_of, by_name, joined_of};
pub use call::web_access::{LinkView, LoggedIn, MadeLink, Opened};
pub use call::{proof, toolsets};
pub use core::engine::{Engine, GithubSecrets, Options};
pub use core::error::{Code, ToolError};
pub use core::panics::watch_service;
pub use core::redact::{redact, scrub};
pub use core::settings;
pub use core::topics::Waits;
pub use crew::enlist::{Enlisted, Recruit};
pub use crew::run::{Draft, Keeping, OnCap, OutputPage, OutputWish, Wish};
pub use crew::templates::{self, template_tools, tools_of};
pub use delivery::github::Hearing;
pub use delivery::merge_queue::ReviewScope;
pub use delivery::outbox::{Desk, Point};
pub use delivery::reviews::view::Whose;
pub use host::run::{OutputLine, Position, Stream};
pub use notify::mirror::{Mirror, MirrorError};
pub use notify::slack::view::{SlackFailureView, SlackThreadView, SlackThreadsView, SlackView};
pub use notify::slack::{SlackSecrets, Slackline};
pub use notify::webhooks::view::{DeliveryView, SentView, WebhookView};
pub use notify::webhooks::{Hooks, Resume, WhichDeliveries};
pub use store;
pub use store::SCHEMA_VERSION;
pub use tools::{ALIASES, TOOLS};
pub use upkeep::clean::{CleanPart, CleanReport, CleanRequest, CleanedPart, Cleaner};
pub use views::board::{BoardSlice, BoardWish};
pub use views::crew::{About, CrewWish, Past};
pub use views::watch::{Beginning, StreamWish};
