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
        Operation::post("agents", "/api/agents", "Enlist an agent that runs elsewhere").body::<wire::enlist::EnlistRequest>().creates::<wire::enlist::EnlistedAgent>(),
        Operation::get("agents", "/api/agents/{id}", "Show one agent").part("id", "The agent: its id, four or more digits of its beginning or its end, or `last`").answers::<wire::agent_details::AgentDetails>(),
        Operation::get("agents", "/api/agents/{id}/diff", "Show the changes of an agent").about("Compares its branch with the target branch and, while its worktree exists, includes uncommitted changes. An agent without a worktree has no diff; `why` gives the reason.").part("id", "The agent, as for `/api/agents/{id}`").answers::<wire::agents::AgentDiff>(),
        Operation::post("agents", "/api/agents/{id}/discharge", "Discharge an agent and void its token").part("id", "The agent, or `last` for the newest enlisted agent").body::<wire::enlist::DischargeRequest>().answers::<wire::enlist::DischargedAgent>(),
        Operation::post("agents", "/api/agents/{id}/input", "Type a line to a running agent").part("id", "The agent").body::<wire::runs::InputRequest>().answers::<wire::runs::InputOutcome>(),
        Operation::get("agents", "/api/agents/{id}/output", "Read the output of an agent, and wait for more").part("id", "The agent").query::<super::runs::OutputQuery>().answers::<wire::runs::AgentOutput>(),
        Operation::get("agents", "/api/agents/{id}/story", "Show the history of an agent").about("Its ancestors, the periods of its states, its events, its spending and its budget.").part("id", "The agent, as for `/api/agents/{id}`").answers::<wire::agents::AgentStory>(),
        Operation::get("agents", "/api/agents/{id}/stream", "Read the steps of an agent, and wait for more").about("The agent's kind interprets its lines. The result of a call is a later step with the same id.").part("id", "The agent, as for `/api/agents/{id}`").query::<super::agents::stream::StreamQuery>().answers::<wire::agents::AgentStream>(),
        Operation::get("agents", "/api/crew", "List a level of the crew's tree, or a filtered part of the crew").query::<super::crew::CrewQuery>().answers::<wire::crew::Crew>(),
        Operation::get("agents", "/api/crew/rows", "Show selected agents of the crew").query::<super::crew::CrewRowsQuery>().answers::<wire::crew::CrewRows>(),
        Operation::get("agents", "/api/roles", "List roles of agents").answers::<wire::crew::Roles>(),
        Operation::post("agents", "/api/runs", "Start an agent").about("Returns as soon as the agent is recorded. It runs when a slot is free.").body::<wire::runs::RunRequest>().creates::<wire::runs::StartedRun>(),
    ]
}

fn tasks() -> Vec<Operation> {
    vec![
        Operation::get("tasks", "/api/board", "Show the board: the number of tasks of each column, and its first tasks").query::<super::tasks::BoardQuery>().answers::<wire::tasks::Board>(),
        Operation::get("tasks", "/api/epics", "List epics with their progress, oldest first").query::<super::paging::ListQuery>().answers::<wire::epics::Epics>(),
        Operation::get("tasks", "/api/epics/{id}", "Show one epic with its progress").part("id", "The epic").answers::<wire::epics::EpicRow>(),
        Operation::get("tasks", "/api/tasks", "List tasks, newest first; open tasks of one column by priority").query::<super::tasks::TasksQuery>().answers::<wire::tasks::Tasks>(),
        Operation::get("tasks", "/api/tasks/graph", "Show dependencies of up to 500 tasks, open ones first").query::<super::tasks::TaskGraphQuery>().answers::<wire::tasks::TaskGraph>(),
        Operation::get("tasks", "/api/tasks/{ref}", "Show one task with its text, dependencies, agents, history and the context of its next agent").part("ref", "The task: its id, number or slug").answers::<wire::tasks::TaskDetails>(),
        Operation::get("tasks", "/api/tasks/{ref}/history", "List the history of a task, newest first").part("ref", "The task: its id, number or slug").query::<super::tasks::TaskHistoryQuery>().answers::<wire::tasks::TaskHistory>(),
    ]
}

fn mail() -> Vec<Operation> {
    vec![
        Operation::get("mail", "/api/mail", "List mail, newest first")
            .query::<super::mail::MailQuery>()
            .answers::<wire::mail::MailList>(),
        Operation::get("mail", "/api/mail/threads/{id}", "Show the thread of a mail, oldest first")
            .part("id", "Id of any mail in the thread")
            .answers::<wire::mail::Thread>(),
    ]
}

