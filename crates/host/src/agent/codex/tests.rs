//! Codex: recorded talks, and what did not happen while they were recorded.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Codex;
use crate::agent::replay::{self, brief, hear, out, recording, said, seen, spent};
use crate::agent::{
    Asks, Brief, Conversation, EndReport, EndReportStatus, Event, Kind, PermissionVerdict, Plan,
    Step, Usage, UserServer,
};
use crate::run::{OutputLine, Stream, Variables};

#[test]
fn recorded_talks_are_understood_and_answered_in_the_same_words() {
    replay::check("codex");
}

fn plan(brief: &Brief) -> String {
    format!("{:#?}", Codex.plan(brief).unwrap())
}

#[test]
fn it_is_steered_through_the_app_server() {
    let brief = Brief { model: Some("gpt-6-sol".to_owned()), ..brief() };
    insta::assert_snapshot!(plan(&brief));
}

#[test]
fn without_steering_it_is_run_once() {
    let mut brief = Brief {
        system_prompt: Some("You are a worker.".to_owned()),
        model: Some("gpt-6-sol".to_owned()),
        schema: Some(json!({ "type": "object" })),
        own_sandbox: Some("read-only".to_owned()),
        ..brief()
    };
    brief.runner.steer = false;
    brief.runner.binary = Some("/opt/codex".to_owned());
    brief.runner.arguments = vec!["--profile".to_owned(), "team".to_owned()];
    insta::assert_snapshot!(plan(&brief));
}

