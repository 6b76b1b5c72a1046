// Shared clock in server time: all elapsed times tick together.
import { useSyncExternalStore } from 'react';

let offsetMs = 0;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const subscribers = new Set<() => void>();

/** Synchronizes the clock with the server, so that a wrong local clock shows no wrong durations. */
export function setServerTime(at: string): void {
  const time = Date.parse(at);
  if (!Number.isNaN(time)) offsetMs = time - Date.now();
}

/** Current server time in milliseconds. */
export function getServerTime(): number {
  return Date.now() + offsetMs;
}

function tick(): void {
  now = getServerTime();
  for (const subscriber of subscribers) subscriber();
}

function subscribe(subscriber: () => void): () => void {
  if (subscribers.size === 0) {
    now = getServerTime();
    timer = setInterval(tick, 1000);
  }
  subscribers.add(subscriber);
  return () => {
    subscribers.delete(subscriber);
    if (subscribers.size === 0) clearInterval(timer);
  };
}

/** Server time that updates every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => (subscribers.size === 0 ? (now = Math.max(now, getServerTime() - 999)) : now));
}
