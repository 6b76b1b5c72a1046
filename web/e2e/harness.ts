// Runs the page in Chromium, over the real server with scripted agents: `npm run e2e`. One file:
// `npx vitest run --config vitest.e2e.config.ts e2e/live.spec.ts`; one test: `-t 'part of its name'`.
//
// A file defines a project and then its scenes. The scenes of a file share the server; each has its
// own tab:
//
//   const scene = defineScenes({
//     roles: { hand: scriptedRole('worker', 'worktree: none') },
//     scenarios: `
//   scenarios:
//     hold:
//       steps: [{say: I wait}, {wait_file: {path: go}}, {result: {status: success, summary: done}}]
//   `,
//   });
//
//   scene('an agent is shown and killed', async ({ page, stage }) => {
//     const id = await stage.draftAgent('hand', 'hold');
//     await page.goto(`${stage.url}/agents/${id}`);
//     await page.getByRole('button', { name: 'Kill' }).click();
//     await expect.poll(async () => (await stage.get(`/api/agents/${id}`))['state']).toBe('killed');
//     await checkAccessibility(page);
//   });
//
// - `page` is logged in by a link of `adjutant open` and shows `/`. Options of a scene:
//   `{ as: 'viewer' }`, `{ as: 'nobody' }`, `{ width: 390 }`, `{ colours: 'dark' }`,
//   `{ noise: [/refused/] }`.
// - A scene fails if the page writes an error or a warning to its console, throws, violates its
//   content policy, or requests another host. `noise` lists expected messages, such as refused
//   connections while the server is stopped.
// - `await expect.poll(() => …).toBe(…)` waits for a condition; Playwright's locators wait by
//   themselves. Tests do not sleep.
// - A failed scene leaves a screenshot in `target/e2e/<name>.png`.
// - The binary is `target/debug/adjutant` (or ADJUTANT_BIN), with the page it was built with. After a
//   change in `web/src`, build it again, or run `npx vite build` and set E2E_PAGE=dist: the page then
//   comes from `dist`, and everything else from the server.
// - E2E_LOG=1 shows the server's log, E2E_SHOW=1 the browser.
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { Stage, TARGET_FOLDER, type StagePlan } from './stage';

export { expect } from 'vitest';
export { scriptedRole as scripted, Stage } from './stage';

declare global {
  interface Window {
    axe?: typeof axe;
  }
}

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome'];
const BROWSER_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const VIEWPORT_HEIGHTS_PX: Readonly<Record<number, number>> = { 1440: 900, 900: 900, 390: 844 };
/** Folder of the last build of the page, for E2E_PAGE=dist. */
export const DIST_FOLDER = fileURLToPath(new URL('../dist', import.meta.url));

/** Deviations of a scene from the defaults. */
export interface SceneOptions {
  /** Visitor's rights; `nobody` has no token and no open page. */
  readonly as?: 'operator' | 'viewer' | 'nobody';
  /** Width of the window in pixels. */
  readonly width?: 1440 | 900 | 390;
  readonly colours?: 'light' | 'dark';
  /** Console messages and faults that are expected in this scene. */
  readonly noise?: readonly RegExp[];
  /** Script that runs in the page before the page's own code. */
  readonly initScript?: () => void;
}

/** Page, server and browser context of a scene. */
export interface Scene {
  readonly page: Page;
  readonly stage: Stage;
  readonly context: BrowserContext;
}

type SceneBody = (scene: Scene) => Promise<void>;

/** Starts a server for the scenes of a file, and returns the function that defines a scene. */
export function defineScenes(plan: StagePlan = {}): (name: string, ...rest: [SceneBody] | [SceneOptions, SceneBody]) => void {
  let stage: Stage | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    [stage, browser] = await Promise.all([Stage.open(plan), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });
  return (name, ...rest) => {
    const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
    test(name, async () => {
      if (stage === undefined || browser === undefined) throw new Error('the server has not started');
      await playScene(name, browser, stage, options, body);
    });
  };
}

