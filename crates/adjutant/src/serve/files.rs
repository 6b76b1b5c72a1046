//! Reads and changes the configuration and the roles for the page: every change is checked before it is written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::{Engine, HomeFiles, ToolError};
use host::files::{self as disk, Mode};
use model::Policy;
use serde::Deserialize as _;
use serde_json::Value;
use server::{FileChange, Files};
use similar::TextDiff;
use wire::error::ErrorBody;
use wire::settings::{
    CheckedChange, ConfigView, FileProblem, FilesView, HomeFileView, HomeFilesView, KeyChange,
    KeyView, RoleChange, RoleFile,
};

use super::Stage;
use crate::cli_error::CliError;
use crate::config::describe::{self, Described};
use crate::config::edit::{self, Written};
use crate::config::file::{self, TextFile};
use crate::config::{Config, hide, key, overlay};
use crate::crew::roles::{self, files};
use crate::home::good::WrittenFiles;
use crate::yaml::{self, Problem};

/// Context lines around a change.
const AROUND: usize = 3;

/// Reads and changes the files of one home.
#[derive(Debug)]
pub(crate) struct Editor {
    stage: Stage,
    /// Where the files are rows: the engine that writes them, and the folder from which this server reads them
    rows: Option<(Engine, PathBuf)>,
}

/// A file, and what it would say.
struct Draft {
    file: TextFile,
    /// Masking of its text
    eyes: fn(&str) -> String,
    /// Its place, from the project's root
    place: String,
    /// New text, or its problems
    text: Result<String, Vec<FileProblem>>,
    notes: Vec<String>,
}

impl Editor {
    /// For the home that is served.
    pub(crate) fn new(stage: Stage, engine: &Engine) -> Self {
        match stage.shared_files.clone() {
            Some(folder) => {
                Self { stage: stage.reading(folder.clone()), rows: Some((engine.clone(), folder)) }
            }
            None => Self { stage, rows: None },
        }
    }

    /// Writes the files of a home in PostgreSQL as rows. Without that, the folder is as the rows are again.
    fn write_rows(&self, files: WrittenFiles) -> Result<(), ToolError> {
        let Some((engine, folder)) = &self.rows else { return Ok(()) };
        // Called on a thread for blocking work, which has the runtime at hand.
        let writing = engine.put_home_files(files.into_rows());
        let written = tokio::runtime::Handle::current().block_on(writing);
        let rows = engine.record().home_files().map_err(ToolError::internal)?;
        let current = WrittenFiles::from_rows(rows);
        current.write_all(folder).map_err(|error| told(error.into()))?;
        written
    }

    fn place(&self, path: &Path) -> String {
        roles::shown(&self.stage.home, path)
    }

    /// Permissions by category from the file; the built-in ones if it cannot be read.
    fn policy(&self) -> Policy {
        let config = self.stage.config().map(|(config, _)| config).unwrap_or_default();
        config.policy().unwrap_or_default()
    }

    fn draft(&self, change: &FileChange) -> Result<Draft, ToolError> {
        match change {
            FileChange::Config(changes) => self.draft_config(changes),
            FileChange::Role(role) => self.draft_role(role),
        }
    }

    fn draft_config(&self, changes: &[KeyChange]) -> Result<Draft, ToolError> {
        let path = self.stage.home.config();
        let (file, place) = (TextFile::read(&path).map_err(told)?, self.place(&path));
        let (text, notes) = match self.edited(&file.text, changes) {
            Ok((text, config)) => (Ok(text), self.notes(&config, changes)),
            Err(problem) => {
                // The message names the change that failed, of several.
                let alone = changes.iter().filter_map(|change| {
                    let mut problem =
                        self.edited(&file.text, std::slice::from_ref(change)).err()?;
                    problem.key.get_or_insert_with(|| change.key.clone());
                    Some(problem)
                });
                let alone: Vec<FileProblem> = alone.collect();
                (Err(if alone.is_empty() { vec![problem] } else { alone }), Vec::new())
            }
        };
        Ok(Draft { file, eyes: edit::masked, place, text, notes })
    }

