//! Looking through the record: what is found, how far one answer looks, and what is counted.

use model::{AgentId, TaskId, Timestamp};
use store::{
    AuditCallerFilter, AuditDraft, AuditFilter, AuditOutcomeFilter, AuditSearch, AuditSearchOrder,
    AuditSearchResult, AuditSpan, AuditTask, ChainVerification, NewAgent, Store, StoreError,
};

use crate::support::{NOW, agent, open, row};

const REFUSALS: [&str; 1] = ["PERMISSION_DENIED"];

/// Writes rows in one commit.
async fn write(store: &Store, rows: Vec<AuditDraft>) {
    let write = move |tx: &mut store::Tx<'_>| {
        for row in &rows {
            tx.audit_append(row)?;
        }
        Ok::<_, StoreError>(())
    };
    store.write(write).await.unwrap();
}

/// A row of a varied record: who, what and how it ended follow from its number.
fn nth(n: i64) -> AuditDraft {
    let tools = ["mcp__mail__send", "mcp__mail__read", "mcp__task__get", "operator__run"];
    let code = match n % 10 {
        3 => Some("CONFLICT"),
        7 => Some("PERMISSION_DENIED"),
        _ => None,
    };
    AuditDraft {
        at: NOW.after_millis(n * 1000 - (n % 3) * 400),
        agent: (n % 4 != 3).then(|| AgentId::from_bits(u64::try_from(n % 4).unwrap() + 1)),
        by_operator: n % 4 == 3,
        tool: tools[usize::try_from(n % 4).unwrap()].to_owned(),
        input: format!("{{\"subject\":\"Letter {n}\"}}"),
        code,
        output: if n % 11 == 5 && code.is_none() {
            "{\"begun\":true}".to_owned()
        } else {
            format!("{{\"mailId\":\"mail_{n}\"}}")
        },
        duration_micros: (n * 7919) % 1000,
        git_commit: (n % 2 == 0).then(|| format!("{:040x}", 0xabc0_0000 + n)),
    }
}

async fn varied(rows: i64) -> (tempfile::TempDir, Store) {
    let (dir, store) = open();
    let crew = move |tx: &mut store::Tx<'_>| {
        for (bits, role) in [(1, "coder"), (2, "tester"), (3, "coder")] {
            let task = (bits == 3).then(|| TaskId::from_bits(9));
            let new = NewAgent { role: role.to_owned(), task, ..agent(bits) };
            tx.agent_insert(&new, NOW)?;
        }
        Ok::<_, StoreError>(())
    };
    store.write(crew).await.unwrap();
    write(&store, (1..=rows).map(nth).collect()).await;
    (dir, store)
}

fn find(store: &Store, search: &AuditSearch, order: AuditSearchOrder) -> Vec<i64> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let part = match order {
            AuditSearchOrder::Newest => AuditSearch { before: cursor, ..search.clone() },
            AuditSearchOrder::Oldest => {
                AuditSearch { after: cursor.unwrap_or(0), ..search.clone() }
            }
        };
        let AuditSearchResult { calls, next, .. } =
            store.read(|tx| tx.audit_search(&part, order, 7, 500)).unwrap();
        found.extend(calls.iter().map(|call| call.row.number));
        match next {
            Some(next) => cursor = Some(next),
            None => return found,
        }
    }
}

/// The same, looked for in the simplest way.
fn naive(rows: i64, fits: impl Fn(i64, &AuditDraft) -> bool) -> Vec<i64> {
    (1..=rows).rev().filter(|n| fits(*n, &nth(*n))).collect()
}

