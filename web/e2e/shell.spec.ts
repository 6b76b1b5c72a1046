// The frame around every page: palette, tools, keys, theme and unknown addresses.
import { checkAccessibility, expect, scripted, defineScenes } from './harness';

const scene = defineScenes({
  roles: { hand: scripted('worker', 'worktree: none') },
  scenarios: `
scenarios:
  hold:
    steps: [{say: I wait}, {wait_file: {path: never}}]
`,
});

scene('a tool is found in the palette, rejected with invalid input, and run', { noise: [/422/] }, async ({ page, stage }) => {
  await page.keyboard.press('Control+k');
  const box = page.getByRole('combobox', { name: 'Search or run a command' });
  await box.fill('task_create');
  await page.getByRole('option', { name: /task_create/ }).first().waitFor();
  await checkAccessibility(page);
  await page.keyboard.press('Enter');
  const form = page.getByRole('dialog', { name: 'task_create' });
  await form.getByRole('button', { name: 'Run' }).click();
  await form.getByText(/title/).last().waitFor();
  await form.getByLabel('title', { exact: true }).fill('Mend the gate');
  await form.getByRole('button', { name: 'Run' }).click();
  await form.getByLabel('Output').getByText('Mend the gate').waitFor();
  await checkAccessibility(page);
  await form.getByRole('button', { name: 'Close' }).last().click();
  await expect.poll(() => form.count()).toBe(0);
  const { tasks } = await stage.get<{ tasks: { title: string }[] }>('/api/tasks?q=Mend');
  expect(tasks.map((task) => task.title)).toEqual(['Mend the gate']);
});

scene('an agent is found by its role, and its kill is confirmed', async ({ page, stage }) => {
  const id = await stage.draftAgent('hand', 'hold');
  await expect.poll(async () => (await stage.get(`/api/agents/${id}`))['state']).toBe('running');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('kill hand');
  await page.getByRole('option', { name: /^Kill hand/ }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/agents/${id}**`);
  await page.getByRole('dialog').getByRole('button', { name: /Kill/ }).click();
  await expect.poll(async () => (await stage.get(`/api/agents/${id}`))['state']).toBe('killed');
});

scene('keys open every page, are listed, and can be turned off', async ({ page }) => {
  const pages = { t: '/tasks', m: '/mail', r: '/reviews', l: '/record', u: '/costs', s: '/settings', c: '/crew' };
  for (const [key, path] of Object.entries(pages)) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForURL(`**${path}**`);
  }
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByRole('checkbox', { name: 'Single-key shortcuts' }).uncheck();
  await page.keyboard.press('Escape');
  await expect.poll(() => keys.count()).toBe(0);
  await page.keyboard.press('?');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  expect(await keys.count()).toBe(0);
});

scene('the theme follows the system until it is set', { colours: 'dark' }, async ({ page }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.keyboard.press('t');
  await expect.poll(ground).not.toBe(dark);
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
  expect(await ground()).not.toBe(dark);
  await page.keyboard.press('t');
  await expect.poll(ground).toBe(dark);
});

scene('an unknown address is reported', async ({ page, stage }) => {
  await page.goto(`${stage.url}/nowhere`);
  await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
  await checkAccessibility(page);
});
