// The crew page: the tree of agents, their activity, and the actions on them.
import { checkAccessibility, expect, scripted, defineScenes, type Scene, type Stage } from './harness';

const scene = defineScenes({
  roles: {
    hand: scripted('worker', 'worktree: none', 'budget: {usd: 5}', 'description: Does what it is told'),
    lead: scripted('orchestrator', 'worktree: none'),
    broken: 'category: worker\nagent: command\ncommand: [no-such-program]\nworktree: none',
  },
  scenarios: `
scenarios:
  hold:
    steps:
      - {say: I look at the locks}
      - {burn: {cost_usd: 1.25}}
      - {tool: {name: Bash, input: {command: cargo test}}}
      - {wait_file: {path: never, seconds: 900}}
  ask:
    steps:
      - {call: mail_send, with: {toHuman: true, subject: 'Which lock may I take?', body: One of two}}
      - {wait_file: {path: never, seconds: 900}}
  lead:
    steps:
      - {call: draft_agent, with: {role: hand, prompt: hold}, save: one}
      - {call: draft_agent, with: {role: hand, prompt: hold}}
      - {call: await_agent, with: {agentId: '{{one.agentId}}', waitSeconds: 100}, until: {status: completed}, tries: 100}
  done:
    steps:
      - {result: {status: success, summary: All of it is done}}
`,
});

const findTree = ({ page }: Pick<Scene, 'page'>) => page.getByRole('treegrid', { name: 'Crew' });
const findRow = (at: Pick<Scene, 'page'>, text: RegExp | string) => findTree(at).getByRole('row').filter({ hasText: text });
const shortenId = (id: string) => id.slice(-5);
const getState = async (stage: Stage, id: string) => (await stage.get<{ state: string }>(`/api/agents/${id}`)).state;

async function killAll(stage: Stage): Promise<void> {
  const { rows } = await stage.get<{ rows: { id: string }[] }>('/api/crew?past=leave&limit=1000');
  for (const one of rows) await stage.callTool('mcp__harness__kill_agent', { agentId: one.id });
}

scene('an empty crew shows how to start', async ({ page }) => {
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  await page.getByText('adjutant demo', { exact: true }).waitFor();
  await checkAccessibility(page);
});

scene('an agent is started on the page, followed in the tree, and killed', async (at) => {
  const { page, stage } = at;
  // Buttons that act appear only after the page knows the visitor's rights.
  await page.getByRole('button', { name: 'Start agent' }).first().waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Start agent' });
  await dialog.getByLabel('Role').selectOption('hand');
  await dialog.getByText('Does what it is told').waitFor();
  await dialog.getByLabel('Instructions').fill('hold');
  await dialog.getByLabel('Time limit, minutes').fill('30');
  await dialog.getByLabel('Budget, dollars').fill('4');
  await checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Start agent' }).click();
  await dialog.waitFor({ state: 'detached' });

  const hand = findRow(at, /hand/);
  await expect.poll(() => hand.getAttribute('data-state')).toBe('running');
  await hand.getByText('Running', { exact: true }).waitFor({ state: 'attached' });
  await hand.getByText('Bash cargo test').waitFor();
  await hand.getByText('$1.25').waitFor();
  await hand.getByText('of $4.00').waitFor();
  const dock = page.getByRole('region', { name: 'Selected agent' });
  await dock.getByRole('log').getByText('I look at the locks').waitFor();
  await dock.getByText(/ of 30 m$/).waitFor();
  await checkAccessibility(page);

  await page.keyboard.press('a');
  const id = new URL(page.url()).searchParams.get('agent') ?? '';
  await page.getByRole('dialog').getByText(`adjutant attach ${id}`).waitFor();
  await page.keyboard.press('Escape');

  await page.keyboard.press('x');
  const confirmation = page.getByRole('dialog', { name: `Kill hand ${shortenId(id)}?` });
  await confirmation.getByText('$1.25 of $4.00 is spent; $2.75 is returned.').waitFor();
  await confirmation.getByRole('button', { name: 'Kill' }).click();
  await expect.poll(() => hand.getAttribute('data-state')).toBe('killed');
  await hand.getByText('killed by the operator').waitFor();
  expect(await getState(stage, id)).toBe('killed');
  await dock.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog', { name: `Resume ${shortenId(id)}` }).waitFor();
});

