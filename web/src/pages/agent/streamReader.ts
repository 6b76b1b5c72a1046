// Follows an agent's stream: starts near its end, long-polls for more, and continues with the next
// attempt. New items are published once per animation frame, however many arrive.
import { ApiError } from '../../api/client';
import type { AgentStream, OutputPlace } from '../../api/types';
import { EMPTY_STREAM, appendParts, replaceCutItem, prependPart, type StepSource, type StepStream } from './steps';

export interface StreamState {
  readonly stream: StepStream;
  readonly phase: 'loading' | 'ready' | 'failed';
  readonly error: unknown;
  /** True if the stream has items before the loaded ones. */
  readonly hasEarlier: boolean;
  /** True while more items can arrive. */
  readonly isOpen: boolean;
}

export interface StreamQuery {
  readonly attempt?: number;
  readonly segment?: number;
  readonly offset?: number;
  readonly tail?: number;
  readonly waitSeconds?: number;
  readonly whole?: boolean;
  readonly bytes?: number;
}

export type FetchStream = (query: StreamQuery, signal: AbortSignal) => Promise<AgentStream>;

const TAIL_ITEMS = 400;
const LONG_POLL_SECONDS = 25;
/** Delay between two requests, which bounds the rate for a very talkative agent. */
const REQUEST_INTERVAL_MS = 120;
const UNREACHABLE_RETRY_MS = 2000;
/**
 * Interval for a hidden tab, which polls instead of waiting: browsers limit connections per host.
 */
const HIDDEN_POLL_INTERVAL_MS = 3000;

const isTabHidden = (): boolean => document.visibilityState === 'hidden';

export class StreamReader {
  #state: StreamState = { stream: EMPTY_STREAM, phase: 'loading', error: null, hasEarlier: false, isOpen: true };
  #queue: AgentStream[] = [];
  #isFlushScheduled = false;
  #nextPlace: (OutputPlace & { readonly attempt: number }) | null = null;
  /** Position of the first loaded item. */
  #firstPlace: (OutputPlace & { readonly attempt: number }) | null = null;
  /** Signal of the running `follow`, if any. */
  #activeSignal: AbortSignal | null = null;
  #controller = new AbortController();
  readonly #subscribers = new Set<() => void>();

  constructor(
    private readonly fetchStream: FetchStream,
    /** Newest known attempt. */
    private newestAttempt: number,
    private readonly schedule: (callback: () => void) => void = scheduleFrame,
    private readonly sleep: (ms: number) => Promise<void> = wait,
  ) {}

  getState = (): StreamState => this.#state;

  subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  };

  /** Reads until the newest attempt is complete. Call it again when another attempt starts. */
  async follow(newest = this.newestAttempt): Promise<void> {
    this.newestAttempt = Math.max(this.newestAttempt, newest);
    const { signal } = this.#controller;
    if (this.#activeSignal === signal || signal.aborted) return;
    this.#activeSignal = signal;
    if (!this.#state.isOpen && this.#state.phase === 'ready') this.#setState({ isOpen: true });
    try {
      while (!signal.aborted && (await this.#fetchNext(signal))) await this.sleep(isTabHidden() ? HIDDEN_POLL_INTERVAL_MS : REQUEST_INTERVAL_MS);
    } catch (error) {
      if (!signal.aborted) this.#setState({ phase: 'failed', error, isOpen: false });
    } finally {
      if (this.#activeSignal === signal) this.#activeSignal = null;
    }
  }

  /** Continues after `stop`: a component may unmount and mount again. */
  resume(): void {
    if (!this.#controller.signal.aborted) return;
    this.#controller = new AbortController();
    void this.follow();
  }

  stop(): void {
    this.#controller.abort();
  }

  /** Retries after an error. */
  retry = (): void => {
    this.#setState({ phase: this.#nextPlace === null ? 'loading' : 'ready', error: null, isOpen: true });
    void this.follow();
  };

  /** Fetches the next part; returns false if no more can follow. */
  async #fetchNext(signal: AbortSignal): Promise<boolean> {
    let part: AgentStream;
    try {
      part = await this.fetchStream(this.#buildQuery(), signal);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isUnreachable) throw error;
      await this.sleep(UNREACHABLE_RETRY_MS);
      return true;
    }
    if (signal.aborted) return false;
    if (this.#nextPlace === null) this.#markReady(part);
    this.#nextPlace = { ...part.next, attempt: part.attempt };
    if (part.items.length > 0) this.#enqueue(part);
    if (!part.complete) return true;
    if (part.attempt >= this.newestAttempt) {
      this.#setState({ isOpen: false });
      return false;
    }
    this.#nextPlace = { segment: 0, offset: 0, attempt: part.attempt + 1 };
    return true;
  }

  #buildQuery(): StreamQuery {
    if (this.#nextPlace === null) return { tail: TAIL_ITEMS };
    const { attempt, segment, offset } = this.#nextPlace;
    return { attempt, segment, offset, waitSeconds: isTabHidden() ? 0 : LONG_POLL_SECONDS };
  }

  #markReady(part: AgentStream): void {
    this.#firstPlace = { ...part.from, attempt: part.attempt };
    this.newestAttempt = Math.max(this.newestAttempt, part.attempt);
    this.#setState({ phase: 'ready', hasEarlier: hasPartsBefore(this.#firstPlace), isOpen: true });
  }

  /** Loads items before the first loaded one, from this attempt or the previous one. */
  loadEarlier = async (): Promise<void> => {
    const first = this.#firstPlace;
    if (first === null || !hasPartsBefore(first)) return;
    const isStart = first.segment === 0 && first.offset === 0;
    const place = isStart ? { attempt: first.attempt - 1 } : first;
    const part = await this.fetchStream({ ...place, tail: TAIL_ITEMS }, this.#controller.signal);
    const from = part.items.length === 0 && !isStart ? { segment: 0, offset: 0 } : part.from;
    this.#firstPlace = { ...from, attempt: part.attempt };
    this.#setState({ stream: prependPart(this.#state.stream, part), hasEarlier: hasPartsBefore(this.#firstPlace) });
  };

  /** Loads the complete form of a cut item. */
  loadWhole = async (source: StepSource): Promise<void> => {
    const { attempt, from, next } = source;
    const bytes = next.segment === from.segment ? Math.max(1, next.offset - from.offset) : 4 * 1024 * 1024;
    const part = await this.fetchStream({ attempt, ...from, whole: true, bytes: Math.min(bytes, 4 * 1024 * 1024) }, this.#controller.signal);
    this.#setState({ stream: replaceCutItem(this.#state.stream, source, part) });
  };

  #enqueue(part: AgentStream): void {
    this.#queue.push(part);
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    this.schedule(() => {
      this.#isFlushScheduled = false;
      const parts = this.#queue;
      this.#queue = [];
      const stream = appendParts(this.#state.stream, parts);
      const first = stream.parts[0];
      // The oldest parts were dropped, so the stream now starts later.
      if (first !== undefined && this.#state.stream.parts.length > 0 && first !== this.#state.stream.parts[0]) {
        this.#firstPlace = { ...first.from, attempt: first.attempt };
      }
      this.#setState({ stream, hasEarlier: this.#firstPlace !== null && hasPartsBefore(this.#firstPlace) });
    });
  }

  #setState(change: Partial<StreamState>): void {
    this.#state = { ...this.#state, ...change };
    for (const subscriber of this.#subscribers) subscriber();
  }
}

function hasPartsBefore(place: OutputPlace & { readonly attempt: number }): boolean {
  return place.attempt > 1 || place.segment > 0 || place.offset > 0;
}

/** A background tab has no animation frames, and its queue must not grow without bound. */
function scheduleFrame(callback: () => void): void {
  if (document.visibilityState === 'visible') requestAnimationFrame(callback);
  else setTimeout(callback, 200);
}

function wait(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
