//! The product: the tools, the one entry point for calls, and the services that react.
//!
//! See ARCHITECTURE.md, “engine”.

mod automation;
mod call;
mod core;
mod crew;
mod delivery;
mod engine;
mod mail;
mod notify;
mod tasks;
mod tools;
mod upkeep;
pub mod views;

/// Prepared prompts: their names, their arguments, and the tools that they are.
pub mod templates {
    pub use crate::crew::templates::{
        BESIDES, PROMPTS, Piece, argument_problem, input_schema, is_tool, pieces, render,
    };
    pub use crate::tools::templates::{
        TOOLSET, name_problem, template_tool, template_tools, tools_of,
    };
}

pub use automation::loops::{
    LOOP_TEMPLATE, LoopChange, LoopStart, Loops, PauseWhen, Unknown, unknown,
};
pub use automation::plans::{Again, PlanStart};
pub use automation::service::Automation;
pub use call::cx::Caller;
pub use call::door::{Call, Failure, Progress, read_only};
pub use call::identity::{Admission, Principal, Tab, hash_token};
pub use call::input::parse as parse_input;
pub use call::service::Calls;
pub use call::tool::{Described, Effect, Output, ToolDef, bare_of, joined_of};
pub use call::web_access::{LoggedIn, MadeLink, Opened};
pub use call::{proof, toolsets};
pub use core::error::{Code, ToolError};
pub use core::follow::{EventReaction, NextRun};
pub use core::handle::Core;
pub use core::home_address::{HomeAddress, HomeAddressError};
pub use core::home_admin::{
    HomeAdmin, HomeAdminError, HomeDraft, HomeFollower, HomeRow, HomeStandbys, HomeVerdict,
    member_commit, member_database,
};
pub use core::home_files::{HomeFiles, check_home_files};
pub use core::home_hosts::{HomeHosts, HostTurn};
pub use core::home_member::{
    FollowClock, HomeMember, MemberOptions, Membership, OwnedRecord, snapshot_owned,
};
pub use core::machine::OperatorAct;
pub use core::options::{GithubSecrets, Options, SlackSecrets};
pub use core::point::Point;
#[cfg(debug_assertions)]
pub use core::record_file::rehearse_migrations;
pub use core::record_file::{
    ChainVerdict, Record, RecordError, SCHEMA_VERSION, check_database, schema_version,
    verify_exported,
};
pub use core::scope::ListScope;
pub use core::settings;
pub use core::shared_home::{CommitDurations, Ownership, SharedHome};
pub use core::topics::Waits;
pub use crew::enlist::{Enlisted, Recruit};
pub use crew::probe::ProbeDepth;
pub use crew::run::{CrewService, Draft, OnCap, OutputRequest, RunOptions};
pub use crew::service::Crew;
pub use delivery::github::GithubHookEffect;
pub use delivery::jobs::OutboxRunner;
pub use delivery::merge_queue::{ReviewScope, ServerVariables};
pub use delivery::reviews::view::ReviewSelection;
pub use delivery::service::Delivery;
pub use engine::{Engine, ServiceOptions};
pub use mail::panics::watch_service;
pub use notify::mirror::{Mirror, MirrorError};
pub use notify::service::Notifications;
pub use notify::slack::SlackService;
pub use notify::webhooks::{DeliveryQuery, Resume, WebhookService};
pub use tools::resources::{RESOURCE_TEMPLATES, ResourceInfo, resources_touched};
pub use tools::templates::{template_tools, tools_of};
pub use tools::{ALIASES, TOOLS, by_name};
pub use upkeep::clean::{CleanRequest, Cleaner};
pub use upkeep::service::Upkeep;
pub use views::agents::LiveAgents;
pub use views::agents::find::RunAgent;
pub use views::board::{BoardRequest, BoardSlice};
pub use views::crew::{About, CrewRequest, CrewStates, PastAgents};
pub use views::events::{EventBounds, EventRange, EventSelection, MatchingEvents};
pub use views::period::Period;
pub use views::record::VerifyFrom;
pub use views::service::Views;
pub use views::watch::{Beginning, StreamRequest};
