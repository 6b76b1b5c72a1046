// The agent page: live stream, diff, prompt, calls, mail and result.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAccessibility, expect, scripted, defineScenes, type Stage } from './harness';

const scene = defineScenes({
  roles: {
    coder: `${scripted('coding', 'worktree: fresh', 'budget: {usd: 6, tokens: 1500000}')}`,
    lead: scripted('orchestrator', 'worktree: none'),
    loud: 'category: worker\nagent: command\ncommand: [seq, "1000"]\nworktree: none',
  },
  files: {
    'src/claims.rs': 'pub fn claim(tx: &mut Tx) -> Claim {\n    let fence = row.fence;\n    tx.set_holder(fence)\n}\n',
    'old name.txt': 'one\ntwo\nthree\nfour\n',
  },
  scenarios: `
scenarios:
  fence:
    steps:
      - model: sonnet
      - say: '{"adjutant": {"message": "The claim reads its **fence** before it holds the lease. <b>Not bold</b>"}}'
      - tool: {name: Read, input: {file_path: src/claims.rs}}
      - run: [printf, "\\e[32mPASS\\e[0m claims\\n\\e[31mFAIL\\e[0m fenced\\n"]
      - tool: {name: Bash, input: {command: cargo nextest run}, error: "boom\\nexit 100"}
      - write: {path: src/claims.rs, text: "pub fn claim(tx: &mut Tx) -> Claim {\\n    let fence = lease.fence;\\n    tx.set_holder(fence)\\n}\\n"}
      - run: [git, mv, old name.txt, new name.txt]
      - commit: Compare the fence under the lease lock
      - write: {path: open.txt, text: "not committed\\n"}
      - {call: mail_send, with: {toHuman: true, subject: I mend the claim, body: "It takes *a while*."}}
      - burn: {input_tokens: 400000, output_tokens: 12000, cost_usd: 1.84}
      - wait_file: {path: go, seconds: 900}
      - say: Now I go on and end
      - result: {status: success, summary: "The fence is compared under the **lock**", changes: [src/claims.rs], questions: [Shall I mend the others too?]}
  hold:
    steps: [{say: I hold}, {wait_file: {path: never, seconds: 900}}]
  lead:
    steps:
      - {call: draft_agent, with: {role: coder, prompt: hold}, save: one}
      - {call: await_agent, with: {agentId: '{{one.agentId}}', waitSeconds: 100}, until: {status: completed}, tries: 100}
`,
});

const shortenId = (id: string) => id.slice(-5);
const getState = async (stage: Stage, id: string) => (await stage.get<{ state: string }>(`/api/agents/${id}`)).state;

/**
 * Drafts an agent that plays `fence`, and waits until everything before its `wait_file` step is
 * done.
 */
async function draftFencingCoder(stage: Stage): Promise<{ id: string; folder: string }> {
  const id = await stage.draftAgent('coder', 'fence');
  await expect.poll(async () => (await stage.get<{ costUsd: number | null }>(`/api/agents/${id}`)).costUsd).toBe(1.84);
  const { worktree } = await stage.get<{ worktree: { path: string } }>(`/api/agents/${id}`);
  return { id, folder: worktree.path };
}

scene('an agent in a worktree is followed to its end', async ({ page, stage }) => {
  const { id, folder } = await draftFencingCoder(stage);
  await page.goto(`${stage.url}/agents/${id}`);
  const log = page.getByRole('log', { name: `Stream of coder ${shortenId(id)}` });
  await log.getByText('The claim reads its').waitFor();
  expect(await log.locator('strong').first().textContent()).toBe('fence');
  await log.getByText('<b>Not bold</b>').waitFor();
  await log.getByRole('button', { name: /Read src\/claims\.rs/ }).waitFor();
  expect(await log.getByText('FAIL', { exact: true }).getAttribute('class')).toContain('red');
  await log.getByRole('button', { name: /Bash cargo nextest run exit 100/ }).waitFor();

  const diff = page.getByRole('region', { name: `Changes of adjutant/${id}` });
  await diff.getByRole('button', { name: 'src/claims.rs' }).waitFor();
  await diff.locator('mark', { hasText: 'lease' }).waitFor();
  await diff.getByRole('button', { name: 'old name.txt → new name.txt' }).waitFor();
  await diff.getByRole('button', { name: 'open.txt' }).waitFor();
  await page.getByText('Some changes are not committed yet.').waitFor();
  await page.getByRole('radio', { name: 'Side by side' }).click();
  await diff.getByText('let fence = row.fence;').waitFor();
  await page.keyboard.press(']');
  await page.keyboard.press('v');
  await expect.poll(() => diff.getByRole('checkbox', { checked: true }).count()).toBe(1);

  const timeline = page.getByRole('region', { name: 'Timeline' });
  await timeline.getByText('start', { exact: true }).waitFor();
  await timeline.getByText(/\$1\.84 after/).waitFor();
  await page.getByText('$1.84 of $6.00').waitFor();
  await page.getByText('412 k of 1.5 M').waitFor();
  await checkAccessibility(page);

  await writeFile(join(folder, 'go'), '');
  await log.getByText('Now I go on and end').waitFor();
  await log.getByText('The fence is compared under the').waitFor();
  await page.getByText('Done', { exact: true }).first().waitFor();
  await page.getByRole('tab', { name: 'Result' }).click();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('Shall I mend the others too?').waitFor();
  await page.getByRole('button', { name: 'Resume' }).first().waitFor();
  expect(await page.getByRole('button', { name: /^Kill/ }).count()).toBe(0);
});

