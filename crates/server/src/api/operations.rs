//! The operations of the HTTP API, by subject.

use wire::error::ErrorBody;
use wire::operation::Operation;

/// Every operation.
pub(crate) fn operations() -> Vec<Operation> {
    let subjects = [
        agents, tasks, mail, reviews, plans, loops, record, page, settings, slack, webhooks, tools,
        server,
    ];
    subjects.into_iter().flat_map(|subject| subject()).collect()
}

fn agents() -> Vec<Operation> {
    vec![
        Operation::get("agents", "/api/agents", "List agents").query::<super::paging::ListQuery>().answers::<wire::agent_details::AgentList>(),
        Operation::post("agents", "/api/agents", "Enlist an agent that somebody else runs").body::<wire::enlist::EnlistRequest>().creates::<wire::enlist::EnlistedAgent>(),
        Operation::get("agents", "/api/agents/{id}", "Show one agent").part("id", "The agent: its id, four or more digits of its beginning or its end, or `last`").answers::<wire::agent_details::AgentDetails>(),
        Operation::get("agents", "/api/agents/{id}/diff", "Show what an agent changed").about("Its branch against the branch it is meant for, and while its worktree is there also what is not committed. Of one without a worktree of its own there is nothing to show, and `why` says so.").part("id", "The agent, as for `/api/agents/{id}`").answers::<wire::agents::AgentDiff>(),
        Operation::post("agents", "/api/agents/{id}/discharge", "Discharge an agent and void its token").part("id", "The agent, or `last` for the newest enlisted agent").body::<wire::enlist::DischargeRequest>().answers::<wire::enlist::DischargedAgent>(),
        Operation::post("agents", "/api/agents/{id}/input", "Type a line to a running agent").part("id", "The agent").body::<wire::runs::InputRequest>().answers::<wire::runs::InputOutcome>(),
        Operation::get("agents", "/api/agents/{id}/output", "Read an agent's output, and wait for more").part("id", "The agent").query::<super::runs::OutputQuery>().answers::<wire::runs::AgentOutput>(),
        Operation::get("agents", "/api/agents/{id}/story", "Tell an agent's story").about("Who stands above it, how it stood from when to when, what happened to it, what it spent and what it was given.").part("id", "The agent, as for `/api/agents/{id}`").answers::<wire::agents::AgentStory>(),
        Operation::get("agents", "/api/agents/{id}/stream", "Read what an agent says and does, step by step, and wait for more").about("Its lines are understood by the kind of the agent. What came of a call is a later step with the same id.").part("id", "The agent, as for `/api/agents/{id}`").query::<super::agents::stream::StreamQuery>().answers::<wire::agents::AgentStream>(),
        Operation::get("agents", "/api/crew", "List a level of the crew's tree, or a part of the crew").query::<super::crew::CrewQuery>().answers::<wire::crew::Crew>(),
        Operation::get("agents", "/api/crew/rows", "Show some agents of the crew again").query::<super::crew::CrewRowsQuery>().answers::<wire::crew::CrewRows>(),
        Operation::get("agents", "/api/roles", "List the roles that agents can be started in").answers::<wire::crew::Roles>(),
        Operation::post("agents", "/api/runs", "Start an agent").about("Answers as soon as the agent is recorded. It runs when a place is free.").body::<wire::runs::RunRequest>().creates::<wire::runs::StartedRun>(),
    ]
}

fn tasks() -> Vec<Operation> {
    vec![
        Operation::get("tasks", "/api/board", "Show the board: how many tasks each column has, and the first of them").query::<super::tasks::BoardQuery>().answers::<wire::tasks::Board>(),
        Operation::get("tasks", "/api/epics", "List epics with how far they are, oldest first").query::<super::paging::ListQuery>().answers::<wire::epics::Epics>(),
        Operation::get("tasks", "/api/epics/{id}", "Show one epic with how far it is").part("id", "The epic").answers::<wire::epics::EpicRow>(),
        Operation::get("tasks", "/api/tasks", "List tasks, the newest first; of a column of what is not done, by priority first").query::<super::tasks::TasksQuery>().answers::<wire::tasks::Tasks>(),
        Operation::get("tasks", "/api/tasks/graph", "Show what waits for what: up to 500 tasks, the open ones first, and what stands beside them").query::<super::tasks::TaskGraphQuery>().answers::<wire::tasks::TaskGraph>(),
        Operation::get("tasks", "/api/tasks/{ref}", "Show one task: its text, what stands beside it, who worked on it, what happened, and what the next agent is told").part("ref", "The task: its id, number or slug").answers::<wire::tasks::TaskDetails>(),
        Operation::get("tasks", "/api/tasks/{ref}/history", "List what happened to a task, the newest first").part("ref", "The task: its id, number or slug").query::<super::tasks::TaskHistoryQuery>().answers::<wire::tasks::TaskHistory>(),
    ]
}

