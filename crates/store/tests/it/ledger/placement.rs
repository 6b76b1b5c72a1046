//! Hosts and the homes that they are to own, as rows of a real PostgreSQL.

use std::time::Duration;

use model::placement::{HostNote, PlacementChange};
use store::LedgerClient;

use super::{Ledger, new_home};

/// Longer than any test takes.
const LIMIT: Duration = Duration::from_secs(300);

fn note(id: &str) -> HostNote {
    let (url, version) = (format!("http://{id}:3000"), "1".to_owned());
    HostNote { id: id.to_owned(), url, version, leaving: false }
}

/// A PostgreSQL with so many homes, and hosts that are there.
fn with_homes(count: usize, hosts: &[&str]) -> (Ledger, LedgerClient) {
    let ledger = Ledger::start(&[]);
    let mut client = ledger.client();
    client.make_host_tables().unwrap();
    for number in 1..count {
        let (id, name) = (format!("hm_{}", number + 1), format!("home-{number}"));
        client.create_home(&new_home(&id, &name, None, ledger.dir.path()), |_| Ok(())).unwrap();
    }
    for host in hosts {
        assert_eq!(client.note_host(&note(host)).unwrap(), None, "it is new");
    }
    (ledger, client)
}

/// Number of homes that a host is to own.
fn placed_at(client: &mut LedgerClient, host: &str) -> usize {
    let homes = client.placed_homes().unwrap();
    homes.iter().filter(|home| home.host.as_deref() == Some(host)).count()
}

/// Makes a host one that was not heard of for long.
fn lose(ledger: &Ledger, host: &str) {
    let long_ago = "UPDATE adjutant.server SET seen_at = now() - INTERVAL '1 hour' WHERE id = ";
    ledger.postgres.sql(&format!("{long_ago}'{host}'")).unwrap();
}

#[test]
fn a_host_takes_its_share_of_the_homes_that_no_live_host_is_to_own() {
    let (ledger, mut client) = with_homes(7, &["a"]);
    client.claim_homes("a", LIMIT).unwrap();
    assert_eq!(placed_at(&mut client, "a"), 7, "it is alone");
    client.note_host(&note("b")).unwrap();
    client.claim_homes("b", LIMIT).unwrap();
    assert_eq!(placed_at(&mut client, "b"), 0, "what another is to own is left to it");
    client.note_host(&HostNote { leaving: true, ..note("c") }).unwrap();
    lose(&ledger, "a");
    client.claim_homes("b", LIMIT).unwrap();
    assert_eq!(placed_at(&mut client, "b"), 7, "one that ends takes nothing");
    let silence = client.note_host(&note("a")).unwrap().unwrap();
    assert!(silence >= Duration::from_secs(3_600), "{silence:?}");
    client.claim_homes("a", LIMIT).unwrap();
    assert_eq!(placed_at(&mut client, "a"), 0, "it comes back too late");
}

#[test]
fn hosts_that_claim_at_once_share_the_homes_and_none_is_given_twice() {
    let (ledger, mut client) = with_homes(9, &["a", "b", "c"]);
    let claimed = ["a", "b", "c"].map(|host| {
        let mut client = ledger.client();
        std::thread::spawn(move || (0..20).for_each(|_| client.claim_homes(host, LIMIT).unwrap()))
    });
    for claiming in claimed {
        claiming.join().unwrap();
    }
    for host in ["a", "b", "c"] {
        assert_eq!(placed_at(&mut client, host), 3, "{host}");
    }
}

#[test]
fn a_placement_is_changed_by_the_host_that_it_names_and_by_nobody_else() {
    let (ledger, mut client) = with_homes(1, &["a", "b", "c"]);
    client.claim_homes("a", LIMIT).unwrap();
    let home = || "hm_1".to_owned();
    let mut change = |host: &str, change: PlacementChange| {
        client.change_placement(host, &change).unwrap();
        let row = client.placed_homes().unwrap().remove(0);
        (row.host.unwrap(), row.next, row.is_ready)
    };
    let rows = |host: &str, next: Option<&str>, is_ready| {
        (host.to_owned(), next.map(str::to_owned), is_ready)
    };
    let offer = |to: &str| PlacementChange::Offer { home: home(), to: to.to_owned() };
    assert_eq!(change("b", offer("b")), rows("a", None, false));
    assert_eq!(change("a", offer("b")), rows("a", Some("b"), false));
    assert_eq!(change("a", offer("c")), rows("a", Some("b"), false), "it is offered already");
    let pass = || PlacementChange::Pass { home: home() };
    assert_eq!(change("a", pass()), rows("a", Some("b"), false), "nobody is ready");
    let ready = || PlacementChange::Ready { home: home() };
    assert_eq!(change("c", ready()), rows("a", Some("b"), false));
    assert_eq!(change("b", ready()), rows("a", Some("b"), true));
    assert_eq!(change("b", pass()), rows("a", Some("b"), true));
    let withdraw = || PlacementChange::Withdraw { home: home() };
    assert_eq!(change("b", withdraw()), rows("a", Some("b"), true));
    assert_eq!(change("a", withdraw()), rows("a", None, false));
    change("a", offer("b"));
    change("b", ready());
    assert_eq!(change("a", pass()), rows("b", None, false));
    client.remove_host("b").unwrap();
    assert_eq!(client.placed_homes().unwrap()[0].host, None);
    let hosts: Vec<_> = client.hosts().unwrap().into_iter().map(|row| row.note.id).collect();
    assert_eq!(hosts, ["a", "c"]);
    // A home that is removed takes its placement along.
    client.claim_homes("a", LIMIT).unwrap();
    ledger.postgres.sql("DELETE FROM adjutant.home").unwrap();
    assert_eq!(ledger.postgres.sql("SELECT COUNT(*) FROM adjutant.placement").unwrap(), "0");
}
