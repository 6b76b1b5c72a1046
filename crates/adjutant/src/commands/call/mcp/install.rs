//! `adjutant mcp install` and `uninstall`: show a change of a client's settings, ask for consent and make it.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use engine::Code;
use host::files::{self, Mode};
use model::nearest::nearest;
use serde_json::{Value, json};
use similar::TextDiff;

use super::client::{Scope, Start};
use super::edit::{EditError, EntryPlace, says_nothing};
use super::record::{Change, Record, Records};
use crate::app::App;
use crate::cli::{Client, ConsentArgs, InstallArgs, ServeArgs, TargetArgs, UninstallArgs};
use crate::cli_error::CliError;
use crate::config::file::TextFile;
use crate::crew::roles;
use crate::home::Home;
use crate::terminal::render::{
    Page, bad, dim, good, name, odd, plain, print_raw_aside, print_text, wrapped,
};
use crate::yaml::Problem;

/// Context lines around a change.
const AROUND: usize = 3;
/// Width of advice.
const WIDE: usize = 78;

/// A client's file, and what is to become of it.
struct Plan<'a> {
    app: &'a App,
    client: Client,
    scope: Scope,
    name: String,
    path: PathBuf,
    /// The path, as people know it
    place: String,
    file: TextFile,
    records: Records,
    record: Record,
}

/// Outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It was to be shown only
    Shown,
    /// Declined by a person
    Declined,
    /// Nobody could be asked
    Unasked,
    /// It is done
    Done,
}

/// Puts our server into a client's file.
pub(super) fn install(app: &App, args: &InstallArgs) -> Result<(), CliError> {
    let plan = Plan::new(app, &args.target)?;
    let says = plan.read(&plan.file.text)?;
    let start = start(app, plan.scope, &args.serve)?;
    let keys = plan.client.keys(&says);
    let at = EntryPlace { keys, name: &plan.name };
    let there = keys.iter().fold(&says, |value, key| &value[*key]);
    let there = &there[&plan.name];
    let entry = plan.client.entry(&start, &says, args.serve.role.as_deref());
    if *there == entry.value() {
        return plan.unchanged(&format!("{} is already up to date", plan.place));
    }
    let ours = Client::start_of(there).is_some_and(|start| start.is_ours());
    if !there.is_null() && !ours && !args.force {
        let message = format!("`{}` in {} is another server", plan.name, plan.place);
        return Err(CliError::new(Code::Conflict, message)
            .hint("choose another name with `--name`")
            .hint("`--force` replaces it"));
    }
    let language = plan.client.language();
    let flawed = |flaw| plan.flawed(&plan.file.text, flaw);
    // Where nothing else was changed since the last time, it is done anew.
    let base = plan.before().filter(|_| ours);
    let text = language.put(base.as_ref().unwrap_or(&plan.file.text), at, &entry);
    let text = text.map_err(flawed)?;
    // An entry of ours that was changed by hand has nothing to go back to.
    let base = base.or_else(|| (!ours).then(|| plan.file.text.clone()));
    let change = base.map(|base| Change::between(&base, &text));
    let diff = plan.diff(Some(&text));
    let outcome = plan.consent(args.consent, &diff)?;
    if outcome != Outcome::Done {
        return plan.not_done(outcome, &diff);
    }
    let told = InstallMessage::of(app, &plan, &start, args.serve.role.as_deref());
    let done = plan.done(&diff);
    plan.write(&text, change)?;
    Ok(app.render.answer(&done, || told.text())?)
}