fn mail() -> Vec<Operation> {
    vec![
        Operation::get("mail", "/api/mail", "List letters, newest first")
            .query::<super::mail::MailQuery>()
            .answers::<wire::mail::Letters>(),
        Operation::get(
            "mail",
            "/api/mail/threads/{id}",
            "Show the thread that a letter belongs to, oldest first",
        )
        .part("id", "Any letter of it")
        .answers::<wire::mail::Thread>(),
    ]
}

fn reviews() -> Vec<Operation> {
    vec![
        Operation::get("reviews", "/api/merge-queue", "List approved work").query::<super::merge_queue::MergesQuery>().answers::<wire::merges::Merges>(),
        Operation::get("reviews", "/api/merge-queue/{id}", "Show one piece of approved work").part("id", "The merge").answers::<wire::merges::WatchedMerge>(),
        Operation::post("reviews", "/api/merge-queue/{id}/retry", "Try to merge again what is held").part("id", "The merge").answers::<wire::merges::WatchedMerge>(),
        Operation::get("reviews", "/api/reviews", "List reviews, and on the first page the agents that have had all theirs").query::<super::paging::ListQuery>().answers::<wire::reviews::Reviews>(),
        Operation::get("reviews", "/api/reviews/{id}", "Show all reviews of an agent's work").part("id", "The agent that did the work or that looks at it, as for `/api/agents/{id}`; or a task by id, number or slug").answers::<wire::reviews::ReviewStory>(),
        Operation::post("reviews", "/api/reviews/{id}/abandon", "Give an agent's work up; what it did is kept on branches").part("id", "The agent, as for `/api/agents/{id}`").body::<wire::reviews::AbandonRequest>().answers::<wire::reviews::AbandonedWork>(),
        Operation::post("reviews", "/api/reviews/{id}/allow-more", "Allow an agent more reviews than usual").part("id", "The agent, as for `/api/agents/{id}`").body::<wire::reviews::AllowReviewsRequest>().answers::<wire::reviews::AllowedReviews>(),
        Operation::get("reviews", "/api/tasks/review-queue", "List the tasks that wait for approval, with what git says of their branches").query::<super::merge_queue::ReviewQueueQuery>().answers::<wire::merges::ReviewDesk>(),
        Operation::get("reviews", "/api/worktrees", "List worktrees").query::<super::paging::ListQuery>().answers::<wire::worktrees::Worktrees>(),
        Operation::get("reviews", "/api/worktrees/check", "Compare git and the record").answers::<wire::worktrees::Agreement>(),
        Operation::post("reviews", "/api/worktrees/settle", "Accept that commits on record which no branch reaches are gone").answers::<wire::worktrees::SettledCommits>(),
        Operation::post("reviews", "/api/worktrees/{id}/prune", "Take the worktree of an agent that has ended away, and keep what is in it").part("id", "The agent, as for `/api/agents/{id}`").answers::<wire::worktrees::PrunedWorktree>(),
    ]
}

