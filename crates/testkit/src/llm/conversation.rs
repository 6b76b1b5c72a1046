//! What passes between a command line and its model, in either protocol.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ModelRequest, Script, Usage};

/// The two protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelProtocol {
    Anthropic,
    Responses,
}

/// What a request says, in either protocol.
#[derive(Debug, Default)]
pub(super) struct ConversationState {
    pub(super) tools: Vec<OfferedTool>,
    pub(super) user: Vec<String>,
    pub(super) results: Vec<String>,
    /// How many turns the model has had in this conversation
    pub(super) turns: usize,
}

/// A tool that the client offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OfferedTool {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    /// Takes bare text instead of an object
    pub(super) free_form: bool,
}

impl OfferedTool {
    pub(super) fn full_name(&self) -> String {
        match &self.namespace {
            Some(space) => format!("{space}__{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// A turn with its templates filled in and its tools found.
#[derive(Debug)]
pub(super) struct FilledTurn {
    pub(super) id: u64,
    pub(super) model: String,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) calls: Vec<(OfferedTool, Value)>,
    pub(super) usage: Usage,
}

/// The same as a stream of named events, and as one document.
pub(super) struct EncodedTurn {
    pub(super) events: Vec<(&'static str, Value)>,
    pub(super) whole: Value,
}

impl ConversationState {
    /// The script that the last marker names, if there is such a script.
    pub(super) fn script<'a>(&self, scripts: &'a BTreeMap<String, Script>) -> Option<&'a str> {
        let names = self.user.iter().rev().flat_map(|text| text.rsplit("[[script:"));
        let named = names.filter_map(|rest| rest.split_once("]]"));
        named
            .filter_map(|(name, _)| scripts.get_key_value(name))
            .map(|(key, _)| key.as_str())
            .next()
    }

    /// Finds the tool that a script means: `send` and `mail__send` are both `mcp__mail__send`.
    ///
    /// A tool that is only spoken of may be called as well: Claude Code keeps some back until they are needed.
    pub(super) fn find(&self, wanted: &str, words: &str) -> OfferedTool {
        let ending = format!("__{wanted}");
        let exact = self.tools.iter().find(|tool| tool.full_name() == wanted);
        let similar = || self.tools.iter().find(|tool| tool.full_name().ends_with(&ending));
        if let Some(tool) = exact.or_else(similar) {
            return tool.clone();
        }
        let part = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let mut spoken = words.split(|letter| !part(letter));
        let spoken = spoken.find(|word| word.starts_with("mcp__") && word.ends_with(&ending));
        OfferedTool { name: spoken.unwrap_or(wanted).to_owned(), ..OfferedTool::default() }
    }

    pub(super) fn asked(&self, script: String, model: String, body: Value) -> ModelRequest {
        ModelRequest {
            script,
            turn: self.turns,
            model,
            tools: self.tools.iter().map(OfferedTool::full_name).collect(),
            user: self.user.clone(),
            results: self.results.clone(),
            body,
        }
    }
}
