//! Plans as people write them, and what becomes of one.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// A plan in a line a step: number, title, what it needs, and whether it is done.
fn told(plan: &str) -> Vec<String> {
    let plan = read(plan).unwrap_or_else(|error| panic!("{error}\n{plan}"));
    plan.steps
        .iter()
        .map(|step| {
            let done = if step.is_done { " done" } else { "" };
            format!("{} {} {:?}{done}", step.number, step.title, step.needs)
        })
        .collect()
}

fn wrong(plan: &str) -> String {
    match read(plan) {
        Ok(plan) => panic!("it was read: {plan:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_heading_that_names_a_step_is_one() {
    let plan = "# Release\n\nWhy.\n\n## Step 1: Notes\nWrite.\n\n### 1. Not a step\nx\n## Background\ny\n\
        ## Step 2 - Build\nDepends on: 1\nRole: coder\nBudget: $2.50\n\n```\n## Step 3: code\n```\n\
        # Appendix\nz\n";
    let read = read(plan).unwrap();
    assert_eq!(read.title.as_deref(), Some("Release"));
    assert_eq!(
        read.steps,
        [
            ParsedStep {
                number: 1,
                title: "Notes".to_owned(),
                text: "Write.\n\n### 1. Not a step\nx".to_owned(),
                line: 5,
                needs: Vec::new(),
                is_done: false,
                role: None,
                budget: None,
            },
            ParsedStep {
                number: 2,
                title: "Build".to_owned(),
                text: "Depends on: 1\nRole: coder\nBudget: $2.50\n\n```\n## Step 3: code\n```"
                    .to_owned(),
                line: 12,
                needs: vec![1],
                is_done: false,
                role: Some("coder".to_owned()),
                budget: Some(Usd::from_dollars(2.5)),
            },
        ]
    );
}

#[test]
fn headings_are_written_in_many_ways() {
    for heading in [
        "## Step 3: Build it",
        "### 3. Build it",
        "# 3) Build it",
        "## step 3 Build it",
        "## Step 3 – Build it",
        "## **Step 3:** Build it",
        "## [ ] Step 3: Build it ##",
        "   ## 3: Build it",
    ] {
        assert_eq!(told(heading), ["3 Build it []"], "{heading}");
    }
    assert_eq!(told("## Step 7"), ["7 Step 7 []"]);
    assert_eq!(read("# Step 1: A\n").unwrap().title, None);
}

#[test]
fn a_step_may_be_marked_as_done_in_many_ways() {
    let plan = "## [x] Step 1: A\n## Step 2: B ✅\n## Step 3: C (done)\n## Step 4: D\nStatus: done\n\
        ## Step 5: E\n**Status:** Completed.\n## Step 6: F\nStatus: not done\n";
    let done: Vec<bool> = read(plan).unwrap().steps.iter().map(|step| step.is_done).collect();
    assert_eq!(done, [true, true, true, true, true, false]);
    assert_eq!(told("## Step 2: B ✅\n"), ["2 B [] done"]);
}

#[test]
fn where_no_heading_names_a_step_a_list_does() {
    let plan = "# Tidy up\n\nIntro.\n\n1. Sort\n   the files\n\n   - Depends on: nothing\n2. [x] **Count** them\n\
        3. Tell\n   - After: 1 and 2.\n\nAll of it by Friday.\n\n## Notes\n- one\n";
    assert_eq!(told(plan), ["1 Sort []", "2 Count them [] done", "3 Tell [1, 2]"]);
    let steps = read(plan).unwrap().steps;
    assert_eq!(steps[0].text, "1. Sort\n   the files\n\n   - Depends on: nothing");
    assert_eq!(steps[2].text, "3. Tell\n   - After: 1 and 2.");
    let boxes = "- not this\n- [ ] One\n  - [ ] inner\n* [X] Two\n## Later\n- [ ] Three\n";
    assert_eq!(told(boxes), ["1 One []", "2 Two [] done", "3 Three []"]);
    assert_eq!(told("1. a\n1. b\n1. c\n"), ["1 a []", "2 b []", "3 c []"]);
}

#[test]
fn others_are_named_by_number_or_by_title() {
    let plan = |depends: &str| {
        format!("## Step 1: Read, then think\n## Step 2: Write\n## Step 3: Go\n{depends}\n")
    };
    for (depends, needs) in [
        ("Depends on: 1, 2", "[1, 2]"),
        ("- **Depends on:** step 1 and step 2", "[1, 2]"),
        ("After: #2", "[2]"),
        ("Depends on: steps 1 & 2, 2", "[1, 2]"),
        ("depends on: `write`", "[2]"),
        ("Depends on: Read, then think", "[1]"),
        ("Depends on: Step 2: Write", "[2]"),
        ("Depends: 1 and write.", "[1, 2]"),
        ("Depends on: none", "[]"),
        ("Depends on:", "[]"),
        ("After the rain, go.", "[]"),
        ("```\nDepends on: 9\n```", "[]"),
    ] {
        let told = told(&plan(depends));
        assert_eq!(told[2], format!("3 Go {needs}"), "{depends}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (plan, problem) in [
        ("", "it is empty"),
        (" \n\t\n", "it is empty"),
        ("a\0b", "it is no text"),
        ("# Plan\n\nDo it.\n", "there is no step in it"),
        ("```\n## Step 1: x\n```\n", "there is no step in it"),
        (
            "## Step 1: A\n## Step 2: B\nDepends on: 7\n",
            "line 3: step 2 depends on `7`, which is not a step",
        ),
        (
            "## Step 1: Build\n## Step 2: B\nDepends on: buidl\n",
            "line 3: step 2 depends on `buidl`, which is not a step; did you mean `Build`?",
        ),
        (
            "## Step 1: A\nAfter: 3\n## Step 2: B\nAfter: 1\n## Step 3: C\nAfter: 2\n",
            "line 6: step 3 → step 2 → step 1 → step 3: each would wait for the other",
        ),
        ("## Step 1: A\nAfter: 1\n", "line 2: step 1 → step 1: each would wait for the other"),
        (
            "## Step 1: Same\n\n## Step 2:  same\n",
            "line 3: `same` is the title of a step on line 1 too",
        ),
        (
            "## Step 2: A\n## Step 1: B\n",
            "line 2: step 1 follows step 2 (line 1): number them in their order",
        ),
        (
            "## Step 2: A\n## Step 2: B\n",
            "line 2: step 2 follows step 2 (line 1): number them in their order",
        ),
        (
            "## Step 1: A\n## Step 2a: B\n",
            "line 2: `Step 2a: B` needs a number, such as `Step 3: Title`",
        ),
        (
            "## Step 1: A\nBudget: much\n",
            "line 2: `much` is not an amount of dollars such as `2.50`",
        ),
        ("## Step 1: A\nBudget: -1\n", "line 2: `-1` is not an amount of dollars such as `2.50`"),
        (
            "1. a\n2. b\n\n1. c\n",
            "line 4: a second list begins: steps are one list, or headings such as `## Step 3: Title`",
        ),
        ("- [ ] \n", "line 1: the step is empty"),
    ] {
        assert_eq!(wrong(plan), problem, "{plan}");
    }
    let long = format!("## Step 1: {}\n", "x".repeat(201));
    assert_eq!(wrong(&long), "line 1: the title is longer than 200 characters");
    let huge = "x".repeat(MAX_PLAN_BYTES + 1);
    assert_eq!(wrong(&huge), "it is 262145 bytes; the limit is 262144");
    let many: Vec<String> = (1..=201).map(|n| format!("## Step {n}: s{n}")).collect();
    assert_eq!(wrong(&many.join("\n")), "line 201: a plan has at most 200 steps");
}

#[test]
fn the_example_is_a_plan() {
    assert_eq!(told(EXAMPLE_PLAN), ["1 Write the notes []", "2 Build the packages [1]"]);
}

#[test]
fn what_becomes_of_a_plan_follows_from_how_its_coordinator_ended() {
    use PlanAction::{Another, Over};
    use PlanState::{Completed, Failed, OverBudget, Stopped};
    let turn = CoordinatorEnd {
        outcome: Outcome::Succeeded,
        by: CoordinatorEndCause::Itself,
        open: 0,
        failed: 0,
        tries: 1,
        most: 3,
    };
    assert_eq!(turn.next(), Over(Completed));
    assert_eq!(CoordinatorEnd { failed: 1, ..turn }.next(), Over(Failed));
    assert_eq!(CoordinatorEnd { open: 1, ..turn }.next(), Another);
    assert_eq!(CoordinatorEnd { open: 1, tries: 3, ..turn }.next(), Over(Failed));
    for outcome in [Outcome::Failed, Outcome::Lost, Outcome::TimedOut, Outcome::Killed] {
        let ended = CoordinatorEnd { outcome, open: 2, ..turn };
        assert_eq!(ended.next(), Another, "{outcome:?}");
        assert_eq!(
            CoordinatorEnd { open: 0, ..ended }.next(),
            Another,
            "nobody said that it is done"
        );
        assert_eq!(CoordinatorEnd { tries: 3, ..ended }.next(), Over(Failed), "{outcome:?}");
        assert_eq!(
            CoordinatorEnd { by: CoordinatorEndCause::Request, ..ended }.next(),
            Over(Stopped),
            "{outcome:?}"
        );
    }
    let spent = CoordinatorEnd { outcome: Outcome::OverBudget, open: 1, ..turn };
    assert_eq!(spent.next(), Over(OverBudget));
    assert_eq!(CoordinatorEnd { tries: 9, ..spent }.next(), Over(OverBudget));
    // Done is done, though somebody wanted it to end.
    assert_eq!(CoordinatorEnd { by: CoordinatorEndCause::Request, ..turn }.next(), Over(Completed));
    assert_eq!(
        CoordinatorEnd { by: CoordinatorEndCause::Request, open: 1, ..turn }.next(),
        Over(Stopped)
    );
}

#[test]
fn states_survive_their_names() {
    for state in PlanState::ALL {
        assert_eq!(PlanState::parse(state.name()), Some(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.name());
    }
}

/// Lines of which plans are made, good and bad.
const LINES: &str = "(#{1,4} )?(Step )?([0-9]{1,2}[.:)]? )?(- |\\* )?(\\[[ x]\\] )?(Depends on: |After: |Role: |Budget: |\
    Status: |```|~~~)?[a-c ,0-9]{0,6}\r?";

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        drop(read(&text));
    }

    #[test]
    fn what_is_read_is_in_order_and_is_what_was_written(
        lines in prop::collection::vec(LINES, 0..30)
    ) {
        let text = lines.join("\n");
        let Ok(plan) = read(&text) else { return Ok(()) };
        prop_assert!(!plan.steps.is_empty() && plan.steps.len() <= MAX_PLAN_STEPS);
        prop_assert!(plan.steps.is_sorted_by(|a, b| a.number < b.number && a.line < b.line));
        for step in &plan.steps {
            prop_assert!(text.contains(&step.text), "{:?}", step.text);
            prop_assert!(!step.title.is_empty() && step.title.chars().count() <= MAX_TITLE_CHARS);
            for need in &step.needs {
                prop_assert!(*need != step.number);
                prop_assert!(plan.steps.iter().any(|other| other.number == *need));
            }
        }
    }

    /// Whatever steps there are, and whatever they need of those before them, is read back.
    #[test]
    fn a_plan_that_was_written_is_read_back(
        needs in prop::collection::vec(prop::collection::btree_set(0_usize..20, 0..3), 1..20)
    ) {
        let mut text = String::from("# Plan\n\n");
        let mut expected = Vec::new();
        for (index, before) in needs.iter().enumerate() {
            let before: Vec<usize> = before.iter().copied().filter(|need| *need < index).collect();
            let numbers: Vec<String> = before.iter().map(|need| (need + 1).to_string()).collect();
            _ = write!(text, "## Step {}: Title {index}\n\nBody {index}\n", index + 1);
            if !numbers.is_empty() {
                _ = writeln!(text, "Depends on: {}", numbers.join(", "));
            }
            expected.push((format!("Title {index}"), numbers));
        }
        let plan = read(&text).unwrap();
        let steps: Vec<(String, Vec<String>)> = plan
            .steps
            .iter()
            .map(|step| (step.title.clone(), step.needs.iter().map(u32::to_string).collect()))
            .collect();
        prop_assert_eq!(steps, expected);
    }
}
