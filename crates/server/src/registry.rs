//! The registry for the interfaces: every tool under its names, described once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use engine::settings::Settings;
use engine::templates::{self, template_tool};
use engine::toolsets::TOOLSETS;
use engine::{ALIASES, Caller, Code, Effect, TOOLS, ToolDef, ToolError, bare_of, joined_of};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// A tool, with what lists say of it.
pub(crate) struct Entry {
    /// Its place in the registry, if it always has one
    pub(crate) index: Option<usize>,
    pub(crate) def: &'static ToolDef,
    /// Its toolset's place among the toolsets
    set: usize,
    /// As it is listed where all toolsets are together
    joined: Tool,
    /// As it is listed where its toolset is alone
    bare: Tool,
}

struct Registry {
    entries: Vec<Entry>,
    /// By canonical name, and by the name where all toolsets are together
    names: HashMap<Cow<'static, str>, usize>,
    /// By the name where the toolset is alone
    bare: [HashMap<&'static str, usize>; TOOLSETS.len()],
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut names = HashMap::new();
    let mut bare: [HashMap<&str, usize>; TOOLSETS.len()] = Default::default();
    let mut entries = Vec::with_capacity(TOOLS.len());
    for (index, def) in TOOLS.iter().enumerate() {
        let Some(set) = TOOLSETS.iter().position(|set| *set == def.toolset()) else { continue };
        let at = entries.len();
        names.insert(Cow::Borrowed(def.name), at);
        names.insert(Cow::Owned(def.joined()), at);
        bare[set].insert(def.bare(), at);
        for (alias, _) in ALIASES.iter().filter(|(_, tool)| *tool == def.name) {
            names.insert(Cow::Borrowed(*alias), at);
            names.insert(Cow::Owned(joined_of(alias)), at);
            bare[set].insert(bare_of(alias), at);
        }
        entries.push(Entry::new(Some(index), def, set));
    }
    Registry { entries, names, bare }
});

/// The place of the templates' toolset.
static TEMPLATES: LazyLock<usize> = LazyLock::new(|| {
    TOOLSETS.iter().position(|set| *set == templates::TOOLSET).unwrap_or(TOOLSETS.len())
});

/// List entry of a template, leaked like the tools for the life of the program.
fn of_template(def: &'static ToolDef) -> &'static Entry {
    // By where the tool is: one of the same name that says something else is another.
    static MADE: LazyLock<Mutex<HashMap<usize, &'static Entry>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || -> &'static Entry { Box::leak(Box::new(Entry::new(None, def, *TEMPLATES))) };
    made.entry(std::ptr::from_ref(def).addr()).or_insert_with(make)
}

fn listed(def: &'static ToolDef, name: Cow<'static, str>) -> Tool {
    let described = def.described();
    let looks = def.effect() == Effect::Read;
    Tool::new(name, described.description.as_str(), described.input.clone())
        .with_title(described.title.clone())
        .with_raw_output_schema(Arc::new(answer_or_error(&described.output)))
        .with_annotations(ToolAnnotations::from_raw(
            None,
            Some(looks),
            Some(def.destructive),
            Some(looks || def.idempotent),
            Some(false),
        ))
}

/// The schema of all that a call can answer. Strict clients hold a failed call's body against it too,
/// with the required fields of an answer and of an error as two alternatives.
fn answer_or_error(answer: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = answer.clone();
    if let Some(required) = schema.remove("required") {
        let error = json!({ "required": ["code", "message", "toolName"] });
        schema.insert("anyOf".into(), json!([{ "required": required }, error]));
    }
    schema
}

/// Every tool there is under these settings, in the order in which lists show them.
pub(crate) fn entries(settings: &Settings) -> impl Iterator<Item = &'static Entry> {
    let after = REGISTRY.entries.partition_point(|entry| entry.set <= *TEMPLATES);
    let (before, after) = REGISTRY.entries.split_at(after);
    let templates = engine::template_tools(settings).into_iter().map(of_template);
    before.iter().chain(templates).chain(after)
}

/// Where a client came in, which decides what tools are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mount {
    /// `/mcp`: all toolsets together, or those that the client chose, as bits
    Joined {
        /// Toolsets chosen by the client
        chosen: Option<u16>,
    },
    /// `/mcp/<toolset>`: one alone, by its place
    Alone(usize),
}