fn plans() -> Vec<Operation> {
    vec![
        Operation::get("plans", "/api/plans", "List the plans, newest first")
            .query::<super::paging::NewestQuery>()
            .answers::<wire::plans::Plans>(),
        Operation::post(
            "plans",
            "/api/plans",
            "Run a plan: its steps become tasks, and a coordinator is started",
        )
        .body::<wire::plans::PlanRequest>()
        .creates::<wire::plans::PlanView>(),
        Operation::get(
            "plans",
            "/api/plans/{name}",
            "Show a plan whole: its steps, who is at each, and what a person is asked",
        )
        .part("name", "The plan")
        .answers::<wire::plans::PlanView>(),
        Operation::post(
            "plans",
            "/api/plans/{name}/resume",
            "Go on with a plan that has ended and is not completed",
        )
        .part("name", "The plan")
        .body::<wire::plans::ResumePlanRequest>()
        .answers::<wire::plans::PlanView>(),
        Operation::post(
            "plans",
            "/api/plans/{name}/stop",
            "End a plan, with whoever runs it and all below; it is over when they are",
        )
        .part("name", "The plan")
        .answers::<wire::plans::PlanView>(),
    ]
}

fn loops() -> Vec<Operation> {
    vec![
        Operation::get("loops", "/api/loops", "List the loops, newest first")
            .query::<super::paging::NewestQuery>()
            .answers::<wire::loops::LoopList>(),
        Operation::post(
            "loops",
            "/api/loops",
            "Begin a loop, or give one that waits or is over more to do",
        )
        .body::<wire::loops::StartLoopRequest>()
        .creates::<wire::loops::LoopView>(),
        Operation::get(
            "loops",
            "/api/loops/{name}",
            "Show a loop with its iterations, notes and messages",
        )
        .part("name", "The loop")
        .answers::<wire::loops::LoopDetails>(),
        Operation::post(
            "loops",
            "/api/loops/{name}/pause",
            "Let a loop wait when its iteration is over, or at once",
        )
        .part("name", "The loop")
        .body::<wire::loops::PauseLoopRequest>()
        .answers::<wire::loops::LoopView>(),
        Operation::post("loops", "/api/loops/{name}/resume", "Let a loop that waits go on")
            .part("name", "The loop")
            .answers::<wire::loops::LoopView>(),
        Operation::post("loops", "/api/loops/{name}/say", "Leave word for a loop's next agent")
            .part("name", "The loop")
            .body::<wire::loops::LoopMessageRequest>()
            .creates::<wire::loops::LoopMessageView>(),
        Operation::post(
            "loops",
            "/api/loops/{name}/stop",
            "End a loop, with the agent that works for it",
        )
        .part("name", "The loop")
        .answers::<wire::loops::LoopView>(),
    ]
}

