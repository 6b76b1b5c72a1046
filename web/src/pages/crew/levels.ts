// The crew as a tree that is loaded level by level, and the rows that are to be drawn of it. Pure: what comes from the server goes in,
// the next tree comes out. Rows keep their place: what changes, changes where it stands.
import type { CrewList, CrewRow } from '../../api/types';

/** The key of the level that the operator started. */
export const ROOT = '';

export interface Level {
  readonly ids: readonly string[];
  /** Where its next page begins. */
  readonly next: number | null;
  /** How many that ended long ago are folded into one row. */
  readonly past: number;
  /** Those, once they were unfolded; newest first. */
  readonly pastIds: readonly string[];
  readonly pastNext: number | null;
}

export interface Tree {
  readonly rows: ReadonlyMap<string, CrewRow>;
  readonly levels: ReadonlyMap<string, Level>;
  /** Who is unfolded; decided when somebody first has live ones below, and then by the reader. */
  readonly open: ReadonlyMap<string, boolean>;
  /** On which levels those that ended long ago are unfolded. */
  readonly pastOpen: ReadonlySet<string>;
  /** New ones that wait until the reader wants to see them. */
  readonly held: readonly string[];
}

export const EMPTY: Tree = { rows: new Map(), levels: new Map(), open: new Map(), pastOpen: new Set(), held: [] };

function withRows(tree: Tree, rows: readonly CrewRow[]): Tree {
  const all = new Map(tree.rows);
  const open = new Map(tree.open);
  for (const row of rows) {
    all.set(row.id, row);
    if (row.liveBelow > 0 && !open.has(row.id)) open.set(row.id, true);
  }
  return { ...tree, rows: all, open };
}

function withLevels(tree: Tree, parent: string, level: Level): Tree {
  return { ...tree, levels: new Map(tree.levels).set(parent, level) };
}

const isLive = (row: CrewRow | undefined): boolean => row !== undefined && (row.finishedAt === null || row.liveBelow > 0);

/** The live ones first, each part in its order. */
function liveFirst(rows: readonly CrewRow[]): readonly CrewRow[] {
  return [...rows.filter((row) => isLive(row)), ...rows.filter((row) => !isLive(row))];
}

/** A level with new ones: behind the last that lives, before those that have ended. */
function joined(tree: Tree, level: Level, fresh: readonly string[]): Level {
  const at = level.ids.findLastIndex((id) => isLive(tree.rows.get(id))) + 1;
  return { ...level, ids: [...level.ids.slice(0, at), ...fresh, ...level.ids.slice(at)] };
}

/** A level came: its first page. */
export function withLevel(tree: Tree, parent: string, list: CrewList): Tree {
  const ids = liveFirst(list.rows).map((row) => row.id);
  const level = { ids, next: list.nextCursor, past: list.past, pastIds: [], pastNext: null };
  const next = withLevels(withRows(tree, list.rows), parent, level);
  // Where nobody else is, there is no reason to fold them away.
  return ids.length === 0 && list.past > 0 ? { ...next, pastOpen: new Set(next.pastOpen).add(parent) } : next;
}

/** The next page of a level came. */
export function withMore(tree: Tree, parent: string, list: CrewList): Tree {
  const level = tree.levels.get(parent);
  if (level === undefined) return tree;
  const known = new Set(level.ids);
  const ids = [...level.ids, ...list.rows.map((row) => row.id).filter((id) => !known.has(id))];
  return withLevels(withRows(tree, list.rows), parent, { ...level, ids, next: list.nextCursor });
}

/** A page of those that ended long ago came. */
export function withPast(tree: Tree, parent: string, list: CrewList): Tree {
  const level = tree.levels.get(parent);
  if (level === undefined) return tree;
  const known = new Set([...level.ids, ...level.pastIds]);
  const pastIds = [...level.pastIds, ...list.rows.map((row) => row.id).filter((id) => !known.has(id))];
  return withLevels(withRows(tree, list.rows), parent, { ...level, pastIds, pastNext: list.nextCursor });
}

/** Rows came again, or for the first time. Who is new joins the live ones of its level; `hold` keeps new roots back. */
export function withPatch(tree: Tree, rows: readonly CrewRow[], hold: boolean): Tree {
  const fresh = rows.filter((row) => !tree.rows.has(row.id));
  let next = withRows(tree, rows);
  const held: string[] = [];
  for (const row of fresh) {
    const parent = row.parentId ?? ROOT;
    const level = next.levels.get(parent);
    if (level === undefined || level.next !== null) continue;
    if (parent === ROOT && hold) held.push(row.id);
    else next = withLevels(next, parent, joined(next, level, [row.id]));
  }
  return held.length === 0 ? next : { ...next, held: [...next.held, ...held] };
}

