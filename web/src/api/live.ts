// Single reader of the event stream. Follows the log by event number, resumes after a lost
// connection, and delivers events to listeners in batches, one per animation frame.
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { ApiError, sendRequest, withQuery } from './client';
import { SseParser } from './sse';
import type { EventData, EventView } from './types';

/**
 * An event with the payload of its kind. The page ignores payloads of kinds that it does not know.
 */
export type LiveEvent = Omit<EventView, 'kind' | 'data'> & EventData;

export interface LiveState {
  readonly phase: 'connecting' | 'live' | 'disconnected';
  /** Number of the newest event received; lists are current up to it. */
  readonly lastEvent: number;
  /** Time of the next connection attempt, by the browser's clock. */
  readonly retryAt: number | null;
  /** Number of events received at once after a lost connection; cleared after a few seconds. */
  readonly caughtUpCount: number | null;
}

type EventBatch = readonly LiveEvent[];

const FIRST_RETRY_DELAY_MS = 500;
const MAX_RETRY_DELAY_MS = 10_000;
/** Limit for silence. The server sends something at least every 15 s. */
const SILENCE_TIMEOUT_MS = 40_000;
const CAUGHT_UP_NOTICE_MS = 5_000;
/** A position behind every event: only future events follow. */
const FUTURE_EVENTS_ONLY = Number.MAX_SAFE_INTEGER;

class LiveEvents {
  #state: LiveState = { phase: 'connecting', lastEvent: -1, retryAt: null, caughtUpCount: null };
  #controller: AbortController | null = null;
  #retryDelay = FIRST_RETRY_DELAY_MS;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;
  #queue: LiveEvent[] = [];
  #isFlushScheduled = false;
  /** Range of events missed during a lost connection, until all of it has arrived. */
  #missedRange: { from: number; to: number } | null = null;
  readonly #listeners = new Set<(batch: EventBatch) => void>();
  readonly #subscribers = new Set<() => void>();
  readonly #resetListeners = new Set<() => void>();

  getState = (): LiveState => this.#state;

  subscribe = (watcher: () => void): (() => void) => {
    this.#subscribers.add(watcher);
    return () => this.#subscribers.delete(watcher);
  };

