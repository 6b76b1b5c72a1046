// Data of the crew page: loads levels, follows events, and refreshes visible rows. The tree itself
// is in levels.ts.
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { get } from '../../api/client';
import { matchKinds, liveEvents, useLiveEvents, useLiveState } from '../../api/live';
import { hasEnded } from '../../parts/State';
import type { CrewList, CrewRow, CrewRows } from '../../api/types';
import { isFlat, type CrewView } from './view';
import { EMPTY_TREE, ROOT, listAncestors, flattenTree, listMissingLevels, withHeldRows, withLevel, withNextPage, withOpen, withPastPage, withPastOpen, withPatchedRows, type CrewTreeState } from './levels';

const PAGE_SIZE = 200;
/** Server limit of rows per request. */
const MAX_ROWS_PER_REQUEST = 200;
/** Events within this delay share one request. */
const EVENT_DELAY_MS = 250;
/** An agent's current activity has no event, so visible rows are polled. */
const POLL_INTERVAL_MS = 2000;
/** Limit of levels loaded before the first render, so that the tree appears complete. */
const MAX_FIRST_LEVELS = 40;
const MAX_FIRST_DEPTH = 6;

type TreeAction =
  | { readonly kind: 'set'; readonly tree: CrewTreeState }
  | { readonly kind: 'change'; readonly change: (tree: CrewTreeState) => CrewTreeState };

function reduce(tree: CrewTreeState, action: TreeAction): CrewTreeState {
  return action.kind === 'set' ? action.tree : action.change(tree);
}

export interface CrewHandle {
  readonly tree: CrewTreeState;
  readonly phase: 'loading' | 'ready' | 'failed';
  readonly error: unknown;
  readonly reload: () => void;
  readonly setOpen: (id: string, open: boolean) => void;
  readonly setPastOpen: (parent: string, open: boolean) => void;
  readonly loadMore: (parent: string, past: boolean) => void;
  /** Number of new agents that are not shown. */
  readonly newCount: number;
  readonly showNew: () => void;
  /** Reports the visible rows, and whether the tree is scrolled. */
  readonly reportVisible: (ids: readonly string[], scrolled: boolean) => void;
  /** Reloads rows at once. */
  readonly refreshRows: (ids: readonly string[]) => void;
}

interface CrewQuery {
  readonly view: CrewView;
  readonly window: number;
}

function fetchCrew({ view, window }: CrewQuery, extra: Record<string, string | number | undefined>, signal?: AbortSignal): Promise<CrewList> {
  const flat = isFlat(view) ? { state: view.state, q: view.q.trim() } : { past: 'leave' };
  return get<CrewList>('/api/crew', { ...flat, limit: PAGE_SIZE, window: Math.round(window / 1000), ...extra }, signal);
}

/** Loads the unfolded levels together, down to the depth limit. */
async function loadFirstLevels(query: CrewQuery, open: CrewTreeState['open'], signal: AbortSignal): Promise<CrewTreeState> {
  // Keeps the visitor's folding.
  let tree = withLevel({ ...EMPTY_TREE, open }, ROOT, await fetchCrew(query, {}, signal));
  if (isFlat(query.view)) return tree;
  for (let depth = 0; depth < MAX_FIRST_DEPTH; depth += 1) {
    const parents = listMissingLevels(flattenTree(tree, false)).slice(0, MAX_FIRST_LEVELS);
    if (parents.length === 0) break;
    const lists = await Promise.all(parents.map((parent) => fetchCrew(query, { parent }, signal)));
    parents.forEach((parent, index) => {
      const list = lists[index];
      if (list !== undefined) tree = withLevel(tree, parent, list);
    });
  }
  return tree;
}

