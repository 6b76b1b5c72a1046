//! Section `loop`: role, limits and hooks of loops.

use std::collections::BTreeMap;

use engine::settings::{HookSettings, LoopSettings};
use model::session::Moment;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::review::{Check, role, within};

/// Loops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Looping {
    /// The role of a loop's agents
    #[serde(deserialize_with = "role")]
    pub(crate) role: String,
    /// Number of iterations; 0 is no limit
    #[serde(deserialize_with = "iterations")]
    pub(crate) iterations: u32,
    /// With how many failed iterations in a row it gives up
    #[serde(deserialize_with = "failures")]
    pub(crate) failures: u32,
    /// True if each iteration's changes are committed
    pub(crate) commit: bool,
    /// The file with the text of its prompt
    pub(crate) template: Option<String>,
    /// Hooks around an iteration
    pub(crate) hooks: Hooks,
}

impl Default for Looping {
    fn default() -> Self {
        let LoopSettings { role, iterations, failures, commit, template, .. } =
            LoopSettings::default();
        Self { role, iterations, failures, commit, template, hooks: Hooks::default() }
    }
}

impl From<&Looping> for LoopSettings {
    fn from(looping: &Looping) -> Self {
        let Looping { role, iterations, failures, commit, template, hooks } = looping.clone();
        let hooks = hooks.by_moment();
        Self { role, iterations, failures, commit, template, hooks }
    }
}

/// Hooks, by the moment at which they run. The names are those of the session's configuration elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hooks {
    /// When the loop begins
    #[serde(deserialize_with = "hooks")]
    pub(crate) session_start: Vec<Hook>,
    /// Before each iteration
    #[serde(deserialize_with = "hooks")]
    pub(crate) pre_iteration: Vec<Hook>,
    /// After each iteration
    #[serde(deserialize_with = "hooks")]
    pub(crate) post_iteration: Vec<Hook>,
    /// When the loop ends
    #[serde(deserialize_with = "hooks")]
    pub(crate) session_end: Vec<Hook>,
    /// When a task is completed
    #[serde(deserialize_with = "hooks")]
    pub(crate) on_task_complete: Vec<Hook>,
    /// When an iteration failed
    #[serde(deserialize_with = "hooks")]
    pub(crate) on_error: Vec<Hook>,
}

impl Hooks {
    fn by_moment(self) -> BTreeMap<Moment, Vec<HookSettings>> {
        let all = [
            (Moment::SessionStart, self.session_start),
            (Moment::PreIteration, self.pre_iteration),
            (Moment::PostIteration, self.post_iteration),
            (Moment::SessionEnd, self.session_end),
            (Moment::OnTaskComplete, self.on_task_complete),
            (Moment::OnError, self.on_error),
        ];
        let settings = |hook: Hook| HookSettings {
            command: hook.command.0,
            timeout_s: hook.timeout,
            pipe_output: hook.pipe_output,
        };
        all.into_iter()
            .filter(|(_, hooks)| !hooks.is_empty())
            .map(|(moment, hooks)| (moment, hooks.into_iter().map(settings).collect()))
            .collect()
    }
}

/// A command that runs around an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hook {
    /// Command; not passed to a shell
    #[serde(deserialize_with = "command")]
    pub(crate) command: Check,
    /// Time limit in seconds
    #[serde(default = "usual_timeout", deserialize_with = "timeout")]
    pub(crate) timeout: u32,
    /// True if its output is passed to the next agent
    #[serde(default)]
    pub(crate) pipe_output: bool,
}

const fn usual_timeout() -> u32 {
    HookSettings::TIMEOUT_S
}

fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 1..=3600)
}

fn iterations<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 0..=100_000)
}

fn failures<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 1..=1000)
}

/// A command whose variables are known.
fn command<'de, D: Deserializer<'de>>(from: D) -> Result<Check, D::Error> {
    let command = Check::deserialize(from)?;
    for word in &command.0 {
        if let Some(wrong) = engine::unknown(word, &HookSettings::VARIABLES) {
            let near = match wrong.near {
                Some(near) => format!("; did you mean `{{{{{near}}}}}`?"),
                None => format!("; there are {}", HookSettings::VARIABLES.join(", ")),
            };
            let name = wrong.name;
            return Err(D::Error::custom(format!("there is no variable `{{{{{name}}}}}`{near}")));
        }
    }
    Ok(command)
}

/// One hook, or a list of them.
fn hooks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Hook>, D::Error> {
    struct OneOrMany;
    impl<'de> serde::de::Visitor<'de> for OneOrMany {
        type Value = Vec<Hook>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a hook, as `{command: make test}`, or a list of them")
        }
        fn visit_unit<E>(self) -> Result<Vec<Hook>, E> {
            Ok(Vec::new())
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Vec<Hook>, A::Error> {
            Hook::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                .map(|one| vec![one])
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut list: A,
        ) -> Result<Vec<Hook>, A::Error> {
            let mut all = Vec::new();
            while let Some(hook) = list.next_element()? {
                all.push(hook);
            }
            Ok(all)
        }
    }
    from.deserialize_any(OneOrMany)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn hooks_of(text: &str) -> Result<LoopSettings, String> {
        let config = Config::parse("config.yaml", text).map_err(|error| error.to_string())?;
        Ok(LoopSettings::from(&config.looping))
    }

    #[test]
    fn one_hook_a_list_words_and_a_command_are_the_same() {
        let text = "loop:\n  hooks:\n    pre_iteration: {command: 'echo \"{{session}} {{iteration}}\"', timeout: 5}\n    \
                    on_error: [{command: [echo, '{{error}}'], pipe_output: true}]\n";
        let settings = hooks_of(text).unwrap();
        let before = &settings.hooks[&Moment::PreIteration][0];
        assert_eq!(before.command, ["echo", "{{session}} {{iteration}}"]);
        assert_eq!((before.timeout_s, before.pipe_output), (5, false));
        let error = &settings.hooks[&Moment::OnError][0];
        assert_eq!(error.command, ["echo", "{{error}}"]);
        assert_eq!((error.timeout_s, error.pipe_output), (30, true));
        assert_eq!(settings.hooks.len(), 2);
    }

    #[test]
    fn what_is_wrong_with_a_hook_is_said() {
        for (hook, message) in [
            ("{command: 'echo {{sesion}}'}", "did you mean `{{session}}`?"),
            ("{command: ''}", "names no command"),
            ("{command: a, timeout: 0}", "between 1 and 3600"),
            ("{comand: a}", "unknown key `comand`"),
            ("{}", "command"),
            ("7", "a hook"),
        ] {
            let error = hooks_of(&format!("loop: {{hooks: {{session_end: {hook}}}}}")).unwrap_err();
            assert!(error.contains(message), "{hook}: {error}");
        }
        assert!(
            hooks_of("loop: {hooks: {session_ended: []}}").unwrap_err().contains("session_end")
        );
        assert!(hooks_of("loop: {failures: 0}").is_err());
    }
}