fn reviews() -> Vec<Operation> {
    vec![
        Operation::get("reviews", "/api/merge-queue", "List approved work").query::<super::merge_queue::MergesQuery>().answers::<wire::merges::Merges>(),
        Operation::get("reviews", "/api/merge-queue/{id}", "Show one piece of approved work").part("id", "The merge").answers::<wire::merges::WatchedMerge>(),
        Operation::post("reviews", "/api/merge-queue/{id}/retry", "Retry a held merge").part("id", "The merge").answers::<wire::merges::WatchedMerge>(),
        Operation::get("reviews", "/api/reviews", "List reviews, and on the first page the agents at their review limit").query::<super::paging::ListQuery>().answers::<wire::reviews::Reviews>(),
        Operation::get("reviews", "/api/reviews/{id}", "Show all reviews of an agent's work").part("id", "The author or the reviewer of the work, as for `/api/agents/{id}`; or a task by id, number or slug").answers::<wire::reviews::ReviewStory>(),
        Operation::post("reviews", "/api/reviews/{id}/abandon", "Abandon an agent's work; its changes stay on branches").part("id", "The agent, as for `/api/agents/{id}`").body::<wire::reviews::AbandonRequest>().answers::<wire::reviews::AbandonedWork>(),
        Operation::post("reviews", "/api/reviews/{id}/allow-more", "Allow an agent more reviews").part("id", "The agent, as for `/api/agents/{id}`").body::<wire::reviews::AllowReviewsRequest>().answers::<wire::reviews::AllowedReviews>(),
        Operation::get("reviews", "/api/tasks/review-queue", "List tasks that wait for approval, with the state of their branches").query::<super::merge_queue::ReviewQueueQuery>().answers::<wire::merges::ReviewDesk>(),
        Operation::post("reviews", "/api/tasks/{ref}/environment", "Hand environment variables on to the check of a task's work").about("The server keeps them in memory until the work is merged or sent back, and writes no value to disk.").part("ref", "The task: its id, number or slug").body::<wire::environment::CheckEnvironmentRequest>().answers::<wire::environment::CheckEnvironment>(),
        Operation::get("reviews", "/api/worktrees", "List worktrees").query::<super::paging::ListQuery>().answers::<wire::worktrees::Worktrees>(),
        Operation::get("reviews", "/api/worktrees/check", "Compare git and the record").answers::<wire::worktrees::Agreement>(),
        Operation::post("reviews", "/api/worktrees/settle", "Accept that recorded commits which no branch contains are gone").answers::<wire::worktrees::SettledCommits>(),
        Operation::post("reviews", "/api/worktrees/{id}/prune", "Remove the worktree of an ended agent, and keep its content on a branch").part("id", "The agent, as for `/api/agents/{id}`").answers::<wire::worktrees::PrunedWorktree>(),
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
            "Show a plan with its steps, their agents and open questions to people",
        )
        .part("name", "The plan")
        .answers::<wire::plans::PlanView>(),
        Operation::post(
            "plans",
            "/api/plans/{name}/resume",
            "Resume a plan that ended without completion",
        )
        .part("name", "The plan")
        .body::<wire::plans::ResumePlanRequest>()
        .answers::<wire::plans::PlanView>(),
        Operation::post(
            "plans",
            "/api/plans/{name}/stop",
            "Stop a plan with its coordinator and all agents below; it ends when they have ended",
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
            "Start a loop, or continue one that waits or has ended",
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
            "Pause a loop after its iteration, or at once",
        )
        .part("name", "The loop")
        .body::<wire::loops::PauseLoopRequest>()
        .answers::<wire::loops::LoopView>(),
        Operation::post("loops", "/api/loops/{name}/resume", "Resume a paused loop")
            .part("name", "The loop")
            .answers::<wire::loops::LoopView>(),
        Operation::post("loops", "/api/loops/{name}/say", "Send a message to a loop's next agent")
            .part("name", "The loop")
            .body::<wire::loops::LoopMessageRequest>()
            .creates::<wire::loops::LoopMessageView>(),
        Operation::post("loops", "/api/loops/{name}/stop", "Stop a loop and its agent")
            .part("name", "The loop")
            .answers::<wire::loops::LoopView>(),
    ]
}

