// How wide the window is, where the layout is more than style.
import { useSyncExternalStore } from 'react';

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (watcher) => {
      const list = matchMedia(query);
      list.addEventListener('change', watcher);
      return () => list.removeEventListener('change', watcher);
    },
    () => matchMedia(query).matches,
  );
}

/** Whether there is room for one pane alone. */
export const usePhone = (): boolean => useMedia('(max-width: 699px)');

/** Whether a panel fits beside the page. */
export const useRoomy = (): boolean => useMedia('(min-width: 1100px)');