impl Mount {
    pub(crate) const ALL: Self = Self::Joined { chosen: None };

    /// Parses `?toolsets=a,b`.
    pub(crate) fn chosen(query: Option<&str>) -> Result<Self, ToolError> {
        let asked = query.into_iter().flat_map(|query| query.split('&'));
        let Some(list) = asked.filter_map(|pair| pair.strip_prefix("toolsets=")).next_back() else {
            return Ok(Self::ALL);
        };
        let mut chosen = 0;
        // A comma may come as it is or encoded.
        let list = list.replace("%2C", ",").replace("%2c", ",");
        for name in list.split(',').filter(|name| !name.is_empty()) {
            let set = TOOLSETS.iter().position(|set| *set == name);
            chosen |= 1_u16 << set.ok_or_else(|| no_toolset(name))?;
        }
        Ok(Self::Joined { chosen: Some(chosen) })
    }

    /// The toolset that is alone here; empty where all are together.
    pub(crate) const fn toolset(self) -> &'static str {
        match self {
            Self::Joined { .. } => "",
            Self::Alone(set) => TOOLSETS[set],
        }
    }

    /// The tool of that name here, or an error that names the nearest.
    pub(crate) fn find(self, name: &str, settings: &Settings) -> Result<&'static Entry, ToolError> {
        let registry = &*REGISTRY;
        let at = match self {
            Self::Joined { .. } => registry.names.get(name),
            Self::Alone(set) => registry.bare[set]
                .get(name)
                // A canonical name is the same everywhere; the joined ones belong to `/mcp`.
                .or_else(|| registry.names.get(name).filter(|_| name.starts_with("mcp__"))),
        };
        at.map(|at| &registry.entries[*at])
            .or_else(|| self.find_template(name, settings))
            .ok_or_else(|| self.no_tool(name, settings))
    }

    /// The template of that name here.
    fn find_template(self, name: &str, settings: &Settings) -> Option<&'static Entry> {
        let canonical = name.strip_prefix("mcp__");
        let name = match (canonical, self) {
            (Some(rest), _) => rest.strip_prefix(templates::TOOLSET)?.strip_prefix("__")?,
            (None, Self::Alone(set)) if set != *TEMPLATES => return None,
            (None, _) => name,
        };
        template_tool(settings, name).map(of_template)
    }

    fn no_tool(self, name: &str, settings: &Settings) -> ToolError {
        let shown: String = name.chars().take(200).collect();
        let error = ToolError::new(Code::ToolNotFound, format!("there is no tool `{shown}`"));
        let canonical = name.starts_with("mcp__");
        let known = entries(settings)
            .filter(|entry| self.has(entry) || canonical)
            .map(|entry| if canonical { entry.def.name } else { entry.here(self).name.as_ref() });
        match model::nearest::nearest(name, known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")).detail("nearest", near),
            None => error.hint("`tools/list` lists what you may use"),
        }
    }

    /// True if templates are served here.
    pub(crate) fn has_templates(self) -> bool {
        match self {
            Self::Alone(set) => set == *TEMPLATES,
            Self::Joined { chosen } => chosen.is_none_or(|chosen| chosen & (1 << *TEMPLATES) != 0),
        }
    }

    /// True if a tool is served here.
    const fn has(self, entry: &Entry) -> bool {
        match self {
            Self::Alone(set) => entry.set == set,
            Self::Joined { chosen: Some(chosen) } => chosen & (1 << entry.set) != 0,
            Self::Joined { chosen: None } => true,
        }
    }

    /// True if a tool is listed here for a caller, apart from permissions.
    pub(crate) fn lists(self, entry: &Entry, caller: &Caller) -> bool {
        let in_loop = caller.agent.as_ref().is_some_and(|agent| agent.session.is_some());
        let other_vocabulary = match entry.def.toolset() {
            "session" => !in_loop,
            "task" => in_loop,
            _ => false,
        };
        // Named toolsets are given as they are; otherwise one vocabulary for tasks is enough.
        self.has(entry) && !(self == Self::ALL && other_vocabulary)
    }
}

