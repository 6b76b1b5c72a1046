// State of the overlay, one at a time: palette, tool form, key list, or the dialog that starts an
// agent.
import { useSyncExternalStore } from 'react';

/** Initial values of the dialog that starts an agent. */
export interface StartDefaults {
  readonly role?: string;
  readonly prompt?: string;
  readonly task?: string;
  readonly resume?: string;
}

export type Overlay =
  | { readonly kind: 'palette'; readonly query: string }
  | { readonly kind: 'tool'; readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'start'; readonly defaults: StartDefaults }
  | { readonly kind: 'keys' };

let currentOverlay: Overlay | null = null;
const subscribers = new Set<() => void>();

function setOverlay(overlay: Overlay | null): void {
  currentOverlay = overlay;
  for (const subscriber of subscribers) subscriber();
}

export const openPalette = (query = ''): void => setOverlay({ kind: 'palette', query });
export const openTool = (name: string, input: Readonly<Record<string, unknown>> = {}): void => setOverlay({ kind: 'tool', name, input });
export const openStartAgent = (defaults: StartDefaults = {}): void => setOverlay({ kind: 'start', defaults });
export const openKeysHelp = (): void => setOverlay({ kind: 'keys' });
export const closeOverlay = (): void => setOverlay(null);

export function useOverlay(): Overlay | null {
  return useSyncExternalStore(
    (subscriber) => {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    () => currentOverlay,
  );
}
