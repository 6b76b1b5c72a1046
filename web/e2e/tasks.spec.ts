// The tasks page: board, drag and drop, menus, assignment, history, epics, graph, and thousands of
// tasks.
import type { Locator, Page } from 'playwright-core';
import { checkAccessible, expect, scripted, staged, type Stage } from './harness';

const scene = staged({
  roles: { hand: scripted('worker', 'worktree: none') },
  scenarios: `
scenarios:
  hold:
    steps: [{say: I wait}, {wait_file: {path: go}}, {result: {status: success, summary: done}}]
`,
});

interface Made {
  readonly number: string;
  readonly slug: string;
}
const make = (stage: Stage, title: string, more: object = {}) => stage.tool<Made>('mcp__task__create', { title, ...more });
const digits = (made: Made) => made.number.replace('TAS-', '');
const columnOf = async (stage: Stage, made: Made) => (await stage.get(`/api/tasks/${made.number}`))['column'];

const card = (page: Page, made: Made) => page.locator(`a[data-number="${digits(made)}"]`);
const column = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}, `) });

/** Drags with real mouse events: press, move in steps, release. */
async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  if (a === null || b === null) throw new Error('nothing to drag');
  await page.mouse.move(a.x + a.width / 2, a.y + 30);
  await page.mouse.down();
  await page.mouse.move(a.x + a.width / 2 + 12, a.y + 36, { steps: 4 });
  await page.mouse.move(b.x + b.width / 2, b.y + 160, { steps: 12 });
  await page.mouse.up();
}

scene('a task is written, and stands on the board', async ({ page, stage }) => {
  await page.goto(`${stage.url}/tasks`);
  await page.getByRole('heading', { name: 'No tasks' }).waitFor();
  await page.getByRole('button', { name: 'New task' }).waitFor();
  await checkAccessible(page);
  await page.keyboard.press('N');
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByLabel('Title').fill('Fence stale claims');
  await dialog.getByLabel('Description').fill('All of **them**.');
  await dialog.getByLabel('Priority').selectOption('1');
  await dialog.getByRole('button', { name: /Create task/ }).click();
  await dialog.waitFor({ state: 'detached' });
  await column(page, 'Ready').getByRole('link', { name: /Fence stale claims/ }).waitFor();
  // A created task opens at once, with its description and history.
  const panel = page.getByRole('complementary', { name: /^Task TAS-/ });
  await panel.getByRole('heading', { name: 'Fence stale claims' }).waitFor();
  await panel.locator('strong', { hasText: 'them' }).waitFor();
  await panel.getByText('created by the operator').waitFor();
  await checkAccessible(page);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

scene('a wrong wish is told in the dialog, and nothing is made', { noise: [/404|422/] }, async ({ page, stage }) => {
  const before = (await stage.get<{ tasks: unknown[] }>('/api/tasks')).tasks.length;
  await page.goto(`${stage.url}/tasks`);
  await page.getByRole('button', { name: 'New task' }).click();
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByLabel('Title').fill('Needs nonsense');
  await dialog.getByLabel('Waits for').fill('TAS-9999');
  await dialog.getByRole('button', { name: /Create task/ }).click();
  await dialog.getByRole('alert').getByText(/TAS-9999/).waitFor();
  expect((await stage.get<{ tasks: unknown[] }>('/api/tasks')).tasks.length).toBe(before);
});

scene('a task is dragged to another column with the mouse', async ({ page, stage }) => {
  const made = await make(stage, 'Drag me');
  await page.goto(`${stage.url}/tasks`);
  await card(page, made).waitFor();
  await drag(page, card(page, made), column(page, 'In progress'));
  await column(page, 'In progress').locator(`a[data-number="${digits(made)}"]`).waitFor();
  await expect.poll(() => columnOf(stage, made)).toBe('inProgress');
  await page.getByText(`${made.number} moved to In progress.`).first().waitFor();
  // A move by another client updates the board.
  await stage.tool('mcp__session__task-update', { id: made.number, status: 'remaining' });
  await column(page, 'Ready').locator(`a[data-number="${digits(made)}"]`).waitFor();
});

scene('a drop that may not be says why, and the card goes back', { noise: [/409/] }, async ({ page, stage }) => {
  const { id } = await stage.tool<{ id: string }>('mcp__epic__create', { title: 'Console v2' });
  const made = await make(stage, 'Through review only', { epicId: id });
  await page.goto(`${stage.url}/tasks?done=open`);
  await card(page, made).waitFor();
  await drag(page, card(page, made), column(page, 'Done'));
  await page.getByRole('alert').getByText(`${made.number} stays in Ready`).waitFor();
  await page.getByText(/completed through review/).first().waitFor();
  await column(page, 'Ready').locator(`a[data-number="${digits(made)}"]`).waitFor();
  expect(await columnOf(stage, made)).toBe('ready');
  await checkAccessible(page);
  // The refusal offers the alternative.
  await page.getByRole('button', { name: 'Complete without a review…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('It came another way.');
  await dialog.getByRole('button', { name: 'Complete' }).click();
  await column(page, 'Done').locator(`a[data-number="${digits(made)}"]`).waitFor();
  await expect.poll(() => columnOf(stage, made)).toBe('done');
});

scene('what waits for another is not made ready by hand, and the page says for what', async ({ page, stage }) => {
  const first = await make(stage, 'Must be first');
  const second = await make(stage, 'Comes after', { dependsOn: [first.number] });
  await page.goto(`${stage.url}/tasks`);
  await column(page, 'Blocked').locator(`a[data-number="${digits(second)}"]`).waitFor();
  await drag(page, card(page, second), column(page, 'Ready'));
  await page.getByRole('alert').getByText(`${second.number} waits for ${first.number}`, { exact: false }).waitFor();
  await stage.tool('mcp__session__task-update', { id: first.number, status: 'completed' });
  await column(page, 'Ready').locator(`a[data-number="${digits(second)}"]`).waitFor();
});

scene('the menu does what dragging does, by the keys alone', async ({ page, stage }) => {
  const made = await make(stage, 'By keys', { priority: 0 });
  await page.goto(`${stage.url}/tasks?q=By+keys`);
  await card(page, made).waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-number'))).toBe(digits(made));
  await page.keyboard.press('.');
  await page.getByRole('menuitem', { name: 'Move to In progress' }).waitFor();
  await checkAccessible(page);
  await page.keyboard.press('ArrowDown');
  await page.getByRole('menuitem', { name: 'Move to In progress' }).press('Enter');
  await column(page, 'In progress').locator(`a[data-number="${digits(made)}"]`).waitFor();
  await expect.poll(() => columnOf(stage, made)).toBe('inProgress');
  // Screen readers announce the move.
  await expect.poll(() => page.getByRole('status').allTextContents()).toContain(`${made.number} moved to In progress.`);
  await card(page, made).press('Enter');
  await page.getByRole('complementary', { name: `Task ${made.number}` }).waitFor();
});

scene('lines join a task with what it waits for and with what waits for it', async ({ page, stage }) => {
  const base = await make(stage, 'Line base', { priority: 0 });
  const middle = await make(stage, 'Line middle', { priority: 0, dependsOn: [base.number] });
  const top = await make(stage, 'Line top', { priority: 0, dependsOn: [middle.number] });
  await stage.tool('mcp__session__task-update', { id: middle.number, status: 'in_progress' });
  await page.goto(`${stage.url}/tasks?q=Line&task=${digits(middle)}`);
  const edge = (from: Made, to: Made) => page.locator(`path[data-edge="${digits(from)}-${digits(to)}"]`);
  for (const line of [edge(base, middle), edge(middle, top)]) {
    await line.waitFor({ state: 'attached' });
    expect(await line.getAttribute('d')).toMatch(/^M[\d.]+ [\d.]+L.*Q/);
  }
  const width = (line: Locator) => line.evaluate((path) => getComputedStyle(path).strokeWidth);
  await expect.poll(() => width(edge(middle, top))).toBe('1.75px');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => width(edge(middle, top))).toBe('1px');
  await card(page, top).hover();
  await expect.poll(() => width(edge(middle, top))).toBe('1.75px');
  expect(await width(edge(base, middle))).toBe('1px');
});

scene('a task is given to an agent, and its history tells of it', async ({ page, stage }) => {
  const made = await make(stage, 'For a hand');
  const agent = await stage.draft('hand', 'hold');
  const short = agent.slice(-5);
  await page.goto(`${stage.url}/tasks?task=${digits(made)}`);
  const panel = page.getByRole('complementary', { name: `Task ${made.number}` });
  await panel.getByRole('button', { name: 'Assign' }).click();
  const dialog = page.getByRole('dialog', { name: `Assign ${made.number}` });
  await dialog.getByLabel('Agent').selectOption(agent);
  await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
  await panel.getByText(`assigned to hand ${short} by the operator`).waitFor();
  await panel.getByRole('link', { name: new RegExp(short) }).waitFor();
  await panel.getByLabel(`Comment on ${made.number}`).fill('Mind the fence.');
  await panel.getByRole('button', { name: 'Comment' }).click();
  await panel.getByText('comment by the operator').waitFor();
  expect(await panel.getByText('Mind the fence.').count()).toBeGreaterThan(0);
  await panel.getByLabel('Priority').selectOption('0');
  await panel.getByText('priority changed from 2 to 0 by the operator').waitFor();
  await panel.getByText('Show all').click();
  await panel.getByText('Original Request').waitFor();
  await checkAccessible(page);
  // The card shows the agent; the agent's own status update moves the card.
  await stage.post('/mcp/execute', { agentId: agent, toolName: 'mcp__task__update_status', input: { taskId: made.number, status: 'IN_PROGRESS' } });
  await column(page, 'In progress').getByRole('link', { name: /For a hand/ }).waitFor();
  await panel.getByText(`claimed by hand ${short}`).waitFor();
  await stage.cli('kill', agent);
  await panel.getByText(`hand ${short} ended, killed: released`).waitFor();
});

scene('epics stand above, and one of them filters the board', async ({ page, stage }) => {
  const { id } = await stage.tool<{ id: string }>('mcp__epic__create', { title: 'Leases that hold' });
  const inside = await make(stage, 'Inside', { epicId: id });
  const outside = await make(stage, 'Outside');
  await page.goto(`${stage.url}/tasks`);
  await card(page, outside).waitFor();
  const epic = page.getByRole('button', { name: /Leases that hold/ });
  expect(await epic.textContent()).toContain('0 of 1');
  await epic.click();
  await card(page, outside).waitFor({ state: 'detached' });
  await card(page, inside).waitFor();
  expect(new URL(page.url()).searchParams.get('epic')).toBe(id);
  await stage.tool('mcp__supervisor__force_complete_task', { taskId: inside.number, reason: 'it is' });
  await expect.poll(() => epic.textContent()).toContain('1 of 1');
  await epic.click();
  await card(page, outside).waitFor();
});

scene('the graph shows what waits for what, and its tasks are links', async ({ page, stage }) => {
  const base = await make(stage, 'Graph base');
  const top = await make(stage, 'Graph top', { dependsOn: [base.number] });
  await page.goto(`${stage.url}/tasks?view=graph&q=Graph`);
  const node = page.getByRole('link', { name: new RegExp(`${top.number} · Blocked\\s*Graph top`) });
  await node.waitFor();
  await checkAccessible(page);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.getByText('125%').waitFor();
  await page.keyboard.press('-');
  await page.getByText('100%').waitFor();
  await node.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: `Task ${top.number}` }).getByRole('link', { name: /Graph base/ }).waitFor();
});

scene('thousands of tasks are scrolled through with few of them there', async ({ page, stage }) => {
  for (let batch = 0; batch < 30; batch += 1) {
    const tasks = Array.from({ length: 100 }, (_, at) => ({ content: `Many ${batch * 100 + at}`, priority: 4 }));
    await stage.tool('mcp__session__task-add', { tasks });
  }
  await page.goto(`${stage.url}/tasks`);
  const ready = column(page, 'Ready');
  await expect.poll(async () => Number((await ready.getAttribute('aria-label'))?.replaceAll(/\D/g, ''))).toBeGreaterThanOrEqual(3000);
  const more = ready.getByRole('button', { name: /more$/ });
  for (let times = 0; times < 6; times += 1) {
    const before = await more.textContent();
    await more.click();
    await expect.poll(() => more.textContent()).not.toBe(before);
  }
  expect(await ready.getByRole('link').count()).toBeLessThan(40);
  await page.getByRole('radio', { name: 'List' }).click();
  const table = page.getByRole('table', { name: 'Tasks' });
  await table.getByRole('row').nth(5).waitFor();
  expect(Number(await table.getAttribute('aria-rowcount'))).toBeGreaterThanOrEqual(3000);
  const rows = page.getByRole('rowgroup', { name: 'Rows' });
  for (let times = 0; times < 5; times += 1) {
    const before = await rows.evaluate((box) => box.scrollHeight);
    await rows.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await expect.poll(() => rows.evaluate((box) => box.scrollHeight)).toBeGreaterThan(before);
  }
  expect(await table.getByRole('row').count()).toBeLessThan(120);
  await checkAccessible(page);
  await page.getByRole('searchbox').fill('Many 2999');
  await page.getByRole('row', { name: /Many 2999/ }).waitFor();
});

scene('who may only look sees no button that acts', { as: 'viewer' }, async ({ page, stage }) => {
  const made = await make(stage, 'Look at me');
  await page.goto(`${stage.url}/tasks?q=look&task=${digits(made)}`);
  await card(page, made).waitFor();
  await page.getByRole('complementary', { name: `Task ${made.number}` }).getByText('created by the operator').waitFor();
  for (const name of ['New task', 'Assign', 'Start agent', 'Cancel task', 'Comment', `Menu of ${made.number}`]) {
    expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  }
  expect(await card(page, made).getAttribute('draggable')).not.toBe('true');
  await checkAccessible(page);
});

scene('a phone shows one column at a time, and a task over it', { width: 390 }, async ({ page, stage }) => {
  const made = await make(stage, 'On a phone', { priority: 0 });
  await page.goto(`${stage.url}/tasks?q=phone`);
  await card(page, made).waitFor();
  await page.getByRole('button', { name: `Menu of ${made.number}` }).click();
  await page.getByRole('menuitem', { name: 'Move to In progress' }).click();
  await page.getByRole('radio', { name: /^Doing/ }).click();
  await card(page, made).waitFor();
  await checkAccessible(page);
  await card(page, made).click();
  const sheet = page.getByRole('dialog', { name: made.number });
  await sheet.getByText('moved from ready to in progress by the operator').waitFor();
  await checkAccessible(page);
  await sheet.getByRole('button', { name: 'Close' }).click();
  await sheet.waitFor({ state: 'detached' });
});
