// How much room there is, as the brief counts it.
import { useSyncExternalStore } from 'react';

export type Width = 'phone' | 'narrow' | 'wide';

const PHONE = '(max-width: 699px)';
const NARROW = '(max-width: 1099px)';

function subscribe(watcher: () => void): () => void {
  const queries = [PHONE, NARROW].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener('change', watcher);
  return () => {
    for (const query of queries) query.removeEventListener('change', watcher);
  };
}

function width(): Width {
  if (matchMedia(PHONE).matches) return 'phone';
  return matchMedia(NARROW).matches ? 'narrow' : 'wide';
}

export function useWidth(): Width {
  return useSyncExternalStore(subscribe, width);
}
