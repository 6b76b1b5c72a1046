// Live updates: the page follows the server through restarts and lost connections, within the
// rights of its link.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'vitest';
import { checkAccessible, DIST, expect, scripted, staged, type Scene } from './harness';

const scene = staged({
  roles: { hand: scripted('worker', 'worktree: none') },
  scenarios: `
scenarios:
  count:
    steps:
      - {say: here}
      - {write: {path: counting, text: 'yes'}}
      - {wait_file: {path: go}}
      - repeat: {times: 5, steps: [{call: system_log_decision, with: {title: 'go on {{i}}', body: because}}]}
      - {result: {status: success, summary: counted}}
`,
});

/**
 * Records the number of every event that the page receives, without disturbing the page's own
 * reader.
 */
function noteEvents(): void {
  const numbers: number[] = [];
  Object.defineProperty(window, 'heard', { value: numbers });
  const ask = window.fetch.bind(window);
  window.fetch = async (...asked) => {
    const response = await ask(...asked);
    const type = response.headers.get('content-type') ?? '';
    if (response.body === null || !type.startsWith('text/event-stream')) return response;
    const [mine, theirs] = response.body.tee();
    void (async () => {
      let text = '';
      for (const reader = mine.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
        const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
        if (done) return;
        text += value ?? '';
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const number = /^id: (\d+)\ndata: /.exec(block)?.[1];
          if (number !== undefined) numbers.push(Number(number));
        }
      }
    })();
    return new Response(theirs, { status: response.status, headers: response.headers });
  };
}

const heard = ({ page }: Scene): Promise<number[]> => page.evaluate(() => Reflect.get(window, 'heard') as number[]);

/** Waits for the last event, and checks that each event arrived exactly once and in order. */
async function complete(at: Scene, first: number): Promise<void> {
  const last = await at.stage.lastEvent();
  await expect.poll(async () => (await heard(at)).at(-1)).toBe(last);
  expect(await heard(at)).toEqual(Array.from({ length: last - first }, (_, index) => first + 1 + index));
  await at.page.getByText(`event ${last.toLocaleString('en-US')}`).waitFor();
}

const make = (at: Scene, title: string) => at.stage.tool('mcp__task__create', { title });
const GONE = [/ERR_CONNECTION_REFUSED/, /ERR_INCOMPLETE_CHUNKED_ENCODING/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /ERR_INTERNET_DISCONNECTED/];

scene('the server is killed under the open page, which comes back and misses nothing', { before: noteEvents, noise: GONE }, async (at) => {
  const { page, stage } = at;
  await page.getByText(/^event \d/).waitFor();
  const first = await stage.lastEvent();
  // The agent works while the server is down; its events arrive after the restart.
  const agent = await stage.draft('hand', 'count');
  await expect.poll(() => readdirSync(stage.project)).toContain('counting');
  await complete(at, first);

  await stage.kill();
  await page.getByText('The server is not reachable.').waitFor();
  await page.getByText(/Agents keep running\. As of event/).waitFor();
  await stage.write('go', '');
  await stage.start();
  await make(at, 'Made before the page is back');
  await page.getByText(/^(\d+ events? received, none lost|No events were missed)\.$/).waitFor();
  await page.getByText('The server is not reachable.').waitFor({ state: 'detached' });
  expect(await stage.ended(agent)).toBe('succeeded');
  await complete(at, first);
  await page.getByText('Back.').waitFor({ state: 'detached' });
});

scene('what happens while the line is cut is caught up, and the page says how much', { before: noteEvents, noise: GONE }, async (at) => {
  const { page, stage, context } = at;
  await page.getByText(/^event \d/).waitFor();
  const first = await stage.lastEvent();
  await stage.stop();
  await page.getByText('The server is not reachable.').waitFor();
  await checkAccessible(page);
  await page.getByRole('button', { name: 'Now' }).click();
  await page.getByText(/next try in \d+ s/).waitFor();
  await context.setOffline(true);
  await stage.start();
  for (let n = 0; n < 20; n += 1) await make(at, `Task ${n}`);
  const behind = (await stage.lastEvent()) - first;
  await context.setOffline(false);
  await page.getByText(`${behind} events received, none lost.`).waitFor();
  await complete(at, first);
});

scene('an orderly end and the next start are followed, too', { before: noteEvents, noise: GONE }, async (at) => {
  const first = await at.stage.lastEvent();
  await at.page.getByText(/^event \d/).waitFor();
  for (let round = 0; round < 3; round += 1) {
    await at.stage.stop();
    await at.page.getByText('The server is not reachable.').waitFor();
    await at.stage.start();
    await make(at, `Round ${round}`);
    await at.page.getByText('Back.').waitFor();
    await complete(at, first);
  }
});

scene('who came by a read-only link sees everything and can do nothing', { as: 'viewer', noise: [/403/] }, async ({ page, stage }) => {
  await page.getByText('Read-only link.').waitFor();
  expect(await page.getByRole('button', { name: 'Start agent' }).count()).toBe(0);
  await checkAccessible(page);
  const before = await stage.lastEvent();
  // The token itself has no rights, so hidden buttons are not the only protection.
  const answers = await page.evaluate(async () => {
    const token = sessionStorage.getItem('adjutant.token') ?? '';
    const ask = async (path: string, body: unknown) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    };
    return [
      await ask('/mcp/execute', { toolName: 'mcp__task__create', input: { title: 'Forbidden' } }),
      await ask('/api/runs', { role: 'hand', prompt: 'count' }),
      await ask('/api/shutdown', {}),
      await ask('/api/links', {}),
    ];
  });
  expect(answers).toEqual([403, 403, 403, 403]);
  expect(await stage.lastEvent()).toBe(before);
});

scene('without a link the page shows how to get one, and nothing else', { as: 'nobody', noise: [/401/] }, async ({ page, stage }) => {
  await page.goto(`${stage.url}/crew`);
  await page.getByRole('heading', { name: 'This page opens with a link' }).waitFor();
  await checkAccessible(page);
  // The tab stays logged in after a reload, although the code is gone from the address.
  await page.goto(await stage.link());
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  expect(page.url()).not.toContain('login');
  await page.reload();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
});

scene('the first paint comes soon', async ({ page, stage }) => {
  const paints: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await page.goto(`${stage.url}/crew`);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
    if (paint !== undefined) paints.push(paint);
  }
  expect(paints.length).toBeGreaterThan(0);
  const worst = Math.max(...paints);
  console.log(`first paint: ${paints.map((paint) => Math.round(paint)).join(', ')} ms (wished: under 1000 ms, ${worst < 1000 ? 'met' : 'MISSED'})`);
});

test('all scripts together stay under 250 kB, compressed', () => {
  const assets = join(DIST, 'assets');
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const size = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name)), { level: 9 }).length, 0);
  console.log(`scripts: ${(size / 1000).toFixed(1)} kB compressed (wished: under 250), ${scripts.length} files`);
  expect(size).toBeLessThan(250_000);
});
