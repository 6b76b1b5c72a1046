//! A loop's decisions, as a table and as properties.

use proptest::prelude::*;

use super::*;

fn standing() -> Standing {
    Standing {
        iteration: 3,
        last: Some(10),
        failures: 0,
        most_failures: 3,
        complete: false,
        wish: None,
        spent: Usd::ZERO,
        budget: None,
    }
}

#[test]
fn what_follows_an_iteration() {
    let usd = Usd::from_dollars;
    let table: [(Standing, Outcome, Next); 14] = [
        (standing(), Outcome::Succeeded, Next::Iterate(4)),
        (Standing { iteration: 0, ..standing() }, Outcome::Succeeded, Next::Iterate(1)),
        (Standing { iteration: 10, ..standing() }, Outcome::Succeeded, Next::End(LoopState::Limit)),
        (Standing { iteration: 10, last: None, ..standing() }, Outcome::Failed, Next::Iterate(11)),
        (Standing { failures: 1, ..standing() }, Outcome::Failed, Next::Iterate(4)),
        (Standing { failures: 2, ..standing() }, Outcome::Lost, Next::End(LoopState::Failed)),
        (Standing { failures: 2, ..standing() }, Outcome::Succeeded, Next::Iterate(4)),
        (Standing { failures: 2, ..standing() }, Outcome::Killed, Next::Pause),
        (
            Standing { complete: true, iteration: 10, ..standing() },
            Outcome::Succeeded,
            Next::End(LoopState::Completed),
        ),
        (
            Standing { complete: true, ..standing() },
            Outcome::Killed,
            Next::End(LoopState::Completed),
        ),
        (Standing { wish: Some(LoopWish::Pause), ..standing() }, Outcome::Succeeded, Next::Pause),
        (
            Standing { wish: Some(LoopWish::Stop), complete: true, ..standing() },
            Outcome::Killed,
            Next::End(LoopState::Stopped),
        ),
        (
            Standing { spent: usd(2.0), budget: Some(usd(2.0)), ..standing() },
            Outcome::OverBudget,
            Next::End(LoopState::OverBudget),
        ),
        (
            Standing { spent: usd(1.0), budget: Some(usd(2.0)), ..standing() },
            Outcome::OverBudget,
            Next::Iterate(4),
        ),
    ];
    for (standing, outcome, next) in table {
        assert_eq!(decide(&standing, outcome), next, "{standing:?} {outcome:?}");
    }
}

fn any_standing() -> impl Strategy<Value = Standing> {
    let wish = prop_oneof![Just(None), Just(Some(LoopWish::Pause)), Just(Some(LoopWish::Stop))];
    let numbers = (0..20_u32, proptest::option::of(1..20_u32), 0..5_u32, 1..5_u32);
    let money = (0..5_i64, proptest::option::of(0..5_i64));
    (numbers, any::<bool>(), wish, money).prop_map(|(numbers, complete, wish, (spent, budget))| {
        let (iteration, last, failures, most_failures) = numbers;
        let (spent, budget) = (Usd::from_nanos(spent), budget.map(Usd::from_nanos));
        Standing { iteration, last, failures, most_failures, complete, wish, spent, budget }
    })
}

proptest! {
    #[test]
    fn no_iteration_is_skipped_or_done_twice_and_every_bound_holds(
        standing in any_standing(), outcome in proptest::sample::select(&Outcome::ALL[..]),
    ) {
        match decide(&standing, outcome) {
            Next::Iterate(next) => {
                prop_assert_eq!(next, standing.iteration + 1);
                prop_assert!(standing.last.is_none_or(|last| next <= last));
                prop_assert!(standing.budget.is_none_or(|budget| standing.spent < budget));
                prop_assert!(failures_after(standing.failures, outcome) < standing.most_failures);
                prop_assert!(!standing.complete && standing.wish.is_none());
                prop_assert!(outcome != Outcome::Killed);
            }
            Next::Pause => prop_assert!(
                outcome == Outcome::Killed || standing.wish == Some(LoopWish::Pause)
            ),
            Next::End(state) => prop_assert!(state.is_over()),
        }
    }

    #[test]
    fn a_loop_with_a_limit_comes_to_its_end(
        last in 1..20_u32, outcomes in proptest::collection::vec(
            proptest::sample::select(vec![Outcome::Succeeded, Outcome::Failed, Outcome::Lost]), 40
        ),
    ) {
        let mut standing = Standing { iteration: 0, last: Some(last), ..standing() };
        for outcome in outcomes {
            let next = decide(&standing, outcome);
            standing.failures = failures_after(standing.failures, outcome);
            match next {
                Next::Iterate(number) => standing.iteration = number,
                Next::End(state) => {
                    prop_assert!(matches!(state, LoopState::Limit | LoopState::Failed));
                    return Ok(());
                }
                Next::Pause => prop_assert!(false, "nobody wanted it to wait"),
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
    let long = "x".repeat(LONGEST_NAME + 1);
    for bad in ["", "a/b", "..", "-x", ".x", "a b", "a\nb", "a\u{7}", "é", &long] {
        assert_eq!(check_name(bad), Err(BadName::Form), "{bad:?}");
    }
    for word in RESERVED {
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