export function useCrew(view: CrewView, window: number, selected: string): CrewHandle {
  const [tree, dispatch] = useReducer(reduce, EMPTY_TREE);
  const [phase, setPhase] = useState<CrewHandle['phase']>('loading');
  const [error, setError] = useState<unknown>(null);
  const [reloadCount, setReloadCount] = useState(0);
  const [missedCount, setMissedCount] = useState(0);
  const latest = useRef({ tree, view, window, visibleIds: [] as readonly string[], isScrolled: false, busy: new Set<string>() });
  latest.current = { ...latest.current, tree, view, window };
  const change = useCallback((update: (tree: CrewTreeState) => CrewTreeState) => dispatch({ kind: 'change', change: update }), []);
  const { state, q } = view;

  useEffect(() => {
    const abort = new AbortController();
    const query = { view: { state, q }, window };
    setError(null);
    setMissedCount(0);
    loadFirstLevels(query, latest.current.tree.open, abort.signal).then(
      (loaded) => {
        dispatch({ kind: 'set', tree: loaded });
        setPhase('ready');
      },
      (problem: unknown) => {
        if (abort.signal.aborted) return;
        setError(problem);
        setPhase('failed');
      },
    );
    return () => abort.abort();
  }, [state, q, window, reloadCount]);
  useEffect(() => liveEvents.onReset(() => setReloadCount((n) => n + 1)), []);

  const fetchLevel = useCallback(
    (key: string, load: () => Promise<(tree: CrewTreeState) => CrewTreeState>) => {
      const { busy } = latest.current;
      if (busy.has(key)) return;
      busy.add(key);
      load()
        .then(change, () => undefined)
        .finally(() => busy.delete(key));
    },
    [change],
  );
  const loadLevel = useCallback(
    (parent: string) => fetchLevel(`level ${parent}`, async () => {
      const list = await fetchCrew(latest.current, { parent });
      return (before) => withLevel(before, parent, list);
    }),
    [fetchLevel],
  );
  const loadPast = useCallback(
    (parent: string, after: number) => fetchLevel(`past ${parent}`, async () => {
      const list = await fetchCrew(latest.current, { parent, past: 'only', after });
      return (before) => withPastPage(before, parent, list);
    }),
    [fetchLevel],
  );
  const more = useCallback(
    (parent: string, past: boolean) => {
      const level = latest.current.tree.levels.get(parent);
      if (past) return loadPast(parent, level?.pastNext ?? 0);
      fetchLevel(`more ${parent}`, async () => {
        const list = await fetchCrew(latest.current, { parent, after: level?.next ?? 0 });
        return (before) => withNextPage(before, parent, list);
      });
    },
    [fetchLevel, loadPast],
  );
  const refreshRows = useRowRefresh(latest, change, setMissedCount);
  // Loads unfolded levels and unfolded past agents that are missing.
  useEffect(() => {
    if (phase !== 'ready' || isFlat(latest.current.view)) return;
    for (const parent of listMissingLevels(flattenTree(tree, false)).slice(0, MAX_FIRST_LEVELS)) loadLevel(parent);
    for (const parent of tree.pastOpen) {
      const level = tree.levels.get(parent);
      if (level !== undefined && level.past > 0 && level.pastIds.length === 0 && level.pastNext === null) loadPast(parent, 0);
    }
  }, [tree, phase, loadLevel, loadPast]);
  useEffect(() => {
    if (phase === 'ready' && selected !== '' && !latest.current.tree.rows.has(selected)) refreshRows([selected]);
  }, [phase, selected, refreshRows]);

  return {
    tree,
    phase,
    error,
    reload: useCallback(() => setReloadCount((n) => n + 1), []),
    setOpen: useCallback((id, open) => change((before) => withOpen(before, id, open)), [change]),
    setPastOpen: useCallback((parent, open) => change((before) => withPastOpen(before, parent, open)), [change]),
    loadMore: more,
    newCount: isFlat(view) ? missedCount : tree.held.length,
    showNew: useCallback(() => (isFlat(latest.current.view) ? setReloadCount((n) => n + 1) : change(withHeldRows)), [change]),
    reportVisible: useCallback((ids, scrolled) => {
      latest.current = { ...latest.current, visibleIds: ids, isScrolled: scrolled };
    }, []),
    refreshRows,
  };
}

interface CrewSnapshot {
  readonly tree: CrewTreeState;
  readonly view: CrewView;
  readonly window: number;
  readonly visibleIds: readonly string[];
  readonly isScrolled: boolean;
}

/** Refreshes rows: those named by events, with their ancestors, and visible live ones. */
function useRowRefresh(
  latest: { readonly current: CrewSnapshot },
  change: (act: (tree: CrewTreeState) => CrewTreeState) => void,
  addMissed: (count: (before: number) => number) => void,
): (ids: readonly string[]) => void {
  const pendingIds = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const { phase } = useLiveState();
  const refreshRows = useCallback(
    (ids: readonly string[]) => {
      if (ids.length === 0) return;
      const { window } = latest.current;
      const query = { ids: ids.slice(0, MAX_ROWS_PER_REQUEST).join(','), window: Math.round(window / 1000) };
      get<CrewRows>('/api/crew/rows', query).then(
        ({ rows }) => {
          const { view, isScrolled, tree } = latest.current;
          const flat = isFlat(view);
          const knownRows = flat ? rows.filter((row) => tree.rows.has(row.id)) : rows;
          if (flat && knownRows.length < rows.length) addMissed((count) => count + rows.length - knownRows.length);
          change((before) => withPatchedRows(before, knownRows as readonly CrewRow[], isScrolled));
        },
        // A failed refresh is repeated by the next event or poll.
        () => undefined,
      );
      if (ids.length > MAX_ROWS_PER_REQUEST) refreshRows(ids.slice(MAX_ROWS_PER_REQUEST));
    },
    [latest, change, addMissed],
  );
  useLiveEvents(matchKinds('agent.', 'review.', 'merge.', 'mail.sent', 'mail.read', 'task.assigned'), (batch) => {
    for (const event of batch) {
      if (event.agentId === null) continue;
      const isKnown = latest.current.tree.rows.has(event.agentId);
      if (isKnown || event.kind === 'agent.created') pendingIds.current.add(event.agentId);
    }
    if (pendingIds.current.size === 0 || timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      const ids = new Set(pendingIds.current);
      pendingIds.current = new Set();
      for (const id of [...ids]) for (const ancestor of listAncestors(latest.current.tree, id)) ids.add(ancestor);
      refreshRows([...ids]);
    }, EVENT_DELAY_MS);
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  useEffect(() => {
    if (phase !== 'live') return;
    const poll = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      const { tree, visibleIds } = latest.current;
      refreshRows(visibleIds.filter((id) => !hasEnded(tree.rows.get(id)?.state ?? 'lost')));
    }, POLL_INTERVAL_MS);
    return () => clearInterval(poll);
  }, [phase, latest, refreshRows]);
  return refreshRows;
}
