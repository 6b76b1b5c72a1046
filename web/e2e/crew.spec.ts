// The crew page: the tree of agents, their activity, and the actions on them.
import { checkAccessible, expect, scripted, staged, type Scene, type Stage } from './harness';

const scene = staged({
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

const tree = ({ page }: Pick<Scene, 'page'>) => page.getByRole('treegrid', { name: 'Crew' });
const row = (at: Pick<Scene, 'page'>, text: RegExp | string) => tree(at).getByRole('row').filter({ hasText: text });
const short = (id: string) => id.slice(-5);
const stateOf = async (stage: Stage, id: string) => (await stage.get<{ state: string }>(`/api/agents/${id}`)).state;

async function endAll(stage: Stage): Promise<void> {
  const { rows } = await stage.get<{ rows: { id: string }[] }>('/api/crew?past=leave&limit=1000');
  for (const one of rows) await stage.tool('mcp__harness__kill_agent', { agentId: one.id });
}

scene('where nobody is, the page says how to begin', async ({ page }) => {
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  await page.getByText('adjutant demo', { exact: true }).waitFor();
  await checkAccessible(page);
});

scene('an agent is started from the page, watched in the tree, and killed', async (at) => {
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
  await checkAccessible(page);
  await dialog.getByRole('button', { name: 'Start agent' }).click();
  await dialog.waitFor({ state: 'detached' });

  const hand = row(at, /hand/);
  await expect.poll(() => hand.getAttribute('data-state')).toBe('running');
  await hand.getByText('Running', { exact: true }).waitFor({ state: 'attached' });
  await hand.getByText('Bash cargo test').waitFor();
  await hand.getByText('$1.25').waitFor();
  await hand.getByText('of $4.00').waitFor();
  const dock = page.getByRole('region', { name: 'Selected agent' });
  await dock.getByRole('log').getByText('I look at the locks').waitFor();
  await dock.getByText(/ of 30 m$/).waitFor();
  await checkAccessible(page);

  await page.keyboard.press('a');
  const id = new URL(page.url()).searchParams.get('agent') ?? '';
  await page.getByRole('dialog').getByText(`adjutant attach ${id}`).waitFor();
  await page.keyboard.press('Escape');

  await page.keyboard.press('x');
  const asked = page.getByRole('dialog', { name: `Kill hand ${short(id)}?` });
  await asked.getByText('$1.25 of $4.00 is spent; $2.75 goes back.').waitFor();
  await asked.getByRole('button', { name: 'Kill' }).click();
  await expect.poll(() => hand.getAttribute('data-state')).toBe('killed');
  await hand.getByText('killed by the operator').waitFor();
  expect(await stateOf(stage, id)).toBe('killed');
  await dock.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('dialog', { name: `Resume ${short(id)}` }).waitFor();
});

scene('what cannot be started says why, and what is wrong stands at its field', async ({ page }) => {
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

scene('a tree unfolds, is walked with keys, and a kill of it says how many end', async (at) => {
  const { page, stage } = at;
  const lead = await stage.draft('lead', 'lead');
  const top = row(at, new RegExp(short(lead)));
  await top.getByText('await_agent').waitFor();
  await expect.poll(() => top.getAttribute('aria-expanded')).toBe('true');
  const below = tree(at).locator('[role=row][aria-level="2"]').filter({ hasText: 'hand' });
  await expect.poll(() => below.getByText('Bash cargo test').count()).toBe(2);
  expect(await below.first().getAttribute('aria-posinset')).toBe('1');
  expect(await below.first().getAttribute('aria-setsize')).toBe('2');

  await top.click();
  await tree(at).focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => below.count()).toBe(0);
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => below.count()).toBe(2);
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => below.first().getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('k');
  await expect.poll(() => top.getAttribute('aria-selected')).toBe('true');
  expect(await tree(at).getAttribute('aria-activedescendant')).toBe(`crew-${lead}`);

  await page.keyboard.press('Shift+X');
  const asked = page.getByRole('dialog', { name: `Kill lead ${short(lead)} and its 2?` });
  await asked.getByText('It and the 2 live agents below it end, the deepest first.').waitFor();
  await asked.getByRole('button', { name: 'Kill 3 agents' }).click();
  await expect.poll(() => stateOf(stage, lead)).toBe('killed');
  await expect.poll(() => tree(at).locator('[role=row][aria-level="2"][data-state=killed]').count()).toBe(2);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/agents/${lead}`);
});

scene('who asks stands at the top with what settles it, and comes and goes live', async (at) => {
  const { page, stage } = at;
  const asker = await stage.draft('hand', 'ask');
  const needs = page.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Which lock may I take?', { exact: true }).waitFor();
  await needs.getByText(new RegExp(`hand ${short(asker)}`)).waitFor();
  await checkAccessible(page);
  await needs.getByRole('link', { name: /^Answer/ }).click();
  await page.waitForURL('**/mail/mail_*');
  await page.goBack();
  await stage.tool('mcp__harness__kill_agent', { agentId: asker });
  await needs.waitFor({ state: 'detached' });
});

scene('who may only look sees the crew and no button that acts', { as: 'viewer' }, async (at) => {
  const { page, stage } = at;
  const id = await stage.draft('hand', 'hold');
  await row(at, new RegExp(short(id))).click();
  await page.getByRole('region', { name: 'Selected agent' }).getByRole('link', { name: /Open/ }).waitFor();
  for (const name of ['Kill', 'Mail', 'Start agent', 'Abandon']) expect(await page.getByRole('button', { name }).count()).toBe(0);
  await page.keyboard.press('x');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await endAll(stage);
});

scene('on a phone a row has two lines and opens its agent', { width: 390, colours: 'dark' }, async (at) => {
  const { page, stage } = at;
  const id = await stage.draft('hand', 'hold');
  const mine = tree(at).locator(`#crew-${id}`);
  await mine.getByText('Bash cargo test').waitFor();
  const box = await mine.boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(54);
  expect(box?.width).toBeLessThanOrEqual(390);
  await checkAccessible(page);
  await mine.click();
  await page.waitForURL(`**/agents/${id}`);
  await endAll(stage);
});

scene('in a narrow window the selected agent comes as a sheet', { width: 900 }, async (at) => {
  const { page, stage } = at;
  const id = await stage.draft('hand', 'hold');
  await tree(at).locator(`#crew-${id}`).click();
  const sheet = page.getByRole('dialog', { name: `hand ${short(id)}` });
  await sheet.getByText('Bash').first().waitFor();
  await checkAccessible(page);
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await endAll(stage);
});

scene('the bar above counts as many running agents as the list', async ({ page, stage }) => {
  await endAll(stage);
  await stage.draft('lead', 'lead');
  // The lead waits for its child and occupies no slot meanwhile.
  const counts = async () => {
    const { running, agents } = await stage.get<{ running: { used: number }; agents: { running: number } }>('/api/overview');
    return [running.used, agents.running];
  };
  await expect.poll(counts).toEqual([2, 3]);
  await page.getByRole('radio', { name: /^Running\s*3$/ }).waitFor();
  await page.getByText(/^3 running, 2 of \d+ places$/).waitFor();
  await endAll(stage);
});

scene('with two thousand agents only what is seen is drawn, and everything is found', async (at) => {
  const { page, stage } = at;
  const known = (await stage.get<{ agents: { all: number } }>('/api/overview')).agents.all;
  const ids: string[] = [];
  for (let from = 0; from < 2000; from += 100) {
    const batch = Array.from({ length: 100 }, () => stage.post<{ agentId: string }>('/api/agents', { role: 'hand' }));
    ids.push(...(await Promise.all(batch)).map((joined) => joined.agentId));
  }
  // Agents of one batch arrive in any order, so the last one is enlisted alone.
  const { agentId: last } = await stage.post<{ agentId: string }>('/api/agents', { role: 'hand' });
  await page.reload();
  await page.getByRole('radio', { name: `All ${(known + 2001).toLocaleString('en-US')}` }).waitFor();
  const drawn = () => tree(at).locator('[role=row][aria-level]').count();
  await expect.poll(drawn).toBeGreaterThan(10);
  expect(await drawn()).toBeLessThan(80);

  await tree(at).focus();
  // Further pages load as their row scrolls into view.
  await expect.poll(async () => {
    await page.keyboard.press('End');
    return tree(at).locator(`#crew-${last}`).count();
  }).toBe(1);
  expect(await drawn()).toBeLessThan(80);

  // While the list is scrolled, new agents wait behind a button and no row moves.
  const top = () => tree(at).evaluate((element) => element.scrollTop);
  const before = await top();
  const added = await stage.post<{ agentId: string }>('/api/agents', { role: 'lead' });
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect(await top()).toBe(before);
  await page.getByRole('button', { name: '1 new' }).click();
  await expect.poll(async () => {
    await page.keyboard.press('End');
    return tree(at).locator(`#crew-${added.agentId}`).count();
  }).toBe(1);

  const sought = ids[777] ?? '';
  await page.keyboard.press('/');
  await page.keyboard.type(sought.slice(3));
  await expect.poll(drawn).toBe(1);
  await tree(at).locator(`#crew-${sought}`).waitFor();
  await page.getByRole('searchbox', { name: 'Filter agents' }).fill('nobody has this');
  await page.getByText('No agent has “nobody has this” in its role, id or task.').waitFor();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect.poll(drawn).toBeGreaterThan(10);
  await checkAccessible(page);
});
