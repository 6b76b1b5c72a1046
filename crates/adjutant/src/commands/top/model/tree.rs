//! The crew as a tree that is loaded level by level, and the lines that are to be drawn of it. Lines keep
//! their place: what changes, changes where it stands.

use std::collections::{HashMap, HashSet};

use model::AgentId;
use wire::crew::{Crew, CrewRow};

use super::super::describe::is_over;

/// A level of the tree; the operator's own has no parent.
#[derive(Debug, Clone, Default)]
struct Level {
    ids: Vec<AgentId>,
    /// Where its next page begins
    next: Option<i64>,
    /// Number of past agents folded into one line
    past: i64,
    past_ids: Vec<AgentId>,
    past_next: Option<i64>,
}

/// A level, by who started those on it.
pub(crate) type Parent = Option<AgentId>;

/// The crew, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    rows: HashMap<AgentId, CrewRow>,
    levels: HashMap<Parent, Level>,
    /// A list without levels, in place of the tree
    flat: Option<Level>,
    open: HashMap<AgentId, bool>,
    past_open: HashSet<Parent>,
}

/// Content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// An agent
    Agent(AgentId),
    /// Those of a level that ended long ago
    Past(Parent, i64),
    /// More of a level, which is not loaded; of those that ended long ago, or of the others
    More(Parent, Pages),
    /// A level that is being loaded
    Loading(AgentId),
}

/// Pages of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Pages {
    /// Those of now
    Now,
    /// Those that ended long ago
    Past,
}

/// Fold state of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Nothing
    Leaf,
    /// Yes, and it shows
    Open,
    /// Yes, and it does not
    Closed,
}

/// A line of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) shown: Shown,
    pub(crate) fold: Fold,
    /// For each level above, whether it goes on below
    pub(crate) rails: Vec<bool>,
    /// True for the last of its level
    pub(crate) last: bool,
}

/// True for an agent that lives or has live ones below it.
fn has_live(row: &CrewRow) -> bool {
    !is_over(row) || row.live_below > 0
}

impl Tree {
    /// An agent that is known.
    pub(crate) fn row(&self, id: AgentId) -> Option<&CrewRow> {
        self.rows.get(&id)
    }

    /// True once the first answer has arrived.
    pub(crate) fn is_loaded(&self) -> bool {
        self.flat.is_some() || self.levels.contains_key(&None)
    }

    /// True if an agent is live, so that times advance.
    pub(crate) fn any_live(&self) -> bool {
        self.rows.values().any(|row| !is_over(row))
    }

    /// The levels that are known, to be read again.
    pub(crate) fn loaded(&self) -> Vec<Parent> {
        self.levels.keys().copied().collect()
    }

    /// Where the next page begins.
    pub(crate) fn next(&self, parent: Parent, pages: Pages) -> Option<i64> {
        let level = self.flat.as_ref().or_else(|| self.levels.get(&parent))?;
        match pages {
            Pages::Now => level.next,
            Pages::Past => level.past_next.or(Some(0)),
        }
    }

    fn keep(&mut self, rows: Vec<CrewRow>) -> Vec<AgentId> {
        let ids = rows.iter().map(|row| row.id).collect();
        for row in rows {
            if row.live_below > 0 {
                self.open.entry(row.id).or_insert(true);
            }
            self.rows.insert(row.id, row);
        }
        ids
    }

    /// A page of a level came; the first one takes the place of what was known.
    pub(crate) fn level(&mut self, parent: Parent, after: i64, list: Crew) {
        let Crew { rows, past, next_cursor } = list;
        // The live ones first, each part in its order.
        let (live, ended): (Vec<_>, Vec<_>) = rows.into_iter().partition(has_live);
        let ids = self.keep([live, ended].concat());
        let level = self.levels.entry(parent).or_default();
        if after == 0 {
            level.ids = ids;
            level.past = past;
        } else {
            join(&mut level.ids, ids);
        }
        level.next = next_cursor;
        // Where nobody else is, there is no reason to fold them away.
        if level.ids.is_empty() && level.past > 0 {
            self.past_open.insert(parent);
        }
    }

    /// A page of those of a level that ended long ago came.
    pub(crate) fn past(&mut self, parent: Parent, after: i64, list: Crew) {
        let ids = self.keep(list.rows);
        let level = self.levels.entry(parent).or_default();
        if after == 0 {
            level.past_ids = ids;
        } else {
            join(&mut level.past_ids, ids);
        }
        level.past_next = list.next_cursor;
    }

    /// A page of a list without levels came.
    pub(crate) fn flat(&mut self, after: i64, list: Crew) {
        let ids = self.keep(list.rows);
        let level = self.flat.get_or_insert_default();
        if after == 0 {
            level.ids = ids;
        } else {
            join(&mut level.ids, ids);
        }
        level.next = list.next_cursor;
    }