  listen(listener: (batch: EventBatch) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Registers a listener for a discontinuity in the log, after which all data must be reloaded. */
  onReset(listener: () => void): () => void {
    this.#resetListeners.add(listener);
    return () => this.#resetListeners.delete(listener);
  }

  /** Starts to follow the log behind the given event number, up to which the data is current. */
  start(after: number): void {
    if (this.#controller !== null) return;
    if (this.#state.lastEvent < 0) this.#setState({ lastEvent: after });
    void this.#followLog();
  }

  stop(): void {
    this.#controller?.abort();
    this.#controller = null;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
  }

  /** Reconnects at once. */
  retry = (): void => {
    this.stop();
    this.#retryDelay = FIRST_RETRY_DELAY_MS;
    void this.#followLog();
  };

  #setState(change: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...change };
    for (const watcher of this.#subscribers) watcher();
  }

  async #followLog(): Promise<void> {
    const abort = new AbortController();
    this.#controller = abort;
    try {
      const path = withQuery('/api/events', { stream: 'sse', after: this.#state.lastEvent === FUTURE_EVENTS_ONLY ? 'now' : this.#state.lastEvent });
      const response = await sendRequest(path, { signal: abort.signal, headers: { Accept: 'text/event-stream' } });
      if (response.status === 410) {
        this.#restartFromNow();
        throw new ApiError('EVENTS_REMOVED', 'Events that this page has not received were removed.', 410);
      }
      if (!response.ok || response.body === null) {
        throw new ApiError('STREAM_NOT_OPENED', 'The event stream did not open.', response.status);
      }
      this.#retryDelay = FIRST_RETRY_DELAY_MS;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const frames = new SseParser();
      this.#restartSilenceTimer(abort);
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        this.#restartSilenceTimer(abort);
        for (const frame of frames.push(value)) this.#handleFrame(frame.event, frame.data);
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return this.stop();
    }
    if (this.#controller === abort) this.#scheduleReconnect();
  }

  #restartSilenceTimer(abort: AbortController): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => abort.abort(), SILENCE_TIMEOUT_MS);
  }

  #scheduleReconnect(): void {
    clearTimeout(this.#silenceTimer);
    this.#controller = null;
    const delay = this.#retryDelay * (0.75 + Math.random() / 2);
    this.#retryDelay = Math.min(this.#retryDelay * 2, MAX_RETRY_DELAY_MS);
    this.#retryTimer = setTimeout(() => void this.#followLog(), delay);
    this.#setState({ phase: 'disconnected', retryAt: Date.now() + delay, caughtUpCount: null });
  }

  #handleFrame(kind: string, data: string): void {
    const value: unknown = JSON.parse(data);
    if (kind === 'head') return this.#handleHead(value);
    if (kind === 'failed' && isEventsRemovedError(value)) return this.#restartFromNow();
    if (kind !== 'message' || !isEvent(value)) return;
    this.#queue.push(value);
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      // A background tab has no animation frames, and its queue must not grow without bound.
      const schedule = document.visibilityState === 'visible' ? requestAnimationFrame : setTimeout;
      schedule(() => this.#flushQueue());
    }
  }

  #handleHead(value: unknown): void {
    const last: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'last') : null;
    const head = typeof last === 'number' ? last : 0;
    const before = this.#state.lastEvent;
    if (before > head) {
      // The log was replaced or truncated, so nothing on the page is current.
      this.#setState({ phase: 'live', lastEvent: head, retryAt: null, caughtUpCount: null });
      for (const reset of this.#resetListeners) reset();
      return;
    }
    const wasDisconnected = this.#state.phase === 'disconnected';
    this.#missedRange = wasDisconnected && head > before ? { from: before, to: head } : null;
    this.#setState({ phase: 'live', retryAt: null, caughtUpCount: null });
    if (wasDisconnected && this.#missedRange === null) this.#showCaughtUp(0);
  }

  /**
   * Restarts with future events only. The next head is before this position, which triggers a
   * reset.
   */
  #restartFromNow(): void {
    this.#setState({ lastEvent: FUTURE_EVENTS_ONLY });
  }

  #flushQueue(): void {
    this.#isFlushScheduled = false;
    const batch = this.#queue;
    this.#queue = [];
    const lastEvent = batch.at(-1)?.number;
    if (lastEvent === undefined) return;
    this.#setState({ lastEvent });
    for (const listener of this.#listeners) listener(batch);
    if (this.#missedRange !== null && lastEvent >= this.#missedRange.to) {
      this.#showCaughtUp(this.#missedRange.to - this.#missedRange.from);
      this.#missedRange = null;
    }
  }

  #showCaughtUp(caughtUpCount: number): void {
    this.#setState({ caughtUpCount });
    setTimeout(() => this.#setState({ caughtUpCount: null }), CAUGHT_UP_NOTICE_MS);
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
function isEventsRemovedError(value: unknown): boolean {
  const details: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'details') : null;
  return typeof details === 'object' && details !== null && typeof Reflect.get(details, 'oldest') === 'number';
}

export const liveEvents = new LiveEvents();

/** Returns the state of the event stream. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(liveEvents.subscribe, liveEvents.getState);
}

/** Calls `act` with each batch of events that match. */
export function useLiveEvents(match: (event: LiveEvent) => boolean, act: (batch: EventBatch) => void): void {
  const current = useRef({ match, act });
  current.current = { match, act };
  useEffect(
    () =>
      liveEvents.listen((batch) => {
        const matches = batch.filter((event) => current.current.match(event));
        if (matches.length > 0) current.current.act(matches);
      }),
    [],
  );
}

/** Invalidates queries when a matching event arrives, at most once per interval. */
export function useRefreshOnEvents(match: (event: LiveEvent) => boolean, keys: readonly QueryKey[], minIntervalMs = 400): void {
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
  useLiveEvents(match, () => {
    if (timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      for (const queryKey of latest.current) void client.invalidateQueries({ queryKey });
    }, minIntervalMs);
  });
}

/** Returns the number of the task in an event's payload, if it has one. */
export function getTaskNumber(event: LiveEvent): number | null {
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
export function matchKinds(...prefixes: readonly string[]): (event: LiveEvent) => boolean {
  return (event) => prefixes.some((prefix) => event.kind.startsWith(prefix));
}