#[test]
fn servers_of_adjutant_in_the_users_files_are_disabled() {
    for steer in [true, false] {
        let names = vec!["adjutant".to_owned(), "a.b".to_owned()];
        let mut brief = Brief { disabled_servers: names, ..brief() };
        brief.runner.steer = steer;
        let arguments = Codex.plan(&brief).unwrap().arguments;
        let place = |setting: &str| {
            let found = arguments.windows(2).position(|pair| pair == ["-c", setting]);
            found.unwrap_or_else(|| panic!("no `{setting}`: {arguments:?}"))
        };
        let table = place(r#"mcp_servers={"a.b"={enabled=false}}"#);
        let plain = place("mcp_servers.adjutant.enabled=false");
        let ours = arguments.iter().position(|word| word.starts_with("mcp_servers.h=")).unwrap();
        assert!(table < plain && plain < ours, "a table takes the place of what came before");
    }
}

#[test]
fn a_conversation_is_gone_on_with_through_the_app_server() {
    let mut brief = Brief { resume: Some("thread-1".to_owned()), ..brief() };
    brief.runner.steer = false;
    assert!(Codex.plan(&brief).unwrap().arguments.contains(&"app-server".to_owned()));
}

#[test]
fn tokens_are_told_once() {
    let total = Usage { input: 3_500, output: 120, cache_read: 1_000, cache_write: 0 };
    for name in ["0.166.0-app-server-steer", "0.166.0-exec"] {
        assert_eq!(spent(&recording("codex", name).play(|_| {})), total, "{name}");
    }
    // The past of a thread was paid for.
    let resumed = recording("codex", "0.166.0-app-server-resume").play(|_| {});
    assert_eq!(spent(&resumed), Usage { input: 1_400, output: 31, ..Usage::default() });
}

/// A talk whose turn was asked for, as request 3.
fn asked(brief: &Brief) -> Box<dyn Conversation> {
    let mut talk = Codex.conversation(brief);
    talk.begin();
    let opened = json!({ "id": 2, "result": { "thread": { "id": "t" }, "model": "m" } });
    hear(talk.as_mut(), &[json!({ "id": 1, "result": {} }), opened]);
    talk
}

/// A talk whose turn runs.
fn running(brief: &Brief) -> Box<dyn Conversation> {
    let mut talk = asked(brief);
    hear(talk.as_mut(), &[json!({ "id": 3, "result": { "turn": { "id": "turn-1" } } })]);
    talk
}

fn notice(method: &str, mut params: Value) -> Value {
    params["threadId"] = json!("t");
    json!({ "method": method, "params": params })
}

fn completed(turn: &str) -> Value {
    notice("turn/completed", json!({ "turn": { "id": turn, "status": "completed" } }))
}

fn verdict(steps: &[Step]) -> Option<&EndReportStatus> {
    seen(steps).into_iter().find_map(|event| match event {
        Event::Done(EndReport { verdict, .. }) => Some(verdict),
        _ => None,
    })
}

#[test]
fn what_it_is_told_before_the_turn_has_an_id_reaches_the_turn() {
    let mut talk = asked(&brief());
    assert_eq!(talk.tell("Mail!"), []);
    let started = notice("turn/started", json!({ "turn": { "id": "turn-1" } }));
    let answer = json!({ "id": 3, "result": { "turn": { "id": "turn-1" } } });
    let steps = hear(talk.as_mut(), &[started, answer]);
    let [steer] = &said(&steps)[..] else { panic!("{steps:?}") };
    assert_eq!(steer["method"], "turn/steer");
    assert_eq!(steer["params"]["expectedTurnId"], "turn-1");
    assert_eq!(steer["params"]["input"][0]["text"], "Mail!");
}

#[test]
fn what_came_too_late_for_a_turn_begins_the_next_one() {
    let mut talk = running(&brief());
    let steer = said(&talk.tell("Mail!"));
    assert_eq!(steer[0]["id"], 4);
    // The turn ends before it hears; nothing is closed until it is known.
    assert_eq!(hear(talk.as_mut(), &[completed("turn-1")]), []);
    let refused = json!({ "id": 4, "error": { "code": -32600, "message": "no active turn" } });
    let steps = hear(talk.as_mut(), &[refused]);
    assert_eq!(said(&steps)[0]["method"], "turn/start");
    assert_eq!(said(&steps)[0]["params"]["input"][0]["text"], "Mail!");
    let begun = json!({ "id": 5, "result": { "turn": { "id": "turn-2" } } });
    let steps = hear(talk.as_mut(), &[begun, completed("turn-2")]);
    assert_eq!(verdict(&steps), Some(&EndReportStatus::Success));
    assert_eq!(steps.last(), Some(&Step::Close));
    assert_eq!(talk.tell("More!"), [], "it is closed");
}

#[test]
fn a_request_to_stop_is_kept_until_there_is_a_turn() {
    let mut talk = asked(&brief());
    assert_eq!(talk.interrupt(), []);
    let steps =
        hear(talk.as_mut(), &[json!({ "id": 3, "result": { "turn": { "id": "turn-1" } } })]);
    assert_eq!(said(&steps)[0]["method"], "turn/interrupt");

    let mut talk = Codex.conversation(&brief());
    talk.begin();
    talk.interrupt();
    let opened = json!({ "id": 2, "result": { "thread": { "id": "t" } } });
    let steps = hear(talk.as_mut(), &[json!({ "id": 1, "result": {} }), opened]);
    assert_eq!(verdict(&steps), Some(&EndReportStatus::Failure("it was interrupted".to_owned())));
}

#[test]
fn a_thread_is_asked_for_again_when_its_toolsets_were_away() {
    let mut talk = Codex.conversation(&brief());
    talk.begin();
    hear(talk.as_mut(), &[json!({ "id": 1, "result": {} })]);
    let away = |id: u64| {
        let message = "required MCP servers failed to initialize: mail: refused";
        json!({ "id": id, "error": { "code": -32603, "message": message } })
    };
    for id in [2, 3] {
        let steps = hear(talk.as_mut(), &[away(id)]);
        assert_eq!(said(&steps)[0]["method"], "thread/start");
    }
    assert!(matches!(verdict(&hear(talk.as_mut(), &[away(4)])), Some(EndReportStatus::Failure(_))));
}

#[test]
fn it_may_what_the_policy_says() {
    let permissions = json!({ "fileSystem": { "write": ["/srv"] } });
    let tool_call = json!({ "codex_approval_kind": "mcp_tool_call", "tool_params": { "a": 1 } });
    let table = [
        ("item/commandExecution/requestApproval", json!({ "command": "ls" }), "/decision"),
        ("item/fileChange/requestApproval", json!({ "itemId": "patch" }), "/decision"),
        ("item/permissions/requestApproval", json!({ "permissions": permissions }), "/permissions"),
        (
            "mcpServer/elicitation/request",
            json!({ "serverName": "other", "_meta": tool_call }),
            "/action",
        ),
    ];
    for (method, params, place) in table {
        let question = json!({ "id": "q", "method": method, "params": params });
        let answers = [Asks::Allow, Asks::Deny].map(|asks| {
            let steps =
                hear(running(&Brief { asks, ..brief() }).as_mut(), std::slice::from_ref(&question));
            let refused = seen(&steps).iter().any(|event| matches!(event, Event::Refused { .. }));
            assert_eq!(refused, asks == Asks::Deny, "{method}");
            said(&steps)[0]["result"].pointer(place).unwrap().clone()
        });
        let expected = match place {
            "/permissions" => [permissions.clone(), json!({})],
            _ => [json!("accept"), json!("decline")],
        };
        assert_eq!(answers, expected, "{method}");

        // A person is asked, and the answer is the same.
        let mut talk = running(&Brief { asks: Asks::Person, ..brief() });
        let steps = hear(talk.as_mut(), &[question]);
        let [Event::Asked { request, .. }] = &seen(&steps)[..] else { panic!("{steps:?}") };
        let answer = said(&talk.answer(request, PermissionVerdict::Allow));
        assert_eq!(answer[0]["id"], "q");
        assert_eq!(answer[0]["result"].pointer(place), Some(&expected[0]), "{method}");
        assert_eq!(talk.answer(request, PermissionVerdict::Allow), [], "an answer counts once");
    }
}

#[test]
fn a_tool_of_another_server_is_asked_for_by_its_name() {
    let mut talk = running(&Brief { asks: Asks::Person, ..brief() });
    let item = json!({ "type": "mcpToolCall", "id": "c", "server": "wiki", "tool": "write",
        "arguments": { "a": 1 } });
    let meta = json!({ "codex_approval_kind": "mcp_tool_call", "tool_params": { "a": 1 } });
    let params = json!({ "serverName": "wiki", "_meta": meta });
    let question = json!({ "id": 0, "method": "mcpServer/elicitation/request", "params": params });
    let steps = hear(talk.as_mut(), &[notice("item/started", json!({ "item": item })), question]);
    let asked = Event::Asked {
        request: "0".to_owned(),
        tool: "mcp__wiki__write".to_owned(),
        input: r#"{"a":1}"#.to_owned(),
    };
    assert_eq!(seen(&steps).last(), Some(&&asked));
}

#[test]
fn a_question_that_it_no_longer_asks_is_not_answered() {
    let mut talk = running(&Brief { asks: Asks::Person, ..brief() });
    let method = "item/commandExecution/requestApproval";
    let question = json!({ "id": 7, "method": method, "params": { "command": "ls" } });
    hear(talk.as_mut(), &[question, notice("serverRequest/resolved", json!({ "requestId": 7 }))]);
    assert_eq!(talk.answer("7", PermissionVerdict::Allow), []);
}

#[test]
fn what_nobody_can_answer_is_refused() {
    let table = [
        ("account/chatgptAuthTokens/refresh", "/error/code", json!(-32601)),
        ("item/tool/call", "/error/code", json!(-32601)),
        ("item/tool/requestUserInput", "/result/answers", json!({})),
        ("mcpServer/elicitation/request", "/result/action", json!("decline")),
    ];
    for (method, place, expected) in table {
        let brief = Brief { asks: Asks::Person, ..brief() };
        let steps = hear(
            running(&brief).as_mut(),
            &[json!({ "id": 9, "method": method, "params": { "serverName": "wiki" } })],
        );
        let [answer] = &said(&steps)[..] else { panic!("{method}: {steps:?}") };
        assert_eq!(answer.pointer(place), Some(&expected), "{method}");
    }
}

#[test]
fn a_limit_lasts_until_all_windows_that_are_used_up_begin_again() {
    let window = |used: u64, at: u64| json!({ "usedPercent": used, "resetsAt": at });
    let limits = json!({ "primary": window(100, 2_000), "secondary": window(100, 9_000) });
    let error = json!({ "message": "enough", "codexErrorInfo": "usageLimitExceeded" });
    let turn = json!({ "id": "turn-1", "status": "failed", "error": error });
    let mut talk = running(&brief());
    let steps = hear(
        talk.as_mut(),
        &[
            json!({ "method": "account/rateLimits/updated", "params": { "rateLimits": limits } }),
            // A later, emptier one takes nothing back.
            json!({ "method": "account/rateLimits/updated", "params": { "rateLimits": {} } }),
            notice("turn/completed", json!({ "turn": turn })),
        ],
    );
    let until = Some(model::Timestamp::from_millis(9_000_000));
    assert_eq!(seen(&steps)[0], &Event::Limited { until });
    assert_eq!(verdict(&steps), Some(&EndReportStatus::Failure("enough".to_owned())));
}

#[test]
fn what_happens_in_other_threads_is_not_its_own_but_costs() {
    let mut talk = running(&brief());
    let other = |method: &str, mut params: Value| {
        params["threadId"] = json!("other");
        json!({ "method": method, "params": params })
    };
    let total = json!({ "inputTokens": 10, "cachedInputTokens": 4, "outputTokens": 5 });
    let steps = hear(
        talk.as_mut(),
        &[
            other("item/completed", json!({ "item": { "type": "agentMessage", "text": "x" } })),
            other("thread/tokenUsage/updated", json!({ "tokenUsage": { "total": total } })),
            other("turn/completed", json!({ "turn": { "id": "turn-1", "status": "completed" } })),
        ],
    );
    let usage = Usage { input: 6, output: 5, cache_read: 4, cache_write: 0 };
    assert_eq!(steps, [Step::Saw(Event::Usage(usage))]);
}

#[test]
fn a_result_in_its_last_words_is_its_result() {
    let mut talk = running(&brief());
    let text = "All done.\n{\"status\":\"failed\",\"summary\":\"no network\"}";
    let item = json!({ "type": "agentMessage", "id": "m", "text": text });
    let steps = hear(
        talk.as_mut(),
        &[notice("item/completed", json!({ "item": item })), completed("turn-1")],
    );
    assert_eq!(verdict(&steps), Some(&EndReportStatus::Failure("no network".to_owned())));
}

#[test]
fn a_program_that_ends_without_a_word_says_why_on_its_standard_error() {
    let mut steered = asked(&brief());
    let mut once = brief();
    once.runner.steer = false;
    let mut once = Codex.conversation(&once);
    for talk in [&mut steered, &mut once] {
        let error = "\u{1b}[31mError\u{1b}[0m: unknown variant `x`";
        talk.line(&OutputLine { stream: Stream::Err, ..out(error) });
        let steps = talk.end();
        let why = "Error: unknown variant `x`".to_owned();
        assert_eq!(verdict(&steps), Some(&EndReportStatus::Failure(why)));
        assert_eq!(talk.end(), [], "once");
    }
}

#[test]
fn a_result_that_is_too_long_ends_its_tool() {
    let mut talk = running(&brief());
    let item = json!({ "type": "mcpToolCall", "id": "c", "server": "wiki", "tool": "all" });
    hear(talk.as_mut(), &[notice("item/started", json!({ "item": item }))]);
    let head = r#"{"method":"item/completed","params":{"item":{"type":"mcpToolCall","id":"c","re"#;
    let steps = talk.line(&OutputLine { cut: 5_000_000, ..out(head) });
    assert_eq!(steps, [Step::Saw(Event::ToolEnded { id: "c".to_owned(), error: None })]);
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(line in "\\PC*", steer: bool) {
        let mut brief = brief();
        brief.runner.steer = steer;
        let mut talk = Codex.conversation(&brief);
        talk.begin();
        talk.line(&out(&line));
        talk.line(&out(&json!({ "id": 1, "result": line }).to_string()));
        talk.line(&out(&json!({ "method": line, "params": [line] }).to_string()));
    }

    /// A line that was cut or that came out of turn.
    #[test]
    fn no_part_of_a_talk_makes_it_panic(at: usize, cut: usize, skip: usize) {
        for name in ["0.166.0-app-server-ask-allow", "0.166.0-exec-schema"] {
            let steps = recording("codex", name).play_spoilt(at, cut, skip);
            prop_assert!(steps.len() < 200);
        }
    }
}

/// A brief with servers of the project and one of the user's own.
fn with_servers() -> Brief {
    let server = |name: &str, config: Value| UserServer { name: name.to_owned(), config };
    let mut brief = brief();
    brief.user_servers = vec![
        server("plain", json!({ "command": "lint-server", "args": ["--stdio"] })),
        server(
            "github",
            json!({
                "command": "npx", "args": ["-y", "github", "--as=${WHO}"], "env": { "TOKEN": "s3cret \"one\"" },
            }),
        ),
        server(
            "remote",
            json!({ "url": "https://a/${REGION:-eu}", "headers": { "X-Key": "${KEY}" } }),
        ),
    ];
    brief.own_servers = vec!["docs".to_owned()];
    brief.variables = Variables(vec![("KEY".to_owned(), "s3cret two".to_owned())]);
    brief
}

fn settings_of(plan: &Plan, server: &str) -> Vec<String> {
    let key = format!("mcp_servers.{server}");
    plan.arguments.iter().filter(|word| word.starts_with(&key)).cloned().collect()
}

#[test]
fn servers_of_the_project_need_no_prompt_and_show_no_secret() {
    let plan = Codex.plan(&with_servers()).unwrap();
    let whole = plan.arguments.join(" ");
    assert!(!whole.contains("s3cret"), "{whole}");
    assert_eq!(
        plan.environment,
        [
            ("MCP_SERVER_VALUE_1", "s3cret \"one\""),
            ("MCP_SERVER_VALUE_2", "--as=${WHO}"),
            ("MCP_SERVER_VALUE_3", "s3cret two"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    let [plain, github, remote, docs] =
        ["plain", "github", "remote", "docs"].map(|name| settings_of(&plan, name).join(" "));
    assert!(plain.contains(r#"command="lint-server", args=["--stdio"]"#), "{plain}");
    let script = r#"export TOKEN=\"$MCP_SERVER_VALUE_1\"; exec \"${1}\" \"${2}\" \"${3}\" \"$MCP_SERVER_VALUE_2\""#;
    assert!(github.contains(script), "{github}");
    assert!(github.contains(r#""sh","npx","-y","github"]"#), "{github}");
    assert!(github.contains(r#"env_vars=["MCP_SERVER_VALUE_1","MCP_SERVER_VALUE_2"]"#), "{github}");
    assert!(remote.contains(r#"url="https://a/eu""#), "{remote}");
    assert!(remote.contains(r#"env_http_headers={"X-Key"="MCP_SERVER_VALUE_3"}"#), "{remote}");
    assert_eq!(docs, r#"mcp_servers.docs.default_tools_approval_mode="approve""#);
    assert!(
        [plain, github, remote].iter().all(|server| server.contains(r#"approval_mode="approve""#))
    );
}

#[test]
fn a_role_bounds_the_tools_of_servers() {
    let mut brief = with_servers();
    brief.tools = Some(
        ["mcp__github__*", "mcp__plain__lint", "mcp__remote__get_*"].map(str::to_owned).into(),
    );
    brief.disallowed_tools = vec!["mcp__github__delete".to_owned()];
    let plan = Codex.plan(&brief).unwrap();
    let [plain, github] = ["plain", "github"].map(|name| settings_of(&plan, name).join(" "));
    assert!(plain.contains(r#"enabled_tools=["lint"]"#), "{plain}");
    assert!(!github.contains("enabled_tools"), "{github}");
    assert!(github.contains(r#"disabled_tools=["delete"]"#), "{github}");
    assert_eq!(settings_of(&plan, "remote"), [""; 0], "it could not be held to a part");
    assert!(plan.warnings[0].contains("`mcp__remote__get_*`"), "{:?}", plan.warnings);
    brief.tools = None;
    brief.asks = Asks::Person;
    let plan = Codex.plan(&brief).unwrap();
    assert!(settings_of(&plan, "plain").join(" ").contains(r#"approval_mode="prompt""#));
}
