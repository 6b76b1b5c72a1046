//! Values of the environment for agents that wait: they are in no file, so that after a restart another process
//! who has them must be asked.
//!
//! A draft records the names of the variables that its agent gets from the server's own environment, and of those
//! that a person handed on to it or to the agent that it inherits from. When its turn comes, it gets the values that
//! were handed on, then those of the supervisor of the agent it inherits from or of its parent where an earlier server
//! recorded it, else this server's; where nobody has one, it stays queued and says which.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use host::run::{RunFolder, Variables};
use model::AgentId;
use sha2::Sha256;
use store::Agent;

use super::options::RunOptions;
use crate::call::cx::WriteCx;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::machine::folder_of;
use crate::core::settings::Settings;
use crate::crew::service::Crew;

/// Time limit for a parent's supervisor to answer.
const ASK_TIMEOUT: Duration = Duration::from_secs(2);

/// Secrets handed to an agent's supervisor and never written to disk.
#[derive(Clone)]
pub(crate) struct StartGrant {
    /// Its token
    pub(crate) token: String,
    /// Values that a person or a supervisor handed on, which win over the server's own
    pub(crate) inherited: Variables,
    /// Warnings about values that were handed on and that it does not get
    pub(crate) warnings: Vec<String>,
}

/// Environment that a queued agent is to start with beside the server's own.
#[derive(Debug, Default)]
pub(super) struct ResolvedEnvironment {
    /// The values
    pub(super) values: Variables,
    /// Warnings about values that are not those that were handed on
    pub(super) warnings: Vec<String>,
}

impl std::fmt::Debug for StartGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartGrant").field("inherited", &self.inherited).finish_non_exhaustive()
    }
}

/// Queued agents that lack variables, with the settings under which that was found.
#[derive(Debug, Default)]
pub(crate) struct MissingVariables(Mutex<HashMap<AgentId, Missing>>);

#[derive(Debug)]
struct Missing {
    names: Vec<String>,
    settings: Arc<Settings>,
}

impl MissingVariables {
    fn map(&self) -> MutexGuard<'_, HashMap<AgentId, Missing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether it is known already that an agent lacks variables under these settings.
    fn is_known(&self, agent: AgentId, settings: &Arc<Settings>) -> bool {
        self.map().get(&agent).is_some_and(|missing| Arc::ptr_eq(&missing.settings, settings))
    }

    /// Forgets those that do not wait any more.
    pub(super) fn retain(&self, is_queued: impl Fn(AgentId) -> bool) {
        self.map().retain(|agent, _| is_queued(*agent));
    }

    /// Number of agents that lack variables.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.map().len()).unwrap_or(u32::MAX)
    }
}

impl Crew {
    /// Reason why a queued agent does not start, other than a free place.
    pub fn queue_reason(&self, agent: AgentId) -> Option<String> {
        let all = self.missing.map();
        let Missing { names, .. } = all.get(&agent)?;
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        Some(format!(
            "waits for the environment variable {}, which it was drafted with and the server does not \
             have; start the server with it, or end the agent with `adjutant kill {agent}` and start it \
             again",
            names.join(" and ")
        ))
    }
}

/// The variables that agents of a kind get from the server's environment as it is now.
pub(crate) fn names_to_record(settings: &Settings, kind: &str) -> Vec<String> {
    let Some(runner) = settings.runners.get(kind) else { return Vec::new() };
    let has_value = |name: &&String| runner.environment.iter().any(|(known, _)| known == *name);
    runner.inherits.iter().filter(has_value).cloned().collect()
}

/// Records which variables a new agent inherits: those handed on to the agent that it was made by or beside.
pub(super) fn inherit(cx: &WriteCx<'_, '_>, options: &mut RunOptions) -> Result<(), ToolError> {
    options.inherits_from = options.inherits_from.or(cx.caller.id());
    let Some(source) = options.inherits_from else { return Ok(()) };
    if let Some(run) = cx.tx.run_get(source)?
        && options.handed_on.is_empty()
    {
        let RunOptions { handed_on, fingerprints, .. } = RunOptions::of(&run)?;
        (options.handed_on, options.fingerprints) = (handed_on, fingerprints);
    }
    Ok(())
}

/// Gives a new agent the variables of the one that it inherits from.
pub(super) fn created(engine: &Crew, agent: AgentId) -> Result<(), ToolError> {
    let run = engine.store.read(|tx| tx.run_get(agent))?;
    // One whose request cannot be read ends with that when it is started.
    let options = run.as_ref().map(RunOptions::of).transpose().unwrap_or_default();
    if let Some(source) = options.and_then(|options| options.inherits_from) {
        engine.handed_on.inherit(agent, source);
    }
    Ok(())
}

