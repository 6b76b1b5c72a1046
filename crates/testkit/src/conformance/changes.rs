//! Tools that announce a change, and the subscriptions that pass it on.

use rmcp::service::SubscriptionContext;
use tokio::sync::broadcast::Receiver;

use super::tools::{Call, Fixture, say};

/// What can change on this server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Tools,
    Prompts,
}

pub(super) static TOOLS: &[Fixture] = &[
    Fixture::new("test_trigger_tool_change", "Announce that the tools changed", |call| {
        Box::pin(async move { Ok(announce(&call, Change::Tools)) })
    }),
    Fixture::new("test_trigger_prompt_change", "Announce that the prompts changed", |call| {
        Box::pin(async move { Ok(announce(&call, Change::Prompts)) })
    }),
];

fn announce(call: &Call, change: Change) -> rmcp::model::CallToolResponse {
    // Nobody listening is no failure.
    let listeners = call.fixtures.0.changes.send(change).unwrap_or(0);
    say(format!("{listeners} subscriptions were told."))
}

/// Tells a subscription of every change that it asked for, until it ends.
pub(super) async fn follow(subscription: &SubscriptionContext, mut changes: Receiver<Change>) {
    let sink = subscription.sink();
    loop {
        let change = tokio::select! {
            () = subscription.cancelled() => return,
            change = changes.recv() => change,
        };
        let asked = subscription.accepted();
        let told = match change {
            Ok(Change::Tools) if asked.tools_list_changed == Some(true) => {
                sink.notify_tool_list_changed().await
            }
            Ok(Change::Prompts) if asked.prompts_list_changed == Some(true) => {
                sink.notify_prompt_list_changed().await
            }
            _ => Ok(()),
        };
        if told.is_err() {
            return;
        }
    }
}
