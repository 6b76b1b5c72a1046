//! The engine: makes the services of all rooms, hands the lower rooms the reactions of the upper ones, and starts
//! everything that runs beside the calls.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::automation::loops::Loops;
use crate::automation::service::Automation;
use crate::automation::{office, plans};
use crate::call::identity::Principal;
use crate::call::service::Calls;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::options::Options;
use crate::core::record_file::Record;
use crate::core::settings::{EndReaction, EndReactions, Settings};
use crate::crew::hooks::CrewHooks;
use crate::crew::run::{CrewService, Keepers};
use crate::crew::service::Crew;
use crate::delivery::jobs::OutboxRunner;
use crate::delivery::outbox::OutboxState;
use crate::delivery::service::Delivery;
use crate::delivery::{reviews, worktree_release, worktree_setup};
use crate::mail::{outgoing, panics};
use crate::notify::mirror::Mirror;
use crate::notify::service::Notifications;
use crate::notify::slack::SlackService;
use crate::notify::webhooks::WebhookService;
use crate::tasks::reservations;
use crate::tools::resources::{self, ResourceInfo};
use crate::tools::templates::tools_of;
use crate::upkeep::clean::Cleaner;
use crate::upkeep::service::Upkeep;
use crate::views::service::Views;

/// Reactions to an agent's end, in the transaction of that end.
const END_REACTIONS: &[EndReaction] = &[
    reservations::let_go,
    reviews::ended,
    office::ended,
    plans::ended,
    // After its successor is there, if it has one.
    |tx, _, agent, now| outgoing::forward_unread(tx, agent, now),
    worktree_release::settle_worktrees,
];

/// Hooks of the upper rooms in the crew.
static CREW_HOOKS: CrewHooks = CrewHooks {
    after_process: reviews::after_process,
    prepare_place: |core, agent, run| Box::pin(worktree_setup::prepare(core, agent, run)),
};

/// The engine. Cheap to clone; all clones are the same one. It dereferences to the service of the highest room, and
/// each service to the one below it.
#[derive(Debug, Clone)]
pub struct Engine(Upkeep);

/// Choices about the services that run beside the calls.
#[derive(Debug, Clone, Default)]
pub struct ServiceOptions {
    /// Folder of the mirror files; none where there is no mirror
    pub mirror: Option<PathBuf>,
}

impl Deref for Engine {
    type Target = Upkeep;

    fn deref(&self) -> &Upkeep {
        &self.0
    }
}

impl Engine {
    /// An engine over an open record.
    pub fn new(record: impl Into<Record>, mut settings: Settings, options: Options) -> Self {
        settings.end_reactions = EndReactions::new(END_REACTIONS);
        let (keepers, outbox) = (Arc::<Keepers>::default(), Arc::<OutboxState>::default());
        let core = Core::new(record.into().into_store(), settings, options);
        let calls = Calls::new(core, tools_of, vec![outbox.clone(), keepers.clone()]);
        let crew = Crew::new(calls, keepers, &CREW_HOOKS);
        let delivery = Delivery::new(crew, outbox);
        let notifications = Notifications::new(Automation::new(delivery));
        Self(Upkeep::new(Views::new(notifications)))
    }

    /// The handle that every room stands on.
    pub fn core(&self) -> Core {
        Core::clone(self)
    }

    /// The record, to check its files and to close it.
    pub fn record(&self) -> Record {
        self.store.clone().into()
    }

    /// Starts every service. They end when `stop` is cancelled; `tasks` then has nothing left of them. A service that
    /// panics is reported, and `end_server` called, which must end the process.
    pub fn start_services(
        &self,
        options: ServiceOptions,
        tasks: &TaskTracker,
        stop: &CancellationToken,
        end_server: fn(),
    ) {
        let (own, work, end) = (self, || tasks.clone(), || stop.clone());
        let start = Services { core: self.core(), tasks, end_server };
        start.one("the supervision of agents", CrewService::new(own, work(), end()).run());
        start.one("the outbox", OutboxRunner::new(own, work(), end()).run());
        start.one("webhooks", WebhookService::new(own, work(), end()).run());
        start.one("loops", Loops::new(own, work(), end()).run());
        start.one("Slack", SlackService::new(own, end()).run());
        start.one("the cleaner", Cleaner::new(own, end()).run());
        start.one("the retention of texts", Upkeep::clone(self).forget_texts(end()));
        if let Some(folder) = options.mirror {
            start.one("the mirror", Mirror::new(own, folder).run(end()));
        }
    }

    /// Lists readable resources: the two pages, live agents within reach, the newest tasks.
    pub fn resource_list(&self, principal: Principal) -> Result<Vec<ResourceInfo>, ToolError> {
        resources::resource_list(self, principal)
    }

    /// Reads a resource, as a call through the door.
    pub async fn resource_read(
        &self,
        principal: Principal,
        uri: &str,
    ) -> Result<String, ToolError> {
        resources::resource_read(self, principal, uri).await
    }

    /// Checks that the caller could read a resource, and so may hear that it has changed.
    pub fn resource_check(&self, principal: Principal, uri: &str) -> Result<(), ToolError> {
        resources::resource_check(self, principal, uri)
    }
}

/// Starts services, each watched.
struct Services<'a> {
    core: Core,
    tasks: &'a TaskTracker,
    end_server: fn(),
}

impl Services<'_> {
    fn one(&self, name: &'static str, service: impl Future<Output = ()> + Send + 'static) {
        let service = self.tasks.spawn(service);
        let watch = panics::watch_service(self.core.clone(), name, service, self.end_server);
        self.tasks.spawn(watch);
    }
}
