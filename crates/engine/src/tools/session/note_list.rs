//! `mcp__session__note-list`.

use model::{AgentId, NoteType, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Note;

use super::fields::OrEmpty;
use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::paging::{Cursor, Limit};

/// List the session's notes, oldest first
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Only those of this type
    #[serde(rename = "type")]
    kind: Option<OrEmpty<NoteType>>,
    /// At most so many (default 100)
    limit: Option<Limit>,
    /// Go on from `nextCursor` of the page before
    cursor: Option<Cursor>,
}

/// A page of notes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The notes
    notes: Vec<NoteView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

/// A note.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NoteView {
    /// Its number: `NOT-3`
    id: String,
    /// What kind of thing it is
    #[serde(rename = "type")]
    kind: NoteType,
    /// What it says
    content: String,
    /// The iteration in which it was written
    iteration: u32,
    /// Who wrote it; null is the human
    agent_id: Option<AgentId>,
    /// When it was written
    created_at: Timestamp,
}

impl From<Note> for NoteView {
    fn from(note: Note) -> Self {
        Self {
            id: format!("NOT-{}", note.number),
            kind: note.kind,
            content: note.content,
            iteration: note.iteration,
            agent_id: note.agent,
            created_at: note.created_at,
        }
    }
}

pub(crate) struct NoteList;

impl Tool for NoteList {
    const NAME: &'static str = "mcp__session__note-list";
    type Args = Args;
    type Answer = Answer;
}

impl Read for NoteList {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let after = args.cursor.map_or(0, Cursor::number);
        let limit = Limit::or(args.limit, 100);
        let kind = OrEmpty::said(args.kind);
        let page = cx.tx.note_page(cx.caller.session(), kind, after, limit)?;
        Ok(Answer {
            notes: page.items.into_iter().map(NoteView::from).collect(),
            next_cursor: page.next.map(Cursor::from),
        })
    }
}
