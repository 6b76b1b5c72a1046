// Single reader of the event stream. Follows the log by event number, resumes after a lost
// connection, and delivers events to listeners in batches, one per animation frame.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { ApiError, request, withQuery } from './client';
import { FrameReader } from './sse';
import type { EventData, EventView } from './types';

/**
 * An event with the payload of its kind. The page ignores payloads of kinds that it does not know.
 */
export type LiveEvent = Omit<EventView, 'kind' | 'data'> & EventData;

export interface LiveState {
  readonly phase: 'connecting' | 'live' | 'away';
  /** Number of the newest event received; lists are current up to it. */
  readonly last: number;
  /** Time of the next connection attempt, by the browser's clock. */
  readonly retryAt: number | null;
  /** Number of events received at once after a lost connection; cleared after a few seconds. */
  readonly caughtUp: number | null;
}

type Batch = readonly LiveEvent[];

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** Limit for silence. The server sends something at least every 15 s. */
const SILENCE = 40_000;
const CAUGHT_UP_SHOWN = 5_000;
/** A position behind every event: only future events follow. */
const NOW = Number.MAX_SAFE_INTEGER;

class Live {
  #state: LiveState = { phase: 'connecting', last: -1, retryAt: null, caughtUp: null };
  #abort: AbortController | null = null;
  #pause = FIRST_PAUSE;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #queue: LiveEvent[] = [];
  #frame = false;
  /** Range of events missed during a lost connection, until all of it has arrived. */
  #behind: { from: number; to: number } | null = null;
  readonly #listeners = new Set<(batch: Batch) => void>();
  readonly #watchers = new Set<() => void>();
  readonly #resets = new Set<() => void>();

  state = (): LiveState => this.#state;

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  listen(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Registers a listener for a discontinuity in the log, after which all data must be reloaded. */
  onReset(listener: () => void): () => void {
    this.#resets.add(listener);
    return () => this.#resets.delete(listener);
  }

  /** Starts to follow the log behind the given event number, up to which the data is current. */
  start(after: number): void {
    if (this.#abort !== null) return;
    if (this.#state.last < 0) this.#set({ last: after });
    void this.#follow();
  }

  stop(): void {
    this.#abort?.abort();
    this.#abort = null;
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
  }

  /** Reconnects at once. */
  retry = (): void => {
    this.stop();
    this.#pause = FIRST_PAUSE;
    void this.#follow();
  };

  #set(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    for (const watcher of this.#watchers) watcher();
  }

  async #follow(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const path = withQuery('/api/events', { stream: 'sse', after: this.#state.last === NOW ? 'now' : this.#state.last });
      const response = await request(path, { signal: abort.signal, headers: { Accept: 'text/event-stream' } });
      if (response.status === 410) {
        this.#begin();
        throw new ApiError('GONE', 'Events that this page has not received were removed.', 410);
      }
      if (!response.ok || response.body === null) {
        throw new ApiError('AWAY', 'The event stream did not open.', response.status);
      }
      this.#pause = FIRST_PAUSE;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const frames = new FrameReader();
      this.#hear(abort);
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        this.#hear(abort);
        for (const frame of frames.push(value)) this.#take(frame.event, frame.data);
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return this.stop();
    }
    if (this.#abort === abort) this.#away();
  }

  #hear(abort: AbortController): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => abort.abort(), SILENCE);
  }

  #away(): void {
    clearTimeout(this.#silence);
    this.#abort = null;
    const pause = this.#pause * (0.75 + Math.random() / 2);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
    this.#timer = setTimeout(() => void this.#follow(), pause);
    this.#set({ phase: 'away', retryAt: Date.now() + pause, caughtUp: null });
  }

  #take(kind: string, data: string): void {
    const value: unknown = JSON.parse(data);
    if (kind === 'head') return this.#head(value);
    if (kind === 'failed' && isRemoved(value)) return this.#begin();
    if (kind !== 'message' || !isEvent(value)) return;
    this.#queue.push(value);
    if (!this.#frame) {
      this.#frame = true;
      // A background tab has no animation frames, and its queue must not grow without bound.
      const soon = document.visibilityState === 'visible' ? requestAnimationFrame : setTimeout;
      soon(() => this.#flush());
    }
  }

  #head(value: unknown): void {
    const last: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'last') : null;
    const head = typeof last === 'number' ? last : 0;
    const before = this.#state.last;
    if (before > head) {
      // The log was replaced or truncated, so nothing on the page is current.
      this.#set({ phase: 'live', last: head, retryAt: null, caughtUp: null });
      for (const reset of this.#resets) reset();
      return;
    }
    const wasAway = this.#state.phase === 'away';
    this.#behind = wasAway && head > before ? { from: before, to: head } : null;
    this.#set({ phase: 'live', retryAt: null, caughtUp: null });
    if (wasAway && this.#behind === null) this.#showCaughtUp(0);
  }

  /**
   * Restarts with future events only. The next head is before this position, which triggers a
   * reset.
   */
  #begin(): void {
    this.#set({ last: NOW });
  }

  #flush(): void {
    this.#frame = false;
    const batch = this.#queue;
    this.#queue = [];
    const last = batch.at(-1)?.number;
    if (last === undefined) return;
    this.#set({ last });
    for (const listener of this.#listeners) listener(batch);
    if (this.#behind !== null && last >= this.#behind.to) {
      this.#showCaughtUp(this.#behind.to - this.#behind.from);
      this.#behind = null;
    }
  }

  #showCaughtUp(caughtUp: number): void {
    this.#set({ caughtUp });
    setTimeout(() => this.#set({ caughtUp: null }), CAUGHT_UP_SHOWN);
  }
}

function isEvent(value: unknown): value is LiveEvent {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'number') === 'number' &&
    typeof Reflect.get(value, 'kind') === 'string'
  );
}

/** True if a stream ended because its events were removed. */
function isRemoved(value: unknown): boolean {
  const details: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'details') : null;
  return typeof details === 'object' && details !== null && typeof Reflect.get(details, 'oldest') === 'number';
}

export const live = new Live();

/** Returns the state of the event stream. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(live.watch, live.state);
}

/** Calls `act` with each batch of events that match. */
export function useLive(match: (event: LiveEvent) => boolean, act: (batch: Batch) => void): void {
  const current = useRef({ match, act });
  current.current = { match, act };
  useEffect(
    () =>
      live.listen((batch) => {
        const mine = batch.filter((event) => current.current.match(event));
        if (mine.length > 0) current.current.act(mine);
      }),
    [],
  );
}

/** Invalidates queries when a matching event arrives, at most once per interval. */
export function useRefresh(match: (event: LiveEvent) => boolean, keys: readonly QueryKey[], every = 400): void {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  useLive(match, () => {
    if (timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      for (const queryKey of latest.current) void client.invalidateQueries({ queryKey });
    }, every);
  });
}

/** Returns the number of the task in an event's payload, if it has one. */
export function taskNumberOf(event: LiveEvent): number | null {
  switch (event.kind) {
    case 'task.created':
    case 'task.assigned':
    case 'task.updated':
    case 'task.commented':
      return event.data.number;
    default:
      return null;
  }
}

/** Returns a filter for events whose kind starts with one of the prefixes. */
export function kinds(...beginnings: readonly string[]): (event: LiveEvent) => boolean {
  return (event) => beginnings.some((beginning) => event.kind.startsWith(beginning));
}
