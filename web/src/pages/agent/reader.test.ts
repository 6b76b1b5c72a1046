import { expect, test } from 'vitest';
import { ApiError } from '../../api/client';
import { Reader, type Wish } from './reader';
import type { AgentStream, StreamItem } from '../../api/types';

function item(text: string): StreamItem {
  return { at: '2026-11-15T12:00:00Z', kind: 'message', id: null, tool: null, text, input: null, ok: null, durationMs: null, commit: null, part: false, err: false, cut: 0 };
}

function part(attempt: number, from: number, texts: readonly string[], complete = false): AgentStream {
  const place = (offset: number) => ({ segment: 0, offset });
  return { items: texts.map(item), from: place(from), next: place(from + texts.length), attempt, complete };
}

/** Returns the given answers in turn, and records the queries. */
function scripted(answers: readonly (AgentStream | Error)[]) {
  const asked: Wish[] = [];
  const frames: (() => void)[] = [];
  const rest = [...answers];
  const ask = async (wish: Wish): Promise<AgentStream> => {
    asked.push(wish);
    const answer = rest.shift();
    if (answer === undefined) throw new Error('nothing more was expected');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const reader = new Reader(ask, 1, (act) => frames.push(act), async () => {});
  const texts = () => {
    for (const act of frames.splice(0)) act();
    return reader.reading().stream.steps.map((step) => (step.kind === 'attempt' ? '—' : step.text));
  };
  return { reader, asked, texts };
}

test('it begins near the end, waits for more and ends with the attempt', async () => {
  const { reader, asked, texts } = scripted([part(1, 40, ['a', 'b']), part(1, 42, ['c']), part(1, 43, [], true)]);
  await reader.follow();
  expect(asked).toEqual([
    { tail: 400 },
    { attempt: 1, segment: 0, offset: 42, waitSeconds: 25 },
    { attempt: 1, segment: 0, offset: 43, waitSeconds: 25 },
  ]);
  expect(texts()).toEqual(['a', 'b', 'c']);
  expect([reader.reading().open, reader.reading().earlier]).toEqual([false, true]);
});

test('another attempt is followed when it is there, and when it comes later', async () => {
  const { reader, texts } = scripted([part(1, 0, ['a']), part(1, 1, [], true), part(2, 0, ['b']), part(2, 1, [], true), part(2, 1, [], true), part(3, 0, ['c']), part(3, 1, [], true)]);
  await reader.follow(2);
  expect(texts()).toEqual(['a', '—', 'b']);
  await reader.follow(3);
  expect(texts()).toEqual(['a', '—', 'b', '—', 'c']);
});

test('a server that is away is asked again, and what it refuses is told', async () => {
  const away = new ApiError('AWAY', 'away', 0);
  const refused = new ApiError('AGENT_NOT_FOUND', 'nobody', 404);
  const { reader, texts } = scripted([away, part(1, 0, ['a']), away, refused, part(1, 1, ['b']), part(1, 2, [], true)]);
  await reader.follow();
  expect(texts()).toEqual(['a']);
  expect([reader.reading().phase, reader.reading().error]).toEqual(['failed', refused]);
  reader.again();
  await expect.poll(() => reader.reading().open).toBe(false);
  expect([texts(), reader.reading().phase]).toEqual([['a', 'b'], 'ready']);
});

test('what was before is read back to the first attempt', async () => {
  const { reader, asked, texts } = scripted([part(2, 5, ['e']), part(2, 6, [], true), part(2, 0, ['c', 'd']), part(1, 0, ['a', 'b'])]);
  await reader.follow(2);
  await reader.earlier();
  await reader.earlier();
  expect(asked.slice(2)).toEqual([
    { segment: 0, offset: 5, attempt: 2, tail: 400 },
    { attempt: 1, tail: 400 },
  ]);
  expect(texts()).toEqual(['a', 'b', '—', 'c', 'd', 'e']);
  expect(reader.reading().earlier).toBe(false);
  await reader.earlier();
});

test('what was cut is asked for where it stands', async () => {
  const { reader, asked, texts } = scripted([part(1, 7, ['sho']), part(1, 8, [], true), part(1, 7, ['short no more'])]);
  await reader.follow();
  texts();
  const source = reader.reading().stream.steps[0]?.source;
  if (source === undefined) throw new Error('no step');
  await reader.whole(source);
  expect(asked.at(-1)).toEqual({ attempt: 1, segment: 0, offset: 7, whole: true, bytes: 1 });
  expect(texts()).toEqual(['short no more']);
});
