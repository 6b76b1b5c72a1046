//! The meaning of messages, and answers that survive being split.

use proptest::prelude::*;

use super::*;

const ME: &str = "UBOT";

fn said(channel: &str, text: &str) -> IncomingMessage {
    IncomingMessage {
        channel: channel.to_owned(),
        ts: "1.1".to_owned(),
        thread: None,
        user: Some("U1".to_owned()),
        text: text.to_owned(),
        subtype: None,
        bot: None,
        mention: false,
    }
}

#[test]
fn only_what_is_for_us_and_from_whom_we_obey_is_heeded() {
    let users = ["U1".to_owned()];
    let check = |said: &IncomingMessage, thread| decide_action(said, ME, &users, thread);
    assert_eq!(check(&said("D1", "hi"), ThreadOwner::Others), MessageAction::Obey);
    assert_eq!(check(&said("C1", "hi"), ThreadOwner::Others), MessageAction::Ignore);
    assert_eq!(
        check(&said("C1", "hi"), ThreadOwner::Ours),
        MessageAction::Obey,
        "a thread of ours"
    );
    assert_eq!(check(&said("C1", "<@UBOT> hi"), ThreadOwner::Others), MessageAction::Obey);
    assert_eq!(
        check(&IncomingMessage { mention: true, ..said("C1", "hi") }, ThreadOwner::Others),
        MessageAction::Obey
    );
    let other = IncomingMessage { user: Some("U2".to_owned()), ..said("D1", "hi") };
    assert_eq!(check(&other, ThreadOwner::Ours), MessageAction::Stranger);
    assert_eq!(
        decide_action(&said("D1", "hi"), ME, &[], ThreadOwner::Ours),
        MessageAction::Stranger,
        "no list is nobody"
    );
    for odd in ["message_changed", "message_deleted", "channel_join", "bot_message"] {
        let odd = IncomingMessage { subtype: Some(odd.to_owned()), ..said("D1", "hi") };
        assert_eq!(check(&odd, ThreadOwner::Ours), MessageAction::Ignore);
    }
    let shared = IncomingMessage { subtype: Some("file_share".to_owned()), ..said("D1", "hi") };
    assert_eq!(check(&shared, ThreadOwner::Others), MessageAction::Obey);
    let own = IncomingMessage { user: Some(ME.to_owned()), ..said("D1", "hi") };
    assert_eq!(check(&own, ThreadOwner::Ours), MessageAction::Ignore);
    let bot = IncomingMessage { bot: Some("B1".to_owned()), ..said("D1", "hi") };
    assert_eq!(check(&bot, ThreadOwner::Ours), MessageAction::Ignore);
    assert_eq!(
        check(&IncomingMessage { user: None, ..said("D1", "hi") }, ThreadOwner::Ours),
        MessageAction::Ignore
    );
}

#[test]
fn a_command_is_a_word_alone() {
    let id: AgentId = "sp_0123456789abcdef".parse().unwrap();
    for (text, expected) in [
        ("status", Some(MessageCommand::Status)),
        (" STATUS ", Some(MessageCommand::Status)),
        ("Help", Some(MessageCommand::Help)),
        ("kill", Some(MessageCommand::Kill(None))),
        ("kill sp_0123456789abcdef", Some(MessageCommand::Kill(Some(id)))),
        ("kill the process on port 80", None),
        ("kill it", None),
        ("status of the build?", None),
        ("", None),
    ] {
        assert_eq!(parse_command(text), expected, "{text}");
    }
}

#[test]
fn a_message_goes_to_whom_it_names_else_by_rule_else_by_default() {
    let roles = ["api-dev", "reviewer"];
    let rule = |text: &str| {
        let fits = text.to_lowercase().contains("review");
        fits.then(|| ("reviewer".to_owned(), Some("docs".to_owned())))
    };
    let check = |text: &str, default: Option<&str>| {
        let route = route(text, &roles, rule, default)?;
        Some((route.role, route.cwd, route.text))
    };
    let to = |role: &str, cwd: Option<&str>, text: &str| {
        Some((role.to_owned(), cwd.map(str::to_owned), text.to_owned()))
    };
    assert_eq!(check("api-dev: review it", None), to("api-dev", None, "review it"));
    assert_eq!(check("@API-Dev mend it", None), to("api-dev", None, "mend it"));
    assert_eq!(check("Review it", Some("api-dev")), to("reviewer", Some("docs"), "Review it"));
    assert_eq!(check("mend it", Some("api-dev")), to("api-dev", None, "mend it"));
    assert_eq!(check("api-dev mend it", None), None, "a bare word names nobody");
    assert_eq!(check("nobody: mend it", None), None);
    assert_eq!(find_role(" @Reviewer. ", &roles), Some("reviewer".to_owned()));
    assert_eq!(find_role("the reviewer", &roles), None);
}

