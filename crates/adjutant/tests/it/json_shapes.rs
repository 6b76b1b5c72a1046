//! What `--json` prints: the shape of every command's answer, taken from a crew at work, as scripts may rely on
//! it and as `docs/reference/json.md` tells it.

mod homes;
mod house;
mod orders;
mod shape;
mod stories;

use std::collections::BTreeMap;

use testkit::World;

use self::shape::{Rules, Shape};
use crate::BINARY;
use crate::help::commands;

/// Every answer, and the story in which it is taken. Flags that change the shape belong to the name.
const ANSWERS: [(&str, &str); 103] = [
    ("init", "alone"),
    ("up", "crew"),
    ("down", "crew"),
    ("status", "crew"),
    ("token", "crew"),
    ("open", "crew"),
    ("open --links", "crew"),
    ("open --revoke", "crew"),
    ("run", "crew"),
    ("draft", "crew"),
    ("await", "crew"),
    ("kill", "crew"),
    ("resume", "crew"),
    ("resume --detach", "crew"),
    ("enlist", "crew"),
    ("discharge", "crew"),
    ("ps", "crew"),
    ("logs", "crew"),
    ("costs", "crew"),
    ("costs --tools", "crew"),
    ("tasks", "work"),
    ("tasks show", "work"),
    ("tasks add", "work"),
    ("epic create", "work"),
    ("epic list", "work"),
    ("epic show", "work"),
    ("supervisors", "office"),
    ("supervisors create", "office"),
    ("supervisors recover", "office"),
    ("mail", "crew"),
    ("mail read", "crew"),
    ("mail reply", "crew"),
    ("mail send", "crew"),
    ("reviews", "work"),
    ("review show", "work"),
    ("review approve", "work"),
    ("review request-changes", "work"),
    ("review abandon", "work"),
    ("review allow-more", "work"),
    ("worktrees", "work"),
    ("worktrees prune", "work"),
    ("worktrees check", "work"),
    ("merge-queue", "work"),
    ("merge-queue retry", "work"),
    ("events", "crew"),
    ("events --follow", "crew"),
    ("decisions", "crew"),
    ("audit", "crew"),
    ("audit list", "crew"),
    ("audit verify", "crew"),
    ("audit export", "crew"),
    ("audit export FILE", "crew"),
    ("clean", "house"),
    ("backup", "house"),
    ("restore", "house"),
    ("home create", "homes"),
    ("home import", "homes"),
    ("home export", "homes"),
    ("home list", "homes"),
    ("home check", "homes"),
    ("home push", "homes"),
    ("home pull", "homes"),
    ("home diff", "homes"),
    ("webhooks", "webhooks"),
    ("webhooks list", "webhooks"),
    ("webhooks dead", "webhooks"),
    ("webhooks retry", "webhooks"),
    ("webhooks retry --all", "webhooks"),
    ("webhooks test", "webhooks"),
    ("webhooks enable", "webhooks"),
    ("loop NAME", "loops"),
    ("loop NAME --detach", "loops"),
    ("loop list", "loops"),
    ("loop status", "loops"),
    ("loop pause", "loops"),
    ("loop resume", "loops"),
    ("loop stop", "loops"),
    ("loop say", "loops"),
    ("loop follow", "loops"),
    ("loop template", "loops"),
    ("plan run", "plans"),
    ("plan check", "plans"),
    ("plan status", "plans"),
    ("plan list", "plans"),
    ("plan follow", "plans"),
    ("plan stop", "plans"),
    ("plan resume", "plans"),
    ("slack", "slack"),
    ("slack status", "slack"),
    ("slack threads", "slack"),
    ("slack retry", "slack"),
    ("tool", "alone"),
    ("tool NAME", "crew"),
    ("mcp install", "alone"),
    ("mcp uninstall", "alone"),
    ("reload", "crew"),
    ("doctor", "alone"),
    ("config get", "alone"),
    ("config set", "alone"),
    ("config unset", "alone"),
    ("config path", "alone"),
    ("demo", "demo"),
    ("errors", "crew"),
];

