// The record page: search, histogram, one call, new calls, export, and detection of a changed row.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { checkAccessibility, logIn, expect, scripted, defineScenes, type Scene } from './harness';

const scene = defineScenes({
  roles: { hand: scripted('worker', 'worktree: none') },
  scenarios: `
scenarios:
  busy:
    steps:
      - repeat: {times: 6, steps: [{call: system_log_decision, with: {title: 'choice {{i}}', body: because of the fence}}]}
      - {call: epic_create, with: {title: Not for me}, fails: PERMISSION_DENIED}
      - {call: mail_read, with: {mailId: mail_0000000000000000}, fails: RESOURCE_NOT_FOUND}
      - {call: mail_send, with: {toHuman: true, subject: Done with it, body: all of it}}
      - {result: {status: success, summary: done}}
`,
});

let agentId: string | null = null;

/** Plays the scripted agent once for the whole file, and returns its id. */
async function playOnce({ stage }: Scene): Promise<string> {
  if (agentId === null) {
    agentId = await stage.draftAgent('hand', 'busy');
    expect(await stage.waitForEnd(agentId)).toBe('succeeded');
  }
  return agentId;
}

const findRows = (page: Page) => page.getByRole('table', { name: 'Calls' }).getByRole('row').filter({ has: page.getByRole('cell') });
const findQueryInput = (page: Page) => page.getByRole('combobox', { name: 'Search the record' });

/** Opens the page with a query. */
async function openRecord({ page, stage }: Scene, q: string, more = ''): Promise<void> {
  await page.goto(`${stage.url}/record?q=${encodeURIComponent(q)}${more}`);
  await findRows(page).first().waitFor();
}

scene('calls are listed newest first, and one is opened', async (at) => {
  const id = await playOnce(at);
  const { page } = at;
  await openRecord(at, 'since:1h agent:hand');
  await expect.poll(() => findRows(page).count()).toBe(9);
  const outcomes = (await findRows(page).allTextContents()).map((text) => /(done|failed|denied)/.exec(text)?.[1]);
  expect(outcomes).toEqual(['done', 'failed', 'denied', ...Array<string>(6).fill('done')]);
  for (const [name, figure] of [['Calls', '9'], ['Failed', '1'], ['Denied', '1']] as const) {
    await expect.poll(() => page.locator('dt', { hasText: name }).locator('+ dd').textContent()).toBe(figure);
  }

  await findRows(page).filter({ hasText: 'denied' }).getByRole('button').click();
  const panel = page.getByRole('complementary', { name: /^Call/ });
  await panel.getByRole('heading', { name: 'create' }).waitFor();
  await panel.getByText('PERMISSION_DENIED').first().waitFor();
  await panel.getByText('"Not for me"').waitFor();
  await panel.getByText('valid', { exact: true }).waitFor();
  expect(await panel.getByRole('link', { name: 'hand' }).getAttribute('href')).toBe(`/agents/${id}`);
  await checkAccessibility(page);

  // The button opens a form with the tool and input of the call.
  await panel.getByRole('button', { name: 'Run again' }).click();
  const form = page.getByRole('dialog');
  await form.waitFor();
  expect(await form.getByRole('textbox', { name: 'title' }).inputValue()).toBe('Not for me');
  await page.keyboard.press('Escape');

  // The keys move the selection while the panel is open.
  await page.keyboard.press('k');
  await panel.getByText('RESOURCE_NOT_FOUND').first().waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

scene('a query is typed with suggestions, and the address keeps it', async (at) => {
  await playOnce(at);
  const { page } = at;
  await openRecord(at, 'since:1h');
  await findQueryInput(page).click();
  await page.getByRole('option', { name: /^outcome:/ }).click();
  await page.getByRole('option', { name: 'outcome:denied' }).waitFor();
  await page.keyboard.type('den');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => findRows(page).count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('q')).toBe('since:1h outcome:denied');
  await page.reload();
  await expect.poll(() => findRows(page).count()).toBe(1);

  await page.getByRole('button', { name: 'Remove outcome:denied' }).click();
  await findQueryInput(page).fill('tool:log_decision "choice 3" ');
  await expect.poll(() => findRows(page).count()).toBe(1);
  await findRows(page).filter({ hasText: 'choice 3' }).waitFor();
  await findQueryInput(page).fill('nothing like it');
  await findQueryInput(page).press('Enter');
  await page.getByRole('heading', { name: /^No call matches/ }).waitFor();
  await page.getByRole('button', { name: 'Show all calls' }).click();
  await expect.poll(() => findRows(page).count()).toBeGreaterThan(9);

  await findQueryInput(page).fill('since:soon ');
  await page.getByRole('alert').filter({ hasText: 'since:soon is not a time' }).waitFor();
});

scene('a time range is selected with keys and with the pointer', async (at) => {
  await playOnce(at);
  const { page } = at;
  await openRecord(at, 'since:1h');
  const plot = page.getByRole('slider', { name: /^Calls over time/ });
  await plot.focus();
  await page.keyboard.press('End');
  for (let bar = 0; bar < 30; bar++) await page.keyboard.press('Shift+ArrowLeft');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Remove until:/ }).waitFor();
  const query = () => new URL(page.url()).searchParams.get('q') ?? '';
  const range = /since:(\S+) until:(\S+)/.exec(query());
  const length = Date.parse(range?.[2] ?? '') - Date.parse(range?.[1] ?? '');
  expect(length).toBe(31 * 30_000);
  await page.keyboard.press('Escape');
  await expect.poll(query).toBe('');

  const area = await plot.boundingBox();
  if (area === null) throw new Error('the plot is not there');
  await page.mouse.move(area.x + area.width * 0.25, area.y + 20);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.5, area.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect.poll(query).toMatch(/^since:\S+ until:\S+$/);
  await page.getByRole('heading', { name: /^No call matches/ }).waitFor();
});

