//! `mcp__files__reserve`.

use std::borrow::Cow;

use model::path_glob::{PathGlob, WorkBudget};
use model::{AgentId, Line, ReservationId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::json;
use store::{NewReservation, Reservation};
use wire::event::{EventData, FilesReserved, ReservedPattern};
use wire::files::{ReservationConflict, ReservationView, ReservedFiles};

use crate::call::cx::{WriteCx, fresh};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tools::files::reservation_view;
use crate::tools::items::Items;

/// Maximum patterns held per agent: each is compared with others' requests.
const MAX_HELD: usize = 500;
/// Work limit per call, since it blocks the writer.
const STEPS: u64 = 10_000_000;
/// More conflicts than this are counted, not listed.
const LISTED: usize = 50;

/// Reserve files that you are about to edit
///
/// Other agents cannot reserve overlapping patterns until the reservation expires, you release it,
/// or you end; if the commit guard is on, they cannot commit those files either. Either all
/// patterns are reserved or none. Reserving the same pattern again renews it. A reservation does
/// not prevent reading or writing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Patterns relative to the root of the project: `src/lib.rs`, `src` (a folder with all in it),
    /// `src/*.rs`, `src/**/*.rs`, `{a,b}/?[0-9].txt`
    paths: Items<PathGlob, 1, 50>,
    /// Duration in seconds (default 3600)
    seconds: Option<Seconds>,
    /// Purpose, shown to agents that want the same files
    reason: Option<Line<300>>,
}

/// Duration of a reservation: a minute to a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seconds(i64);

impl Seconds {
    const MIN: i64 = 60;
    const MAX: i64 = 86_400;
    const USUAL: Self = Self(3600);
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        if (Self::MIN..=Self::MAX).contains(&number) {
            return Ok(Self(number));
        }
        let (least, most) = (Self::MIN, Self::MAX);
        Err(D::Error::custom(format!(
            "is {number}; it must be {least} to {most}. To hold files longer, reserve them again"
        )))
    }
}

impl JsonSchema for Seconds {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": Self::MIN, "maximum": Self::MAX })
    }
}

pub(crate) struct Reserve;

impl Tool for Reserve {
    const NAME: &'static str = "mcp__files__reserve";
    type Args = Args;
    type Answer = ReservedFiles;
}

impl Write for Reserve {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<ReservedFiles, ToolError> {
        let agent = cx.caller.agent()?.id;
        cx.tx.reservations_sweep(cx.now)?;
        let mut patterns: Vec<PathGlob> = Vec::new();
        for pattern in args.paths.into_inner() {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        refuse_what_is_taken(cx, agent, &patterns)?;
        refuse_too_many(cx, agent, &patterns)?;
        let expires_at = cx.now.after_seconds(args.seconds.unwrap_or(Seconds::USUAL).0);
        let reason = args.reason.map(Line::into_inner);
        let mut reservations = Vec::new();
        for pattern in patterns {
            let new = NewReservation {
                id: fresh(ReservationId::from_bits)?,
                agent,
                pattern: pattern.to_string(),
                reason: reason.clone(),
                expires_at,
            };
            let id = cx.tx.reservation_put(&new, cx.now)?;
            reservations.extend(cx.tx.reservation_get(id)?.map(reservation_view));
        }
        let one =
            |held: &ReservationView| ReservedPattern { id: held.id, pattern: held.pattern.clone() };
        let reserved = reservations.iter().map(one).collect();
        let data = FilesReserved { reservations: reserved, expires_at, reason };
        cx.tell(None, EventData::FilesReserved(data))?;
        Ok(ReservedFiles { reservations, conflicts: Vec::new() })
    }
}

fn refuse_what_is_taken(
    cx: &WriteCx<'_, '_>,
    agent: AgentId,
    patterns: &[PathGlob],
) -> Result<(), ToolError> {
    let mut effort = WorkBudget::steps(STEPS);
    let mut taken = Vec::new();
    let mut after = 0;
    loop {
        let page = cx.tx.reservation_page(cx.now, after, 500)?;
        for held in page.items.into_iter().filter(|held| held.agent != agent) {
            let theirs = PathGlob::new(&held.pattern).map_err(ToolError::internal)?;
            for ours in patterns {
                let overlaps = ours.overlaps(&theirs, &mut effort).map_err(|error| {
                    ToolError::invalid(format!("`paths`: {error}"))
                        .detail("field", "paths")
                        .hint("reserve fewer files at once, or with fewer `*` in a pattern")
                })?;
                if overlaps {
                    taken.push(reservation_conflict(ours, &held));
                }
            }
        }
        match page.next {
            Some(next) => after = next,
            None if taken.is_empty() => return Ok(()),
            None => return Err(refusal(taken)),
        }
    }
}

fn reservation_conflict(ours: &PathGlob, held: &Reservation) -> ReservationConflict {
    ReservationConflict {
        pattern: ours.to_string(),
        held_by: held.agent,
        role: held.role.clone(),
        held_pattern: held.pattern.clone(),
        expires_at: held.expires_at,
        reason: held.reason.clone(),
    }
}

fn refusal(mut taken: Vec<ReservationConflict>) -> ToolError {
    let count = taken.len();
    let last = taken.iter().map(|one| one.expires_at).max();
    let mut holders: Vec<AgentId> = taken.iter().map(|one| one.held_by).collect();
    holders.sort_unstable();
    holders.dedup();
    taken.truncate(LISTED);
    let first = taken.first().map_or_else(String::new, |one| {
        format!(
            "`{}` overlaps `{}`, which agent `{}` ({}) holds until {}",
            one.pattern, one.held_pattern, one.held_by, one.role, one.expires_at
        )
    });
    let more = if count > 1 { format!("; and {} more", count - 1) } else { String::new() };
    let holders: Vec<String> = holders.iter().take(5).map(|holder| format!("`{holder}`")).collect();
    let error = ToolError::conflict(format!("{first}{more}; nothing was reserved"))
        .detail("conflicts", json!(taken))
        .hint("reserve only the files that you need, and do the rest of your work first")
        .hint(format!("ask for them: `mcp__mail__send` with `toAgentId` {}", holders.join(" or ")));
    let error = if count > LISTED { error.detail("conflictCount", count) } else { error };
    match last {
        Some(last) => error.hint(format!("else wait: all of these end by {last} at the latest")),
        None => error,
    }
}

fn refuse_too_many(
    cx: &WriteCx<'_, '_>,
    agent: AgentId,
    patterns: &[PathGlob],
) -> Result<(), ToolError> {
    let held = cx.tx.reservations_of(agent)?;
    let new = patterns.iter().filter(|new| held.iter().all(|held| held.pattern != new.as_str()));
    let count = held.len() + new.count();
    if count <= MAX_HELD {
        return Ok(());
    }
    Err(ToolError::conflict(format!(
        "you would hold {count} reservations; the limit is {MAX_HELD}; nothing was reserved"
    ))
    .hint("release some with `mcp__files__release`, or reserve whole folders, such as `src/**`"))
}
