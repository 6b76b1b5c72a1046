// Takes the pictures of the documentation: every page, light and dark, over a real server with
// scripted agents.
// Run `make pictures`, or `npm run pictures` with a built binary. The pictures are written to
// `docs/pictures`.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { launchBrowser, playScene, scripted, Stage } from './harness';
import { REPOSITORY_FOLDER } from './stage';

const PICTURES_FOLDER = join(REPOSITORY_FOLDER, 'docs/pictures');
/** Names of the pictures to take, separated by commas; all of them if unset. */
const PICTURE_NAMES = process.env['PICTURES'];
const readSceneFile = (name: string) => readFile(fileURLToPath(new URL(`scene/${name}`, import.meta.url)), 'utf8');

const ROLES = {
  coordinator: scripted('orchestrator', 'worktree: none', 'timeout: 14400', 'budget: {usd: 40}'),
  'lead-store': scripted('supervisor', 'worktree: none', 'budget: {usd: 18}'),
  'lead-console': scripted('supervisor', 'worktree: none', 'budget: {usd: 14}'),
  coder: scripted('coding', 'budget: {usd: 3}'),
  tester: scripted('worker', 'budget: {usd: 2}'),
  reviewer: scripted('review', 'budget: {usd: 1}'),
  scout: scripted('worker', 'worktree: none', 'budget: {usd: 0.5}'),
};

/** A picture: its name, its address, and the condition to wait for. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly ready: (page: Page) => Promise<unknown>;
}

/** Instructions for a reviewer; their first word selects its scenario. */
const REVIEW_INSTRUCTIONS = '{{instructions}}\n\nThe work of {{coder}}, for the {{iteration}}. time.\n';

/**
 * Stretches the crew's seconds to minutes, so that a picture shows a plausible history. Changes
 * only displayed times.
 */
const STRETCH_SCRIPT = `
import sqlite3, sys, time
db, now, times = sqlite3.connect(sys.argv[1]), int(time.time() * 1000), 160
for table, columns in {
    'agent': ['created_at', 'updated_at', 'last_active_at', 'ended_at'], 'run': ['started_at'], 'event': ['at'],
    'mail': ['created_at', 'read_at'], 'task': ['created_at', 'updated_at'], 'review': ['created_at', 'ended_at'],
}.items():
    for column in columns:
        db.execute(f'UPDATE {table} SET {column} = {now} - ({now} - {column}) * {times} WHERE {column} IS NOT NULL')
db.commit()
`;

/** Selects an agent, so that the dock is visible. */
async function selectAgent(page: Page): Promise<void> {
  await page.getByText('reviewer').first().waitFor();
  // A phone has no dock; a tap would open the agent's page.
  if ((page.viewportSize()?.width ?? 0) > 699) await page.getByText('Renew leases').first().click();
}

async function findAgent(stage: Stage, role: string, query: string): Promise<string> {
  let id = '';
  await expect
    .poll(async () => {
      const { rows } = (await stage.get(`/api/crew?state=all&q=${encodeURIComponent(query)}`)) as { rows: { id: string; role: string }[] };
      id = rows.find((row) => row.role === role)?.id ?? '';
      return id;
    })
    .not.toBe('');
  return id;
}

async function getState(stage: Stage, id: string): Promise<unknown> {
  return ((await stage.get(`/api/agents/${id}`)) as { state: unknown }).state;
}

test('pictures', async () => {
  const files = { 'src/claims.rs': await readSceneFile('claims.rs'), 'src/lease.rs': '//! Leases.\n', 'src/acks.rs': await readSceneFile('acks.rs') };
  const stage = await Stage.open({ roles: ROLES, scenarios: await readSceneFile('crew.yaml'), files: { ...files, '.adjutant/review.md': REVIEW_INSTRUCTIONS } });
  const browser = await launchBrowser();
  try {
    await stage.draftAgent('coordinator', 'plan');
    const fence = await findAgent(stage, 'coder', 'Fence stale claims');
    const overBudget = await findAgent(stage, 'coder', 'Virtual list');
    await expect.poll(() => getState(stage, fence), { timeout: 60_000 }).toBe('waiting_review');
    await expect.poll(() => getState(stage, overBudget), { timeout: 60_000 }).toBe('over_budget');
    await findAgent(stage, 'coder', 'Dead-letter view');
    await expect.poll(async () => ((await stage.get('/api/overview')) as { mail: { unread: number } }).mail.unread).toBeGreaterThan(1);
    await expect.poll(async () => ((await stage.get('/api/overview')) as { agents: { all: number } }).agents.all, { timeout: 60_000 }).toBe(13);
    await stage.stop();
    execFileSync('python3', ['-c', STRETCH_SCRIPT, join(stage.state, 'state.db')]);
    await stage.start();
    const shots: Picture[] = [
      { name: 'crew', path: '/crew', ready: selectAgent },
      { name: 'agent', path: `/agents/${fence}`, ready: (page) => page.getByText('Waits for review').first().waitFor() },
      { name: 'tasks', path: '/tasks?task=5', ready: (page) => page.getByText('Context for the next agent').first().waitFor() },
      { name: 'mail', path: '/mail', ready: (page) => page.getByText('Which lock namespace').first().click() },
      { name: 'reviews', path: `/reviews`, ready: (page) => page.getByText('Batch acks').first().click() },
      { name: 'record', path: `/record?q=${encodeURIComponent('since:1h tool:mcp__*')}`, ready: (page) => page.getByText('await_agent').first().click() },
      { name: 'costs', path: '/costs', ready: (page) => page.getByText('Spent today').first().waitFor() },
      { name: 'settings', path: '/settings/permissions', ready: (page) => page.getByText('orchestrator').first().waitFor() },
    ];
    await mkdir(PICTURES_FOLDER, { recursive: true });
    for (const colours of ['light', 'dark'] as const) {
      for (const width of [1440, 390] as const) {
        for (const shot of shots) {
          if (PICTURE_NAMES !== undefined && !PICTURE_NAMES.split(',').includes(shot.name)) continue;
          if (width === 390 && !['crew', 'agent', 'tasks', 'mail'].includes(shot.name)) continue;
          await playScene(shot.name, browser, stage, { colours, width }, async ({ page }) => {
            await page.goto(stage.url + shot.path);
            await shot.ready(page);
            await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
            await page.evaluate(() => document.fonts.ready);
            const name = width === 390 ? `${shot.name}-phone` : shot.name;
            await page.screenshot({ path: join(PICTURES_FOLDER, `${name}-${colours}.png`) });
          });
        }
      }
    }
  } finally {
    await browser.close();
    await stage.close();
  }
});
