// The mail page: agents ask, the operator answers on the page, and the agents continue.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { checkAccessibility, expect, scripted, defineScenes, type Stage } from './harness';

/** Stand-in for Claude Code: asks for permission to use a tool, and records the answer. */
const CLAUDE_SCRIPT = `#!/bin/sh
hear() { IFS= read -r line || exit 0; printf '%s\\n' "$line" >> heard; }
hear
printf '%s\\n' '{"type":"system","subtype":"init","session_id":"s-1","model":"m","mcp_servers":[]}'
printf '%s\\n' '{"type":"control_request","request_id":"r-1","request":{"subtype":"can_use_tool","tool_name":"WebFetch","input":{"url":"https://example.com"}}}'
hear
printf '%s\\n' '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","session_id":"s-1"}'
`;
const claudePath = join(mkdtempSync(join(tmpdir(), 'adjutant-claude-')), 'claude.sh');
writeFileSync(claudePath, CLAUDE_SCRIPT);
chmodSync(claudePath, 0o755);
afterAll(() => rmSync(dirname(claudePath), { recursive: true }));

const scene = defineScenes({
  roles: { hand: scripted('worker', 'worktree: none'), fetcher: 'category: worker\nagent: claude\nworktree: none' },
  variables: { ADJUTANT_AGENTS_CLAUDE_BINARY: claudePath, ADJUTANT_AGENTS_ASKS: 'person' },
  scenarios: `
scenarios:
  choose:
    steps:
      - call: mail_send
        with:
          toHuman: true
          subject: Which lock may I take?
          body: |
            Advisory locks are **shared** by the whole database (\`deploy/cron.sql\`).

            Which one?

            1. Hash of the path: two homes never meet
            2. One fixed number: simpler
      - call: mail_list_inbox
        with: {waitSeconds: 200}
        save: inbox
      # What it has not read when it ends would be forwarded to the human.
      - call: mail_read
        with: {mailId: '{{inbox.mails.0.id}}'}
      - result: {summary: '{{inbox.mails.0.body}}'}
  talk:
    steps:
      - call: mail_send
        with: {toHuman: true, subject: '{{args.1}}', body: 'I go on with it. May I?'}
      - call: mail_list_inbox
        with: {waitSeconds: 200}
        save: inbox
      - call: mail_reply
        with: {originalMailId: '{{inbox.mails.0.id}}', body: 'Thank you.'}
      - result: {summary: '{{inbox.mails.0.body}}'}
`,
});

interface EndedAgent {
  readonly state: string;
  readonly result: { readonly summary: string };
}
const awaitAgent = (stage: Stage, agent: string) => stage.json<EndedAgent>('await', agent);

/** Sends mail to the operator in an agent's name. */
const sendMail = (stage: Stage, agentId: string, subject: string, body = 'b') =>
  stage.post('/mcp/execute', { agentId, toolName: 'mcp__mail__send', input: { toHuman: true, subject, body } });

scene('a question is answered with an offered answer, and the agent continues', async ({ page, stage }) => {
  const agent = await stage.draftAgent('hand', 'choose');
  await page.goto(`${stage.url}/mail`);
  await page.getByRole('heading', { name: 'Needs an answer' }).waitFor();
  await expect.poll(() => page.title()).toBe('(1) Mail · Adjutant');
  await page.getByRole('button', { name: /Which lock may I take\?/ }).click();
  await page.getByRole('heading', { name: 'Which lock may I take?' }).waitFor();
  // Offered answers are removed from the Markdown body and shown once, as buttons.
  await page.locator('article strong', { hasText: 'shared' }).waitFor();
  const offers = page.getByRole('radiogroup', { name: 'Offered answers' });
  expect(await offers.getByRole('radio').count()).toBe(2);
  expect(await page.locator('article').getByText('One fixed number').count()).toBe(1);
  await page.getByText(/Wakes \w{5} at once/).waitFor();
  await checkAccessibility(page);
  await page.keyboard.press('2');
  await page.getByRole('radio', { name: /One fixed number/, checked: true }).waitFor();
  await page.getByLabel('Your answer').fill('But soon.');
  await page.keyboard.press('Control+Enter');
  const ended = await awaitAgent(stage, agent);
  expect(ended).toMatchObject({ state: 'succeeded', result: { summary: '2. One fixed number: simpler\n\nBut soon.' } });
  await page.getByText(/Answered by you at/).waitFor();
  await page.getByText('settled').waitFor();
  await expect.poll(() => page.title()).toBe('Mail · Adjutant');
});

for (const [verb, behavior, comment] of [['Allow', 'allow', ''], ['Deny', 'deny', 'Not from here.']] as const) {
  scene(`the operator answers ${behavior} to a permission request`, async ({ page, stage }) => {
    const agent = await stage.draftAgent('fetcher', 'Look it up');
    await page.goto(`${stage.url}/mail`);
    await page.getByRole('button', { name: /May fetcher use WebFetch\?/ }).first().click();
    await page.locator('article').getByText('https://example.com').waitFor();
    // Any other text would deny the request, so the page requires one of the two offers.
    await page.getByLabel('Your answer').fill('sure');
    await page.getByText('Choose Allow or Deny first.').waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await page.getByLabel('Your answer').fill(comment);
    await page.getByRole('radio', { name: verb }).first().click();
    await page.getByRole('button', { name: verb, exact: true }).click();
    expect(await stage.waitForEnd(agent)).toBe('succeeded');
    const answer = readFileSync(join(stage.project, 'heard'), 'utf8').trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(answer)).toMatchObject({ type: 'control_response', response: { response: { behavior } } });
    await page.getByText(verb === 'Allow' ? /Allowed by you/ : /Denied by you/).waitFor();
    expect(await page.getByRole('radiogroup', { name: 'Offered answers' }).count(), 'it is answered once').toBe(0);
  });
}

