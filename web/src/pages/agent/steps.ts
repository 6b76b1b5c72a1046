// Converts a stream to steps: joins each call with its result, and pieces of one text with each
// other.
import type { AgentStream, OutputPlace, StreamItem } from '../../api/types';

/** Origin of a step in the stream, to load its complete form. */
export interface Source {
  readonly attempt: number;
  readonly from: OutputPlace;
  readonly next: OutputPlace;
  readonly index: number;
}

export interface Came {
  readonly at: string;
  readonly text: string;
  readonly ok: boolean;
  readonly durationMs: number | null;
  readonly commit: string | null;
  readonly cut: number;
  readonly source: Source;
}

export interface Step {
  readonly key: string;
  readonly kind: StreamItem['kind'] | 'attempt';
  readonly at: string;
  readonly id: string | null;
  readonly tool: string | null;
  readonly text: string;
  readonly input: unknown;
  readonly ok: boolean | null;
  readonly commit: string | null;
  readonly part: boolean;
  readonly err: boolean;
  readonly cut: number;
  readonly source: Source;
  /** Result of a call; null while it runs. */
  readonly came: Came | null;
}

/** All items read so far. Immutable: every update returns a new value. */
export interface Stream {
  readonly parts: readonly AgentStream[];
  readonly steps: readonly Step[];
}

export const NOTHING: Stream = { parts: [], steps: [] };

/** Longest joined text; a longer one continues in another step. */
const LONGEST = 1_000_000;
/** Number of items kept; dropped ones can be read again. */
const MOST = 20_000;

function stepOf(item: StreamItem, source: Source): Step {
  const { at, kind, id, tool, text, input, ok, commit, part, err, cut } = item;
  const { attempt, from, index } = source;
  return { key: `${attempt}.${from.segment}.${from.offset}.${index}`, kind, at, id, tool, text, input, ok, commit, part, err, cut, source, came: null };
}

function cameOf(item: StreamItem, source: Source): Came {
  const { at, text, durationMs, commit, cut } = item;
  return { at, text, ok: item.ok !== false, durationMs, commit, cut, source };
}

function isEmpty(input: unknown): boolean {
  return input === null || input === undefined || (typeof input === 'object' && Object.keys(input).length === 0);
}

/** Adds items to a list of steps in place. */
class Builder {
  readonly steps: Step[];
  /** Index of each call by attempt and id. */
  readonly #calls = new Map<string, number>();

  constructor(before: readonly Step[]) {
    this.steps = [...before];
    before.forEach((step, at) => {
      if (step.kind === 'call' && step.id !== null) this.#calls.set(`${step.source.attempt} ${step.id}`, at);
    });
  }

  part(part: AgentStream): void {
    const last = this.steps.at(-1);
    const before = last?.source.attempt ?? part.attempt;
    if (before < part.attempt) this.#divide(part);
    part.items.forEach((item, index) => this.#item(item, { attempt: part.attempt, from: part.from, next: part.next, index }));
  }

  /** Adds a separator between two attempts. */
  #divide(part: AgentStream): void {
    const at = part.items[0]?.at;
    if (at === undefined) return;
    const item: StreamItem = { at, kind: 'system', id: null, tool: null, text: '', input: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0 };
    const source = { attempt: part.attempt, from: part.from, next: part.next, index: -1 };
    this.steps.push({ ...stepOf(item, source), kind: 'attempt' });
  }

  #item(item: StreamItem, source: Source): void {
    const known = item.id === null ? undefined : this.#calls.get(`${source.attempt} ${item.id}`);
    const call = known === undefined ? undefined : this.steps[known];
    if (known !== undefined && call !== undefined && item.kind === 'output') {
      this.steps[known] = { ...call, came: cameOf(item, source) };
      return;
    }
    if (known !== undefined && call !== undefined && item.kind === 'call') {
      // A repeated call replaces the earlier values, except by empty ones.
      const input = isEmpty(item.input) ? call.input : item.input;
      this.steps[known] = { ...call, input, tool: item.tool ?? call.tool };
      return;
    }
    const last = this.steps.at(-1);
    if (last !== undefined && goesOn(item, last, source.attempt)) {
      this.steps[this.steps.length - 1] = { ...last, text: last.text + item.text, cut: last.cut + item.cut, commit: last.commit ?? item.commit };
      return;
    }
    if (item.kind === 'call' && item.id !== null) this.#calls.set(`${source.attempt} ${item.id}`, this.steps.length);
    this.steps.push(stepOf(item, source));
  }
}

function goesOn(item: StreamItem, last: Step, attempt: number): boolean {
  return (
    item.part && last.part && item.kind === last.kind && item.id === last.id && item.err === last.err &&
    last.source.attempt === attempt && last.text.length + item.text.length <= LONGEST
  );
}

function built(parts: readonly AgentStream[]): Stream {
  const builder = new Builder([]);
  for (const part of parts) builder.part(part);
  return { parts, steps: builder.steps };
}

/** Adds newer parts at the end. */
export function append(stream: Stream, more: readonly AgentStream[]): Stream {
  const parts = [...stream.parts, ...more.filter((part) => part.items.length > 0)];
  let many = parts.reduce((sum, part) => sum + part.items.length, 0);
  if (many > MOST) {
    while (many > MOST * 0.75 && parts.length > 1) many -= parts.shift()?.items.length ?? 0;
    return built(parts);
  }
  const builder = new Builder(stream.steps);
  for (const part of more) builder.part(part);
  return { parts, steps: builder.steps };
}

/** Adds an older part at the start. Results that arrived before their call are joined with it. */
export function prepend(stream: Stream, part: AgentStream): Stream {
  return part.items.length === 0 ? stream : built([part, ...stream.parts]);
}

/** Replaces a cut item with its complete form. */
export function completed(stream: Stream, source: Source, whole: AgentStream): Stream {
  const item = whole.items[source.index];
  if (item === undefined) return stream;
  const same = (part: AgentStream) =>
    part.attempt === source.attempt && part.from.segment === source.from.segment && part.from.offset === source.from.offset;
  return built(stream.parts.map((part) => (same(part) ? { ...part, items: part.items.map((one, at) => (at === source.index ? item : one)) } : part)));
}
