import { expect, test } from 'vitest';
import { ApiError } from '../../api/client';
import { StreamReader, type StreamQuery } from './streamReader';
import type { AgentStream, StreamItem } from '../../api/types';

function buildItem(text: string): StreamItem {
  return { at: '2026-11-15T12:00:00Z', kind: 'message', id: null, tool: null, text, input: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0 };
}

function buildPart(attempt: number, from: number, texts: readonly string[], complete = false): AgentStream {
  const place = (offset: number) => ({ segment: 0, offset });
  return { items: texts.map(buildItem), from: place(from), next: place(from + texts.length), attempt, complete };
}

/** Returns the given answers in turn, and records the queries. */
function createReader(answers: readonly (AgentStream | Error)[]) {
  const queries: StreamQuery[] = [];
  const frames: (() => void)[] = [];
  const rest = [...answers];
  const fetchStream = async (query: StreamQuery): Promise<AgentStream> => {
    queries.push(query);
    const answer = rest.shift();
    if (answer === undefined) throw new Error('nothing more was expected');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const reader = new StreamReader(fetchStream, 1, (callback) => frames.push(callback), async () => {});
  const texts = () => {
    for (const callback of frames.splice(0)) callback();
    return reader.getState().stream.steps.map((step) => (step.kind === 'attempt' ? '—' : step.text));
  };
  return { reader, queries, texts };
}

test('it starts near the end, long-polls, and ends with the attempt', async () => {
  const { reader, queries, texts } = createReader([buildPart(1, 40, ['a', 'b']), buildPart(1, 42, ['c']), buildPart(1, 43, [], true)]);
  await reader.follow();
  expect(queries).toEqual([
    { tail: 400 },
    { attempt: 1, segment: 0, offset: 42, waitSeconds: 25 },
    { attempt: 1, segment: 0, offset: 43, waitSeconds: 25 },
  ]);
  expect(texts()).toEqual(['a', 'b', 'c']);
  expect([reader.getState().isOpen, reader.getState().hasEarlier]).toEqual([false, true]);
});

test('a further attempt is followed, at once or later', async () => {
  const { reader, texts } = createReader([buildPart(1, 0, ['a']), buildPart(1, 1, [], true), buildPart(2, 0, ['b']), buildPart(2, 1, [], true), buildPart(2, 1, [], true), buildPart(3, 0, ['c']), buildPart(3, 1, [], true)]);
  await reader.follow(2);
  expect(texts()).toEqual(['a', '—', 'b']);
  await reader.follow(3);
  expect(texts()).toEqual(['a', '—', 'b', '—', 'c']);
});

test('an unreachable server is retried, and an error is published', async () => {
  const unreachable = new ApiError('SERVER_UNREACHABLE', 'unreachable', 0);
  const refused = new ApiError('AGENT_NOT_FOUND', 'nobody', 404);
  const { reader, texts } = createReader([unreachable, buildPart(1, 0, ['a']), unreachable, refused, buildPart(1, 1, ['b']), buildPart(1, 2, [], true)]);
  await reader.follow();
  expect(texts()).toEqual(['a']);
  expect([reader.getState().phase, reader.getState().error]).toEqual(['failed', refused]);
  reader.retry();
  await expect.poll(() => reader.getState().isOpen).toBe(false);
  expect([texts(), reader.getState().phase]).toEqual([['a', 'b'], 'ready']);
});

test('earlier items load back to the first attempt', async () => {
  const { reader, queries, texts } = createReader([buildPart(2, 5, ['e']), buildPart(2, 6, [], true), buildPart(2, 0, ['c', 'd']), buildPart(1, 0, ['a', 'b'])]);
  await reader.follow(2);
  await reader.loadEarlier();
  await reader.loadEarlier();
  expect(queries.slice(2)).toEqual([
    { segment: 0, offset: 5, attempt: 2, tail: 400 },
    { attempt: 1, tail: 400 },
  ]);
  expect(texts()).toEqual(['a', 'b', '—', 'c', 'd', 'e']);
  expect(reader.getState().hasEarlier).toBe(false);
  await reader.loadEarlier();
});

test('a cut item is loaded by its position', async () => {
  const { reader, queries, texts } = createReader([buildPart(1, 7, ['sho']), buildPart(1, 8, [], true), buildPart(1, 7, ['short no more'])]);
  await reader.follow();
  texts();
  const source = reader.getState().stream.steps[0]?.source;
  if (source === undefined) throw new Error('no step');
  await reader.loadWhole(source);
  expect(queries.at(-1)).toEqual({ attempt: 1, segment: 0, offset: 7, whole: true, bytes: 1 });
  expect(texts()).toEqual(['short no more']);
});
