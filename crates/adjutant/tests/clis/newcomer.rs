//! A newcomer's first hour with real command lines in real projects: Adjutant is installed from a built package and finds out
//! how the project is tested, an agent changes it and commits, another runs its tests and approves, and a person's approval
//! merges the change once the project's own tests have passed with it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::World;
use testkit::llm::{Llm, Script, Turn};
use testkit::newcomer::Newcomer;
use testkit::projects::{self, RealProject};

use crate::crowd::{BINARY, installed};

const SUBJECT: &str = "Tidy the sources";

/// A kind of agent, as somebody uses it who has never heard of Adjutant.
struct Kind {
    /// Commands that make Adjutant use it
    settings: &'static [&'static [&'static str]],
    shell: fn(&str) -> Turn,
    /// Its sandbox keeps `.git` read-only, so that only the tool commits
    commits_with_tool: bool,
}

fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({ "command": command, "description": "work" }))
}

fn exec(command: &str) -> Turn {
    Turn::call("exec_command", json!({ "cmd": command, "yield_time_ms": 30_000 }))
}

fn commit_with_tool() -> Turn {
    Turn::call("git__commit", json!({ "message": SUBJECT }))
}

/// What the adapter gets of its user's environment. Nothing is known of it that it could get by itself.
const ACP_ENVIRONMENT: &str = "[ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, CLAUDE_CODE_EXECUTABLE]";

const CLAUDE: Kind = Kind { settings: &[], shell: bash, commits_with_tool: false };
const CODEX: Kind = Kind {
    settings: &[&["config", "set", "agents.default", "codex"]],
    shell: exec,
    commits_with_tool: true,
};
const ACP: Kind = Kind {
    settings: &[
        &["config", "set", "agents.default", "acp"],
        &["config", "set", "agents.acp.binary", "claude-agent-acp"],
        &["config", "set", "agents.acp.environment", ACP_ENVIRONMENT],
    ],
    shell: bash,
    commits_with_tool: false,
};

#[tokio::test]
async fn claude_code_makes_the_first_change_of_a_python_library() {
    makes_the_first_change(CLAUDE, RealProject::Python).await;
}

#[tokio::test]
async fn claude_code_makes_the_first_change_of_a_go_module() {
    makes_the_first_change(CLAUDE, RealProject::Go).await;
}

#[tokio::test]
async fn codex_makes_the_first_change_of_an_npm_package() {
    makes_the_first_change(CODEX, RealProject::Npm).await;
}

#[tokio::test]
async fn codex_makes_the_first_change_of_a_go_module() {
    makes_the_first_change(CODEX, RealProject::Go).await;
}

#[tokio::test]
async fn an_acp_agent_makes_the_first_change_of_a_crate() {
    makes_the_first_change(ACP, RealProject::Cargo).await;
}

#[tokio::test]
async fn an_acp_agent_makes_the_first_change_of_a_go_module() {
    makes_the_first_change(ACP, RealProject::Go).await;
}

#[tokio::test]
async fn codex_commits_with_the_tool_and_asks_for_a_review() {
    let ask = json!({ "reviewer_prompt": "[[script:critic]] Look." });
    let edit = edit(RealProject::Go);
    let coder = Script::new([
        exec(&edit),
        // What git itself may not do, the tool does.
        exec(&format!("git commit -qam '{SUBJECT}' || echo it is refused")),
        commit_with_tool(),
        Turn::call("review__request_review", ask),
        Turn::text("I wait."),
    ]);
    let mut hour = FirstHour::begin(&CODEX, RealProject::Go, coder).await;
    let ran = hour.runs().await;
    assert_eq!(ran["taskState"], "review", "{ran}");
    let results = hour.llm.asked("coder").last().unwrap().results.clone();
    assert!(results[1].contains("it is refused"), "{results:?}");
    let branch = ran["branch"].as_str().unwrap();
    let log = hour.prints(&format!("git log --format=%an:%s main..{branch}")).await;
    assert!(log.ends_with(&format!(":{SUBJECT}")) && log.lines().count() == 1, "{log}");
    let reviews = hour.json(&["reviews", "--all", "--json"]).await;
    assert_eq!(reviews["reviews"][0]["state"], "approved", "{reviews}");
}

/// A change of a source file that changes nothing of what it does.
fn edit(project: RealProject) -> String {
    let (file, line) = project.harmless_change();
    format!("printf '%s\\n' '{}' >> {file}", line.trim())
}

