// The tasks page: board, drag and drop, menus, assignment, history, epics, graph, and thousands of
// tasks.
import type { Locator, Page } from 'playwright-core';
import { checkAccessibility, expect, scripted, defineScenes, type Stage } from './harness';

const scene = defineScenes({
  roles: { hand: scripted('worker', 'worktree: none') },
  scenarios: `
scenarios:
  hold:
    steps: [{say: I wait}, {wait_file: {path: go}}, {result: {status: success, summary: done}}]
`,
});

interface CreatedTask {
  readonly number: string;
  readonly slug: string;
}
const createTask = (stage: Stage, title: string, more: object = {}) => stage.callTool<CreatedTask>('mcp__task__create', { title, ...more });
const getDigits = (task: CreatedTask) => task.number.replace('TAS-', '');
const getColumn = async (stage: Stage, task: CreatedTask) => (await stage.get(`/api/tasks/${task.number}`))['column'];

const findCard = (page: Page, task: CreatedTask) => page.locator(`a[data-number="${getDigits(task)}"]`);
const findColumn = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}, `) });

/** Drags with real mouse events: press, move in steps, release. */
async function dragTo(page: Page, from: Locator, to: Locator): Promise<void> {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  if (a === null || b === null) throw new Error('nothing to drag');
  await page.mouse.move(a.x + a.width / 2, a.y + 30);
  await page.mouse.down();
  await page.mouse.move(a.x + a.width / 2 + 12, a.y + 36, { steps: 4 });
  await page.mouse.move(b.x + b.width / 2, b.y + 160, { steps: 12 });
  await page.mouse.up();
}

scene('a task is created, and appears on the board', async ({ page, stage }) => {
  await page.goto(`${stage.url}/tasks`);
  await page.getByRole('heading', { name: 'No tasks' }).waitFor();
  await page.getByRole('button', { name: 'New task' }).waitFor();
  await checkAccessibility(page);
  await page.keyboard.press('N');
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByLabel('Title').fill('Fence stale claims');
  await dialog.getByLabel('Description').fill('All of **them**.');
  await dialog.getByLabel('Priority').selectOption('1');
  await dialog.getByRole('button', { name: /Create task/ }).click();
  await dialog.waitFor({ state: 'detached' });
  await findColumn(page, 'Ready').getByRole('link', { name: /Fence stale claims/ }).waitFor();
  // A created task opens at once, with its description and history.
  const panel = page.getByRole('complementary', { name: /^Task TAS-/ });
  await panel.getByRole('heading', { name: 'Fence stale claims' }).waitFor();
  await panel.locator('strong', { hasText: 'them' }).waitFor();
  await panel.getByText('created by the operator').waitFor();
  await checkAccessibility(page);
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

scene('invalid input is shown in the dialog, and no task is created', { noise: [/404|422/] }, async ({ page, stage }) => {
  const before = (await stage.get<{ tasks: unknown[] }>('/api/tasks')).tasks.length;
  await page.goto(`${stage.url}/tasks`);
  await page.getByRole('button', { name: 'New task' }).click();
  const dialog = page.getByRole('dialog', { name: 'New task' });
  await dialog.getByLabel('Title').fill('Needs nonsense');
  await dialog.getByLabel('Depends on').fill('TAS-9999');
  await dialog.getByRole('button', { name: /Create task/ }).click();
  await dialog.getByRole('alert').getByText(/TAS-9999/).waitFor();
  expect((await stage.get<{ tasks: unknown[] }>('/api/tasks')).tasks.length).toBe(before);
});

scene('a task is dragged to another column with the mouse', async ({ page, stage }) => {
  const task = await createTask(stage, 'Drag me');
  await page.goto(`${stage.url}/tasks`);
  await findCard(page, task).waitFor();
  await dragTo(page, findCard(page, task), findColumn(page, 'In progress'));
  await findColumn(page, 'In progress').locator(`a[data-number="${getDigits(task)}"]`).waitFor();
  await expect.poll(() => getColumn(stage, task)).toBe('inProgress');
  await page.getByText(`${task.number} moved to In progress.`).first().waitFor();
  // A move by another client updates the board.
  await stage.callTool('mcp__session__task-update', { id: task.number, status: 'remaining' });
  await findColumn(page, 'Ready').locator(`a[data-number="${getDigits(task)}"]`).waitFor();
});

scene('a refused drop has a reason, and the card moves back', { noise: [/409/] }, async ({ page, stage }) => {
  const { id } = await stage.callTool<{ id: string }>('mcp__epic__create', { title: 'Console v2' });
  const task = await createTask(stage, 'Through review only', { epicId: id });
  await page.goto(`${stage.url}/tasks?done=open`);
  await findCard(page, task).waitFor();
  await dragTo(page, findCard(page, task), findColumn(page, 'Done'));
  await page.getByRole('alert').getByText(`${task.number} stays in Ready`).waitFor();
  await page.getByText(/completed through review/).first().waitFor();
  await findColumn(page, 'Ready').locator(`a[data-number="${getDigits(task)}"]`).waitFor();
  expect(await getColumn(stage, task)).toBe('ready');
  await checkAccessibility(page);
  // The refusal offers the alternative.
  await page.getByRole('button', { name: 'Complete without a review…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('It came another way.');
  await dialog.getByRole('button', { name: 'Complete' }).click();
  await findColumn(page, 'Done').locator(`a[data-number="${getDigits(task)}"]`).waitFor();
  await expect.poll(() => getColumn(stage, task)).toBe('done');
});

scene('a task with an open dependency cannot be moved to Ready, and the page names the dependency', async ({ page, stage }) => {
  const first = await createTask(stage, 'Must be first');
  const second = await createTask(stage, 'Comes after', { dependsOn: [first.number] });
  await page.goto(`${stage.url}/tasks`);
  await findColumn(page, 'Blocked').locator(`a[data-number="${getDigits(second)}"]`).waitFor();
  await dragTo(page, findCard(page, second), findColumn(page, 'Ready'));
  await page.getByRole('alert').getByText(`${second.number} waits for ${first.number}`, { exact: false }).waitFor();
  await stage.callTool('mcp__session__task-update', { id: first.number, status: 'completed' });
  await findColumn(page, 'Ready').locator(`a[data-number="${getDigits(second)}"]`).waitFor();
});

scene('the menu moves a task with the keyboard alone', async ({ page, stage }) => {
  const task = await createTask(stage, 'By keys', { priority: 0 });
  await page.goto(`${stage.url}/tasks?q=By+keys`);
  await findCard(page, task).waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('data-number'))).toBe(getDigits(task));
  await page.keyboard.press('.');
  await page.getByRole('menuitem', { name: 'Move to In progress' }).waitFor();
  await checkAccessibility(page);
  await page.keyboard.press('ArrowDown');
  await page.getByRole('menuitem', { name: 'Move to In progress' }).press('Enter');
  await findColumn(page, 'In progress').locator(`a[data-number="${getDigits(task)}"]`).waitFor();
  await expect.poll(() => getColumn(stage, task)).toBe('inProgress');
  // Screen readers announce the move.
  await expect.poll(() => page.getByRole('status').allTextContents()).toContain(`${task.number} moved to In progress.`);
  await findCard(page, task).press('Enter');
  await page.getByRole('complementary', { name: `Task ${task.number}` }).waitFor();
});

scene('lines connect a task with its dependencies and dependents', async ({ page, stage }) => {
  const base = await createTask(stage, 'Line base', { priority: 0 });
  const middle = await createTask(stage, 'Line middle', { priority: 0, dependsOn: [base.number] });
  const top = await createTask(stage, 'Line top', { priority: 0, dependsOn: [middle.number] });
  await stage.callTool('mcp__session__task-update', { id: middle.number, status: 'in_progress' });
  await page.goto(`${stage.url}/tasks?q=Line&task=${getDigits(middle)}`);
  const edge = (from: CreatedTask, to: CreatedTask) => page.locator(`path[data-edge="${getDigits(from)}-${getDigits(to)}"]`);
  for (const line of [edge(base, middle), edge(middle, top)]) {
    await line.waitFor({ state: 'attached' });
    expect(await line.getAttribute('d')).toMatch(/^M[\d.]+ [\d.]+L.*Q/);
  }
  const width = (line: Locator) => line.evaluate((path) => getComputedStyle(path).strokeWidth);
  await expect.poll(() => width(edge(middle, top))).toBe('1.75px');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => width(edge(middle, top))).toBe('1px');
  await findCard(page, top).hover();
  await expect.poll(() => width(edge(middle, top))).toBe('1.75px');
  expect(await width(edge(base, middle))).toBe('1px');
});

scene('a task is assigned to an agent, and its history records it', async ({ page, stage }) => {
  const task = await createTask(stage, 'For a hand');
  const agent = await stage.draftAgent('hand', 'hold');
  const short = agent.slice(-5);
  await page.goto(`${stage.url}/tasks?task=${getDigits(task)}`);
  const panel = page.getByRole('complementary', { name: `Task ${task.number}` });
  await panel.getByRole('button', { name: 'Assign' }).click();
  const dialog = page.getByRole('dialog', { name: `Assign ${task.number}` });
  await dialog.getByLabel('Agent').selectOption(agent);
  await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
  await panel.getByText(`assigned to hand ${short} by the operator`).waitFor();
  await panel.getByRole('link', { name: new RegExp(short) }).waitFor();
  await panel.getByLabel(`Comment on ${task.number}`).fill('Mind the fence.');
  await panel.getByRole('button', { name: 'Comment' }).click();
  await panel.getByText('comment by the operator').waitFor();
  expect(await panel.getByText('Mind the fence.').count()).toBeGreaterThan(0);
  await panel.getByLabel('Priority').selectOption('0');
  await panel.getByText('priority changed from 2 to 0 by the operator').waitFor();
  await panel.getByText('Show all').click();
  await panel.getByText('Original Request').waitFor();
  await checkAccessibility(page);
  // The card shows the agent; the agent's own status update moves the card.
  await stage.post('/mcp/execute', { agentId: agent, toolName: 'mcp__task__update_status', input: { taskId: task.number, status: 'IN_PROGRESS' } });
  await findColumn(page, 'In progress').getByRole('link', { name: /For a hand/ }).waitFor();
  await panel.getByText(`claimed by hand ${short}`).waitFor();
  await stage.cli('kill', agent);
  await panel.getByText(`hand ${short} ended, killed: released`).waitFor();
});

scene('an epic filters the board', async ({ page, stage }) => {
  const { id } = await stage.callTool<{ id: string }>('mcp__epic__create', { title: 'Leases that hold' });
  const inside = await createTask(stage, 'Inside', { epicId: id });
  const outside = await createTask(stage, 'Outside');
  await page.goto(`${stage.url}/tasks`);
  await findCard(page, outside).waitFor();
  const epic = page.getByRole('button', { name: /Leases that hold/ });
  expect(await epic.textContent()).toContain('0 of 1');
  await epic.click();
  await findCard(page, outside).waitFor({ state: 'detached' });
  await findCard(page, inside).waitFor();
  expect(new URL(page.url()).searchParams.get('epic')).toBe(id);
  await stage.callTool('mcp__supervisor__force_complete_task', { taskId: inside.number, reason: 'it is' });
  await expect.poll(() => epic.textContent()).toContain('1 of 1');
  await epic.click();
  await findCard(page, outside).waitFor();
});

scene('the graph shows dependencies, and its tasks are links', async ({ page, stage }) => {
  const base = await createTask(stage, 'Graph base');
  const top = await createTask(stage, 'Graph top', { dependsOn: [base.number] });
  await page.goto(`${stage.url}/tasks?view=graph&q=Graph`);
  const node = page.getByRole('link', { name: new RegExp(`${top.number} · Blocked\\s*Graph top`) });
  await node.waitFor();
  await checkAccessibility(page);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.getByText('125%').waitFor();
  await page.keyboard.press('-');
  await page.getByText('100%').waitFor();
  await node.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: `Task ${top.number}` }).getByRole('link', { name: /Graph base/ }).waitFor();
});

scene('thousands of tasks are scrolled with few elements', async ({ page, stage }) => {
  for (let batch = 0; batch < 30; batch += 1) {
    const tasks = Array.from({ length: 100 }, (_, at) => ({ content: `Many ${batch * 100 + at}`, priority: 4 }));
    await stage.callTool('mcp__session__task-add', { tasks });
  }
  await page.goto(`${stage.url}/tasks`);
  const ready = findColumn(page, 'Ready');
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
  await checkAccessibility(page);
  await page.getByRole('searchbox').fill('Many 2999');
  await page.getByRole('row', { name: /Many 2999/ }).waitFor();
});

scene('read-only visitors see no button that acts', { as: 'viewer' }, async ({ page, stage }) => {
  const task = await createTask(stage, 'Look at me');
  await page.goto(`${stage.url}/tasks?q=look&task=${getDigits(task)}`);
  await findCard(page, task).waitFor();
  await page.getByRole('complementary', { name: `Task ${task.number}` }).getByText('created by the operator').waitFor();
  for (const name of ['New task', 'Assign', 'Start agent', 'Cancel task', 'Comment', `Menu of ${task.number}`]) {
    expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  }
  expect(await findCard(page, task).getAttribute('draggable')).not.toBe('true');
  await checkAccessibility(page);
});

scene('a phone shows one column at a time, and a task as a sheet', { width: 390 }, async ({ page, stage }) => {
  const task = await createTask(stage, 'On a phone', { priority: 0 });
  await page.goto(`${stage.url}/tasks?q=phone`);
  await findCard(page, task).waitFor();
  await page.getByRole('button', { name: `Menu of ${task.number}` }).click();
  await page.getByRole('menuitem', { name: 'Move to In progress' }).click();
  await page.getByRole('radio', { name: /^Doing/ }).click();
  await findCard(page, task).waitFor();
  await checkAccessibility(page);
  await findCard(page, task).click();
  const sheet = page.getByRole('dialog', { name: task.number });
  await sheet.getByText('moved from ready to in progress by the operator').waitFor();
  await checkAccessibility(page);
  await sheet.getByRole('button', { name: 'Close' }).click();
  await sheet.waitFor({ state: 'detached' });
});
