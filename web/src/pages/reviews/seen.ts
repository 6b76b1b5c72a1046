// Seen files of a commit, stored per tab. Another commit starts with none.
import { useState } from 'react';

const keyOf = (commit: string): string => `adjutant.seen.${commit}`;

export function readSeen(commit: string): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(commit)) ?? '[]');
    return new Set(Array.isArray(kept) ? kept.filter((path): path is string => typeof path === 'string') : []);
  } catch {
    return new Set();
  }
}

/** Toggles the mark of a file. */
export function toggled(seen: ReadonlySet<string>, path: string): ReadonlySet<string> {
  const next = new Set(seen);
  if (!next.delete(path)) next.add(path);
  return next;
}

export function useSeen(commit: string): [ReadonlySet<string>, (path: string) => void] {
  const [state, setState] = useState(() => ({ commit, seen: readSeen(commit) }));
  const seen = state.commit === commit ? state.seen : readSeen(commit);
  const toggle = (path: string) => {
    const next = toggled(seen, path);
    sessionStorage.setItem(keyOf(commit), JSON.stringify([...next]));
    setState({ commit, seen: next });
  };
  return [seen, toggle];
}
