// How much room there is, where the layout is more than style.
import { useSyncExternalStore } from 'react';

/** The window, as the layout counts it. */
export type Room = 'phone' | 'narrow' | 'wide';

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

/** Whether the window is as wide as this. */
export const useWide = (pixels: number): boolean => useMedia(`(min-width: ${pixels}px)`);

/** Whether there is room for one pane alone. */
export const usePhone = (): boolean => !useWide(700);

/** Whether a panel fits beside the page. */
export const useRoomy = (): boolean => useWide(1100);

export function useRoom(): Room {
  const [phone, roomy] = [usePhone(), useRoomy()];
  if (phone) return 'phone';
  return roomy ? 'wide' : 'narrow';
}
