// Converts a stream to steps: joins each call with its result, and pieces of one text with each
// other.
import type { AgentStream, OutputPlace, StreamItem } from '../../api/types';

/** Origin of a step in the stream, to load its complete form. */
export interface StepSource {
  readonly attempt: number;
  readonly from: OutputPlace;
  readonly next: OutputPlace;
  readonly index: number;
}

export interface CallResult {
  readonly at: string;
  readonly text: string;
  readonly ok: boolean;
  readonly durationMs: number | null;
  readonly commit: string | null;
  readonly cut: number;
  readonly source: StepSource;
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
  readonly source: StepSource;
  /** Result of a call; null while it runs. */
  readonly result: CallResult | null;
}

/** All items read so far. Immutable: every update returns a new value. */
export interface StepStream {
  readonly parts: readonly AgentStream[];
  readonly steps: readonly Step[];
}

export const EMPTY_STREAM: StepStream = { parts: [], steps: [] };

/** Longest joined text; a longer one continues in another step. */
const MAX_JOINED_LENGTH = 1_000_000;
/** Number of items kept; dropped ones can be read again. */
const MAX_KEPT_ITEMS = 20_000;

function buildStep(item: StreamItem, source: StepSource): Step {
  const { at, kind, id, tool, text, input, ok, commit, part, err, cut } = item;
  const { attempt, from, index } = source;
  return { key: `${attempt}.${from.segment}.${from.offset}.${index}`, kind, at, id, tool, text, input, ok, commit, part, err, cut, source, result: null };
}

function buildResult(item: StreamItem, source: StepSource): CallResult {
  const { at, text, durationMs, commit, cut } = item;
  return { at, text, ok: item.ok !== false, durationMs, commit, cut, source };
}

function isEmpty(input: unknown): boolean {
  return input === null || input === undefined || (typeof input === 'object' && Object.keys(input).length === 0);
}

/** Adds items to a list of steps in place. */
class StepBuilder {
  readonly steps: Step[];
  /** Index of each call by attempt and id. */
  readonly #calls = new Map<string, number>();

  constructor(before: readonly Step[]) {
    this.steps = [...before];
    before.forEach((step, at) => {
      if (step.kind === 'call' && step.id !== null) this.#calls.set(`${step.source.attempt} ${step.id}`, at);
    });
  }

  addPart(part: AgentStream): void {
    const last = this.steps.at(-1);
    const before = last?.source.attempt ?? part.attempt;
    if (before < part.attempt) this.#addAttemptLine(part);
    part.items.forEach((item, index) => this.#addItem(item, { attempt: part.attempt, from: part.from, next: part.next, index }));
  }

  /** Adds a separator between two attempts. */
  #addAttemptLine(part: AgentStream): void {
    const at = part.items[0]?.at;
    if (at === undefined) return;
    const item: StreamItem = { at, kind: 'system', id: null, tool: null, text: '', input: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0 };
    const source = { attempt: part.attempt, from: part.from, next: part.next, index: -1 };
    this.steps.push({ ...buildStep(item, source), kind: 'attempt' });
  }

  #addItem(item: StreamItem, source: StepSource): void {
    const known = item.id === null ? undefined : this.#calls.get(`${source.attempt} ${item.id}`);
    const call = known === undefined ? undefined : this.steps[known];
    if (known !== undefined && call !== undefined && item.kind === 'output') {
      this.steps[known] = { ...call, result: buildResult(item, source) };
      return;
    }
    if (known !== undefined && call !== undefined && item.kind === 'call') {
      // A repeated call replaces the earlier values, except by empty ones.
      const input = isEmpty(item.input) ? call.input : item.input;
      this.steps[known] = { ...call, input, tool: item.tool ?? call.tool };
      return;
    }
    const last = this.steps.at(-1);
    if (last !== undefined && continuesStep(item, last, source.attempt)) {
      this.steps[this.steps.length - 1] = { ...last, text: last.text + item.text, cut: last.cut + item.cut, commit: last.commit ?? item.commit };
      return;
    }
    if (item.kind === 'call' && item.id !== null) this.#calls.set(`${source.attempt} ${item.id}`, this.steps.length);
    this.steps.push(buildStep(item, source));
  }
}

function continuesStep(item: StreamItem, last: Step, attempt: number): boolean {
  return (
    item.part && last.part && item.kind === last.kind && item.id === last.id && item.err === last.err &&
    last.source.attempt === attempt && last.text.length + item.text.length <= MAX_JOINED_LENGTH
  );
}

function buildStream(parts: readonly AgentStream[]): StepStream {
  const builder = new StepBuilder([]);
  for (const part of parts) builder.addPart(part);
  return { parts, steps: builder.steps };
}

/** Adds newer parts at the end. */
export function appendParts(stream: StepStream, more: readonly AgentStream[]): StepStream {
  const parts = [...stream.parts, ...more.filter((part) => part.items.length > 0)];
  let itemCount = parts.reduce((sum, part) => sum + part.items.length, 0);
  if (itemCount > MAX_KEPT_ITEMS) {
    while (itemCount > MAX_KEPT_ITEMS * 0.75 && parts.length > 1) itemCount -= parts.shift()?.items.length ?? 0;
    return buildStream(parts);
  }
  const builder = new StepBuilder(stream.steps);
  for (const part of more) builder.addPart(part);
  return { parts, steps: builder.steps };
}

/** Adds an older part at the start. Results that arrived before their call are joined with it. */
export function prependPart(stream: StepStream, part: AgentStream): StepStream {
  return part.items.length === 0 ? stream : buildStream([part, ...stream.parts]);
}

/** Replaces a cut item with its complete form. */
export function replaceCutItem(stream: StepStream, source: StepSource, whole: AgentStream): StepStream {
  const item = whole.items[source.index];
  if (item === undefined) return stream;
  const isSource = (part: AgentStream) =>
    part.attempt === source.attempt && part.from.segment === source.from.segment && part.from.offset === source.from.offset;
  return buildStream(stream.parts.map((part) => (isSource(part) ? { ...part, items: part.items.map((one, at) => (at === source.index ? item : one)) } : part)));
}