/** Launches the Chromium that is installed on the machine. */
export async function launchBrowser(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(':');
  const executablePath = BROWSERS.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (executablePath === undefined) throw new Error('Chromium is not installed; on Debian, `make setup` installs it');
  return chromium.launch({ executablePath, args: BROWSER_FLAGS, headless: process.env['E2E_SHOW'] === undefined });
}

/** Plays one scene; fails if the scene fails or the page reports a fault. */
export async function playScene(name: string, browser: Browser, stage: Stage, options: SceneOptions, body: SceneBody): Promise<void> {
  const width = options.width ?? 1440;
  const context = await browser.newContext({
    viewport: { width, height: VIEWPORT_HEIGHTS_PX[width] ?? 900 },
    colorScheme: options.colours ?? 'light',
    reducedMotion: 'reduce',
    hasTouch: width === 390,
  });
  context.setDefaultTimeout(60_000);
  if (options.initScript !== undefined) await context.addInitScript(options.initScript);
  if (process.env['E2E_PAGE'] === 'dist') await serveDist(context, stage);
  const page = await context.newPage();
  const faults = collectFaults(page, stage, options.noise ?? []);
  try {
    if (options.as !== 'nobody') await logIn(page, stage, options.as ?? 'operator');
    await body({ page, stage, context });
    if (faults.length > 0) throw new Error(`the page reported faults:\n${faults.join('\n')}`);
  } catch (error) {
    const folder = join(TARGET_FOLDER, 'e2e');
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${name.replaceAll(/[^A-Za-z0-9]+/g, '-')}.png`);
    // The page may be closed already; the first error matters more.
    await page.screenshot({ path }).catch(() => null);
    if (error instanceof Error) error.message += `\n(screenshot: ${path})${faults.map((fault) => `\n${fault}`).join('')}`;
    throw error;
  } finally {
    await context.close();
  }
}

/** Logs a tab in through a link, and waits until the page is shown. */
export async function logIn(page: Page, stage: Stage, rights: 'operator' | 'viewer'): Promise<void> {
  await page.goto(await stage.createLink(rights));
  await page.getByRole('navigation').first().waitFor();
}

/** Collects console errors, exceptions and foreign requests of a page as they occur. */
function collectFaults(page: Page, stage: Stage, noise: readonly RegExp[]): string[] {
  const faults: string[] = [];
  const addFault = (fault: string) => {
    if (!noise.some((expected) => expected.test(fault))) faults.push(fault);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      addFault(`console ${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  page.on('pageerror', (error) => addFault(`thrown: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${stage.url}/`) && !url.startsWith('data:') && !url.startsWith('blob:')) addFault(`request to another host: ${url}`);
  });
  return faults;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Serves the page's files from `dist` with the Content-Security-Policy of the server. */
async function serveDist(context: BrowserContext, stage: Stage): Promise<void> {
  const policy = (await fetch(`${stage.url}/`)).headers.get('content-security-policy') ?? '';
  const isPage = (url: URL) => url.origin === stage.url && !/^\/(api|mcp|metrics|healthz)(\/|$)/.test(url.pathname);
  await context.route(isPage, async (route) => {
    const { pathname } = new URL(route.request().url());
    const file = join(DIST_FOLDER, extname(pathname) === '' ? 'index.html' : pathname);
    const contentType = CONTENT_TYPES[extname(file)] ?? 'application/octet-stream';
    await route.fulfill({ body: await readFile(file), contentType, headers: { 'content-security-policy': policy } });
  });
}

/** Fails on serious or critical axe violations of WCAG 2 A and AA. */
export async function checkAccessibility(page: Page): Promise<void> {
  // `evaluate` bypasses the page's policy, which allows only the page's own scripts.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const results = await window.axe?.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
    if (results === undefined) throw new Error('axe was not loaded');
    return results.violations
      .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
      .map((violation) => `${violation.id} (${violation.help}):\n  ${violation.nodes.map((node) => `${node.html} ${node.failureSummary ?? ''}`).join('\n  ')}`);
  });
  if (violations.length > 0) throw new Error(`not accessible:\n${violations.join('\n')}`);
}
