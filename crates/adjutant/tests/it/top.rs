//! `adjutant top` on a real terminal: the binary in tmux, keys sent, the screen read.

use std::fs;
use std::time::Duration;

use testkit::World;

use crate::kill::{draft, ended, stage, until_is};

/// How long something that must be seen may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A lead that starts a hand and asks the human; each waits for a file before it goes on or ends.
const STORY: &str = r#"
scenarios:
  lead:
    steps:
      - say: I plan the work
      - burn: {input_tokens: 9000, output_tokens: 700, cost_usd: 0.40}
      - {call: task_create, with: {title: Write the greeting, slug: greeting}, save: made}
      - {call: draft_agent, with: {role: hand, prompt: talk, taskSlug: greeting}, save: hand}
      - call: mail_send
        with: {toHuman: true, subject: Which lock may I take?, body: "The choice is yours.\n\n1. The hash\n2. The number"}
      - {call: mail_list_inbox, with: {waitSeconds: 100}, until: {count: 1}, save: inbox}
      - {call: mail_read, with: {mailId: '{{inbox.mails.0.id}}'}, save: answer}
      - write: {path: answered, text: '{{answer.body}}'}
      - say: 'the human says {{answer.body}}'
      - wait_file: {path: end, seconds: 500}
  talk:
    steps:
      - repeat: {times: 40, steps: [{say: 'word {{i}}'}]}
      - say: "\e[2J\e]0;taken\a harmless \u202eonly"
      - write: {path: said, text: x}
      - wait_file: {path: more, seconds: 500}
      - say: and more words
      - wait_file: {path: end, seconds: 500}
"#;

/// A terminal of the test's own, which ends with it.
struct Pane<'a> {
    world: &'a World,
    tmux: u32,
}

impl Drop for Pane<'_> {
    fn drop(&mut self) {
        // Best effort: it may be gone already.
        drop(host::process::kill(self.tmux));
    }
}

impl<'a> Pane<'a> {
    /// A shell on a terminal of this size. What stood there before `top` is `before`.
    async fn new(world: &'a World, wide: u16, high: u16) -> Self {
        let begin = format!(
            "tmux -u -f /dev/null new-session -d -s top -x {wide} -y {high} 'PS1=ready: exec sh -i'"
        );
        let tmux = format!("{begin} && tmux display-message -p '#{{pid}}'");
        let ran = world.shell(&tmux).await.unwrap().ok().unwrap();
        let pane = Self { world, tmux: ran.stdout.trim().parse().unwrap() };
        pane.until(|seen| seen.contains("ready:")).await;
        pane.keys("'echo be''fore' Enter").await;
        pane.until(|seen| seen.contains("\nbefore")).await;
        pane
    }

    /// The same with `top` on it.
    async fn top(world: &'a World, wide: u16, high: u16) -> Self {
        let pane = Self::new(world, wide, high).await;
        pane.start("").await;
        pane
    }

    async fn start(&self, variables: &str) {
        self.keys(&format!("'{variables} {} top' Enter", crate::BINARY)).await;
        self.until(|seen| seen.contains("1 Crew") && seen.contains("AGENT")).await;
    }

    async fn tmux(&self, arguments: &str) -> String {
        let ran = self.world.shell(&format!("tmux {arguments}")).await.unwrap();
        ran.ok().unwrap().stdout
    }

    /// Sends keys, as tmux names them.
    async fn keys(&self, keys: &str) {
        self.tmux(&format!("send-keys -t top {keys}")).await;
    }

    async fn seen(&self) -> String {
        self.tmux("capture-pane -p -t top").await
    }

    /// Waits until the screen is so, and gives it.
    async fn until(&self, is_so: impl Fn(&str) -> bool) -> String {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        let mut look = tokio::time::interval(Duration::from_millis(50));
        let mut before = String::new();
        loop {
            // Seen twice: what is being drawn can be seen half drawn.
            let seen = self.seen().await;
            if is_so(&seen) && seen == before {
                return seen;
            }
            assert!(tokio::time::Instant::now() < deadline, "waited in vain:\n{seen}");
            before = seen;
            look.tick().await;
        }
    }

    async fn until_has(&self, words: &str) -> String {
        self.until(|seen| seen.contains(words)).await
    }