async fn makes_the_first_change(kind: Kind, project: RealProject) {
    let edit = edit(project);
    let mut turns = Vec::new();
    if kind.commits_with_tool {
        turns.extend([(kind.shell)(&edit), commit_with_tool()]);
    } else {
        turns.push((kind.shell)(&format!("{edit} && git commit -qam '{SUBJECT}'")));
    }
    turns.push(Turn::text("Tidied."));
    let mut hour = FirstHour::begin(&kind, project, Script::new(turns)).await;
    hour.newcomer.types(&["config", "set", "review.required", "agent"]).await.unwrap();
    let ran = hour.runs().await;
    assert_eq!(ran["taskState"], "review", "{ran}");
    let reviews = hour.json(&["reviews", "--all", "--json"]).await;
    assert_eq!(reviews["reviews"][0]["feedback"]["body"], "I ran its tests.", "{reviews}");
    let results = hour.llm.asked("critic").last().unwrap().results.clone();
    assert!(results[0].contains(hour.newcomer.beginning.passed), "{results:?}");
    hour.newcomer.types(&["review", "approve", "TAS-1"]).await.unwrap();
    let task = hour.json(&["tasks", "show", "TAS-1", "--json"]).await;
    assert_eq!(task["storedState"], "completed", "{task}");
    let (file, line) = project.harmless_change();
    assert_eq!(hour.prints("git diff --name-only main^ main").await, file);
    assert_eq!(hour.prints(&format!("git show main:{file} | tail -n 1")).await, line.trim());
    // Install, init, ask for a reviewer, run and approve.
    assert_eq!(
        hour.newcomer.commands.len(),
        5 + kind.settings.len(),
        "{:?}",
        hour.newcomer.commands
    );
    report(&hour.newcomer.figures());
}

/// Prints a figure for anyone who runs the tests.
#[expect(clippy::print_stderr, reason = "figures are printed")]
fn report(line: &str) {
    eprintln!("{line}");
}

/// A newcomer whose agents ask a scripted model.
struct FirstHour {
    newcomer: Newcomer,
    llm: Llm,
}

impl FirstHour {
    /// Installs Adjutant in a project, has `init` find out how it is tested, and says which kind of agent is to be used.
    async fn begin(kind: &Kind, project: RealProject, coder: Script) -> Self {
        let mut newcomer = Newcomer::begin(Path::new(BINARY), project).await.unwrap();
        let check = newcomer.beginning.check;
        let feedback = json!({ "feedback": "I ran its tests.", "feedback_type": "approved" });
        let critic = Script::new([
            (kind.shell)(check),
            Turn::call("review__send_feedback", feedback),
            Turn::text("Approved."),
        ]);
        let llm = Llm::start([("coder", coder), ("critic", critic)]).await.unwrap();
        log_in(&mut newcomer.world, &llm, project);
        newcomer.types(&["init"]).await.unwrap();
        let home = newcomer.world.home();
        let config = fs::read_to_string(home.join("config.yaml")).unwrap();
        assert!(config.contains(&format!("\ncheck: \"{check}\"\n")), "{config}");
        for setting in kind.settings {
            newcomer.types(setting).await.unwrap();
        }
        // The model is told apart by it who asks.
        fs::write(home.join("review.md"), "[[script:critic]] Look at it.\n").unwrap();
        Self { newcomer, llm }
    }

    /// Has an agent change the project.
    async fn runs(&mut self) -> Value {
        let prompt = "[[script:coder]] Tidy the sources.";
        let run = ["run", "--json", "--timeout", "150", "--role", "coder", prompt];
        let ran: Value = serde_json::from_str(&self.newcomer.types(&run).await.unwrap()).unwrap();
        assert_eq!(ran["state"], "succeeded", "{ran}");
        ran
    }

    /// What a command answers that the newcomer need not type.
    async fn json(&self, arguments: &[&str]) -> Value {
        self.newcomer.world.run(arguments).await.unwrap().ok().unwrap().json().unwrap()
    }

    async fn prints(&self, script: &str) -> String {
        let ran = self.newcomer.world.shell(script).await.unwrap().ok().unwrap();
        ran.stdout.trim().to_owned()
    }
}

/// Sets the command lines up as their user has: the programs, a login, and where their model is.
fn log_in(world: &mut World, llm: &Llm, project: RealProject) {
    let [clis, node] = [".tools/clis/bin", ".tools/node/bin"].map(installed);
    let path = projects::path(project).unwrap();
    world.set("PATH", format!("{}:{}:{path}", clis.display(), node.display()));
    world.set("ANTHROPIC_BASE_URL", llm.url("default"));
    world.set("CLAUDE_CODE_EXECUTABLE", clis.join("claude").display().to_string());
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
        world.set(name, "any");
    }
    let claude = json!({ "env": {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
    }});
    let codex = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\n\
         name = \"scripted\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n\
         env_key = \"OPENAI_API_KEY\"\n",
        llm.url("default")
    );
    for (file, text) in
        [(".claude/settings.json", claude.to_string()), (".codex/config.toml", codex)]
    {
        let file = world.user().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}
