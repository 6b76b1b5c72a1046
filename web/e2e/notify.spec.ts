// Browser notifications. Headless Chromium shows none, so the scene records them.
import { expect, scripted, staged } from './harness';

const scene = staged({
  roles: { hand: scripted('worker', 'worktree: none') },
  scenarios: `
scenarios:
  ask:
    steps:
      - {call: mail_send, with: {toHuman: true, subject: Which one?, body: I do not know.}}
      - {result: {status: success, summary: asked}}
  fail:
    steps: [{fail: it cannot be done}]
  work:
    steps: [{result: {status: success, summary: done}}]
`,
});

interface Shown {
  readonly title: string;
  readonly body: string;
}

/** Replaces `Notification` with a recorder, and puts the page in the background. */
function background(): void {
  const shown: Shown[] = [];
  class Noted {
    static permission = 'default';
    static requestPermission(): Promise<string> {
      Noted.permission = 'granted';
      return Promise.resolve('granted');
    }
    onclick: (() => void) | null = null;
    constructor(title: string, options: { body: string }) {
      shown.push({ title, body: options.body });
    }
    close(): void {}
  }
  Object.assign(window, { Notification: Noted, shown });
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
}

scene('mail to the human and failures are told, and only when that is wanted', { before: background }, async ({ page, stage }) => {
  const shown = () => page.evaluate(() => Reflect.get(window, 'shown') as Shown[]);
  const seen = async () => {
    const last = await stage.lastEvent();
    await page.getByText(`event ${last.toLocaleString('en-US')}`, { exact: true }).waitFor();
  };
  await stage.ended(await stage.draft('hand', 'fail'));
  await seen();
  expect(await shown()).toEqual([]);

  await page.getByRole('button', { name: 'Notifications off' }).click();
  await page.getByRole('button', { name: 'Notifications on' }).waitFor();
  await stage.ended(await stage.draft('hand', 'ask'));
  await stage.ended(await stage.draft('hand', 'fail'));
  await stage.ended(await stage.draft('hand', 'work'));
  await seen();
  expect((await shown()).filter((one) => one.title === 'Mail for you')).toEqual([{ title: 'Mail for you', body: 'Which one?' }]);
  const failures = (await shown()).filter((one) => one.title === 'hand failed');
  expect(failures).toHaveLength(1);
  expect(failures[0]?.body).toContain('it cannot be done');

  await page.getByRole('button', { name: 'Notifications on' }).click();
  const before = (await shown()).length;
  await stage.ended(await stage.draft('hand', 'fail'));
  await seen();
  expect((await shown()).length).toBe(before);
});
