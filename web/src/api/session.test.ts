import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Session } from './session';

interface Asked {
  readonly path: string;
  readonly body: unknown;
  readonly authorization: string | null;
}

const asked: Asked[] = [];

/** Queues the server's next responses; without one, the server is unreachable. */
function answers(...next: readonly (readonly [number, unknown])[]): void {
  const left = [...next];
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    asked.push({ path, body: JSON.parse(String(init.body)), authorization: headers.get('Authorization') });
    const answer = left.shift();
    if (answer === undefined) throw new TypeError('away');
    return new Response(answer[0] === 204 ? null : JSON.stringify(answer[1]), { status: answer[0] });
  });
}

const refused = (reason: string): readonly [number, unknown] => [401, { code: 'UNAUTHENTICATED', details: { reason } }];

beforeEach(() => {
  asked.length = 0;
  sessionStorage.clear();
  history.replaceState(null, '', '/');
});
afterEach(() => vi.unstubAllGlobals());

test('a link becomes a token, and its code leaves the address', async () => {
  history.replaceState(null, '', '/crew?q=x#login=adjlink_1');
  answers([200, { token: 'adjtab_1', readOnly: false, expiresAt: '2026-12-15T00:00:00.000Z' }]);
  const session = new Session();
  await session.enter();
  expect(session.standing()).toEqual({ token: 'adjtab_1', absence: 'none' });
  expect(location.href).toMatch(/\/crew\?q=x$/);
  expect(asked).toEqual([{ path: '/api/login', body: { code: 'adjlink_1' }, authorization: null }]);
  expect(new Session().token()).toBe('adjtab_1');
});

test('an address without a link asks nobody', async () => {
  answers();
  const session = new Session();
  await session.enter();
  expect(session.standing()).toEqual({ token: null, absence: 'none' });
  expect(asked).toEqual([]);
});

test.each([
  ['used', 'used'],
  ['ended', 'late'],
  ['unknown', 'unknown'],
])('a link that is refused as %s says so', async (reason, absence) => {
  history.replaceState(null, '', '/#login=adjlink_1');
  answers(refused(reason));
  const session = new Session();
  await session.enter();
  expect(session.standing()).toEqual({ token: null, absence });
  expect(location.hash).toBe('');
});

test('a link that was not looked at can be tried again', async () => {
  history.replaceState(null, '', '/#login=adjlink_1');
  answers();
  const session = new Session();
  await session.enter();
  expect(session.standing().absence).toBe('away');
  answers([429, { code: 'RATE_LIMITED' }], [503, {}], [200, { token: 'adjtab_1' }]);
  await session.again();
  expect(session.standing().absence).toBe('busy');
  await session.again();
  expect(session.standing().absence).toBe('away');
  await session.again();
  expect(session.token()).toBe('adjtab_1');
});

test('who is in stays in when an old link is opened again', async () => {
  sessionStorage.setItem('adjutant.token', 'adjtab_1');
  history.replaceState(null, '', '/#login=adjlink_old');
  answers(refused('used'));
  const session = new Session();
  await session.enter();
  expect(session.token()).toBe('adjtab_1');
});

test('a link that is pasted into an open tab counts, though no page is loaded', async () => {
  answers([200, { token: 'adjtab_2' }]);
  const session = new Session();
  await session.start();
  const told = new Promise<void>((resolve) => session.subscribe(resolve));
  location.hash = 'login=adjlink_2';
  await told;
  expect(session.token()).toBe('adjtab_2');
});

test('a void token leads out, keeps the address, and a new link leads back to it', async () => {
  sessionStorage.setItem('adjutant.token', 'adjtab_1');
  history.replaceState(null, '', '/agents/sp_1?tab=diff');
  const session = new Session();
  session.end('adjtab_1');
  expect(session.standing()).toEqual({ token: null, absence: 'ended' });
  expect(location.pathname + location.search).toBe('/agents/sp_1?tab=diff');
  history.replaceState(null, '', '/#login=adjlink_2');
  answers([200, { token: 'adjtab_2' }]);
  await session.enter();
  expect(location.pathname + location.search).toBe('/agents/sp_1?tab=diff');
  session.end('adjtab_1');
  expect(session.token()).toBe('adjtab_2');
});

test('who logs out gives the token back, even to a server that is away', async () => {
  sessionStorage.setItem('adjutant.token', 'adjtab_1');
  answers([204, null]);
  const session = new Session();
  await session.leave();
  expect(asked).toEqual([{ path: '/api/logout', body: {}, authorization: 'Bearer adjtab_1' }]);
  expect(session.standing()).toEqual({ token: null, absence: 'left' });
  expect(sessionStorage.getItem('adjutant.token')).toBeNull();
  sessionStorage.setItem('adjutant.token', 'adjtab_2');
  answers();
  const other = new Session();
  await other.leave();
  expect(other.token()).toBeNull();
});
