//! How it stands, on the command line and for programs; and that nobody learns the tokens.

use std::path::Path;

use super::*;

#[tokio::test]
async fn it_says_exactly_what_is_missing() {
    let mut world = world().await;
    let server = world.up().await.unwrap();
    let status = json(&world, &["slack", "status"]).await;
    assert_eq!(status["on"], false);
    let text = world.run(&["slack"]).await.unwrap().ok().unwrap().stdout;
    for part in
        ["Slack is off", "`SLACK_BOT_TOKEN` is not set", "`SLACK_APP_TOKEN`", "`slack.users`"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let threads = world.run(&["slack", "threads"]).await.unwrap().ok().unwrap().stdout;
    assert!(threads.contains("No thread yet"), "{threads}");
    let refused = world.run(&["slack", "retry"]).await.unwrap();
    assert_eq!(refused.code, Some(5), "{refused:?}");
    server.stop().await.unwrap();
    // An empty list is nobody, whatever the tokens say.
    let slack = FakeSlack::start().await.unwrap();
    world.set("SLACK_BOT_TOKEN", slack.bot_token());
    world.set("SLACK_APP_TOKEN", slack.app_token());
    world.set("ADJUTANT_SLACK_API_URL", slack.url());
    let _server = world.up().await.unwrap();
    let status = json(&world, &["slack", "status"]).await;
    assert_eq!(status["missing"].as_array().unwrap().len(), 1, "{status}");
    assert_eq!(slack.connections(), 0, "nobody even listens");
    // Somebody is named while it runs.
    configure(&world, &[("  users: []", "  users: [U1]")]);
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    slack.until("connected", |slack| slack.open_connections() == 1).await.unwrap();
    configure(&world, &[("  users: [U1]", "  users: []")]);
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    slack.until("gone", |slack| slack.open_connections() == 0).await.unwrap();
}

#[tokio::test]
async fn the_connection_and_the_threads_are_shown() {
    let (world, slack, server) = served("mender").await;
    let ts = slack.say("D1", USER, "Mend it");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    let status = json(&world, &["slack"]).await;
    assert_eq!(
        (&status["on"], &status["team"], &status["threads"]),
        (&true.into(), &"Crew".into(), &1.into())
    );
    assert!(status["connectedAt"].is_string() && status["lastEventAt"].is_string(), "{status}");
    let text = world.run(&["slack", "status"]).await.unwrap().ok().unwrap().stdout;
    assert!(
        text.contains("connected to Crew") && text.contains("2 users may give orders"),
        "{text}"
    );
    let threads = world.run(&["slack", "threads"]).await.unwrap().ok().unwrap().stdout;
    assert!(threads.contains("mend-") && threads.contains("mender"), "{threads}");
    // Agents have no business here.
    let agent = world.enlist("worker", &[]).await.unwrap();
    let http = client(&world, &server).await.with_token(&agent.token);
    for path in ["/api/slack", "/api/slack/threads"] {
        assert_eq!(http.get(path).await.unwrap().0, 403);
    }
    assert_eq!(http.post("/api/slack/retry", &json!({})).await.unwrap().0, 403);
}

#[tokio::test]
async fn a_token_that_is_not_good_is_said_and_no_token_is_found_anywhere() {
    let (mut world, slack) = stage(&[]).await;
    role(&world, "teller", "env; echo told");
    configure(&world, &[("  command:\n", "  command:\n    # Somebody tries.\n")]);
    let server = world.up().await.unwrap();
    let ts = slack.say("D1", USER, "teller: What do you know?");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    assert!(slack.said().iter().all(|one| !one.text.contains("SLACK_")), "{:?}", slack.said());
    let doctor = world.run(&["doctor", "--json"]).await.unwrap().stdout;
    assert!(doctor.contains("the tokens are good for Crew"), "{doctor}");
    slack.break_connections();
    slack.refuse("apps.connections.open", Some("invalid_auth"));
    slack.until("refused", |slack| slack.asked("apps.connections.open").len() >= 3).await.unwrap();
    let http = client(&world, &server).await;
    slack.break_connections();
    let status = loop {
        let status = get(&http, "/api/slack").await;
        if !status["problem"].is_null() {
            break status;
        }
        slack.break_connections();
    };
    assert_eq!(status["problem"], "Slack says `invalid_auth`");
    let doctor = world.run(&["doctor", "--json"]).await.unwrap();
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.stdout.contains("`SLACK_APP_TOKEN`: Slack says `invalid_auth`"), "{doctor:?}");
    server.stop().await.unwrap();
    for secret in slack.secrets() {
        for folder in [world.project(), world.state(), world.scratch()] {
            assert_eq!(found(&folder, secret), Vec::<String>::new());
        }
    }
    // Without tokens nobody is asked.
    world.set("SLACK_BOT_TOKEN", "");
    world.set("SLACK_APP_TOKEN", "");
    let asked = slack.asked("auth.test").len();
    let doctor = world.run(&["doctor", "--json"]).await.unwrap().stdout;
    assert!(!doctor.contains("\"slack\""), "{doctor}");
    assert_eq!(slack.asked("auth.test").len(), asked);
}

/// The files in which a text is.
fn found(folder: &Path, text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(found(&path, text));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(text.len()).any(|part| part == text.as_bytes())
        {
            all.push(path.display().to_string());
        }
    }
    all
}

#[tokio::test]
async fn a_wrong_rule_or_user_is_refused_with_its_line() {
    let world = world().await;
    configure(&world, &[("  rules: []", "  rules:\n    - {pattern: 'a(', role: coder}")]);
    let refused = world.run(&["config", "get", "slack.users"]).await.unwrap();
    assert!(refused.code == Some(2) || refused.code == Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("is no regular") && refused.stderr.contains("pattern: 'a('"),
        "{refused:?}"
    );
    configure(&world, &[("'a('", "'a'"), ("  users: []", "  users: ['@eve']")]);
    let refused = world.run(&["config", "get", "slack.users"]).await.unwrap();
    assert!(refused.stderr.contains("is no id of a"), "{refused:?}");
}