scene('an open thread grows in order', async ({ page, stage }) => {
  const agent = await stage.draftAgent('hand', 'talk Progress');
  await page.goto(`${stage.url}/mail`);
  await page.getByRole('button', { name: /Progress/ }).click();
  await page.getByLabel('Your answer').fill('Yes.');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('article').getByText('Thank you.').waitFor();
  const texts = await page.locator('article').allInnerTexts();
  expect(texts.map((text) => /May I\?|Yes\.|Thank you\./.exec(text)?.[0])).toEqual(['May I?', 'Yes.', 'Thank you.']);
  expect(await awaitAgent(stage, agent)).toMatchObject({ result: { summary: 'Yes.' } });
  await page.getByText(/has ended: the answer goes to the next agent of its task/).waitFor();
});

scene('new mail waits behind a button, and `e` marks mail as read', async ({ page, stage }) => {
  const { agentId } = await stage.json<{ agentId: string }>('enlist', '--role', 'hand');
  await sendMail(stage, agentId, 'First');
  await sendMail(stage, agentId, 'Second');
  await page.goto(`${stage.url}/mail`);
  const rows = page.getByRole('region', { name: 'Mail list' }).getByRole('listitem').getByRole('button');
  await page.getByRole('button', { name: /Second/ }).click();
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  const before = await rows.count();
  const top = await rows.first().innerText();
  await sendMail(stage, agentId, 'Third');
  await sendMail(stage, agentId, 'Fourth?');
  await page.getByRole('button', { name: 'Show 2 new' }).waitFor();
  expect(await rows.count()).toBe(before);
  expect(await rows.first().innerText()).toBe(top);
  await page.keyboard.press('e');
  await page.getByText('Marked as read').waitFor();
  const listMail = async () => (await stage.get<{ letters: { subject: string; readAt: string | null }[] }>('/api/mail')).letters;
  await expect.poll(async () => (await listMail()).find((mail) => mail.subject === 'Second')?.readAt).not.toBeNull();
  await page.getByRole('button', { name: 'Show 2 new' }).click();
  await expect.poll(() => rows.count()).toBe(before + 2);
  await page.getByRole('button', { name: /Fourth\?/ }).waitFor();
  await stage.cli('discharge', agentId);
});

scene('mail is sent to an agent, and found under all agents', async ({ page, stage }) => {
  const { agentId } = await stage.json<{ agentId: string }>('enlist', '--role', 'hand');
  await page.goto(`${stage.url}/mail`);
  await page.getByRole('button', { name: 'Write mail' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To').selectOption(agentId);
  await dialog.getByLabel('Subject').fill('A word');
  await dialog.getByLabel('Body').fill('Mind the **tests**.');
  await checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('radio', { name: 'All agents' }).click();
  await page.getByRole('button', { name: /A word/ }).click();
  await page.getByText('You cannot answer this mail.').waitFor();
  await page.getByLabel('Filter mail').fill('mind the');
  await page.getByRole('button', { name: /A word/ }).waitFor();
  await page.getByLabel('Filter mail').fill('no such words');
  await page.getByText('No matching mail').waitFor();
  await stage.cli('discharge', agentId);
});

scene('read-only visitors can read mail but not act', { as: 'viewer', colours: 'dark' }, async ({ page, stage }) => {
  const { agentId } = await stage.json<{ agentId: string }>('enlist', '--role', 'hand');
  await sendMail(stage, agentId, 'Left or right?', 'Which?\n\n1. Left\n2. Right\n');
  await page.goto(`${stage.url}/mail`);
  await page.getByRole('button', { name: /Left or right\?/ }).click();
  await page.locator('article', { hasText: 'Right' }).waitFor();
  await checkAccessibility(page);
  for (const name of ['Send', 'Write mail', 'Mark as read']) expect(await page.getByRole('button', { name }).count(), name).toBe(0);
  expect(await page.getByLabel('Your answer').count()).toBe(0);
  await stage.cli('discharge', agentId);
});

scene('a phone shows one pane at a time', { width: 390 }, async ({ page, stage }) => {
  const { agentId } = await stage.json<{ agentId: string }>('enlist', '--role', 'hand');
  await sendMail(stage, agentId, 'Which way?', 'Choose?\n\n1. Left\n2. Right\n');
  await page.goto(`${stage.url}/mail`);
  await page.getByRole('button', { name: /Which way\?/ }).click();
  await page.getByRole('heading', { name: 'Which way?' }).waitFor();
  expect(await page.getByRole('region', { name: 'Mail list' }).isVisible()).toBe(false);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await checkAccessibility(page);
  await page.getByRole('radio', { name: 'Left' }).click();
  await page.getByRole('button', { name: 'Send 1' }).click();
  await page.getByText(/Answered by you/).waitFor();
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await page.getByRole('region', { name: 'Mail list' }).waitFor();
  await stage.cli('discharge', agentId);
});

scene('an unknown address is reported', { noise: [/404/] }, async ({ page, stage }) => {
  await page.goto(`${stage.url}/mail/mail_0000000000000000`);
  await page.getByText('This thread could not be read').waitFor();
  await page.getByText('there is no mail `mail_0000000000000000`').waitFor();
});
