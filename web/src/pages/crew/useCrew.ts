// Data of the crew page: loads levels, follows events, and refreshes visible rows. The tree itself
// is in levels.ts.
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { get } from '../../api/client';
import { kinds, live, useLive, useLiveState } from '../../api/live';
import { isOver } from '../../parts/State';
import type { CrewList, CrewRow, CrewRows } from '../../api/types';
import { isFlat, type CrewView } from './view';
import { EMPTY, ROOT, above, flatten, missing, withHeld, withLevel, withMore, withOpen, withPast, withPastOpen, withPatch, type Tree } from './levels';

const PAGE = 200;
/** Server limit of rows per request. */
const ROWS = 200;
/** Events within this delay share one request. */
const SOON = 250;
/** An agent's current activity has no event, so visible rows are polled. */
const POLL = 2000;
/** Limit of levels loaded before the first render, so that the tree appears complete. */
const FIRST_LEVELS = 40;
const DEEPEST = 6;

type Act =
  | { readonly kind: 'set'; readonly tree: Tree }
  | { readonly kind: 'change'; readonly change: (tree: Tree) => Tree };

function reduce(tree: Tree, act: Act): Tree {
  return act.kind === 'set' ? act.tree : act.change(tree);
}

export interface Crew {
  readonly tree: Tree;
  readonly phase: 'loading' | 'ready' | 'failed';
  readonly error: unknown;
  readonly reload: () => void;
  readonly setOpen: (id: string, open: boolean) => void;
  readonly setPastOpen: (parent: string, open: boolean) => void;
  readonly more: (parent: string, past: boolean) => void;
  /** Number of new agents that are not shown. */
  readonly unseen: number;
  readonly showNew: () => void;
  /** Reports the visible rows, and whether the tree is scrolled. */
  readonly look: (ids: readonly string[], scrolled: boolean) => void;
  /** Reloads rows at once. */
  readonly renew: (ids: readonly string[]) => void;
}

interface Query {
  readonly view: CrewView;
  readonly window: number;
}

function ask({ view, window }: Query, extra: Record<string, string | number | undefined>, signal?: AbortSignal): Promise<CrewList> {
  const flat = isFlat(view) ? { state: view.state, q: view.q.trim() } : { past: 'leave' };
  return get<CrewList>('/api/crew', { ...flat, limit: PAGE, window: Math.round(window / 1000), ...extra }, signal);
}

/** Loads the unfolded levels together, down to the depth limit. */
async function first(query: Query, open: Tree['open'], signal: AbortSignal): Promise<Tree> {
  // Keeps the visitor's folding.
  let tree = withLevel({ ...EMPTY, open }, ROOT, await ask(query, {}, signal));
  if (isFlat(query.view)) return tree;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const wanted = missing(flatten(tree, false)).slice(0, FIRST_LEVELS);
    if (wanted.length === 0) break;
    const lists = await Promise.all(wanted.map((parent) => ask(query, { parent }, signal)));
    wanted.forEach((parent, index) => {
      const list = lists[index];
      if (list !== undefined) tree = withLevel(tree, parent, list);
    });
  }
  return tree;
}

