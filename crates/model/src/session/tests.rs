//! A loop's decisions, as a table and as properties.

use proptest::prelude::*;

use super::*;

fn standing() -> LoopProgress {
    LoopProgress {
        iteration: 3,
        last: Some(10),
        failures: 0,
        most_failures: 3,
        complete: false,
        request: None,
        spent: Usd::ZERO,
        budget: None,
    }
}

#[test]
fn what_follows_an_iteration() {
    let usd = Usd::from_dollars;
    let table: [(LoopProgress, Outcome, LoopAction); 14] = [
        (standing(), Outcome::Succeeded, LoopAction::Iterate(4)),
        (LoopProgress { iteration: 0, ..standing() }, Outcome::Succeeded, LoopAction::Iterate(1)),
        (
            LoopProgress { iteration: 10, ..standing() },
            Outcome::Succeeded,
            LoopAction::End(LoopState::Limit),
        ),
        (
            LoopProgress { iteration: 10, last: None, ..standing() },
            Outcome::Failed,
            LoopAction::Iterate(11),
        ),
        (LoopProgress { failures: 1, ..standing() }, Outcome::Failed, LoopAction::Iterate(4)),
        (
            LoopProgress { failures: 2, ..standing() },
            Outcome::Lost,
            LoopAction::End(LoopState::Failed),
        ),
        (LoopProgress { failures: 2, ..standing() }, Outcome::Succeeded, LoopAction::Iterate(4)),
        (LoopProgress { failures: 2, ..standing() }, Outcome::Killed, LoopAction::Pause),
        (
            LoopProgress { complete: true, iteration: 10, ..standing() },
            Outcome::Succeeded,
            LoopAction::End(LoopState::Completed),
        ),
        (
            LoopProgress { complete: true, ..standing() },
            Outcome::Killed,
            LoopAction::End(LoopState::Completed),
        ),
        (
            LoopProgress { request: Some(LoopRequest::Pause), ..standing() },
            Outcome::Succeeded,
            LoopAction::Pause,
        ),
        (
            LoopProgress { request: Some(LoopRequest::Stop), complete: true, ..standing() },
            Outcome::Killed,
            LoopAction::End(LoopState::Stopped),
        ),
        (
            LoopProgress { spent: usd(2.0), budget: Some(usd(2.0)), ..standing() },
            Outcome::OverBudget,
            LoopAction::End(LoopState::OverBudget),
        ),
        (
            LoopProgress { spent: usd(1.0), budget: Some(usd(2.0)), ..standing() },
            Outcome::OverBudget,
            LoopAction::Iterate(4),
        ),
    ];
    for (standing, outcome, next) in table {
        assert_eq!(decide(&standing, outcome), next, "{standing:?} {outcome:?}");
    }
}

fn any_standing() -> impl Strategy<Value = LoopProgress> {
    let request =
        prop_oneof![Just(None), Just(Some(LoopRequest::Pause)), Just(Some(LoopRequest::Stop))];
    let numbers = (0..20_u32, proptest::option::of(1..20_u32), 0..5_u32, 1..5_u32);
    let money = (0..5_i64, proptest::option::of(0..5_i64));
    (numbers, any::<bool>(), request, money).prop_map(
        |(numbers, complete, request, (spent, budget))| {
            let (iteration, last, failures, most_failures) = numbers;
            let (spent, budget) = (Usd::from_nanos(spent), budget.map(Usd::from_nanos));
            LoopProgress {
                iteration,
                last,
                failures,
                most_failures,
                complete,
                request,
                spent,
                budget,
            }
        },
    )
}

proptest! {
    #[test]
    fn no_iteration_is_skipped_or_done_twice_and_every_bound_holds(
        standing in any_standing(), outcome in proptest::sample::select(&Outcome::ALL[..]),
    ) {
        match decide(&standing, outcome) {
            LoopAction::Iterate(next) => {
                prop_assert_eq!(next, standing.iteration + 1);
                prop_assert!(standing.last.is_none_or(|last| next <= last));
                prop_assert!(standing.budget.is_none_or(|budget| standing.spent < budget));
                prop_assert!(failures_after(standing.failures, outcome) < standing.most_failures);
                prop_assert!(!standing.complete && standing.request.is_none());
                prop_assert!(outcome != Outcome::Killed);
            }
            LoopAction::Pause => prop_assert!(
                outcome == Outcome::Killed || standing.request == Some(LoopRequest::Pause)
            ),
            LoopAction::End(state) => prop_assert!(state.is_over()),
        }
    }

    #[test]
    fn a_loop_with_a_limit_comes_to_its_end(
        last in 1..20_u32, outcomes in proptest::collection::vec(
            proptest::sample::select(vec![Outcome::Succeeded, Outcome::Failed, Outcome::Lost]), 40
        ),
    ) {
        let mut standing = LoopProgress { iteration: 0, last: Some(last), ..standing() };
        for outcome in outcomes {
            let next = decide(&standing, outcome);
            standing.failures = failures_after(standing.failures, outcome);
            match next {
                LoopAction::Iterate(number) => standing.iteration = number,
                LoopAction::End(state) => {
                    prop_assert!(matches!(state, LoopState::Limit | LoopState::Failed));
                    return Ok(());
                }
                LoopAction::Pause => prop_assert!(false, "nobody wanted it to wait"),
            }
        }
        prop_assert!(false, "it never ended");
    }
}

#[test]
fn names_that_stand_in_paths_and_on_command_lines() {
    for good in ["auth", "auth-2", "v1.2_x", "7"] {
        assert_eq!(check_name(good), Ok(()), "{good}");
    }
    let long = "x".repeat(MAX_NAME_BYTES + 1);
    for bad in ["", "a/b", "..", "-x", ".x", "a b", "a\nb", "a\u{7}", "é", &long] {
        assert_eq!(check_name(bad), Err(BadName::Form), "{bad:?}");
    }
    for word in RESERVED_NAMES {
        assert_eq!(check_name(word), Err(BadName::Reserved(word.to_owned())));
    }
}

#[test]
fn names_survive_parsing() {
    for state in LoopState::ALL {
        assert_eq!(LoopState::parse(state.name()), Some(*state));
    }
    for phase in Phase::ALL {
        assert_eq!(Phase::parse(phase.name()), Some(*phase));
    }
    for moment in Moment::ALL {
        assert_eq!(Moment::parse(moment.name()), Some(*moment));
    }
}
