//! Notes that agents of a session leave for later ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum NoteType {
    /// Something found out
    Learning,
    /// Something that stopped the work
    Stuck,
    /// Something that helps
    Tip,
    /// Something chosen, and why
    Decision,
}

impl NoteType {
    /// Every type.
    pub const ALL: [Self; 4] = [Self::Learning, Self::Stuck, Self::Tip, Self::Decision];

    /// The type's name, as it is stored and sent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Learning => "learning",
            Self::Stuck => "stuck",
            Self::Tip => "tip",
            Self::Decision => "decision",
        }
    }

    /// The type of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