fn record() -> Vec<Operation> {
    vec![
        Operation::get("record", "/api/audit", "List recorded calls").query::<wire::record::AuditQuery>().answers::<wire::audit::AuditCalls>(),
        Operation::get("record", "/api/audit/verify", "Follow the chain of calls").query::<super::audit::VerifyQuery>().answers::<wire::audit::ChainVerificationView>(),
        Operation::post("record", "/api/clean", "Remove what is over and old").about("Nothing goes that a live agent, an open task or review, an undelivered message or a live cursor needs. Rows of the audit chain move into archives, behind a checkpoint in the chain.").body::<wire::cleanup::CleanupRequest>().answers::<wire::cleanup::CleanReport>(),
        Operation::get("record", "/api/costs", "Add up what was spent").query::<super::costs::CostsQuery>().answers::<wire::costs::Costs>(),
        Operation::get("record", "/api/costs/lineage", "Show the budgets of a lineage").query::<super::costs_summary::LineageQuery>().answers::<wire::costs::Lineage>(),
        Operation::get("record", "/api/costs/series", "Show what was spent over time").query::<super::costs_series::CostSeriesQuery>().answers::<wire::costs::CostSeries>(),
        Operation::get("record", "/api/costs/summary", "Show what was spent in a few figures").query::<super::costs_summary::CostSummaryQuery>().answers::<wire::costs::CostSummary>(),
        Operation::get("record", "/api/decisions", "List the decision log").query::<super::decisions::DecisionsQuery>().answers::<wire::decisions::DecisionLog>(),
        Operation::get("record", "/api/events", "List events, wait for them, or follow them").about("With `Accept: text/event-stream` or `stream=sse` the answer goes on: each event is a message with its number as `id`, resumed with `after` or `Last-Event-ID`. The first is named `head` and says where the sequence stands: `{last, after, started}`. One named `seen` says how far it was looked where nothing was asked for; one named `failed` says why the stream ends. An `after` behind which events were removed is answered with 410, and `details.oldest` is the smallest `after` that is not.").query::<super::events::EventsQuery>().answers::<wire::event::EventPage>().streams(),
        Operation::get("record", "/api/record", "Search the record").query::<wire::record::AuditQuery>().answers::<wire::record::Records>(),
        Operation::get("record", "/api/record/histogram", "Count calls over time").query::<wire::record::HistogramQuery>().answers::<wire::record::CallHistogram>(),
        Operation::get("record", "/api/record/{number}", "Show a recorded call").part("number", "Its place in the chain").answers::<wire::record::RecordedCall>(),
        Operation::post("record", "/api/snapshot", "Write a copy of the record as it is now, for a backup").answers::<wire::cleanup::SnapshotFile>(),
        Operation::get("record", "/api/usage", "Show which tools agents used").query::<super::costs::UsageQuery>().answers::<wire::usage::ToolUsage>(),
        Operation::get("record", "/api/usage/tools", "Show how tools were used").query::<super::costs_tools::ToolFiguresQuery>().answers::<wire::usage::ToolFigures>(),
        Operation::get("record", "/api/ws", "Follow events over a WebSocket").about("The first message is `{\"type\":\"head\",\"last\":…,\"after\":…,\"started\":…}`. Then each event is a message `{\"type\":\"event\",\"number\":…,\"kind\":…,…}`; `{\"type\":\"seen\",\"last\":…}` says how far it was looked where nothing was asked for. A browser, which cannot send `Authorization`, offers the subprotocols `adjutant.events.v1` and `adjutant.token.<token>`. Nothing may be sent: whoever does is told so and the connection is closed. It closes with 1001 when the server ends, with 1008 when the token is no longer valid.").query::<super::events::EventStreamQuery>().ends("101", "Events, one message each").fails::<ErrorBody>("4XX", ""),
    ]
}

fn page() -> Vec<Operation> {
    vec![
        Operation::get("page", "/api/links", "List the links that can be used, or by which somebody is in").query::<super::login::LinksQuery>().answers::<wire::login::LinkList>(),
        Operation::post("page", "/api/links", "Make a link into the page").body::<wire::login::LinkRequest>().creates::<wire::login::CreatedLink>(),
        Operation::post("page", "/api/links/{id}/revoke", "Take a link back, and with it the tokens of the tabs that came by it").part("id", "The link, or `all`").answers::<wire::login::RevokedLinks>(),
        Operation::post("page", "/api/login", "Exchange a link's code for a token").about("The only route of `/api` that needs no token, beside GitHub's. A link of `adjutant open` works once, one for looking as often as wanted until it ends.").body::<wire::login::LoginRequest>().answers::<wire::login::TabSession>(),
        Operation::post("page", "/api/logout", "Void the token that a tab got").ends("204", "It is void").fails::<ErrorBody>("4XX", ""),
    ]
}

fn settings() -> Vec<Operation> {
    vec![
        Operation::get("settings", "/api/settings", "Show the settings").answers::<wire::settings::SettingsView>(),
        Operation::post("settings", "/api/settings/check", "Check a change of the settings").about("Nothing is written. The answer says what is wrong, with the line, and what would change in the file.").body::<wire::settings::SettingsChangeRequest>().answers::<wire::settings::CheckedChange>(),
        Operation::post("settings", "/api/settings/save", "Change the settings").about("The file is written whole or not at all, and everything is read again. A file that somebody else has changed meanwhile is left as it is.").body::<wire::settings::SaveSettingsRequest>().answers::<wire::settings::SavedSettings>().fails::<ErrorBody>("409", "Somebody else has changed the file meanwhile"),
    ]
}

fn slack() -> Vec<Operation> {
    vec![
        Operation::get("slack", "/api/slack", "Tell how it stands with Slack")
            .answers::<wire::slack::SlackStatus>(),
        Operation::post("slack", "/api/slack/retry", "Say again what Slack did not take")
            .answers::<wire::slack::RetriedSlackMessages>(),
        Operation::get(
            "slack",
            "/api/slack/threads",
            "List the threads in Slack that are tasks here, newest first",
        )
        .query::<super::paging::NewestQuery>()
        .answers::<wire::slack::SlackThreads>(),
    ]
}

