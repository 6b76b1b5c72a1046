//! Hosts that serve many homes, and which of them is to own which home.
//!
//! Each host decides alone, from the same rows. It takes homes without a live host by itself, as many as it lacks of a
//! fair share; what is here is the rest: homes go from the host with the most to the one with the fewest, one that is
//! ending offers all it has, and a home is passed on only once the other host has its whole log. An idle home moves
//! only while nobody works in it, since agents stay on the machine that started them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Homes that are on their way from a host at the same time.
const MAX_MOVES: usize = 2;

/// A host as it notes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostNote {
    /// Id, the same after a restart
    pub id: String,
    /// Address under which other hosts reach it
    pub url: String,
    /// Version of the program
    pub version: String,
    /// True once it ends
    pub leaving: bool,
}

/// A host as the others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRow {
    /// Its note about itself
    pub note: HostNote,
    /// Time since it was heard of
    pub age: Duration,
}

/// A home, and the hosts that have to do with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedHome {
    /// Id
    pub id: String,
    /// Name
    pub name: String,
    /// Number of its owner among all that it had
    pub epoch: i64,
    /// Address of the server that owns it, while its lease holds
    pub owner_url: Option<String>,
    /// True if agents wait or run there
    pub is_busy: bool,
    /// Host that is to own it
    pub host: Option<String>,
    /// Host that prepares to take it over
    pub next: Option<String>,
    /// True once that host has the whole log
    pub is_ready: bool,
}

/// A change of a placement that is one host's to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacementChange {
    /// Another host is to prepare for the home
    Offer {
        /// Id of the home
        home: String,
        /// The other host
        to: String,
    },
    /// No other host is to prepare any longer
    Withdraw {
        /// Id of the home
        home: String,
    },
    /// This host, which was to prepare, has the whole log
    Ready {
        /// Id of the home
        home: String,
    },
    /// The host that has prepared is to own the home
    Pass {
        /// Id of the home
        home: String,
    },
}

/// All hosts and homes at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placements {
    /// Hosts by id
    pub hosts: Vec<HostRow>,
    /// Homes by name
    pub homes: Vec<PlacedHome>,
    /// Age from which a host counts as gone
    pub limit: Duration,
}

impl Placements {
    /// Hosts that were heard of lately.
    pub fn live(&self) -> impl Iterator<Item = &HostNote> {
        self.hosts.iter().filter(|host| host.age < self.limit).map(|host| &host.note)
    }

    /// True while a home is on its way to another host, or a host is about to send its homes away.
    pub fn is_moving(&self) -> bool {
        self.homes.iter().any(|home| home.next.is_some()) || self.live().any(|host| host.leaving)
    }

    /// True if a host has to run a server of this home: because it is to own it, or prepares to.
    pub fn concerns(home: &PlacedHome, host: &str) -> bool {
        [&home.host, &home.next].into_iter().any(|it| it.as_deref() == Some(host))
    }

    /// Homes that each host which takes any is to own, once what is under way has ended.
    fn loads(&self) -> BTreeMap<&str, usize> {
        let takers = self.live().filter(|host| !host.leaving);
        let mut loads: BTreeMap<&str, usize> = takers.map(|host| (host.id.as_str(), 0)).collect();
        for home in &self.homes {
            let owner = home.next.as_deref().or(home.host.as_deref());
            if let Some(load) = owner.and_then(|owner| loads.get_mut(owner)) {
                *load += 1;
            }
        }
        loads
    }

    /// Changes that a host is to make now. `prepared` has the ids of homes of which it has the whole log.
    pub fn changes(&self, me: &str, prepared: &BTreeSet<String>) -> Vec<PlacementChange> {
        let mut loads = self.loads();
        let is_leaving = !loads.contains_key(me);
        let mut changes = Vec::new();
        let mut under_way = 0;
        let mut free = Vec::new();
        for home in &self.homes {
            let id = || home.id.clone();
            if home.next.as_deref() == Some(me) && !home.is_ready && prepared.contains(&home.id) {
                changes.push(PlacementChange::Ready { home: id() });
            }
            if home.host.as_deref() != Some(me) {
                continue;
            }
            let Some(next) = home.next.as_deref() else {
                free.push(home);
                continue;
            };
            if !loads.contains_key(next) || (home.is_busy && !is_leaving) {
                changes.push(PlacementChange::Withdraw { home: id() });
            } else if home.is_ready {
                changes.push(PlacementChange::Pass { home: id() });
            } else {
                under_way += 1;
            }
        }
        for home in free {
            let Some((to, fewest)) = fewest(&loads, me) else { break };
            let mine = loads.get(me).copied().unwrap_or_default();
            // Only the host with the most hands on, so that not all of them fill the same one.
            let may_move = under_way < MAX_MOVES
                && !home.is_busy
                && mine >= fewest + 2
                && most(&loads) == Some(me);
            if is_leaving || may_move {
                changes.push(PlacementChange::Offer { home: home.id.clone(), to: to.to_owned() });
                under_way += 1;
                *loads.entry(to).or_default() += 1;
                if let Some(mine) = loads.get_mut(me) {
                    *mine -= 1;
                }
            }
        }
        changes
    }
}

