//! Health of supervisors, decided from the record.

use super::*;

const THRESHOLD: u32 = 7;

fn supervisor(state: AgentState) -> Agent {
    let at = Timestamp::from_millis(1_763_208_309_042);
    Agent {
        number: 1,
        id: AgentId::from_bits(1),
        role: SUPERVISOR.to_owned(),
        category: SUPERVISOR.to_owned(),
        kind: "script".to_owned(),
        parent: None,
        depth: 0,
        task: None,
        epic: None,
        session: None,
        iteration: None,
        state,
        attempt: 1,
        cwd: None,
        tmux_session: None,
        created_at: at,
        updated_at: at,
        last_active_at: at,
        rights: 0,
    }
}

fn after(agent: &Agent, waiting: Waiting, seconds: i64) -> HealthStatus {
    let now = agent.last_active_at.after_seconds(seconds);
    Health::of(agent, waiting, THRESHOLD, now).status
}

#[test]
fn who_is_not_heard_of_for_seven_minutes_is_silent() {
    let agent = supervisor(AgentState::Running);
    assert_eq!(after(&agent, Waiting::No, 0), HealthStatus::Healthy);
    assert_eq!(after(&agent, Waiting::No, 7 * 60 - 1), HealthStatus::Healthy);
    assert_eq!(after(&agent, Waiting::No, 7 * 60), HealthStatus::Silent);
    assert_eq!(after(&supervisor(AgentState::Starting), Waiting::No, 420), HealthStatus::Silent);
}

#[test]
fn who_waits_with_a_reason_is_healthy_for_ever() {
    let day = 24 * 3600;
    assert_eq!(
        after(&supervisor(AgentState::Running), Waiting::ForOthers, day),
        HealthStatus::Healthy
    );
    for state in [
        AgentState::Queued,
        AgentState::WaitingReview,
        AgentState::WaitingInput,
        AgentState::Limited { until: Timestamp::from_millis(1_863_208_309_042) },
    ] {
        let agent = supervisor(state);
        let health =
            Health::of(&agent, Waiting::No, THRESHOLD, agent.last_active_at.after_seconds(day));
        assert_eq!((health.status, health.minutes), (HealthStatus::Healthy, 24 * 60));
        assert!(health.reason.is_some(), "it is said why");
    }
}

#[test]
fn who_has_ended_is_ended_whatever_else_is_known() {
    let at = Timestamp::from_millis(1);
    for outcome in Outcome::ALL {
        let agent = supervisor(AgentState::Ended { outcome, reason: "why".to_owned(), at });
        for waiting in [Waiting::No, Waiting::ForOthers] {
            assert_eq!(after(&agent, waiting, 0), HealthStatus::Ended);
        }
    }
}