/// What is looked for, and the same in the simplest way.
type Case = (&'static str, AuditSearch, fn(i64, &AuditDraft) -> bool);

/// By whom, and of which tool.
fn by_caller_and_tool() -> Vec<Case> {
    let everything = AuditSearch::default;
    vec![
        ("everything", everything(), |_, _| true),
        (
            "one agent's",
            AuditSearch {
                by: Some(AuditCallerFilter::Agent(AgentId::from_bits(2))),
                ..everything()
            },
            |n, _| n % 4 == 1,
        ),
        (
            "a role's",
            AuditSearch { by: Some(AuditCallerFilter::Like("coder".into())), ..everything() },
            |n, _| n % 4 == 0 || n % 4 == 2,
        ),
        (
            "the operator's",
            AuditSearch { by: Some(AuditCallerFilter::Operator), ..everything() },
            |n, _| n % 4 == 3,
        ),
        (
            "a tool's",
            AuditSearch { tool: Some("mcp__mail__read".into()), ..everything() },
            |n, _| n % 4 == 1,
        ),
        (
            "a toolset's",
            AuditSearch { tool: Some("mcp__mail__*".into()), ..everything() },
            |n, _| n % 4 < 2,
        ),
        (
            "tools by their end",
            AuditSearch { tool: Some("*_g*t".into()), ..everything() },
            |n, _| n % 4 == 2,
        ),
        (
            "an underscore is no joker",
            AuditSearch { tool: Some("mcp__mail_*send".into()), ..everything() },
            |n, _| n % 4 == 0,
        ),
    ]
}

/// How it ended, what it says, when, and with what.
fn by_what_it_says() -> Vec<Case> {
    let everything = AuditSearch::default;
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let task = AuditTask { id: TaskId::from_bits(9), number: 4, slug: "letter-12".into() };
    let (since, until) = (NOW.after_millis(1_000_300), NOW.after_millis(2_000_700));
    vec![
        (
            "what went well",
            AuditSearch { end: Some(AuditOutcomeFilter::Good), ..everything() },
            |_, row| row.code.is_none() && row.output != "{\"begun\":true}",
        ),
        (
            "what was refused",
            AuditSearch { end: Some(AuditOutcomeFilter::With(REFUSALS.to_vec())), ..everything() },
            |n, _| n % 10 == 7,
        ),
        (
            "what failed otherwise",
            AuditSearch {
                end: Some(AuditOutcomeFilter::Without(REFUSALS.to_vec())),
                ..everything()
            },
            |n, _| n % 10 == 3,
        ),
        (
            "words of question, answer, tool and role",
            AuditSearch { words: text(&["letter 12", "mail_12", "send", "coder"]), ..everything() },
            |n, row| {
                n % 4 == 0 && n.to_string().starts_with("12") && row.output.contains("mail_12")
            },
        ),
        (
            "no words of the record's own",
            AuditSearch { words: text(&["durationmicros"]), ..everything() },
            |_, _| false,
        ),
        (
            "a time",
            AuditSearch { since: Some(since), until: Some(until), ..everything() },
            |_, row| row.at >= NOW.after_millis(1_000_300) && row.at < NOW.after_millis(2_000_700),
        ),
        ("a task's", AuditSearch { task: Some(task), ..everything() }, |n, _| n % 4 == 2),
        (
            "a commit's",
            AuditSearch { commit: Some(format!("{:040x}", 0xabc0_0000_i64 + 12)), ..everything() },
            |n, _| n == 12,
        ),
    ]
}

#[tokio::test]
async fn whatever_is_looked_for_is_found_in_both_orders() {
    const ROWS: i64 = 3000;
    let (_dir, store) = varied(ROWS).await;
    for (what, search, fits) in by_caller_and_tool().into_iter().chain(by_what_it_says()) {
        let wanted = naive(ROWS, fits);
        assert_eq!(find(&store, &search, AuditSearchOrder::Newest), wanted, "{what}");
        let mut oldest = find(&store, &search, AuditSearchOrder::Oldest);
        oldest.reverse();
        assert_eq!(oldest, wanted, "{what}, oldest first");
    }
}

#[tokio::test]
async fn one_answer_looks_at_so_many_rows_and_says_how_far() {
    let (_dir, store) = varied(9000).await;
    let search = AuditSearch { words: vec!["letter 4".into()], ..AuditSearch::default() };
    let look = |before: Option<i64>, words: &str| {
        let search = AuditSearch { before, words: vec![words.into()], ..search.clone() };
        store.read(|tx| tx.audit_search(&search, AuditSearchOrder::Newest, 10, 2048)).unwrap()
    };
    let first = look(None, "nowhere");
    assert!(first.calls.is_empty());
    let (to, at) = first.searched_to.unwrap();
    assert_eq!(first.next, Some(to));
    assert_eq!(at, nth(to).at);
    assert!((6000..=7000).contains(&to), "two or three blocks were looked at: {to}");
    let mut rounds = 1;
    let mut next = first.next;
    while let Some(before) = next {
        next = look(Some(before), "nowhere").next;
        rounds += 1;
    }
    assert_eq!(rounds, 4, "9,000 rows are looked at in four answers");
    // A page that is full ends where it is full.
    let page = look(None, "letter");
    assert_eq!(page.calls.len(), 10);
    assert_eq!(page.next, page.calls.last().map(|call| call.row.number));
}

#[tokio::test]
async fn a_histogram_counts_what_the_list_shows() {
    const ROWS: i64 = 2500;
    let (_dir, store) = varied(ROWS).await;
    let span = AuditSpan { from: NOW.after_millis(100_000), step: 20_000, parts: 100 };
    let until = NOW.after_millis(100_000 + 20_000 * 100);
    for search in [
        AuditSearch::default(),
        AuditSearch { tool: Some("mcp__mail__*".into()), ..AuditSearch::default() },
        AuditSearch {
            by: Some(AuditCallerFilter::Like("tester".into())),
            ..AuditSearch::default()
        },
    ] {
        let (counts, estimate) =
            store.read(|tx| tx.audit_histogram(&search, &span, &REFUSALS, 100_000)).unwrap();
        assert!(!estimate);
        let listed = AuditSearch { since: Some(span.from), until: Some(until), ..search.clone() };
        let ends = [
            (None, counts.iter().map(|count| count.calls).sum::<u64>()),
            (
                Some(AuditOutcomeFilter::Without(REFUSALS.to_vec())),
                counts.iter().map(|count| count.failed).sum(),
            ),
            (
                Some(AuditOutcomeFilter::With(REFUSALS.to_vec())),
                counts.iter().map(|count| count.refused).sum(),
            ),
        ];
        for (end, counted) in ends {
            let search = AuditSearch { end, ..listed.clone() };
            let found = find(&store, &search, AuditSearchOrder::Newest);
            let calls = found.iter().filter(|n| nth(**n).output != "{\"begun\":true}").count();
            assert_eq!(u64::try_from(calls).unwrap(), counted, "{search:?}");
        }
        let third = &counts[2];
        let within = |n: &i64| {
            let at = nth(*n).at.as_millis() - span.from.as_millis();
            (40_000..60_000).contains(&at) && nth(*n).output != "{\"begun\":true}"
        };
        let naive =
            find(&store, &listed, AuditSearchOrder::Newest).iter().filter(|n| within(n)).count();
        assert_eq!(third.calls, u64::try_from(naive).unwrap());
    }
}

#[tokio::test]
async fn a_histogram_of_too_much_is_an_estimate_near_the_truth() {
    const ROWS: i64 = 20_000;
    let (_dir, store) = varied(ROWS).await;
    let span = AuditSpan { from: NOW, step: 2_000_000, parts: 11 };
    let search = AuditSearch::default();
    let truth = store.read(|tx| tx.audit_histogram(&search, &span, &REFUSALS, ROWS * 2)).unwrap();
    let guess = store.read(|tx| tx.audit_histogram(&search, &span, &REFUSALS, 2000)).unwrap();
    assert_eq!((truth.1, guess.1), (false, true));
    let all = |counts: &[store::AuditCount]| counts.iter().map(|count| count.calls).sum::<u64>();
    let (truth, guess) = (all(&truth.0), all(&guess.0));
    assert!(guess.abs_diff(truth) * 20 < truth, "{guess} instead of {truth}");
}

#[tokio::test]
async fn the_figures_of_tools_are_those_of_a_plain_count() {
    const ROWS: i64 = 2400;
    let (_dir, store) = varied(ROWS).await;
    let span = AuditSpan { from: NOW.after_millis(-1), step: 100_000, parts: 24 };
    let until = span.from.after_millis(span.step * 24);
    let (figures, estimate) = store
        .read(|tx| tx.audit_tool_figures(&AuditSearch::default(), &span, &REFUSALS, 100_000))
        .unwrap();
    assert!(!estimate);
    assert_eq!(figures.len(), 4);
    for tool in figures {
        let rows: Vec<AuditDraft> = (1..=ROWS)
            .map(nth)
            .filter(|row| row.tool == tool.tool && row.at < until)
            .filter(|row| row.output != "{\"begun\":true}")
            .collect();
        let mut micros: Vec<u64> =
            rows.iter().map(|row| u64::try_from(row.duration_micros).unwrap()).collect();
        micros.sort_unstable();
        // A percentile is the least value that so many do not exceed.
        let naive = |share: usize| {
            let enough = |value: &&u64| {
                micros.iter().filter(|other| other <= value).count() * 100 >= share * micros.len()
            };
            *micros.iter().find(enough).unwrap()
        };
        assert_eq!((tool.p50_micros, tool.p95_micros), (naive(50), naive(95)), "{}", tool.tool);
        assert_eq!(tool.count.calls, u64::try_from(rows.len()).unwrap());
        let refused = rows.iter().filter(|row| row.code == Some("PERMISSION_DENIED")).count();
        assert_eq!(tool.count.refused, u64::try_from(refused).unwrap());
        assert_eq!(tool.parts.iter().sum::<u64>(), tool.count.calls);
    }
}

#[tokio::test]
async fn a_call_is_shown_with_its_beginning_and_its_neighbours() {
    let (_dir, store) = open();
    store.write(|tx| tx.agent_insert(&agent(1), NOW)).await.unwrap();
    let by = |tool: &str, input: &str, output: &str| AuditDraft {
        agent: Some(AgentId::from_bits(1)),
        by_operator: false,
        input: input.into(),
        output: output.into(),
        ..row(tool)
    };
    let rows = vec![
        by("mcp__task__get", "{}", "{}"),
        by("mcp__review__open", "{\"title\":\"x\"}", "{\"begun\":true}"),
        by("mcp__review__open", "{\"title\":\"y\"}", "{\"begun\":true}"),
        row("mcp__mail__send"),
        by("mcp__review__open", "{\"title\":\"x\"}", "{\"url\":\"u\"}"),
        by("mcp__task__get", "{}", "{}"),
    ];
    write(&store, rows).await;
    let around = |number: i64| store.read(|tx| tx.audit_around(number, 2)).unwrap();
    let ended = around(5).unwrap();
    assert_eq!(ended.pair.map(|row| row.number), Some(2));
    assert_eq!(around(2).unwrap().pair.map(|row| row.number), Some(5));
    assert_eq!(around(3).unwrap().pair, None, "it has not ended yet");
    assert_eq!(around(6).unwrap().pair, None);
    let numbers =
        |calls: &[store::AuditCall]| calls.iter().map(|call| call.row.number).collect::<Vec<_>>();
    assert_eq!(numbers(&ended.near), [2, 3, 5, 6]);
    assert_eq!(numbers(&around(4).unwrap().near), [4], "the operator did nothing else");
    assert_eq!(ended.call.role.as_deref(), Some("worker"));
    assert_eq!(ended.body.unwrap().output, "{\"url\":\"u\"}");
    assert_eq!(ended.problem, None);
    assert!(around(7).is_none());
}

#[tokio::test]
async fn a_check_goes_on_where_the_last_one_ended_and_finds_what_was_changed_since() {
    let (dir, store) = open();
    let on = |good: &ChainVerification| store.read(|tx| tx.audit_verify_on(good, 1000)).unwrap();
    let start = ChainVerification { rows: 0, head: String::new(), broken: None, archived: 0 };
    write(&store, (1..=20).map(nth).collect()).await;
    let first = on(&start);
    assert_eq!(first, store.read(|tx| tx.audit_verify()).unwrap());
    write(&store, (21..=30).map(nth).collect()).await;
    assert_eq!(on(&first).rows, 30);
    assert_eq!(on(&first), store.read(|tx| tx.audit_verify()).unwrap());
    let part = store.read(|tx| tx.audit_verify_on(&first, 4)).unwrap();
    assert_eq!((part.rows, part.broken.clone()), (24, None), "so many rows and no more");
    assert_eq!(on(&part), on(&first));

    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let tamper = |sql: &str| assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
    tamper("UPDATE audit SET body = replace(body, 'Letter', 'Better') WHERE number = 25");
    let broken = on(&first);
    assert_eq!((broken.rows, broken.broken.map(|(number, _)| number)), (24, Some(25)));
    // What was found good before is only looked at again by a whole check, but for its last row.
    tamper("UPDATE audit SET hash = 'x' WHERE number = 20");
    assert_eq!(on(&first).broken.map(|(number, _)| number), Some(20));
    tamper("DELETE FROM audit WHERE number = 20");
    assert_eq!(on(&first).broken.unwrap().1, "row 20 is missing");
    let bad = store.read(|tx| tx.audit_around(25, 1)).unwrap().unwrap();
    assert!(bad.problem.is_some(), "{bad:?}");
    let orphan = store.read(|tx| tx.audit_around(21, 1)).unwrap().unwrap();
    assert_eq!(orphan.problem.as_deref(), Some("row 20 is missing"));
}

#[tokio::test]
async fn a_time_before_and_after_everything_is_accepted() {
    let (_dir, store) = varied(50).await;
    let old = AuditSearch { until: Some(Timestamp::from_millis(0)), ..AuditSearch::default() };
    assert!(find(&store, &old, AuditSearchOrder::Newest).is_empty());
    let far = NOW.after_seconds(1_000_000);
    let late = AuditSearch { since: Some(far), ..AuditSearch::default() };
    assert!(find(&store, &late, AuditSearchOrder::Oldest).is_empty());
    let (_dir, empty) = open();
    assert!(find(&empty, &AuditSearch::default(), AuditSearchOrder::Newest).is_empty());
}

#[tokio::test]
async fn a_search_from_anywhere_ends_in_the_record() {
    let (_dir, store) = varied(20).await;
    for order in [AuditSearchOrder::Newest, AuditSearchOrder::Oldest] {
        for by in [None, Some(AuditCallerFilter::Agent(AgentId::from_bits(1)))] {
            let search = |after, before| {
                let search =
                    AuditSearch { after, before, by: by.clone(), ..AuditSearch::default() };
                store.read(|tx| tx.audit_search(&search, order, 100, 500)).unwrap().calls.len()
            };
            let all = search(0, None);
            assert!(all > 0);
            assert_eq!(search(i64::MIN, Some(i64::MAX)), all);
            for (after, before) in [(i64::MAX, None), (0, Some(i64::MIN)), (i64::MAX, Some(0))] {
                assert_eq!(search(after, before), 0, "{after} {before:?}");
            }
        }
    }
    let agent = Some(AgentId::from_bits(1));
    let filter = AuditFilter { after: i64::MAX, agent, tool: None };
    assert_eq!(store.read(|tx| tx.audit_page(&filter, 5)).unwrap().items, []);
    let span = AuditSpan {
        from: Timestamp::from_millis(i64::MIN),
        step: i64::MAX,
        parts: usize::MAX >> 60,
    };
    let search = AuditSearch { after: i64::MAX, ..AuditSearch::default() };
    store.read(|tx| tx.audit_histogram(&search, &span, &REFUSALS, 500)).unwrap();
}
