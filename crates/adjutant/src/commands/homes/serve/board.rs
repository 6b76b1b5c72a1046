//! Knowledge of a host about its homes, for requests: the way to each home, its status and its metrics.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::Timestamp;
use model::placement::{HostNote, PlacedHome, Placements};
use server::{HomeRole, HomeWay, HomesProbe};
use tokio::sync::watch;
use wire::hosts::{HostStatus, HostView, HostedHome, HostedState};

use super::child::{Launcher, Slot};

/// Shared by the loop, which writes it, and the listener.
pub(super) struct Board(Mutex<Facts>);

struct Facts {
    /// By name of the home
    ways: BTreeMap<String, Way>,
    /// True once the homes have been read
    is_known: bool,
    status: HostStatus,
}

struct Way {
    role: watch::Sender<HomeRole>,
    is_inside: bool,
}

/// Where requests for a home go.
#[derive(Debug, PartialEq, Eq)]
enum Goal {
    Inside(String),
    Owner(String),
    Nobody(&'static str),
}

impl Board {
    pub(super) fn new(note: &HostNote, started_at: Timestamp) -> Self {
        let status = HostStatus {
            id: note.id.clone(),
            url: note.url.clone(),
            pid: std::process::id(),
            version: note.version.clone(),
            started_at,
            leaving: note.leaving,
            problem: Some("the homes have not been read yet".to_owned()),
            homes: Vec::new(),
            hosts: Vec::new(),
        };
        Self(Mutex::new(Facts { ways: BTreeMap::new(), is_known: false, status }))
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes why the homes cannot be looked at.
    pub(super) fn wait(&self, why: &str) {
        self.facts().status.problem = Some(why.to_owned());
    }

    /// Shows how everything stands.
    pub(super) fn show(
        &self,
        note: &HostNote,
        seen: Option<&Placements>,
        slots: &BTreeMap<String, Slot>,
        launcher: &Launcher,
        problem: Option<&str>,
    ) {
        let Some(seen) = seen else { return };
        let mut facts = self.facts();
        facts.is_known = true;
        facts.status.leaving = note.leaving;
        facts.status.problem = problem.map(str::to_owned);
        facts.status.hosts = host_views(seen);
        facts.status.homes = hosted(seen, slots, launcher);
        facts.ways.retain(|name, _| seen.homes.iter().any(|home| home.name == *name));
        for home in &seen.homes {
            let own_url = launcher.url_of(&home.name);
            let inside = slots.get(&home.id).and_then(Slot::url);
            let goal = goal(home, &note.id, &own_url, inside);
            let is_inside = matches!(goal, Goal::Inside(_));
            let role = match goal {
                Goal::Inside(owner_url) | Goal::Owner(owner_url) => {
                    HomeRole::Following { owner_url }
                }
                Goal::Nobody(why) => HomeRole::Waiting { why: why.to_owned() },
            };
            let way = facts.ways.entry(home.name.clone()).or_insert_with(|| {
                let (role, _) = watch::channel(role.clone());
                Way { role, is_inside }
            });
            way.is_inside = is_inside;
            way.role.send_if_modified(|old| {
                let is_new = !is_same(old, &role);
                *old = role;
                is_new
            });
        }
    }
}

fn is_same(one: &HomeRole, other: &HomeRole) -> bool {
    match (one, other) {
        (HomeRole::Following { owner_url: one }, HomeRole::Following { owner_url: other }) => {
            one == other
        }
        (HomeRole::Waiting { why: one }, HomeRole::Waiting { why: other }) => one == other,
        _ => false,
    }
}

/// Where requests go: to the server of the home on this host if that is to own it, since it learns first who does;
/// else to the owner.
fn goal(home: &PlacedHome, me: &str, own_url: &str, inside: Option<&str>) -> Goal {
    let is_placed_here = home.host.as_deref() == Some(me);
    match (inside, home.owner_url.as_deref()) {
        (Some(inside), owner) if is_placed_here || owner == Some(own_url) => {
            Goal::Inside(inside.to_owned())
        }
        (_, Some(owner)) if owner != own_url => Goal::Owner(owner.to_owned()),
        (_, Some(_)) => Goal::Nobody("its server is not ready"),
        (_, None) => Goal::Nobody("nobody owns it at the moment"),
    }
}

fn hosted(
    seen: &Placements,
    slots: &BTreeMap<String, Slot>,
    launcher: &Launcher,
) -> Vec<HostedHome> {
    let view = |home: &PlacedHome| {
        let slot = slots.get(&home.id)?;
        let is_owner = home.owner_url.as_deref() == Some(&launcher.url_of(&home.name));
        let state = match (slot.url(), slot.pid()) {
            (Some(_), _) if is_owner => HostedState::Owner,
            (Some(_), _) => HostedState::Follower,
            (None, _) if slot.failures > 0 => HostedState::Failing,
            (None, _) => HostedState::Starting,
        };
        Some(HostedHome {
            name: home.name.clone(),
            state,
            epoch: home.epoch,
            pid: slot.pid(),
            url: slot.url().map(str::to_owned),
            failures: slot.failures,
            last_exit: slot.last_exit.clone(),
            last_line: slot.last_line.clone(),
        })
    };
    seen.homes.iter().filter_map(view).collect()
}

/// Hosts as others see them.
pub(in crate::commands::homes) fn host_views(seen: &Placements) -> Vec<HostView> {
    let view = |row: &model::placement::HostRow| HostView {
        id: row.note.id.clone(),
        url: row.note.url.clone(),
        version: row.note.version.clone(),
        is_live: row.age < seen.limit,
        leaving: row.note.leaving,
        seen_ago_ms: u64::try_from(row.age.as_millis()).unwrap_or(u64::MAX),
        homes: seen.homes.iter().filter(|home| home.host.as_ref() == Some(&row.note.id)).count(),
    };
    seen.hosts.iter().map(view).collect()
}

impl HomesProbe for Board {
    fn way(&self, home: &str) -> Result<Option<HomeWay>, String> {
        let facts = self.facts();
        if !facts.is_known {
            return Err(facts.status.problem.clone().unwrap_or_default());
        }
        let way = facts.ways.get(home);
        Ok(way.map(|way| HomeWay { role: way.role.subscribe(), is_inside: way.is_inside }))
    }

