//! Makes one shell script of a page, with a mark before and after each step.

use std::fmt::Write as _;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use regex_lite::Regex;
use serde::de::IgnoredAny;

use super::page::{Block, BlockUse, Page, PageItem};

/// Comes before the number of a step that begins.
const STEP_BEGIN_MARK: char = '\u{1e}';
/// Comes before the status of a step that has ended.
const STEP_END_MARK: char = '\u{1f}';
/// Ends a file in the script.
const HEREDOC_END: &str = "END_OF_THIS_FILE";

/// What every page may use.
const PROLOGUE: &str = r#"
exec < /dev/null
# The program takes the files that a page has written, without a word against them.
taken() { adjutant reload > "$TMPDIR/reload" 2>&1 && ! grep -q 'odd:' "$TMPDIR/reload" || { cat "$TMPDIR/reload"; false; }; }
# until_ok COMMAND: waits until it succeeds.
until_ok() { for _ in $(seq 1200); do "$@" > "$TMPDIR/until" 2>&1 && return; sleep 0.05; done; cat "$TMPDIR/until"; return 1; }
# field NAME: the first value of this name in the JSON that it reads.
field() { grep -o "\"$1\": *\"[^\"]*\"" | head -n 1 | sed 's/.*: *"\(.*\)"/\1/'; }
"#;