fn webhooks() -> Vec<Operation> {
    vec![
        Operation::get("webhooks", "/api/webhooks", "List the webhooks, and how each does")
            .answers::<wire::webhooks::Webhooks>(),
        Operation::get(
            "webhooks",
            "/api/webhooks/{name}/deliveries",
            "List the messages to a webhook, newest first",
        )
        .about("Those that wait, those that were given up, and the last ones that were taken.")
        .part("name", "The webhook")
        .query::<super::webhooks::DeliveriesQuery>()
        .answers::<wire::webhooks::Deliveries>(),
        Operation::post(
            "webhooks",
            "/api/webhooks/{name}/deliveries/{id}/retry",
            "Send a message that was given up again, once",
        )
        .part("name", "The webhook")
        .part("id", "The message")
        .answers::<wire::webhooks::DeliveryView>(),
        Operation::post(
            "webhooks",
            "/api/webhooks/{name}/enable",
            "Go on with a webhook that is disabled",
        )
        .part("name", "The webhook")
        .body::<wire::webhooks::EnableWebhookRequest>()
        .answers::<wire::webhooks::WebhookView>(),
        Operation::post(
            "webhooks",
            "/api/webhooks/{name}/retry",
            "Send everything that was given up again, once",
        )
        .part("name", "The webhook")
        .answers::<wire::webhooks::RetriedDeliveries>(),
        Operation::post(
            "webhooks",
            "/api/webhooks/{name}/test",
            "Send a message of no meaning now, and tell what came back",
        )
        .part("name", "The webhook")
        .answers::<wire::webhooks::TestDelivery>(),
    ]
}

fn tools() -> Vec<Operation> {
    vec![
        Operation::get("tools", "/api/tools", "List the tools that you may use")
            .answers::<wire::tools::ToolList>(),
        Operation::post("tools", "/mcp/execute", "Call a tool")
            .about("The one door for programs that do not speak MCP.")
            .optional_header(
                "Idempotency-Key",
                "The same call with the same key is done once, and answered as often as it comes",
            )
            .body::<wire::tools::ExecuteRequest>()
            .fails::<wire::tools::ExecuteAnswer>("200", "")
            .fails::<wire::tools::ExecuteAnswer>("4XX", "")
            .fails::<wire::tools::ExecuteAnswer>("5XX", ""),
    ]
}

fn server() -> Vec<Operation> {
    vec![
        Operation::get("server", "/api/environment", "Show which programs and variables the server sees for agents, and whether they are logged in").query::<super::environment::EnvironmentQuery>().answers::<wire::environment::ServerEnvironment>(),
        Operation::post("server", "/api/github/webhook", "Hear what GitHub tells of a pull request").about("For a webhook of GitHub's with the content type `application/json`, a secret, and the event `pull_request`.").public().header("X-GitHub-Event", "What it is about").header("X-Hub-Signature-256", "The body's signature with the webhook's secret").foreign_body("As GitHub sends it").fails::<wire::server::GithubHookOutcome>("200", "It is about a pull request of ours").fails::<wire::server::GithubHookOutcome>("202", "It is about nothing of ours").fails::<ErrorBody>("401", "The signature does not fit").fails::<ErrorBody>("404", "The server has no secret for webhooks"),
        Operation::get("server", "/api/overview", "How much there is of everything, and what a person is needed for").query::<super::overview::OverviewQuery>().answers::<wire::overview::Overview>(),
        Operation::post("server", "/api/reload", "Read configuration and roles again").about("What the files change counts for new agents. The rights of agents that are there only shrink.").query::<super::running::ReloadQuery>().answers::<wire::server::ReloadReport>(),
        Operation::post("server", "/api/shutdown", "End the server").about("What waits is answered, then the server ends. Agents go on.").ends("202", "It ends"),
        Operation::get("server", "/api/status", "How the server does").answers::<wire::server::ServerStatus>(),
    ]
}