/// Takes our server out of a client's file.
pub(super) fn uninstall(app: &App, args: &UninstallArgs) -> Result<(), CliError> {
    let plan = Plan::new(app, &args.target)?;
    let says = plan.read(&plan.file.text)?;
    let keys = plan.client.keys(&says);
    let there = keys.iter().fold(&says, |value, key| &value[*key]);
    let there = &there[&plan.name];
    if there.is_null() {
        return plan.unchanged(&format!("There is no `{}` in {}", plan.name, plan.place));
    }
    if !Client::start_of(there).is_some_and(|start| start.is_ours()) {
        let message = format!("`{}` in {} is another server", plan.name, plan.place);
        return Err(CliError::new(Code::Conflict, message).hint("remove it by hand if you want to"));
    }
    let taken = || {
        let at = EntryPlace { keys, name: &plan.name };
        let taken = plan.client.language().take(&plan.file.text, at);
        taken.map_err(|flaw| plan.flawed(&plan.file.text, flaw))
    };
    let text = plan.before().map_or_else(taken, Ok)?;
    let left =
        if plan.record.created && says_nothing(&plan.read(&text)?) { None } else { Some(text) };
    let diff = plan.diff(left.as_deref());
    let outcome = plan.consent(args.consent, &diff)?;
    if outcome != Outcome::Done {
        return plan.not_done(outcome, &diff);
    }
    let done = plan.done(&diff);
    let (title, place) = (plan.client.title(), plan.place.clone());
    let gone =
        if left.is_none() { " The file was created by Adjutant, and is deleted." } else { "" };
    plan.restore(left.as_deref())?;
    Ok(app.render.answer(&done, || {
        let message = good(format!("Removed from {place}."));
        format!("{message}{gone}\nRestart {title} to apply the change.")
    })?)
}

/// Command that the client starts.
fn start(app: &App, scope: Scope, serve: &ServeArgs) -> Result<Start, CliError> {
    super::known(&serve.toolset)?;
    if let (Some(role), Ok(home)) = (&serve.role, app.home()) {
        known_role(app, &home, role)?;
    }
    let mut arguments = Vec::new();
    let elsewhere = app.remote_server()?.and_then(|server| server.name);
    // In its own project the program finds the home by itself.
    let named = match (scope, app.home()) {
        _ if elsewhere.is_some() => elsewhere.map(PathBuf::from),
        (Scope::Project, Ok(home)) => {
            Some(home.dir).filter(|dir| *dir != home.root.join(".adjutant"))
        }
        (Scope::Global, Ok(home)) if app.global.home.is_some() => Some(home.dir),
        (Scope::Project, Err(cli_error)) => return Err(cli_error),
        (Scope::Global, _) => None,
    };
    if let Some(dir) = named {
        arguments.extend(["--home".to_owned(), dir.display().to_string()]);
    }
    arguments.push("mcp".to_owned());
    for toolset in &serve.toolset {
        arguments.extend(["--toolset".to_owned(), toolset.clone()]);
    }
    if let Some(role) = &serve.role {
        arguments.extend(["--as".to_owned(), role.clone()]);
    }
    let own = std::env::current_exe()?;
    let found = program(app, "adjutant").and_then(|path| path.canonicalize().ok());
    let command = match found {
        Some(found) if own.canonicalize().is_ok_and(|own| own == found) => "adjutant".to_owned(),
        _ => own.display().to_string(),
    };
    Ok(Start { command, arguments })
}

/// Checks that the role exists.
fn known_role(app: &App, home: &Home, role: &str) -> Result<(), CliError> {
    let policy = app.config(home, &[])?.policy().unwrap_or_default();
    let roles = roles::load(home, &policy).roles;
    if roles.contains_key(role) {
        return Ok(());
    }
    let cli_error = CliError::new(Code::ResourceNotFound, format!("there is no role `{role}`"));
    let names = roles.keys().map(String::as_str);
    Err(match nearest(role, names) {
        Some(near) => cli_error.hint(format!("did you mean `{near}`?")),
        None => cli_error.hint("roles are the files in `.adjutant/roles/`"),
    })
}

/// A program that the shell would find.
fn program(app: &App, name: &str) -> Option<PathBuf> {
    let path = app.env.path.as_ref().and_then(|path| path.to_str()).unwrap_or_default();
    host::program::find(name, path, &app.env.cwd)
}