    fn unready(&self) -> Option<String> {
        let facts = self.facts();
        if facts.status.leaving {
            return Some("this host hands its homes over and ends".to_owned());
        }
        facts.status.problem.clone()
    }

    fn status(&self) -> HostStatus {
        self.facts().status.clone()
    }

    fn metrics(&self) -> String {
        let status = self.status();
        let mut text = String::new();
        let live = status.hosts.iter().filter(|host| host.is_live).count();
        let mut put = |name: &str, help: &str, rows: Vec<(String, i64)>| {
            // Writing to a String cannot fail.
            _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
            for (labels, value) in rows {
                _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let each = |value: &dyn Fn(&HostedHome) -> i64| -> Vec<(String, i64)> {
            let row = |home: &HostedHome| (format!("{{home=\"{}\"}}", home.name), value(home));
            status.homes.iter().map(row).collect()
        };
        let number = |count: usize| vec![(String::new(), i64::try_from(count).unwrap_or(i64::MAX))];
        put("adjutant_hosts_live", "Hosts that were heard of lately.", number(live));
        put("adjutant_host_homes", "Homes with a server on this host.", number(status.homes.len()));
        put(
            "adjutant_host_postgres_up",
            "1 while the homes are looked at without an error.",
            number(usize::from(status.problem.is_none())),
        );
        let is_owner = |home: &HostedHome| i64::from(home.state == HostedState::Owner);
        put("adjutant_owner", "1 while a server of this host owns the home.", each(&is_owner));
        put("adjutant_home_epoch", "Number of the home's owner.", each(&|home| home.epoch));
        let failures = |home: &HostedHome| i64::from(home.failures);
        put("adjutant_home_failures", "Times in a row that its server failed.", each(&failures));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_server_here_if_it_is_to_own_the_home_and_else_to_the_owner() {
        let (me, own, inside) = ("a", "http://a:3000/homes/shop", "http://127.0.0.1:4000");
        let other = "http://b:3000/homes/shop";
        let ways = [
            // Placed at, owned by, server here, goal.
            ("a", Some(own), Some(inside), Goal::Inside(inside.to_owned())),
            ("a", Some(other), Some(inside), Goal::Inside(inside.to_owned())),
            ("a", Some(other), None, Goal::Owner(other.to_owned())),
            // While it only prepares, the owner is asked directly.
            ("b", Some(other), Some(inside), Goal::Owner(other.to_owned())),
            ("b", Some(own), Some(inside), Goal::Inside(inside.to_owned())),
            ("b", Some(own), None, Goal::Nobody("its server is not ready")),
            ("b", None, None, Goal::Nobody("nobody owns it at the moment")),
        ];
        for (host, owner, inside, expected) in ways {
            let home = PlacedHome {
                id: "hm_1".to_owned(),
                name: "shop".to_owned(),
                epoch: 1,
                owner_url: owner.map(str::to_owned),
                is_busy: false,
                host: Some(host.to_owned()),
                next: None,
                is_ready: false,
            };
            assert_eq!(goal(&home, me, own, inside), expected, "{home:?}");
        }
    }
}