    /// The text with the changes made, and what it comes to with the environment over it.
    fn edited(&self, text: &str, changes: &[KeyChange]) -> Result<(String, Config), FileProblem> {
        let mut text = text.to_owned();
        for KeyChange { key, value } in changes {
            let named = |message: String, line, hint| FileProblem {
                line,
                key: Some(key.clone()),
                message,
                hint,
            };
            // A file with a wrong value can be mended, but it must be YAML.
            let config = Config::parse("", &text).unwrap_or_default();
            let path = key::path(&config, key);
            if !key::is_known(&config, &path, value.as_ref().unwrap_or(&Value::Null)) {
                let leaves = config.leaves();
                let near =
                    model::nearest::nearest(key, leaves.iter().map(|(name, _)| name.as_str()));
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                return Err(named(format!("there is no key `{key}`"), None, hint));
            }
            let edited = match value {
                Some(value) => edit::set(&text, &path, &Written::of(value.clone())),
                None => edit::unset(&text, &path),
            };
            text =
                edited.map_err(|refusal| named(refusal.to_string(), Some(refusal.line), None))?;
        }
        let place = self.place(&self.stage.home.config());
        let config = Config::parse(&place, &text).map_err(|problem| shown(*problem))?;
        let over = overlay::apply(&config, &self.stage.env, &self.stage.flags());
        let (config, _) = over.map_err(|problem| shown(*problem))?;
        config.policy().map_err(|error| shown(*Problem::of(&place, error.to_string())))?;
        Ok((text, config))
    }

    /// Notes on valid changes.
    fn notes(&self, config: &Config, changes: &[KeyChange]) -> Vec<String> {
        let mut notes = Vec::new();
        for KeyChange { key, .. } in changes {
            if let Some(variable) = config.decider(&self.stage.env, key) {
                notes.push(format!(
                    "`{variable}` is set where the server runs and wins over `{key}`"
                ));
            } else if key::is_read_at_start(&key::path(config, key)) {
                notes.push(format!("`{key}` counts when the server starts the next time"));
            }
        }
        notes
    }

    fn draft_role(&self, role: &RoleChange) -> Result<Draft, ToolError> {
        let (home, policy) = (&self.stage.home, self.policy());
        let refused = |why: String| ToolError::invalid(why).detail("field", "role.name");
        let path = files::path_of(home, &policy, &role.name).map_err(refused)?;
        let (file, place) = (TextFile::read(&path).map_err(told)?, self.place(&path));
        let (text, notes) = match files::check(&place, &role.name, &role.text, &policy) {
            Ok(_) if has_new_mark(&role.text, &file.text) => {
                (Err(vec![redacted_text(&place)]), Vec::new())
            }
            Ok(warnings) => {
                let notes = warnings.iter().map(ToString::to_string).collect();
                (Ok(role.text.clone()), notes)
            }
            Err(problem) => (Err(vec![shown(*problem)]), Vec::new()),
        };
        Ok(Draft { file, eyes: str::to_owned, place, text, notes })
    }

    fn keys(&self, text: &str) -> Vec<KeyView> {
        let (env, flags) = (&self.stage.env, self.stage.flags());
        let file = Config::parse("", text).unwrap_or_default();
        let config = overlay::apply(&file, env, &flags).map_or_else(|_| file, |(over, _)| over);
        let raw: Value = yaml::parse("", text, text).unwrap_or_default();
        let plain = |config: &Config| serde_json::to_value(config).unwrap_or_default();
        let (now, default) = (plain(&config), plain(&Config::default()));
        let view = |described: &Described| {
            let path = key::path(&config, &described.key);
            let at = |whole: &Value| key::at(whole, &path).cloned().unwrap_or_default();
            KeyView {
                key: described.key.clone(),
                description: described.words.clone(),
                value: public(&described.key, at(&now)),
                default: public(&described.key, at(&default)),
                is_set: key::at(&raw, &path).is_some(),
                at_start: key::is_read_at_start(&path),
                decided_by: config.decider(env, &described.key),
                choices: described.choices().iter().map(|&choice| choice.to_owned()).collect(),
            }
        };
        describe::keys().iter().map(view).collect()
    }
}