impl<'a> Plan<'a> {
    fn new(app: &'a App, target: &TargetArgs) -> Result<Self, CliError> {
        if app.env.agent_id.is_some() {
            let message = "only the operator may change a client's configuration";
            return Err(CliError::new(Code::PermissionDenied, message));
        }
        if target.name.is_empty() || target.name.chars().any(|c| c.is_control() || c == '"') {
            return Err(CliError::usage("`--name` is not a valid server name"));
        }
        let scope = if target.global { Scope::Global } else { Scope::Project };
        let root = match scope {
            Scope::Project => app.project_home()?.root,
            Scope::Global => app.env.cwd.clone(),
        };
        let path = target.client.file(scope, &root, &app.env)?;
        let inside = path.strip_prefix(&root).ok().filter(|_| scope == Scope::Project);
        let place = inside.unwrap_or(&path).display().to_string();
        let records = Records::new(&app.env)?;
        let (file, record) = (TextFile::read(&path)?, records.of(&path)?);
        let (client, name) = (target.client, target.name.clone());
        Ok(Self { app, client, scope, name, path, place, file, records, record })
    }

    /// Parses a text, or names the faulty line.
    fn read(&self, text: &str) -> Result<Value, CliError> {
        self.client.language().read(text).map_err(|flaw| self.flawed(text, flaw))
    }

    fn flawed(&self, text: &str, flaw: EditError) -> CliError {
        let help = "fix it by hand; nothing was changed".to_owned();
        Problem::at_byte(&self.place, text, flaw.byte, flaw.why).with_help(Some(help)).into()
    }

    /// The text before our last change, if it was the last.
    fn before(&self) -> Option<String> {
        self.record.changes.get(&self.name)?.undone(&self.file.text)
    }

    fn diff(&self, after: Option<&str>) -> String {
        let place = self.place.as_str();
        let old = if self.file.is_there() { place } else { "/dev/null" };
        let diff = TextDiff::from_lines(self.file.text.as_str(), after.unwrap_or_default());
        let new = if after.is_some() { place } else { "/dev/null" };
        diff.unified_diff().context_radius(AROUND).header(old, new).to_string()
    }

    /// Shows the change and asks whether to make it.
    fn consent(&self, consent: ConsentArgs, diff: &str) -> Result<Outcome, CliError> {
        let people = !self.app.render.is_json();
        if people {
            print_text(&painted(diff))?;
        }
        if consent.dry_run {
            return Ok(Outcome::Shown);
        }
        if consent.yes {
            return Ok(Outcome::Done);
        }
        if !people || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(Outcome::Unasked);
        }
        print_raw_aside(b"Write it? [y/N] ")?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        let yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
        Ok(if yes { Outcome::Done } else { Outcome::Declined })
    }

    fn answer(&self, diff: &str, changed: Outcome) -> Value {
        json!({
            "client": self.client.name(), "scope": self.scope.name(),
            "path": self.path.display().to_string(),
            "changed": changed == Outcome::Done, "diff": diff,
        })
    }

    fn done(&self, diff: &str) -> Value {
        self.answer(diff, Outcome::Done)
    }

    fn unchanged(&self, why: &str) -> Result<(), CliError> {
        let text = || format!("{why}. Nothing was changed.");
        Ok(self.app.render.answer(&self.answer("", Outcome::Shown), text)?)
    }

    fn not_done(&self, outcome: Outcome, diff: &str) -> Result<(), CliError> {
        if self.app.render.is_json() {
            self.app.render.answer(&self.answer(diff, outcome), String::new)?;
        }
        match outcome {
            Outcome::Unasked => {
                Err(CliError::usage("there is no terminal to confirm the change at")
                    .hint("`--yes` writes it without asking, `--dry-run` only shows it"))
            }
            Outcome::Declined => Ok(self.app.render.aside("Nothing was changed.")?),
            Outcome::Shown | Outcome::Done => Ok(()),
        }
    }

    /// Remembers how to go back, then writes.
    fn write(mut self, text: &str, change: Option<Change>) -> Result<(), CliError> {
        let folder = self.path.parent().unwrap_or(&self.path);
        if !self.file.is_there() {
            self.record.created = true;
            self.record.folder = missing(folder);
            files::make_dir(folder, Mode::Shared)?;
        }
        match change {
            Some(change) => drop(self.record.changes.insert(self.name, change)),
            None => drop(self.record.changes.remove(&self.name)),
        }
        self.records.keep(&self.path, &self.record)?;
        self.file.write(text)
    }

    /// Takes the file away, and the folders that came with it.
    fn remove(&mut self) -> Result<(), CliError> {
        if TextFile::read(&self.path)?.text != self.file.text {
            let message = format!("`{}` was changed by another program meanwhile", self.place);
            return Err(CliError::new(Code::Conflict, message).hint("try again"));
        }
        files::remove(&self.path)?;
        if let Some(made) = self.record.folder.take() {
            let folders = self.path.ancestors().skip(1);
            // One that has something in it by now stays, and so do those above it.
            let mut folders = folders.take_while(|folder| folder.starts_with(&made));
            while folders.next().is_some_and(|folder| fs::remove_dir(folder).is_ok()) {}
        }
        Ok(())
    }

    /// Writes what is left, or takes the file away, then forgets.
    fn restore(mut self, left: Option<&str>) -> Result<(), CliError> {
        if let Some(text) = left {
            self.file.write(text)?;
        } else {
            self.remove()?;
        }
        self.record.changes.remove(&self.name);
        self.records.keep(&self.path, &self.record)
    }
}