/// The host with the fewest homes, beside this one.
fn fewest<'l>(loads: &BTreeMap<&'l str, usize>, me: &str) -> Option<(&'l str, usize)> {
    let others = loads.iter().filter(|(id, _)| **id != me);
    others.min_by_key(|(_, load)| **load).map(|(id, load)| (*id, *load))
}

/// The host with the most homes; of several the first by id.
fn most<'l>(loads: &BTreeMap<&'l str, usize>) -> Option<&'l str> {
    loads.iter().max_by(|one, two| one.1.cmp(two.1).then(two.0.cmp(one.0))).map(|(id, _)| *id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host(id: &str) -> HostRow {
        let (id, url, version) = (id.to_owned(), format!("http://{id}:3000"), "1".to_owned());
        let note = HostNote { id, url, version, leaving: false };
        HostRow { note, age: Duration::ZERO }
    }

    fn home(number: usize, host: &str) -> PlacedHome {
        PlacedHome {
            id: format!("hm_{number:03}"),
            name: format!("home-{number:03}"),
            epoch: 1,
            owner_url: None,
            is_busy: false,
            host: Some(host.to_owned()),
            next: None,
            is_ready: false,
        }
    }

    fn view(hosts: &[(&str, usize)]) -> Placements {
        let mut homes = Vec::new();
        for (id, count) in hosts {
            for _ in 0..*count {
                homes.push(home(homes.len(), id));
            }
        }
        let hosts = hosts.iter().map(|(id, _)| host(id)).collect();
        Placements { hosts, homes, limit: Duration::from_secs(1) }
    }

    fn offers(changes: &[PlacementChange]) -> usize {
        changes.iter().filter(|it| matches!(it, PlacementChange::Offer { .. })).count()
    }

    /// Does to the rows what the statements of the store do.
    fn apply(view: &mut Placements, me: &str, changes: Vec<PlacementChange>) {
        for change in changes {
            let (PlacementChange::Offer { home, .. }
            | PlacementChange::Withdraw { home }
            | PlacementChange::Ready { home }
            | PlacementChange::Pass { home }) = &change;
            let row = view.homes.iter_mut().find(|row| row.id == *home).unwrap();
            let is_mine = row.host.as_deref() == Some(me);
            match change {
                PlacementChange::Offer { to, .. } if is_mine && row.next.is_none() => {
                    row.next = Some(to);
                }
                PlacementChange::Withdraw { .. } if is_mine => {
                    (row.next, row.is_ready) = (None, false);
                }
                PlacementChange::Ready { .. } if row.next.as_deref() == Some(me) => {
                    row.is_ready = true;
                }
                PlacementChange::Pass { .. } if is_mine && row.is_ready => {
                    (row.host, row.next, row.is_ready) = (row.next.take(), None, false);
                }
                PlacementChange::Offer { .. }
                | PlacementChange::Withdraw { .. }
                | PlacementChange::Ready { .. }
                | PlacementChange::Pass { .. } => {}
            }
        }
    }

    /// Lets all hosts decide on the same view until nobody has anything to do, and returns how many homes moved.
    fn settle(view: &mut Placements) -> usize {
        let mut moves = 0;
        for _ in 0..10_000 {
            let seen = view.clone();
            let all: BTreeSet<String> = seen.homes.iter().map(|home| home.id.clone()).collect();
            let mut is_quiet = true;
            for host in seen.live() {
                let changes = seen.changes(&host.id, &all);
                moves += changes
                    .iter()
                    .filter(|change| matches!(change, PlacementChange::Pass { .. }))
                    .count();
                is_quiet &= changes.is_empty();
                apply(view, &host.id, changes);
            }
            if is_quiet {
                return moves;
            }
        }
        panic!("it never settles: {view:?}");
    }

    fn counts(view: &Placements) -> Vec<usize> {
        view.loads().into_values().collect()
    }

    #[test]
    fn a_host_that_joins_gets_its_share_and_nothing_moves_afterwards() {
        let mut all = view(&[("a", 25), ("b", 25), ("c", 0)]);
        let first = all.changes("a", &BTreeSet::new());
        assert_eq!(offers(&first), 1, "then the other one has the most: {first:?}");
        assert_eq!(all.changes("b", &BTreeSet::new()), [], "only one of two equal hosts begins");
        let alone = view(&[("a", 25), ("b", 0)]);
        assert_eq!(offers(&alone.changes("a", &BTreeSet::new())), MAX_MOVES);
        assert_eq!(settle(&mut all), 16);
        assert_eq!(counts(&all), [17, 17, 16]);
        assert_eq!(settle(&mut all), 0);
    }

    #[test]
    fn a_difference_of_one_is_left_alone() {
        for loads in [[2, 1, 1], [1, 2, 2], [0, 0, 1]] {
            let mut all = view(&[("a", loads[0]), ("b", loads[1]), ("c", loads[2])]);
            assert_eq!(settle(&mut all), 0, "{loads:?}");
        }
    }

    #[test]
    fn a_host_that_ends_offers_everything_and_passes_on_what_is_prepared() {
        let mut all = view(&[("a", 4), ("b", 1), ("c", 2)]);
        assert!(!all.is_moving());
        all.hosts[0].note.leaving = true;
        assert!(all.is_moving(), "it is about to offer its homes");
        all.homes[0].is_busy = true;
        let changes = all.changes("a", &BTreeSet::new());
        assert_eq!(offers(&changes), 4, "{changes:?}");
        apply(&mut all, "a", changes);
        assert_eq!(all.changes("a", &BTreeSet::new()), [], "nobody has prepared yet");
        let prepared = BTreeSet::from([all.homes[0].id.clone()]);
        let next = all.homes[0].next.clone().unwrap();
        let ready = all.changes(&next, &prepared);
        assert_eq!(ready, [PlacementChange::Ready { home: all.homes[0].id.clone() }]);
        apply(&mut all, &next, ready);
        let passed = all.changes("a", &BTreeSet::new());
        assert_eq!(passed, [PlacementChange::Pass { home: all.homes[0].id.clone() }]);
        settle(&mut all);
        assert_eq!(counts(&all), [4, 3]);
        assert!(all.homes.iter().all(|home| home.host.as_deref() != Some("a")));
        // The last one has nobody to offer to.
        let mut alone = view(&[("a", 3)]);
        alone.hosts[0].note.leaving = true;
        assert_eq!(alone.changes("a", &BTreeSet::new()), []);
    }

    #[test]
    fn a_home_in_which_agents_work_stays_where_it_is() {
        let mut all = view(&[("a", 3), ("b", 0)]);
        all.homes.iter_mut().for_each(|home| home.is_busy = true);
        assert_eq!(all.changes("a", &BTreeSet::new()), []);
        all.homes[1].is_busy = false;
        let changes = all.changes("a", &BTreeSet::new());
        let moved = all.homes[1].id.clone();
        assert_eq!(changes, [PlacementChange::Offer { home: moved.clone(), to: "b".to_owned() }]);
        apply(&mut all, "a", changes);
        // An agent begins before it is passed on.
        (all.homes[1].is_busy, all.homes[1].is_ready) = (true, true);
        assert_eq!(all.changes("a", &BTreeSet::new()), [PlacementChange::Withdraw { home: moved }]);
    }

    #[test]
    fn an_offer_to_a_host_that_is_gone_is_withdrawn() {
        let mut all = view(&[("a", 2), ("b", 0)]);
        all.homes[0].next = Some("b".to_owned());
        all.hosts[1].age = Duration::from_secs(2);
        assert!(all.is_moving());
        let changes = all.changes("a", &BTreeSet::new());
        assert_eq!(changes, [PlacementChange::Withdraw { home: all.homes[0].id.clone() }]);
        apply(&mut all, "a", changes);
        all.hosts[1].note.leaving = true;
        assert!(!all.is_moving(), "one that is gone sends nothing away");
    }

    proptest! {
        /// Whatever the hosts begin with, they end with equal shares, and no home has moved more than once.
        #[test]
        fn all_hosts_end_with_equal_shares(loads in proptest::collection::vec(0..40_usize, 1..6)) {
            let names = ["a", "b", "c", "d", "e"];
            let hosts: Vec<_> = names.into_iter().zip(loads.iter().copied()).collect();
            let mut all = view(&hosts);
            let total: usize = loads.iter().sum();
            let share = total.div_ceil(loads.len());
            let surplus: usize = loads.iter().map(|load| load.saturating_sub(total / loads.len())).sum();
            let moves = settle(&mut all);
            let after = counts(&all);
            prop_assert!(after.iter().all(|load| *load <= share), "{after:?}");
            prop_assert!(after.iter().max().unwrap() - after.iter().min().unwrap() <= 1, "{after:?}");
            prop_assert!(moves <= surplus, "{moves} moves, {surplus} are enough");
        }
    }
}