    async fn size(&self, wide: u16, high: u16) {
        self.tmux(&format!("resize-window -t top -x {wide} -y {high}")).await;
    }

    /// The shell is there again, with what it had shown and with nothing of `top`.
    async fn is_as_before(&self) {
        let seen = self.until(|seen| seen.trim_end().ends_with("ready:")).await;
        assert!(seen.contains("\nbefore"), "{seen}");
        assert!(!seen.contains("AGENT"), "{seen}");
        let on = self.tmux("display-message -p -t top '#{alternate_on} #{cursor_flag}'").await;
        assert_eq!(on.trim(), "0 1", "the screen is left and the cursor is back");
        self.keys("'echo ty''ped' Enter").await;
        self.until_has("\ntyped").await;
    }
}

/// A line of the screen that has these words.
fn line<'a>(seen: &'a str, words: &str) -> &'a str {
    seen.lines()
        .find(|line| line.contains(words))
        .unwrap_or_else(|| panic!("no `{words}`:\n{seen}"))
}

/// A crew at work: the lead waits for an answer, the hand for a file.
async fn at_work() -> World {
    let mut world = stage(STORY, &[]).await;
    let place = world.scratch().display().to_string();
    world.set("TMUX_TMPDIR", place);
    world
}

async fn until_said(world: &World) {
    crate::crew::until("the hand has spoken", || world.project().join("said").exists()).await;
}

#[tokio::test]
async fn the_crew_is_a_tree_and_a_stream_grows_while_it_is_watched() {
    let world = at_work().await;
    let _server = world.up().await.unwrap();
    draft(&world, "lead", "lead").await;
    until_said(&world).await;
    let pane = Pane::top(&world, 80, 24).await;
    let seen = pane.until(|seen| seen.contains("└ hand") && seen.contains("n goes there")).await;
    assert!(seen.lines().all(|line| line.chars().count() <= 80), "{seen}");
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].starts_with(" 1 Crew  2 Agent  3 Mail (1)  4 Costs "), "{seen}");
    assert!(lines[0].ends_with("? 1 needs you · 2 running · $0.40"), "{seen}");
    assert!(
        lines[2].starts_with(" ? Which lock may I take?  lead "),
        "who needs you comes first\n{seen}"
    );
    assert!(line(&seen, "▾ lead").contains("● running"), "{seen}");
    assert!(line(&seen, "└ hand").contains("TAS-2"), "{seen}");
    assert!(line(&seen, "▾ lead").contains("$0.40"), "{seen}");

    pane.keys("Down Enter").await;
    let seen =
        pane.until(|seen| seen.contains("stream, following") && seen.contains("word 40")).await;
    assert!(line(&seen, "harmless").contains(" harmless only"), "{seen}");
    assert!(seen.contains("Write the greeting"), "{seen}");
    let title = pane.tmux("display-message -p -t top '#{pane_title}'").await;
    assert!(!title.contains("taken"), "{title}");

    // Who reads further up is not moved by what comes.
    pane.keys("PPage").await;
    let before = pane.until(|seen| seen.contains("f follows")).await;
    fs::write(world.project().join("more"), "").unwrap();
    let after = pane.until(|seen| line(seen, "f follows") != line(&before, "f follows")).await;
    let words = |seen: &str| -> Vec<String> {
        seen.lines().filter(|line| line.contains("   word ")).map(str::to_owned).collect()
    };
    assert_eq!(words(&after), words(&before));
    pane.keys("f").await;
    pane.until_has("and more words").await;

    // Only lines with a word, and all again.
    pane.keys("/ 'word 7' Enter").await;
    pane.until(|seen| seen.contains("word 7") && !seen.contains("word 8")).await;
    pane.keys("Escape").await;
    pane.until_has("and more words").await;

    pane.keys("'?'").await;
    let seen = pane.until_has("Keys in Agent").await;
    assert!(seen.contains("Follow the stream again"), "{seen}");
    pane.keys("Escape").await;
    pane.until(|seen| !seen.contains("Keys in Agent")).await;
    pane.keys("q").await;
    pane.is_as_before().await;
}

