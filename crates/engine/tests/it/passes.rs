//! Ways into the page: links, tabs, and how they end.

use engine::{Code, Opened, Principal, ToolError};
use model::{PassId, Timestamp};
use serde_json::json;
use store::AuditFilter;

use crate::support::World;

const MINUTE: i64 = 60;
const DAY: i64 = 24 * 60 * MINUTE;
const LOOK: Opened = Opened::ToLook { days: None };

fn reason(error: &ToolError) -> &str {
    assert_eq!(error.code, Code::Unauthenticated);
    assert_eq!(error.suggestions, ["run `adjutant open` for a new link"]);
    error.details["reason"].as_str().unwrap()
}

#[tokio::test]
async fn the_operators_link_works_once_and_for_ten_minutes() {
    let world = World::new();
    let link = world.engine.link_make(Opened::ToAct).await.unwrap();
    let entered = world.engine.log_in(&link.code).await.unwrap();
    assert!(!entered.read_only);
    assert_eq!(world.engine.authenticate(&entered.token).unwrap(), Some(Principal::Operator));
    let again = world.engine.log_in(&link.code).await.unwrap_err();
    assert_eq!(reason(&again), "used");
    let slow = world.engine.link_make(Opened::ToAct).await.unwrap();
    world.clock.advance_seconds(10 * MINUTE);
    assert_eq!(reason(&world.engine.log_in(&slow.code).await.unwrap_err()), "ended");
    assert_eq!(reason(&world.engine.log_in("adjlink_0").await.unwrap_err()), "unknown");
    assert_eq!(
        reason(&world.engine.log_in(&entered.token).await.unwrap_err()),
        "unknown",
        "a token is no code"
    );
    assert_eq!(world.engine.authenticate(&link.code).unwrap(), None, "a code is no token");
}

#[tokio::test]
async fn a_tab_is_out_after_thirty_days_also_one_that_was_just_in() {
    let world = World::new();
    let link = world.engine.link_make(Opened::ToAct).await.unwrap();
    let token = world.engine.log_in(&link.code).await.unwrap().token;
    world.clock.advance_seconds(30 * DAY - 1);
    let tab = world.engine.admit(&token).unwrap().unwrap().tab.unwrap();
    world.clock.advance_seconds(1);
    assert_eq!(world.engine.authenticate(&token).unwrap(), None);
    assert!(tab.void.is_cancelled(), "whoever serves it hears of it");
}

#[tokio::test]
async fn a_link_for_looking_works_as_often_as_wanted_and_its_tabs_end_with_it() {
    let world = World::new();
    let link = world.engine.link_make(LOOK).await.unwrap();
    let mut tokens = Vec::new();
    for _ in 0..3 {
        let entered = world.engine.log_in(&link.code).await.unwrap();
        assert_eq!((entered.read_only, entered.expires_at), (true, link.expires_at));
        assert_eq!(world.engine.authenticate(&entered.token).unwrap(), Some(Principal::Viewer));
        tokens.push(entered.token);
        world.clock.advance_seconds(DAY);
    }
    assert_eq!(world.engine.links(None, 10).unwrap().0[0].tabs, 3);
    world.clock.advance_seconds(4 * DAY);
    for token in &tokens {
        assert_eq!(world.engine.authenticate(token).unwrap(), None);
    }
    assert_eq!(reason(&world.engine.log_in(&link.code).await.unwrap_err()), "ended");
    assert!(world.engine.links(None, 10).unwrap().0.is_empty());
}

#[tokio::test]
async fn days_have_a_limit() {
    let world = World::new();
    for days in [0, 366, u32::MAX] {
        let days = Some(days);
        let refused = world.engine.link_make(Opened::ToLook { days }).await.unwrap_err();
        assert_eq!((refused.code, &refused.details["field"]), (Code::InvalidInput, &json!("days")));
    }
    let longest = world.engine.link_make(Opened::ToLook { days: Some(365) }).await.unwrap();
    let entered = world.engine.log_in(&longest.code).await.unwrap();
    let month = Timestamp::from_millis(world.engine.now().as_millis()).after_seconds(30 * DAY);
    assert_eq!(entered.expires_at, month, "a tab never stays in longer");
}