scene('a failed start has a reason, and invalid input an error at its field', async ({ page }) => {
  await page.getByRole('button', { name: 'Start agent' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Start agent' });
  await dialog.getByLabel('Instructions').fill('hold');
  await dialog.getByLabel('Budget, dollars').fill('much');
  await dialog.getByRole('button', { name: 'Start agent' }).click();
  await dialog.getByText('“much” is not a budget: write a number above 0.').waitFor();
  await dialog.getByLabel('Budget, dollars').fill('');
  await dialog.getByLabel('Role').selectOption('broken');
  await dialog.getByRole('button', { name: 'Start agent' }).click();
  await dialog.getByText('The agent was not started').waitFor();
  await dialog.getByText(/`no-such-program` is not there/).waitFor();
});

scene('a tree unfolds, is navigated with keys, and its kill states the number of agents', async (at) => {
  const { page, stage } = at;
  const lead = await stage.draftAgent('lead', 'lead');
  const top = findRow(at, new RegExp(shortenId(lead)));
  await top.getByText('await_agent').waitFor();
  await expect.poll(() => top.getAttribute('aria-expanded')).toBe('true');
  const below = findTree(at).locator('[role=row][aria-level="2"]').filter({ hasText: 'hand' });
  await expect.poll(() => below.getByText('Bash cargo test').count()).toBe(2);
  expect(await below.first().getAttribute('aria-posinset')).toBe('1');
  expect(await below.first().getAttribute('aria-setsize')).toBe('2');

  await top.click();
  await findTree(at).focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => below.count()).toBe(0);
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => below.count()).toBe(2);
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => below.first().getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('k');
  await expect.poll(() => top.getAttribute('aria-selected')).toBe('true');
  expect(await findTree(at).getAttribute('aria-activedescendant')).toBe(`crew-${lead}`);

  await page.keyboard.press('Shift+X');
  const confirmation = page.getByRole('dialog', { name: `Kill lead ${shortenId(lead)} and 2 agents below it?` });
  await confirmation.getByText('The agent and the 2 live agents below it end, deepest first.').waitFor();
  await confirmation.getByRole('button', { name: 'Kill 3 agents' }).click();
  await expect.poll(() => getState(stage, lead)).toBe('killed');
  await expect.poll(() => findTree(at).locator('[role=row][aria-level="2"][data-state=killed]').count()).toBe(2);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/agents/${lead}`);
});

scene('open questions appear at the top and disappear live', async (at) => {
  const { page, stage } = at;
  const asker = await stage.draftAgent('hand', 'ask');
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Which lock may I take?', { exact: true }).waitFor();
  await needs.getByText(new RegExp(`hand ${shortenId(asker)}`)).waitFor();
  await checkAccessibility(page);
  await needs.getByRole('link', { name: /^Answer/ }).click();
  await page.waitForURL('**/mail/mail_*');
  await page.goBack();
  await stage.callTool('mcp__harness__kill_agent', { agentId: asker });
  await needs.waitFor({ state: 'detached' });
});

scene('read-only visitors see the crew and no button that acts', { as: 'viewer' }, async (at) => {
  const { page, stage } = at;
  const id = await stage.draftAgent('hand', 'hold');
  await findRow(at, new RegExp(shortenId(id))).click();
  await page.getByRole('region', { name: 'Selected agent' }).getByRole('link', { name: /Open/ }).waitFor();
  for (const name of ['Kill', 'Mail', 'Start agent', 'Abandon']) expect(await page.getByRole('button', { name }).count()).toBe(0);
  await page.keyboard.press('x');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await killAll(stage);
});

scene('on a phone a row has two lines and opens its agent', { width: 390, colours: 'dark' }, async (at) => {
  const { page, stage } = at;
  const id = await stage.draftAgent('hand', 'hold');
  const ownRow = findTree(at).locator(`#crew-${id}`);
  await ownRow.getByText('Bash cargo test').waitFor();
  const box = await ownRow.boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(54);
  expect(box?.width).toBeLessThanOrEqual(390);
  await checkAccessibility(page);
  await ownRow.click();
  await page.waitForURL(`**/agents/${id}`);
  await killAll(stage);
});