#[tokio::test]
async fn a_letter_is_answered_and_an_agent_killed_on_a_large_screen() {
    let world = at_work().await;
    let _server = world.up().await.unwrap();
    let lead = draft(&world, "lead", "lead").await;
    until_said(&world).await;
    let pane = Pane::top(&world, 200, 50).await;
    let seen = pane.until(|seen| seen.contains("└ hand") && seen.contains("n goes there")).await;
    assert!(line(&seen, "└ hand").contains("TAS-2 Write the greeting"), "{seen}");

    pane.keys("n").await;
    let seen = pane.until(|seen| seen.contains("▸ The hash") && seen.contains("? asks")).await;
    assert!(line(&seen, "? asks").contains("Which lock may I take?"), "{seen}");
    pane.keys("r").await;
    pane.until_has("Reply to lead").await;
    pane.keys("Tab").await;
    pane.until_has("│ 1. The hash").await;
    pane.keys("C-u 'Take the hash' M-Enter 'and go on'").await;
    pane.until_has("and go on").await;
    pane.keys("Enter").await;
    pane.until(|seen| seen.contains("you to lead") && !seen.contains("needs you")).await;
    let answered = world.project().join("answered");
    crate::crew::until("the agent has the answer", || answered.exists()).await;
    assert_eq!(fs::read_to_string(&answered).unwrap(), "Take the hash\nand go on");

    pane.keys("4").await;
    let seen = pane.until(|seen| seen.contains("BY ROLE") && seen.contains("100%")).await;
    assert!(line(&seen, "today (UTC)").contains("$0.40"), "{seen}");
    assert!(seen.contains("BUDGETS") && seen.contains("████"), "{seen}");
    pane.keys("y").await;
    pane.until_has("BY MODEL").await;

    // A mail to an agent that was not asked for.
    pane.keys("1 / greeting").await;
    let seen = pane.until(|seen| seen.contains("AGENT /greeting") && !seen.contains("lead ")).await;
    assert!(seen.contains("hand "), "{seen}");
    pane.keys("Enter m").await;
    pane.until_has("To hand").await;
    pane.keys("'Well done' Enter").await;
    pane.until(|seen| seen.contains("Sent.") && !seen.contains("To hand")).await;
    pane.keys("Escape").await;
    pane.until_has("└ hand").await;
    pane.keys("Home x").await;
    pane.until_has("Kill lead").await;
    pane.keys("n").await;
    pane.until_has("No agent was killed").await;
    assert_eq!(crate::kill::states(&world).await, ["running", "running"]);
    pane.keys("x").await;
    pane.until(|seen| seen.contains("Kill lead") && seen.contains("the one below it?")).await;
    pane.keys("y").await;
    pane.until(|seen| seen.contains("■ killed") && seen.contains("(killed by the operator)")).await;
    assert_eq!(ended(&world, &lead).await, "killed");
    assert_eq!(crate::kill::states(&world).await, ["killed", "killed"]);

    // As small as it gets, smaller, and large again.
    pane.size(60, 15).await;
    pane.until(|seen| seen.contains("1 Crew") && seen.lines().count() <= 15).await;
    pane.size(59, 15).await;
    pane.until_has("This is 59×15").await;
    pane.size(120, 30).await;
    pane.until(|seen| seen.contains("1 Crew") && seen.contains("■ killed")).await;
    pane.keys("C-c").await;
    pane.is_as_before().await;
}

#[tokio::test]
async fn it_says_that_the_server_is_away_and_goes_on_with_the_next() {
    let world = at_work().await;
    let server = world.up().await.unwrap();
    draft(&world, "lead", "lead").await;
    until_said(&world).await;
    let pane = Pane::top(&world, 80, 24).await;
    pane.until_has("└ hand").await;
    server.stop().await.unwrap();
    let seen = pane.until_has("The server is not reachable").await;
    assert!(seen.contains("└ hand"), "what was known stays\n{seen}");
    // Nothing is done meanwhile.
    pane.keys("x y").await;
    pane.until_has("nothing was done").await;
    let server = world.up().await.unwrap();
    pane.until(|seen| !seen.contains("is away")).await;
    fs::write(world.project().join("more"), "").unwrap();
    pane.until(|seen| line(seen, "└ hand").contains("and more")).await;
    // After a crash it brings a server back itself.
    server.kill().await.unwrap();
    pane.until_has("The server is not reachable").await;
    pane.until(|seen| !seen.contains("is away")).await;
    fs::write(world.project().join("end"), "").unwrap();
    pane.until(|seen| line(seen, "└ hand").contains("✓ done")).await;
    pane.keys("q").await;
    pane.is_as_before().await;
}