    /// Back to the tree.
    pub(crate) fn unflatten(&mut self) {
        self.flat = None;
    }

    /// Agents came again, or for the first time; who is new joins the live ones of its level.
    pub(crate) fn patch(&mut self, rows: Vec<CrewRow>) {
        let fresh = rows.iter().filter(|row| !self.rows.contains_key(&row.id));
        let fresh: Vec<(Parent, AgentId)> = fresh.map(|row| (row.parent_id, row.id)).collect();
        self.keep(rows);
        for (parent, id) in fresh {
            let level = self.levels.get_mut(&parent).filter(|level| level.next.is_none());
            let Some(level) = level.filter(|level| !level.ids.contains(&id)) else { continue };
            let is_live = |id: &AgentId| self.rows.get(id).is_some_and(has_live);
            let at = level.ids.iter().rposition(is_live).map_or(0, |last| last + 1);
            level.ids.insert(at, id);
        }
    }

    /// Folds or unfolds.
    pub(crate) fn set_open(&mut self, shown: &Shown, fold: Fold) {
        match shown {
            Shown::Agent(id) => drop(self.open.insert(*id, fold == Fold::Open)),
            Shown::Past(parent, _) if fold == Fold::Open => {
                self.past_open.insert(*parent);
            }
            Shown::Past(parent, _) => drop(self.past_open.remove(parent)),
            Shown::More(..) | Shown::Loading(_) => {}
        }
    }

    /// Everybody above an agent, as far as is known.
    pub(crate) fn above(&self, id: AgentId) -> Vec<AgentId> {
        let mut found: Vec<AgentId> = Vec::new();
        let mut next = self.rows.get(&id).and_then(|row| row.parent_id);
        while let Some(parent) = next.filter(|parent| !found.contains(parent)) {
            next = self.rows.get(&parent).and_then(|row| row.parent_id);
            found.push(parent);
        }
        found
    }

    /// The lines, from above to below.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        match &self.flat {
            Some(level) => self.walk(level, None, &[], &mut lines),
            None => {
                if let Some(level) = self.levels.get(&None) {
                    self.walk(level, None, &[], &mut lines);
                }
            }
        }
        lines
    }

    fn walk(&self, level: &Level, parent: Parent, rails: &[bool], lines: &mut Vec<Line>) {
        let mut shown: Vec<Shown> = level.ids.iter().copied().map(Shown::Agent).collect();
        if level.next.is_some() {
            shown.push(Shown::More(parent, Pages::Now));
        }
        if level.past > 0 {
            shown.push(Shown::Past(parent, level.past));
            if self.past_open.contains(&parent) {
                shown.extend(level.past_ids.iter().copied().map(Shown::Agent));
                if level.past_next.is_some() || level.past_ids.is_empty() {
                    shown.push(Shown::More(parent, Pages::Past));
                }
            }
        }
        let many = shown.len();
        for (at, shown) in shown.into_iter().enumerate() {
            let (last, fold) = (at + 1 == many, self.fold(&shown));
            let id = match &shown {
                Shown::Agent(id) if fold == Fold::Open => Some(*id),
                _ => None,
            };
            lines.push(Line { shown, fold, rails: rails.to_vec(), last });
            let Some(id) = id else { continue };
            let below: Vec<bool> = rails.iter().copied().chain([!last]).collect();
            let parent = Some(id);
            match self.levels.get(&parent) {
                Some(level) => self.walk(level, parent, &below, lines),
                None => lines.push(Line {
                    shown: Shown::Loading(id),
                    fold: Fold::Leaf,
                    rails: below,
                    last: true,
                }),
            }
        }
    }

    fn fold(&self, shown: &Shown) -> Fold {
        let (is_there, is_open) = match shown {
            Shown::Agent(id) => {
                let row = self.rows.get(id).filter(|_| self.flat.is_none());
                let below = row.is_some_and(|row| row.children > 0 || row.live_below > 0);
                (below, self.open.get(id).copied().unwrap_or(false))
            }
            Shown::Past(parent, _) => (true, self.past_open.contains(parent)),
            Shown::More(..) | Shown::Loading(_) => (false, false),
        };
        match (is_there, is_open) {
            (false, _) => Fold::Leaf,
            (true, true) => Fold::Open,
            (true, false) => Fold::Closed,
        }
    }
}

/// Puts those behind that are not there yet.
fn join(ids: &mut Vec<AgentId>, more: Vec<AgentId>) {
    let known: HashSet<AgentId> = ids.iter().copied().collect();
    ids.extend(more.into_iter().filter(|id| !known.contains(id)));
}
