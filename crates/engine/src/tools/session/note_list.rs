//! `mcp__session__note-list`.

use model::NoteType;
use schemars::JsonSchema;
use serde::Deserialize;
use store::Note;
use wire::paging::PageCursor;
use wire::session::{SessionNote, SessionNotes};

use super::fields::OrEmpty;
use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;

/// List the session's notes, oldest first
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Only notes of this type
    #[serde(rename = "type")]
    kind: Option<OrEmpty<NoteType>>,
    /// Maximum number of entries (default 100)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

fn session_note(note: Note) -> SessionNote {
    SessionNote {
        id: format!("NOT-{}", note.number),
        kind: note.kind,
        content: note.content,
        iteration: note.iteration,
        agent_id: note.agent,
        created_at: note.created_at,
    }
}

pub(crate) struct NoteList;

impl Tool for NoteList {
    const NAME: &'static str = "mcp__session__note-list";
    type Args = Args;
    type Answer = SessionNotes;
}

impl Read for NoteList {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<SessionNotes, ToolError> {
        let after = args.cursor.map_or(0, PageCursor::number);
        let limit = Limit::or(args.limit, 100);
        let kind = OrEmpty::given(args.kind);
        let page = cx.tx.note_page(cx.caller.session(), kind, after, limit)?;
        Ok(SessionNotes {
            notes: page.items.into_iter().map(session_note).collect(),
            next_cursor: page.next.map(PageCursor::from),
        })
    }
}
