//! Prompts name only toolsets and tools that the agent has.

use std::collections::BTreeSet;
use std::fs;

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

/// The roles that `adjutant init` writes.
fn first_roles() -> Vec<Role> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adjutant/src/init/roles");
    let role = |path: PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let (matter, prompt) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        let field = |name: &str| {
            let line = matter.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or("worker").trim().to_owned()
        };
        let (name, category) = (field("name:"), field("category:"));
        Role { name, category, prompt: prompt.to_owned(), ..Role::default() }
    };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let roles: Vec<Role> = files.map(role).collect();
    assert!(roles.len() >= 8, "{roles:?}");
    roles
}

/// Tools that a text names in backticks, each by all that its name may mean.
fn named_tools(text: &str) -> Vec<Vec<&'static str>> {
    let words: BTreeSet<&str> = text.split('`').skip(1).step_by(2).collect();
    let is_meant = |word: &str, tool: &str| {
        let (set, bare) = tool.strip_prefix("mcp__").unwrap().split_once("__").unwrap();
        // A word alone may be any word.
        let is_telling = bare.contains(['_', '-']);
        word == tool || word == format!("{set}_{bare}") || (is_telling && word == bare)
    };
    let meanings = |word: &&str| -> Vec<&'static str> {
        let tools = crate::tools::TOOLS.iter().map(|tool| tool.name);
        tools.filter(|tool| is_meant(word, tool)).collect()
    };
    words.iter().map(meanings).filter(|tools| !tools.is_empty()).collect()
}

fn engine_with(dir: &Path, all: &[Role], now: Timestamp) -> (Engine, Settings) {
    let store = Store::open(&dir.join("state.db")).unwrap();
    let settings = Settings {
        roles: all.iter().map(|role| (role.name.clone(), role.clone())).collect(),
        ..Settings::default()
    };
    let options =
        Options { clock: Clock::manual(now), ..Options::new(dir.to_owned(), String::new()) };
    (Engine::new(store, settings.clone(), options), settings)
}

#[tokio::test]
async fn a_prompt_names_only_tools_that_the_agent_may_use() {
    let dir = tempfile::tempdir().unwrap();
    let now = Timestamp::from_millis(1_800_000_000_000);
    let all = [first_roles(), roles()].concat();
    let (engine, settings) = engine_with(dir.path(), &all, now);
    let (mut bits, mut named) = (0, 0);
    for role in &all {
        bits += 1;
        // A builder works in a loop.
        let session = (role.name == "builder").then(|| "nightly".to_owned());
        let (agent, run) = recorded(&engine, bits, role, session, now).await;
        let caller = Caller { agent: Some(agent.clone()), by_operator: false };
        for kind in host::agent::KINDS {
            let options = RunOptions::default();
            let parts = Parts {
                inherited: &Variables::default(),
                unknown_servers: UnknownServers::Refuse,
                agent: &agent,
                run: &run,
                options: &options,
                role: Some(role),
                kind: *kind,
            };
            let brief = brief(&engine, &settings, parts).unwrap();
            let text = format!("{}\n{}", brief.system_prompt.unwrap_or_default(), brief.prompt);
            for meant in named_tools(&text) {
                named += 1;
                let is_had = |tool: &&str| {
                    let (set, _) = tool.strip_prefix("mcp__").unwrap().split_once("__").unwrap();
                    is_mounted(&caller, set) && caller.may(&settings, tool)
                };
                assert!(
                    meant.iter().any(is_had),
                    "{meant:?} is named to {} ({}), which has no such tool",
                    role.name,
                    kind.name()
                );
            }
        }
    }
    assert!(named > 100, "{named}");
}

#[tokio::test]
async fn a_prompt_names_only_toolsets_that_are_mounted() {
    let dir = tempfile::tempdir().unwrap();
    let all = roles();
    let now = Timestamp::from_millis(1_800_000_000_000);
    let (engine, settings) = engine_with(dir.path(), &all, now);
    let mut bits = 0;
    for role in &all {
        for session in [None, Some("nightly".to_owned())] {
            bits += 1;
            let (agent, run) = recorded(&engine, bits, role, session, now).await;
            for kind in host::agent::KINDS {
                let options = RunOptions::default();
                let parts = Parts {
                    inherited: &Variables::default(),
                    unknown_servers: UnknownServers::Refuse,
                    agent: &agent,
                    run: &run,
                    options: &options,
                    role: Some(role),
                    kind: *kind,
                };
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
    bits: u64,
    role: &Role,
    session: Option<String>,
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
            options: "{}".into(),
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