#[tokio::test]
async fn the_terminal_is_given_back_however_it_ends() {
    let world = at_work().await;
    let _server = world.up().await.unwrap();
    let pane = Pane::top(&world, 80, 50).await;
    let pid = "$(ps -o pid= --ppid $(tmux display-message -p -t top '#{pane_pid}'))";
    for signal in ["TERM", "HUP", "INT"] {
        world.shell(&format!("kill -{signal} {pid}")).await.unwrap().ok().unwrap();
        pane.is_as_before().await;
        pane.start("").await;
    }
    // Suspended and back.
    pane.keys("C-z").await;
    pane.until(|seen| seen.contains("\nbefore") && seen.contains("Stopped")).await;
    pane.keys("fg Enter").await;
    pane.until(|seen| seen.contains("1 Crew") && seen.contains("AGENT")).await;
    pane.keys("q").await;
    pane.is_as_before().await;
    // A bug of ours.
    pane.keys(&format!("'ADJUTANT_CRASH_AT=top {} top' Enter", crate::BINARY)).await;
    let seen = pane.until_has("asked to fail by ADJUTANT_CRASH_AT").await;
    assert!(!seen.contains("AGENT"), "{seen}");
    pane.is_as_before().await;
}

#[tokio::test]
async fn there_are_no_colours_where_none_are_wanted() {
    let world = at_work().await;
    let _server = world.up().await.unwrap();
    draft(&world, "lead", "lead").await;
    until_said(&world).await;
    let pane = Pane::new(&world, 80, 24).await;
    pane.start("NO_COLOR=1").await;
    pane.until_has("└ hand").await;
    let colours =
        regex_lite::Regex::new(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38|4[0-7])(;[0-9;]*)?m").unwrap();
    let plain = pane.tmux("capture-pane -e -p -t top").await;
    assert!(!colours.is_match(&plain), "{plain:?}");
    pane.keys("q").await;
    pane.is_as_before().await;
    pane.start("").await;
    pane.until_has("└ hand").await;
    let painted = pane.tmux("capture-pane -e -p -t top").await;
    assert!(colours.is_match(&painted), "{painted:?}");
}

#[tokio::test]
async fn programs_and_pipes_are_told_what_to_use_instead() {
    let world = at_work().await;
    let refused = world.run(&["top"]).await.unwrap();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("needs a terminal"), "{refused:?}");
    assert!(refused.stderr.contains("adjutant ps --watch"), "{refused:?}");
    let refused = world.run(&["top", "--json"]).await.unwrap();
    let error = refused.error().unwrap();
    assert_eq!((refused.code, &error["code"]), (Some(2), &"INVALID_INPUT".into()));
    let advice = error["suggestions"].to_string();
    assert!(advice.contains("ps --json") && advice.contains("events -f --json"), "{error}");
    let pane = Pane::new(&world, 80, 24).await;
    pane.keys(&format!("'TERM=dumb {} top; echo code $?' Enter", crate::BINARY)).await;
    let seen = pane.until_has("\ncode 2").await;
    assert!(seen.contains("adjutant ps --watch"), "{seen}");
}

#[tokio::test]
async fn an_agent_that_ends_is_seen_to_end() {
    let world = at_work().await;
    let _server = world.up().await.unwrap();
    let hand = draft(&world, "hand", "talk").await;
    until_is(&world, &hand, "running").await;
    let pane = Pane::top(&world, 80, 24).await;
    pane.until(|seen| seen.contains("● running")).await;
    for file in ["more", "end"] {
        fs::write(world.project().join(file), "").unwrap();
    }
    pane.until(|seen| seen.contains("✓ done") && seen.contains("0 running")).await;
    pane.keys("s s s s").await;
    pane.until(|seen| seen.contains("AGENT ended") && seen.contains("✓ done")).await;
    pane.keys("Enter").await;
    pane.until(|seen| seen.contains("stream, to its end") && seen.contains("and more words")).await;
}
