//! `mcp__files__list_reservations`.

use model::{AgentId, Line, PathGlob};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Reservation;
use wire::files::{ReservationView, Reservations};
use wire::paging::PageCursor;

use crate::call::cx::{ReadCx, find_agent};
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::files::reservation_view;

/// List file reservations
///
/// Expired reservations are not listed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Only this agent's
    agent_id: Option<AgentId>,
    /// Only reservations that cover this file; a path relative to the root of the project, not a pattern
    path: Option<Line<4000>>,
    /// Maximum number of entries (default 100)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct ListReservations;

impl Tool for ListReservations {
    const NAME: &'static str = "mcp__files__list_reservations";
    type Args = Args;
    type Answer = Reservations;
}

impl Read for ListReservations {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Reservations, ToolError> {
        if let Some(agent) = args.agent_id {
            find_agent(cx.tx, agent)?;
        }
        if let Some(path) = &args.path {
            PathGlob::of_file(path).map_err(|error| {
                ToolError::invalid(format!("`path`: {error}")).detail("field", "path")
            })?;
        }
        let fits = |held: &Reservation| -> Result<bool, ToolError> {
            if args.agent_id.is_some_and(|agent| agent != held.agent) {
                return Ok(false);
            }
            let Some(path) = &args.path else { return Ok(true) };
            Ok(PathGlob::new(&held.pattern).map_err(ToolError::internal)?.matches(path))
        };
        let limit = usize::try_from(Limit::or(args.limit, 100)).unwrap_or(usize::MAX);
        let mut after = args.cursor.map_or(0, PageCursor::number);
        let mut reservations: Vec<ReservationView> = Vec::new();
        let mut last = after;
        loop {
            let page = cx.tx.reservation_page(cx.now, after, 500)?;
            for held in page.items {
                if !fits(&held)? {
                    continue;
                }
                if reservations.len() == limit {
                    return Ok(Reservations {
                        reservations,
                        next_cursor: Some(PageCursor::from(last)),
                    });
                }
                last = held.number;
                reservations.push(reservation_view(held));
            }
            match page.next {
                Some(next) => after = next,
                None => return Ok(Reservations { reservations, next_cursor: None }),
            }
        }
    }
}