/** Shows the new ones that were held back. */
export function withHeld(tree: Tree): Tree {
  const level = tree.levels.get(ROOT);
  if (level === undefined || tree.held.length === 0) return { ...tree, held: [] };
  return { ...withLevels(tree, ROOT, joined(tree, level, tree.held)), held: [] };
}

export function withOpen(tree: Tree, id: string, open: boolean): Tree {
  return { ...tree, open: new Map(tree.open).set(id, open) };
}

export function withPastOpen(tree: Tree, parent: string, open: boolean): Tree {
  const pastOpen = new Set(tree.pastOpen);
  if (open) pastOpen.add(parent);
  else pastOpen.delete(parent);
  return { ...tree, pastOpen };
}

/** Everybody above an agent, as far as is known. */
export function above(tree: Tree, id: string): readonly string[] {
  const found: string[] = [];
  let next = tree.rows.get(id)?.parentId ?? null;
  while (next !== null && !found.includes(next)) {
    found.push(next);
    next = tree.rows.get(next)?.parentId ?? null;
  }
  return found;
}

interface Place {
  readonly key: string;
  /** From 1. */
  readonly level: number;
  readonly pos: number;
  /** How many stand beside it; -1 where that is not known yet. */
  readonly size: number;
  /** For each level above it, whether its line goes on below. */
  readonly rails: readonly boolean[];
  readonly last: boolean;
}

export type Item =
  | (Place & { readonly kind: 'agent'; readonly id: string; readonly foldable: boolean; readonly open: boolean })
  | (Place & { readonly kind: 'past'; readonly parent: string; readonly count: number; readonly open: boolean })
  | (Place & { readonly kind: 'more'; readonly parent: string; readonly past: boolean })
  | (Place & { readonly kind: 'loading'; readonly parent: string });

/** The rows to draw, from above to below. In a flat list nobody unfolds. */
export function flatten(tree: Tree, flat: boolean): readonly Item[] {
  const items: Item[] = [];
  walk(tree, flat, ROOT, [], items);
  return items;
}

type Entry =
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'past'; readonly count: number; readonly open: boolean }
  | { readonly kind: 'more'; readonly past: boolean };

function entriesOf(level: Level, pastOpen: boolean): readonly Entry[] {
  const agents = (ids: readonly string[]): Entry[] => ids.map((id) => ({ kind: 'agent', id }));
  const entries = agents(level.ids);
  if (level.next !== null) entries.push({ kind: 'more', past: false });
  if (level.past === 0) return entries;
  entries.push({ kind: 'past', count: level.past, open: pastOpen });
  if (pastOpen) {
    entries.push(...agents(level.pastIds));
    if (level.pastNext !== null) entries.push({ kind: 'more', past: true });
  }
  return entries;
}

function walk(tree: Tree, flat: boolean, parent: string, rails: readonly boolean[], items: Item[]): void {
  const depth = rails.length + 1;
  const level = tree.levels.get(parent);
  if (level === undefined) {
    if (parent !== ROOT) items.push({ kind: 'loading', key: `loading ${parent}`, parent, level: depth, pos: 1, size: -1, rails, last: true });
    return;
  }
  const entries = entriesOf(level, tree.pastOpen.has(parent));
  const size = level.next === null ? entries.length : -1;
  entries.forEach((entry, index) => {
    const last = index === entries.length - 1;
    const place = { level: depth, pos: index + 1, size, rails, last };
    if (entry.kind === 'past') return items.push({ ...place, ...entry, key: `past ${parent}`, parent });
    if (entry.kind === 'more') return items.push({ ...place, ...entry, key: `more ${String(entry.past)} ${parent}`, parent });
    const row = tree.rows.get(entry.id);
    if (row === undefined) return undefined;
    const foldable = !flat && (row.children > 0 || row.liveBelow > 0);
    const open = foldable && (tree.open.get(row.id) ?? false);
    items.push({ ...place, kind: 'agent', key: row.id, id: row.id, foldable, open });
    if (open) walk(tree, flat, row.id, [...rails, !last], items);
    return undefined;
  });
}

/** Levels that are unfolded and not there yet, of those that are drawn. */
export function missing(items: readonly Item[]): readonly string[] {
  return items.flatMap((item) => (item.kind === 'loading' ? [item.parent] : []));
}