/// Finds the values that an agent is to start with beside the server's own; none where some are missing,
/// which is remembered for those who look at the queue.
pub(super) async fn resolve(
    engine: &Crew,
    settings: &Arc<Settings>,
    id: AgentId,
) -> Result<Option<ResolvedEnvironment>, ToolError> {
    if engine.missing.is_known(id, settings) {
        return Ok(None);
    }
    let found = engine.store.read(|tx| Ok::<_, ToolError>((tx.agent_get(id)?, tx.run_get(id)?)))?;
    let (Some(agent), Some(run)) = found else { return Ok(Some(ResolvedEnvironment::default())) };
    // One whose request cannot be read ends with that when it is started.
    let options = RunOptions::of(&run).unwrap_or_default();
    let wanted = wanted(settings, &agent, &options);
    let mut values = engine.handed_on.of(id).unwrap_or_default().as_ref().clone();
    values.0.retain(|(name, _)| wanted.contains(name));
    let open: Vec<String> = wanted.into_iter().filter(|name| !has(&values, name)).collect();
    let is_ours = agent.created_at >= engine.started_at;
    let is_settled = |name: &String| {
        is_ours
            && !options.handed_on.contains(name)
            && own_value(engine, settings, &agent, name).is_some()
    };
    if open.iter().all(is_settled) {
        return Ok(Some(ResolvedEnvironment { values, warnings: Vec::new() }));
    }
    let source = options.inherits_from.or(agent.parent);
    values.0.extend(values_of(engine, source, &open).await?.0);
    // The set-up of its worktree gets the same.
    engine.handed_on.complete(id, &values);
    let (mut names, mut warnings) = (Vec::new(), Vec::new());
    for name in open.into_iter().filter(|name| !has(&values, name)).collect::<Vec<_>>() {
        match own_value(engine, settings, &agent, &name) {
            Some(value) => {
                let is_same =
                    options.fingerprints.get(&name) == engine.fingerprint(&name, &value).as_ref();
                if options.handed_on.contains(&name) && !is_same {
                    warnings.push(format!(
                        "`{name}` is the server's own and not the one that was handed on: the server that had it has \
                         ended; if a program is missing, run `adjutant kill {id}` and start the agent again"
                    ));
                }
                values.0.push((name, value));
            }
            None => names.push(name),
        }
    }
    if names.is_empty() {
        engine.missing.map().remove(&id);
        return Ok(Some(ResolvedEnvironment { values, warnings }));
    }
    tracing::warn!(%id, ?names, "agent stays queued: environment variables are missing");
    let missing = Missing { names, settings: Arc::clone(settings) };
    engine.missing.map().insert(id, missing);
    Ok(None)
}

fn has(values: &Variables, name: &str) -> bool {
    values.0.iter().any(|(known, _)| known == name)
}

/// The variables that an agent was recorded with and that its kind still gets.
fn wanted(settings: &Settings, agent: &Agent, options: &RunOptions) -> Vec<String> {
    let recorded: BTreeSet<&String> =
        options.environment.iter().chain(&options.handed_on).collect();
    let is_wanted = |name: &&String| settings.hands_on(&agent.kind, name);
    recorded.into_iter().filter(is_wanted).cloned().collect()
}

/// The server's own value of a variable that agents of a kind get, or that is handed on to every kind.
fn own_value(engine: &Crew, settings: &Settings, agent: &Agent, name: &str) -> Option<String> {
    let runner = settings.runners.get(&agent.kind);
    let variables = runner.into_iter().flat_map(|runner| &runner.environment);
    let found = variables.chain(&engine.options.agent_environment).find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone()).or_else(|| engine.own_variable(name))
}

/// The values that the supervisor of an agent has; none where there is no such supervisor, or it is of an
/// earlier version.
pub(crate) async fn values_of(
    engine: &Core,
    agent: Option<AgentId>,
    names: &[String],
) -> Result<Variables, ToolError> {
    let Some(agent) = agent else { return Ok(Variables::default()) };
    let agent = engine.store.read(|tx| tx.agent_get(agent))?;
    let Some(agent) = agent.filter(|agent| agent.ended_at().is_none()) else {
        return Ok(Variables::default());
    };
    let folder = folder_of(engine, &agent);
    let key = control_key(engine, &folder);
    let asked = async { folder.connect().await?.environment(&key, names).await };
    Ok(match tokio::time::timeout(ASK_TIMEOUT, asked).await {
        Ok(Ok(mut values)) => {
            // Nobody chooses further variables for an agent, such as ones that its loader obeys.
            values.0.retain(|(name, _)| names.contains(name));
            values
        }
        Ok(Err(error)) => {
            tracing::debug!(agent = %agent.id, %error, "supervisor not reached for its variables");
            Variables::default()
        }
        Err(_) => {
            tracing::debug!(agent = %agent.id, "supervisor did not answer for its variables");
            Variables::default()
        }
    })
}

/// By which the supervisor of a run recognises the server, also one that was started anew: it follows from
/// the operator's secret and the run, and is in no file.
pub(crate) fn control_key(engine: &Core, folder: &RunFolder) -> String {
    let path = folder.path();
    let name = |path: &std::path::Path| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let run = format!("control {}/{}", path.parent().map(name).unwrap_or_default(), name(path));
    let secret = engine.options.operator_hash.as_bytes();
    let mac = Hmac::<Sha256>::new_from_slice(secret).map(|mac| mac.chain_update(run).finalize());
    let bytes = mac.map(|mac| mac.into_bytes().to_vec()).unwrap_or_default();
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Removes the values that earlier versions wrote into run folders. Blocks while it reads all of them.
pub(super) fn forget_values(engine: &Crew) {
    let runs = engine.options.state.join("runs");
    let below = |path: &std::path::Path| {
        let names = host::files::list(path).unwrap_or_default();
        names.into_iter().map(|name| path.join(name)).collect::<Vec<_>>()
    };
    let (mut cleaned, folders) = (0_u32, below(&runs).into_iter().flat_map(|run| below(&run)));
    for folder in folders.filter(|folder| folder.is_dir()) {
        match RunFolder::open(&folder).forget_values() {
            Ok(had_values) => cleaned += u32::from(had_values),
            Err(error) => {
                tracing::error!(%error, folder = %folder.display(), "failed to remove environment values");
            }
        }
    }
    if cleaned > 0 {
        tracing::info!(cleaned, "removed environment values that an earlier version wrote");
    }
}
