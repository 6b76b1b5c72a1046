// Which files of a commit were seen, in this tab. Another commit is looked at anew.
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

/** Turns one file over: seen, or not seen any more. */
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
