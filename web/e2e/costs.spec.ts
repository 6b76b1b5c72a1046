// The costs page: totals, plots, tables and the CSV export of usage that scripted agents report.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { checkAccessibility, expect, scripted, defineScenes, type Scene } from './harness';

const scene = defineScenes({
  roles: {
    lead: scripted('supervisor', 'worktree: none', 'budget: {usd: 40}'),
    coder: scripted('worker', 'worktree: none', 'budget: {usd: 6}'),
    tester: scripted('worker', 'worktree: none', 'budget: {usd: 3}'),
  },
  scenarios: `
scenarios:
  lead:
    steps:
      - model: opus
      - {call: task_create, with: {title: Fence stale claims}, save: fence}
      - {call: task_create, with: {title: Retry the parser}, save: parser}
      - {call: draft_agent, with: {role: coder, prompt: good, taskSlug: '{{fence.slug}}'}, save: one}
      - {call: draft_agent, with: {role: tester, prompt: bad, taskSlug: '{{parser.slug}}'}, save: two}
      - burn: {input_tokens: 1000, output_tokens: 500, cache_read_tokens: 8500, cost_usd: 2}
      - {call: await_agent, with: {agentId: '{{one.agentId}}', waitSeconds: 60}}
      - {call: await_agent, with: {agentId: '{{two.agentId}}', waitSeconds: 60}}
      - {result: {status: success, summary: led}}
  good:
    steps:
      - model: sonnet
      - tool: {name: Bash, input: {command: make}}
      - repeat: {times: 4, steps: [{call: system_log_decision, with: {title: 'd {{i}}', body: b}}]}
      - {call: mail_read, with: {mailId: mail_0000000000000000}, fails: RESOURCE_NOT_FOUND}
      - {call: epic_create, with: {title: Not for me}, fails: PERMISSION_DENIED}
      - burn: {input_tokens: 100, output_tokens: 100, cost_usd: 1.5}
      - {result: {status: success, summary: fenced}}
  bad:
    steps:
      - model: sonnet
      - burn: {input_tokens: 100, output_tokens: 100, cost_usd: 0.5}
      - {fail: could not}
`,
});

let leadId: string | null = null;

async function playOnce({ stage }: Scene): Promise<string> {
  if (leadId === null) {
    leadId = await stage.draftAgent('lead', 'lead');
    expect(await stage.waitForEnd(leadId)).toBe('succeeded');
  }
  return leadId;
}

async function openCosts(at: Scene, query = ''): Promise<Page> {
  await playOnce(at);
  await at.page.goto(`${at.stage.url}/costs${query}`);
  await at.page.getByRole('heading', { name: /^Total, and each/ }).waitFor();
  return at.page;
}

const findFigure = (page: Page, name: string) => page.locator('dt', { hasText: name }).locator('..');

scene('figures, plot and table show the reported usage', async (at) => {
  const page = await openCosts(at);
  await findFigure(page, 'Spent today').getByText('$4.00').waitFor();
  await findFigure(page, 'Rate now').getByText('an hour').waitFor();
  await findFigure(page, 'Tokens').getByText('10 k').waitFor();
  await findFigure(page, 'Tokens').getByText(/^\d+% read from cache$/).waitFor();
  await findFigure(page, 'Spent on failed work').getByText('$0.50').waitFor();
  await findFigure(page, 'Spent on failed work').getByRole('link', { name: 'TAS-3' }).waitFor();
  await page.getByRole('img', { name: /^Running total and each hour by role/ }).waitFor();
  const ranking = page.getByRole('table', { name: 'Spent by role' });
  expect(await ranking.getByRole('row').allTextContents()).toEqual(['lead$2.0050%', 'coder$1.5038%', 'tester$0.5013%']);

  // Screen readers always get the table; the button shows it to everyone.
  const table = page.getByRole('table', { name: 'Dollars over time by role' });
  expect((await table.getByRole('row').last().getByRole('cell').allTextContents()).at(-1)).toBe('$4.00');
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('region', { name: 'The series as a table' }).waitFor();
  await checkAccessibility(page);
});

