//! Prompt of a plan's coordinator.

use std::fmt::Write as _;

use model::money::Usd;
use store::{Agent, Plan, Tx};

use super::view::{asked, first_line, last_result};
use super::{Stage, stages};
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::crew::context::{clip, quote};
use crate::crew::run::view::AgentSnapshot;

/// Byte limit per quoted text.
const PIECE: usize = 16 * 1024;

/// Instructions for every coordinator.
const HOW: &str = "\
## How to work

You do not do the steps yourself: agents do, and you lead them.

1. A step is free when all it depends on is completed. Look first whether an agent works on it already (`list_agents`): no
   step is done twice. Then start an agent for it (`draft_agent` with the step's `taskSlug`, in the role that the plan
   names or the one that fits best), with a prompt that stands by itself: the goal, the files, the bounds, how to check it.
   It is told what came of the steps that its own depends on; whatever else it must know stands in your prompt.
2. Steps that are free and touch different files go side by side; others wait for each other. Wait with `await_agent`, again
   while it says `running`. Read the result, and decide from it what the next agent is told.
3. An agent that ends well leaves its step completed. One that does not leaves it free: find out why, and start another with a
   better prompt. What cannot be done is moved to FAILED with the reason (`task_update_status`); what is no longer needed is
   moved to CANCELLED; what was done in another way is moved to IN_PROGRESS and then to COMPLETED.
4. Ask the human where the plan says so, and where a decision is not yours: `mail_send` with `toHuman`, one question in a
   letter, with the answers that you see, numbered. Wait for the reply with `mail_list_inbox` and `waitSeconds`; while you
   wait you take nobody's place. What does not hang on the answer goes on meanwhile.
5. Keep to your depth, width and budget; all that you start spends yours.
6. When no step is open, end with a result: what was done, what came of it, what is left. If you end before, another one
   takes your place and is told what you said.
";

/// The prompt of a coordinator: the plan, its steps, who ran it before, and how to work.
pub(super) fn prompt(
    tx: &Tx<'_>,
    settings: &Settings,
    plan: &Plan,
    before: Option<&Agent>,
) -> Result<String, ToolError> {
    let begin = if before.is_some() { "Go on with" } else { "Run" };
    let mut text = format!("{begin} the plan `{}`, to its end.\n\n## The plan\n\n", plan.name);
    let source = tx.plan_text(plan.number)?;
    // A fence must be longer than any that is in it.
    let longest = source.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // Writing to a String cannot fail.
    _ = write!(text, "{fence}markdown\n{}\n{fence}\n\n## Its steps\n\n", source.trim_end());
    text.push_str("Each is a task of its own, which is named here by its slug.\n\n");
    let stages = stages(tx, plan)?;
    for stage in &stages {
        text.push_str(&step(tx, &stages, stage)?);
    }
    if let Some(before) = before {
        text.push_str(&so_far(tx, plan, before)?);
    }
    text.push('\n');
    text.push_str(HOW);
    let roles = roles(settings, plan);
    if !roles.is_empty() {
        _ = write!(text, "\n## Roles that you may start\n\n{roles}");
    }
    Ok(text)
}

/// A step on a line, and what came of it.
fn step(tx: &Tx<'_>, stages: &[Stage], stage: &Stage) -> Result<String, ToolError> {
    let needs = tx.task_needs(stage.task.number)?;
    let needs: Vec<String> = stages
        .iter()
        .filter(|other| needs.contains(&other.task.number))
        .map(|other| other.step.number.to_string())
        .collect();
    let mut facts = vec![stage.state().stored().to_owned()];
    if !needs.is_empty() {
        facts.push(format!("after {}", needs.join(", ")));
    }
    facts.extend(stage.step.role.as_ref().map(|role| format!("role `{role}`")));
    facts.extend(stage.step.cap.map(|cap: Usd| format!("at most {cap} an agent")));
    let mut text =
        format!("- Step {}, `{}` ({})\n", stage.step.number, stage.task.slug, facts.join(", "));
    let mut message = stage.task.title.clone();
    let brought = last_result(tx, stage.task.number)?.map(|result| first_line(&result.summary));
    if let Some(brought) = brought {
        message = format!("{message}\nLast result: {brought}");
    }
    if let Some(reason) = stage.task.state.reason() {
        message = format!("{message}\nWhy: {}", first_line(reason));
    }
    for line in quote(&message).lines() {
        _ = writeln!(text, "  {line}");
    }
    Ok(text)
}

/// State of the plan so far: earlier coordinators, live agents and open questions.
fn so_far(tx: &Tx<'_>, plan: &Plan, before: &Agent) -> Result<String, ToolError> {
    let snapshot = AgentSnapshot::of(tx, before.id)?;
    let mut text = format!(
        "\n## Before you\n\nYou take the place of {}, which ran this plan and ended ({}).\n",
        before.id,
        snapshot.state()
    );
    if let Some(result) = snapshot.result() {
        text.push_str("\nIts last words:\n\n");
        text.push_str(&quote(&clip(&result.summary, PIECE)));
    }
    let below: Vec<Agent> = tx.agent_descendants(before.id)?;
    let mine = below.iter().filter(|agent| agent.parent == Some(before.id));
    let lines: Vec<String> = mine
        .map(|agent| {
            let task = crate::call::cx::task_of(tx, agent.task)?;
            let slug = task.map(|task| format!(", on `{}`", task.slug)).unwrap_or_default();
            Ok(format!("- {} ({}){slug}\n", agent.id, agent.role))
        })
        .collect::<Result<_, ToolError>>()?;
    if !lines.is_empty() {
        text.push_str("\nThese are still at work and are yours now. Await them before you start agents for their steps:\n\n");
        text.extend(lines);
    }
    let asked = asked(tx, plan)?;
    if !asked.is_empty() {
        text.push_str(
            "\nThe human was asked and has not answered yet; the reply will come to you:\n\n",
        );
        for mail in asked {
            _ = writeln!(text, "- {}", mail.id);
            text.push_str(&quote(&mail.subject));
        }
    }
    Ok(text)
}

/// The roles that the plan's coordinator may start, a line each.
fn roles(settings: &Settings, plan: &Plan) -> String {
    let category = settings.roles.get(&plan.role).map(|role| role.category.as_str());
    let may = category.and_then(|own| settings.policy.get(own)).map(|own| own.may_draft.as_slice());
    let may = may.unwrap_or_default();
    let mut text = String::new();
    for role in settings.roles.values() {
        if role.name == plan.role || !may.contains(&role.category) {
            continue;
        }
        let what = role.description.as_deref().map(|what| format!(": {what}")).unwrap_or_default();
        _ = writeln!(text, "- `{}`{what}", role.name);
    }
    text
}
