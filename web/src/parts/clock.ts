// One clock for all elapsed times: everything that ticks, ticks together, by the server's time.
import { useSyncExternalStore } from 'react';

let offset = 0;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/** Tells what time it is on the server, so that a wrong clock here shows no wrong ages. */
export function setServerTime(at: string): void {
  const time = Date.parse(at);
  if (!Number.isNaN(time)) offset = time - Date.now();
}

/** The server's time now, in milliseconds. */
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

/** The server's time, which moves once a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => (watchers.size === 0 ? (now = Math.max(now, serverNow() - 999)) : now));
}
