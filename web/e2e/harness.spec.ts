// Tests of the harness itself: every fault that it promises to detect fails a scene.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { checkAccessibility, launchBrowser, playScene, Stage } from './harness';

let stage: Stage;
let browser: Browser;
beforeAll(async () => {
  [stage, browser] = await Promise.all([Stage.open(), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await stage.close();
});

const PAGE_FAULTS: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'an error in the console': (page) => page.evaluate(() => console.error('oh')),
  'an exception': (page) => page.evaluate(() => void setTimeout(() => Reflect.get(window, 'nothing').there)),
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
  'a request to another host': (page) => page.evaluate(() => fetch('http://example.invalid/').catch(() => null)),
};

for (const [fault, causeFault] of Object.entries(PAGE_FAULTS)) {
  test(`${fault} fails a scene`, async () => {
    const scene = playScene('harness', browser, stage, {}, async ({ page }) => {
      await causeFault(page);
      // Console messages arrive in order, so everything written before this one has arrived too.
      const doneMessage = page.waitForEvent('console', (message) => message.text() === 'done');
      await page.evaluate(() => void setTimeout(() => console.log('done')));
      await doneMessage;
    });
    await expect(scene).rejects.toThrow('the page reported faults');
  });
}

test('an inaccessible page fails the check', async () => {
  const scene = playScene('harness', browser, stage, {}, async ({ page }) => {
    await page.evaluate(() => {
      document.body.append(document.createElement('input'));
    });
    await checkAccessibility(page);
  });
  await expect(scene).rejects.toThrow(/^label \(/m);
});