/// One thing that is typed.
#[derive(Debug)]
pub(super) struct TypedStep {
    /// Where the page has it
    pub(super) line: usize,
    /// As the page has it
    pub(super) typed: String,
    /// As the shell gets it
    shell: String,
    /// What the page shows under it
    pub(super) shown: Option<Vec<String>>,
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StepOutcome {
    /// What it printed
    pub(super) printed: String,
    /// Its exit status; none where the shell did not get so far
    pub(super) status: Option<i32>,
}

/// Examples of a page, and the variables that they stand for.
type ExampleVariables = Vec<(String, String)>;

/// Everything that a page does, in its order.
pub(super) fn steps(page: &Page) -> Result<Vec<TypedStep>> {
    let mut steps = Vec::new();
    let mut stands = ExampleVariables::new();
    for item in &page.items {
        match item {
            PageItem::Setup { line, text } => {
                let typed = format!("(setup) {}", text.trim());
                steps.push(TypedStep { line: *line, typed, shell: text.clone(), shown: None });
            }
            PageItem::Stands { example, variable } => {
                stands.push((example.clone(), variable.clone()));
            }
            PageItem::Needs(_) => {}
            PageItem::Block(block) => of_block(block, &stands, &mut steps)
                .with_context(|| format!("{}:{}", page.name, block.line))?,
        }
    }
    Ok(steps)
}

fn of_block(block: &Block, stands: &ExampleVariables, steps: &mut Vec<TypedStep>) -> Result<()> {
    if block.notes.not_run.is_some() || block.is_picture() {
        return Ok(());
    }
    match (&block.notes.place, block.language.as_str()) {
        (Some(place), _) => steps.push(file(block, place, stands)?),
        (None, "console") => steps.extend(console(block, stands)?),
        (None, "sh") => steps.extend(shell(block, stands)),
        (None, language) => bail!(
            "nothing is done with this block of `{language}`; say before it which file it is, \
             with `<!-- file: PATH -->`, or why it is not run, with `<!-- not run: REASON -->`"
        ),
    }
    Ok(())
}

/// A block that is a file, and the program's opinion of it.
fn file(block: &Block, place: &BlockUse, stands: &ExampleVariables) -> Result<TypedStep> {
    if block.language == "json" && serde_json::from_str::<IgnoredAny>(&block.text).is_err() {
        // Not one document, then one a line.
        block
            .text
            .lines()
            .try_for_each(|line| serde_json::from_str::<IgnoredAny>(line).map(drop))?;
    }
    let (path, redirect) = match place {
        BlockUse::File(path) => (path, ">"),
        BlockUse::AddTo(path) => (path, ">>"),
    };
    let mut shell = format!(
        "mkdir -p \"$(dirname '{path}')\"\ncat {redirect} '{path}' <<'{HEREDOC_END}'\n{}{HEREDOC_END}\n",
        block.text
    );
    for (example, variable) in stands {
        // An address has no `|`.
        writeln!(shell, "sed -i \"s|{example}|${variable}|g\" '{path}'")?;
    }
    if path.contains(".adjutant/") {
        shell.push_str("taken\n");
    }
    let typed = format!("(the file `{path}`)");
    Ok(TypedStep { line: block.line, typed, shell, shown: None })
}

/// Every command of a `console` block: as a shell asks, with `$` for a command and `>` for its further lines.
fn console(block: &Block, stands: &ExampleVariables) -> Result<Vec<TypedStep>> {
    let mut steps: Vec<TypedStep> = Vec::new();
    for (content, line) in block.text.lines().zip(block.line + 1..) {
        if let Some(command) = content.strip_prefix("$ ") {
            steps.push(TypedStep {
                line,
                typed: command.to_owned(),
                shell: String::new(),
                shown: None,
            });
            continue;
        }
        let last = steps.last_mut().context("the block shows something before any command")?;
        match content.strip_prefix('>').filter(|_| last.shown.is_none()) {
            Some(more) => {
                last.typed.push('\n');
                last.typed.push_str(more.strip_prefix(' ').unwrap_or(more));
            }
            None => last.shown.get_or_insert_default().push(content.to_owned()),
        }
    }
    for step in &mut steps {
        step.shell = in_shell(&step.typed, block, stands);
    }
    Ok(steps)
}

static HEREDOC: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"<<-?\s*['"]?(\w+)['"]?"#).ok());

/// Every command of a `sh` block.
fn shell(block: &Block, stands: &ExampleVariables) -> Vec<TypedStep> {
    let mut steps = Vec::new();
    let mut lines = block.text.lines().zip(block.line + 1..);
    while let Some((content, line)) = lines.next() {
        if content.trim().is_empty() || content.trim_start().starts_with('#') {
            continue;
        }
        let mut typed = content.to_owned();
        let end =
            HEREDOC.as_ref().and_then(|regex| Some(regex.captures(content)?.get(1)?.as_str()));
        while is_unfinished(&typed, end) {
            let Some((more, _)) = lines.next() else { break };
            typed.push('\n');
            typed.push_str(more);
        }
        let shell = in_shell(&typed, block, stands);
        steps.push(TypedStep { line, typed, shell, shown: None });
    }
    steps
}

fn is_unfinished(typed: &str, heredoc: Option<&str>) -> bool {
    if let Some(end) = heredoc {
        return typed.lines().last().is_none_or(|last| last != end);
    }
    // What stands behind ` #` is for people, with their apostrophes.
    let code: String = typed.lines().map(|line| line.split(" #").next().unwrap_or(line)).collect();
    typed.ends_with('\\') || code.matches('\'').count() % 2 == 1
}

/// What is typed, with what its examples stand for.
fn in_shell(typed: &str, block: &Block, stands: &ExampleVariables) -> String {
    let mut shell = typed.to_owned();
    for (example, variable) in stands {
        let mut parts = shell.split(example.as_str());
        let mut meant = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // Inside single quotes a variable is nothing but its name.
            let is_quoted = meant.matches('\'').count() % 2 == 1;
            let value =
                if is_quoted { format!("'\"${variable}\"'") } else { format!("${variable}") };
            meant.push_str(&value);
            meant.push_str(part);
        }
        shell = meant;
    }
    let is_one_of = |all: &[String]| all.iter().any(|one| typed.starts_with(one.as_str()));
    if is_one_of(&block.notes.on_screen) {
        // A tmux beside the page's own, which knows nothing of it.
        return format!(
            "cat > \"$TMPDIR/screen.sh\" <<{HEREDOC_END}\nunset TMUX\n{shell}\n{HEREDOC_END}\n\
             tmux -L screen new-session -d -x 80 -y 24 -c \"$PWD\" bash \"$TMPDIR/screen.sh\"\n\
             until_ok eval 'tmux -L screen capture-pane -p | grep -q .'\n\
             tmux -L screen capture-pane -p | grep . && tmux -L screen kill-server\n"
        );
    }
    if is_one_of(&block.notes.endless) {
        return format!(
            "said=$(mktemp)\n(exec {shell}\n) > \"$said\" 2>&1 &\n\
             until_ok eval \"test -s $said || ! kill -0 $!\"; kill $! 2> /dev/null; wait $! 2> /dev/null\n\
             cat \"$said\"; test -s \"$said\"\n"
        );
    }
    shell
}

/// The whole script.
pub(super) fn script(steps: &[TypedStep]) -> String {
    let mut script = PROLOGUE.to_owned();
    for (number, step) in steps.iter().enumerate() {
        // Writing to a String cannot fail.
        _ = write!(
            script,
            "printf '{STEP_BEGIN_MARK}{number}\\n'\n{}\nprintf '{STEP_END_MARK}%s\\n' $?\n",
            step.shell
        );
    }
    script
}

/// What came of each step that was begun.
pub(super) fn answers(output: &str) -> Vec<StepOutcome> {
    let answer = |part: &str| {
        let printed = part.split_once('\n').map_or("", |(_, rest)| rest);
        let (printed, status) = match printed.split_once(STEP_END_MARK) {
            Some((printed, status)) => (printed, status.trim().parse().ok()),
            None => (printed, None),
        };
        StepOutcome { printed: printed.to_owned(), status }
    };
    output.split(STEP_BEGIN_MARK).skip(1).map(answer).collect()
}
