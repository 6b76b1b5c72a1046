//! A world with a server, a scripted model, and roles that real command lines play.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::llm::{Llm, Script};
use testkit::{Server, World};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_adjutant");

/// The model of Claude Code: one whose price it knows.
pub(crate) const CLAUDE_MODEL: &str = "claude-sonnet-4-5";

/// Roles, and who plays them.
const ROLES: [(&str, &str); 4] = [
    ("lead", "category: conversational\nagent: claude\n"),
    ("claude-worker", "category: worker\nagent: claude\n"),
    ("codex-worker", "category: worker\nagent: codex\nmodel: scripted\n"),
    ("acp-worker", "category: worker\nagent: acp\nacp: [claude-agent-acp]\n"),
];

/// A world in which the server runs.
pub(crate) struct Crowd {
    pub(crate) world: World,
    pub(crate) llm: Llm,
    pub(crate) server: Server,
}

impl Crowd {
    pub(crate) async fn gather<'a>(scripts: impl IntoIterator<Item = (&'a str, Script)>) -> Self {
        let llm = Llm::start(scripts).await.unwrap();
        let mut world = World::new(BINARY).await.unwrap();
        let [clis, node] = [".tools/clis/bin", ".tools/node/bin"].map(installed);
        let path = format!("{}:{}:/usr/local/bin:/usr/bin:/bin", clis.display(), node.display());
        world.set("PATH", path);
        configure(&world, &llm);
        let server = world.up().await.unwrap();
        Self { world, llm, server }
    }

    /// Kills the server in the middle of whatever it does, and starts it again.
    pub(crate) async fn bounce(self) -> Self {
        let Self { world, llm, server } = self;
        let url = server.url.clone();
        server.kill().await.unwrap();
        let server = world.up().await.unwrap();
        assert_eq!(server.url, url, "agents know the old address");
        Self { world, llm, server }
    }

    /// Starts an agent, and returns its id.
    pub(crate) async fn draft(&self, role: &str, prompt: &str) -> String {
        let answer = self.json(&["draft", "--json", "--role", role, prompt]).await;
        answer["agentId"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of an agent.
    pub(crate) async fn ended(&self, agent: &str) -> Value {
        loop {
            let answer = self.json(&["await", "--json", agent]).await;
            if answer["status"] != "running" {
                return answer;
            }
        }
    }

    /// Every agent there has been, oldest first.
    pub(crate) async fn agents(&self) -> Vec<Value> {
        let answer = self.json(&["ps", "--all", "--json"]).await;
        let mut agents = answer["agents"].as_array().unwrap().clone();
        agents.sort_by_key(|agent| agent["startedAt"].as_str().unwrap_or_default().to_owned());
        agents
    }

    /// What a command answers, whether it ended well or not.
    pub(crate) async fn json(&self, arguments: &[&str]) -> Value {
        self.world.run(arguments).await.unwrap().json().unwrap()
    }

    /// Lets an agent go on that waits for this file ([`wait_for`]).
    pub(crate) fn go(&self, file: &str) {
        std::fs::write(self.world.project().join(file), "").unwrap();
    }
}

/// A command that an agent runs until [`Crowd::go`].
pub(crate) fn wait_for(file: &str) -> String {
    format!("until [ -e {file} ]; do sleep 0.1; done")
}

/// What the server is told: where the model is, and who plays which role.
fn configure(world: &World, llm: &Llm) {
    let user = world.project().parent().unwrap().join("user");
    let [claude_home, codex_home] = [".claude", ".codex"].map(|folder| user.join(folder));
    std::fs::create_dir_all(&codex_home).unwrap();
    let anthropic = [
        format!("ANTHROPIC_BASE_URL={}", llm.url("default")),
        "ANTHROPIC_API_KEY=any".to_owned(),
        format!("ANTHROPIC_MODEL={CLAUDE_MODEL}"),
        format!("CLAUDE_CONFIG_DIR={}", claude_home.display()),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1".to_owned(),
        "DISABLE_AUTOUPDATER=1".to_owned(),
    ];
    let openai = ["SCRIPTED_KEY=any".to_owned(), format!("CODEX_HOME={}", codex_home.display())];
    let claude_program =
        format!("CLAUDE_CODE_EXECUTABLE={}", installed(".tools/clis/bin/claude").display());
    // JSON is YAML.
    let config = json!({
        "models": { "default": CLAUDE_MODEL },
        "agents": {
            "claude": { "environment": anthropic },
            "codex": { "environment": openai },
            "acp": { "environment": anthropic.iter().chain([&claude_program]).collect::<Vec<_>>() },
        },
        "prices": { "models": { "scripted": { "input": 2, "output": 10 } } },
    });
    std::fs::write(world.home().join("config.yaml"), config.to_string()).unwrap();
    let provider = format!(
        "model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
        llm.url("default")
    );
    std::fs::write(codex_home.join("config.toml"), provider).unwrap();
    for (name, rest) in ROLES {
        let text = format!(
            "---\nname: {name}\n{rest}timeout: 150\nworktree: none\n---\nDo as you are told.\n"
        );
        std::fs::write(world.home().join("roles").join(format!("{name}.md")), text).unwrap();
    }
}

pub(crate) fn installed(path: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let path = path.canonicalize();
    path.expect("please run `tools/setup` and `tools/setup-clis`")
}
