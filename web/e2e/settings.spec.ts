// The settings page: edits are checked before they are saved; roles, permissions and webhooks.
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { checkAccessibility, expect, defineScenes, type Stage } from './harness';

/** Receiver of webhook events with a configurable status. */
const receiver: { server: Server | null; status: number; got: string[] } = { server: null, status: 500, got: [] };
const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

await new Promise<void>((resolve) => {
  receiver.server = createServer((request, answer) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      receiver.got.push((JSON.parse(body) as { type: string }).type);
      answer.writeHead(receiver.status).end('out of order');
    });
  }).listen(0, '127.0.0.1', resolve);
});
const { port } = receiver.server?.address() as AddressInfo;
afterAll(() => receiver.server?.close());

const scene = defineScenes({
  config: { 'webhooks: []': `webhooks:\n  - {name: bench, url: 'http://127.0.0.1:${port}/hidden-path', secretVariable: BENCH_KEY, kinds: [task.*], attempts: 1}` },
  variables: { BENCH_KEY: WEBHOOK_SECRET },
});

const getConfigPath = (stage: Stage) => join(stage.home, 'config.yaml');

scene('a limit is changed after the check', async ({ page, stage }) => {
  await page.goto(`${stage.url}/settings/limits`);
  const depth = page.getByLabel('Depth', { exact: true });
  const save = page.getByRole('button', { name: 'Save' });
  expect(await save.isDisabled()).toBe(true);
  await page.getByText('There are no changes.').waitFor();
  await checkAccessibility(page);

  await depth.fill('-1');
  await page.getByRole('status').getByText('limits.depth: expected a whole number, not negative').waitFor();
  expect(await save.isDisabled()).toBe(true);

  await depth.fill('5');
  await page.getByText('The check passed.').waitFor();
  const pane = page.getByRole('complementary', { name: 'Preview' });
  await pane.getByText('depth: 5').waitFor();
  await checkAccessibility(page);
  expect(await readFile(getConfigPath(stage), 'utf8')).not.toContain('depth: 5');
  await save.click();
  await page.getByText('Saved and applied').waitFor();
  await expect.poll(() => readFile(getConfigPath(stage), 'utf8')).toContain('  depth: 5\n');
  await page.getByText('There are no changes.').waitFor();
  // Resetting a key to its default removes it from the file.
  await page.getByRole('button', { name: 'Default: 3' }).click();
  await page.getByText('The check passed.').waitFor();
  await save.click();
  await expect.poll(() => readFile(getConfigPath(stage), 'utf8')).not.toContain('depth:');
});

scene('a file changed by someone else is not overwritten', { noise: [/409/] }, async ({ page, stage }) => {
  await page.goto(`${stage.url}/settings/limits`);
  await page.getByLabel('Running', { exact: true }).fill('4');
  await page.getByText('The check passed.').waitFor();
  const text = await readFile(getConfigPath(stage), 'utf8');
  await writeFile(getConfigPath(stage), text.replace('children: 16', 'children: 15'));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('was changed since you read it').waitFor();
  expect(await readFile(getConfigPath(stage), 'utf8')).toContain('children: 15');
  await page.getByRole('button', { name: 'Reload the file' }).click();
  await expect.poll(() => page.getByLabel('Children', { exact: true }).inputValue()).toBe('15');
  await page.getByText('The check passed.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => readFile(getConfigPath(stage), 'utf8')).toContain('running: 4');
});

scene('a role is edited, and its errors are shown', async ({ page, stage }) => {
  await page.goto(`${stage.url}/settings/roles?role=coder`);
  const text = page.getByLabel('.adjutant/roles/coder.md');
  const before = await text.inputValue();
  await text.fill(before.replace('category: coding', 'category: codng'));
  await page.getByText('unknown category `codng`').first().waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await text.fill(`${before}\nLeave the docs alone.\n`);
  await page.getByText('The check passed.').waitFor();
  await checkAccessibility(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => readFile(join(stage.home, 'roles/coder.md'), 'utf8')).toContain('Leave the docs alone.');
  // A new role has no file until it is saved.
  await page.getByRole('button', { name: 'New role' }).click();
  await page.getByLabel('Name').fill('scribe');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('The check passed.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await stage.get('/api/settings'))['roles']).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'scribe' })]));
});

scene('the table shows permissions', async ({ page, stage }) => {
  await page.goto(`${stage.url}/settings/permissions`);
  const table = page.getByRole('region', { name: 'Tools that each category may use' });
  await table.getByRole('button', { name: 'task', exact: true }).click();
  const create = table.getByRole('row', { name: /^create/ });
  await create.waitFor();
  expect(await create.getByText('denied by a pattern').count()).toBeGreaterThan(0);
  expect(await create.getByText('allowed', { exact: true }).count()).toBeGreaterThan(0);
  await checkAccessibility(page);
});

scene('a failed webhook message is retried', async ({ page, stage }) => {
  receiver.status = 500;
  await stage.cli('tasks', 'add', 'Fix the parser');
  await page.goto(`${stage.url}/settings/webhooks`);
  await page.getByRole('button', { name: '1 failed, 0 queued' }).click();
  await page.getByText('it answered with 500: out of order').first().waitFor();
  expect(await page.content()).not.toContain('hidden-path');
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByText('The endpoint rejected the test').waitFor();
  await checkAccessibility(page);
  receiver.status = 204;
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByText('The endpoint accepted the test: 204').waitFor();
  await page.getByRole('button', { name: /^Retry task.created/ }).click();
  await page.getByRole('button', { name: '0 failed, 0 queued' }).waitFor();
  await page.getByText('No failed messages.').waitFor();
  expect(receiver.got.filter((kind) => kind === 'task.created')).toHaveLength(2);
});

scene('read-only visitors can change nothing', { as: 'viewer' }, async ({ page, stage }) => {
  await page.goto(`${stage.url}/settings/limits`);
  expect(await page.getByLabel('Depth', { exact: true }).isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await page.goto(`${stage.url}/settings/webhooks`);
  await page.getByText('bench').first().waitFor();
  expect(await page.getByRole('button', { name: 'Test' }).count()).toBe(0);
  expect(await page.content()).not.toContain(WEBHOOK_SECRET);
});

for (const part of ['general', 'budget', 'roles', 'permissions', 'webhooks', 'notifications', 'servers', 'keys']) {
  scene(`${part} on a phone, in the dark`, { width: 390, colours: 'dark' }, async ({ page, stage }) => {
    await page.goto(`${stage.url}/settings/${part}`);
    await page.getByRole('heading', { level: 2, name: new RegExp(`^${part}$`, 'i') }).waitFor();
    await checkAccessibility(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
}
