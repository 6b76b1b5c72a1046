// Window size, for layouts that need more than CSS.
import { useSyncExternalStore } from 'react';

/** Width class of the window. */
export type LayoutWidth = 'phone' | 'narrow' | 'wide';

function useMediaQuery(query: string): boolean {
  return useSyncExternalStore(
    (subscriber) => {
      const list = matchMedia(query);
      list.addEventListener('change', subscriber);
      return () => list.removeEventListener('change', subscriber);
    },
    () => matchMedia(query).matches,
  );
}

/** True if the window has at least this width. */
export const useMinWidth = (pixels: number): boolean => useMediaQuery(`(min-width: ${pixels}px)`);

/** True if only one pane fits. */
export const useIsPhone = (): boolean => !useMinWidth(700);

/** True if a panel fits beside the page. */
export const useFitsSidePanel = (): boolean => useMinWidth(1100);

export function useLayoutWidth(): LayoutWidth {
  const [isPhone, fitsSidePanel] = [useIsPhone(), useFitsSidePanel()];
  if (isPhone) return 'phone';
  return fitsSidePanel ? 'wide' : 'narrow';
}
