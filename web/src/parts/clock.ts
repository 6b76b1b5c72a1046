// Shared clock in server time: all elapsed times tick together.
import { useSyncExternalStore } from 'react';

let offset = 0;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/** Synchronizes the clock with the server, so that a wrong local clock shows no wrong durations. */
export function setServerTime(at: string): void {
  const time = Date.parse(at);
  if (!Number.isNaN(time)) offset = time - Date.now();
}

/** Current server time in milliseconds. */
export function serverNow(): number {
  return Date.now() + offset;
}

function tick(): void {
  now = serverNow();
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  if (watchers.size === 0) {
    now = serverNow();
    timer = setInterval(tick, 1000);
  }
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) clearInterval(timer);
  };
}

/** Server time that updates every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => (watchers.size === 0 ? (now = Math.max(now, serverNow() - 999)) : now));
}
