//! Roles across reloads and restarts.
//!
//! A role's file can break or vanish while agents of the role live. Each role that could be read is therefore recorded
//! before it takes effect, and a role that can no longer be read keeps the rules it had last. So are the rights that
//! come into force, which bound the agents that are there when others replace them.

use std::collections::BTreeMap;

use model::Timestamp;
use store::{LiveRole, RoleSnapshot, StoreError, Tx};

use crate::core::durable;
use crate::core::handle::Core;
use crate::core::record_file::RecordError;
use crate::core::rights::{EarlierRights, Rights};
use crate::core::settings::{Role, Settings, is_bare};

impl Core {
    /// Puts settings in force once their roles are on disk. Returns a warning for each role that live agents have and
    /// that cannot be read.
    pub async fn adopt_settings(&self, mut settings: Settings) -> Result<Vec<String>, RecordError> {
        let mut current = Vec::new();
        for role in settings.roles.values() {
            let body = serde_json::to_string(role)
                .map_err(|error| StoreError::Corrupt(format!("role `{}`: {error}", role.name)))?;
            current.push(RoleSnapshot { name: role.name.clone(), body });
        }
        let (in_force, now) = (self.settings(), self.now());
        let rights = Rights::of(&settings);
        let recorded = self.store.write(move |tx| {
            let mut recorded = record(tx, &current, &in_force.roles, now)?;
            record_rights(tx, rights.clone(), &mut recorded, now)?;
            Ok::<_, StoreError>(recorded)
        });
        let recorded = recorded.await?;
        settings.last_good_roles = recorded.last_good;
        settings.earlier_rights = recorded.earlier;
        let mut warnings = recorded.damaged;
        for LiveRole { role, kind, agents } in recorded.live {
            if settings.roles.contains_key(&role) {
                continue;
            }
            let which = if agents == 1 { "agent" } else { "agents" };
            if settings.last_good_roles.contains_key(&role) {
                warnings.push(format!(
                    "role `{role}` cannot be read; {agents} live {which} use the last good version"
                ));
            } else if !is_bare(&role, &kind) {
                warnings.push(format!(
                    "role `{role}` cannot be read and no earlier version is known; {agents} live {which} of it may use no tool"
                ));
            }
        }
        self.set_settings(settings);
        Ok(warnings)
    }
}

/// Roles that cannot be read, as they were last, and who is live.
struct Recorded {
    last_good: BTreeMap<String, Role>,
    live: Vec<LiveRole>,
    earlier: Vec<EarlierRights>,
    /// A sentence on each row that cannot be decoded; such a row permits nothing
    damaged: Vec<String>,
}

/// Records the rights that come into force, and reads those that bound live agents.
fn record_rights(
    tx: &mut Tx<'_>,
    mut rights: Rights,
    recorded: &mut Recorded,
    now: Timestamp,
) -> Result<(), StoreError> {
    rights.add_last_good(&recorded.last_good);
    let body = serde_json::to_string(&rights)
        .map_err(|error| StoreError::Corrupt(format!("rights: {error}")))?;
    tx.rights_put(&body, now)?;
    tx.rights_prune()?;
    for snapshot in tx.rights_snapshots()? {
        let (earlier, error) = EarlierRights::of(snapshot);
        recorded.earlier.push(earlier);
        recorded.damaged.extend(error.map(|error| {
            format!("{}; agents that began under them may use no tool", error.message)
        }));
    }
    Ok(())
}

/// Records the roles that could be read, and forgets those that nobody can have any more.
fn record(
    tx: &mut Tx<'_>,
    current: &[RoleSnapshot],
    in_force: &BTreeMap<String, Role>,
    now: Timestamp,
) -> Result<Recorded, StoreError> {
    for snapshot in current {
        tx.role_snapshot_put(snapshot, now)?;
    }
    let live = tx.agents_live_by_role()?;
    let (mut last_good, mut damaged) = (BTreeMap::new(), Vec::new());
    for RoleSnapshot { name, body } in tx.role_snapshots()? {
        if current.iter().any(|role| role.name == name) {
            continue;
        }
        // A role that is still in force may get another agent before the new settings replace it.
        if in_force.contains_key(&name) || live.iter().any(|live| live.role == name) {
            // A version that cannot be decoded grants nothing.
            match durable::decode(&body, format_args!("role `{name}`"), "last good version") {
                Ok(role) => {
                    last_good.insert(name, role);
                }
                Err(error) => damaged.push(error.message),
            }
        } else {
            tx.role_snapshot_delete(&name)?;
        }
    }
    Ok(Recorded { last_good, live, earlier: Vec::new(), damaged })
}