scene('in a narrow window the selected agent is a sheet', { width: 900 }, async (at) => {
  const { page, stage } = at;
  const id = await stage.draftAgent('hand', 'hold');
  await findTree(at).locator(`#crew-${id}`).click();
  const sheet = page.getByRole('dialog', { name: `hand ${shortenId(id)}` });
  await sheet.getByText('Bash').first().waitFor();
  await checkAccessibility(page);
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await killAll(stage);
});

scene('the bar counts as many running agents as the list', async ({ page, stage }) => {
  await killAll(stage);
  await stage.draftAgent('lead', 'lead');
  // The lead waits for its child and occupies no slot meanwhile.
  const counts = async () => {
    const { running, agents } = await stage.get<{ running: { used: number }; agents: { running: number } }>('/api/overview');
    return [running.used, agents.running];
  };
  await expect.poll(counts).toEqual([2, 3]);
  await page.getByRole('radio', { name: /^Running\s*3$/ }).waitFor();
  await page.getByText(/^3 running, 2 of \d+ slots$/).waitFor();
  await killAll(stage);
});

scene('with two thousand agents only visible rows are rendered, and all are found', async (at) => {
  const { page, stage } = at;
  const existingCount = (await stage.get<{ agents: { all: number } }>('/api/overview')).agents.all;
  const ids: string[] = [];
  for (let from = 0; from < 2000; from += 100) {
    const batch = Array.from({ length: 100 }, () => stage.post<{ agentId: string }>('/api/agents', { role: 'hand' }));
    ids.push(...(await Promise.all(batch)).map((joined) => joined.agentId));
  }
  // Agents of one batch arrive in any order, so the last one is enlisted alone.
  const { agentId: last } = await stage.post<{ agentId: string }>('/api/agents', { role: 'hand' });
  await page.reload();
  await page.getByRole('radio', { name: `All ${(existingCount + 2001).toLocaleString('en-US')}` }).waitFor();
  const drawn = () => findTree(at).locator('[role=row][aria-level]').count();
  await expect.poll(drawn).toBeGreaterThan(10);
  expect(await drawn()).toBeLessThan(80);

  await findTree(at).focus();
  // Further pages load as their row scrolls into view.
  await expect.poll(async () => {
    await page.keyboard.press('End');
    return findTree(at).locator(`#crew-${last}`).count();
  }).toBe(1);
  expect(await drawn()).toBeLessThan(80);

  // While the list is scrolled, new agents wait behind a button and no row moves.
  const top = () => findTree(at).evaluate((element) => element.scrollTop);
  const before = await top();
  const added = await stage.post<{ agentId: string }>('/api/agents', { role: 'lead' });
  await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
  expect(await top()).toBe(before);
  await page.getByRole('button', { name: 'Show 1 new' }).click();
  await expect.poll(async () => {
    await page.keyboard.press('End');
    return findTree(at).locator(`#crew-${added.agentId}`).count();
  }).toBe(1);

  const sought = ids[777] ?? '';
  await page.keyboard.press('/');
  await page.keyboard.type(sought.slice(3));
  await expect.poll(drawn).toBe(1);
  await findTree(at).locator(`#crew-${sought}`).waitFor();
  await page.getByRole('searchbox', { name: 'Filter agents' }).fill('nobody has this');
  await page.getByText('No agent has “nobody has this” in its role, id or task.').waitFor();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect.poll(drawn).toBeGreaterThan(10);
  await checkAccessibility(page);
});