impl Entry {
    fn new(index: Option<usize>, def: &'static ToolDef, set: usize) -> Self {
        let (joined, bare) = (listed(def, def.joined().into()), listed(def, def.bare().into()));
        Self { index, def, set, joined, bare }
    }

    /// As it is listed at a mount.
    pub(crate) const fn here(&self, mount: Mount) -> &Tool {
        match mount {
            Mount::Joined { .. } => &self.joined,
            Mount::Alone(_) => &self.bare,
        }
    }
}

/// There is no such toolset.
pub(crate) fn no_toolset(name: &str) -> ToolError {
    let shown: String = name.chars().take(80).collect();
    let error = ToolError::not_found(format!("there is no toolset `{shown}`"));
    match model::nearest::nearest(name, TOOLSETS) {
        Some(near) => error.hint(format!("did you mean `{near}`?")).detail("nearest", near),
        None => error.hint(format!("the toolsets are: {}", TOOLSETS.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_under_all_its_names() {
        let settings = Settings::default();
        let all: Vec<_> = entries(&settings).collect();
        assert_eq!(all.len(), TOOLS.len(), "every tool belongs to a toolset");
        for (def, entry) in TOOLS.iter().zip(all) {
            let alone = Mount::Alone(entry.set);
            for (mount, name) in [
                (Mount::ALL, def.name),
                (Mount::ALL, &def.joined()),
                (alone, def.bare()),
                (alone, def.name),
            ] {
                assert_eq!(mount.find(name, &settings).unwrap().index, entry.index, "{name}");
            }
        }
    }

    #[test]
    fn an_alias_is_found_everywhere_and_listed_nowhere() {
        let settings = Settings::default();
        for (alias, tool) in ALIASES {
            let def = engine::by_name(tool).unwrap();
            assert_eq!(engine::by_name(alias).unwrap().name, *tool);
            let alone = TOOLSETS.iter().position(|set| *set == def.toolset()).unwrap();
            let alone = Mount::Alone(alone);
            for (mount, name) in [
                (Mount::ALL, *alias),
                (Mount::ALL, &joined_of(alias)),
                (alone, bare_of(alias)),
                (alone, *alias),
            ] {
                assert_eq!(mount.find(name, &settings).unwrap().def.name, *tool, "{name}");
            }
            for entry in entries(&settings) {
                assert_ne!(entry.joined.name, joined_of(alias));
                assert_ne!(
                    (entry.def.toolset(), entry.bare.name.as_ref()),
                    (def.toolset(), bare_of(alias))
                );
            }
        }
    }

    #[test]
    fn joined_names_are_unique_and_fit_every_client() {
        let names: std::collections::HashSet<_> = TOOLS.iter().map(ToolDef::joined).collect();
        assert_eq!(names.len(), TOOLS.len());
        for name in names {
            assert!(name.len() <= 64, "{name}");
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
                "{name}"
            );
        }
    }

    #[test]
    fn a_slip_is_answered_with_the_nearest() {
        let mail = TOOLSETS.iter().position(|set| *set == "mail").unwrap();
        let settings = Settings::default();
        let nearest = |mount: Mount, name| {
            mount.find(name, &settings).err().unwrap().details["nearest"].clone()
        };
        assert_eq!(nearest(Mount::ALL, "mail_sned"), "mail_send");
        assert_eq!(nearest(Mount::Alone(mail), "sned"), "send");
        assert_eq!(nearest(Mount::Alone(mail), "mcp__mail__sned"), "mcp__mail__send");
        let joined = Mount::Alone(mail).find("mail_send", &settings);
        assert!(joined.is_err(), "joined names belong to `/mcp`");
    }

    #[test]
    fn toolsets_can_be_chosen() {
        assert_eq!(Mount::chosen(None).unwrap(), Mount::ALL);
        assert_eq!(Mount::chosen(Some("x=y")).unwrap(), Mount::ALL);
        let both = Mount::chosen(Some("toolsets=mail,task")).unwrap();
        assert_eq!(Mount::chosen(Some("toolsets=mail%2Ctask")).unwrap(), both);
        assert_ne!(both, Mount::ALL);
        assert_eq!(Mount::chosen(Some("toolsets=male")).unwrap_err().details["nearest"], "mail");
    }
}