scene('new calls wait behind a button', async (at) => {
  await playOnce(at);
  const { page, stage } = at;
  await stage.callTool('mcp__task__create', { title: 'First of them' });
  await openRecord(at, 'since:1h tool:mcp__task__create');
  const before = await findRows(page).count();
  await stage.callTool('mcp__task__create', { title: 'Came later' });
  const button = page.getByRole('button', { name: 'Show 1 new call' });
  await button.waitFor();
  expect(await findRows(page).count()).toBe(before);
  await button.click();
  await findRows(page).filter({ hasText: 'Came later' }).waitFor();
  await button.waitFor({ state: 'detached' });
});

scene('matching calls are exported, and their chain can be verified', async (at) => {
  await playOnce(at);
  const { page, stage } = at;
  await openRecord(at, '');
  await page.getByRole('button', { name: /^Chain intact, [\d,]+ records/ }).waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: /JSON Lines/ }).click()]);
  const file = await download.path();
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const last = JSON.parse(lines.at(-1) ?? '{}') as { number: number; body: string };
  expect(lines.length).toBe(last.number);
  expect(JSON.parse(last.body)).toMatchObject({ number: last.number });
  const verdict = await stage.json<{ ok: boolean }>('audit', 'verify', file);
  expect(verdict.ok).toBe(true);
});

scene('read-only visitors see no button that acts', { as: 'viewer' }, async (at) => {
  await playOnce(at);
  const { page } = at;
  await openRecord(at, 'outcome:denied');
  await findRows(page).getByRole('button').first().click();
  const panel = page.getByRole('complementary', { name: /^Call/ });
  await panel.getByText('"Not for me"').waitFor();
  expect(await panel.getByRole('button', { name: 'Run again' }).count()).toBe(0);
  await checkAccessibility(page);
});

scene('it fits a phone', { width: 390 }, async (at) => {
  await playOnce(at);
  const { page } = at;
  await openRecord(at, 'since:1h tool:mcp__*');
  await checkAccessibility(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await findRows(page).filter({ hasText: 'failed' }).getByRole('button').tap();
  await page.getByRole('dialog').getByText('RESOURCE_NOT_FOUND').first().waitFor();
  await checkAccessibility(page);
});

scene('the page is accessible in the dark, at medium width', { width: 900, colours: 'dark' }, async (at) => {
  await playOnce(at);
  await openRecord(at, 'since:1h');
  await checkAccessibility(at.page);
});

// Must stay the last scene: it corrupts the record.
scene('a changed record is detected', { as: 'nobody' }, async (at) => {
  await playOnce(at);
  const { page, stage } = at;
  await stage.stop();
  const file = join(stage.state, 'state.db');
  const bytes = await readFile(file);
  const text = '"title":"choice 3"';
  expect(bytes.indexOf(text)).toBeGreaterThan(0);
  for (let offset = bytes.indexOf(text); offset >= 0; offset = bytes.indexOf(text, offset + 1)) bytes.write('"title":"choice 4"', offset);
  await writeFile(file, bytes);
  await stage.start();

  await logIn(page, stage, 'operator');
  await openRecord(at, '');
  const mark = page.getByRole('button', { name: /^Chain broken at/ });
  await mark.click();
  const panel = page.getByRole('complementary', { name: /^Call/ });
  await panel.getByText('invalid', { exact: true }).waitFor();
  await panel.getByRole('alert').filter({ hasText: 'This row was changed' }).waitFor();
  await checkAccessibility(page);
});
