//! What people say and hear.

use super::*;

#[tokio::test]
async fn an_order_becomes_an_agent_and_its_answer_comes_into_the_thread() {
    let (world, slack, server) = served("mender").await;
    let ts = slack.say("C1", USER, "<@UBOT> Mend the &lt;parser&gt;");
    let said = until_said(&slack, &ts, 1).await;
    assert_eq!(said, ["Mended it\n\n*Changes*\n• a.rs\n\n*Issues*\n• slow\n\n*Questions*\n• why?"]);
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    assert_eq!(slack.marks(&ts), ["eyes", "hammer", "white_check_mark"]);
    assert_eq!(ran(&world), ["Mend the <parser>"]);
    assert_eq!(slack.said()[0].username.as_deref(), Some("mender"), "the role speaks");
    assert_eq!(slack.said()[0].metadata["event_type"], "adjutant");
    slack.until("acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
    let tasks = json(&world, &["tasks"]).await;
    assert_eq!(tasks["tasks"][0]["title"], "Mend the <parser>");
    // Who asked for it is on record.
    let rows = world.run(&["audit", "list", "--json"]).await.unwrap().ok().unwrap().stdout;
    assert!(rows.contains("operator__slack_order"), "{rows}");
    let http = client(&world, &server).await;
    let threads = get(&http, "/api/slack/threads").await;
    let thread = &threads["threads"][0];
    assert_eq!((&thread["user"], &thread["role"]), (&Value::from(USER), &Value::from("mender")));
    assert_eq!(
        (&thread["thread"], &thread["state"]),
        (&Value::from(ts), &Value::from("succeeded"))
    );
}

#[tokio::test]
async fn a_failure_comes_with_its_reason() {
    let (_world, slack, _server) = served("loser").await;
    let ts = slack.say("D1", USER, "Try it");
    let said = until_said(&slack, &ts, 1).await;
    assert!(said[0].starts_with("*failed*") && said[0].contains("No luck"), "{said:?}");
    until_mark(&slack, &ts, &["x"]).await;
}

#[tokio::test]
async fn rules_decide_then_the_default_and_a_word_in_front_wins() {
    let rules = "  rules:\n    - {pattern: '^look|SEE', role: looker, cwd: sub}\n    - {pattern: look, role: loser}";
    let (world, slack) = stage(&[
        ("  default: null\n  # Rules", "  default: mender\n  # Rules"),
        ("  rules: []", rules),
    ])
    .await;
    fs::create_dir(world.project().join("sub")).unwrap();
    let server = world.up().await.unwrap();
    let (a, b, c) = (
        slack.say("D1", USER, "Look at it"),
        slack.say("D2", USER, "Mend it"),
        slack.say("D3", USER, "mender: look at it, and mend it"),
    );
    for ts in [&a, &b, &c] {
        until_said(&slack, ts, 1).await;
    }
    assert_eq!(slack.said_in(&a), ["Looked"]);
    assert!(slack.said_in(&b)[0].starts_with("Mended it"));
    assert!(slack.said_in(&c)[0].starts_with("Mended it"));
    let sub = fs::read_to_string(world.project().join("sub").join(RAN)).unwrap();
    assert_eq!(sub.trim(), "Look at it", "a rule's folder");
    let http = client(&world, &server).await;
    let threads = get(&http, "/api/slack/threads").await["threads"].take();
    assert_eq!(threads.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn where_nothing_decides_it_asks_and_takes_the_answer() {
    let (world, slack) = stage(&[]).await;
    let _server = world.up().await.unwrap();
    let ts = slack.say("D1", USER, "Do the thing");
    let said = until_said(&slack, &ts, 1).await;
    assert!(said[0].contains("Which role?") && said[0].contains("`mender`"), "{said:?}");
    slack.reply("D1", &ts, USER, "what?");
    until_said(&slack, &ts, 2).await;
    assert!(ran(&world).is_empty());
    slack.reply("D1", &ts, USER, "@mender");
    let said = until_said(&slack, &ts, 3).await;
    assert!(said[2].starts_with("Mended it"), "{said:?}");
    assert_eq!(json(&world, &["tasks"]).await["tasks"][0]["title"], "Do the thing");
}

#[tokio::test]
async fn a_thread_keeps_its_role_and_its_task() {
    let (world, slack) = stage(&[]).await;
    let _server = world.up().await.unwrap();
    let ts = slack.say("C1", USER, "<@UBOT> mender: First");
    until_said(&slack, &ts, 1).await;
    // No mention is needed in a thread of ours, and another user may go on with it.
    slack.reply("C1", &ts, "U2", "Second");
    until_said(&slack, &ts, 2).await;
    assert_eq!(ran(&world), ["First", "Second"]);
    let tasks = json(&world, &["tasks"]).await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "{tasks}");
    let ps = json(&world, &["ps", "--all"]).await;
    let slugs: Vec<&Value> =
        ps["agents"].as_array().unwrap().iter().map(|agent| &agent["taskSlug"]).collect();
    assert_eq!(slugs.len(), 2);
    assert_eq!(slugs[0], slugs[1]);
    // What is said in threads and channels that are not ours is nobody's business.
    let other = slack.say("C1", USER, "Not for you");
    slack.reply("C1", &other, USER, "Nor this");
    let last = slack.say("D1", USER, "mender: Third");
    until_said(&slack, &last, 1).await;
    assert_eq!(ran(&world), ["First", "Second", "Third"]);
}

#[tokio::test]
async fn what_is_said_within_a_moment_is_one_order() {
    let (mut world, slack) = stage(&[]).await;
    world.set("ADJUTANT_SLACK_DEBOUNCE_MS", "700");
    let server = world.up().await.unwrap();
    slack.until("connected", |slack| slack.open_connections() == 1).await.unwrap();
    let ts = slack.say("D1", USER, "mender: One");
    slack.say("D1", USER, "Two");
    slack.reply("D1", &ts, USER, "Three");
    slack.until("kept", |slack| slack.unacknowledged() == 0).await.unwrap();
    // It waits in the record, not in the server.
    server.kill().await.unwrap();
    let _server = world.up().await.unwrap();
    until_said(&slack, &ts, 1).await;
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    let ps = json(&world, &["ps", "--all"]).await;
    assert_eq!(ps["agents"].as_array().unwrap().len(), 1, "{ps}");
    assert_eq!(ran(&world), ["Three"], "the last line of the one prompt");
    let rows = world.run(&["audit", "list", "--json"]).await.unwrap().ok().unwrap().stdout;
    assert_eq!(rows.matches("\"tool\":\"operator__slack_order\"").count(), 1, "{rows}");
}

#[tokio::test]
async fn a_message_reaches_an_agent_at_work_and_a_question_is_answered_in_the_thread() {
    let (world, slack) = stage(&[]).await;
    let scenario = "\
scenarios:
  ask:
    steps:
      - call: mail_send
        with: {toHuman: true, subject: Colours, body: \"Which one?\\n1. Red\\n2. Blue\"}
      - call: mail_list_inbox
        with: {waitSeconds: 30}
        save: box
        until: {mails: [{subject: \"Re: Colours\"}]}
        tries: 20
      - call: mail_read
        with: {mailId: \"{{box.mails.0.id}}\"}
        save: letter
      - call: mail_send
        with: {toHuman: true, subject: Thanks, body: I know now.}
      - call: mail_list_inbox
        with: {waitSeconds: 30}
        save: more
        until: {mails: [{subject: \"And hurry\"}]}
        tries: 20
      - result: {summary: \"You said: {{letter.body}}, {{more.mails.0.subject}}\"}
";
    fs::write(world.project().join("crew.yaml"), scenario).unwrap();
    let role = "---\nname: asker\ncategory: worker\nagent: script\nscript: crew.yaml\nworktree: none\n---\nAsk.\n";
    fs::write(world.home().join("roles/asker.md"), role).unwrap();
    let _server = world.up().await.unwrap();
    let ts = slack.say("D1", USER, "asker: ask me");
    let said = until_said(&slack, &ts, 1).await;
    assert_eq!(said, ["*Colours*\nWhich one?\n1. Red\n2. Blue"]);
    slack.reply("D1", &ts, USER, "Blue");
    assert_eq!(until_said(&slack, &ts, 2).await[1], "*Thanks*\nI know now.");
    let mark = slack.reply("D1", &ts, USER, "And hurry");
    let said = until_said(&slack, &ts, 3).await;
    assert_eq!(said[2], "You said: Blue, And hurry");
    until_mark(&slack, &mark, &["eyes"]).await;
    let rows = world.run(&["audit", "list", "--json"]).await.unwrap().ok().unwrap().stdout;
    assert_eq!(rows.matches("\"tool\":\"operator__slack_letter\"").count(), 2, "{rows}");
    assert_eq!(rows.matches("\"tool\":\"operator__slack_order\"").count(), 1, "{rows}");
}

#[tokio::test]
async fn status_kill_and_help_are_words_alone() {
    let (world, slack, _server) = served("waiter").await;
    let ts = slack.say("C1", USER, "<@UBOT> Wait for it");
    until_mark(&slack, &ts, &["hammer"]).await;
    slack.reply("C1", &ts, USER, " Status ");
    let said = until_said(&slack, &ts, 1).await;
    assert!(
        said[0].starts_with("*Wait for it*") && said[0].contains("waiter: running"),
        "{said:?}"
    );
    let asked = slack.say("D1", USER, "status");
    let said = until_said(&slack, &asked, 1).await;
    assert!(said[0].starts_with("1 at work:") && said[0].contains("waiter: running"), "{said:?}");
    let helped = slack.say("C1", USER, "<@UBOT> HELP");
    assert!(until_said(&slack, &helped, 1).await[0].contains("`kill`"));
    let none = slack.say("D1", USER, "kill");
    assert!(until_said(&slack, &none, 1).await[0].contains("no thread of mine"));
    let wrong = slack.say("D1", USER, "kill sp_0123456789abcdef");
    assert!(until_said(&slack, &wrong, 1).await[0].contains("there is no agent"));
    slack.reply("C1", &ts, USER, "kill");
    let said = until_said(&slack, &ts, 3).await;
    assert!(said[1].starts_with("I am ending:"), "{said:?}");
    assert!(said[2].starts_with("*killed*") && said[2].contains("from Slack by U1"), "{said:?}");
    until_mark(&slack, &ts, &["x"]).await;
    // By its id, from anywhere.
    let other = slack.say("D2", USER, "Wait again");
    until_mark(&slack, &other, &["hammer"]).await;
    let ps = json(&world, &["ps"]).await;
    let id = ps["agents"][0]["id"].as_str().unwrap();
    slack.say("D1", USER, &format!("kill {id}"));
    until_mark(&slack, &other, &["x"]).await;
}

#[tokio::test]
async fn only_those_who_are_named_are_obeyed_and_only_for_what_they_say() {
    let (world, slack, _server) = served("mender").await;
    let stranger = slack.say("D9", "U9", "Mend it");
    let mention = slack.say("C1", "U9", "<@UBOT> Mend it");
    for subtype in ["message_changed", "message_deleted", "channel_join", "bot_message"] {
        slack.say_odd("D1", subtype, "Mend it");
    }
    let ts = slack.say("D1", USER, "Mend mine");
    slack.reply("D1", &ts, "U9", "No, mine");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    slack.until("all is acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
    assert_eq!(ran(&world), ["Mend mine"]);
    assert!(slack.said_in(&stranger).is_empty() && slack.said_in(&mention).is_empty());
    assert!(slack.marks(&stranger).is_empty() && slack.marks(&mention).is_empty());
    assert_eq!(slack.said().len(), 1);
}

#[tokio::test]
async fn a_long_answer_comes_in_parts_and_pings_nobody() {
    let (world, slack) = stage(&[]).await;
    let body =
        (1..=400).map(|n| format!("line {n} of many <!channel> @channel")).collect::<Vec<_>>();
    fs::write(world.project().join("long.txt"), body.join("\n")).unwrap();
    role(&world, "talker", "cat long.txt");
    let _server = world.up().await.unwrap();
    let ts = slack.say("D1", USER, "talker: go on");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    let said = slack.said_in(&ts);
    assert!(said.len() > 3, "{}", said.len());
    for (at, part) in said.iter().enumerate() {
        assert!(part.starts_with(&format!("({}/{})\n", at + 1, said.len())), "{part}");
        assert!(part.chars().count() <= 3000 && !part.contains('<'), "{part}");
    }
    let all = said.join("\n");
    let places: Vec<usize> = (1..=400)
        .map(|n| all.find(&format!("line {n} of many &lt;!channel&gt;")).unwrap())
        .collect();
    assert!(places.is_sorted(), "in order");
    assert!(slack.asked("chat.postMessage").iter().all(|one| one.input["link_names"] == false));
}
