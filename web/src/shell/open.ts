// State of the overlay, one at a time: palette, tool form, key list, or the dialog that starts an
// agent.
import { useSyncExternalStore } from 'react';

/** Initial values of the dialog that starts an agent. */
export interface StartWith {
  readonly role?: string;
  readonly prompt?: string;
  readonly task?: string;
  readonly resume?: string;
}

export type Overlay =
  | { readonly kind: 'palette'; readonly query: string }
  | { readonly kind: 'tool'; readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'start'; readonly start: StartWith }
  | { readonly kind: 'keys' };

let current: Overlay | null = null;
const watchers = new Set<() => void>();

function set(overlay: Overlay | null): void {
  current = overlay;
  for (const watcher of watchers) watcher();
}

export const openPalette = (query = ''): void => set({ kind: 'palette', query });
export const openTool = (name: string, input: Readonly<Record<string, unknown>> = {}): void => set({ kind: 'tool', name, input });
export const openStart = (start: StartWith = {}): void => set({ kind: 'start', start });
export const openKeys = (): void => set({ kind: 'keys' });
export const closeOverlay = (): void => set(null);

export function useOverlay(): Overlay | null {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => current,
  );
}
