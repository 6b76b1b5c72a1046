//! Tests of reading, refusing and overlaying a configuration.

use std::path::Path;

use miette::Diagnostic as _;
use model::policy::Rules;
use proptest::prelude::*;

use super::*;

fn refused(text: &str) -> (String, String) {
    let problem = Config::parse("config.yaml", text).unwrap_err();
    (problem.to_string(), problem.help.clone().unwrap_or_default())
}

fn over(vars: &[(&str, &str)], flags: &[Flag<'_>]) -> Result<(Config, Vec<String>), String> {
    let env = Environment::from_vars("/here", vars.iter().copied());
    overlay::apply(&Config::default(), &env, flags).map_err(|problem| problem.to_string())
}

#[test]
fn nothing_said_is_the_default() {
    for text in
        ["", "# only a comment\n", "---\n", "server: {}\ncategories: {}\n", "server:\nlimits:\n"]
    {
        assert_eq!(Config::parse("c", text).unwrap(), Config::default(), "{text:?}");
    }
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_name() {
    assert_eq!(
        refused("server:\n  host: 127.0.0.1\n  prot: 1\n"),
        ("config.yaml:3: unknown key `prot`".into(), "did you mean `port`?".into())
    );
    assert_eq!(
        refused("limits: {maxPromtBytes: 1}"),
        (
            "config.yaml:1: unknown key `maxPromtBytes`".into(),
            "did you mean `maxPromptBytes`?".into()
        )
    );
    assert_eq!(
        refused("agents:\n  claude:\n    binry: x"),
        ("config.yaml:3: unknown key `binry`".into(), "did you mean `binary`?".into())
    );
    assert_eq!(
        refused("\nplan:\n  zebra: 1"),
        ("config.yaml:3: unknown key `zebra`".into(), "known here: role, attempts".into())
    );
}

#[test]
fn a_wrong_value_is_refused_with_its_line() {
    let line = |text: &str| refused(text).0;
    assert_eq!(
        line("server:\n  port: many"),
        "config.yaml:2: expected a whole number, not negative"
    );
    assert_eq!(
        line("server:\n  host: nowhere"),
        "config.yaml:2: `nowhere` is not an address, as `127.0.0.1`"
    );
    assert_eq!(
        line("budget:\n  default:\n    usd: -1"),
        "config.yaml:3: -1 is not an amount of dollars: it must be a number from 0 to 1000000000"
    );
    assert_eq!(
        refused("server:\n  logLevel: inof"),
        ("config.yaml:2: `inof` is not known here".into(), "did you mean `info`?".into())
    );
    assert_eq!(
        line("mirror: true\ndatabase: postgres://x/y"),
        "config.yaml:2: the address cannot be read (it names no role); write `postgres://ROLE@HOST/DATABASE`"
    );
    assert!(line("database: postgres://crew:secret@x/y").contains("PGPASSFILE"));
    assert!(line("database: mysql://crew@x/y").contains("does not begin with `postgres://`"));
    assert!(line("prices:\n  m: {input: .nan, output: 1}").starts_with("config.yaml:2: "));
    assert!(line("limits:\n  depth: [1]").starts_with("config.yaml:2: "));
    assert!(line("mirror:\n  - x").starts_with("config.yaml:2: "));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let cases = [
        ("review:\n  max_iterations: 0", "2: 0 is not between 1 and 100"),
        ("review:\n  role: x\n  auto_abandon_after: 101", "3: 101 is not between 1 and 100"),
        ("review: {timeout_hours: 8761}", "1: 8761 is not between 1 and 8760"),
        ("review:\n  role: ' '", "2: must name a role, as `reviewer`"),
        ("office:\n  supervisorRole: ''", "2: must name a role, as `reviewer`"),
        ("office:\n  heartbeatMinutes: 0", "2: 0 is not between 1 and 1440"),
        ("github:\n  apiUrl: api.github.com", "2: must be an address, as `https://api.github.com`"),
        ("github:\n  remote: --all", "2: must name a remote, as `origin`"),
        ("github:\n  pollSeconds: 86401", "2: 86401 is not between 0 and 86400"),
        ("checkTimeout: 0", "1: 0 is not between 1 and 86400"),
        ("limits:\n  maxLimitedHours: 0", "2: 0 is not between 1 and 8760"),
        (
            "budget:\n  child:\n    usd: -1",
            "3: -1 is not an amount of dollars: it must be a number from 0 to 1000000000",
        ),
        ("mirror: true\ncheck: ''", "2: names no command, as `make test`; `null` is none"),
        ("check: []", "1: names no command, as `make test`; `null` is none"),
        ("check: make 'test", "1: `make 'test` has a quote or a backslash without its end"),
        ("check: '[make, test]'", "1: `[make, test]` is a list; take its quotes away"),
        (
            "worktrees:\n  fresh:\n    - coding\n    - wroker",
            "4: `worktrees.fresh` names the unknown category `wroker`; did you mean `worker`?",
        ),
    ];
    for (text, said) in cases {
        assert_eq!(refused(text).0, format!("config.yaml:{said}"), "{text}");
    }
    for text in ["check: 3.5", "check: {a: 1}", "check: true", "worktrees:\n  guard: maybe"] {
        assert!(refused(text).0.starts_with("config.yaml:"), "{}", refused(text).0);
    }
    let (said, _) = refused("worktrees:\n  path: ' '");
    assert!(said.contains("must name a folder"), "{said}");
}

#[test]
fn a_secret_has_no_place_in_the_file() {
    for secret in ["ghp_0123456789abcdef", "github_pat_11AA", "s3cret!", "", "1ST"] {
        let (said, _) = refused(&format!("github:\n  tokenVariable: '{secret}'"));
        assert!(said.contains("must be the name of a variable"), "{said}");
        assert!(secret.is_empty() || !said.contains(secret), "it is not repeated: {said}");
    }
}

#[test]
fn a_check_is_split_into_words_as_a_shell_would() {
    let words = |text: &str| Config::parse("c", text).unwrap().check.map(|check| check.0);
    assert_eq!(words("check: null"), None);
    assert_eq!(words("check: make test"), Some(vec!["make".into(), "test".into()]));
    assert_eq!(
        words(r#"check: sh -c "cd 'a b' && make" "#),
        Some(vec!["sh".into(), "-c".into(), "cd 'a b' && make".into()])
    );
    assert_eq!(words("check: [my check, '']"), Some(vec!["my check".into(), String::new()]));
    assert_eq!(words("check: '[ -f Makefile ]'").unwrap().len(), 4, "`[` is a program");
}

#[test]
fn a_variable_gives_the_check_whatever_form_the_file_has() {
    for file in ["", "check: make\n", "check: [make, all]\n"] {
        let config = Config::parse("c", file).unwrap();
        for said in ["make test", "[make, test]", r#"["make", "test"]"#] {
            let env = Environment::from_vars("/", [("ADJUTANT_CHECK", said)]);
            let (config, _) = overlay::apply(&config, &env, &[]).unwrap();
            assert_eq!(config.check.unwrap().0, ["make", "test"], "{file:?} {said:?}");
        }
    }
}

#[test]
fn the_engine_is_told_of_every_new_key() {
    let text = "review: {max_iterations: 2, auto_abandon_after: 4, timeout_hours: 1, role: critic,
  required: agent, onApproval: merge, squash: true}
worktrees: {fresh: [review], guard: true, submodules: false, setup: npm ci, setupTimeout: 60, copy: [.env], link: [node_modules]}
github: {apiUrl: 'http://127.0.0.1:1', remote: upstream, pollSeconds: 0}
office: {supervisorRole: lead, heartbeatMinutes: 3}
check: make test
checkTimeout: 60
";
    let settings = |text: &str| {
        let home = Home::unplaced("/p".into(), "/p/.adjutant".into());
        let env = Environment::default();
        let told = SettingsInput {
            home: &home,
            env: &env,
            roles: BTreeMap::new(),
            templates: BTreeMap::new(),
        };
        Config::parse("c", text).unwrap().settings(told).unwrap()
    };
    let told = settings(text);
    let review = engine::settings::ReviewSettings {
        max_iterations: 2,
        auto_abandon_after: 4,
        timeout_hours: 1,
        role: "critic".into(),
        required: model::review::ReviewRequired::Agent,
        on_approval: Some(model::review::OnApproval::Merge),
        squash: true,
    };
    assert_eq!(told.review, review);
    let fresh = vec!["review".to_owned()];
    let worktrees = engine::settings::WorktreeSettings {
        fresh,
        guard: true,
        submodules: false,
        // There is neither a user nor a path.
        folder: None,
        setup: Some(engine::settings::SetupSettings {
            command: vec!["npm".to_owned(), "ci".to_owned()],
            timeout_s: 60,
        }),
        copy: vec![".env".to_owned()],
        link: vec!["node_modules".to_owned()],
    };
    assert_eq!(told.worktrees, worktrees);
    let github = engine::settings::GithubSettings {
        api_url: "http://127.0.0.1:1".into(),
        remote: "upstream".into(),
        poll_seconds: 0,
    };
    assert_eq!(told.github, github);
    let office =
        engine::settings::OfficeSettings { supervisor_role: "lead".into(), heartbeat_minutes: 3 };
    assert_eq!(told.office, office);
    let command = vec!["make".to_owned(), "test".to_owned()];
    assert_eq!(told.check, Some(CheckSettings { command, timeout_s: 60 }));
    // And of the defaults, which are the engine's own.
    let (told, own) = (settings(""), Settings::default());
    assert_eq!((told.review, told.worktrees), (own.review, own.worktrees));
    assert_eq!((told.github, told.office, told.check), (own.github, own.office, own.check));
}

#[test]
fn the_variable_that_decides_a_key_is_known() {
    let env = Environment::from_vars(
        "/",
        [("ADJUTANT_LIMITS_DEPTH", "2"), ("MCP_LOG_LEVEL", "debug"), ("ADJUTANT_ODD", "1")],
    );
    let decider = |key: &str| Config::default().decider(&env, key);
    assert_eq!(decider("limits.depth").as_deref(), Some("ADJUTANT_LIMITS_DEPTH"));
    assert_eq!(decider("limits").as_deref(), Some("ADJUTANT_LIMITS_DEPTH"));
    assert_eq!(decider("server.logLevel").as_deref(), Some("MCP_LOG_LEVEL"));
    assert_eq!((decider("limits.dep"), decider("limits.running")), (None, None));
}

#[test]
fn a_bad_pattern_is_refused_with_its_line() {
    assert_eq!(
        refused("categories:\n  worker:\n    allow:\n      - mcp__mail__*\n      - mcp__mial__*\n")
            .0,
        "config.yaml:5: `mcp__mial__*` names the unknown toolset `mial`; did you mean `mail`?"
    );
    assert!(
        refused("categories:\n  mine:\n    deny: ['rm -rf']\n").0.starts_with("config.yaml:3: ")
    );
}

#[test]
fn who_may_start_whom_is_checked_with_its_line() {
    assert_eq!(
        refused("categories:\n  coding:\n    mayDraft:\n      - reviw\n").0,
        "config.yaml:4: `categories.coding.mayDraft` names the unknown category `reviw`; did you mean `review`?"
    );
    assert_eq!(
        refused("categories:\n  coding:\n    mayDraft: [supervisor]\n").0,
        "config.yaml:3: only supervisor and orchestrator may start `supervisor`, and `categories.coding.mayDraft` names it"
    );
    assert_eq!(
        refused("mcp:\n  fullAccessCategories: [worker, wroker]\n").0,
        "config.yaml:2: `mcp.fullAccessCategories` names the unknown category `wroker`; did you mean `worker`?"
    );
}

#[test]
fn the_line_is_shown() {
    let problem = Config::parse("config.yaml", "server:\n  prot: 1\n").unwrap_err();
    let label = problem.labels().unwrap().next().unwrap();
    assert_eq!((label.offset(), label.len()), (10, 4));
    insta::assert_snapshot!(problem.excerpt(80).unwrap(), @r"
     1 | server:
     2 |   prot: 1
       |   ^^^^
    ");
    assert_eq!(problem.help.unwrap(), "did you mean `port`?");
}

#[test]
fn categories_become_the_policy() {
    let config = Config::parse(
        "c",
        "categories:
  worker: {inactivity: 9, deny: [mcp__mail__send]}
  research: {allow: ['mcp__mail__*'], reach: self}
mcp: {fullAccessCategories: [research]}
",
    )
    .unwrap();
    let policy = config.policy().unwrap();
    let may = |category: &str, tool: &str| policy.permits(category, &Rules::default(), tool);
    assert_eq!(policy.get("worker").unwrap().inactivity, 9);
    assert!(!may("worker", "mcp__mail__send") && may("worker", "mcp__mail__read"));
    assert!(may("research", "mcp__mail__send") && may("research", "mcp__harness__draft_agent"));
    assert!(!may("research", "mcp__task__get"), "its own list stands alone");
    assert_eq!(policy.get("research").unwrap().reach, model::Reach::Itself);
    assert!(policy.get("supervisor").unwrap().may_draft.contains(&"research".to_owned()));
    assert_eq!(Config::default().policy().unwrap().names().count(), 7);
}

#[test]
fn what_is_not_written_keeps_its_default() {
    let config = Config::parse(
        "c",
        "agents: {claude: {arguments: [--verbose]}}\nbudget: {default: {usd: null}}\n",
    )
    .unwrap();
    let claude = Kind::of_name("claude").unwrap();
    assert_eq!(config.agents.runner(claude).binary.as_deref(), Some("claude"));
    assert_eq!(config.agents.runner(claude).arguments, ["--verbose"]);
    assert_eq!((config.budget.default.usd, config.budget.default.seconds), (None, Some(3600)));
}

#[test]
fn flags_win_over_environment_over_file() {
    let (config, warnings) = over(
        &[
            ("ADJUTANT_SERVER_PORT", "1"),
            ("ADJUTANT_LIMITS_MAX_PROMPT_BYTES", "77"),
            ("ADJUTANT_CATEGORIES_WORKER_INACTIVITY", "5"),
            ("ADJUTANT_CATEGORIES_WORKER_ALLOW", "mcp__mail__*, mcp__task__get"),
            ("ADJUTANT_MCP_FULL_ACCESS_CATEGORIES", "worker,review"),
            ("ADJUTANT_REVIEW_MAX_ITERATIONS", "9"),
            ("ADJUTANT_CHECK", "make test"),
            ("ADJUTANT_MIRROR", "false"),
            ("ADJUTANT_MODELS_DEFAULT", "4.5"),
            ("ADJUTANT_MODELS_OVERRIDES", "{planning: opus}"),
            ("MCP_SERVER_PORT", "2"),
            ("MCP_DATABASE_PATH", "x.db"),
            ("MCP_LOG_LEVEL", "DEBUG"),
            ("MCP_TOOL_TIMEOUT", "1500"),
            ("ADJUTANT_LIMTS_DEPTH", "1"),
        ],
        &[("server.port", "0".to_owned())],
    )
    .unwrap();
    let mut wanted = Config::default();
    wanted.server.port = 0;
    wanted.server.log_level = sections::LogLevel::Debug;
    wanted.limits.max_prompt_bytes = 77;
    wanted.mcp.full_access_categories = vec!["worker".to_owned(), "review".to_owned()];
    wanted.mcp.tool_timeout = 1500;
    wanted.review.max_iterations = 9;
    wanted.check = Some(Check(vec!["make".to_owned(), "test".to_owned()]));
    wanted.mirror = false;
    wanted.models.default = "4.5".to_owned();
    wanted.database = "/here/x.db".to_owned();
    wanted.models.overrides = BTreeMap::from([("planning".to_owned(), "opus".to_owned())]);
    let worker = wanted.categories.0.get_mut("worker").unwrap();
    worker.inactivity = Some(5);
    worker.allow = Some(serde_json::from_str(r#"["mcp__mail__*", "mcp__task__get"]"#).unwrap());
    assert_eq!(config, wanted);
    assert_eq!(
        warnings,
        ["`ADJUTANT_LIMTS_DEPTH` sets nothing; did you mean `ADJUTANT_LIMITS_DEPTH`?"]
    );
    let (config, _) =
        over(&[("ADJUTANT_SERVER_PORT", "1"), ("MCP_SERVER_PORT", "2")], &[]).unwrap();
    assert_eq!(config.server.port, 1, "our own name wins over the shared one");
}

#[test]
fn a_bad_variable_is_named() {
    let said = over(&[("MCP_SERVER_PORT", "http")], &[]).unwrap_err();
    assert!(said.starts_with("MCP_SERVER_PORT: `http` does not fit `server.port`"), "{said}");
    let said = over(&[], &[("server.prot", "1".to_owned())]).unwrap_err();
    assert_eq!(said, "server.prot: `server.prot` is not a key of the configuration");
}

#[test]
fn every_key_has_a_variable_of_its_own() {
    let all = Config::default().leaves();
    assert!(all.len() > 60, "{}", all.len());
    let names: BTreeMap<String, &String> =
        all.iter().map(|(path, _)| (overlay::variable(path), path)).collect();
    assert_eq!(names.len(), all.len());
    for (path, value) in &all {
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let (same, _) = over(&[(overlay::variable(path).as_str(), text.as_str())], &[]).unwrap();
        assert_eq!(same, Config::default(), "{path}");
    }
}

#[test]
fn a_home_is_read_and_a_missing_file_is_the_default() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::unplaced(dir.path().to_owned(), dir.path().join(".adjutant"));
    let env = Environment::from_vars("/", [("ADJUTANT_LIMITS_DEPTH", "6")]);
    assert_eq!(Config::load(&home, &env, &[]).unwrap().config.limits.depth, 6);
    std::fs::create_dir(&home.dir).unwrap();
    std::fs::write(home.config(), "database: /tmp/x.db\nlimits: {depth: 5, running: 2}\n").unwrap();
    let config = Config::load(&home, &env, &[]).unwrap().config;
    assert_eq!((config.limits.depth, config.limits.running), (6, 2));
    assert_eq!(config.database_path(&home), Path::new("/tmp/x.db"));
    assert_eq!(Config::default().database_path(&home), home.state_dir().join("state.db"));
    let env = Environment::from_vars("/", [("ADJUTANT_CATEGORIES_CODING_MAY_DRAFT", "nobody")]);
    let said = Config::load(&home, &env, &[]).unwrap_err().to_string();
    assert!(said.contains("names the unknown category `nobody`"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}", lines in proptest::collection::vec(
        "(server|limits|categories| worker|  allow|prices|check|- |  - ): ?[\\[{&*!'\"a-z0-9:,. ]{0,12}", 0..8,
    )) {
        for text in [text, lines.join("\n")] {
            if let Err(problem) = Config::parse("c", &text) {
                prop_assert!(!problem.to_string().is_empty());
            }
        }
    }

    #[test]
    fn no_variable_makes_it_panic(index in 0_usize..80, value in "\\PC{1,40}") {
        let all = Config::default().leaves();
        let name = overlay::variable(&all[index % all.len()].0);
        drop(over(&[(name.as_str(), value.as_str())], &[]));
    }
}

#[test]
fn a_limit_that_lets_nothing_through_is_refused_where_it_stands() {
    let cases = [
        ("limits", "running"),
        ("limits", "maxPromptBytes"),
        ("limits", "maxOutputBytes"),
        ("mcp", "streamTimeout"),
        ("mcp", "progressInterval"),
        ("mcp", "toolTimeout"),
        ("server", "maxConnections"),
    ];
    let why = "is 0, with which nothing could run; it must be at least 1";
    for (section, key) in cases {
        let text = format!("mirror: true\n{section}:\n  # nothing\n  {key}: 0\n");
        assert_eq!(refused(&text).0, format!("config.yaml:4: {why}"), "{key}");
        let one = Config::parse("c", &format!("{section}: {{{key}: 1}}"));
        assert!(one.is_ok(), "{key}");
    }
    for zero in
        ["limits: {depth: 0, children: 0, callsPerMinute: 0, grace: 0}", "server: {port: 0}"]
    {
        assert!(Config::parse("c", zero).is_ok(), "{zero}");
    }
    let env = Environment::from_vars("/", [("ADJUTANT_LIMITS_RUNNING", "0")]);
    let said = overlay::apply(&Config::default(), &env, &[]).unwrap_err().to_string();
    assert!(said.contains("ADJUTANT_LIMITS_RUNNING") && said.contains(why), "{said}");
}

#[test]
fn money_is_finite_and_not_negative_wherever_the_file_has_some() {
    for amount in [".nan", ".inf", "-.inf", "-0.5", "1e308", "-1"] {
        for text in [
            format!("budget:\n  default:\n    usd: {amount}"),
            format!("prices:\n  models:\n    x: {{input: {amount}, output: 1}}"),
            format!("prices:\n  models:\n    x: {{input: 1, output: 1, cacheRead: {amount}}}"),
        ] {
            let said = refused(&text).0;
            assert!(said.contains("is not an amount of dollars"), "{text}: {said}");
            assert!(said.starts_with("config.yaml:3: "), "{text}: {said}");
        }
    }
}

#[test]
fn the_manual_names_only_keys_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    // The reference is made of the program, and events have names of this form too.
    let mut folders =
        ["how-to", "explanation", "tutorial"].map(|name| root.join("docs").join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.extension() {
                None => folders.push(entry),
                Some(kind) if kind == "md" => pages.push(entry),
                Some(_) => {}
            }
        }
    }
    let sections = "server|limits|agents|review|worktrees|retention|office|models|slack";
    let named = regex_lite::Regex::new(&format!(r"`((?:{sections})\.[A-Za-z_]+)`")).unwrap();
    let is_file =
        |name: &str| [".json", ".log", ".lock", ".md"].iter().any(|end| name.ends_with(end));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for (_, [name]) in named.captures_iter(&text).map(|found| found.extract()) {
            let below = format!("{name}.");
            let is_key = describe::keys()
                .iter()
                .any(|known| known.key == name || known.key.starts_with(&below));
            assert!(is_key || is_file(name), "{}: `{name}`", page.display());
        }
    }
}
