// Logging in: single-use links, read-only links, expired sessions, and the security headers.
import { checkAccessibility, expect, defineScenes } from './harness';

const scene = defineScenes();
/** Messages that the browser itself writes to the console for refused requests. */
const REFUSED_REQUESTS = [/401 \(Unauthorized\)/, /403 \(Forbidden\)/];

scene('a link works once, and is rejected the second time', { as: 'nobody', noise: REFUSED_REQUESTS }, async ({ page, stage, context }) => {
  const link = await stage.createLink('operator');
  await page.goto(link);
  await page.getByRole('navigation').first().waitFor();
  expect(page.url()).not.toContain('login');
  const stored = await page.evaluate(() => [sessionStorage.getItem('adjutant.token'), JSON.stringify({ ...localStorage }), document.cookie] as const);
  expect(stored[0]).toMatch(/^adjtab_/);
  expect(stored[1]).not.toContain('adjtab_');
  expect(stored[2]).toBe('');
  // The tab survives a reload; a second tab cannot use the same link.
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
  const other = await context.newPage();
  await other.goto(link);
  await other.getByRole('heading', { name: 'This link has been used' }).waitFor();
  await other.getByRole('button', { name: 'adjutant open', exact: true }).waitFor();
  await checkAccessibility(other);
  // Pasting a new link changes only the part after `#`, which loads no page.
  await other.goto(await stage.createLink('operator'));
  await other.getByRole('navigation').first().waitFor();
});

scene('a tab without a link shows how to log in, at any address and width', { as: 'nobody', width: 390 }, async ({ page, stage }) => {
  await page.goto(`${stage.url}/agents/sp_0000000000000001`);
  await page.getByRole('heading', { name: 'This page opens with a link' }).waitFor();
  expect(page.url()).toBe(`${stage.url}/agents/sp_0000000000000001`);
  await checkAccessibility(page);
});

scene('a read-only link works twice and cannot act', { as: 'nobody', noise: REFUSED_REQUESTS }, async ({ page, stage, context }) => {
  const link = await stage.createLink('viewer');
  for (const tab of [page, await context.newPage()]) {
    await tab.goto(link);
    await tab.getByText('Read-only link.').waitFor();
    await expect.poll(() => tab.getByRole('button', { name: 'Start agent' }).count()).toBe(0);
  }
  const statuses = await page.evaluate(async () => {
    const headers = { Authorization: `Bearer ${sessionStorage.getItem('adjutant.token')}`, 'Content-Type': 'application/json' };
    const send = async (method: string, path: string, body?: unknown) =>
      (await fetch(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })).status;
    return [
      await send('GET', '/api/agents'),
      await send('POST', '/api/runs', { role: 'worker', prompt: 'x' }),
      await send('POST', '/mcp/execute', { toolName: 'mcp__mail__list_inbox', input: {} }),
      await send('POST', '/api/links', {}),
    ];
  });
  expect(statuses).toEqual([200, 403, 403, 403]);
});

scene('revoking a link ends its sessions at once, and keeps the address', { as: 'nobody', noise: REFUSED_REQUESTS }, async ({ page, stage }) => {
  const link = await stage.createLink('viewer');
  const { links } = await stage.get<{ links: readonly { id: string }[] }>('/api/links');
  await page.goto(link);
  await page.getByText('Read-only link.').waitFor();
  await page.goto(`${stage.url}/tasks?view=list`);
  await page.getByText('Read-only link.').waitFor();
  await stage.cli('open', '--revoke', links.at(-1)?.id ?? '');
  await page.getByRole('heading', { name: 'Your session has expired' }).waitFor();
  expect(page.url()).toBe(`${stage.url}/tasks?view=list`);
  // A new link returns the visitor to the page that was open.
  await page.goto(await stage.createLink('operator'));
  await page.getByRole('navigation').first().waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/tasks?view=list');
});

scene('logging out revokes the token', { noise: REFUSED_REQUESTS }, async ({ page, stage }) => {
  const token = await page.evaluate(() => sessionStorage.getItem('adjutant.token'));
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Search or run a command').fill('log out');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'You are logged out' }).waitFor();
  const status = async () => (await fetch(`${stage.url}/api/status`, { headers: { Authorization: `Bearer ${token}` } })).status;
  await expect.poll(status).toBe(401);
});

scene('a session survives a restart of the server', { noise: [/ERR_CONNECTION_REFUSED/, /ERR_INCOMPLETE_CHUNKED/, /ERR_CONNECTION_RESET/] }, async ({ page, stage }) => {
  await stage.kill();
  await stage.start();
  await page.reload();
  await page.getByRole('navigation').first().waitFor();
});

scene('the page has its security headers, and the browser enforces them', { noise: [/Trusted/, /Content Security Policy/] }, async ({ page, stage }) => {
  const answer = await fetch(`${stage.url}/crew`, { headers: { Accept: 'text/html', 'Accept-Encoding': 'gzip' } });
  const guards = Object.fromEntries(answer.headers);
  expect(guards['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(guards['content-security-policy']).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(guards['x-content-type-options']).toBe('nosniff');
  expect(guards['referrer-policy']).toBe('no-referrer');
  expect(guards['cross-origin-opener-policy']).toBe('same-origin');
  expect(guards['content-encoding']).toBe('gzip');
  expect(guards['cache-control']).toBe('no-cache');
  const script = /src="(\/assets\/[^"]+)"/.exec(await answer.text())?.[1] ?? '';
  const asset = await fetch(`${stage.url}${script}`);
  expect(asset.headers.get('cache-control')).toContain('immutable');
  // Trusted Types reject markup and script; the policy blocks foreign requests.
  const held = await page.evaluate(async () => {
    const breaks: string[] = [];
    document.addEventListener('securitypolicyviolation', (event) => breaks.push(event.effectiveDirective));
    const refused = (act: () => unknown): boolean => {
      try {
        act();
        return false;
      } catch {
        return true;
      }
    };
    const markup = refused(() => (document.createElement('div').innerHTML = '<b>x</b>'));
    const code = refused(() => (document.createElement('script').text = '1'));
    const elsewhere = await fetch('http://127.0.0.1:9/').then(
      () => false,
      () => true,
    );
    await new Promise((resolve) => setTimeout(resolve));
    return { markup, code, elsewhere, breaks: [...new Set(breaks)].sort() };
  });
  expect(held).toEqual({ markup: true, code: true, elsewhere: true, breaks: expect.arrayContaining(['connect-src']) });
});
