// Browser notifications. Headless Chromium shows none, so the scene records them.
import { expect, scripted, defineScenes } from './harness';

const scene = defineScenes({
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

interface RecordedNotification {
  readonly title: string;
  readonly body: string;
}

/** Replaces `Notification` with a recorder, and puts the page in the background. */
function mockNotifications(): void {
  const recorded: RecordedNotification[] = [];
  class RecordingNotification {
    static permission = 'default';
    static requestPermission(): Promise<string> {
      RecordingNotification.permission = 'granted';
      return Promise.resolve('granted');
    }
    onclick: (() => void) | null = null;
    constructor(title: string, options: { body: string }) {
      recorded.push({ title, body: options.body });
    }
    close(): void {}
  }
  Object.assign(window, { Notification: RecordingNotification, recorded });
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
}

scene('mail to the operator and failures are notified only if that is turned on', { initScript: mockNotifications }, async ({ page, stage }) => {
  const getNotifications = () => page.evaluate(() => Reflect.get(window, 'recorded') as RecordedNotification[]);
  const waitForLastEvent = async () => {
    const last = await stage.getLastEvent();
    await page.getByText(`event ${last.toLocaleString('en-US')}`, { exact: true }).waitFor();
  };
  await stage.waitForEnd(await stage.draftAgent('hand', 'fail'));
  await waitForLastEvent();
  expect(await getNotifications()).toEqual([]);

  await page.getByRole('button', { name: 'Notifications off' }).click();
  await page.getByRole('button', { name: 'Notifications on' }).waitFor();
  await stage.waitForEnd(await stage.draftAgent('hand', 'ask'));
  await stage.waitForEnd(await stage.draftAgent('hand', 'fail'));
  await stage.waitForEnd(await stage.draftAgent('hand', 'work'));
  await waitForLastEvent();
  expect((await getNotifications()).filter((one) => one.title === 'Mail for you')).toEqual([{ title: 'Mail for you', body: 'Which one?' }]);
  const failures = (await getNotifications()).filter((one) => one.title === 'hand failed');
  expect(failures).toHaveLength(1);
  expect(failures[0]?.body).toContain('it cannot be done');

  await page.getByRole('button', { name: 'Notifications on' }).click();
  const before = (await getNotifications()).length;
  await stage.waitForEnd(await stage.draftAgent('hand', 'fail'));
  await waitForLastEvent();
  expect((await getNotifications()).length).toBe(before);
});
