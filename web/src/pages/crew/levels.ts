// State of the crew tree, which loads level by level, and its visible rows. Pure functions:
// responses go in, the next tree comes out. Rows keep their position and change in place.
import type { CrewList, CrewRow } from '../../api/types';

/** Key of the top level. */
export const ROOT = '';

export interface CrewLevel {
  readonly ids: readonly string[];
  /** Cursor of the next page. */
  readonly next: number | null;
  /** Number of agents that ended long ago, folded into one row. */
  readonly past: number;
  /** Loaded agents that ended long ago, newest first. */
  readonly pastIds: readonly string[];
  readonly pastNext: number | null;
}

export interface CrewTreeState {
  readonly rows: ReadonlyMap<string, CrewRow>;
  readonly levels: ReadonlyMap<string, CrewLevel>;
  /** Unfolded agents. Set when an agent first has live descendants, then only by the visitor. */
  readonly open: ReadonlyMap<string, boolean>;
  /** Levels whose past agents are unfolded. */
  readonly pastOpen: ReadonlySet<string>;
  /** New agents that stay hidden until the visitor asks for them. */
  readonly held: readonly string[];
}

export const EMPTY_TREE: CrewTreeState = { rows: new Map(), levels: new Map(), open: new Map(), pastOpen: new Set(), held: [] };

function withRows(tree: CrewTreeState, rows: readonly CrewRow[]): CrewTreeState {
  const all = new Map(tree.rows);
  const open = new Map(tree.open);
  for (const row of rows) {
    all.set(row.id, row);
    if (row.liveBelow > 0 && !open.has(row.id)) open.set(row.id, true);
  }
  return { ...tree, rows: all, open };
}

function withLevels(tree: CrewTreeState, parent: string, level: CrewLevel): CrewTreeState {
  return { ...tree, levels: new Map(tree.levels).set(parent, level) };
}

const isLive = (row: CrewRow | undefined): boolean => row !== undefined && (row.finishedAt === null || row.liveBelow > 0);

/** Sorts live agents first, otherwise stable. */
function sortLiveFirst(rows: readonly CrewRow[]): readonly CrewRow[] {
  return [...rows.filter((row) => isLive(row)), ...rows.filter((row) => !isLive(row))];
}

/** Inserts new agents after the last live one of a level. */
function insertNew(tree: CrewTreeState, level: CrewLevel, newIds: readonly string[]): CrewLevel {
  const at = level.ids.findLastIndex((id) => isLive(tree.rows.get(id))) + 1;
  return { ...level, ids: [...level.ids.slice(0, at), ...newIds, ...level.ids.slice(at)] };
}

/** Adds the first page of a level. */
export function withLevel(tree: CrewTreeState, parent: string, list: CrewList): CrewTreeState {
  const ids = sortLiveFirst(list.rows).map((row) => row.id);
  const level = { ids, next: list.nextCursor, past: list.past, pastIds: [], pastNext: null };
  const next = withLevels(withRows(tree, list.rows), parent, level);
  // A level with nothing else shows its past agents at once.
  return ids.length === 0 && list.past > 0 ? { ...next, pastOpen: new Set(next.pastOpen).add(parent) } : next;
}

/** Adds a further page of a level. */
export function withNextPage(tree: CrewTreeState, parent: string, list: CrewList): CrewTreeState {
  const level = tree.levels.get(parent);
  if (level === undefined) return tree;
  const known = new Set(level.ids);
  const ids = [...level.ids, ...list.rows.map((row) => row.id).filter((id) => !known.has(id))];
  return withLevels(withRows(tree, list.rows), parent, { ...level, ids, next: list.nextCursor });
}

/** Adds a page of past agents. */
export function withPastPage(tree: CrewTreeState, parent: string, list: CrewList): CrewTreeState {
  const level = tree.levels.get(parent);
  if (level === undefined) return tree;
  const known = new Set([...level.ids, ...level.pastIds]);
  const pastIds = [...level.pastIds, ...list.rows.map((row) => row.id).filter((id) => !known.has(id))];
  return withLevels(withRows(tree, list.rows), parent, { ...level, pastIds, pastNext: list.nextCursor });
}

/**
 * Updates rows. New ones join the live ones of their level; `hold` keeps new top-level rows hidden.
 */