scene('usage is grouped in four ways, in money and in tokens, and the address keeps the choice', async (at) => {
  const page = await openCosts(at);
  await page.getByRole('radio', { name: 'By model' }).click();
  await page.getByRole('table', { name: 'Spent by model' }).getByText('opus').waitFor();
  await page.getByRole('radio', { name: 'By task' }).click();
  await page.getByRole('table', { name: 'Spent by task' }).getByText('TAS-2 Fence stale claims').waitFor();
  await page.getByRole('radio', { name: 'By lineage' }).click();
  const lineage = page.getByRole('table', { name: 'Spent by lineage' });
  await lineage.getByText('$4.00').waitFor();
  expect(await lineage.getByRole('row').count()).toBe(1);
  await page.getByRole('radio', { name: 'Tokens' }).click();
  await lineage.getByText('10 k').waitFor();
  await page.getByRole('radio', { name: '7 days' }).click();
  await page.getByRole('heading', { name: 'Total, and each day by lineage' }).waitFor();
  expect(new URL(page.url()).search).toBe('?by=lineage&unit=tokens&span=7d');
  await page.reload();
  await page.getByRole('heading', { name: 'Total, and each day by lineage' }).waitFor();

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]);
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
  expect(lines[0]).toBe('from,lineage,usd,tokens');
  expect(lines.slice(1).reduce((sum, line) => sum + Number(line.split(',')[2]), 0)).toBe(4);
});

scene('the budget of a lineage links to its agents', async (at) => {
  const page = await openCosts(at);
  await page.getByRole('heading', { name: "Budget of lead: $40.00" }).waitFor();
  const boxes = page.getByRole('region', { name: 'Budget of a lineage' }).getByRole('link');
  expect(await boxes.count()).toBe(3);
  await boxes.filter({ hasText: '$4.00 of $40.00' }).waitFor();
  await page.getByRole('link', { name: /^coder .*TAS-2, Done: \$1\.50 of \$6\.00$/ }).waitFor();
  await boxes.first().click();
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/agents/${await playOnce(at)}`);
});

scene('the use of tools is listed', async (at) => {
  const page = await openCosts(at);
  const table = page.getByRole('table', { name: /^Use of tools/ });
  const row = (name: string) => table.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
  expect(await row('system__log_decision').getByRole('cell').first().textContent()).toBe('4');
  await row('mail__read').getByLabel('failed').waitFor();
  await row('epic__create').getByLabel('denied').waitFor();
  await row('system__log_decision').getByRole('img', { name: /^median .* 95th percentile/ }).waitFor();
  await row('Bash').getByText("agents' own").waitFor();
  await row('epic__create').getByRole('link').click();
  await page.getByRole('table', { name: 'Calls' }).getByText('denied').waitFor();
});

scene('the axes are drawn without data', async (at) => {
  const page = await openCosts(at, '?span=range&from=2020-01-01&to=2020-01-02');
  await page.getByText('No spending in this range').waitFor();
  await page.getByRole('img', { name: /^Running total/ }).waitFor();
  await checkAccessibility(page);
  await page.getByLabel('From', { exact: true }).fill('2020-01-02');
  await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe('2020-01-02');
});

scene('it fits a phone', { width: 390 }, async (at) => {
  const page = await openCosts(at);
  await findFigure(page, 'Spent today').getByText('$4.00').waitFor();
  await checkAccessibility(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});

scene('the page is accessible in the dark, at medium width, for read-only visitors', { width: 900, colours: 'dark', as: 'viewer' }, async (at) => {
  const page = await openCosts(at);
  await page.getByRole('table', { name: 'Spent by role' }).waitFor();
  await checkAccessibility(page);
});
