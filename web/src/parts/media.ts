// Window size, for layouts that need more than CSS.
import { useSyncExternalStore } from 'react';

/** Width class of the window. */
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

/** True if the window has at least this width. */
export const useWide = (pixels: number): boolean => useMedia(`(min-width: ${pixels}px)`);

/** True if only one pane fits. */
export const usePhone = (): boolean => !useWide(700);

/** True if a panel fits beside the page. */
export const useRoomy = (): boolean => useWide(1100);

export function useRoom(): Room {
  const [phone, roomy] = [usePhone(), useRoomy()];
  if (phone) return 'phone';
  return roomy ? 'wide' : 'narrow';
}
