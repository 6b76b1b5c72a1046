//! `mcp__files__release`.

use model::{PathGlob, ReservationId};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Reservation;
use wire::files::ReleasedFiles;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tasks::reservations::released_event;
use crate::tools::items::Items;

/// Release files that you have reserved
///
/// Without `paths` and `ids` it releases all your reservations. A pattern must be given as it was
/// reserved.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The patterns, as they were reserved
    paths: Option<Items<PathGlob, 1, 50>>,
    /// The reservations, by their ids
    ids: Option<Items<ReservationId, 1, 50>>,
}

pub(crate) struct Release;

impl Tool for Release {
    const NAME: &'static str = "mcp__files__release";
    type Args = Args;
    type Answer = ReleasedFiles;
}

impl Write for Release {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<ReleasedFiles, ToolError> {
        cx.tx.reservations_sweep(cx.now)?;
        let mut chosen: Vec<Reservation> = Vec::new();
        for id in args.ids.iter().flat_map(Items::as_slice) {
            chosen.push(releasable(cx, *id)?);
        }
        match (&args.paths, &args.ids) {
            (Some(paths), _) => {
                let named = |held: &Reservation| {
                    paths.as_slice().iter().any(|path| path.as_str() == held.pattern)
                };
                chosen.extend(within_reach(cx)?.into_iter().filter(named));
            }
            (None, Some(_)) => {}
            (None, None) => {
                let own = cx.caller.agent.as_ref().ok_or_else(|| {
                    ToolError::invalid("the operator holds no reservations: pass `ids` or `paths`")
                        .hint("`mcp__files__list_reservations` lists what agents hold")
                })?;
                chosen = cx.tx.reservations_of(own.id)?;
            }
        }
        let mut released = Vec::new();
        for held in chosen {
            // One that was named twice is released once.
            if cx.tx.reservation_release(held.id)? {
                released.push(held);
            }
        }
        let count = released.len();
        if count > 0 {
            cx.tell(None, released_event(released))?;
        }
        Ok(ReleasedFiles { released: count })
    }
}

/// The reservation of that id, if the caller may release it.
fn releasable(cx: &WriteCx<'_, '_>, id: ReservationId) -> Result<Reservation, ToolError> {
    let held = cx.tx.reservation_get(id)?.ok_or_else(|| {
        ToolError::not_found(format!("there is no reservation `{id}`, or it has expired"))
            .hint("`mcp__files__list_reservations` lists those in force")
    })?;
    match cx.caller.id() {
        Some(caller) if caller != held.agent => Err(ToolError::denied(format!(
            "`{id}` is a reservation of agent `{}` ({})",
            held.agent, held.role
        ))
        .hint(format!("ask for it: `mcp__mail__send` with `toAgentId` `{}`", held.agent))),
        _ => Ok(held),
    }
}

/// Reservations that the caller may release: an agent its own, the operator all.
fn within_reach(cx: &WriteCx<'_, '_>) -> Result<Vec<Reservation>, ToolError> {
    if let Some(agent) = cx.caller.id() {
        return Ok(cx.tx.reservations_of(agent)?);
    }
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = cx.tx.reservation_page(cx.now, after, 500)?;
        all.extend(page.items);
        match page.next {
            Some(next) => after = next,
            None => return Ok(all),
        }
    }
}