fn record() -> Vec<Operation> {
    vec![
        Operation::get("record", "/api/audit", "List recorded calls").query::<wire::record::AuditQuery>().answers::<wire::audit::AuditCalls>(),
        Operation::get("record", "/api/audit/verify", "Verify the chain of calls").query::<super::audit::VerifyQuery>().answers::<wire::audit::ChainVerificationView>(),
        Operation::post("record", "/api/clean", "Remove old data").about("Keeps everything that a live agent, an open task or review, an undelivered message or a live cursor needs. Rows of the audit chain move into archives, behind a checkpoint in the chain.").body::<wire::cleanup::CleanupRequest>().answers::<wire::cleanup::CleanReport>(),
        Operation::get("record", "/api/costs", "Sum costs").query::<super::costs::CostsQuery>().answers::<wire::costs::Costs>(),
        Operation::get("record", "/api/costs/lineage", "Show the budgets of a lineage").query::<super::costs_summary::LineageQuery>().answers::<wire::costs::Lineage>(),
        Operation::get("record", "/api/costs/series", "Show costs over time").query::<super::costs_series::CostSeriesQuery>().answers::<wire::costs::CostSeries>(),
        Operation::get("record", "/api/costs/summary", "Show a summary of costs").query::<super::costs_summary::CostSummaryQuery>().answers::<wire::costs::CostSummary>(),
        Operation::get("record", "/api/decisions", "List the decision log").query::<super::decisions::DecisionsQuery>().answers::<wire::decisions::DecisionLog>(),
        Operation::get("record", "/api/events", "List events, wait for them, or follow them").about("With `Accept: text/event-stream` or `stream=sse` the answer is a stream: each event is a message with its number as `id`, resumed with `after` or `Last-Event-ID`. The first is named `head` and has the state of the sequence: `{last, after, started}`. A message `seen` has the position up to which no event matched; a message `failed` has the reason why the stream ends. An `after` whose following events were removed gets 410; `details.oldest` is the smallest valid `after`.").query::<super::events::EventsQuery>().answers::<wire::event::EventPage>().streams(),
        Operation::get("record", "/api/record", "Search the record").query::<wire::record::AuditQuery>().answers::<wire::record::Records>(),
        Operation::get("record", "/api/record/histogram", "Count calls over time").query::<wire::record::HistogramQuery>().answers::<wire::record::CallHistogram>(),
        Operation::get("record", "/api/record/{number}", "Show a recorded call").part("number", "Its number in the chain").answers::<wire::record::RecordedCall>(),
        Operation::post("record", "/api/snapshot", "Write a copy of the record as it is now, for a backup").answers::<wire::cleanup::SnapshotFile>(),
        Operation::get("record", "/api/usage", "Show the tools that agents used").query::<super::costs::UsageQuery>().answers::<wire::usage::ToolUsage>(),
        Operation::get("record", "/api/usage/tools", "Show figures of tool calls").query::<super::costs_tools::ToolFiguresQuery>().answers::<wire::usage::ToolFigures>(),
        Operation::get("record", "/api/ws", "Follow events over a WebSocket").about("The first message is `{\"type\":\"head\",\"last\":…,\"after\":…,\"started\":…}`. Then each event is a message `{\"type\":\"event\",\"number\":…,\"kind\":…,…}`; `{\"type\":\"seen\",\"last\":…}` says how far it was looked where nothing was asked for. A browser, which cannot send `Authorization`, offers the subprotocols `adjutant.events.v1` and `adjutant.token.<token>`. Clients may not send messages: one that does gets an error and the connection is closed. It closes with 1001 when the server ends, with 1008 when the token is no longer valid.").query::<super::events::EventStreamQuery>().ends("101", "Events, one message each").fails::<ErrorBody>("4XX", ""),
    ]
}

fn page() -> Vec<Operation> {
    vec![
        Operation::get("page", "/api/links", "List links that are valid or have open sessions").query::<super::login::LinksQuery>().answers::<wire::login::LinkList>(),
        Operation::post("page", "/api/links", "Create a link to the page").body::<wire::login::LinkRequest>().creates::<wire::login::CreatedLink>(),
        Operation::post("page", "/api/links/{id}/revoke", "Revoke a link and the tokens of the tabs that used it").part("id", "The link, or `all`").answers::<wire::login::RevokedLinks>(),
        Operation::post("page", "/api/login", "Exchange a link's code for a token").about("The only route of `/api` that needs no token, beside GitHub's. A link of `adjutant open` works once, a read-only link any number of times until it expires.").body::<wire::login::LoginRequest>().answers::<wire::login::TabSession>(),
        Operation::post("page", "/api/logout", "Revoke the token of a tab").ends("204", "It is void").fails::<ErrorBody>("4XX", ""),
    ]
}

