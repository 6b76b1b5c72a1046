// Follows an agent's stream: starts near its end, long-polls for more, and continues with the next
// attempt. New items are published once per animation frame, however many arrive.
import { ApiError } from '../../api/client';
import type { AgentStream, OutputPlace } from '../../api/types';
import { NOTHING, append, completed, prepend, type Source, type Stream } from './steps';

export interface Reading {
  readonly stream: Stream;
  readonly phase: 'loading' | 'ready' | 'failed';
  readonly error: unknown;
  /** True if the stream has items before the loaded ones. */
  readonly earlier: boolean;
  /** True while more items can arrive. */
  readonly open: boolean;
}

export interface Wish {
  readonly attempt?: number;
  readonly segment?: number;
  readonly offset?: number;
  readonly tail?: number;
  readonly waitSeconds?: number;
  readonly whole?: boolean;
  readonly bytes?: number;
}

export type Ask = (wish: Wish, signal: AbortSignal) => Promise<AgentStream>;

const TAIL = 400;
const WAIT = 25;
/** Delay between two requests, which bounds the rate for a very talkative agent. */
const PAUSE = 120;
const AWAY = 2000;
/**
 * Interval for a hidden tab, which polls instead of waiting: browsers limit connections per host.
 */
const UNSEEN = 3000;

const unseen = (): boolean => document.visibilityState === 'hidden';

export class Reader {
  #reading: Reading = { stream: NOTHING, phase: 'loading', error: null, earlier: false, open: true };
  #queue: AgentStream[] = [];
  #frame = false;
  #place: (OutputPlace & { readonly attempt: number }) | null = null;
  /** Position of the first loaded item. */
  #first: (OutputPlace & { readonly attempt: number }) | null = null;
  /** Signal of the running `follow`, if any. */
  #following: AbortSignal | null = null;
  #abort = new AbortController();
  readonly #watchers = new Set<() => void>();

  constructor(
    private readonly ask: Ask,
    /** Newest known attempt. */
    private newest: number,
    private readonly soon: (act: () => void) => void = nextFrame,
    private readonly pause: (ms: number) => Promise<void> = sleep,
  ) {}

  reading = (): Reading => this.#reading;

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Reads until the newest attempt is complete. Call it again when another attempt starts. */
  async follow(newest = this.newest): Promise<void> {
    this.newest = Math.max(this.newest, newest);
    const { signal } = this.#abort;
    if (this.#following === signal || signal.aborted) return;
    this.#following = signal;
    if (!this.#reading.open && this.#reading.phase === 'ready') this.#set({ open: true });
    try {
      while (!signal.aborted && (await this.#step(signal))) await this.pause(unseen() ? UNSEEN : PAUSE);
    } catch (error) {
      if (!signal.aborted) this.#set({ phase: 'failed', error, open: false });
    } finally {
      if (this.#following === signal) this.#following = null;
    }
  }

  /** Continues after `stop`: a component may unmount and mount again. */
  start(): void {
    if (!this.#abort.signal.aborted) return;
    this.#abort = new AbortController();
    void this.follow();
  }

  stop(): void {
    this.#abort.abort();
  }

  /** Retries after an error. */
  again = (): void => {
    this.#set({ phase: this.#place === null ? 'loading' : 'ready', error: null, open: true });
    void this.follow();
  };

  /** Fetches the next part; returns false if no more can follow. */
  async #step(signal: AbortSignal): Promise<boolean> {
    let part: AgentStream;
    try {
      part = await this.ask(this.#wish(), signal);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.away) throw error;
      await this.pause(AWAY);
      return true;
    }
    if (signal.aborted) return false;
    if (this.#place === null) this.#begin(part);
    this.#place = { ...part.next, attempt: part.attempt };
    if (part.items.length > 0) this.#later(part);
    if (!part.complete) return true;
    if (part.attempt >= this.newest) {
      this.#set({ open: false });
      return false;
    }
    this.#place = { segment: 0, offset: 0, attempt: part.attempt + 1 };
    return true;
  }

  #wish(): Wish {
    if (this.#place === null) return { tail: TAIL };
    const { attempt, segment, offset } = this.#place;
    return { attempt, segment, offset, waitSeconds: unseen() ? 0 : WAIT };
  }

  #begin(part: AgentStream): void {
    this.#first = { ...part.from, attempt: part.attempt };
    this.newest = Math.max(this.newest, part.attempt);
    this.#set({ phase: 'ready', earlier: hasEarlier(this.#first), open: true });
  }

  /** Loads items before the first loaded one, from this attempt or the previous one. */
  earlier = async (): Promise<void> => {
    const first = this.#first;
    if (first === null || !hasEarlier(first)) return;
    const isStart = first.segment === 0 && first.offset === 0;
    const place = isStart ? { attempt: first.attempt - 1 } : first;
    const part = await this.ask({ ...place, tail: TAIL }, this.#abort.signal);
    const from = part.items.length === 0 && !isStart ? { segment: 0, offset: 0 } : part.from;
    this.#first = { ...from, attempt: part.attempt };
    this.#set({ stream: prepend(this.#reading.stream, part), earlier: hasEarlier(this.#first) });
  };

  /** Loads the complete form of a cut item. */
  whole = async (source: Source): Promise<void> => {
    const { attempt, from, next } = source;
    const bytes = next.segment === from.segment ? Math.max(1, next.offset - from.offset) : 4 * 1024 * 1024;
    const part = await this.ask({ attempt, ...from, whole: true, bytes: Math.min(bytes, 4 * 1024 * 1024) }, this.#abort.signal);
    this.#set({ stream: completed(this.#reading.stream, source, part) });
  };

  #later(part: AgentStream): void {
    this.#queue.push(part);
    if (this.#frame) return;
    this.#frame = true;
    this.soon(() => {
      this.#frame = false;
      const parts = this.#queue;
      this.#queue = [];
      const stream = append(this.#reading.stream, parts);
      const first = stream.parts[0];
      // The oldest parts were dropped, so the stream now starts later.
      if (first !== undefined && this.#reading.stream.parts.length > 0 && first !== this.#reading.stream.parts[0]) {
        this.#first = { ...first.from, attempt: first.attempt };
      }
      this.#set({ stream, earlier: this.#first !== null && hasEarlier(this.#first) });
    });
  }

  #set(change: Partial<Reading>): void {
    this.#reading = { ...this.#reading, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

function hasEarlier(first: OutputPlace & { readonly attempt: number }): boolean {
  return first.attempt > 1 || first.segment > 0 || first.offset > 0;
}

/** A background tab has no animation frames, and its queue must not grow without bound. */
function nextFrame(act: () => void): void {
  if (document.visibilityState === 'visible') requestAnimationFrame(act);
  else setTimeout(act, 200);
}

function sleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