/// Commands that have no JSON, and why.
/// Anyone who adds a command adds it here or above, and to `docs/reference/json.md`.
const NONE: [(&str, &str); 6] = [
    ("attach", "for people, who type; `logs -f --json` is the stream for programs"),
    ("completions", "it prints a script for a shell"),
    ("mcp", "its standard output speaks MCP"),
    ("serve", "it serves until it is ended, and begins with the line of `up`"),
    ("serve status", "it needs hosts, which `cluster::hosts` has"),
    ("top", "a screen for people; `ps --watch --json` is the same for programs"),
];

/// What the stories cannot show.
const RULES: Rules = Rules {
    // It depends on the kind of event, on the tool, on who is named.
    open: &[
        "decisions[].context",
        "events[].data",
        "data",
        "mcpConfig.mcpServers",
        "deliveries[].body",
        "details",
        "body",
    ],
    any: &["value", "previous"],
    nullable: &[
        "agents[].startedAt",
        "assignedAgentId",
        "branchName",
        "budgetUsd",
        "checkOutput",
        "costUsd",
        "cwd",
        "deliveredAt",
        "description",
        "disabledAt",
        "endedAt",
        "epicId",
        "extra",
        "fromAgentId",
        "iterations[].agentId",
        "iterations[].commit",
        "iterations[].state",
        "iterations[].summary",
        "iterations[].task",
        "lastError",
        "lastFailedAt",
        "lastOkAt",
        "lastStatus",
        "loop.agentId",
        "loops[].agentId",
        "mergedCommit",
        "messages[].iteration",
        "nextTryAt",
        "position",
        "prUrl",
        "problem",
        "questions[].agentId",
        "readAt",
        "reason",
        "rescued",
        "setupOutput",
        "specPath",
        "taskId",
        "wish",
        "worktreePath",
    ],
};

/// What fields hold that the stories never bring about.
const KNOWN: [(&str, &str); 46] = [
    ("agentId", "string"),
    ("approvedBy", "string"),
    (
        "archives",
        "{ archive: string, firstRow: number, lastHash: string, lastRow: number, sha256: string }",
    ),
    ("assignedAgentId", "string"),
    ("branch", "string"),
    ("branchName", "string"),
    ("changes", "string"),
    ("checkOutput", "string"),
    ("code", "string"),
    ("completedAt", "string"),
    ("conflicts", "{ file: string, kind: string, lines: [{ from: number, to: number }] }"),
    ("costUsd", "number"),
    ("deliveredAt", "string"),
    ("dependsOn", "string"),
    ("description", "string"),
    ("disabledAt", "string"),
    ("endedAt", "string"),
    ("files", "string"),
    ("folder", "string"),
    ("hostUrl", "string"),
    (
        "hosts",
        "{ homes: number, id: string, isLive: boolean, leaving: boolean, seenAgoMs: number, url: string, version: string }",
    ),
    ("inProgress", "string"),
    ("issues", "string"),
    ("iteration", "number"),
    ("kept", "string"),
    ("lastMerge", "object"),
    ("lastOkAt", "string"),
    ("linearIssueId", "string"),
    ("linearIssueUrl", "string"),
    ("mergedCommit", "string"),
    ("nextTryAt", "string"),
    ("notes", "string"),
    ("oldPath", "string"),
    ("overlaps", "string"),
    ("position", "number"),
    ("prUrl", "string"),
    ("problem", "string"),
    ("pullRequest", "object"),
    ("questions", "string"),
    ("reason", "string"),
    ("rescued", "string"),
    ("supervisorId", "string"),
    ("tmuxSession", "string"),
    ("uncommitted", "string"),
    ("worktreePath", "string"),
    ("why", "string"),
];

/// The command of an answer: its name without what is not typed so.
fn command_of(answer: &str) -> String {
    let is_verb = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let words = answer.split(' ').take_while(|word| !word.starts_with('-') && is_verb(word));
    words.collect::<Vec<_>>().join(" ")
}

/// The shapes that a story has shown so far.
struct Taken {
    story: &'static str,
    shapes: BTreeMap<String, Shape>,
}

impl Taken {
    fn new(story: &'static str) -> Self {
        Self { story, shapes: BTreeMap::new() }
    }