export function useCrew(view: CrewView, window: number, selected: string): Crew {
  const [tree, dispatch] = useReducer(reduce, EMPTY);
  const [phase, setPhase] = useState<Crew['phase']>('loading');
  const [error, setError] = useState<unknown>(null);
  const [turn, setTurn] = useState(0);
  const [missed, setMissed] = useState(0);
  const now = useRef({ tree, view, window, seen: [] as readonly string[], scrolled: false, busy: new Set<string>() });
  now.current = { ...now.current, tree, view, window };
  const change = useCallback((act: (tree: Tree) => Tree) => dispatch({ kind: 'change', change: act }), []);
  const { state, q } = view;

  useEffect(() => {
    const abort = new AbortController();
    const query = { view: { state, q }, window };
    setError(null);
    setMissed(0);
    first(query, now.current.tree.open, abort.signal).then(
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
  }, [state, q, window, turn]);
  useEffect(() => live.onReset(() => setTurn((n) => n + 1)), []);

  const fetchLevel = useCallback(
    (key: string, load: () => Promise<(tree: Tree) => Tree>) => {
      const { busy } = now.current;
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
      const list = await ask(now.current, { parent });
      return (before) => withLevel(before, parent, list);
    }),
    [fetchLevel],
  );
  const loadPast = useCallback(
    (parent: string, after: number) => fetchLevel(`past ${parent}`, async () => {
      const list = await ask(now.current, { parent, past: 'only', after });
      return (before) => withPast(before, parent, list);
    }),
    [fetchLevel],
  );
  const more = useCallback(
    (parent: string, past: boolean) => {
      const level = now.current.tree.levels.get(parent);
      if (past) return loadPast(parent, level?.pastNext ?? 0);
      fetchLevel(`more ${parent}`, async () => {
        const list = await ask(now.current, { parent, after: level?.next ?? 0 });
        return (before) => withMore(before, parent, list);
      });
    },
    [fetchLevel, loadPast],
  );
  const renew = useRenew(now, change, setMissed);
  // Loads unfolded levels and unfolded past agents that are missing.
  useEffect(() => {
    if (phase !== 'ready' || isFlat(now.current.view)) return;
    for (const parent of missing(flatten(tree, false)).slice(0, FIRST_LEVELS)) loadLevel(parent);
    for (const parent of tree.pastOpen) {
      const level = tree.levels.get(parent);
      if (level !== undefined && level.past > 0 && level.pastIds.length === 0 && level.pastNext === null) loadPast(parent, 0);
    }
  }, [tree, phase, loadLevel, loadPast]);
  useEffect(() => {
    if (phase === 'ready' && selected !== '' && !now.current.tree.rows.has(selected)) renew([selected]);
  }, [phase, selected, renew]);

  return {
    tree,
    phase,
    error,
    reload: useCallback(() => setTurn((n) => n + 1), []),
    setOpen: useCallback((id, open) => change((before) => withOpen(before, id, open)), [change]),
    setPastOpen: useCallback((parent, open) => change((before) => withPastOpen(before, parent, open)), [change]),
    more,
    unseen: isFlat(view) ? missed : tree.held.length,
    showNew: useCallback(() => (isFlat(now.current.view) ? setTurn((n) => n + 1) : change(withHeld)), [change]),
    look: useCallback((ids, scrolled) => {
      now.current = { ...now.current, seen: ids, scrolled };
    }, []),
    renew,
  };
}

interface Now {
  readonly tree: Tree;
  readonly view: CrewView;
  readonly window: number;
  readonly seen: readonly string[];
  readonly scrolled: boolean;
}

/** Refreshes rows: those named by events, with their ancestors, and visible live ones. */
function useRenew(
  now: { readonly current: Now },
  change: (act: (tree: Tree) => Tree) => void,
  missed: (count: (before: number) => number) => void,
): (ids: readonly string[]) => void {
  const wanted = useRef(new Set<string>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const { phase } = useLiveState();
  const renew = useCallback(
    (ids: readonly string[]) => {
      if (ids.length === 0) return;
      const { window } = now.current;
      const query = { ids: ids.slice(0, ROWS).join(','), window: Math.round(window / 1000) };
      get<CrewRows>('/api/crew/rows', query).then(
        ({ rows }) => {
          const { view, scrolled, tree } = now.current;
          const flat = isFlat(view);
          const known = flat ? rows.filter((row) => tree.rows.has(row.id)) : rows;
          if (flat && known.length < rows.length) missed((count) => count + rows.length - known.length);
          change((before) => withPatch(before, known as readonly CrewRow[], scrolled));
        },
        // A failed refresh is repeated by the next event or poll.
        () => undefined,
      );
      if (ids.length > ROWS) renew(ids.slice(ROWS));
    },
    [now, change, missed],
  );
  useLive(kinds('agent.', 'review.', 'merge.', 'mail.sent', 'mail.read', 'task.assigned'), (batch) => {
    for (const event of batch) {
      if (event.agentId === null) continue;
      const isKnown = now.current.tree.rows.has(event.agentId);
      if (isKnown || event.kind === 'agent.created') wanted.current.add(event.agentId);
    }
    if (wanted.current.size === 0 || timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      const ids = new Set(wanted.current);
      wanted.current = new Set();
      for (const id of [...ids]) for (const over of above(now.current.tree, id)) ids.add(over);
      renew([...ids]);
    }, SOON);
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
      const { tree, seen } = now.current;
      renew(seen.filter((id) => !isOver(tree.rows.get(id)?.state ?? 'lost')));
    }, POLL);
    return () => clearInterval(poll);
  }, [phase, now, renew]);
  return renew;
}
