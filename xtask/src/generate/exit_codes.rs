//! `docs/reference/exit-codes.md`: what each exit code means, and which errors lead to it.

use std::fmt::Write as _;

use engine::Code;

/// Every exit code: what it means, and when that is.
const EXITS: [(u8, &str, &str); 10] = [
    (0, "done", "The command did what it was asked, or the reader of its output closed it"),
    (
        1,
        "the agent failed",
        "An agent failed, a check found something, a program or the network did",
    ),
    (2, "bad input", "What was typed, or stands in a file, cannot be used; nothing was changed"),
    (3, "not allowed", "The caller may not, or a limit, a budget or a depth is reached"),
    (4, "not found", "There is no such agent, task, mail, role, tool, key or home"),
    (
        5,
        "conflict",
        "It does not fit the current state: it has ended already, or another agent has it",
    ),
    (
        6,
        "no server",
        "No server runs and none was to be started, or it could not be started; or no server owns the home at the \
         moment",
    ),
    (
        70,
        "a bug",
        "Adjutant failed inside; the server's log says more under the number that is named",
    ),
    (129, "hung up", "The terminal of `demo` was closed"),
    (130, "interrupted", "Ctrl-C: `run`, `resume` and `demo` stopped waiting"),
];

const RELY: &str = "\
## What scripts can rely on

| command | exits with |
|---|---|
| `run`, `resume` | 0 if the agent succeeded, 1 if it ended in any other way; 130 after Ctrl-C, and the agent goes on |
| `await` | 0 if all agents succeeded, 1 if one did not, or still runs when `--timeout` is over |
| `kill` | 0 if all were ended by it, 5 if one had ended before |
| `status` | 0 if a server runs, 6 if none does; it starts none |
| `up --detach` | 0 if a server runs afterwards, also one that ran already |
| `down` | 0 if no server runs afterwards, 5 if agents run and neither `--kill` nor `--leave` was given |
| `doctor` | 0 if nothing failed, 1 if something did |
| `audit verify` | 0 if the chain holds, 1 if it does not |
| `worktrees check` | 0 if git and the record agree, 5 if they do not |
| `review approve` | 0 if all is merged, 1 if something was sent back or is held |
| `webhooks test` | 0 if the message was taken, 1 if it was not |
| `demo` | 0 if all was as it should be, 1 if not |
| every other | 0 if it did what it was asked |

A command that exits with 2, 3, 4 or 5 has changed nothing, but for one that was given several names: it did what
it could, and exits with the code of the first that failed. With `--json` the error is one object on stderr, whose `code` is
in the table above and says more than the exit code: see [JSON](json.md#errors).

```sh
adjutant run --role coder --json 'Make the tests pass' > result.json
case $? in
  0) echo done ;;
  1) jq -r '.state + \": \" + .result.summary' result.json ;;
  3) echo 'over a limit' ;;
  6) echo 'no server' ;;
esac
```
";

/// The page.
pub(super) fn page() -> String {
    let mut page = String::from(
        "<!-- Written by `cargo xtask generate` from the errors themselves. Change those, not this. -->\n\n\
         # Exit codes\n\n\
         What `adjutant` exits with, and the codes of errors that lead there.\n\n\
         | exit | means | when | errors |\n|---|---|---|---|\n",
    );
    for (exit, means, when) in EXITS {
        let codes = Code::ALL.iter().filter(|row| row.2 == exit).map(|row| format!("`{}`", row.1));
        let codes = codes.collect::<Vec<_>>().join(", ");
        // Writing to a String cannot fail.
        _ = writeln!(page, "| {exit} | {means} | {when} | {codes} |");
    }
    page.push('\n');
    page.push_str(RELY);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_an_exit_that_is_explained() {
        for (_, name, exit, _) in Code::ALL {
            assert!(EXITS.iter().any(|known| known.0 == exit), "{name} exits with {exit}");
            assert!(page().contains(&format!("`{name}`")), "{name} is not on the page");
        }
    }
}