export function withPatchedRows(tree: CrewTreeState, rows: readonly CrewRow[], hold: boolean): CrewTreeState {
  const newRows = rows.filter((row) => !tree.rows.has(row.id));
  let next = withRows(tree, rows);
  const held: string[] = [];
  for (const row of newRows) {
    const parent = row.parentId ?? ROOT;
    const level = next.levels.get(parent);
    if (level === undefined || level.next !== null) continue;
    if (parent === ROOT && hold) held.push(row.id);
    else next = withLevels(next, parent, insertNew(next, level, [row.id]));
  }
  return held.length === 0 ? next : { ...next, held: [...next.held, ...held] };
}

/** Shows the hidden new rows. */
export function withHeldRows(tree: CrewTreeState): CrewTreeState {
  const level = tree.levels.get(ROOT);
  if (level === undefined || tree.held.length === 0) return { ...tree, held: [] };
  return { ...withLevels(tree, ROOT, insertNew(tree, level, tree.held)), held: [] };
}

export function withOpen(tree: CrewTreeState, id: string, open: boolean): CrewTreeState {
  return { ...tree, open: new Map(tree.open).set(id, open) };
}

export function withPastOpen(tree: CrewTreeState, parent: string, open: boolean): CrewTreeState {
  const pastOpen = new Set(tree.pastOpen);
  if (open) pastOpen.add(parent);
  else pastOpen.delete(parent);
  return { ...tree, pastOpen };
}

/** Lists the known ancestors of an agent, nearest first. */
export function listAncestors(tree: CrewTreeState, id: string): readonly string[] {
  const ancestors: string[] = [];
  let next = tree.rows.get(id)?.parentId ?? null;
  while (next !== null && !ancestors.includes(next)) {
    ancestors.push(next);
    next = tree.rows.get(next)?.parentId ?? null;
  }
  return ancestors;
}

interface ItemPosition {
  readonly key: string;
  /** Depth, from 1. */
  readonly level: number;
  readonly pos: number;
  /** Number of siblings including this one; -1 if unknown. */
  readonly size: number;
  /** For each level above, true if its line continues below. */
  readonly rails: readonly boolean[];
  readonly last: boolean;
}

export type TreeItem =
  | (ItemPosition & { readonly kind: 'agent'; readonly id: string; readonly foldable: boolean; readonly open: boolean })
  | (ItemPosition & { readonly kind: 'past'; readonly parent: string; readonly count: number; readonly open: boolean })
  | (ItemPosition & { readonly kind: 'more'; readonly parent: string; readonly past: boolean })
  | (ItemPosition & { readonly kind: 'loading'; readonly parent: string });

/** Lists the visible rows from top to bottom. A flat list unfolds nothing. */
export function flattenTree(tree: CrewTreeState, flat: boolean): readonly TreeItem[] {
  const items: TreeItem[] = [];
  collectItems(tree, flat, ROOT, [], items);
  return items;
}

type LevelEntry =
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'past'; readonly count: number; readonly open: boolean }
  | { readonly kind: 'more'; readonly past: boolean };

function listEntries(level: CrewLevel, pastOpen: boolean): readonly LevelEntry[] {
  const agents = (ids: readonly string[]): LevelEntry[] => ids.map((id) => ({ kind: 'agent', id }));
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

function collectItems(tree: CrewTreeState, flat: boolean, parent: string, rails: readonly boolean[], items: TreeItem[]): void {
  const depth = rails.length + 1;
  const level = tree.levels.get(parent);
  if (level === undefined) {
    if (parent !== ROOT) items.push({ kind: 'loading', key: `loading ${parent}`, parent, level: depth, pos: 1, size: -1, rails, last: true });
    return;
  }
  const entries = listEntries(level, tree.pastOpen.has(parent));
  const size = level.next === null ? entries.length : -1;
  entries.forEach((entry, index) => {
    const last = index === entries.length - 1;
    const position = { level: depth, pos: index + 1, size, rails, last };
    if (entry.kind === 'past') return items.push({ ...position, ...entry, key: `past ${parent}`, parent });
    if (entry.kind === 'more') return items.push({ ...position, ...entry, key: `more ${String(entry.past)} ${parent}`, parent });
    const row = tree.rows.get(entry.id);
    if (row === undefined) return undefined;
    const foldable = !flat && (row.children > 0 || row.liveBelow > 0);
    const open = foldable && (tree.open.get(row.id) ?? false);
    items.push({ ...position, kind: 'agent', key: row.id, id: row.id, foldable, open });
    if (open) collectItems(tree, flat, row.id, [...rails, !last], items);
    return undefined;
  });
}

/** Lists the unfolded levels that are not loaded yet. */
export function listMissingLevels(items: readonly TreeItem[]): readonly string[] {
  return items.flatMap((item) => (item.kind === 'loading' ? [item.parent] : []));
}
