// Seen files of a commit, stored per tab. Another commit starts with none.
import { useState } from 'react';

const getStorageKey = (commit: string): string => `adjutant.seen.${commit}`;

export function loadSeen(commit: string): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(getStorageKey(commit)) ?? '[]');
    return new Set(Array.isArray(stored) ? stored.filter((path): path is string => typeof path === 'string') : []);
  } catch {
    return new Set();
  }
}

/** Toggles the mark of a file. */
export function toggleSeen(seen: ReadonlySet<string>, path: string): ReadonlySet<string> {
  const next = new Set(seen);
  if (!next.delete(path)) next.add(path);
  return next;
}

export function useSeenFiles(commit: string): [ReadonlySet<string>, (path: string) => void] {
  const [state, setState] = useState(() => ({ commit, seen: loadSeen(commit) }));
  const seen = state.commit === commit ? state.seen : loadSeen(commit);
  const toggle = (path: string) => {
    const next = toggleSeen(seen, path);
    sessionStorage.setItem(getStorageKey(commit), JSON.stringify([...next]));
    setState({ commit, seen: next });
  };
  return [seen, toggle];
}
