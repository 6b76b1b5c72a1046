//! Walks: lists of files in ARCHITECTURE.md along which a reader follows the program. Each goes one way, from users
//! down to what they use.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::tidy::Findings;
use crate::tidy::rooms::{self, Graph, Module};
use crate::tree::Tree;

const DOCUMENT: &str = "ARCHITECTURE.md";
/// Heading of the section with the walks.
const HEADING: &str = "#### Four walks";
/// The parts of the program, from users to what they use. Two that are joined by `+` do not use each other.
const PARTS: [&str; 7] = ["web", "adjutant", "server", "engine", "store+host", "wire", "model"];

/// A file of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stop {
    /// Line of the document
    line: usize,
    /// Path without `crates/`
    file: String,
}

impl Stop {
    /// The crate, or `web`.
    fn part(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }

    /// The module of its crate.
    fn module(&self) -> Module {
        let inside = self.file.split_once("/src/").map_or("", |(_, inside)| inside);
        rooms::module_of(Path::new(inside))
    }

    fn path(&self) -> String {
        if self.part() == "web" { self.file.clone() } else { format!("crates/{}", self.file) }
    }
}

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let text = tree.text(Path::new(DOCUMENT))?.unwrap_or_default();
    let walks = walks(&text);
    if walks.is_empty() {
        findings.wrong(format!("{DOCUMENT}: there are no walks below `{HEADING}`"));
    }
    let mut graphs = BTreeMap::new();
    for stop in walks.iter().flatten() {
        if !tree.files.iter().any(|file| file == Path::new(&stop.path())) {
            findings.wrong(format!("{DOCUMENT}:{}: there is no file `{}`", stop.line, stop.path()));
        }
        let part = stop.part().to_owned();
        if part != "web" && !graphs.contains_key(&part) {
            let graph = rooms::uses_of(tree, &part)?;
            graphs.insert(part, graph);
        }
    }
    let none = Graph::new();
    for pair in walks.iter().flat_map(|walk| walk.windows(2)) {
        let [from, to] = pair else { continue };
        if let Some(why) = step_up(from, to, graphs.get(to.part()).unwrap_or(&none)) {
            findings.wrong(format!("{DOCUMENT}:{}: the walk goes back up: {why}", to.line));
        }
    }
    Ok(())
}

/// The files of each numbered list in the section, in their order.
fn walks(text: &str) -> Vec<Vec<Stop>> {
    let mut walks: Vec<Vec<Stop>> = Vec::new();
    let lines = (1..).zip(text.lines()).skip_while(|(_, line)| *line != HEADING).skip(1);
    let mut in_list = false;
    for (line, text) in lines.take_while(|(_, line)| !line.starts_with('#')) {
        if text.starts_with("1. ") {
            walks.push(Vec::new());
        }
        let is_item = text.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        in_list = is_item || (in_list && text.starts_with(' '));
        let Some(walk) = walks.last_mut().filter(|_| in_list) else { continue };
        let quoted = text.split('`').skip(1).step_by(2);
        let files = quoted.filter(|word| word.contains("/src/"));
        walk.extend(files.map(|file| Stop { line, file: file.to_owned() }));
    }
    walks
}

/// Why a step between two files goes to a user of the first one, if it does. `uses` is the graph of the second's crate.
fn step_up(from: &Stop, to: &Stop, uses: &Graph) -> Option<String> {
    let place =
        |stop: &Stop| PARTS.iter().position(|part| part.split('+').any(|name| name == stop.part()));
    let is_sideways = from.part() != to.part() && place(from) == place(to);
    if place(to) < place(from) || is_sideways {
        return Some(format!("`{}` does not use `{}`", from.part(), to.part()));
    }
    if from.part() != to.part() {
        return None;
    }
    let (above, below) = (from.module(), to.module());
    let room = |module: &Module| rooms::place_of(to.part(), module);
    if room(&below) > room(&above) {
        return Some(format!("`{}` stands above `{}`", to.file, from.file));
    }
    let direct = |user: &Module, used: &Module| {
        used.starts_with(user) || uses.get(user).is_some_and(|all| all.contains(used))
    };
    (direct(&below, &above) && !direct(&above, &below))
        .then(|| format!("`{}` uses `{}`", to.file, from.file))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn stop(file: &str) -> Stop {
        Stop { line: 1, file: file.to_owned() }
    }

    #[test]
    fn the_files_of_each_list_of_the_section_are_read() {
        let text = "#### Before\n\n1. `engine/src/a.rs`\n\n#### Four walks\n\nA call (`x`):\n\n\
                    1. `server/src/auth.rs` checks,\n   and `server/src/calls.rs` calls.\n2. `engine/src/b.rs`.\n\n\
                    `engine/src/no.rs` is in none.\n\n1. `store/src/c.rs`, which has `Tx`.\n\n### After\n\n1. `engine/src/d.rs`\n";
        let files: Vec<Vec<String>> = walks(text)
            .iter()
            .map(|walk| walk.iter().map(|stop| format!("{} {}", stop.line, stop.file)).collect())
            .collect();
        assert_eq!(
            files,
            [
                vec!["9 server/src/auth.rs", "10 server/src/calls.rs", "11 engine/src/b.rs"],
                vec!["15 store/src/c.rs"]
            ]
        );
    }

    #[test]
    fn a_step_to_a_user_is_found() {
        let module = |name: &str| rooms::module_of(Path::new(name));
        let uses = Graph::from([
            (module("delivery/jobs.rs"), BTreeSet::from([module("delivery/outbox.rs")])),
            (module("crew/run/keeper/hear.rs"), BTreeSet::from([module("crew/run/keeper.rs")])),
        ]);
        for (from, to, is_up) in [
            ("web/src/api/live.ts", "server/src/tail.rs", false),
            ("server/src/tail.rs", "web/src/api/live.ts", true),
            ("host/src/supervise.rs", "engine/src/crew/run/keeper.rs", true),
            ("store/src/core/tx.rs", "host/src/clock.rs", true),
            ("engine/src/tools/mail/send.rs", "engine/src/mail/outgoing.rs", false),
            ("engine/src/call/door.rs", "engine/src/tools/mail/send.rs", true),
            ("engine/src/delivery/jobs.rs", "engine/src/delivery/outbox.rs", false),
            ("engine/src/delivery/outbox.rs", "engine/src/delivery/jobs.rs", true),
            ("engine/src/crew/run/keeper.rs", "engine/src/crew/run/keeper/hear.rs", false),
        ] {
            let found = step_up(&stop(from), &stop(to), &uses);
            assert_eq!(found.is_some(), is_up, "{from} {to}: {found:?}");
        }
    }
}
