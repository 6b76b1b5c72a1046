// The reviews page: work is inspected, approved, sent back or given another review, and merged.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { checkAccessibility, expect, scripted, defineScenes, type Stage } from './harness';

const scene = defineScenes({
  roles: {
    hand: scripted('worker', 'worktree: fresh'),
    coder: scripted('coding', 'worktree: fresh'),
    reviewer: scripted('review'),
  },
  config: { '\ncheck: null\n': '\ncheck: sh check.sh\n' },
  files: {
    // The reviewer plays the scenario that the coder names.
    '.adjutant/review.md': '{{instructions}}\n\nWork of {{coder}}, review {{iteration}} of {{max_iterations}}.\n',
    'check.sh': `
echo "looking at $(ls | tr '\\n' ' ')"
if [ -e slow.txt ]; then
  touch "$ADJUTANT_HOME/checking"
  until [ -e "$ADJUTANT_HOME/checked" ]; do sleep 0.02; done
fi
if [ -e bad.txt ]; then echo "bad.txt is bad" >&2; exit 3; fi
`,
    'lines.txt': Array.from({ length: 40 }, (_, line) => `line ${line + 1}`).join('\n') + '\n',
  },
  scenarios: `
scenarios:
  add:
    steps:
      - write: {path: '{{args.1}}', text: "{{args.2}}\\n"}
      - commit: Add it
      - result: {summary: added}
  change:
    steps:
      - run: [sh, -c, 'sed -i "s/^line 20$/line twenty/" lines.txt; printf "one\\ntwo\\n" > extra.txt']
      - commit: Change it
      - result: {summary: changed}
  hand_in:
    steps:
      - run: [sh, -c, 'sed -i "s/^line 1$/line one/" lines.txt']
      - commit: Change it
      - call: task_update_status
        with: {status: REVIEW}
      - result: {summary: changed}
  limit:
    steps:
      - repeat:
          times: 3
          steps:
            - append: {path: feature.txt, text: "{{i}}\\n"}
            - commit: "Try {{i}}"
            - call: request_review
              with: {reviewer_prompt: refuse, completion_message: It is done}
            - call: mail_list_inbox
              with: {waitSeconds: 100}
              until: {mails: [{subject: 'Review {{i}}: needs_work'}]}
              save: inbox
            - call: mail_read
              with: {mailId: '{{inbox.mails.0.id}}'}
      - append: {path: feature.txt, text: "more\\n"}
      - commit: Try once more
      - call: request_review
        fails: REVIEW_LIMIT_EXCEEDED
      - run: [sh, -c, 'until [ -e "$ADJUTANT_HOME/lifted" ]; do sleep 0.02; done']
      - call: request_review
        with: {reviewer_prompt: refuse}
        expect: {review_iteration: 4}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 4: needs_work'}]}
      - result: {summary: reviewed four times}
  refuse:
    steps:
      - call: send_feedback
        with:
          feedback: In feature.txt the last line is lost.
          feedback_type: needs_work
          actionable_items: [Say so in the manual]
`,
});

let epicId: string | null = null;

/** Creates a task, lets an agent finish it, and returns its number once it waits for approval. */
async function finishTask(stage: Stage, title: string, prompt: string): Promise<string> {
  epicId ??= (await stage.callTool<{ id: string }>('mcp__epic__create', { title: 'The epic' })).id;
  const slug = title.toLowerCase().replaceAll(' ', '-');
  const task = await stage.callTool<{ number: string }>('mcp__task__create', { title, slug, epicId });
  await stage.cli('run', '--role', 'hand', '--task', slug, prompt);
  await expect.poll(async () => (await stage.callTool<{ state: string }>('mcp__task__get', { taskId: slug })).state).toBe('REVIEW');
  return task.number;
}

const getTaskState = async (stage: Stage, task: string) => (await stage.callTool<{ state: string }>('mcp__task__get', { taskId: task })).state;
const findMergeQueue = (page: Page) => page.getByRole('region', { name: 'Merge queue' });

scene('work is inspected, approved and merged', async ({ page, stage }) => {
  const number = await finishTask(stage, 'Change a line', 'change');
  await page.goto(`${stage.url}/reviews`);
  await page.getByRole('button', { name: /Change a line/ }).click();
  await page.getByRole('heading', { name: 'Change a line' }).waitFor();
  await page.getByText('merges cleanly').waitFor();
  // The diff is shown side by side.
  await page.getByText('line twenty').first().waitFor();
  await page.getByText('0 of 2 files seen').waitFor();
  await checkAccessibility(page);
  await page.keyboard.press(']');
  await page.keyboard.press('v');
  await page.getByText('1 of 2 files seen').waitFor();
  await page.keyboard.press(']');
  await page.keyboard.press('v');
  await page.getByText('2 of 2 files seen').waitFor();
  await page.reload();
  await page.getByText('2 of 2 files seen').waitFor();
  await page.keyboard.press('Shift+A');
  const dialog = page.getByRole('dialog', { name: `Approve ${number} and queue it?` });
  await dialog.getByText(/2 files, 3 added lines and 1 removed line will be merged into/).waitFor();
  await checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Approve and queue' }).click();
  await findMergeQueue(page).getByText(new RegExp(`${number} Change a line`)).waitFor();
  await findMergeQueue(page).getByText(/^merged [0-9a-f]{7}, /).waitFor();
  expect(await getTaskState(stage, number)).toBe('COMPLETED');
  const { merges } = await stage.get<{ merges: { mergedCommit: string; target: string }[] }>('/api/merge-queue?all=true');
  expect(await stage.git('rev-parse', merges[0]?.target ?? '')).toBe(merges[0]?.mergedCommit);
});

