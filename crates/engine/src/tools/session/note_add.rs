//! `mcp__session__note-add`.

use model::{NoteType, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use store::NewNote;
use wire::event::{EventData, NoteAdded};
use wire::session::{AddedNote, AddedNotes};

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tools::items::Items;

/// Add one or more notes for later agents
///
/// Either all are added or none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The notes, 1 to 100
    notes: Items<Item, 1, 100>,
}

/// A note to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// Text
    content: Text<8000>,
    /// Kind of note
    #[serde(rename = "type")]
    kind: NoteType,
}

pub(crate) struct NoteAdd;

impl Tool for NoteAdd {
    const NAME: &'static str = "mcp__session__note-add";
    type Args = Args;
    type Answer = AddedNotes;
}

impl Write for NoteAdd {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<AddedNotes, ToolError> {
        let session = cx.tx.session_ensure(cx.caller.session(), cx.now)?;
        let mut notes = Vec::new();
        for item in args.notes.into_inner() {
            let new = NewNote {
                session: session.name.clone(),
                kind: item.kind,
                content: item.content.into_inner(),
                iteration: cx.caller.iteration_of(&session),
                agent: cx.caller.id(),
            };
            let id = format!("NOT-{}", cx.tx.note_insert(&new, cx.now)?);
            let data = EventData::NoteAdded(NoteAdded {
                note_id: id.clone(),
                kind: new.kind,
                session: new.session,
                iteration: new.iteration,
            });
            let task = cx.caller.agent.as_ref().and_then(|agent| agent.task);
            cx.tell(task, data)?;
            notes.push(AddedNote { id, kind: new.kind });
        }
        Ok(AddedNotes { count: notes.len(), notes })
    }
}
