//! Tables: on a terminal they fit however long the values are, and in a pipe nothing is cut.

use crate::crew::role;
use crate::{BINARY, world};

const LONG: &str =
    "A title that goes on and on until nobody can read it any more, whoever it is that tries to";

#[tokio::test]
async fn a_table_fits_a_terminal_and_a_pipe_gets_it_whole() {
    let world = world().await;
    let name = "a-role-with-quite-a-long-name";
    role(&world, name, "agent: command\ncommand: [sh, -c, 'cat > /dev/null']\nworktree: none");
    let _server = world.up().await.unwrap();
    let ok = async |typed: &[&str]| world.run(typed).await.unwrap().ok().unwrap().stdout;
    ok(&["tasks", "add", LONG, "--slug", &"slug".repeat(12)]).await;
    ok(&["run", "--role", name, "--task", "TAS-1", "Go"]).await;
    ok(&["tool", "mail_send", "--to-human", "--subject", LONG, "--body", "x"]).await;
    ok(&["tool", "epic_create", "--title", LONG]).await;
    let cases: [(&[&str], &str); 6] = [
        (&["tasks"], LONG),
        (&["ps", "--all"], name),
        (&["mail", "--all"], LONG),
        (&["supervisors"], LONG),
        (&["events"], LONG),
        (&["audit"], "operator__run"),
    ];
    for (typed, whole) in cases {
        let piped = ok(typed).await;
        assert!(piped.contains(whole) && !piped.contains('…'), "{typed:?}: {piped}");
        assert!(!piped.contains('\u{1b}'), "{typed:?}: {piped}");
        let command = format!("stty cols 80; {BINARY} {}", typed.join(" "));
        let shown = world.shell(&format!("script -qec '{command}' /dev/null")).await.unwrap();
        let shown = shown.ok().unwrap().stdout;
        let plain = regex_lite::Regex::new("\u{1b}\\[[0-9;]*m").unwrap().replace_all(&shown, "");
        let lines: Vec<&str> = plain.lines().map(|line| line.trim_end_matches('\r')).collect();
        for line in &lines {
            assert!(line.chars().count() <= 80, "{typed:?}: {line}");
            assert_ne!(line.trim(), "…", "{typed:?}: {plain}");
        }
        assert_eq!(lines.len(), piped.lines().count(), "a row is a line: {plain}\n{piped}");
    }
}