scene('work is sent back with feedback', async ({ page, stage }) => {
  const number = await finishTask(stage, 'Send me back', 'add back.txt one');
  await page.goto(`${stage.url}/reviews/${number}`);
  await page.getByRole('heading', { name: 'Send me back' }).waitFor();
  await page.keyboard.press('r');
  await page.getByText('Describe the changes, then send the work back.').waitFor();
  await page.getByLabel('Feedback').fill('Write two, not one.');
  await page.getByRole('button', { name: 'Send back' }).click();
  await expect.poll(() => getTaskState(stage, number)).toBe('PENDING');
  await page.getByRole('button', { name: /Send me back/ }).waitFor({ state: 'detached' });
  const { context } = await stage.callTool<{ context: string }>('mcp__harness__get_task_context', { taskSlug: 'send-me-back' });
  expect(context).toContain('Write two, not one.');
});

scene('work without an epic is sent back, revised and approved', async ({ page, stage }) => {
  await stage.cli('run', '--role', 'hand', 'change');
  const { tasks } = await stage.callTool<{ tasks: { number: string }[] }>('mcp__task__list', { newestFirst: true, limit: 1 });
  const number = tasks[0]?.number ?? 'none';
  await page.goto(`${stage.url}/reviews/${number}`);
  await page.getByText('line twenty').first().waitFor();
  await page.getByLabel('Feedback').fill('Add a file, please.');
  await page.getByRole('button', { name: 'Send back' }).click();
  await expect.poll(() => getTaskState(stage, number)).toBe('PENDING');
  await stage.cli('run', '--role', 'hand', '--task', number, 'add asked.txt for');
  await expect.poll(() => getTaskState(stage, number)).toBe('REVIEW');
  await page.goto(`${stage.url}/reviews/${number}`);
  await page.getByText('asked.txt').first().waitFor();
  await page.getByRole('button', { name: 'Approve and queue' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and queue' }).click();
  await expect.poll(() => getTaskState(stage, number)).toBe('COMPLETED');
  expect(await stage.git('show', 'main:asked.txt')).toBe('for');
  expect(await stage.git('show', 'main:lines.txt')).toMatch(/^line twenty$/m);
});

scene('a running check shows its output, and a failed one its commit', async ({ page, stage }) => {
  const slow = await finishTask(stage, 'Take your time', 'add slow.txt slow');
  await page.goto(`${stage.url}/reviews/${slow}`);
  await page.getByRole('button', { name: 'Approve and queue' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and queue' }).click();
  await expect.poll(() => existsSync(join(stage.home, 'checking'))).toBe(true);
  await findMergeQueue(page).getByText('Trial merge', { exact: true }).waitFor({ state: 'attached' });
  await findMergeQueue(page).getByText(/looking at/).waitFor();
  await findMergeQueue(page).getByText(/Take your time/).click();
  await page.getByLabel('Check output').getByText(/looking at/).waitFor();
  await stage.writeFile('.adjutant/checked', '');
  await page.getByText(/^Merged at/).waitFor();

  const failing = await finishTask(stage, 'Fail the check', 'add bad.txt bad');
  await page.goto(`${stage.url}/reviews/${failing}`);
  await page.getByRole('button', { name: 'Approve and queue' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and queue' }).click();
  await findMergeQueue(page).getByText(/^sent back .*the check `sh check.sh` ended with 3/).waitFor();
  await findMergeQueue(page).getByText(/Fail the check/).click();
  await page.getByText('bad.txt is bad').waitFor();
  const { over } = await stage.get<{ over: { commit: string }[] }>('/api/merge-queue?over=1');
  await page.getByText(over[0]?.commit.slice(0, 7) ?? 'none').waitFor();
  await checkAccessibility(page);
});

scene('a held merge is retried', async ({ page, stage }) => {
  await stage.callTool('mcp__task__create', { title: 'Held for a moment', slug: 'held' });
  await stage.cli('run', '--role', 'hand', '--task', 'held', 'hand_in');
  // Uncommitted changes in the checkout touch the same lines.
  const lines = await stage.git('show', 'main:lines.txt');
  await stage.writeFile('lines.txt', 'mine\n');
  await page.goto(`${stage.url}/reviews/held`);
  await page.getByText('merges cleanly').waitFor();
  await page.keyboard.press('Shift+A');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and queue' }).click();
  await findMergeQueue(page).getByText(/^held: /).waitFor();
  await findMergeQueue(page).getByText(/Held for a moment/).click();
  await page.getByText(/where uncommitted changes are in the way/).first().waitFor();
  await checkAccessibility(page);
  await stage.writeFile('lines.txt', `${lines}\n`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText(/^Merged at/).waitFor();
  expect(await stage.git('show', 'main:lines.txt')).toMatch(/^line one$/m);
});

scene('a review says which variables of the shell went with the server', async ({ page, stage }) => {
  const environment = { PATH: `${stage.folder}/tools:/usr/local/bin:/usr/bin:/bin` };
  const hand = async (name: string) => {
    const prompt = `add ${name}.txt one`;
    const { agentId } = await stage.post<{ agentId: string }>('/api/runs', { role: 'hand', prompt, environment });
    await stage.waitForEnd(agentId);
    const { tasks } = await stage.get<{ tasks: { id: string; number: string; assignedAgentId: string }[] }>('/api/tasks/review-queue');
    return tasks.find((task) => task.assignedAgentId === agentId) ?? { id: '', number: '' };
  };
  const [first, second] = [await hand('first'), await hand('second')];
  // The page would report the server's absence.
  await page.goto('about:blank');
  await stage.kill();
  await stage.start();
  // Approved by somebody who hands nothing on, it is held; the page goes on with what the server has.
  await stage.callTool('mcp__supervisor__approve_task', { taskId: first.id });
  await page.goto(`${stage.url}/reviews`);
  await findMergeQueue(page).getByText(/^held: the check would run with the server's `PATH`/).click();
  await page.getByText(/`adjutant merge-queue retry merge_/).first().waitFor();
  await checkAccessibility(page);
  await page.getByRole('button', { name: "Try again with the server's environment" }).click();
  await page.getByText(/^Merged at/).waitFor();
  await page.goto(`${stage.url}/reviews/${second.number}`);
  await page.getByText(/the check lacks PATH of the shell since the server restarted/).waitFor();
  await page.getByRole('button', { name: 'Approve and queue' }).click();
  await page.getByRole('dialog').getByText(/The check runs with the server's environment/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and queue' }).click();
  await expect.poll(() => stage.git('show', 'main:second.txt').catch(() => '')).toBe('one');
  expect(await stage.git('show', 'main:first.txt')).toBe('one');
});

scene('an agent at its review limit is shown, and one more review allowed', async ({ page, stage }) => {
  const coder = await stage.draftAgent('coder', 'limit');
  const limited = async () => (await stage.get<{ limited: { coderId: string }[] }>('/api/reviews')).limited.length;
  await expect.poll(limited, { timeout: 60_000 }).toBe(1);
  await page.goto(`${stage.url}/reviews`);
  await page.getByRole('button', { name: /3 of 3 reviews used: allow more or end/ }).click();
  await page.getByText('3 of 3 rounds used, 3 failed; abandoned after 5 failures').waitFor();
  // A note that names a file stands under it; the other notes follow at the end.
  await page.getByText('In feature.txt the last line is lost.').first().waitFor();
  await page.getByText("3 reviewers' notes").waitFor();
  expect(await page.getByText('REVIEW_FEEDBACK.md').count(), 'feedback is no part of the work').toBe(0);
  await checkAccessibility(page);
  // Ending an agent requires a confirmation that states the consequences in numbers.
  await page.getByRole('button', { name: 'Abandon' }).click();
  await page.getByRole('dialog').getByText(/after 3 reviews/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Allow one more review' }).click();
  await page.getByText('1 more review allowed').waitFor();
  await stage.writeFile('.adjutant/lifted', '');
  expect(await stage.waitForEnd(coder)).toBe('succeeded');
});

scene('read-only visitors see the same but decide nothing', { as: 'viewer', colours: 'dark' }, async ({ page, stage }) => {
  const number = await finishTask(stage, 'Only looked at', 'add looked.txt one');
  await page.goto(`${stage.url}/reviews/${number}`);
  await page.getByText('merges cleanly').waitFor();
  await checkAccessibility(page);
  for (const name of ['Approve and queue', 'Send back']) expect(await page.getByRole('button', { name }).count(), name).toBe(0);
  await page.keyboard.press('Shift+A');
  expect(await page.getByRole('dialog').count()).toBe(0);
});

scene('a phone shows one pane at a time', { width: 390 }, async ({ page, stage }) => {
  await finishTask(stage, 'Fit a phone', 'add phone.txt one');
  await page.goto(`${stage.url}/reviews`);
  await page.getByRole('button', { name: /Fit a phone/ }).click();
  await page.getByText('merges cleanly').waitFor();
  expect(await findMergeQueue(page).isVisible()).toBe(false);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await checkAccessibility(page);
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await findMergeQueue(page).waitFor();
});