/// The uppermost folder on the way that is not there.
fn missing(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().take_while(|folder| !folder.exists()).last().map(Path::to_owned)
}

/// A diff in colours.
fn painted(diff: &str) -> String {
    let paint = |line: &str| match line.as_bytes().first() {
        Some(b'+') => good(plain(line)),
        Some(b'-') => bad(plain(line)),
        Some(b'@') => dim(plain(line)),
        _ => plain(line),
    };
    let lines: Vec<String> = diff.lines().map(paint).collect();
    lines.join("\n")
}

/// Final message.
struct InstallMessage {
    place: String,
    title: &'static str,
    who: String,
    next: &'static str,
    found: Result<String, &'static str>,
    by_path: Option<String>,
    undo: String,
}

impl InstallMessage {
    fn of(app: &App, plan: &Plan<'_>, start: &Start, role: Option<&str>) -> Self {
        let client = plan.client;
        let undo = format!("adjutant mcp uninstall --client {}", client.name());
        let global = if plan.scope == Scope::Global { " --global" } else { "" };
        let other = match plan.name.as_str() {
            "adjutant" => String::new(),
            name => format!(" --name {name}"),
        };
        let found = program(app, client.program()).map(|path| path.display().to_string());
        Self {
            place: plan.place.clone(),
            title: client.title(),
            who: match role {
                Some(role) => format!("as a new agent of the role {role} each time"),
                None => "as you, with all your permissions".to_owned(),
            },
            next: client.next(plan.scope),
            found: found.ok_or(client.program()),
            by_path: Some(start.command.clone()).filter(|command| command.contains('/')),
            undo: format!("{undo}{global}{other}"),
        }
    }

    fn text(&self) -> String {
        let Self { place, title, who, next, .. } = self;
        let mut page = Page::default();
        page.line(good(format!("Wrote {place}.")));
        page.line(format_args!("{title} starts `adjutant mcp` {who}."));
        for line in wrapped(next, WIDE) {
            page.line(line);
        }
        match &self.found {
            Ok(path) => page.line(dim(format!("{title} is {path}."))),
            Err(program) => page.line(odd(format!("No program `{program}` is on your PATH."))),
        }
        if let Some(path) = &self.by_path {
            page.line(dim(format!("This program is not on your PATH: the file names {path}.")));
        }
        page.line(format_args!("Revert it with {}", name(&self.undo)));
        page.into_text()
    }
}
