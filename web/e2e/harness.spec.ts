// Tests of the harness itself: every fault that it promises to detect fails a scene.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { checkAccessible, launch, play, Stage } from './harness';

let stage: Stage;
let browser: Browser;
beforeAll(async () => {
  [stage, browser] = await Promise.all([Stage.open(), launch()]);
});
afterAll(async () => {
  await browser.close();
  await stage.close();
});

const FAULTS: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'an error in the console': (page) => page.evaluate(() => console.error('oh')),
  'a throw': (page) => page.evaluate(() => void setTimeout(() => Reflect.get(window, 'nothing').there)),
  'a script that the policy forbids': (page) =>
    page.evaluate(() => {
      // The policy makes the assignment throw; the attempt alone must be noticed.
      try {
        document.body.setAttribute('onclick', 'window.broken = true');
        document.body.click();
      } catch {
        return;
      }
    }),
  'a style that the policy forbids': (page) =>
    page.evaluate(() => {
      const style = document.createElement('style');
      style.textContent = 'body { color: red }';
      document.head.append(style);
    }),
  'a question to another host': (page) => page.evaluate(() => fetch('http://example.invalid/').catch(() => null)),
};

for (const [fault, act] of Object.entries(FAULTS)) {
  test(`${fault} fails a scene`, async () => {
    const scene = play('harness', browser, stage, {}, async ({ page }) => {
      await act(page);
      // Console messages arrive in order, so everything written before this one has arrived too.
      const said = page.waitForEvent('console', (message) => message.text() === 'done');
      await page.evaluate(() => void setTimeout(() => console.log('done')));
      await said;
    });
    await expect(scene).rejects.toThrow('the page is not well');
  });
}

test('a page that keeps people out fails the check', async () => {
  const scene = play('harness', browser, stage, {}, async ({ page }) => {
    await page.evaluate(() => {
      document.body.append(document.createElement('input'));
    });
    await checkAccessible(page);
  });
  await expect(scene).rejects.toThrow(/^label \(/m);
});
