//! Leases: kept, waited for, lost, handed over.

use std::thread;
use std::time::Duration;

use store::{GiveUp, LeaseKeeper, LeaseState, StoreError, TakeOutcome};

use super::{LONG_LEASE, Ledger, owner, wait, write};

/// Waits for a state of a lease.
fn wait_for_state(keeper: &LeaseKeeper, wanted: LeaseState) {
    wait(async { keeper.state().wait_for(|state| *state == wanted).await.map(drop) }).unwrap();
}

#[test]
fn a_lease_is_kept_while_nothing_is_written() {
    let ledger = Ledger::start(&[]);
    let home = ledger.take("a", Duration::from_secs(1));
    let keeper = LeaseKeeper::start(ledger.client(), &home).unwrap();
    let (mut client, mut deadlines) = (ledger.client(), Vec::new());
    // Three renewals on, the first lease is over.
    while deadlines.len() < 4 {
        let expires = ledger.postgres.sql("SELECT expires_at FROM adjutant.home").unwrap();
        if deadlines.last() != Some(&expires) {
            deadlines.push(expires);
        }
        let taking = client.take("shop", &owner("b", LONG_LEASE)).unwrap();
        let TakeOutcome::Occupied(back, _) = taking else { break };
        client = *back;
    }
    assert_eq!(deadlines.len(), 4, "another server could take it");
    let known = ledger.client().home("shop").unwrap().unwrap().lease_left;
    assert!(home.lease().left() <= known, "the owner's deadline is the earlier one");
    assert_eq!(*keeper.state().borrow(), LeaseState::Held);
    drop(keeper);
    home.release().unwrap();
}

#[test]
fn an_owner_waits_while_postgresql_is_away_and_goes_on_when_it_is_back() {
    let mut ledger = Ledger::start(&[]);
    let home = ledger.take("a", Duration::from_secs(1));
    let keeper = LeaseKeeper::start(ledger.client(), &home).unwrap();
    wait_for_state(&keeper, LeaseState::Held);
    let store = ledger.open("a", home);
    write(&store, 1).unwrap();
    ledger.postgres.kill().unwrap();
    wait_for_state(&keeper, LeaseState::Waiting);
    thread::scope(|scope| {
        let writing = scope.spawn(|| write(&store, 2));
        ledger.postgres.run().unwrap();
        assert_eq!(writing.join().unwrap().unwrap().number, 2);
    });
    wait_for_state(&keeper, LeaseState::Held);
    assert_eq!(ledger.epochs(), "1 1");
}

#[test]
fn an_owner_learns_that_another_server_has_taken_the_home() {
    let ledger = Ledger::start(&[]);
    let home = ledger.take("a", Duration::from_secs(1));
    let (keeper, clock) = (LeaseKeeper::start(ledger.client(), &home).unwrap(), home.lease());
    // As if this process had been stopped for longer than its lease.
    let taken = "UPDATE adjutant.home SET epoch = epoch + 1, owner = 'b'";
    ledger.postgres.sql(taken).unwrap();
    wait_for_state(&keeper, LeaseState::Lost);
    assert_eq!(clock.state(), LeaseState::Lost);
}

#[test]
fn a_server_that_waits_takes_the_home_when_it_is_handed_over() {
    let ledger = Ledger::start(&[]);
    let store = ledger.server("a", LONG_LEASE);
    write(&store, 1).unwrap();
    let next = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let wanted = owner("b", LONG_LEASE);
            ledger.client().wait_and_take("shop", &wanted, &GiveUp::default()).unwrap()
        });
        wait(store.close());
        waiting.join().unwrap()
    });
    assert_eq!((next.epoch(), next.seq()), (2, 1));
    let give_up = GiveUp::default();
    give_up.give_up();
    let refused = ledger.client().wait_and_take("shop", &owner("c", LONG_LEASE), &give_up);
    assert!(matches!(refused, Err(StoreError::Away { .. })));
}