#[tokio::test]
async fn a_visitor_calls_no_tool() {
    let world = World::new();
    let refused = world.engine.caller(Principal::Viewer, None).unwrap_err();
    assert_eq!(refused.code, Code::PermissionDenied);
    let agent = world.enlist("worker").await;
    let refused = world.engine.caller(Principal::Viewer, Some(agent)).unwrap_err();
    assert_eq!(refused.message, "this link is read-only");
}

#[tokio::test]
async fn a_revoked_link_puts_out_its_tabs_and_no_others() {
    let world = World::new();
    let (one, other) =
        (world.engine.link_make(LOOK).await.unwrap(), world.engine.link_make(LOOK).await.unwrap());
    let token = world.engine.log_in(&one.code).await.unwrap().token;
    let stays = world.engine.log_in(&other.code).await.unwrap().token;
    let tab = world.engine.admit(&token).unwrap().unwrap().tab.unwrap();
    world.engine.admit(&stays).unwrap().unwrap();
    assert_eq!(world.engine.link_revoke(Some(one.id)).await.unwrap(), 1);
    assert!(tab.void.is_cancelled());
    assert_eq!(world.engine.authenticate(&token).unwrap(), None);
    assert_eq!(world.engine.authenticate(&stays).unwrap(), Some(Principal::Viewer));
    assert_eq!(reason(&world.engine.log_in(&one.code).await.unwrap_err()), "unknown");
    let unknown = world.engine.link_revoke(Some(PassId::from_bits(1))).await.unwrap_err();
    assert_eq!(unknown.code, Code::ResourceNotFound);
    assert_eq!(world.engine.link_revoke(None).await.unwrap(), 1);
    assert_eq!(world.engine.authenticate(&stays).unwrap(), None);
}

#[tokio::test]
async fn who_logs_out_is_out_and_alone() {
    let world = World::new();
    let link = world.engine.link_make(LOOK).await.unwrap();
    let [one, other] = [
        world.engine.log_in(&link.code).await.unwrap().token,
        world.engine.log_in(&link.code).await.unwrap().token,
    ];
    let tab = world.engine.admit(&one).unwrap().unwrap().tab.unwrap();
    world.engine.log_out(&tab).await.unwrap();
    assert_eq!(world.engine.authenticate(&one).unwrap(), None);
    assert_eq!(world.engine.authenticate(&other).unwrap(), Some(Principal::Viewer));
}

#[tokio::test]
async fn who_guesses_is_not_listened_to_for_a_while() {
    let world = World::new();
    let link = world.engine.link_make(LOOK).await.unwrap();
    for n in 0..30 {
        world.engine.log_in(&format!("adjlink_{n}")).await.unwrap_err();
    }
    let code = world.engine.log_in(&link.code).await.unwrap_err().code;
    assert_eq!(code, Code::RateLimited, "not even to a right code: that would tell it apart");
    world.clock.advance_seconds(3);
    for _ in 0..100 {
        world.engine.log_in(&link.code).await.unwrap();
    }
}

#[tokio::test]
async fn links_and_logins_are_on_record_without_their_secrets() {
    let world = World::new();
    let link = world.engine.link_make(LOOK).await.unwrap();
    let token = world.engine.log_in(&link.code).await.unwrap().token;
    world.engine.link_revoke(Some(link.id)).await.unwrap();
    let page = world.store.read(|tx| tx.audit_page(&AuditFilter::default(), 500)).unwrap();
    let rows: Vec<_> = page.items.iter().map(|row| (row.tool.as_str(), &row.body)).collect();
    let tools: Vec<&str> = rows.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(tools, ["operator__link", "operator__login", "operator__revoke"]);
    for (_, body) in rows {
        assert!(body.contains(&link.id.to_string()), "{body}");
        assert!(!body.contains(&link.code) && !body.contains(&token), "{body}");
    }
    let said = model::redact::redact(format!("{} {token}", link.code));
    assert_eq!(said, "adjlink_[redacted] adjtab_[redacted]", "nor if somebody pastes them");
}