#[test]
fn what_people_write_is_read_as_they_see_it() {
    for (text, expected) in [
        ("<@UBOT> mend it", "mend it"),
        ("ask <@U2|eve> in <#C1|general>", "ask @eve in #general"),
        (
            "see <https://a.example/x?a=1&amp;b=2|the page>",
            "see the page (https://a.example/x?a=1&b=2)",
        ),
        ("<https://a.example|a.example>", "https://a.example"),
        ("<!channel> <!subteam^S1|@crew>", "@channel @crew"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("1 < 2", "1 < 2"),
    ] {
        assert_eq!(plain(text, ME), expected, "{text}");
    }
}

#[test]
fn an_agents_words_ping_nobody_and_keep_their_shape() {
    for (text, expected) in [
        ("# All **done**", "*All done*"),
        ("**Bold** and `**code**`", "*Bold* and `**code**`"),
        ("- one\n  - two", "• one\n  • two"),
        ("see [it](https://a.example/b)", "see it (https://a.example/b)"),
        ("<!channel> <@U1> & a", "&lt;!channel&gt; &lt;@U1&gt; &amp; a"),
        ("```rust\nlet a: Vec<u8>;\n```", "```\nlet a: Vec&lt;u8&gt;;\n```"),
        ("```\nnever closed", "```\nnever closed\n```"),
    ] {
        assert_eq!(mrkdwn(text), expected, "{text}");
    }
}

#[test]
fn a_long_answer_is_cut_where_it_hurts_least() {
    let text = format!("{}\n\n{}", "a ".repeat(40), "b ".repeat(40));
    let cut = parts(&text, 130);
    assert_eq!(cut.len(), 2, "{cut:?}");
    assert!(cut[0].starts_with("(1/2)\na ") && cut[1].starts_with("(2/2)\nb "), "{cut:?}");
    let code = format!("```\n{}```", "0123456789\n".repeat(30));
    for part in parts(&code, 130) {
        assert_eq!(part.matches("```").count() % 2, 0, "{part}");
    }
    assert_eq!(parts("short", 3000), ["short"]);
    assert!(parts(" \n", 3000).is_empty());
}

proptest! {
    #[test]
    fn every_part_fits_and_nothing_is_lost(text in "[a-zé&<> \n]{0,400}", limit in 60_usize..200) {
        let ready = mrkdwn(&text);
        let parts = parts(&ready, limit);
        let mut joined = String::new();
        for part in &parts {
            prop_assert!(part.chars().count() <= limit, "{part}");
            let body = if parts.len() > 1 { part.split_once('\n').unwrap().1 } else { part };
            joined.push_str(body);
        }
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(letters(&joined), letters(&ready));
    }

    #[test]
    fn no_part_can_ping(text in "\\PC{0,300}", limit in 60_usize..200) {
        for part in parts(&mrkdwn(&text), limit) {
            prop_assert!(!part.contains('<') && !part.contains('>'), "{part}");
            for after in part.split('&').skip(1) {
                let known = ["amp;", "lt;", "gt;"].iter().any(|end| after.starts_with(end));
                prop_assert!(known, "{part}");
            }
        }
    }

    #[test]
    fn code_is_closed_in_every_part(lines in prop::collection::vec("[a-z ]{0,30}|```", 0..60)) {
        for part in parts(&mrkdwn(&lines.join("\n")), 100) {
            let fences = part.lines().filter(|line| *line == "```").count();
            prop_assert_eq!(fences % 2, 0, "{}", part);
        }
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,200}") {
        let read = plain(&text, ME);
        prop_assert!(parse_command(&read).is_none() || read.len() < 60);
        prop_assert!(split_addressee(&read, &["a"]).is_none_or(|(role, _)| role == "a"));
    }
}