/// Returns whether a text was read redacted and would now take the place of the secrets themselves.
fn has_new_mark(new: &str, old: &str) -> bool {
    let marks = |text: &str| text.matches(model::redact::REDACTION_MARK).count();
    marks(new) > marks(old)
}

fn redacted_text(place: &str) -> FileProblem {
    FileProblem {
        line: None,
        key: None,
        message: format!(
            "the text has `{}` where the file has a secret",
            model::redact::REDACTION_MARK
        ),
        hint: Some(format!("edit `{place}` itself, or give the secret as an environment variable")),
    }
}

impl Files for Editor {
    fn read(&self) -> Result<FilesView, ToolError> {
        let path = self.stage.home.config();
        let file = TextFile::read(&path).map_err(told)?;
        let problems = self.edited(&file.text, &[]).err().into_iter().collect();
        let config = ConfigView {
            path: self.place(&path),
            text: edit::masked(&file.text),
            hash: hash(&file.text),
            problems,
            keys: self.keys(&file.text),
        };
        let role = |file: files::File| RoleFile {
            path: self.place(&file.path),
            hash: hash(&file.text),
            name: file.name,
            is_own: file.is_own,
            text: file.text,
            problems: file.problem.map(shown).into_iter().collect(),
            warnings: file.warnings.into_iter().map(shown).collect(),
        };
        let roles = files::list(&self.stage.home, &self.policy()).into_iter().map(role).collect();
        Ok(FilesView { config, roles })
    }

    fn check(&self, change: &FileChange) -> Result<CheckedChange, ToolError> {
        Ok(self.draft(change)?.checked())
    }

    fn save(&self, change: &FileChange, was: Option<&str>) -> Result<CheckedChange, ToolError> {
        let _lock = file::lock_blocking(&self.stage.home).map_err(told)?;
        let draft = self.draft(change)?;
        let is = draft.file.is_there().then(|| hash(&draft.file.text));
        // A configuration that is not there is an empty one.
        let is_same = is.as_deref() == was || (is.is_none() && was == Some(hash("").as_str()));
        if !is_same {
            let output = format!("`{}` was changed since you read it", draft.place);
            return Err(ToolError::conflict(output)
                .hint("read it again, and look whether your change still fits"));
        }
        let checked = draft.checked();
        if let Ok(text) = &draft.text
            && *text != draft.file.text
        {
            if let FileChange::Role(_) = change {
                disk::make_dir(&self.stage.home.roles(), Mode::Shared)
                    .map_err(|e| told(e.into()))?;
            }
            draft.file.write(text).map_err(told)?;
            if let Some((_, folder)) = &self.rows {
                let files = WrittenFiles::read_copy(folder).map_err(|error| told(error.into()))?;
                self.write_rows(files)?;
            }
        }
        Ok(checked)
    }

    fn home_files(&self) -> Result<HomeFilesView, ToolError> {
        let (engine, _) = self.rows()?;
        let rows = engine.record().home_files().map_err(ToolError::internal)?;
        let view = |(path, body): (String, Vec<u8>)| HomeFileView {
            path,
            text: String::from_utf8_lossy(&body).into_owned(),
        };
        Ok(HomeFilesView { files: rows.into_iter().map(view).collect() })
    }

    fn replace_home_files(&self, files: HomeFilesView) -> Result<Vec<String>, ToolError> {
        let (engine, folder) = self.rows()?;
        let before = engine.record().home_files().map_err(ToolError::internal)?;
        let count = files.files.len();
        let after: HomeFiles =
            files.files.into_iter().map(|file| (file.path, file.text.into_bytes())).collect();
        if after.len() != count {
            return Err(ToolError::invalid("two of the `files` have the same path"));
        }
        engine::check_home_files(&after)?;
        let written = WrittenFiles::from_rows(after.clone());
        self.check_all(&written, folder)?;
        self.write_rows(written)?;
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let changed = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
        Ok(changed.cloned().collect())
    }
}