fn settings() -> Vec<Operation> {
    vec![
        Operation::get("settings", "/api/home/files", "List the files of a home that several servers share").answers::<wire::settings::HomeFilesView>().fails::<ErrorBody>("409", "The home is on one machine, and its files are in its folder"),
        Operation::post("settings", "/api/home/files", "Replace the files of a home that several servers share").about("All of them at once. They are checked, written, and in force when the answer comes.").body::<wire::settings::HomeFilesView>().answers::<wire::settings::PushedFiles>().fails::<ErrorBody>("409", "The home is on one machine, and its files are in its folder"),
        Operation::get("settings", "/api/settings", "Show the settings").answers::<wire::settings::SettingsView>(),
        Operation::post("settings", "/api/settings/check", "Check a change of the settings").about("Writes nothing. The answer has the problems with their lines, and the changes to the file.").body::<wire::settings::SettingsChangeRequest>().answers::<wire::settings::CheckedChange>(),
        Operation::post("settings", "/api/settings/save", "Change the settings").about("Writes the file atomically and reads everything again. A file that was changed meanwhile is not written.").body::<wire::settings::SaveSettingsRequest>().answers::<wire::settings::SavedSettings>().fails::<ErrorBody>("409", "The file was changed meanwhile"),
    ]
}

fn slack() -> Vec<Operation> {
    vec![
        Operation::get("slack", "/api/slack", "Show the state of Slack")
            .answers::<wire::slack::SlackStatus>(),
        Operation::post("slack", "/api/slack/retry", "Retry failed Slack messages")
            .answers::<wire::slack::RetriedSlackMessages>(),
        Operation::get(
            "slack",
            "/api/slack/threads",
            "List Slack threads that are tasks, newest first",
        )
        .query::<super::paging::NewestQuery>()
        .answers::<wire::slack::SlackThreads>(),
    ]
}

fn webhooks() -> Vec<Operation> {
    vec![
        Operation::get("webhooks", "/api/webhooks", "List webhooks with their state")
            .answers::<wire::webhooks::Webhooks>(),
        Operation::get(
            "webhooks",
            "/api/webhooks/{name}/deliveries",
            "List the messages to a webhook, newest first",
        )
        .about("Queued, failed and the latest delivered messages.")
        .part("name", "The webhook")
        .query::<super::webhooks::DeliveriesQuery>()
        .answers::<wire::webhooks::Deliveries>(),
        Operation::post(
            "webhooks",
            "/api/webhooks/{name}/deliveries/{id}/retry",
            "Retry a failed message once",
        )
        .part("name", "The webhook")
        .part("id", "The message")
        .answers::<wire::webhooks::DeliveryView>(),
        Operation::post("webhooks", "/api/webhooks/{name}/enable", "Enable a disabled webhook")
            .part("name", "The webhook")
            .body::<wire::webhooks::EnableWebhookRequest>()
            .answers::<wire::webhooks::WebhookView>(),
        Operation::post("webhooks", "/api/webhooks/{name}/retry", "Retry all failed messages once")
            .part("name", "The webhook")
            .answers::<wire::webhooks::RetriedDeliveries>(),
        Operation::post(
            "webhooks",
            "/api/webhooks/{name}/test",
            "Send a test message now, and return the response",
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
            .about("The route for programs that do not use MCP.")
            .optional_header(
                "Idempotency-Key",
                "A repeated call with the same key is executed once; each repetition gets the same answer",
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
        Operation::post("server", "/api/github/webhook", "Receive GitHub's events about pull requests").about("For a webhook of GitHub's with the content type `application/json`, a secret, and the event `pull_request`.").public().header("X-GitHub-Event", "Kind of the event").header("X-Hub-Signature-256", "The body's signature with the webhook's secret").foreign_body("Body as GitHub sends it").fails::<wire::server::GithubHookOutcome>("200", "The event was processed").fails::<wire::server::GithubHookOutcome>("202", "The event does not concern a pull request of Adjutant").fails::<ErrorBody>("401", "The signature does not match").fails::<ErrorBody>("404", "The server has no webhook secret"),
        Operation::get("server", "/api/overview", "Show counts of agents, tasks and mail, and items that need a person").query::<super::overview::OverviewQuery>().answers::<wire::overview::Overview>(),
        Operation::post("server", "/api/reload", "Read configuration and roles again").about("What the files change counts for new agents. The rights of agents that are there only shrink.").query::<super::running::ReloadQuery>().answers::<wire::server::ReloadReport>(),
        Operation::post("server", "/api/shutdown", "Stop the server").about("Waiting calls are answered, then the server stops. Agents keep running.").ends("202", "It ends"),
        Operation::get("server", "/api/status", "Show the server's health").answers::<wire::server::ServerStatus>(),
    ]
}
