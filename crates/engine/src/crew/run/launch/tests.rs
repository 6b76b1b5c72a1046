//! Prompts name only toolsets that the agent has.

use host::clock::Clock;
use model::agent::AgentState;
use model::glob::Glob;
use model::policy::Rules;
use model::{AgentId, MailId};
use store::{NewAgent, NewMail, NewRun, Sender, Store};

use super::*;
use crate::core::options::Options;
use crate::engine::Engine;

/// A role of every category, and for each one that may not use mail.
fn roles() -> Vec<Role> {
    let category = |name: &&str| {
        let role = Role { name: (*name).into(), category: (*name).into(), ..Role::default() };
        let mail = Glob::new("mcp__mail__*", &TOOLSETS).unwrap();
        let deny = Rules { deny: vec![mail], ..Rules::default() };
        let silent = Role { name: format!("{name}-silent"), rules: deny, ..role.clone() };
        [role, silent]
    };
    model::policy::BUILT_IN_CATEGORIES.iter().flat_map(category).collect()
}

/// Every toolset that a prompt names: in its list, and in the names of tools.
fn named_toolsets(prompt: &str) -> Vec<String> {
    let listed = prompt.lines().filter_map(|line| line.strip_prefix("- `")?.split_once("`: "));
    let listed = listed.map(|(name, _)| name);
    let tools = prompt.split("mcp__").skip(1).filter_map(|rest| rest.split_once("__"));
    let tools = tools.map(|(name, _)| name).filter(|name| *name != "<toolset>");
    listed.chain(tools).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_prompt_names_only_toolsets_that_are_mounted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    let all = roles();
    let settings = Settings {
        roles: all.iter().map(|role| (role.name.clone(), role.clone())).collect(),
        ..Settings::default()
    };
    let now = Timestamp::from_millis(1_800_000_000_000);
    let options =
        Options { clock: Clock::manual(now), ..Options::new(dir.path().to_owned(), String::new()) };
    let engine = Engine::new(store, settings.clone(), options);
    let mut bits = 0;
    for role in &all {
        for session in [None, Some("nightly".to_owned())] {
            bits += 1;
            let (agent, run) = recorded(&engine, (bits, role, session), now).await;
            for kind in host::agent::KINDS {
                let wish = Wish::default();
                let parts =
                    Parts { agent: &agent, run: &run, wish: &wish, role: Some(role), kind: *kind };
                let brief = brief(&engine, &settings, parts).unwrap();
                let mounted: Vec<&str> =
                    brief.servers.iter().map(|server| server.name.as_str()).collect();
                assert!(brief.prompt.contains("Unread Mail"), "{}", brief.prompt);
                for name in named_toolsets(&brief.prompt) {
                    assert!(
                        mounted.contains(&name.as_str()),
                        "`{name}` is named to {} ({}) and not mounted: {mounted:?}",
                        role.name,
                        kind.name()
                    );
                }
            }
        }
    }
}

async fn recorded(
    engine: &Engine,
    (bits, role, session): (u64, &Role, Option<String>),
    now: Timestamp,
) -> (Agent, Run) {
    let id = AgentId::from_bits(bits);
    let new = NewAgent {
        id,
        role: role.name.clone(),
        category: role.category.clone(),
        kind: "script".into(),
        parent: None,
        depth: 0,
        task: None,
        epic: None,
        session,
        iteration: None,
        state: AgentState::Queued,
        cwd: None,
        token_hash: None,
    };
    let write = move |tx: &mut store::Tx<'_>| {
        tx.session_ensure("nightly", now)?;
        tx.agent_insert(&new, now)?;
        tx.run_insert(&NewRun {
            agent: id,
            prompt: "Do it".into(),
            summary: "It".into(),
            wish: "{}".into(),
            resumed_from: None,
            conversation: None,
        })?;
        let mail = NewMail {
            id: MailId::from_bits(bits),
            from: Sender::Human,
            to: Recipient::Agent(id),
            subject: "Hello".into(),
            body: "Begin".into(),
            reply_to: None,
        };
        tx.mail_insert(&mail, now)?;
        Ok::<_, ToolError>((tx.agent_get(id)?.unwrap(), tx.run_get(id)?.unwrap()))
    };
    engine.store.write(write).await.unwrap()
}
