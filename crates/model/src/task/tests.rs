//! A task moves only as the table says, whatever is requested.

use super::words::VOCABULARY;
use super::*;
use proptest::prelude::*;

fn any_move() -> impl Strategy<Value = TaskMove> {
    let claim = || {
        prop::option::of((any::<u64>(), 1..5_u32, 1..99_i64).prop_map(|(bits, attempt, number)| {
            Claim { holder: AgentId::from_bits(bits), attempt, number }
        }))
    };
    prop_oneof![
        any::<u64>().prop_map(|bits| TaskMove::Assign { to: AgentId::from_bits(bits) }),
        claim().prop_map(|claim| TaskMove::Start { claim }),
        Just(TaskMove::Submit),
        Just(TaskMove::Block { reason: None }),
        Just(TaskMove::Complete),
        Just(TaskMove::Fail { reason: Some("no".into()) }),
        Just(TaskMove::Cancel { reason: None }),
        Just(TaskMove::Release),
    ]
}

fn membership() -> impl Strategy<Value = EpicMembership> {
    prop_oneof![Just(EpicMembership::Alone), Just(EpicMembership::InEpic)]
}

/// The office's table and the additions of the specification, as pairs.
fn legal(from: TaskStateName, to: TaskStateName, membership: EpicMembership) -> bool {
    use TaskStateName::{
        Assigned, Blocked, Cancelled, Completed, Failed, InProgress, Pending, Review,
    };
    from == to
        || match from {
            Pending => matches!(to, Assigned | InProgress | Cancelled),
            Assigned => matches!(to, InProgress | Pending | Cancelled),
            InProgress => {
                matches!(to, Review | Blocked | Failed | Cancelled | Pending)
                    || (to == Completed && membership == EpicMembership::Alone)
            }
            Review => matches!(to, Completed | InProgress | Blocked),
            Blocked => matches!(to, InProgress | Failed | Cancelled | Pending),
            Failed => matches!(to, InProgress),
            Cancelled => matches!(to, Pending),
            Completed => false,
        }
}

#[test]
fn every_advised_move_is_legal_and_leads_on() {
    for from in TaskStateName::ALL {
        for to in TaskStateName::ALL {
            for membership in [EpicMembership::Alone, EpicMembership::InEpic] {
                if legal(from, to, membership) {
                    continue;
                }
                // Every step that is advised brings it nearer, until it is there or nothing is advised any more.
                let mut at = from;
                let mut seen = vec![from];
                while let Some(next) = (IllegalMove { from: at, to, membership }).first_step() {
                    assert!(legal(at, next, membership), "{at:?} to {to:?}: {next:?}");
                    // What was begun does not go back by a word in the office.
                    assert!(next != TaskStateName::Pending || at == TaskStateName::Cancelled);
                    assert!(!seen.contains(&next), "{from:?} to {to:?} goes in circles: {seen:?}");
                    seen.push(next);
                    at = next;
                    if legal(at, to, membership) {
                        break;
                    }
                }
                let error = IllegalMove { from, to, membership };
                let is_told_otherwise =
                    (to, membership) == (TaskStateName::Completed, EpicMembership::InEpic);
                if let Some(first) = error.first_step().filter(|_| !is_told_otherwise) {
                    assert!(error.to_string().contains(first.stored()), "{error}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn only_legal_moves_are_made(moves in prop::collection::vec(any_move(), 0..40), membership in membership()) {
        let mut state = TaskState::Pending;
        for task_move in moves {
            let (from, to) = (state.name(), task_move.target());
            match state.apply(task_move, membership) {
                Ok(next) => {
                    prop_assert_eq!(next.name(), to);
                    prop_assert!(legal(from, to, membership), "{:?} -> {:?}", from, to);
                    state = next;
                }
                Err(error) => prop_assert!(from == to || !legal(from, to, membership), "{}", error),
            }
        }
    }

    #[test]
    fn no_claim_outlives_the_work(moves in prop::collection::vec(any_move(), 0..40), membership in membership()) {
        let mut state = TaskState::Pending;
        for task_move in moves {
            state = state.apply_through(&task_move, membership).unwrap_or(state);
            let working = matches!(
                state.name(),
                TaskStateName::InProgress | TaskStateName::Review | TaskStateName::Blocked
            );
            prop_assert!(working || state.claim().is_none());
        }
    }

    #[test]
    fn skipping_never_leaves_completed_nor_skips_a_review(task_move in any_move(), before in any_move()) {
        let done = TaskState::Completed.apply_through(&task_move, EpicMembership::InEpic);
        prop_assert!(done.is_err() || done == Ok(TaskState::Completed));
        let state = TaskState::Pending.apply_through(&before, EpicMembership::InEpic).unwrap_or(TaskState::Pending);
        if state.name() != TaskStateName::Review && state.name() != TaskStateName::Completed {
            prop_assert!(state.apply_through(&TaskMove::Complete, EpicMembership::InEpic).is_err());
        }
    }

    #[test]
    fn no_text_makes_a_reference_panic(text in any::<String>()) {
        if let Ok(parsed) = text.parse::<TaskRef>() {
            prop_assert_eq!(parsed.to_string().parse::<TaskRef>().unwrap(), parsed);
        }
    }
}

#[test]
fn remaining_to_completed_passes_in_progress() {
    let done = TaskState::Pending.apply_through(&TaskMove::Complete, EpicMembership::Alone);
    assert_eq!(done, Ok(TaskState::Completed));
    assert!(TaskState::Pending.apply(TaskMove::Complete, EpicMembership::Alone).is_err());
}

#[test]
fn the_table_is_in_the_order_of_the_enum() {
    for state in TaskStateName::ALL {
        assert_eq!(VOCABULARY[state as usize].0, state);
        assert_eq!(TaskStateName::parse(state.stored()), Some(state));
        assert!(state.office().stored().any(|stored| stored == state));
        assert!(state.session().stored().any(|stored| stored == state));
        let json = serde_json::to_value(state).unwrap();
        assert_eq!(json, state.stored(), "the stored name and the wire name are one");
    }
    assert_eq!(OfficeState::Failed.stored().next(), Some(TaskStateName::Failed));
    assert_eq!(SessionStatus::Remaining.stored().next(), Some(TaskStateName::Pending));
    assert_eq!(SessionStatus::Blocked.stored().next(), Some(TaskStateName::Blocked));
}

#[test]
fn a_refused_move_says_what_to_do() {
    let error = TaskState::InProgress { claim: None }
        .apply(TaskMove::Complete, EpicMembership::InEpic)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "a task that is in_progress cannot become completed: it belongs to an epic and is completed through review"
    );
    let handed_in = TaskState::Pending.apply(TaskMove::Submit, EpicMembership::Alone).unwrap_err();
    assert_eq!(
        handed_in.to_string(),
        "a task that is pending cannot become review: no agent has begun it; move it to in_progress first"
    );
}

#[test]
fn a_task_has_three_names() {
    assert_eq!("TAS-12".parse(), Ok(TaskRef::Number(12)));
    assert_eq!("tas-12".parse(), Ok(TaskRef::Number(12)));
    assert_eq!("fix-parser-1115-1205".parse(), Ok(TaskRef::Slug("fix-parser-1115-1205".into())));
    assert!("task_12".parse::<TaskRef>().is_err());
    assert!("../../etc".parse::<TaskRef>().is_err());
}