impl Editor {
    /// The engine and the folder of the files, where they are rows.
    fn rows(&self) -> Result<&(Engine, PathBuf), ToolError> {
        self.rows.as_ref().ok_or_else(|| {
            let place = self.stage.home.dir.display();
            ToolError::conflict(format!("this home is on one machine: its files are in `{place}`"))
                .hint("change them there, then run `adjutant reload`")
        })
    }

    /// Checks files as a server would read them, in a folder of their own.
    fn check_all(&self, files: &WrittenFiles, folder: &Path) -> Result<(), ToolError> {
        let scratch = folder.with_extension("checking");
        files.write_all(&scratch).map_err(|error| told(error.into()))?;
        let read = self.stage.reading(scratch.clone()).read();
        // It is written anew the next time.
        drop(std::fs::remove_dir_all(&scratch));
        read.map(drop).map_err(told)
    }
}

impl Draft {
    fn checked(&self) -> CheckedChange {
        let Self { file, eyes, place, text, notes } = self;
        match text {
            Ok(text) => CheckedChange {
                ok: true,
                problems: Vec::new(),
                notes: notes.clone(),
                diff: patch(
                    place,
                    file.is_there().then(|| eyes(&file.text)).as_deref(),
                    &eyes(text),
                ),
                hash: Some(hash(text)),
            },
            Err(problems) => CheckedChange {
                ok: false,
                problems: problems.clone(),
                notes: Vec::new(),
                diff: String::new(),
                hash: None,
            },
        }
    }
}

/// Patch of a file, with secrets masked.
fn patch(place: &str, before: Option<&str>, after: &str) -> String {
    if before.unwrap_or_default() == after {
        return String::new();
    }
    let (old, mode) = match before {
        Some(_) => (format!("a/{place}"), ""),
        None => ("/dev/null".to_owned(), "new file mode 100644\n"),
    };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after);
    let mut unified = diff.unified_diff();
    let shown = unified.context_radius(AROUND).header(&old, &format!("b/{place}")).to_string();
    format!("diff --git a/{place} b/{place}\n{mode}{shown}")
}

/// Hash of a file, to detect concurrent changes.
fn hash(text: &str) -> String {
    engine::hash_token(text)
}

/// A value for everybody's eyes.
fn public(key: &str, mut value: Value) -> Value {
    hide(&mut value);
    let each = |value: &mut Value, cut: &dyn Fn(&str) -> String| {
        if let Value::String(text) = value {
            *text = cut(text);
        }
    };
    match (key, &mut value) {
        ("webhooks", Value::Array(hooks)) => {
            for hook in hooks.iter_mut().filter_map(|hook| hook.get_mut("url")) {
                each(hook, &engine::settings::shown_url);
            }
        }
        (key, Value::Array(entries)) if key.ends_with(".environment") => {
            for entry in entries {
                each(entry, &|text| match text.split_once('=') {
                    Some((name, _)) => format!("{name}=…"),
                    None => text.to_owned(),
                });
            }
        }
        _ => {}
    }
    value
}

fn shown(problem: Problem) -> FileProblem {
    let Problem { message, help, line, .. } = problem;
    FileProblem { line, key: None, message, hint: help }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what errors are mapped with")]
fn told(cli_error: CliError) -> ToolError {
    let body = ErrorBody::deserialize(cli_error.body()).ok();
    let code = body.and_then(|body| engine::Code::parse(&body.code));
    let error = ToolError::new(code.unwrap_or(engine::Code::InternalError), cli_error.message());
    cli_error.hints().iter().fold(error, ToolError::hint)
}

#[cfg(test)]
mod tests;