scene('prompt, calls and mail are tabs, and the address keeps the choice', async ({ page, stage }) => {
  const { id } = await draftFencingCoder(stage);
  await page.goto(`${stage.url}/agents/${shortenId(id)}?tab=prompt`);
  const prompt = page.getByRole('region', { name: 'Prompt and context' });
  await prompt.getByText('Complete initial context').waitFor();
  await prompt.getByText('# Your Tools').waitFor();
  await page.getByRole('tab', { name: /^Calls/ }).click();
  await page.getByRole('link', { name: /send .*done/ }).waitFor();
  await page.getByRole('tab', { name: /^Mail/ }).click();
  await page.getByRole('link', { name: /I mend the claim/ }).waitFor();
  expect(page.url()).toContain('tab=mail');
  await page.reload();
  await page.getByRole('link', { name: /I mend the claim/ }).waitFor();
  await stage.callTool('mcp__harness__kill_agent', { agentId: id });
});

scene('a message is sent as mail to an agent whose kind does not listen', async ({ page, stage }) => {
  const id = await stage.draftAgent('coder', 'hold');
  await page.goto(`${stage.url}/agents/${id}`);
  await page.getByText('I hold').waitFor();
  const field = page.getByRole('textbox', { name: `Write to coder ${shortenId(id)}` });
  await field.fill('Take the other lock\nplease');
  await field.press('Control+Enter');
  await expect.poll(() => field.inputValue()).toBe('');
  await page.getByRole('tab', { name: /^Mail/ }).click();
  await page.getByRole('link', { name: /Take the other lock.*you to coder/ }).waitFor();
  const { letters } = await stage.get<{ letters: { subject: string }[] }>(`/api/mail?agent=${id}`);
  expect(letters.map((letter) => letter.subject)).toEqual(['Take the other lock']);
  await stage.callTool('mcp__harness__kill_agent', { agentId: id });
});

scene("a tree is killed from its root's page", async ({ page, stage }) => {
  const id = await stage.draftAgent('lead', 'lead');
  await page.goto(`${stage.url}/agents/${id}?side=children`);
  const child = page.getByRole('link', { name: /coder .*/ });
  await child.waitFor();
  await page.keyboard.press('x');
  const dialog = page.getByRole('dialog', { name: `Kill lead ${shortenId(id)} and 1 agent below it?` });
  await dialog.getByRole('button', { name: 'Kill 2 agents' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => getState(stage, id)).toBe('killed');
  await page.getByText('Killed', { exact: true }).first().waitFor();
  await child.click();
  await page.getByRole('link', { name: 'lead' }).waitFor();
  await page.getByText('Killed', { exact: true }).first().waitFor();
});

scene('long output is folded, and scrolling up stops following', async ({ page, stage }) => {
  const id = await stage.draftAgent('loud', 'x');
  await stage.waitForEnd(id);
  await page.goto(`${stage.url}/agents/${id}`);
  const log = page.getByRole('log');
  const more = log.getByRole('button', { name: /earlier lines$/ });
  await more.waitFor();
  await expect.poll(() => log.getByText('1000').count()).toBe(1);
  // The page first loads only the end of the stream.
  const earlier = log.getByRole('button', { name: 'Load earlier' });
  await earlier.click();
  await log.getByRole('button', { name: 'Show 780 earlier lines' }).waitFor();
  await earlier.click();
  await log.getByRole('button', { name: 'Show 980 earlier lines' }).click();
  expect(await earlier.count()).toBe(0);
  await log.getByText('1 2 3 4 5 6 7').waitFor();
  await page.getByRole('button', { name: /At the end|Follow/ }).waitFor();
  await log.evaluate((list) => list.scrollTo({ top: 0 }));
  await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor();
  await page.keyboard.press('f');
  await page.getByRole('button', { name: 'At the end', pressed: true }).waitFor();
});

scene('an unknown agent is reported', { noise: [/404/] }, async ({ page, stage }) => {
  await page.goto(`${stage.url}/agents/sp_0000000000000000`);
  await page.getByText('This agent could not be read').waitFor();
  await page.getByText('AGENT_NOT_FOUND').waitFor();
});

scene('read-only visitors see the stream and no button that acts', { as: 'viewer', colours: 'dark' }, async ({ page, stage }) => {
  const { id } = await draftFencingCoder(stage);
  await page.goto(`${stage.url}/agents/${id}`);
  await page.getByRole('log').getByText('The claim reads its').waitFor();
  await page.getByRole('button', { name: 'src/claims.rs', exact: true }).waitFor();
  for (const name of [/^Kill/, 'Mail', 'Resume', 'Send']) expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  expect(await page.getByRole('textbox').count()).toBe(0);
  await checkAccessibility(page);
  await stage.callTool('mcp__harness__kill_agent', { agentId: id });
});

scene('a phone shows one pane at a time', { width: 390 }, async ({ page, stage }) => {
  const { id } = await draftFencingCoder(stage);
  await page.goto(`${stage.url}/agents/${id}`);
  await page.getByRole('log').getByText('The claim reads its').waitFor();
  expect(await page.getByRole('region', { name: /^Changes of/ }).count()).toBe(0);
  await page.getByRole('tab', { name: /^Diff/ }).click();
  await page.getByRole('button', { name: 'src/claims.rs', exact: true }).waitFor();
  expect(await page.getByRole('log').count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await checkAccessibility(page);
  await stage.callTool('mcp__harness__kill_agent', { agentId: id });
});