    /// Looks at what a command printed: an answer, or one a line.
    fn see(&mut self, answer: &str, printed: &str) {
        let shape = self.shapes.entry(answer.to_owned()).or_default();
        assert!(!printed.trim().is_empty(), "`{answer}` printed nothing");
        for line in printed.lines() {
            let value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("`{answer}` printed no JSON: {error}: {line}"));
            shape.add(&value, "", &RULES);
        }
    }

    /// Runs a command and looks at its answer, however it exits.
    async fn take(&mut self, world: &World, answer: &str, typed: &[&str]) -> String {
        let ran = world.run(&[typed, &["--json"]].concat()).await.unwrap();
        assert_eq!(ran.stderr, "", "{typed:?}: {}", ran.stdout);
        self.see(answer, &ran.stdout);
        ran.stdout
    }

    /// The same, of an answer that is one object.
    async fn take_one(&mut self, world: &World, answer: &str, typed: &[&str]) -> serde_json::Value {
        let printed = self.take(world, answer, typed).await;
        assert_eq!(printed.lines().count(), 1, "{typed:?}: {printed}");
        serde_json::from_str(&printed).unwrap()
    }

    /// What tells of the same thing looks the same, whatever each of them has shown.
    fn alike(&mut self, answers: &[&str]) {
        let mut all = Shape::default();
        for answer in answers {
            all.merge(&self.shapes[*answer]);
        }
        self.shapes.extend(answers.iter().map(|answer| ((*answer).to_owned(), all.clone())));
    }

    /// Holds the shapes against the table, the ones that were read, and the manual.
    fn hold(self) {
        let expected = ANSWERS.iter().filter(|(_, story)| *story == self.story);
        let mut expected: Vec<&str> = expected.map(|(answer, _)| *answer).collect();
        expected.sort_unstable();
        let taken: Vec<&str> = self.shapes.keys().map(String::as_str).collect();
        assert_eq!(taken, expected, "the table and the story `{}` differ", self.story);
        let sections: Vec<(String, String)> = self
            .shapes
            .iter()
            .map(|(answer, shape)| (answer.clone(), shape.text(&KNOWN)))
            .collect();
        let all: Vec<String> =
            sections.iter().map(|(answer, shape)| format!("{answer}: {shape}\n")).collect();
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("json_shapes__{}", self.story), all.join("\n"));
        });
        let manual = manual();
        for (answer, shape) in sections {
            let told = manual.get(&answer).map(String::as_str);
            assert_eq!(
                told,
                Some(shape.as_str()),
                "docs/reference/json.md is wrong about `{answer}`"
            );
        }
    }
}

/// What the manual says: the block under each heading.
fn manual() -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/json.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut told = BTreeMap::new();
    for section in text.split("\n## `").skip(1) {
        let (heading, rest) = section.split_once("`\n").unwrap();
        let answer = heading.strip_prefix("adjutant ").unwrap_or(heading);
        let block = rest.split_once("```text\n").and_then(|(_, rest)| rest.split_once("\n```"));
        told.insert(answer.to_owned(), block.map_or("", |(block, _)| block).to_owned());
    }
    told
}

#[tokio::test]
async fn every_command_is_in_the_table_or_has_a_reason_not_to_be() {
    let world = World::bare(BINARY).unwrap();
    let known = |name: &str| {
        ANSWERS.iter().any(|(answer, _)| command_of(answer) == name)
            || NONE.iter().any(|(command, _)| *command == name)
    };
    let all = commands(&world).await;
    for command in all.iter().filter(|command| command.acts()) {
        assert!(known(&command.name), "`{}` is not in the table of JSON shapes", command.name);
    }
    let there = |name: &str| all.iter().any(|command| command.name == name);
    let named = ANSWERS.iter().map(|(answer, _)| command_of(answer));
    for name in named.chain(NONE.map(|(name, _)| name.to_owned())).filter(|name| name != "errors") {
        assert!(there(&name), "`{name}` is in the table and no command");
    }
    let answers: Vec<&str> = ANSWERS.iter().map(|(answer, _)| *answer).collect();
    let told: Vec<String> = manual().into_keys().collect();
    let mut sorted = answers.clone();
    sorted.sort_unstable();
    assert_eq!(told, sorted, "docs/reference/json.md has other headings than the table");
}
