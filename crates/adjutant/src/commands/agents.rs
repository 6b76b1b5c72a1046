//! `adjutant ps` and `adjutant discharge`.

use serde_json::{Value, json};

use crate::app::{App, escaped, now, query};
use crate::cli::{DischargeArgs, PsArgs};
use crate::render::{ago, dim, field, name, short, table};
use crate::trouble::Trouble;

/// Lists the agents.
pub(crate) async fn ps(app: &App, args: &PsArgs) -> Result<(), Trouble> {
    let client = app.client().await?;
    let path = query("/api/agents", [("all", Some(args.all.to_string()))]);
    let answer = client.get_json(&path).await?;
    let agents = answer["agents"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(app.render.answer(&answer, || {
        if agents.is_empty() {
            let more =
                if args.all { "" } else { "; `adjutant ps --all` also lists those that ended" };
            return format!(
                "No agent is there{more}.\nMake one with {}",
                name("adjutant enlist --role worker")
            );
        }
        let now = now();
        let row = |agent: &Value| {
            [
                field(agent, "id"),
                short(&field(agent, "role"), 14),
                field(agent, "state"),
                short(&field(agent, "taskSlug"), 20),
                ago(&agent["startedAt"], now),
            ]
        };
        let headings = ["ID", "ROLE", "STATE", "TASK", "SINCE"];
        table(headings, agents.iter().map(row))
    })?)
}

/// Ends an agent that somebody else runs.
pub(crate) async fn discharge(app: &App, args: DischargeArgs) -> Result<(), Trouble> {
    let client = app.client().await?;
    let path = format!("/api/agents/{}/discharge", escaped(&args.agent));
    let body = args.reason.map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
    let answer = client.post_json(&path, &body).await?;
    Ok(app.render.answer(&answer, || {
        let [agent, state] = ["agentId", "state"].map(|key| field(&answer, key));
        format!("{agent} has ended ({state}). {}", dim("Its token is void, its tasks are free."))
    })?)
}
