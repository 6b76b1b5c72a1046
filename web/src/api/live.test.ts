import { afterEach, expect, test, vi } from 'vitest';
import { liveEvents } from './live';

const requestedPaths: string[] = [];

/** Returns a stream that sends the head of the log and stays open. */
function streamHead(head: object): Response {
  const text = `id: 1\nevent: head\ndata: ${JSON.stringify(head)}\n\n`;
  const body = new ReadableStream<Uint8Array>({ start: (to) => to.enqueue(new TextEncoder().encode(text)) });
  return new Response(body, { status: 200 });
}

afterEach(() => {
  liveEvents.stop();
  vi.unstubAllGlobals();
});

test('removed events trigger a reset', async () => {
  const gone = { code: 'RESOURCE_NOT_FOUND', message: 'removed', details: { oldest: 90 } };
  const answers = [
    () => new Response(JSON.stringify(gone), { status: 410 }),
    () => streamHead({ last: 120, after: 120, started: '2026-11-16T00:00:00.000Z' }),
  ];
  vi.stubGlobal('fetch', async (path: string) => {
    requestedPaths.push(path);
    return answers.shift()?.() ?? new Response(null, { status: 503 });
  });
  const reset = new Promise<void>((resolve) => liveEvents.onReset(resolve));
  liveEvents.start(5);
  await reset;
  expect(requestedPaths.map((path) => new URLSearchParams(path.split('?')[1]).get('after'))).toEqual(['5', 'now']);
  expect(liveEvents.getState()).toMatchObject({ phase: 'live', lastEvent: 120 });
});
